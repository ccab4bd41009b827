"""Programs that take long on some input of the space: a list as long as its values are large, and
on it a step that goes through the whole list for each element. They may be right, and then one may
come first, but they are no following answers: 600 inputs of the space would take seconds."""

from __future__ import annotations

from .features import find
from .grammar import OPERATIONS, Node, operations

_LENGTHENED = frozenset(
    ["by_itself", "path", "all_below", "all_upto", "all_downto", "each_by", "each_of"]
)
_PER_ELEMENT = frozenset(
    ["running_sum", "running_max", "running_min", "no_max", "no_min", "once", "repeated", "tallies", "tally_pairs",
     "by_count", "by_count_down", "mode"]
)  # fmt: skip
# Features that look at one element of the list, or at its length.
_AT_ONCE = frozenset(
    ["first", "last", "second", "third", "before", "after", "mirror", "two_before", "n", "to_end", "at_v",
     "at_v_round", "middle"]
)  # fmt: skip


def laborious(program: Node) -> bool:
    """Whether a step that is quadratic in a list stands on one that values lengthen."""
    parts = [part for part in program.args if isinstance(part, Node)]
    if parts and any(op in _LENGTHENED for op in operations(parts[0])):
        if program.op in _PER_ELEMENT:
            return True
        if program.op not in OPERATIONS and any(_looks_around(part) for part in parts[1:]):
            return True
    return any(laborious(part) for part in parts)


def _looks_around(term: Node) -> bool:
    feature = find(term.op)
    if feature is not None:
        return feature.uses_base and term.op not in _AT_ONCE
    return any(isinstance(part, Node) and _looks_around(part) for part in term.args)
