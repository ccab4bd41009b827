"""GEAR's scores against the definitions written with Python sets, and hand-worked examples.

Random cases hold undefined predictions (with codes beneath them that must not count), duplicates,
empty sets, no hypotheses and no inputs, weights on inputs and on predictions. Not covered: how a
prediction becomes a code (tests/sandbox).
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import peirce.tools.gear.scores as gear
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.records import Predictions, UsageError, Verdict
from peirce.tests.marginal_gains import marginal_gains

LEAST, GREATEST = -(2**63), 2**63 - 1
CODES = st.sampled_from([0, 1, 2, 3, LEAST, LEAST + 1, GREATEST])
WEIGHTS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])


@st.composite
def cases(draw, least=0, most=5):
    """(codes, defined) of h hypotheses over n inputs; one row is often a copy of another."""
    h, n = draw(st.integers(least, most)), draw(st.integers(0, 6))
    rows = draw(st.lists(st.lists(CODES, min_size=n, max_size=n), min_size=h, max_size=h))
    known = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=h, max_size=h))
    if h > 1 and draw(st.booleans()):
        rows[-1], known[-1] = rows[0], known[0]
    if h and draw(st.booleans()):
        known[0] = [False] * n
    return np.array(rows, np.int64).reshape(h, n), np.array(known, bool).reshape(h, n)


def sets_of(codes, defined):
    return [
        {(j, int(codes[i, j])) for j in range(codes.shape[1]) if defined[i, j]}
        for i in range(len(codes))
    ]


def sizes_of(n, weights=None, measure=None):
    """M2 as a function of a prediction, exact."""

    def size(prediction):
        if measure is not None:
            return Fraction(measure[prediction])
        return Fraction(1) if weights is None else Fraction(weights[prediction[0]])

    return lambda some: sum((size(p) for p in some), Fraction(0))


def space_of(n, weights=None):
    return Fraction(n) if weights is None else sum(map(Fraction, weights), Fraction(0))


def naive_beta(sets, size):
    pairs = list(combinations(sets, 2))
    apart = [1 - size(a & b) / size(a | b) if size(a | b) else Fraction(0) for a, b in pairs]
    return sum(apart) / len(apart) if apart else Fraction(0)


def naive_gamma(sets, size, space):
    return size(set().union(*sets)) / space if sets and space else None


def close(got, expected):
    if expected is None:
        return got is None
    return got is not None and abs(got - float(expected)) <= 1e-12


# --- hand-worked -------------------------------------------------------------


def test_the_papers_example_has_gamma_four_thirds_and_beta_one_half():
    codes = np.array([[1, 2, 3], [1, 2, 2]])
    defined = np.ones((2, 3), bool)
    assert gear.gamma(codes, defined) == 4 / 3
    assert gear.beta(codes, defined) == 0.5
    assert gear.generalizability(defined) == 1.0


def test_an_undefined_prediction_belongs_to_no_set():
    codes = np.array([[7, 7, 0, 0], [7, 9, 0, 5]])
    defined = np.array([[1, 1, 0, 0], [1, 1, 0, 1]], bool)
    # P1 = {0:7, 1:7}, P2 = {0:7, 1:9, 3:5}: one shared of four.
    assert gear.beta(codes, defined) == 3 / 4
    assert gear.gamma(codes, defined) == 4 / 4
    assert gear.generalizability(defined) == (2 / 4 + 3 / 4) / 2


def test_two_empty_sets_are_at_distance_zero_and_an_empty_one_is_far_from_any_other():
    codes = np.zeros((3, 2), np.int64)
    defined = np.array([[0, 0], [0, 0], [1, 1]], bool)
    distances = gear.jaccard_distances(codes, defined)
    assert distances.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_beta_is_zero_and_gamma_has_no_value_without_hypotheses():
    none = np.zeros((0, 5), np.int64)
    assert gear.beta(none, none) == 0.0
    assert gear.gamma(none, none) is None
    assert gear.generalizability(none) is None
    one = np.zeros((1, 5), np.int64)
    assert gear.beta(one, np.ones((1, 5), bool)) == 0.0
    assert gear.gamma(one, np.ones((1, 5), bool)) == 1.0


def test_shares_of_answers_divide_by_all_of_them():
    verdicts = [Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED]
    assert gear.consistency(verdicts) == 0.5
    assert gear.instruction_following(verdicts) == 0.75
    assert gear.consistency([Verdict.MALFORMED]) == 0.0
    assert gear.consistency([]) == 0.0
    assert gear.instruction_following([]) is None


def test_a_weight_of_two_counts_an_input_twice():
    codes = np.array([[1, 2], [1, 3]])
    defined = np.ones((2, 2), bool)
    assert gear.gamma(codes, defined, weights=[2, 1]) == (2 + 1 + 1) / 3
    assert gear.beta(codes, defined, weights=[2, 1]) == pytest.approx(1 - 2 / 4)
    assert gear.prediction_share([True, False], weights=[2, 1]) == pytest.approx(2 / 3)


def test_a_measure_on_predictions_leaves_the_size_of_the_space_alone():
    codes = np.array([[1, 2], [1, 3]])
    defined = np.ones((2, 2), bool)
    sizes = [[1, 4], [1, 2]]  # of (0, 1), (1, 2) and (1, 3)
    assert gear.gamma(codes, defined, prediction_weights=sizes) == (1 + 4 + 2) / 2
    assert gear.beta(codes, defined, prediction_weights=sizes) == pytest.approx(1 - 1 / 7)


def test_one_prediction_of_two_sizes_is_refused():
    with pytest.raises(ValueError, match="input 1 two sizes"):
        gear.gamma([[5, 5], [6, 5]], np.ones((2, 2), bool), prediction_weights=[[1, 1], [1, 2]])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_no_size_is_refused(weight):
    with pytest.raises(UsageError, match="finite number of at least 0"):
        gear.gamma([[5, 5]], np.ones((1, 2), bool), weights=[1, weight])


def test_predictions_over_input_sets_of_different_sizes_are_refused():
    some = [Predictions(np.zeros(n, np.int64), np.zeros(n, np.uint8)) for n in (3, 4)]
    with pytest.raises(ValueError, match=r"\[3, 4\]"):
        gear.stack_predictions(some)


# --- against the definitions -------------------------------------------------


@given(cases())
def test_scores_equal_the_definitions(case):
    codes, defined = case
    n, sets = codes.shape[1], sets_of(codes, defined)
    size = sizes_of(n)
    assert close(gear.beta(codes, defined), naive_beta(sets, size))
    assert close(gear.gamma(codes, defined), naive_gamma(sets, size, Fraction(n)))
    shares = [Fraction(len(s), n) for s in sets] if n else []
    mean = sum(shares) / len(shares) if shares else None
    assert close(gear.generalizability(defined), mean)


@given(cases(), st.data())
def test_scores_under_weights_equal_the_definitions(case, data):
    codes, defined = case
    n, sets = codes.shape[1], sets_of(codes, defined)
    weights = data.draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    space = space_of(n, weights)
    size = sizes_of(n, weights)
    assert close(gear.beta(codes, defined, weights), naive_beta(sets, size))
    assert close(gear.gamma(codes, defined, weights), naive_gamma(sets, size, space))
    if len(sets) and space:
        shares = [size(s) / space for s in sets]
        assert close(gear.generalizability(defined, weights), sum(shares) / len(shares))


@given(cases(), st.data())
def test_scores_under_a_measure_on_predictions_equal_the_definitions(case, data):
    codes, defined = case
    n, sets = codes.shape[1], sets_of(codes, defined)
    weights = data.draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    measure = {p: data.draw(WEIGHTS) for p in sorted(set().union(*sets))}
    table = np.array(
        [
            [measure.get((j, int(codes[i, j])), 7.0) if defined[i, j] else 9.0 for j in range(n)]
            for i in range(len(codes))
        ]
    ).reshape(codes.shape)
    size = sizes_of(n, measure=measure)
    assert close(gear.beta(codes, defined, weights, table), naive_beta(sets, size))
    got = gear.gamma(codes, defined, weights, table)
    assert close(got, naive_gamma(sets, size, space_of(n, weights)))


@given(cases(), st.booleans())
def test_one_pass_gives_what_the_functions_give(case, weighted):
    codes, defined = case
    n = codes.shape[1]
    weights = [0.5 + j for j in range(n)] if weighted else None
    some = [
        Predictions(row, np.where(known, 0, 1).astype(np.uint8), ("error",))
        for row, known in zip(codes, defined, strict=True)
    ]
    scores = gear.score_set(codes, defined, weights)
    assert scores.generalizability == gear.generalizability(defined, weights)
    assert scores.beta == gear.beta(codes, defined, weights)
    assert close(scores.gamma, gear.gamma(codes, defined, weights))
    assert scores.coverages == gear.coverages(some, weights)


@given(cases(least=2), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_hypotheses_or_inputs(case, rng):
    codes, defined = case
    rows, columns = list(range(len(codes))), list(range(codes.shape[1]))
    rng.shuffle(rows)
    rng.shuffle(columns)
    other, known = codes[rows][:, columns], defined[rows][:, columns]
    assert gear.beta(codes, defined) == gear.beta(other, known)
    assert gear.gamma(codes, defined) == gear.gamma(other, known)


@given(cases())
def test_what_lies_beneath_an_undefined_prediction_does_not_count(case):
    codes, defined = case
    other = np.where(defined, codes, 1)
    assert gear.score_set(codes, defined) == gear.score_set(other, defined)


@pytest.mark.parametrize("seed", range(200))
def test_no_distance_is_below_0_however_its_sums_are_rounded(seed):
    """The second hypothesis adds inputs that weigh nothing to the first: at distance 0, though a
    sum over more terms may be smaller in its last digit."""
    rng = random.Random(seed)
    weights = [rng.random() if rng.random() < 0.8 else 0.0 for _ in range(200)]
    defined = np.array([[weight > 0 for weight in weights], [True] * 200])
    distances = gear.jaccard_distances(np.zeros((2, 200), np.int64), defined, weights)
    assert 0 <= distances[0, 1] <= 1e-12
    assert gear.beta(np.zeros((2, 200), np.int64), defined, weights) >= 0


# --- marginal gains ----------------------------------------------------------


@given(cases(least=1, most=6), st.data())
def test_marginal_gains_equal_the_definition(case, data):
    codes, defined = case
    n = codes.shape[1]
    k = data.draw(st.integers(0, len(codes) - 1))
    weights = data.draw(st.none() | st.lists(WEIGHTS, min_size=n, max_size=n))
    gains = marginal_gains(codes[k:], defined[k:], codes[:k], defined[:k], weights)
    sets, size, space = sets_of(codes, defined), sizes_of(n, weights), space_of(n, weights)
    context = sets[:k]
    for i, f in enumerate(sets[k:]):
        with_f = [*context, f]
        share = size(f) / space if space else 0
        before = naive_gamma(context, size, space) or 0
        gamma_gain = (naive_gamma(with_f, size, space) or 0) - before
        beta_gain = naive_beta(with_f, size) - naive_beta(context, size)
        assert close(gains.share[i], share)
        assert close(gains.gamma[i], gamma_gain)
        assert close(gains.beta[i], beta_gain)
        assert close(gains.score[i], (share + gamma_gain + beta_gain) / 3)


def test_a_total_hypothesis_without_context_scores_two_thirds():
    gains = marginal_gains([[1, 2]], [[True, True]], np.zeros((0, 2)), np.zeros((0, 2)))
    assert (gains.share[0], gains.gamma[0], gains.beta[0]) == (1.0, 1.0, 0.0)
    assert gains.score[0] == 2 / 3


def test_a_copy_of_the_context_gains_nothing_but_its_share():
    row = np.array([[1, 2, 3, 4]])
    known = np.array([[1, 1, 1, 0]], bool)
    gains = marginal_gains(row, known, row, known)
    assert (gains.share[0], gains.gamma[0], gains.beta[0]) == (0.75, 0.0, 0.0)
