"""Replay of a session: no difference where nothing was touched; one altered answer, code or verdict
in a copy of the store is reported by its name; with live tools too."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest
from peirce.agents.scripted import Scripted
from peirce.graphs.replay import replay_session
from peirce.sandbox import open_sandbox
from peirce.store import Store
from peirce.store.vectors import decode, encode

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
PLUS_ONE = "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]"


@pytest.fixture
def recorded(play, make_problem, make_answer) -> tuple[Path, str]:
    replies = [make_answer(IDENTITY), "prose", make_answer(PLUS_ONE)]
    problems = [make_problem(name, SHOWN, [([7], [8])]) for name in ("one", "two")]
    store, session, _ = play(Scripted(replies), problems)
    store.close()
    return store.path, session


def replay(path: Path, session: str, live: bool = False) -> dict:
    async def whole() -> dict:
        with Store.open(path, write=False) as store:
            if not live:
                return await replay_session(store, session)
            sandbox = await open_sandbox("process", workers=1)
            try:
                return await replay_session(store, session, sandbox=sandbox, live=True)
            finally:
                await sandbox.close()

    return asyncio.run(whole())


def altered(path: Path, sql: str, parameters: tuple = ()) -> Path:
    """A copy of the store in which `sql` was run."""
    copy = path.with_name("altered.duckdb")
    shutil.copy(path, copy)
    with duckdb.connect(str(copy)) as connection:
        connection.execute(sql, parameters)
    return copy


def fields(result: dict) -> set[tuple[str, int, str]]:
    return {(one["problem"], one["step"], one["field"]) for one in result["differences"]}


def test_an_untouched_session_replays_without_a_difference(recorded):
    path, session = recorded
    assert replay(path, session) == {"session": session, "steps": 6, "differences": []}


def test_a_live_replay_runs_the_tools_again_and_finds_no_difference(recorded):
    path, session = recorded
    assert replay(path, session, live=True)["differences"] == []


def test_an_altered_answer_is_named(recorded):
    path, session = recorded
    copy = altered(path, "UPDATE answer SET text = text || ' ' WHERE problem = 'one' AND step = 3")
    assert fields(replay(copy, session)) == {("one", 3, "answer 0")}


def test_an_answer_altered_in_the_journal_is_named(recorded):
    path, session = recorded
    copy = altered(
        path,
        "UPDATE call SET response = replace(response, 'prose', 'verse') "
        "WHERE problem = 'two' AND path = 'step/2/propose/0'",
    )
    assert ("two", 2, "answer 0") in fields(replay(copy, session))


def test_an_altered_verdict_is_named(recorded):
    path, session = recorded
    copy = altered(
        path, "UPDATE verdict SET verdict = 'redundant' WHERE problem = 'two' AND step = 1"
    )
    assert fields(replay(copy, session)) == {("two", 1, "verdict of answer 0")}


def test_one_altered_code_is_named(recorded):
    path, session = recorded
    with duckdb.connect(str(path), read_only=True) as connection:
        (digest, blob), *_ = connection.execute(
            "SELECT v.digest, v.data FROM vector v JOIN prediction p ON v.digest = p.codes "
            "WHERE p.problem = 'one' AND p.step = 3"
        ).fetchall()
    codes = np.array(decode(blob))
    codes[4] += 1
    copy = altered(path, "UPDATE vector SET data = ? WHERE digest = ?", (encode(codes), digest))
    found = {
        (step, name) for problem, step, name in fields(replay(copy, session)) if problem == "one"
    }
    assert any(step == 3 and "codes" in name for step, name in found), found


def test_a_tool_that_answers_otherwise_now_is_named_in_a_live_replay(recorded):
    path, session = recorded
    copy = altered(
        path,
        "UPDATE call SET response = replace(response, '[3]', '[4]') "
        "WHERE problem = 'one' AND path LIKE 'step/1/judge/0/0/shown%'",
    )
    found = fields(replay(copy, session, live=True))
    assert ("one", 1, "response of step/1/judge/0/0/shown/execute") in found


def test_a_missing_call_is_named(recorded):
    path, session = recorded
    copy = altered(path, "DELETE FROM call WHERE problem = 'one' AND path = 'step/2/propose/0'")
    found = replay(copy, session)["differences"]
    assert any("step/2/propose/0" in str(one["recorded"]) for one in found)
