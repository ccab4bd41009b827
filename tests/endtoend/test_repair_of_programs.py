"""Whole sessions in which the search repairs a model's programs and gives some of its own first: over
real HTTP, killed and resumed, replayed, and with hostile programs. Every hypothesis says who found it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import peirce
import pytest
from peirce.records import UsageError
from peirce.store import Store
from peirce.tests.page_blocks import read_text

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FaultyServer
from forked_commands import start_command
from peirce.tests.cli.forked_command import run_command

SECOND = [[[4, 2, 7], [2]], [[3, 9], [9]], [[8, 1, 5, 6], [1]], [[2, 6, 6], [6]], [[5, 0, 3], [0]]]
SOURCES = (
    "def f(x):\n    return [x[0]]",  # one change away from being right
    "def f(x):\n    return x[1]",  # another one
    "def f(x):\n    return f(x)",
    "import os\ndef f(x):\n    return os.listdir('/')",
    "def f(x):\n    return [sum(x)]",
)
ANSWERS = [json.dumps(["said", one])[1:-1] for one in SOURCES]
OPTIONS = {
    "method": "abduce",
    "max_answers": 5,
    "max_bad": None,
    "repair": "search",
    "tool_calls": 0,
}


class Model:
    """Gives the answers in turn, by the number of those in the prompt."""

    def __init__(self, killed=None, at=0):
        self.killed, self.at, self.count = killed, at, 0

    def __call__(self, request):
        self.count += 1
        if self.killed and self.count == self.at:
            os.kill(self.killed[0].pid, signal.SIGKILL)
        turns = [one for one in request["messages"] if one["role"] == "assistant"]
        return {"content": f"({ANSWERS[min(len(turns), len(ANSWERS) - 1)]})"}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text("".join(f'{{"input": {i}, "output": {o}}}\n' for i, o in SECOND), "utf-8")
    return path


def run(pairs, server, store, **more):
    options = {k: v for k, v in OPTIONS.items() if v is not None}
    return peirce.run("examples", data=str(pairs), model=f"{server.url}#m", store=str(store),
                      workers=1, history="chat", **{**options, **more})  # fmt: skip


def answers_of(store, session):
    with Store.open(str(store), write=False) as opened:
        (row,) = opened.problems(session)
        return [
            (answer.path, str(one.verdict), step.fields.get("repair_kind"), one.bad)
            for step in opened.steps(session, row.problem.id)
            for answer in step.answers
            for one in answer.judged
        ]


@pytest.fixture(scope="module")
def undisturbed(pairs, tmp_path_factory):
    """(session, store) of a session with seeds and repairs that ran through."""
    store = tmp_path_factory.mktemp("whole") / "a.duckdb"
    with FaultyServer(model=Model()) as server:
        return run(pairs, server, store, seed_hypotheses=1), store


def test_a_near_miss_is_repaired_and_stays_the_model_s_bad_answer(pairs, tmp_path):
    with FaultyServer(model=Model()) as server:
        session = run(pairs, server, tmp_path / "s", max_answers=1)
    assert answers_of(tmp_path / "s", session.session) == [
        ("step/1/propose/0", "inconsistent", "changes", True),
        ("step/1/repair/0", "accepted", "changes", False),
    ]
    best = session.findings()[0]
    assert best.hypothesis == "def f(x):\n    return [x[1]]" and best.shown.right == 5
    assert best.found_by == "search, which repaired an answer of m"


def test_refine_ends_with_the_repaired_program(pairs, tmp_path):
    with FaultyServer(model=Model()) as server:
        session = run(pairs, server, tmp_path / "s", method="refine")
    rows = answers_of(tmp_path / "s", session.session)
    assert [row[0] for row in rows] == ["step/1/propose/0", "step/1/repair/0"]
    assert session.status == "done" and session.findings()[0].consistent
    assert peirce.replay(session.session, store=str(tmp_path / "s"))["differences"] == []


def test_hostile_programs_are_answers_like_others_and_get_the_search_s_own(undisturbed):
    session, store = undisturbed
    rows = answers_of(store, session.session)
    assert rows[0][0] == "seed/0" and session.status == "done"
    proposed = {path: verdict for path, verdict, _, _ in rows if "/propose/" in path}
    assert len(proposed) == 3 and set(proposed.values()) <= {"inconsistent", "redundant"}
    assert not any(bad for path, _, _, bad in rows if "/propose/" not in path)


def test_show_bank_and_page_say_who_found_what(undisturbed, tmp_path):
    session, store = undisturbed
    with Store.open(str(store), write=False) as opened:
        name = next(row.problem.id for row in opened.problems(session.session))
    listed = peirce.show(session.session, name, store=str(store))
    by = {row.path: row.found_by for row in listed}
    model = by["step/2/propose/0"]
    assert by["seed/0"] == "search, before the first request"
    assert by["step/2/repair/0"] == f"search, which repaired an answer of {model}"
    known = set(by.values())
    found = session.findings()
    assert {one.found_by for one in found} <= known
    bank = peirce.bank(session.session, store=str(store))
    assert bank and {row.found_by for row in bank} <= known
    peirce.report(session.session, store=str(store), out=str(tmp_path / "page.html"))
    html = read_text((tmp_path / "page.html").read_text("utf-8"))
    assert "before the first request" in html and "which repaired an answer of" in html
    told = run_command(
        ["bank", session.session, "--store", str(store)],
        cwd=tmp_path, check=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert "found by" in told.stdout


def test_a_session_with_one_proposer_names_nobody(pairs, tmp_path):
    with FaultyServer(model=Model()) as server:
        session = run(pairs, server, tmp_path / "s", repair=None, max_answers=1)
    rows = peirce.show(session.session, "pairs", store=str(tmp_path / "s"))
    assert not any("found_by" in dict(row) for row in [*rows, *session.findings()])


def test_a_replay_repairs_nothing_anew_and_finds_no_difference(undisturbed):
    session, store = undisturbed
    assert peirce.replay(session.session, store=str(store))["differences"] == []


@pytest.mark.parametrize("at", [2, 3])
def test_a_session_that_was_killed_comes_to_the_same_digest(undisturbed, pairs, tmp_path, at):
    killed = []
    with FaultyServer(model=Model(killed, at)) as server:
        words = ["run", "examples", "--data", str(pairs), "--model", f"{server.url}#m", "--store",
                 str(tmp_path / "b.duckdb"), "--workers", "1", "--history", "chat",
                 "--seed-hypotheses", "1", "--max-answers", "5", "--repair", "search",
                 "--tool-calls", "0", "--quiet"]  # fmt: skip
        killed.append(start_command(words, tmp_path / "said.txt"))
        killed[0].join(300)
        assert killed[0].exitcode == -signal.SIGKILL, (tmp_path / "said.txt").read_text()
        session = peirce.resume(store=str(tmp_path / "b.duckdb"), workers=1)
    assert session.status == "done" and session.digest == undisturbed[0].digest


def test_what_the_search_cannot_repair_is_refused_before_a_call(tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("text,label\n" + "".join(f"good {n},a\nbad {n},b\n" for n in range(9)), "utf-8")
    with pytest.raises(UsageError, match="the search repairs programs and the rules of abd, not"):
        peirce.run("labels", data=str(data), model="ollama:m", method="refine", repair="search",
                   judge="exact", store=str(tmp_path / "s"))  # fmt: skip
