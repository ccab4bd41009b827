"""Which pair comes next: by the weights, without replacement, the same after any resume.

Internals: pairs are drawn by weights that the test sets, without a model.
"""

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import UsageError
from peirce.training import STAGES
from peirce.training.dpo import MomentumSettings
from peirce.training.dpo.curriculum import make_schedule
from peirce.training.dpo.mixture import Mixture

POOLS = {
    "parsing": range(0, 70),
    "consistency": range(100, 350),
    "gear": range(1000, 1031),
}
EQUAL = dict.fromkeys(STAGES, 1.0)
UNEQUAL = {"parsing": 1.131, "consistency": 0.988, "gear": 0.881}
# 99.9% point of chi-square with 2 degrees of freedom: -2 ln .001
CRITICAL = 13.816


def chi_square(counts, weights):
    total, share = sum(counts.values()), sum(weights.values())
    expected = {stage: total * weight / share for stage, weight in weights.items()}
    return sum((counts[stage] - expected[stage]) ** 2 / expected[stage] for stage in weights)


def counted(draws):
    return {stage: sum(draw.stage == stage for draw in draws) for stage in STAGES}


def course_of(name, updates, **changed):
    """A schedule after a baseline and `updates` updates with random losses."""
    draw = random.Random(3)
    course = make_schedule(name, momentum=MomentumSettings(**changed))
    for _ in range(updates + 1):
        course.update({stage: draw.random() for stage in STAGES})
    return course


def test_stages_follow_the_weights_and_no_others():
    # The first draw of each of 6,000 periods: these are independent, so chi-square is what it says.
    mixture = Mixture(POOLS, seed=11, period=4)
    history = [UNEQUAL] * 6_000
    first = counted(mixture.draws(history, 0, 24_000)[::4])
    assert chi_square(first, UNEQUAL) < CRITICAL
    assert chi_square(first, EQUAL) > CRITICAL
    swapped = {"parsing": 0.881, "consistency": 0.988, "gear": 1.131}
    assert chi_square(first, swapped) > CRITICAL


def test_every_place_of_a_period_follows_the_weights():
    mixture = Mixture(POOLS, seed=4, period=6)
    drawn = mixture.draws([UNEQUAL] * 3_000, 0, 18_000)
    for place in range(6):
        assert chi_square(counted(drawn[place::6]), UNEQUAL) < CRITICAL


@settings(max_examples=60)
@given(
    weights=st.lists(st.floats(0, 3), min_size=3, max_size=3).filter(lambda w: sum(w) > 0.01),
    period=st.integers(1, 200),
    seed=st.integers(0, 2**70),
)
def test_a_period_holds_each_stage_as_often_as_its_weight_rounded(weights, period, seed):
    by_stage = dict(zip(STAGES, weights, strict=True))
    counts = counted(Mixture(POOLS, seed, period).draws([by_stage], 0, period))
    for stage, weight in by_stage.items():
        assert abs(counts[stage] - period * weight / sum(weights)) < 1 + 1e-9
        assert weight or not counts[stage]


def test_weights_change_with_the_period_and_not_before():
    mixture = Mixture(POOLS, period=30)
    only = [{"parsing": 3.0}, {"gear": 3.0}, {"consistency": 3.0}]
    drawn = [draw.stage for draw in mixture.draws(only, 0, 90)]
    assert drawn == ["parsing"] * 30 + ["gear"] * 30 + ["consistency"] * 30


@pytest.mark.parametrize("name", ["momentum", "fixed", "single:gear"])
def test_resume_after_any_number_of_draws_gives_the_same_next_draws(name):
    course = course_of(name, 9)
    whole = Mixture(POOLS, seed=2, period=48).draws(course.history, 0, 480)
    for start in range(0, 481, 7):
        saved = json.loads(json.dumps(course.state_dict()))  # the history of weights comes back too
        resumed = make_schedule(name)
        resumed.load_state_dict(saved)
        again = Mixture(POOLS, seed=2, period=48)
        assert again.draws(resumed.history, start, 480) == whole[start:]


def test_weights_of_later_periods_change_no_earlier_draw():
    mixture = Mixture(POOLS, period=48)
    early = mixture.draws([EQUAL], 0, 48)
    assert mixture.draws([EQUAL, {"gear": 3.0}], 0, 96)[:48] == early
    assert mixture.draws([EQUAL, UNEQUAL, EQUAL], 0, 20) == early[:20]


@pytest.mark.parametrize("lag", [1, 2])
def test_momentum_bound_to_one_draws_what_fixed_draws(lag):
    bound = course_of("momentum", 20, w_min=1, w_max=1, lag=lag)
    free = course_of("momentum", 20, lag=lag)
    fixed = course_of("fixed", 20)
    mixture = Mixture(POOLS, seed=6, period=48)
    drawn = mixture.draws(fixed.history, 0, 1_000)
    assert mixture.draws(bound.history, 0, 1_000) == drawn
    assert mixture.draws(free.history, 0, 1_000) != drawn


def test_a_pool_is_used_up_before_a_pair_comes_again():
    mixture = Mixture(POOLS, seed=8, period=50)
    drawn = mixture.draws([UNEQUAL] * 20, 0, 1_000)
    for stage, pool in POOLS.items():
        of_stage = [draw for draw in drawn if draw.stage == stage]
        turns = [of_stage[at : at + len(pool)] for at in range(0, len(of_stage), len(pool))]
        for number, turn in enumerate(turns):
            assert {draw.epoch for draw in turn} == {number}
            assert len({draw.pair for draw in turn}) == len(turn)
        for turn in turns[:-1]:
            assert {draw.pair for draw in turn} == set(pool)
        orders = {tuple(draw.pair for draw in turn) for turn in turns[:-1]}
        assert len(orders) == len(turns) - 1  # every pass is shuffled anew
    assert max(draw.epoch for draw in drawn) > 8


def test_the_first_pair_of_a_pass_is_any_pair_of_the_pool():
    mixture = Mixture({"gear": range(4)}, seed=0, period=4)
    firsts = [draw.pair for draw in mixture.draws([{"gear": 1.0}] * 2_000, 0, 8_000)[::4]]
    counts = np.bincount(firsts, minlength=4)
    assert ((counts - 500) ** 2 / 500).sum() < 16.27  # 99.9%, 3 degrees of freedom


def test_what_is_used_of_a_pool_is_what_was_drawn():
    mixture = Mixture(POOLS, period=48)
    course = course_of("single:gear", 1)
    used = mixture.usage(course.history, 62)
    assert used["gear"] == (62, 31) and used["parsing"] == (0, 70)
    drawn = mixture.draws([UNEQUAL] * 5, 0, 200)
    assert {s: use.draws for s, use in mixture.usage([UNEQUAL] * 5, 200).items()} == counted(drawn)


def test_every_schedule_draws_the_same_number_of_examples():
    mixture = Mixture(POOLS, period=48)
    for name in ("momentum", "fixed", "single:parsing", "single:consistency", "single:gear"):
        course = course_of(name, 6)
        assert len(mixture.draws(course.history, 0, 300)) == 300
        assert sum(use.draws for use in mixture.usage(course.history, 300).values()) == 300


def test_schedules_of_one_seed_take_the_pairs_of_a_stage_in_the_same_order():
    mixture = Mixture(POOLS, seed=1, period=48)
    orders = []
    for name in ("fixed", "momentum", "single:consistency"):
        drawn = mixture.draws(course_of(name, 6).history, 0, 300)
        orders.append([draw.pair for draw in drawn if draw.stage == "consistency"][:80])
    assert orders[0] == orders[1] == orders[2]


def test_draws_depend_on_the_seed_and_not_on_the_order_of_the_pools():
    shuffled = {stage: random.Random(1).sample(POOLS[stage], len(POOLS[stage])) for stage in STAGES}
    turned = dict(reversed(shuffled.items()))
    here, there = Mixture(POOLS, 5, 48), Mixture(turned, 5, 48)
    assert here.draws([EQUAL], 0, 48) == there.draws([EQUAL], 0, 48)
    assert here.state_dict() == there.state_dict()
    assert here.draws([EQUAL], 0, 48) != Mixture(POOLS, 6, 48).draws([EQUAL], 0, 48)


def test_draws_are_those_of_every_machine():
    mixture = Mixture({"gear": ["a", "b", "c"], "parsing": ["d", "e"]}, seed=1, period=6)
    drawn = "".join(draw.pair for draw in mixture.draws([{"gear": 2.0, "parsing": 1.0}], 0, 6))
    assert drawn == "bacedc"


def test_a_training_resumed_on_other_pairs_is_refused():
    mixture = Mixture(POOLS, 5, 48)
    saved = json.loads(json.dumps(mixture.state_dict()))
    mixture.check_state_dict(saved)
    with pytest.raises(UsageError, match="with seed 5, not 6"):
        Mixture(POOLS, 6, 48).check_state_dict(saved)
    with pytest.raises(UsageError, match="with period 48, not 50"):
        Mixture(POOLS, 5, 50).check_state_dict(saved)
    with pytest.raises(UsageError, match="with pools"):
        Mixture({**POOLS, "gear": range(1000, 1030)}, 5, 48).check_state_dict(saved)


@pytest.mark.parametrize(
    ("pools", "changed", "said"),
    [
        ({}, {}, "no pairs to draw from"),
        ({"gear": []}, {}, "stage gear has no pairs"),
        ({"gear": [1, 2, 1]}, {}, "pair 1 occurs twice"),
        ({"gear": [1], "parsing": [1]}, {}, "pair 1 occurs twice"),
        (POOLS, {"seed": -1}, "seed is -1"),
        (POOLS, {"period": 0}, "period has 0 examples"),
    ],
)
def test_a_mixture_of_nothing_is_refused(pools, changed, said):
    with pytest.raises(UsageError, match=said):
        Mixture(pools, **changed)


def test_draws_ahead_of_the_weights_are_an_error():
    mixture = Mixture(POOLS, period=48)
    assert mixture.draws([EQUAL], 48, 48) == []
    with pytest.raises(ValueError, match="draw 48 lies in period 1"):
        mixture.draws([EQUAL], 40, 49)
    with pytest.raises(ValueError, match="no pairs of taste"):
        mixture.draws([{"taste": 1.0}], 0, 1)
    for weights in ({"gear": 0.0}, {"gear": -1.0}, {"gear": float("nan")}):
        with pytest.raises(ValueError, match="cannot be drawn by"):
            mixture.draws([weights], 0, 1)
