"""The log of a training: in its folder at once, in the store soon, never lost and never in the way.

Internals: the log is written without a training, and its process is killed between two points.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest
from peirce.records import DataError, UsageError
from peirce.store import Point, Store
from peirce.training import durable_log
from peirce.training.durable_log import LOCK_FILE, LOG_FILE, DurableLog, is_training, read_points


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def stored(path: Path) -> list[Point]:
    with Store.open(path, write=False) as store:
        return store.trainings.points("abcd")


def test_points_are_in_the_store_after_some_seconds_and_at_the_end(tmp_path: Path) -> None:
    clock, store = Clock(), tmp_path / "s.duckdb"
    log = DurableLog(tmp_path / "out", store, {"kind": "dpo"}, clock=clock)
    log.open("abcd", {"seed": 3})
    log.log_point(16, "", "train_loss", 0.7)
    assert stored(store) == [] and is_training(tmp_path / "out")
    clock.now += durable_log.SYNC_INTERVAL_S
    log.log_point(32, "gear", "probe_loss", 0.5)
    assert len(stored(store)) == 2
    log.log_point(48, "", "train_loss", 0.6)
    log.close("done", {"seconds": 2.0})
    assert len(stored(store)) == 3 and not is_training(tmp_path / "out")
    with Store.open(store, write=False) as opened:
        (row,) = opened.trainings.list()
    assert row["settings"] == {"kind": "dpo", "seed": 3} and row["fields"] == {"seconds": 2.0}
    assert row["status"] == "done"


def test_a_store_in_use_stops_nothing_and_gets_all_of_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, store = Clock(), tmp_path / "s.duckdb"
    monkeypatch.setattr(durable_log, "CLOSE_TIMEOUT_S", 0.0)
    log = DurableLog(tmp_path / "out", store, clock=clock)
    held = Store.open(store, write=True)
    log.open("abcd", {})
    log.log_point(16, "", "train_loss", 0.7)
    with pytest.warns(UserWarning, match="not yet in the store .*--resume brings it there"):
        log.close("done", {})
    held.close()
    again = DurableLog(tmp_path / "out", store, clock=clock)
    again.open("abcd", {})
    again.close("done", {"examples": 16})
    assert stored(store) == [Point(16, "", "train_loss", 0.7)]


def test_a_killed_training_loses_no_point_and_is_known_to_be_dead(tmp_path: Path) -> None:
    out, store = tmp_path / "out", tmp_path / "s.duckdb"
    code = (
        "import os; from pathlib import Path\n"
        "from peirce.training.durable_log import DurableLog\n"
        f"log = DurableLog(Path({str(out)!r}), Path({str(store)!r}))\n"
        "log.open('abcd', {})\n"
        "for n in range(50): log.log_point(n, 'gear', 'probe_loss', n / 3)\n"
        "print('ready', flush=True); os.kill(os.getpid(), 9)\n"
    )
    made = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert made.stdout == "ready\n" and made.returncode == -9
    assert not is_training(out) and stored(store) == []
    with (out / LOG_FILE).open("a") as file:
        file.write('[50, "gear", "pro')  # cut short
    log = DurableLog(out, store)
    log.open("abcd", {})
    log.log_point(50, "gear", "probe_loss", 0.5)
    log.log_point(49, "gear", "probe_loss", 0.25)  # again, from a checkpoint
    log.close("done", {})
    wanted = [Point(n, "gear", "probe_loss", n / 3) for n in range(49)]
    wanted += [Point(49, "gear", "probe_loss", 0.25), Point(50, "gear", "probe_loss", 0.5)]
    assert stored(store) == wanted == read_points(out / LOG_FILE)


def test_a_folder_that_can_only_be_read_is_looked_at_and_by_several_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = DurableLog(tmp_path, None)
    first.open("abcd", {})
    opened = Path.open

    def read_only(path: Path, mode: str = "r", *more, **told):
        if mode != "r":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, mode, *more, **told)

    monkeypatch.setattr(Path, "open", read_only)
    assert is_training(tmp_path)
    monkeypatch.undo()
    first.close("interrupted", {})
    with (tmp_path / LOCK_FILE).open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)  # another `peirce train --list`
        assert not is_training(tmp_path)


def test_two_trainings_cannot_share_a_folder(tmp_path: Path) -> None:
    first = DurableLog(tmp_path, None)
    first.open("abcd", {})
    with pytest.raises(UsageError, match="another process is training in this folder"):
        DurableLog(tmp_path, None).open("efgh", {})
    first.close("interrupted", {})
    DurableLog(tmp_path, None).open("abcd", {})


def test_a_log_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    text = json.dumps([1, "", "train_loss", 0.5]) + "\nno line\n"
    (tmp_path / LOG_FILE).write_text(text)
    with pytest.raises(DataError, match="line 2: no point"):
        DurableLog(tmp_path, None).open("abcd", {})
    assert (tmp_path / LOG_FILE).read_text() == text


def test_a_line_that_was_cut_is_taken_away_at_its_byte(tmp_path: Path) -> None:
    whole = json.dumps([1, "", "train_loss", 0.5]).encode() + b"\n"
    for cut in (b'[2, "gr\xc3', b'[2, "\xff\xfe'):
        (tmp_path / LOG_FILE).write_bytes(whole + cut)
        assert read_points(tmp_path / LOG_FILE, mend=True) == [Point(1, "", "train_loss", 0.5)]
        assert (tmp_path / LOG_FILE).read_bytes() == whole
    bad = b'[1, "\xff", "train_loss", 0.5]\n'
    (tmp_path / LOG_FILE).write_bytes(bad + b"[2")
    with pytest.raises(DataError, match="line 1: no point"):
        read_points(tmp_path / LOG_FILE, mend=True)
    assert (tmp_path / LOG_FILE).read_bytes() == bad
