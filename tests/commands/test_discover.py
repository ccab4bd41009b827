"""Files of many shapes are recognized, or the reason and the choices are given; none is taken for
something that it is not. `discover` runs what was recognized."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import peirce
import pytest
from peirce.records import PeirceError, UsageError
from recognition_files import SHAPES, N, Shape, sentence, table


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def see(shape: Shape) -> peirce.Recognition:
    shape.write(Path(shape.name))
    return peirce.recognize(shape.name, shape.target)


@pytest.mark.parametrize("name", [name for name, one in SHAPES.items() if one.kind != "error"])
def test_a_file_is_taken_for_what_it_is(name: str) -> None:
    shape = SHAPES[name]
    found = see(shape)
    assert found.kind == shape.kind, (found.why, found.readings)
    if shape.label is not None:
        assert found.readings[0].options["label"] == shape.label
    told = " ".join([found.why, found.advice, *(one.command for one in found.readings)])
    assert shape.says in told, told
    assert found.why
    assert bool(found.command) == (found.kind != "unsure")


@pytest.mark.parametrize("name", [name for name, one in SHAPES.items() if one.kind == "error"])
def test_a_file_without_data_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(PeirceError, match="(?s)" + SHAPES[name].says):
        see(SHAPES[name])


@pytest.mark.parametrize("name", [name for name, one in SHAPES.items() if one.kind != "error"])
def test_every_command_that_is_named_works(name: str) -> None:
    """The reading "problems with train pairs" of a damaged file is the exception; none is here."""
    for reading in see(SHAPES[name]).readings:
        if reading.command:
            program, verb, task, *flags = shlex.split(reading.command)
            assert (program, verb, task) == ("peirce", "run", reading.task)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counted = peirce.plan(str(reading.task), **reading.options)
            assert counted.problems >= 1
            assert "--data" in flags


def test_columns_that_spoil_the_rules_are_named() -> None:
    rows = [
        [f"C{i}", f"{sentence(i % 50)}", "left" if i % 3 == 0 else None, "KA" if i % 3 == 0 else "KB",
         "gone" if i % 3 == 0 else "here"]
        for i in range(60)
    ]  # fmt: skip
    rows += [["C90", "one new text", None, "KB", "rare"], ["C91", sentence(1), None, "KB", "rare"]]
    found = see(table("t.csv", ["customer", "text", "note", "code", "outcome"], rows, ""))
    told = "\n".join(found.warnings)
    assert "'customer' holds an identifier" in told
    assert "'note' is filled only in rows with the label 'gone'" in told
    assert "of 62 rows repeat an earlier row, apart from 'customer'" in told
    assert "2 rows have the same inputs as a row with another label" in told
    assert "the label 'rare' (2)" in told
    assert "'t.csv?columns=text,code' --label outcome" in told


def test_a_column_that_determines_the_label_is_named_and_one_that_nearly_does_is_not() -> None:
    rows = [[sentence(i), f"k{i % 4}", f"k{(i + (i == 7)) % 4}", i % 2 == 0] for i in range(40)]
    found = see(table("t.csv", ["text", "exact", "nearly", "label"], rows, ""))
    told = "\n".join(found.warnings)
    assert "'exact' determines the label" in told and "nearly" not in told.split("to leave")[0]


def test_a_column_that_the_reader_ignores_is_in_no_warning() -> None:
    """Row numbers without a name, and a copy of the label, which the reader leaves out with a warning."""
    rows = [[i, i % 4, label, label.upper()] for i, label in enumerate(["no", "yes"] * 20)]
    warnings_ = see(table("t.csv", ["", "size", "answer", "label"], rows, "")).warnings
    assert "the column 'size' determines" in warnings_[0]
    assert "36 of 40 rows repeat an earlier row, apart from '' and 'answer'" in warnings_
    assert not any("identifier" in one or "to leave" in one for one in warnings_), warnings_


def test_a_warning_about_a_wide_table_is_short() -> None:
    """The first column is the rule, twenty others copy it, and thousands have nothing to do with it."""
    rng = random.Random(3)
    names = [f"f{n}" for n in range(1_000)]
    rows = []
    for i in range(60):
        rows.append([*[i % 4] * 20, *(rng.randrange(9) for _ in names[20:]), "ab"[i % 4 > 1]])
    warnings_ = see(table("t.csv", [*names, "label"], rows, "")).warnings
    assert "'f0', 'f1', 'f2', 'f3', 'f4' and 15 more determine" in warnings_[0]
    assert "FILE?columns=NAME,NAME" in warnings_[-1]
    assert len(warnings_) < 5 and max(map(len, warnings_)) < 200


def test_contradicting_rows_are_counted() -> None:
    rows = [[sentence(i % 30), i < 30] for i in range(40)]
    found = see(table("t.csv", ["text", "label"], rows, ""))
    assert any(one.startswith("20 rows have the same inputs") for one in found.warnings)


def test_clean_rows_have_no_warning() -> None:
    assert not see(SHAPES["reviews.csv"]).warnings


def test_a_folder_of_splits_is_one_table() -> None:
    for split, count in (("train", 30), ("val", 10), ("test", 10)):
        rows = [[sentence(i), i % 2 == 0] for i in range(count)]
        table("", ["text", "verdict"], rows, "").write(Path(f"{split}.csv"))
    found = peirce.recognize(".")
    assert (found.kind, found.command) == (
        "labelled_rows",
        "peirce run labels --data . --label verdict",
    )


def test_a_folder_whose_test_rows_have_no_label_is_not_run_in_silence() -> None:
    rows = [[i, sentence(i), i % 2] for i in range(30)]
    table("", ["id", "text", "target"], rows, "").write(Path("train.csv"))
    table("", ["id", "text"], [row[:2] for row in rows], "").write(Path("test.csv"))
    found = peirce.recognize(".")
    assert found.kind == "unsure" and "test.csv have no column 'target'" in found.why
    assert found.readings[0].command == "peirce run labels --data train.csv --label target"


def test_a_folder_of_several_tables_names_each() -> None:
    for name in ("customers.csv", "orders.csv"):
        SHAPES["reviews.csv"].write(Path(name))
    found = peirce.recognize(".")
    assert found.kind == "unsure" and "peirce discover orders.csv" in found.advice


def test_a_generated_folder_and_generated_files_are_recognized() -> None:
    peirce.tasks_generate("labels:shoe", "shoes", problems=1)
    assert peirce.recognize("shoes").readings[0].task == "labels"
    for task in ("list_functions", "acre", "mini_arc", "arc", "abd"):
        peirce.tasks_generate(task, f"{task}.jsonl", problems=2)
        assert peirce.recognize(f"{task}.jsonl").readings[0].task == task


def test_discover_runs_what_it_recognized() -> None:
    SHAPES["pairs.jsonl"].write(Path("pairs.jsonl"))
    done = peirce.discover("pairs.jsonl", max_answers=2)
    assert (done.status, done.task, done.kind) == ("done", "examples", "pairs")
    assert {**done}["why"] == done.why


def test_what_is_not_certain_is_an_error_with_the_choices() -> None:
    SHAPES["two_targets.csv"].write(Path("t.csv"))
    with pytest.raises(UsageError, match=r"peirce run labels --data t\.csv --label colour") as told:
        peirce.discover("t.csv")
    assert "peirce discover t.csv --target COLUMN" in str(told.value)


def test_a_number_to_explain_is_a_matter_of_laws() -> None:
    SHAPES["prices.csv"].write(Path("t.csv"))
    found = peirce.recognize("t.csv")
    assert found.command == "peirce run laws --data t.csv --target price"
    assert "the number 'price' to explain" in found.readings[0].summary


@pytest.mark.parametrize(
    ("fault", "command"),
    [("n/a", "peirce run laws --data t.csv --target y"), ("5.3 kg", "")],
)
def test_a_fault_among_numbers_is_named_where_a_law_is_wanted(fault: str, command: str) -> None:
    rows = [[i, i % 7, fault if i == 4 else i * 0.3 + i % 7] for i in range(30)]
    table("", ["x", "z", "y"], rows, "").write(Path("t.csv"))
    found = peirce.recognize("t.csv", "y")
    assert found.command == command
    if not command:
        assert "line 6, y: '5.3 kg' is no number" in found.why


def test_a_target_that_is_no_column_names_the_nearest() -> None:
    SHAPES["reviews.csv"].write(Path("t.csv"))
    with pytest.raises(UsageError, match="did you mean sentiment"):
        peirce.discover("t.csv", "sentimnt")


def test_data_and_label_are_set_by_the_file_and_the_target() -> None:
    SHAPES["reviews.csv"].write(Path("t.csv"))
    with pytest.raises(UsageError, match="label is 'review': discover takes the file"):
        peirce.discover("t.csv", label="review")


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
def test_the_command_for_a_json_file_of_pandas_writes_its_rows(orient: str) -> None:
    """Each form of `DataFrame.to_json`; a table of two columns has pairs in its rows."""
    pandas = pytest.importorskip("pandas")
    for frame in (
        pandas.DataFrame({"text": [sentence(i) for i in N], "label": [i % 2 == 0 for i in N]}),
        pandas.DataFrame({"a": [*N], "text": [sentence(i) for i in N], "label": [*"xy"] * 20}),
    ):
        frame.to_json("t.json", orient=orient)
        found = peirce.recognize("t.json")
        assert found.kind == "unsure" and not found.readings
        command = found.advice.split("look at that: ")[1].split(" && ")[0]
        subprocess.run(
            [sys.executable, *shlex.split(command)[1:]], check=True, stdin=subprocess.DEVNULL
        )
        rows = json.loads(Path("rows.json").read_text())
        assert [row["text"] for row in rows] == [*frame["text"]]
        assert peirce.recognize("rows.json").readings[0].options["label"] == "label"


def test_objects_in_an_object_are_rows_or_columns_and_both_commands_are_named() -> None:
    Path("t.json").write_text(
        json.dumps({"mary": {"age": 3, "size": 4}, "tom": {"age": 1, "size": 2}})
    )
    found = peirce.recognize("t.json")
    assert "rows or of columns" in found.why
    assert "list(v.values())" in found.advice and "v[c].get(r)" in found.advice
    Path("t.json").write_text(json.dumps({"mary": {"age": 3, "size": 4}, "tom": {"age": 1}}))
    assert "an object for each row" in peirce.recognize("t.json").why


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("examples", "reviews.csv"),
        ("examples", "rows.jsonl"),
        ("labels", "pairs.csv"),
        ("labels", "problems.jsonl"),
        ("labels", "worlds.jsonl"),
        ("abd", "reviews.csv"),
        ("abd", "pairs.jsonl"),
        ("list_functions", "prices.csv"),
    ],
)
def test_run_on_the_wrong_kind_of_file_names_discover(task: str, name: str) -> None:
    SHAPES[name].write(Path(name))
    with pytest.raises(PeirceError, match=f"; peirce discover {name} looks at the data"):
        peirce.run(task, data=name)


def test_an_error_in_the_right_kind_of_file_does_not_name_discover() -> None:
    SHAPES["reviews.csv"].write(Path("t.csv"))
    with pytest.raises(PeirceError) as told:
        peirce.run("labels", data="t.csv")
    assert "no label column 'label'" in str(told.value) and "discover" not in str(told.value)


def test_texts_that_repeat_give_no_label_away(tmp_path: Path) -> None:
    texts = [f"please look at {word} in the last bill of March" for word in range(30)]
    rows = [(text, "billing" if place < 15 else "fault") for place, text in enumerate(texts)]
    path = tmp_path / "tickets.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows * 3))
    assert not any("away" in one for one in peirce.recognize(path, "label").warnings)


def test_pairs_of_objects_and_texts_have_programs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    pairs = [{"input": {"a": n}, "output": "big" if n > 5 else "small"} for n in range(12)]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    session = peirce.run("examples", data=path, store=tmp_path / "s.duckdb", max_answers=2)
    assert session.status == "done" and not session.failed
    (row,) = peirce.show(session.session, store=tmp_path / "s.duckdb")
    assert row.verdicts["accepted"] > 0


COLUMNS = {
    "truth": "n,even\n1,FALSE\n2,TRUE\n3,FALSE\n4,TRUE\n5,FALSE\n6,TRUE\n",
    "numbers": "celsius,fahrenheit\n0,32\n100,212\n37,98.6\n-40,-40\n",
    "dates": "when,day\n2024-03-15,15/03/2024\n1999-12-01,01/12/1999\n2020-02-29,29/02/2020\n",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_two_columns_that_nothing_orders_may_be_pairs(name: str) -> None:
    """The command for them is named, and finds a program; the user says which is the output."""
    Path("t.csv").write_text(COLUMNS[name])
    given, output = COLUMNS[name].partition("\n")[0].split(",")
    found = peirce.recognize("t.csv")
    assert found.kind == "unsure"
    assert f"nothing says whether {output!r} follows from {given!r}" in found.why
    assert found.readings[-1].options["data"] == f"t.csv?input={given}&output={output}"
    session = peirce.run("examples", data=found.readings[-1].options["data"], max_answers=1)
    assert [one.shown.right == one.shown.of for one in session.best] == [True]


def test_the_target_says_which_of_two_columns_is_the_output() -> None:
    for name in ("truth", "dates"):
        Path("t.csv").write_text(COLUMNS[name])
        given, output = COLUMNS[name].partition("\n")[0].split(",")
        found = peirce.recognize("t.csv", output)
        assert (found.kind, found.readings[0].options["data"]) == (
            "pairs",
            f"t.csv?input={given}&output={output}",
        )
