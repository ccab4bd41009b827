"""Make a table in memory available as a temporary JSONL file, so that all tasks can read it."""

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
    """Yield a path from which loaders read `data`.

    If `data` is a path, the same path is yielded. A table is written to a temporary JSONL file with
    one row per line, and the path of the file is yielded. The file is deleted at the end of the
    `with` block. Errors and warnings in the block name the table and the row instead of the file.

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
