"""The ranking evaluates candidates on as few inputs as a decision needs, and chooses as if on all.

Internals: the rankers are called with candidates whose predictions are random, and compared with a plain
ranking that evaluates each candidate on all inputs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from peirce.search.novelty import (
    ANSWERS_BY_COST,
    MAX_COMPARED,
    MAX_EXTRA_COST,
    MIN_NEW_SHARE,
    SAMPLE_TOLERANCE,
    NoveltyRanker,
    Predictions,
    diversity_gain,
    new_share,
)


class Drawn:
    """A candidate with drawn predictions, that counts on how many inputs it was evaluated."""

    def __init__(self, name: str, cost: float, codes: list[int], defined: list[bool]) -> None:
        self.text = self.sentence = name
        self.cost, self.looked_at = cost, 0
        self.codes, self.defined = np.array(codes, np.int64), np.array(defined)

    def predict(self, inputs: Sequence[int]) -> Predictions:
        self.looked_at += len(inputs)
        return self.codes[list(inputs)], self.defined[list(inputs)]


def draw(seed: int, inputs: int, candidates: int) -> list[Drawn]:
    """Return candidates of rising cost, many of which agree with one of a few on most inputs."""
    pick = random.Random(seed)
    few = [[pick.randrange(3) for _ in range(inputs)] for _ in range(4)]
    made = []
    for k in range(candidates):
        rate, base = pick.choice((0.05, 0.15, 0.2, 0.25, 0.6)), pick.choice(few)
        codes = [pick.randrange(3, 9) if pick.random() < rate else code for code in base]
        known = [pick.random() < 0.95 for _ in range(inputs)]
        made.append(Drawn(f"c{k}", 1.0 + k * pick.choice((0.01, 0.05)), codes, known))
    return sorted(made, key=lambda one: one.cost)


def choose_plainly(
    ranker: NoveltyRanker, ranked: list[Drawn], known: list[Drawn], skip: set[str]
) -> Drawn | None:
    """Choose as search/novelty.py describes it, with all predictions of all candidates."""
    if not known:
        return next((c for c in ranked if c.text not in skip), None)
    everywhere = range(len(ranker.inputs))

    def on(one: Drawn, places: Sequence[int]) -> Predictions:
        return one.codes[list(places)], one.defined[list(places)]

    def novel(one: Drawn) -> bool:
        return new_share(on(one, everywhere), [on(c, everywhere) for c in known]) > MIN_NEW_SHARE

    sample = everywhere[:: ranker.step]
    before = [on(c, sample) for c in known]
    looked_at: list[tuple[float, Drawn]] = []
    limit = float("inf")
    for one in ranked:
        if one.cost > limit or len(looked_at) == MAX_COMPARED:
            break
        here = on(one, sample)
        if one.text in skip or new_share(here, before) < MIN_NEW_SHARE - SAMPLE_TOLERANCE:
            continue
        if len(known) < ANSWERS_BY_COST:
            if novel(one):
                return one
            continue
        if not looked_at:
            limit = one.cost + MAX_EXTRA_COST
        looked_at.append((diversity_gain(here, before), one))
    if len(looked_at) == MAX_COMPARED:
        looked_at.sort(key=lambda pair: -pair[0])
    return next((one for _, one in looked_at if novel(one)), None)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_answers_come_in_the_same_order(seed: int) -> None:
    inputs = (40, 300, 1_000)[seed % 3]
    ranked = draw(seed, inputs, 90)
    ranker = NoveltyRanker(range(inputs), 40, block=16)
    known: list[Drawn] = []
    for _ in range(12):
        texts = {one.text for one in known}
        chosen = ranker.choose(ranked, known, texts)
        assert chosen is choose_plainly(ranker, ranked, known, texts)
        if chosen is None:
            break
        known.append(chosen)  # type: ignore[arg-type]
    assert len(known) > 1


def test_a_ranker_that_is_asked_about_other_answers_forgets_what_they_left() -> None:
    ranked = draw(3, 300, 60)
    ranker = NoveltyRanker(range(300), 40, block=16)
    for known in ([0, 1, 2, 3], [4, 5], [0, 1, 2, 3, 9], [2], [5, 4, 3, 2]):
        some = [ranked[k] for k in known]
        texts = {one.text for one in some}
        assert ranker.choose(ranked, some, texts) is choose_plainly(ranker, ranked, some, texts)


def test_a_clear_decision_needs_few_inputs() -> None:
    first = Drawn("first", 1.0, [1] * 10_000, [True] * 10_000)
    other = Drawn("other", 2.0, [2] * 10_000, [True] * 10_000)
    ranker = NoveltyRanker(range(10_000), 100)
    assert ranker.choose([first, other], [first], {"first"}) is other
    assert other.looked_at <= 2_500 and first.looked_at == other.looked_at
