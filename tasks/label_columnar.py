"""Parquet and Arrow files of data sets of Hugging Face: columns of plain cells.

Parquet is read by duckdb, which the package needs anyway. Arrow, what `save_to_disk` writes, needs
pyarrow, which comes with the extra `train`. A column of class labels holds numbers; their names
stand in what the file says of its features, or in dataset_info.json beside it, and are what is
read. Dates are read as text, and cells of bytes, images or audio as what they are: none of these
is an input.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..records import DataError, Json, UsageError
from .sentences import shorten

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
