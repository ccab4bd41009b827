"""Exact rules: sentences about labelled text that run without a model.

The grammar of these sentences is described in docs/reference/exact-sentences.md.
"""

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
        Comparison as Comparison,
        IsOneOf as IsOneOf,
        Missing as Missing,
        MoreThan as MoreThan,
        Not as Not,
        mentions as mentions,
    )
    from .degrees import rule_degrees as rule_degrees
    from .missing_values import (
        missing_value_marks as missing_value_marks,
        rule_columns as rule_columns,
    )
    from .prepared_rows import PreparedRows as PreparedRows, TextIndex as TextIndex
    from .quantities import (
        Count as Count,
        Length as Length,
        MentionedEntries as MentionedEntries,
        ColumnNumber as ColumnNumber,
    )
    from .rules import (
        NotExact as NotExact,
        PreferenceClause as PreferenceClause,
        Rule as Rule,
        ConditionClause as ConditionClause,
    )
    from .sentence_compiler import compile_sentence as compile_sentence
    from .term_spans import find_term_spans as find_term_spans
    from .terms import Term as Term, tokenize as tokenize
    from .wording import name_theme as name_theme, shorten_lists as shorten_lists
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "conditions": (
        "AllOf",
        "AnyOf",
        "Begins",
        "Between",
        "Comparison",
        "IsOneOf",
        "Missing",
        "MoreThan",
        "Not",
        "mentions",
    ),
    "degrees": ("rule_degrees",),
    "missing_values": ("missing_value_marks", "rule_columns"),
    "prepared_rows": ("PreparedRows", "TextIndex"),
    "quantities": ("Count", "Length", "MentionedEntries", "ColumnNumber"),
    "rules": ("NotExact", "PreferenceClause", "Rule", "ConditionClause"),
    "sentence_compiler": ("compile_sentence",),
    "term_spans": ("find_term_spans",),
    "terms": ("Term", "tokenize"),
    "wording": ("name_theme", "shorten_lists"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
