"""The commands `recognize` and `discover`: what a file holds, and a session with the task that fits it."""

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
    """The outcome of a session on a file whose task was recognized.

    Attributes:
        kind: what the file was taken for.
        why: the evidence for it.
    """

    kind: str
    why: str


@validate_call
def recognize(file: str | Path, target: str | None = None) -> Recognition:
    """Return what a file or folder of data holds, and the commands that run on it.

    It reads the file with the readers of the tasks, at most 100,000 rows, and runs nothing.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, plain or gzip, or a folder.
        target: the column to explain; None to choose it by its name, its values and its position.

    Raises:
        UsageError: there is no such file, its name does not fit its content, or `target` is no column.
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
    """Return the reading that is certain.

    Raises:
        UsageError: none is certain, or no task reads it. The message has the commands to choose from.
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
    """Look at a file of data, and run a session with the task that fits it.

    Args:
        file: a CSV, TSV, JSON, JSONL or Parquet file, plain or gzip, or a folder.
        target: the column to explain; None to choose it by its name, its values and its position.
        reading: one of the readings that `recognize` returned for the file, to run without looking
            again; None for the one that is certain.
        on_event: called with each event of the session.
        callbacks: LangChain callbacks, for tracing.
        overrides: single settings by name, as in `run`.

    Raises:
        UsageError: it is not clear what the file holds, no task reads it, or a setting is invalid.
        PeirceError: any other expected failure, in one sentence.
    """
    if reading is None:
        found = recognize(file, target)
        reading = choose_reading(found)
        for sentence in found.warnings:
            warn(f"{file}: {sentence}")
    task, options = run_arguments(reading, overrides)
    session = run(task, on_event=on_event, callbacks=callbacks, **options)
    parts: dict[str, Any] = {one.name: getattr(session, one.name) for one in fields(session)}
    return Discovery(**parts, kind=reading.kind, why=reading.why)


def run_arguments(
    reading: FileReading, overrides: Mapping[str, Any]
) -> tuple[str, dict[str, Json]]:
    """Return the task and the options of `run` for a reading.

    Raises:
        UsageError: no task reads it, or an option would replace one of the reading.
    """
    if reading.task is None:
        raise UsageError(f"no task explains {reading.summary}")
    for name in ("data", "label"):
        if overrides.get(name) is not None:
            raise UsageError(
                f"{name} is {overrides[name]!r}: discover takes the file and its target instead"
            )
    return reading.task, {**overrides, **reading.options}
