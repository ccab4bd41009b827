"""Runs of an interpreted program on the shown pairs: what it returns, how near that is, and which of
its branches serve a single pair.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from .expressions import NotInterpreted
from .interpreter import RAISED, Program
from .metering import Halt

STEPS = 20_000  # of one run
NEAR = 0.5  # the highest score of an output that is not right


class _Failed:
    """The result of a run that raised an exception or exceeded a limit."""

    def __repr__(self) -> str:
        return "failed"


FAILED = _Failed()


class Run(NamedTuple):
    """What a program did on a sequence of pairs.

    Args:
        outputs: The output for each input; `FAILED` if there is none.
        right: Whether each output is right.
        score: The sum over the pairs: 1 for a right output, and at most `NEAR` for another one.
        steps: The number of steps that the runs took together.
        longest: The number of steps of the longest run that has an output.
    """

    outputs: tuple[Any, ...]
    right: tuple[bool, ...]
    score: float
    steps: int
    longest: int

    @property
    def key(self) -> str:
        """Return a text that equals that of another run only if the outputs are equal."""
        return repr(self.outputs)


def run_program(
    tree: ast.Module, entry: str, shown: Sequence[Sequence[Any]], steps: int = STEPS
) -> Run:
    """Run a program on the inputs of pairs, as `run_compiled` does.

    Args:
        tree: The syntax tree of the program.
        entry: The name of its function.
        shown: The pairs [input, output].
        steps: The limit of each run.

    Raises:
        NotInterpreted: The program is outside the subset that is interpreted.
    """
    return run_compiled(Program(tree, entry), shown, steps)


def run_compiled(
    program: Program, shown: Sequence[Sequence[Any]], steps: int, only_right: bool = False
) -> Run:
    """Run a program on the inputs of pairs.

    After two runs that exceed the limit, the others are not made and count as failed.

    Args:
        program: The program.
        shown: The pairs [input, output].
        steps: The limit of each run.
        only_right: Whether to stop at the first output that is not right. The others then count as
            failed.
    """
    outputs: list[Any] = []
    right: list[bool] = []
    score, total, longest, endless = 0.0, 0, 0, 0
    for given, wanted in shown:
        output: Any = FAILED
        if endless < 2 and not (only_right and right and not right[-1]):
            try:
                output = to_plain(program.run(copy_value(given), steps))
                longest = max(longest, steps - program.meter.left)
            except Halt:
                endless += 1
            except RAISED:
                pass
            total += steps - max(0, program.meter.left)
        outputs.append(output)
        right.append(matches(output, wanted))
        score += 1.0 if right[-1] else similarity(output, wanted)
    return Run(tuple(outputs), tuple(right), score, total, longest)


def count_single_cases(tree: ast.Module, entry: str, inputs: Sequence[Any]) -> int:
    """Return the number of branches of a program that a single case reaches (memorisation.py).

    Runs that fail count as far as they get.
    """
    try:
        program = Program(tree, entry, counts_tests=True)
    except NotInterpreted:
        return 0
    for given in inputs:
        try:
            program.run(copy_value(given), STEPS)
        except (Halt, *RAISED):
            continue
    return sum(count == 1 for count in program.tests.values())


def copy_value(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    if type(value) is list:
        return [copy_value(one) for one in value]
    if type(value) is dict:
        return {name: copy_value(one) for name, one in value.items()}
    return value


def to_plain(value: Any, depth: int = 20) -> Any:
    """Return a value with its tuples as lists; `FAILED` for one that has no JSON form."""
    kind = type(value)
    if kind in (int, float, bool, str) or value is None:
        return value
    if kind in (list, tuple) and depth:
        parts = [to_plain(one, depth - 1) for one in value]
        return FAILED if any(part is FAILED for part in parts) else parts
    if isinstance(value, dict) and depth:
        found = {name: to_plain(one, depth - 1) for name, one in value.items()}
        plain = all(isinstance(name, str) for name in found)
        return found if plain and FAILED not in found.values() else FAILED
    return FAILED


def matches(output: Any, wanted: Any) -> bool:
    """Return whether an output is the one of a pair. Numbers are compared with a tolerance of 1e-9."""
    if output is FAILED:
        return False
    if type(wanted) is list:
        return (
            type(output) is list
            and len(output) == len(wanted)
            and all(matches(*pair) for pair in zip(output, wanted, strict=True))
        )
    if type(wanted) is float:
        return type(output) in (int, float) and bool(
            abs(output - wanted) <= 1e-9 * max(1.0, abs(wanted))
        )
    if type(wanted) is dict:
        return type(output) is dict and bool(output == wanted)
    if isinstance(wanted, (bool, int)):
        return isinstance(output, (bool, int, float)) and output == wanted
    return type(output) is type(wanted) and bool(output == wanted)


def similarity(output: Any, wanted: Any) -> float:
    """Return how near a wrong output is to the right one, from 0 to `NEAR`."""
    if output is FAILED or type(output) is not type(wanted):
        return 0.0
    if isinstance(wanted, (list, str)) and wanted and output:
        longest = max(len(wanted), len(output))
        front = sum(a == b for a, b in zip(output, wanted, strict=False))
        back = sum(a == b for a, b in zip(reversed(output), reversed(wanted), strict=False))
        same = 0.1 if len(wanted) == len(output) else 0.0
        return float(min(NEAR, 0.05 + same + 0.3 * max(front, back) / longest))
    return 0.05
