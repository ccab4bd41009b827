"""The course of a training by itself, without a model: what a checkpoint brings back, and when there is
one. Skipped where the extra `train` is absent.

Internals: the course runs without a model, on losses that the test makes up.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from tiny_model import require

require("trl", "datasets")
from peirce.records import DataError  # noqa: E402
from peirce.training import STAGES  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig  # noqa: E402
from peirce.training.dpo.callback import CurriculumCallback  # noqa: E402
from peirce.training.dpo.curriculum import make_schedule  # noqa: E402
from peirce.training.dpo.mixture import Mixture  # noqa: E402

POOLS = {stage: list(range(100 * place, 100 * place + 9)) for place, stage in enumerate(STAGES)}


def course(monkeypatch, **changed):
    """One whose probes measure nothing."""
    settings = TrainConfig.from_mapping({"examples": 64, "period": 16, "batch": 8, **changed})
    schedule = make_schedule("momentum", STAGES, settings.momentum_settings())
    tokens = SimpleNamespace(reference_logps={})
    mixture = Mixture(POOLS, settings.seed, settings.period)
    made = CurriculumCallback(settings, schedule, mixture, tokens, ListLog(), None, None, None)
    trainer = SimpleNamespace(accelerator=SimpleNamespace(num_processes=1))
    made.attach(trainer, None, None, None)
    monkeypatch.setattr(made, "_measure", lambda: None)
    return made


def ends(made):
    """Where periods end: (examples, whether a checkpoint is written, whether it stops)."""
    found = []
    for number in range(1, made.settings.periods + 1):
        state = SimpleNamespace(global_step=number * made.settings.period // made.settings.batch)
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        made.on_epoch_end(None, state, control)
        found.append((made.examples, control.should_save, control.should_training_stop))
        if control.should_training_stop:
            break
    return found


def test_a_checkpoint_brings_back_what_was_said_seen_and_spent(monkeypatch, tmp_path):
    first = course(monkeypatch)
    first.guard.add_notes(["Something is left out."])
    first.guard.check_samples(0, {"instruction_following": 0.9})
    first.guard.check_probes(16, {"gear": {"chosen_logratio": -9.0}})
    first.schedule.update(dict.fromkeys(STAGES, 0.7))
    first.schedule.update({"parsing": 0.5, "consistency": 0.6, "gear": 0.7})
    first.references.logps[3, 7] = -12.345678901234567
    first.examples, first._before = 16, 1_000.0
    folder = tmp_path / "checkpoint-2"
    folder.mkdir()
    first.complete_checkpoint(folder, {"training": "a"})
    second = course(monkeypatch)
    second.load_checkpoint(folder)
    assert second.examples == 16 and 1_000 <= second.seconds < 1_100
    assert second.guard.messages == first.guard.messages and len(second.guard.messages) == 2
    assert second.schedule.history == first.schedule.history != course(monkeypatch).schedule.history
    assert second._tokens.reference_logps == {(3, 7): -12.345678901234567}
    second.guard.check_samples(32, {"instruction_following": 0.5})
    assert (
        "90.0% before training" in second.guard.messages[-1]
    )  # not the first value after the stop


def test_a_state_that_lacks_something_is_one_sentence(monkeypatch, tmp_path):
    (tmp_path / "checkpoint-2").mkdir()
    first = course(monkeypatch)
    first.complete_checkpoint(tmp_path / "checkpoint-2", {"training": "a"})
    path = tmp_path / "checkpoint-2" / "curriculum.json"
    whole = json.loads(path.read_text())
    for name in ("mixture", "schedule", "guard", "seconds"):
        path.write_text(json.dumps({key: value for key, value in whole.items() if key != name}))
        with pytest.raises(DataError, match=f"has no '{name}': remove it"):
            course(monkeypatch).load_checkpoint(tmp_path / "checkpoint-2")


@pytest.mark.parametrize(
    ("every", "saved"), [(1, [16, 32, 48, 64]), (2, [32, 64]), (3, [48, 64]), (9, [64])]
)
def test_checkpoints_are_as_far_apart_as_is_set_and_one_is_at_the_end(monkeypatch, every, saved):
    found = ends(course(monkeypatch, save_every=every))
    assert [examples for examples, is_saved, _ in found if is_saved] == saved
    assert len(found) == 4


def test_a_warning_ends_a_training_before_its_end_alone(monkeypatch):
    warned = course(monkeypatch, save_every=9)
    warned.guard.stop_reason = "The model collapses."
    assert ends(warned) == [(16, True, True)] and warned.status == "stopped"
    last = course(monkeypatch, examples=16)
    last.guard.stop_reason = "The model collapses."
    assert ends(last) == [(16, True, False)] and last.status == "done"
