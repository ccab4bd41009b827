"""Which candidate is proposed next, where many are consistent and few are likely: by price and votes.

Three short pairs leave many rules open. Each has a weight that falls with its price, and a
prediction the weight of all rules that share it; a rule that shares most of what the likely rules
say is itself likelier than its price alone shows. So the next answer is the novel one (following.py)
with the lowest price less `WORTH` times its mean share. After `FEW` answers nothing is said that is
much dearer than the cheapest rule: what would follow then is seldom right, though it would be novel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..following import BY_PRICE, NEW, SLACK, Candidate, Following, new

WORTH = 20.0  # price of a share of 1
HALVED = 1.4  # dearer by so much, half the weight
FEW, DEARER = 10, 8.0  # answers that may be of any price; what later ones are dearer at most
COMPARED = 250  # cheapest candidates that have votes; dearer ones come after them, by price
STRIDE = 4  # of the sampled inputs, for votes


class Sharing(Following):
    def next(
        self, ranked: Iterable[Candidate], known: Sequence[Candidate], skip: Collection[str]
    ) -> Candidate | None:
        """As in `Following`. ranked: cheapest first."""
        candidates = list(ranked)
        if len(known) < BY_PRICE or not candidates:
            return super().next(candidates, known, skip)
        limit = candidates[0].cost + (DEARER if len(known) >= FEW else float("inf"))
        candidates = [c for c in candidates if c.cost <= limit]
        voting = candidates[:COMPARED]
        prices = np.array([c.cost for c in voting]) - WORTH * self._shares(voting)
        order = [voting[int(k)] for k in np.argsort(prices, kind="stable")]
        before = [self.of(c, whole=False) for c in known]
        for candidate in [*order, *candidates[COMPARED:]]:
            if candidate.text in skip:
                continue
            if new(self.of(candidate, whole=False), before) < NEW - SLACK:
                continue
            if self._novel(candidate, known):
                return candidate
        return None

    def _shares(self, voting: Sequence[Candidate]) -> NDArray[np.float64]:
        """(candidates,): the mean weight of those that predict the same, of all weight."""
        said = [self.of(c, whole=False) for c in voting]
        codes = np.array([codes[::STRIDE] for codes, _ in said])
        defined = np.array([defined[::STRIDE] for _, defined in said])
        costs = np.array([c.cost for c in voting])
        weights = 0.5 ** ((costs - costs.min()) / HALVED)
        shares = np.zeros(len(voting))
        for k in range(len(voting)):
            same = (codes == codes[k]) & defined & defined[k]
            shares[k] = (weights @ same).mean() if same.size else 0.0
        return shares / float(weights.sum())
