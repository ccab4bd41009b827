"""Tables of labelled text, read from one file in any of the forms that they come in.

JSON of columns (`{"text": [...], "label": [...]}`, the published form), JSON of rows (a list of
objects), JSONL (an object a line) and CSV (or TSV) under a header line, all plain or gzip; Parquet
and Arrow as data sets of Hugging Face are kept (label_columnar.py).

A cell is a str, int, float or bool, or None where it is missing: an empty cell of CSV is, and an
object of JSONL that lacks a column which others have. Cells of CSV are typed a column at a time by
`typed`, over all files of a data set. A column with other cells, such as lists, is left out by
whoever reads it (label_columns.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

from ..records import DataError, Json
from .files import parsed, read_csv, read_jsonl, read_text
from .label_columnar import COLUMNAR, read_columnar
from .sentences import shorten

FORMS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", *COLUMNAR)
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_WHOLE = re.compile(r"[-+]?(?:0|[1-9]\d*)")
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class Table:
    """columns: name -> n cells. numbers: of each row, as `unit` (line or row) counts them from 1.
    untyped: cells are text as CSV has them."""

    path: Path
    columns: Mapping[str, Sequence[Json]]
    numbers: Sequence[int]
    unit: str = "row"
    untyped: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, row: int) -> str:
        """Of a row, from 0, as errors name it."""
        return f"{self.path}, {self.unit} {self.numbers[row]}"

    def only(self, keep: Sequence[bool]) -> Table:
        """The rows that are marked."""
        columns = {name: list(compress(cells, keep)) for name, cells in self.columns.items()}
        return replace(self, columns=columns, numbers=list(compress(self.numbers, keep)))


def form_of(path: Path) -> str:
    """The ending that says how a file is read, without `.gz`; "" where it is none of `FORMS`."""
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    return ending if ending in FORMS else ""


def read_table(path: Path) -> Table:
    """Raises `DataError` naming the file and the line, row or column; a table without rows is
    none."""
    form = form_of(path)
    if not form:
        raise DataError(f"{path}: not one of {', '.join(FORMS)} (text also as .gz)")
    if form in (".csv", ".tsv"):
        table = _of_rows(path, read_csv(path, "\t" if form == ".tsv" else ","), untyped=True)
    elif form == ".json":
        table = _of_json(path)
    elif form in COLUMNAR:
        table = _of_columns(path, read_columnar(path))
    else:
        table = _of_rows(path, read_jsonl(path))
    if not len(table):
        raise DataError(f"{path}: the file has no rows")
    return table


def _of_json(path: Path) -> Table:
    value = parsed(read_text(path), path)
    if isinstance(value, list):
        return _of_rows(path, enumerate(value, 1), unit="row")
    if not isinstance(value, dict):
        raise DataError(f"{path}: neither an object of columns nor a list of rows")
    for name, cells in value.items():
        if not isinstance(cells, list):
            raise DataError(f"{path}, {shorten(name)}: not a list, as a column is")
    return _of_columns(path, value)


def _of_columns(path: Path, columns: Mapping[str, Sequence[Json]]) -> Table:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
        raise DataError(f"{path}: the columns are not of one length ({shorten(told, 200)})")
    return Table(path, columns, range(1, max(lengths.values(), default=0) + 1))


def _of_rows(
    path: Path, rows: Iterable[tuple[int, Json]], *, unit: str = "line", untyped: bool = False
) -> Table:
    columns: dict[str, list[Json]] = {}
    numbers: list[int] = []
    for number, row in rows:
        if not isinstance(row, dict):
            raise DataError(f"{path}, {unit} {number}: not an object: {shorten(row)}")
        for name, cell in row.items():
            if name not in columns:
                columns[name] = [None] * len(numbers)
            columns[name].append(None if untyped and not cell.strip() else cell)
        numbers.append(number)
        for cells in columns.values():
            if len(cells) < len(numbers):
                cells.append(None)
    return Table(path, columns, numbers, unit, untyped)


# --- cells of CSV ---------------------------------------------------------------------


def typed(tables: Sequence[Table]) -> list[Table]:
    """The tables with the cells of CSV as numbers or truth values, where all of a column in all
    such tables are: "007" and "1,5" are no numbers."""
    untyped = [one for one in tables if one.untyped]
    names = dict.fromkeys(name for one in untyped for name in one.columns)
    kinds = {
        name: _kind(cell for one in untyped for cell in one.columns.get(name, ())) for name in names
    }
    return [
        replace(
            one,
            columns={name: _as(kinds[name], cells) for name, cells in one.columns.items()},
            untyped=False,
        )
        if one.untyped
        else one
        for one in tables
    ]


def _kind(cells: Iterable[Json]) -> Callable[[str], Json] | None:
    there = {cell.strip() for cell in cells if cell is not None}
    if not there:
        return None
    if all(_WHOLE.fullmatch(cell) for cell in there) and max(map(len, there)) < 19:
        return int
    if all(_NUMBER.fullmatch(cell) for cell in there):
        return float if all(map(_is_finite, there)) else None
    if all(cell.casefold() in _TRUTHS for cell in there):
        return lambda cell: _TRUTHS[cell.casefold()]
    return None


def _is_finite(cell: str) -> bool:
    return abs(float(cell)) < float("inf")


def _as(kind: Callable[[str], Json] | None, cells: Sequence[Json]) -> Sequence[Json]:
    if kind is None:
        return cells
    return [None if cell is None else kind(cell.strip()) for cell in cells]
