"""`play`: a whole session in a temporary store, with the real sandbox and a scripted proposer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Observation, Problem, StepRecord
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them
import one_sandbox

SPACE = InputSet("singletons", tuple([n] for n in range(10)))


def problem(name: str = "one", shown: Sequence[Any] = (), hidden: Sequence[Any] = ()) -> Problem:
    pairs = lambda some: tuple(Observation(i, o) for i, o in some)
    return Problem(name, "examples", "programs", pairs(shown), pairs(hidden))


def answer(source: str, description: str = "a rule") -> str:
    return repr((description, source))


@pytest.fixture(scope="session", autouse=True)
def closes_the_sandbox() -> Iterator[None]:
    yield
    one_sandbox.close()


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """play(proposer, problems, **settings) -> (store, session, steps); the store stays open."""
    yield from playing(tmp_path)


@pytest.fixture(scope="module")
def play_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """As `play`, for sessions that all tests of a module read."""
    yield from playing(tmp_path_factory.mktemp("played"))


def playing(folder: Path) -> Iterator[Callable[..., Any]]:
    opened: list[Store] = []

    def run(
        proposer: Any, problems: Sequence[Problem], space: InputSet = SPACE, **settings: Any
    ) -> tuple[Store, str, list[StepRecord]]:
        store = Store.open(folder / f"store{len(opened)}.duckdb", write=True)
        opened.append(store)
        known = {
            "task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
            "model_settings": proposer.settings(), **settings,
        }  # fmt: skip
        session = store.create_session(known, [(one, space) for one in problems])

        one_sandbox.in_sandbox(
            lambda one: run_session(store, session, proposer=proposer, oracle=one)
        )
        return store, session, list(store.steps(session))

    yield run
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def make_problem() -> Callable[..., Problem]:
    return problem


@pytest.fixture(scope="session")
def make_answer() -> Callable[..., str]:
    return answer
