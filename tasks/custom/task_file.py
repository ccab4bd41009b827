"""Load a user's own task, whose name is the path of its file: `peirce run mytask.yaml` or
`mytask.py`.

Each problem contains everything that a session needs from the file, and the store keeps it. So
resuming, replaying, scoring and exporting a session never open the file again. With `--data`, the
same task runs on other pairs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection

from ...records import DataError, Task, UsageError
from ..io.files import locate

ENDINGS = (".yaml", ".yml", ".py")


def is_path(name: str) -> bool:
    """Return whether `name` is the path of a task file instead of the name of a registered task."""
    return name.lower().endswith(ENDINGS) or "/" in name or os.sep in name


def load_task_file(path: str, reserved_names: Collection[str] = ()) -> Task:
    """Return the task that a file defines.

    Args:
        path: the path of a YAML or Python file.
        reserved_names: names that the task must not have.

    Raises:
        UsageError: there is no such file, or it is neither YAML nor Python.
        DataError: the file is invalid; the message names file, line and key.
    """
    place = locate(path, ())
    if not place.name.lower().endswith(ENDINGS):
        raise UsageError(f"{place}: the name of a task file must end in {', '.join(ENDINGS)}")
    try:
        content = place.read_bytes()
    except OSError as error:
        raise DataError(f"{place}: cannot be read: {error.strerror or error}") from error
    named = {"name": place.name, "sha256": hashlib.sha256(content).hexdigest()}
    if place.suffix.lower() == ".py":
        from .python_task import load_python_task

        return load_python_task(place, content, named, reserved_names)
    from .yaml_task import load_yaml_task

    return load_yaml_task(place, content, named, reserved_names)
