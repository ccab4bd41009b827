"""`two-step`: adaptive inference with two calls for each row.

The first call shows the same patterns as `one-step` and asks for the number of the one that fits.
The judge then applies that entry alone. If the answer names none of the numbers, the most accurate
pattern is applied; the decision is marked `no_pattern`, and the notes count it as
`pattern_unnamed`. With a single pattern the first call is skipped. Without a model it works as
`one-step`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from ...tasks.text.answers import pattern_in
from .asking import answers, judged, mended, place_of
from .one_step import by_rules
from .reading import Decision, Predicted, Reading
from .selection import patterns, undecided, with_examples


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> Predicted:
    """Predict labels (see `reading.Strategy`). It asks at `two-step/ROW/select`."""
    chosen = patterns(reading)
    if not chosen or reading.ask is None:
        return Predicted(await mended(reading, await by_rules(reading, chosen, inputs), inputs))
    numbers = await _numbers(reading, chosen, inputs, place)
    entries = [chosen[number - 1 if number else 0] for number in numbers]
    wanted = {entry: [row for row, one in enumerate(entries) if one == entry] for entry in chosen}
    codes = await judged(reading, wanted, inputs)
    decided = [
        _decision(int(codes[entry, row]), entry, named=numbers[row] is not None)
        for row, entry in enumerate(entries)
    ]
    notes = {"pattern_unnamed": numbers.count(None)}
    return Predicted(await mended(reading, decided, inputs), notes)


def _decision(code: int, entry: int, *, named: bool) -> Decision | None:
    if code >= 0:
        return Decision(code, "hypothesis" if named else "no_pattern", entry)
    return undecided([code])


async def _numbers(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json], place: str
) -> list[int | None]:
    """Return the number, from 1, of the pattern that the model names for each row, or None."""
    if len(chosen) == 1:
        return [1] * len(inputs)
    assert reading.prompts is not None
    shown = with_examples(reading, chosen)
    select = reading.prompts.select
    said = await answers(
        reading,
        [
            (f"{place}two-step/{place_of(one)}/select", select(reading.view, shown, one))
            for one in inputs
        ],
    )
    return [pattern_in(text, len(chosen)) for text in said]
