"""Choose some of many pairs for a search, so that its time and memory do not grow with their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def choose_pairs(
    pairs: Sequence[list[Any]], most: int, size: Callable[[list[Any]], int]
) -> list[list[Any]]:
    """Return evenly spaced pairs [input, output], at least one.

    Args:
        pairs: all pairs, at least one.
        most: the total size up to which pairs are chosen.
        size: returns the size of a pair.

    Returns:
        All pairs, if their total size is at most `most`. If all chosen outputs are equal and others are
        not, the first pair with another output is chosen too.
    """
    total = sum(map(size, pairs))
    if total <= most:
        return list(pairs)
    chosen = list(pairs[:: -(-total // most)])
    if all(one[1] == chosen[0][1] for one in chosen):
        chosen += [one for one in pairs if one[1] != chosen[0][1]][:1]
    return chosen
