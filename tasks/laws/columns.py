"""The columns of a problem about laws: what `Problem.public` says of them, and their values as arrays.

The keys of `Problem.public` are:

    "target"       the column to explain
    "target_unit"  its unit as text, "" if it is not known
    "columns"      by name, in the order of the table: {"identifier", "kind"} with the identifier in
                   formulas and the kind "number" or "category". A number also has "low" and "high"
                   (over all rows) and "whole" (whether all values are whole numbers), a category has
                   "values". Either may have a "unit", and its "dimension" if that is known (units.py):
                   exponents by base dimension, as {"length": 1, "time": -2}
    "target_dimension"  that of the target; absent if it is not known
    "identifiers"  the identifier of each column and of the target, by name
    "rows"         the number of shown rows
    "noise"        the estimated standard deviation of the noise (tools/formulas/noise.py)
    "tolerance"    the largest root mean square error of a consistent law
    "spread"       the standard deviation of the target

An input is a record {column: value} of the columns' names. A value that does not fit its column, such
as a text in a column of numbers, is a missing value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Malformed, is_finite_number
from ...tools.formulas import (
    Dimensions,
    Expression,
    Fit,
    FormulaError,
    evaluate_formula,
    fit_constants,
    list_columns,
    parse_formula,
    to_dimension,
)

NUMBER, CATEGORY = "number", "category"
DEVIATIONS = 3.0  # a row agrees with a law if its residual is at most so many tolerances


class LawColumns:
    """The columns of one problem, as its public facts describe them."""

    def __init__(self, public: Mapping[str, Json]) -> None:
        self.about: Mapping[str, Mapping[str, Json]] = public.get("columns", {})
        self.target = str(public.get("target", "y"))
        own = public.get("target_dimension")
        self.target_dimension = None if own is None else to_dimension(own)
        self.tolerance = float(public.get("tolerance", 0.0))
        self.spread = float(public.get("spread", 0.0))

    @cached_property
    def identifiers(self) -> dict[str, str]:
        """The identifier of each column by its name."""
        return {name: str(one["identifier"]) for name, one in self.about.items()}

    @cached_property
    def dimensions(self) -> Dimensions | None:
        """The dimensions of the columns; None if none is known, or all are without a unit."""
        known = {
            str(one["identifier"]): to_dimension(one["dimension"])
            for one in self.about.values()
            if "dimension" in one
        }
        if not any(known.values()):
            return None
        return Dimensions(known, self.target_dimension)

    @cached_property
    def categories(self) -> list[str]:
        """The identifiers of the columns that hold categories."""
        return [str(one["identifier"]) for one in self.about.values() if one["kind"] == CATEGORY]

    def parse(self, text: str, *, free_constants: bool = False) -> Expression:
        """Return the expression of a law. Raises FormulaError."""
        known = [*self.identifiers.values()]
        return parse_formula(text, known, self.categories, free_constants=free_constants)

    def read(self, text: str) -> Expression | Malformed:
        """Return the expression of a law, or the reason why the text is none."""
        try:
            return self.parse(text)
        except FormulaError as error:
            return Malformed("no_formula", str(error))

    def arrays(self, inputs: Sequence[Json]) -> dict[str, NDArray[Any]]:
        """Return the n values of each column by identifier; a missing number is NaN, a missing
        category "".
        """
        found: dict[str, NDArray[Any]] = {}
        for name, one in self.about.items():
            cells = [row.get(name) if isinstance(row, Mapping) else None for row in inputs]
            if one["kind"] == CATEGORY:
                texts = [cell if isinstance(cell, str) else "" for cell in cells]
                found[str(one["identifier"])] = np.array(texts, dtype=object)
            else:
                values = [float(cell) if is_finite_number(cell) else math.nan for cell in cells]
                found[str(one["identifier"])] = np.array(values, np.float64)
        return found

    def evaluate(
        self, law: Expression, inputs: Sequence[Json]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the predictions of a law for n inputs, and whether each lacks a value that it
        needs.

        A comparison with a missing value would be false and a prediction all the same, therefore
        missing values are reported apart.
        """
        arrays = self.arrays(inputs)
        if not arrays:
            arrays = {"": np.zeros(len(inputs))}
        missing = np.zeros(len(inputs), np.bool_)
        for name in list_columns(law):
            cells = arrays[name]
            missing |= (cells == "") if name in self.categories else np.isnan(cells)
        return evaluate_formula(law, arrays), missing

    def fit(self, law: Expression, inputs: Sequence[Json], outputs: Sequence[Json]) -> Fit:
        """Fit the free constants of a law to rows with known outputs."""
        target = np.array([float(one) for one in outputs])
        return fit_constants(law, self.arrays(inputs), target)
