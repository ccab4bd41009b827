"""Outputs that fall into parts: records into fields, lists into elements, and null from the others.

Each function returns programs made of programs for the parts, which `solve` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .expressions import Expression
from .grammar import Operation

# solve(inputs, outputs, share, variable) -> programs, cheapest first
Solve = Callable[[Sequence[Any], Sequence[Any], float, str], list[Expression]]

FIELD, LIST, CHOICE = 4, 6, 8  # half bits
MAX_ELEMENTS = 60  # elements from which a function of elements is learnt


def compose_record(
    inputs: Sequence[Any], outputs: Sequence[Any], solve: Solve, variable: str
) -> Iterator[Expression]:
    """Yield a program for outputs that are records with the same fields."""
    names = list(outputs[0])
    if not names or any(list(one) != names and set(one) != set(names) for one in outputs):
        return
    fields = []
    for name in names:
        found = solve(inputs, [one[name] for one in outputs], 1 / len(names), variable)
        if not found:
            return
        fields.append(found[0])
    inside = ", ".join(
        f"{_braced(repr(name))}: {{{place}:free}}" for place, name in enumerate(names)
    )
    yield _composed("record", "{{" + inside + "}}", fields, FIELD * len(names), outputs)


def compose_list(
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    lists: Sequence[Expression],
    solve: Solve,
    variable: str,
) -> Iterator[Expression]:
    """Yield programs for outputs that are lists: one output for each element, or some of the elements.

    Args:
        inputs: the shown inputs.
        outputs: the shown outputs.
        lists: parts of the input that are lists.
        solve: finds programs for the parts.
        variable: the name of the input.
    """
    element = "one" if variable == "x" else variable + "_"
    for whole in lists:
        rows = list(zip(whole.values, outputs, strict=False))
        if all(len(given) == len(out) for given, out in rows):
            pairs = [(a, b) for given, out in rows for a, b in zip(given, out, strict=True)]
            for found in solve(*_first_of(pairs), 0.3, element)[:3]:
                template = f"[{{1:free}} for {element} in {{0}}]"
                yield _composed("each", template, [whole, found], LIST, outputs)
        kept = [_kept(given, out) for given, out in rows]
        if all(one is not None for one in kept) and any(
            len(given) > len(out) for given, out in rows
        ):
            pairs = [
                (a, b)
                for (given, _), bits in zip(rows, kept, strict=True)
                for a, b in zip(given, bits or (), strict=True)
            ]
            for found in solve(*_first_of(pairs), 0.3, element)[:3]:
                template = f"[{element} for {element} in {{0}} if {{1:free}}]"
                yield _composed("some", template, [whole, found], LIST, outputs)


def compose_null(
    inputs: Sequence[Any], outputs: Sequence[Any], solve: Solve, variable: str
) -> Iterator[Expression]:
    """Yield programs for outputs of which some are null."""
    rest = [(given, out) for given, out in zip(inputs, outputs, strict=True) if out is not None]
    if not rest or len(rest) == len(outputs):
        return
    if all((given is None) == (out is None) for given, out in zip(inputs, outputs, strict=True)):
        when = [
            Expression(CHOICE, tuple(one is None for one in inputs), text=f"{variable} is None")
        ]
    else:
        when = solve(inputs, [out is None for out in outputs], 0.4, variable)
    value = solve([given for given, _ in rest], [out for _, out in rest], 0.4, variable)
    for condition in when[:2]:
        for one in value[:2]:
            yield _composed(
                "null_if", "None if {0} else {1}", [condition, one], CHOICE, outputs, infix=True
            )


def _kept(given: Sequence[Any], out: Sequence[Any]) -> list[bool] | None:
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


def _composed(
    name: str,
    template: str,
    parts: Sequence[Expression],
    price: int,
    outputs: Sequence[Any],
    infix: bool = False,
) -> Expression:
    operation = Operation(name, (), "", 0, lambda: None, template, infix)
    total = price + sum(one.price for one in parts)
    return Expression(total, tuple(outputs), operation, tuple(parts))


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
