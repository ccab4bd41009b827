"""`multi`: use all sentences of the bank at once, as in HypoBench's published results.

With a model, one prompt for each row lists every sentence, and the model weighs the sentences
against each other. Without a model, every sentence that applies votes, weighted by its log-odds
(`Worth.log_odds`). Sentences with the same meaning each have a vote, because the vote treats all
sentences as independent.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Json
from ...tasks.text.answers import NOT_APPLICABLE, parse_judgement
from .queries import collect_answers, fill_undecided, judge_entries, row_digest
from .reading import UNREADABLE, Decision, Reading, RowPredictions
from .selection import decide_by_vote, entry_log_odds


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row with all sentences in one prompt (see `reading.Strategy`).

    The call for a row has the path `multi/ROW`, where ROW is the digest of the row.
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
    """Parse a model's answer about several sentences.

    The result is None if the model says that no sentence applies.
    """
    label = parse_judgement(text, reading.labels)
    if label is NOT_APPLICABLE:
        return None
    if label is None:
        return Decision(UNREADABLE, "unreadable")
    return Decision(reading.labels.index(label), "model")
