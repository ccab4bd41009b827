"""The ways to read a file: each is a task with its options, and the reason for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

from ...records import Json


class FileKind(StrEnum):
    """What a file holds."""

    LABELLED_ROWS = "labelled_rows"
    PAIRS = "pairs"
    WORLDS = "worlds"
    PUBLISHED = "published_problems"
    NUMERIC_TARGET = "numeric_target"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Reading:
    """A way to read a file.

    Attributes:
        kind: What the file holds in this reading.
        task: The task that reads it, or None if no task does.
        options: The options of `peirce run`, "data" among them.
        summary: The kind in words, with counts, such as "60 labelled rows".
        why: The evidence for this reading, as a clause.
    """

    kind: FileKind
    task: str | None
    options: Mapping[str, Json]
    summary: str
    why: str

    @property
    def command(self) -> str:
        """The command that runs it, or "" if no task reads it."""
        if self.task is None:
            return ""
        flags = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
            for name, value in self.options.items()
        ]
        return " ".join(["peirce run", self.task, *flags])


@dataclass(frozen=True)
class RecognizedFile:
    """What a file was taken for.

    Attributes:
        readings: The ways to read it, the likeliest first.
        reason: Why none of them is certain, as a clause; "" if the first one is certain.
        advice: What the user can do besides running one of the readings.
        warnings: Sentences about data that may spoil the rules of the first reading.
    """

    readings: Sequence[Reading] = ()
    reason: str = ""
    advice: str = ""
    warnings: Sequence[str] = field(default_factory=list)

    @property
    def certain(self) -> Reading | None:
        """The reading that is certain, or None."""
        return self.readings[0] if self.readings and not self.reason else None


def add_settings(path: str, **settings: str) -> str:
    """Return a path with settings after it, as `PATH?input=x&output=y`."""
    return f"{path}?" + "&".join(f"{key}={quote(one, ', ')}" for key, one in settings.items())


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
