"""Columns of logarithms of a table: of functions of arguments, of waves, and of sums of squares.

A product of powers and functions is a sum of such columns, each with its exponent (products.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...tools.formulas import Expression
from ..budget import Budget
from .arguments import Arguments, not_extreme, sums_of_two
from .forms import COLUMN, CONSTANT_BITS, SYMBOL_BITS
from .functions import FACTORS, FINE_SCALES, SCALED, SCALES, Factor
from .improving import Movable
from .refining import Table
from .terms import list_frequencies
from .trees import TWO, call, total

Floats = NDArray[np.float64]
SUMS = ("1 + u", "1 - u")
SCALED_ARGUMENTS = 600  # simplest arguments whose multiples are tried
EFFORT = 60_000  # expansions of usual effort
LEAST_EFFORT, MOST_EFFORT = 0.2, 8.0  # factors of it
LARGEST_LOGARITHM = 500.0
WAVE_STEP = math.pi / 4  # of the frequencies of a wave in the table
LARGEST_IN_EXPONENT = 1e6  # of the values of an argument to their median
MAX_SQUARES = 20_000


@dataclass(frozen=True)
class Column:
    """A column of logarithms: of a function, or the argument of an exponential function.

    Attributes:
        factor: The function; None for a sum of squares (or of variables) or for an exponential function.
        argument: The index of the argument; -1 if `tree` is the whole factor.
        scale: The constant k.
        tree: The factor, if it has no constant.
        exponents: Exponents of the variables in the argument, if they are not those in `arguments`.
    """

    factor: Factor | None
    argument: int
    scale: float
    tree: Expression | None = None
    exponents: tuple[Fraction | float, ...] | None = None

    @property
    def is_growth(self) -> bool:
        """Whether it is the argument of an exponential function."""
        return self.factor is None and self.argument >= 0


@dataclass(frozen=True)
class Group:
    """Columns of one kind.

    Attributes:
        values: Their values, (n, m).
        prices: Their prices in bits, (m,).
        column: Function of an index that returns what the column stands for.
        is_sum: Whether they are logarithms of sums, of which more are kept.
        is_first: Whether they are tried alone, and get a second function.
    """

    values: Floats
    prices: Floats
    column: Callable[[int], Column]
    is_sum: bool = False
    is_first: bool = True


class Logarithms:
    """Columns of logarithms for a table.

    Args:
        x: The values of the variables, (n, d).
        names: The variables, as formulas.
        arguments: The arguments of functions.
        table: The same rows as a table.
        budget: A column costs `COLUMN` expansions.
    """

    def __init__(
        self,
        x: Floats,
        names: Sequence[Expression],
        arguments: Arguments,
        table: Table,
        budget: Budget,
    ) -> None:
        self.names, self.arguments, self.table, self.budget = names, arguments, table, budget
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(x))
            usable = np.isfinite(logs).all(axis=0) & (logs.std(axis=0) > 1e-9)
        self.usable = np.flatnonzero(usable)
        self.effort = min(max(budget.limit / EFFORT, LEAST_EFFORT), MOST_EFFORT)
        self.common = np.column_stack([np.ones(len(x)), logs[:, self.usable]])
        self.x = x
        self.movable = np.flatnonzero(usable & (x > 0).all(axis=0))
        self.logs = logs[:, self.movable]

    def columns(self, only: Sequence[int] | None = None) -> Iterator[Group]:
        """Yield groups of columns.

        Args:
            only: Indices of arguments whose multiples are tried finely; None for all arguments and few
                multiples.
        """
        arguments = self.arguments
        everything, units = np.arange(len(arguments.sizes)), arguments.units
        for factor in FACTORS:
            scaled = factor.name in SCALED
            if only is not None and not scaled:
                continue
            for scale in FINE_SCALES if only is not None else SCALES if scaled else (1.0,):
                places = everything if only is None else np.array(only, np.int64)
                if only is None and scale != 1.0:
                    places = places[:SCALED_ARGUMENTS]
                if not self.budget.charge(COLUMN * len(places)):
                    return
                scales = scale / (np.ones(len(places)) if factor.k_outside else units[places])
                with np.errstate(all="ignore"):
                    values = np.log(np.abs(factor.values(scales * arguments.values[:, places])))
                fine = is_usable(values)
                places = places[fine]
                own = factor.bits + 4 + 3 * (scale != 1.0)
                prices = np.asarray(SYMBOL_BITS * arguments.sizes[places] + own, np.float64)
                yield Group(
                    values[:, fine],
                    prices,
                    _of_factor(factor, places, scales[fine]),
                    factor.name in SUMS,
                )
        if only is None:
            yield from self._waves()
            yield from self._sums_of_squares()
            fine = not_extreme(arguments.values, LARGEST_IN_EXPONENT)
            places = everything[fine]
            prices = (SYMBOL_BITS * arguments.sizes[places] + 4 + CONSTANT_BITS).astype(float)
            yield Group(
                arguments.values[:, fine],
                prices,
                _of_factor(None, places, np.ones(len(places))),
                True,
            )

    def _waves(self) -> Iterator[Group]:
        """Yield sines and cosines of a variable with many frequencies."""
        arguments = self.arguments
        places = np.flatnonzero(arguments.is_variable())
        values = arguments.values[:, places]
        if not len(places):
            return
        frequencies = list_frequencies(values.min(axis=0), values.max(axis=0), WAVE_STEP)
        for factor in FACTORS:
            if factor.name not in ("sin", "cos") or not self.budget.charge(
                COLUMN * frequencies.size
            ):
                continue
            for row in frequencies:
                with np.errstate(all="ignore"):
                    logs = np.log(np.abs(factor.values(row * values)))
                fine = is_usable(logs)
                prices = np.full(int(fine.sum()), SYMBOL_BITS + factor.bits + 7.0)
                of_factor = _of_factor(factor, places[fine], row[fine])
                yield Group(logs[:, fine], prices, of_factor, is_first=False)

    def move(self, column: Column) -> Movable:
        """Return a column as a function whose argument can be improved."""
        exponents = column.exponents or self.arguments.exponents[column.argument].tolist()
        own = [exponents[k] for k in self.movable]
        argument = self.arguments.values[:, column.argument]
        before = self.arguments.exponents[column.argument][self.movable].astype(float)
        fixed = argument / np.exp(self.logs @ before)
        values = column.factor.values if column.factor else np.exp
        return Movable(values, fixed, own, column.scale, is_free=column.factor is not None)

    def argument(self, column: Column) -> Expression:
        """Return the argument of a column as a formula."""
        return self.arguments.tree(column.argument, column.exponents)

    def price(self, column: Column) -> float:
        """Return the price of a column with an improved argument, in bits."""
        size = 0.0
        for exponent in column.exponents or ():
            if exponent:
                size += 1 + abs(exponent) if isinstance(exponent, Fraction) else 5.0
        size += 4 * (self.arguments.pairs[column.argument] >= 0)
        own = column.factor.bits + 4 if column.factor else 4.0
        return SYMBOL_BITS * float(size) + own + CONSTANT_BITS

    def _sums_of_squares(self) -> Iterator[Group]:
        """Yield sums of two or three squares of variables or differences, differences, and sums of variables."""
        d = self.x.shape[1]
        pairs, pair_trees = sums_of_two(self.x, self.names)
        half = len(pair_trees) // 2
        values = np.column_stack([self.x, pairs[:, :half]])
        trees = [*self.names, *pair_trees[:half]]
        sizes = [1] * d + [3] * half
        found: list[Floats] = [pairs[:, k] for k in range(len(pair_trees))]
        columns = [Column(None, -1, 1.0, tree) for tree in pair_trees]
        prices = [SYMBOL_BITS * 3.0] * len(pair_trees)
        for count in (2, 3):
            for chosen in combinations(range(len(trees)), count):
                if len(found) >= MAX_SQUARES:
                    break
                found.append((values[:, chosen] ** 2).sum(axis=1))
                squares = [call("**", trees[k], TWO) for k in chosen]
                columns.append(Column(None, -1, 1.0, total(squares)))
                prices.append(SYMBOL_BITS * (sum(sizes[k] for k in chosen) + 1.5 * count))
                if count == 3 and max(chosen) < d:
                    found.append(self.x[:, chosen].sum(axis=1))
                    columns.append(Column(None, -1, 1.0, total([self.names[k] for k in chosen])))
                    prices.append(SYMBOL_BITS * 5.0)
        if not found or not self.budget.charge(COLUMN * len(found)):
            return
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(np.array(found).T))
        fine = np.flatnonzero(is_usable(logs))
        yield Group(logs[:, fine], np.array(prices)[fine], lambda k: columns[fine[k]], True)


def _of_factor(
    factor: Factor | None, places: NDArray[np.int64], scales: Floats
) -> Callable[[int], Column]:
    return lambda k: Column(factor, int(places[k]), float(scales[k]))


def is_usable(values: Floats) -> NDArray[np.bool_]:
    """Return which columns of logarithms are finite, not too large and not constant, (m,)."""
    with np.errstate(all="ignore"):
        largest, spread = np.abs(values).max(axis=0), values.std(axis=0)
    fine: NDArray[np.bool_] = np.isfinite(largest) & (largest < LARGEST_LOGARITHM) & (spread > 1e-9)
    return fine
