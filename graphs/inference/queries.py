"""Questions that strategies ask the judge and the model, and labels for rows that remain
undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Message, digest_of
from ..runtime.queries import gather_or_cancel
from .reading import DOES_NOT_APPLY, NEEDS_MODEL, UNREADABLE, Decision, ModelQuery, Reading
from .selection import decide_without_label

JUDGE_ROLE = "judge"
DIGEST_DIGITS = 16  # hex digits of a digest in a place


def row_digest(input: Json) -> str:
    """Return the first 16 hex digits of the SHA-256 digest of a row's input.

    The paths of model calls contain this digest instead of the row's number. Therefore, a row that
    occurs again, for example in another split, reuses the recorded answer.
    """
    return digest_of(input)[:DIGEST_DIGITS]


async def collect_answers(
    reading: Reading, questions: Sequence[tuple[str, Sequence[Message]]]
) -> list[str]:
    """Ask the model several questions concurrently, and return its answers in the order of
    `questions`.

    Args:
        reading: The bank, with the function that queries the model.
        questions: Pairs (place, messages). The place is the end of the path under which the journal
            records the call. If several questions have the same place, the model is asked once.

    Raises:
        Unavailable: The model gave no answer.
    """
    assert reading.ask is not None
    once = dict(questions)
    said = await gather_or_cancel([_query_judge(reading.ask, place, once[place]) for place in once])
    found = dict(zip(once, said, strict=True))
    return [found[place] for place, _ in questions]


async def _query_judge(ask: ModelQuery, place: str, messages: Sequence[Message]) -> str:
    return await ask(JUDGE_ROLE, place, messages)


async def judge_entries(
    reading: Reading, wanted: Mapping[int, Sequence[int]], inputs: Sequence[Json]
) -> NDArray[np.int64]:
    """Return the label that each sentence of the bank gives to each row.

    Args:
        reading: The bank.
        wanted: The indices of the rows on which to judge a sentence, by the index of the sentence.
        inputs: The rows.

    Returns:
        An int64 array of shape (sentences, rows). A value is the index of a label, or a negative
        code such as `DOES_NOT_APPLY`, which also stands for a pair that was not judged.
    """
    codes = np.full((len(reading.entries), len(inputs)), DOES_NOT_APPLY, np.int64)
    some = [(entry, tuple(rows)) for entry, rows in wanted.items() if rows]
    parts = {
        rows: inputs for _, rows in some
    }  # one object for all entries, so that a judge prepares it once
    for rows in parts:
        if len(rows) < len(inputs):
            parts[rows] = [inputs[i] for i in rows]
    said = await gather_or_cancel([_of_one(reading, entry, parts[rows]) for entry, rows in some])
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


async def fill_undecided(
    reading: Reading, decided: Sequence[Decision | None], inputs: Sequence[Json]
) -> tuple[Decision, ...]:
    """Return the decisions, with a decision for each row that no sentence decided.

    The best sentence of the bank decides such a row. If the best sentence does not apply, the row
    gets the majority label of the shown rows.

    Args:
        reading: The bank.
        decided: The decision for each row; None for an undecided row.
        inputs: The rows.
    """
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
    ):  # an exact rule runs over a full input set, and this one's result is known already
        codes = (await _of_one(reading, best, inputs))[rows]
    else:
        codes = await _of_one(reading, best, [inputs[i] for i in rows])
    return [_end(code, best) or majority for code in codes.tolist()]


def _end(code: int, best: int) -> Decision | None:
    if code >= 0:
        return Decision(code, "best", best)
    return decide_without_label([code]) if code == UNREADABLE else None
