"""Laws that are products of powers and of functions, found by linear algebra on logarithms.

The logarithm of a product of powers is a sum of logarithms with the exponents as factors. Therefore the
exponents of all columns are fitted at once, and one scan over many functions of a few columns finds those
that belong to the law. Rows have the weights that an additive error of the target has in the logarithm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...tools.formulas import Expression, FreeConstant, evaluate_formula
from .constants import find_exponent
from .forms import Form
from .functions import FACTORS, IDENTITY, IN_LOGARITHMS, Transform
from .improving import improve
from .logarithms import LARGEST_LOGARITHM, Column, Group, Logarithms, is_usable
from .refining import Table
from .scan import (
    DEPENDENT,
    LEAST_OF_SCAN,
    Places,
    Scan,
    data_bits,
    normalise,
    project,
    smallest,
)
from .trees import Exponent, call, product

Floats = NDArray[np.float64]
KEPT_SUMS, KEPT = 5_000, 1_000  # columns of one function that are kept for pairs
KEPT_SIMPLE = 2_000  # of sums, the simplest, which may explain little alone
FIRST = 150  # forms with one function
SECOND, WIDTH, AT_A_TIME = 250, 12, 32  # of these get a second function, and how many each
CLOSELY = 2  # times as many are measured exactly
GROWTHS = 12  # exponential functions of simple arguments that get a second function
REFINED_ARGUMENTS = 60
PAIRS_OF_EACH = 6  # first columns
IMPROVED, IMPROVED_PAIRS = 35, 60  # forms whose arguments are improved
OTHER_TRANSFORMS = 0.15  # of them, for each transform of the target
IMPROVEMENT = 400.0  # expansions, for each function


def in_logarithms(logarithms: Logarithms) -> Iterator[Form]:
    """Yield products of powers of variables and of up to two functions."""
    target = logarithms.table.target
    left = []
    for transform in IN_LOGARITHMS:
        if not transform.suits(target):
            continue
        with np.errstate(all="ignore"):
            changed = transform.values(target)
            t, w = np.log(np.abs(changed)), np.abs(changed / transform.slopes(target))
        bad = ~(np.isfinite(t) & np.isfinite(w))
        t[bad], w[bad] = 0.0, 0.0
        kept = _Kept.scan(logarithms.columns(), logarithms.common, t, w, float(target.var()))
        best = kept.best_arguments()
        fine = _Kept.scan(logarithms.columns(best), logarithms.common, t, w, float(target.var()))
        kept = kept.join(fine)
        rest = float(data_bits(kept.squares, len(t), kept.variance, LEAST_OF_SCAN))
        yield Form(rest, _builder(logarithms, transform, (), np.zeros((len(t), 0)), t, w))
        share = 1.0 if transform is IDENTITY else OTHER_TRANSFORMS
        most = math.ceil(share * logarithms.effort * IMPROVED)
        singles = kept.choose_different(most, by_function=True)
        moved = [one for k in singles if (one := _improved(logarithms, kept, (k,), t, w))]
        kept = kept.join(
            _Kept.scan(_as_groups(moved), logarithms.common, t, w, float(target.var()))
        )
        chosen = sorted(
            [*kept.choose_one(), *kept.choose_two(math.ceil(logarithms.effort * SECOND))],
            key=lambda one: one[0],
        )
        for bits, places in chosen:
            columns = [kept.columns[k] for k in places]
            yield Form(bits, _builder(logarithms, transform, columns, kept.values_of(places), t, w))
        firsts: Counter[int] = Counter()
        pairs = []
        for _, places in chosen:
            if len(places) > 1 and firsts[places[0]] < PAIRS_OF_EACH:
                firsts[places[0]] += 1
                pairs.append(places)
        most = math.ceil(share * logarithms.effort * IMPROVED_PAIRS)
        left.append((transform, kept, pairs[:most], t, w))
    for transform, kept, pairs, t, w in left:  # all transforms are tried before the budget ends
        for places in pairs:
            found = _improved(logarithms, kept, places, t, w)
            if found is not None:
                yield Form(
                    found.bits, _builder(logarithms, transform, found.columns, found.values, t, w)
                )


@dataclass(frozen=True)
class _Improved:
    """Columns with improved arguments.

    Attributes:
        columns: What they stand for.
        values: Their values, (n, m).
        prices: Their prices, (m,).
        bits: The description length of the form.
    """

    columns: list[Column]
    values: Floats
    prices: Floats
    bits: float


def _as_groups(moved: Sequence[_Improved]) -> Iterator[Group]:
    return (Group(one.values, one.prices, one.columns.__getitem__) for one in moved)


def _improved(
    logarithms: Logarithms, kept: _Kept, places: Places, t: Floats, w: Floats
) -> _Improved | None:
    """Return columns with better arguments, or None if none can be improved."""
    if not logarithms.budget.left:
        return None
    logarithms.budget.charge(IMPROVEMENT * len(places))
    columns = [kept.columns[k] for k in places]
    values = kept.values_of(places)
    moving = [k for k, one in enumerate(columns) if one.argument >= 0]
    if not moving or not len(logarithms.movable):
        return None
    still = [k for k in range(len(columns)) if k not in moving]
    fixed = np.column_stack([logarithms.common, values[:, still]])
    movable = [logarithms.move(columns[k]) for k in moving]
    found = improve(logarithms.logs, fixed, movable, t, w)
    if found is None:
        return None
    squares, better = found
    new_values, new_columns, prices = [], [], []
    for k, one in enumerate(columns):
        if k in still:
            new_values.append(values[:, k])
            new_columns.append(one)
            prices.append(float(kept.prices_of((places[k],))[0]))
            continue
        moved = better[moving.index(k)]
        with np.errstate(all="ignore"):
            argument = (
                moved.scale
                * moved.fixed
                * np.exp(logarithms.logs @ np.array([float(e) for e in moved.exponents]))
            )
            new_values.append(np.log(np.abs(moved.values(argument))))
        own = logarithms.arguments.exponents[one.argument].tolist()
        exponents: list[Fraction | float] = [Fraction(e).limit_denominator(12) for e in own]
        for variable, exponent in zip(logarithms.movable.tolist(), moved.exponents, strict=True):
            exponents[variable] = exponent
        scale = moved.scale if moved.is_free else one.scale
        new_columns.append(Column(one.factor, one.argument, scale, None, tuple(exponents)))
        prices.append(logarithms.price(new_columns[-1]))
    if not is_usable(np.array(new_values).T).all():
        return None
    bits = float(data_bits(squares, len(t), kept.variance, LEAST_OF_SCAN)) + sum(prices)
    return _Improved(new_columns, np.array(new_values).T, np.array(prices), bits)


class _Kept:
    """The columns of a scan that explain the target best, and those with the shortest description."""

    def __init__(self, variance: float) -> None:
        self.variance = variance
        self.values: list[Floats] = []
        self.normal: list[NDArray[np.float32]] = []
        self.columns: list[Column] = []
        self.prices: list[Floats] = []
        self.first: list[NDArray[np.bool_]] = []
        self.squares = 0.0
        self.left: Floats = np.zeros(0)

    @classmethod
    def scan(
        cls,
        groups: Iterator[Group],
        common: Floats,
        t: Floats,
        w: Floats,
        variance: float,
    ) -> _Kept:
        kept = cls(variance)
        rest = project(common, w)
        kept.left = rest(t * w)
        kept.squares = float(kept.left @ kept.left)
        for group in groups:
            normal = normalise(group.values, w, rest)
            errors = Scan(normal, kept.left, kept.squares).errors()
            bits = data_bits(errors, len(t), variance) + group.prices
            chosen = np.union1d(
                smallest(bits, KEPT_SUMS if group.is_sum else KEPT),
                smallest(group.prices, KEPT_SIMPLE if group.is_sum else 0),
            )
            kept.values.append(group.values[:, chosen])
            kept.normal.append(normal[:, chosen])
            kept.columns += map(group.column, chosen.tolist())
            kept.prices.append(group.prices[chosen])
            kept.first.append(np.full(len(chosen), group.is_first))
        return kept

    def join(self, other: _Kept) -> _Kept:
        """Return both scans as one."""
        self.values += other.values
        self.normal += other.normal
        self.columns += other.columns
        self.prices += other.prices
        self.first += other.first
        return self

    def _scan(self) -> tuple[Scan, Floats]:
        normal = (
            np.concatenate(self.normal, axis=1)
            if self.normal
            else np.zeros((len(self.left), 0), np.float32)
        )
        prices = np.concatenate(self.prices) if self.prices else np.zeros(0)
        return Scan(normal, self.left, self.squares), prices

    def best_arguments(self) -> list[int]:
        """Return the arguments of the columns that explain the target best."""
        scan, prices = self._scan()
        bits = data_bits(scan.errors(), len(self.left), self.variance) + prices
        ordered = (self.columns[k].argument for k in smallest(bits, 10 * REFINED_ARGUMENTS))
        return [one for one in dict.fromkeys(ordered) if one >= 0][:REFINED_ARGUMENTS]

    def choose_one(self) -> Iterator[tuple[float, Places]]:
        """Yield one column each, with about its description length, the best first."""
        scan, prices = self._scan()
        bits = data_bits(scan.errors(), len(self.left), self.variance) + prices
        for k in smallest(bits, FIRST).tolist():
            yield self._measure(scan, prices, (k,)), (k,)

    def _measure(self, scan: Scan, prices: Floats, places: Places) -> float:
        """Return the description length of columns, with their exact error."""
        left = data_bits(scan.left_by(places), len(self.left), self.variance, LEAST_OF_SCAN)
        return float(left) + float(prices[list(places)].sum())

    def choose_different(self, count: int, *, by_function: bool = False) -> list[int]:
        """Return the best first columns of which no two are nearly the same beside the common ones.

        Args:
            count: The largest number of columns.
            by_function: Whether columns of different functions are different.
        """
        scan, prices = self._scan()
        bits = data_bits(scan.errors(), len(self.left), self.variance) + prices
        if self.first:
            bits = np.where(np.concatenate(self.first), bits, np.inf)
        kinds = np.array([FACTORS.index(one.factor) if one.factor else -1 for one in self.columns])
        return scan.choose_different(bits, count, kinds if by_function else None)

    def choose_two(self, count: int) -> Iterator[tuple[float, Places]]:
        """Yield two columns each, with about their description length.

        Args:
            count: How many columns get a second one.
        """
        scan, prices = self._scan()
        n = len(self.left)
        firsts = self.choose_different(count, by_function=True)
        growth = [k for k, one in enumerate(self.columns) if one.is_growth][:GROWTHS]
        firsts += [k for k in growth if k not in firsts]  # beside which others explain more
        for start in range(0, len(firsts), AT_A_TIME):
            some = firsts[start : start + AT_A_TIME]
            bits = data_bits(scan.errors_of_pairs(some), n, self.variance) + prices
            for row, k in zip(bits, some, strict=True):
                near = smallest(row, CLOSELY * WIDTH).tolist()
                pairs = [(k, other) for other in near if np.isfinite(row[other])]
                yield from sorted((self._measure(scan, prices, one), one) for one in pairs)[:WIDTH]

    def values_of(self, places: Places) -> Floats:
        """Return columns as they were before they were weighted, (n, m)."""
        found = [self.value(k) for k in places]
        return np.array(found).T if found else np.zeros((len(self.left), 0))

    def prices_of(self, places: Places) -> Floats:
        """Return the prices of columns."""
        return np.concatenate(self.prices)[list(places)]

    def value(self, place: int) -> Floats:
        """Return a column as it was before it was weighted."""
        for group in self.values:
            if place < group.shape[1]:
                found: Floats = group[:, place]
                return found
            place -= group.shape[1]
        raise IndexError(place)


def _builder(
    logarithms: Logarithms,
    transform: Transform,
    chosen: Sequence[Column],
    values: Floats,
    t: Floats,
    w: Floats,
) -> Callable[[], tuple[Expression, dict[str, float]] | None]:
    def build() -> tuple[Expression, dict[str, float]] | None:
        columns = np.column_stack([logarithms.common, values])
        found = measure_exponents(columns, t, w)
        if found is None:
            return None
        exponents, start = found
        if not math.isfinite(start) or abs(start) > LARGEST_LOGARITHM:
            return None
        names = [logarithms.names[k] for k in logarithms.usable.tolist()]
        start_values = {"c0": math.exp(start)}
        above: list[Expression] = [FreeConstant("c0")]
        factors: list[tuple[Expression, Exponent]] = []

        def add(base: Expression, exponent: Fraction | float) -> None:
            if isinstance(exponent, Fraction):
                factors.append((base, exponent))
                return
            name = f"e{len(start_values)}"  # to be fitted together with the constants
            start_values[name] = abs(exponent)
            factors.append((call("**", base, FreeConstant(name)), math.copysign(1.0, exponent)))

        for one, exponent in zip(names, exponents[: len(names)], strict=True):
            add(one, exponent)
        for column, exponent in zip(chosen, exponents[len(names) :], strict=True):
            if not exponent:
                continue
            if column.tree is not None:
                add(column.tree, exponent)
                continue
            argument = logarithms.argument(column)
            constant = FreeConstant(f"c{len(start_values)}")
            if column.factor is None:
                start_values[constant.name] = float(exponent)
                above.append(call("exp", call("*", constant, argument)))
            else:
                start_values[constant.name] = column.scale
                add(column.factor.tree(constant, argument), exponent)
        tree = transform.inverse(product([*((one, 1.0) for one in above), *factors]))
        if _is_opposite(tree, start_values, logarithms.table):
            start_values["c0"] = -start_values["c0"]
        return tree, start_values

    return build


def _is_opposite(tree: Expression, start: Mapping[str, float], table: Table) -> bool:
    """Return whether the opposite of a formula is nearer to the target."""
    value = evaluate_formula(tree, table.columns, start)
    fine = np.isfinite(value)
    return float(value[fine] @ table.target[fine]) < 0


def measure_exponents(
    columns: Floats, t: Floats, w: Floats
) -> tuple[list[Fraction | float], float] | None:
    """Return the exponents that measured ones stand for, and the constant, by weighted least squares.

    One exponent after the other is replaced by the number that it most likely stands for, the surest first;
    after each, the others are fitted again.

    Args:
        columns: Logarithms, of shape (n, 1 + m); the first column is 1.
        t: The logarithm of the target, (n,).
        w: The weights, (n,).
    """
    weighted, aim = columns * w[:, None], t * w
    normal, slope = weighted.T @ weighted, weighted.T @ aim
    m = columns.shape[1]
    current: Floats = np.zeros(m)
    found: list[Fraction | float] = [Fraction(0)] * m
    free = list(range(m))
    noise = 0.0
    while True:
        fixed = [k for k in range(m) if k not in free]
        part = normal[np.ix_(free, free)]
        try:
            inverse = np.linalg.inv(part + DEPENDENT**2 * np.diag(np.diag(part)))
        except np.linalg.LinAlgError:
            return None
        current[free] = inverse @ (slope[free] - normal[np.ix_(free, fixed)] @ current[fixed])
        if len(free) == m:
            left = aim - weighted @ current
            noise = float(left @ left) / max(len(t) - m, 1)
        if free == [0]:
            return found[1:], float(current[0])
        errors = np.sqrt(np.maximum(np.diag(inverse) * noise, 0.0))
        options = {
            k: (*find_exponent(float(current[k]), float(errors[place])), float(errors[place]))
            for place, k in enumerate(free)
            if k
        }
        surest = min(options, key=lambda k: (isinstance(options[k][1], float), options[k][2]))
        found[surest] = options[surest][1]
        current[surest] = float(options[surest][1])
        free.remove(surest)
