"""Sessions that are killed (kill -9) and resumed come to the same digest as one that ran through,
and replay without a difference: at every journal boundary of a short run, and at random moments
of a run from the command line."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import peirce
from peirce.records import StoreError
from peirce.store import Store

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PEIRCE = [sys.executable, "-m", "peirce"]
KILLS = 20  # that met a running process whose store held a session under way
MOST_TRIES = 60


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
    killed = {(run["boundary"], run["side"]) for run in runs if run["killed"]}
    last = max(boundary for boundary, _ in killed)
    # two problems with three steps: 12 calls of tools and sandbox, 8 of the model, 6 steps, 2 ends
    assert last >= 28
    assert killed == {(n + 1, side) for n in range(last) for side in ("before", "after")}
    for run in runs:
        assert run["digest"] == reference["digest"], run
        assert run["differences"] == [], run


def run_command(*arguments: str) -> str:
    told = subprocess.run(
        [*PEIRCE, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=300
    )
    assert told.returncode == 0, told.stderr[-2000:]
    return told.stdout


def holds_open_session(store: str) -> bool:
    """False where the kill came before there was anything to resume, or after the last of it."""
    if not Path(store).exists():
        return False
    try:
        sessions = peirce.sessions(store=store)
    except StoreError:  # the kill came before the tables: whoever writes next must find it empty
        with Store.open(store, write=True) as opened:
            assert opened.sessions() == []
        return False
    return any(session["status"] != "done" for session in sessions)


def test_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    command = ["run", "list_functions", "--problems", "2", "--observations", "3", "--seed", "7",
               "--model", "search", "--budget-expansions", "20000", "--max-answers", "4",
               "--json", "--quiet"]  # fmt: skip
    reference = str(tmp_path / "reference.duckdb")
    start = time.monotonic()
    digest = json.loads(run_command(*command, "--store", reference))["digest"]
    whole_s = time.monotonic() - start
    moments = random.Random(20261121)
    met = 0
    for number in range(MOST_TRIES):
        store = str(tmp_path / f"{number}.duckdb")
        start = time.monotonic()
        process = subprocess.Popen(
            [*PEIRCE, *command, "--store", store],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT,
        )  # fmt: skip
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.25, 0.95) * whole_s)
            whole_s = time.monotonic() - start  # the machine has become quicker
            continue
        process.kill()
        if process.wait() != -signal.SIGKILL:
            continue  # it ended before the signal came
        if not Path(store).exists():
            whole_s *= 1.1  # or slower
        if not holds_open_session(store):
            continue
        assert peirce.resume(store=store).digest == digest
        assert peirce.replay("last", store=store)["differences"] == []
        met += 1
        if met == KILLS:
            break
    assert met == KILLS, f"{met} of {MOST_TRIES} kills met a session under way"
