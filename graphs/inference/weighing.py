"""Measure how often each sentence of a bank is right on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Json, Observation
from .queries import judge_entries
from .reading import DOES_NOT_APPLY, NEEDS_MODEL, Reading, Worth


def encode_labels(reading: Reading, labels: Sequence[Json]) -> list[int]:
    """Return the index of each label among the labels of the problem.

    Raises:
        DataError: A label is not a label of the problem.
    """
    known = {label: code for code, label in enumerate(reading.labels)}
    for row, label in enumerate(labels):
        if label not in known:
            raise DataError(f"row {row} has the label {label!r}: it is none of {', '.join(known)}")
    return [known[label] for label in labels]


def _gold(reading: Reading, rows: Sequence[Observation]) -> list[int]:
    return encode_labels(reading, [one.output for one in rows])


async def judge_all(reading: Reading, rows: Sequence[Observation]) -> NDArray[np.int64]:
    """Return the label that each sentence of the bank gives to each row.

    The result is an int64 array of label codes of shape (sentences, rows). Each sentence is judged
    on all rows in one batch.
    """
    inputs: list[Json] = [one.input for one in rows]
    everything = {entry: range(len(inputs)) for entry in range(len(reading.entries))}
    return await judge_entries(reading, everything, inputs)


async def weigh_entries(reading: Reading, rows: Sequence[Observation]) -> Reading:
    """Return the bank with the accuracy of each sentence on validation rows.

    If there are no rows, the bank is returned unchanged. A sentence that cannot be judged on these
    rows counts as judged on no row.

    Args:
        reading: The bank.
        rows: The validation rows. Test rows must never be passed.
    """
    if not rows:
        return reading
    codes, true = await judge_all(reading, rows), _gold(reading, rows)
    judged = codes != NEEDS_MODEL
    counts = (codes == true, judged & (codes != DOES_NOT_APPLY), judged)
    sums = np.stack([one.sum(axis=1) for one in counts], axis=1).tolist()
    worth = (Worth(*one) for one in sums)
    return replace(reading, worth=tuple(worth), validation=tuple(rows))


async def update_right_rows(reading: Reading) -> Reading:
    """Return the bank after judging every sentence on the shown rows again.

    Each sentence then lists the shown rows that it labels correctly. This is necessary for a bank
    that was built from other rows, because its row indices do not fit the shown rows.
    """
    hits = await judge_all(reading, reading.shown) == np.array(_gold(reading, reading.shown))
    entries = (
        replace(entry, right=tuple(np.flatnonzero(one).tolist()))
        for entry, one in zip(reading.entries, hits, strict=True)
    )
    return replace(reading, entries=tuple(entries))
