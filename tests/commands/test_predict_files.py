"""`predict --out`: the columns of the data stay as they are, in their order, and the predictions follow.

Internals: names for added columns are chosen by one function, which is tested on names that no CSV holds.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import stat
from pathlib import Path
from typing import Any

import duckdb
import peirce
import pytest
from labelled_session import GOOD, RUDE, write_lines
from peirce.agents.scripted import ScriptedProposer
from peirce.commands.score.predicting.files import find_type, number_names
from peirce.records import UsageError
from predicted_pairs import EVEN, run_programs
from test_predict import bank_file

ADDED = ["prediction", "agreement", "rule"]


def read_csv(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))


def read_parquet(path: Path) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    with duckdb.connect() as base:
        found = base.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in found.description]
        kinds = [str(column[1]) for column in found.description]
        return names, kinds, found.fetchall()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_programs(tmp_path_factory.mktemp("programs"))


HEADER = ["z id", "review", "prediction", 'a,"b"', "Rule", "ünïcode", "", "select"]
CELLS = [
    ["007", "kind staff", "old", "1.50", "=1+1", "é", "0", "TRUE"],
    ["", "rude, cold", "", " spaced ", "-2", "日本", "1", "false"],
    ["010", 'fresh "bread"\nnew line', "x", "1e3", "@a", "", "", "n/a"],
]


def write_odd_csv(path: Path) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([HEADER, *CELLS])
    return path


def test_csv_keeps_names_cells_and_order_to_the_letter(tmp_path):
    data, out = write_odd_csv(tmp_path / "new.csv"), tmp_path / "out.csv"
    found = peirce.predict(bank_file(tmp_path), data, out=out)
    header, *rows = read_csv(out)
    assert header == found.columns == [*HEADER, "prediction_2", "agreement", "rule"]
    assert [row[: len(HEADER)] for row in rows] == CELLS
    assert [row[len(HEADER)] for row in rows] == ["good", "bad", "good"]
    assert rows[1][-1].strip().startswith("If the text") and (found.rows, found.predicted) == (3, 3)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_file_of_predictions_can_be_predicted_again(tmp_path):
    data, bank = write_odd_csv(tmp_path / "new.csv"), bank_file(tmp_path)
    peirce.predict(bank, data, out=tmp_path / "one.csv")
    again = peirce.predict(bank, tmp_path / "one.csv", out=tmp_path / "two.csv")
    assert again.columns[-3:] == ["prediction_3", "agreement_2", "rule_2"]
    assert [row[:-3] for row in read_csv(tmp_path / "two.csv")] == read_csv(tmp_path / "one.csv")


def test_csv_becomes_parquet_with_types_where_every_cell_allows_one(tmp_path):
    data, out = write_odd_csv(tmp_path / "new.csv"), tmp_path / "out.parquet"
    found = peirce.predict(bank_file(tmp_path), data, out=out)
    names, kinds, rows = read_parquet(out)
    assert names == found.columns
    assert names == [*HEADER[:6], "column", "select", "prediction_2", "agreement", "rule_2"]
    assert kinds[:4] == ["VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR"] and kinds[6] == "BIGINT"
    assert kinds[-3:] == ["VARCHAR", "DOUBLE", "VARCHAR"]
    assert [row[0] for row in rows] == ["007", None, "010"]
    assert [row[-3] for row in rows] == ["good", "bad", "good"]


def test_parquet_keeps_its_types_and_order(programs, tmp_path):
    data, out = tmp_path / "new[1].parquet", tmp_path / "out.parquet"
    with duckdb.connect() as base:
        base.execute(
            "CREATE TABLE t AS SELECT 'r' || n AS \"row name\", [n, 2] AS input,"
            " DATE '2020-01-01' + n::INTEGER AS day, (n / 8)::DECIMAL(9, 3) AS amount,"
            " {'a': n, 'b': [n]} AS nested,"
            " CASE WHEN n % 3 = 0 THEN NULL ELSE (n % 100)::TINYINT END AS small,"
            " ('x' || n)::BLOB AS raw FROM range(2500) r(n)"
        )
        place = str(data).replace("'", "''")
        base.execute(f"COPY t TO '{place}' (FORMAT parquet, ROW_GROUP_SIZE 500)")
        before = base.execute("SELECT * FROM t").fetchall()
        kinds = [str(one[1]) for one in base.execute("SELECT * FROM t").description]
    found = peirce.predict("last", data, out=out, **programs)
    names, now, rows = read_parquet(out)
    assert names == ["row name", "input", "day", "amount", "nested", "small", "raw", *ADDED]
    assert now == [*kinds, "BIGINT[]", "DOUBLE", "VARCHAR"]
    assert [row[:7] for row in rows] == before and found.rows == 2_500
    assert [row[7] for row in rows] == [[v for v in row[1] if v % 2 == 0] for row in before]
    assert {type(rows[0][2]), type(rows[0][3])} == {datetime.date, decimal.Decimal}


def test_rows_of_other_problems_are_left_out_of_a_parquet_file(programs, tmp_path):
    data, out = tmp_path / "new.parquet", tmp_path / "out.parquet"
    duckdb.sql(
        "SELECT n, [n] AS input, CASE WHEN n % 2 = 0 THEN 'pairs' ELSE 'other' END AS problem"
        " FROM range(9) r(n)"
    ).write_parquet(str(data))
    with pytest.warns(UserWarning, match="4 rows of other problems"):
        peirce.predict("last", data, out=out, **programs)
    rows = read_parquet(out)[2]
    assert [(row[0], row[3]) for row in rows] == [(n, [n]) for n in (0, 2, 4, 6, 8)]


def test_outputs_in_csv_are_read_back_as_the_same_values(tmp_path):
    where = {"store": tmp_path / "s.duckdb", "workers": 1}
    values = [
        "12",
        "abc",
        "",
        "=1+1",
        " x",
        "1,5",
        "[1",
        "None",
        12,
        1.5,
        True,
        None,
        [1, "a"],
        {"k": [1]},
    ]
    source = f"def f(x):\n    return {values!r}[x]"
    (tmp_path / "pairs.json").write_text(json.dumps([{"input": 0, "output": "12"}]))
    only = ScriptedProposer([repr(("a value", source))])
    peirce.run("examples", data=tmp_path / "pairs.json", model=only, max_answers=1, **where)
    new = tmp_path / "new.jsonl"
    new.write_text("".join(f"{n}\n" for n in range(len(values) + 1)))
    found = peirce.predict("last", new, out=tmp_path / "out.csv", **where)
    assert found.undefined == {"IndexError": 1} and found.predicted == len(values)
    header, *rows = read_csv(tmp_path / "out.csv")
    assert header == ["input", *ADDED, "reason"] and rows[-1][1:3] == ["", ""]
    assert rows[-1][-1] == "IndexError" and all(row[-1] == "" for row in rows[:-1])
    assert not any(row[1][:1] in ("=", "+", "-", "@") for row in rows)
    as_pairs = tmp_path / "as_pairs.csv"
    with open(as_pairs, "w", newline="") as lines:
        csv.writer(lines).writerows([["input", "output"], *(row[:2] for row in rows[:-1])])
    (problem,) = [one for one in peirce.tasks_show("examples", data=as_pairs)]
    assert [output for _, output in problem.shown] == values
    peirce.predict("last", new, out=tmp_path / "out.parquet", **where)
    stored = read_parquet(tmp_path / "out.parquet")[2]
    assert [None if row[1] is None else json.loads(row[1]) for row in stored[:-1]] == values


def test_jsonl_and_folders_of_labelled_text_keep_all_columns(tmp_path):
    folder = tmp_path / "new"
    write_lines(
        folder / "rows.jsonl", [{"n": 1, "review": GOOD[0]}, {"review": "rude", "tags": [1, 2]}]
    )
    peirce.predict(bank_file(tmp_path), folder, out=tmp_path / "out.csv")
    header, *rows = read_csv(tmp_path / "out.csv")
    assert header == ["n", "review", "tags", *ADDED]
    assert [row[:3] for row in rows] == [["1", GOOD[0], ""], ["", "rude", "[1, 2]"]]
    peirce.predict(bank_file(tmp_path), folder, out=tmp_path / "out.parquet")
    assert read_parquet(tmp_path / "out.parquet")[1][:3] == ["BIGINT", "VARCHAR", "BIGINT[]"]


def test_a_rule_is_no_formula_of_a_spreadsheet_and_half_a_character_can_be_written(tmp_path):
    hostile = '=HYPERLINK("x") If the text mentions "rude", the label is bad.'
    bank = bank_file(
        tmp_path, hypotheses=[{"text": RUDE, "accuracy": 0.9, "visits": 9}, {"text": hostile}]
    )
    data = write_lines(tmp_path / "new.jsonl", [{"review": "rude"}])
    peirce.predict(bank, data, out=tmp_path / "out.csv")
    assert not any(cell.startswith("=") for row in read_csv(tmp_path / "out.csv") for cell in row)
    where = {"store": tmp_path / "s.duckdb", "workers": 1}
    (tmp_path / "pairs.json").write_text(json.dumps([{"input": 0, "output": "a"}]))
    only = ScriptedProposer(
        [repr(("half", "def f(x):\n    return 'a' if x == 0 else chr(0xd800) + '\\0'"))]
    )
    peirce.run("examples", data=tmp_path / "pairs.json", model=only, max_answers=1, **where)
    (tmp_path / "new.jsonl").write_text("0\n1\n")
    for name in ("out.csv", "out.parquet"):
        assert (
            peirce.predict("last", tmp_path / "new.jsonl", out=tmp_path / name, **where).rows == 2
        )


def test_an_existing_file_is_replaced_and_other_places_are_refused(programs, tmp_path):
    data = tmp_path / "new.csv"
    data.write_text('input\n"[2, 3]"\n')
    out = tmp_path / "out.csv"
    out.write_text("before")
    peirce.predict("last", data, out=out, **programs)
    assert read_csv(out)[1][1] == "[2]" and read_csv(out)[1][3] == EVEN
    store = Path(tmp_path / "copy.parquet")
    store.write_bytes(Path(programs["store"]).read_bytes())
    (tmp_path / "link.csv").symlink_to(out)
    (tmp_path / "folder.csv").mkdir()
    for place, said in (
        (
            tmp_path / "out.txt",
            r"out\.txt: the name of a file of predictions ends in \.csv or \.parquet",
        ),
        (data, "this is the file with the data; choose another file"),
        (tmp_path / "folder.csv", "this is a folder"),
        (tmp_path / "link.csv", "this is a link"),
        (store, "is a store, which is never overwritten"),
        (out / "below.csv", "not a folder"),
    ):
        with pytest.raises(UsageError, match=said):
            peirce.predict("last", data, out=place, **programs)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "copy.parquet", "folder.csv", "link.csv", "new.csv", "out.csv"
    ]  # fmt: skip


def test_names_are_numbered_where_they_are_taken():
    assert number_names(["a", "a_2", "A", ""], ["a"], ignore_case=True) == [
        "a_2",
        "a_2_2",
        "A_3",
        "column",
    ]
    assert number_names(["a", "A"], ["a"], ignore_case=False) == ["a_2", "A"]


def test_a_column_has_the_type_that_fits_all_its_values():
    assert find_type([1, None, -(2**63)]) == "BIGINT" and find_type([1, 2**63]) is None
    assert find_type([1, 2.5]) == "DOUBLE" and find_type([True, 1]) is None
    assert find_type([[[1]], [], None]) == "BIGINT[][]" and find_type([[1], 1]) is None
    assert find_type([]) == find_type([None]) == "VARCHAR" and find_type([{}]) is None
