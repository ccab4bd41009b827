"""Memory follows the problems under way, not those that have ended."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections import Counter

import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.memory import Case
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, OracleSettings, Predictions, Reply, StepRecord
from peirce.store import Store
from peirce.tools.execute import EXECUTE

SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SHOWN = [([3], [3]), ([5, 5], [5, 5])]
CONCURRENCY = 4
PROBLEMS = 64
# Ended problems when memory is looked at, early and late: as many are under way each time, but what
# waits to be written differs, so the least of each row counts.
EARLY, LATE = range(12, 20), range(52, 60)


def living() -> Counter[str]:
    gc.collect()
    kinds = (Case, Predictions, Reply, StepRecord, asyncio.Task)
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, kinds))


class Watch:
    """Counts what has come to live since, and the bytes that Python holds, at certain numbers of ended
    problems. What the tests before this one left behind is not counted."""

    def __init__(self) -> None:
        self.before = living()
        self.ended = 0
        self.live: list[Counter[str]] = []
        self.bytes: list[int] = []

    def __call__(self, event) -> None:
        if event["type"] != "problem_ended":
            return
        self.ended += 1
        if self.ended in EARLY or self.ended in LATE:
            self.live.append(living() - self.before)
            self.bytes.append(tracemalloc.get_traced_memory()[0])


@pytest.mark.soak
def test_problems_that_have_ended_leave_nothing_in_memory(
    tmp_path, make_problem, make_answer
) -> None:
    sources = [f"def f(x):\n    return x if len(x) > 1 else [v * {n} + 3 - 3 * {n} for v in x]" for n in range(1, 5)]  # fmt: skip
    proposer = ScriptedProposer([make_answer(source) for source in sources])
    settings = {"task": "examples", "method": "abduce", "model": "m", "seed": 0,
                "model_settings": {"scheme": "scripted"}}  # fmt: skip
    problems = [(make_problem(str(n), SHOWN), SPACE) for n in range(PROBLEMS)]
    watch = Watch()

    async def whole(store: Store, session: str) -> None:
        sandbox = await EXECUTE.open(OracleSettings(workers=1))
        try:
            await run_session(store, session, proposer=proposer, oracle=sandbox,
                              concurrency=CONCURRENCY, on_event=watch)  # fmt: skip
        finally:
            await sandbox.close()

    with Store.open(tmp_path / "store.duckdb", write=True) as store:
        session = store.create_session(settings, problems)
        tracemalloc.start()
        try:
            asyncio.run(whole(store, session))
        finally:
            tracemalloc.stop()
    assert watch.ended == PROBLEMS
    for live in watch.live:
        assert live["Case"] <= CONCURRENCY
        assert all(count <= 8 * CONCURRENCY for count in live.values()), live
    early, late = watch.bytes[: len(EARLY)], watch.bytes[len(EARLY) :]
    a_problem = (min(late) - min(early)) / (LATE.start - EARLY.start)
    assert a_problem < 3_500, f"each problem that ended leaves {a_problem:.0f} bytes behind"
