"""Records whose names come from the input: elements by a key, counts and groups of them, and records with
changed, dropped or further fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from .elements import Elements, Goal
from .expressions import Expression, compose, escape_braces, fields_template
from .grammar import STR
from .sources import Part, find_parts

MAPPED, COUNTED, GROUPED, KEPT, NAME, MERGED, FURTHER = 6, 6, 12, 6, 3, 5, 4  # half bits
MAX_NAMES = 6  # that are kept or dropped
MAX_KEYS, MAX_KEYS_WITH_TEST = 200, 30
VALUE_SHARE = 0.15  # of the budget, for the values of a record
FIELDS_SHARE = 0.5  # of the budget, for the fields that a record gets


def compose_by_key(goal: Goal) -> Iterator[Expression]:
    """Yield programs for records with a name for each element, or for each group of elements."""
    for source in goal.sources:
        if not goal.budget.left:
            return
        elements = goal.elements(source)
        rows = list(zip(elements.rows, goal.outputs, strict=False))
        if not any(out for _, out in rows):
            return
        kept = list(_kept_fields(goal, elements, rows))
        named = list(_mapped(goal, elements, rows))
        if any(len(row) > len(out) for row, out in rows):
            named += _grouped(goal, elements, rows)
            if not named:
                named += _mapped_with_test(goal, elements, rows)
        yield from kept
        yield from named
        if named:
            return


def _keys(
    elements: Elements, rows: Sequence[tuple[list[int], dict[str, Any]]]
) -> Iterator[Expression]:
    """Yield expressions whose values are the names in the outputs."""
    for key in elements.of_kinds(STR)[:MAX_KEYS]:
        if all({key.values[k] for k in row} == set(out) for row, out in rows):
            yield key


def _mapped(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], dict[str, Any]]]
) -> Iterator[Expression]:
    """Yield programs with a name and a value for each element, of all elements or of some."""
    source = elements.source
    clause = escape_braces(source.clause)
    for key in islice(_keys(elements, rows), 2):
        last = [{key.values[k]: k for k in row} for row, _ in rows]  # of equal names
        pairs = {
            repr(elements.elements[k]): (elements.elements[k], out[label])
            for places, (_, out) in zip(last, rows, strict=True)
            for label, k in places.items()
        }
        inputs, outputs = [a for a, _ in pairs.values()], [b for _, b in pairs.values()]
        for value in goal.solve(inputs, outputs, VALUE_SHARE, source.variable)[:2]:
            template = f"{{{{{{0:free}}: {{1:free}} for {clause}}}}}"
            yield compose("mapped", template, [key, value], MAPPED + source.price, goal.outputs)


def _mapped_with_test(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], dict[str, Any]]]
) -> Iterator[Expression]:
    """Yield programs with a name and a value for each element that passes a test."""
    source = elements.source
    clause = escape_braces(source.clause)
    names = elements.of_kinds(STR)[:MAX_KEYS_WITH_TEST]
    for test in elements.tests():
        if not goal.charge(0.5):
            return
        for key in names:
            if all({key.values[k] for k in row if test.values[k]} == set(out) for row, out in rows):
                pairs = {
                    repr(elements.elements[k]): (elements.elements[k], out[key.values[k]])
                    for row, out in rows
                    for k in row
                    if test.values[k]
                }
                inputs, outputs = [a for a, _ in pairs.values()], [b for _, b in pairs.values()]
                for value in goal.solve(inputs, outputs, VALUE_SHARE, source.variable)[:1]:
                    template = f"{{{{{{0:free}}: {{1:free}} for {clause} if {{2:free}}}}}}"
                    price = MAPPED + KEPT + source.price
                    yield compose("mapped", template, [key, value, test], price, goal.outputs)
                    return


def _kept_fields(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], dict[str, Any]]]
) -> Iterator[Expression]:
    """Yield the records of a source with only some fields, chosen by their names."""
    source = elements.source
    if len(source.names) != 2 or not source.clause.endswith(".items()"):
        return
    records = [dict(row) for row in source.values]
    for record, out in zip(records, goal.outputs, strict=True):
        if any(name not in record or repr(record[name]) != repr(out[name]) for name in out):
            return
    kept = list(dict.fromkeys(name for out in goal.outputs for name in out))
    dropped = list(
        dict.fromkeys(
            name
            for record, out in zip(records, goal.outputs, strict=True)
            for name in record
            if name not in out
        )
    )
    if set(kept) & set(dropped) or not dropped:
        return
    k, v = source.names
    for names, one, several in ((dropped, "!=", "not in"), (kept, "==", "in")):
        if 0 < len(names) <= MAX_NAMES:
            test = f"{one} {names[0]!r}" if len(names) == 1 else f"{several} {tuple(names)!r}"
            text = f"{{{k}: {v} for {source.clause} if {k} {test}}}"
            price = KEPT + NAME * (len(names) + 1) + source.price
            yield Expression(price + MAPPED, tuple(goal.outputs), text=text)


def _grouped(
    goal: Goal, elements: Elements, rows: Sequence[tuple[list[int], dict[str, Any]]]
) -> Iterator[Expression]:
    """Yield programs with a name for each group of elements: how many they are, a list, or a fold."""
    source = elements.source
    if len(source.names) > 1:
        return
    name = source.names[0]
    clause = escape_braces(source.clause)
    found = 0
    for key in _keys(elements, rows):
        groups = [
            ([k for k in row if key.values[k] == label], value)
            for row, out in rows
            for label, value in out.items()
        ]
        group = "key" if name != "key" else "group"
        counts = all(type(value) is int and len(some) == value for some, value in groups)
        if counts:
            inside = source.text if key.source() == name else f"{{0:free}} for {clause}"
            inside = escape_braces(inside) if key.source() == name else inside
            yield compose(
                "counts", f"dict(Counter({inside}))", [key], COUNTED + source.price, goal.outputs
            )
            found += 1
        for value, fold in _folded_groups(goal, elements, groups):
            over = f"{{1:free}} for {clause} if {{0}} == {group}"
            inside = fold.format(over)
            keys = (
                escape_braces(source.text) if key.source() == name else f"{{0:free}} for {clause}"
            )
            if key.source() != name:
                keys = f"dict.fromkeys({keys})"
            template = f"{{{{{group}: {inside} for {group} in {keys}}}}}"
            price = GROUPED + source.price
            yield compose("groups", template, [key, value], price, goal.outputs)
            found += 1
            if found >= 3:
                return
        if found:
            return


def _folded_groups(
    goal: Goal, elements: Elements, groups: Sequence[tuple[list[int], Any]]
) -> Iterator[tuple[Expression, str]]:
    """Yield values of elements with the fold that makes of each group its output."""
    folds: dict[str, Callable[[Sequence[Any]], Any]] = {
        "[{}]": list, "sum({})": sum, "max({})": max, "min({})": min,
    }  # fmt: skip
    outputs = [value for _, value in groups]
    lists = all(type(value) is list for value in outputs)
    listed = [one for value in outputs for one in value] if lists else outputs
    for value in elements.values(listed):
        if not goal.charge(0.25):
            return
        for form, fold in folds.items():
            if (form == "[{}]") != lists:
                continue
            if not lists and any(type(v) not in (int, float) for v in value.values):
                continue
            if all(fold([value.values[k] for k in some]) == out for some, out in groups):
                yield value, form


def compose_merged(goal: Goal) -> Iterator[Expression]:
    """Yield programs that merge two records of the input, or add fields to one."""
    records = [
        part
        for part in find_parts(goal.inputs, goal.variable)
        if all(type(value) is dict for value in part.values)
    ]
    for first in records:
        for second in records:
            if first is not second and _merged(first, second) == list(goal.outputs):
                text = f"{first.text} | {second.text}"
                yield compose(
                    "merged",
                    escape_braces(text),
                    [],
                    MERGED + first.price + second.price,
                    goal.outputs,
                    True,
                )
    for part in records:
        yield from _with_fields(goal, part)


def _merged(first: Part, second: Part) -> list[Mapping[str, Any]]:
    return [{**a, **b} for a, b in zip(first.values, second.values, strict=True)]


def _with_fields(goal: Goal, part: Part) -> Iterator[Expression]:
    """Yield a record of the input with further or changed fields."""
    names: dict[str, None] = {}
    for record, out in zip(part.values, goal.outputs, strict=True):
        if any(name not in out for name in record):
            return
        names |= {
            name: None
            for name in out
            if name not in record or repr(out[name]) != repr(record[name])
        }
    if not 0 < len(names) < max(map(len, goal.outputs)):
        return
    if any(name not in out for out in goal.outputs for name in names):
        return
    found = goal.solve_each([[out[name] for out in goal.outputs] for name in names], FIELDS_SHARE)
    if found:
        template = f"{{{{**{escape_braces(part.text)}, {fields_template(names)}}}}}"
        price = MERGED + part.price + FURTHER * len(names)
        yield compose("with_fields", template, found, price, goal.outputs)
