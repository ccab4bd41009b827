"""`predict`: a bank on new rows is what the session itself would have predicted of them."""

from __future__ import annotations

import json
from pathlib import Path

import peirce
import pytest
from labelled_session import BAD, GOOD, LUX, PLAIN, RUDE, Model, labelled, rows, write_lines
from peirce.agents.scripted import FunctionProposer
from peirce.cli import main
from peirce.records import DataError, UsageError
from peirce.store import Store

FILE = {
    "task": "labels",
    "problem": "meals#0",
    "public": {
        "labels": ["bad", "good"],
        "label_name": "label",
        "columns": {"review": {"kind": "text", "about": ""}},
        "shape": "text",
        "description": "",
    },
    "hypotheses": [
        {"text": LUX, "accuracy": 0.9, "visits": 20, "reward": 1.2, "covered": 20},
        {"text": RUDE, "accuracy": 0.7, "visits": 20, "reward": 0.9, "covered": 4},
    ],
}


@pytest.fixture
def meals(tmp_path):
    return labelled(tmp_path)


def bank_file(folder: Path, **changed) -> Path:
    path = folder / "bank.json"
    path.write_text(json.dumps({**FILE, **changed}))
    return path


@pytest.mark.parametrize("inference", ["multi", "best", "filter-weight", "one-step", "two-step"])
def test_new_rows_are_predicted_as_the_session_predicts_its_own(meals, inference):
    session = meals.finished(judge="exact", inference=inference)
    found = list(peirce.predict(session.session, meals.data / "test.jsonl", store=meals.store))
    with Store.open(meals.store, write=False) as store:
        fields = [step.fields for step in store.steps(session.session)]
    (inferred,) = [one["inference"] for one in fields if "inference" in one]
    assert [row["label"] for row in found] == inferred["splits"]["ind"]["labels"]
    assert [row["row"] for row in found] == list(range(1, 13))


def test_what_a_model_judges_is_asked_and_nothing_is_written(meals):
    model = Model(answer=f"1. {PLAIN}\n")
    session = meals.run(model=FunctionProposer(model, "model"))
    before = Path(meals.store).read_bytes()
    judge = Model()
    found = list(
        peirce.predict(
            session.session, meals.data / "test.jsonl", store=meals.store,
            model=FunctionProposer(judge, "judge"),
        )
    )  # fmt: skip
    assert judge.asked == 12 and {row["how"] for row in found} == {"model"}
    assert sum(row["right"] for row in found) == 12
    assert Path(meals.store).read_bytes() == before


def test_a_file_tells_labels_and_columns_and_needs_no_store(tmp_path):
    given = [
        {"review": GOOD[0]},
        {"review": BAD[1], "label": "bad"},
        {"review": "", "label": "good"},
    ]
    data = write_lines(tmp_path / "new.jsonl", given)
    found = list(peirce.predict(bank_file(tmp_path), data, store=tmp_path / "no.duckdb"))
    # an empty text is a text without words, so it gets the label of "otherwise"
    assert [row["label"] for row in found] == ["good", "bad", "bad"]
    assert "expected" not in found[0]
    assert (found[1]["expected"], found[1]["right"]) == ("bad", True)
    assert (found[2]["expected"], found[2]["right"]) == ("good", False)
    assert found[0]["hypothesis"] == LUX and found[0]["how"] == "vote"
    assert not (tmp_path / "no.duckdb").exists()


def test_a_sentence_that_is_no_rule_has_no_label_without_a_model(tmp_path):
    bank = bank_file(tmp_path, hypotheses=[{"text": PLAIN}])
    data = write_lines(tmp_path / "new.jsonl", [{"review": GOOD[0]}])
    (row,) = peirce.predict(bank, data)
    assert (row["label"], row["how"], row["reason"]) == (None, "needs_model", "needs_model")


def test_an_answer_without_a_label_is_told_as_that(tmp_path):
    bank = bank_file(tmp_path, hypotheses=[{"text": PLAIN}])
    data = write_lines(tmp_path / "new.jsonl", [{"review": GOOD[0]}])
    (row,) = peirce.predict(bank, data, model=FunctionProposer(lambda messages: "blue", "blue"))
    assert (row["label"], row["reason"]) == (None, "unreadable")


def test_of_several_problems_one_is_to_be_named(meals):
    session = meals.finished(judge="exact", problems=2)
    data = meals.data / "test.jsonl"
    with pytest.raises(
        UsageError, match=r"2 problems \(meals#0, meals#1\): choose one with --problem"
    ):
        peirce.predict(session.session, data, store=meals.store)
    found = list(peirce.predict("last", data, problem="meals#1", store=meals.store))
    assert len(found) == 12
    with pytest.raises(UsageError, match="no hypotheses of 'soups'"):
        peirce.predict("last", data, problem="soups", store=meals.store)


@pytest.mark.parametrize(
    ("changed", "options", "error", "said"),
    [
        ({"public": {}}, {}, DataError, "neither labels nor columns"),
        ({"hypotheses": []}, {}, DataError, "no hypotheses"),
        ({"hypotheses": [{"text": "word " * 10_000}]}, {}, DataError, "no sentence that can be"),
        ({"public": {"labels": 3}}, {}, DataError, "public.labels is 3"),
        (
            {},
            {"judge": "model"},
            UsageError,
            "judge is 'model', but no model is given: choose one with --judge-model",
        ),
        ({}, {"judge": "nobody"}, UsageError, "auto, exact, model"),
        ({}, {"model": "search"}, UsageError, "cannot label texts"),
        ({}, {"inference": "most"}, UsageError, "filter-weight"),
        ({}, {"inference": "choose"}, UsageError, "no validation rows"),
        ({}, {"temperature": 0.5}, UsageError, "temperature: no model is given"),
        ({}, {"label": "verdict"}, DataError, "no column 'verdict' contains labels"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(tmp_path, changed, options, error, said):
    data = write_lines(tmp_path / "new.jsonl", rows(3, 0))
    with pytest.raises(error, match=said):
        peirce.predict(bank_file(tmp_path, **changed), data, **options)


def test_rows_that_do_not_fit_the_bank_are_refused_before_the_first_is_predicted(tmp_path):
    bank = bank_file(tmp_path)
    other = write_lines(tmp_path / "other.jsonl", [{"title": "x"}])
    with pytest.raises(DataError, match="no column 'review'"):
        peirce.predict(bank, other)
    unknown = write_lines(tmp_path / "unknown.jsonl", [{"review": "x", "label": "middling"}])
    with pytest.raises(
        DataError, match=r"line 1.*'middling' is not one of the bank's labels: bad, good"
    ):
        peirce.predict(bank, unknown)
    with pytest.raises((DataError, UsageError), match="absent"):
        peirce.predict(bank, tmp_path / "absent.jsonl")


def _programs(folder, **options) -> dict:
    store = folder / "programs.duckdb"
    peirce.run("list_functions", problems=1, max_answers=2, store=store, workers=1, **options)
    return {"store": store, "workers": 1}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Where a session on one problem of the task's own is stored, which tests read."""
    return _programs(tmp_path_factory.mktemp("programs"))


def test_the_best_consistent_program_is_applied_to_inputs(programs, tmp_path, capsys, monkeypatch):
    where = programs
    (problem,) = peirce.load("last", store=where["store"]).problems
    shown = problem.shown[0]
    given = [shown.input, {"input": shown.input, "output": shown.output}, {"input": []}]
    data = write_lines(tmp_path / "new.jsonl", [*given, {"input": [3], "output": "no list"}])
    found = list(peirce.predict("last", data, **where))
    assert [row["row"] for row in found] == [1, 2, 3, 4]
    assert found[0]["prediction"] == found[1]["prediction"] == shown.output
    assert ("expected" in found[0], found[1]["right"], found[3]["right"]) == (False, True, False)
    (best, *_) = peirce.bank("last", store=where["store"])
    assert {(row["hypothesis"], row["how"]) for row in found} == {(best["text"], "oracle")}
    monkeypatch.setenv("PEIRCE_INFERENCE", "best")  # of other banks
    monkeypatch.setenv("PEIRCE_MODEL", "openai:NAME")
    with pytest.raises(SystemExit) as ended:
        main(["predict", "--bank", "last", "--data", str(data), "--store", str(where["store"])])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert (
        "4 predicted by the best consistent hypothesis" in said
        and "2 rows with an output: 1 correct" in said
    )


def test_the_pairs_of_the_tasks_own_data_are_those_of_the_problem(tmp_path):
    peirce.tasks_generate("list_functions", problems=2, out=tmp_path / "made.jsonl")
    where = _programs(tmp_path, data=tmp_path / "made.jsonl")
    found = list(peirce.predict("last", tmp_path / "made.jsonl", **where))
    (problem,) = peirce.load("last", store=where["store"]).problems
    assert [row["expected"] for row in found] == [
        pair.output for pair in (*problem.shown, *problem.hidden)
    ]
    assert all(row["right"] for row in found[: len(problem.shown)])


def test_a_bank_of_programs_takes_nothing_of_labelled_text(programs, tmp_path):
    where = programs
    data = write_lines(tmp_path / "new.jsonl", [[1, 2]])
    for options, said in (
        (
            {"inference": "best"},
            "inference is 'best': only banks of labelled text take it, but this bank is of task ",
        ),
        ({"label": "x"}, "label is 'x'"),
        ({"temperature": 0}, "temperature is 0"),
        ({"judge_model": "openai:x"}, "judge-model is 'openai:x'"),
    ):
        with pytest.raises(UsageError, match=said):
            peirce.predict("last", data, **where, **options)
    with pytest.raises(DataError, match="line 1, input"):
        peirce.predict("last", write_lines(tmp_path / "bad.jsonl", [{"input": "x"}]), **where)


def test_a_rule_about_worlds_is_applied_to_the_worlds_of_the_tasks_own_data(tmp_path):
    store, data = tmp_path / "worlds.duckdb", tmp_path / "worlds.yaml"
    peirce.tasks_generate("abd", data, problems=1)
    peirce.run("abd", data=data, max_answers=1, store=store)
    (problem,) = peirce.load("last", store=store).problems
    found = list(peirce.predict("last", data, store=store))
    elements = [
        (world.input["id"], name)
        for world in (*problem.shown, *problem.hidden)
        for name in world.input["domain"]
    ]
    assert [(row["world"], row["element"]) for row in found] == elements
    shown = {world.input["id"] for world in problem.shown}
    assert all(row["valid"] for row in found if row["world"] in shown)
    alone = write_lines(tmp_path / "worlds.jsonl", [{"input": problem.shown[0].input}])
    with pytest.raises(DataError, match=r"worlds.jsonl, line 1"):
        peirce.predict("last", alone, store=store)
