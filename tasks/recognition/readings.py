"""The possible interpretations of a data file, each with a task, its options and the evidence."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

from ...records import Json


class FileKind(StrEnum):
    """The kind of content of a data file."""

    LABELLED_ROWS = "labelled_rows"
    PAIRS = "pairs"
    WORLDS = "worlds"
    PUBLISHED = "published_problems"
    NUMERIC_TARGET = "numeric_target"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Reading:
    """A possible interpretation of a data file, and the task that reads the file in this way.

    Attributes:
        kind: The kind of content.
        task: The name of the task that reads the file, or None if no task does.
        options: The options of `peirce run` by name, including "data".
        summary: The content in words, with counts, such as "60 labelled rows".
        why: The evidence for this interpretation, as a clause.
    """

    kind: FileKind
    task: str | None
    options: Mapping[str, Json]
    summary: str
    why: str

    @property
    def command(self) -> str:
        """The command that runs the task on the file, or "" if no task reads the file."""
        if self.task is None:
            return ""
        flags = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
            for name, value in self.options.items()
        ]
        return " ".join(["peirce run", self.task, *flags])


@dataclass(frozen=True)
class RecognizedFile:
    """The possible interpretations of a data file, and whether one of them is certain.

    Attributes:
        readings: The possible interpretations, the most likely first.
        reason: The reason why no interpretation is certain, as a clause; "" if the first is
            certain.
        advice: A hint for users who do not want to run any of the interpretations.
        warnings: Sentences about properties of the data that may lead to useless rules, if the
            first interpretation is used.
    """

    readings: Sequence[Reading] = ()
    reason: str = ""
    advice: str = ""
    warnings: Sequence[str] = field(default_factory=list)

    @property
    def certain(self) -> Reading | None:
        """The interpretation that is certain, or None."""
        return self.readings[0] if self.readings and not self.reason else None


def add_settings(path: str, **settings: str) -> str:
    """Return a path followed by settings, as in `PATH?input=x&output=y`."""
    return f"{path}?" + "&".join(f"{key}={quote(one, ', ')}" for key, one in settings.items())


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with a noun in singular or plural: "1 row", "2 rows"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
