"""Choose prompt worlds, one by one, until every competitor does worse than the planted rule.

The procedure follows ABD, appendix D.3. A competitor is beaten if it is not valid in one of the
chosen worlds, or if its total cost is at least `MARGIN` higher than that of the planted rule. A
competitor that is not beaten survives. While competitors survive, the world that beats most of them
is added. If the maximum number of worlds is reached first, the instance is abandoned. At the end,
surplus worlds are removed as long as no competitor survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....tools.logic.fast_path import BeyondFastPath, PreparedWorlds
from ....tools.logic.worlds import World
from .candidates import Candidate, CandidateSource
from .competitors import Competitor
from .filters import judge_rule
from .recipes import MARGIN, Recipe

INVALID_COST = 1_000_000  # the cost of a rule in a world where it is not valid
MAX_BATCHES = 8  # most batches drawn for the prompt worlds of an instance
Costs = NDArray[np.int64]


def compute_costs(
    candidates: Sequence[Candidate], source: CandidateSource, competitors: Sequence[Competitor]
) -> Costs:
    """Return the cost of each competitor in each candidate world, shape (competitors, candidates).

    If the fast algorithm cannot decide, the lower bound is used instead of the cost, because no
    valid rule costs less.

    Args:
        candidates: the candidate worlds.
        source: the source of the candidates, with the theory and the recipe.
        competitors: the competing rules.
    """
    worlds = tuple(one.world for one in candidates)
    prepared = PreparedWorlds(source.theory, worlds, source.recipe.regime)
    bounds = [one.judgement.bound for one in candidates]
    found = np.zeros((len(competitors), len(worlds)), np.int64)
    for row, one in enumerate(competitors):
        try:
            costs = [worth.cost for worth in prepared.judge(one.formula)]
            known = [True] * len(costs)
        except BeyondFastPath:
            each = judge_rule(source.theory, worlds, source.recipe.regime, one.formula)
            costs, known = [w.cost for w in each], [w.known for w in each]
        found[row] = [
            bound if not tells else INVALID_COST if cost is None else cost
            for cost, tells, bound in zip(costs, known, bounds, strict=True)
        ]
    return found


def find_survivors(costs: Costs, reference: int) -> NDArray[np.int64]:
    """Return the indices of the competitors that are not clearly worse than the planted rule.

    Args:
        costs: the costs of the competitors in the chosen worlds, shape (competitors, worlds).
        reference: the total cost of the planted rule in these worlds.
    """
    found: NDArray[np.int64] = np.flatnonzero(costs.sum(axis=1) < reference + MARGIN)
    return found


@dataclass
class CandidatePool:
    """A growing collection of candidate worlds, with the costs of all competitors in these worlds."""

    source: CandidateSource
    competitors: Sequence[Competitor]
    candidates: list[Candidate] = field(default_factory=list)
    costs: Costs = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    batches: int = 0

    def grow(self) -> bool:
        """Draw one more batch of candidates; return False if the maximum number of batches is
        reached.
        """
        if self.batches == MAX_BATCHES:
            return False
        self.batches += 1
        known = {_content(one.world) for one in self.candidates}
        fresh = [one for one in self.source.next_batch() if _content(one.world) not in known]
        if fresh:
            more = compute_costs(fresh, self.source, self.competitors)
            self.costs = np.hstack([self.costs, more]) if self.candidates else more
            self.candidates += fresh
        return True

    def reference_cost(self, chosen: Sequence[int]) -> int:
        """Return the total cost of the planted rule in the candidates with these indices."""
        return sum(self.candidates[place].judgement.cost or 0 for place in chosen)

    def survivors(self, chosen: Sequence[int]) -> NDArray[np.int64]:
        """Return the indices of the competitors that survive in the candidates with these indices.

        A competitor survives if it is not clearly worse than the planted rule.
        """
        return find_survivors(self.costs[:, list(chosen)], self.reference_cost(chosen))


def _content(world: World) -> tuple[object, ...]:
    return (len(world.names), *sorted(world.true.items()), *sorted(world.unknown.items()))


def choose_worlds(pool: CandidatePool, recipe: Recipe, wanted: int) -> list[int] | None:
    """Return the indices of the candidates that become prompt worlds, or None if there is no
    solution.

    Args:
        pool: the candidates, which grow if necessary.
        recipe: the maximum number of worlds before surplus worlds are removed.
        wanted: the number of prompt worlds that the instance should have.
    """
    while len(pool.candidates) < wanted:
        if not pool.grow():
            return None
    chosen = list(range(wanted // 2))
    while True:
        left = pool.survivors(chosen)
        if len(left):
            if len(chosen) == recipe.budget:
                return None
            place = _best(pool, chosen, left)
            if place is None:
                return None
            chosen.append(place)
        elif len(chosen) < wanted:
            chosen.append(next(k for k in range(len(pool.candidates)) if k not in chosen))
        else:
            return _pruned(pool, chosen, wanted)


def _best(pool: CandidatePool, chosen: list[int], left: NDArray[np.int64]) -> int | None:
    """Return the best world to add, or None where no further worlds can be drawn.

    It is the world that beats most of the survivors, or else the one that costs them most; of
    equals, the earliest. More candidates are drawn where no world does either.
    """
    while True:
        free = [place for place in range(len(pool.candidates)) if place not in chosen]
        own = np.array([pool.candidates[place].judgement.cost or 0 for place in free], np.int64)
        of_left = pool.costs[left]
        more = of_left[:, free] - own
        lead = of_left[:, chosen].sum(axis=1) - pool.reference_cost(chosen)
        beaten = (lead[:, None] + more >= MARGIN).sum(axis=0)
        dearer = np.minimum(more, MARGIN).sum(axis=0)
        order = np.lexsort((np.arange(len(free)), -dearer, -beaten))
        if len(order) and (beaten[order[0]] > 0 or dearer[order[0]] > 0):
            return free[int(order[0])]
        if not pool.grow():
            return None


def _pruned(pool: CandidatePool, chosen: list[int], wanted: int) -> list[int] | None:
    while len(chosen) > wanted:
        for place in chosen:
            rest = [one for one in chosen if one != place]
            if not len(pool.survivors(rest)):
                chosen = rest
                break
        else:
            return None
    return chosen
