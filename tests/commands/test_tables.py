"""A list of dicts, or a table of pandas, Polars, pyarrow or DuckDB, is data like a file with the same rows."""

from __future__ import annotations

import asyncio
import datetime
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import peirce
import pytest
from peirce.records import DataError, PeirceError, UsageError

Rows = Sequence[Mapping[str, Any]]
pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")


def polars_frame(rows: Rows) -> object:
    return pytest.importorskip("polars").DataFrame(rows)


FORMS: dict[str, Callable[[Rows], Any]] = {
    "dicts": list,
    "pandas": pandas.DataFrame,
    "pyarrow": pyarrow.Table.from_pylist,
    "polars": polars_frame,
    "duckdb": lambda rows: duckdb.from_arrow(pyarrow.Table.from_pylist(rows)),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

PAIRS = [
    {"problem": "evens", "input": x, "output": [v for v in x if v % 2 == 0]}
    for x in ([3, 8, 5, 4], [2, 7], [1, 9, 4], [6, 6, 1])
]
REVIEWS = [
    {
        "review": f"{word} meal, number {n}",
        "price": n * 1.5,
        "fresh": n % 3 == 0,
        "day": None if n % 5 == 2 else f"2026-01-{n + 1:02}",
        "label": label,
    }
    for n in range(20)
    for word, label in (("lovely", "good"), ("dreadful", "bad"))
]


def write_lines(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shown(task: str, data: Any, **options: Any) -> list[dict[str, Any]]:
    return [one.to_dict() for one in peirce.tasks_show(task, data=data, **options)]


@every_form
@pytest.mark.parametrize("task", ["list_functions", "acre", "mini_arc", "arc"])
def test_published_tasks_read_a_table_as_their_file(task: str, form, tmp_path: Path) -> None:
    made = Path(peirce.tasks_generate(task, tmp_path / "made.jsonl", problems=2, seed=3).path)
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    for found, expected in zip(shown(task, form(rows)), shown(task, made), strict=True):
        # A struct of Arrow has the keys of all rows, which ACRE's secret objects differ in.
        assert found | {"secret": {}} == expected | {"secret": {}}


@every_form
def test_worlds_are_read_from_a_table(form, tmp_path: Path) -> None:
    world = {"domain": ["a0", "a1"], "true": {"P": ["a0"], "R": [["a1", "a0"]]}}
    rows = [
        {"id": name, "regime": "partial", "theory": "T1", "worlds": [world], "holdouts": [world]}
        for name in ("first", "second")
    ]
    file = write_lines(tmp_path / "table.jsonl", rows)
    assert shown("abd", form(rows)) == shown("abd", file)


@every_form
def test_pairs_are_read_from_a_table(form, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "table.jsonl", PAIRS)
    assert shown("examples", form(PAIRS)) == shown("examples", file)
    unnamed = [{"input": row["input"], "output": row["output"]} for row in PAIRS]
    (problem,) = shown("examples", form(unnamed), observations=2)
    assert problem["id"] == "table" and len(problem["hidden"]) == 2


@every_form
def test_labelled_rows_are_read_from_a_table(form, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "table.jsonl", REVIEWS)
    assert shown("labels", form(REVIEWS)) == shown("labels", file)
    renamed = [{**row, "verdict": row.pop("label")} for row in map(dict, REVIEWS)]
    (problem,) = shown("labels", form(renamed), label="verdict")
    assert problem["public"]["label_name"] == "verdict"


@every_form
def test_check_and_predict_take_tables(form, tmp_path: Path) -> None:
    source = "def f(x):\n    return [v for v in x if v % 2 == 0]"
    answers = [
        {"problem": "evens", "hypothesis": source},
        {"problem": "evens", "hypothesis": "def f(x):\n    return x"},
    ]
    rows = list(peirce.check("examples", form(answers), data=form(PAIRS)))
    assert [row.verdict for row in rows] == ["consistent", "inconsistent"]

    bank = tmp_path / "bank.json"
    columns = {"review": {"kind": "text", "about": ""}}
    public = {"labels": ["bad", "good"], "label_name": "label", "columns": columns, "shape": "text"}
    text = "If the review contains 'lovely', then label: good. Otherwise label: bad."
    bank.write_text(json.dumps({"task": "labels", "problem": "meals#0",
                                "public": {**public, "description": ""},
                                "hypotheses": [{"text": text, "accuracy": 1.0, "visits": 9,
                                                "reward": 1.0, "covered": 9}]}))  # fmt: skip
    found = list(peirce.predict(bank, form(REVIEWS[:4])))
    expected = list(peirce.predict(bank, write_lines(tmp_path / "rows.jsonl", REVIEWS[:4])))
    assert found == expected and [row.expected for row in found] == ["good", "bad", "good", "bad"]


@every_form
def test_recognize_and_discover_take_tables(form) -> None:
    renamed = [
        {("verdict" if name == "label" else name): cell for name, cell in row.items()}
        for row in REVIEWS
    ]
    found = peirce.recognize(form(renamed))
    assert (found.file, found.kind) == ("table of 40 rows and 5 columns", "labelled_rows")
    assert found.command == "peirce.run('labels', data=table, label='verdict')"
    assert peirce.recognize(form(renamed), "fresh").readings[0].options["label"] == "fresh"
    done = asyncio.run(peirce.adiscover(form(renamed), max_answers=2, cache=False))
    assert (done.status, done.task, done.kind) == ("done", "labels", "labelled_rows")
    again = peirce.discover(form(renamed), max_answers=2, cache=False)
    assert again.digest == done.digest and {**again}["warnings"] == found.warnings


def test_pairs_of_a_table_are_read_under_other_names(tmp_path: Path) -> None:
    rows = [{"x": row["input"], "y": row["output"], "problem": "evens"} for row in PAIRS]
    (reading,) = peirce.recognize(rows).readings
    settings = {"max_answers": 1, "budget_expansions": 2_000, "store": tmp_path / "s.duckdb"}
    command = reading.command.removeprefix("peirce.run('examples', data=").removesuffix(")")
    (problem,) = shown("examples", eval(command, {"rows": rows}))
    assert problem["id"] == "evens" and len(problem["shown"]) == 4
    assert (
        json.loads(json.dumps(reading.to_dict()))["options"]["data"]
        == "table of 4 rows and 3 columns"
    )
    done = peirce.discover(rows, **settings)
    typed = peirce.run("examples", data=eval(command, {"rows": rows}), cache=False, **settings)
    assert (done.status, done.digest) == ("done", typed.digest)


def test_what_a_table_holds_is_asked_without_the_name_of_a_file() -> None:
    rows = [{"size": n % 3, "colour": "ab"[n % 2], "shape": "xy"[n // 3 % 2]} for n in range(30)]
    with pytest.raises(
        UsageError, match=r"peirce.run\('labels', data=table, label='colour'\)"
    ) as told:
        peirce.discover(rows)
    assert str(told.value).endswith("or name the target: target=COLUMN")
    with pytest.raises(UsageError, match=r"^target color: table of 30 rows .* did you mean colour"):
        peirce.recognize(pandas.DataFrame(rows), "color")
    with pytest.raises(UsageError, match="the data is of type Series"):
        peirce.recognize(SERIES)
    half = peirce.recognize([*PAIRS, {"problem": "evens", "input": [1]}])
    assert half.why.endswith("cannot be read: row 5, output: missing")
    assert half.readings[0].command == "peirce.run('examples', data=table, skip_bad=True)"
    broken = peirce.recognize([{"id": "p", "train": [{"input": 1}]}])
    assert broken.kind == "unsure" and "table.jsonl" not in broken.why + broken.advice
    assert peirce.recognize([{"2023": n % 4, "churned": n % 2 == 0} for n in range(20)]).command


def test_a_session_records_the_table_and_goes_on_without_it(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    settings = {"observations": 3, "budget_expansions": 2_000, "store": store}
    rows = [dict(row) for row in PAIRS]
    first = peirce.run("examples", data=rows, max_answers=2, **settings)
    source = peirce.load("last", store=store).settings["operational"]["data"]
    assert source["name"] == "table of 4 rows and 3 columns" and len(source["sha256"]) == 64
    rows.clear()
    assert peirce.resume("last", store=store).digest == first.digest
    assert peirce.replay("last", store=store).differences == []
    assert peirce.evaluate("last", store=store).sessions[0].problems == 1
    (row,) = peirce.predict("last", pandas.DataFrame({"input": [[4, 5]]}), store=store)
    assert row.prediction is not None

    file = write_lines(tmp_path / "table.jsonl", PAIRS)
    again = peirce.run("examples", data=file, max_answers=2, cache=False, **settings)
    assert again.digest == first.digest  # the same problems, wherever they came from


def test_a_configuration_keeps_the_rows_that_it_was_made_with() -> None:
    rows = [dict(row) for row in PAIRS]
    config = peirce.RunConfig(data=peirce.DataConfig(data=rows))
    rows.clear()
    assert peirce.plan("examples", config).problems == 1
    assert config.to_dict() == {}  # as for a model that is an object


def test_cells_become_values_of_json() -> None:
    frame = pandas.DataFrame(
        {
            "number": [1.5, None],
            "whole": pandas.array([1, None], dtype="Int64"),
            "day": [pandas.Timestamp("2026-05-01"), pandas.NaT],
            "category": pandas.Categorical([7, None]),
            "array": [np.array([1, 2]), None],
            "mixed": ["text", 3],
            "label": ["a", "b"],
        }
    )
    column = {"input": frame.to_dict("records"), "output": [1, 2]}
    for data in (pandas.DataFrame(column), [
        {"input": row, "output": n} for n, row in enumerate(column["input"], 1)
    ]):  # fmt: skip
        (first, _), (second, _) = shown("examples", data)[0]["shown"]
        assert first["day"] == "2026-05-01T00:00:00" and first["array"] == [1, 2]
        assert second["number"] is second["whole"] is second["day"] is None
    (problem,) = shown("labels", pandas.concat([frame] * 8))
    about = problem["public"]["columns"]
    kinds = {name: about[name]["kind"] for name in ("number", "whole", "category", "mixed")}
    assert kinds["number"] == kinds["whole"] == "number" and kinds["category"] != "number"

    day = duckdb.sql("SELECT DATE '2026-05-01' AS input, 0.5::DECIMAL(3, 1) AS output")
    assert shown("examples", day)[0]["shown"] == [["2026-05-01", 0.5]]
    scalars = [{"input": np.int64(3), "output": datetime.date(2026, 5, 1)}]
    assert shown("examples", scalars)[0]["shown"] == [[3, "2026-05-01"]]


SERIES = pandas.Series([1, 2], name="input")
TWICE = pandas.DataFrame([[1, 2]], columns=["input", "input"])


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ([3], UsageError, "the data, row 1, is of type int: it must be a path, a list of dicts or"),
        ({"input": [1]}, UsageError, "the data is of type dict"),
        (SERIES, UsageError, r"the data is of type Series: .*; call to_frame\(\) first"),
        (3, UsageError, "data is 3: it must be a string, a path, a list of dicts, a table of"),
        ([], DataError, "the list has no rows"),
        (pandas.DataFrame({"input": []}), DataError, "the DataFrame has no rows"),
        (pandas.DataFrame([[1, 2]]), DataError, "the column name 0 is no string"),
        (TWICE, DataError, "the column name 'input' occurs twice"),
        (duckdb.sql("SELECT 1 AS a, 2 AS a"), DataError, "the column name 'a' occurs twice"),
        ([{"input": b"x", "output": 1}], DataError, "row 1: a value of type bytes cannot be read"),
        ([{"input": 1, "output": 2}, {"input": 3}], DataError,
         "^table of 2 rows and 2 columns, row 2, output: missing$"),
        (pandas.DataFrame({"input": [1, 2], "output": [None, 1]}), DataError,
         "^table of 2 rows and 2 columns, row 1, output: missing$"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_an_error_in_one_sentence(data, kind, words) -> None:
    with pytest.raises(kind, match=words) as error:
        peirce.plan("examples", data=data)
    assert "\n" not in str(error.value)


def test_rows_that_cannot_be_read_are_left_out_and_named_by_their_number() -> None:
    rows = [*PAIRS, {"problem": "evens", "input": 3}]
    with pytest.warns(UserWarning, match="^table of 5 rows and 3 columns: 1 record .*: row 5, out"):
        (problem,) = peirce.tasks_show("examples", data=rows, skip_bad=True)
    assert len(problem.shown) == 4


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    peirce.plan("examples", data=PAIRS)
    with pytest.raises(PeirceError):
        peirce.plan("examples", data=[{"input": 1}])
    assert list(tmp_path.iterdir()) == []


def test_arrow_needs_no_package_beyond_the_core() -> None:
    code = """
import sys
sys.modules["pyarrow"] = sys.modules["pandas"] = sys.modules["polars"] = None
import duckdb, peirce

class Table:  # of a library that Peirce has never heard of
    def __arrow_c_stream__(self, requested_schema=None):
        rows = duckdb.sql("SELECT [1, 2] AS input, 3 AS output UNION ALL SELECT [4], NULL")
        return rows.__arrow_c_stream__(requested_schema)

try:
    peirce.tasks_show("examples", data=Table())
except peirce.PeirceError as error:
    print(error)
print(peirce.tasks_show("examples", data=Table(), skip_bad=True)[0].shown)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "table of 2 rows and 2 columns, row 2, output: missing",
        "[[[1, 2], 3]]",
    ], done.stderr
