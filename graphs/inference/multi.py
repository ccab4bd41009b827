"""`multi`: use all entries at once. HypoBench's published results are made with it.

With a model, one prompt for each row lists every sentence, and the model weighs them. Without a
model, every entry that applies votes with its log-odds (`Worth.log_odds`). Entries that say the
same in other words count each time, because the vote treats them as independent.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from ...tasks.text.answers import NOT_APPLICABLE, parse_judgement
from .queries import collect_answers, fill_undecided, judge_entries, row_digest
from .reading import UNREADABLE, Decision, Reading, RowPredictions
from .selection import decide_by_vote, entry_log_odds


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict labels with all entries in one prompt per row (see `reading.Strategy`).

    The path of the question about a row is `multi/ROW` (`queries.row_digest`).
    """
    if not reading.entries:
        return RowPredictions(await fill_undecided(reading, [None] * len(inputs), inputs))
    decided = await (
        _by_rules(reading, inputs) if reading.ask is None else _query_model(reading, inputs, place)
    )
    return RowPredictions(await fill_undecided(reading, decided, inputs))


async def _by_rules(reading: Reading, inputs: Sequence[Json]) -> list[Decision | None]:
    codes = await judge_entries(
        reading, {entry: range(len(inputs)) for entry in range(len(reading.entries))}, inputs
    )
    weights = entry_log_odds(reading)
    return [decide_by_vote(reading, row, weights, reading.ranked) for row in codes.T.tolist()]


async def _query_model(
    reading: Reading, inputs: Sequence[Json], place: str
) -> list[Decision | None]:
    assert reading.prompts is not None
    texts = [entry.text for entry in reading.entries]
    many = reading.prompts.infer_many
    said = await collect_answers(
        reading,
        [(f"{place}multi/{row_digest(one)}", many(reading.view, texts, one)) for one in inputs],
    )
    return [parse_decision(reading, text) for text in said]


def parse_decision(reading: Reading, text: str) -> Decision | None:
    """Parse a model's answer about several sentences. None if it says that no sentence applies."""
    label = parse_judgement(text, reading.labels)
    if label is NOT_APPLICABLE:
        return None
    if label is None:
        return Decision(UNREADABLE, "unreadable")
    return Decision(reading.labels.index(label), "model")
