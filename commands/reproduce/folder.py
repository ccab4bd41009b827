"""The folder of an experiment: its settings, and the results of its finished steps.

    experiment.json    settings, hashes of the data and of the base, splits, and the date in prompts
                       if the base's chat template writes one
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
from ...training.dpo.record import has_begun
from ...training.dpo.settings import TrainConfig
from .settings import OF_PAIRS, OF_TRAININGS, OWN_DEFAULTS, UNIMPORTANT
from .steps import PAIRS_STEP

REQUEST_FILE, STEPS_FILE, SPLITS_FILE = "experiment.json", "steps.json", "splits.json"
STORE_FILE, LOCK_FILE, BASE_FOLDER = "sessions.duckdb", ".lock", "base"
VERSION = 1


class ExperimentFolder:
    """The files of an experiment.

    The files are read in `locked`.

    Args:
        path: The folder.

    Raises:
        UsageError: Files cannot be written to the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = expand_home(path).resolve()
        writing.check_target(self.path)
        self._request: dict[str, Any] = {}
        self._steps: dict[str, Any] = {}

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
        """Lock the folder while the `with` block runs, and read its files.

        Raises:
            UsageError: Another process works on the experiment, or the folder has files of
                something else. Nothing is written then.
            DataError: A file in it is not one that this command wrote.
        """
        self._check_contents()
        make_folder(self.path)
        with open_lock(self.path / LOCK_FILE) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"{self.path}: another process works on this experiment; wait for it, or choose"
                    " another folder with --out"
                ) from None
            self._request = self._read(REQUEST_FILE)
            self._steps = self._read(STEPS_FILE)
            yield

    def _check_contents(self) -> None:
        """Raise UsageError if there are files, but no experiment."""
        if not self.path.is_dir():
            return
        names = {one.name for one in self.path.iterdir()}
        # A process that was killed at the start may have left drafts, the base and the splits.
        others = {
            name for name in names - {BASE_FOLDER, SPLITS_FILE} if not name.startswith(".")
        }  # fmt: skip
        if others and REQUEST_FILE not in names:
            raise UsageError(
                f"{self.path} contains other files ({min(others)}): choose a new folder with --out"
            )

    def has_begun(self, schedule: str) -> bool:
        """Return whether the training with a schedule has a checkpoint or trained weights."""
        finished = "training" in self._steps.get(f"train {schedule}", {})
        return finished or has_begun(self.training(schedule))

    def check_base_name(self, name: str) -> None:
        """Raise UsageError if the experiment has a base of another name.

        Call it only for a base that always has the same weights, before its files are written.
        """
        if self._request and self._request["base"]["name"] != name:
            raise UsageError(
                f"the experiment in {self.path} was begun with --base"
                f" {self._request['base']['name']}, not {name}: use the same as before, or another"
                " folder with --out"
            )

    def begin(self, request: Mapping[str, Json], splits: Mapping[str, Sequence[str]]) -> None:
        """Record what the experiment is, or check that it is the recorded one.

        Settings of trainings may have changed as long as no training has begun. If the pairs
        depend on such a setting, they are built anew.

        Args:
            request: {"experiment", "settings", "base", "data", "prompt_date"}.
            splits: The groups of problems in each split.

        Raises:
            UsageError: The folder contains an experiment with other settings, data or base.
        """
        new = json.loads(json.dumps({"version": VERSION, **request, "splits": splits}))
        if not self._request:
            self._request = new
            self._write({SPLITS_FILE: splits, REQUEST_FILE: new})
            return
        self._check_same(new)
        if not self.splits_file.exists():
            self._write({SPLITS_FILE: new["splits"]})
        if self._request["settings"] != new["settings"]:
            before, now = (
                _training_values(one["settings"]["train_config"]) for one in (self._request, new)
            )
            if any(before[name] != now[name] for name in OF_PAIRS):
                self._forget_pairs()
            self._request = {**self._request, "settings": new["settings"]}
            self._write({REQUEST_FILE: self._request})

    def _forget_pairs(self) -> None:
        """Forget the set of pairs, and what was left out because it lacked pairs."""
        self._steps = {
            name: one for name, one in self._steps.items()
            if name != PAIRS_STEP and "left_out" not in one
        }  # fmt: skip
        self._write({STEPS_FILE: self._steps})

    def _check_same(self, new: Mapping[str, Any]) -> None:
        where = f"the experiment in {self.path} was begun with"
        again = "use the same as before, or another folder with --out"
        before, now = self._request["settings"], new["settings"]
        begun = [one for one in before["schedule"] if self.has_begun(one)]
        if missing := [one for one in begun if one not in now["schedule"]]:
            raise UsageError(
                f"{where} --schedule {missing[0]}, and this training has begun: also give"
                f" --schedule {missing[0]}, or another folder with --out"
            )
        self._check_training_values(before["train_config"], now["train_config"], begun)
        for name, value in now.items():
            if name in ("schedule", "train_config") or (name in OF_TRAININGS and not begun):
                continue
            if before.get(name) != value:
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

    def _check_training_values(
        self, before: Mapping[str, Json], now: Mapping[str, Json], begun: Sequence[str]
    ) -> None:
        """Raise UsageError if a setting of the file for trainings changed that may not change."""
        first, second = _training_values(before), _training_values(now)
        for name, value in second.items():
            if begun and name not in UNIMPORTANT and first[name] != value:
                raise UsageError(
                    f"the experiment in {self.path} was begun with {name} {_shown(first[name])} of"
                    f" --train-config, not {_shown(value)}, and the training with {begun[0]} has"
                    " begun: use the same as before, or another folder with --out"
                )

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


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return shlex.join(map(str, value)) if value else "none"
    return format_value(value)


def _training_values(file: Mapping[str, Json]) -> dict[str, Json]:
    """Return all settings of a training with the settings in the file of --train-config."""
    return {**TrainConfig().to_record(), **OWN_DEFAULTS, **file}
