"""The overlap of two rules over all possible inputs, between 0 and 1.

The overlap is 1 if the rules always agree, and 0 if they agree no more often than unrelated rules.

A rule claims a label for some inputs. Let J be the weighted share of inputs for which both rules
claim the same label, among the inputs for which at least one of the rules claims a label. Unrelated
rules agree on some inputs by chance. If the two rules claim each label for shares p and q of the
inputs, with P = sum p and Q = sum q, then the chance level is J0 = sum p q / (P + Q - P Q). The
overlap is (J - J0) / (1 - J0), or 0 if this value is negative. Therefore rules that contradict each
other have overlap 0, rules about different columns have overlap 0, and a rule with one of two
conditions has an overlap between 0 and 1 with the rule that has both. If both rules label every
input, the overlap is Cohen's kappa.

Two rules are compared in two readings, and the higher overlap counts. In the first reading, only
the clauses of a rule claim labels. In the second reading, `otherwise` claims its label for all
remaining inputs. If a rule has no `otherwise`, there are only two labels and the clauses claim only
one of these labels, then in the second reading the rule claims the second label for all remaining
inputs. Therefore "if A, admitted" equals both "if A, admitted; otherwise rejected" and "if not A,
rejected".

`overlap_matrix` compares every rule of one list with every rule of another list on one set of
inputs. Each rule is applied once, and all pairs are counted by matrix products. The values equal
those of comparing each pair separately: columns that only other rules read do not affect a pair,
and a finer division of the inputs does not change weights. If all rules together distinguish more
than `input_space.MAX_INPUTS` inputs, each pair is compared separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..sentence_rules.rules import NOT_APPLICABLE, Codes, ConditionClause, Rule
from .input_space import InputSpace, WeightedInputs

EPSILON = 1e-9
MAX_SAMPLED_OVERLAP = (
    0.999  # the largest overlap of rules that are known to agree on a sample of the inputs only
)


def complete_rule(rule: Rule, labels: Sequence[str]) -> Rule:
    """Return a rule that labels every input, if the other label follows from the rule.

    This is possible if there are two labels and all clauses of `rule` give the same label: then
    `otherwise` becomes the other label. Any other rule is returned unchanged.
    """
    given = {
        clause.label if isinstance(clause, ConditionClause) else None for clause in rule.clauses
    }
    if rule.otherwise is not None or len(labels) != 2 or len(given) != 1 or None in given:
        return rule
    return replace(rule, otherwise=next(label for label in labels if label not in given))


def overlap(one: Rule, other: Rule, space: InputSpace) -> float:
    """Return the overlap of two rules over all inputs, from 0 (none) to 1 (equal).

    Raises:
        UsageError: A rule names a column or label that the problem does not have.
    """
    if one == other:
        return 1.0
    cells = space.inputs_for((one, other))
    labels = cells.labels
    readings = (
        (replace(one, otherwise=None), replace(other, otherwise=None)),
        (complete_rule(one, labels), complete_rule(other, labels)),
    )
    found = max(
        claim_overlap(cells.codes(left), cells.codes(right), cells.weights, len(labels))
        for left, right in readings
    )
    return min(found, MAX_SAMPLED_OVERLAP) if cells.drawn else found


def claim_overlap(
    one: Codes, other: Codes, weights: NDArray[np.float64], labels: int
) -> float:  # fmt: skip
    """Return the overlap of two rules, from 0 to 1, computed from their labels on n inputs.

    Args:
        one: Label indices that the first rule gives, of shape (n,); -1 where it gives no label.
        other: Label indices that the second rule gives, of shape (n,); -1 where it gives no label.
        weights: Weights of the inputs, of shape (n,).
        labels: Number of labels.
    """
    if not ((one != other) & (weights > 0)).any():
        return 1.0 if np.unique(one).size > 1 else 0.0
    says = [(codes[:, None] == np.arange(labels)).T @ weights for codes in (one, other)]
    both = float(weights[(one == other) & (one != NOT_APPLICABLE)].sum())
    either = float(weights[(one != NOT_APPLICABLE) | (other != NOT_APPLICABLE)].sum())
    shares = [float(one.sum()) for one in says]
    by_chance = shares[0] + shares[1] - shares[0] * shares[1]
    chance = float(says[0] @ says[1]) / by_chance if by_chance > EPSILON else 1.0
    if either < EPSILON or 1 - chance < EPSILON:
        return 0.0
    found = (both / either - chance) / (1 - chance)
    return found if found > EPSILON else 0.0


Matrix = NDArray[np.float64]
AllCodes = NDArray[np.int64]  # (rules, inputs)
MAX_BATCH_CODES = 2_000_000  # codes, over all rules, that one matrix product takes
_DIGITS = 12  # Rounding keeps equal overlaps equal in whichever order the inputs are summed.
_LESS = 1 - 1e-9  # the largest overlap of rules that differ on some input


def overlap_matrix(ones: Sequence[Rule], others: Sequence[Rule], space: InputSpace) -> Matrix:
    """Return the overlap of every rule in `ones` with every rule in `others`.

    Element [i, j] is the overlap of rule `ones[i]` with rule `others[j]`, from 0 (none) to 1
    (equal).

    Raises:
        UsageError: A rule names a column or label that the problem does not have.
    """
    every = list(dict.fromkeys([*ones, *others]))
    cells = space.joint_inputs(every) if len(every) > 2 else None
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


def _readings(rules: Sequence[Rule], cells: WeightedInputs) -> tuple[AllCodes, AllCodes]:
    """Return the codes of the rules' clauses alone, and those of the rules as total functions."""
    alone = np.array([cells.codes(replace(rule, otherwise=None)) for rule in rules], np.int64)
    rest = [complete_rule(rule, cells.labels).otherwise for rule in rules]
    codes = [NOT_APPLICABLE if label is None else cells.labels.index(label) for label in rest]
    return alone, np.where(alone == NOT_APPLICABLE, np.array(codes)[:, None], alone)


def _claimed(left: AllCodes, right: AllCodes, cells: WeightedInputs) -> Matrix:
    """Return the overlap `claim_overlap` of each row of `left` with each row of `right`."""
    labels = np.arange(len(cells.labels))
    both, common = (np.zeros((len(left), len(right))) for _ in range(2))
    says, told = (np.zeros((len(some), labels.size)) for some in (left, right))
    step = max(1, MAX_BATCH_CODES // (len(left) + len(right)))
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
    chance = np.where(by_chance > EPSILON, says @ told.T / np.maximum(by_chance, EPSILON), 1.0)
    either = given + got - common
    clear = (either >= EPSILON) & (1 - chance >= EPSILON)
    found = (both / np.where(clear, either, 1.0) - chance) / np.where(clear, 1 - chance, 1.0)
    found = np.minimum(np.round(np.where(clear & (found > EPSILON), found, 0.0), _DIGITS), _LESS)
    same = np.equal.outer(_names(left), _names(right))
    varied = (left != left[:, :1]).any(axis=1)
    return np.where(same, varied[:, None].astype(np.float64), found)


def _names(codes: AllCodes) -> NDArray[np.object_]:
    """Return a name for each row, (rows,); equal rows have equal names."""
    found = np.empty(len(codes), object)
    found[:] = [row.tobytes() for row in np.ascontiguousarray(codes)]
    return found
