"""Read tables of labelled text from JSON, JSONL, CSV, Parquet and Arrow files.

A JSON file contains columns (`{"text": [...], "label": [...]}`, the published form), a list of row
objects, or JSONL. JSONL has one object per line. CSV and TSV have a header line and rows. All of
these may be gzipped.

Parquet and Arrow are the formats of Hugging Face data sets. Parquet is read with duckdb, a core
dependency. Arrow, which `save_to_disk` writes, needs pyarrow from the extra `train`. In both
formats, class-label columns contain numbers, which are converted to class names. The class names
come from the features in the file or in dataset_info.json in the same folder. Dates become text.
Cells with bytes, images or audio are kept, but their columns never become inputs.

A cell is a str, int, float or bool, or None if the cell is missing, such as an empty CSV cell or a
key that a JSONL object lacks. `infer_types` converts CSV cells one column at a time, over all files
of a data set. Callers leave out columns with other cells, such as lists (text/columns.py).
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from pathlib import Path

from ...records import DataError, Json, UsageError
from ..io.bad_records import BadRecords
from ..io.files import parse_json_file_text, read_csv, read_jsonl, read_text
from ..io.json_text import is_json_lines
from ..io.messages import shorten

COLUMNAR_SUFFIXES = (".parquet", ".arrow")
INFO_FILE = "dataset_info.json"
MOST_CELLS = 20_000_000  # rows times columns


def read_columnar(path: Path) -> dict[str, Sequence[Json]]:
    """Read a Parquet or Arrow file and return the cells of each column by name.

    Raises:
        DataError: The file cannot be read.
        UsageError: The file needs pyarrow, which is not installed.
    """
    columns, told = _parquet(path) if path.suffix.lower() == ".parquet" else _arrow(path)
    named = {**_classes(_info(path.parent / INFO_FILE)), **_classes(told)}
    return {name: _cells(path, name, cells, named.get(name)) for name, cells in columns.items()}


def _parquet(path: Path) -> tuple[dict[str, Sequence[Json]], Json]:
    import duckdb

    try:
        with duckdb.connect() as base:
            name = [escape_pattern(path)]
            size = base.execute("SELECT num_rows FROM parquet_file_metadata(?)", name).fetchall()
            # DuckDB would read columns out of folders like label=x.
            found = base.execute("SELECT * FROM read_parquet(?, hive_partitioning = false)", name)
            names = [column[0] for column in found.description or ()]
            _check_size(path, size[0][0], len(names))
            rows = found.fetchall()
            told = base.execute("SELECT key, value FROM parquet_kv_metadata(?)", name)
            said = {bytes(key): bytes(value) for key, value in told.fetchall()}
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be read: {shorten(str(error), 200)}") from error
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return dict(zip(names, columns, strict=True)), _parse_features(said)


def escape_pattern(path: Path) -> str:
    """Return a path in which wildcards are escaped, so that DuckDB reads exactly this file."""
    return re.sub(r"[*?[]", r"[\g<0>]", str(path.absolute()))


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
            _check_size(path, table.num_rows, table.num_columns)
            columns = {name: table[name].to_pylist() for name in table.column_names}
            return columns, _parse_features(table.schema.metadata or {})
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: cannot be read: {shorten(str(error), 200)}") from error


def _check_size(path: Path, rows: int, columns: int) -> None:
    """Raise DataError for a table too large for memory: a file of a few kilobytes may hold one."""
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{path}: {rows:,} rows of {columns:,} columns are too many: a Parquet or Arrow file may"
            f" hold {MOST_CELLS:,} cells"
        )


def _parse_features(metadata: Mapping[bytes, bytes]) -> Json:
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
    """Return the class names of each class-label column."""
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
        if cell is None or cell == -1:  # Hugging Face test sets mark unlabelled rows with -1
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


FILE_TYPES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", *COLUMNAR_SUFFIXES)
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_WHOLE = re.compile(r"[-+]?(?:0|[1-9]\d*)")
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class Table:
    """A table of rows and columns that was read from one file.

    Attributes:
        path: The file.
        columns: The cells of each column by name; all columns have one cell per row.
        numbers: The line or row number of each row in the file, from 1.
        unit: The meaning of `numbers`, "line" or "row".
        untyped: Whether all cells are still text, as in CSV.
    """

    path: Path
    columns: Mapping[str, Sequence[Json]]
    numbers: Sequence[int]
    unit: str = "row"
    untyped: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def describe_location(self, row: int) -> str:
        """Return the file and line of the row with index `row` (from 0), for error messages."""
        return f"{self.path}, {self.place(row)}"

    def place(self, row: int) -> str:
        """Return the line or row number in the file of the row with index `row` (from 0), as text."""
        return f"{self.unit} {self.numbers[row]}"

    def filter(self, keep: Sequence[bool]) -> Table:
        """Return a table with those rows for which `keep` is True."""
        columns = {name: list(compress(cells, keep)) for name, cells in self.columns.items()}
        return replace(self, columns=columns, numbers=list(compress(self.numbers, keep)))


def file_type(path: Path) -> str:
    """Return the ending of a file name, ignoring `.gz`, or "" if it is not in `FILE_TYPES`."""
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    return ending if ending in FILE_TYPES else ""


def read_table(
    path: Path, bad: BadRecords, limit: int | None = None, *, keep_empty: bool = False
) -> Table:
    """Read a table from a file of any supported type.

    Args:
        path: The file.
        bad: Collects rows that cannot be read.
        limit: The maximum number of rows to read from a file with one row per line; None for all.
        keep_empty: Whether the table has the rows of a CSV file in which all cells are empty.

    Raises:
        DataError: The file has no rows or cannot be read; the error names the line, row or column.
    """
    form = file_type(path)
    if not form:
        raise DataError(
            f"{path}: the file type must be one of {', '.join(FILE_TYPES)} (text also as .gz)"
        )
    if form in (".csv", ".tsv"):
        rows = read_csv(path, "\t" if form == ".tsv" else ",", bad, keep_empty=keep_empty)
        table = _table_from_rows(path, islice(rows, limit), bad, untyped=True)
    elif form == ".json":
        text = read_text(path)
        if is_json_lines(text):
            table = _table_from_rows(path, islice(read_jsonl(path, bad), limit), bad)
        else:
            table = table_from_json(path, parse_json_file_text(text, path), bad)
    elif form in COLUMNAR_SUFFIXES:
        table = _table_from_columns(path, read_columnar(path))
    else:
        table = _table_from_rows(path, islice(read_jsonl(path, bad), limit), bad)
    if not len(table):
        raise bad.no_records_error(f"{path}: the file has no rows")
    return table


def table_from_json(path: Path, value: Json, bad: BadRecords) -> Table:
    """Return the table in the value of a JSON file.

    Args:
        path: The file, for error messages.
        value: An object of columns or a list of row objects.
        bad: Collects rows that cannot be read.

    Raises:
        DataError: The value is not a table.
    """
    if isinstance(value, list):
        return _table_from_rows(path, enumerate(value, 1), bad, unit="row")
    if not isinstance(value, dict):
        raise DataError(f"{path}: must be an object of columns or a list of rows")
    for name, cells in value.items():
        if not isinstance(cells, list):
            raise DataError(f"{path}, {shorten(name)}: a column must be a list")
    return _table_from_columns(path, value)


def _table_from_columns(path: Path, columns: Mapping[str, Sequence[Json]]) -> Table:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
        raise DataError(f"{path}: the columns have different lengths ({shorten(told, 200)})")
    return Table(path, columns, range(1, max(lengths.values(), default=0) + 1))


def _table_from_rows(
    path: Path,
    rows: Iterable[tuple[int, Json]],
    bad: BadRecords,
    *,
    unit: str = "line",
    untyped: bool = False,
) -> Table:
    columns: dict[str, list[Json]] = {}
    numbers: list[int] = []
    for number, row in rows:
        if isinstance(row, dict):
            for name, cell in row.items():
                if name not in columns:
                    columns[name] = [None] * len(numbers)
                columns[name].append(None if untyped and not cell.strip() else cell)
            numbers.append(number)
            if len(row) < len(columns):
                for cells in columns.values():
                    if len(cells) < len(numbers):
                        cells.append(None)
        else:
            with bad.record(f"{unit} {number}", path):
                raise DataError(f"{path}, {unit} {number}: must be an object, not {shorten(row)}")
    return Table(path, columns, numbers, unit, untyped)


def concatenate_tables(tables: Sequence[Table]) -> Table:
    """Return one table with all rows and all columns of several tables.

    With more than one table, the rows are numbered from 1 again.
    """
    if len(tables) == 1:
        return tables[0]
    tables = tables if all(one.untyped for one in tables) else infer_types(tables)
    names = dict.fromkeys(name for one in tables for name in one.columns)
    columns = {
        name: [cell for one in tables for cell in one.columns.get(name, [None] * len(one))]
        for name in names
    }
    rows = sum(map(len, tables))
    return Table(tables[0].path.parent, columns, range(1, rows + 1), untyped=tables[0].untyped)


# --- cells of CSV ---------------------------------------------------------------------


def infer_types(tables: Sequence[Table]) -> list[Table]:
    """Convert columns of CSV tables to numbers or truth values if all their cells allow it.

    A column is converted in all tables or in none. "007" and "1,5" are not numbers, so columns with
    such cells stay text.
    """
    untyped = [one for one in tables if one.untyped]
    names = dict.fromkeys(name for one in untyped for name in one.columns)
    kinds = {
        name: _kind(cell for one in untyped for cell in one.columns.get(name, ())) for name in names
    }
    return [
        replace(
            one,
            columns={
                name: _convert_cells(kinds[name], cells) for name, cells in one.columns.items()
            },
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


def _convert_cells(kind: Callable[[str], Json] | None, cells: Sequence[Json]) -> Sequence[Json]:
    if kind is None:
        return cells
    return [None if cell is None else kind(cell.strip()) for cell in cells]
