"""What a text has to be to be a rule of a theory: read, in scope, and of a size that can be judged.

The order of the checks and their outcomes are the published evaluator's (Ab, other forbidden
predicates, unbound variables), with one more: names of objects, which paper and prompts forbid and
the evaluator lets pass. `released` lets them pass too.
"""

from __future__ import annotations

from typing import NamedTuple

from .formula import ABNORMAL, FREE, Formula
from .reading import FormulaError, read_repaired
from .theories import Theory

MOST_CHARACTERS = 200_000
MOST_NODES = 20_000  # different ones of a formula
SYNTAX = "syntax"
# Reasons why a text that was read is no rule: counted apart from syntax.
SCOPE = ("defines_itself", "forbidden_predicate", "unbound_variable", "object_name")


class Rule(NamedTuple):
    """closed: parentheses that were added at the end."""

    formula: Formula
    closed: int


class NoRule(NamedTuple):
    """reason: `SYNTAX`, one of `SCOPE`, "missing" or "too_large"; detail: one sentence. formula:
    of a text that was read."""

    reason: str
    detail: str
    formula: Formula | None = None
    closed: int = 0


def read_rule(text: str, theory: Theory, *, objects: bool = False) -> Rule | NoRule:
    """objects: whether names of objects may stand in a rule (the published evaluator's way)."""
    if not text.strip():
        return NoRule("missing", "there is no formula")
    if len(text) > MOST_CHARACTERS:
        return NoRule("too_large", f"a text of more than {MOST_CHARACTERS:,} characters")
    try:
        formula, closed = read_repaired(text, theory.predicates)
    except FormulaError as error:
        return NoRule(SYNTAX, error.sentence)
    if len(formula.nodes) > MOST_NODES:
        return NoRule("too_large", f"a formula of more than {MOST_NODES:,} different parts")
    reason, detail = _scope(formula, theory, objects)
    return NoRule(reason, detail, formula, closed) if reason else Rule(formula, closed)


def _scope(formula: Formula, theory: Theory, objects: bool) -> tuple[str, str]:
    if ABNORMAL in formula.predicates:
        return "defines_itself", f"{ABNORMAL} is what the rule defines, and may not stand in it"
    outside = sorted(formula.predicates - theory.allowed)
    if outside:
        return "forbidden_predicate", (
            f"{', '.join(outside)} may not stand in a rule, only {', '.join(sorted(theory.allowed))}"
        )
    unbound = sorted(formula.free - {FREE})
    if unbound:
        return "unbound_variable", f"{unbound[0]!r} is bound by no quantifier"
    if formula.objects and not objects:
        return (
            "object_name",
            f"{sorted(formula.objects)[0]!r} is no variable: objects have no names",
        )
    return "", ""
