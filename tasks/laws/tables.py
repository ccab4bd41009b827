"""Read the rows of a table whose numeric column is to be explained.

The target must hold numbers. The other columns are inputs: numbers, or categories (texts that repeat).
Columns without values, with one value, with row numbers, with texts that hardly repeat, and copies of
other columns are left out with a warning. So are rows with a missing value and repeated rows. A text
in a column of numbers, such as "12 kg", is an error that names its line; with `--skip-bad` the row is
left out.

A unit may stand in brackets at the end of a column's name, as in `mass [kg]` or `mass (kg)`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...records import DataError, Json, UsageError
from ...tools.formulas import make_identifiers
from ..io.bad_records import BadRecords
from ..io.messages import shorten, suggest_nearest, warn
from ..text.own_rows import SPLIT_COLUMN, find_split
from ..text.tables import Table, infer_types, read_table

MOST_CATEGORIES = 30  # values of a column of categories
LONGEST_CATEGORY = 60  # characters
NUMBER_SHARE = 0.8  # of the values are numbers in a column of numbers that also has texts
LEAST_ROWS = 5
MOST_ROWS = 20_000  # of a table that are looked at
LARGEST = 1e150  # of a number, so that its square is finite
LEAST_SPREAD = 1e-150  # of the target, so that its square is above 0
BEYOND = "a number beyond 1e150"  # in place of a number that is too large
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "-", "?", ".", "#n/a", "#value!"})

WRITE_NUMBERS = "write its numbers like 1234.5, without commas and units"

_WRITTEN = re.compile(r"[-+]?\d[\d.,' ]*(?:e[-+]?\d+)?\s*[^\W\d]{0,4}[%°/²³]*[^\W\d]{0,4}")
_UNIT = re.compile(r"(.*\S)\s*(?:\[([^\[\]]+)\]|\(([^()]+)\))")
_NUMBERING = re.compile(r"(?:unnamed: ?\d+|(?:row_?)?(?:id|idx|index|no|nr|number)|)")


@dataclass(frozen=True)
class LawRows:
    """The usable rows of a table, with its inputs and its target.

    Attributes:
        name: The name of the data, which becomes the id of the problem.
        target: The column to explain.
        inputs: The records of the input columns, one for each row.
        outputs: The values of the target.
        units: The units of columns by name, as text.
        splits: The split of each row ("train", "val" or "test"), if a column names it.
    """

    name: str
    target: str
    inputs: Sequence[Mapping[str, Json]]
    outputs: Sequence[float]
    units: Mapping[str, str] = field(default_factory=dict)
    splits: Sequence[str] = ()


def read_rows(path: Path, target: str, columns: Sequence[str], units: str | None) -> LawRows:
    """Read a table.

    Args:
        path: A CSV, TSV, JSON, JSON Lines or Parquet file.
        target: The column to explain.
        columns: The input columns; empty to use all columns that can be.
        units: Units as in `m=kg,v=m/s`; None for those in the names of columns.

    Raises:
        UsageError: A named column does not exist.
        DataError: The file cannot be read, or its rows are too few or have nothing to explain.
    """
    with BadRecords(path) as bad:
        (table,) = infer_types([_draw_rows(_leave_unmeasured(read_table(path, bad), target))])
        return select_rows(table, bad, target, columns, units)


def select_rows(
    table: Table, bad: BadRecords, target: str, columns: Sequence[str], units: str | None
) -> LawRows:
    """Return the usable rows and columns of a table; see `read_rows`."""
    path = table.path
    for name in (target, *columns):
        if name not in table.columns:
            raise UsageError(
                f"{path}: there is no column {name!r}{suggest_nearest(name, table.columns)}"
            )
    splits = _find_splits(table, target)
    known = _parse_units(units, table.columns, path)
    cells = {
        name: _convert(some)
        for name, some in table.columns.items()
        if name == target or name in columns or not columns
    }
    if splits and SPLIT_COLUMN not in columns:
        cells.pop(SPLIT_COLUMN, None)
    _check_target(path, target, cells[target])
    chosen = [name for name in cells if name != target and _is_input(path, name, cells[name])]
    used = {name: cells[name] for name in (*chosen, target)}
    kinds = {name: _is_number(some) for name, some in used.items()}
    rows: list[int] = []
    missing = 0
    for row in range(len(table)):
        if any(some[row] is None for some in used.values()):
            missing += 1
            continue
        with bad.record(table.place(row), path):
            for name, some in used.items():
                if kinds[name] and some[row] == BEYOND:
                    raise DataError(
                        f"{table.describe_location(row)}, {name}: this is {BEYOND}, which cannot be used"
                    )
                if kinds[name] and not isinstance(some[row], int | float):
                    raise DataError(
                        f"{table.describe_location(row)}, {name}: {shorten(some[row], 40)!r} is no"
                        " number that can be used, as the other values of the column are"
                    )
            rows.append(row)
    if missing:
        warn(f"{path}: {_count(missing)} with a missing value {_are(missing)} left out")
    rows = _drop_repeated(path, rows, used)
    if len(rows) < LEAST_ROWS:
        raise bad.no_records_error(
            f"{path}: {_count(len(rows))} can be used, and a law needs at least {LEAST_ROWS}"
        )
    outputs = [float(used[target][row]) for row in rows]
    if max(outputs) - min(outputs) < LEAST_SPREAD:
        raise DataError(
            f"{path}: the column {target!r} has the value {used[target][rows[0]]} in every row, or values"
            f" that differ by less than {LEAST_SPREAD:g}, and there is nothing to explain"
        )
    chosen = _drop_useless(path, chosen, target, used, rows)
    if not chosen:
        raise DataError(f"{path}: no column is left that could explain {target!r}")
    return LawRows(
        name=Path(path.name.removesuffix(".gz")).stem,
        target=target,
        inputs=[{name: used[name][row] for name in chosen} for row in rows],
        outputs=[used[target][row] for row in rows],
        units={name: known[name] for name in (*chosen, target) if name in known},
        splits=[splits[row] for row in rows] if splits else (),
    )


def _leave_unmeasured(table: Table, target: str) -> Table:
    """Return a large table without the rows that have no target."""
    if len(table) <= MOST_ROWS or target not in table.columns:
        return table
    kept = [_plain(cell) is not None for cell in table.columns[target]]
    if missing := len(kept) - sum(kept):
        warn(
            f"{table.path}: {_count(missing)} without a value of {target!r} {_are(missing)} left out"
        )
    return table.filter(kept)


def _draw_rows(table: Table) -> Table:
    """Return a table with at most `MOST_ROWS` rows, drawn at random, but always the same."""
    count = len(table)
    if count <= MOST_ROWS:
        return table
    kept = set(random.Random(f"rows of a table {count}").sample(range(count), MOST_ROWS))
    warn(f"{table.path}: {MOST_ROWS:,} of {count:,} rows are drawn and used")
    return table.filter([row in kept for row in range(count)])


def make_column_identifiers(names: Sequence[str]) -> dict[str, str]:
    """Return an identifier for each column; a unit at the end of the name is not part of it."""
    plain = {name: split_unit(name)[0] for name in names}
    repeated = {one for one in plain.values() if list(plain.values()).count(one) > 1}
    bare = [name if plain[name] in repeated else plain[name] for name in names]
    found = make_identifiers(bare)
    return {name: found[own] for name, own in zip(names, bare, strict=True)}


def split_unit(name: str) -> tuple[str, str]:
    """Return (name, unit) of a column such as `mass [kg]`; the unit is "" if there is none."""
    found = _UNIT.fullmatch(name)
    return (found[1], (found[2] or found[3]).strip()) if found else (name, "")


def _parse_units(units: str | None, columns: Mapping[str, object], path: Path) -> dict[str, str]:
    found = {name: unit for name in columns if (unit := split_unit(name)[1])}
    by_own = {split_unit(name)[0]: name for name in columns}
    for part in (units or "").split(","):
        name, mark, unit = (one.strip() for one in part.partition("="))
        if not name and not mark:
            continue
        if not mark or not unit:
            raise UsageError(f"units has {part.strip()!r}: write COLUMN=UNIT, as in m=kg,v=m/s")
        place = name if name in columns else by_own.get(name)
        if place is None:
            raise UsageError(
                f"units: {path} has no column {name!r}{suggest_nearest(name, columns)}"
            )
        found[place] = unit
    return found


def _find_splits(table: Table, target: str) -> list[str]:
    """Return the split of each row if a column names it, else an empty list."""
    cells = table.columns.get(SPLIT_COLUMN, ())
    if target == SPLIT_COLUMN or not cells:
        return []
    found = [find_split(cell) if isinstance(cell, str) else None for cell in cells]
    named = [one for one in found if one is not None]
    return named if len(named) == len(found) and "train" in named else []


# --- cells ----------------------------------------------------------------------------


def _convert(cells: Sequence[Json]) -> list[Json]:
    """Return cells with None for missing values, and numbers for texts that are numbers.

    Texts become numbers only in a column that mostly has numbers. Truth values become 0 and 1.
    """
    found = [_plain(cell) for cell in cells]
    filled = [cell for cell in found if cell is not None]
    texts = [cell for cell in filled if isinstance(cell, str)]
    if not texts or len(texts) > len(filled):
        return found
    numbers = [_number(cell) if isinstance(cell, str) else cell for cell in found]
    known = sum(isinstance(one, int | float) for one in numbers)
    if known < NUMBER_SHARE * len(filled):
        return found
    return [cell if one is None else one for cell, one in zip(found, numbers, strict=True)]


def _plain(cell: Json) -> Json:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, str):
        text = cell.strip()
        return None if text.casefold() in MISSING else text
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if isinstance(cell, int | float) and abs(cell) > LARGEST:
        return BEYOND
    return cell


def _number(text: str) -> int | float | None:
    try:
        value = float(text.replace("_", "x"))
    except ValueError:
        return None
    if not abs(value) <= LARGEST:
        return None
    return int(value) if re.fullmatch(r"[-+]?\d{1,15}", text) else value


def _looks_like_number(text: Json) -> bool:
    """Return whether a text is a number with a comma or a unit, such as 1,5 or 12 kg."""
    return (
        isinstance(text, str) and len(text) <= LONGEST_CATEGORY and bool(_WRITTEN.fullmatch(text))
    )


def _is_number(cells: Sequence[Json]) -> bool:
    filled = [cell for cell in cells if cell is not None]
    numbers = sum(isinstance(cell, int | float) for cell in filled)
    return bool(filled) and numbers >= NUMBER_SHARE * len(filled)


# --- columns and rows that cannot be used -----------------------------------------------


def _check_target(path: Path, name: str, cells: Sequence[Json]) -> None:
    filled = [cell for cell in cells if cell is not None]
    if not filled:
        raise DataError(f"{path}: the column {name!r} has no values, so it cannot be explained")
    if not _is_number(cells):
        text = next(cell for cell in filled if not isinstance(cell, int | float))
        if text == BEYOND:
            raise DataError(f"{path}: the column {name!r} holds {BEYOND}, which cannot be used")
        advice = (
            WRITE_NUMBERS
            if _looks_like_number(text)
            else f"for labels use peirce run labels --data FILE --label {name}"
        )
        raise DataError(
            f"{path}: the column {name!r} holds {shorten(text, 40)!r}, and a law explains numbers;"
            f" {advice}"
        )


def _is_input(path: Path, name: str, cells: Sequence[Json]) -> bool:
    """Return whether a column can be an input, and warn if it cannot."""
    fault = _find_fault(name, [cell for cell in cells if cell is not None], len(cells))
    if fault:
        warn(f"{path}: the column {name!r} {fault} and is ignored")
    return not fault


def _find_fault(name: str, filled: Sequence[Json], rows: int) -> str:
    if not filled:
        return "is empty"
    if 2 * len(filled) < rows:
        return "is empty in most rows"
    if any(isinstance(cell, dict | list) for cell in filled):
        return "holds lists or objects"
    distinct = len(set(filled))
    numbering = _NUMBERING.fullmatch(name.strip().casefold())
    if numbering and distinct == rows and all(isinstance(cell, int | str) for cell in filled):
        return "numbers the rows"
    if _is_number(filled):
        return ""
    if BEYOND in filled:
        return "holds numbers beyond 1e150"
    texts = [cell for cell in filled if isinstance(cell, str)]
    if len(texts) < len(filled) * NUMBER_SHARE:
        return "mixes numbers and texts"
    if 2 * distinct > len(filled) and all(map(_looks_like_number, texts)):
        return f"holds texts such as {shorten(texts[0], 40)!r} ({WRITE_NUMBERS})"
    if max(map(len, texts)) > LONGEST_CATEGORY or 2 * distinct > len(filled):
        return "holds texts that hardly repeat"
    if distinct > MOST_CATEGORIES:
        return f"holds {distinct:,} different texts"
    return ""


def _drop_useless(
    path: Path,
    names: Sequence[str],
    target: str,
    cells: Mapping[str, Sequence[Json]],
    rows: Sequence[int],
) -> list[str]:
    """Return the columns that vary in the rows and do not repeat another column or the target.

    A copy of the target is kept if there is nothing else: then it is the law.
    """
    values = {name: tuple(cells[name][row] for row in rows) for name in (*names, target)}
    first: dict[tuple[Json, ...], str] = {}
    faults = {}
    for name in names:
        if len(set(values[name])) == 1:
            faults[name] = "has the same value in every row"
        elif (other := first.setdefault(values[name], name)) != name:
            faults[name] = f"repeats the column {other!r}"
    kept = [name for name in names if name not in faults]
    if len(kept) > 1:
        faults |= {
            name: f"repeats the column {target!r}"
            for name in kept
            if values[name] == values[target]
        }
    for name, fault in faults.items():
        warn(f"{path}: the column {name!r} {fault} and is ignored")
    return [name for name in kept if name not in faults]


def _drop_repeated(
    path: Path, rows: Sequence[int], cells: Mapping[str, Sequence[Json]]
) -> list[int]:
    first: dict[tuple[Json, ...], int] = {}
    for row in rows:
        first.setdefault(tuple(some[row] for some in cells.values()), row)
    if repeated := len(rows) - len(first):
        verb = "repeats another row and is" if repeated == 1 else "repeat other rows and are"
        warn(f"{path}: {_count(repeated)} {verb} left out")
    return list(first.values())


def _count(rows: int) -> str:
    return f"{rows:,} row{'s' * (rows != 1)}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
