"""`two-step`: adaptive inference with two calls for each row.

The first call shows the same sentences with example rows as `one-step`, and asks which sentence
fits the new row best. The judge then applies this sentence alone. If the answer names no sentence,
the most accurate of the shown sentences is applied, the decision is marked `no_pattern`, and the
row is counted as `pattern_unnamed`. If there is only one sentence, the first call is skipped.
Without a model, this strategy works as `one-step`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from ...tasks.text.answers import parse_pattern_number
from .one_step import decide_by_rules
from .queries import collect_answers, fill_undecided, judge_entries, row_digest
from .reading import Decision, Reading, RowPredictions
from .selection import add_examples, decide_without_label, select_patterns


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row in two steps: the model selects a sentence for the row, then
    predicts the label with that sentence (see `reading.Strategy`).

    The call that selects the sentence has the path `two-step/ROW/select`, where ROW is the digest
    of the row.
    """
    chosen = select_patterns(reading)
    if not chosen or reading.ask is None:
        return RowPredictions(
            await fill_undecided(reading, await decide_by_rules(reading, chosen, inputs), inputs)
        )
    numbers = await _numbers(reading, chosen, inputs, place)
    entries = [chosen[number - 1 if number else 0] for number in numbers]
    wanted = {entry: [row for row, one in enumerate(entries) if one == entry] for entry in chosen}
    codes = await judge_entries(reading, wanted, inputs)
    decided = [
        _decision(int(codes[entry, row]), entry, named=numbers[row] is not None)
        for row, entry in enumerate(entries)
    ]
    notes = {"pattern_unnamed": numbers.count(None)}
    return RowPredictions(await fill_undecided(reading, decided, inputs), notes)


def _decision(code: int, entry: int, *, named: bool) -> Decision | None:
    if code >= 0:
        return Decision(code, "hypothesis" if named else "no_pattern", entry)
    return decide_without_label([code])


async def _numbers(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json], place: str
) -> list[int | None]:
    """Return the number, from 1, of the pattern that the model names for each row, or None."""
    if len(chosen) == 1:
        return [1] * len(inputs)
    assert reading.prompts is not None
    shown = add_examples(reading, chosen)
    select = reading.prompts.select_pattern
    said = await collect_answers(
        reading,
        [
            (f"{place}two-step/{row_digest(one)}/select", select(reading.view, shown, one))
            for one in inputs
        ],
    )
    return [parse_pattern_number(text, len(chosen)) for text in said]
