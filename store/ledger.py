"""Writing finished steps (`StepRecord`) to the store, and reading them back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ..records import (
    Agreement,
    BankEvent,
    Digest,
    Hypothesis,
    JudgedAnswer,
    JudgedHypothesis,
    Predictions,
    StepRecord,
    StoreError,
)
from .change_log import END_PROBLEM, STEP_IS_THERE, Change
from .codec import (
    Vector,
    decode_json,
    decode_text,
    decode_values,
    encode_json,
    encode_text,
    encode_values,
    verdict_of,
)
from .connection import RowReader, rows_by_problem
from .journal import SessionJournal, read_vectors
from .schema import Row
from .writer import Writer

HypothesisKey = tuple[int, int, int]  # step, answer, ordinal

Spaces = bool | Literal["consistent"]

PROBLEMS_PER_QUERY = 100  # problems per query, because each query costs a scan of 3 ms
MAX_VECTORS = 128  # arrays of several problems that are in memory at once
KEY_COLUMNS = "step, answer, ordinal"
SELECTS = {
    "step": ("SELECT problem, step, fields FROM step", "step"),
    "answer": ("SELECT problem, step, answer, path, text FROM answer", "step, answer"),
    "hypothesis": (
        f"SELECT problem, {KEY_COLUMNS}, text, description, meta, breaches FROM hypothesis",
        KEY_COLUMNS,
    ),
    "verdict": (
        f"SELECT problem, {KEY_COLUMNS}, verdict, reason, bad, coverage FROM verdict",
        KEY_COLUMNS,
    ),
    "prediction": (
        f"SELECT problem, {KEY_COLUMNS}, inputs, outcome, marks, got, detail, codes, reasons, "
        "reason_names, limited FROM prediction",
        KEY_COLUMNS,
    ),
}


SIZES = "SELECT problem, size FROM (problem JOIN input_set ON problem.space = input_set.digest)"


class SessionLedger:
    """The ledger of one session (`records.Ledger`), which writes finished steps.

    A step that is already stored is not changed.
    """

    def __init__(
        self, session: str, reader: RowReader, writer: Writer, journal: SessionJournal
    ) -> None:
        self._session = session
        self._journal = journal
        self._reading = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._there: dict[str, set[int]] | None = None

    async def record_step(self, record: StepRecord) -> None:
        """Write a step and wait until it and all calls that were recorded before it are durable.

        Raises:
            StoreError: The step cannot be written.
        """
        with self._lock:
            if record.step in self._steps(record.problem):
                return
        rows = step_rows(self._session, record, self._writer)
        key = (self._session, encode_text(record.problem), record.step)
        await self._writer.write(Change(rows, unless=(STEP_IS_THERE, key), chain=self._session))
        with self._lock:
            self._steps(record.problem).add(record.step)

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Record the final status of a problem, and the cause of its end."""
        params = (status, encode_text(cause), self._session, encode_text(problem))
        await self._writer.write(Change({}, [(END_PROBLEM, params)], chain=self._session))
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
                self._there.setdefault(decode_text(name), set()).add(step)
        return self._there.setdefault(problem, set())


# --- into rows ---------------------------------------------------------------


def step_rows(session: str, record: StepRecord, writer: Writer) -> dict[str, list[Row]]:
    """Return the table rows that store a step, by table.

    The rows include the arrays of the step that have not been written yet. `writer` knows which
    arrays have been written.
    """
    at = (session, encode_text(record.problem), record.step)
    rows: dict[str, list[Row]] = {
        "vector": [],
        "answer": [],
        "hypothesis": [],
        "verdict": [],
        "prediction": [],
        "bank_event": _event_rows(at, record.events),
        "step": [(*at, encode_json(dict(record.fields)))],
    }
    for number, answered in enumerate(record.answers):
        rows["answer"].append((*at, number, encode_text(answered.path), encode_text(answered.text)))
        for ordinal, judged in enumerate(answered.judged):
            _judged_rows((*at, number, ordinal), judged, rows, writer)
    return rows


def _judged_rows(
    key: Row, judged: JudgedHypothesis, rows: dict[str, list[Row]], writer: Writer
) -> None:
    rows["verdict"].append(
        (*key, judged.verdict.value, encode_text(judged.reason), judged.bad, judged.coverage)
    )
    if (hypothesis := judged.hypothesis) is not None:
        rows["hypothesis"].append(
            (
                *(*key, hypothesis.digest, encode_text(hypothesis.text)),
                *(encode_text(hypothesis.description), encode_json(dict(hypothesis.meta))),
                encode_json(hypothesis.breaches),
            )
        )
    for inputs, agreement in (("shown", judged.shown), ("hidden", judged.hidden)):
        if agreement is not None:
            rows["prediction"].append(
                (
                    *(*key, inputs, encode_text(agreement.verdict), list(agreement.marks)),
                    *(encode_values(agreement.got), encode_json(dict(agreement.detail))),
                    *(None, None, None, None),
                )
            )
    if (space := judged.space) is not None:
        codes, reasons = writer.add_vector_rows((space.codes, space.reasons), rows["vector"])
        rows["prediction"].append(
            (
                *(*key, "space", encode_text(space.verdict), None, None, None),
                *(codes, reasons, encode_json(space.reason_names), space.limited),
            )
        )


def _event_rows(at: Row, events: Sequence[BankEvent]) -> list[Row]:
    rows: list[Row] = []
    said: dict[Digest, tuple[str, str]] = {}
    for ordinal, event in enumerate(events):
        words = (event.text, event.description)
        again = said.get(event.hypothesis) == words
        said[event.hypothesis] = words
        cells = (None, None) if again else (encode_text(words[0]), encode_text(words[1]))
        happened = (event.observation, event.right, event.t, event.kind)
        rows.append((*at, ordinal, event.hypothesis, *cells, *happened))
    return rows


# --- out of rows -------------------------------------------------------------


def steps(
    reader: RowReader, session: str, problems: Sequence[str], spaces: Spaces
) -> Iterator[StepRecord]:
    """Yield the steps of several problems, in the order of `problems`.

    Rows are read for `PROBLEMS_PER_QUERY` problems at a time. Arrays are read for fewer problems at
    a time if the problems have more than `MAX_VECTORS` arrays together.

    Args:
        reader: The connection.
        session: The session's id.
        problems: The ids of the problems.
        spaces: Which predictions over the sample space S to read. With False,
            `JudgedHypothesis.space` is always None. With "consistent", the codes of hypotheses that
            are not consistent are 0.
    """
    names = [encode_text(problem) for problem in problems]
    for start in range(0, len(names), PROBLEMS_PER_QUERY):
        part = names[start : start + PROBLEMS_PER_QUERY]
        rows = {
            table: rows_by_problem(reader, select, session, part, order)
            for table, (select, order) in SELECTS.items()
        }
        sizes = rows_by_problem(reader, SIZES, session, part, "size") if spaces else {}
        happened = events_by_problem(reader, session, part)
        over_space = {name: _over_space(rows, name, spaces) for name in part}
        for together in _groups(over_space):
            arrays = read_vectors(
                reader,
                (d for name in together for d in _digests(over_space[name])),
                max((row[0] for name in together for row in sizes.get(name, ())), default=0),
            )
            for name in together:
                own = {table: found[name] for table, found in rows.items()}
                made = {
                    place: _predictions(cells, arrays) for place, cells in over_space[name].items()
                }
                yield from _steps(decode_text(name), own, happened[name], made)


def _over_space(
    rows: Mapping[str, Mapping[str, Sequence[Row]]], name: str, spaces: Spaces
) -> dict[HypothesisKey, Row]:
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


def _digests(over_space: Mapping[HypothesisKey, Row]) -> set[Digest]:
    return {d for _, codes, reasons, *_ in over_space.values() for d in (codes, reasons) if d}


def _groups(over_space: Mapping[str, Mapping[HypothesisKey, Row]]) -> Iterator[list[str]]:
    """Yield runs of problems, in order, with at most `MAX_VECTORS` arrays or one problem each."""
    run: list[str] = []
    held: set[Digest] = set()
    for name, own in over_space.items():
        digests = _digests(own)
        if run and len(held | digests) > MAX_VECTORS:
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
        tuple(decode_json(names, "prediction.reason_names", list)),
        decode_text(outcome),
        limited,
    )


def _steps(
    problem: str,
    rows: Mapping[str, Sequence[Row]],
    happened: Sequence[tuple[int, BankEvent]],
    over_space: Mapping[HypothesisKey, Predictions],
) -> Iterator[StepRecord]:
    hypotheses = {
        (step, answer, ordinal): _hypothesis(*cells)
        for step, answer, ordinal, *cells in rows["hypothesis"]
    }
    agreements: dict[tuple[HypothesisKey, str], Agreement] = {}
    for step, answer, ordinal, inputs, outcome, *cells in rows["prediction"]:
        if inputs != "space":
            marks, got, detail, *_ = cells
            at = ((step, answer, ordinal), inputs)
            agreements[at] = _agreement(marks, got, outcome, detail)
    judged: dict[tuple[int, int], list[JudgedHypothesis]] = {}
    for step, answer, ordinal, verdict, reason, bad, coverage in rows["verdict"]:
        place = (step, answer, ordinal)
        judged.setdefault((step, answer), []).append(
            JudgedHypothesis(
                verdict_of(verdict),
                decode_text(reason),
                hypotheses.get(place),
                coverage,
                agreements.get((place, "shown")),
                agreements.get((place, "hidden")),
                over_space.get(place),
                bad,
            )
        )
    answers: dict[int, list[JudgedAnswer]] = {}
    for step, answer, path, text in rows["answer"]:
        given = tuple(judged.get((step, answer), ()))
        answers.setdefault(step, []).append(
            JudgedAnswer(decode_text(path), decode_text(text), given)
        )
    for step, fields in rows["step"]:
        yield StepRecord(
            problem,
            step,
            tuple(answers.get(step, ())),
            decode_json(fields, "step.fields", dict),
            tuple(event for at, event in happened if at == step),
        )


def _hypothesis(text: str, description: str, meta: str, breaches: str) -> Hypothesis:
    return Hypothesis(
        decode_text(text),
        decode_text(description),
        decode_json(meta, "hypothesis.meta", dict),
        tuple(decode_json(breaches, "hypothesis.breaches", list)),
    )


def _agreement(marks: list[bool | None], got: str, outcome: str, detail: str) -> Agreement:
    return Agreement(
        tuple(marks),
        tuple(decode_values(got, "prediction.got")),
        decode_text(outcome),
        decode_json(detail, "prediction.detail", dict),
    )


def events(
    reader: RowReader, session: str, problems: Sequence[str]
) -> Iterator[tuple[str, int, BankEvent]]:
    """Yield the events of the bank as problem, step and event, in the order of the steps."""
    names = [encode_text(problem) for problem in problems]
    for start in range(0, len(names), PROBLEMS_PER_QUERY):
        part = names[start : start + PROBLEMS_PER_QUERY]
        for name, happened in events_by_problem(reader, session, part).items():
            yield from ((decode_text(name), step, event) for step, event in happened)


def events_by_problem(
    reader: RowReader, session: str, names: Sequence[str]
) -> dict[str, list[tuple[int, BankEvent]]]:
    """Return the bank events of each problem, with the numbers of their steps.

    `names` and the keys of the result are ids of problems in the form of `codec.encode_text`.
    """
    select = (
        'SELECT problem, step, hypothesis, text, description, observation, "right", t, '
        "kind FROM bank_event"
    )
    rows = rows_by_problem(reader, select, session, names, "problem, step, ordinal")
    return {name: _events(found) for name, found in rows.items()}


def _events(rows: Sequence[Row]) -> list[tuple[int, BankEvent]]:
    found: list[tuple[int, BankEvent]] = []
    said: dict[Digest, tuple[str, str]] = {}
    for step, hypothesis, text, description, *rest in rows:
        if text is not None:
            said[hypothesis] = (decode_text(text), decode_text(description))
        words = said[hypothesis]
        found.append((step, BankEvent(hypothesis, *words, *rest)))
    return found
