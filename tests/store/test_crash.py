"""Kills and a full disk: acknowledged steps and the calls before them are there, whole, and the store
goes on.

Internals: processes meet at an unfinished store, which only the parts of the store leave behind.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from peirce.store import Store

# Writes calls and steps of eight problems side by side and tells each that has returned.
WRITE = """
import asyncio, os, signal, sys
import numpy as np
from peirce.records import (
    CallKey, Hypothesis, InputSet, JudgedAnswer, JudgedHypothesis, Observation, Outcome, PeirceError,
    Predictions, Problem, StepRecord, Verdict,
)
from peirce.store import Store

path, limit = sys.argv[1], int(sys.argv[2])
store = Store.open(path, write=True)
problems = [Problem(str(i), "t", "programs", (Observation(i, i),)) for i in range(8)]
session = store.create_session({}, [(one, InputSet("n", tuple(range(2_000)))) for one in problems])
journal, ledger = store.journal(session), store.ledger(session)
if limit:
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

async def go(name):
    rng = np.random.default_rng(int(name))
    for number in range(10_000):
        codes = rng.integers(-2**63, 2**63 - 1, 2_000)
        async def make():
            return Outcome({"number": number}, {"codes": codes})
        await journal.record_once(CallKey(session, name, f"step/{number}/execute/0"), "tool", {}, make)
        tell("call", name, number)
        judged = JudgedHypothesis(
            Verdict.ACCEPTED, "", Hypothesis(f"def f{number}"),
            space=Predictions(codes, np.zeros(2_000, np.uint8)),
        )
        await ledger.record_step(StepRecord(name, number, (JudgedAnswer("p", "t", (judged,)),)))
        tell("step", name, number)

async def main():
    found = await asyncio.gather(*(go(str(i)) for i in range(8)), return_exceptions=True)
    for one in found:
        tell("failed", type(one).__name__, one)

tell("session", session)
asyncio.run(main())
try:
    store.update_session(session, status="failed")
    tell("went on")
except PeirceError as error:
    tell("failed", type(error).__name__, error)
store.close()
"""


def acknowledged(lines: list[str], word: str) -> set[tuple[str, int]]:
    parts = (line.split() for line in lines)
    return {
        (name, int(number))
        for w, name, number, *_ in (p for p in parts if len(p) == 3)
        if w == word
    }


def check(path: Path, session: str, lines: list[str]) -> None:
    """Acknowledged steps are there and whole with all calls before them, and nothing has a gap.

    A call that was acknowledged after the last step may be lost, and then what came after it too.
    """
    with Store.open(path, write=False) as reader:
        assert reader.find_changes(session) == []
        calls = {(c["problem"], int(c["path"].split("/")[1])) for c in reader.calls(session)}
        steps = set()
        for record in reader.steps(session):
            (answered,) = record.answers
            (judged,) = answered.judged
            assert judged.hypothesis is not None and judged.space is not None
            assert judged.hypothesis.text == f"def f{record.step}"
            steps.add((record.problem, record.step))
        assert acknowledged(lines, "step") <= steps <= calls
        for name in {name for name, _ in calls}:
            made = {number for problem, number in calls if problem == name}
            assert made == set(range(len(made)))
        for table in ("answer", "hypothesis", "verdict", "prediction"):
            rows = reader.query(f"SELECT problem, step FROM {table} WHERE session = ?", (session,))
            assert set(rows) == steps, table


def test_a_kill_at_any_moment_loses_no_acknowledged_step_and_leaves_no_gap(path: Path) -> None:
    rng = random.Random(0)
    total = kills = 0
    while kills < 6 or (total <= 50 and kills < 40):  # on a busy machine it is killed sooner
        kills += 1
        process = subprocess.Popen(
            [sys.executable, "-c", WRITE, str(path), "0"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        session = process.stdout.readline().split()[1]
        time.sleep(rng.uniform(0.02, 0.4))
        process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().splitlines()
        process.stdout.close()
        process.wait()
        if lines and len(lines[-1].split()) < 3:
            lines.pop()
        check(path, session, lines)
        total += len(lines)
    assert total > 50, "the writer was killed before it had written anything"
    with Store.open(path, write=True) as store:  # and the store goes on
        assert [one["status"] for one in store.sessions()] == ["interrupted"] * kills
        store.update_session(session, status="done")


def test_a_full_disk_is_a_store_error_and_leaves_the_store_whole(
    path: Path, made: SimpleNamespace
) -> None:
    ended = made.python(WRITE, str(path), str(1_500_000))
    lines = ended.stdout.splitlines()
    session = lines.pop(0).split()[1]
    failed = [line for line in lines if line.startswith("failed")]
    assert len(failed) >= 8, ended.stdout[-500:] + ended.stderr[-500:]
    assert all("StoreError" in line and "could not be written" in line for line in failed)
    assert len(acknowledged(lines, "step")) > 10
    check(path, session, lines)
    with Store.open(path, write=True) as store:
        store.update_session(session, status="interrupted")


RACE = """
import sys, time
from pathlib import Path
from peirce.records import PeirceError
from peirce.store import Store, store_files

place, slow = Path(sys.argv[1]), sys.argv[2] == "slow"
remove = store_files.remove_files

def removes(path):
    if slow:  # long enough for the other process to create the store
        place.with_name("found").touch()
        time.sleep(2)
    remove(path)

store_files.remove_files = removes
if not slow:
    while not place.with_name("found").exists():
        time.sleep(0.01)
try:
    with Store.open(place, write=True) as store:
        session = store.create_session({}, [])
    print(session)
except PeirceError as error:
    print("refused:", error)
"""


def test_processes_that_replace_one_unfinished_store_lose_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    path.write_bytes(b"")
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(path), kind], stdout=subprocess.PIPE, text=True
        )
        for kind in ("slow", "fast")
    ]
    said = [one.communicate(timeout=60)[0].strip() for one in racing]
    written = {one for one in said if not one.startswith("refused: ")}
    with Store.open(path, write=False) as store:
        assert written and {row["session"] for row in store.sessions()} == written, said
