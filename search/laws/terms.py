"""Terms of sums: monomials, functions of arguments, and products of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import LAW_FUNCTION_BITS as FUNCTION_BITS
from ...tools.description_length import LAW_OPERATOR_BITS as OPERATOR_BITS
from ...tools.formulas import Expression, FreeConstant
from .arguments import SURCHARGE, Arguments, not_extreme
from .forms import CONSTANT_BITS, SYMBOL_BITS
from .trees import ONE, call, product

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SMALLEST_SPREAD = 1e-12  # of the largest value
OF_FUNCTIONS = 600  # simplest arguments of functions
OF_PRODUCTS = 60  # simplest arguments whose products with functions of others are terms
SCALED = 12  # simplest arguments that get a constant in functions
IN_PRODUCTS, BESIDE = 8, 24  # the same in products, and simplest factors of these functions
WAVES_OF_VARIABLES, WAVES, WAVES_IN_PRODUCTS = 80, 16, 6  # quarters of a period in the table
SIMPLEST, LARGEST_SET = 24, 4  # terms of which all sets are tried
MOST_SCALED = 60  # functions of variables in such sets of two


class _Kind(NamedTuple):
    """A function in terms.

    Attributes:
        name: Its name.
        values: Function of the values of its argument.
        tree: Function of the formula of its argument.
        bits: What it costs.
        scales: Function of an argument's least and largest value, (m,), that returns constants to start
            from by which the argument is multiplied, (k, m); None if it gets none.
        is_alone: Whether it is tried without such a constant.
    """

    name: str
    values: Callable[[Floats], Floats]
    tree: Callable[[Expression], Expression]
    bits: float
    scales: Callable[[Floats, Floats], Floats] | None = None
    is_alone: bool = True


def _growth(low: Floats, high: Floats) -> Floats:
    """Return constants k for exp(k * u), by how often it grows or falls in the table by a factor e."""
    return np.outer([-0.5, -1.5, -4.0, -12.0, 0.5, 1.5, 4.0], 1 / (high - low))


def _poles(low: Floats, high: Floats) -> Floats:
    """Return constants k for 1 / (1 + k * u), by how far the pole is outside the table."""
    beyond = np.outer([0.05, 0.3, 1.5], high - low)
    return -1 / np.concatenate([low - beyond, high + beyond])


def list_frequencies(low: Floats, high: Floats, step: float = math.pi / 2) -> Floats:
    """Return constants k for sin(k * u), by how often the table has a part of a period.

    Args:
        low, high: The least and the largest value of u, (m,).
        step: The part of a period, in radians.

    Returns:
        An array of shape (80, m).
    """
    return np.outer(step * np.arange(1, WAVES_OF_VARIABLES + 1), 1 / (high - low))


def _named(name: str) -> Callable[[Expression], Expression]:
    return lambda u: call(name, u)


_SIN, _COS = 1, 2
_KINDS = (
    _Kind("sqrt", np.sqrt, _named("sqrt"), FUNCTION_BITS["sqrt"]),
    _Kind("sin", np.sin, _named("sin"), FUNCTION_BITS["sin"], list_frequencies),
    _Kind("cos", np.cos, _named("cos"), FUNCTION_BITS["cos"], list_frequencies),
    _Kind("exp", np.exp, _named("exp"), FUNCTION_BITS["exp"], _growth),
    _Kind("decay", lambda u: np.exp(-u), lambda u: call("exp", call("negate", u)), FUNCTION_BITS["exp"] + 1),
    _Kind("log", np.log, _named("log"), FUNCTION_BITS["log"]),
    _Kind("pole", lambda u: 1 / (1 + u), lambda u: call("/", ONE, call("+", ONE, u)), 2 * OPERATOR_BITS + 4, _poles, is_alone=False),
)  # fmt: skip


class _Columns(NamedTuple):
    """What some terms are: each of the shape (m,), but for `values`.

    Attributes:
        values: Their values, (n, m).
        prices: Their prices in bits.
        kinds: The index in `_KINDS`, or -1 for a monomial.
        arguments: The index of the argument of the function.
        factors: The index of the monomial, or -1.
        scales: The constant by which the argument is multiplied; NaN if it is not fitted.
    """

    values: Floats
    prices: Floats
    kinds: Indices
    arguments: Indices
    factors: Indices
    scales: Floats

    def take(self, places: Indices) -> _Columns:
        """Return some of the terms."""
        return _Columns(
            self.values[:, places], self.prices[places], self.kinds[places],
            self.arguments[places], self.factors[places], self.scales[places],
        )  # fmt: skip


def _join(parts: Sequence[_Columns]) -> _Columns:
    return _Columns(
        np.concatenate([one.values for one in parts], axis=1),
        np.concatenate([one.prices for one in parts]),
        np.concatenate([one.kinds for one in parts]),
        np.concatenate([one.arguments for one in parts]),
        np.concatenate([one.factors for one in parts]),
        np.concatenate([one.scales for one in parts]),
    )


class Terms:
    """Terms of sums.

    Args:
        monomials: The monomials.
        arguments: The arguments of functions.
        share: The share of the functions and products that are looked at.
    """

    def __init__(self, monomials: Arguments, arguments: Arguments, share: float) -> None:
        self.monomials, self.arguments = monomials, arguments
        with np.errstate(all="ignore"):
            found = list(_list_columns(monomials, arguments, share))
        joined = _join(found)
        with np.errstate(all="ignore"):
            largest, spread = np.abs(joined.values).max(axis=0), joined.values.std(axis=0)
            fine = np.flatnonzero(
                np.isfinite(largest)
                & not_extreme(joined.values)
                & (spread > SMALLEST_SPREAD * largest)
            )
        self.columns = joined.take(fine)
        self.values = self.columns.values
        self.monomial_count = int((self.columns.kinds < 0).sum())  # they come first
        self.prices = self.columns.prices + CONSTANT_BITS + OPERATOR_BITS
        own = zip(*(part.tolist() for part in self.columns[2:]), strict=True)
        self._places = {key: place for place, key in enumerate(own)}

    def tree(self, place: int, start: dict[str, float], phase: float | None = None) -> Expression:
        """Return a term as a formula.

        Args:
            place: The index of the term.
            start: Gets the values of the constants in the term.
            phase: A constant that is added to the argument; None for none.
        """
        _, _, kinds, arguments, factors, scales = (part[..., place] for part in self.columns)

        def constant(value: float) -> Expression:
            free = FreeConstant(f"c{len(start)}")
            start[free.name] = value
            return free

        found = [(self.monomials.tree(int(factors)), 1.0)] if factors >= 0 else []
        if kinds >= 0:
            argument = self.arguments.tree(int(arguments))
            if np.isfinite(scales):
                argument = call("*", constant(float(scales)), argument)
            if phase is not None:
                argument = call("+", argument, constant(phase))
            found.append((_KINDS[kinds].tree(argument), 1.0))
        return product(found)

    def cosine_of(self, place: int) -> int | None:
        """Return the cosine with the frequency of a sine; None if the term is none, or has no frequency."""
        kind, *others = (part[place].item() for part in self.columns[2:])
        if kind != _SIN or math.isnan(others[-1]):
            return None
        return self._places.get((_COS, *others))

    def has_scale(self, place: int) -> bool:
        """Return whether a term has a constant besides its factor."""
        return bool(np.isfinite(self.columns.scales[place]))

    def _scaled_variables(self) -> list[int]:
        """Return functions of a variable with a constant, without waves and other factors."""
        columns = self.columns
        fine = np.isfinite(columns.scales) & (columns.factors < 0)
        fine &= (columns.kinds != _SIN) & (columns.kinds != _COS)
        fine &= self.arguments.is_variable()[np.maximum(columns.arguments, 0)]
        found: list[int] = np.flatnonzero(fine).tolist()
        return found[:MOST_SCALED]

    def sets(self) -> Iterator[Indices]:
        """Yield sets of terms of one size, (s, k): all of the simplest terms, functions of a variable with a
        constant, alone and in pairs, and a sine and its cosine.
        """
        few = self._scaled_variables()
        yield np.array(few, np.int64).reshape(-1, 1)
        waves = [(k, c) for k in np.flatnonzero(self.columns.kinds == _SIN).tolist()
                 if (c := self.cosine_of(k)) is not None and self.columns.factors[k] < 0]  # fmt: skip
        simplest = np.sort(np.argsort(self.prices, kind="stable")[:SIMPLEST]).tolist()
        for count in range(2, LARGEST_SET + 1):
            chosen = list(combinations(simplest, count))
            if chosen:
                yield np.array(chosen, np.int64)
        for pairs in (list(combinations(sorted({*simplest, *few}), 2)), waves):
            if pairs:
                yield np.array(pairs, np.int64)


def _list_columns(monomials: Arguments, arguments: Arguments, share: float) -> Iterator[_Columns]:
    """Yield terms. Where the monomials have a dimension, a function alone costs a constant with it."""
    sizes, u = arguments.sizes, arguments.values
    low, high = u.min(axis=0, initial=np.inf), u.max(axis=0, initial=-np.inf)
    lone = SYMBOL_BITS * (SURCHARGE if monomials.has_dimension else 0)
    products = math.ceil(math.sqrt(share) * OF_PRODUCTS)
    few = np.arange(min(len(sizes), math.ceil(share * OF_FUNCTIONS)))
    variables = np.flatnonzero(arguments.is_variable())

    def gather(
        kind: int, places: Indices, scales: Floats | None = None, factors: int | None = None
    ) -> _Columns:
        """Return a function of arguments, (m,), with constants (m,), times the first monomials."""
        values = u[:, places] if scales is None else scales * u[:, places]
        own = CONSTANT_BITS if scales is not None else 0.0
        prices: Floats = np.asarray(SYMBOL_BITS * sizes[places] + own, np.float64)
        constants = np.full(len(places), np.nan) if scales is None else scales
        values, prices = _KINDS[kind].values(values), prices + _KINDS[kind].bits
        if factors is None:
            return _Columns(
                values, prices + lone, np.full(len(places), kind), places, np.full(len(places), -1), constants
            )  # fmt: skip
        of = np.arange(min(len(monomials.sizes), factors))
        whole = (values[:, :, None] * monomials.values[:, None, of]).reshape(len(u), -1)
        beside = SYMBOL_BITS * (monomials.sizes[of] + 1.0)
        both: Floats = np.asarray(np.add.outer(prices, beside).ravel(), np.float64)
        return _Columns(
            whole, both, np.full(len(both), kind), np.repeat(places, len(of)),
            np.tile(of, len(places)), np.repeat(constants, len(of)),
        )  # fmt: skip

    count = len(monomials.sizes)
    own = np.asarray(SYMBOL_BITS * monomials.sizes, np.float64)
    none = np.full(count, -1)
    yield _Columns(monomials.values, own, none, none, np.arange(count), np.full(count, np.nan))
    squares = (arguments.exponents % 2 == 0).all(axis=1) & (
        np.abs(arguments.exponents).sum(axis=1) > 2
    )
    for number, kind in enumerate(_KINDS):
        if kind.is_alone:
            alone = few[~squares[few]] if kind.name == "sqrt" else few  # the root of x**4 is known
            yield gather(number, alone)
            yield gather(number, alone[:products], None, products)
        if kind.scales is None:
            continue
        scales = kind.scales(low, high)
        waves = kind.scales is list_frequencies
        several = np.arange(min(len(sizes), SCALED))
        for place, row in enumerate(scales):
            where = several if not waves or place < WAVES else variables
            yield gather(number, where, row[where])
            if not waves or place < WAVES_IN_PRODUCTS:
                where = several[:IN_PRODUCTS]
                yield gather(number, where, row[where], BESIDE)
