"""`bank`: what a session keeps, how it grew, and a file of it that later sessions read.

Internals: a file of a bank is read alone, before a session would refuse its rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import peirce
import pytest
from labelled_session import LUX, RUDE, labelled
from peirce.commands.session.bank_files import read_bank
from peirce.records import DataError, UsageError


@pytest.fixture
def meals(tmp_path):
    return labelled(tmp_path)


def test_a_bank_says_what_each_hypothesis_covered(meals):
    session = meals.finished(judge="exact")
    rows = peirce.bank(session.session, store=meals.store)
    covered = {row["text"]: (row["covered"], row["visits"]) for row in rows}
    assert covered[LUX] == (20, 20)
    assert 0 < covered[RUDE][0] < covered[RUDE][1] == 20


def test_a_written_bank_is_read_back_whole(meals, tmp_path):
    session = meals.finished(judge="exact")
    rows = peirce.bank(session.session, out=tmp_path / "bank.json", store=meals.store)
    said = json.loads((tmp_path / "bank.json").read_text())
    assert list(said) == ["task", "problem", "public", "hypotheses"]
    assert (said["task"], said["problem"]) == ("labels", "meals#0")
    public = {"labels", "label_name", "columns", "shape", "description"}
    assert set(said["public"]) == public and said["public"]["labels"] == ["bad", "good"]
    of_file, of_session = (
        read_bank(one, Path(meals.store)) for one in (tmp_path / "bank.json", session.session)
    )
    assert of_file.rows == of_session.rows == {"meals#0": [dict(row) for row in _kept(rows)]}


def _kept(rows):
    names = ("text", "accuracy", "visits", "reward", "covered", "right")
    return [{name: row[name] for name in names} for row in rows]


def test_what_infer_and_predict_make_of_a_bank_does_not_depend_on_whence_it_comes(meals, tmp_path):
    session = meals.finished(judge="exact")
    peirce.bank(session.session, out=tmp_path / "bank.json", store=meals.store)
    by = [meals.run("infer", bank=[one]) for one in (session.session, str(tmp_path / "bank.json"))]
    assert by[0].metrics == by[1].metrics
    new = meals.data / "test.jsonl"
    labels = [
        [row["label"] for row in peirce.predict(one, new, store=meals.store)]
        for one in (session.session, tmp_path / "bank.json")
    ]
    assert labels[0] == labels[1]


def test_the_banks_of_several_problems_go_into_one_file(meals, tmp_path):
    session = meals.finished(judge="exact", problems=2)
    out = tmp_path / "banks.json"
    peirce.bank(session.session, out=out, store=meals.store)
    assert [one["problem"] for one in json.loads(out.read_text())] == ["meals#0", "meals#1"]
    assert set(read_bank(out, Path("no")).rows) == {"meals#0", "meals#1"}
    again = meals.run("infer", bank=[str(out)], problems=2)
    assert again.status == "done"
    found = list(peirce.predict(out, meals.data / "test.jsonl", problem="meals#1"))
    assert len(found) == 12
    peirce.bank(session.session, "meals#1", out=out, store=meals.store)
    assert json.loads(out.read_text())["problem"] == "meals#1"


def test_history_ends_where_the_bank_is(meals):
    session = meals.finished(judge="exact")
    steps = peirce.bank(session.session, history=True, store=meals.store)
    rows = peirce.bank(session.session, store=meals.store)
    assert [row["step"] for row in steps] == sorted({row["step"] for row in steps})
    assert steps[-1]["size"] == len(rows)
    assert steps[-1]["reward"] == pytest.approx(rows[0]["reward"])
    held = {text for row in steps for text in row["entered"]} - {
        text for row in steps for text in row["left"]
    }
    assert held == {row["text"] for row in rows}


def test_an_empty_bank_and_a_place_that_cannot_be_written_are_said(meals, tmp_path):
    session = meals.run(judge="exact", model=_silent())
    with pytest.raises(UsageError, match="is empty, so there is nothing to write"):
        peirce.bank(session.session, out=tmp_path / "bank.json", store=meals.store)
    assert not (tmp_path / "bank.json").exists()
    with pytest.raises(UsageError):
        peirce.bank(session.session, out=tmp_path, store=meals.store)


def _silent():
    from peirce.agents.scripted import ScriptedProposer

    return ScriptedProposer([])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", ": the file contains no hypotheses; it must be a list of objects with a text"),
        (
            '{"hypotheses": []}',
            "the file contains no hypotheses; it must be a list of objects with a text",
        ),
        ('[{"hypotheses": [{"text": ""}]}]', ", hypothesis 1: the text is missing"),
        ('[{"text": "a", "visits": "many"}]', "visits is 'many'"),
        ('{"hypotheses": [{"text": "a"}], "public": {"labels": ["x"], "columns": {}}}', "columns"),
        (f'[{{"text": "a", "accuracy": 1{"0" * 400}}}]', "accuracy is 1000"),
        (f'[{{"text": "a", "reward": 1{"0" * 400}}}]', "reward is 1000"),
        ("no json", "bank.json"),
        ('{"a": 1}', r"bank\.json, key 'a': 1 is not an object"),
        ('{"a": {"acc": 1.0}, "b": ["c"]}', r"bank\.json, key 'b': \['c'\] is not an object"),
        ('{"hypotheses": {"a": null}}', r"bank\.json, key 'a': None is not an object"),
        ('{"a": {"correct_examples": 5}}', ", key 'a': correct_examples is 5: it must be a list"),
    ],
)
def test_a_bank_file_that_is_none_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "bank.json"
    path.write_text(content)
    with pytest.raises(DataError, match=said):
        read_bank(path, tmp_path / "no.duckdb")
