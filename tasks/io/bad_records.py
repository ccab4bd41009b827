"""Handle the parts of a data file that cannot be read.

If an optional field of a record cannot be read, such as a reference formula, the field is left out.
One `DataWarning` gives the number of such fields and the place of the first. If a whole record
cannot be read, a `DataError` names the file, the line and the reason. With the option `skip_bad`,
the record is left out instead, a warning counts it, and the other records are used. If the
structure of the file cannot be read (broken gzip or YAML, columns of unequal length), this is
always an error.

A loader creates one `BadRecords` object per file and reads each record in a `record` block:

    with BadRecords(path) as bad:
        for number, line in read_lines(path):
            with bad.record(f"line {number}"):
                problems.append(read_problem(line, bad))
        if not problems:
            raise bad.no_records_error(f"{path}: the file is empty")
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
    """Set whether loaders that are called in the `with` block leave out unreadable records."""
    token = _SKIP.set(skip)
    try:
        yield
    finally:
        _SKIP.reset(token)


class BadRecords:
    """Collects the unreadable records of a file or a data set. At the end of the `with` block, a
    warning is issued about them.

    Args:
        path: the file, or the folder of the data set.
        skip: whether unreadable records are left out; None to use the setting of
            `skip_bad_records`.

    Attributes:
        left_out: (file, sentence) for each record that was left out. The sentence says where the
            record is and why it could not be read.
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
        """Read one record in a `with` block; an error in the block concerns this record.

        The error is raised as a `DataError` with the place of the record. If unreadable records are
        skipped, the record is left out instead.

        Args:
            place: the place of the record in the file, such as "line 3". If the place depends on
                the invalid value, a function that returns the place for the keys of the value.
            file: the file that contains the record; None for the `path` of this object.

        Raises:
            DataError: the record cannot be read, and unreadable records are not left out.
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
        """Return the value of an optional field, or None if the field cannot be read.

        For an unreadable field, a warning is issued at the end of the `with` block.

        Args:
            name: the name of the field in the warning.
            read: reads the field and returns its value; raises BadValue or DataError.
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
        """Add a warning about a file. If several files have the same `sentence`, they share one
        warning.
        """
        files = self._notes.setdefault(sentence, [])
        if file not in files:
            files.append(file)

    def no_records_error(self, otherwise: str) -> DataError:
        """Return the error to raise if no record of the data could be read.

        Args:
            otherwise: the error message if the data had no records at all, so that none was left
                out.
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
