"""Finished steps: write a `StepRecord` to the store and read it back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ..records import (
    Agreement,
    Answered,
    BankEvent,
    Digest,
    Hypothesis,
    Judged,
    Predictions,
    StepRecord,
    StoreError,
)
from .cells import Vector, json_cell, json_of, text_cell, text_of, verdict_of
from .connection import Reading, Row, by_problem
from .journal import SessionJournal, vectors_of
from .writing import Change, Writer

Place = tuple[int, int, int]  # step, answer, ordinal

Spaces = bool | Literal["consistent"]

TOGETHER = 100  # problems per query, because each query costs a scan of 3 ms
VECTORS = 128  # arrays of several problems that are in memory at once
PLACE = "step, answer, ordinal"
SELECTS = {
    "step": ("SELECT problem, step, fields FROM step", "step"),
    "answer": ("SELECT problem, step, answer, path, text FROM answer", "step, answer"),
    "hypothesis": (
        f"SELECT problem, {PLACE}, text, description, meta, breaches FROM hypothesis",
        PLACE,
    ),
    "verdict": (f"SELECT problem, {PLACE}, verdict, reason, bad, coverage FROM verdict", PLACE),
    "prediction": (
        f"SELECT problem, {PLACE}, inputs, outcome, marks, got, detail, codes, reasons, "
        "reason_names, limited FROM prediction",
        PLACE,
    ),
}


SIZES = "SELECT problem, size FROM (problem JOIN input_set ON problem.space = input_set.digest)"


class SessionLedger:
    """The `records.Ledger` of one session; a step that is stored already is left unchanged."""

    def __init__(
        self, session: str, reading: Reading, writer: Writer, journal: SessionJournal
    ) -> None:
        self._session = session
        self._journal = journal
        self._reading = reading
        self._writer = writer
        self._lock = threading.Lock()
        self._there: dict[str, set[int]] | None = None

    async def step(self, record: StepRecord) -> None:
        """Write a step and wait until it is durable; raises StoreError where it fails."""
        with self._lock:
            if record.step in self._steps(record.problem):
                return
        rows = step_rows(self._session, record, self._writer)
        there = "SELECT 1 FROM step WHERE session = ? AND problem = ? AND step = ?"
        key = (self._session, text_cell(record.problem), record.step)
        await self._writer.write(Change(rows, unless=(there, key)))
        with self._lock:
            self._steps(record.problem).add(record.step)

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Set the final status and cause of a problem."""
        sql = "UPDATE problem SET status = ?, cause = ? WHERE session = ? AND problem = ?"
        params = (status, text_cell(cause), self._session, text_cell(problem))
        await self._writer.write(Change({}, [(sql, params)]))
        self._journal.forget(problem)
        with self._lock:
            if self._there is not None:
                self._there.pop(problem, None)

    def _steps(self, problem: str) -> set[int]:
        """Return the stored steps of a problem; the caller holds the lock."""
        if self._there is None:
            self._there = {}
            for name, step in self._reading.query(
                "SELECT problem, step FROM step WHERE session = ?", (self._session,)
            ):
                self._there.setdefault(text_of(name), set()).add(step)
        return self._there.setdefault(problem, set())


# --- into rows ---------------------------------------------------------------


def step_rows(session: str, record: StepRecord, writer: Writer) -> dict[str, list[Row]]:
    """Return the rows of a step by table; vectors that are not yet written come with them."""
    at = (session, text_cell(record.problem), record.step)
    rows: dict[str, list[Row]] = {
        "vector": [],
        "answer": [],
        "hypothesis": [],
        "verdict": [],
        "prediction": [],
        "bank_event": _event_rows(at, record.events),
        "step": [(*at, json_cell(dict(record.fields)))],
    }
    for number, answered in enumerate(record.answers):
        rows["answer"].append((*at, number, text_cell(answered.path), text_cell(answered.text)))
        for ordinal, judged in enumerate(answered.judged):
            _judged_rows((*at, number, ordinal), judged, rows, writer)
    return rows


def _judged_rows(key: Row, judged: Judged, rows: dict[str, list[Row]], writer: Writer) -> None:
    rows["verdict"].append(
        (*key, judged.verdict.value, text_cell(judged.reason), judged.bad, judged.coverage)
    )
    if (hypothesis := judged.hypothesis) is not None:
        rows["hypothesis"].append(
            (
                *(*key, hypothesis.digest, text_cell(hypothesis.text)),
                *(text_cell(hypothesis.description), json_cell(dict(hypothesis.meta))),
                json_cell(hypothesis.breaches),
            )
        )
    for inputs, agreement in (("shown", judged.shown), ("hidden", judged.hidden)):
        if agreement is not None:
            rows["prediction"].append(
                (
                    *(*key, inputs, text_cell(agreement.verdict), list(agreement.marks)),
                    *(json_cell(agreement.got), json_cell(dict(agreement.detail))),
                    *(None, None, None, None),
                )
            )
    if (space := judged.space) is not None:
        codes, reasons = writer.vector_rows((space.codes, space.reasons), rows["vector"])
        rows["prediction"].append(
            (
                *(*key, "space", text_cell(space.verdict), None, None, None),
                *(codes, reasons, json_cell(space.reason_names), space.limited),
            )
        )


def _event_rows(at: Row, events: Sequence[BankEvent]) -> list[Row]:
    rows: list[Row] = []
    said: dict[Digest, tuple[str, str]] = {}
    for ordinal, event in enumerate(events):
        words = (event.text, event.description)
        again = said.get(event.hypothesis) == words
        said[event.hypothesis] = words
        cells = (None, None) if again else (text_cell(words[0]), text_cell(words[1]))
        happened = (event.observation, event.right, event.t, event.kind)
        rows.append((*at, ordinal, event.hypothesis, *cells, *happened))
    return rows


# --- out of rows -------------------------------------------------------------


def steps(
    reading: Reading, session: str, problems: Sequence[str], spaces: Spaces
) -> Iterator[StepRecord]:
    """Yield the steps of the problems in their order.

    Rows are read for `TOGETHER` problems at a time, and arrays for as many of these as have
    `VECTORS` arrays together.

    Args:
        reading: The connection.
        session: The session's id.
        problems: The ids of the problems.
        spaces: Which predictions over S to read. With False, `Judged.space` is always None. With
            "consistent", the codes of hypotheses that are not consistent are 0.
    """
    names = [text_cell(problem) for problem in problems]
    for start in range(0, len(names), TOGETHER):
        part = names[start : start + TOGETHER]
        rows = {
            table: by_problem(reading, select, session, part, order)
            for table, (select, order) in SELECTS.items()
        }
        sizes = by_problem(reading, SIZES, session, part, "size") if spaces else {}
        happened = events_of(reading, session, part)
        over_space = {name: _over_space(rows, name, spaces) for name in part}
        for together in _groups(over_space):
            arrays = vectors_of(
                reading,
                (d for name in together for d in _digests(over_space[name])),
                max((row[0] for name in together for row in sizes.get(name, ())), default=0),
            )
            for name in together:
                own = {table: found[name] for table, found in rows.items()}
                made = {
                    place: _predictions(cells, arrays) for place, cells in over_space[name].items()
                }
                yield from _steps(text_of(name), own, happened[name], made)


def _over_space(
    rows: Mapping[str, Mapping[str, Sequence[Row]]], name: str, spaces: Spaces
) -> dict[Place, Row]:
    """Return the rows of the predictions over S that are to be read.

    Each row has the outcome, the digest of the codes (None where they are not read), the digest of
    the reasons, the names of the reasons, and limited.
    """
    if not spaces:
        return {}
    whole = {
        (step, answer, ordinal)
        for step, answer, ordinal, verdict, *_ in rows["verdict"][name]
        if spaces is True or verdict_of(verdict).consistent
    }
    found = {}
    for step, answer, ordinal, inputs, outcome, _, _, _, codes, *rest in rows["prediction"][name]:
        if inputs == "space":
            place = (step, answer, ordinal)
            found[place] = (outcome, codes if place in whole else None, *rest)
    return found


def _digests(over_space: Mapping[Place, Row]) -> set[Digest]:
    return {d for _, codes, reasons, *_ in over_space.values() for d in (codes, reasons) if d}


def _groups(over_space: Mapping[str, Mapping[Place, Row]]) -> Iterator[list[str]]:
    """Yield runs of problems, in order, with at most `VECTORS` arrays or one problem each."""
    run: list[str] = []
    held: set[Digest] = set()
    for name, own in over_space.items():
        digests = _digests(own)
        if run and len(held | digests) > VECTORS:
            yield run
            run, held = [], set()
        run.append(name)
        held |= digests
    yield run


def _predictions(cells: Row, arrays: Mapping[Digest, Vector]) -> Predictions:
    outcome, codes, reasons, names, limited = cells
    undefined = arrays[reasons]
    values = np.broadcast_to(np.int64(0), undefined.shape) if codes is None else arrays[codes]
    if values.shape != undefined.shape or undefined.ndim != 1:
        raise StoreError("the store is damaged: the vectors of a prediction differ in length")
    return Predictions(
        values,
        undefined,
        tuple(json_of(names, "prediction.reason_names", list)),
        text_of(outcome),
        limited,
    )


def _steps(
    problem: str,
    rows: Mapping[str, Sequence[Row]],
    happened: Sequence[tuple[int, BankEvent]],
    over_space: Mapping[Place, Predictions],
) -> Iterator[StepRecord]:
    hypotheses = {
        (step, answer, ordinal): _hypothesis(*cells)
        for step, answer, ordinal, *cells in rows["hypothesis"]
    }
    agreements: dict[tuple[Place, str], Agreement] = {}
    for step, answer, ordinal, inputs, outcome, *cells in rows["prediction"]:
        if inputs != "space":
            marks, got, detail, *_ = cells
            at = ((step, answer, ordinal), inputs)
            agreements[at] = _agreement(marks, got, outcome, detail)
    judged: dict[tuple[int, int], list[Judged]] = {}
    for step, answer, ordinal, verdict, reason, bad, coverage in rows["verdict"]:
        place = (step, answer, ordinal)
        judged.setdefault((step, answer), []).append(
            Judged(
                verdict_of(verdict),
                text_of(reason),
                hypotheses.get(place),
                coverage,
                agreements.get((place, "shown")),
                agreements.get((place, "hidden")),
                over_space.get(place),
                bad,
            )
        )
    answers: dict[int, list[Answered]] = {}
    for step, answer, path, text in rows["answer"]:
        given = tuple(judged.get((step, answer), ()))
        answers.setdefault(step, []).append(Answered(text_of(path), text_of(text), given))
    for step, fields in rows["step"]:
        yield StepRecord(
            problem,
            step,
            tuple(answers.get(step, ())),
            json_of(fields, "step.fields", dict),
            tuple(event for at, event in happened if at == step),
        )


def _hypothesis(text: str, description: str, meta: str, breaches: str) -> Hypothesis:
    return Hypothesis(
        text_of(text),
        text_of(description),
        json_of(meta, "hypothesis.meta", dict),
        tuple(json_of(breaches, "hypothesis.breaches", list)),
    )


def _agreement(marks: list[bool | None], got: str, outcome: str, detail: str) -> Agreement:
    return Agreement(
        tuple(marks),
        tuple(json_of(got, "prediction.got", list)),
        text_of(outcome),
        json_of(detail, "prediction.detail", dict),
    )


def events(
    reading: Reading, session: str, problems: Sequence[str]
) -> Iterator[tuple[str, int, BankEvent]]:
    """Yield the log of the bank as problem, step and event, in structural order."""
    names = [text_cell(problem) for problem in problems]
    for start in range(0, len(names), TOGETHER):
        part = names[start : start + TOGETHER]
        for name, happened in events_of(reading, session, part).items():
            yield from ((text_of(name), step, event) for step, event in happened)


def events_of(
    reading: Reading, session: str, names: Sequence[str]
) -> dict[str, list[tuple[int, BankEvent]]]:
    """Return the events of each problem with their steps, keyed by the cell of its id."""
    select = (
        'SELECT problem, step, hypothesis, text, description, observation, "right", t, '
        "kind FROM bank_event"
    )
    rows = by_problem(reading, select, session, names, "problem, step, ordinal")
    return {name: _events(found) for name, found in rows.items()}


def _events(rows: Sequence[Row]) -> list[tuple[int, BankEvent]]:
    found: list[tuple[int, BankEvent]] = []
    said: dict[Digest, tuple[str, str]] = {}
    for step, hypothesis, text, description, *rest in rows:
        if text is not None:
            said[hypothesis] = (text_of(text), text_of(description))
        words = said[hypothesis]
        found.append((step, BankEvent(hypothesis, *words, *rest)))
    return found
