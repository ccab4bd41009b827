"""What warns of over-optimisation and what ends a training: the chosen log-ratio, sampled answers.

Internals: the guard is shown log-ratios that no training would give in turn.
"""

import pytest
from peirce.training.dpo import TrainConfig
from peirce.training.dpo.overoptimization import OveroptimizationGuard

FALLEN = {"parsing": {"chosen_logratio": -0.51}, "gear": {"chosen_logratio": -0.5}}


def test_a_chosen_log_ratio_below_the_bound_is_said_once_a_stage():
    guard = OveroptimizationGuard(TrainConfig())
    guard.check_probes(1_280, FALLEN)
    guard.check_probes(2_560, FALLEN)
    (said,) = guard.messages
    assert (
        "After 1,280 examples" in said
        and "stage parsing" in said
        and "(log-ratio -0.51, below -0.5)" in said
    )
    assert guard.stop_reason == ""


def test_answers_that_can_be_read_less_often_than_before_training_are_a_warning():
    guard = OveroptimizationGuard(TrainConfig())
    for examples, share in ((0, 0.9), (16, 0.95), (32, 0.86), (48, 0.84)):
        assert guard.messages == ()
        guard.check_samples(examples, {"instruction_following": share, "consistent": 0.0})
    (said,) = guard.messages
    assert (
        "After 48 examples, 84.0% of the sampled answers can be parsed, compared with 90.0% before training: the model is collapsing."
        in said
    )


@pytest.mark.parametrize(
    ("stop", "by_ratio", "by_answers"),
    [("never", False, False), ("log_ratio", True, False), ("following", False, True), ("either", True, True)],
)  # fmt: skip
def test_only_what_the_setting_names_ends_a_training(stop, by_ratio, by_answers):
    guard = OveroptimizationGuard(TrainConfig(stop=stop))
    guard.check_probes(1, FALLEN)
    assert bool(guard.stop_reason) is by_ratio
    other = OveroptimizationGuard(TrainConfig(stop=stop))
    other.check_samples(0, {"instruction_following": 0.9})
    other.check_samples(1, {"instruction_following": 0.1})
    assert bool(other.stop_reason) is by_answers


def test_a_guard_goes_on_from_its_state_with_the_first_value():
    guard = OveroptimizationGuard(TrainConfig())
    guard.check_samples(0, {"instruction_following": 0.9})
    guard.check_probes(1, FALLEN)
    other = OveroptimizationGuard(TrainConfig())
    other.load_state_dict(guard.state_dict())
    other.check_samples(2, {"instruction_following": 0.8})
    assert len(other.messages) == 2 and "90.0% before" in other.messages[1]
