"""Splits: where a group stands, and that nothing moves it. Not covered: what is done with it.

Internals: the group of a problem is computed from single names.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import Problem, UsageError
from peirce.training import Fractions, Split, Splits
from peirce.training.splits import problem_group

NAMES = [f"c{i:03}" for i in range(2000)]
PLACES = ["train", "validation", "train", "validation", "held-out", "held-out", "train", "train"]
SHARES = st.integers(0, 20)


def problem(name, family="programs", group=""):
    return Problem(name, "task", family, (), group=group)


def test_the_default_is_the_papers_half_tenth_and_four_tenths():
    counts = Splits().count_groups(NAMES).groups
    assert 930 < counts[Split.TRAIN] < 1070
    assert 160 < counts[Split.VALIDATION] < 240
    assert 730 < counts[Split.HELD_OUT] < 870
    assert Splits().count_groups([]).missing == tuple(Split)


def test_the_place_of_a_group_is_known_for_good():
    # Written down once: a change here would train on what was held out.
    splits = Splits(seed=0)
    assert [splits.split_of_group(name).value for name in NAMES[:8]] == PLACES


def test_a_problem_stands_in_one_split_for_every_number_of_observations_and_every_task():
    splits = Splits(seed=3)
    for name in NAMES[:50]:
        shown = Problem(name, "arc", "programs", ())
        other = Problem(f"{name}, n = 2", "examples", "programs", (), group=name)
        assert splits.split_of(shown) is splits.split_of(other) is splits.split_of_group(name)


def test_samples_of_a_labelled_set_stand_together():
    assert (
        problem_group(problem("shoe#12", "text"))
        == problem_group(problem("shoe", "text"))
        == "shoe"
    )
    assert problem_group(problem("shoe#12", "text", group="boots")) == "boots"
    assert problem_group(problem("a#12")) == "a#12"


@settings(max_examples=60)
@given(SHARES, SHARES, SHARES, SHARES)
def test_more_training_gives_up_none_of_its_groups(a, b, c, d):
    less, more = sorted((a, b))
    if c > 20 - less or d > 20 - more:
        return
    small = Splits(1, Fractions(less / 20, c / 20, (20 - less - c) / 20))
    large = Splits(1, Fractions(more / 20, d / 20, (20 - more - d) / 20))
    for name in NAMES[:100]:
        if small.split_of_group(name) is Split.TRAIN:
            assert large.split_of_group(name) is Split.TRAIN
    if 20 - more - d <= 20 - less - c:
        for name in NAMES[:100]:
            if large.split_of_group(name) is Split.HELD_OUT:
                assert small.split_of_group(name) is Split.HELD_OUT


def test_another_seed_is_another_split():
    one, other = ([Splits(seed).split_of_group(name) for name in NAMES] for seed in (0, 1))
    assert 700 < sum(a is b for a, b in zip(one, other, strict=True)) < 1000  # by chance 42 %


@pytest.mark.parametrize("part", range(3))
def test_a_fraction_of_one_takes_all(part):
    fractions = Fractions(*(float(i == part) for i in range(3)))
    counts = Splits(0, fractions).count_groups(NAMES[:100])
    assert list(counts.groups.values()) == [100 * (i == part) for i in range(3)]
    assert counts.missing == ()


def test_a_fraction_of_nothing_gets_nothing_though_decimals_do_not_sum_to_one():
    thirds = 0.333333333333, 0.666666666666
    assert Splits(0, Fractions(*thirds, 0.0)).count_groups(NAMES).groups[Split.HELD_OUT] == 0


def test_a_group_can_be_fixed_and_a_split_without_groups_is_told():
    splits = Splits(fixed={"shoe": Split.HELD_OUT, "boots": Split.TRAIN})
    counts = splits.count_groups(["shoe", "boots", "shoe"])
    assert counts.groups == {Split.TRAIN: 1, Split.VALIDATION: 0, Split.HELD_OUT: 1}
    assert counts.missing == (Split.VALIDATION,)


@pytest.mark.parametrize(
    "parts", [(0.5, 0.5, 0.5), (1.5, -0.5, 0.0), (0.5, 0.1, 0.3), (float("nan"), 0.5, 0.5)]
)
def test_fractions_that_are_none_are_refused(parts):
    with pytest.raises(UsageError, match="with the sum 1"):
        Fractions(*parts)
