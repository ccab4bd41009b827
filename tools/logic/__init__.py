"""Default-exception abduction: formulas, finite worlds, theories, and the cost of rules.

A rule is a formula that marks elements of a world as exceptions to a theory's defaults. Start with
`formula.py` (formulas and their text), `parser.py` (parsing), `worlds.py` and `theories.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .completions import MAX_COMPONENT_ATOMS as MAX_COMPONENT_ATOMS
    from .explanations import explain_rule as explain_rule
    from .formula import (
        FREE as FREE,
        FormulaBuilder as FormulaBuilder,
        Formula as Formula,
        substitute as substitute,
        format_infix as format_infix,
        format_sexpr as format_sexpr,
    )
    from .fast_path import (
        EVERY_COMPLETION as EVERY_COMPLETION,
        NO_COMPLETION as NO_COMPLETION,
        REGIMES as REGIMES,
        SOME_COMPLETIONS as SOME_COMPLETIONS,
        BeyondFastPath as BeyondFastPath,
        PreparedWorlds as PreparedWorlds,
        Regime as Regime,
        RuleJudgement as RuleJudgement,
    )
    from .parser import (
        FormulaError as FormulaError,
        parse_formula as parse_formula,
        parse_repaired as parse_repaired,
    )
    from .rules import (
        SCOPE as SCOPE,
        InvalidRule as InvalidRule,
        Rule as Rule,
        read_rule as read_rule,
    )
    from .sampling import (
        RandomStream as RandomStream,
        draw_atoms as draw_atoms,
        element_mask as element_mask,
    )
    from .z3_solver import (
        SOLVER_LIMIT as SOLVER_LIMIT,
        LIMITED as LIMITED,
        TOO_LARGE as TOO_LARGE,
        GroundedWorlds as GroundedWorlds,
    )
    from .evaluation import (
        Structures as Structures,
        TruthAlgebra as TruthAlgebra,
        broadcast_to_elements as broadcast_to_elements,
        evaluate as evaluate,
    )
    from .theories import (
        PUBLISHED_THEORIES as PUBLISHED_THEORIES,
        SIGNATURE as SIGNATURE,
        Theory as Theory,
        find_published as find_published,
        theory_from_json as theory_from_json,
        parse_theory as parse_theory,
    )
    from .worlds import World as World, parse_world as parse_world
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "completions": ("MAX_COMPONENT_ATOMS",),
    "explanations": ("explain_rule",),
    "formula": ("FREE", "FormulaBuilder", "Formula", "substitute", "format_infix", "format_sexpr"),
    "fast_path": (
        "EVERY_COMPLETION",
        "NO_COMPLETION",
        "REGIMES",
        "SOME_COMPLETIONS",
        "BeyondFastPath",
        "PreparedWorlds",
        "Regime",
        "RuleJudgement",
    ),
    "parser": ("FormulaError", "parse_formula", "parse_repaired"),
    "rules": ("SCOPE", "InvalidRule", "Rule", "read_rule"),
    "sampling": ("RandomStream", "draw_atoms", "element_mask"),
    "z3_solver": ("SOLVER_LIMIT", "LIMITED", "TOO_LARGE", "GroundedWorlds"),
    "evaluation": ("Structures", "TruthAlgebra", "broadcast_to_elements", "evaluate"),
    "theories": (
        "PUBLISHED_THEORIES",
        "SIGNATURE",
        "Theory",
        "find_published",
        "theory_from_json",
        "parse_theory",
    ),
    "worlds": ("World", "parse_world"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
