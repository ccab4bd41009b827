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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..records import StoreError
from .connection import Row

Statement = tuple[str, Sequence[Any]]  # SQL and its parameters

_LENGTH = struct.Struct("<I")
_SMALL = 1 << 31  # integers below fit into every column of integers
_CELLS = (str, bool, float, bytes, type(None))


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


def is_storable(change: Change) -> bool:
    """Return whether a change can be kept as bytes, and its cells fit into their columns.

    DuckDB reports a cell that does not fit only when it inserts the row, so such a change must be
    inserted at once.
    """
    return change.chain is not None and all(
        isinstance(cell, _CELLS)
        or (isinstance(cell, int) and -_SMALL <= cell < _SMALL)
        or (isinstance(cell, list) and all(mark is None or mark is True or mark is False for mark in cell))
        for cell in _cells(change)
    )  # fmt: skip


def _cells(change: Change) -> Iterator[Any]:
    for rows in change.rows.values():
        for row in rows:
            yield from row
    for _, params in change.statements:
        yield from params
    if change.unless is not None:
        yield from change.unless[1]


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

    told = [[one.rows, one.statements, one.unless, one.chain] for one in changes]
    head = json.dumps(told, ensure_ascii=False, separators=(",", ":"), default=refer).encode()
    return _LENGTH.pack(len(head)) + head + body


def decode_changes(data: bytes) -> list[Change]:
    """Return the changes that `encode_changes` turned into bytes.

    Raises:
        StoreError: The bytes are damaged.
    """
    try:
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length

        def cells(row: Sequence[Any]) -> Row:
            return tuple(
                data[start + one["b"][0] : start + sum(one["b"])] if isinstance(one, dict) else one
                for one in row
            )

        return [
            Change(
                {table: [cells(row) for row in some] for table, some in rows.items()},
                [(sql, cells(params)) for sql, params in statements],
                None if unless is None else (unless[0], cells(unless[1])),
                chain,
            )
            for rows, statements, unless, chain in json.loads(data[_LENGTH.size : start])
        ]
    except (struct.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise StoreError(
            f"the store is damaged: its pending changes cannot be read: {error}"
        ) from error
