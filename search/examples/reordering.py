"""Lists in the order of a key, and single elements that a key or a test chooses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .decompositions import is_within
from .elements import Elements, Goal
from .expressions import Expression, compose, escape_braces

SORTED, REVERSED, CUT, EACH, CHOSEN, PAIR, END, NEXT = 8, 3, 5, 4, 6, 6, 3, 10  # half bits
END_SHARE = 0.05  # of the budget, for programs over the first or the last element
MAX_SORTS = 3
SIMPLE = 11  # half bits of a key, beside which no pairs of keys are tried
MAX_SELECTIONS = 400
MAX_PAIRED = 40  # keys that are tried as the first or the second of two
PRICE_OF_CUT = 3  # half bits: of the number of elements that are kept


def sort_elements(goal: Goal) -> Iterator[Expression]:
    """Yield programs that sort the elements of a list by a key, all of them or the first few."""
    for source in goal.sources:
        if not source.key or not goal.budget.left:
            continue
        elements = goal.elements(source)
        rows = list(zip(elements.rows, goal.outputs, strict=False))
        cut = _cut(goal, rows)
        if cut is None or not any(len(out) > 1 for _, out in rows):
            continue
        listed = [one for _, out in rows for one in out]
        for value in elements.values(listed):
            column = value.values
            if not is_within(rows, column) or all(
                [column[k] for k in given][: len(out)] == out for given, out in rows
            ):
                continue  # in the same order
            found = sorted(_sorts(goal, elements, value, rows, cut), key=lambda one: one.price)
            yield from found[:MAX_SORTS]
            if found:
                return


def _cut(goal: Goal, rows: Sequence[tuple[list[int], list[Any]]]) -> str | None:
    """Return "" if outputs are as long as the lists, "[:n]" if they have the first n, else None."""
    if all(len(given) == len(out) for given, out in rows):
        return ""
    most = max(len(out) for _, out in rows)
    if all(len(out) == min(most, len(given)) for given, out in rows):
        return f"[:{most}]"
    for place, one in enumerate(goal.inputs[0]) if type(goal.inputs[0]) is list else ():
        if type(one) is int and all(
            type(x) is list and place < len(x) and len(out) == min(x[place], len(given))
            for x, (given, out) in zip(goal.inputs, rows, strict=False)
        ):
            return f"[:{goal.variable}[{place}]]"
    return None


def _sorts(
    goal: Goal,
    elements: Elements,
    value: Expression,
    rows: Sequence[tuple[list[int], list[Any]]],
    cut: str,
) -> Iterator[Expression]:
    keys = elements.keys()
    column = value.values
    price = elements.source.price + (CUT + PRICE_OF_CUT if cut else 0)
    simple = False
    for number, key in enumerate(keys):
        if number % 8 == 0 and not goal.charge(1):
            return
        for reverse in (False, True):
            if _explains(key.values, column, rows, reverse):
                simple = simple or key.price <= SIMPLE
                yield _sorted(goal, elements, value, key.source(), key.price, reverse, cut, price)
    if simple:
        return
    first_keys = keys[:MAX_PAIRED]
    signed = [(one, 1) for one in first_keys] + [(one, -1) for one in first_keys if _is_number(one)]
    firsts = [both for both in signed if _weakly(both, column, value, rows)]
    for first in firsts:
        for second in signed:
            if not goal.charge(0.5):
                return
            pairs = list(zip(_signed(first), _signed(second), strict=True))
            if _explains(pairs, column, rows, False):
                text = f"({_minus(first)}, {_minus(second)})"
                total = first[0].price + second[0].price + PAIR
                yield _sorted(goal, elements, value, text, total, False, cut, price)
                return


def _is_number(key: Expression) -> bool:
    return all(type(one) in (int, float) for one in key.values)


def _signed(key: tuple[Expression, int]) -> list[Any]:
    return [-one for one in key[0].values] if key[1] < 0 else list(key[0].values)


def _minus(key: tuple[Expression, int]) -> str:
    text = key[0].source()
    if key[1] > 0:
        return text
    return f"-({text})" if key[0].infix else f"-{text}"


def _weakly(
    key: tuple[Expression, int],
    column: Sequence[Any],
    value: Expression,
    rows: Sequence[tuple[list[int], list[Any]]],
) -> bool:
    """Return whether outputs never decrease in the key; equal ones may be in any order."""
    signed = _signed(key)
    for given, out in rows:
        ordered = sorted(signed[k] for k in given)[: len(out)]
        by_value: dict[str, list[Any]] = {}
        for k in sorted(given, key=lambda place: signed[place]):
            by_value.setdefault(repr(column[k]), []).append(signed[k])
        if [by_value[repr(one)].pop(0) for one in out] != ordered:
            return False
    return True


def _explains(
    keys: Sequence[Any],
    column: Sequence[Any],
    rows: Sequence[tuple[list[int], list[Any]]],
    reverse: bool,
) -> bool:
    for given, out in rows:
        order = sorted(given, key=keys.__getitem__, reverse=reverse)
        if [column[k] for k in order[: len(out)]] != out:
            return False
    return True


def _sorted(
    goal: Goal,
    elements: Elements,
    value: Expression,
    key: str,
    key_price: int,
    reverse: bool,
    cut: str,
    price: int,
) -> Expression:
    source = elements.source
    ordered = (
        f"sorted({source.text}{_key(key, source.key)}{', reverse=True' if reverse else ''}){cut}"
    )
    total = price + SORTED + key_price + (REVERSED if reverse else 0)
    ordered = escape_braces(ordered)
    if value.text == source.key:
        return compose("sorted", ordered, [], total, goal.outputs)
    template = f"[{{0:free}} for {source.key} in {ordered}]"
    return compose("each_sorted", template, [value], total + EACH, goal.outputs)


def _key(key: str, name: str) -> str:
    """Return the argument `key` of sorted, max or min, as short as it can be."""
    if key == name:
        return ""
    if called := re.fullmatch(rf"(\w+)\({name}\)", key):
        return f", key={called[1]}"
    if method := re.fullmatch(rf"(\w+)\[{name}\]", key):
        return f", key={method[1]}.get"
    return f", key=lambda {name}: {key}"


def choose_element(goal: Goal) -> Iterator[Expression]:
    """Yield programs that take one element of a list, or a value of it: the first or the last, the
    greatest or least by a key, or the first for which a test holds."""
    outputs = list(goal.outputs)
    for source in goal.sources:
        if not source.key or not all(source.values) or not goal.budget.left:
            continue
        if len(source.names) == 1 and not source.text.startswith("["):
            for place in (0, -1):
                chosen = [row[place] for row in source.values]
                for one in goal.solve(chosen, outputs, END_SHARE, f"{source.text}[{place}]")[:2]:
                    yield replace(one, price=one.price + source.price + END)
        elements = goal.elements(source)
        if len(elements.rows) < len(outputs):
            continue
        values = [one for one in elements.values(outputs) if _may_hold(one, elements.rows, outputs)]
        found: list[Expression] = []
        for text, places, price in _selections(goal, elements) if values else ():
            for value in values:
                if [value.values[k] for k in places] == outputs:
                    found += _chosen(goal, elements, text, value, price)
                    break
        yield from sorted(found, key=lambda one: one.price)[:MAX_SORTS]
        if found:
            return


def _may_hold(value: Expression, rows: Sequence[Sequence[int]], outputs: Sequence[Any]) -> bool:
    """Return whether each output is the value of an element, of its type."""
    return all(
        any(value.values[k] == out and type(value.values[k]) is type(out) for k in row)
        for row, out in zip(rows, outputs, strict=True)
    )


def _selections(goal: Goal, elements: Elements) -> Iterator[tuple[str, list[int], int]]:
    """Yield source, chosen elements and price of ways to choose one element of each list.

    The source has {} where the value of the element has its place, if that is not where the element
    stands.
    """
    source, rows = elements.source, elements.rows
    found: dict[tuple[int, ...], tuple[str, int]] = {}

    def offer(text: str, chosen: tuple[int, ...], price: int) -> None:
        if len(found) < MAX_SELECTIONS and (chosen not in found or price < found[chosen][1]):
            found[chosen] = text, price

    for number, test in enumerate(elements.tests()):
        if number % 8 == 0 and not goal.charge(1):
            return
        first = [next((k for k in row if test.values[k]), None) for row in rows]
        chosen = tuple(k for k in first if k is not None)
        if len(chosen) == len(rows):
            offer(f"next({{}} for {source.clause} if {test.source()})", chosen, NEXT + test.price)
    for number, key in enumerate(elements.keys()):
        if number % 8 == 0 and not goal.charge(1):
            return
        for name, choose in (("max", max), ("min", min)):
            chosen = tuple(choose(row, key=key.values.__getitem__) for row in rows)
            text = f"{name}({source.text}{_key(key.source(), source.key)})"
            offer(text, chosen, CHOSEN + key.price)
    for chosen, (text, price) in sorted(found.items(), key=lambda one: one[1][1]):
        yield text, list(chosen), price


def _chosen(
    goal: Goal, elements: Elements, text: str, value: Expression, price: int
) -> Iterator[Expression]:
    """Yield the value of a chosen element, if that names the element once."""
    source, name = elements.source, elements.source.key
    total = source.price + price + value.price
    inner = value.source()
    if text.startswith("next({}"):
        found, infix = text.replace("{}", inner, 1), False
    elif len(re.findall(rf"\b{name}\b", inner)) == 1:
        found, infix = re.sub(rf"\b{name}\b", lambda _: text, inner), value.infix
    else:
        return
    yield compose("chosen", escape_braces(found), [], total, goal.outputs, infix)
