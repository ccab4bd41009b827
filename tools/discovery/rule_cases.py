"""Splitting of rules into cases, so that alternatives joined by "or" count as separate findings.

One author may write five sentences, while another author writes one sentence with five cases. Both
count as five findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...records import Json
from ..sentence_rules.conditions import AllOf, AnyOf, Comparison, Condition, MoreThan, Not, mentions
from ..sentence_rules.quantities import MentionedEntries
from ..sentence_rules.rules import Clause, ConditionClause, NotExact, PreferenceClause, Rule
from ..sentence_rules.sentence_compiler import compile_sentence
from ..sentence_rules.terms import terms

# The form of true sentences in the published election and personality sets (HypoBench, appendix B.3):
# 'If the "KIND" of the given tweet is "PHRASE", then it is LIKELY to be classified as "LABEL" and …'.
_PUBLISHED = re.compile(
    r'If the "?(?P<kind>[^"]+?)"? of (?:the given|the|a|an) [\w ]+? is "(?P<phrase>.+)",? (?:then )?'
    r"(?:it|the \w+) is (?P<outcome>(?:highly |a bit )?(?:likely|unlikely|neutral) to .+)",
    re.DOTALL | re.IGNORECASE,
)
_LIKELIHOOD = re.compile(r"\b((?:highly |a bit )?(?:likely|unlikely|neutral)) to\b", re.IGNORECASE)
_RANKS = {
    "highly unlikely": -3, "unlikely": -2, "a bit unlikely": -1, "neutral": 0,
    "a bit likely": 1, "likely": 2, "highly likely": 3,
}  # fmt: skip
_SLOT = re.compile(r"\[[^\]]*\]|\{[^}]*\}|<[^>]*>")


def compile_truth(sentence: str, public: Mapping[str, Json]) -> Rule | NotExact:
    """Return the exact rule of a true sentence of a data set, or the reason why there is none.

    The sentence may follow the grammar of `compile_sentence`, or the form of the published HypoBench
    sets with logistic labels. A sentence of the published form names the most and the least likely
    label of texts with a phrase. It becomes a rule that gives the most likely label to the texts that
    contain the phrase. If it names a template, the texts contain all fixed parts of the template.

    Args:
        sentence: The true sentence.
        public: A mapping with the keys "labels" (the possible labels) and "columns" (the columns of
            the rows).

    Returns:
        The rule, or a `NotExact` object with the reason. No exception is raised.
    """
    found = _PUBLISHED.fullmatch(sentence.strip())
    if found is None:
        return compile_sentence(sentence, public)
    label = _most_likely(found["outcome"], tuple(public["labels"]))
    if label is None:
        return NotExact("no label is the most likely by it")
    parts = _SLOT.split(found["phrase"]) if found["kind"] == "template" else [found["phrase"]]
    words = [part for part in parts if re.search(r"\w", part)]
    if not words:
        return NotExact(f"no words of a text in {found['phrase']!r}")
    return Rule((ConditionClause(mentions(tuple(dict.fromkeys(terms(*words))), None), label),))


def _most_likely(outcome: str, labels: tuple[str, ...]) -> str | None:
    """Return the label that an outcome calls the most likely, or None if it calls none so.

    Args:
        outcome: For example `likely to be classified as "A" and a bit unlikely to be …`.
        labels: The possible labels.
    """
    parts = _LIKELIHOOD.split(outcome)
    ranked: dict[str, int] = {}
    for likelihood, text in zip(parts[1::2], parts[2::2], strict=True):
        quoted = re.findall(r'"([^"]+)"', text)
        named = [one for one in labels if one in quoted or (not quoted and one in text)]
        if len(named) != 1 or named[0] in ranked:
            return None
        ranked[named[0]] = _RANKS[likelihood.lower()]
    if len(ranked) == 1:
        ((label, rank),) = ranked.items()
        others = [one for one in labels if one != label]
        if rank < 0 and len(others) == 1:
            return others[0]
        return label if rank > 0 else None
    best = max(ranked.values(), default=0)
    highest = [label for label, rank in ranked.items() if rank == best]
    return highest[0] if len(highest) == 1 else None


def split_into_cases(rule: Rule) -> tuple[Rule, ...]:
    """Return the cases of a rule, each as a separate rule.

    Each clause is a case. A clause whose condition joins alternatives by "or" is split into these
    alternatives. If an earlier clause gives a different label, the negation of the earlier
    condition is added to the later condition. `otherwise` is kept only if the rule has a single
    case. A rule with a `PreferenceClause` is not split.
    """
    found: list[Clause] = []
    earlier: list[tuple[Condition, str]] = []
    for clause in rule.clauses:
        if isinstance(clause, PreferenceClause):
            return (rule,)  # A preference compares both texts at once and has no cases.
        other = [Not(condition) for condition, label in earlier if label != clause.label]
        for case in _cases(clause.condition):
            found.append(ConditionClause(AllOf((*other, case)) if other else case, clause.label))
        earlier.append((clause.condition, clause.label))
    if len(found) == 1:
        return (replace(rule, clauses=(found[0],)),)
    return tuple(dict.fromkeys(Rule((one,)) for one in found))


def _cases(condition: Condition) -> Iterator[Condition]:
    """Yield both sides of "A or B", and one mention per entry of "the text mentions one of x, y".

    Any other condition is yielded unchanged.
    """
    if isinstance(condition, AnyOf):
        for part in condition.parts:
            yield from _cases(part)
    elif (
        isinstance(condition, Comparison)
        and isinstance(condition.quantity, MentionedEntries)
        and (condition.relation, condition.value) == ("at least", 1)
    ):
        for one in condition.quantity.terms:
            yield mentions((one,), text=condition.quantity.text)
    else:
        yield condition


def leaf_conditions(rule: Rule) -> Iterator[Condition]:
    """Yield the elementary conditions that a rule combines by "and", "or" and "not".

    A `PreferenceClause` yields no conditions.
    """
    for clause in rule.clauses:
        if isinstance(clause, ConditionClause):
            yield from _leaves(clause.condition)


def _leaves(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, Not):
        yield from _leaves(condition.part)
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from _leaves(part)
    else:
        yield condition


def leaf_columns(leaf: Condition, only_text: str) -> frozenset[str]:
    """Return the names of the columns that an elementary condition reads.

    Args:
        leaf: A condition that is not combined by "and", "or" or "not".
        only_text: The column that a condition reads if it says "the text".
    """
    if isinstance(leaf, MoreThan):
        return _quantity_columns(leaf.left, only_text) | _quantity_columns(leaf.right, only_text)
    return _quantity_columns(getattr(leaf, "quantity", leaf), only_text)


def _quantity_columns(told: object, only_text: str) -> frozenset[str]:
    column = getattr(told, "column", None)
    if column is None:
        column = getattr(told, "text", "") or only_text
    return frozenset((column,))
