"""Grid programs: sequences of steps, where a step is Python code that changes a grid `g`.

The search executes exactly the code that is written into an answer, so the answer gives the same
grids as the search. Every step has a cost, and the cost of a program is their sum. The costs were
set by hand to express how likely people are to have such a rule in mind.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ...tasks.programs.grid_rules import COLOUR_NAMES
from .step_functions import HELPERS

Grid: TypeAlias = list[list[int]]
Grids: TypeAlias = tuple[Grid, ...]

MAX_SIDE = 30  # maximum number of rows and of columns
# Exceptions that a generated program can raise.
FAILURES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


class Step(NamedTuple):
    """One step of a grid program.

    Attributes:
        code: Python lines that read the grid `g`, a list of rows, and assign a new list to `g`.
            They must not modify the rows of `g`. They may call the helper functions of
            step_functions.py.
        says: The step as an instruction in English. It is empty if descriptions of programs leave
            the step out.
        cost: Cost of the step.
    """

    code: str
    says: str
    cost: float


class Program(NamedTuple):
    """A sequence of steps that turns an input grid into another grid.

    A program without steps returns the grid unchanged.
    """

    steps: tuple[Step, ...] = ()

    @property
    def cost(self) -> float:
        """Return the sum of the costs of the steps."""
        return sum(step.cost for step in self.steps)

    def then(self, *steps: Step) -> Program:
        """Return a program that runs the steps of this program and then `steps`."""
        return Program((*self.steps, *steps))


def generate_source(program: Program) -> str:
    """Return `program` as Python source: one function `f(g)` with its helper functions inside."""
    lines = [line for step in program.steps for line in step.code.splitlines()]
    body = [
        line for name in find_used_helpers("\n".join(lines)) for line in HELPERS[name].splitlines()
    ]
    if lines and lines[-1].startswith("g = "):
        lines[-1] = "return " + lines[-1].removeprefix("g = ")
    else:
        lines.append("return g")
    return "def f(g):\n" + "\n".join("    " + line if line else "" for line in [*body, *lines])


def describe_program(program: Program) -> str:
    """Return an English sentence that describes what `program` does."""
    if not program.steps:
        return "The grid stays as it is."
    said = ", then ".join(step.says for step in program.steps if step.says)
    return said[0].upper() + said[1:] + "."


def find_used_helpers(code: str) -> list[str]:
    """Return the names of the helpers that `code` calls, directly or through other helpers.

    Every helper comes after the helpers that it calls itself.
    """
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
    """Return the names that are called, or that are read and bound nowhere, in their order.

    A variable may have the name of a helper, but the code cannot then also refer to the helper
    without calling it.
    """
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
def compile_step(code: str) -> Callable[[Grid], Any]:
    """Compile the code of a step to a function that takes a grid and returns the changed grid."""
    lines = "\n".join("    " + line for line in code.splitlines())
    names: dict[str, Any] = {}
    exec(compile(f"def step(g):\n{lines}\n    return g", "<step>", "exec"), _helpers(), names)
    made: Callable[[Grid], Any] = names["step"]
    return made


@lru_cache(maxsize=1)
def _helpers() -> dict[str, Any]:
    """Compile all helpers once. `objects` is cached for each grid because many steps call it."""
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
    """Run `step` on all `grids` and return the results.

    None is returned if the step fails on a grid or returns a value that is not a grid.
    """
    made = compile_step(step.code)
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
    """Return whether `value` is a list of 1 to 30 rows of equal length, with 1 to 30 cells each.

    The values of the cells are not checked.
    """
    return (
        type(value) is list
        and 0 < len(value) <= MAX_SIDE
        and all(type(row) is list for row in value)
        and 0 < len(value[0]) <= MAX_SIDE
        and len(set(map(len, value))) == 1
    )


def colour_name(colour: int) -> str:
    """Return the name and the number of a colour, such as "red (2)"."""
    return f"{COLOUR_NAMES[colour]} ({colour})"
