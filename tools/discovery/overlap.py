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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..judge.rules import NOT_APPLICABLE, Codes, Rule, When
from .space import Space

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
