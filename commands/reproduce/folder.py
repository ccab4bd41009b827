"""The folder of an experiment: its settings, and the results of its finished steps.

    experiment.json    settings, hashes of the data and of the base, splits
    splits.json        the splits in the form that `peirce pairs --fixed` reads
    steps.json         {step: result}; a step that is listed is never done again
    sessions.duckdb    all sessions, the preference pairs and the logs of trainings
    trainings/NAME     one folder for each training
    results.*          tables and figures

All files are replaced as a whole, so a process that is killed leaves the last complete version.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import DataError, Json, UsageError
from ...records.private_files import make_folder, open_lock, write_atomically
from ...records.settings import format_value
from ...reports.files import writing
from ...tasks.io.files import expand_home
from ...training.dpo.settings import CHANGEABLE_LATER
from .settings import OF_TRAININGS

REQUEST_FILE, STEPS_FILE, SPLITS_FILE = "experiment.json", "steps.json", "splits.json"
STORE_FILE, LOCK_FILE, BASE_FOLDER = "sessions.duckdb", ".lock", "base"
VERSION = 1


class ExperimentFolder:
    """The files of an experiment.

    Args:
        path: The folder.

    Raises:
        UsageError: Files cannot be written to the folder.
        DataError: A file in it is not one that this command wrote.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = expand_home(path).resolve()
        writing.check_target(self.path)
        self._request: dict[str, Any] = self._read(REQUEST_FILE)
        self._steps: dict[str, Any] = self._read(STEPS_FILE)

    @property
    def store(self) -> Path:
        """The path of the store."""
        return self.path / STORE_FILE

    @property
    def splits_file(self) -> Path:
        """The path of the file that assigns problems to splits."""
        return self.path / SPLITS_FILE

    def training(self, schedule: str) -> Path:
        """Return the folder of the training with a schedule."""
        return self.path / "trainings" / schedule.replace(":", "-")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder while the `with` block runs.

        Raises:
            UsageError: Another process works on the experiment.
        """
        make_folder(self.path)
        with open_lock(self.path / LOCK_FILE) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"{self.path}: another process works on this experiment; wait for it, or choose"
                    " another folder with --out"
                ) from None
            yield

    def begin(self, request: Mapping[str, Json], splits: Mapping[str, Sequence[str]]) -> None:
        """Record what the experiment is, or check that it is the recorded one.

        Args:
            request: {"experiment", "settings", "base", "data"}.
            splits: The groups of problems in each split.

        Raises:
            UsageError: The folder contains an experiment with other settings, data or base.
        """
        new = json.loads(json.dumps({"version": VERSION, **request, "splits": splits}))
        if not self._request:
            # A process that was killed here may have left drafts, the base and the splits.
            others = [
                one.name for one in self.path.iterdir()
                if one.name not in (BASE_FOLDER, SPLITS_FILE) and not one.name.startswith(".")
            ]  # fmt: skip
            if others:
                raise UsageError(
                    f"{self.path} contains other files ({min(others)}): choose a new folder with"
                    " --out"
                )
            self._request = new
            self._write({SPLITS_FILE: splits, REQUEST_FILE: new})
            return
        self._check_same(new)
        kept = {**self._request, "settings": new["settings"]}
        if kept != self._request:
            self._request = kept
            self._write({REQUEST_FILE: kept})
        if not self.splits_file.exists():
            self._write({SPLITS_FILE: new["splits"]})

    def _check_same(self, new: Mapping[str, Any]) -> None:
        where = f"the experiment in {self.path} was begun with"
        again = "use the same as before, or another folder with --out"
        before, now = self._request["settings"], new["settings"]
        for name, value in now.items():
            if before.get(name) == value or self._may_change(name):
                continue
            if name == "train_config":
                _check_same_file(before.get(name) or {}, value, where, again)
                continue
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{where} {flag} {_shown(before.get(name))}, not {_shown(value)}: {again}"
            )
        if self._request["base"]["weights"] != new["base"]["weights"]:
            before = self._request["base"]["name"]
            raise UsageError(
                f"{where} --base {before}, whose weights differ from those of"
                f" {new['base']['name']}: {again}"
            )
        for task in {*self._request["data"], *new["data"]}:
            if self._request["data"].get(task) != new["data"].get(task):
                raise UsageError(f"{where} other data of {task}: {again}")
        for key in ("version", "experiment", "splits"):
            if self._request.get(key) != new.get(key):
                raise UsageError(f"{where} another {key}: choose another folder with --out")

    def _may_change(self, name: str) -> bool:
        """Return whether a setting belongs to the trainings, of which none has begun."""
        begun = any((self.path / "trainings").glob("*/training.json"))
        return name in OF_TRAININGS and not begun

    @property
    def request(self) -> Mapping[str, Any]:
        """What `begin` recorded."""
        return self._request

    @property
    def steps(self) -> Mapping[str, Any]:
        """The results of finished steps, by name."""
        return self._steps

    def finish(self, step: str, result: Mapping[str, Json]) -> None:
        """Record the result of a step, so that it is not done again."""
        self._steps[step] = dict(result)
        self._write({STEPS_FILE: self._steps})

    def _write(self, files: Mapping[str, Any]) -> None:
        write_atomically(
            {
                self.path / name: f"{json.dumps(one, indent=1)}\n".encode()
                for name, one in files.items()
            }
        )

    def _read(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            found = json.loads(path.read_text("utf-8"))
            if name == REQUEST_FILE:
                _ = found["settings"].items(), found["data"].items()
                _ = found["base"]["name"], found["base"]["weights"]
            if not isinstance(found, dict):
                raise ValueError("it contains no object")
        except FileNotFoundError:
            return {}
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise DataError(
                f"{path} cannot be read ({error!r}): restore it, or choose another folder with --out"
            ) from None
        return found


def _check_same_file(
    before: Mapping[str, Json], now: Mapping[str, Json], where: str, again: str
) -> None:
    """Raise UsageError for the first setting of the YAML file that a begun training cannot change."""
    for key in sorted({*before, *now} - set(CHANGEABLE_LATER)):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"{where} {key} {_shown(before.get(key))} in the file of --train-config, not"
                f" {_shown(now.get(key))}: {again}"
            )


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return shlex.join(map(str, value)) if value else "none"
    return format_value(value)
