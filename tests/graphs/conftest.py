"""`play`: a whole session in a temporary store, with the real sandbox and a scripted proposer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from peirce.graphs.runner import run_session
from peirce.records import InputSet, Observation, Problem, StepRecord
from peirce.sandbox import open_sandbox
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them
SPACE = InputSet("singletons", tuple([n] for n in range(10)))


def problem(name: str = "one", shown: Sequence[Any] = (), hidden: Sequence[Any] = ()) -> Problem:
    pairs = lambda some: tuple(Observation(i, o) for i, o in some)
    return Problem(name, "examples", "programs", pairs(shown), pairs(hidden))


def answer(source: str, description: str = "a rule") -> str:
    return repr((description, source))


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., tuple[Store, str, list[StepRecord]]]:
    """play(proposer, problems, **settings) -> (store, session, steps); the store stays open."""
    opened: list[Store] = []

    def run(
        proposer: Any, problems: Sequence[Problem], space: InputSet = SPACE, **settings: Any
    ) -> tuple[Store, str, list[StepRecord]]:
        store = Store.open(tmp_path / f"store{len(opened)}.duckdb", write=True)
        opened.append(store)
        known = {
            "task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
            "model_settings": proposer.settings(), **settings,
        }  # fmt: skip
        session = store.create_session(known, [(one, space) for one in problems])

        async def whole() -> None:
            sandbox = await open_sandbox("process", workers=1)
            try:
                await run_session(store, session, proposer=proposer, sandbox=sandbox)
            finally:
                await sandbox.close()

        asyncio.run(whole())
        return store, session, list(store.steps(session))

    yield run
    for store in opened:
        store.close()


@pytest.fixture
def make_problem() -> Callable[..., Problem]:
    return problem


@pytest.fixture
def make_answer() -> Callable[..., str]:
    return answer
