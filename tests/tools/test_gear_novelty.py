"""Coverage of a hypothesis by the earlier ones and its boundary at 0.8, against the definition
written with Python sets and exact fractions, and worked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.records import Predictions, UsageError
from peirce.tools.gear.scores import Coverage, coverage, coverages, is_redundant


def made(*outputs):
    """Predictions from outputs, None where undefined (with a code beneath it that is in use)."""
    codes = [1 if o is None else o for o in outputs]
    reasons = [1 if o is None else 0 for o in outputs]
    return Predictions(np.array(codes, np.int64), np.array(reasons, np.uint8), ("ValueError",))


def naive(f, earlier, weights):
    total = sum(map(Fraction, weights), Fraction(0))
    covered = sum(
        Fraction(weights[j])
        for j, out in enumerate(f)
        if out is not None and any(g[j] == out for g in earlier)
    )
    return covered / total if total else Fraction(0)


OUTPUTS = st.sampled_from([None, 0, 1, 2])
WEIGHTS = st.sampled_from([0.0, 0.1, 0.2, 0.7, 1.0, 1e-9, 5.0])


@st.composite
def histories(draw):
    n = draw(st.integers(0, 7))
    one = st.lists(OUTPUTS, min_size=n, max_size=n)
    return n, draw(st.lists(one, max_size=6)), draw(st.lists(WEIGHTS, min_size=n, max_size=n))


def test_the_first_hypothesis_is_novel():
    union = Coverage(2)
    assert union.share(made(1, 2)) == 0.0
    assert not is_redundant(union.share(made(1, 2)))


def test_exactly_four_fifths_covered_is_redundant_and_one_less_is_not():
    earlier = made(*[1] * 4 + [2])
    union = Coverage(5)
    union.add(earlier)
    assert union.share(made(1, 1, 1, 1, 3)) == 0.8
    assert is_redundant(union.share(made(1, 1, 1, 1, 3)))
    assert not is_redundant(union.share(made(1, 1, 1, 3, 3)))


def test_the_boundary_is_exact_for_every_size_up_to_a_thousand_and_for_14101_inputs():
    for n in [*range(1, 1001), 7_049, 14_100, 14_101]:
        for covered in {4 * n // 5 - 1, 4 * n // 5, 4 * n // 5 + 1} & set(range(n + 1)):
            assert is_redundant(covered / n) == (5 * covered >= 4 * n), (covered, n)


def test_an_undefined_prediction_is_never_covered():
    union = Coverage(2)
    union.add(made(1, None))
    assert union.share(made(1, None)) == 0.5
    assert union.share(made(None, None)) == 0.0
    assert union.share(made(1, 1)) == 0.5  # an undefined one covers nothing either


def test_different_earlier_hypotheses_cover_together():
    union = Coverage(2)
    union.add(made(1, 2))
    union.add(made(3, 4))
    assert union.share(made(1, 4)) == 1.0


def test_a_weighted_boundary_is_exact_where_sums_of_floats_are_not():
    weights = np.array([0.3] * 5)
    assert weights[:4].sum() / weights.sum() < 0.8  # what sums of floats say
    union = Coverage(5, weights)
    union.add(made(*[1] * 5))
    assert is_redundant(union.share(made(1, 1, 1, 1, 2)))
    assert not is_redundant(union.share(made(1, 1, 1, 2, 2)))


def test_a_weighted_share_that_would_round_to_the_boundary_stays_below_it():
    union = Coverage(5, np.array([1.0, 0.0, 0.1, 0.2, 0.2]))
    union.add(made(1, 1, 1, 1, 1))
    almost = union.share(
        made(1, 1, 2, 2, 1)
    )  # 1.2 of 1.5, which as floats are a little less than 4/5
    assert almost == pytest.approx(0.8) and not is_redundant(almost)


def nearest(share: Fraction) -> float:
    """The nearest float on the same side of the boundary."""
    rounded = float(share)
    return math.nextafter(rounded, 0) if rounded == 0.8 and share < Fraction(4, 5) else rounded


@given(histories())
def test_running_and_single_coverage_equal_the_definition(history):
    n, rows, weights = history
    some = [made(*row) for row in rows]
    codes = np.array([p.codes for p in some], np.int64).reshape(len(some), n)
    defined = np.array([p.defined for p in some], bool).reshape(len(some), n)
    for used in (None, weights):
        union = Coverage(n, used)
        for i, row in enumerate(rows):
            expected = naive(row, rows[:i], [1] * n if used is None else used)
            assert union.share(some[i]) == nearest(expected)
            assert is_redundant(union.share(some[i])) == (expected >= Fraction(4, 5))
            before = (codes[i], defined[i], codes[:i], defined[:i])
            assert coverage(*before, used) == nearest(expected)
            union.add(some[i])
        assert coverages(some, used) == [
            nearest(naive(row, rows[:i], [1] * n if used is None else used))
            for i, row in enumerate(rows)
        ]


def test_an_empty_sample_space_covers_nothing():
    union = Coverage(0)
    union.add(made())
    assert union.share(made()) == 0.0


def test_predictions_over_another_input_set_are_refused():
    union = Coverage(2)
    with pytest.raises(ValueError, match="over 3 inputs"):
        union.share(made(1, 2, 3))
    with pytest.raises(ValueError, match="over 1 inputs"):
        union.add(made(1))


def test_weights_must_be_sizes_one_for_each_input():
    with pytest.raises(UsageError, match=r"-1\.0"):
        Coverage(1, [-1.0])
    with pytest.raises(ValueError, match="2 weights for 1 inputs"):
        Coverage(1, [1.0, 1.0])
