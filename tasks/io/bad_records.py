"""What a loader does with the parts of a file that cannot be read.

An optional field that cannot be read, such as a reference formula, is left out of its record, and a
`DataWarning` counts such fields and names the first place. A record that cannot be read is a
`DataError`, which names file, line and reason. If the user sets `skip_bad`, such a record is left
out instead, counted and named by a warning, and the other records are used. A file whose structure
cannot be read (not gzip, not YAML, columns of unequal length) is an error in either case.

A loader opens `BadRecords` for what it reads and handles each record in a `record` block:

    with BadRecords(path) as bad:
        for number, line in read_lines(path):
            with bad.record(f"line {number}"):
                problems.append(read_problem(line, bad))
        if not problems:
            raise bad.nothing_left(f"{path}: the file is empty")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypeVar

from ...records import DataError
from .messages import BadValue, Keys, shorten, warn

T = TypeVar("T")
Place: TypeAlias = str | Callable[[Keys], str]  # of a record, or of the value at its keys

_SKIP: ContextVar[bool] = ContextVar("skip_bad", default=False)
_LISTED = 300  # characters of the places that a warning names after the first


@contextmanager
def skip_bad_records(skip: bool) -> Iterator[None]:
    """Let the loaders that are called in the block leave out records that cannot be read."""
    token = _SKIP.set(skip)
    try:
        yield
    finally:
        _SKIP.reset(token)


class BadRecords:
    """Collects the unreadable records of a file, or of the files of a data set, and warns at the
    end.

    Args:
        path: the file or folder.
        skip: whether unreadable records are left out; None for the user's choice.

    Attributes:
        left_out: the records that were left out: the file of each, with a sentence that says where
            and why.
    """

    def __init__(self, path: Path, skip: bool | None = None) -> None:
        self.path = path
        self.left_out: list[tuple[Path, str]] = []
        self._skip = _SKIP.get() if skip is None else skip
        self._fields: dict[tuple[Path, str], list[str]] = {}
        self._notes: dict[str, list[Path]] = {}
        self._place: Place = ""
        self._file = path

    def __enter__(self) -> BadRecords:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for sentence, files in self._notes.items():
            others = f" and {len(files) - 1} more" if len(files) > 1 else ""
            warn(f"{files[0]}{others}: {sentence}")
        if kind is not None:
            return
        for (file, name), found in self._fields.items():
            places = "place" if len(found) == 1 else "places"
            warn(
                f"{file}: {name} cannot be read in {len(found):,} {places} and is left out there:"
                f" {_listed(found)}"
            )
        by_file: dict[Path, list[str]] = {}
        for file, sentence in self.left_out:
            by_file.setdefault(file, []).append(sentence)
        for file, found in by_file.items():
            records = "record" if len(found) == 1 else "records"
            left = "is left out" if len(found) == 1 else "are left out"
            found = [one.removeprefix(f"{file}: ") for one in found]
            warn(f"{file}: {len(found):,} {records} that cannot be read {left}: {_listed(found)}")

    @contextmanager
    def record(self, place: Place, file: Path | None = None) -> Iterator[None]:
        """Handle a record: an error in the block is raised with its place, or leaves the record out.

        Args:
            place: where the record is in the file; a function where the line depends on the value.
            file: the file, where it is not `path`.

        Raises:
            DataError: the record cannot be read, and such records are not left out.
        """
        outer = self._place, self._file
        self._place, self._file = place, file or self.path
        try:
            yield
        except BadValue as error:
            sentence = self._sentence(error)
            if not self._skip:
                raise DataError(f"{self._file}, {sentence}") from None
            self.left_out.append((self._file, sentence))
        except DataError as error:
            if not self._skip:
                raise
            self.left_out.append((self._file, str(error).removeprefix(f"{self._file}, ")))
        finally:
            self._place, self._file = outer

    def field(self, name: str, read: Callable[[], T]) -> T | None:
        """Read an optional field. If it is unreadable, note a warning and return None.

        Args:
            name: the name of the field in the warning.
            read: reads the field; raises BadValue or DataError.
        """
        try:
            return read()
        except BadValue as error:
            sentence = self._sentence(error)
        except DataError as error:
            sentence = str(error).removeprefix(f"{self._file}, ")
        self._fields.setdefault((self._file, name), []).append(sentence)
        return None

    def note(self, file: Path, sentence: str) -> None:
        """Warn about a file. Files with equal sentences share one warning."""
        files = self._notes.setdefault(sentence, [])
        if file not in files:
            files.append(file)

    def nothing_left(self, otherwise: str) -> DataError:
        """Return the error for data without a readable record.

        `otherwise` is its sentence where no record was left out.
        """
        if not self.left_out:
            return DataError(otherwise)
        file, first = self.left_out[0]
        where = "" if first.startswith(str(file)) else f"{file}, "
        count = len(self.left_out)
        return DataError(f"{where}{first} (none of {count:,} records can be read)")

    def _sentence(self, error: BadValue) -> str:
        at = self._place if isinstance(self._place, str) else self._place(error.keys)
        return f"{at}{', ' * bool(error.keys and at)}{error.field}: {error}"


def _listed(sentences: list[str]) -> str:
    """Return the first sentence, and the places of the others."""
    first, *others = sentences
    if not others:
        return first
    places = "; ".join(re.split(r": ", one, maxsplit=1)[0] for one in others)
    return f"{first}; also {shorten(places, _LISTED)}"
