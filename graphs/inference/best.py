"""`best`: predict with the most accurate sentence alone.

This is the default inference of the reference implementation. The best sentence is selected by
accuracy, not by reward. The judge applies the sentence. If the sentence does not apply to a row,
the row gets the majority label of the shown rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from .queries import judge_entries
from .reading import Decision, Reading, RowPredictions
from .selection import decide_without_label


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row with the best sentence (see `reading.Strategy`).

    Only the judge is queried.
    """
    majority = Decision(reading.majority, "majority")
    if not reading.entries:
        return RowPredictions((majority,) * len(inputs))
    best = reading.ranked[0]
    codes = (await judge_entries(reading, {best: range(len(inputs))}, inputs))[best].tolist()
    return RowPredictions(
        tuple(
            Decision(code, "hypothesis", best)
            if code >= 0
            else decide_without_label([code]) or majority
            for code in codes
        )
    )
