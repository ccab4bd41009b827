"""Draws of distinct numbers: which, how many, how likely, and what they depend on.

Internals: numbers are drawn without pairs that they choose.
"""

from __future__ import annotations

from itertools import combinations as all_combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.training.draws import combinations, draw, hash_key, sorted_unique

DRAWN = [[9, 69, 70, 95], [50153025, 325816251, 696862165, 950330829]]
COUNTS = st.lists(st.sampled_from([0, 1, 2, 3, 7, 20, 1000, 10**12]), max_size=6)


def drawn(counts, most, key=1, names=None):
    counts = np.array(counts, np.int64)
    names = np.arange(len(counts)) if names is None else np.array(names, np.int64)
    rows, numbers = draw(counts, most, key, names)
    return [numbers[rows == i].tolist() for i in range(len(counts))]


@settings(max_examples=100)
@given(COUNTS, st.integers(0, 30), st.integers(0, 2**64 - 1))
def test_as_many_distinct_numbers_as_there_are_or_are_wanted(counts, most, key):
    for count, numbers in zip(counts, drawn(counts, most, key), strict=True):
        assert len(numbers) == min(count, most)
        assert numbers == sorted(set(numbers))
        assert all(0 <= number < count for number in numbers)


def test_without_a_cap_all_numbers_come():
    assert drawn([3, 0, 1], None) == [[0, 1, 2], [], [0]]
    assert drawn([3, 0, 1], 10**30) == [[0, 1, 2], [], [0]] and drawn([], 10**30) == []


@settings(max_examples=50)
@given(COUNTS, st.integers(0, 30))
def test_a_draw_depends_on_its_key_and_name_and_not_on_the_others(counts, most):
    together = drawn(counts, most)
    for i, count in enumerate(counts):
        assert drawn([count], most, names=[i]) == [together[i]]


def test_other_keys_and_names_draw_other_numbers():
    one, other = drawn([10**6] * 2, 20)
    assert one != other
    assert drawn([10**6], 20, key=2)[0] != one


def test_a_draw_is_known_for_good():
    # Written down once: pairs of a seed are to be the same with any numpy.
    assert drawn([100, 10**9], 4, hash_key("a draw", 7)) == DRAWN


@pytest.mark.parametrize(("count", "most"), [(5, 2), (5, 4), (3, 1), (6, 3)])
def test_every_subset_is_equally_likely(count, most):
    times = 6000
    found: dict = {}
    for numbers in drawn([count] * times, most):
        found[tuple(numbers)] = found.get(tuple(numbers), 0) + 1
    subsets = list(all_combinations(range(count), most))
    assert sorted(found) == subsets
    mean = times / len(subsets)
    assert all(abs(number - mean) < 5 * mean**0.5 for number in found.values())


@pytest.mark.parametrize("items", range(7))
@pytest.mark.parametrize("size", [0, 1, 2])
def test_combinations_stand_where_itertools_has_them(items, size):
    expected = list(all_combinations(range(items), size))
    got = combinations(np.arange(len(expected)), size, items)
    assert [tuple(row) for row in got.tolist()] == expected


def test_a_key_tells_texts_from_numbers_and_where_they_end():
    assert (
        len({hash_key("1", 2), hash_key(1, 2), hash_key("12"), hash_key(12), hash_key("1", "2")})
        == 5
    )
    assert 0 <= hash_key("a") < 2**64


def test_distinct_numbers_are_those_of_numpy() -> None:
    for size in (0, 1, 7, 500):
        numbers = np.random.default_rng(size).integers(0, 40, size)
        assert sorted_unique(numbers).tolist() == np.unique(numbers).tolist()
