"""`report_to`: a tracker that transformers knows is told what the training and a classifier log; with
tensorboard (or tensorboardX) here, its files hold the losses.

Internals: a tracker is opened without a training that reports to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from peirce.training.dpo import ListLog, TrainConfig, train
from peirce.training.external_libraries import parse_trackers
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
import transformers  # noqa: E402
from transformers.integrations import integration_utils  # noqa: E402

SMALL = {"examples": 8, "period": 4, "batch": 4, "full": True, "precompute": False, "device": "cpu",
         "probe_pairs": 2}  # fmt: skip


class Notes(transformers.TrainerCallback):  # type: ignore[misc]
    """A tracker as the libraries have them: told what is logged."""

    told: ClassVar[list[tuple[int, dict]]] = []

    def on_log(self, args, state, control, logs=None, **more) -> None:
        Notes.told.append((state.global_step, dict(logs)))


@pytest.fixture
def notes(monkeypatch):
    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, "notes", Notes)
    monkeypatch.setattr(Notes, "told", [])
    return Notes


def test_a_tracker_is_told_the_losses_that_the_log_has(notes, tmp_path: Path) -> None:
    assert parse_trackers(" notes ,none") == ["notes"] and parse_trackers("none") == []
    base, log = make_model(tmp_path / "base"), ListLog()
    settings = TrainConfig.from_mapping({**SMALL, "report_to": "notes"})
    train(str(base), make_table(9), settings, tmp_path / "out", log)
    told = {step: logs["loss"] for step, logs in notes.told if "loss" in logs}
    ours = {at // 4: value for at, value in log.curve("", "train_loss")}
    assert told and told == {step: pytest.approx(ours[step], abs=1e-4) for step in told}


def test_tensorboard_holds_the_losses(tmp_path: Path, monkeypatch) -> None:
    if not integration_utils.is_tensorboard_available():
        pytest.skip("NO TENSORBOARD HERE: pip install tensorboardX")
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "events"))
    base = make_model(tmp_path / "base")
    settings = TrainConfig.from_mapping({**SMALL, "report_to": "tensorboard"})
    train(str(base), make_table(9), settings, tmp_path / "out", ListLog())
    (path,) = (tmp_path / "events").glob("events.*")
    assert b"train/loss" in path.read_bytes()
