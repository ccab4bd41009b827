"""A session on worlds of one's own: a scripted model tries rules with the solver, its answers are
judged, replayed and checked, and holdouts are opened by `check` alone."""

from __future__ import annotations

import json

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Reply, ToolCall, UsageError

WORLDS = [
    {"domain": ["a0", "a1", "a2"], "true": {"P": ["a1"], "R": [["a0", "a1"]], "S": [["a2", "a0"]]}},
    {"domain": ["a0", "a1"], "true": {"P": ["a0"], "Q": ["a0"]}, "unknown": {"R": [["a1", "a0"]]}},
]
HOLDOUT = {"domain": ["h0", "h1"], "true": {"P": ["h0"], "R": [["h1", "h0"]]}}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "worlds.json"
    told = {"id": "own", "regime": "skeptical", "theory": "T1", "worlds": WORLDS,
            "holdouts": [HOLDOUT], "reference": "(exists y (and (R x y) (P y)))"}  # fmt: skip
    path.write_text(json.dumps([told]))
    return path


def answer(formula: str) -> str:
    return json.dumps({"formula": formula, "description": "a rule"})


def tries(formula: str) -> Reply:
    return Reply(tool_calls=(ToolCall("t", "solve", {"formula": formula}),), finish="tool_calls")


def test_a_model_mends_its_rule_by_what_the_solver_says(data, tmp_path):
    store = tmp_path / "abd.duckdb"
    model = ScriptedProposer(
        [
            [tries("(P x)"), answer("(exists y (R x y))")],
            answer("(= x x)"),
            answer("(P x)"),
            "nonsense",
            answer("(Q x)"),
        ]
    )
    session = peirce.run("abd", data=data, model=model, store=store)
    assert session.verdicts == {"accepted": 2, "redundant": 0, "inconsistent": 1, "malformed": 2}
    rows = peirce.show(session.session, "own", store=store)
    assert [row["hypothesis"] for row in rows[:2]] == ["(exists y (R x y))", "(= x x)"]
    assert all(row["hidden"] == [] for row in rows)
    calls = peirce.show(session.session, "own", calls=True, store=store)
    paths = [call["path"] for call in calls]
    assert "step/1/propose/0/tool/0" in paths
    assert not any("hidden" in path for path in paths)  # holdouts wait for check and eval
    replayed = peirce.replay(session.session, store=store)
    assert (replayed["steps"], replayed["differences"]) == (5, [])
    live = peirce.replay(session.session, live=True, solver="z3", store=store)
    assert live["differences"] == []


def test_holdouts_shape_nothing_in_a_session(data, tmp_path):
    """The same worlds with other holdouts have the same course, to the byte of what was asked."""
    told = json.loads(data.read_text())
    told[0]["holdouts"] = []
    other = tmp_path / "other.json"
    other.write_text(json.dumps(told))
    asked = []
    for path in (data, other):
        store = tmp_path / f"{path.stem}.duckdb"
        model = ScriptedProposer([[tries("(P x)"), answer("(exists y (R x y))")]])
        session = peirce.run("abd", data=path, model=model, store=store)
        calls = peirce.show(session.session, "own", calls=True, store=store)
        asked.append([(call["path"], call["kind"]) for call in calls])
        rows = peirce.show(session.session, "own", store=store)
        assert "h0" not in json.dumps([row.to_dict() for row in rows])
    assert asked[0] == asked[1]


def test_check_opens_holdouts_and_says_costs_and_bounds(data, tmp_path):
    lines = [
        {"problem": "own", "hypothesis": "(exists y (R x y))"},
        {"problem": "own", "answer": answer("(exists y (and (R x y) (P y))")},
        {"problem": "own", "hypothesis": "(P x)"},
        {"problem": "own", "hypothesis": "(Q x)"},
        {"problem": "none", "hypothesis": "(P x)"},
    ]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("\n".join(map(json.dumps, lines)))
    for solver in ("fast", "z3"):
        found = list(peirce.check("abd", mine, data=data, solver=solver))
        assert [row["verdict"] for row in found] == [
            "consistent", "consistent", "inconsistent", "malformed", "error",
        ]  # fmt: skip
        first = found[0]
        assert first["worlds"] == [
            {"valid": True, "cost": 1, "lower_bound": 1},
            {"valid": True, "cost": 1, "lower_bound": 1},
        ]
        assert first["holdouts"] == [{"valid": True, "cost": 1, "lower_bound": 1}]
        assert (first["cost"], first["gap"], first["gref"]) == (2, 0.0, 0.0)
        assert found[1]["auto_closed"] == 1 and found[1]["breaches"] == ["auto_closed"]
        assert found[2]["cost"] is None and found[2]["hidden"] == [False]
        assert found[3]["ast_size"] == 2 and found[3]["observations"] == [None, None]


def test_a_session_needs_no_sandbox(data, tmp_path):
    model = ScriptedProposer([answer("(exists y (R x y))")])
    session = peirce.run("abd", data=data, model=model, store=tmp_path / "x.duckdb",
                         strict_sandbox=True)  # fmt: skip
    assert session.verdicts["accepted"] == 1
    with pytest.raises(UsageError, match="no solver"):
        peirce.run("abd", data=data, model=model, store=tmp_path / "y.duckdb", solver="prolog")


def test_a_rule_too_large_to_judge_leaves_the_other_lines_their_verdicts(data, tmp_path):
    wide = "(R o p)"
    for first, second in ("mn", "kl", "ij", "gh", "ef", "cd", "ab"):
        wide = f"(iff (R {first} {second}) {wide})"
    for letter in "abcdefghijklmnop":
        wide = f"(exists {letter} {wide})"
    long = "(and " + "(P x) " * 40_000 + ")"
    mine = tmp_path / "mine.jsonl"
    rules = [wide, "(exists y (R x y))", long]
    mine.write_text("\n".join(json.dumps({"problem": "own", "hypothesis": r}) for r in rules))
    for solver in ("fast", "z3"):
        found = list(peirce.check("abd", mine, data=data, solver=solver))
        assert [row["verdict"] for row in found] == ["inconsistent", "consistent", "malformed"]
        assert found[0]["valid"] is None and found[0]["cost"] is None
        assert "too_large" in found[0]["reason"] and found[2]["reason"].startswith("too_large")
