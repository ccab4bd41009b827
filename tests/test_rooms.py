"""The rooms know of each other what the design allows: imports go one way, and there is no circle."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import peirce
import pytest
from peirce.records import registry
from peirce.records.registry import Kind

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from draw_architecture import import_graph  # noqa: E402

BELOW: dict[str, set[str]] = {
    "records": set(),
    "config": {"records"},
    "sandbox": {"config", "records"},
    "tools": {"sandbox", "config", "records"},
    "tasks": {"tools", "sandbox", "config", "records"},
    "search": {"tasks", "tools", "config", "records"},
    "store": {"config", "records"},
    "agents": {"search", "tasks", "tools", "config", "records", "secrecy"},
    "graphs": {"agents", "store", "tasks", "tools", "config", "records"},
    "training": {"agents", "search", "store", "tasks", "tools", "config", "records"},
    "reports": {"store", "tasks", "tools", "sandbox", "config", "records"},
    "commands": {
        *("reports", "training", "graphs", "agents", "store", "tasks", "tools", "sandbox"),
        *("config", "records", "secrecy"),
    },
    "adapters": {"records", "secrecy"},  # and the public names, as the command line
    "cli": {"adapters", "commands", "reports", "training", "config", "records", "secrecy"},
}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of each import within the package, those inside functions too."""
    package = list(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            whole = [*base, *(node.module.split(".") if node.module else [])]
            yield from ((node.lineno, one) for one in whole[:1] or [a.name for a in node.names])
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [a.name for a in node.names]
            )
            yield from (
                (node.lineno, f"absolute {one}") for one in names if one.split(".")[0] == "peirce"
            )


def test_every_room_stands_in_the_table() -> None:
    rooms = {one.parent.name for one in ROOT.glob("*/__init__.py")} - {"tests", "bench", "examples"}
    assert rooms == set(BELOW)


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    modules = list((ROOT / room).rglob("*.py"))
    assert modules
    public = {"__version__", *peirce.__all__}  # what the command line calls
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {other}"
        for path in modules
        for line, other in imports(path)
        if other != room
        and other not in BELOW[room] | (public if room in ("adapters", "cli") else set())
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", sorted(BELOW))
def test_a_room_imported_without_its_package_says_what_to_import(room: str) -> None:
    """As `import store` does in the folder of the repository."""
    ended = subprocess.run(
        [sys.executable, "-c", f"import {room}"], cwd=ROOT, capture_output=True, text=True
    )
    said = f"ImportError: {room} is a part of the package peirce: import peirce.{room}"
    assert ended.returncode == 1 and ended.stderr.splitlines()[-1] == said


def test_there_is_no_circle() -> None:
    order = list(TopologicalSorter(BELOW).static_order())
    assert (
        order.index("records") < order.index("store") < order.index("commands") < order.index("cli")
    )


def test_the_paths_of_the_search_that_ci_compares_exist() -> None:
    lines = (ROOT / ".ci" / "search_paths").read_text("utf-8").splitlines()
    paths = [line for line in lines if not line.startswith("#")]
    assert paths and all((ROOT / path).exists() for path in paths)
    assert any(path.startswith("tests/") for path in paths)


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The sets of modules that import each other, directly or through others (Tarjan)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found = set()

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        open_.append(module)
        for other in graph[module]:
            if other not in order:
                visit(other)
            if other in open_:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            group = open_[open_.index(module) :]
            del open_[open_.index(module) :]
            if len(group) > 1:
                found.add(frozenset(group))

    for module in graph:
        if module not in order:
            visit(module)
    return found


def test_circles_of_modules_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert circles(graph) == {frozenset("abc")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(import_graph()) == set()


FAMILIES = set(registry.BUILT_IN["families"])


def compared_families(path: Path) -> Iterator[str]:
    """Where a file compares something with the name of a family."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Compare):
            sides = [ast.unparse(one) for one in (node.left, *node.comparators)]
            named = any(repr(name) in side for name in FAMILIES for side in sides)
            if named and any("family" in side for side in sides):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def test_no_room_above_tasks_compares_the_name_of_a_family() -> None:
    below = {"records", "config", "sandbox", "tools", "tasks"}
    paths = [path for room in BELOW if room not in below for path in (ROOT / room).rglob("*.py")]
    assert not [found for path in paths for found in compared_families(path)]


def test_a_comparison_with_a_family_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "a.py"
    path.write_text(
        "def f(problem):\n    return problem.family in ('text',) or problem.id == 'text'\n"
    )
    assert list(compared_families(path)) == ["a.py:2: problem.family in ('text',)"]


EVALUATIONS = set(registry.BUILT_IN["metrics"])


def compared_evaluations(path: Path) -> Iterator[str]:
    """Where a file compares something with the name of an evaluation, by itself or by a constant that
    holds it. Some methods have the same names, so what says that it is about a method is left out."""
    tree = ast.parse(path.read_text("utf-8"))
    named = {repr(name) for name in EVALUATIONS}
    constants = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and (ast.unparse(node.value) in named or "EVALUATION.name" in ast.unparse(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and "method" not in ast.unparse(node):
            parts = {ast.unparse(one) for one in ast.walk(node) if isinstance(one, ast.expr)}
            if parts & (named | constants):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def test_nothing_that_serves_all_evaluations_compares_the_name_of_one() -> None:
    folders = [ROOT / one for one in ("commands", "cli")]
    folders += [ROOT / "reports" / one for one in ("files", "metrics", "page", "screen")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert not [found for path in paths for found in compared_evaluations(path)]


def test_a_comparison_with_an_evaluation_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "a.py"
    path.write_text(
        "OF_TEXTS = 'hypobench'\n"
        "def f(session, chosen, method):\n"
        "    return session.evaluation == 'gear' or chosen in (OF_TEXTS,) or method == 't3'\n"
    )
    assert list(compared_evaluations(path)) == [
        "a.py:3: session.evaluation == 'gear'",
        "a.py:3: chosen in (OF_TEXTS,)",
    ]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in registry.BUILT_IN.items() for name in names]
)
def test_every_part_of_the_registry_is_there_under_its_own_name(kind: Kind, name: str) -> None:
    found = registry.load(kind, name)
    assert getattr(found, "name", name) == name or kind == "models"


# Two places catch every error and go on: the command line, and the code around untrusted code.
BOUNDARIES = ("cli/boundary.py", "sandbox/inside/", "sandbox/supervisor/")


def caught_errors(path: Path) -> Iterator[str]:
    """Where a file catches every error (a bare `except`, `Exception` or `BaseException`) and does not
    end with raising it again, or with raising another one from it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        names = {"" if one is None else ast.unparse(one) for one in kinds}
        last = node.body[-1]
        raises = isinstance(last, ast.Raise) and (
            last.exc is None or (last.cause is not None and ast.unparse(last.cause) == node.name)
        )
        if names & {"", "Exception", "BaseException"} and not raises:
            yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"


def test_every_error_is_caught_only_at_the_two_boundaries() -> None:
    paths = [ROOT / "__init__.py", ROOT / "secrecy.py"]
    paths += [path for room in BELOW for path in (ROOT / room).rglob("*.py")]
    found = [one for path in paths for one in caught_errors(path)]
    assert not [one for one in found if not one.startswith(BOUNDARIES)]
    assert any(one.startswith("sandbox/inside/trial.py") for one in found)


def test_an_error_that_is_caught_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "a.py"
    path.write_text(
        "try: f()\nexcept Exception: g()\n"
        "try: f()\nexcept (OSError, Exception): raise OSError\n"
        "try: f()\nexcept: pass\n"
        "try: f()\nexcept BaseException:\n    g()\n    raise\n"
        "try: f()\nexcept Exception as error: raise ValueError from error\n"
        "try: f()\nexcept ValueError: pass\n"
    )
    assert list(caught_errors(path)) == ["a.py:2", "a.py:4", "a.py:6"]
