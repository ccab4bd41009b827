"""Forms of laws: formulas whose constants are still to be fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...tools.formulas import Expression

SYMBOL_BITS = 3.0  # about, for each symbol of an argument
CONSTANT_BITS = 10.0  # about, of a fitted constant
COLUMN = 0.1  # expansions, for each column of a scan
SCANNED_ROWS = 200  # with more rows, fewer terms of sums are looked at


@dataclass(frozen=True)
class Form:
    """A form of a law whose constants are to be fitted.

    Attributes:
        bits: About its description length, to compare forms.
        build: Function that returns the formula with free constants, and values to start from; None if
            the form is degenerate.
        transform: The transform of the target.
        terms: The number of terms of a sum.
    """

    bits: float
    build: Callable[[], tuple[Expression, dict[str, float]] | None]
    transform: str = "y"
    terms: int = 1
