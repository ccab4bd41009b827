"""`peirce tasks generate labels:NAME`: what is written and what is said of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from peirce import tasks_generate
from peirce.agents.scripted import FunctionProposer
from topic_writer import ABOUT, TopicWriter


@pytest.fixture
def peirce(peirce):
    """peirce(*arguments of `tasks`) -> (exit code, stdout, stderr)"""
    return partial(peirce, "tasks")


def test_noise_and_best_accuracy_are_printed_and_in_the_json(peirce):
    code, out, _ = peirce("generate", "labels:admission", "--level", "noise", "--out", "made")
    assert code == 0
    (line,) = [one for one in out.splitlines() if one.startswith("admission_adv/level_3/noise_20")]
    assert line.split()[1:] == ["600", "2", "1", "20.0%", "80.0%"]
    code, out, _ = peirce("generate", "labels:shoe", "--out", "shoes", "--json")
    told = json.loads(out)
    assert (told["problems"], len(told["files"])) == (3, 15)
    assert told["sets"][2]["name"] == "shoe_two_level/hard"
    assert told["sets"][2]["best_accuracy"]["test"] == 1.0
    code, out, _ = peirce("show", "labels", "admission/level_4/noise_30", "--data", "made")
    assert "best possible accuracy: train 70.0%, val 70.0%, test 70.0%" in out
    assert "labels changed: train 30.0%" in out and 'known: If math is "A"' in out


def test_metadata_of_others_is_shown_as_far_as_it_is_known(peirce):
    peirce("generate", "labels:shoe", "--problems", "1", "--out", "made")
    metadata = Path("made/shoe/metadata.json")
    told = json.loads(metadata.read_text())
    told["task_properties"] = {"effective_noise": 0.1, "best_accuracy": {"test": 1.0, "val": "all"}}
    metadata.write_text(json.dumps(told))
    code, out, _ = peirce("show", "labels", "--data", "made")
    assert code == 0 and "best possible accuracy: test 100.0%\n" in out and "changed" not in out


def test_fewer_sets_than_asked_for_are_said(peirce):
    for arguments, asked, there in (
        (("labels:shoe",), 5, 3),
        (("labels:tree", "--level", "depth_1"), 4, 3),
    ):
        code, out, err = peirce(
            "generate", *arguments, "--problems", str(asked), "--out", arguments[0]
        )
        assert code == 0 and f"{there}" in out
        assert (
            err
            == f"peirce: --problems {asked}: {arguments[0]} has {there} sets of this kind; all of them are written\n"
        )
    code, _, err = peirce("generate", "labels:tree", "--problems", "14", "--out", "trees")
    assert (code, err) == (0, "")


def test_what_fits_no_set_is_a_usage_error_of_one_sentence(peirce):
    for arguments, said in (
        (("labels:election", "--level", "plane"), "did you mean plain?"),
        (("labels:election", "--level", "grid,plain"), "no set of election has all of these"),
        (("labels:shoe", "--noise", "some"), "--noise some"),
        (("labels:shoe", "--format", "csv"), "--format csv"),
        (("labels:shoe", "--problems", "0"), "--problems 0: it must be at least 1"),
        (("labels:citations",), "labels:citations needs a file of works"),
        (("labels:citations", "--data", "none.jsonl"), "no such file of works"),
        (("labels:shoes",), "labels has no generator 'shoes'; did you mean shoe?"),
        (("acre", "--level", "3"), ": task 'acre' does not take this option"),
    ):
        code, out, err = peirce("generate", *arguments, "--out", "new")
        assert (code, out, len(err.splitlines())) == (2, "", 1) and said in err
        assert not Path("new").exists()


# --- written by a model ---------------------------------------------------------------


@pytest.fixture
def script() -> str:
    """The answers of a model as a file, by part; it answers badly once."""
    folder = Path("recording")
    writer = FunctionProposer(TopicWriter({("types", 0): "I would rather not."}), "writer")
    tasks_generate("labels:subject", folder, model=writer, about=ABOUT, level="level0")
    said: dict[str, list[str]] = {}
    for line in Path("recording.calls.jsonl").read_text().splitlines():
        row = json.loads(line)
        said.setdefault(row["path"].rpartition("/")[0], []).append(row["text"])
    Path("answers.json").write_text(json.dumps(said))
    return "scripted:answers.json"


SUBJECT = ("generate", "labels:subject", "--about", ABOUT, "--level", "level0", "--model")


def test_a_model_writes_a_subject_and_each_part_is_said_on_stderr(peirce, script):
    code, out, err = peirce(*SUBJECT, script, "--out", "made")
    assert code == 0
    assert err.splitlines()[:3] == ["labels: 3 of 3", "types: 0 of 4", "types: 4 of 4, attempt 2"]
    assert len(err.splitlines()) == 24
    assert "24 asked, 1 again" in out and "made.calls.jsonl" in out
    (line,) = [one for one in out.splitlines() if one.startswith("subject/level0 ")]
    assert line.split()[1:4] == ["2,500", "2", "1"]
    code, out, err = peirce(*SUBJECT, script, "--out", "again", "--calls", "made.calls.jsonl", "--json")  # fmt: skip
    assert (code, err, json.loads(out)["calls"]["recorded"]) == (0, "", 24)
    assert Path("made/subject/level0/train.json").read_bytes() == (
        Path("again/subject/level0/train.json").read_bytes()
    )


def test_what_a_model_breaks_is_one_sentence_and_nothing_is_written(peirce, script):
    answers = json.loads(Path("answers.json").read_text())
    answers["phrases of plan"] = ["1. packs [boxes]"]
    Path("answers.json").write_text(json.dumps(answers))
    code, out, err = peirce(*SUBJECT, script, "--out", "made", "--json")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "scripted has nothing to say of phrases of plan" in err
    answers["phrases of plan"] = ["1. packs [boxes]"] * 4
    Path("answers.json").write_text(json.dumps(answers))
    code, out, err = peirce(*SUBJECT, script, "--out", "made", "--json")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "gave 0 of 5 phrases of plan that keep to the rules in 4 answers" in err
    assert not Path("made").exists()


def test_a_model_of_the_environment_writes_no_data(peirce, monkeypatch):
    monkeypatch.setenv("PEIRCE_MODEL", "http://127.0.0.1:9/v1#none")
    monkeypatch.setenv("PEIRCE_BUDGET_TOKENS", "5")
    code, out, _ = peirce("generate", "labels:election", "--level", "level0", "--out", "made", "--json")  # fmt: skip
    assert code == 0 and "calls" not in json.loads(out)
    code, _, err = peirce("generate", "labels:subject", "--out", "new")
    assert (
        code == 2
        and "labels:subject must first be written by a model: run peirce tasks generate labels:subject --about TEXT --model MODEL --out DIR, then use --data DIR"
        in err
    )


def test_a_spent_budget_is_exit_code_3(peirce):
    writer = TopicWriter()
    with ChatServer([lambda asked: completion({"content": writer(asked["messages"])})]) as server:
        model = f"{server.url}#landlady"
        code, _, err = peirce(*SUBJECT, model, "--out", "made", "--budget-tokens", "40", "--json")
        assert (code, len(server.requests)) == (3, 3)
        assert err.count("\n") == 1 and "The budget of 40 tokens is spent (54 so far)" in err
        code, *_ = peirce(*SUBJECT, model, "--out", "made", "--json")
        assert (code, len(server.requests)) == (0, 23)
