"""Ratios of sums and their intervals, compared with clusters drawn again in a loop.

Internals: ratios and their intervals are pure functions, compared with resampling in a loop.
"""

from __future__ import annotations

import random

import pytest
from peirce.reports.papers.gear.joined_problems import ClusteredSums, odds_ratio, share

NAMES = ["b", "a", "b", "c", "d"]
COUNTS = [
    {"right": right, "all": 4.0, "problems": 1.0, "wrong": 4.0 - right} for right in (1, 2, 3, 4, 0)
]


def drawn_again(seed, resamples, figure):
    """The figure of each draw of clusters, from the same stream."""
    names = sorted(set(NAMES))
    rng = random.Random(seed)
    bits = rng.randbytes(4 * resamples * len(names))
    found = []
    for r in range(resamples):
        chosen = []
        for i in range(len(names)):
            at = 4 * (r * len(names) + i)
            chosen.append(names[int.from_bytes(bits[at : at + 4], "little") * len(names) >> 32])
        sums = {
            key: sum(
                c[key] for name in chosen for n, c in zip(NAMES, COUNTS, strict=True) if n == name
            )
            for key in COUNTS[0]
        }
        found.append(figure(sums))
    return sorted(found)


def test_a_rate_and_its_interval_equal_those_of_a_loop():
    found = ClusteredSums(NAMES, COUNTS, seed=3, resamples=41).estimate(
        share("right", "all"), "problems"
    )
    again = drawn_again(3, 41, lambda sums: sums["right"] / sums["all"])
    assert found["value"] == 10 / 20
    assert (found["low"], found["high"]) == pytest.approx((again[1], again[39]))
    assert (found["n"], found["undefined"]) == (5, 0)


def test_an_odds_ratio_is_that_of_the_odds():
    found = ClusteredSums(NAMES, COUNTS).estimate(
        odds_ratio("wrong", "problems", "all"), "problems"
    )
    assert found["value"] == pytest.approx((10 / 10) / (5 / 15))


def test_nothing_to_divide_by_has_no_value_and_is_no_error():
    nothing = [{"right": 0.0, "all": 2.0, "problems": 1.0, "wrong": 0.0}] * 2
    for formula in (share("right", "wrong"), share("all", "wrong")):
        found = ClusteredSums(["a", "b"], nothing, resamples=10).estimate(formula, "problems")
        assert found == {"value": None, "low": None, "high": None, "n": 2, "undefined": 10}
    empty = ClusteredSums([], []).estimate(share("right", "all"), "problems")
    assert empty == {"value": None, "low": None, "high": None, "n": 0, "undefined": 0}


def test_a_ratio_that_is_infinite_in_many_draws_has_no_upper_bound():
    counts = [{"one": 3.0, "other": 0.0, "n": 1.0}, {"one": 2.0, "other": 1.0, "n": 1.0}]
    found = ClusteredSums(["a", "b"], counts, resamples=100).estimate(share("one", "other"), "n")
    assert found["value"] == 5.0 and found["high"] is None
    assert 10 < found["undefined"] < 40 and 2.0 <= found["low"] <= 5.0


def test_one_cluster_alone_has_a_value_and_no_interval():
    alone = ClusteredSums(["a", "a"], COUNTS[:2]).estimate(share("right", "all"), "problems")
    assert (alone["value"], alone["low"], alone["high"], alone["n"]) == (3 / 8, None, None, 2)
    behind = [{"right": 1.0, "all": 4.0, "n": 1.0}, {"right": 0.0, "all": 0.0, "n": 0.0}]
    one_of_two = ClusteredSums(["a", "b"], behind).estimate(share("right", "all"), "n")
    assert (one_of_two["value"], one_of_two["low"], one_of_two["high"]) == (1 / 4, None, None)


def test_entries_of_one_cluster_are_drawn_together():
    alike = [{"right": float(i % 2), "all": 1.0} for i in range(40)]
    together = ClusteredSums(["a", "a", "b", "b"] * 10, alike).estimate(
        share("right", "all"), "all"
    )
    apart = ClusteredSums([str(i) for i in range(40)], alike).estimate(share("right", "all"), "all")
    assert together["low"] == together["high"] == 0.5
    assert apart["low"] < 0.4 < 0.6 < apart["high"]
