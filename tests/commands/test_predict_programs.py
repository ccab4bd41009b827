"""`predict` for programs: what it says of an input is what Python itself says of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import DataError, UsageError
from predicted_pairs import (
    CONSISTENT,
    DIVISORS,
    EVEN,
    PAIRS,
    TAIL,
    evaluate,
    run_programs,
    write_pairs,
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_programs(tmp_path_factory.mktemp("programs"))


def random_lists(count: int) -> list[list[int]]:
    draw = random.Random(16)
    return [
        [draw.randrange(0, 12) for _ in range(draw.randrange(0, 6))] for _ in range(count)
    ]  # fmt: skip


def expected_share(value: list[int], decided: Any) -> float:
    outputs = [evaluate(source, value) for source in CONSISTENT]
    defined = [one for one in outputs if isinstance(one, list)]
    return sum(one == decided for one in defined) / len(defined)


def test_predictions_and_agreement_are_those_of_direct_evaluation(session, tmp_path):
    inputs = random_lists(1_300)  # more than one batch
    data = tmp_path / "new.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in inputs))
    rows = list(peirce.predict("last", data, **session))
    assert [row.row for row in rows] == list(range(1, len(inputs) + 1))
    assert {row.rule for row in rows} == {row.hypothesis for row in rows} == {EVEN}
    for row, value in zip(rows, inputs, strict=True):
        assert row.prediction == evaluate(EVEN, value) and row.reason is None
        assert row.agreement == pytest.approx(expected_share(value, row.prediction))
    shares = {row.agreement for row in rows}
    assert {1 / 4, 1.0, 1 / 3} < shares  # quarters, and thirds where one of the four is undefined


def test_the_best_finding_decides_and_not_the_first_of_the_bank(session, tmp_path):
    (tmp_path / "new.jsonl").write_text("[4, 8]\n")
    (row,) = peirce.predict("last", tmp_path / "new.jsonl", **session)
    by_reward = peirce.bank("last", alpha=0.5, store=session["store"])
    assert row.rule == EVEN != by_reward[0].text and row.prediction == [4, 8]


def forms(folder: Path, inputs: list[list[int]]) -> dict[str, Path]:
    """The same inputs in every kind of file."""
    paths = {name: folder / f"inputs.{name}" for name in ("jsonl", "json", "csv", "tsv", "parquet")}
    paths["jsonl"].write_text("".join(json.dumps({"input": one}) + "\n" for one in inputs))
    paths["json"].write_text(json.dumps(inputs))
    for name, mark in (("csv", ","), ("tsv", "\t")):
        cells = "".join(f'{mark}"{json.dumps(one)}"\n' for one in inputs)
        paths[name].write_text(f"id{mark}input\n" + cells)
    paths["parquet text"] = folder / "text.parquet"
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t (input BIGINT[])")
        base.executemany("INSERT INTO t VALUES (?)", [[one] for one in inputs])
        base.execute(f"COPY t TO '{paths['parquet']}'")
        base.execute(f"COPY (SELECT input::VARCHAR AS input FROM t) TO '{paths['parquet text']}'")
    return paths


def test_every_kind_of_file_gives_the_same_predictions(session, tmp_path):
    inputs = random_lists(20)
    for path in forms(tmp_path, inputs).values():
        rows = list(peirce.predict("last", path, **session))
        assert [row.prediction for row in rows] == [evaluate(EVEN, one) for one in inputs], path


def test_a_known_output_is_compared_and_an_empty_cell_is_no_output(session, tmp_path):
    data = tmp_path / "new.csv"
    data.write_text('input,output\n"[1, 2]",[2]\n"[2, 4]",[4]\n"[6]",\n')
    rows = list(peirce.predict("last", data, **session))
    assert [row.get("right") for row in rows] == [True, False, None]
    assert [row["expected"] for row in rows if "expected" in row] == [[2], [4]]


def test_an_undefined_prediction_says_why_and_has_no_agreement(tmp_path):
    where = {"store": tmp_path / "s.duckdb", "workers": 1}
    (tmp_path / "pairs.csv").write_text("input,output\n4,2\n8,1\n")
    only = ScriptedProposer([repr(("8 divided by it", "def f(x):\n    return 8 // x"))])
    peirce.run("examples", data=tmp_path / "pairs.csv", model=only, max_answers=1, **where)
    (tmp_path / "new.jsonl").write_text("0\n2\n")
    undefined, defined = peirce.predict("last", tmp_path / "new.jsonl", **where)
    assert (undefined.prediction, undefined.agreement) == (None, None)
    assert undefined.reason == "ZeroDivisionError"
    assert (defined.prediction, defined.agreement, defined.reason) == (4, 1.0, None)


def test_a_bank_in_a_file_predicts_what_its_session_predicts_without_a_store(session, tmp_path):
    bank, data = tmp_path / "bank.json", tmp_path / "new.jsonl"
    peirce.bank("last", out=bank, store=session["store"])
    data.write_text("".join(json.dumps(one) + "\n" for one in random_lists(50)))
    of_session = [dict(row) for row in peirce.predict("last", data, **session)]
    of_file = [
        dict(row) for row in peirce.predict(bank, data, store=tmp_path / "none.duckdb", workers=1)
    ]
    assert of_file == of_session and not (tmp_path / "none.duckdb").exists()


def test_a_file_is_judged_anew_and_its_problem_may_not_change(session, tmp_path):
    bank, data = tmp_path / "bank.json", tmp_path / "new.jsonl"
    peirce.bank("last", out=bank, store=session["store"])
    data.write_text("[4, 3]\n")
    content = json.loads(bank.read_text())
    assert content["definition"]["problem"]["shown"] == [list(pair) for pair in PAIRS]
    content["hypotheses"] = [{"text": TAIL}, {"text": DIVISORS}, {"text": "no program"}]
    bank.write_text(json.dumps(content))
    (row,) = peirce.predict(bank, data, workers=1)
    assert (row.rule, row.prediction) == (DIVISORS, [4])
    bank.write_text(json.dumps(content | {"hypotheses": [{"text": TAIL}]}))
    with pytest.raises(UsageError, match="no hypothesis that is consistent with problem pairs"):
        list(peirce.predict(bank, data, workers=1))
    content["definition"]["problem"]["shown"] = []
    bank.write_text(json.dumps(content))
    with pytest.raises(DataError, match="definition of the problem was changed; write"):
        peirce.predict(bank, data)


def test_of_a_file_of_several_problems_only_the_rows_of_the_banks_problem_are_predicted(
    session, tmp_path, recwarn
):
    data = tmp_path / "new.csv"
    data.write_text('problem,input\nother,"[1]"\npairs,"[2]"\npairs,"[5]"\n')
    found = peirce.predict("last", data, out=tmp_path / "out.csv", **session)
    assert found.rows == 2 and "1 rows of other problems" in str(recwarn.list[0].message)
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith("pairs,[2],[2],")
    data.write_text('problem,input\na,"[1]"\nb,"[2]"\n')
    with pytest.raises(DataError, match="names 2 problems, but not 'pairs': a, b"):
        peirce.predict("last", data, **session)


def test_inputs_that_are_objects_come_from_columns_of_their_keys(tmp_path):
    where = {"store": tmp_path / "s.duckdb", "workers": 1}
    pairs = [{"input": {"a": a, "b": "x" * a}, "output": a + 1} for a in (1, 2)]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    only = ScriptedProposer(
        [repr(("a and one", "def f(x):\n    return x['a'] + len(x['b']) // x['a']"))]
    )
    peirce.run("examples", data=tmp_path / "pairs.json", model=only, max_answers=1, **where)
    (tmp_path / "new.csv").write_text("b,note,a\n007,hello,3\n12345678,,4\n")
    rows = list(peirce.predict("last", tmp_path / "new.csv", **where))
    assert [row.prediction for row in rows] == [3 + 3 // 3, 4 + 8 // 4]  # b stays text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("new.csv", "value\n1\n", "no column 'input'; the columns are 'value'"),
        ("new.csv", "input,n\n,1\n", r"line 2, input: missing"),
        ("new.csv", "", "is empty"),
        ("new.json", "[1", "not JSON"),
        ("new.jsonl", '{"inptu": 1}\n', "line 1, inptu: unknown field"),
        ("new.parquet", "no table", "cannot be read"),
        ("new.xlsx", "no table", "new.xlsx"),
    ],
)
def test_a_bad_file_is_refused_before_anything_is_predicted(session, tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises((DataError, UsageError), match=said):
        peirce.predict("last", tmp_path / name, out=tmp_path / "out.csv", **session)
    assert not (tmp_path / "out.csv").exists()


def test_a_parquet_cell_without_a_json_value_is_refused(session, tmp_path):
    duckdb.sql("SELECT [DATE '2026-01-01'] AS input").write_parquet(str(tmp_path / "new.parquet"))
    with pytest.raises(DataError, match="row 1, input: not a JSON value"):
        peirce.predict("last", tmp_path / "new.parquet", **session)


def test_a_spreadsheet_is_refused_without_naming_the_command_of_another_purpose(session, tmp_path):
    (tmp_path / "new.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match="a spreadsheet; save the sheet as CSV") as refused:
        peirce.predict("last", tmp_path / "new.xlsx", **session)
    assert "peirce run" not in str(refused.value)


def test_a_session_that_run_or_load_returned_is_a_bank(tmp_path, monkeypatch):
    store = tmp_path / "own.duckdb"
    ran = peirce.run(
        "examples", data=write_pairs(tmp_path / "pairs.csv"), store=store, max_answers=1,
        model=ScriptedProposer([repr(("even", EVEN))]),
    )  # fmt: skip
    expected = list(peirce.predict(ran.session, [{"input": [1, 2]}], store=store))
    monkeypatch.chdir(tmp_path)  # where there is no peirce.duckdb
    for bank in (ran, peirce.load("last", store=store)):
        assert list(peirce.predict(bank, [{"input": [1, 2]}])) == expected
        assert list(peirce.predict(bank, [{"input": [1, 2]}], store=None)) == expected
    with pytest.raises(UsageError, match="a string, a path, a Session or a Trace"):
        peirce.predict(3, [{"input": [1, 2]}])
