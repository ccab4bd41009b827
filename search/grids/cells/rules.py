"""Decision lists over tables: "if condition: expression; …; else expression" that is right on all
shown cells. Nothing here knows what conditions and expressions say; all is counted by matrix products.

A list grows from its first clause: a clause is pure where its expression is right on all cells that it
decides, and the next clauses see what is left. Which clauses may come first goes by price and by how
much they leave that no single expression explains.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float32]
Truths = NDArray[np.bool_]

CLAUSE = (0.3, 1.2, 1.8)  # of the first, the second and the third clause
BOTH = 0.6  # of a conjunction
BASE = 1.0
PATCH = 4.0  # of a part that decides a single cell
LOCAL = 1.5  # of a part that decides cells of one pair only
SAME = 0.8  # less for a clause with the colour of the one before: an "or"
KEPT = 400  # lists of a node
HOLDING = 150  # conditions of conjunctions
OF_EACH = 5  # expressions of a clause that are looked at
NODE = 2e6  # multiplications that take as long as what else is done for a clause
LEAVES = 4.0  # price of leaving all cells that are wrong, to choose what is first


class Clause(NamedTuple):
    conditions: tuple[int, ...]  # all of them hold
    expression: int


class Rule(NamedTuple):
    clauses: tuple[Clause, ...]
    other: int
    cost: float


class Tables(NamedTuple):
    """masks: (conditions, cells); wrong: (expressions, cells), where an expression misses the
    output, the cheapest expression first; pairs: (cells,), which pair a cell is of; weights: (cells,), how many alike it stands for."""

    masks: Truths
    costs: list[float]
    wrong: Truths
    prices: list[float]
    pairs: NDArray[np.int64]
    weights: Reals


class Lists:
    """The search for lists over some tables. charge: told the multiplications, says whether more may
    be made. widths: how many first clauses are followed at each depth."""

    def __init__(
        self, tables: Tables, charge: Callable[[float], bool], widths: tuple[int, ...]
    ) -> None:
        self.tables, self.charge, self.widths = tables, charge, widths
        self.masks = tables.masks.astype(np.float32)
        self.wrong = tables.wrong.astype(np.float32)
        self.costs = np.array(tables.costs, dtype=np.float32)
        self.prices = np.array(tables.prices, dtype=np.float32)
        self.found: dict[tuple[tuple[Clause, ...], int], float] = {}

    def run(self) -> list[Rule]:
        """Cheapest first."""
        cells = np.arange(self.masks.shape[1])
        right = np.flatnonzero(~self.tables.wrong.any(axis=1))
        for e in right:
            self.found[(), int(e)] = BASE + float(self.prices[e])
        self._grow(cells, (), BASE)
        return self._priced()

    def _grow(self, cells: NDArray[np.int64], before: tuple[Clause, ...], cost: float) -> None:
        depth = len(before)
        cost += CLAUSE[depth]
        weights = self.tables.weights[cells]
        masks, wrong = self.masks[:, cells], self.wrong[:, cells]
        counts = masks @ weights
        alive = np.flatnonzero((counts > 0) & (counts < weights.sum()))
        if not self.charge(NODE + len(alive) * len(cells) * len(wrong)) or not len(alive):
            return
        weighted = wrong * weights
        totals = weighted.sum(axis=1)
        if before and not totals.min():
            return  # one expression is right: the list ended before
        misses = masks[alive] @ weighted.T  # (conditions, expressions)
        pure, done = misses == 0, (misses == totals) & (totals > 0)
        self._ends(alive, pure, done, before, cost)
        if not totals.min():
            return  # what else agrees with the one that is right needs no more clauses
        firsts: list[tuple[float, Clause]] = []
        if depth < 2:
            firsts += self._both(alive, masks[alive], wrong, weights, totals, before, cost)
        if depth >= len(self.widths):
            return
        firsts += self._firsts(alive, misses, totals, pure)
        seen: set[bytes] = set()
        followed = 0
        for _, clause in sorted(firsts):
            here = np.all(self.tables.masks[list(clause.conditions)][:, cells], axis=0)
            mark = here.tobytes()
            if mark in seen:
                continue
            seen.add(mark)
            own = sum(float(self.costs[c]) for c in clause.conditions)
            own += float(self.prices[clause.expression]) + BOTH * (len(clause.conditions) - 1)
            self._grow(cells[~here], (*before, clause), cost + own)
            followed += 1
            if followed == self.widths[depth]:
                break

    def _ends(
        self,
        alive: NDArray[np.int64],
        pure: Truths,
        done: Truths,
        before: tuple[Clause, ...],
        cost: float,
    ) -> None:
        """Lists whose last clause is one condition."""
        ends: list[tuple[float, int, int, int]] = []
        for row in np.flatnonzero(pure.any(axis=1) & done.any(axis=1)):
            c = int(alive[row])
            for one in self._cheapest(pure[row]):
                for other in self._cheapest(done[row]):
                    if one != other:
                        price = self.costs[c] + self.prices[one] + self.prices[other]
                        ends.append((cost + float(price), c, one, other))
        for price, c, one, other in sorted(ends)[:KEPT]:
            self._keep((*before, Clause((c,), one)), other, price)

    def _cheapest(self, which: Truths) -> list[int]:
        found: list[int] = np.flatnonzero(which)[:OF_EACH].tolist()
        return found

    def _firsts(
        self, alive: NDArray[np.int64], misses: Reals, totals: Reals, pure: Truths
    ) -> list[tuple[float, Clause]]:
        """Pure clauses with what it costs to begin with them."""
        some = np.flatnonzero(pure.any(axis=1) & (misses < totals).all(axis=1))
        if not len(some):
            return []
        left = (totals - misses[some]).min(axis=1) / max(1.0, float(totals.min()))
        priced = np.where(pure[some], self.prices, np.inf)
        best = priced.argmin(axis=1)
        scores = self.costs[alive[some]] + priced.min(axis=1) + LEAVES * left
        order = np.argsort(scores, kind="stable")[:200]
        return [(float(scores[k]), Clause((int(alive[some[k]]),), int(best[k]))) for k in order]

    def _both(
        self,
        alive: NDArray[np.int64],
        masks: Reals,
        wrong: Reals,
        weights: Reals,
        totals: Reals,
        before: tuple[Clause, ...],
        cost: float,
    ) -> list[tuple[float, Clause]]:
        """Clauses of two conditions, neither of which is pure alone: they hold on all cells where
        `other` is wrong and `one` is right, and on none where `one` is wrong."""
        firsts: list[tuple[float, Clause]] = []
        for other in np.argsort(totals + self.prices, kind="stable")[:3]:
            open_cells = wrong[other] * weights
            fixed = open_cells * (1 - wrong)  # (expressions, cells)
            sizes = fixed.sum(axis=1)
            order = np.argsort(-sizes + 0.1 * self.prices, kind="stable")
            for one in order[:8]:
                if not sizes[one]:
                    break
                hold = np.flatnonzero(masks @ fixed[one] == sizes[one])
                hold = hold[np.argsort(self.costs[alive[hold]], kind="stable")][:HOLDING]
                if not self.charge(NODE / 4 + len(hold) ** 2 * len(weights)):
                    return firsts
                bad = masks[hold] * (wrong[one] * weights)
                clash = bad @ masks[hold].T
                alone = np.diag(clash) == 0
                clash[alone] = 1
                clash[:, alone] = 1
                a, b = np.nonzero(np.triu(clash == 0))
                prices = self.costs[alive[hold[a]]] + self.costs[alive[hold[b]]] + BOTH
                left = float(totals[other] - sizes[one]) / max(1.0, float(totals[other]))
                for k in np.argsort(prices, kind="stable")[:40]:
                    clause = Clause((int(alive[hold[a[k]]]), int(alive[hold[b[k]]])), int(one))
                    price = float(prices[k] + self.prices[one])
                    if left == 0:
                        total = cost + price + float(self.prices[other])
                        self._keep((*before, clause), int(other), total)
                    else:
                        firsts.append((price + LEAVES * left, clause))
        return firsts

    def _keep(self, clauses: tuple[Clause, ...], other: int, cost: float) -> None:
        self.found.setdefault((clauses, other), cost)

    def _priced(self) -> list[Rule]:
        """With what the parts that decide few cells cost more."""
        cheapest = sorted(self.found.items(), key=lambda item: item[1])[: 2 * KEPT]
        rules = [Rule(*key, cost + self._patches(*key)) for key, cost in cheapest]
        return sorted(rules, key=lambda rule: rule.cost)

    def _patches(self, clauses: tuple[Clause, ...], other: int) -> float:
        """Of each part: it has to decide two cells that the rest would get wrong, in two pairs."""
        wrong = self.tables.wrong
        pairs, weights = self.tables.pairs, self.tables.weights
        several = len(set(pairs.tolist())) > 1
        cost = 0.0
        for one, following in pairwise(clauses):
            if one.expression == following.expression:
                cost -= SAME + self.tables.prices[one.expression]
        if len(clauses) > 1 and clauses[0].expression == other:  # "… and not …" says the same
            cost -= SAME + self.tables.prices[other]
        free = np.ones(wrong.shape[1], dtype=bool)
        for clause in clauses:
            here = free & np.all(self.tables.masks[list(clause.conditions)], axis=0)
            needed = here & wrong[other]
            if not needed.any():
                needed = here
            cost += _patch(weights[needed], pairs[needed], several)
            free &= ~here
        return cost + _patch(weights[free], pairs[free], several)


def _patch(weights: Reals, pairs: NDArray[np.int64], several: bool) -> float:
    if weights.sum() < 2:
        return PATCH
    return LOCAL if several and pairs.min() == pairs.max() else 0.0
