"""Read a table in memory as JSON rows: a list of dicts, or a table with the Arrow interface.

The rows of pandas, Polars and DuckDB tables are read through methods of these libraries. Any other
object with `__arrow_c_stream__` or `__arrow_c_array__`, such as a pyarrow table, is read by DuckDB.
DuckDB is always installed, so reading a table needs no further package. pandas tables are not read
through Arrow, because Arrow cannot express a column that mixes types.

None, NaN and NaT are missing values. A missing cell of a table is left out of its row, as in JSON
Lines. In a list of dicts, None stays null. Dates become ISO strings, numpy scalars become Python
values, arrays become lists, and categories become strings.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import json
import math
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from .errors import DataError, UsageError
from .values import Json


@runtime_checkable
class ArrowTable(Protocol):
    """A table with the Arrow interface, from pandas 2.2 or later, Polars, DuckDB or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a capsule (a C pointer object) that contains an Arrow stream."""
        ...


@runtime_checkable
class ArrowBatch(Protocol):
    """A batch of rows with the Arrow interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a pair of capsules (C pointer objects): an Arrow schema and an Arrow
        array.
        """
        ...


Rows: TypeAlias = Collection[Mapping[str, Any]]
TableLike: TypeAlias = Rows | ArrowTable | ArrowBatch

ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")
# Methods that return the rows of a table as tuples, by library: pandas, Polars, DuckDB.
_ROW_METHODS: Mapping[str, Mapping[str, Json]] = {
    "itertuples": {"index": False, "name": None}, "rows": {}, "fetchall": {},
}  # fmt: skip
_VALID = "it must be a path, a list of dicts or a table of pandas, Polars, DuckDB or Arrow"


@dataclass(frozen=True)
class RowTable:
    """A table whose cells are JSON values.

    Attributes:
        content: The rows as JSON Lines in UTF-8, one JSON object per line.
        rows: The number of rows.
        columns: The number of columns.
    """

    content: bytes
    rows: int
    columns: int

    def __str__(self) -> str:
        rows, columns = "row" + "s" * (self.rows != 1), "column" + "s" * (self.columns != 1)
        return f"table of {self.rows:,} {rows} and {self.columns:,} {columns}"

    __repr__ = __str__

    def identify(self) -> dict[str, Json]:
        """Return {"name", "sha256"} of this table, in the form that is used for data files.

        The name is the size of the table in words. The hash covers the content.
        """
        return {"name": str(self), "sha256": hashlib.sha256(self.content).hexdigest()}


def read_table(table: object) -> RowTable:
    """Read a list of dicts, or a table with the Arrow interface, as JSON rows.

    Raises:
        UsageError: `table` has an unsupported type.
        DataError: The table has no rows or no columns, a column name is repeated or is not a
            string, or a value cannot be expressed in JSON.
    """
    if isinstance(table, RowTable):
        return table
    if isinstance(table, list | tuple):
        names, rows = _read_dicts(table)
    elif any(hasattr(table, name) for name in ARROW_METHODS) and not hasattr(table, "to_frame"):
        names, rows = _read_arrow(table)
    else:
        first = next((name for name in ("collect", "to_frame") if hasattr(table, name)), "")
        hint = f"; call {first}() first" if first else ""  # a lazy table, or a single column
        raise UsageError(f"the data is of type {_type_name(table)}: {_VALID}{hint}")
    lines = [_line(number, row) for number, row in enumerate(rows, 1)]
    if not lines or not names:
        raise DataError(f"the {_type_name(table)} has no {'columns' if lines else 'rows'}")
    return RowTable(b"".join(lines), len(lines), len(names))


def _type_name(value: object) -> str:
    return type(value).__name__


def _read_dicts(rows: Sequence[Any]) -> tuple[list[str], Iterable[dict[str, Json]]]:
    names: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise UsageError(f"the data, row {number}, is of type {_type_name(row)}: {_VALID}")
        names |= dict.fromkeys(_check_names(row))
    return list(names), (_plain_row(number, row.items()) for number, row in enumerate(rows, 1))


def _read_arrow(table: Any) -> tuple[list[str], Iterable[dict[str, Json]]]:
    names, rows = _cells(table)
    kinds = map(str, getattr(table, "dtypes", ()))
    categories = {
        name for name, kind in zip(_check_names(names), kinds, strict=False) if kind == "category"
    }
    found = []
    for number, cells in enumerate(rows, 1):
        there = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell is not None]
        found.append(_plain_row(number, there, categories))
    known = set().union(*found)
    if found:  # a column without values stays a column
        found[0] |= {name: None for name in names if name not in known}
    return names, found


def _cells(table: Any) -> tuple[list[Any], Iterable[Sequence[Any]]]:
    """Return the column names of a table, and the cells of each row."""
    for method, arguments in _ROW_METHODS.items():
        if callable(getattr(table, method, None)) and hasattr(table, "columns"):
            return list(table.columns), getattr(table, method)(**arguments)
    import duckdb

    try:
        with duckdb.connect() as base:
            found = base.from_arrow(_arrow_only(table))
            names, rows = list(found.columns), found.fetchall()
    except (duckdb.Error, ImportError, TypeError, ValueError) as error:
        words = str(error).partition("\n")[0][:200]
        raise DataError(f"the {_type_name(table)} cannot be read as a table: {words}") from None
    # DuckDB renames columns whose names differ in case alone.
    own = list(getattr(getattr(table, "schema", None), "names", names))
    return own if len(own) == len(names) else names, rows


def _arrow_only(table: Any) -> object:
    """Return an object that has only the Arrow interface of a table.

    Otherwise DuckDB might recognize the type of the table, and read it with a package that is
    missing.
    """
    there = [name for name in ARROW_METHODS if hasattr(table, name)]
    return type("ArrowOnly", (), {name: staticmethod(getattr(table, name)) for name in there})()


def _check_names(names: Iterable[Any]) -> Iterable[str]:
    """Return the column names.

    Raises:
        DataError: a name is no string or occurs twice.
    """
    seen = set()
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"the column name {name!r} is no string: rename the column")
        if name in seen:
            raise DataError(f"the column name {name!r} occurs twice: rename one of the columns")
        seen.add(name)
    return names


def _plain_row(
    number: int, cells: Iterable[tuple[str, Any]], categories: Collection[str] = ()
) -> dict[str, Json]:
    """Return a row as JSON; cells that are NaN, NaT or NA are left out."""
    try:
        return {
            name: str(cell) if name in categories else _plain(cell)
            for name, cell in cells
            if not _is_missing(cell)
        }
    except (_NoJson, RecursionError) as error:
        kind = "nested too deeply" if isinstance(error, RecursionError) else f"of type {error}"
        raise DataError(
            f"the data, row {number}: a value {kind} cannot be read; convert its column to text or"
            " numbers, or leave it out"
        ) from None


def _line(number: int, row: dict[str, Json]) -> bytes:
    try:
        return json.dumps(row, allow_nan=False).encode() + b"\n"
    except (ValueError, RecursionError) as error:
        raise DataError(f"the data, row {number}: not JSON: {error}") from None


class _NoJson(Exception):
    """Raised for a value that JSON cannot express; the message is the name of its type."""


def _is_missing(cell: Any) -> bool:
    """Return whether a value is NaN, NaT, NA of pandas, or an infinity."""
    if type(cell).__name__ in ("NAType", "NaTType"):  # of pandas, which need not be installed
        return True
    if type(cell).__module__ == "numpy" and getattr(cell, "shape", None) == ():
        return bool(cell != cell)
    return isinstance(cell, float | decimal.Decimal) and not math.isfinite(cell)


def _plain(cell: Any) -> Json:
    """Return a value as JSON. Raises `_NoJson`."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if _is_missing(cell):
        return None
    if isinstance(cell, Mapping):
        return {name: _plain(cell[name]) for name in _check_names(cell)}
    if isinstance(cell, list | tuple):
        return [_plain(value) for value in cell]
    if isinstance(cell, float | decimal.Decimal):
        return float(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, uuid.UUID):
        return str(cell)
    if type(cell).__module__ == "numpy" and cell.dtype.kind == "M":
        return [_plain(value) for value in cell] if cell.shape else str(cell)
    if type(cell).__module__ == "numpy" and cell.dtype.kind in "biufO":
        return _plain(cell.tolist())
    raise _NoJson(type(cell).__name__)
