"""`peirce.train_quick` and `peirce train --quick` on a real session of the search.

Internals: fewer examples, problems and answers than a user gets, so that the test takes seconds.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.commands.train import quick_training
from peirce.records import UsageError
from tiny_model import require

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
require("trl", "datasets")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("quick")
    patch = pytest.MonkeyPatch()
    patch.setattr(quick_training, "PROBLEMS", 3)
    patch.setattr(quick_training, "ANSWERS", 2)
    smaller = {"examples": 32, "period": 16, "batch": 8, "device_batch": 8, "probe_pairs": 4}
    patch.setattr(quick_training, "SETTINGS", {**quick_training.SETTINGS, **smaller})
    peirce.tasks_generate("acre", folder / "acre.jsonl", difficulty="easy", problems=3, seed=7)
    peirce.run(
        "acre",
        data=folder / "acre.jsonl",
        observations=3,
        store=folder / "s.duckdb",
        model="search",
    )
    yield folder
    patch.undo()


def test_a_session_of_the_search_alone_ends_with_before_and_after(place: Path) -> None:
    steps: list[str] = []
    record = peirce.train_quick(out=place / "out", store=place / "s.duckdb", on_step=steps.append)
    assert record.status == "done" and record.task == "acre" and record.problems == 3
    assert record.pairs["gear"][0] > 0 and record.pairs["gear"][1] == 0
    assert record.pairs["parsing"][0] == 0 < record.pairs["parsing"][1]
    assert record.pairs["consistency"][0] == 0 < record.pairs["consistency"][1]
    assert len(steps) == 3 and "measuring the base" in steps[0] and "training on" in steps[1]
    assert set(record.metrics) == {"instruction_following", "consistent", "answered", "different"}
    for one in record.metrics.values():
        assert one.low <= one.change <= one.high and one.change == pytest.approx(
            one.after - one.before
        )
    (row,) = peirce.trainings(store=place / "s.duckdb")
    assert row.training == record.training and row.status == "done"
    ended = peirce.run(
        "acre", data=place / "acre.jsonl", observations=3, problems=1, max_answers=1, template="compact",
        store=place / "s.duckdb", model=f"hf:{record.model}", max_tokens=32,
    )  # fmt: skip
    assert ended.status == "done"
    with pytest.raises(UsageError, match="continue it with peirce train --resume --out"):
        peirce.train_quick("last", out=place / "out", store=place / "s.duckdb")


@pytest.mark.soak
def test_a_stopped_one_is_resumed_with_the_measurement_of_before(place: Path) -> None:
    def stop(progress: Any) -> None:
        if progress.examples == 8 and progress.phase == "train":
            os.kill(os.getpid(), signal.SIGTERM)

    (first, *_) = [row.session for row in peirce.sessions(store=place / "s.duckdb")]
    stopped = peirce.train_quick(
        first, out=place / "stopped", store=place / "s.duckdb", on_progress=stop
    )
    assert stopped.status == "interrupted" and stopped.model is None and not stopped.metrics
    ended = peirce.train_quick(out=place / "stopped", resume=True)
    assert ended.status == "done" and ended.session == first and ended.training == stopped.training
    assert ended.metrics["consistent"].before >= 0


def test_another_task_is_refused_with_the_command_to_type(place: Path) -> None:
    peirce.tasks_generate("mini_arc", place / "grids.jsonl", difficulty="easy", problems=1)
    peirce.run(
        "mini_arc",
        data=place / "grids.jsonl",
        store=place / "grids.duckdb",
        model="search",
        max_answers=1,
    )
    with pytest.raises(
        UsageError, match=r"of the task mini_arc.*peirce run list_functions --problems 20"
    ):
        peirce.train_quick(out=place / "grids", store=place / "grids.duckdb")
    assert not (place / "grids").exists()
