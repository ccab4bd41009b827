"""Ranker for problems on which many candidates are consistent but few are likely.

Three short example pairs leave many rules open. Each rule has a weight that falls with its cost.
The weight of a prediction is the total weight of the rules that make this prediction. A rule that
shares most predictions of the likely rules is itself likelier than its cost suggests. The next
answer is therefore the novel candidate (novelty.py) with the lowest cost minus `SHARE_WORTH` times
the mean share of the weight that agrees with the candidate's predictions. After `FEW` answers, no
answer may cost much more than the cheapest rule, because such an answer would be novel but seldom
right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..novelty import ANSWERS_BY_COST, Candidate, NoveltyRanker, Places, Predictions
from .texts import HOLDS, ProgramText

SHARE_WORTH = 20.0  # cost that a share of 1 is worth
HALVING_COST = 1.4  # extra cost that halves the weight
FEW, DEARER = 10, 8.0  # number of answers of any cost, and the maximum extra cost of later ones
MAX_VOTING = 250  # number of cheapest candidates that vote; the others follow by cost
STRIDE = 4  # step through the sampled inputs when votes are counted


class VotingRanker(NoveltyRanker):
    """A ranker that prefers candidates whose predictions agree with many likely candidates.

    Args:
        inputs: The sample space.
        sample_size: Approximate number of inputs on which a candidate is evaluated first.
    """

    def __init__(self, inputs: Sequence[Any], sample_size: int) -> None:
        super().__init__(inputs, sample_size, STRIDE)
        # the latest candidates that voted, and their shares: later answers ask for the same ones
        self._latest: tuple[list[tuple[str, float]], NDArray[np.float64]] = [], np.zeros(0)

    def choose(
        self, ranked: Iterable[Candidate], known: Sequence[Candidate], skip: Collection[str]
    ) -> Candidate | None:
        """Return the next candidate to propose, or None if no suitable candidate is novel.

        Args:
            ranked: Candidates, sorted by ascending cost.
            known: Earlier answers with known predictions.
            skip: Texts that must not be proposed.
        """
        candidates = list(ranked)
        if len(known) < ANSWERS_BY_COST or not candidates:
            return super().choose(candidates, known, skip)
        limit = candidates[0].cost + (DEARER if len(known) >= FEW else float("inf"))
        candidates = [c for c in candidates if c.cost <= limit]
        voting = candidates[:MAX_VOTING]
        prices = np.array([c.cost for c in voting]) - SHARE_WORTH * self._shares(voting)
        order = [voting[int(k)] for k in np.argsort(prices, kind="stable")]
        for candidate in [*order, *candidates[MAX_VOTING:]]:
            if (
                candidate.text not in skip
                and self.may_be_novel(candidate, known)
                and self.is_novel(candidate, known)
            ):
                return candidate
        return None

    def _predict(self, candidate: Candidate, places: Places) -> Predictions:
        """Evaluate a candidate at some places.

        Many conditionals share tests and branches. Each of these is a text of its own, and is evaluated
        once for an input, and only where the conditional gets to it.
        """
        if not isinstance(candidate, ProgramText) or candidate.parts is None:
            return super()._predict(candidate, places)
        test, then, other = candidate.parts
        tested = self.predict_at(test, places)
        sure, holds = tested.defined[places], tested.codes[places] == HOLDS
        codes, defined = np.zeros(len(places), np.int64), np.zeros(len(places), bool)
        for branch, chosen in ((then, sure & holds), (other, sure & ~holds)):
            at = places[chosen]
            predicted = self.predict_at(branch, at)
            codes[chosen], defined[chosen] = predicted.codes[at], predicted.defined[at]
        return codes, defined

    def _shares(self, voting: Sequence[Candidate]) -> NDArray[np.float64]:
        """Return the mean share of weight that agrees with each candidate, (candidates,)."""
        key = [(c.text, c.cost) for c in voting]
        if self._latest[0] == key:
            return self._latest[1]
        looked_at = len(range(0, self.sampled, STRIDE))
        said = [self.predict_first(c, looked_at) for c in voting]
        codes = np.array([codes for codes, _ in said])
        defined = np.array([defined for _, defined in said])
        costs = np.array([c.cost for c in voting])
        weights = 0.5 ** ((costs - costs.min()) / HALVING_COST)
        shares = np.zeros(len(voting))
        for k in range(len(voting)):
            same = (codes == codes[k]) & defined & defined[k]
            shares[k] = (weights @ same).mean() if same.size else 0.0
        shares /= float(weights.sum())
        self._latest = key, shares
        return shares
