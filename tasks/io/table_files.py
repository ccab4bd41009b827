"""A user's table as a file: the readers of all tasks read a table in memory as they read JSONL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...records.tables import RowTable, TableLike, read_table
from .messages import name_file

TABLE_FILE = "table.jsonl"  # its problem or data set is named "table"


@contextmanager
def open_data(data: str | Path | RowTable | TableLike) -> Iterator[str | Path]:
    """Yield the path of data: a path as it is, and a table as a JSONL file with one row per line.

    The file exists only in the block. Errors and warnings name the table and its row.

    Raises:
        UsageError: the data is neither a path nor a table.
        DataError: the table cannot be read.
    """
    if isinstance(data, str | Path):
        yield data
        return
    table = read_table(data)
    with tempfile.TemporaryDirectory(prefix="peirce-") as folder:
        path = Path(folder, TABLE_FILE)
        path.write_bytes(table.content)
        with name_file(path, str(table)):
            yield path
