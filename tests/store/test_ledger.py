"""Steps come back as they were written, once, in order.

Internals: the cell of a long list of predicted values is encoded and decoded by itself.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import (
    Agreement,
    BankEvent,
    Hypothesis,
    InputSet,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    StoreError,
    Verdict,
)
from peirce.store import Store
from peirce.store.codec import decode_values, encode_json, encode_values
from peirce.tests.counts import drawn

NewSession = Callable[..., str]

# Texts as models make them: any code point, lone surrogates and NUL among them.
texts = st.text(st.characters(codec=None), max_size=12)  # type: ignore[arg-type]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
agreements = st.builds(
    Agreement,
    st.lists(st.sampled_from([True, False, None]), max_size=4).map(tuple),
    st.lists(st.fixed_dictionaries({"value": values}), max_size=4).map(tuple),
    st.sampled_from(["ok", "too_slow"]),
    objects,
)
spaces = st.builds(
    lambda codes, limited: Predictions(
        np.array(codes, np.int64),
        np.array([i % 3 for i in codes], np.uint8),
        ("a", "b"),
        "ok",
        limited,
    ),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=80),
    st.booleans(),
)
hypotheses = st.builds(Hypothesis, texts, texts, objects, st.lists(texts, max_size=2).map(tuple))
judgements = st.builds(
    JudgedHypothesis,
    st.sampled_from(list(Verdict)),
    texts,
    st.none() | hypotheses,
    st.none() | st.floats(0, 1),
    st.none() | agreements,
    st.none() | agreements,
    st.none() | spaces,
    st.booleans(),
)
answers = st.builds(JudgedAnswer, texts, texts, st.lists(judgements, max_size=3).map(tuple))
events = st.builds(
    BankEvent,
    st.sampled_from(["0" * 64, "1" * 64]),
    texts,
    texts,
    st.integers(0, 100),
    st.booleans(),
    st.integers(0, 100),
)
records = st.builds(
    StepRecord,
    st.just("π\ud800"),
    st.just(0),
    st.lists(answers, max_size=3).map(tuple),
    objects,
    st.lists(events, max_size=5).map(tuple),
)


@pytest.mark.counted
def test_steps_come_back_equal_from_the_file_and_through_the_socket(
    store: Store, path: Path, made: SimpleNamespace
) -> None:
    problem = Problem("π\ud800", "t", "programs", (Observation([1], "\udfff"),))
    reader = Store.open(path, write=False)

    @settings(max_examples=drawn(12, soak=25))
    @given(st.lists(records, min_size=1, max_size=4))
    def check(some: list[StepRecord]) -> None:
        steps = tuple(
            StepRecord(problem.id, number, one.answers, one.fields, one.events)
            for number, one in enumerate(some)
        )
        session = store.create_session({}, [(problem, InputSet("n", tuple(range(80))))])
        ledger = store.ledger(session)

        async def write() -> None:
            await asyncio.gather(*(ledger.record_step(one) for one in steps))

        asyncio.run(write())
        for opened in (store, reader):
            assert opened.problems(session)[0].problem == problem
            assert made.same(tuple(opened.steps(session)), steps)
        assert store.digest(session) == reader.digest(session)
        assert store.find_changes(session) == []

    check()
    reader.close()


def test_writing_a_step_again_changes_nothing(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session("1", "2")

    async def write() -> None:
        for ledger in (store.ledger(session), store.ledger(session)):
            for name in "12":
                for number in range(3):
                    await ledger.record_step(made.step(name, number))
                await ledger.record_end(name, "done", "three bad")

    asyncio.run(write())
    digest = store.digest(session)
    asyncio.run(write())
    assert store.digest(session) == digest
    found = [(one.problem, one.step) for one in store.steps(session)]
    assert found == [(name, number) for name in "12" for number in range(3)]
    assert [one.step for one in store.steps(session, "2")] == [0, 1, 2]
    rows = {(row.status, row.cause) for row in store.problems(session)}
    assert rows == {("done", "three bad")}
    assert len(store.query("SELECT * FROM verdict")) == 2 * 3 * 3


def test_the_same_rows_from_two_ledgers_at_once_are_written_once(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    ledgers = [store.ledger(session) for _ in range(4)]

    async def write() -> None:
        await asyncio.gather(*(ledger.record_step(made.step("1", 0)) for ledger in ledgers))

    asyncio.run(write())
    assert made.same(tuple(store.steps(session)), (made.step("1", 0),))


def test_a_step_that_is_there_keeps_every_row_it_has(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    first, second = store.ledger(session), store.ledger(session)
    short = StepRecord("1", 0, made.step("1", 0).answers[:1])

    async def write() -> None:
        await second.record_step(made.step("1", 9))  # has read which steps there are
        await first.record_step(short)
        await second.record_step(made.step("1", 0))  # would add an answer and events

    asyncio.run(write())
    assert made.same(next(store.steps(session)), short)


def test_vectors_that_calls_and_steps_share_are_kept_once(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    record = made.step("1", 0)
    asyncio.run(store.ledger(session).record_step(record))
    asyncio.run(store.ledger(session).record_step(StepRecord("1", 1, record.answers)))
    assert store.query("SELECT count(*) FROM vector") == [(2,)]  # codes and reasons


def test_fields_keep_infinities(store: Store, new_session: NewSession) -> None:
    session = new_session()
    asyncio.run(store.ledger(session).record_step(StepRecord("1", 0, (), {"gap": math.inf})))
    (found,) = store.steps(session)
    assert found.fields == {"gap": math.inf}


def test_spaces_are_left_unread_when_they_are_not_wanted(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    asyncio.run(store.ledger(session).record_step(made.step("1", 0)))
    (found,) = store.steps(session, spaces=False)
    judged = found.answers[1].judged[0]
    assert judged.space is None and judged.shown is not None


def test_long_lists_of_few_values_are_packed_and_come_back() -> None:
    few = [{"value": "a"}, {"undefined": "does_not_apply"}, 1, True, 1.0] * 1_000
    cell = encode_values(few)
    assert len(cell) < 200 and repr(decode_values(cell, "x")) == repr(few)
    many = list(range(2_000))
    assert (
        encode_values(many) == encode_json(many) and decode_values(encode_json(many), "x") == many
    )
    with pytest.raises(StoreError, match="x cannot be read"):
        decode_values('{"places": "AA==", "values": []}', "x")
