"""Sessions that are killed (kill -9) and resumed come to the same digest as one that ran through,
and replay without a difference: at journal boundaries of a short run, and at random moments
of a run from the command line.

With every change: every 11th boundary of one method. In `make soak`: every boundary of all three methods, and
random moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import peirce
import pytest
from peirce.records import StoreError
from peirce.store import Store

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PEIRCE = [sys.executable, "-m", "peirce"]


# Two problems with three steps each. abduce: 14 calls of tools and sandbox, 10 of the model (the last one finds
# it exhausted), 6 steps, 2 ends; refine: 18 of the sandbox, 6 of the model, 4 from the repair model, 6 steps, 2
# ends. t3, without tools and in two rounds: 24 of the sandbox, 12 of the model, 12 steps, 2 ends.
@pytest.mark.parametrize(
    ("method", "steps", "writes", "every"),
    [
        ("abduce", 6, 32, 11),
        pytest.param("abduce", 6, 32, 1, marks=pytest.mark.soak),
        pytest.param("refine", 6, 30, 1, marks=pytest.mark.soak),
        pytest.param("t3", 12, 50, 1, marks=pytest.mark.soak),
    ],
)
def test_a_kill_at_a_journal_boundary_changes_nothing(
    tmp_path: Path, method: str, steps: int, writes: int, every: int
) -> None:
    program = Path(__file__).with_name("killed_session.py")
    told = subprocess.run(
        [sys.executable, str(program), str(tmp_path), method, str(every)],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=1_800,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-2000:]
    result = json.loads(told.stdout)
    reference, runs = result["reference"], result["runs"]
    assert reference["steps"] == steps
    assert reference["differences"] == []
    killed = {(run["boundary"], run["side"]) for run in runs if run["killed"]}
    last = max(boundary for boundary, _ in killed)
    assert last > writes - every
    assert killed == {
        (n, side) for n in range(1, last + 1, every) for side in ("before", "queued", "durable")
    }
    for run in runs:
        assert run["digest"] == reference["digest"], run
        assert run["differences"] == [], run


def begin(command: list[str], store: str) -> subprocess.Popen[str]:
    """A run whose store has just come to be, so that how long a start takes does not count."""
    process = subprocess.Popen(
        [*PEIRCE, *command, "--store", store],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    while process.poll() is None and not Path(store).exists():
        time.sleep(0.002)
    return process


def holds_open_session(store: str) -> bool:
    """False where the kill came before there was anything to resume, or after the last of it."""
    try:
        sessions = peirce.sessions(store=store)
    except StoreError:  # the kill came before the tables: whoever writes next must find it empty
        with Store.open(store, write=True) as opened:
            assert opened.sessions() == []
        return False
    return any(session["status"] != "done" for session in sessions)


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_kills_at_random_moments_change_nothing(tmp_path: Path, kills: int) -> None:
    """kills: that met a running process whose store held a session under way."""
    command = ["run", "list_functions", "--problems", "2", "--observations", "3", "--seed", "7",
               "--model", "search", "--budget-expansions", "20000", "--max-answers", "4",
               "--json", "--quiet"]  # fmt: skip
    process = begin(command, str(tmp_path / "reference.duckdb"))
    start = time.monotonic()
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-2000:]
    digest = json.loads(said)["digest"]
    whole_s = time.monotonic() - start
    moments = random.Random(20261121)
    met = 0
    for number in range(3 * kills):
        store = str(tmp_path / f"{number}.duckdb")
        with begin(command, store) as process:
            start = time.monotonic()
            try:
                process.wait(moments.uniform(0, 0.95) * whole_s)
            except subprocess.TimeoutExpired:
                process.kill()
            else:
                whole_s = time.monotonic() - start  # the machine has become quicker
            if process.wait() != -signal.SIGKILL:
                continue  # it ended before the signal came
        if not holds_open_session(store):
            continue
        assert peirce.resume(store=store).digest == digest
        assert peirce.replay("last", store=store)["differences"] == []
        met += 1
        if met == kills:
            break
    assert met == kills, f"{met} of {3 * kills} kills met a session under way"
