"""Search for programs that have the shown outputs: what the bank holds, what joins, fits and conditions make of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..budget import Budget
from ..garbage_collection import without_collector
from .bank import Bank
from .conditionals import MIN_PAIRS, choose_by_condition
from .constants import halves, kind_of
from .curves import fit_terms
from .dates import fit_dates, intervals_between
from .decompositions import (
    compose_by_truth,
    compose_list,
    compose_list_thoroughly,
    compose_missing,
    compose_null,
    compose_part,
    compose_places,
    compose_present,
    compose_record,
)
from .elements import Goal
from .expressions import Expression, Variable
from .folding import fold_elements, join_list
from .grammar import BOOL, DATE, FLOAT, INT, INTS, STR, STRS, Operation
from .grouping import compose_by_key, compose_merged
from .joining import join_parts
from .number_goals import Goals, agrees, unit_of
from .numbers import fit_numbers
from .numerals import write_numbers
from .prices import OPERATIONS, price_of_constant
from .reordering import choose_element, sort_elements
from .sources import find_sources
from .thresholds import fit_levels
from .variation import vary

IGNORED = 5  # half bits
MAX_ARGUMENTS = 6  # a longer list is data
LABEL = 12  # half bits: an output that several pairs share
LISTED = 8  # half bits: of an output in a list of them, besides itself
CERTAIN = 3  # pairs with equal outputs from which on the constant is the likeliest program
MAX_DEPTH = 3
MAX_FOUND = 60
DIRECT_SHARE = 0.3  # of the budget, for one operation on each of many parts
EARLY, EARLY_SHARE = 10, 0.2  # half bits and share of the budget before outputs are taken apart
LEAST = 1_000.0  # expansions for a part
DEAR = 50  # half bits of a program beside which a better one is looked for with more work
WAYS: dict[type | None, tuple[Callable[[Goal], Iterator[Expression]], ...]] = {
    dict: (compose_by_truth, compose_present, compose_part, compose_record, compose_merged, compose_by_key, compose_missing, choose_element),
    list: (compose_by_truth, compose_present, compose_part, sort_elements, compose_list, compose_missing, choose_element, compose_places),
    type(None): (compose_by_truth, compose_present, compose_missing, compose_null, choose_element),
    str: (compose_by_truth, compose_present, compose_missing, join_list, choose_element),
    int: (compose_by_truth, compose_present, compose_missing, fold_elements, choose_element),
    float: (compose_by_truth, compose_present, compose_missing, fold_elements, choose_element),
    bool: (compose_by_truth, compose_present, compose_missing, fold_elements, choose_element),
}  # fmt: skip
LAST_WAYS: dict[type | None, tuple[Callable[[Goal], Iterator[Expression]], ...]] = {
    list: (compose_list_thoroughly,),
}
JOIN_SHARE = 0.15  # of the budget, for one round of joins
MARGIN = 8  # half bits beyond the best price up to which others are looked for
PART_MARGIN = 4  # the same where the search is a part of another
CASES = [one for one in OPERATIONS if one.name in ("upper", "lower", "capitalize", "title")]


class Search:
    """A search on one problem.

    Args:
        shown: the pairs [input, output].
        expansions: the budget.
        variable: the name of the input.
        depth: how many searches this one is a part of.
        margin: half bits beyond the best price up to which others are looked for.
        further: other inputs on which programs are told apart.
    """

    def __init__(
        self,
        shown: Sequence[Sequence[Any]],
        expansions: float,
        variable: Variable = "x",
        depth: int = 0,
        margin: int = MARGIN,
        further: Sequence[Any] = (),
    ) -> None:
        self.variable, self.depth, self.margin = variable, depth, margin
        self.inputs = [pair[0] for pair in shown]
        self.outputs = [pair[1] for pair in shown]
        self.kind = kind_of(self.outputs)
        self.budget = Budget(expansions)
        self.found: dict[str, Expression] = {}
        self.cased = [one for one in CASES if self.kind == STR and _leaves(one, self.outputs)]
        self.arguments = _arguments(self.inputs, variable)
        constants = list(self._constant()) if len(self.outputs) >= CERTAIN else []
        self.constant = constants[0] if constants else None
        self.told_apart = [*self.inputs, *vary(self.inputs), *further]
        self.bank: Bank | None = None

    @without_collector()
    def run(self) -> list[Expression]:
        """Return the programs that were found, cheapest first."""
        for one in self._constant():
            self._add(one)
        if self.kind is None:
            self._add_composed()
            return self._ranked()
        self.bank = bank = Bank(self.told_apart, self.outputs, self.budget, self.variable)
        for one in bank.direct(self.kind):
            if one.values[: len(self.outputs)] == tuple(self.outputs):
                self._add(one)
            if self.budget.spent > DIRECT_SHARE * self.budget.limit:
                break
        while bank.price < EARLY and self.budget.spent < EARLY_SHARE * self.budget.limit:
            if not self._grow(bank):
                break
        if not self._is_settled(bank.price):
            self._add_composed()
        joined_at = 0.0
        more = True
        while more and self.budget.left and not self._is_settled(bank.price):
            more = self._grow(bank)
            if self.budget.spent >= 2 * joined_at + 300 or not more:
                joined_at = self.budget.spent
                for one in self._combined(bank):
                    self._add(one)
        if self.budget.spent > joined_at:
            for one in self._combined(bank):
                self._add(one)
        return self._ranked()

    def find_closest(self) -> Expression | None:
        """Return the cheapest of the enumerated programs that are right on most pairs."""
        if self.bank is None or self.kind is None:
            return None
        partial = [one for kind, one in self.bank.partial if kind == self.kind]
        goals = list(zip(self.outputs, map(type, self.outputs), strict=True))

        def right(one: Expression) -> int:
            return sum(
                value == goal and type(value) is kind
                for value, (goal, kind) in zip(one.values, goals, strict=False)
            )

        return max([*self.bank.of_kind(self.kind), *partial], key=right, default=None)

    def _grow(self, bank: Bank) -> bool:
        """Look at the expressions of the next price. Return whether the budget allows more."""
        more = bank.grow()
        for one in self._fresh(bank):
            self._add(one)
        return more

    def _add_composed(self) -> None:
        if self.depth < MAX_DEPTH:
            for one in self._composed():
                self._add(one)

    def _ranked(self) -> list[Expression]:
        """Return the programs that are shorter than a list of the outputs, cheapest first."""
        listed = sum(LISTED + price_of_constant(one) for one in self.outputs)
        short = [one for one in self.found.values() if one.price < listed]
        return sorted(short, key=lambda one: one.price)

    def _composed(self) -> Iterator[Expression]:
        """Yield programs for outputs that fall into parts, or that are made of the elements of lists."""
        sources = find_sources(self.inputs, self.variable, self.outputs)
        goal = Goal(self.inputs, self.outputs, self.variable, sources, self._solve, self.budget)
        kind = self._type_of_outputs()
        for way in WAYS.get(kind, ()):
            yield from way(goal)
        if min((one.price for one in self.found.values()), default=DEAR) >= DEAR:
            for way in LAST_WAYS.get(kind, ()):
                yield from way(goal)

    def _type_of_outputs(self) -> type | None:
        types = {type(one) for one in self.outputs}
        return types.pop() if len(types) == 1 else type(None) if None in self.outputs else None

    def _solve(
        self, inputs: Sequence[Any], outputs: Sequence[Any], share: float, variable: Variable
    ) -> list[Expression]:
        if not inputs or not self.budget.left or not _is_function(inputs, outputs):
            return []
        pairs = list(zip(inputs, outputs, strict=True))
        limit = min(max(LEAST, share * self.budget.limit), 0.6 * self.budget.left)
        part = Search(pairs, limit, variable, self.depth + 1, PART_MARGIN)
        found = part.run()
        self.budget.charge(part.budget.spent)
        return found

    def _is_settled(self, price: int) -> bool:
        """Whether no program can be found that costs less than the best one plus a margin."""
        return (
            bool(self.found)
            and min(one.price for one in self.found.values()) + self.margin <= price
        )

    def _add(self, one: Expression) -> None:
        """Keep a program. An argument that it ignores makes it dearer.

        If many outputs are all equal, no program is cheaper than the constant.
        """
        text = one.source()
        price = one.price + IGNORED * _ignored(text, self.arguments)
        if self.constant is not None and text != self.constant.text:
            price = max(price, self.constant.price + 1)
        before = self.found.get(text)  # one text may be written by two operations
        if len(self.found) < MAX_FOUND * 10 if before is None else price < before.price:
            self.found[text] = replace(one, price=price)

    def _constant(self) -> Iterator[Expression]:
        """Yield the constant output, if all outputs are equal."""
        first = self.outputs[0]
        if all(one == first and type(one) is type(first) for one in self.outputs):
            price = price_of_constant(first)
            yield Expression(price, (first,) * len(self.outputs), text=repr(first))

    def _fresh(self, bank: Bank) -> Iterator[Expression]:
        if self.kind is None:
            return
        goal = tuple(self.outputs)
        for one in bank.levels.get(self.kind, {}).get(bank.price, ()):
            if one.values[: len(goal)] == goal:
                yield one
            elif self.cased:
                yield from self._with_case(one)

    def _with_case(self, one: Expression) -> Iterator[Expression]:
        """Yield the expression in other letters, where that gives the outputs."""
        for operation in self.cased:
            values = tuple(map(operation.function, one.values[: len(self.outputs)]))
            if values == tuple(self.outputs):
                yield Expression(one.price + halves(operation.price), values, operation, (one,))

    def _combined(self, bank: Bank) -> Iterator[Expression]:
        limit = min((one.price for one in self.found.values()), default=10**6) + 2 * self.margin
        goals = self.outputs
        share = min(max(500.0, JOIN_SHARE * self.budget.limit), max(self.budget.left, 500.0) / 2)
        spare, spare_of_fits = Budget(share), Budget(share)
        intervals = intervals_between(list(bank.of_kind(DATE)), len(goals))
        numbers = sorted([*bank.of_kind(INT), *bank.of_kind(FLOAT), *intervals], key=_price)
        if self.kind == STR:
            texts = list(bank.of_kind(STR))
            yield from fit_dates(goals, list(bank.of_kind(DATE)), list(bank.of_kind(INT)), limit)
            written = list(write_numbers(goals, texts, numbers, limit, spare_of_fits))
            for number, one in enumerate(join_parts(goals, [*texts, *written], limit, spare)):
                if number == MAX_FOUND:
                    break
                yield one
            yield from self._joined_with_case(bank, limit, spare)
        if self.kind in (INT, FLOAT):
            yield from (one for one in intervals if agrees(one.values, goals))
            yield from fit_numbers(goals, numbers, limit)
            yield from fit_terms(goals, numbers, limit, spare_of_fits)
        if self.kind in (STR, INT, FLOAT):
            prices = {repr(one.values[0]): one.price for one in self._constant_branches(1)}
            yield from fit_levels(goals, prices, numbers, limit)
        if self.kind in (INT, FLOAT):  # numbers must say more than their conditions do
            limit = min(limit, int(2 * len(goals) * Goals(goals, unit_of(goals)).bits))
        if self.kind in (STR, INT, FLOAT, INTS, STRS) and len(goals) >= MIN_PAIRS:
            joins = self.kind == STR
            yield from choose_by_condition(
                goals, bank.of_kind(BOOL), self._branches(bank), limit, spare if joins else None
            )
        self.budget.charge(spare.spent + spare_of_fits.spent)

    def _joined_with_case(self, bank: Bank, limit: int, budget: Budget) -> Iterator[Expression]:
        """Yield joins in other letters: their parts are joined in small letters."""
        if not self.cased:
            return
        goals = [one.lower() for one in self.outputs]
        small: dict[tuple[Any, ...], Expression] = {}
        for one in bank.of_kind(STR):
            values = tuple(map(str.lower, one.values[: len(goals)]))
            small.setdefault(values, replace(one, values=values))
        for number, one in enumerate(join_parts(goals, small.values(), limit, budget)):
            if number == MAX_FOUND:
                break
            yield from self._with_case(one)

    def _branches(self, bank: Bank) -> list[Expression]:
        assert self.kind is not None
        partial = [one for kind, one in bank.partial if kind == self.kind]
        constants = self._constant_branches(len(bank.inputs))
        return sorted([*bank.of_kind(self.kind), *partial, *constants], key=_price)

    def _constant_branches(self, inputs: int) -> list[Expression]:
        """Return the outputs as constants. One that several pairs share is a label, whose text is no evidence."""
        counts = Counter(map(repr, self.outputs))
        found = []
        for text, value in {repr(one): one for one in self.outputs}.items():
            price = price_of_constant(value)
            price = min(price, LABEL) if counts[text] > 1 else price
            found.append(Expression(price, (value,) * inputs, text=text))
        return found


def _price(one: Expression) -> int:
    return one.price


def _leaves(operation: Operation, texts: Sequence[str]) -> bool:
    """Return whether an operation changes none of these texts, of which some have letters."""
    return all(operation.function(one) == one for one in texts) and any(
        one.upper() != one or one.lower() != one for one in texts
    )


def _is_function(inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Return whether equal inputs have equal outputs."""
    known: dict[str, str] = {}
    return all(
        known.setdefault(repr(given), repr(out)) == repr(out)
        for given, out in zip(inputs, outputs, strict=True)
    )


def _arguments(inputs: Sequence[Any], variable: Variable) -> list[str]:
    """Return the sources of the arguments, if the inputs are lists of several."""
    if type(variable) is tuple or not all(type(one) is list for one in inputs):
        return []
    sizes = {len(one) for one in inputs}
    return [f"{variable}[{n}]" for n in range(sizes.pop())] if len(sizes) == 1 else []


def _ignored(source: str, arguments: Sequence[str]) -> int:
    """Return how many of the arguments a program does not use."""
    if not 1 < len(arguments) <= MAX_ARGUMENTS:
        return 0
    variable = arguments[0].partition("[")[0]
    if re.search(rf"\b{variable}\b(?!\[\d)", source):
        return 0
    return sum(one not in source for one in arguments)
