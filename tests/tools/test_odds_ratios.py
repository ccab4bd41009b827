"""Odds ratios against published values and scipy, and what the verdicts within groups say of made data.

Internals: the statistics are compared with textbook values, which no public function returns alone.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from peirce.tools.odds_ratios import (
    breslow_day,
    chi_square_tail,
    compare_groups,
    count_tables,
    mantel_haenszel,
    odds_ratio,
    resample_stability,
)

# Admission of men and women to six departments (Bickel, Hammel and O'Connell, 1975), as in R's UCBAdmissions.
BERKELEY = [
    [[512, 313], [89, 19]], [[353, 207], [17, 8]], [[120, 205], [202, 391]],
    [[138, 279], [131, 244]], [[53, 138], [94, 299]], [[22, 351], [24, 317]],
]  # fmt: skip


def made_data(rng, *, rows=1000, groups=20, effect=0.0, by_group=0.0, confounding=0.0):
    """(applies, label, group): log odds of the label rise by `effect` where the sentence applies, and
    by `confounding` times what makes it apply in a group."""
    codes = rng.integers(0, groups, rows)
    shift = rng.normal(0, by_group, groups)
    applies = rng.random(rows) < 1 / (1 + np.exp(1 - shift[codes]))
    odds = np.exp(confounding * shift[codes] + effect * applies)
    return applies, rng.random(rows) < odds / (1 + odds), codes


def test_woolfs_interval_is_that_of_scipy():
    contingency = pytest.importorskip("scipy.stats").contingency
    rng = np.random.default_rng(0)
    for table in rng.integers(1, 60, (50, 2, 2)):
        found, known = odds_ratio(table), contingency.odds_ratio(table, kind="sample")
        bounds = known.confidence_interval(0.95)
        assert found.value == pytest.approx(known.statistic)
        assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


def test_an_empty_cell_gets_half_a_row_and_an_empty_line_has_no_ratio():
    found = odds_ratio([[10, 0], [5, 5]])
    assert found.value == pytest.approx(10.5 * 5.5 / (0.5 * 5.5))
    error = math.sqrt(1 / 10.5 + 1 / 0.5 + 1 / 5.5 + 1 / 5.5)
    assert math.log(found.high / found.value) == pytest.approx(1.959964 * error)
    assert odds_ratio([[0, 0], [5, 5]]) is None and odds_ratio([[3, 0], [5, 0]]) is None


def test_mantel_haenszel_and_breslow_day_are_those_of_r_for_the_admissions_of_berkeley():
    found = mantel_haenszel(BERKELEY)
    assert found.value == pytest.approx(0.9046968, abs=1e-7)
    assert (found.low, found.high) == pytest.approx((0.7719074, 1.0603298), abs=1e-7)
    difference = breslow_day(BERKELEY)
    assert difference.p == pytest.approx(0.0021, abs=5e-5)
    assert difference.lowest[0] == 0 and difference.lowest[1].value == pytest.approx(
        0.349, abs=1e-3
    )


def test_the_admissions_of_berkeley_are_confounded_by_department():
    found = compare_groups(np.array(BERKELEY, float))
    assert found.verdict == "confounded" and (found.groups, found.compared) == (6, 6)
    assert odds_ratio(np.sum(BERKELEY, axis=0)).low > 1


def test_the_tail_of_chi_square_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 2, 3, 7, 20, 63):
        for statistic in (0.0, 0.1, 1.0, degrees, 3.0 * degrees, 400.0):
            known = float(stats.chi2.sf(statistic, degrees))
            assert chi_square_tail(statistic, degrees) == pytest.approx(known, rel=1e-9, abs=1e-300)


def test_one_group_has_the_ratio_of_the_whole_table():
    table = [[12, 30], [25, 40]]
    assert mantel_haenszel([table]).value == pytest.approx(odds_ratio(table).value)
    assert mantel_haenszel([table, [[5, 0], [7, 0]]]).value == pytest.approx(
        odds_ratio(table).value
    )


def test_groups_without_a_row_against_have_a_finite_ratio():
    found = mantel_haenszel([[[10, 0], [2, 8]], [[6, 0], [3, 5]]])
    assert 1 < found.low < found.value < found.high < math.inf


def test_resampling_rows_one_by_one_gives_the_same_stability():
    table = np.array([[30, 20], [40, 60]])
    kinds = np.repeat(np.arange(4), table.ravel())
    rng = np.random.default_rng(1)
    resampled = (rng.choice(kinds, len(kinds)) for _ in range(4000))
    ratios = [odds_ratio(np.bincount(one, minlength=4).reshape(2, 2)) for one in resampled]
    found = resample_stability(table, resamples=4000)
    assert found.direction == pytest.approx(np.mean([r.value > 1 for r in ratios]), abs=0.02)
    assert found.significant == pytest.approx(np.mean([r.low > 1 for r in ratios]), abs=0.04)
    assert resample_stability([[5, 5], [5, 5]]) is None


def test_a_sentence_that_says_nothing_of_the_label_is_significant_in_five_of_a_hundred_sets():
    rng = np.random.default_rng(2)
    sides = []
    for _ in range(1000):
        applies, label = rng.random(400) < 0.3, rng.random(400) < 0.4
        sides.append(odds_ratio(count_tables(applies, label)[0]).side != 0)
    assert 0.03 <= np.mean(sides) <= 0.07


@pytest.mark.parametrize("groups", [5, 20, 100])
def test_a_confound_is_flagged_and_does_not_hold(groups):
    rng = np.random.default_rng(groups)
    verdicts = Counter(
        compare_groups(
            count_tables(*made_data(rng, groups=groups, by_group=2, confounding=1))
        ).verdict
        for _ in range(100)
    )
    assert verdicts["confounded"] >= 85 and verdicts["holds"] <= 8


@pytest.mark.parametrize("groups", [5, 20, 100])
def test_an_effect_that_is_there_in_each_group_is_not_flagged(groups):
    rng = np.random.default_rng(groups)
    verdicts = Counter(
        compare_groups(
            count_tables(*made_data(rng, groups=groups, by_group=1, confounding=0.5, effect=1))
        ).verdict
        for _ in range(100)
    )
    assert verdicts["holds"] >= 97 and not verdicts["confounded"]


def test_groups_with_equal_ratios_differ_in_one_of_a_hundred_sets():
    rng = np.random.default_rng(4)
    found = [
        breslow_day(count_tables(*made_data(rng, rows=2000, groups=10, by_group=0.5, effect=0.7)))
        for _ in range(300)
    ]
    assert np.mean([one.p < 0.05 for one in found]) <= 0.09


def test_opposite_effects_in_two_groups_differ():
    one, other = [[80, 20], [40, 60]], [[20, 80], [60, 40]]
    found = compare_groups(np.array([one, other], float))
    assert found.verdict == "differs" and found.difference.p < 1e-6


def test_a_sentence_that_stands_for_the_group_is_confounded_and_not_separable():
    tables = np.array([[[60, 40], [0, 0]], [[0, 0], [30, 70]], [[0, 0], [20, 80]]], float)
    found = compare_groups(tables)
    assert (found.verdict, found.separable, found.within) == ("confounded", False, None)


def test_groups_of_single_rows_have_too_few():
    rng = np.random.default_rng(5)
    applies, label, _ = made_data(rng, rows=200, effect=2)
    found = compare_groups(count_tables(applies, label, np.arange(200)))
    assert found.verdict == "too_few" and found.separable


def test_an_effect_that_the_groups_hide_is_named():
    # The sentence applies mostly where the label is rare, and the label is frequent wherever it applies.
    tables = np.array([[[50, 50], [10, 40]], [[27, 3], [70, 30]]], float)
    found = compare_groups(tables)
    assert found.verdict == "hidden" and found.within.low > 1
    assert odds_ratio(tables.sum(axis=0)).side == 0
