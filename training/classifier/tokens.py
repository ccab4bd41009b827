"""Convert rows of labelled text to `column: value` lines, and these lines to a limited number of
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json, Observation


def column_lines(row_input: Json) -> list[str]:
    """Return one line `column: value` for each column of a row.

    A missing value becomes an empty text. If `row_input` is a single text, the text is the only
    line.
    """
    if not isinstance(row_input, Mapping):
        return [str(row_input)]
    return [f"{name}: {'' if value is None else value}" for name, value in row_input.items()]


def encode_rows(
    tokenizer: Any, rows: Sequence[Observation], max_length: int
) -> tuple[list[list[int]], int]:
    """Return the token ids of each row, and the number of rows that were shortened.

    Each row has between one and `max_length` tokens. It begins with the BOS token if the tokenizer
    adds a BOS token.
    """
    first = list(tokenizer("")["input_ids"])[:1]
    if first and first[0] != tokenizer.bos_token_id:
        first = []
    texts = [column_lines(row.input) for row in rows]
    flat = [part for some in texts for part in [*(f"{one}\n" for one in some[:-1]), *some[-1:]]]
    ids = iter(tokenizer(flat, add_special_tokens=False)["input_ids"] if flat else [])
    found, cut = [], 0
    for some in texts:
        parts = [list(next(ids)) for _ in some]
        room = max_length - len(first)
        caps = share_room([len(part) for part in parts], room)
        cut += sum(map(len, parts)) > room
        whole = [token for part, cap in zip(parts, caps, strict=True) for token in part[:cap]]
        found.append([*first, *whole] or [tokenizer.eos_token_id])
    return found, cut


def share_room(sizes: Sequence[int], room: int) -> list[int]:
    """Return the size to which each part is shortened so that all parts fit into `room`.

    Only the longest parts are shortened, to a common size.

    >>> share_room([2, 9, 5], 12)
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
