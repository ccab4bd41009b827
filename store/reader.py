"""Reading a store from a process that does not own it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..records import StoreError
from . import schema
from .connection import Database, Locked, Reading, Row
from .owner import Visitor, check_place, socket_path

PATIENCE_S = 5.0  # for a process that is just taking or leaving the file


class Reader:
    """Reads through the owner's socket where one lives, else from the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._through: Reading = _reach(path)

    @property
    def owned(self) -> bool:
        """Whether a living process writes the store."""
        return isinstance(self._through, Visitor)

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        through = self._through
        try:
            return through.query(sql, params)
        except OSError:  # the owner has ended: the file is free, or has a new owner
            with self._lock:
                if self._through is through:  # no other thread has been here
                    through.close()
                    self._through = _reach(self._path)
        try:
            return self._through.query(sql, params)
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from error

    def close(self) -> None:
        self._through.close()


def _reach(path: Path) -> Reading:
    if not path.exists():
        raise StoreError(f"no store at {path}; a run makes one, --store or PEIRCE_STORE names one")
    until = time.monotonic() + PATIENCE_S
    while True:
        visitor = Visitor.reach(path)
        if visitor is not None:
            try:
                schema.check(visitor.query, str(path))
                return visitor
            except OSError:
                visitor.close()  # it has just ended
            except StoreError:
                visitor.close()
                raise
        try:
            return Database(path, write=False)
        except Locked:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def take(path: Path) -> Database:
    """The file, open for writing. Raises StoreError, with the owner's pid where one lives."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"no store can be made at {path}: {error.strerror or error}") from error
    check_place(socket_path(path))
    until = time.monotonic() + PATIENCE_S
    while True:
        visitor = Visitor.reach(path)
        if visitor is not None:
            try:
                pid = visitor.owner()
            except OSError:
                pid = 0  # it has just ended
            finally:
                visitor.close()
            if pid:
                raise Locked(
                    f"{path} is being written by process {pid}: wait for it, stop it, or name "
                    "another store with --store",
                    pid,
                )
        try:
            return Database(path, write=True)
        except Locked:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)
