"""Expressions over JSON values, with their values on the inputs and their Python source."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from .grammar import RAISED, Operation

# The source of the input, or of each of its elements if it is a list with a name for each.
Variable = str | tuple[str, ...]

UNDEFINED = object()  # the value where an operation has no result


@dataclass(slots=True, eq=False)  # a frozen one takes three times as long to make
class Expression:
    """A part of a program.

    Args:
        price: the price, in half bits.
        values: the value on each input; `UNDEFINED` where there is none.
        operation: the operation at its root; None for a part of the input or a constant.
        arguments: the arguments of the operation.
        text: the source of a part of the input or of a constant.
    """

    price: int
    values: tuple[Any, ...]
    operation: Operation | None = None
    arguments: tuple[Expression, ...] = ()
    text: str = ""

    @property
    def infix(self) -> bool:
        """Whether the source gets parentheses where it is an argument."""
        return self.operation is not None and self.operation.infix

    def source(self) -> str:
        """Return the Python source."""
        if self.operation is None:
            return self.text
        slots = [_Slot(one.source(), one.infix) for one in self.arguments]
        return self.operation.template.format(*slots)


@dataclass(frozen=True, slots=True)
class _Slot:
    text: str
    infix: bool

    def __format__(self, form: str) -> str:
        if form in ("each", "loop"):
            return _without_list(self.text, form == "loop")
        return f"({self.text})" if self.infix and form != "free" else self.text


def _without_list(source: str, loop: bool) -> str:
    """Return a source whose elements are gone through, without `list(...)`, or the brackets of a loop."""
    match ast.parse(source, mode="eval").body:
        case ast.Call(func=ast.Name("list"), args=[_], keywords=[]) if not loop:
            return source[len("list(") : -1]
        case ast.ListComp() if loop:
            return source[1:-1]
    return source


def compose(
    name: str,
    template: str,
    parts: Sequence[Expression],
    price: int,
    values: Sequence[Any],
    infix: bool = False,
) -> Expression:
    """Return an expression made of parts by a template (see `Operation`).

    Args:
        name: the name of the way in which it is composed.
        template: the source, with {0} for the first part.
        parts: the parts.
        price: the price besides that of the parts, in half bits.
        values: the value on each input.
        infix: whether the source gets parentheses where it is an argument.
    """
    operation = Operation(name, (), "", 0, lambda: None, template, infix)
    total = price + sum(one.price for one in parts)
    return Expression(total, tuple(values), operation, tuple(parts))


def escape_braces(text: str) -> str:
    """Return a source as a part of a template."""
    return text.replace("{", "{{").replace("}", "}}")


def fields_template(names: Iterable[str]) -> str:
    """Return the template of the fields of a record, with a slot for the value of each."""
    return ", ".join(
        f"{escape_braces(repr(name))}: {{{place}:free}}" for place, name in enumerate(names)
    )


def apply_template(
    name: str,
    template: str,
    arguments: tuple[Expression, ...],
    price: int,
    gives: str,
    infix: bool = False,
) -> Expression:
    """Return an expression whose source is a template with fitted constants, with its values.

    Args:
        name: the name of the operation.
        template: its Python source, as in the grammar.
        arguments: its arguments.
        price: the price of the whole expression, in half bits.
        gives: the kind of its values.
        infix: whether the source is an operator expression.
    """
    function = _compiled(template, len(arguments))
    values = []
    for row in zip(*(one.values for one in arguments), strict=True):
        try:
            values.append(UNDEFINED if UNDEFINED in row else function(*row))
        except RAISED:
            values.append(UNDEFINED)
    operation = Operation(name, (), gives, 0, function, template, infix)
    return Expression(price, tuple(values), operation, arguments)


@lru_cache(maxsize=4096)
def _compiled(template: str, count: int) -> Callable[..., Any]:
    """Return what a template computes; it is a text of this package with fitted numbers."""
    names = [f"a{place}" for place in range(count)]
    source = template.format(*(_Slot(one, False) for one in names))
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {source}", dict(_NAMES))
    return function


_NAMES = {"math": math, "datetime": datetime, "timedelta": timedelta, "timezone": timezone}
