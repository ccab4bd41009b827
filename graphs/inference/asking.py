"""What the strategies ask, and what becomes of rows that nothing decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Message, digest_of
from ..runtime.asking import side_by_side
from .reading import DOES_NOT_APPLY, NEEDS_MODEL, UNREADABLE, Asking, Decision, Reading
from .selection import undecided

ROLE = "judge"
NAMED = 16  # hex digits of a digest in a place


def place_of(input: Json) -> str:
    """How a row is named in the places of questions: by what it holds, so that the same row of
    another part, split or strategy's second reading is the same question."""
    return digest_of(input)[:NAMED]


async def answers(
    reading: Reading, questions: Sequence[tuple[str, Sequence[Message]]]
) -> list[str]:
    """What the model says to each (place, messages), in their order; a place that comes several
    times is asked once. Raises Unavailable."""
    assert reading.ask is not None
    once = dict(questions)
    said = await side_by_side([_asked(reading.ask, place, once[place]) for place in once])
    found = dict(zip(once, said, strict=True))
    return [found[place] for place, _ in questions]


async def _asked(ask: Asking, place: str, messages: Sequence[Message]) -> str:
    return await ask(ROLE, place, messages)


async def judged(
    reading: Reading, wanted: Mapping[int, Sequence[int]], inputs: Sequence[Json]
) -> NDArray[np.int64]:
    """int64 (entries, rows): what each entry says of the rows that `wanted` names for it, one batch
    an entry; `DOES_NOT_APPLY` elsewhere."""
    codes = np.full((len(reading.entries), len(inputs)), DOES_NOT_APPLY, np.int64)
    some = [(entry, tuple(rows)) for entry, rows in wanted.items() if rows]
    parts = {
        rows: inputs for _, rows in some
    }  # one object for all entries: a judge prepares it once
    for rows in parts:
        if len(rows) < len(inputs):
            parts[rows] = [inputs[i] for i in rows]
    said = await side_by_side([_of_one(reading, entry, parts[rows]) for entry, rows in some])
    for (entry, rows), column in zip(some, said, strict=True):
        codes[entry, list(rows)] = column
    return codes


async def _of_one(reading: Reading, entry: int, inputs: Sequence[Json]) -> NDArray[np.int64]:
    codes = np.asarray(await reading.judge(reading.entries[entry].text, inputs), np.int64)
    if codes.shape != (len(inputs),):
        raise ValueError(f"{len(inputs)} inputs were judged with {codes.shape} codes")
    if ((codes < NEEDS_MODEL) | (codes >= len(reading.labels))).any():
        raise ValueError(f"codes outside {NEEDS_MODEL}..{len(reading.labels) - 1}")
    return codes


async def mended(
    reading: Reading, decided: Sequence[Decision | None], inputs: Sequence[Json]
) -> tuple[Decision, ...]:
    """`decided` with an end for the rows where nothing applied: what the best entry says there,
    and where it says nothing either, the majority label of the shown rows."""
    open_rows = [i for i, one in enumerate(decided) if one is None]
    ends = dict(zip(open_rows, await _by_best(reading, open_rows, inputs), strict=True))
    return tuple(ends[i] if one is None else one for i, one in enumerate(decided))


async def _by_best(reading: Reading, rows: Sequence[int], inputs: Sequence[Json]) -> list[Decision]:
    majority = Decision(reading.majority, "majority")
    if not rows or not reading.entries:
        return [majority] * len(rows)
    best = reading.ranked[0]
    if (
        reading.ask is None
    ):  # an exact rule runs over an input set at once, and has run over this one
        codes = (await _of_one(reading, best, inputs))[rows]
    else:
        codes = await _of_one(reading, best, [inputs[i] for i in rows])
    return [_end(code, best) or majority for code in codes.tolist()]


def _end(code: int, best: int) -> Decision | None:
    if code >= 0:
        return Decision(code, "best", best)
    return undecided([code]) if code == UNREADABLE else None
