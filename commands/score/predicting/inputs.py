"""Read the inputs to predict, together with the columns of the file that contains them.

For programs and laws, the file is JSON Lines, a JSON list, CSV, TSV or Parquet. A row is an input, or has a
column `input` and optionally a column `output`. If the session's inputs are objects, a row may also
have the keys of the objects as columns; the output of a law is the column of its target. A CSV cell is read as in a file of pairs. If there is a
column `problem`, only the rows of the bank's problem are read. Any other file is read as data of
the task, and its pairs are predicted. A family whose observations consist of several inputs, such
as worlds of elements, reads its own file formats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

from ....records import (
    DataError,
    Json,
    Observation,
    Problem,
    SplitsObservations,
    registry,
)
from ....records.tasks import ReadsInputs
from ....tasks import load_family
from ....tasks.custom.pair_values import parse_cell
from ....tasks.io.bad_records import BadRecords
from ....tasks.io.files import (
    SPREADSHEET_SUFFIXES,
    expand_home,
    locate,
    read_json,
    read_jsonl,
)
from ....tasks.io.messages import shorten, warn
from ....tasks.text.tables import COLUMNAR_SUFFIXES, Table, file_type, read_table

INPUT, OUTPUT = "input", "output"
TARGET = "target"  # the public fact that names the output column of rows of a table


@dataclass(frozen=True)
class InputRow:
    """One input to predict.

    Attributes:
        input: the input.
        output: the known output; None if it is not known.
        has_output: whether the output is known.
        observation: the index of the observation that contains the input, for families whose
            observations consist of several inputs; otherwise None.
        columns: columns that identify the input in its observation, such as world and element.
    """

    input: Json
    output: Json = None
    has_output: bool = False
    observation: int | None = None
    columns: Mapping[str, Json] = field(default_factory=dict)

    @property
    def pair(self) -> Observation:
        """The input with its output. The output is None if it is not known."""
        return Observation(self.input, self.output)


@dataclass(frozen=True)
class PredictionInputs:
    """The inputs to predict, from one file.

    Attributes:
        table: the columns of the file, with n rows.
        rows: the n inputs.
        problem: the problem to which the hypotheses apply.
        observations: the observations that contain the inputs, for families whose observations
            consist of several inputs.
    """

    table: Table
    rows: Sequence[InputRow]
    problem: Problem
    observations: Sequence[Observation] = ()


def read_inputs(data: str | Path, problem: Problem) -> PredictionInputs:
    """Read the inputs to predict with hypotheses that a sandbox or solver applies.

    Args:
        data: the file or folder with the inputs.
        problem: the problem to which the hypotheses apply.

    Raises:
        UsageError: the file does not exist.
        DataError: the file contains no inputs of this problem.
    """
    path = expand_home(data)
    family = load_family(problem.family)
    if isinstance(family, SplitsObservations):
        return _split(family, path, family.read_observations(path, problem))
    if path.suffix.lower() in SPREADSHEET_SUFFIXES:
        raise DataError(f"{path}: this is a spreadsheet; save the sheet as CSV")
    source: Any = None
    if registry.is_registered("tasks", problem.task):
        source = registry.load("tasks", problem.task)
    table = None if path.is_dir() else _read_rows(locate(path, ()), problem)
    if table is not None:
        return _parse_rows(table, problem, source)
    if source is None:
        raise DataError(
            f"{path}: this is no file of inputs; give JSONL, JSON, CSV or Parquet, where each row is"
            " an input or has a column 'input' and optionally 'output'"
        )
    return _task_pairs(path, problem, source)


def _split(family: SplitsObservations, path: Path, problem: Problem) -> PredictionInputs:
    observations = (*problem.shown, *problem.hidden)
    rows = [
        InputRow(value, observation=index, columns=columns)
        for index, one in enumerate(observations)
        for columns, value in family.split_observation(one)
    ]
    columns = {name: [row.columns[name] for row in rows] for name in rows[0].columns}
    table = Table(path, columns, range(1, len(rows) + 1))
    return PredictionInputs(table, rows, problem, observations)


def _task_pairs(path: Path, problem: Problem, source: Any) -> PredictionInputs:
    problems = source.load(str(path), None, 0)
    same = [one for one in problems if one.id == problem.id] or problems
    if len(same) != 1:
        raise DataError(f"{path}: the file has {len(same)} problems, but not {problem.id!r}")
    pairs = (*same[0].shown, *same[0].hidden)
    columns = {INPUT: [one.input for one in pairs], OUTPUT: [one.output for one in pairs]}
    rows = [InputRow(one.input, one.output, True) for one in pairs]
    return PredictionInputs(Table(path, columns, range(1, len(pairs) + 1)), rows, problem)


# --- tables ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """The rows of a file, and whether each has an output."""

    table: Table
    has_output: Sequence[bool]


def _read_rows(path: Path, problem: Problem) -> _Rows | None:
    """Return the rows of a file with inputs, or None for a file of another form."""
    form = file_type(path)
    if form in (".csv", ".tsv", *COLUMNAR_SUFFIXES):
        with BadRecords(path) as bad:
            table = read_table(path, bad, keep_empty=TARGET in problem.public)
        outputs = table.columns.get(_output_column(problem), [None] * len(table))
        return _Rows(table, [cell is not None for cell in outputs])
    if form in (".jsonl", ".ndjson"):
        numbered, unit = list(read_jsonl(path)), "line"
    elif form == ".json":
        value = read_json(path)
        numbered, unit = list(enumerate(value if isinstance(value, list) else [value], 1)), "row"
    else:
        return None
    if not numbered:
        raise DataError(f"{path}: the file is empty")
    keys = _input_keys(problem)
    if not all(not isinstance(row, dict) or _is_row(row, keys) for _, row in numbered):
        return None
    rows = [row if isinstance(row, dict) else {INPUT: row} for _, row in numbered]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = Table(path, columns, [number for number, _ in numbered], unit)
    output = _output_column(problem)
    return _Rows(
        table, [row.get(output) is not None if output != OUTPUT else OUTPUT in row for row in rows]
    )


def _output_column(problem: Problem) -> str:
    """Return the column with the known outputs."""
    return str(problem.public.get(TARGET, OUTPUT))


def _input_keys(problem: Problem) -> tuple[str, ...]:
    """Return the keys of the shown inputs where all of them are objects, else nothing."""
    inputs = [pair.input for pair in problem.shown]
    if not inputs or not all(isinstance(one, dict) for one in inputs):
        return ()
    return tuple(dict.fromkeys(key for one in inputs for key in one))


def _is_row(row: Mapping[str, Json], keys: Sequence[str]) -> bool:
    """Return whether an object is a row of inputs, and not a problem with pairs of its own."""
    if INPUT in row:
        return "train" not in row
    return bool(keys) and all(key in row for key in keys)


def _parse_rows(read: _Rows, problem: Problem, source: Any) -> PredictionInputs:
    read = _of_problem(read, problem)
    table = read.table
    is_table = TARGET in problem.public  # whose cells may be missing, also in the shown rows
    keys = (INPUT,) if INPUT in table.columns and not is_table else _input_keys(problem)
    missing = [key for key in keys or (INPUT,) if key not in table.columns]
    if missing:
        there = shorten(", ".join(map(repr, table.columns)), 200)
        raise DataError(f"{table.path}: no column {missing[0]!r}; the columns are {there}")
    read_input = source.read_input if isinstance(source, ReadsInputs) else None
    inputs = [pair.input for pair in problem.shown]
    by_key = {
        key: inputs if key == INPUT else [one[key] for one in inputs if key in one] for key in keys
    }
    outputs = [pair.output for pair in problem.shown]
    column = _output_column(problem)
    rows = []
    for row, has_output in enumerate(read.has_output):
        cells = {
            key: None
            if is_table and table.columns[key][row] is None
            else _parse_value(table, key, row, by_key[key])
            for key in keys
        }
        value = cells[INPUT] if keys == (INPUT,) else cells
        if read_input is not None:
            value = read_input(value, f"{table.describe_location(row)}, {INPUT}")
        output = _parse_value(table, column, row, outputs) if has_output else None
        rows.append(InputRow(value, output, has_output))
    return PredictionInputs(table, rows, problem)


def _of_problem(read: _Rows, problem: Problem) -> _Rows:
    """Return the rows of the problem, where a column `problem` names several."""
    table = read.table
    named = [str(one) for one in table.columns.get("problem", ())]
    names = list(dict.fromkeys(named))
    if len(names) < 2:
        return read
    if problem.id not in names:
        raise DataError(
            f"{table.path}: the column 'problem' names {len(names)} problems, but not {problem.id!r}:"
            f" {shorten(', '.join(names), 200)}"
        )
    kept = [name == problem.id for name in named]
    warn(f"{table.path}: {len(kept) - sum(kept):,} rows of other problems are left out")
    return _Rows(table.filter(kept), list(compress(read.has_output, kept)))


def _parse_value(table: Table, name: str, row: int, examples: Sequence[Json]) -> Json:
    """Return the value of a cell.

    Text in CSV is parsed as in a file of pairs (tasks/custom/pair_values.py), and so is text in Parquet
    if none of the examples is text. Where all examples are text, a cell stays text.

    Args:
        table: The table.
        name: The column.
        row: The row, from 0.
        examples: Values in the place of this one among the shown observations.
    """
    cell, where = table.columns[name][row], f"{table.describe_location(row)}, {name}"
    is_columnar = table.path.suffix.lower() in COLUMNAR_SUFFIXES
    if not is_columnar and not table.untyped:
        return cell  # from JSON
    if cell is None:
        raise DataError(f"{where}: missing")
    texts = sum(isinstance(one, str) for one in examples)
    if isinstance(cell, str) and (table.untyped or not texts):
        value = parse_cell(cell, where)
        return cell if texts == len(examples) > 0 and not isinstance(value, str) else value
    try:
        json.dumps(cell, allow_nan=False)
    except (TypeError, ValueError):
        raise DataError(f"{where}: not a JSON value: {shorten(repr(cell))}") from None
    return cell
