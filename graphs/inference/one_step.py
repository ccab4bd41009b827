"""`one-step`: adaptive inference with one prompt for each row.

The prompt shows sentences that are right on different rows (`selection.select_patterns`), each with
some of these rows. The model chooses the sentence that fits the new row best, and labels the row by
this sentence. Without a model, the row is decided by the most trusted of these sentences that
applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...records import Json
from ...tasks.text.answers import parse_pattern_number
from .multi import parse_decision
from .queries import collect_answers, fill_undecided, judge_entries, row_digest
from .reading import Decision, Reading, RowPredictions
from .selection import add_examples, decide_by_trust, select_patterns


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row with one prompt per row (see `reading.Strategy`).

    The call for a row has the path `one-step/ROW`, where ROW is the digest of the row.
    """
    chosen = select_patterns(reading)
    if not chosen or reading.ask is None:
        decided = await decide_by_rules(reading, chosen, inputs)
    else:
        decided = await _query_model(reading, chosen, inputs, place)
    return RowPredictions(await fill_undecided(reading, decided, inputs))


async def decide_by_rules(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json]
) -> list[Decision | None]:
    """Return, for each row, the decision of the most trusted sentence in `chosen` that applies.

    The decision is None if no sentence applies.
    """
    codes = await judge_entries(reading, {entry: range(len(inputs)) for entry in chosen}, inputs)
    return [decide_by_trust(reading, row, chosen) for row in codes.T.tolist()]


async def _query_model(
    reading: Reading, chosen: Sequence[int], inputs: Sequence[Json], place: str
) -> list[Decision | None]:
    assert reading.prompts is not None
    shown = add_examples(reading, chosen)
    adaptively = reading.prompts.infer_adaptively
    said = await collect_answers(
        reading,
        [
            (f"{place}one-step/{row_digest(one)}", adaptively(reading.view, shown, one))
            for one in inputs
        ],
    )
    return [_by_pattern(reading, chosen, text) for text in said]


def _by_pattern(reading: Reading, chosen: Sequence[int], text: str) -> Decision | None:
    """Return the label with the pattern that the answer names, if it names one.

    The label counts either way.
    """
    decided, number = parse_decision(reading, text), parse_pattern_number(text, len(chosen))
    if decided is None or decided.code < 0 or number is None:
        return decided
    return replace(decided, entry=chosen[number - 1])
