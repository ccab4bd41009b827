"""Search for decision lists in tables of conditions and expressions.

A decision list "if condition: expression; …; else expression" must give the right value for all
shown cells. This module works with tables of the values only: it does not know what the conditions
and expressions mean. All counts are computed as matrix products.

A list is built from its first clause to its last. A clause may be used only if its expression is
right on all cells that the clause decides. The next clause then decides among the remaining cells.
First clauses are ranked by their cost and by the number of remaining cells that no single
expression explains.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]

CLAUSE_COSTS = (0.3, 1.2, 1.8)  # cost of the first, the second and the third clause
CONJUNCTION_COST = 0.6  # cost of a conjunction
BASE_COST = 1.0
PATCH_COST = 4.0  # added to the cost for a part that decides a single cell
ONE_PAIR_COST = 1.5  # added to the cost for a part that decides cells of one pair only
# Subtracted for a clause with the colour of the one before, because the two read as an "or"
SAME_COLOUR_DISCOUNT = 0.8
MAX_LISTS = 400  # maximum number of lists kept at one node
MAX_HOLDING = 150  # maximum number of conditions that are joined in pairs
MAX_EXPRESSIONS = 5  # maximum number of expressions examined for one clause
PRODUCTS_PER_NODE = 2e6  # multiplications that take as long as the other work for a clause
LEFTOVER_COST = 4.0  # cost of leaving all wrong cells to later clauses, used to rank first clauses


class Clause(NamedTuple):
    """One clause of a decision list, given by the indices of its conditions and its expression."""

    conditions: tuple[int, ...]  # all of them must hold
    expression: int


class DecisionList(NamedTuple):
    """A decision list: its clauses, the index of the expression after "else", and its cost."""

    clauses: tuple[Clause, ...]
    other: int
    cost: float


class Tables(NamedTuple):
    """The values of all conditions and expressions on the cells of the shown grids.

    Cells of one pair for which all values are equal share one column.

    Attributes:
        masks: Whether each condition holds in each column, of shape (conditions, columns).
        costs: Cost of each condition.
        wrong: Whether each expression differs from the output in each column, of shape
            (expressions, columns). The cheapest expression comes first.
        prices: Cost of each expression.
        pairs: Index of the pair to which each column belongs, of shape (columns,).
        weights: Number of cells that each column stands for, of shape (columns,).
    """

    masks: BoolArray
    costs: list[float]
    wrong: BoolArray
    prices: list[float]
    pairs: NDArray[np.int64]
    weights: FloatArray


class DecisionListSearch:
    """A search for decision lists that are right on all cells of `tables`.

    Args:
        tables: Values of the conditions and expressions.
        charge: Function that charges a number of multiplications to the budget and returns whether
            any budget is left.
        widths: For each position in a list except the last, the number of clauses that are tried
            there.
    """

    def __init__(
        self, tables: Tables, charge: Callable[[float], bool], widths: tuple[int, ...]
    ) -> None:
        self.tables, self.charge, self.widths = tables, charge, widths
        self.masks = tables.masks.astype(np.float32)
        self.wrong = tables.wrong.astype(np.float32)
        self.costs = np.array(tables.costs, dtype=np.float32)
        self.prices = np.array(tables.prices, dtype=np.float32)
        self.found: dict[tuple[tuple[Clause, ...], int], float] = {}

    def run(self) -> list[DecisionList]:
        """Run the search and return the lists found, cheapest first."""
        cells = np.arange(self.masks.shape[1])
        right = np.flatnonzero(~self.tables.wrong.any(axis=1))
        for e in right:
            self.found[(), int(e)] = BASE_COST + float(self.prices[e])
        self._grow(cells, (), BASE_COST)
        return self._priced()

    def _grow(self, cells: NDArray[np.int64], before: tuple[Clause, ...], cost: float) -> None:
        depth = len(before)
        cost += CLAUSE_COSTS[depth]
        weights = self.tables.weights[cells]
        masks, wrong = self.masks[:, cells], self.wrong[:, cells]
        counts = masks @ weights
        alive = np.flatnonzero((counts > 0) & (counts < weights.sum()))
        if not self.charge(PRODUCTS_PER_NODE + len(alive) * len(cells) * len(wrong)) or not len(
            alive
        ):
            return
        weighted = wrong * weights
        totals = weighted.sum(axis=1)
        if before and not totals.min():
            return  # One expression is right, so the list has ended before.
        misses = masks[alive] @ weighted.T  # (conditions, expressions)
        pure, done = misses == 0, (misses == totals) & (totals > 0)
        self._ends(alive, pure, done, before, cost)
        if not totals.min():
            return  # What agrees with the right expression needs no further clauses.
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
            own += float(self.prices[clause.expression]) + CONJUNCTION_COST * (
                len(clause.conditions) - 1
            )
            self._grow(cells[~here], (*before, clause), cost + own)
            followed += 1
            if followed == self.widths[depth]:
                break

    def _ends(
        self,
        alive: NDArray[np.int64],
        pure: BoolArray,
        done: BoolArray,
        before: tuple[Clause, ...],
        cost: float,
    ) -> None:
        """Keep the lists whose last clause has one condition."""
        ends: list[tuple[float, int, int, int]] = []
        for row in np.flatnonzero(pure.any(axis=1) & done.any(axis=1)):
            c = int(alive[row])
            for one in self._cheapest(pure[row]):
                for other in self._cheapest(done[row]):
                    if one != other:
                        price = self.costs[c] + self.prices[one] + self.prices[other]
                        ends.append((cost + float(price), c, one, other))
        for price, c, one, other in sorted(ends)[:MAX_LISTS]:
            self._keep((*before, Clause((c,), one)), other, price)

    def _cheapest(self, which: BoolArray) -> list[int]:
        found: list[int] = np.flatnonzero(which)[:MAX_EXPRESSIONS].tolist()
        return found

    def _firsts(
        self, alive: NDArray[np.int64], misses: FloatArray, totals: FloatArray, pure: BoolArray
    ) -> list[tuple[float, Clause]]:
        """Return pure first clauses with their scores, lowest first."""
        some = np.flatnonzero(pure.any(axis=1) & (misses < totals).all(axis=1))
        if not len(some):
            return []
        left = (totals - misses[some]).min(axis=1) / max(1.0, float(totals.min()))
        priced = np.where(pure[some], self.prices, np.inf)
        best = priced.argmin(axis=1)
        scores = self.costs[alive[some]] + priced.min(axis=1) + LEFTOVER_COST * left
        order = np.argsort(scores, kind="stable")[:200]
        return [(float(scores[k]), Clause((int(alive[some[k]]),), int(best[k]))) for k in order]

    def _both(
        self,
        alive: NDArray[np.int64],
        masks: FloatArray,
        wrong: FloatArray,
        weights: FloatArray,
        totals: FloatArray,
        before: tuple[Clause, ...],
        cost: float,
    ) -> list[tuple[float, Clause]]:
        """Return clauses of two conditions neither of which is pure alone; keep the lists they end.

        Together the conditions hold on all cells where `other` is wrong and `one` is right, and on
        none where `one` is wrong.
        """
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
                hold = hold[np.argsort(self.costs[alive[hold]], kind="stable")][:MAX_HOLDING]
                if not self.charge(PRODUCTS_PER_NODE / 4 + len(hold) ** 2 * len(weights)):
                    return firsts
                bad = masks[hold] * (wrong[one] * weights)
                clash = bad @ masks[hold].T
                alone = np.diag(clash) == 0
                clash[alone] = 1
                clash[:, alone] = 1
                a, b = np.nonzero(np.triu(clash == 0))
                prices = self.costs[alive[hold[a]]] + self.costs[alive[hold[b]]] + CONJUNCTION_COST
                left = float(totals[other] - sizes[one]) / max(1.0, float(totals[other]))
                for k in np.argsort(prices, kind="stable")[:40]:
                    clause = Clause((int(alive[hold[a[k]]]), int(alive[hold[b[k]]])), int(one))
                    price = float(prices[k] + self.prices[one])
                    if left == 0:
                        total = cost + price + float(self.prices[other])
                        self._keep((*before, clause), int(other), total)
                    else:
                        firsts.append((price + LEFTOVER_COST * left, clause))
        return firsts

    def _keep(self, clauses: tuple[Clause, ...], other: int, cost: float) -> None:
        self.found.setdefault((clauses, other), cost)

    def _priced(self) -> list[DecisionList]:
        """Return the cheapest lists, with surcharges for parts that decide few cells."""
        cheapest = sorted(self.found.items(), key=lambda item: item[1])[: 2 * MAX_LISTS]
        rules = [DecisionList(*key, cost + self._patches(*key)) for key, cost in cheapest]
        return sorted(rules, key=lambda rule: rule.cost)

    def _patches(self, clauses: tuple[Clause, ...], other: int) -> float:
        """Return the surcharges of all parts.

        Each part has to decide two cells that the default would get wrong, in two different pairs.
        """
        wrong = self.tables.wrong
        pairs, weights = self.tables.pairs, self.tables.weights
        several = len(set(pairs.tolist())) > 1
        cost = 0.0
        for one, following in pairwise(clauses):
            if one.expression == following.expression:
                cost -= SAME_COLOUR_DISCOUNT + self.tables.prices[one.expression]
        # The clause and the default say the same: "… and not …".
        if len(clauses) > 1 and clauses[0].expression == other:
            cost -= SAME_COLOUR_DISCOUNT + self.tables.prices[other]
        free = np.ones(wrong.shape[1], dtype=bool)
        for clause in clauses:
            here = free & np.all(self.tables.masks[list(clause.conditions)], axis=0)
            needed = here & wrong[other]
            if not needed.any():
                needed = here
            cost += _patch(weights[needed], pairs[needed], several)
            free &= ~here
        return cost + _patch(weights[free], pairs[free], several)


def _patch(weights: FloatArray, pairs: NDArray[np.int64], several: bool) -> float:
    if weights.sum() < 2:
        return PATCH_COST
    return ONE_PAIR_COST if several and pairs.min() == pairs.max() else 0.0
