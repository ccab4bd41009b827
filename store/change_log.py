"""Changes of a store, and the bytes in which the table `pending` keeps them.

One row in many tables takes DuckDB ten times as long as one row in one table, because its work per
statement and column is much larger than its work per value. Therefore the writer first commits
changes as one blob, and inserts the rows of many changes together later (`writer.py`).

A blob is a length (4 bytes, little-endian), that many bytes of JSON and the bytes of all BLOB cells.
In the JSON, a BLOB cell is {"b": [start, length]}.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..records import StoreError
from .schema import TABLES, Row

Statement = tuple[str, Sequence[Any]]  # SQL and its parameters

END_PROBLEM = "UPDATE problem SET status = ?, cause = ? WHERE session = ? AND problem = ?"
STEP_IS_THERE = "SELECT 1 FROM step WHERE session = ? AND problem = ? AND step = ?"
# The only SQL that a blob may hold: a store may come from another person, and its blobs are run by
# whoever opens it next.
STORABLE_SQL = frozenset({END_PROBLEM, STEP_IS_THERE})

_LENGTH = struct.Struct("<I")
# Whether a cell fits into a column, by the type of the column. Columns of other types are not
# expected in a blob.
_FITS: Mapping[str, Callable[[Any], bool]] = {
    "VARCHAR": lambda cell: isinstance(cell, str),
    "BLOB": lambda cell: isinstance(cell, bytes),
    "BOOLEAN": lambda cell: isinstance(cell, bool),
    "TINYINT": lambda cell: isinstance(cell, int) and -(1 << 7) <= cell < 1 << 7,
    "INTEGER": lambda cell: isinstance(cell, int) and -(1 << 31) <= cell < 1 << 31,
    "BIGINT": lambda cell: isinstance(cell, int) and -(1 << 63) <= cell < 1 << 63,
    "DOUBLE": lambda cell: (
        isinstance(cell, float) or (isinstance(cell, int) and abs(cell) < 1 << 53)
    ),
    "BOOLEAN[]": lambda cell: (
        isinstance(cell, list)
        and all(mark is None or mark is True or mark is False for mark in cell)
    ),
}


class Column(NamedTuple):
    """A column of a table: its type in SQL, and whether a cell may be NULL."""

    type: str
    nullable: bool

    def holds(self, cell: Any) -> bool:
        """Return whether a cell fits into this column."""
        if cell is None:
            return self.nullable
        fits = _FITS.get(self.type)
        return fits is not None and fits(cell)


@dataclass(frozen=True)
class Change:
    """Rows and statements that are written to the store together or not at all.

    Attributes:
        rows: Rows to insert, by table.
        statements: Statements with their parameters, run after the inserts.
        unless: A query with its parameters. If a key already exists and this query returns a row,
            nothing is written. None for no such query.
        chain: The name of a chain of changes; None for none. If a change of a chain fails, all
            later changes of this chain fail with the same error, so the store holds a prefix of
            them. Changes of a chain may be kept as bytes first. Writing them twice must change
            nothing.
    """

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    statements: Sequence[Statement] = ()
    unless: Statement | None = None
    chain: str | None = None

    def count_rows(self) -> int:
        """Return the number of rows and statements."""
        return sum(len(rows) for rows in self.rows.values()) + len(self.statements)


def is_storable(change: Change, columns_of: Callable[[str], Sequence[Column]]) -> bool:
    """Return whether a change can be kept as bytes, and its cells fit into their columns.

    DuckDB reports a cell that does not fit only when it inserts the row, so such a change must be
    inserted at once.

    Args:
        change: The change.
        columns_of: Returns the columns of a table in their order, by its name.
    """
    if change.chain is None:
        return False
    for table, rows in change.rows.items():
        columns = columns_of(table)
        for row in rows:
            if len(row) != len(columns) or not all(map(Column.holds, columns, row)):
                return False
    queries = [*change.statements, *([change.unless] if change.unless else ())]
    return all(
        sql in STORABLE_SQL and all(isinstance(one, str | int) for one in params)
        for sql, params in queries
    )


def encode_changes(changes: Sequence[Change]) -> bytes:
    """Return changes as bytes; `decode_changes` restores them.

    Raises:
        UnicodeEncodeError: A text holds a lone surrogate.
    """
    body = bytearray()

    def refer(cell: Any) -> dict[str, list[int]]:
        if not isinstance(cell, bytes):
            raise TypeError(f"a change holds a {type(cell).__name__}")
        body.extend(cell)
        return {"b": [len(body) - len(cell), len(cell)]}

    listed = [[one.rows, one.statements, one.unless, one.chain] for one in changes]
    head = json.dumps(listed, ensure_ascii=False, separators=(",", ":"), default=refer).encode()
    return _LENGTH.pack(len(head)) + head + body


def decode_changes(data: bytes) -> list[Change]:
    """Return the changes that `encode_changes` turned into bytes.

    Raises:
        StoreError: The bytes are damaged, or hold SQL that Peirce does not write there.
    """
    try:
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length

        def cells(row: Sequence[Any]) -> Row:
            return tuple(
                data[start + one["b"][0] : start + sum(one["b"])] if isinstance(one, dict) else one
                for one in row
            )

        found = [
            Change(
                {table: [cells(row) for row in some] for table, some in rows.items()},
                [(sql, cells(params)) for sql, params in statements],
                None if unless is None else (unless[0], cells(unless[1])),
                chain,
            )
            for rows, statements, unless, chain in json.loads(data[_LENGTH.size : start])
        ]
        for one in found:
            queries = [*one.statements, *([one.unless] if one.unless else ())]
            if not one.rows.keys() <= TABLES.keys() or any(
                sql not in STORABLE_SQL for sql, _ in queries
            ):
                raise ValueError("they hold other SQL than Peirce writes")
        return found
    except (struct.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise StoreError(
            f"the store is damaged: its pending changes cannot be read: {error}"
        ) from error
