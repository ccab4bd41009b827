"""Default-exception abduction: formulas, finite worlds, theories, and the cost of a rule in them.

Start with `formula.py` (formulas and their text), `reading.py` (parsing), `worlds.py` and
`theories.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .completions import MOST_ATOMS as MOST_ATOMS
    from .explaining import explained as explained
    from .formula import (
        FREE as FREE,
        Builder as Builder,
        Formula as Formula,
        renamed as renamed,
        usual as usual,
        written as written,
    )
    from .judging import (
        EVERY as EVERY,
        NO_COMPLETION as NO_COMPLETION,
        REGIMES as REGIMES,
        SOME as SOME,
        Beyond as Beyond,
        Prepared as Prepared,
        Regime as Regime,
        Worth as Worth,
    )
    from .reading import (
        FormulaError as FormulaError,
        read_formula as read_formula,
        read_repaired as read_repaired,
    )
    from .rules import SCOPE as SCOPE, NoRule as NoRule, Rule as Rule, read_rule as read_rule
    from .sampling import Stream as Stream, drawn as drawn, inside_of as inside_of
    from .solving import (
        LIMIT as LIMIT,
        LIMITED as LIMITED,
        TOO_LARGE as TOO_LARGE,
        Solved as Solved,
    )
    from .tables import (
        Structures as Structures,
        Truth as Truth,
        about_elements as about_elements,
        evaluate as evaluate,
    )
    from .theories import (
        PUBLISHED as PUBLISHED,
        SIGNATURE as SIGNATURE,
        Theory as Theory,
        published as published,
        theory_from as theory_from,
        theory_of as theory_of,
    )
    from .worlds import World as World, world_of as world_of
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "completions": ("MOST_ATOMS",),
    "explaining": ("explained",),
    "formula": ("FREE", "Builder", "Formula", "renamed", "usual", "written"),
    "judging": (
        "EVERY",
        "NO_COMPLETION",
        "REGIMES",
        "SOME",
        "Beyond",
        "Prepared",
        "Regime",
        "Worth",
    ),
    "reading": ("FormulaError", "read_formula", "read_repaired"),
    "rules": ("SCOPE", "NoRule", "Rule", "read_rule"),
    "sampling": ("Stream", "drawn", "inside_of"),
    "solving": ("LIMIT", "LIMITED", "TOO_LARGE", "Solved"),
    "tables": ("Structures", "Truth", "about_elements", "evaluate"),
    "theories": ("PUBLISHED", "SIGNATURE", "Theory", "published", "theory_from", "theory_of"),
    "worlds": ("World", "world_of"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
