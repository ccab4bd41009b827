"""Sessions that are killed (kill -9) and resumed come to the same digest as one that ran through,
and replay without a difference: at every journal boundary of a short run, and at random moments
of a run from the command line."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import peirce

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PEIRCE = [sys.executable, "-m", "peirce"]
KILLS = 20


def test_a_kill_at_every_journal_boundary_changes_nothing(tmp_path: Path) -> None:
    program = Path(__file__).with_name("killed_session.py")
    told = subprocess.run(
        [sys.executable, str(program), str(tmp_path)],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=900,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-2000:]
    result = json.loads(told.stdout)
    reference, runs = result["reference"], result["runs"]
    assert reference["steps"] == 6
    assert reference["differences"] == []
    killed = [run for run in runs if run["killed"]]
    # two problems with three steps: 12 calls of tools and sandbox, 8 of the model, 6 steps, 2 ends
    assert len({run["boundary"] for run in killed}) >= 28
    for run in runs:
        assert run["digest"] == reference["digest"], run
        assert run["differences"] == [], run


def run_command(*arguments: str) -> str:
    told = subprocess.run(
        [*PEIRCE, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=300
    )
    assert told.returncode == 0, told.stderr[-2000:]
    return told.stdout


def test_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    command = ["run", "list_functions", "--problems", "2", "--observations", "3", "--seed", "7",
               "--model", "search", "--budget-expansions", "20000", "--max-answers", "4",
               "--json", "--quiet"]  # fmt: skip
    reference = str(tmp_path / "reference.duckdb")
    start = time.monotonic()
    digest = json.loads(run_command(*command, "--store", reference))["digest"]
    whole_s = time.monotonic() - start
    moments = random.Random(20261121)
    met_a_session = 0
    for number in range(KILLS):
        store = str(tmp_path / f"{number}.duckdb")
        process = subprocess.Popen(
            [*PEIRCE, *command, "--store", store],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT,
        )  # fmt: skip
        time.sleep(moments.uniform(0.1, 1.0) * whole_s)
        process.kill()
        process.wait()
        if not Path(store).exists() or not peirce.sessions(store=store):
            continue  # killed before there was anything to resume
        met_a_session += 1
        assert json.loads(run_command("resume", "--store", store, "--json"))["digest"] == digest
        assert peirce.replay("last", store=store)["differences"] == []
    assert met_a_session >= KILLS // 2
