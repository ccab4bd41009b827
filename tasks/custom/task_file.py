"""A user's own task, in one file that is named by its path: `peirce run mytask.yaml`, `mytask.py`.

What a session needs of the file stands in each problem, and so in the store: resume, replay, scores
and exports never open it again. `--data` gives other pairs to the same task.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection

from ...records import DataError, Task, UsageError
from ..io.files import locate

ENDINGS = (".yaml", ".yml", ".py")


def is_path(name: str) -> bool:
    """Whether a task is named by the path of its file."""
    return name.lower().endswith(ENDINGS) or "/" in name or os.sep in name


def task_of(path: str, taken: Collection[str] = ()) -> Task:
    """The task that the file holds. taken: names that it must not have. Raises UsageError (no such
    file, neither YAML nor Python), DataError (with file, line and key)."""
    place = locate(path, ())
    if not place.name.lower().endswith(ENDINGS):
        raise UsageError(f"{place}: a task file's name ends in {', '.join(ENDINGS)}")
    try:
        content = place.read_bytes()
    except OSError as error:
        raise DataError(f"{place}: cannot be read: {error.strerror or error}") from error
    named = {"name": place.name, "sha256": hashlib.sha256(content).hexdigest()}
    if place.suffix.lower() == ".py":
        from .python_task import python_task

        return python_task(place, content, named, taken)
    from .yaml_task import yaml_task

    return yaml_task(place, content, named, taken)
