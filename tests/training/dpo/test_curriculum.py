"""Weights of the stages by period: momentum by hand, its bounds and state; fixed; single; errors.

Internals: the weights of the stages are computed from losses that the test makes up.
"""

import json
import math
import random

import pytest
from peirce.records import DataError, PeirceError, UsageError
from peirce.training import STAGES
from peirce.training.dpo import MomentumSettings
from peirce.training.dpo.curriculum import (
    SCHEDULES,
    MomentumSchedule,
    make_schedule,
    trainable_stages,
)

START = math.log(2)  # the loss of DPO before training

# How far the probe loss of each stage lies below ln 2 at each of six updates. Parsing falls to .05;
# the others were made so that the last row has the weights which the notes on GEAR's code give for
# an unrecorded curve: 1.087/1.057/.856 as coded, 1.131/.988/.881 as in the paper.
FALLEN = {
    "parsing": (0.1, 0.2, 0.3, 0.4, 0.5, START - 0.05),
    "consistency": (0.129, 0.1419, 0.1548, 0.1677, 0.1806, 0.1995),
    "gear": (0.012, 0.0132, 0.0144, 0.0156, 0.0168, 0.018),
}

# By hand. With e(t) = ln 2 - E(t) and F the table above: e(t) = .9 e(t-1) + .1 F(t), e(0) = 0.
#   parsing      e = .01, .029, .0561, .09049, .131441, .1826117  (.1 x (ln 2 - .05) = .0643147)
#   consistency  e = .0129, .0258, .0387, .0516, .0645, .078      (.9 x .0645 + .01995 = .078)
#   gear         e = .0012, .0024, .0036, .0048, .006, .0072
# One step: differences of neighbours, at most .03.
ONE_STEP = [
    (0.0100, 0.0129, 0.0012),  # 3 x (.1100, .1129, .1012) / .3241
    (0.0190, 0.0129, 0.0012),  # 3 x (.1190, .1129, .1012) / .3331
    (0.0271, 0.0129, 0.0012),  # 3 x (.1271, .1129, .1012) / .3412
    (0.0300, 0.0129, 0.0012),  # parsing .03439 capped; 3 x (.1300, .1129, .1012) / .3441
    (0.0300, 0.0129, 0.0012),
    (0.0300, 0.0135, 0.0012),  # 3 x (.1300, .1135, .1012) / .3447
]
PAPER = [
    (1.0182, 1.0450, 0.9367),
    (1.0718, 1.0168, 0.9114),
    (1.1175, 0.9927, 0.8898),
    (1.1334, 0.9843, 0.8823),
    (1.1334, 0.9843, 0.8823),
    (1.1314, 0.9878, 0.8808),
]
# Two steps: the first is a single one, since before the baseline the code takes the baseline.
TWO_STEP = [
    (0.0100, 0.0129, 0.0012),  # as in one step
    (0.0290, 0.0258, 0.0024),  # 3 x (.1290, .1258, .1024) / .3572
    (0.0300, 0.0258, 0.0024),  # parsing .0461 capped; 3 x (.1300, .1258, .1024) / .3582
    (0.0300, 0.0258, 0.0024),
    (0.0300, 0.0258, 0.0024),
    (0.0300, 0.0264, 0.0024),  # 3 x (.1300, .1264, .1024) / .3588
]
CODED = [
    (1.0182, 1.0450, 0.9367),
    (1.0834, 1.0566, 0.8600),
    (1.0888, 1.0536, 0.8576),
    (1.0888, 1.0536, 0.8576),
    (1.0888, 1.0536, 0.8576),
    (1.0870, 1.0569, 0.8562),
]


def losses_at(update):
    """Probe losses of the table; update 0 is the baseline."""
    if update == 0:
        return dict.fromkeys(STAGES, START)
    return {stage: START - fallen[update - 1] for stage, fallen in FALLEN.items()}


def by_stage(row):
    return dict(zip(STAGES, row, strict=True))


@pytest.mark.parametrize(
    ("lag", "improvements", "weights"), [(1, ONE_STEP, PAPER), (2, TWO_STEP, CODED)]
)
def test_momentum_does_the_table_worked_by_hand(lag, improvements, weights):
    course = MomentumSchedule(STAGES, MomentumSettings(lag=lag))
    assert course.update(losses_at(0)) == by_stage((1, 1, 1))
    for update in range(1, 7):
        given = course.update(losses_at(update))
        assert course.improvements == pytest.approx(by_stage(improvements[update - 1]), abs=1e-12)
        assert given == pytest.approx(by_stage(weights[update - 1]), abs=5e-5)
    assert START - course.averages["parsing"] == pytest.approx(0.1826117, abs=1e-7)


@pytest.mark.parametrize(
    ("lag", "figures"), [(1, (1.131, 0.988, 0.881)), (2, (1.087, 1.057, 0.856))]
)
def test_the_last_row_is_the_one_of_the_notes(lag, figures):
    course = MomentumSchedule(STAGES, MomentumSettings(lag=lag))
    for update in range(7):
        last = course.update(losses_at(update))
    assert tuple(round(last[stage], 3) for stage in STAGES) == figures


def test_a_loss_that_rises_counts_as_no_improvement():
    course = MomentumSchedule(STAGES)
    course.update(dict.fromkeys(STAGES, 0.5))
    # parsing: .1 x .2 = .02 better; the others worse. 3 x .12 / .32 and 3 x .1 / .32
    given = course.update({"parsing": 0.3, "consistency": 0.9, "gear": 5.0})
    assert given == pytest.approx({"parsing": 1.125, "consistency": 0.9375, "gear": 0.9375})


@pytest.mark.parametrize("lag", [1, 2])
def test_with_the_defaults_weights_stay_within_the_known_range_and_move(lag):
    draw = random.Random(5)
    course = MomentumSchedule(STAGES, MomentumSettings(lag=lag))
    assert course.weight_range() == pytest.approx((3 * 0.10 / 0.36, 3 * 0.13 / 0.33))
    for _ in range(400):
        course.update({stage: draw.choice((0.0, 0.3, START, 2.0)) for stage in STAGES})
    seen = [weight for weights in course.history for weight in weights.values()]
    assert 0.8333 < min(seen) < 0.8334 and 1.1818 < max(seen) < 1.1819  # both ends are met
    assert len({tuple(weights.values()) for weights in course.history}) > 50
    assert all(sum(weights.values()) == pytest.approx(3) for weights in course.history)


def test_weights_of_an_ordinary_curve_are_not_constant():
    course = MomentumSchedule(STAGES)
    for update in range(7):
        course.update(losses_at(update))
    for stage in STAGES:
        assert len({weights[stage] for weights in course.history}) > 3


def test_bounds_that_bind_bind_and_are_not_normalised_again():
    course = MomentumSchedule(STAGES, MomentumSettings(w_min=0.95, w_max=1.05))
    assert course.weight_range() == (0.95, 1.05)
    for update in range(7):
        last = course.update(losses_at(update))
    assert last == {"parsing": 1.05, "consistency": pytest.approx(0.9878, abs=5e-5), "gear": 0.95}


def test_wider_settings_let_weights_go_further():
    course = MomentumSchedule(STAGES, MomentumSettings(epsilon=0.01, w_min=0.1, w_max=2.5))
    for update in range(7):
        last = course.update(losses_at(update))
    # 3 x (.04, .0235, .0112) / .0747
    assert last == pytest.approx(
        {"parsing": 1.6064, "consistency": 0.9438, "gear": 0.4498}, abs=5e-5
    )


@pytest.mark.parametrize("lag", [1, 2])
def test_bounds_of_one_give_the_weights_of_fixed(lag):
    bound = MomentumSchedule(STAGES, MomentumSettings(w_min=1, w_max=1, lag=lag))
    fixed = make_schedule("fixed")
    for update in range(7):
        assert bound.update(losses_at(update)) == fixed.update(losses_at(update))
    assert list(bound.history) == list(fixed.history)


def test_the_baseline_begins_no_period_and_every_later_update_one():
    for name in SCHEDULES:
        course = make_schedule(name)
        assert len(course.history) == 1
        for update in range(4):
            assert course.update(losses_at(update)) == course.weights() == course.history[-1]
            assert len(course.history) == max(1, update + 1)


def test_a_single_stage_has_all_the_weight():
    assert make_schedule("single:consistency").weights() == {
        "parsing": 0,
        "consistency": 3,
        "gear": 0,
    }


def test_two_stages_have_weights_of_mean_one():
    course = MomentumSchedule(("parsing", "gear"))
    course.update({"parsing": 0.5, "gear": 0.5})
    # 2 x (.13, .1) / .23
    given = course.update({"parsing": 0.1, "gear": 0.5})
    assert given == pytest.approx({"parsing": 1.130434783, "gear": 0.869565217})


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("lag", [1, 2])
def test_a_state_read_back_in_mid_course_goes_on_to_the_last_digit(name, lag):
    settings = MomentumSettings(lag=lag)
    draw = random.Random(1)
    probes = [{stage: draw.random() for stage in STAGES} for _ in range(12)]
    for stop in range(len(probes) + 1):
        whole = make_schedule(name, momentum=settings)
        for losses in probes[:stop]:
            whole.update(losses)
        saved = json.dumps(whole.state_dict())
        resumed = make_schedule(name, momentum=settings)
        resumed.load_state_dict(json.loads(saved))
        assert json.dumps(resumed.state_dict()) == saved
        for losses in probes[stop:]:
            assert resumed.update(losses) == whole.update(losses)
        assert list(resumed.history) == list(whole.history)


def test_a_weight_given_out_cannot_change_the_course():
    for name in SCHEDULES:
        course = make_schedule(name)
        course.weights()["parsing"] = 7.0
        course.history[0]["parsing"] = 7.0
        course.update(losses_at(0))["parsing"] = 7.0
        assert course.weights() == make_schedule(name).weights()


def test_a_state_of_another_schedule_or_setting_is_refused():
    saved = MomentumSchedule(STAGES).state_dict()
    with pytest.raises(UsageError, match="schedule momentum, not fixed"):
        make_schedule("fixed").load_state_dict(saved)
    with pytest.raises(UsageError, match=r"settings .*0\.1.* not .*0\.2"):
        MomentumSchedule(STAGES, MomentumSettings(alpha=0.2)).load_state_dict(saved)
    with pytest.raises(UsageError, match="with stages"):
        MomentumSchedule(STAGES[:2]).load_state_dict(saved)


@pytest.mark.parametrize("key", ["settings", "averages", "before", "history"])
def test_a_state_that_lacks_something_is_refused(key):
    saved = MomentumSchedule(STAGES).state_dict()
    del saved[key]
    with pytest.raises(DataError, match=key):
        MomentumSchedule(STAGES).load_state_dict(saved)
    with pytest.raises(DataError):
        MomentumSchedule(STAGES).load_state_dict(None)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_ends_the_course_and_changes_nothing(loss):
    course = MomentumSchedule(STAGES)
    course.update(losses_at(0))
    before = course.state_dict()
    with pytest.raises(PeirceError, match=r"stage gear is (nan|inf)"):
        course.update({**losses_at(1), "gear": loss})
    with pytest.raises(PeirceError, match="No probe loss of the stage gear"):
        course.update({"parsing": 0.1, "consistency": 0.1})
    assert course.state_dict() == before


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"alpha": 0}, "alpha is 0"),
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"alpha": "fast"}, "alpha is 'fast'"),
        ({"alpha": True}, "alpha is True"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"m_max": -0.1}, "m_max is -0.1"),
        ({"w_min": 1.3}, "bounds of the weights are 1.3 and 1.2"),
        ({"w_max": 0.9}, "bounds of the weights are 0.8 and 0.9"),
        ({"w_min": -1}, "bounds of the weights are -1"),
        ({"w_max": math.inf}, "w_max is inf"),
        ({"lag": 3}, "lag is 3; valid: 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_sentence(setting, said):
    with pytest.raises(UsageError, match=said) as refused:
        MomentumSettings(**setting)
    assert "\n" not in str(refused.value)


def test_an_unknown_schedule_names_the_valid_ones():
    with pytest.raises(
        UsageError, match=r"'singel:gear'; valid: momentum, fixed, remaining-loss, single:parsing"
    ):
        make_schedule("singel:gear")


def test_a_stage_without_pairs_is_said_and_left_out():
    stages, said = trainable_stages({"parsing": 9, "gear": 3}, {"parsing": 2, "consistency": 4})
    assert stages == ("parsing",)
    assert said == [
        "The stage consistency is left out: it has no training pairs.",
        "The stage gear is left out: it has no validation pairs.",
    ]
    assert trainable_stages(dict.fromkeys(STAGES, 1), dict.fromkeys(STAGES, 1)) == (STAGES, [])
    with pytest.raises(UsageError, match="nothing to train on"):
        trainable_stages({}, {"gear": 1})


def test_a_single_schedule_of_a_stage_left_out_is_refused():
    with pytest.raises(UsageError, match="single:gear has nothing to train on"):
        make_schedule("single:gear", ("parsing", "consistency"))
