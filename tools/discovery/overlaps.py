"""The overlap of many rules with many (overlap.py), on one product of the inputs that they tell apart.

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

from ..judge.rules import NOT_APPLICABLE, Rule
from .overlap import SURE, overlap, whole
from .space import Cells, Space

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
