"""How far a schedule can move the draws, against the simulation of the published settings.

Internals: the simulation runs without a model, on courses of losses that the module states.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from peirce.training import STAGES
from peirce.training.dpo import TrainConfig
from peirce.training.dpo.curriculum import MomentumSchedule
from peirce.training.dpo.reach import COURSES, bound_moved_share, find_reach, simulate_reach
from scipy.optimize import linprog

ONE_AT_ONCE, TWO_AT_ONCE, ONE_STEADILY, MOST, MOST_LAG_2, TWO_STEADILY, THREE_RATES, EQUALLY = (
    COURSES
)


def percent(reach):
    return [round(100 * share, 1) for share in reach.shares.values()]


@pytest.mark.parametrize(
    ("course", "lag", "moved", "shares"),
    [
        # An earlier simulation by other code: 1,398 (2.7%), 1,912 (3.7%), 1,008 (2.0%) and 1,462.
        (ONE_AT_ONCE, 1, 1_398, [36.1, 32.0, 32.0]),
        (ONE_AT_ONCE, 2, 1_912, [37.1, 31.5, 31.5]),
        (THREE_RATES, 1, 1_008, [35.0, 33.6, 31.4]),
        (THREE_RATES, 2, 1_462, None),
    ],
)
def test_the_published_settings_move_what_another_simulation_found(course, lag, moved, shares):
    found = simulate_reach(TrainConfig(lag=lag), STAGES, course)
    assert found.examples == 51_200
    assert found.moved == pytest.approx(moved, rel=0.005)
    assert shares is None or percent(found) == shares


def test_one_stage_at_0_at_once_moves_what_the_formula_gives():
    # L = 0 from the first probe on: m(t) = min(.03, .1 x .9^(t-1) x ln 2); its share is
    # (.1 + m) / (.3 + m). Period 0 is equal.
    improvements = [min(0.03, 0.1 * 0.9 ** (t - 1) * 0.6931471805599453) for t in range(1, 40)]
    moved = sum(1_280 * ((0.1 + m) / (0.3 + m) - 1 / 3) for m in improvements)
    assert moved == pytest.approx(1_395.5, abs=0.1)
    assert simulate_reach(TrainConfig(), STAGES, ONE_AT_ONCE).moved == pytest.approx(moved, abs=40)


@pytest.mark.parametrize("schedule", ["momentum", "remaining-loss"])
def test_equal_falls_move_nothing(schedule):
    found = simulate_reach(TrainConfig(schedule=schedule), STAGES, EQUALLY)
    assert found.moved == 0


def test_no_course_moves_what_the_range_of_weights_forbids():
    settings = TrainConfig()
    low, high = MomentumSchedule(STAGES, settings.momentum_settings()).weight_range()
    reach = find_reach(settings, STAGES)
    assert 0 < reach.moved_share < max(high - 1, 1 - low) / 3
    for share in reach.shares.values():
        assert low / 3 < share < high / 3


def test_the_reach_is_the_largest_of_all_courses_and_says_so():
    reach = find_reach(TrainConfig(), STAGES)
    assert reach.course == MOST
    assert reach.moved == max(simulate_reach(TrainConfig(), STAGES, one).moved for one in COURSES)
    assert reach.describe() == (
        "In 8 simulated courses of the probe losses, momentum moves at most 3.5% of 51,200 draws"
        " (shares of parsing/consistency/gear: 37/32/32%); while no probe loss rises, it cannot move"
        " more than 3.6%."
    )
    assert reach.to_record() == {
        "schedule": "momentum", "course": MOST, "examples": 51_200, "moved": reach.moved,
        "moved_share": reach.moved / 51_200, "shares": reach.shares,
        "bound": reach.bound,
    }  # fmt: skip


def largest_of_a_linear_program(lag, falling, periods=40, alpha=0.1, epsilon=0.1, m_max=0.03):
    """Return the largest moved share of all courses in which no loss rises, rounded up by tangents.

    `falling` of three stages fall equally. The variables are, for each period, the fall d of the
    averaged loss, the improvement m <= m_max and the moved share y. The probe loss of a period is
    E(t-1) - d(t) / alpha, so it is at least 0 if d(t) <= alpha E(t-1), and it does not rise if
    d(t) >= (1 - alpha) d(t-1).
    """
    later, rows, limits = periods - 1, [], []

    def add(limit, **parts):
        row = np.zeros((3, later))
        for index, name in enumerate("dmy"):
            for at, value in parts.get(name, {}).items():
                row[index, at] += value
        rows.append(row.ravel())
        limits.append(limit)

    for t in range(later):
        add(alpha * math.log(2), d={**dict.fromkeys(range(t), alpha), t: 1})
        add(0, m={t: 1}, d=dict.fromkeys(range(max(0, t - lag + 1), t + 1), -1))
        if t:
            add(0, d={t: -1, t - 1: 1 - alpha})
        for at in np.linspace(0, falling * m_max, 100):
            share = (falling * epsilon + at) / (3 * epsilon + at) - falling / 3
            slope = (3 - falling) * epsilon / (3 * epsilon + at) ** 2
            add(share - slope * at, y={t: 1}, m={t: -slope * falling})
    found = linprog(
        np.repeat([0, 0, -1 / periods], later), np.array(rows), limits, method="highs",
        bounds=[(0, None)] * later + [(0, m_max)] * later + [(None, None)] * later,
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize(("lag", "course", "moved"), [(1, MOST, 0.0346), (2, MOST_LAG_2, 0.0582)])
def test_no_course_without_a_rise_moves_more_than_the_largest_of_courses(lag, course, moved):
    # A mean of two gaining stages moves as much as both, so equal falls are the most.
    most = max(largest_of_a_linear_program(lag, falling) for falling in (1, 2))
    assert most == pytest.approx(moved, abs=0.0001)
    reach = find_reach(TrainConfig(lag=lag), STAGES)
    assert reach.course == course
    assert most - 0.0005 < reach.moved_share < most + 0.0001 < reach.bound


@pytest.mark.parametrize(
    "changed",
    [{}, {"lag": 2}, {"alpha": 1.0}, {"w_max": 1.05}, {"w_min": 0.9, "w_max": 1.0}, {"m_max": 0.3},
     {"epsilon": 0.01}, {"epsilon": 0.01, "w_min": 0, "w_max": 3}, {"schedule": "remaining-loss"}],
)  # fmt: skip
def test_random_courses_stay_below_the_bounds(changed):
    settings, draw = TrainConfig.from_mapping(changed), np.random.default_rng(3)
    falling, rising = (bound_moved_share(settings, STAGES, rising=one) for one in (False, True))
    assert 0 < falling <= rising
    for trial in range(100):
        losses = draw.random((40, 3)) ** draw.choice([0.2, 1, 5], 3)
        if trial % 2:
            losses = -np.sort(-losses, axis=0)
        losses[0] = 1
        schedule = settings.make_schedule(STAGES)
        for one in losses * math.log(2):
            schedule.update(dict(zip(STAGES, one, strict=True)))
        shares = np.array([list(one.values()) for one in schedule.history])
        mean = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        moved = np.maximum(0, mean - 1 / 3).sum()
        assert moved <= (falling if trial % 2 else rising) + 1e-12


def test_the_reach_depends_on_settings_and_periods():
    longer = find_reach(TrainConfig(epsilon=0.01), STAGES)
    short = find_reach(TrainConfig(examples=2 * 1_280), STAGES)
    bound = find_reach(TrainConfig(w_min=1, w_max=1), STAGES)
    assert bound.moved == 0
    assert short.moved_share < find_reach(TrainConfig(), STAGES).moved_share < longer.moved_share


def test_remaining_loss_moves_draws_to_the_stages_that_stay_hard():
    found = simulate_reach(TrainConfig(schedule="remaining-loss"), STAGES, THREE_RATES)
    parsing, consistency, gear = found.shares.values()
    assert 0.1 < parsing < 0.2 and gear > 0.5 and parsing < consistency < gear
    two = find_reach(TrainConfig(schedule="remaining-loss"), STAGES)
    # Two stages at 0 from the second of 40 periods on: .1/.1/.8, and equal before.
    assert two.course == TWO_AT_ONCE
    assert two.shares["gear"] == pytest.approx((1 / 3 + 39 * 0.8) / 40, abs=0.001)


@pytest.mark.parametrize("name", ["fixed", "single:gear"])
def test_constant_schedules_and_a_single_stage_have_no_reach(name):
    assert find_reach(TrainConfig(schedule=name), STAGES) is None
    assert find_reach(TrainConfig(), ("gear",)) is None


def test_every_course_begins_at_the_loss_before_training_and_never_rises():
    for course in COURSES.values():
        for place in range(3):
            values = [course(over / 50, place) for over in range(51)]
            assert values[0] == 1 and min(values) >= 0
            assert all(after <= before for before, after in pairwise(values))
