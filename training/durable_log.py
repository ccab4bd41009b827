"""The log of a training on disk: a file in the training's folder that is copied to the store.

    DIR/log.jsonl    one line [examples, stage, name, value] per measured value, written at once
    DIR/.log.lock    a lock that is held while the training runs

A training runs for hours, and only one process at a time can write to the store. Therefore a
training opens the store only briefly: every `SYNC_INTERVAL_S` seconds and at its end, to copy the
lines that are not in the store yet. While another session has the store open, the lines wait in the
file. Lines that still wait when the training ends, or is killed, are copied at the next `open`
(`--resume`). Thus a busy store never stops a training.
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
        extra_settings: Settings to store in addition to the settings that `open` receives.
        on_begin: Called after the folder was locked for this training.
        clock: Returns the time in seconds; tests replace it.
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
        """Lock the folder, begin the training in the store, and copy logged values that wait in the
        file.

        Args:
            training: The id of the training.
            settings: The settings to store, as `TrainingLog.open` describes them.

        Raises:
            UsageError: Another process is training in this folder.
            DataError: The log file cannot be read.
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
        """The stored settings: `extra_settings` together with the settings that `open` received."""
        return self._settings

    def release(self) -> None:
        """Close the files and unlock the folder. Use this method if the training failed before
        `close`.
        """
        for file in (self._lines, self._lock):
            if file is not None:
                file.close()
        self._lines = self._lock = None

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Append a measured value to the log file.

        If `SYNC_INTERVAL_S` seconds have passed, also copy all waiting values to the store. The
        arguments are those of `TrainingLog.log_point`.
        """
        if self._lines is None:
            raise ValueError("a point before the log was opened")
        with name_in_errors(self._out / LOG_FILE):
            self._lines.write(json.dumps([examples, stage, name, value]) + "\n")
            self._lines.flush()
        self._waiting.append(Point(examples, stage, name, float(value)))
        if self._clock() - self._tried >= SYNC_INTERVAL_S:
            self._sync()

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Write the final status to the store, and unlock the folder.

        If another process has the store open, this method waits up to `CLOSE_TIMEOUT_S` seconds and
        then warns. After an interrupt it does not wait, because a resumed training copies what is
        missing.

        Args:
            status: The final status of the training.
            fields: The final measurements.
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
    """Return the measured values in a log file, sorted by examples, stage and name.

    If two lines have equal examples, stage and name, the later line counts.

    Args:
        path: The log file. If the file does not exist, the result is empty.
        mend: Remove an incomplete last line, which a killed process leaves, from the file.

    Raises:
        DataError: A complete line is invalid.
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
    """Return whether a process is training in the folder `out` now."""
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
