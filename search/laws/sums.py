"""Laws that are sums of few terms, also under a transform of the target, by forward selection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import LAW_FUNCTION_BITS as FUNCTION_BITS
from ...tools.description_length import LAW_OPERATOR_BITS as OPERATOR_BITS
from ...tools.formulas import Expression, FreeConstant
from ..budget import Budget
from .arguments import SURCHARGE, Arguments
from .forms import COLUMN, CONSTANT_BITS, SCANNED_ROWS, SYMBOL_BITS, Form
from .functions import IDENTITY, IN_SUMS, Transform
from .scan import Places, Scan, choose_several
from .trees import call, product, total

Floats = NDArray[np.float64]
FUNCTIONS = (("sqrt", np.sqrt), ("sin", np.sin), ("cos", np.cos), ("exp", np.exp), ("log", np.log))
_WAVES = (2.0, 0.5, 4.0, math.pi, 2 * math.pi)
SCALES = {
    "sin": _WAVES,
    "cos": _WAVES,
    "exp": (-1.0, -0.25, -4.0, 0.25, 4.0),
}  # starts of constants in arguments
OF_FUNCTIONS = 600  # simplest arguments of functions
MULTIPLIED = 12  # simplest arguments that are multiplied by `SCALES` in functions
BESIDE_MULTIPLIED = 24  # simplest factors of these functions
OF_PRODUCTS = 60  # simplest arguments whose products with functions of others are terms
LARGEST, SMALLEST_SPREAD = 1e9, 1e-12
TERMS, BEAM, OTHER_BEAM, WIDTH = 4, 20, 6, 8


@dataclass(frozen=True)
class _Group:
    """Terms of one kind.

    Attributes:
        values: Their values, (n, m).
        prices: Their prices in bits, (m,).
        tree: Function of an index and of the constant in the term that returns the term.
        scale: The constant, which is fitted; None if the term has none.
    """

    values: Floats
    prices: Floats
    tree: Callable[[int, Expression | None], Expression]
    scale: float | None = None


class Terms:
    """Terms of sums: monomials, functions of arguments, and products of both.

    Args:
        terms: The monomials.
        arguments: The arguments of functions.
        share: The share of the functions and products that are looked at.
    """

    def __init__(self, terms: Arguments, arguments: Arguments, share: float) -> None:
        with np.errstate(all="ignore"):
            self.groups = list(_list_groups(terms, arguments, share))
        values = np.concatenate([one.values for one in self.groups], axis=1)
        prices = np.concatenate([one.prices for one in self.groups])
        with np.errstate(all="ignore"):
            largest, spread = np.abs(values).max(axis=0), values.std(axis=0)
        self.fine = np.flatnonzero(
            np.isfinite(largest) & (largest < LARGEST) & (spread > SMALLEST_SPREAD)
        )
        self.ends = np.cumsum([one.values.shape[1] for one in self.groups])
        self.values = values[:, self.fine]
        self.prices = prices[self.fine] + CONSTANT_BITS + OPERATOR_BITS

    def tree(self, place: int, start: dict[str, float]) -> Expression:
        """Return a term as a formula; `start` gets the value of its constant."""
        whole = int(self.fine[place])
        number = int(np.searchsorted(self.ends, whole, side="right"))
        group = self.groups[number]
        inner = whole - int(self.ends[number]) + group.values.shape[1]
        if group.scale is None:
            return group.tree(inner, None)
        constant = FreeConstant(f"c{len(start)}")
        start[constant.name] = group.scale
        return group.tree(inner, constant)


def _list_groups(terms: Arguments, arguments: Arguments, share: float) -> Iterator[_Group]:
    """Yield groups of terms. Where the terms have a dimension, a function alone costs a constant with it."""
    products = math.ceil(math.sqrt(share) * OF_PRODUCTS)
    few = min(len(arguments.sizes), math.ceil(share * OF_FUNCTIONS))
    several = min(len(arguments.sizes), MULTIPLIED)
    beside = min(len(terms.sizes), BESIDE_MULTIPLIED)
    fewer, outer = min(len(arguments.sizes), products), min(len(terms.sizes), products)
    u, sizes = arguments.values, arguments.sizes
    own = np.asarray(SYMBOL_BITS * terms.sizes, np.float64)
    yield _Group(terms.values, own, lambda k, _: terms.tree(k))
    lone = SYMBOL_BITS * (SURCHARGE if terms.has_dimension else 0)
    for name, function in FUNCTIONS:
        prices = np.asarray(SYMBOL_BITS * sizes + FUNCTION_BITS[name], np.float64)
        yield _Group(function(u[:, :few]), prices[:few] + lone, _function(name, arguments))
        for scale in SCALES.get(name, ()):
            yield _Group(
                function(scale * u[:, :several]),
                prices[:several] + lone + CONSTANT_BITS,
                _function(name, arguments),
                scale,
            )
    for name, function in FUNCTIONS:
        for scale in (None, *SCALES.get(name, ())):
            inner, factors = (fewer, outer) if scale is None else (several, beside)
            one = function((scale or 1.0) * u[:, :inner])
            values = (one[:, :, None] * terms.values[:, None, :factors]).reshape(len(u), -1)
            both = np.add.outer(sizes[:inner], terms.sizes[:factors]).ravel()
            fixed = FUNCTION_BITS[name] + CONSTANT_BITS * (scale is not None)
            prices = np.asarray(SYMBOL_BITS * (both + 1.0) + fixed, np.float64)
            yield _Group(values, prices, _product(name, arguments, terms, factors), scale)


def _function(name: str, arguments: Arguments) -> Callable[[int, Expression | None], Expression]:
    def tree(place: int, scale: Expression | None) -> Expression:
        argument = arguments.tree(place)
        return call(name, argument if scale is None else call("*", scale, argument))

    return tree


def _product(
    name: str, arguments: Arguments, terms: Arguments, count: int
) -> Callable[[int, Expression | None], Expression]:
    function = _function(name, arguments)

    def tree(place: int, scale: Expression | None) -> Expression:
        inner, factor = divmod(place, count)
        return product([(terms.tree(factor), 1.0), (function(inner, scale), 1.0)])

    return tree


def in_sums(
    arguments: Arguments,
    target: Floats,
    budget: Budget,
    share: float,
    choose_terms: Callable[[str], Arguments] | None = None,
) -> Iterator[Form]:
    """Yield sums of few terms, also under a transform of the target.

    Args:
        arguments: The arguments of functions.
        target: The values of the target, (n,).
        budget: The budget.
        share: The share of the functions and products that are looked at.
        choose_terms: Function of the name of a transform that returns the terms; None for the arguments.
    """
    n = len(target)
    price = COLUMN * max(n / SCANNED_ROWS, 1.0)
    terms = Terms(arguments, arguments, share) if choose_terms is None else None
    if terms and not budget.charge(price * len(terms.prices)):
        return
    for transform in IN_SUMS:
        if not transform.suits(target):
            continue
        if choose_terms is not None:
            terms = Terms(choose_terms(transform.name), arguments, share)
            if not budget.charge(price * len(terms.prices)):
                return
        assert terms is not None
        with np.errstate(all="ignore"):
            t, w = transform.values(target), 1 / np.abs(transform.slopes(target))
        if not np.isfinite(t).all():
            continue
        w = np.where(np.isfinite(w), w, 0.0)
        beam = BEAM if transform is IDENTITY else OTHER_BEAM
        for constant in (True, False):
            if not budget.charge(2 * price * len(terms.prices)):
                return
            common = np.ones((n, 1)) if constant else np.zeros((n, 0))
            scan = Scan.prepare(terms.values, common, t, w)
            own = CONSTANT_BITS + OPERATOR_BITS if constant else 0.0
            sets = choose_several(scan, terms.prices, float(target.var()), beam, TERMS, WIDTH)
            for bits, places in sets:
                yield Form(bits + own, _builder(transform, terms, places, constant, t, w))


def _builder(
    transform: Transform, terms: Terms, places: Places, constant: bool, t: Floats, w: Floats
) -> Callable[[], tuple[Expression, dict[str, float]] | None]:
    def build() -> tuple[Expression, dict[str, float]] | None:
        columns = [terms.values[:, k] for k in places] + [np.ones(len(t))] * constant
        matrix = np.column_stack(columns) * w[:, None]
        if not np.isfinite(matrix).all():  # LAPACK may not end
            return None
        found = np.linalg.lstsq(matrix, t * w, rcond=None)[0].tolist()
        start: dict[str, float] = {}
        parts: list[Expression] = []
        for factor, place in zip(found, [*places, *[-1] * constant], strict=True):
            free = FreeConstant(f"c{len(start)}")
            start[free.name] = factor
            parts.append(free if place < 0 else call("*", free, terms.tree(place, start)))
        return transform.inverse(total(parts)), start

    return build
