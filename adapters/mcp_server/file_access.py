"""Find files that a client names, and refuse those outside the root.

A name is resolved with its symbolic links. Of a folder, the links inside it and the data files that
its config.yaml names are checked too, because the loaders follow both. A program that may change
the folder while the server reads it can still swap a file for a link after the check: such a program
runs on this machine already and needs no server for that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from ...records.errors import UsageError

CONFIG_FILES = ("config.yaml", "config_ood.yaml")  # of a data set of labelled text
SIBLINGS = ("metadata.json", "dataset_info.json")  # read with the file of rows beside them
MAX_CONFIG_BYTES = 1_000_000
MAX_ENTRIES = 10_000  # files and folders in a folder that is named as data
MAX_PATH_CHARACTERS = 4_096


@dataclass(frozen=True)
class RootFolder:
    """The folder below which all files lie that clients may use.

    Args:
        path: the absolute path without symbolic links.
    """

    path: Path

    def find(self, name: str, argument: str) -> str:
        """Return the absolute path of an existing file or folder below the root.

        Args:
            name: the path, absolute or relative to the root. It may end in settings, as in
                `pairs.csv?input=a&output=b`.
            argument: the name of the argument, for messages.

        Raises:
            UsageError: it lies outside the root, does not exist, or is neither a file nor a folder.
        """
        place, query = self._resolve(name, argument), ""
        if not os.path.lexists(place):
            start, query = _split_settings(name)
            place = self._resolve(start, argument)
        try:
            mode = place.stat().st_mode
        except OSError:
            raise UsageError(
                f"{argument}: there is no file or folder {name!r:.200} below the root of this server"
            ) from None
        if stat.S_ISDIR(mode):
            self._check_folder(place, argument)
        elif not stat.S_ISREG(mode):
            raise UsageError(f"{argument}: {name!r:.200} is neither a file nor a folder")
        else:
            for sibling in SIBLINGS:
                self._check_inside(place.with_name(sibling), sibling, argument)
        return f"{place}?{query}" if query else str(place)

    def find_target(self, name: str, argument: str) -> str:
        """Return the absolute path below the root for a new file.

        Raises:
            UsageError: it lies outside the root or exists already, or its folder does not exist.
        """
        place = self._resolve(name, argument)
        if not place.parent.is_dir():
            raise UsageError(f"{argument}: there is no folder for {name!r:.200} below the root")
        if os.path.lexists(place):
            raise UsageError(f"{argument}: {name!r:.200} exists already, and is not replaced")
        return str(place)

    def _resolve(self, name: str, argument: str) -> Path:
        if not name or "\0" in name or len(name) > MAX_PATH_CHARACTERS:
            raise UsageError(f"{argument}: {name!r:.60} is not the path of a file")
        if "://" in name or name.lower().startswith("file:"):
            raise UsageError(
                f"{argument}: {name!r:.200} is an address; name a file below the root of this server"
            )
        try:
            place = (self.path / name).resolve()
        except (OSError, RuntimeError, ValueError):  # a circle of links, or a lone surrogate
            raise UsageError(f"{argument}: {name!r:.200} cannot be resolved") from None
        if not place.is_relative_to(self.path):
            raise UsageError(
                f"{argument}: {name!r:.200} lies outside the folder that this server may read"
            )
        return place

    def _check_folder(self, folder: Path, argument: str) -> None:
        for number, place in enumerate(_entries(folder)):
            if number >= MAX_ENTRIES:
                raise UsageError(
                    f"{argument}: {folder.name!r} holds more than {MAX_ENTRIES:,} files; name one of"
                    " them"
                )
            if place.is_symlink():
                self._check_inside(place, place.name, argument)
            if place.name in CONFIG_FILES:
                for name in _named_files(place):
                    self._check_inside(place.parent / name, name, argument)

    def _check_inside(self, place: Path, name: str, argument: str) -> None:
        try:
            inside = place.resolve().is_relative_to(self.path)
        except (OSError, RuntimeError, ValueError):
            inside = False
        if not inside:
            raise UsageError(
                f"{argument}: {name!r:.200} in this folder leads outside the folder that this server"
                " may read"
            )


def _entries(folder: Path) -> Iterator[Path]:
    """Yield all files and folders below a folder; links are not followed."""
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(where, name)


def _split_settings(name: str) -> tuple[str, str]:
    """Return the path before a question mark in the last part of `name`, and what follows it."""
    folder, slash, last = name.rpartition("/")
    start, _, query = last.partition("?")
    return folder + slash + start, query


def _named_files(config: Path) -> list[str]:
    """Return every path that a config.yaml may name, also those under repeated keys.

    The result is empty if the file cannot be read, because its loader then refuses it too.
    """
    try:
        if config.stat().st_size > MAX_CONFIG_BYTES:
            raise UsageError(f"{config.name} is too large")
        found = yaml.compose(config.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return []
    pairs = found.value if isinstance(found, yaml.MappingNode) else ()
    return [
        value.value
        for key, value in pairs
        if isinstance(key, yaml.ScalarNode)
        and key.value.endswith("_path")
        and isinstance(value, yaml.ScalarNode)
    ]
