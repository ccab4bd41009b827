"""Bootstrap intervals over problems: known values, missing values, seeds, and how often a 95%
interval holds the truth.

Internals: intervals are pure functions of numbers, compared with known values.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.reports.files.tables import Mean
from peirce.reports.metrics import statistics
from peirce.reports.metrics.statistics import (
    Stratum,
    bootstrap,
    bootstrap_rows,
    mean_of_means,
    metric_intervals,
    rank_correlation,
    stratified_mean,
)


def test_the_mean_counts_only_problems_with_a_value():
    interval = bootstrap([1.0, None, 0.0, None])
    assert interval["mean"] == 0.5
    assert interval["n"] == 2


def test_a_metric_without_any_problem_has_no_mean():
    nothing = {"mean": None, "low": None, "high": None, "n": 0}
    assert bootstrap([]) == nothing
    assert bootstrap([None, None]) == nothing


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("n", [2, 3, 49])
def test_equal_values_have_an_interval_of_no_width(value, n):
    interval = bootstrap([value] * n)
    assert interval["low"] <= interval["mean"] <= interval["high"]
    assert interval["high"] - interval["low"] < 1e-12
    assert interval["mean"] == pytest.approx(value)


def test_one_seed_gives_one_interval_and_another_seed_another():
    values = [float(i % 7) for i in range(50)]
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    assert bootstrap(values, seed=3) != bootstrap(values, seed=4)


def test_the_draws_are_fixed_to_the_last_digit():
    interval = bootstrap([0.0, 1.0, 0.0, 1.0, 1.0, 0.5, 0.25], seed=0)
    assert interval == {
        "mean": 0.5357142857142857,
        "low": 0.21428571428571427,
        "high": 0.8571428571428571,
        "n": 7,
    }


def test_two_metrics_over_the_same_problems_share_their_draws():
    values = [random.Random(i).random() for i in range(40)]
    one, twice = bootstrap(values), bootstrap([2 * v for v in values])
    assert twice["low"] == 2 * one["low"]
    assert twice["high"] == 2 * one["high"]


def test_the_interval_is_about_two_standard_errors_to_each_side():
    values = [float(i % 2) for i in range(400)]  # standard error 0.025
    interval = bootstrap(values)
    assert interval["low"] == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert interval["high"] == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_a_95_percent_interval_holds_the_truth_about_that_often():
    rng = random.Random(1)
    held = 0
    for _ in range(300):
        interval = bootstrap([rng.random() for _ in range(60)], resamples=400)
        held += interval["low"] <= 0.5 <= interval["high"]
    assert 0.90 <= held / 300 <= 0.99


def test_large_sets_are_drawn_in_parts_without_a_change_in_the_mean():
    values = [float(i % 10) for i in range(10_000)]
    interval = bootstrap(values, resamples=500)  # two parts
    assert interval["mean"] == 4.5
    assert interval["low"] == pytest.approx(4.5 - 1.96 * 0.0287, abs=0.01)


def test_a_summary_holds_every_metric_named_and_only_those():
    results = [{"a": 1.0, "b": None, "c": 9.0}, {"a": 0.0}]
    found = metric_intervals(results, ["a", "b"])
    assert list(found) == ["a", "b"]
    assert found["a"]["mean"] == 0.5
    assert found["b"]["n"] == 0


# --- strata, and rank correlation ------------------------------------------------


def naive_ranks(values):
    return [
        sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values
    ]


def naive_rho(first, second):
    x, y = (np.array(naive_ranks(list(v))) for v in (first, second))
    x, y = x - x.mean(), y - y.mean()
    below = math.sqrt((x @ x) * (y @ y))
    return (x @ y) / below if below else None


def test_one_stratum_with_one_value_a_problem_is_the_bootstrap():
    values = [0.1, None, 0.9, 0.4, 0.4]
    one = mean_of_means([Stratum(values, range(5))])
    whole = bootstrap(values)
    assert one == {key: pytest.approx(whole[key]) for key in whole}


def test_strata_count_alike_whatever_their_size():
    found = mean_of_means([Stratum([1.0] * 9, range(9)), Stratum([0.0], "a"), Stratum([None], "b")])
    assert (found["mean"], found["low"], found["high"], found["n"]) == (0.5, 0.5, 0.5, 10)
    assert mean_of_means([])["mean"] is None


def test_strata_are_drawn_apart():
    """Drawn with the same places, the two would cancel out and leave no width."""
    values = [float(i) for i in range(20)]
    found = mean_of_means([Stratum(values, range(20)), Stratum(values[::-1], range(20))])
    assert found["high"] - found["low"] > 1


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.5]), st.integers(1, 4)), min_size=1))
def test_rank_correlation_is_that_of_mean_ranks(pairs):
    first, second = zip(*pairs, strict=True)
    found = rank_correlation(first, second, range(len(pairs)), resamples=20)
    expected = naive_rho(first, second)
    if expected is None:
        assert found["mean"] is None
    else:
        assert found["mean"] == pytest.approx(expected, abs=1e-12)
        assert found["low"] <= found["mean"] <= found["high"]


def test_draws_of_a_rank_correlation_are_correlations_of_what_is_drawn():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 4, 12).astype(float), rng.integers(0, 3, 12).astype(float)
    weights = rng.integers(0, 4, (12, 30)).astype(float)
    for column, found in zip(weights.T, statistics._rho(weights, first, second), strict=True):
        times = column.astype(int)
        expected = naive_rho(np.repeat(first, times), np.repeat(second, times))
        if expected is None:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(expected)


# --- in strata ------------------------------------------------------------------


def test_one_stratum_in_which_all_have_a_value_is_the_plain_bootstrap():
    values = [0.0, 1.0, 4.0, 2.0]
    assert stratified_mean(values, ["a"] * 4, seed=3) == bootstrap(values, seed=3)


def test_problems_are_drawn_within_their_stratum():
    found = stratified_mean([0.0] * 5 + [1.0] * 5, ["a"] * 5 + ["b"] * 5)
    assert found == {"mean": 0.5, "low": 0.5, "high": 0.5, "n": 10}
    assert stratified_mean([None], ["a"])["mean"] is None


def test_problems_without_a_value_are_drawn_and_do_not_count_in_the_mean():
    values = [1.0, 3.0, None, None]
    found = stratified_mean(values, ["a"] * 4, seed=1)
    assert (found["mean"], found["n"]) == (2.0, 2)
    rng_free = bootstrap([1.0, 3.0], seed=1)
    assert (found["low"], found["high"]) == (1.0, 3.0) == (rng_free["low"], rng_free["high"])


def test_the_interval_of_a_stratified_mean_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(100):
        drawn = np.concatenate([rng.normal(0, 1, 40), rng.normal(10, 1, 60)])
        found = stratified_mean(drawn.tolist(), ["a"] * 40 + ["b"] * 60, seed=trial, resamples=200)
        held += found["low"] <= 6.0 <= found["high"]
    assert 87 <= held <= 100


@pytest.mark.parametrize(
    "interval",
    [
        bootstrap([0.4]),
        bootstrap([None, 0.4, None]),
        stratified_mean([0.4, 0.6], ["a", "b"]),
        stratified_mean([None, 0.4, None], ["a", "a", "b"]),
        mean_of_means([Stratum([0.4, 0.2], ["x", "x"]), Stratum([0.6], ["x"])]),
        bootstrap_rows(np.array([1]), lambda counted: counted[:, 1]),
        rank_correlation([0.1, 0.2, 0.3], [1, 3, 2], ["x", "x", "x"]),
    ],
)  # fmt: skip
def test_one_problem_alone_has_a_mean_and_no_interval(interval):
    assert interval["mean"] is not None and interval["n"] >= 1
    assert interval["low"] is None and interval["high"] is None
    assert "[" not in str(Mean(interval["mean"], interval["low"], interval["high"]))


def test_two_problems_of_one_stratum_have_an_interval():
    assert stratified_mean([0.4, 0.6, 0.5], ["a", "b", "b"])["low"] is not None
    assert mean_of_means([Stratum([0.4, 0.2], ["x", "y"])])["low"] is not None
