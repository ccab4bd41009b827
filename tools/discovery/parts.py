"""What a rule says, piece by piece: a disjunction is as many findings as it has cases.

One author writes five sentences, another one sentence of five cases; both are five parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...records import Json
from ..sentence_rules.conditions import AllOf, AnyOf, Compare, Condition, More, Not, mentions
from ..sentence_rules.quantities import Listed
from ..sentence_rules.rules import Clause, NotExact, Prefer, Rule, When
from ..sentence_rules.sentence_compiler import compile_sentence
from ..sentence_rules.terms import terms

# How the published election and personality sets write a true sentence (HypoBench, appendix B).
_PUBLISHED = re.compile(
    r'If the "(?P<kind>[^"]+)" of the given [\w ]+ is "(?P<phrase>.+)", then it is (?:highly |a bit )?'
    r'(?P<likely>likely|unlikely|neutral) to be classified as "(?P<label>[^"]+)"',
    re.DOTALL,
)


def compile_truth(sentence: str, public: Mapping[str, Json]) -> Rule | NotExact:
    """The rule of a true sentence: of the grammar, or as the published sets of logistic labels write
    it, of which the label that is likely stays. Never raises."""
    found = _PUBLISHED.match(sentence.strip())
    if found is None:
        return compile_sentence(sentence, public)
    if found["likely"] != "likely" or found["label"] not in public["labels"]:
        return NotExact("no label is likely by it")
    if found["kind"] == "template":
        return NotExact("a template is no phrase of a text")
    return Rule((When(mentions(terms(found["phrase"])), found["label"]),))


def parts(rule: Rule) -> tuple[Rule, ...]:
    """The rule's cases, each a rule: its clauses, and of a clause the cases that it joins. A clause after
    one of another label holds only where that one does not. `otherwise` stays with a rule of one
    case alone."""
    found: list[Clause] = []
    earlier: list[tuple[Condition, str]] = []
    for clause in rule.clauses:
        if isinstance(clause, Prefer):
            return (rule,)  # what wins is said of both texts at once
        other = [Not(condition) for condition, label in earlier if label != clause.label]
        for case in _cases(clause.condition):
            found.append(When(AllOf((*other, case)) if other else case, clause.label))
        earlier.append((clause.condition, clause.label))
    if len(found) == 1:
        return (replace(rule, clauses=(found[0],)),)
    return tuple(dict.fromkeys(Rule((one,)) for one in found))


def _cases(condition: Condition) -> Iterator[Condition]:
    """Of "A or B" both, of "the text mentions one of x, y" the mention of each; else the condition."""
    if isinstance(condition, AnyOf):
        for part in condition.parts:
            yield from _cases(part)
    elif (
        isinstance(condition, Compare)
        and isinstance(condition.quantity, Listed)
        and (condition.relation, condition.value) == ("at least", 1)
    ):
        for one in condition.quantity.terms:
            yield mentions((one,), text=condition.quantity.text)
    else:
        yield condition


def leaves(rule: Rule) -> Iterator[Condition]:
    """The conditions that a rule is made of, without and, or, not. A `Prefer` has none."""
    for clause in rule.clauses:
        if isinstance(clause, When):
            yield from _leaves(clause.condition)


def _leaves(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, Not):
        yield from _leaves(condition.part)
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from _leaves(part)
    else:
        yield condition


def columns_of(leaf: Condition, only_text: str) -> frozenset[str]:
    """The columns that a condition without parts reads. only_text: which "the text" is."""
    if isinstance(leaf, More):
        return _of(leaf.left, only_text) | _of(leaf.right, only_text)
    return _of(getattr(leaf, "quantity", leaf), only_text)


def _of(told: object, only_text: str) -> frozenset[str]:
    column = getattr(told, "column", None)
    if column is None:
        column = getattr(told, "text", "") or only_text
    return frozenset((column,))
