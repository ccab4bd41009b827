"""Programs too slow to be run on a whole sample space: they repeat elements by their values, and then go
through the long list once for each of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .features import FEATURES
from .grammar import REPEATING, Node, operations
from .source import TooLong, source

WORK = 2e8  # steps from element to element on the whole space, some seconds
_LOOKED_AT = 40  # inputs
# Operations whose text goes through its list for each element, and what is said of elements without that.
_SQUARE = frozenset(
    ("running_sum", "running_max", "running_min", "tallies", "tally_pairs", "no_max", "no_min", "once",
     "repeated", "by_count", "by_count_down", "mode", "both", "except")
)  # fmt: skip
_AT_ONCE = frozenset(
    ("v", "i", "to_end", "n", "first", "last", "second", "third", "middle", "before", "after",
     "mirror", "two_before", "digit_sum", "flipped", "at_v", "at_v_round")
)  # fmt: skip


def slow(program: Node, inputs: Sequence[list[int]]) -> bool:
    """Whether a program would need more than `WORK` steps on these inputs."""
    few = inputs[:: max(1, len(inputs) // _LOOKED_AT)]
    for base in _gone_through(program):
        try:
            names: dict[str, Any] = {}
            exec(compile(source(base), "<base>", "exec"), names)
            squares = [len(names["f"](list(x))) ** 2 for x in few]
        except (ArithmeticError, LookupError, MemoryError, TooLong, TypeError, ValueError):
            continue
        if sum(squares) * len(inputs) > WORK * max(1, len(few)):
            return True
    return False


def _gone_through(program: Node) -> Iterator[Node]:
    """The lists made by repetition that are gone through once an element."""
    for part in program.args:
        if isinstance(part, Node):
            yield from _gone_through(part)
    said = [op for part in program.args[1:] for op in operations(part)]
    square = program.op in _SQUARE or any(op in FEATURES and op not in _AT_ONCE for op in said)
    if square and any(op in REPEATING for op in operations(program.args[0])):
        yield program.args[0]
