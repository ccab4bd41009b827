"""How much of what one rule says another says too, on all inputs: 1 for the same, 0 for what agrees
no more than chance.

A rule claims a label of some inputs. Of the inputs (by weight) of which either claims something, J is
the share of which both claim the same. Rules about variables that have nothing to do with each other
agree on some inputs too: with shares p and q of the inputs that they give each label and P = sum p,
Q = sum q, J0 = sum p q / (P + Q - P Q). The overlap is (J - J0) / (1 - J0), and 0 where that is less: so
a contradiction is 0, a rule about another column is 0, one of two conditions is between. Of rules that
say something of every input it is Cohen's kappa.

Two rules are read in two ways, and the better counts: what their clauses claim alone; and as whole
functions, `otherwise` included, where of two labels a rule that only ever gives one gives the other one
otherwise. So "if A, admitted" says what "if A, admitted; otherwise rejected" says, and what "if not A,
rejected" says.

The overlap of many rules with many (overlap.py), on one product of the inputs that they tell apart.

Each rule is carried out once, and all pairs are counted by products of matrices. Columns that only other
rules read do not matter to a pair, and finer classes of inputs weigh together what a coarser one weighs:
so the values are those of the pairs alone. Where all rules together tell more inputs apart than are listed
(space.MOST), each pair is compared by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..sentence_rules.rules import NOT_APPLICABLE, Codes, Rule, When
from .space import Cells, Space

SURE = 1e-9
NEARLY = 0.999  # of rules that are the same on all inputs that were drawn, which are not all


def whole(rule: Rule, labels: Sequence[str]) -> Rule:
    """The rule as a function of every input, where two labels leave no choice."""
    given = {clause.label if isinstance(clause, When) else None for clause in rule.clauses}
    if rule.otherwise is not None or len(labels) != 2 or len(given) != 1 or None in given:
        return rule
    return replace(rule, otherwise=next(label for label in labels if label not in given))


def overlap(one: Rule, other: Rule, space: Space) -> float:
    """From 0 to 1. Raises UsageError for a column or label that the problem lacks."""
    if one == other:
        return 1.0
    cells = space.cells((one, other))
    labels = cells.labels
    readings = (
        (replace(one, otherwise=None), replace(other, otherwise=None)),
        (whole(one, labels), whole(other, labels)),
    )
    found = max(
        claimed(cells.codes(left), cells.codes(right), cells.weights, len(labels))
        for left, right in readings
    )
    return min(found, NEARLY) if cells.drawn else found


def claimed(
    one: Codes, other: Codes, weights: NDArray[np.float64], labels: int
) -> float:  # fmt: skip
    """The overlap of two vectors of label indices, -1 where nothing is claimed."""
    if not ((one != other) & (weights > 0)).any():
        return 1.0 if np.unique(one).size > 1 else 0.0
    says = [(codes[:, None] == np.arange(labels)).T @ weights for codes in (one, other)]
    both = float(weights[(one == other) & (one != NOT_APPLICABLE)].sum())
    either = float(weights[(one != NOT_APPLICABLE) | (other != NOT_APPLICABLE)].sum())
    shares = [float(one.sum()) for one in says]
    by_chance = shares[0] + shares[1] - shares[0] * shares[1]
    chance = float(says[0] @ says[1]) / by_chance if by_chance > SURE else 1.0
    if either < SURE or 1 - chance < SURE:
        return 0.0
    found = (both / either - chance) / (1 - chance)
    return found if found > SURE else 0.0


Matrix = NDArray[np.float64]
AllCodes = NDArray[np.int64]  # (rules, inputs)
AT_ONCE = 2_000_000  # codes of all rules that are multiplied in one go
_DIGITS = 12  # what is equal stays so, in whichever order its inputs are summed
_LESS = 1 - 1e-9  # the most of rules that some input tells apart


def overlaps(ones: Sequence[Rule], others: Sequence[Rule], space: Space) -> Matrix:
    """(ones, others), from 0 to 1. Raises UsageError for a column or label that the problem lacks."""
    every = list(dict.fromkeys([*ones, *others]))
    cells = space.together(every) if len(every) > 2 else None
    if cells is None:
        pairs = [overlap(one, other, space) for one in ones for other in others]
        return np.array(pairs, np.float64).reshape(len(ones), len(others))
    number = {rule: n for n, rule in enumerate(every)}
    rows, columns = ([number[rule] for rule in some] for some in (ones, others))
    best = np.zeros((len(ones), len(others)))
    for codes in _readings(every, cells):
        best = np.maximum(best, _claimed(codes[rows], codes[columns], cells))
    best[np.equal.outer(rows, columns)] = 1.0
    return best


def _readings(rules: Sequence[Rule], cells: Cells) -> tuple[AllCodes, AllCodes]:
    """What the rules' clauses say alone, and what they say as whole functions."""
    alone = np.array([cells.codes(replace(rule, otherwise=None)) for rule in rules], np.int64)
    rest = [whole(rule, cells.labels).otherwise for rule in rules]
    codes = [NOT_APPLICABLE if label is None else cells.labels.index(label) for label in rest]
    return alone, np.where(alone == NOT_APPLICABLE, np.array(codes)[:, None], alone)


def _claimed(left: AllCodes, right: AllCodes, cells: Cells) -> Matrix:
    """`overlap.claimed` of each row of `left` with each of `right`."""
    labels = np.arange(len(cells.labels))
    both, common = (np.zeros((len(left), len(right))) for _ in range(2))
    says, told = (np.zeros((len(some), labels.size)) for some in (left, right))
    step = max(1, AT_ONCE // (len(left) + len(right)))
    for start in range(0, len(cells), step):
        here = slice(start, start + step)
        a, b, weights = left[:, here], right[:, here], cells.weights[here]
        common += ((a != NOT_APPLICABLE) * weights) @ (b != NOT_APPLICABLE).T
        for label in labels:
            own, theirs = (a == label) * weights, (b == label).astype(np.float64)
            both += own @ theirs.T
            says[:, label] += own.sum(axis=1)
            told[:, label] += theirs @ weights
    given, got = says.sum(axis=1)[:, None], told.sum(axis=1)[None, :]
    by_chance = given + got - given * got
    chance = np.where(by_chance > SURE, says @ told.T / np.maximum(by_chance, SURE), 1.0)
    either = given + got - common
    clear = (either >= SURE) & (1 - chance >= SURE)
    found = (both / np.where(clear, either, 1.0) - chance) / np.where(clear, 1 - chance, 1.0)
    found = np.minimum(np.round(np.where(clear & (found > SURE), found, 0.0), _DIGITS), _LESS)
    same = np.equal.outer(_names(left), _names(right))
    varied = (left != left[:, :1]).any(axis=1)
    return np.where(same, varied[:, None].astype(np.float64), found)


def _names(codes: AllCodes) -> NDArray[np.object_]:
    """Of each row a name that rows which are alike share, (rows,)."""
    found = np.empty(len(codes), object)
    found[:] = [row.tobytes() for row in np.ascontiguousarray(codes)]
    return found
