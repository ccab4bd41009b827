"""The namer of a session: asked once about the themes of an answer, and never needed."""

from __future__ import annotations

import json
import warnings
from contextlib import closing
from pathlib import Path

import peirce
import pytest
from labelled_session import data_set
from peirce.agents.scripted import ScriptedProposer
from peirce.records import UsageError
from peirce.store import Store

KIND = ["kind", "fresh", "warm", *(f"seldom{n}" for n in range(20))]
RUDE = ["rude", "old", "cold", *(f"never{n}" for n in range(20))]
SENTENCES = [
    f"If the text mentions one of {', '.join(map(json.dumps, words))}, the label is {label}."
    for words, label in ((KIND, "good"), (RUDE, "bad"))
]
SHORT = 'If the text mentions "soup", the label is bad.'
ANSWER = "".join(f"{n}. {one}\n" for n, one in enumerate([SENTENCES[0], SHORT, SENTENCES[1]], 1))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_set(tmp_path)


def run(data: Path, answer: str, method: str = "abduce", **more):
    script = data.parent / "namer.json"
    script.write_text(json.dumps({"*": [answer, answer]}))
    return peirce.run(
        "labels", data=data, store=data.parent / "s.duckdb", method=method, judge="exact",
        model=ScriptedProposer([ANSWER]), hypotheses=5, max_answers=1,
        namer_model=f"scripted:{script}", **more,
    )  # fmt: skip


def summaries(data: Path) -> list[str]:
    rows = peirce.show(problem="meals#0", store=data.parent / "s.duckdb")
    return [row.summary for row in rows if row.summary]


def test_the_namer_is_asked_once_and_its_names_stand_before_the_lists(data: Path) -> None:
    run(data, "1. Pleasant food\n2. **Bad service**")
    first, second = summaries(data)
    assert 'of the theme "Pleasant food" ("kind", "fresh",' in first
    assert 'of the theme "Bad service" ("rude", "old",' in second
    store = data.parent / "s.duckdb"
    paths = [one.path for one in peirce.show(calls=True, store=store) if "/name/" in one.path]
    assert paths == ["step/1/name/0"]
    assert any('"Pleasant food"' in (one.summary or "") for one in peirce.bank(store=store))
    findings = peirce.load(store=store).findings()
    assert any('"Pleasant food"' in (one.summary or "") for one in findings)
    assert {one.hypothesis for one in findings} <= {*SENTENCES, SHORT}


def test_the_prompt_has_the_twelve_strongest_words_of_each_theme(
    data: Path, tmp_path: Path
) -> None:
    session = run(data, "1. a\n2. b")
    with closing(Store.open(tmp_path / "s.duckdb", write=False)) as store:
        calls = list(store.calls(session.session))
    (asked,) = (str(one["request"]) for one in calls if "/name/" in one["path"])
    assert "seldom8" in asked and "seldom9" not in asked
    assert "never8" in asked and "soup" not in asked


@pytest.mark.parametrize("method", ["io", "refine", "t3"])
def test_other_methods_that_judge_answers_name_themes_too(data: Path, method: str) -> None:
    more = {"rounds": 1} if method == "t3" else {}
    if method == "t3":
        peirce.run(
            "labels", data=data, store=data.parent / "s.duckdb", method=method, judge="exact",
            model=ScriptedProposer([ANSWER] * 3), hypotheses=5,
            namer_model=_script(data, "1. Food\n2. Staff"), **more,
        )  # fmt: skip
    else:
        run(data, "1. Food\n2. Staff", method)
    assert '"Food"' in summaries(data)[0]


def _script(data: Path, answer: str) -> str:
    (data.parent / "namer.json").write_text(json.dumps({"*": [answer] * 3}))
    return f"scripted:{data.parent / 'namer.json'}"


def test_a_bad_answer_leaves_the_strongest_words(data: Path) -> None:
    run(data, "I would call them pleasant and unpleasant.")
    assert '"kind, fresh, warm"' in summaries(data)[0]


def test_a_replay_gives_the_same_names_without_the_model(data: Path) -> None:
    session = run(data, "1. Pleasant food\n2. -")
    (data.parent / "namer.json").unlink()
    replayed = peirce.replay(session.session, store=data.parent / "s.duckdb")
    assert not replayed.differences
    first, second = summaries(data)
    assert '"Pleasant food"' in first and '"rude, old, cold"' in second


def test_a_namer_that_cannot_be_reached_costs_a_warning_and_no_result(data: Path) -> None:
    store = data.parent / "s.duckdb"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = peirce.run(
            "labels", data=data, store=store, judge="exact", model=ScriptedProposer([ANSWER]),
            hypotheses=5, max_answers=1, namer_model="http://127.0.0.1:9/v1#none",
            roles={"namer": {"retries": 0}},
        )  # fmt: skip
    assert session.status == "done" and '"kind, fresh, warm"' in summaries(data)[0]
    assert sum("the namer gave no answer" in str(one.message) for one in caught) == 1
    assert not peirce.replay(session.session, store=store).differences


def test_a_search_is_no_namer(data: Path) -> None:
    with pytest.raises(UsageError, match="which cannot name themes"):
        peirce.run("labels", data=data, store=data.parent / "s.duckdb", namer_model="search")


def test_a_namer_changes_neither_the_rows_nor_the_judge_of_the_search(data: Path) -> None:
    planned = peirce.plan("labels", data=data, namer_model=_script(data, ""))
    alone = peirce.plan("labels", data=data)
    assert planned["calls"].pop("namer") == {"least": 0, "most": 1}
    assert planned["calls"] == alone["calls"]
