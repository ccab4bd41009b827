"""All expressions of a grammar over some inputs, in the order of their prices, one for each behaviour."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations_with_replacement, product
from operator import attrgetter
from typing import Any

from ..budget import Budget
from .conditionals import MIN_PAIRS
from .constants import constants_of, halves, kind_of, parts_of
from .expressions import UNDEFINED, Expression, Variable
from .grammar import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LARGEST,
    LONGEST,
    PATTERN,
    PIECES,
    RAISED,
    ROWS,
    STR,
    STRS,
    Guard,
    Operation,
    Undefined,
)
from .prices import OPERATIONS, adjust_price, class_of_constant

MAX_PRICE = 44  # half bits
KEPT_PER_EXPANSION = 1_000  # characters of texts, which take memory
CHARACTERS_PER_ELEMENT = 60  # of a list, which takes as much memory
LISTS = (STRS, INTS, FLOATS, ROWS)
LISTED = (*LISTS, PIECES)
MEASURED = (*LISTED, STR)
NUMBERS = (INT, FLOAT)
VALUES = attrgetter("values")

Level = list[Expression]  # the expressions of one kind and price


class Bank:
    """The expressions that were enumerated so far.

    Two expressions of one kind that have equal values on all inputs are one: the cheaper is kept.

    Args:
        inputs: the shown inputs, followed by others on which expressions are told apart.
        outputs: the shown outputs.
        budget: what the enumeration may spend; each evaluated expression is one expansion.
        variable: the name of the input.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        budget: Budget,
        variable: Variable = "x",
    ) -> None:
        self.inputs, self.shown, self.budget = inputs, len(outputs), budget
        self.outputs = tuple(outputs)
        self.longest = max([LONGEST, *(len(one) for one in inputs if type(one) is str)])
        self.kind = kind_of(outputs)
        self.branches = self.kind if len(outputs) >= MIN_PAIRS else None  # of conditionals
        self.operations = list(_operations_for(self.kind, self.branches is not None))
        self.price = 0  # all expressions up to this price are known
        self.levels: dict[str, dict[int, list[Expression]]] = {}
        self.seen: defaultdict[str, set[Any]] = defaultdict(set)
        self.partial: list[tuple[str, Expression]] = []  # undefined on some shown inputs
        self._incomplete: set[Expression] = set()  # undefined on some varied inputs
        self._combinations: dict[tuple[tuple[str, ...], int], list[tuple[Level, ...]]] = {}
        self._known: dict[tuple[Any, ...], list[tuple[Expression, ...]]] = {}
        self._waiting: dict[int, list[tuple[str, Expression]]] = {}
        for kind, part in parts_of(inputs, variable):
            self._waiting.setdefault(part.price, []).append((kind, part))
        for kind, text, price in constants_of(inputs[: self.shown], outputs):
            value = ast.literal_eval(text)
            values = (re.compile(value) if kind == PATTERN else value,) * len(inputs)
            adjusted = adjust_price(class_of_constant(kind, text), halves(price))
            one = Expression(adjusted, values, text=text)
            self._waiting.setdefault(one.price, []).append((kind, one))

    def of_kind(self, kind: str) -> Iterator[Expression]:
        """Yield the expressions of a kind, cheapest first."""
        for _, level in sorted(self.levels.get(kind, {}).items()):
            yield from level

    def direct(self, kind: str) -> Iterator[Expression]:
        """Yield the expressions of a kind that apply one operation to parts and constants.

        Among many parts of an input, the enumeration by price may not get to them.
        """
        by_kind: dict[str, list[Expression]] = {}
        for some in self._waiting.values():
            for of, one in some:
                by_kind.setdefault(of, []).append(one)
        for operation in self.operations:
            if operation.gives != kind or len(operation.takes) > 2:
                continue
            for arguments in product(*(by_kind.get(of, ()) for of in operation.takes)):
                if not self.budget.charge(1):
                    return
                values = self._evaluate_each(operation, arguments)
                if values is not None:
                    price = halves(operation.price) + sum(one.price for one in arguments)
                    yield Expression(price, values, operation, arguments)

    def grow(self) -> bool:
        """Enumerate the expressions of the next price. Return whether the budget allows more."""
        self.price += 1
        for kind, one in self._waiting.pop(self.price, ()):
            key = as_hashable(kind, one.values)
            if key not in self.seen[kind]:
                self.seen[kind].add(key)
                self._keep(kind, one)
        for operation in self.operations:
            levels = self._levels_of(operation.takes, self.price - halves(operation.price))
            if levels and not self._apply_all(operation, levels):
                return False
        return self.price < MAX_PRICE

    def _apply_all(self, operation: Operation, levels: list[tuple[Level, ...]]) -> bool:
        """Apply an operation to all arguments of some levels. Return whether the budget allows more."""
        function, kind = operation.function, operation.gives
        seen, incomplete, listed = self.seen[kind], self._incomplete, kind in LISTED
        for arguments in chain.from_iterable(self._combine(operation, some) for some in levels):
            values: tuple[Any, ...] | None
            try:  # most expressions have a value everywhere; `map` computes them fastest
                if incomplete and not incomplete.isdisjoint(arguments):
                    raise Undefined
                values = tuple(map(function, *map(VALUES, arguments)))
            except RAISED:
                values = self._evaluate_each(operation, arguments)
            if values is not None:
                key = as_hashable(kind, values) if listed else values
                if key not in seen and self._is_useful(kind, values, key):
                    self._keep(kind, Expression(self.price, values, operation, arguments))
            if not self.budget.charge(1):
                return False
        return True

    def _levels_of(self, kinds: tuple[str, ...], price: int) -> list[tuple[Level, ...]]:
        """Return the levels of these kinds whose prices add up to `price`; none of them grows any more."""
        found = self._combinations.get((kinds, price))
        if found is None:
            first, *others = kinds
            levels = self.levels.get(first, {})
            if others:
                rest = tuple(others)
                found = [
                    (level, *some)
                    for part, level in levels.items()
                    if part < price
                    for some in self._levels_of(rest, price - part)
                ]
            else:
                found = [(levels[price],)] if price in levels else []
            self._combinations[kinds, price] = found
        return found

    def _combine(
        self, operation: Operation, levels: tuple[Level, ...]
    ) -> Iterable[tuple[Expression, ...]]:
        """Return the arguments of some levels for which the value is not known."""
        if operation.commutative:
            first, second = levels
            if first is second:
                return combinations_with_replacement(first, 2)
            return product(first, second) if first[0].price < second[0].price else ()
        if operation.guard is None:
            return product(*levels)
        count = operation.guard.takes
        heads, rest = self._guarded(operation.guard, levels[:count]), levels[count:]
        return [head + tail for head in heads for tail in product(*rest)] if rest else heads

    def _guarded(self, guard: Guard, levels: tuple[Level, ...]) -> list[tuple[Expression, ...]]:
        """Return the arguments for which the guard holds on some input."""
        key = (guard, *map(id, levels))
        found = self._known.get(key)
        if found is None:
            found = [some for some in product(*levels) if _holds(guard, some)]
            self._known[key] = found
        return found

    def _evaluate_each(
        self, operation: Operation, arguments: tuple[Expression, ...]
    ) -> tuple[Any, ...] | None:
        """Return the values, or None if they are of no use: undefined on a shown input.

        What is right on another one may yet be a branch of a conditional.
        """
        values: list[Any] = []
        may_branch = operation.gives == self.branches
        for row in zip(*map(VALUES, arguments), strict=True):
            try:
                value = UNDEFINED if UNDEFINED in row else operation.function(*row)
            except RAISED:
                value = UNDEFINED
            values.append(value)
            if value is UNDEFINED and len(values) <= self.shown and not may_branch:
                return None
            if len(values) == self.shown and UNDEFINED in values and not self._is_partial(values):
                return None
        return tuple(values)

    def _is_partial(self, shown: Sequence[Any]) -> bool:
        """Whether some value is the output, so that a branch of a conditional may have these values."""
        return any(v == o and type(v) is type(o) for v, o in zip(shown, self.outputs, strict=True))

    def _is_useful(self, kind: str, values: tuple[Any, ...], key: tuple[Any, ...]) -> bool:
        """Whether values that no expression has yet are of use. Large ones are not even remembered.

        A constant is cheaper as such, and so is the element of lists that all have one.
        """
        if UNDEFINED in values:
            values = tuple(value for value in values if value is not UNDEFINED)
        if kind in MEASURED:
            longest = max(map(len, values))
            if longest > self.longest:
                return False
            size = 1 if kind == STR else CHARACTERS_PER_ELEMENT
            if longest * len(values) * size >= KEPT_PER_EXPANSION:
                self.budget.charge(sum(map(len, values)) * size // KEPT_PER_EXPANSION)
        elif kind in NUMBERS and not all(-LARGEST <= value <= LARGEST for value in values):
            return False
        self.seen[kind].add(key)
        if kind in LISTS and self.kind not in LISTS and longest == 1 and all(values):
            return False
        return key.count(key[0]) < len(key)

    def _keep(self, kind: str, one: Expression) -> None:
        if UNDEFINED in one.values:
            if UNDEFINED in one.values[: self.shown]:
                self.partial.append((kind, one))
                return
            self._incomplete.add(one)
        self.levels.setdefault(kind, {}).setdefault(one.price, []).append(one)


def _operations_for(kind: str | None, conditional: bool) -> Iterator[Operation]:
    """Yield the operations of which a value of a kind may be made, or a condition for one.

    If the kind is that of lists, a list of one element is of use, though its guard does not hold.
    """
    useful = {kind, BOOL} if conditional else {kind}
    before: set[str | None] = set()
    while useful != before:
        before = set(useful)
        useful.update(of for row in OPERATIONS if row.gives in before for of in row.takes)
    for row in OPERATIONS:
        if kind is None or row.gives in useful:
            listed = kind in LISTS and row.gives in LISTS
            yield row._replace(guard=None) if listed else row


def _holds(guard: Guard, arguments: tuple[Expression, ...]) -> bool:
    try:
        return any(map(guard.function, *map(VALUES, arguments)))
    except RAISED:  # undefined on some inputs
        return True


def as_hashable(kind: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values that can be members of a set, and are equal only where the values are."""
    if kind == ROWS:
        return tuple(map(repr, values))
    if kind not in LISTED:
        return values
    try:
        return tuple(map(tuple, values))
    except TypeError:  # undefined on some inputs
        return tuple(value if value is UNDEFINED else tuple(value) for value in values)
