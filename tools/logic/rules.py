"""Checks that a text is a rule of a theory: its syntax, its vocabulary and its size.

The order and results of the checks are those of the published evaluator: the predicate Ab, other
forbidden predicates, and unbound variables. One check is added. The paper and its prompts forbid
names of objects in a rule, but the published evaluator accepts them. `read_rule` rejects them
unless `objects` is True.
"""

from __future__ import annotations

from typing import NamedTuple

from .formula import ABNORMAL, FREE, Formula, is_variable
from .parser import FormulaError, parse_repaired
from .theories import Theory

MAX_CHARACTERS = 200_000
MAX_NODES = 20_000  # different nodes of a formula
MOST_VARIABLES = 50  # different ones: each node keeps the set of those that are free in it
SYNTAX = "syntax"
# Reasons why a formula is no rule. They are counted separately from syntax errors.
SCOPE = ("defines_itself", "forbidden_predicate", "unbound_variable", "object_name")


class Rule(NamedTuple):
    """A rule, and the number of missing closing parentheses that were added to its text."""

    formula: Formula
    closed: int


class InvalidRule(NamedTuple):
    """The reason why a text is not a rule.

    Attributes:
        reason: `SYNTAX`, an element of `SCOPE`, "missing" or "too_large".
        detail: The reason in one sentence.
        formula: The parsed formula; None if the text could not be parsed or is too large.
        closed: Number of missing closing parentheses that were added to the text.
    """

    reason: str
    detail: str
    formula: Formula | None = None
    closed: int = 0


def read_rule(text: str, theory: Theory, *, objects: bool = False) -> Rule | InvalidRule:
    """Parse the text of a rule, and check that the theory allows the rule.

    Args:
        text: The rule as an S-expression.
        theory: The theory, which says which predicates a rule may use.
        objects: Whether a rule may name objects, as the published evaluator allows.

    Returns:
        The rule, or an `InvalidRule` with the reason why the text is not a rule.
    """
    if not text.strip():
        return InvalidRule("missing", "there is no formula")
    if len(text) > MAX_CHARACTERS:
        return InvalidRule("too_large", f"a text of more than {MAX_CHARACTERS:,} characters")
    try:
        formula, closed = parse_repaired(text, theory.predicates)
    except FormulaError as error:
        return InvalidRule(SYNTAX, error.sentence)
    if len(formula.nodes) > MAX_NODES:
        return InvalidRule("too_large", f"a formula of more than {MAX_NODES:,} different parts")
    letters = {term for node in formula.nodes for term in node.terms if is_variable(term)}
    if len(letters) > MOST_VARIABLES:
        return InvalidRule(
            "too_large", f"a formula with more than {MOST_VARIABLES} different variables"
        )
    reason, detail = _scope(formula, theory, objects)
    return InvalidRule(reason, detail, formula, closed) if reason else Rule(formula, closed)


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
