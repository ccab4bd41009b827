"""The commands `recognize`, which says what a data file contains, and `discover`, which runs a
session on the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack

from ...records import Json, UsageError
from ...tasks.io.messages import warn
from ...tasks.recognition.file_kinds import recognize_file
from ...tasks.recognition.readings import FileKind, RecognizedFile
from ..arguments import validate_call
from ..option_types import RunOptions
from ..outcome import Session
from .execution import OnEvent
from .results import FileReading, Recognition
from .running import run


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
def recognize(file: str | Path, target: str | None = None) -> Recognition:
    """Return what a data file or folder contains, and commands that run a session on it.

    At most 100,000 rows are read. No session is started.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, uncompressed or gzip, or a folder.
        target: the column to explain; None to choose the column by its name, values and position.

    Raises:
        UsageError: the file does not exist, its name does not fit its content, or `target` is not a
            column of the file.
        DataError: the file is empty or damaged.
    """
    found = recognize_file(file, target)
    readings = [
        FileReading(
            kind=str(one.kind), task=one.task, options=dict(one.options), summary=one.summary,
            why=one.why, command=one.command,
        )
        for one in found.readings
    ]  # fmt: skip
    first = found.certain
    return Recognition(
        file=str(file),
        kind=str(FileKind.UNSURE if first is None else first.kind),
        why=found.reason if first is None else first.why,
        command="" if first is None else first.command,
        readings=readings,
        warnings=list(found.warnings),
        advice=_advise(found),
    )


def _advise(found: RecognizedFile) -> str:
    """Return what to do where the file has no reading that is certain and can be run."""
    if found.certain is None or found.certain.task is not None:
        return found.advice
    return (
        "no task explains numbers yet: add a column of classes, for example whether the number is"
        " above its median, and name it with --target"
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
    if found.kind == FileKind.NUMERIC_TARGET:
        advice = f"; {found.advice}" if found.advice else ""
        raise UsageError(
            f"{found.file}: {found.readings[0].summary} ({found.why}){advice}{run_one}"
        )
    advice = f"; {'or ' * bool(choices)}{found.advice}" if found.advice else ""
    raise UsageError(
        f"{found.file}: it is not clear what the file holds: {found.why}{run_one}{advice}"
    )


@validate_call
def discover(
    file: str | Path,
    target: str | None = None,
    *,
    reading: FileReading | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Discovery:
    """Recognize what a data file contains, and run a session with the task that fits the file.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, uncompressed or gzip, or a folder.
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
            warn(f"{file}: {sentence}")
    return run_reading(
        reading, overrides, warnings=sentences, on_event=on_event, callbacks=callbacks
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
        UsageError: no task can read the file, or `overrides` contains data or label.
    """
    if reading.task is None:
        raise UsageError(f"no task explains {reading.summary}")
    for name in ("data", "label"):
        if overrides.get(name) is not None:
            raise UsageError(
                f"{name} is {overrides[name]!r}: discover takes the file and its target instead"
            )
    return reading.task, {**overrides, **reading.options}
