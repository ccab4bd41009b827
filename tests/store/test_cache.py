"""Which of several recorded answers to one request another session is given."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from peirce.records import CallKey, Outcome, digest_of
from peirce.store import Store

REQUEST = {"role": "proposer", "seed": 1}


def begun(store: Store, made: SimpleNamespace, endpoint: str = "http://here/v1") -> str:
    settings = {"task": "t", "operational": {"reached": {"endpoint": endpoint}}}
    return store.create_session(settings, [(made.problem("1"), made.space)])


def record(store: Store, session: str, outcome: Outcome) -> None:
    async def make() -> Outcome:
        return outcome

    key = CallKey(session, "1", "step/1/propose/0")
    asyncio.run(store.journal(session).record_once(key, "model", REQUEST, make))


def test_the_latest_answer_counts_where_a_session_asked_again_without_the_cache(
    store: Store, made: SimpleNamespace
) -> None:
    sessions = [begun(store, made) for _ in range(4)]
    for session, said in zip(sessions, ("old", "newer", "newest"), strict=False):
        record(store, session, Outcome({"text": said}))
    found = store.answer_cache(sessions[3]).find(digest_of(REQUEST))
    assert found == Outcome({"text": "newest"}, repeats=sessions[2])


def test_an_answer_names_the_session_that_asked_and_none_that_repeated_it(
    store: Store, made: SimpleNamespace
) -> None:
    asked, repeated, here = (begun(store, made) for _ in range(3))
    record(store, asked, Outcome({"text": "said"}))
    known = store.answer_cache(repeated).find(digest_of(REQUEST))
    assert known is not None
    record(store, repeated, known)
    assert store.answer_cache(here).find(digest_of(REQUEST)) == Outcome(
        {"text": "said"}, repeats=asked
    )


def test_another_endpoints_answers_and_ones_own_are_none(
    store: Store, made: SimpleNamespace
) -> None:
    there, here = begun(store, made, "http://there/v1"), begun(store, made)
    record(store, there, Outcome({"text": "said"}))
    record(store, here, Outcome({"text": "said"}))
    assert store.answer_cache(here).find(digest_of(REQUEST)) is None
