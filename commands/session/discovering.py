"""The commands `recognize`, which says what data contain, and `discover`, which runs a session on the
data. The data are a file, a folder or a table in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Unpack

from ...records import Json, UsageError
from ...records.tables import RowTable, TableLike, read_table
from ...tasks.io.files import split_settings
from ...tasks.io.messages import warn
from ...tasks.io.table_files import open_data
from ...tasks.recognition.file_kinds import recognize_file
from ...tasks.recognition.readings import FileKind, Reading, RecognizedFile
from ..arguments import validate_call
from ..option_types import DiscoverOptions
from ..outcome import Session
from .event_loops import run_in_thread
from .execution import OnEvent
from .results import FileReading, Recognition
from .running import run

PAIR_COLUMNS = ("input", "output", "problem", "split")  # settings of the path of pairs


class Discovery(Session):
    """The outcome of a session on a data file whose task was recognized.

    Attributes:
        kind: what the file was recognized as, such as labelled_rows.
        why: the evidence for this kind.
        warnings: sentences about properties of the data that may make rules useless, as in
            `Recognition`; empty if the caller chose the reading.
    """

    kind: str
    why: str
    warnings: Sequence[str] = ()


@validate_call
def recognize(file: str | Path | TableLike, target: str | None = None) -> Recognition:
    """Return what data contain, and commands that run a session on them.

    At most 100,000 rows are read. No session is started.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, uncompressed or gzip, or a folder; or a list of
            dicts or a table of pandas, Polars, DuckDB or Arrow. The commands for a table are calls in
            Python.
        target: the column to explain; None to choose the column by its name, values and position.

    Raises:
        UsageError: the file does not exist, its name does not fit its content, or `target` is not a
            column of the data.
        DataError: the file is empty or damaged, or the table cannot be read.
    """
    if isinstance(file, str | Path):
        found = recognize_file(file, target)
        return _describe(str(file), found, [_file_reading(one) for one in found.readings])
    table = read_table(file)
    with open_data(table) as path:
        found = recognize_file(path, target, is_copy=True)
        readings = [_table_reading(one, table) for one in found.readings]
    reason = re.sub(r"\bline (?=\d)", "row ", found.reason.replace(str(path), str(table)))
    return _describe(str(table), replace(found, reason=reason), readings)


def _describe(name: str, found: RecognizedFile, readings: Sequence[FileReading]) -> Recognition:
    first = readings[0] if found.certain is not None else None
    return Recognition(
        file=name,
        kind=str(FileKind.UNSURE) if first is None else first.kind,
        why=found.reason if first is None else first.why,
        command="" if first is None else first.command,
        readings=readings,
        warnings=list(found.warnings),
        advice=found.advice,
    )


def _file_reading(reading: Reading) -> FileReading:
    return FileReading(
        kind=str(reading.kind), task=reading.task, options=dict(reading.options),
        summary=reading.summary, why=reading.why, command=reading.command,
    )  # fmt: skip


def _table_reading(reading: Reading, table: RowTable) -> FileReading:
    """Return a reading of a temporary copy of a table as one of the table, with a call in Python."""
    _, fields = split_settings(str(reading.options["data"]), PAIR_COLUMNS)
    options = {**reading.options, "data": _rename_columns(table, fields) if fields else table}
    cells = ", ".join(f"{name!r}: row[{column!r}]" for name, column in fields.items())
    data = f"[{{{cells}}} for row in rows]" if fields else "table"
    others = [f"{name}={value!r}" for name, value in options.items() if name != "data"]
    call = ", ".join([repr(reading.task), f"data={data}", *others])
    return replace(
        _file_reading(reading),
        options=options,
        command="" if reading.task is None else f"peirce.run({call})",
    )


def _rename_columns(table: RowTable, fields: Mapping[str, str]) -> RowTable:
    """Return the columns of a table that `fields` names, under the keys of `fields`."""
    rows = map(json.loads, table.content.splitlines())
    return read_table(
        [{name: row[column] for name, column in fields.items() if column in row} for row in rows]
    )


def choose_reading(found: Recognition) -> FileReading:
    """Return the reading of a file (how the file can be read as data of a task) that is certain.

    Raises:
        UsageError: no reading is certain, or no task can read the file. The message contains
            commands to choose from.
    """
    if found.command:
        return found.readings[0]
    choices = [f"for {one.summary}: {one.command}" for one in found.readings if one.command]
    run_one = f"; {'choose one: ' * (len(choices) > 1)}{'; '.join(choices)}" if choices else ""
    advice = f"; {'or ' * bool(choices)}{found.advice}" if found.advice else ""
    raise UsageError(
        f"{found.file}: it is not clear what the file holds: {found.why}{run_one}{advice}"
    )


@validate_call
def discover(
    file: str | Path | TableLike,
    target: str | None = None,
    *,
    reading: FileReading | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[DiscoverOptions],
) -> Discovery:
    """Recognize what data contain, and run a session with the task that fits them.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, uncompressed or gzip, or a folder; or a list of
            dicts or a table of pandas, Polars, DuckDB or Arrow.
        target: the column to explain; None to choose the column by its name, values and position.
        reading: a reading from the result of `recognize`, which then is used without reading the
            file again; None for the reading that is certain.
        on_event: called with each event of the session.
        callbacks: LangChain callbacks, for tracing.
        overrides: single settings by name, as in `run`.

    Raises:
        UsageError: it is not clear what the file contains, no task can read the file, or a setting
            is invalid.
        PeirceError: any other expected failure, in one sentence.
    """
    sentences: Sequence[str] = ()
    if reading is None:
        found = recognize(file, target)
        reading, sentences = choose_reading(found), found.warnings
        for sentence in sentences:
            warn(f"{found.file}: {sentence}")
    return run_reading(
        reading, overrides, warnings=sentences, on_event=on_event, callbacks=callbacks
    )


async def adiscover(
    file: str | Path | TableLike,
    target: str | None = None,
    *,
    reading: FileReading | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[DiscoverOptions],
) -> Discovery:
    """Run a session as `discover` does, without blocking the running event loop.

    The session runs in another thread, as in `arun`. Arguments and errors are those of `discover`.
    """
    return await run_in_thread(
        discover, file, target, reading=reading, on_event=on_event, callbacks=callbacks, **overrides
    )


def run_reading(
    reading: FileReading,
    overrides: Mapping[str, Any],
    *,
    warnings: Sequence[str] = (),
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
) -> Discovery:
    """Run a session with one reading of a file.

    Args:
        reading: the reading.
        overrides: single settings by name, as in `run`.
        warnings: the warnings of `recognize`, which become part of the outcome.
        on_event: called with each event of the session.
        callbacks: LangChain callbacks, for tracing.
    """
    task, options = run_arguments(reading, overrides)
    session = run(task, on_event=on_event, callbacks=callbacks, **options)
    parts: dict[str, Any] = {one.name: getattr(session, one.name) for one in fields(session)}
    return Discovery(**parts, kind=reading.kind, why=reading.why, warnings=list(warnings))


def run_arguments(
    reading: FileReading, overrides: Mapping[str, Any]
) -> tuple[str, dict[str, Json]]:
    """Return the task and the options with which `run` uses a reading of a file.

    Args:
        reading: the reading.
        overrides: further options by name.

    Raises:
        UsageError: no task can read the file, or `overrides` contains data, label or target.
    """
    if reading.task is None:
        raise UsageError(f"no task explains {reading.summary}")
    for name in ("data", "label", "target"):
        if overrides.get(name) is not None:
            raise UsageError(
                f"{name} is {overrides[name]!r}: discover takes the file and its target instead"
            )
    return reading.task, {**overrides, **reading.options}
