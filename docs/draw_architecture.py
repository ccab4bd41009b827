"""Draw the architecture in docs/architecture.md: `python docs/draw_architecture.py` writes it anew.

Between its markers the page holds the tree of folders, each with the first phrase of the docstring of its
`__init__.py`, and the graph of imports between rooms. tests/docs/test_architecture.py compares both.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
APART = {"tests", "bench", "docs", "examples"}  # folders that are no part of the package
PART = re.compile(r"(<!-- drawn: (\w+) -->\n```\w*\n)(.*?)(```)", re.S)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_files() -> list[Path]:
    """The modules of the package in folders, and config.py."""
    rooms = sorted(
        {one.parent for one in ROOT.glob("*/__init__.py")} - {ROOT / name for name in APART}
    )
    return [ROOT / "config.py", *(path for room in rooms for path in sorted(room.rglob("*.py")))]


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a file imports, inside functions too; not what only type
    checkers import."""
    tree = ast.parse(path.read_text("utf-8"))
    package = list(path.relative_to(ROOT).parts[:-1])
    for_types = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.If)
        and ast.unparse(node.test) == "TYPE_CHECKING" for inner in ast.walk(node)
    }  # fmt: skip
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in for_types:
            base = package[: len(package) - (node.level - 1)] + (node.module or "").split(".")
            whole = ".".join(part for part in base if part)
            names = {f"{whole}.{one.name}" if whole else one.name for one in node.names}
            found |= names & modules or {whole} & modules
    return found - {module_name(path)}


def import_graph() -> dict[str, set[str]]:
    """Every module with the modules that it imports."""
    paths = package_files()
    modules = {module_name(path) for path in paths}
    return {module_name(path): imported_modules(path, modules) for path in paths}


def rooms_of(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The same between rooms, the folders at the top."""
    found: dict[str, set[str]] = {}
    for module, others in graph.items():
        room = module.partition(".")[0]
        found.setdefault(room, set()).update({one.partition(".")[0] for one in others} - {room})
    return found


def reduced(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Without the edges that a longer way says too. graph: without circles."""
    below: dict[str, set[str]] = {}
    for node in TopologicalSorter(graph).static_order():
        below[node] = set().union(*({one} | below[one] for one in graph[node]))
    return {
        node: {one for one in others if not any(one in below[other] for other in others - {one})}
        for node, others in graph.items()
    }


def drawn_imports() -> str:
    rooms = rooms_of(import_graph())
    edges = reduced(rooms)
    lines = [f"    {room} --> {other}" for room in sorted(edges) for other in sorted(edges[room])]
    return "\n".join(["graph TD", *lines]) + "\n"


def phrase(path: Path) -> str:
    """The beginning of a docstring, up to the first stop, colon, semicolon or bracket."""
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return re.split(r"\.(?=\s|\Z)|[:;(]", " ".join(doc.split()), maxsplit=1)[0].strip()


def folders(folder: Path, depth: int = 0) -> Iterator[str]:
    for path in sorted(folder.glob("*/__init__.py")):
        if path.parent.name in APART and folder == ROOT:
            continue
        head = f"{'  ' * depth}{path.parent.name}/"
        wrapped = textwrap.wrap(phrase(path), 76)
        yield from (f"{head if n == 0 else '':<20}{line}" for n, line in enumerate(wrapped))
        yield from folders(path.parent, depth + 1)


def drawn_tree() -> str:
    return "\n".join(folders(ROOT)) + "\n"


def rewritten(page: str) -> str:
    made = {"tree": drawn_tree, "imports": drawn_imports}
    return PART.sub(lambda one: one[1] + made[one[2]]() + one[4], page)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
