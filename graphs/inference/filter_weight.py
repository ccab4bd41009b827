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
from ...tasks.text.answers import yes_no_in
from .asking import NAMED, answers, judged, mended, place_of
from .reading import Predicted, Reading
from .selection import top, trusts, voted


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> Predicted:
    """Predict labels (see `reading.Strategy`).

    It asks at `filter-weight/ROW/relevant/SENTENCE`, where both are digests.
    """
    voters = top(reading)
    wanted: Mapping[int, Sequence[int]] = {entry: range(len(inputs)) for entry in voters}
    unreadable = 0
    if reading.ask is not None:
        wanted, unreadable = await _relevant(reading, voters, inputs, place)
    codes = await judged(reading, wanted, inputs)
    weights = trusts(reading)
    decided = [voted(reading, row, weights, voters) for row in codes.T.tolist()]
    notes = {"relevance_unreadable": unreadable}
    return Predicted(await mended(reading, decided, inputs), notes)


async def _relevant(
    reading: Reading, voters: Sequence[int], inputs: Sequence[Json], place: str
) -> tuple[Mapping[int, Sequence[int]], int]:
    assert reading.prompts is not None
    pairs = [(row, entry) for row in range(len(inputs)) for entry in voters]
    texts = [entry.text for entry in reading.entries]
    names = [digest_of_text(text)[:NAMED] for text in texts]
    rows = [place_of(one) for one in inputs]
    relevant = reading.prompts.relevant
    asked = await answers(
        reading,
        [
            (
                f"{place}filter-weight/{rows[row]}/relevant/{names[entry]}",
                relevant(reading.view, texts[entry], inputs[row]),
            )
            for row, entry in pairs
        ],
    )
    said = [yes_no_in(text) for text in asked]
    wanted = {
        entry: [row for (row, one), yes in zip(pairs, said, strict=True) if one == entry and yes]
        for entry in voters
    }
    return wanted, said.count(None)
