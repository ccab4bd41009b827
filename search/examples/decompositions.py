"""Outputs that fall into parts: records into fields, lists into elements, and null from the others.

Each function returns programs made of programs for the parts, which `solve` finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .elements import Elements, Goal, counted
from .expressions import Expression, compose, escape_braces, fields_template
from .prices import price_of_constant
from .sources import Source, find_parts

FIELD, LIST, CHOICE, PLACE, GET = 4, 6, 8, 3, 5  # half bits
MAX_ELEMENTS = 60  # elements from which a function of elements is learnt
MAX_PLACES = 6
PLACES_SHARE = (
    0.3  # of the budget, for the elements of outputs that each have a program of their own
)
SHARES = 0.06, 0.3  # of the budget, for the elements of a list: at first, and if nothing is found
LEAST_PART = 2  # half bits


def compose_record(goal: Goal) -> Iterator[Expression]:
    """Yield a program for outputs that are records with the same fields."""
    names = list(goal.outputs[0])
    if not names or any(list(one) != names and set(one) != set(names) for one in goal.outputs):
        return
    fields = goal.solve_each([[one[name] for one in goal.outputs] for name in names], 1)
    if fields:
        template = f"{{{{{fields_template(names)}}}}}"
        yield compose("record", template, fields, FIELD * len(names), goal.outputs)


def compose_part(goal: Goal) -> Iterator[Expression]:
    """Yield a part of the input that is the output, or the list of a source that is."""
    for part in find_parts(goal.inputs, goal.variable):
        if list(part.values) == list(goal.outputs) and _same_types(part.values, goal.outputs):
            yield Expression(part.price, part.values, text=part.text)
    for source in goal.sources:
        if source.text and list(source.values) == list(goal.outputs):
            yield Expression(source.price, source.values, text=source.text)


def compose_places(goal: Goal) -> Iterator[Expression]:
    """Yield a program for outputs that are lists with the same number of elements, each of its own."""
    sizes = {len(one) for one in goal.outputs}
    size = next(iter(sizes))
    if len(sizes) > 1 or not 0 < size <= MAX_PLACES or len(goal.outputs) < 2:
        return
    found = goal.solve_each(list(zip(*goal.outputs, strict=True)), PLACES_SHARE)
    if found:
        inside = ", ".join(f"{{{place}:free}}" for place in range(size))
        yield compose("places", f"[{inside}]", found, LIST + PLACE * size, goal.outputs)


def compose_list(goal: Goal) -> Iterator[Expression]:
    """Yield programs for outputs that are lists: one output for each element, or some of the elements."""
    yield from _compose_list(goal, SHARES[0])


def compose_list_thoroughly(goal: Goal) -> Iterator[Expression]:
    """Yield such programs with elements whose programs take more work."""
    yield from _compose_list(goal, SHARES[1])


def _compose_list(goal: Goal, share: float) -> Iterator[Expression]:
    best = 10**6
    for source in goal.sources:
        if not goal.budget.left or source.price + LIST + LEAST_PART >= best:
            return
        found = list(_each(goal, source, share))
        if share == SHARES[0]:
            found += _tested(goal, goal.elements(source))
        if not found:
            found += _kept(goal, source, share)
        best = min([best, *(one.price for one in found)])
        yield from found


def _each(goal: Goal, source: Source, share: float) -> Iterator[Expression]:
    """Yield a program with one output for each element."""
    rows = list(zip(source.values, goal.outputs, strict=True))
    if not all(len(given) == len(out) for given, out in rows):
        return
    pairs = [(a, b) for given, out in rows for a, b in zip(given, out, strict=True)]
    inputs, outputs = _first_of(pairs)
    if source.key and [source.element(one) for one in inputs] == outputs:
        return  # the list itself
    for found in goal.solve(inputs, outputs, share, source.variable)[:3]:
        template = f"[{{0:free}} for {escape_braces(source.clause)}]"
        yield compose("each", template, [found], LIST + source.price, goal.outputs)


def _tested(goal: Goal, elements: Elements) -> Iterator[Expression]:
    """Yield programs that keep the elements with a simple test, and compute the output from each."""
    source = elements.source
    rows = list(zip(elements.rows, goal.outputs, strict=False))
    if any(len(given) < len(out) for given, out in rows) or all(
        len(given) == len(out) for given, out in rows
    ):
        return
    listed = [one for _, out in rows for one in out]
    yielded = 0
    for value in elements.values(listed):
        column = value.values
        if not is_within(rows, column):
            continue
        wanted = [out for _, out in rows]
        for number, test in enumerate(elements.tests()):
            if number % 8 == 0 and not goal.charge(1):
                return
            holds = test.values
            if all(
                [column[k] for k in given if holds[k]] == out
                for (given, _), out in zip(rows, wanted, strict=True)
            ):
                template = f"[{{0:free}} for {escape_braces(source.clause)} if {{1:free}}]"
                yield compose("some", template, [value, test], LIST + source.price, goal.outputs)
                yielded += 1
                if yielded == 4:
                    return
                if yielded % 2 == 0:
                    break


def is_within(rows: Sequence[tuple[list[int], list[Any]]], column: Sequence[Any]) -> bool:
    """Return whether each output has only values of the elements of its list."""
    return all(
        not counted(out) - counted([column[k] for k in given])
        for given, out in rows
        if len(out) <= len(given)
    )


def _kept(goal: Goal, source: Source, share: float) -> Iterator[Expression]:
    """Yield programs that keep the elements with a test that has to be searched."""
    if not source.key:
        return
    rows = list(zip(source.values, goal.outputs, strict=True))
    if all(len(given) == len(out) for given, out in rows):
        return
    kept = [_places_of(list(map(source.element, given)), out) for given, out in rows]
    if any(one is None for one in kept):
        return
    pairs = [
        (a, b)
        for (given, _), bits in zip(rows, kept, strict=True)
        for a, b in zip(given, bits or (), strict=True)
    ]
    inputs, bits = _first_of(pairs)
    if len(set(bits)) < 2:
        return
    for found in goal.solve(inputs, bits, share, source.variable)[:3]:
        template = escape_braces(f"[{source.key} for {source.clause}") + " if {0:free}]"
        yield compose("some", template, [found], LIST + source.price, goal.outputs)


def compose_null(goal: Goal) -> Iterator[Expression]:
    """Yield programs for outputs of which some are null."""
    inputs, outputs, variable = goal.inputs, goal.outputs, goal.variable
    rest = [(given, out) for given, out in zip(inputs, outputs, strict=True) if out is not None]
    if not rest or len(rest) == len(outputs):
        return
    if all((given is None) == (out is None) for given, out in zip(inputs, outputs, strict=True)):
        when = [
            Expression(CHOICE, tuple(one is None for one in inputs), text=f"{variable} is None")
        ]
    else:
        when = goal.solve(inputs, [out is None for out in outputs], 0.4, variable)
    value = goal.solve([given for given, _ in rest], [out for _, out in rest], 0.4, variable)
    for condition in when[:2]:
        for one in value[:2]:
            yield compose(
                "null_if", "None if {0} else {1}", [condition, one], CHOICE, outputs, infix=True
            )


def compose_by_truth(goal: Goal) -> Iterator[Expression]:
    """Yield the program for inputs that are truth values: one output for each."""
    outputs = dict(zip(map(repr, goal.inputs), goal.outputs, strict=True))
    if set(outputs) != {"True", "False"}:
        return
    yes, no = outputs["True"], outputs["False"]
    template = f"{escape_braces(repr(yes))} if {{0}} else {escape_braces(repr(no))}"
    whole = Expression(2, tuple(goal.inputs), text=str(goal.variable))
    price = CHOICE + price_of_constant(yes) + price_of_constant(no)
    yield compose("by_truth", template, [whole], price, goal.outputs, infix=True)


def compose_present(goal: Goal) -> Iterator[Expression]:
    """Yield programs for inputs of which a part is null in some, where all outputs are equal."""
    for part in find_parts(goal.inputs, goal.variable):
        absent = [value is None for value in part.values]
        if not any(absent) or all(absent):
            continue
        rows = list(zip(goal.inputs, goal.outputs, absent, strict=True))
        instead = {repr(out): out for _, out, without in rows if without}
        if len(instead) > 1:
            continue
        (constant,) = instead
        rest = [(given, out) for given, out, without in rows if not without]
        found = goal.solve(
            [given for given, _ in rest], [out for _, out in rest], 0.4, goal.variable
        )
        for one in found[:2]:
            template = f"{escape_braces(constant)} if {escape_braces(part.text)} is None else {{0}}"
            price = CHOICE + part.price + price_of_constant(instead[constant])
            yield compose("present", template, [one], price, goal.outputs, infix=True)


def compose_missing(goal: Goal) -> Iterator[Expression]:
    """Yield a field that some inputs do not have, with what stands for it there."""
    if not all(type(one) is dict for one in goal.inputs):
        return
    for name in dict.fromkeys(name for one in goal.inputs for name in one):
        absent = [
            out for one, out in zip(goal.inputs, goal.outputs, strict=True) if name not in one
        ]
        if not absent or len(absent) == len(goal.outputs):
            continue
        found = [one.get(name, absent[0]) for one in goal.inputs]
        if found == list(goal.outputs) and _same_types(found, goal.outputs):
            default = "" if absent[0] is None else f", {absent[0]!r}"
            text = f"{goal.variable}.get({name!r}{default})"
            yield Expression(GET + len(default), tuple(goal.outputs), text=text)


def _same_types(values: Sequence[Any], outputs: Sequence[Any]) -> bool:
    return all(type(a) is type(b) for a, b in zip(values, outputs, strict=True))


def _places_of(given: Sequence[Any], out: Sequence[Any]) -> list[bool] | None:
    """Return which elements are in the output, if it has some of them in order."""
    bits, place = [], 0
    for one in given:
        bits.append(place < len(out) and type(one) is type(out[place]) and one == out[place])
        place += bits[-1]
    return bits if place == len(out) else None


def _first_of(pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Return inputs and outputs of the first pairs, each pair once."""
    once: dict[str, tuple[Any, Any]] = {}
    for pair in pairs:
        once.setdefault(repr(pair), pair)
    some = list(once.values())[:MAX_ELEMENTS]
    return [a for a, _ in some], [b for _, b in some]
