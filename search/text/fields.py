"""Search for rules over fields, and the sentences that state them.

For each label, covering.py searches for an OR of conjunctions that says when the label applies. If
there are two labels, the sentences are about the label with the better OR. If the OR has one
conjunction, it becomes one sentence. If it has several, the first sentence states all of them as
clauses, and every conjunction also becomes a sentence of its own. The first sentence is left out if
the conjunctions cover all rows and labels.

If no OR saves more bits than its description needs, the most significant single condition is used,
provided that it is significant. Further conditions that are significant (significance.py) are added
as sentences with one condition each.

The field `meta` of the result says for every condition how the rows support it: how many rows of
other labels only this condition excludes, how many bits it saves, and which other conditions would
fit these rows equally well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ...tools.sentence_rules.conditions import AllOf, Condition
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.rules import ConditionClause, Rule
from ..budget import Budget
from .atoms import Atoms, build_atoms, merge_atoms, select_atoms
from .covering import Conjunction, Cover, Covering
from .phrases import build_phrase_atoms
from .significance import (
    FALSE_DISCOVERY_RATE,
    mantel_haenszel,
    most_significant,
    select_significant,
)

MAX_SENTENCES = 20  # maximum number of sentences
MAX_READABLE = 4  # longer conjunctions are hard to read
READABLE = 12.0  # bits that a readable rule may be worth less than one that is hard to read
RESERVED_SHARE = 0.2  # part of the budget kept for the rows left at the end
MAX_SHARED_ROWS = 0.7  # if two sentences share a larger part of their rows, only one is used
MAX_ALTERNATIVES = 3  # maximum number of equivalent conditions that are listed
Marks = NDArray[np.bool_]


class FoundRules(NamedTuple):
    """The rules that a search found, and metadata of the search.

    Attributes:
        rules: The rules, in the order of their sentences.
        meta: Statistics of the search, and how the rows support each condition.
        weak: For each rule, whether it is not significant by itself; empty if all are.
    """

    rules: tuple[Rule, ...]
    meta: dict[str, Json]
    weak: tuple[bool, ...] = ()


class _Part(NamedTuple):
    """A conjunction and the label that it predicts."""

    conjunction: Conjunction
    label: str
    covering: Covering


def find_field_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> FoundRules:
    """Return rules that explain the labels of `rows`.

    In columns of text, words and phrases serve as conditions. The result has no rules if no
    condition distinguishes the rows.

    Args:
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`).
        expansions: Budget of the search, in expansions (budget.py).
    """
    prepared = PreparedRows(rows, public)
    atoms = merge_atoms(build_atoms(prepared), build_phrase_atoms(prepared, labels))
    if not len(atoms.conditions):
        return FoundRules((), {"tried": 0})
    atoms = select_atoms(atoms, np.array([prepared.label_index(label) for label in labels]))
    given = np.array(labels)
    present = [label for label in prepared.labels if label in set(labels)]
    each = expansions / len(present)
    searched = {
        label: Covering(atoms, given == label, Budget(each * (1 - RESERVED_SHARE)))
        for label in present
    }
    best = {label: covering.grow() for label, covering in searched.items()}
    most = max(worth for _, worth in best.values())
    for label, covering in searched.items():
        if len(present) > 2 or best[label][1] >= most - 2 * READABLE:
            best[label] = covering.polish(*best[label])
    if len(present) == 2:
        spoken = [_better(present, best)]
    else:
        spoken = present
    for label in spoken:
        if best[label][0]:
            searched[label].budget = Budget(each * RESERVED_SHARE)
            best[label] = searched[label].complete(*best[label])
    parts = [_Part(one, label, searched[label]) for label in spoken for one in best[label][0]]
    if not parts:
        parts = list(_surest(searched))
    parts = _in_order(parts)
    rules = list(_sentences(parts, atoms, given, present))
    rules += _separate_equal_predictions(parts, atoms, given, present, MAX_SENTENCES - len(rules))
    single = len(present[:1] if len(present) == 2 else present) * len(atoms.conditions)
    tried = sum(covering.tried for covering in searched.values()) + single + atoms.left_out
    told: list[Json] = [_describe_support(part, parts) for part in parts]
    return FoundRules(tuple(rules[:MAX_SENTENCES]), {"tried": tried, "rules": told})


def join_conditions(conditions: Sequence[Condition]) -> Condition:
    """Return a condition that holds if all `conditions` hold."""
    return conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))


def _better(labels: Sequence[str], best: Mapping[str, Cover]) -> str:
    """Return the label that the sentences are about."""
    most = max(best[label][1] for label in labels)
    near = [label for label in labels if best[label][0] and best[label][1] >= most - READABLE]

    def long(label: str) -> tuple[bool, float, int]:
        found, worth = best[label]
        return max(len(one) for one in found) > MAX_READABLE, -worth, labels.index(label)

    return min(near, key=long) if near else labels[0]


def _surest(searched: Mapping[str, Covering]) -> Iterator[_Part]:
    """Yield the most significant single condition of all labels, if it is significant."""
    found: list[tuple[float, str, int]] = []
    for label, covering in searched.items():
        prices = covering.evidence.price.tolist()
        at, chance = most_significant(
            covering.atoms.holds, covering.wanted, prices, covering.atoms.left_out
        )
        found.append((chance * max(1, len(searched) - 1), label, at))
    for chance, label, at in sorted(found, key=lambda one: one[0])[:1]:
        covering = searched[label]
        holds, share = covering.atoms.holds[at], covering.wanted.mean()
        if chance <= FALSE_DISCOVERY_RATE and covering.wanted[holds].mean() > share:
            yield _Part((at,), label, covering)
        elif chance <= FALSE_DISCOVERY_RATE and len(searched) == 2:
            other = next(one for one in searched if one != label)
            yield _Part((at,), other, searched[other])


def _in_order(parts: Sequence[_Part]) -> list[_Part]:
    """Sort the parts, the purest first and then those with the most rows."""

    def key(part: _Part) -> tuple[float, int, Conjunction]:
        marks = part.covering.rows_of(part.conjunction)
        right = int((marks & part.covering.wanted).sum())
        return -round((right + 1) / (int(marks.sum()) + 2), 1), -right, part.conjunction

    return sorted(parts, key=key)


def _condition(atoms: Atoms, conjunction: Conjunction) -> Condition:
    order = sorted(conjunction, key=lambda at: (int(atoms.column[at]), at))
    return join_conditions([atoms.conditions[at] for at in order])


def _sentences(
    parts: Sequence[_Part], atoms: Atoms, given: NDArray[np.str_], labels: Sequence[str]
) -> Iterator[Rule]:
    if not parts:
        return
    clauses = tuple(
        ConditionClause(_condition(atoms, part.conjunction), part.label) for part in parts
    )
    left = np.ones(len(given), np.bool_)
    for part in parts:
        left &= ~part.covering.rows_of(part.conjunction)
    rest = given[left] if left.any() else given
    spoken = {part.label for part in parts}
    others = [label for label in labels if label not in spoken] or list(labels)
    otherwise = max(others, key=lambda label: (int((rest == label).sum()), -labels.index(label)))
    if left.any() or len(spoken) < len(labels):
        yield Rule(clauses[:MAX_SENTENCES], otherwise)
    if len(clauses) > 1:
        yield from (Rule((clause,)) for clause in clauses)


def _separate_equal_predictions(
    parts: Sequence[_Part],
    atoms: Atoms,
    given: NDArray[np.str_],
    labels: Sequence[str],
    most: int,
) -> list[Rule]:
    """Return conditions that separate labels among rows for which the rules predict the same."""
    strata = np.zeros(len(given), np.int64)
    for number, part in enumerate(parts, 1):
        strata[(strata == 0) & part.covering.rows_of(part.conjunction)] = number
    tries: list[tuple[float, str, int]] = []
    asked = labels[:1] if len(labels) == 2 else labels
    for label in asked:
        for at, holds in enumerate(atoms.holds):
            chance, excess = mantel_haenszel(holds, given == label, strata)
            toward = label if excess > 0 else labels[1] if len(labels) == 2 else ""
            tries.append((chance if toward else 1.0, toward, at))
    taken: list[tuple[Marks, str]] = []
    rules: list[Rule] = []
    unseen = atoms.left_out * len(asked)
    for place in select_significant([chance for chance, _, _ in tries], unseen=unseen):
        _, label, at = tries[place]
        holds = atoms.holds[at]
        right = int((given[holds] == label).sum())
        alike = any(
            label == said and (holds & rows).sum() > MAX_SHARED_ROWS * (holds | rows).sum()
            for rows, said in taken
        )
        if len(rules) < most and not alike and 2 * right > int(holds.sum()):
            taken.append((holds, label))
            rules.append(Rule((ConditionClause(atoms.conditions[at], label),)))
    return rules


def _describe_support(part: _Part, parts: Sequence[_Part]) -> Json:
    """Return how the shown rows support a conjunction and each of its conditions."""
    covering, one = part.covering, part.conjunction
    alike = [other.conjunction for other in parts if other.label == part.label]
    rest = [other for other in alike if other != one]
    elsewhere = np.zeros(len(covering.wanted), np.bool_)
    for other in rest:
        elsewhere |= covering.rows_of(other)
    marks = covering.rows_of(one)
    whole = covering.saved_bits(alike)
    conditions: list[Json] = []
    for atom in one:
        shorter = tuple(other for other in one if other != atom)
        without = covering.rows_of(shorter)
        against = int((without & ~marks & ~elsewhere & ~covering.wanted).sum())
        changed = [*rest, shorter] if shorter else rest
        conditions.append(
            {
                "condition": covering.atoms.conditions[atom].to_text(),
                "refuted_without": against,
                "bits": round(whole - covering.saved_bits(changed), 1),
                "as_well": _as_well(covering, atom, without, marks),
            }
        )
    return {
        "label": part.label,
        "rows": int((marks & covering.wanted).sum()),
        "wrong": int((marks & ~covering.wanted).sum()),
        "conditions": conditions,
    }


def _as_well(covering: Covering, atom: int, without: Marks, marks: Marks) -> list[Json]:
    """Return conditions that hold on the same rows together with the other conditions."""
    same = (covering.atoms.holds & without == marks).all(1)
    others = [at for at in np.flatnonzero(same).tolist() if at != atom]
    others.sort(key=lambda at: (float(covering.evidence.price[at]), at))
    return [covering.atoms.conditions[at].to_text() for at in others[:MAX_ALTERNATIVES]]
