"""The verbs of labelled text on the command line: data on stdout, sentences on stderr, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled_session import ANSWER, data_set, rows, write_lines

JUDGE = {
    "rules": [{"when": r"Input:\n.*(fresh|kind|warm)", "say": "Final answer: good"},
              {"when": "Final answer", "say": "Final answer: bad"}],
    "otherwise": ANSWER,
}  # fmt: skip


@pytest.fixture
def folder(folder: Path) -> Path:
    """With the data set meals."""
    data_set(folder)
    Path("model.json").write_text(json.dumps(JUDGE))
    return folder


RUN = ["run", "labels", "--data", "meals", "--method", "hypogenic", "--model", "scripted:model.json",
       "--observations", "20", "--quiet"]  # fmt: skip


def lines(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def test_predict_prints_a_line_a_row_with_and_without_a_model(peirce, finished):
    assert finished(*RUN, "--json")[0] == 0
    write_lines(Path("new.jsonl"), rows(5, 400))
    code, out, err = peirce("predict", "--bank", "last", "--data", "new.jsonl", "--json")
    assert (code, err) == (0, "")
    assert [row["row"] for row in lines(out)] == [1, 2, 3, 4, 5]
    asked = ["--judge-model", "scripted:model.json", "--judge", "model"]
    code, out, _ = peirce("predict", "--bank", "last", "--data", "new.jsonl", "--json", *asked)
    assert code == 0 and {row["how"] for row in lines(out)} == {"model"}
    code, out, _ = peirce("predict", "--bank", "last", "--data", "new.jsonl")
    assert code == 0 and "5 rows have a label: accuracy 0.800, F1 0.800" in out


def test_a_proposer_of_the_environment_that_labels_no_texts_is_no_judge(
    peirce, monkeypatch, finished
):
    finished(*RUN, "--json")
    write_lines(Path("new.jsonl"), rows(2, 400))
    monkeypatch.setenv("PEIRCE_MODEL", "search")
    monkeypatch.setenv("PEIRCE_TEMPERATURE", "0.3")
    code, out, err = peirce("predict", "--bank", "last", "--data", "new.jsonl", "--json")
    assert (code, err, len(lines(out))) == (0, "", 2)
    code, _, err = peirce("predict", "--bank", "last", "--data", "new.jsonl", "--model", "search")
    assert code == 2 and "cannot label texts" in err and err.count("\n") == 1


def test_predict_without_a_bank_or_rows_is_one_sentence(peirce):
    code, out, err = peirce("predict", "--bank", "none.json", "--data", "new.jsonl")
    assert code == 2 and out == "" and "none.json" in err and err.count("\n") == 1
    code, _, err = peirce("predict", "--data", "new.jsonl")
    assert code == 2 and "--bank" in err


def test_bank_writes_a_file_shows_where_it_applied_and_how_it_grew(peirce, finished):
    finished(*RUN, "--json")
    code, out, _ = peirce("bank", "last", "--out", "bank.json")
    assert code == 0 and "applies" in out and "written   bank.json" in out
    assert json.loads(Path("bank.json").read_text())["problem"] == "meals#0"
    code, out, _ = peirce("bank", "--history")
    assert code == 0 and "entered" in out and "best accuracy" in out
    code, out, _ = peirce("bank", "--history", "--json")
    assert code == 0 and json.loads(out)[0]["size"] == 2


def test_check_prints_the_scores_of_a_sentence(peirce):
    sentence = 'If the text mentions "kind", "fresh" or "warm", the label is good; otherwise bad.'
    plain = "Texts that sound pleased are good."
    told = [{"problem": "meals", "hypothesis": one} for one in (sentence, plain)]
    write_lines(Path("mine.jsonl"), told)
    check = ["check", "labels", "--answers", "mine.jsonl", "--data", "meals"]
    code, out, err = peirce(*check, "--split", "ood", "--json")
    first, second = lines(out)
    assert (code, err) == (0, "")
    assert (first["accuracy"], first["split"], second["accuracy"]) == (1.0, "ood", None)
    code, out, _ = peirce(*check, "--judge-model", "scripted:model.json")
    assert code == 0 and out.count("accuracy 1.000, F1 1.000") == 2


def test_a_run_says_what_it_does_and_ends_with_the_baselines_beside(peirce):
    code, out, err = peirce(*[one for one in RUN if one != "--quiet"])
    assert code == 0
    said = {line.split()[0]: line for line in err.splitlines()}
    assert "sentences that are not exact rules" in said["judge"]
    assert (
        "20 shown, 10 of them in the first prompt" in said["rows"]
        and "12 test rows (ind)" in said["rows"]
    )
    assert "proposer 1 to 2" in said["calls"] and "sandbox" not in said and "limits" not in said
    assert "majority" in out and "beside" in out
    code, out, _ = peirce("show")
    assert code == 0 and "meals#0: bank of 2 applied by multi: ind 12 rows, accuracy" in out
    code, out, _ = peirce("show", "--json")
    assert json.loads(out)[0]["inference"]["splits"]["ood"]["rows"] == 10


def test_a_dry_run_tells_the_calls_of_each_role_and_asks_nothing(peirce):
    code, out, _ = peirce(*RUN, "--dry-run")
    assert code == 0 and "judge" in out and "tokens" in out and not Path("peirce.duckdb").exists()
    code, out, _ = peirce(*RUN, "--dry-run", "--json")
    assert json.loads(out)["calls"]["proposer"] == {"least": 1, "most": 2}


def test_eval_puts_baselines_and_judges_of_one_bank_beside_each_other(peirce, finished):
    finished(*RUN, "--json")
    infer = ["run", "labels", "--data", "meals", "--method", "infer", "--bank", "last", "--json",
             "--observations", "20", "--quiet", "--inference", "best"]  # fmt: skip
    found = [json.loads(peirce("sessions", "--json")[1])[0]["session"]]
    for more in (
        ["--judge", "exact"],
        ["--judge", "model", "--judge-model", "scripted:model.json"],
    ):
        infer[infer.index("--bank") + 1] = found[0]
        code, out, err = peirce(*infer, *more)
        assert code == 0, err
        found.append(json.loads(out)["session"])
    code, out, _ = peirce("eval", "hypobench", *found)
    assert code == 0 and "ind: accuracy / F1" in out and "exact rules" in out and "majority" in out
    code, out, _ = peirce("eval", "hypobench", *found, "--json")
    result = json.loads(out)
    assert [one["bank"] for one in result["cross_model"]] == [found[0]] * 3
    assert {row["name"] for row in result["sessions"][0]["baselines"][0]["baselines"]} >= {
        "majority"
    }


def test_predict_names_the_sentence_with_the_greatest_weight(peirce):
    assert peirce(*RUN, "--inference", "weighted", "--judge", "exact", "--json")[0] == 0
    write_lines(Path("new.jsonl"), rows(2, 400))
    code, out, _ = peirce("predict", "--bank", "last", "--data", "new.jsonl")
    assert (
        code == 0 and 'a weighted vote of all sentences, above all: If the text mentions "' in out
    )
    write_lines(Path("new.jsonl"), [{"review": None}])
    code, out, _ = peirce("predict", "--bank", "last", "--data", "new.jsonl")
    assert code == 0 and "1 row: 1 predicted by a weighted vote of all sentences" in out
