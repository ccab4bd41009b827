"""Programs with a condition, or two of them: one expression where it holds, another where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ..budget import Budget
from .expressions import UNDEFINED, Expression
from .grammar import BOOL, STR, Operation
from .joining import join_parts
from .prices import CHOICE_PRICE

CHOICE = Operation(
    "choice", (BOOL, STR, STR), STR, 5, lambda c, a, b: a if c else b, "{1} if {0} else {2}", True
)
MAX_CONDITIONS = 400
LONGEST_BRANCH = 48  # half bits of a branch that is joined; a longer one memorises its outputs
SERVED = 2  # pairs of each branch; one for a single pair would memorise it
MIN_PAIRS = 2 * SERVED


def choose_by_condition(
    goals: Sequence[Any],
    conditions: Iterable[Expression],
    branches: Sequence[Expression],
    limit: int,
    budget: Budget | None,
) -> Iterator[Expression]:
    """Yield expressions with a condition whose values are the goals.

    Args:
        goals: the shown outputs.
        conditions: truth values, cheapest first.
        branches: expressions for the branches, cheapest first; they may be right on some pairs only.
        limit: the largest price, in half bits.
        budget: for branches that are joined from several texts; None if there are none.
    """
    everywhere = (1 << len(goals)) - 1
    cases: dict[int, Expression] = {}  # pairs on which a condition holds -> the cheapest
    for condition in islice(conditions, MAX_CONDITIONS):
        holds = sum(1 << k for k, v in enumerate(condition.values[: len(goals)]) if v)
        if condition.price + CHOICE_PRICE <= limit and 0 < holds < everywhere:
            cases.setdefault(holds, condition)
    find = _Branches(goals, branches, min(limit - CHOICE_PRICE, LONGEST_BRANCH), budget)
    for one in find.chosen(everywhere, cases, nested=False):
        if one.price <= limit:
            yield one
    if not find.any_choice:
        for one in find.chosen(everywhere, cases, nested=True):
            if one.price <= limit:
                yield one


class _Branches:
    """The cheapest expressions that are right on some of the pairs.

    Sets of pairs are numbers whose bit k stands for pair k.
    """

    def __init__(
        self,
        goals: Sequence[Any],
        branches: Sequence[Expression],
        limit: int,
        budget: Budget | None,
    ) -> None:
        self.goals, self.branches, self.limit, self.budget = goals, branches, limit, budget
        self.known: dict[int, Expression | None] = {}
        self.nested: dict[int, Expression | None] = {}
        self.any_choice = False
        self.right: dict[int, Expression] = {}  # pairs on which it is right -> the cheapest
        for one in branches:
            pairs = zip(one.values, goals, strict=False)
            bits = sum(1 << k for k, (v, g) in enumerate(pairs) if v == g and type(v) is type(g))
            if bits and bits not in self.right:
                self.right[bits] = one

    def chosen(
        self, pairs: int, cases: dict[int, Expression], nested: bool
    ) -> Iterator[Expression]:
        """Yield expressions with a condition that are right on these pairs.

        Args:
            pairs: the pairs.
            cases: the pairs on which a condition holds, and the condition.
            nested: whether the second branch has a condition too.
        """
        for holds, condition in cases.items():
            inside, outside = holds & pairs, ~holds & pairs
            if min(inside.bit_count(), outside.bit_count()) < SERVED:
                continue
            yes = self.cheapest(inside)
            if yes is None:
                continue
            no = self.cheapest(outside)
            if nested and no is None and outside.bit_count() >= 2 * SERVED:
                no = self._nest(outside, cases)
            if no is None:
                continue
            self.any_choice = True
            values = tuple(
                a if c else b
                for c, a, b in zip(condition.values, yes.values, no.values, strict=False)
            )
            price = CHOICE_PRICE + condition.price + yes.price + no.price
            yield Expression(price, values, CHOICE, (condition, yes, no))

    def _nest(self, pairs: int, cases: dict[int, Expression]) -> Expression | None:
        """Return the cheapest expression with a condition that is right on these pairs."""
        if pairs not in self.nested:
            found = self.chosen(pairs, cases, nested=False)
            self.nested[pairs] = min(found, key=lambda one: one.price, default=None)
        return self.nested[pairs]

    def cheapest(self, pairs: int) -> Expression | None:
        """Return the cheapest expression that is right on these pairs."""
        if pairs not in self.known:
            right = (one for bits, one in self.right.items() if bits & pairs == pairs)
            found = min(right, key=lambda one: one.price, default=None)
            self.known[pairs] = found or self._join(pairs)
        return self.known[pairs]

    def _join(self, pairs: int) -> Expression | None:
        """Return the cheapest join that is right on these pairs."""
        if self.budget is None or not self.budget.left:
            return None
        first = [k for k in range(len(self.goals)) if pairs >> k & 1]
        goals = [self.goals[k] for k in first]
        parts = [
            replace(one, values=tuple(one.values[k] for k in first))
            for one in self.branches
            if all(type(one.values[k]) is str and one.values[k] in self.goals[k] for k in first)
        ]
        found = next(join_parts(goals, parts, self.limit, self.budget), None)
        if found is None:
            return None
        values: list[Any] = [UNDEFINED] * len(self.branches[0].values)
        for k, value in zip(first, found.values, strict=True):
            values[k] = value
        return replace(found, values=tuple(values))
