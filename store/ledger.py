"""Finished steps: how a `StepRecord` goes into the store and comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ..records import (
    Agreement,
    Answered,
    BankEvent,
    Digest,
    Hypothesis,
    Judged,
    Predictions,
    StepRecord,
    Verdict,
)
from .cells import json_cell, json_of, text_cell, text_of
from .connection import Reading, Row
from .journal import vectors_of
from .vectors import Vector
from .writing import Change, Writer

Place = tuple[int, int, int]  # step, answer, ordinal


class SessionLedger:
    """`records.Ledger` of one session; a step that is there already is left as it is."""

    def __init__(self, session: str, reading: Reading, writer: Writer) -> None:
        self._session = session
        self._reading = reading
        self._writer = writer
        self._lock = threading.Lock()
        self._there: dict[str, set[int]] = {}

    async def step(self, record: StepRecord) -> None:
        """Durable when this returns. Raises StoreError."""
        with self._lock:
            if record.step in self._steps(record.problem):
                return
        await self._writer.write(Change(step_rows(self._session, record, self._writer)))
        with self._lock:
            self._steps(record.problem).add(record.step)

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        sql = "UPDATE problem SET status = ?, cause = ? WHERE session = ? AND problem = ?"
        params = (status, text_cell(cause), self._session, text_cell(problem))
        await self._writer.write(Change({}, [(sql, params)]))

    def _steps(self, problem: str) -> set[int]:
        there = self._there.get(problem)
        if there is None:
            rows = self._reading.query(
                "SELECT step FROM step WHERE session = ? AND problem = ?",
                (self._session, text_cell(problem)),
            )
            there = self._there[problem] = {step for (step,) in rows}
        return there


# --- into rows ---------------------------------------------------------------


def step_rows(session: str, record: StepRecord, writer: Writer) -> dict[str, list[Row]]:
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
        rows.append(
            (*at, ordinal, event.hypothesis, *cells, event.observation, event.right, event.t)
        )
    return rows


# --- out of rows -------------------------------------------------------------


def steps(
    reading: Reading, session: str, problems: Sequence[str], spaces: bool
) -> Iterator[StepRecord]:
    """The steps of the problems in their order, read a problem at a time.

    spaces: whether predictions over S are read; without, `Judged.space` is None throughout.
    """
    for problem in problems:
        yield from _steps(reading, session, problem, spaces)


def _steps(reading: Reading, session: str, problem: str, spaces: bool) -> Iterator[StepRecord]:
    def rows(columns: str, table: str, order: str, where: str = "") -> list[Row]:
        return reading.query(
            f"SELECT {columns} FROM {table} WHERE session = ? AND problem = ? {where} "
            f"ORDER BY {order}",
            (session, text_cell(problem)),
        )

    place = "step, answer, ordinal"
    made = rows("step, fields", "step", "step")
    hypotheses = {
        (step, answer, ordinal): _hypothesis(*cells)
        for step, answer, ordinal, *cells in rows(
            f"{place}, text, description, meta, breaches", "hypothesis", place
        )
    }
    agreements: dict[tuple[Place, str], Agreement] = {
        ((step, answer, ordinal), inputs): _agreement(*cells)
        for step, answer, ordinal, inputs, *cells in rows(
            f"{place}, inputs, marks, got, outcome, detail",
            "prediction",
            place,
            "AND inputs <> 'space'",
        )
    }
    over = _spaces(reading, rows, place) if spaces else {}
    judged: dict[tuple[int, int], list[Judged]] = {}
    for step, answer, ordinal, verdict, reason, bad, coverage in rows(
        f"{place}, verdict, reason, bad, coverage", "verdict", place
    ):
        at = (step, answer, ordinal)
        judged.setdefault((step, answer), []).append(
            Judged(
                Verdict(verdict),
                text_of(reason),
                hypotheses.get(at),
                coverage,
                agreements.get((at, "shown")),
                agreements.get((at, "hidden")),
                over.get(at),
                bad,
            )
        )
    answers: dict[int, list[Answered]] = {}
    for step, answer, path, text in rows("step, answer, path, text", "answer", "step, answer"):
        given = tuple(judged.get((step, answer), ()))
        answers.setdefault(step, []).append(Answered(text_of(path), text_of(text), given))
    happened = events(reading, session, problem)
    for step, fields in made:
        yield StepRecord(
            problem,
            step,
            tuple(answers.get(step, ())),
            json_of(fields),
            tuple(event for at, event in happened if at == step),
        )


def _hypothesis(text: str, description: str, meta: str, breaches: str) -> Hypothesis:
    return Hypothesis(text_of(text), text_of(description), json_of(meta), tuple(json_of(breaches)))


def _agreement(marks: list[bool | None], got: str, outcome: str, detail: str) -> Agreement:
    return Agreement(tuple(marks), tuple(json_of(got)), text_of(outcome), json_of(detail))


def _spaces(reading: Reading, rows: Any, place: str) -> dict[Place, Predictions]:
    found = rows(
        f"{place}, codes, reasons, reason_names, outcome, limited",
        "prediction",
        place,
        "AND inputs = 'space'",
    )
    arrays: dict[Digest, Vector] = vectors_of(reading, [d for row in found for d in row[3:5]])
    return {
        (step, answer, ordinal): Predictions(
            arrays[codes], arrays[reasons], tuple(json_of(names)), text_of(outcome), limited
        )
        for step, answer, ordinal, codes, reasons, names, outcome, limited in found
    }


def events(reading: Reading, session: str, problem: str) -> list[tuple[int, BankEvent]]:
    """The bank's log of a problem, in structural order, with the step of each event."""
    rows = reading.query(
        'SELECT step, hypothesis, text, description, observation, "right", t FROM bank_event '
        "WHERE session = ? AND problem = ? ORDER BY step, ordinal",
        (session, text_cell(problem)),
    )
    found: list[tuple[int, BankEvent]] = []
    said: dict[Digest, tuple[str, str]] = {}
    for step, hypothesis, text, description, observation, right, t in rows:
        if text is not None:
            said[hypothesis] = (text_of(text), text_of(description))
        words = said[hypothesis]
        found.append((step, BankEvent(hypothesis, *words, observation, right, t)))
    return found
