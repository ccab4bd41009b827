"""`arun` and `aresume`: a session beside other tasks, and one that is cancelled and goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import peirce
import pytest
from peirce.records import UsageError

SETTINGS = {"problems": 2, "max_answers": 2, "budget_expansions": 300, "concurrency": 1}


def test_a_cancelled_session_is_interrupted_and_goes_on_as_if_it_had_not_been(
    tmp_path: Path,
) -> None:
    store = tmp_path / "cancelled.duckdb"

    async def cancel_after_a_step() -> None:
        loop, stepped = asyncio.get_running_loop(), asyncio.Event()

        def listen(event) -> None:
            if event["type"] == "step":
                loop.call_soon_threadsafe(stepped.set)

        work = asyncio.create_task(
            peirce.arun("list_functions", **SETTINGS, store=store, on_event=listen)
        )
        stopped = asyncio.create_task(stepped.wait())
        await asyncio.wait([work, stopped], return_when=asyncio.FIRST_COMPLETED)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancel_after_a_step())
    assert peirce.sessions(store=store)[0].status == "interrupted"
    resumed = asyncio.run(peirce.aresume("last", store=store))
    assert resumed.status == "done"
    assert resumed.digest == peirce.run("list_functions", **SETTINGS, store=tmp_path / "b").digest


def test_the_event_loop_goes_on_while_a_session_runs(tmp_path: Path) -> None:
    async def run_and_count() -> int:
        ticks = 0
        work = asyncio.create_task(
            peirce.arun("list_functions", **SETTINGS, store=tmp_path / "s.duckdb")
        )
        while not work.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert (await work).status == "done"
        return ticks

    assert asyncio.run(run_and_count()) > 10


def test_errors_are_those_of_run() -> None:
    with pytest.raises(UsageError, match="did you mean list_functions"):
        asyncio.run(peirce.arun("list_function"))
