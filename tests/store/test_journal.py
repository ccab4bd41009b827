"""The journal: a call is made once, is durable before `once` returns, and never changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from peirce.records import CallKey, Outcome, StoreError, Unavailable, Usage, digest_of
from peirce.store import JournalMismatch, Store

NewSession = Callable[..., str]


class Maker:
    """Counts how often it is asked."""

    def __init__(self, outcome: Outcome, wait_s: float = 0.0) -> None:
        self.outcome, self.wait_s, self.calls = outcome, wait_s, 0

    async def __call__(self) -> Outcome:
        self.calls += 1
        await asyncio.sleep(self.wait_s)
        return self.outcome


OUTCOME = Outcome({"text": "hé \ud800 \0"}, {"codes": np.arange(14_101)}, Usage(1, 2, 3, 4), 0.5, 2)


def test_a_call_is_made_once_and_comes_back_whole(path: Path, made: SimpleNamespace) -> None:
    make = Maker(OUTCOME)
    with Store.open(path, write=True) as store:
        session = store.create_session({}, [(made.problem("1"), made.space)])
        key = CallKey(session, "1", "step/0/propose/0")
        first = asyncio.run(store.journal(session).record_once(key, "model", {"m": 1}, make))
        again = asyncio.run(store.journal(session).record_once(key, "model", {"m": 1}, make))
    with Store.open(path, write=True) as store:
        journal = store.journal(session)
        later = [asyncio.run(journal.record_once(key, "model", {"m": 1}, make)) for _ in range(2)]
    assert make.calls == 1
    for found in (first, again, *later):
        assert found.response == OUTCOME.response
        assert (found.usage, found.seconds, found.retries) == (Usage(1, 2, 3, 4), 0.5, 2)
        assert made.same(found.vectors["codes"], OUTCOME.vectors["codes"])


def test_two_at_once_make_one_call(store: Store, new_session: NewSession) -> None:
    session = new_session()
    key, make = CallKey(session, "1", "step/0/propose/0"), Maker(OUTCOME, 0.02)

    async def side_by_side() -> list[Outcome]:
        journal = store.journal(session)
        some = (journal.record_once(key, "model", {"m": 1}, make) for _ in range(5))
        return await asyncio.gather(*some)

    assert {str(found.response) for found in asyncio.run(side_by_side())} == {str(OUTCOME.response)}
    assert make.calls == 1


def test_another_request_under_a_key_names_problem_and_path(
    store: Store, new_session: NewSession
) -> None:
    session = new_session()
    journal, key = store.journal(session), CallKey(session, "1", "step/7/propose/0")
    asyncio.run(journal.record_once(key, "model", {"m": 1}, Maker(OUTCOME)))
    with pytest.raises(JournalMismatch, match=r"problem 1 at step/7/propose/0"):
        asyncio.run(journal.record_once(key, "model", {"m": 2}, Maker(OUTCOME)))
    found = journal.find_entry(key)  # as replay asks, which reports another request by itself
    assert found is not None
    assert found[0] == digest_of({"m": 1}) and found[1].response == OUTCOME.response
    assert journal.find_entry(CallKey(session, "1", "step/8/propose/0")) is None


def test_a_failed_call_leaves_nothing_and_the_waiting_one_tries_again(
    store: Store, new_session: NewSession
) -> None:
    session = new_session()
    journal, key = store.journal(session), CallKey(session, "1", "step/0/propose/0")

    async def outage() -> Outcome:
        await asyncio.sleep(0.01)
        raise Unavailable("no endpoint")

    async def run() -> list[Outcome | BaseException]:
        return await asyncio.gather(
            journal.record_once(key, "model", {}, outage),
            journal.record_once(key, "model", {}, Maker(OUTCOME)),
            return_exceptions=True,
        )

    failed, found = asyncio.run(run())
    assert isinstance(failed, Unavailable)
    assert isinstance(found, Outcome) and len(store.calls(session)) == 1


def test_a_cancelled_waiter_stops_nobody(store: Store, new_session: NewSession) -> None:
    session = new_session()
    journal, key = store.journal(session), CallKey(session, "1", "step/0/propose/0")
    make = Maker(OUTCOME, 0.05)

    async def run() -> Outcome:
        first = asyncio.create_task(journal.record_once(key, "model", {}, make))
        second = asyncio.create_task(journal.record_once(key, "model", {}, make))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        return await first

    assert asyncio.run(run()).response == OUTCOME.response
    assert make.calls == 1


def test_several_event_loops_and_many_calls_at_once(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session("1", "2")
    journal = store.journal(session)
    keys = [CallKey(session, name, f"step/{i}/execute/0") for name in "12" for i in range(40)]

    async def run() -> list[Outcome]:
        return await asyncio.gather(
            *(
                journal.record_once(key, "tool", key.path, Maker(made.outcome(key, "tool")))
                for key in keys
            )
        )

    for _ in range(3):
        for key, found in zip(keys, asyncio.run(run()), strict=True):
            expected = made.outcome(key, "tool")
            assert made.same(found.vectors["codes"], expected.vectors["codes"])
    assert len(store.calls(session)) == 80
    assert [call["path"] for call in store.calls(session, "2")] == sorted(
        key.path for key in keys if key.problem == "2"
    )


def test_a_journal_of_a_reader_looks_up_and_writes_nothing(
    store: Store, new_session: NewSession, path: Path
) -> None:
    session = new_session()
    key = CallKey(session, "1", "step/0/propose/0")
    asyncio.run(store.journal(session).record_once(key, "model", {}, Maker(OUTCOME)))
    store.close()
    with Store.open(path, write=False) as reader:
        journal = reader.journal(session)
        assert asyncio.run(journal.record_once(key, "model", {}, Maker(OUTCOME))).retries == 2
        other = CallKey(session, "1", "step/1/propose/0")
        with pytest.raises(StoreError, match="open for reading"):
            asyncio.run(journal.record_once(other, "model", {}, Maker(OUTCOME)))


def test_usage_sums_by_kind_and_role(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    journal = store.journal(session)
    for path, kind in (
        ("step/0/propose/0", "model"),
        ("step/1/propose/0", "model"),
        ("step/1/propose/0/tool/0", "tool"),
    ):
        key = CallKey(session, "1", path)
        outcome = Outcome({}, {}, Usage(10, 3, 2, 1), 0.25, 1)
        asyncio.run(journal.record_once(key, kind, {}, Maker(outcome)))
    usage = store.usage(session)
    assert (usage["calls"], usage["tokens_in"], usage["retries"]) == (3, 30, 3)
    assert usage["by_role"]["propose"]["tokens_out"] == 6
    assert {role: sums["calls"] for role, sums in usage["by_role"].items()} == {
        "propose": 2, "propose/tool": 1,
    }  # fmt: skip
    assert usage["by_kind"]["tool"]["calls"] == 1
    assert usage["seconds"] == pytest.approx(0.75)
    shares = (usage["cached_share"], usage["by_kind"]["model"]["cached_share"])
    assert (*shares, usage["by_role"]["propose"]["cached_share"]) == (0.2, 0.2, 0.2)


def test_calls_of_a_second_proposer_have_their_own_role(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session(settings={"operational": {"players": {"then": ["search", {}]}}})
    journal = store.journal(session)
    hostile = {"role": "proposer", "messages": [{"content": '"role":"then"', "role": "user"}]}
    for path, kind, request in (
        ("step/1/propose/0", "model", hostile),
        ("step/1/propose/0/tool/0", "tool", {"tool": "execute"}),
        ("step/2/propose/0", "model", {"role": "then", "seed": 1}),
        ("step/2/propose/0/tool/0", "tool", {"role": "proposer"}),
        ("step/2/propose/1", "model", {"role": "then", "seed": 2}),
        ("step/2/repair/0", "model", {"role": "repairer"}),
        ("seed/0", "model", {"role": "seeder"}),
        ("text/ab/judge/cd/0", "model", {"role": "judge"}),
        ("texts/ab/judge/cd/batch/0", "tool", {}),
    ):
        key = CallKey(session, "1", path)
        outcome = Outcome({}, {}, Usage(10, 3))
        asyncio.run(journal.record_once(key, kind, request, Maker(outcome)))
    calls = {role: sums["calls"] for role, sums in store.usage(session)["by_role"].items()}
    assert calls == {
        "propose": 1, "propose/tool": 1, "then": 2, "then/tool": 1, "repair": 1, "seed": 1, "judge": 2,
    }  # fmt: skip
    of_models = {role: sums["calls"] for role, sums in store.model_usage(session).items()}
    assert of_models == {"propose": 1, "then": 2, "repair": 1, "seed": 1, "judge": 1}
    assert store.usage(session)["calls"] == 9


@pytest.mark.parametrize(
    ("told", "share"), [(Usage(), None), (Usage(3, 9, 1), 0.3333), (Usage(2, 9, 8), 1)]
)
def test_the_cached_share_is_of_the_input_and_none_without_input(
    store: Store, new_session: NewSession, told: Usage, share: float | None
) -> None:
    session = new_session()
    key = CallKey(session, "1", "step/0/propose/0")
    asyncio.run(store.journal(session).record_once(key, "model", {}, Maker(Outcome({}, {}, told))))
    assert store.usage(session)["cached_share"] == share


def test_sums_hold_whatever_endpoints_say_of_tokens(store: Store, new_session: NewSession) -> None:
    session, most = new_session(), 2**63 - 1
    for n in range(3):
        outcome = Outcome({}, {}, Usage(most, most))
        key = CallKey(session, "1", f"step/{n}/propose/0")
        asyncio.run(store.journal(session).record_once(key, "model", {}, Maker(outcome)))
    assert store.usage(session)["tokens_in"] == 3 * most


def test_the_last_response_of_each_problem_is_that_of_the_call_begun_last(
    store: Store, new_session: NewSession
) -> None:
    session = new_session()
    journal = store.journal(session)
    for step in range(12):  # step/9 stands after step/11 by name
        key = CallKey(session, "1", f"step/{step}/propose/0")
        asyncio.run(journal.record_once(key, "model", {}, Maker(Outcome({"step": step}))))
    asyncio.run(
        journal.record_once(CallKey(session, "1", "step/12/judge/0"), "execute", {}, Maker(OUTCOME))
    )
    assert store.last_responses(session, "model") == {"1": {"step": 11}}
    assert store.last_responses(session, "other") == {}
