"""Expressions over JSON values, with their values on the inputs and their Python source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .grammar import Operation

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
        return f"({self.text})" if self.infix and form != "free" else self.text
