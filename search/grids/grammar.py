"""What a grid program is: steps on a grid `g`, each some lines of Python and a phrase.

The engine runs the very lines it writes, so what the search computed and what a written answer
computes cannot differ. Prices are additive and set by hand: a prior over what people mean.

Names of the ten colours, as answers say them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ...tasks.programs.grid_rules import NAMES
from .helpers import HELPERS

Grid: TypeAlias = list[list[int]]
Grids: TypeAlias = tuple[Grid, ...]

LARGEST = 30  # rows, and columns
# What a written program can raise.
FAILURES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


class Step(NamedTuple):
    """code: lines that take the list of rows `g`, change nothing in it, and leave another in `g`;
    they may call what helpers.py defines. says: the same as a phrase in the imperative."""

    code: str
    says: str
    cost: float


class Program(NamedTuple):
    steps: tuple[Step, ...] = ()

    @property
    def cost(self) -> float:
        return sum(step.cost for step in self.steps)

    def then(self, *steps: Step) -> Program:
        return Program((*self.steps, *steps))


def source(program: Program) -> str:
    """One def under the answer contract; helper functions stand inside it."""
    lines = [line for step in program.steps for line in step.code.splitlines()]
    body = [line for name in used("\n".join(lines)) for line in HELPERS[name].splitlines()]
    if lines and lines[-1].startswith("g = "):
        lines[-1] = "return " + lines[-1].removeprefix("g = ")
    else:
        lines.append("return g")
    return "def f(g):\n" + "\n".join("    " + line if line else "" for line in [*body, *lines])


def sentence(program: Program) -> str:
    if not program.steps:
        return "The grid stays as it is."
    said = ", then ".join(step.says for step in program.steps if step.says)
    return said[0].upper() + said[1:] + "."


def used(code: str) -> list[str]:
    """Names of the helpers that code calls, and those that these call, each before its callers."""
    found: dict[str, None] = {}

    def visit(text: str) -> None:
        for name in _free(text):
            if name in HELPERS and name not in found:
                visit(HELPERS[name])
                found[name] = None

    visit(code)
    return list(found)


@lru_cache(maxsize=20_000)
def _free(code: str) -> tuple[str, ...]:
    """Names that some lines call, or read and bind nowhere, in their order: a variable may have the
    name of a helper, but not where both are meant."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    free = (n.id for n in names if id(n) in called or n.id not in bound)
    return tuple(name for name in dict.fromkeys(free) if name not in defined)


@lru_cache(maxsize=20_000)
def function(code: str) -> Callable[[Grid], Any]:
    """A step's lines as a function of a grid."""
    lines = "\n".join("    " + line for line in code.splitlines())
    names = dict(_helpers())
    exec(compile(f"def step(g):\n{lines}\n    return g", "<step>", "exec"), names)
    made: Callable[[Grid], Any] = names["step"]
    return made


@lru_cache(maxsize=1)
def _helpers() -> dict[str, Any]:
    """All helpers, compiled once. Objects are found once a grid: many steps ask for them."""
    names: dict[str, Any] = {}
    exec(compile("\n".join(HELPERS.values()), "<helpers>", "exec"), names)
    found = names["objects"]

    @lru_cache(maxsize=2_000)
    def kept(g: tuple[tuple[int, ...], ...], same: bool, around: bool) -> Any:
        return found(g, same, around)

    def objects(g: Grid, same: bool, around: bool) -> Any:
        return [cells[:] for cells in kept(tuple(map(tuple, g)), same, around)]

    names["objects"] = objects
    return names


def apply(step: Step, grids: Grids) -> Grids | None:
    """The step on all grids; None where it fails on one, or leaves no grid."""
    made = function(step.code)
    out = []
    for grid in grids:
        try:
            left = made(grid)
        except FAILURES:
            return None
        if not is_grid(left):
            return None
        out.append(left)
    return tuple(out)


def is_grid(value: Any) -> bool:
    """Whether a value is 1 to 30 rows of 1 to 30 cells each (their colours are not looked at)."""
    return (
        type(value) is list
        and 0 < len(value) <= LARGEST
        and type(value[0]) is list
        and 0 < len(value[0]) <= LARGEST
        and len(set(map(len, value))) == 1
    )


def named(colour: int) -> str:
    return f"{NAMES[colour]} ({colour})"
