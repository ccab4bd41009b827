"""The schedule remaining-loss and constant mixes: weights by hand, their state, and errors.

Internals: the weights of the stages are computed from losses that the test makes up.
"""

import json
import random

import pytest
from peirce.records import DataError, PeirceError, UsageError
from peirce.training import STAGES
from peirce.training.dpo import TrainConfig
from peirce.training.dpo.curriculum import RemainingLossSchedule, make_schedule, parse_mix


def by_stage(*values):
    return dict(zip(STAGES, values, strict=True))


def test_weights_follow_the_losses_by_hand():
    course = RemainingLossSchedule(STAGES, min_share=0.1)
    assert course.update(by_stage(0.7, 0.7, 0.7)) == by_stage(1, 1, 1)
    # Shares .1 + .7 x (.1, .3, .6) = .17, .31, .52; times 3.
    assert course.update(by_stage(0.1, 0.3, 0.6)) == pytest.approx(by_stage(0.51, 0.93, 1.56))
    # Shares .1 + .7 x (0, 0, 1) = .1, .1, .8.
    assert course.update(by_stage(0.0, 0.0, 0.2)) == pytest.approx(by_stage(0.3, 0.3, 2.4))
    # A loss above the first one counts too: .1 + .7 x (1, 2, 1) / 4.
    assert course.update(by_stage(0.5, 1.0, 0.5)) == pytest.approx(by_stage(0.825, 1.35, 0.825))
    assert [round(sum(one.values()), 12) for one in course.history] == [3, 3, 3, 3]


def test_only_the_latest_losses_count():
    one, other = RemainingLossSchedule(STAGES), RemainingLossSchedule(STAGES)
    for losses in (by_stage(0.7, 0.7, 0.7), by_stage(0.1, 0.5, 0.5), by_stage(0.2, 0.3, 0.4)):
        last = one.update(losses)
    other.update(by_stage(0.7, 0.7, 0.7))
    assert other.update(by_stage(0.2, 0.3, 0.4)) == last


def test_the_minimum_share_bounds_all_shares():
    draw = random.Random(2)
    course = RemainingLossSchedule(STAGES, min_share=0.2)
    for _ in range(200):
        course.update({stage: draw.choice((0.0, 0.01, 0.7, 3.0)) for stage in STAGES})
    shares = [weight / 3 for weights in course.history for weight in weights.values()]
    assert min(shares) == pytest.approx(0.2) and max(shares) == pytest.approx(1 - 2 * 0.2)


def test_a_minimum_share_of_all_draws_gives_the_weights_of_fixed():
    course = RemainingLossSchedule(STAGES[:2], min_share=0.5)
    course.update({"parsing": 0.7, "consistency": 0.7})
    assert course.update({"parsing": 0.1, "consistency": 0.7}) == {"parsing": 1, "consistency": 1}


def test_losses_of_0_give_equal_weights():
    course = RemainingLossSchedule(STAGES, min_share=0)
    course.update(by_stage(0.7, 0.7, 0.7))
    assert course.update(by_stage(0.0, 0.0, 0.0)) == by_stage(1, 1, 1)


def test_a_loss_that_cannot_be_one_changes_nothing():
    course = RemainingLossSchedule(STAGES)
    course.update(by_stage(0.7, 0.7, 0.7))
    before = json.dumps(course.state_dict())
    with pytest.raises(PeirceError, match=r"stage gear is -0\.5; a DPO loss is at least 0"):
        course.update(by_stage(0.1, 0.2, -0.5))
    with pytest.raises(PeirceError, match="stage gear is inf"):
        course.update(by_stage(0.1, 0.2, float("inf")))
    assert json.dumps(course.state_dict()) == before


def test_a_state_of_another_minimum_share_is_refused():
    saved = RemainingLossSchedule(STAGES, 0.1).state_dict()
    with pytest.raises(UsageError, match=r"min_share 0\.1, not 0\.2"):
        RemainingLossSchedule(STAGES, 0.2).load_state_dict(saved)
    del saved["history"]
    with pytest.raises(DataError, match="history"):
        RemainingLossSchedule(STAGES, 0.1).load_state_dict(saved)


def test_a_minimum_share_that_the_stages_cannot_have_is_refused():
    with pytest.raises(UsageError, match=r"min_share is 0\.4; it must be from 0 to 1 / 3"):
        RemainingLossSchedule(STAGES, 0.4)
    with pytest.raises(UsageError, match=r"min_share is 0\.5"):
        TrainConfig.from_mapping({"min_share": 0.5})


def test_a_mix_gives_the_stages_their_parts_with_mean_1():
    settings = TrainConfig(schedule="fixed", mix="3:1:1")
    assert settings.make_schedule(STAGES).weights() == pytest.approx(by_stage(1.8, 0.6, 0.6))
    assert settings.make_schedule(("parsing", "gear")).weights() == pytest.approx(
        {"parsing": 1.5, "gear": 0.5}
    )
    assert make_schedule("fixed").weights() == by_stage(1, 1, 1)


@pytest.mark.parametrize("mix", ["", "3:1", "1:1:1:1", "a:1:1", "-1:1:1", "0:0:0", "nan:1:1"])
def test_a_mix_that_makes_no_sense_is_one_sentence(mix):
    with pytest.raises(UsageError, match="must be 3 numbers of at least 0") as refused:
        parse_mix(mix)
    assert "\n" not in str(refused.value)
    with pytest.raises(UsageError, match="such as 3:1:1"):
        TrainConfig.from_mapping({"mix": mix})


def test_a_mix_of_a_stage_without_pairs_is_refused():
    with pytest.raises(UsageError, match="mix 0:1:0 has nothing to train on: only gear"):
        make_schedule("fixed", ("gear",), mix="0:1:0")
