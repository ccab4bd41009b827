"""Exact order of scores, sizes as integers. The scores themselves are in test_preferences.py.

Internals: units and ranks are compared as integers before they become pairs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.training.pairs.overlap import integer_sizes
from peirce.training.pairs.preferences import ranking


def test_fractions_nearer_than_floats_can_tell_are_ordered_rightly():
    big = 10**15
    # 1 + 1/(big+1) < 1 + 1/big, which differ by 1e-30, and a copy of the second in other terms.
    numerator = np.array([[big + 1, big + 2, 2 * big + 2, 5]], np.int64)
    denominator = np.array([[big, big + 1, 2 * big, 1]], np.int64)
    ranks = ranking(numerator, denominator)
    assert ranks.order[0, 0] == 1 and ranks.order[0, 3] == 3
    assert ranks.lower.tolist() == [[0, 1, 1, 3]]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), min_size=1, max_size=8))
def test_a_ranking_counts_what_is_strictly_lower(fractions):
    for exact in (np.int64, object):
        numerator = np.array([[n for n, _ in fractions]], exact)
        denominator = np.array([[d for _, d in fractions]], exact)
        ranks = ranking(numerator, denominator)
        values = [Fraction(n, d) for n, d in fractions]
        ranked = [values[i] for i in ranks.order[0]]
        assert ranked == sorted(values)
        assert ranks.lower[0].tolist() == [sum(v < one for v in values) for one in ranked]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.1, 0.2, 0.3], [1, 2, 3]),
        ([1 / 3, 2 / 3, 1.0], [1, 2, 3]),
        ([5.0, 5.0], [1, 1]),
        ([0.0, 0.0], [0, 0]),
        ([1e308, 1e308], [1, 1]),
        ([0.0, 2.5, 1.0], [0, 5, 2]),
    ],
)
def test_weights_become_integers_in_a_common_unit(weights, expected):
    assert integer_sizes(weights, len(weights)).tolist() == expected


def test_other_weights_are_rounded_to_units_of_the_space():
    weights = np.random.default_rng(0).random(1000) * 1e300
    got = integer_sizes(weights, 1000)
    share = weights / weights.max() / (weights / weights.max()).sum()
    assert np.abs(got / 2**40 - share).max() <= 2**-40
    assert abs(int(got.sum()) - 2**40) <= 1000
