"""How many changes the store commits together while a session runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.runner import COMMIT_DIVISOR, MIN_BATCHING_WORKERS, run_session
from peirce.records import InputSet
from peirce.store import Store


def rates(path: Path, problems: list, monkeypatch, **options) -> list[int]:
    """What the store is told, in order, by a session whose proposer has nothing to say."""
    told: list[int] = []
    monkeypatch.setattr(Store, "set_commit_size", lambda store, changes: told.append(changes))
    proposer = ScriptedProposer({"*": []})
    known = {"task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
             "model_settings": proposer.settings()}  # fmt: skip
    with Store.open(path, write=True) as store:
        session = store.create_session(known, [(one, InputSet("S", ([1],))) for one in problems])
        ended = asyncio.run(run_session(store, session, proposer=proposer, oracle=None, **options))
    assert ended["done"] == len(problems)
    return told


def test_fast_answers_of_many_problems_are_committed_together(make_problem, tmp_path, monkeypatch):
    count = MIN_BATCHING_WORKERS + 1
    problems = [make_problem(f"p{n}", [([3], [3])]) for n in range(count)]
    told = rates(tmp_path / "a", problems, monkeypatch, concurrency=count, fast=True)
    # begun, then the end of each worker: MANY are left, then fewer; at last the session's end
    assert told == [count // COMMIT_DIVISOR, MIN_BATCHING_WORKERS // COMMIT_DIVISOR, *[1] * count]
    assert MIN_BATCHING_WORKERS // COMMIT_DIVISOR > 1


def test_other_answers_are_committed_one_by_one(make_problem, tmp_path, monkeypatch):
    problems = [make_problem(f"p{n}", [([3], [3])]) for n in range(MIN_BATCHING_WORKERS + 1)]
    assert set(
        rates(tmp_path / "a", problems, monkeypatch, concurrency=MIN_BATCHING_WORKERS + 1)
    ) == {1}
    assert set(rates(tmp_path / "b", problems, monkeypatch, concurrency=8, fast=True)) == {1}
