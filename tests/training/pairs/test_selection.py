"""Bounds and ratios of a set of pairs: exact counts, tasks alike, and draws that a seed names.

Internals: bounds and ratios are applied to counts that the test makes up.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.training.pairs.selection import quotas, select_in_ratio, select_within_limit


@given(st.lists(st.integers(0, 30), max_size=6), st.integers(0, 100))
def test_quotas_are_alike_but_where_there_are_fewer(counts: list[int], total: int) -> None:
    wanted = quotas(counts, total)
    assert sum(wanted) == min(total, sum(counts))
    assert all(0 <= one <= count for one, count in zip(wanted, counts, strict=True))
    most = max(wanted, default=0)
    for one, count in zip(wanted, counts, strict=True):
        assert one >= most - 1 or one == count


def columns(seed: int, pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, pairs), rng.integers(0, 3, pairs), rng.integers(0, 2, pairs)


@given(st.integers(0, 999), st.integers(0, 200), st.integers(1, 20))
@settings(max_examples=50)
def test_a_limit_holds_in_each_cell_and_takes_all_of_a_smaller_one(
    seed: int, pairs: int, most: int
) -> None:
    split, stage, task = columns(seed, pairs)
    kept = select_within_limit(split, stage, task, most, seed)
    assert (np.diff(kept) > 0).all() if len(kept) else True
    for s in range(3):
        for one in range(3):
            there = int(((split == s) & (stage == one)).sum())
            assert int(((split == s) & (stage == one))[kept].sum()) == min(most, there)
    assert select_within_limit(split, stage, task, None, seed).tolist() == list(range(pairs))


@given(st.integers(0, 999), st.integers(0, 200), st.tuples(*[st.integers(0, 3)] * 3))
@settings(max_examples=50)
def test_a_ratio_is_kept_exactly_and_no_larger_set_has_it(
    seed: int, pairs: int, ratio: tuple[int, int, int]
) -> None:
    if not any(ratio):
        return
    split, stage, _ = columns(seed, pairs)
    kept = select_in_ratio(split, stage, ratio, seed)
    for s in np.unique(split):
        counts = [int(((split == s) & (stage == one))[kept].sum()) for one in range(3)]
        there = [int(((split == s) & (stage == one)).sum()) for one in range(3)]
        whole = {count // part for count, part in zip(counts, ratio, strict=True) if part}
        assert len(whole) == 1 and counts == [whole.copy().pop() * part for part in ratio]
        (times,) = whole
        assert any((times + 1) * part > n for n, part in zip(there, ratio, strict=True))


def test_what_is_drawn_is_a_function_of_the_seed_and_spreads() -> None:
    split, stage, task = (np.zeros(400, np.int64) for _ in range(3))
    drawn = [select_within_limit(split, stage, task, 100, seed) for seed in range(30)]
    assert select_within_limit(split, stage, task, 100, 3).tolist() == drawn[3].tolist()
    often = np.bincount(np.concatenate(drawn), minlength=400)
    assert len({tuple(one.tolist()) for one in drawn}) == 30
    assert often.min() > 0 and often.max() < 20  # 7.5 on average
