"""`one-step`: adaptive inference with one prompt for each row.

The prompt shows entries that got different rows right (`selection.patterns`), each with some of
these rows, and the model judges by the one that fits best. Without a model, the most trusted of
these entries that applies decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...records import Json
from ...tasks.text.answers import pattern_in
from .asking import answers, judged, mended, place_of
from .multi import read
from .reading import Decision, Predicted, Reading
from .selection import most_trusted, patterns, with_examples


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> Predicted:
    """Predict labels (see `reading.Strategy`). It asks at `one-step/ROW`."""
    chosen = patterns(reading)
    if not chosen or reading.ask is None:
        decided = await by_rules(reading, chosen, inputs)
    else:
        decided = await _asked(reading, chosen, inputs, place)
    return Predicted(await mended(reading, decided, inputs))


async def by_rules(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json]
) -> list[Decision | None]:
    """Return for each input the decision of the most trusted entry in `chosen` that applies."""
    codes = await judged(reading, {entry: range(len(inputs)) for entry in chosen}, inputs)
    return [most_trusted(reading, row, chosen) for row in codes.T.tolist()]


async def _asked(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json], place: str
) -> list[Decision | None]:
    assert reading.prompts is not None
    shown = with_examples(reading, chosen)
    adaptively = reading.prompts.infer_adaptively
    said = await answers(
        reading,
        [
            (f"{place}one-step/{place_of(one)}", adaptively(reading.view, shown, one))
            for one in inputs
        ],
    )
    return [_by_pattern(reading, chosen, text) for text in said]


def _by_pattern(reading: Reading, chosen: Sequence[int], text: str) -> Decision | None:
    """Return the label with the pattern that the answer names, if it names one.

    The label counts either way.
    """
    decided, number = read(reading, text), pattern_in(text, len(chosen))
    if decided is None or decided.code < 0 or number is None:
        return decided
    return replace(decided, entry=chosen[number - 1])
