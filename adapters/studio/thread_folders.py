"""The folder of each thread of the platform: the store of its sessions, and which input each one had.

Each thread has a store of its own, because one process writes to a store at a time, and runs of
different threads run at the same time. The folders are in `$PEIRCE_THREADS` (default:
`peirce_threads` in the folder in which the server was started).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...records import Json, UsageError

FOLDER_VARIABLE = "PEIRCE_THREADS"
DEFAULT_FOLDER = "peirce_threads"
THREAD_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class ThreadFolder:
    """The folder of one thread."""

    path: Path

    @property
    def store(self) -> Path:
        """The path of the store of the thread's sessions."""
        return self.path / "peirce.duckdb"

    @property
    def _sessions_file(self) -> Path:
        return self.path / "sessions.json"

    def find_session(self, request: Mapping[str, Json]) -> str | None:
        """Return the id of the session that this input started, or None.

        The platform may repeat a run, for example after the server was killed. The state of the
        thread then may not name the session yet, but this folder does.
        """
        found = self._read().get(digest_of_request(request)) if self.store.exists() else None
        return found if isinstance(found, str) else None

    def record_session(self, request: Mapping[str, Json], session: str) -> None:
        """Record which session an input started. The file is replaced as a whole."""
        known = {**self._read(), digest_of_request(request): session}
        draft = self._sessions_file.with_suffix(".new")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(known, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._sessions_file)

    def _read(self) -> dict[str, Json]:
        try:
            found = json.loads(self._sessions_file.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def open_thread_folder(thread: str) -> ThreadFolder:
    """Return the folder of a thread, which is created if necessary, readable for its owner only.

    Args:
        thread: The id of the thread.

    Raises:
        UsageError: The id has other characters than letters, digits, "-" and "_", or the folder
            cannot be created.
    """
    if not THREAD_NAME.fullmatch(thread):
        raise UsageError(
            f"the thread id {thread!r:.80} has characters other than letters and digits"
        )
    path = Path(os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER) / thread
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {path} cannot be created: {error.strerror}") from None
    return ThreadFolder(path.resolve())


def digest_of_request(request: Mapping[str, Json]) -> str:
    """Return a digest of an input. It does not depend on the order of keys."""
    text = json.dumps(request, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
