"""Formulas on the columns of a table: their text, their values, and the fitting of their constants.

    tree = parse_formula("c0 * m * v ** 2", ["m", "v"], free_constants=True)
    fit = fit_constants(tree, {"m": m, "v": v}, energy)
    format_formula(fit.formula)  # 0.5 * m * v ** 2

A formula is an expression tree (expressions.py). Its text is never executed (parsing.py).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .dimensions import (
        Dimension as Dimension,
        Dimensions as Dimensions,
        add_dimensions as add_dimensions,
        find_dimension as find_dimension,
        format_dimension as format_dimension,
        missing_dimensions as missing_dimensions,
        to_dimension as to_dimension,
    )
    from .evaluation import (
        Columns as Columns,
        count_rows as count_rows,
        differentiate_formula as differentiate_formula,
        evaluate_formula as evaluate_formula,
    )
    from .expressions import (
        COMPARISONS as COMPARISONS,
        CONSTANTS as CONSTANTS,
        FUNCTIONS as FUNCTIONS,
        Column as Column,
        Constant as Constant,
        Expression as Expression,
        FreeConstant as FreeConstant,
        Number as Number,
        Operation as Operation,
        Text as Text,
        fill_constants as fill_constants,
        format_formula as format_formula,
        format_number as format_number,
        free_numbers as free_numbers,
        iter_nodes as iter_nodes,
        list_columns as list_columns,
        list_free_constants as list_free_constants,
        list_numbers as list_numbers,
        replace_numbers as replace_numbers,
    )
    from .fitting import Fit as Fit, fit_constants as fit_constants
    from .noise import estimate_noise as estimate_noise, rounding_error as rounding_error
    from .parsing import (
        FormulaError as FormulaError,
        make_identifiers as make_identifiers,
        parse_formula as parse_formula,
    )
    from .residuals import residual_bits as residual_bits
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "dimensions": (
        "Dimension",
        "Dimensions",
        "add_dimensions",
        "find_dimension",
        "format_dimension",
        "missing_dimensions",
        "to_dimension",
    ),
    "evaluation": ("Columns", "count_rows", "differentiate_formula", "evaluate_formula"),
    "expressions": (
        "COMPARISONS",
        "CONSTANTS",
        "FUNCTIONS",
        "Column",
        "Constant",
        "Expression",
        "FreeConstant",
        "Number",
        "Operation",
        "Text",
        "fill_constants",
        "format_formula",
        "format_number",
        "free_numbers",
        "iter_nodes",
        "list_columns",
        "list_free_constants",
        "list_numbers",
        "replace_numbers",
    ),
    "fitting": ("Fit", "fit_constants"),
    "noise": ("estimate_noise", "rounding_error"),
    "parsing": ("FormulaError", "make_identifiers", "parse_formula"),
    "residuals": ("residual_bits",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
