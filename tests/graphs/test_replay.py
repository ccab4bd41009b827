"""Replay of a session: no difference where nothing was touched; one altered answer, code or verdict
in a copy of the store is reported by its name; with live tools too."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest
from one_sandbox import in_sandbox
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.replay import replay_session
from peirce.store import Store, decode_vector, encode_vector

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
PLUS_ONE = "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]"


@pytest.fixture(scope="module")
def recorded(play_once, make_problem, make_answer) -> tuple[Path, str]:
    replies = [make_answer(IDENTITY), "prose", make_answer(PLUS_ONE)]
    problems = [make_problem(name, SHOWN, [([7], [8])]) for name in ("one", "two")]
    store, session, _ = play_once(ScriptedProposer(replies), problems)
    store.close()
    return store.path, session


def replay(path: Path, session: str, live: bool = False) -> dict:
    with Store.open(path, write=False) as store:
        if live:
            return in_sandbox(lambda one: replay_session(store, session, oracle=one, live=True))
        return asyncio.run(replay_session(store, session))


def altered(path: Path, sql: str, parameters: tuple = ()) -> Path:
    """A copy of the store in which `sql` was run, in the place of the one before."""
    copy = path.with_name("altered.duckdb")
    shutil.copy(path, copy)
    with duckdb.connect(str(copy)) as connection:
        connection.execute(sql, parameters)
    return copy


WHOLE = ("", 0, "digest of the session")


def fields(result: dict) -> set[tuple[str, int, str]]:
    """What is named beside the digest of the session, which every alteration changes."""
    return {(one["problem"], one["step"], one["field"]) for one in result["differences"]} - {WHOLE}


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


def test_an_altered_problem_is_named_and_belongs_to_no_step(recorded):
    path, session = recorded
    copy = altered(path, "UPDATE problem SET data = replace(data, '8', '9') WHERE problem = 'one'")
    assert ("one", 0, "problem") in fields(replay(copy, session))


@pytest.mark.parametrize("hidden", [[], [([7], [8]), ([9], [10])]])
def test_a_problem_replaced_with_its_digest_is_named(recorded, make_problem, hidden):
    path, session = recorded
    other = make_problem("one", SHOWN, hidden)
    values = (json.dumps(other.as_json(), sort_keys=True, separators=(",", ":")), other.digest)
    copy = altered(path, "UPDATE problem SET data = ?, digest = ? WHERE problem = 'one'", values)
    found = fields(replay(copy, session))
    assert {problem for problem, _, _ in found} == {"one"}
    assert any(field == "unreadable" or field.startswith("hidden") for *_, field in found), found


def test_a_problem_replaced_by_another_kind_is_named(recorded, make_problem):
    path, session = recorded
    other = make_problem("one", [(3, 3), (None, None)], [(5, {"a": 1})])
    values = (json.dumps(other.as_json(), sort_keys=True, separators=(",", ":")), other.digest)
    copy = altered(path, "UPDATE problem SET data = ?, digest = ? WHERE problem = 'one'", values)
    assert {problem for problem, _, _ in fields(replay(copy, session))} == {"one"}


def test_one_altered_code_is_named(recorded):
    path, session = recorded
    with duckdb.connect(str(path), read_only=True) as connection:
        (digest, blob), *_ = connection.execute(
            "SELECT v.digest, v.data FROM vector v JOIN prediction p ON v.digest = p.codes "
            "WHERE p.problem = 'one' AND p.step = 3"
        ).fetchall()
    codes = np.array(decode_vector(blob))
    codes[4] += 1
    copy = altered(
        path, "UPDATE vector SET data = ? WHERE digest = ?", (encode_vector(codes), digest)
    )
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


# One alteration of a copy each, and the field under which replay must name it.
ALTERATIONS = {
    "step fields": ("UPDATE step SET fields = '{\"a\": 1}' WHERE {at}", "fields"),
    "answer path": ("UPDATE answer SET path = 'x' WHERE {at}", "path of answer 0"),
    "hypothesis": ("UPDATE hypothesis SET text = text || ' ' WHERE {at}", "hypothesis of answer 0"),
    "description": (
        "UPDATE hypothesis SET description = 'x' WHERE {at}", "description of answer 0"
    ),
    "breaches": ("UPDATE hypothesis SET breaches = '[\"x\"]' WHERE {at}", "breaches of answer 0"),
    "reason": ("UPDATE verdict SET reason = 'x' WHERE {at}", "reason of answer 0"),
    "coverage": ("UPDATE verdict SET coverage = 0.5 WHERE {at}", "coverage of answer 0"),
    "bad": ("UPDATE verdict SET bad = NOT bad WHERE {at}", "bad of answer 0"),
    "shown": (
        "UPDATE prediction SET marks = [true, false] WHERE {at} AND inputs = 'shown'",
        "shown of answer 0",
    ),
    "hidden": (
        "UPDATE prediction SET marks = [true] WHERE {at} AND inputs = 'hidden'",
        "hidden of answer 0",
    ),
    "outcome": (
        "UPDATE prediction SET outcome = 'x' WHERE {at} AND inputs = 'space'", "limits of answer 0"
    ),
    "codes": (
        "UPDATE prediction SET codes = (SELECT codes FROM prediction WHERE problem = 'one' AND "
        "step = 3 AND inputs = 'space') WHERE {at} AND inputs = 'space'",
        "codes of answer 0",
    ),
    "bank event": ("UPDATE bank_event SET t = t + 100 WHERE {at}", "bank events"),
    "request": (
        "UPDATE call SET request = replace(request, 'proposer', 'x') WHERE problem = 'one' AND "
        "path = 'step/1/propose/0'",
        "request step/1/propose/0",
    ),
    "request digest": (
        "UPDATE call SET request_digest = repeat('0', 64) WHERE problem = 'one' AND "
        "path = 'step/1/propose/0'",
        "request of step/1/propose/0",
    ),
    "kind": (
        "UPDATE call SET kind = 'tool' WHERE problem = 'one' AND path = 'step/1/propose/0'",
        "kind of step/1/propose/0",
    ),
    "an extra call": (
        "INSERT INTO call SELECT * REPLACE ('step/1/propose/9' AS path) FROM call WHERE "
        "problem = 'one' AND path = 'step/1/propose/0'",
        "call step/1/propose/9",
    ),
    "a missing call": (
        "DELETE FROM call WHERE problem = 'one' AND path = 'step/1/propose/0'", "call"
    ),
    "a missing step": ("DELETE FROM step WHERE {at}", "step"),
    "a broken response": (
        "UPDATE call SET response = '{}' WHERE problem = 'one' AND path = 'step/1/propose/0'",
        "unreadable",
    ),
    "no vectors": (
        "UPDATE call SET vectors = '{}' WHERE problem = 'one' AND path LIKE 'step/1/judge%space%'",
        "unreadable",
    ),
    "a lost vector": (
        "DELETE FROM vector WHERE digest IN (SELECT codes FROM prediction WHERE {at})", "unreadable"
    ),
    "cause": ("UPDATE problem SET cause = 'cap' WHERE problem = 'one'", "cause"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERATIONS)
def test_each_alteration_is_named_by_problem_and_field(recorded, name):
    path, session = recorded
    sql, expected = ALTERATIONS[name]
    copy = altered(path, sql.replace("{at}", "problem = 'one' AND step = 1"))
    result = replay(copy, session)
    assert expected in {field for problem, _, field in fields(result) if problem == "one"}, result


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE problem SET status = 'open' WHERE problem = 'two'",
        "DELETE FROM problem WHERE problem = 'two'",
        "UPDATE session SET settings = replace(settings, 'scripted', 'other')",
        "UPDATE call SET response = replace(response, 'false', 'true') WHERE path LIKE '%shown%'",
    ],
)
def test_what_no_step_shows_changes_the_digest_of_the_session(recorded, sql):
    path, session = recorded
    found = {one["field"] for one in replay(altered(path, sql), session)["differences"]}
    assert "digest of the session" in found


def test_an_interrupted_session_replays_as_far_as_it_went(play, make_problem, make_answer):
    replies = [make_answer(IDENTITY), make_answer(PLUS_ONE)]
    store, session, _ = play(ScriptedProposer(replies), [make_problem("one", SHOWN)])
    store.close()
    with duckdb.connect(str(store.path)) as connection:  # as a kill -9 would leave it
        connection.execute("DELETE FROM call WHERE path LIKE 'step/2/judge%'")
        connection.execute("DELETE FROM answer WHERE step = 2")
        connection.execute("DELETE FROM step WHERE step = 2")
        connection.execute("UPDATE problem SET status = 'open'")
        connection.execute("UPDATE session SET fields = '{}'")
    assert replay(store.path, session) == {"session": session, "steps": 1, "differences": []}
