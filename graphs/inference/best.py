"""`best`: predict with the most accurate entry alone.

It is the reference's default inference; "best" is by accuracy, not by reward. The judge applies the
entry, with a model or without. Where it does not apply, the row gets the majority label of the
shown rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from .asking import judged
from .reading import Decision, Predicted, Reading
from .selection import undecided


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> Predicted:
    """Predict labels (see `reading.Strategy`). It queries only the judge."""
    majority = Decision(reading.majority, "majority")
    if not reading.entries:
        return Predicted((majority,) * len(inputs))
    best = reading.ranked[0]
    codes = (await judged(reading, {best: range(len(inputs))}, inputs))[best].tolist()
    return Predicted(
        tuple(
            Decision(code, "hypothesis", best) if code >= 0 else undecided([code]) or majority
            for code in codes
        )
    )
