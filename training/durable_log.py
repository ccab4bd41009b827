"""The log of a training on disk: a line a point in its folder, and the same in the store.

    DIR/log.jsonl    [examples, stage, name, value] a line, as it happens
    DIR/.log.lock    held while the training lives

A training goes on for hours, so it does not own the store: every `EVERY_S` seconds and at its end it
opens it for the points since then. Where a session owns the store meanwhile, the points wait; what
waits at the end, or when the process is killed, goes into the store at the next `open` (`--resume`),
from the lines in the folder. So a training never ends because its store is busy.
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
from ..store import Store
from ..store.trainings import Point
from ..tasks.io.messages import warn

LINES, LOCK = "log.jsonl", ".log.lock"
EVERY_S = 10.0
PATIENCE_S = 30.0  # at the end, for a store that another process owns


class DurableLog:
    """`log.TrainingLog` of one training in its folder. store: None for the folder alone. more: what
    the settings hold beside what `open` is given. begun: called once the folder is this training's."""

    def __init__(
        self,
        out: Path,
        store: Path | None,
        more: Mapping[str, Json] | None = None,
        *,
        begun: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begun_here = begun
        self._out = out
        self._store = store
        self._more = dict(more or {})
        self._clock = clock
        self._training = ""
        self._settings: dict[str, Json] = {}
        self._waiting: list[Point] = []
        self._lines: IO[str] | None = None
        self._lock: IO[str] | None = None
        self._tried = 0.0
        self._begun = False

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Raises UsageError where another process trains in this folder, DataError where its log
        cannot be read."""
        self._out.mkdir(parents=True, exist_ok=True)
        if self._lock is None:
            self._lock = _held(self._out / LOCK)
            if self._lock is None:
                raise UsageError(f"{self._out}: another process trains in this folder")
        if self._begun_here is not None:
            self._begun_here()
        self._training = training
        self._settings = {**self._more, **settings}
        self._begun = False
        self._waiting = read_lines(self._out / LINES, mend=True)
        if self._lines is None:
            self._lines = (self._out / LINES).open("a", encoding="utf-8")
        self._sync()

    @property
    def settings(self) -> Mapping[str, Json]:
        """What the store holds of the training: `more` and what `open` was given."""
        return self._settings

    def release(self) -> None:
        """Gives the folder up, where the training ended without `close`."""
        for file in (self._lines, self._lock):
            if file is not None:
                file.close()
        self._lines = self._lock = None

    def point(self, examples: int, stage: str, name: str, value: float) -> None:
        if self._lines is None:
            raise ValueError("a point before the log was opened")
        self._lines.write(json.dumps([examples, stage, name, value]) + "\n")
        self._lines.flush()
        self._waiting.append(Point(examples, stage, name, float(value)))
        if self._clock() - self._tried >= EVERY_S:
            self._sync()

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Waits up to `PATIENCE_S` seconds for a store that another process owns, then warns."""
        until = self._clock() + PATIENCE_S
        said = self._sync((status, fields))
        while said and self._clock() < until:
            time.sleep(0.5)
            said = self._sync((status, fields))
        if said:
            warn(
                f"the training {self._training} is not yet in the store ({said}); its log stands in"
                f" {self._out / LINES}, and the same command with --resume brings it there"
            )
        self.release()

    def _sync(self, end: tuple[str, Mapping[str, Json]] | None = None) -> str:
        """Brings what waits into the store; why it could not, or ""."""
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


def read_lines(path: Path, *, mend: bool = False) -> list[Point]:
    """The points of a training's folder, of two of one place the later one, in order of examples,
    stage and name. mend: a last line that a kill cut short is taken away. Raises DataError."""
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


def alive(out: Path) -> bool:
    """Whether a process trains in this folder now."""
    try:
        file = (out / LOCK).open()  # to read: the folder may be another user's
    except OSError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _held(path: Path) -> IO[str] | None:
    """The lock, which a process gives up however it ends; None where another has it."""
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
