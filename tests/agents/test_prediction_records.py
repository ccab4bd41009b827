"""Checks that the published prediction records of ABD are read as they are, that a file of several
models has to be asked for one, and that a broken line is named.

Internals: the reader of published records is called on lines that no session replays.
"""

import asyncio
import gzip
import json

import pytest
from peirce.agents import open_model
from peirce.agents.recorded import SCHEMA, UNNAMED_MODEL, read_record
from peirce.records import DataError, InputSet, UsageError, View
from peirce.tasks import load_family
from peirce.tools.logic import PUBLISHED_THEORIES

PUBLIC = {"theory": {**PUBLISHED_THEORIES["TH3"].as_json(), "regime": "full"}}


def record(instance="one", **fields):
    return {"schemaVersion": SCHEMA, "instanceId": instance, "scenario": "ABD_FULL",
            "theoryId": "TH3", "model": "gpt-x", **fields}  # fmt: skip


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def formula_of(answer):
    view = View("one", "abd", "logic", (), PUBLIC, InputSet("none", ()))
    return load_family("logic").extract_hypothesis(view, answer.text)


def test_a_formula_is_read_as_it_was_extracted_whatever_stands_in_it(tmp_path):
    formulas = [
        "(P x)",
        "(and (P x) (Q x",
        'say "(P x)"',
        '{"formula": "(Q x)"}',
        "{" * 50,
        "∃y\n(P y)",
    ]
    rows = [record(str(n), extractedFormula=one, extractedDescription="{}" * 50)
            for n, one in enumerate(formulas)]  # fmt: skip
    answers = read_record(write(tmp_path / "p.jsonl", *rows)).answers
    assert [formula_of(one) for (one,) in answers.values()] == formulas


def test_without_a_formula_the_response_is_the_answer_and_without_either_it_is_empty(tmp_path):
    path = write(
        tmp_path / "p.jsonl",
        record("a", extractedFormula=None, rawResponse='so {"formula": "(P x)"}'),
        record("b", extractedFormula=" ", response="(Q x), I think"),
        record("c", extractedFormula="", rawResponse=None, success=False, parseError="timeout"),
    )
    answers = read_record(path).answers
    assert formula_of(answers["a"][0]) == "(P x)" and formula_of(answers["b"][0]) == "(Q x)"
    (empty,) = answers["c"]
    assert empty.text == "" and empty.fields == {"success": False, "parseError": "timeout"}


def test_the_record_says_its_model_and_its_task_and_packed_files_read_the_same(tmp_path):
    path = write(tmp_path / "p.jsonl", record(extractedFormula="(P x)"), record("two"))
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for one in (read_record(path), read_record(packed)):
        assert one.about == {"dataset": "abd", "model": "gpt-x"}
        assert list(one.answers) == ["one", "two"]
    unnamed = write(tmp_path / "u.jsonl", record(model=None, extractedFormula="(P x)"))
    assert read_record(unnamed).about["model"] == UNNAMED_MODEL


def test_records_of_one_instance_are_successive_answers(tmp_path):
    path = write(
        tmp_path / "p.jsonl", record(extractedFormula="(P x)"), record(extractedFormula="(Q x)")
    )
    answers = read_record(path).answers["one"]
    assert [formula_of(one) for one in answers] == ["(P x)", "(Q x)"]
    assert all(one.last_of_turn for one in answers)


def test_a_file_of_several_models_names_them_and_gives_the_one_that_is_asked_for(tmp_path):
    path = write(
        tmp_path / "p.jsonl",
        record(extractedFormula="(P x)"),
        record(extractedFormula="(Q x)", model="other"),
    )
    with pytest.raises(UsageError, match=r"2 models: choose one with --of-model \(gpt-x, other\)"):
        read_record(path)
    with pytest.raises(UsageError, match=r"'third'; it contains answers of gpt-x, other"):
        read_record(path, "third")
    assert formula_of(read_record(path, "other").answers["one"][0]) == "(Q x)"
    opened = asyncio.run(open_model(f"recorded:{path}", {"of_model": "other"}))
    assert opened.settings()["recorded"]["model"] == "other"
    own = write(tmp_path / "own.jsonl", {"problem": "1", "step": 1, "answer": "a"})
    with pytest.raises(UsageError, match="omit --of-model"):
        read_record(own, "other")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"problem": "1"}, "line 2, schemaVersion: None is not"),
        (record(instance=None), "line 2, instanceId: None is not an id"),
        (record(instance=True), "line 2, instanceId: True is not an id"),
        (record(model=["x"]), r"line 2, model: \['x'\] is not a name"),
        (record(extractedFormula=3), "line 2, extractedFormula: 3 is not a string"),
        (record(rawResponse={}), "line 2, rawResponse: {} is not a string"),
        (record(success="yes"), "line 2, success: 'yes' is neither true nor false"),
        ([1], r"line 2: \[1\] is not an object"),
    ],
)
def test_a_line_that_is_no_such_record_is_named(tmp_path, second, said):
    path = write(tmp_path / "p.jsonl", record(extractedFormula="(P x)"), second)
    with pytest.raises(DataError, match=said):
        read_record(path)
