"""`peirce reproduce gear-table4` from the published files to the tables, with a tiny base and a scripted
model, in processes that are killed: the results are those of an experiment that was not."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import peirce
import pytest
from peirce.records import UsageError

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))
from chat_server import ChatServer, says
from forked_trainings import start_training
from published_set import write_published
from tiny_model import require

# Sampling of a small model may differ in the last digits of a batch, so problems run one by one.
SIZES = ("--held-out", "2", "--max-answers", "5", "--template", "compact", "--max-tokens", "16",
         "--examples", "16", "--period", "8", "--workers", "1", "--concurrency", "1")  # fmt: skip


class Experiment:
    """A process of `peirce reproduce`, with the lines that it has printed so far."""

    def __init__(self, data: Path, out: Path, *more: str) -> None:
        words = ("reproduce", "gear-table4", "--base", "tiny", "--data", str(data), "--out", str(out),
                 "--train-config", str(data / "train.yaml"), *SIZES, *more)  # fmt: skip
        self._out, self._errors = (
            data.parent / f"{out.name}.{name}" for name in ("stdout", "stderr")
        )
        self._errors.write_text("")
        self._process = start_training(words, data.parent, self._out, self._errors)

    @property
    def lines(self) -> list[str]:
        return self._errors.read_text().splitlines(keepends=True)

    def kill_when(self, reached: Callable[[list[str]], bool]) -> None:
        until = time.monotonic() + 600
        while not reached(self.lines):
            assert self._process.is_alive() and time.monotonic() < until, "".join(self.lines)
            time.sleep(0.02)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL

    def ended(self, code: int = 0) -> str:
        self._process.join(900)
        assert self._process.exitcode == code, "".join(self.lines)
        return self._out.read_text()


def prints(text: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(text in line for line in lines)


def checkpoint(folder: Path) -> Callable[[list[str]], bool]:
    return lambda lines: any(folder.glob("checkpoints/checkpoint-*"))


def finished(out: Path) -> list[str]:
    return list(json.loads((out / "steps.json").read_text()))


def test_an_experiment_killed_in_a_training_ends_with_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("trl", "datasets")
    data = write_published(tmp_path / "data", ("acre",), problems=4, counts=(2,))
    options = ("--collect", "scripted:data/script.json", "--rounds", "1", "--schedule", "fixed")
    straight = Experiment(data, tmp_path / "straight", *options)
    killed = Experiment(data, tmp_path / "killed", *options)
    killed.kill_when(checkpoint(tmp_path / "killed" / "trainings" / "fixed"))
    kept = finished(tmp_path / "killed")
    assert kept == ["collect scripted:data/script.json acre 2", "pairs",
                    "evaluate base acre"]  # fmt: skip
    rows = straight.ended()
    assert "tables and figures beside the published ones" in rows
    again = Experiment(data, tmp_path / "killed", *options)
    again.ended()
    assert prints("3 steps were finished before")(again.lines)
    first, second = (tmp_path / name / "results.json" for name in ("straight", "killed"))
    assert first.read_bytes() == second.read_bytes()
    found = json.loads(first.read_text())
    assert [row["trained_by"] for row in found["rows"]] == ["base", "fixed"]
    assert len(found["published"]) == 18 and found["trainings"]["fixed"]["examples"] == 16
    page = (tmp_path / "killed" / "results.md").read_text()
    assert "## Table 4" in page and "| Qwen-2.5-7b momentum | published |" in page
    held = set(json.loads((tmp_path / "killed" / "splits.json").read_text())["held-out"])
    assert held and not held & {
        name for step in kept[:1] for name in trained_problems(tmp_path, step)
    }
    # A changed setting is refused, and a finished experiment only gives its results again.
    same = {
        "base": "tiny", "data": data, "out": tmp_path / "killed", "rounds": 1, "held_out": 2,
        "collect": ["scripted:data/script.json"], "schedule": ["fixed"], "max_answers": 5,
        "template": "compact", "max_tokens": 16, "examples": 16, "period": 8,
        "train_config": data / "train.yaml",
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="was begun with --seed 0, not 1: use the same as before"):
        peirce.reproduce("gear-table4", seed=1, **same)
    done = peirce.reproduce("gear-table4", **same)
    assert [row.source for row in done.rows].count("published") == 18
    assert done.rows[1].trained_by == "fixed" and done.rows[1].problems == 1
    assert done.done_before == done.steps - 1
    assert first.read_bytes() == second.read_bytes()


def trained_problems(tmp_path: Path, step: str) -> list[str]:
    session = json.loads((tmp_path / "killed" / "steps.json").read_text())[step]["session"]
    rows = peirce.show(session, store=tmp_path / "killed" / "sessions.duckdb")
    return [row["problem"] for row in rows]


def test_a_dead_endpoint_stops_with_a_sentence_and_the_same_command_tries_again(
    tmp_path: Path,
) -> None:
    require("trl", "datasets")
    data = write_published(tmp_path / "data", ("acre",), problems=4, counts=(2,))
    with ChatServer([says("I do not know.")]) as server:
        options = ("--collect", f"{server.url}#model", "--collect-arg", "retries=0",
                   "--schedule", "fixed")  # fmt: skip
    port = int(server.url.rpartition(":")[2].partition("/")[0])
    dead = Experiment(data, tmp_path / "out", *options)
    dead.ended(1)
    told = "".join(dead.lines)
    assert "3 of 3 problems failed, such as: model 'model' at" in told
    assert "the same command tries these problems again" in told and "Traceback" not in told
    assert "To continue, run the same command again: peirce reproduce gear-table4" in told
    assert not (tmp_path / "out" / "steps.json").exists()
    with ChatServer([says("I do not know.")], port=port):
        again = Experiment(data, tmp_path / "out", *options)
        again.ended(1)
    assert finished(tmp_path / "out") == [f"collect {server.url}#model acre 2"]
    assert prints("pairs: ")(again.lines)  # malformed answers alone give no pair


@pytest.mark.soak
def test_the_whole_experiment_killed_at_every_kind_of_step_ends_with_the_same_results(
    tmp_path: Path,
) -> None:
    """Too long for every change: five trainings, six evaluations, six starts."""
    require("trl", "datasets", "matplotlib")
    data = write_published(tmp_path / "data", problems=6)
    options = ("--collect", "scripted:data/script.json", "--collect", "hf:straight/base",
               "--rounds", "2")  # fmt: skip
    straight = Experiment(data, tmp_path / "straight", *options)
    straight.ended()
    out = tmp_path / "killed"
    trainings = out / "trainings"
    for reached in (
        prints("collect scripted:data/script.json acre 2:"), prints("] pairs"),
        prints("evaluate base acre"), checkpoint(trainings / "fixed"), prints("evaluate fixed acre"),
        checkpoint(trainings / "single-gear"), prints("] results"),
    ):  # fmt: skip
        Experiment(data, out, *options).kill_when(reached)
    Experiment(data, out, *options).ended()
    first, second = tmp_path / "straight", out
    assert (first / "results.json").read_bytes() == (second / "results.json").read_bytes()
    found = json.loads((second / "results.json").read_text())
    assert [row["trained_by"] for row in found["rows"]] == [
        "base", "fixed", "momentum", "single:parsing", "single:consistency", "single:gear",
    ]  # fmt: skip
    for figure in ("figure6", "figure7", "figure8-10", "watch"):
        assert (second / f"{figure}.svg").stat().st_size > 1_000
        assert (second / f"{figure}.svg").read_bytes() == (first / f"{figure}.svg").read_bytes()
    assert {len(one) for one in found["curves"].values()} == {4}
