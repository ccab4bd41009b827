"""Parquet and Arrow files of data sets of Hugging Face: columns of plain cells.

Parquet is read by duckdb, which the package needs anyway. Arrow, what `save_to_disk` writes, needs
pyarrow, which comes with the extra `train`. A column of class labels holds numbers; their names
stand in what the file says of its features, or in dataset_info.json beside it, and are what is
read. Dates are read as text, and cells of bytes, images or audio as what they are: none of these
is an input.

Tables of labelled text, read from one file in any of the forms that they come in.

JSON of columns (`{"text": [...], "label": [...]}`, the published form), JSON of rows (a list of
objects), JSONL (an object a line) and CSV (or TSV) under a header line, all plain or gzip; Parquet
and Arrow as data sets of Hugging Face are kept (text/tables.py).

A cell is a str, int, float or bool, or None where it is missing: an empty cell of CSV is, and an
object of JSONL that lacks a column which others have. Cells of CSV are typed a column at a time by
`typed`, over all files of a data set. A column with other cells, such as lists, is left out by
whoever reads it (text/columns.py).
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

from ...records import DataError, Json, UsageError
from ..io.files import parsed, read_csv, read_jsonl, read_text
from ..io.messages import shorten

COLUMNAR = (".parquet", ".arrow")
INFO = "dataset_info.json"


def read_columnar(path: Path) -> dict[str, Sequence[Json]]:
    """Raises `DataError` for a file that cannot be read, `UsageError` where pyarrow is absent."""
    columns, told = _parquet(path) if path.suffix.lower() == ".parquet" else _arrow(path)
    named = {**_classes(_info(path.parent / INFO)), **_classes(told)}
    return {name: _cells(path, name, cells, named.get(name)) for name, cells in columns.items()}


def _parquet(path: Path) -> tuple[dict[str, Sequence[Json]], Json]:
    import duckdb

    try:
        with duckdb.connect() as base:
            found = base.execute("SELECT * FROM read_parquet(?)", [str(path)])
            names = [column[0] for column in found.description or ()]
            rows = found.fetchall()
            told = base.execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(path)])
            said = {bytes(key): bytes(value) for key, value in told.fetchall()}
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be read: {shorten(str(error), 200)}") from error
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return dict(zip(names, columns, strict=True)), _said(said)


def _arrow(path: Path) -> tuple[dict[str, Sequence[Json]], Json]:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise UsageError(
            f"{path}: an Arrow file needs pyarrow (pip install 'peirce[train]'); save the data set"
            " as Parquet, JSONL or CSV, or install it"
        ) from None
    try:
        with pyarrow.memory_map(str(path)) as content:
            try:
                table = pyarrow.ipc.open_stream(content).read_all()
            except pyarrow.ArrowInvalid:
                table = pyarrow.ipc.open_file(content).read_all()
            columns = {name: table[name].to_pylist() for name in table.column_names}
            return columns, _said(table.schema.metadata or {})
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: cannot be read: {shorten(str(error), 200)}") from error


def _said(metadata: Mapping[bytes, bytes]) -> Json:
    try:
        return json.loads(metadata.get(b"huggingface", b"{}")).get("info")
    except (ValueError, AttributeError, RecursionError):
        return None


def _info(path: Path) -> Json:
    try:
        return json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from error


def _classes(info: Json) -> dict[str, list[str]]:
    """Column -> the names of its classes."""
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return {}
    return {
        name: [str(one) for one in told["names"]]
        for name, told in features.items()
        if isinstance(told, dict) and isinstance(told.get("names"), list)
    }


def _cells(path: Path, name: str, cells: Sequence[Json], names: Sequence[str] | None) -> list[Json]:
    if names is None:
        return [_plain(cell) for cell in cells]
    found: list[Json] = []
    for row, cell in enumerate(cells, 1):
        if cell is None or cell == -1:  # what an unlabelled row of a test set has
            found.append(None)
        elif isinstance(cell, int) and 0 <= cell < len(names):
            found.append(names[cell])
        else:
            raise DataError(f"{path}, row {row}, {name}: no class has the number {shorten(cell)}")
    return found


def _plain(cell: Json) -> Json:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, decimal.Decimal):
        return float(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return cell


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
