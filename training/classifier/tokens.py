"""Rows of labelled text as tokens: `column: value` lines, within a number of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json, Observation


def lines(given: Json) -> list[str]:
    """A line a column, "" where there is no value; of an input that is one text, that text."""
    if not isinstance(given, Mapping):
        return [str(given)]
    return [f"{name}: {'' if value is None else value}" for name, value in given.items()]


def encoded(
    tokenizer: Any, rows: Sequence[Observation], max_length: int
) -> tuple[list[list[int]], int]:
    """The tokens of each row, at most `max_length`, and how many rows had more. A tokenizer's first
    token (BOS) stands where it puts one; no row is without any token."""
    first = list(tokenizer("")["input_ids"])[:1]
    if first and first[0] != tokenizer.bos_token_id:
        first = []
    texts = [lines(row.input) for row in rows]
    flat = [part for some in texts for part in [*(f"{one}\n" for one in some[:-1]), *some[-1:]]]
    ids = iter(tokenizer(flat, add_special_tokens=False)["input_ids"] if flat else [])
    found, cut = [], 0
    for some in texts:
        parts = [list(next(ids)) for _ in some]
        room = max_length - len(first)
        caps = fair([len(part) for part in parts], room)
        cut += sum(map(len, parts)) > room
        whole = [token for part, cap in zip(parts, caps, strict=True) for token in part[:cap]]
        found.append([*first, *whole] or [tokenizer.eos_token_id])
    return found, cut


def fair(sizes: Sequence[int], room: int) -> list[int]:
    """How much of each part stays, `room` in all at most: the longest give, down to one length.

    >>> fair([2, 9, 5], 12)
    [2, 5, 5]
    """
    caps = list(sizes)
    if sum(caps) <= room:
        return caps
    left, order = max(0, room), sorted(range(len(caps)), key=lambda place: caps[place])
    for number, place in enumerate(order):
        caps[place] = min(caps[place], left // (len(order) - number))
        left -= caps[place]
    return caps
