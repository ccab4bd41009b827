"""`check`: one object a line, in order; a bad line is an error and stops no other."""

from __future__ import annotations

import asyncio
import json

import peirce
import pytest
from peirce.records import UsageError
from peirce.sandbox import open_sandbox

KEYS = {
    "problem",
    "line",
    "verdict",
    "reason",
    "observations",
    "hidden",
    "undefined",
    "breaches",
    "seconds",
}


def judged(setting, *lines, **options):
    path = setting.folder / "brought.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    given = {"data": setting.data, "space": setting.space, "workers": 1, **options}
    return list(peirce.check("examples", path, **given))


def test_each_kind_of_line_gets_its_verdict_in_the_order_of_the_file(setting):
    rows = judged(
        setting,
        {"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"},
        {"problem": "one", "hypothesis": "def f(x):\n    return [x[1]]"},
        {"problem": "two", "answer": "('the tail', 'def g(x):\\n    return x[1:]')"},
        {"problem": "two", "answer": "no idea"},
        {"problem": "one", "hypothesis": "def f(x) return x"},
    )
    assert [row["line"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["verdict"] for row in rows] == [
        "consistent", "inconsistent", "consistent", "malformed", "malformed",
    ]  # fmt: skip
    assert all(set(row) == KEYS for row in rows)
    first, second = rows[:2]
    assert (first["observations"], first["hidden"], first["reason"]) == ([True, True], [True], None)
    assert second["observations"] == [False, True] and second["hidden"] == [False]
    assert second["undefined"] == {"IndexError": 3} and "1 wrong" in second["reason"]
    assert rows[3]["observations"] == [None, None] and rows[3]["reason"]


def test_a_line_that_cannot_be_judged_is_an_error_and_the_others_still_run(setting):
    rows = judged(
        setting,
        "not json",
        {"problem": "three", "hypothesis": "def f(x):\n    return x"},
        {"problem": "one"},
        {"problem": "one", "hypothesis": "x", "answer": "y"},
        "[1, 2]",
        {"problem": True, "hypothesis": "def f(x):\n    return x"},
        {"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"},
    )
    assert [row["verdict"] for row in rows] == ["error"] * 6 + ["consistent"]
    assert "line 1" in rows[0]["reason"] and "'three'" in rows[1]["reason"]
    assert rows[5]["problem"] is None and "line 6, problem" in rows[5]["reason"]
    assert all(set(row) == KEYS for row in rows)


def test_an_undefined_observation_is_null_and_names_its_reason(setting):
    source = "def f(x):\n    if len(x) == 2:\n        raise KeyError(x)\n    return x[1:]"
    (row,) = judged(setting, {"problem": "one", "hypothesis": source})
    assert row["observations"] == [True, None] and "KeyError" in row["reason"]
    assert row["undefined"] == {"KeyError": 3}


def test_the_answer_format_is_checked_and_used(setting):
    line = {"problem": "one", "answer": "So:\n```python\ndef fn(x):\n    return x[1:]\n```"}
    (row,) = judged(setting, line, answer_format="fenced_function")
    assert row["verdict"] == "consistent"
    with pytest.raises(UsageError, match="fenced_function"):
        judged(setting, line, answer_format="haiku")


def test_breaches_are_told_and_malformed_under_the_strict_contract(setting):
    source = "import math\ndef f(x):\n    return x[1:]"
    lines = [
        {"problem": "one", "hypothesis": source},
        {"problem": "one", "answer": repr(("d", source))},
    ]
    for row in judged(setting, *lines):
        assert (row["verdict"], row["breaches"]) == ("consistent", ["import"])
    for row in judged(setting, *lines, strict_contract=True):
        assert (row["verdict"], row["breaches"]) == ("malformed", [])
        assert row["reason"].startswith("breach_import: imports math; ")


def test_more_lines_than_are_judged_at_once_keep_their_order(setting):
    sources = [f"def f(x):\n    return x[1:] + [0] * {n % 2}" for n in range(70)]
    rows = judged(setting, *({"problem": "one", "hypothesis": source} for source in sources))
    assert [row["line"] for row in rows] == list(range(1, 71))
    assert [row["verdict"] == "consistent" for row in rows] == [n % 2 == 0 for n in range(70)]


def test_a_line_that_is_not_utf8_is_an_error_and_the_others_still_run(setting):
    path = setting.folder / "brought.jsonl"
    good = json.dumps({"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"}).encode()
    path.write_bytes(b"\n".join([good, b'{"problem": "\xff"}', good]))
    rows = list(peirce.check("examples", path, data=setting.data, space=setting.space, workers=1))
    assert [row["verdict"] for row in rows] == ["consistent", "error", "consistent"]
    assert rows[1]["reason"] == "line 2: not UTF-8 text"


def test_a_caller_that_has_seen_enough_leaves(setting):
    path = setting.folder / "brought.jsonl"
    line = json.dumps({"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"}) + "\n"
    path.write_text(line * 200)
    rows = peirce.check("examples", path, data=setting.data, space=setting.space, workers=1)
    assert next(rows)["line"] == 1 and next(rows)["line"] == 2
    rows.close()


@pytest.mark.parametrize(("missing", "told"), [({"seccomp": False}, 1), ({}, 0)])
def test_a_sandbox_without_a_wanted_layer_is_one_warning(
    setting, monkeypatch, recwarn, missing, told
):
    async def kind():
        sandbox = await open_sandbox("process", workers=1)
        await sandbox.close()
        return type(sandbox)

    monkeypatch.setattr(asyncio.run(kind()), "layers", lambda self: {"rlimits": True, **missing})
    line = {"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"}
    judged(setting, line, line)
    said = [
        str(one.message)
        for one in recwarn
        if "layers" in str(one.message) or "seccomp" in str(one.message)
    ]
    assert len(said) == told and all(
        "runs without these layers here: seccomp" in text for text in said
    )


def test_a_law_gets_its_errors_on_shown_and_hidden_rows_in_units_of_the_target():
    data = [{"x": x, "y": 3 * x + (0.5 if x in (3, 19) else 0)} for x in range(20)]
    rows = [
        {"problem": "table", "hypothesis": "3 * x"},
        {"problem": "table", "hypothesis": "3 * x + 100"},
        {"problem": "table", "hypothesis": "log(0 - x)"},
    ]
    close, far, nowhere = peirce.check("laws", rows, data=data, target="y")
    shown = peirce.tasks_show("laws", "table", data=data, target="y")[0].shown
    off = sum(row["x"] in (3, 19) for row, _ in shown)
    assert 0 < off < len(shown) < 20
    assert close["rms"]["shown"] == pytest.approx((0.25 * off / len(shown)) ** 0.5, abs=1e-5)
    assert far["rms"]["shown"] == pytest.approx(100, rel=0.01) and far.verdict == "inconsistent"
    assert far["tolerance"] == close["tolerance"] > 0
    assert "rms" not in nowhere.to_dict()
