"""The elements of lists with the expressions over them: keys, tests and values, each tried as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from ..budget import Budget
from .bank import Bank, as_hashable
from .constants import halves, kind_of
from .expressions import Expression, Variable
from .grammar import BOOL, DATE, FLOAT, INT, STR
from .number_goals import roundest_between
from .prices import OPERATIONS
from .sources import Source, find_parts
from .variation import vary

# solve(inputs, outputs, share, variable) -> programs, cheapest first
Solve = Callable[[Sequence[Any], Sequence[Any], float, Variable], list[Expression]]

MAX_ELEMENTS = 60  # different ones, on which expressions are enumerated
ELEMENT_SHARE = 0.05  # of the budget, to enumerate expressions over the elements of one list
LEAST = 1_500.0  # expansions for the same
MAX_AT_FULL_WORK = 200  # different elements
LEAST_KEPT = 60  # keys, tests and values that are tried on the longest lists
MAX_TESTS = 1_500
MAX_KEYS = 1_500
MAX_VALUES = 300
MAX_BOUNDED = 12  # numbers that are compared with bounds
PRICE_OF_BOUNDED = 8  # half bits
BOUND, DIGIT = 7, 2  # half bits of a bound, and of each of its digits
LIKELIER = 4  # half bits: of a field that is equal to a text, beside one that contains it
OVER, UNDER = (next(row for row in OPERATIONS if row.name == name) for name in ("over", "under"))


class Elements:
    """The elements of the first lists of a source, with the expressions over them.

    Args:
        source: the lists.
        budget: what the enumeration may spend.
    """

    def __init__(self, source: Source, budget: Budget) -> None:
        self.source, self.budget = source, budget
        places: dict[str, int] = {}
        self.elements: list[Any] = []
        self.rows: list[list[int]] = []  # places in `elements`, for each of the first lists
        for given in source.values:
            if len(places) > MAX_ELEMENTS and len(self.rows) > 1:
                break
            for one in given:
                if places.setdefault(repr(one), len(places)) == len(self.elements):
                    self.elements.append(one)
            self.rows.append([places[repr(one)] for one in given])
        self.shown = len(self.elements)
        # Long lists take more work for each expression, so that there are fewer of them.
        self.scale = min(1.0, MAX_AT_FULL_WORK / max(1, self.shown))
        self.bank: Bank | None = None
        self._direct: list[Expression] = []
        self._tests: list[Expression] | None = None
        self._known: dict[tuple[str, ...], list[Expression]] = {}

    def identity(self) -> Expression:
        """Return the element itself."""
        values = tuple(map(self.source.element, self.elements))
        return Expression(2, values, text=self.source.names[0])

    def of_kinds(self, *kinds: str) -> list[Expression]:
        """Return the expressions of these kinds that have a value everywhere, cheapest first."""
        if not self.elements:
            return []
        if self.bank is None:
            self.bank = self._enumerate()
        if kinds not in self._known:
            found: dict[Any, Expression] = {}
            for kind in kinds:
                for one in (*self.bank.of_kind(kind), *(self._direct if kind == BOOL else ())):
                    key = (
                        kind,
                        as_hashable(kind, one.values if kind == BOOL else one.values[: self.shown]),
                    )
                    if key not in found or one.price < found[key].price:
                        found[key] = one
            self._known[kinds] = sorted(found.values(), key=lambda one: one.price)
        return self._known[kinds]

    def _enumerate(self) -> Bank:
        inputs = [*self.elements, *vary(self.elements)]
        share = max(LEAST, ELEMENT_SHARE * self.budget.limit)
        spare = Budget(self.scale * min(self.budget.left, share))
        bank = Bank(inputs, [False] * self.shown, spare, self.source.variable)
        self._direct = list(bank.direct(BOOL))  # comparisons with dear constants
        self.budget.charge(spare.spent / self.scale)
        bank.budget = spare = Budget(spare.limit)
        while bank.grow():
            pass
        self.budget.charge(spare.spent / self.scale)
        return bank

    def _fewer(self, count: int) -> int:
        return max(LEAST_KEPT, round(self.scale * count))

    def keys(self) -> list[Expression]:
        """Return expressions by which elements may be ordered."""
        return self.of_kinds(INT, FLOAT, STR, DATE)[: self._fewer(MAX_KEYS)]

    def tests(self) -> list[Expression]:
        """Return truth values of elements, cheapest first; not those that are equal for all of them."""
        if self._tests is None:
            found: dict[tuple[Any, ...], Expression] = {}
            for one in (*self.of_kinds(BOOL), *self._bounds()):
                key = one.values[: self.shown]
                if one.operation is not None and one.operation.name in (
                    "equals_text",
                    "differs_from",
                ):
                    one = replace(one, price=one.price - LIKELIER)
                if len(set(key)) > 1 and (key not in found or one.price < found[key].price):
                    found[key] = one
            self._tests = sorted(found.values(), key=lambda one: one.price)[
                : self._fewer(MAX_TESTS)
            ]
        return self._tests

    def _bounds(self) -> Iterator[Expression]:
        """Yield tests whether a number is over a bound between two of its values, the roundest there."""
        for one in self.of_kinds(INT, FLOAT)[:MAX_BOUNDED]:
            if one.price > PRICE_OF_BOUNDED:
                return
            values = sorted(set(one.values[: self.shown]))
            for low, high in pairwise(values):
                # A number is over the one and under the other exactly where it is over `low`.
                for operation, bound in (
                    (OVER, -roundest_between(-high, -low)),
                    (UNDER, roundest_between(low, high)),
                ):
                    price = BOUND + DIGIT * len(repr(bound).strip("-0."))
                    truth = tuple(operation.function(value, bound) for value in one.values)
                    number = Expression(price, (bound,) * len(truth), text=repr(bound))
                    total = one.price + halves(operation.price) + price
                    yield Expression(total, truth, operation, (one, number))

    def values(self, outputs: Sequence[Any]) -> Iterator[Expression]:
        """Yield the element, its parts, and expressions of the kind that these outputs have."""
        yield self.identity()
        known = {self.source.names[0]}
        for part in find_parts(self.elements, self.source.variable):
            if part.text not in known:
                known.add(part.text)
                yield Expression(part.price, part.values, text=part.text)
        kind = kind_of(outputs)
        if kind is not None:
            for one in self.of_kinds(kind)[: self._fewer(MAX_VALUES)]:
                if one.source() not in known:
                    yield one


@dataclass
class Goal:
    """What a search looks for, and the lists in its inputs.

    Args:
        inputs: the shown inputs.
        outputs: the shown outputs.
        variable: the source of the input.
        sources: the lists, cheapest first.
        solve: finds programs for parts.
        budget: the budget of the search.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    variable: Variable
    sources: list[Source]
    solve: Solve
    budget: Budget
    _elements: dict[str, Elements] = field(default_factory=dict)

    def solve_each(self, columns: Sequence[Sequence[Any]], share: float) -> list[Expression]:
        """Return the cheapest program for each of several outputs, or none if one of them has none.

        Args:
            columns: the wanted values of each.
            share: of the budget, for all of them.
        """
        found = []
        for column in columns:
            best = self.solve(self.inputs, column, share / len(columns), self.variable)
            if not best:
                return []
            found.append(best[0])
        return found

    def elements(self, source: Source) -> Elements:
        """Return the elements of a list."""
        key = f"{source.clause} {source.names}"
        if key not in self._elements:
            self._elements[key] = Elements(source, self.budget)
        return self._elements[key]

    def charge(self, amount: float) -> bool:
        """Spend a part of the budget. Return whether any is left."""
        return self.budget.charge(amount)


def counted(values: Sequence[Any]) -> Counter[str]:
    """Return how often each value occurs, by its source, which every JSON value has."""
    return Counter(map(repr, values))
