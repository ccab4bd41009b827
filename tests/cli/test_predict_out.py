"""`peirce predict` on the command line: the same fields as JSONL, and a file with one object about it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_run import RUN, SOURCE, put_files

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def data(folder: Path, finished: Call) -> Path:
    put_files()
    code, _, said = finished(*RUN, "--quiet")
    assert code == 0, said
    path = folder / "new.csv"
    path.write_text('who,input\nann,"[1, 2]"\nbob,5\n')
    return path


def test_jsonl_and_the_file_hold_the_same_fields(data: Path, peirce: Call) -> None:
    code, out, _ = peirce("predict", "--bank", "last", "--data", str(data), "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["prediction"] for row in rows] == [[2], None]
    assert [row["agreement"] for row in rows] == [1.0, None]
    assert [row["reason"] for row in rows] == [None, "TypeError"]
    assert {row["rule"] for row in rows} == {SOURCE}
    words = ("predict", "--bank", "last", "--data", str(data), "--out", "preds.csv")
    code, out, _ = peirce(*words, "--json")
    assert code == 0 and json.loads(out) == {
        "file": "preds.csv", "problem": "one", "rows": 2, "predicted": 1,
        "undefined": {"TypeError": 1},
        "columns": ["who", "input", "prediction", "agreement", "rule", "reason"],
    }  # fmt: skip
    with open("preds.csv", newline="") as lines:
        written = list(csv.DictReader(lines))
    assert [(row["who"], row["prediction"], row["reason"]) for row in written] == [
        ("ann", "[2]", ""), ("bob", "", "TypeError")
    ]  # fmt: skip


def test_the_screen_says_what_was_written_and_why_rows_have_no_prediction(
    data: Path, peirce: Call
) -> None:
    words = ("predict", "--bank", "last", "--data", str(data))
    code, out, _ = peirce(*words, "--out", "preds.parquet")
    assert code == 0 and out.splitlines() == [
        "written   preds.parquet: 2 rows, 1 predicted; not predicted: 1 TypeError",
        "columns   who, input, prediction, agreement, rule, reason",
    ]
    code, out, _ = peirce(*words)
    assert "row     2  (TypeError)" in out
    assert (
        "2 rows: 1 predicted by the best consistent hypothesis; not predicted: 1 TypeError" in out
    )


@pytest.mark.parametrize("name", ["preds.xlsx", "new.csv", "."])
def test_a_file_that_cannot_be_written_is_one_sentence(data: Path, peirce: Call, name: str) -> None:
    code, out, said = peirce("predict", "--bank", "last", "--data", str(data), "--out", name)
    assert code == 2 and out == "" and len(said.splitlines()) == 1 and "Traceback" not in said
    assert data.read_text().startswith("who,input")
