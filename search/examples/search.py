"""Search for programs that have the shown outputs: what the bank holds, what joins, fits and conditions make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..budget import Budget
from .bank import Bank
from .conditionals import choose_by_condition
from .constants import kind_of
from .decompositions import compose_list, compose_null, compose_record
from .expressions import Expression
from .grammar import BOOL, FLOAT, INT, INTS, STR, STRS
from .joining import join_parts, price_of_constant
from .numbers import fit_numbers
from .variation import vary

IGNORED = 5  # half bits
MAX_ARGUMENTS = 6  # a longer list is data
LISTED = 8  # half bits: of an output in a list of them, besides itself
CERTAIN = 3  # pairs with equal outputs from which on the constant is the likeliest program
MAX_DEPTH = 3
MAX_FOUND = 60
JOIN_SHARE = 0.15  # of the budget, for one round of joins
MARGIN = 4


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
        variable: str = "x",
        depth: int = 0,
        margin: int = MARGIN,
        further: Sequence[Any] = (),
    ) -> None:
        self.variable, self.depth, self.margin = variable, depth, margin
        self.further = further
        self.inputs = [pair[0] for pair in shown]
        self.outputs = [pair[1] for pair in shown]
        self.kind = kind_of(self.outputs)
        self.budget = Budget(expansions)
        self.found: dict[str, Expression] = {}
        self.arguments = _arguments(self.inputs, variable)
        constants = list(self._constant()) if len(self.outputs) >= CERTAIN else []
        self.constant = constants[0] if constants else None

    def run(self) -> list[Expression]:
        """Return the programs that were found, cheapest first."""
        for one in self._constant():
            self._add(one)
        if self.depth < MAX_DEPTH:
            for one in self._composed():
                self._add(one)
        if self.kind is None:
            return self._ranked()
        told_apart = [*self.inputs, *vary(self.inputs), *self.further]
        bank = Bank(told_apart, self.outputs, self.budget, self.variable)
        for one in bank.direct(self.kind):
            if one.values[: len(self.outputs)] == tuple(self.outputs):
                self._add(one)
        joined_at = 0.0
        more = True
        while more and self.budget.left and not self._is_settled(bank.price):
            more = bank.grow()
            for one in self._fresh(bank):
                self._add(one)
            if self.budget.spent >= 2 * joined_at + 300 or not more:
                joined_at = self.budget.spent
                for one in self._combined(bank):
                    self._add(one)
        if self.budget.spent > joined_at:
            for one in self._combined(bank):
                self._add(one)
        return self._ranked()

    def _ranked(self) -> list[Expression]:
        """Return the programs that are shorter than a list of the outputs, cheapest first."""
        listed = sum(LISTED + price_of_constant(one) for one in self.outputs)
        short = [one for one in self.found.values() if one.price < listed]
        return sorted(short, key=lambda one: one.price)

    def _composed(self) -> Iterator[Expression]:
        """Yield programs for outputs that fall into parts."""
        if all(type(one) is dict for one in self.outputs):
            yield from compose_record(self.inputs, self.outputs, self._solve, self.variable)
        elif all(type(one) is list for one in self.outputs):
            lists = list(_lists_in(self.inputs, self.variable))
            yield from compose_list(self.inputs, self.outputs, lists, self._solve, self.variable)
        elif None in self.outputs:
            yield from compose_null(self.inputs, self.outputs, self._solve, self.variable)

    def _solve(
        self, inputs: Sequence[Any], outputs: Sequence[Any], share: float, variable: str
    ) -> list[Expression]:
        if not inputs or not self.budget.left:
            return []
        pairs = list(zip(inputs, outputs, strict=True))
        part = Search(pairs, share * self.budget.limit, variable, self.depth + 1)
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
        if text not in self.found and len(self.found) < MAX_FOUND * 10:
            price = one.price + IGNORED * _ignored(text, self.arguments)
            if self.constant is not None and text != self.constant.text:
                price = max(price, self.constant.price + 1)
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

    def _combined(self, bank: Bank) -> Iterator[Expression]:
        limit = min((one.price for one in self.found.values()), default=10**6) + 2 * self.margin
        goals = self.outputs
        spare = Budget(max(500.0, JOIN_SHARE * self.budget.limit))
        if self.kind == STR:
            for number, one in enumerate(join_parts(goals, bank.of_kind(STR), limit, spare)):
                if number == MAX_FOUND:
                    break
                yield one
        if self.kind in (INT, FLOAT):
            yield from fit_numbers(goals, [*bank.of_kind(INT), *bank.of_kind(FLOAT)], limit)
        if self.kind in (STR, INT, FLOAT, INTS, STRS) and len(goals) > 2:
            yield from choose_by_condition(goals, bank.of_kind(BOOL), self._branches(bank), limit)
        self.budget.charge(spare.spent)

    def _branches(self, bank: Bank) -> list[Expression]:
        assert self.kind is not None
        partial = [one for kind, one in bank.partial if kind == self.kind]
        constants = [
            Expression(price_of_constant(value), (value,) * len(bank.inputs), text=repr(value))
            for value in {repr(one): one for one in self.outputs}.values()
        ]
        return sorted([*bank.of_kind(self.kind), *partial, *constants], key=lambda one: one.price)


def _arguments(inputs: Sequence[Any], variable: str) -> list[str]:
    """Return the sources of the arguments, if the inputs are lists of several."""
    if not all(type(one) is list for one in inputs):
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


def _lists_in(inputs: Sequence[Any], text: str) -> Iterator[Expression]:
    """Yield the parts of the inputs that are lists."""
    if all(type(one) is list for one in inputs):
        yield Expression(2, tuple(inputs), text=text)
    elif all(type(one) is dict for one in inputs):
        for name in inputs[0]:
            if all(name in one for one in inputs):
                yield from _lists_in([one[name] for one in inputs], f"{text}[{name!r}]")
