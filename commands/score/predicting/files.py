"""Write predictions as further columns of the data, in CSV or Parquet.

The columns `prediction`, `agreement` and `rule` follow the columns of the data. Some families add
further columns (`valid` and `cost` for a rule about worlds). If a row has no prediction, the column
`reason` says why. If the data already has a column with one of these names, the new column gets a
number, as in `prediction_2`.

In CSV, the cells of a CSV data file are kept exactly as they were, and outputs of programs are
written as in a file of pairs (`tasks.custom.pair_values.format_cell`). In Parquet, the types of a
Parquet data file are kept. DuckDB writes the Parquet file, so empty column names, and names that
differ only in capital letters, get a number. If the values of a column have no common type, they
are written as JSON text.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from ....records import Json, UsageError
from ....records.private_files import write_folder
from ....reports.files.tables import as_text_cell
from ....reports.files.writing import check_paths
from ....store.export import disk_errors
from ....tasks.custom.pair_values import format_cell
from ....tasks.io.files import expand_home
from ....tasks.io.json_text import SURROGATE_PATTERN
from ....tasks.text.tables import Table, escape_pattern, infer_types
from ..results import PredictionFile, PredictionRow

ENDINGS = (".csv", ".parquet")
ROWS_PER_INSERT = 10_000
MAX_INTEGER = 2**63


def check_prediction_file(out: str | Path, data: str | Path) -> Path:
    """Check that predictions can be written to the file `out`, and return the path of the file.

    Raises:
        UsageError: `out` does not end in .csv or .parquet, cannot be written, or is the data file
            itself.
    """
    target = expand_home(out)
    if target.suffix.lower() not in ENDINGS:
        raise UsageError(f"{target}: the name of a file of predictions ends in .csv or .parquet")
    check_paths([target])
    source = expand_home(data)
    if source.exists() and target.exists() and source.samefile(target):
        raise UsageError(f"{target}: this is the file with the data; choose another file")
    return target


def write_predictions(
    target: Path, table: Table, rows: Iterable[PredictionRow], problem: str
) -> PredictionFile:
    """Write the rows of a table with their predictions, and return a summary of the written file.

    Args:
        target: the file to write.
        table: the columns of the data.
        rows: the prediction for each row of the table.
        problem: id of the problem whose hypotheses were applied.

    Raises:
        DataError: the disk is full.
        OSError: the file cannot be written.
    """
    found = list(rows)
    as_csv = target.suffix.lower() == ".csv"
    added = _added_columns(found, table)
    names = list(table.columns) if as_csv else number_names(table.columns, (), ignore_case=True)
    own = dict(zip(names, table.columns.values(), strict=True))
    free = number_names(added, [*table.columns, *names], ignore_case=not as_csv)
    added = dict(zip(free, added.values(), strict=True))
    write = _write_csv if as_csv else _write_parquet
    with disk_errors(target):
        write_folder(target, lambda place: write(place, table, own, added), replace=True)
    undefined = Counter(str(row["reason"]) for row in found if row["reason"])
    known = [bool(row["right"]) for row in found if "right" in row]
    return PredictionFile(
        file=str(target),
        problem=problem,
        rows=len(found),
        predicted=len(found) - sum(undefined.values()),
        undefined=dict(undefined),
        columns=[*own, *added],
        **({"expected": len(known), "right": sum(known)} if known else {}),
    )


def _added_columns(rows: Sequence[PredictionRow], table: Table) -> dict[str, list[Any]]:
    """Return the added columns. Outputs of programs are `_Output`, texts of rules are `_Rule`."""
    is_label = any("label" in row for row in rows)
    names = ["prediction", "agreement", "rule"]
    names += [name for name in (rows[0].observation if rows else ()) if name not in table.columns]
    names += ["reason"] * any(row["reason"] for row in rows)
    columns = {name: [row[name] for row in rows] for name in names}
    columns["prediction"] = [
        None if row["reason"] else one if is_label else _Output(one)
        for row, one in zip(rows, columns["prediction"], strict=True)
    ]
    columns["rule"] = [None if one is None else _Rule(one) for one in columns["rule"]]
    return columns


class _Output:
    """An output of a hypothesis, which may be any JSON value, also null."""

    def __init__(self, value: Json) -> None:
        self.value = value


class _Rule(str):
    """The text of a hypothesis, which a spreadsheet must not take for a formula."""


def number_names(names: Iterable[str], own: Iterable[str], *, ignore_case: bool) -> list[str]:
    """Return `names` with a number added to each name that is empty or already taken.

    Args:
        names: the names.
        own: further names that are taken.
        ignore_case: whether names that differ only in capital letters count as equal.
    """
    taken = {name.casefold() if ignore_case else name for name in own}
    found = []
    for name in names:
        base = name or "column"
        for free in chain([base], (f"{base}_{number}" for number in count(2))):
            key = free.casefold() if ignore_case else free
            if key not in taken:
                break
        taken.add(key)
        found.append(free)
    return found


# --- CSV ------------------------------------------------------------------------------


def _write_csv(
    place: Path, table: Table, own: Mapping[str, Sequence[Any]], added: Mapping[str, Sequence[Any]]
) -> None:
    with open(place, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*own, *added])
        columns = [*own.values(), *added.values()]
        writer.writerows([_csv_cell(cell) for cell in row] for row in zip(*columns, strict=True))


def _csv_cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case _Output():
            return format_cell(value.value)
        case _Rule():
            return as_text_cell(_text(value))
        case str():
            return _text(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _text(value: str) -> str:
    """Return a text that UTF-8 can hold: half a character is written as JSON writes it."""
    return SURROGATE_PATTERN.sub(lambda found: json.dumps(found.group())[1:-1], value)


# --- Parquet --------------------------------------------------------------------------


def _write_parquet(
    place: Path, table: Table, own: Mapping[str, Sequence[Any]], added: Mapping[str, Sequence[Any]]
) -> None:
    import duckdb

    with duckdb.connect() as base:
        base.execute("SET threads TO 1")
        out = str(place.absolute()).replace("'", "''")
        plain = {
            name: [one.value if isinstance(one, _Output) else one for one in cells]
            for name, cells in added.items()
        }
        if table.path.suffix.lower() == ".parquet" and table.path.is_file():
            numbers = dict(zip(table.numbers, range(len(table)), strict=True))
            places = [numbers.get(row) for row in range(1, max(numbers, default=0) + 1)]
            marks = {_MARK: [one is not None for one in places]}
            aligned = {
                name: [None if one is None else cells[one] for one in places]
                for name, cells in plain.items()
            }
            _create_table(base, "added", {**marks, **aligned})
            source = escape_pattern(table.path).replace("'", "''")
            own_part = f"read_parquet('{source}', hive_partitioning = false) AS own"
            select = f"SELECT own.*, added.* EXCLUDE ({_MARK})"
            where = f" WHERE added.{_MARK}"
        else:
            typed = infer_types([Table(table.path, own, table.numbers, untyped=table.untyped)])[0]
            _create_table(base, "own", typed.columns)
            _create_table(base, "added", plain)
            own_part, select, where = "own", "SELECT own.*, added.*", ""
        base.execute(
            f"COPY ({select} FROM {own_part} POSITIONAL JOIN added{where}) TO '{out}'"
            " (FORMAT parquet, COMPRESSION zstd)"
        )


_MARK = "peirce_is_predicted"


def _create_table(base: Any, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Create a table from columns of equal length, each with the type that fits its values."""
    kinds = {title: find_type(cells) for title, cells in columns.items()}
    parts = ", ".join(f"{_quote(title)} {kind or 'VARCHAR'}" for title, kind in kinds.items())
    base.execute(f"CREATE TABLE {name} ({parts})")
    casts = ", ".join(f"unnest(?::{kind or 'VARCHAR'}[])" for kind in kinds.values())
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, ROWS_PER_INSERT):
        part = [
            [_parquet_cell(cell, kinds[title]) for cell in cells[start : start + ROWS_PER_INSERT]]
            for title, cells in columns.items()
        ]
        base.execute(f"INSERT INTO {name} SELECT {casts}", part)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def find_type(cells: Iterable[Any]) -> str | None:
    """Return the DuckDB type of a column, or None if its values have no common type.

    Args:
        cells: the values of the column.
    """
    kinds: set[str | None] = set()
    inner: list[Any] = []
    for cell in cells:
        if isinstance(cell, list):
            kinds.add("[]")
            inner += cell
        elif cell is not None:
            kinds.add(_scalar_type(cell))
    if kinds == {"[]"}:
        item = find_type(inner)
        return None if item is None else f"{item}[]"
    if kinds == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    if not kinds:
        return "VARCHAR"
    return kinds.pop() if len(kinds) == 1 else None


def _scalar_type(value: Any) -> str | None:
    match value:
        case bool():
            return "BOOLEAN"
        case int():
            return "BIGINT" if -MAX_INTEGER <= value < MAX_INTEGER else None
        case float():
            return "DOUBLE"
        case str():
            return "VARCHAR"
    return None


def _parquet_cell(value: Any, kind: str | None) -> Any:
    if value is None:
        return None
    if kind is None:
        return json.dumps(value, default=str)
    if isinstance(value, list):
        return [_parquet_cell(one, kind.removesuffix("[]")) for one in value]
    return _text(value) if isinstance(value, str) else value
