"""Monomials with a wanted dimension, where the dimensions of columns are known.

Arguments of functions are mostly without a dimension, and terms of a sum have that of the target. Few
monomials meet this, so those with more symbols can be tried than without units. Other monomials
stay candidates after them, at the price of a constant with a dimension, since a table may lack constants of
nature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from ...tools.formulas import (
    Dimension,
    Dimensions,
    Expression,
    add_dimensions,
    find_dimension,
    format_dimension,
    list_columns,
    missing_dimensions,
)
from .arguments import (
    SURCHARGE,
    Arguments,
    gather_arguments,
    join_arguments,
    list_exponents,
    sums_of_two,
)

Floats = NDArray[np.float64]
DRAWN = 30_000  # vectors of free exponents that are completed by the others
SHARE = 0.5  # of all arguments, at most, for those with the wanted dimension
PAIRS = 0.5  # of these, for those that have a sum or difference as a factor
LARGEST_EXPONENT, LARGEST_NORM = 4.0, 12.0
TRANSFORMED = {"y": 1, "square": 2, "inverse": -1}  # the power of the dimension; others have none


class KnownDimensions:
    """The dimensions of the variables of a search.

    Args:
        names: The variables, as formulas.
        dimensions: The dimensions of the columns. A variable with an unknown dimension counts as one
            without a dimension.
    """

    def __init__(self, names: Sequence[Expression], dimensions: Dimensions) -> None:
        self.names = names
        self.target = dimensions.target
        self.variables = [find_dimension(name, dimensions) for name in names]
        own = [one or {} for one in self.variables]
        self.bases = sorted({base for one in (*own, self.target or {}) for base in one})

    @cached_property
    def _reduced(self) -> tuple[list[list[Fraction]], list[int]]:
        """The equations of the exponents with a unit matrix appended, solved for pivot variables."""
        d, k = len(self.variables), len(self.bases)
        rows = [
            [(one or {}).get(base, Fraction(0)) for one in self.variables]
            + [Fraction(int(place == other)) for other in range(k)]
            for place, base in enumerate(self.bases)
        ]
        pivots: list[int] = []
        for column in range(d):
            found = next((r for r in range(len(pivots), k) if rows[r][column]), None)
            if found is None:
                continue
            place = len(pivots)
            rows[place], rows[found] = rows[found], rows[place]
            scale = rows[place][column]
            rows[place] = [one / scale for one in rows[place]]
            for r in range(k):
                if r != place and rows[r][column]:
                    factor = rows[r][column]
                    rows[r] = [a - factor * b for a, b in zip(rows[r], rows[place], strict=True)]
            pivots.append(column)
        return rows, pivots

    def list_exponents(self, wanted: Dimension, most: int) -> Floats:
        """Return exponents of monomials with a dimension, simplest first, of shape (m, d).

        They are whole numbers or 1/2 and -1/2.
        """
        d = len(self.variables)
        rows, pivots = self._reduced
        if set(wanted) - set(self.bases):
            return np.zeros((0, d))
        aim = [wanted.get(base, Fraction(0)) for base in self.bases]
        sides = [
            sum((a * b for a, b in zip(row[d:], aim, strict=True)), Fraction(0)) for row in rows
        ]
        if any(sides[len(pivots) :]):
            return np.zeros((0, d))
        free = [column for column in range(d) if column not in pivots]
        drawn = np.zeros((1, len(free)), np.int64)
        if free:
            drawn = np.vstack([drawn, list_exponents(len(free), DRAWN)])
        matrix = np.array([[float(row[k]) for k in free] for row in rows[: len(pivots)]])
        start = np.array([float(one) for one in sides[: len(pivots)]])
        found = []
        for unit in (1.0, 0.5):
            exponents = np.zeros((len(drawn), d))
            exponents[:, free] = unit * drawn
            if pivots:
                exponents[:, pivots] = start - unit * drawn @ matrix.reshape(len(pivots), -1).T
            found.append(exponents)
        everything = np.concatenate(found)
        doubled = np.rint(2 * everything)
        fine = np.abs(2 * everything - doubled).max(axis=1) < 1e-6
        norms = np.abs(doubled).sum(axis=1) / 2
        fine &= (np.abs(doubled).max(axis=1) <= 2 * LARGEST_EXPONENT) & (norms <= LARGEST_NORM)
        fine &= (norms > 0) & ((doubled % 2 == 0) | (np.abs(doubled) == 1)).all(axis=1)
        exponents = np.unique(doubled[fine], axis=0) / 2
        halves = (exponents % 1 > 0).sum(axis=1)
        order = np.lexsort((*-exponents.T[::-1], (exponents != 0).sum(axis=1) + np.abs(exponents).sum(axis=1) + halves))  # fmt: skip
        return exponents[order[:most]]

    def list_arguments(self, x: Floats, wanted: Dimension, most: int) -> Arguments:
        """Return monomials of the variables with a dimension, also those with a sum of two variables of
        equal dimensions as a factor.

        Args:
            x: The values of the variables, of shape (n, d).
            wanted: The dimension.
            most: At most how many.
        """
        pair_values, sums = sums_of_two(x, self.names)
        single = self.list_exponents(wanted, int((1 - PAIRS) * most))
        groups = [(single, -1, 0)]
        d = len(self.names)
        pairs = [(a, b) for a in range(d) for b in range(a + 1, d)] * 2
        equal = [k for k, (a, b) in enumerate(pairs) if self.variables[a] == self.variables[b]]
        for place in equal:
            inner = self.variables[pairs[place][0]] or {}
            for power in (1, 2):
                left = add_dimensions(wanted, inner, -power)
                few = self.list_exponents(left, max(2, int(PAIRS * most / (2 * len(equal)))))
                if not left:
                    few = np.vstack([np.zeros((1, d)), few])
                groups.append((few, place, power))
        return gather_arguments(x, self.names, groups, pair_values, sums)

    def put_first(self, arguments: Arguments, x: Floats, wanted: Dimension, most: int) -> Arguments:
        """Return the arguments with a dimension, then others.

        Args:
            arguments: The others. Those with another dimension cost a constant.
            x: The values of the variables, of shape (n, d).
            wanted: The dimension.
            most: About how many arguments there may be.
        """
        agreeing = self.list_arguments(x, wanted, int(SHARE * most))
        differ = self._differ(arguments, wanted)
        others = replace(arguments, sizes=arguments.sizes + SURCHARGE * differ)
        joined = join_arguments(agreeing, others.first(most - len(agreeing.sizes)))
        return replace(joined, has_dimension=bool(wanted))

    def choose_terms(
        self, arguments: Arguments, x: Floats, most: int
    ) -> Callable[[str], Arguments] | None:
        """Return a function of a transform of the target that returns terms of its sum, those first
        that have its dimension; None if the dimension of the target is not known.

        Args:
            arguments: Terms of any dimension.
            x: The values of the variables, of shape (n, d).
            most: About how many terms there may be.
        """
        if self.target is None:
            return None
        target = self.target

        def choose(transform: str) -> Arguments:
            wanted = add_dimensions({}, target, TRANSFORMED.get(transform, 0))
            return self.put_first(arguments, x, wanted, most)

        return cache(choose)

    def _differ(self, arguments: Arguments, wanted: Dimension) -> NDArray[np.int64]:
        """Return 1 for arguments whose dimension is not the wanted one, else 0."""
        d = len(self.names)
        table = np.array(
            [[float((one or {}).get(base, 0)) for base in self.bases] for one in self.variables]
        ).reshape(d, len(self.bases))
        aim = np.array([float(wanted.get(base, 0)) for base in self.bases])
        first = np.array([a for a in range(d) for b in range(a + 1, d)] * 2 + [0])
        second = np.array([b for a in range(d) for b in range(a + 1, d)] * 2 + [0])
        inner = table[first[arguments.pairs]] * arguments.powers[:, None]
        found = arguments.exponents @ table + inner - aim
        uneven = (table[first] != table[second]).any(axis=1)[arguments.pairs]
        uneven &= arguments.pairs >= 0
        differ: NDArray[np.bool_] = (np.abs(found) > 1e-9).any(axis=1) | uneven
        return differ.astype(np.int64)


def describe_dimensions(law: Expression, dimensions: Dimensions | None) -> str:
    """Return a sentence on whether the dimensions of a law agree; "" if they are not known."""
    if dimensions is None or dimensions.target is None:
        return ""
    needed = list(dict.fromkeys(map(format_dimension, missing_dimensions(law, dimensions))))
    if not needed:
        unknown = any(name not in dimensions.columns for name in list_columns(law))
        return "Its known dimensions agree." if unknown else "Its dimensions agree."
    if len(needed) == 1:
        return f"Its dimensions agree if a constant has the dimension {needed[0]}."
    return f"Its dimensions agree if constants have the dimensions {', '.join(needed)}."
