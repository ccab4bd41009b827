"""The digest: the same for the same findings in whatever order they came, another for any other."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from peirce.records import (
    CallKey,
    InputSet,
    Outcome,
    Problem,
    StepRecord,
    Usage,
    Verdict,
)
from peirce.store import Store, decode_vector, encode_vector

SETTINGS: Mapping[str, Any] = {
    "seed": 0,
    "method": "abduce",
    "model": {"name": "search", "workers": 2},
    "versions": {"peirce": "0.1"},
    "concurrency": 4,
    "operational": {"started_by": "a test"},
}


def write(
    store: Store,
    made: SimpleNamespace,
    order: int = 0,
    settings: Mapping[str, Any] = SETTINGS,
    change: Callable[[StepRecord], StepRecord] = lambda record: record,
    outcome: Callable[[Outcome], Outcome] = lambda outcome: outcome,
    request: str = "ask",
    problem: Callable[[Problem], Problem] = lambda problem: problem,
    space: InputSet | None = None,
    cause: str = "three bad",
    status: str = "done",
) -> str:
    """The digest of a session of two problems and two steps, written in a shuffled order."""
    names = ["1", "2"]
    session = store.create_session(
        dict(settings), [(problem(made.problem(name)), space or made.space) for name in names]
    )
    journal, ledger, rng = store.journal(session), store.ledger(session), random.Random(order)

    async def call(key: CallKey, kind: str) -> None:
        async def make() -> Outcome:
            await asyncio.sleep(rng.random() / 500)
            return outcome(made.outcome(key, kind))

        await journal.record_once(key, kind, {"request": request, "path": key.path}, make)  # type: ignore[arg-type]

    async def run() -> None:
        calls = [
            (CallKey(session, name, f"step/{number}/{kind}/0"), kind)
            for name in names
            for number in range(2)
            for kind in ("model", "tool")
        ]
        rng.shuffle(calls)
        await asyncio.gather(*(call(*one) for one in calls))
        steps = [(name, number) for name in names for number in range(2)]
        rng.shuffle(steps)
        for name, number in steps:
            record = made.step(name, number)
            await ledger.record_step(change(record) if (name, number) == ("2", 1) else record)
        for name in rng.sample(names, 2):
            await ledger.record_end(name, "done" if name == "1" else status, cause)  # type: ignore[arg-type]

    asyncio.run(run())
    return store.digest(session)


def test_order_of_arrival_does_not_count(store: Store, made: SimpleNamespace) -> None:
    assert len({write(store, made, order) for order in range(8)}) == 1


def test_how_a_session_ran_does_not_count(store: Store, made: SimpleNamespace) -> None:
    plain = write(store, made)
    other = {
        **SETTINGS,
        "model": {"name": "search", "workers": 16},
        "versions": {"peirce": "9"},
        "concurrency": 1,
        "layers": {"docker": True},
        "operational": {},
    }
    assert write(store, made, settings=other) == plain

    def dearer(outcome: Outcome) -> Outcome:
        return replace(outcome, usage=Usage(9, 9, 9, 9), seconds=99.0, retries=9)

    assert write(store, made, outcome=dearer) == plain
    session = store.find_session("last")
    store.update_session(session, status="interrupted", seconds=1.0)
    assert store.digest(session) == plain


def first(record: StepRecord, **changes: Any) -> StepRecord:
    """The record with its first hypothesis' judgement changed."""
    malformed, answered = record.answers
    judged = (replace(answered.judged[0], **changes), *answered.judged[1:])
    return replace(record, answers=(malformed, replace(answered, judged=judged)))


def altered_code(record: StepRecord) -> StepRecord:
    space = record.answers[1].judged[0].space
    assert space is not None
    codes = space.codes.copy()
    codes[7] += 1
    return first(record, space=replace(space, codes=codes))


def altered_reason(record: StepRecord) -> StepRecord:
    space = record.answers[1].judged[0].space
    assert space is not None
    return first(record, space=replace(space, reasons=np.zeros_like(space.reasons)))


def altered_mark(record: StepRecord) -> StepRecord:
    hidden = record.answers[1].judged[0].hidden
    assert hidden is not None
    return first(record, hidden=replace(hidden, marks=(True,)))


def altered_text(record: StepRecord) -> StepRecord:
    hypothesis = record.answers[1].judged[0].hypothesis
    assert hypothesis is not None
    return first(record, hypothesis=replace(hypothesis, text="pass"))


def altered_event(record: StepRecord) -> StepRecord:
    one, *rest = record.events
    return replace(record, events=(replace(one, right=not one.right), *rest))


CHANGES: dict[str, Callable[[StepRecord], StepRecord]] = {
    "code": altered_code,
    "reason of an input": altered_reason,
    "mark": altered_mark,
    "hypothesis": altered_text,
    "event": altered_event,
    "verdict": lambda record: first(record, verdict=Verdict.INCONSISTENT),
    "reason": lambda record: first(record, reason="other"),
    "bad": lambda record: first(record, bad=True),
    "coverage": lambda record: first(record, coverage=0.2500000001),
    "fields": lambda record: replace(record, fields={"chosen": 0}),
    "answer": lambda record: replace(
        record, answers=(replace(record.answers[0], text="no idea."), record.answers[1])
    ),
    "no answer": lambda record: replace(record, answers=record.answers[:1]),
    "no event": lambda record: replace(record, events=record.events[:2]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_of_a_step_counts(store: Store, made: SimpleNamespace, name: str) -> None:
    assert write(store, made, change=CHANGES[name]) != write(store, made)


def test_any_change_of_calls_problems_and_settings_counts(
    store: Store, made: SimpleNamespace
) -> None:
    def louder(outcome: Outcome) -> Outcome:
        return replace(outcome, response={**outcome.response, "more": 1})

    def shifted(outcome: Outcome) -> Outcome:
        return replace(outcome, vectors={k: v + 1 for k, v in outcome.vectors.items()})

    digests = [
        write(store, made),
        write(store, made, outcome=louder),
        write(store, made, outcome=shifted),
        write(store, made, request="ask again"),
        write(store, made, settings={**SETTINGS, "seed": 1}),
        write(store, made, settings={**SETTINGS, "model": {"name": "other"}}),
        write(store, made, problem=lambda one: replace(one, hidden=one.shown)),
        write(store, made, space=InputSet("lists", ([1],))),
        write(store, made, cause="exhausted"),
        write(store, made, status="failed"),
    ]
    assert len(set(digests)) == len(digests)


def test_rows_altered_in_the_file_are_named(store: Store, made: SimpleNamespace) -> None:
    write(store, made)
    session = store.find_session("last")
    assert store.find_changes(session) == []
    path = store.path
    store.close()
    import duckdb

    with duckdb.connect(str(path)) as connection:
        codes = connection.execute(
            "SELECT codes FROM prediction WHERE inputs = 'space' AND problem = '2' AND step = 1"
        ).fetchall()[0][0]
        (blob,) = connection.execute(
            "SELECT data FROM vector WHERE digest = ?", [codes]
        ).fetchall()[0]
        array = decode_vector(blob).copy()
        array[3] += 1
        connection.execute(
            "UPDATE vector SET data = ? WHERE digest = ?", [encode_vector(array), codes]
        )
        connection.execute(
            "UPDATE hypothesis SET text = 'pass' WHERE problem = '1' AND step = 0 AND ordinal = 0"
        )
        connection.execute(
            "UPDATE call SET request = '{}' WHERE problem = '1' AND path = 'step/1/model/0'"
        )
        connection.execute(
            "UPDATE problem SET data = replace(data, 'tail', 'head') WHERE problem = '2'"
        )
    with Store.open(path, write=False) as reader:
        found = [
            (a["problem"], a["step"], a["path"], a["field"]) for a in reader.find_changes(session)
        ]
    assert found == [
        ("2", None, "", "problem"),
        ("1", None, "step/1/model/0", "request"),
        ("1", 0, "", "hypothesis"),
        ("2", 1, "", "space.codes"),
        ("2", 1, "", "space.codes"),  # the redundant one has the same predictions
    ]
