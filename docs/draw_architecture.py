"""Draw the architecture in docs/reference/architecture.md: run `python docs/draw_architecture.py`.

The script replaces the parts between the page's markers: the tree of folders, each with the first sentence of the
docstring of its `__init__.py`, and the graph of imports between the top-level folders.
tests/docs/test_architecture.py checks that both are up to date.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "architecture.md"
APART = {"tests", "bench", "docs", "examples"}  # folders that do not belong to the package
PART = re.compile(r"(<!-- drawn: (\w+) -->\n```\w*\n)(.*?)(```)", re.S)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_files() -> list[Path]:
    """Return all modules in the folders of the package."""
    rooms = sorted(
        {one.parent for one in ROOT.glob("*/__init__.py")} - {ROOT / name for name in APART}
    )
    return [path for room in rooms for path in sorted(room.rglob("*.py"))]


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """Return the modules of the package that a file imports.

    Imports inside functions count; imports for type checkers do not.
    """
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
    """Return the modules that each module imports."""
    paths = package_files()
    modules = {module_name(path) for path in paths}
    return {module_name(path): imported_modules(path, modules) for path in paths}


def rooms_of(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the same graph between top-level folders."""
    found: dict[str, set[str]] = {}
    for module, others in graph.items():
        room = module.partition(".")[0]
        found.setdefault(room, set()).update({one.partition(".")[0] for one in others} - {room})
    return found


def reduced(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return an acyclic graph without the edges that a longer path implies."""
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
    """Return the first sentence of a docstring, without brackets and the final stop."""
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    text = re.sub(r" ?\([^)]*\)", "", " ".join(doc.split()))
    return re.split(r"\.(?=\s|\Z)|:(?=\s+\w+/)", text, maxsplit=1)[0].strip()


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
