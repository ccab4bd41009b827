"""`two-step`: adaptive inference in two calls a row. The first shows the same patterns as
`one-step` and asks which one fits, by its number; the judge then applies that entry alone. A number
that is none of theirs, or none at all, is counted (`no_pattern`), and the most accurate of them is
applied. Without a model: as `one-step`. Where there is one pattern alone nothing is asked first.
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
    """See `reading.Strategy`; asks at `two-step/ROW/select`."""
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
    """The number, from 1, of the pattern that the model names for each row; None for none."""
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
