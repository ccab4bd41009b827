"""The rooms know of each other what the design allows: imports go one way, and there is no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import peirce
import pytest

ROOT = Path(__file__).parents[1]
BELOW: dict[str, set[str]] = {
    "records": set(),
    "config": {"records"},
    "sandbox": {"config", "records"},
    "tools": {"sandbox", "config", "records"},
    "tasks": {"tools", "sandbox", "config", "records"},
    "store": {"config", "records"},
    "agents": {"tasks", "tools", "config", "records", "secrecy"},
    "graphs": {"agents", "store", "tasks", "tools", "config", "records"},
    "training": {"agents", "store", "tasks", "tools", "config", "records"},
    "reports": {"store", "tasks", "tools", "sandbox", "config", "records"},
    "commands": {
        *("reports", "training", "graphs", "agents", "store", "tasks", "tools", "sandbox"),
        *("config", "records", "secrecy"),
    },
    "cli": {"commands", "reports", "training", "config", "records", "secrecy"},
}
MODULES = {"config"}  # rooms of one file


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
    assert rooms == set(BELOW) - MODULES


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    modules = [ROOT / f"{room}.py"] if room in MODULES else list((ROOT / room).rglob("*.py"))
    assert modules
    public = {"__version__", *peirce.__all__}  # what the command line calls
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {other}"
        for path in modules
        for line, other in imports(path)
        if other != room and other not in BELOW[room] | (public if room == "cli" else set())
    ]
    assert not wrong, "\n".join(wrong)


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
