"""Lists folded into one value: sums, products, greatest and least of computed elements, of all of them or
of those that pass a test; how many pass one; and texts joined from lists."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .elements import Elements, Goal
from .expressions import Expression, compose, escape_braces
from .grammar import FLOAT, INT
from .prices import price_of_constant

FOLDED, TESTED, JOINED, PRODUCT = 5, 5, 4, 8  # half bits
MAX_FACTORS = 8
MAX_FOLDED = 400  # expressions of elements that are folded
MAX_FOLDED_WITH_TEST = 12
MAX_FOUND = 3
JOIN_SHARE = 0.3
MAX_MARKS = 4
FOLDS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "sum": sum, "max": max, "min": min, "math.prod": math.prod,
}  # fmt: skip
PRICES = {"sum": 0, "max": 1, "min": 1, "math.prod": 4}


def fold_elements(goal: Goal) -> Iterator[Expression]:
    """Yield programs for numbers and truth values that a list is folded into."""
    kinds = {type(one) for one in goal.outputs}
    for source in goal.sources:
        if not goal.budget.left:
            return
        elements = goal.elements(source)
        rows = list(zip(elements.rows, goal.outputs, strict=False))
        if kinds == {bool}:
            found = list(_quantified(goal, elements, rows))
        else:
            found = [*_folded(goal, elements, rows), *_counted(goal, elements, rows)]
            if not found:
                found = list(_folded_with_test(goal, elements, rows))
        yield from found[:MAX_FOUND]
        if found:
            return


def _folded(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], Any]]
) -> Iterator[Expression]:
    source = elements.source
    values = [*elements.of_kinds(INT, FLOAT)[:MAX_FOLDED], *_products(elements)]
    for number, one in enumerate(values):
        if number % 4 == 0 and not goal.charge(1):
            return
        text = one.source()
        if (source.plain and text == source.key) or not source.uses_element(text):
            continue  # a fold of the list itself, or of what does not depend on the element
        for name, function in FOLDS.items():
            if all(_equal(function, [one.values[k] for k in row], out) for row, out in rows):
                template = f"{name}({{0:free}} for {escape_braces(source.clause)})"
                price = FOLDED + PRICES[name] + source.price
                yield compose("folded", template, [one], price, goal.outputs)


def _products(elements: Elements) -> Iterator[Expression]:
    """Yield products of whole numbers and fractions, which the grammar does not mix."""
    whole, fractions = (
        [one for one in elements.of_kinds(kind)[:MAX_FACTORS] if one.operation is None]
        for kind in (INT, FLOAT)
    )
    for a in whole:
        for b in fractions:
            values = [u * v for u, v in zip(a.values, b.values, strict=True)]
            yield compose("product", "{0} * {1}", [a, b], PRODUCT, values, True)


def _folded_with_test(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], Any]]
) -> Iterator[Expression]:
    source = elements.source
    for one in elements.of_kinds(INT, FLOAT)[:MAX_FOLDED_WITH_TEST]:
        for number, test in enumerate(elements.tests()):
            if number % 4 == 0 and not goal.charge(1):
                return
            for name, function in FOLDS.items():
                if all(
                    _equal(function, [one.values[k] for k in row if test.values[k]], out)
                    for row, out in rows
                ):
                    template = (
                        f"{name}({{0:free}} for {escape_braces(source.clause)} if {{1:free}})"
                    )
                    price = FOLDED + PRICES[name] + TESTED + source.price
                    yield compose("folded", template, [one, test], price, goal.outputs)


def _equal(function: Callable[[Sequence[Any]], Any], values: Sequence[Any], wanted: Any) -> bool:
    """Return whether a fold has a value, as the fold of an empty list may not."""
    if not values and function in (max, min):
        return False
    found = function(values)
    if type(wanted) is float:
        return abs(found - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return type(found) is type(wanted) and bool(found == wanted)


def _counted(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], Any]]
) -> Iterator[Expression]:
    """Yield how many elements pass a test."""
    source = elements.source
    if len({out for _, out in rows}) < 2 or any(type(out) is not int for _, out in rows):
        return
    name = source.key or "1"
    template = (
        f"len([{name} for {escape_braces(source.clause)} if {{0:free}}])"
        if source.key
        else f"sum(1 for {escape_braces(source.clause)} if {{0:free}})"
    )
    for number, test in enumerate(elements.tests()):
        if number % 4 == 0 and not goal.charge(1):
            return
        if all(sum(test.values[k] for k in row) == out for row, out in rows):
            yield compose("counted", template, [test], FOLDED + source.price, goal.outputs)


def _quantified(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], Any]]
) -> Iterator[Expression]:
    """Yield whether any element passes a test, or all do."""
    clause = escape_braces(elements.source.clause)
    for number, test in enumerate(elements.tests()):
        if number % 4 == 0 and not goal.charge(1):
            return
        for function in (any, all):
            if all(function(test.values[k] for k in row) == out for row, out in rows):
                template = f"{function.__name__}({{0:free}} for {clause})"
                price = FOLDED + elements.source.price
                yield compose("quantified", template, [test], price, goal.outputs)


def join_list(goal: Goal) -> Iterator[Expression]:
    """Yield programs for texts that are joined from the elements of a list."""
    if not goal.sources:
        return
    marks: dict[str, int] = {}
    for mark in re.findall(r"[\W_]+", " ".join(goal.outputs[:1])):
        for text in (mark, *mark):
            count = sum(text in one for one in goal.outputs)
            if 2 * count >= len(goal.outputs):
                marks[text] = count
    longest_first = sorted(marks, key=lambda one: (-len(one), one))[:MAX_MARKS]
    for mark in longest_first:
        lists = [one.split(mark) if one else [] for one in goal.outputs]
        if not any(
            all(len(given) >= len(out) for given, out in zip(source.values, lists, strict=True))
            for source in goal.sources
        ):
            continue
        for one in goal.solve(goal.inputs, lists, JOIN_SHARE, goal.variable)[:2]:
            price = JOINED + price_of_constant(mark) - 4
            template = escape_braces(repr(mark)) + ".join({0:loop})"
            yield compose("joined", template, [one], price, goal.outputs)
