"""The bounds that gamma puts on beta (GEAR, appendix D): closed forms at known points, and that
no set of hypotheses lies outside, total ones as they are and partial ones with undefined as one
more output."""

from __future__ import annotations

import numpy as np
import peirce.tools.gear.scores as scores
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.tools import beta_bounds, encode_undefined, scatter_point


@st.composite
def matrices(draw):
    h, n = draw(st.integers(2, 6)), draw(st.integers(1, 8))
    few = st.lists(st.integers(0, draw(st.integers(0, 5))), min_size=n, max_size=n)
    rows = draw(st.lists(few, min_size=h, max_size=h))
    known = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=h, max_size=h))
    return np.array(rows, np.int64), np.array(known, bool)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_both_bounds_meet_at_the_ends(k):
    assert beta_bounds(1, k) == (0, 0)
    assert beta_bounds(k, k) == pytest.approx((1, 1))


def test_the_closed_forms_at_a_point_worked_by_hand():
    # k = 4, gamma = 2: 2 (1) / 4 and 2 * 4 (1) / (16 - 2 - 4).
    assert beta_bounds(2, 4) == (0.5, 0.8)


@given(st.floats(1, 2))
def test_two_hypotheses_have_one_beta_for_a_gamma_once_sharing_is_whole(gamma):
    low, high = beta_bounds(gamma, 2, integral=True)
    assert low == pytest.approx(high, abs=1e-12)


@given(matrices())
def test_no_set_of_total_hypotheses_lies_outside(case):
    codes, _ = case
    defined = np.ones_like(codes, bool)
    gamma, beta = scores.gamma(codes, defined), scores.beta(codes, defined)
    assert gamma is not None
    wide = beta_bounds(gamma, len(codes))
    narrow = beta_bounds(gamma, len(codes), integral=True)
    assert wide[0] - 1e-12 <= beta <= narrow[1] + 1e-12
    assert narrow[0] == wide[0]
    assert narrow[1] <= wide[1] + 1e-12


@given(matrices())
def test_with_undefined_as_an_output_partial_hypotheses_lie_within(case):
    point = scatter_point(*case)
    assert point is not None
    gamma, beta, k = point
    low, high = beta_bounds(gamma, k)
    assert low - 1e-12 <= beta <= high + 1e-12


def test_partial_hypotheses_can_lie_outside_by_the_definition():
    codes, defined = np.array([[1, 1], [1, 1]]), np.array([[1, 0], [0, 0]], bool)
    assert scores.gamma(codes, defined) == 0.5
    with pytest.raises(ValueError, match=r"lies in \[1, 2\], not at 0\.5"):
        beta_bounds(0.5, 2)


def test_undefined_equals_undefined_and_no_prediction():
    least = np.iinfo(np.int64).min
    codes, defined = encode_undefined([[least, 5], [7, 5]], [[True, False], [False, False]])
    assert defined.all()
    assert codes[0, 1] == codes[1, 1] == codes[1, 0] != codes[0, 0] == least


def test_fewer_than_two_hypotheses_have_no_point_and_no_bounds():
    assert scatter_point([[1]], [[True]]) is None
    with pytest.raises(ValueError, match="at least 2 hypotheses, not 1"):
        beta_bounds(1, 1)
