"""Recognise the content of a file or folder by trying the readers of the tasks.

The content is certain if a task can read it as problems with train and test pairs, or as worlds.
The tasks in `PROBLEM_TASKS` are tried in order, and the first task that can read the file is used.
For tables, table_readings.py decides. Of a large file with one record per line, the first
`MOST_ROWS` rows are read.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ...records import Json, PeirceError, Problem, Task, UsageError, registry
from ...records.tasks import ChoosesProblems, ProblemQuery
from ..io.bad_records import BadRecords, skip_bad_records
from ..io.files import parse_json_file_text, read_jsonl, read_text
from ..io.json_text import is_json_lines
from ..io.messages import DataWarning, shorten
from ..text import own_rows
from ..text.data_sets import find_data_sets
from ..text.sources import parse_source
from ..text.tables import Table, file_type, infer_types, read_table, table_from_json
from .content_forms import check_form
from .readings import FileKind, Reading, RecognizedFile, count_of
from .table_readings import TableSource, find_warnings, read_as_table

MOST_ROWS = 100_000
PROBLEM_TASKS = ("acre", "mini_arc", "arc", "list_functions", "laws", "examples")
GRID_TASKS = ("mini_arc", "arc")  # which read a folder of JSON files under any name
WORLD_TASK = "abd"
TABLE_TASKS = ("labels", "laws", "examples")
_WORLD_KEYS = {"worlds", "theory", "regime"}


def recognize_file(
    path: str | Path, target: str | None = None, *, is_copy: bool = False
) -> RecognizedFile:
    """Return the possible contents of a file or folder, with the commands that can read it.

    Args:
        path: The file or folder. Settings of the task `labels` may follow, as in `PATH?label=NAME`.
        target: The name of the target column (the column to explain), or None to find the column.
        is_copy: Whether the file is a copy of a table in memory, so that advice names no file.

    Raises:
        UsageError: There is no such file, its name does not fit its content, or `target` is not a
            column.
        DataError: The file is empty or damaged.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the session reads the file again
        source = parse_source(path, label=target)
        data, place, named = str(path), source.path, source.label
        if place.is_dir():
            return _recognize_folder(data, place, named)
        form = check_form(place)
        if form == ".py":
            return RecognizedFile(
                reason="a Python file may be a task of yours, which this command does not execute",
                advice=f"run it as a task: peirce run {shlex.quote(data)}",
            )
        if form in (".yaml", ".yml"):
            return _recognize_yaml(data, place)
        if form in (".json", ".jsonl", ".ndjson"):
            return _recognize_json(data, place, form, named, is_copy)
        return _recognize_rows(data, place, named)


def is_for_other_task(task: str, path: str | Path, target: str | None = None) -> bool:
    """Return whether data that a task failed to read seem to be meant for another command.

    Args:
        task: The name of the task that failed.
        path: The file or folder, as for `recognize_file`.
        target: The target column, as for `recognize_file`.
    """
    if task not in (*TABLE_TASKS, *PROBLEM_TASKS, WORLD_TASK):
        return False
    try:
        found = recognize_file(path, target)
    except PeirceError:
        return False
    is_table = file_type(Path(path)) in (".csv", ".tsv", ".parquet") and task not in TABLE_TASKS
    others = bool(found.readings) and task not in {one.task for one in found.readings}
    return is_table or others


def _recognize_rows(
    data: str, place: Path, target: str | None, is_copy: bool = False
) -> RecognizedFile:
    with BadRecords(place) as bad:
        (table,) = infer_types([read_table(place, bad, MOST_ROWS)])
    complete = len(table) < MOST_ROWS
    found = _recognize_table(TableSource(data, table, complete, target, is_copy))
    if found.reason and not complete:
        return replace(found, reason=f"{found.reason} (in the first {MOST_ROWS:,} rows)")
    return found


def _recognize_table(source: TableSource) -> RecognizedFile:
    return _try_reader(read_as_table(source), source)


def _try_reader(found: RecognizedFile, source: TableSource) -> RecognizedFile:
    """Return what was found, after the task has read the data in the way that is certain.

    A reading that the task refuses is not certain. Tables that were not read to their end are not
    tried.
    """
    reading = found.certain
    if reading is None or reading.task is None or not source.is_complete:
        return found
    data = str(reading.options["data"])
    label, target = reading.options.get("label"), reading.options.get("target")
    skip_bad = bool(reading.options.get("skip_bad"))
    read = _load(reading.task, data, label, target, skip_bad=skip_bad)
    if isinstance(read, PeirceError):
        rest = _load(reading.task, data, label, target, skip_bad=True)
        others = replace(
            reading,
            options={**reading.options, "skip_bad": True},
            summary=f"{reading.summary}, without the records that cannot be read",
        )
        refused = str(read).removeprefix(str(source.table.path)).lstrip(":, ")
        return RecognizedFile(
            [] if isinstance(rest, PeirceError) else [others],
            reason=f"it looks like {reading.summary}, but cannot be read: {refused}",
        )
    used = read[0].public["columns"] if reading.kind is FileKind.LABELLED_ROWS else ()
    if not used or {one.name for one in source.columns} <= {*used, label}:
        return found
    return replace(found, warnings=find_warnings(source, reading, used))


# --- problems and worlds --------------------------------------------------------------


def _load(
    task: str, data: str, label: Json = None, target: Json = None, *, skip_bad: bool = False
) -> list[Problem] | PeirceError:
    """Return the problems that a task reads, or the error of its reader."""
    source: Task = registry.load("tasks", task)
    try:
        with skip_bad_records(skip_bad):
            if (label is not None or target is not None) and isinstance(source, ChoosesProblems):
                named = [None if one is None else str(one) for one in (label, target)]
                return source.choose(data, ProblemQuery(label=named[0], target=named[1]))
            return source.load(data, None, 0)
    except PeirceError as error:
        return error


def _fits(task: str, problems: Sequence[Problem]) -> bool:
    """Return whether the grids of MINI-ARC have its size; its reader accepts all grids."""
    pairs = [pair for one in problems for pair in one.shown]
    return task != "mini_arc" or all(
        len(grid) == 5 and all(len(row) == 5 for row in grid)
        for pair in pairs
        for grid in (pair.input, pair.output)
    )


def _recognize_problems(data: str) -> RecognizedFile:
    """Return the first task that reads a file of problems with train and test pairs."""
    found: list[Problem] | PeirceError = []
    for task in PROBLEM_TASKS:
        found = _load(task, data)
        if not isinstance(found, PeirceError) and _fits(task, found):
            return RecognizedFile([_problem_reading(task, data, found)])
    return RecognizedFile(
        reason=f"it looks like problems with train pairs, but cannot be read: {found}"
    )


def _problem_reading(task: str, data: str, problems: Sequence[Problem]) -> Reading:
    if task == WORLD_TASK:
        worlds = sum(len(one.shown) for one in problems)
        summary = f"{count_of(len(problems), 'problem')} with {count_of(worlds, 'world')}"
        why = "each problem has a theory and worlds in which it has exceptions"
        return Reading(FileKind.WORLDS, task, {"data": data}, summary, why)
    pairs = sum(len(one.shown) + len(one.hidden) for one in problems)
    kind = FileKind.PAIRS if task == "examples" else FileKind.PUBLISHED
    summary = (
        f"{count_of(len(problems), 'problem')} with {count_of(pairs, 'pair')} of input and output"
    )
    why = (
        "each problem has train pairs"
        if task == "examples"
        else f"all of them have the form of the task {task}"
    )
    return Reading(kind, task, {"data": data}, summary, why)


def _recognize_worlds(data: str) -> RecognizedFile:
    found = _load(WORLD_TASK, data)
    if not isinstance(found, PeirceError):
        return RecognizedFile([_problem_reading(WORLD_TASK, data, found)])
    return RecognizedFile(reason=f"it looks like worlds, but cannot be read: {found}")


def _recognize_yaml(data: str, place: Path) -> RecognizedFile:
    if "instanceId" in read_text(place):
        return _recognize_worlds(data)
    return RecognizedFile(
        reason="a YAML file may be a task of yours, or the config of a folder of data",
        advice=f"run it as a task: peirce run {shlex.quote(data)}; or look at the folder: peirce discover"
        f" {shlex.quote(str(place.parent))}",
    )


# --- JSON -----------------------------------------------------------------------------


def _recognize_json(
    data: str, place: Path, form: str, target: str | None, is_copy: bool
) -> RecognizedFile:
    if form != ".json" or is_json_lines(text := read_text(place)):
        head = [row for _, row in islice(read_jsonl(place), 1)]
        if shape := _find_shape(head):
            return shape(data)
        unreadable = _find_unreadable_shape(data, head)
        return unreadable or _recognize_rows(data, place, target, is_copy)
    value = parse_json_file_text(text, place)
    if shape := _find_shape(value):
        return shape(data)
    if unreadable := _find_unreadable_shape(data, value):
        return unreadable
    with BadRecords(place) as bad:
        table = table_from_json(place, value, bad)
    return _recognize_table(TableSource(data, table, target=target))


def _find_shape(value: Json) -> Callable[[str], RecognizedFile] | None:
    """Return what reads problems or worlds, if the first part of a JSON value looks like these."""
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict) and len(_WORLD_KEYS & first.keys()) >= 2:
        return _recognize_worlds
    inner = next(iter(first.values()), None) if isinstance(first, dict) else None
    return _recognize_problems if _is_problem(first) or _is_problem(inner) else None


def _find_unreadable_shape(data: str, value: Json) -> RecognizedFile | None:
    """Return the reason why no task reads a JSON value, and what to do, if its shape is known."""
    for holds, reason, advice in UNREADABLE_SHAPES:
        if holds(value):
            return RecognizedFile(reason=reason, advice=advice.replace("DATA", shlex.quote(data)))
    return None


def _is_problem(value: Json) -> bool:
    """Return whether a value is a problem: an object with a list of pairs under `train`."""
    pairs = value.get("train") if isinstance(value, dict) else None
    return (
        isinstance(pairs, list)
        and isinstance(next(iter(pairs), None), dict)
        and "input" in pairs[0]
    )


def _are(kind: type, value: Json) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return (
        isinstance(value, dict | list) and bool(value) and all(isinstance(x, kind) for x in inner)
    )


def _are_rows(value: Json) -> bool:
    return isinstance(value, list) and _are(dict, value)


def _are_splits(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and _are(list, value)
        and all(own_rows.find_split(name) for name in value)
    )


def _has_rows_inside(value: Json) -> bool:
    return isinstance(value, dict) and any(map(_are_rows, value.values()))


def _are_listed_pairs(value: Json) -> bool:
    return isinstance(value, dict) and any(
        isinstance(one, list) and one and all(isinstance(x, list) and len(x) == 2 for x in one)
        for one in value.values()
    )


def _is_split_table(value: Json) -> bool:
    """Return whether a value has the form of pandas' `to_json(orient="split")`."""
    names, rows = (value.get(key) for key in ("columns", "data")) if _are_named(value) else ((), ())
    return isinstance(names, list) and isinstance(rows, list) and _are(list, rows)


def _are_named(value: Json) -> bool:
    return isinstance(value, dict) and bool(value)


def _are_named_objects(value: Json) -> bool:
    return _are_named(value) and _are(dict, value)


def _are_columns_of_cells(value: Json) -> bool:
    """Return whether a value has the form of pandas' `to_json()`: {column: {row number: cell}}."""
    return (
        _are_named_objects(value)
        and all(_are_row_numbers(one) for one in value.values())
        and not _are_row_numbers(value)
    )


def _are_rows_by_name(value: Json) -> bool:
    """Return whether a value is {row: {column: cell}}: the outer names are numbers, or the objects
    have different names inside.
    """
    if not _are_named_objects(value) or _are_columns_of_cells(value):
        return False
    names = {frozenset(one) for one in value.values()}
    numbered = _are_row_numbers(value) and not all(map(_are_row_numbers, value.values()))
    return numbered or len(names) > 1


def _are_row_numbers(names: Mapping[str, Json]) -> bool:
    return bool(names) and all(name.isdecimal() for name in names)


_REWRITE = (
    'write them as a list of objects and look at that: python -c "import json, sys; v ='
    " json.load(open(sys.argv[1])); json.dump(ROWS, open('rows.json', 'w'))\" DATA"
    " && peirce discover rows.json"
)
_BY_ROW = "list(v.values())"
_BY_COLUMN = "[{c: v[c].get(r) for c in v} for r in {r: 0 for c in v for r in v[c]}]"
# (whether a JSON value has the shape, why no task reads it, what to do)
UNREADABLE_SHAPES: Sequence[tuple[Callable[[Json], bool], str, str]] = (
    (
        lambda value: not isinstance(value, dict | list) or not value,
        "it holds no rows",
        "give a list of objects, one for each row",
    ),
    (
        _are_splits,
        "it holds the rows of several splits in one object",
        "write each split to a file of its own in one folder, as train.json and test.json, and look at"
        " that folder: peirce discover FOLDER",
    ),
    (
        lambda value: isinstance(value, list) and _are(list, value),
        "it is a list of lists, and nothing says whether these are pairs of input and output or rows"
        " without column names",
        'write each pair as {"input": …, "output": …}, or each row as an object with its column names',
    ),
    (
        _is_split_table,
        "the names of the columns and the rows are in separate lists",
        _REWRITE.replace("ROWS", "[dict(zip(v['columns'], row)) for row in v['data']]"),
    ),
    (
        _are_listed_pairs,
        "it lists pairs for each problem, as files for --observations do, which only choose the shown"
        " pairs of other data",
        'write each problem as {"id": …, "train": [{"input": …, "output": …}]}',
    ),
    (
        _has_rows_inside,
        "the rows are inside another object",
        _REWRITE.replace(
            "ROWS",
            "next(x for x in v.values() if isinstance(x, list) and x and isinstance(x[0], dict))",
        ),
    ),
    (
        _are_columns_of_cells,
        "it holds an object for each column, with a cell for each row number",
        _REWRITE.replace("ROWS", _BY_COLUMN),
    ),
    (
        _are_rows_by_name,
        "it holds an object for each row, under the name of the row",
        _REWRITE.replace("ROWS", _BY_ROW),
    ),
    (
        _are_named_objects,
        "it holds objects inside an object, and nothing says whether the outer names are those of rows"
        " or of columns",
        f"if they are rows, {_REWRITE.replace('ROWS', _BY_ROW)}; if they are columns,"
        f" {_REWRITE.replace('ROWS', _BY_COLUMN)}",
    ),
    (
        lambda value: isinstance(value, dict) and not _are(list, value),
        "it is one object and no list of rows",
        "give a list of objects, one for each row",
    ),
    (
        lambda value: isinstance(value, list) and not _are(dict, value),
        "it is a list of single values, with nothing that explains them",
        "write each row as an object with its column names",
    ),
)


# --- folders --------------------------------------------------------------------------


def _recognize_folder(data: str, folder: Path, target: str | None) -> RecognizedFile:
    """Return what a folder holds: published data sets, problems, or labelled rows in files by split."""
    if published := find_data_sets(folder):
        names = [one.name for one in published]
        return RecognizedFile([_published_text(data, names, target)])
    for task in (WORLD_TASK, *PROBLEM_TASKS):
        usual = getattr(registry.load("tasks", task), "files", ())
        if task in GRID_TASKS or any((folder / name).is_file() for name in usual):
            found = _load(task, data)
            if not isinstance(found, PeirceError) and _fits(task, found):
                return RecognizedFile([_problem_reading(task, data, found)])
    files = _find_split_files(data, folder)
    if isinstance(files, RecognizedFile):
        return files
    first = next(iter(files.values()))
    with BadRecords(folder) as bad:
        tables = infer_types([read_table(path, bad, MOST_ROWS) for path in first])
    table = tables[0]
    recognized = read_as_table(source := TableSource(data, table, len(table) < MOST_ROWS, target))
    checked = _check_splits(recognized, files, table, data)
    return _try_reader(checked, source) if checked is recognized else checked


def _published_text(data: str, names: Sequence[str], target: str | None) -> Reading:
    options: Mapping[str, Json] = {"data": data} | ({"label": target} if target else {})
    sets = count_of(len(names), "data set")
    return Reading(
        FileKind.PUBLISHED,
        "labels",
        options,
        f"{sets} of labelled rows ({shorten(', '.join(names))})",
        "a config.yaml or metadata.json describes each of them, as HypoGeniC and HypoBench publish them",
    )


def _find_split_files(data: str, folder: Path) -> Mapping[str, Sequence[Path]] | RecognizedFile:
    try:
        return own_rows.find_files(folder)
    except UsageError as error:
        tables = sorted(one for one in folder.iterdir() if one.is_file() and file_type(one))
        commands = [f"peirce discover {shlex.quote(str(one))}" for one in tables]
        if not commands:
            raise
        return RecognizedFile(
            reason=str(error).removeprefix(f"{folder}: "), advice="; ".join(commands)
        )


def _check_splits(
    recognized: RecognizedFile, files: Mapping[str, Sequence[Path]], table: Table, data: str
) -> RecognizedFile:
    """Return the reading of a folder, or of its training file where other splits do not fit."""
    certain = recognized.certain
    if certain is None or (len(files) == 1 and "" in files):
        return recognized
    if certain.task != "labels":
        return RecognizedFile(
            reason=f"the training rows are taken for {certain.kind.value.replace('_', ' ')}, which are"
            " read from one file",
            advice=f"look at the file: peirce discover {shlex.quote(str(table.path))}",
        )
    label = str(certain.options["label"])
    for split, paths in files.items():
        for path in paths:
            with BadRecords(path) as bad:
                columns = read_table(path, bad, 1).columns
            if label not in columns:
                own = shlex.quote(str(table.path))
                return RecognizedFile(
                    [Reading(certain.kind, certain.task, {**certain.options, "data": str(table.path)},
                             certain.summary, certain.why)],
                    reason=f"the {split} rows in {path.name} have no column {label!r}",
                    advice=f"use the training rows alone: peirce discover {own} --target"
                    f" {shlex.quote(label)}",
                )  # fmt: skip
    return recognized
