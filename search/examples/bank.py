"""All expressions of a grammar over some inputs, in the order of their prices, one for each behaviour."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ..budget import Budget
from .constants import constants_of, halves, parts_of
from .expressions import UNDEFINED, Expression
from .grammar import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LARGEST,
    LONGEST,
    RAISED,
    STR,
    STRS,
    Operation,
)
from .prices import OPERATIONS, adjust_price, class_of_constant

MAX_PRICE = 44  # half bits
KEPT_PER_EXPANSION = 1_000  # characters of texts or elements of lists, which take memory
LISTS = (STRS, INTS, FLOATS)


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
        self, inputs: Sequence[Any], outputs: Sequence[Any], budget: Budget, variable: str = "x"
    ) -> None:
        self.inputs, self.shown, self.budget = inputs, len(outputs), budget
        self.outputs = tuple(outputs)
        self.longest = max([LONGEST, *(len(one) for one in inputs if type(one) is str)])
        self.price = 0  # all expressions up to this price are known
        self.levels: dict[str, dict[int, list[Expression]]] = {}
        self.seen: dict[str, set[Any]] = {}
        self.partial: list[tuple[str, Expression]] = []  # undefined on some shown inputs
        self._incomplete: set[Expression] = set()  # undefined on some varied inputs
        self._waiting: dict[int, list[tuple[str, Expression]]] = {}
        for kind, part in parts_of(inputs, variable):
            self._waiting.setdefault(part.price, []).append((kind, part))
        for kind, text, price in constants_of(inputs[: self.shown], outputs):
            values = (ast.literal_eval(text),) * len(inputs)
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
        for operation in OPERATIONS:
            if operation.gives != kind or len(operation.takes) > 2:
                continue
            for arguments in product(*(by_kind.get(of, ()) for of in operation.takes)):
                if not self.budget.charge(1):
                    return
                values = self._evaluate(operation, arguments)
                if values is not None:
                    price = halves(operation.price) + sum(one.price for one in arguments)
                    yield Expression(price, values, operation, arguments)

    def grow(self) -> bool:
        """Enumerate the expressions of the next price. Return whether the budget allows more."""
        self.price += 1
        for kind, one in self._waiting.pop(self.price, ()):
            self._keep(kind, one)
        for operation in OPERATIONS:
            left = self.price - halves(operation.price)
            if left > 0 and not self._apply_all(operation, left):
                return False
        return self.price < MAX_PRICE

    def _apply_all(self, operation: Operation, price: int) -> bool:
        for arguments in self._arguments(operation.takes, price):
            values = self._evaluate(operation, arguments)
            if values is not None:
                self._keep(operation.gives, Expression(self.price, values, operation, arguments))
            if not self.budget.charge(1):
                return False
        return True

    def _arguments(self, kinds: Sequence[str], price: int) -> Iterator[tuple[Expression, ...]]:
        """Yield all arguments of these kinds whose prices add up to `price`."""
        levels = [self.levels.get(kind, {}) for kind in kinds]
        if len(kinds) == 1:
            yield from ((one,) for one in levels[0].get(price, ()))
        elif len(kinds) == 2:
            for first, some in list(levels[0].items()):
                if others := levels[1].get(price - first):
                    yield from product(some, others)
        else:
            for first, some in list(levels[0].items()):
                for second, others in list(levels[1].items()):
                    if last := levels[2].get(price - first - second):
                        yield from product(some, others, last)

    def _evaluate(
        self, operation: Operation, arguments: tuple[Expression, ...]
    ) -> tuple[Any, ...] | None:
        function = operation.function
        columns = [one.values for one in arguments]
        if self._incomplete.isdisjoint(arguments):
            try:  # most expressions have a value everywhere; `map` computes them fastest
                complete = tuple(map(function, *columns))
            except RAISED:
                pass
            else:
                return complete if self._all_modest(operation.gives, complete) else None
        values: list[Any] = []
        for row in zip(*columns, strict=True):
            try:
                value = UNDEFINED if UNDEFINED in row else function(*row)
            except RAISED:
                value = UNDEFINED
            if value is UNDEFINED and len(values) < self.shown:
                if not any(v is not UNDEFINED for v in values) and len(values) > 1:
                    return None
            elif value is not UNDEFINED and not self._all_modest(operation.gives, (value,)):
                return None
            values.append(value)
        return tuple(values)

    def _all_modest(self, kind: str, values: tuple[Any, ...]) -> bool:
        if kind == STR or kind in LISTS:
            return max(map(len, values)) <= self.longest
        return kind not in (INT, FLOAT) or all(-LARGEST <= value <= LARGEST for value in values)

    def _keep(self, kind: str, one: Expression) -> None:
        key = tuple(map(_frozen, one.values)) if kind in LISTS else one.values
        seen = self.seen.setdefault(kind, set())
        if key in seen:
            return
        seen.add(key)
        if kind == STR or kind in LISTS:
            kept = sum(len(value) for value in one.values if value is not UNDEFINED)
            self.budget.charge(kept // KEPT_PER_EXPANSION)
        if one.operation is not None and key.count(key[0]) == len(key):
            return  # a constant at a higher price
        if UNDEFINED in one.values[: self.shown]:
            if any(
                v is not UNDEFINED and v == o and type(v) is type(o)
                for v, o in zip(one.values, self.outputs, strict=False)
            ):
                self.partial.append((kind, one))
            return
        if UNDEFINED in one.values:
            self._incomplete.add(one)
        self.levels.setdefault(kind, {}).setdefault(one.price, []).append(one)


def _frozen(value: Any) -> Any:
    return tuple(value) if type(value) is list else value
