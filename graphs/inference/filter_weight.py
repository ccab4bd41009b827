"""`filter-weight`: the most accurate sentences vote on each row to which they are relevant.

With a model, each pair of row and sentence leads to a question first: is the sentence relevant to
the row? The judge then applies the relevant sentences. Without a model, a sentence is relevant if
it applies. The weight of a vote is the estimated probability that the sentence is right
(`Worth.trust`). If no sentence is relevant, the best sentence decides, then the majority label.

The reference implementation weighs votes by training accuracy, and by default uses a single
sentence, which leaves nothing to weigh. An answer about relevance that is neither yes nor no counts
as no, and is counted as `relevance_unreadable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json, digest_of_text
from ...tasks.text.answers import parse_yes_no
from .queries import DIGEST_DIGITS, collect_answers, fill_undecided, judge_entries, row_digest
from .reading import Reading, RowPredictions
from .selection import decide_by_vote, entry_trusts, top_entries


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row by a vote of relevant sentences (see `reading.Strategy`).

    A question to the model has the path `filter-weight/ROW/relevant/SENTENCE`, where ROW and
    SENTENCE are digests.
    """
    voters = top_entries(reading)
    wanted: Mapping[int, Sequence[int]] = {entry: range(len(inputs)) for entry in voters}
    unreadable = 0
    if reading.ask is not None:
        wanted, unreadable = await _relevant(reading, voters, inputs, place)
    codes = await judge_entries(reading, wanted, inputs)
    weights = entry_trusts(reading)
    decided = [decide_by_vote(reading, row, weights, voters) for row in codes.T.tolist()]
    notes = {"relevance_unreadable": unreadable}
    return RowPredictions(await fill_undecided(reading, decided, inputs), notes)


async def _relevant(
    reading: Reading, voters: Sequence[int], inputs: Sequence[Json], place: str
) -> tuple[Mapping[int, Sequence[int]], int]:
    assert reading.prompts is not None
    pairs = [(row, entry) for row in range(len(inputs)) for entry in voters]
    texts = [entry.text for entry in reading.entries]
    names = [digest_of_text(text)[:DIGEST_DIGITS] for text in texts]
    rows = [row_digest(one) for one in inputs]
    relevant = reading.prompts.judge_relevance
    asked = await collect_answers(
        reading,
        [
            (
                f"{place}filter-weight/{rows[row]}/relevant/{names[entry]}",
                relevant(reading.view, texts[entry], inputs[row]),
            )
            for row, entry in pairs
        ],
    )
    said = [parse_yes_no(text) for text in asked]
    wanted = {
        entry: [row for (row, one), yes in zip(pairs, said, strict=True) if one == entry and yes]
        for entry in voters
    }
    return wanted, said.count(None)
