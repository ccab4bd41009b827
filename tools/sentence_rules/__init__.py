"""Exact rules: sentences about labelled text that are executed without a model (docs/judge.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .conditions import (
        AllOf as AllOf,
        AnyOf as AnyOf,
        Begins as Begins,
        Between as Between,
        Compare as Compare,
        Is as Is,
        Missing as Missing,
        More as More,
        Not as Not,
        mentions as mentions,
    )
    from .grading import graded as graded
    from .prepared import Prepared as Prepared, TextIndex as TextIndex
    from .quantities import Count as Count, Length as Length, Listed as Listed, Number as Number
    from .rules import (
        NotExact as NotExact,
        Prefer as Prefer,
        Rule as Rule,
        When as When,
    )
    from .sentence_compiler import compile_sentence as compile_sentence
    from .terms import Term as Term, tokens as tokens
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "conditions": (
        "AllOf",
        "AnyOf",
        "Begins",
        "Between",
        "Compare",
        "Is",
        "Missing",
        "More",
        "Not",
        "mentions",
    ),
    "grading": ("graded",),
    "prepared": ("Prepared", "TextIndex"),
    "quantities": ("Count", "Length", "Listed", "Number"),
    "rules": ("NotExact", "Prefer", "Rule", "When"),
    "sentence_compiler": ("compile_sentence",),
    "terms": ("Term", "tokens"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
