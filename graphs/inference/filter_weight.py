"""`filter-weight`: let those of the most accurate entries that are relevant to a row vote on it.

With a model, each pair of row and entry is first asked about: is the sentence relevant here? The
judge applies the relevant ones. Without a model, an entry is relevant where it applies. A vote
weighs as much as the entry is trusted (`Worth.trust`). The reference weighs by training accuracy
and uses one entry alone by default, which leaves nothing to weigh. An answer about relevance that
is neither yes nor no counts as no, and is counted in the notes as `relevance_unreadable`. Where
nothing is relevant, the best entry decides, then the majority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json, digest_of_text
from ...tasks.text.answers import parse_yes_no
from .queries import DIGEST_DIGITS, collect_answers, fill_undecided, judge_entries, row_digest
from .reading import Reading, RowPredictions
from .selection import decide_by_vote, entry_trusts, top_entries


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the labels of rows by a vote of relevant entries (see `reading.Strategy`).

    The path of a question to the model is `filter-weight/ROW/relevant/SENTENCE`, where ROW and
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
