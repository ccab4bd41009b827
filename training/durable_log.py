"""The log of a training on disk: a file in its folder, copied to the store as it grows.

    DIR/log.jsonl    one line [examples, stage, name, value] per point, written at once
    DIR/.log.lock    locked while the training runs

A training runs for hours, so it does not own the store. Every `SYNC_INTERVAL_S` seconds, and at its end, it
opens the store for the points since the last time. While a session owns the store, the points wait.
Points that still wait at the end, or when the process is killed, are copied from the file at the
next `open` (`--resume`). Therefore a busy store never ends a training.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO

from ..records import DataError, Json, StoreError, UsageError
from ..records.private_files import make_folder, name_in_errors, open_lines, open_lock
from ..store import Store
from ..store.trainings import Point
from ..tasks.io.messages import warn

LOG_FILE, LOCK_FILE = "log.jsonl", ".log.lock"
SYNC_INTERVAL_S = 10.0
CLOSE_TIMEOUT_S = 30.0  # how long `close` waits for a store that another process owns


class DurableLog:
    """A `TrainingLog` (`dpo/progress.py`) that writes to a folder and to the store.

    Args:
        out: The folder of the training.
        store: The path of the store; None writes to the folder only.
        extra_settings: Settings to store in addition to those passed to `open`.
        on_begin: Called once the folder is locked for this training.
        clock: Returns seconds; tests replace it.
    """

    def __init__(
        self,
        out: Path,
        store: Path | None,
        extra_settings: Mapping[str, Json] | None = None,
        *,
        on_begin: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begun_here = on_begin
        self._out = out
        self._store = store
        self._more = dict(extra_settings or {})
        self._clock = clock
        self._training = ""
        self._settings: dict[str, Json] = {}
        self._waiting: list[Point] = []
        self._lines: IO[str] | None = None
        self._lock: IO[str] | None = None
        self._tried = 0.0
        self._begun = False

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Lock the folder, begin the training in the store, and copy the waiting points.

        Raises:
            UsageError: Another process trains in this folder.
            DataError: The log cannot be read.
        """
        make_folder(self._out)
        if self._lock is None:
            self._lock = _held(self._out / LOCK_FILE)
            if self._lock is None:
                raise UsageError(f"{self._out}: another process is training in this folder")
        if self._begun_here is not None:
            self._begun_here()
        self._training = training
        self._settings = {**self._more, **settings}
        self._begun = False
        self._waiting = read_points(self._out / LOG_FILE, mend=True)
        if self._lines is None:
            self._lines = open_lines(self._out / LOG_FILE)
        self._sync()

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings in the store: `extra_settings` and the settings passed to `open`."""
        return self._settings

    def release(self) -> None:
        """Close the files and unlock the folder, where the training ended without `close`."""
        for file in (self._lines, self._lock):
            if file is not None:
                file.close()
        self._lines = self._lock = None

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Append a point to the file; copy the waiting points if `SYNC_INTERVAL_S` seconds passed."""
        if self._lines is None:
            raise ValueError("a point before the log was opened")
        with name_in_errors(self._out / LOG_FILE):
            self._lines.write(json.dumps([examples, stage, name, value]) + "\n")
            self._lines.flush()
        self._waiting.append(Point(examples, stage, name, float(value)))
        if self._clock() - self._tried >= SYNC_INTERVAL_S:
            self._sync()

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Write the final status and release the folder.

        It waits up to `CLOSE_TIMEOUT_S` seconds for a store that another process owns, and then warns.
        After an interrupt it does not wait, because a resume copies what is missing.
        """
        until = self._clock() + (0.0 if status == "interrupted" else CLOSE_TIMEOUT_S)
        said = self._sync((status, fields))
        while said and self._clock() < until:
            time.sleep(0.5)
            said = self._sync((status, fields))
        if said:
            warn(
                f"the training {self._training} is not yet in the store ({said}); its log stands in"
                f" {self._out / LOG_FILE}, and the same command with --resume brings it there"
            )
        self.release()

    def _sync(self, end: tuple[str, Mapping[str, Json]] | None = None) -> str:
        """Copy the waiting points to the store; return why that failed, or an empty string."""
        self._tried = self._clock()
        if self._store is None:
            self._waiting = []
            return ""
        try:
            with closing(Store.open(self._store, write=True)) as opened:
                trainings = opened.trainings
                if not self._begun:
                    trainings.begin(self._training, self._settings)
                    self._begun = True
                trainings.add(self._training, self._waiting)
                if end is not None:
                    trainings.end(self._training, *end)
        except StoreError as error:
            return str(error)
        self._waiting = []
        return ""


def read_points(path: Path, *, mend: bool = False) -> list[Point]:
    """Return the points in a log file, sorted by examples, stage and name.

    If two points have equal examples, stage and name, the later point is kept.

    Args:
        path: The file; a missing file has no points.
        mend: Truncate a last line that a kill cut short.

    Raises:
        DataError: A line is not a point.
    """
    if not path.is_file():
        return []
    read = path.read_bytes()
    whole = read[: read.rfind(b"\n") + 1]
    if mend and whole != read:
        os.truncate(path, len(whole))
    found: dict[tuple[int, str, str], float] = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            examples, stage, name, value = json.loads(line)
            found[int(examples), str(stage), str(name)] = float(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise DataError(f"{path}, line {number}: no point of a training's log") from None
    return [Point(*place, value) for place, value in sorted(found.items())]


def is_training(out: Path) -> bool:
    """Return whether a process is training in this folder."""
    try:
        file = (
            out / LOCK_FILE
        ).open()  # opened for reading, as the folder may belong to another user
    except OSError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _held(path: Path) -> IO[str] | None:
    """Return a lock that the process loses however it ends; None if another process has it."""
    file = open_lock(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
