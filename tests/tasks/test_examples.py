"""Task `examples`: a user's pairs from JSONL and CSV, errors that name file, line and field, and
the sample space that is derived from the inputs.

Internals: the reader of CSV is called with one cell at a time.
"""

from __future__ import annotations

import gzip
import re
import time
import warnings
import zlib
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, UsageError
from peirce.tasks import load_problems
from peirce.tasks.custom.example_rules import KINDS, RULE_NAMES
from peirce.tasks.custom.examples import TASK
from peirce.tasks.io.files import read_csv

PAIRS = """\
{"problem": "rev", "input": [1, 2], "output": [2, 1]}
{"problem": "len", "input": "abc", "output": 3, "split": "shown"}

{"problem": "rev", "input": [3], "output": [3], "split": "hidden"}
"""
WHOLE = """\
{"id": "rev", "train": [{"input": [1, 2], "output": [2, 1]}], "test": [{"input": [3], "output": [3]}]}
{"idx": "len", "train": [{"input": "abc", "output": 3}]}
"""
TABLE = """\
problem,input,output,split
rev,"[1, 2]","(2, 1)",
len,abc,3,shown
rev,[3],[3],hidden
"""


def _file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, "utf-8", "surrogateescape")
    return str(path)


def test_all_forms_say_the_same(tmp_path: Path) -> None:
    listed = [
        "[\n" + ",\n".join(line for line in text.splitlines() if line) + "\n]"
        for text in (PAIRS, WHOLE)
    ]
    tabs = (
        "problem\tinput\toutput\tsplit\nrev\t[1, 2]\t(2, 1)\t\nlen\tabc\t3\tshown\n"
        "rev\t[3]\t[3]\thidden\n"
    )
    forms = [
        TASK.load(_file(tmp_path, name, text), None, 0)
        for name, text in [
            ("a.jsonl", PAIRS), ("b.jsonl", WHOLE), ("c.csv", TABLE), ("d.json", listed[0]),
            ("e.json", listed[1]), ("f.json", PAIRS), ("g.tsv", tabs),
        ]
    ]  # fmt: skip
    assert all(form == forms[0] for form in forms)
    rev, length = forms[0]
    assert (rev.id, rev.shown[0].output, rev.hidden[0].input) == ("rev", [2, 1], [3])
    assert (length.id, length.shown[0].input, length.hidden) == ("len", "abc", ())


def test_pairs_that_name_no_problem_are_of_one_that_is_called_as_the_file(tmp_path: Path) -> None:
    pairs = (
        '{"input": [1, 2], "output": [2, 1]}\n{"input": [3], "output": [3], "split": "hidden"}\n'
    )
    table = 'input,output,split\n"[1, 2]","[2, 1]",\n[3],[3],hidden\n'
    (tmp_path / "turned.csv.gz").write_bytes(gzip.compress(table.encode()))
    found = [
        TASK.load(path, None, 0)
        for path in (_file(tmp_path, "turned.jsonl", pairs), str(tmp_path / "turned.csv.gz"))
    ]
    assert found[0] == found[1]
    ((problem,), _) = found
    assert (problem.id, len(problem.shown), len(problem.hidden)) == ("turned", 1, 1)


def test_packed_files_and_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "examples.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    assert [p.id for p in TASK.load(str(tmp_path), None, 0)] == ["rev", "len"]


def test_csv_cells_are_json_else_python_else_strings(tmp_path: Path) -> None:
    rows = [("true", True), ("True", True), ('"x"', "x"), ("'x'", "x"), ("x y", "x y")]
    rows += [("{'a': (1,)}", {"a": [1]}), ("{1}", "{1}"), ("1.5", 1.5), ("007", "007")]
    text = "problem,input,output\n" + "".join(
        f'p,"{cell.replace(chr(34), chr(34) * 2)}",1\n' for cell, _ in rows
    )
    (problem,) = TASK.load(_file(tmp_path, "a.csv", text), None, 0)
    assert [pair.input for pair in problem.shown] == [value for _, value in rows]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", PAIRS + '{"problem": "x", "input": 1}\n', "line 5, output: missing"),
        ("a.jsonl", PAIRS + "oops\n", "line 5: not JSON"),
        ("a.json", '[{"input": 1, "output": 1},\n{"input": 1}]', "a.json, row 2, output: missing"),
        ("a.json", '{"input": 1}', "a.json, row 1, output: missing"),
        ("a.json", '{"pairs": []}', "a.json: must be a list of pairs, or have one pair per line"),
        ("a.json", "[1, 2", "a.json, line 1: not JSON"),
        (
            "a.csv",
            "input,output\n1,2,3\n",
            "(input, output); put a cell that contains a comma in quotes",
        ),
        ("a.jsonl", '{"input": 1, "outp\n', "not JSON: Unterminated string starting at column"),
        ("a.csv", "input,output\n\udcff,1\n", "line 2: not UTF-8 text; save it as UTF-8"),
        ("a.csv", "i\0,\0o\0\n1\0,\0002\0\n", "line 1: not UTF-8 text; save it as UTF-8"),
        (
            "a.xlsx",
            "PK\udcff",
            "this is a table, but JSON or YAML is required; save the sheet as CSV",
        ),
        ("a.jsonl", PAIRS + '{"input": 1, "output": 1}', "line 5, problem: missing, but the lines"),
        (
            "a.jsonl",
            '{"input": 1, "output": 1}\n' + PAIRS,
            "line 2, problem: this line names a problem",
        ),
        (
            "a.jsonl",
            '{"input": 1, "output": 1}\n' + WHOLE,
            "line 2, problem: this line names a problem",
        ),
        ("a.jsonl", PAIRS + '{"problem": [], "input": 1, "output": 1}', "line 5, problem"),
        ("a.jsonl", '{"problem": "x", "input": 1, "output": 1, "splt": "hidden"}', "line 1, splt"),
        (
            "a.jsonl",
            '{"problem": "x", "input": 1, "output": 1, "split": "dev"}',
            "line 1, split: must be shown or hidden, not dev",
        ),
        (
            "a.jsonl",
            '{"problem": "x", "input": 1, "output": 1, "split": "hidden"}',
            "problem 'x', split: all of its pairs are hidden",
        ),
        ("a.jsonl", WHOLE + '{"id": "rev", "train": [{"input": 1, "output": 1}]}', "line 3, id"),
        (
            "a.jsonl",
            WHOLE + '{"problem": "len", "input": 1, "output": 1}',
            "line 3, problem: 'len'",
        ),
        ("a.jsonl", PAIRS + WHOLE, "line 5, id: 'rev' already has pairs on earlier lines"),
        (
            "a.jsonl",
            PAIRS + '{"problem": "x", "input": [0, 1e400], "output": 1}',
            "line 5, input[1]",
        ),
        (
            "a.jsonl",
            '{"id": 1, "train": [{"input": 1, "output": {"a": -1e999}}]}',
            "line 1, train[0].output.a: -1e999 is larger than any float",
        ),
        ("a.jsonl", '{"problem": "x", "input": 1e400', "line 1: 1e400 is larger"),
        ("a.csv", "problem,input,output\na,1,2\nb,2,1e400\n", "line 3, output: 1e400 is larger"),
        ("a.csv", 'problem,input,output\na,1,"(1e400,)"\n', "line 2, output: inf is not"),
        ("a.jsonl", '{"id": 1, "train": [{"input": 1}]}', "line 1, train[0].output: missing"),
        ("a.jsonl", '{"id": 1, "train": []}', "line 1, train"),
        ("a.jsonl", "\n", "the file is empty"),
        ("a.csv", "", "the file is empty"),
        (
            "a.csv",
            "problem,input\na,1\n",
            "line 1: no column 'output'; the columns are problem, input. A",
        ),
        ("a.csv", "problem,input,output\na,1\n", "line 2: 2 cells under 3 columns"),
        ("a.csv", "problem,input,output\na,1,2\nb,,2\n", "line 3, input: missing"),
        ("a.csv", 'problem,input,output\na,"1,2\n', "not CSV"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = _file(tmp_path, name, text)
    with pytest.raises(DataError) as error:
        TASK.load(path, None, 0)
    assert str(error.value).startswith(path) and said in str(error.value)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
def test_a_packed_file_that_is_cut_off_names_the_line(tmp_path: Path, name: str) -> None:
    row = "p{n},{n},1\n" if "csv" in name else '{{"problem": "p{n}", "input": {n}, "output": 1}}\n'
    head = "problem,input,output\n" if "csv" in name else ""
    text = head + "".join(row.format(n=n * 7919 % 1009) for n in range(300))
    whole = gzip.compress(text.encode())
    path = tmp_path / name
    for kept in (12, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:kept])
        lines = zlib.decompressobj(31).decompress(whole[:kept]).count(b"\n")
        with pytest.raises(DataError, match=rf"{name}, line {lines + 1}: cannot be read"):
            TASK.load(str(path), None, 0)


def test_everyday_rules_of_all_kinds_are_generated() -> None:
    problems = TASK.generate(2 * len(KINDS), 5)
    assert [one.secret["kind"] for one in problems] == 2 * list(KINDS)
    assert [one.digest for one in problems] == [
        one.digest for one in TASK.generate(len(problems), 5)
    ]
    assert {one.digest for one in problems}.isdisjoint(one.digest for one in TASK.generate(30, 6))
    for problem in problems:
        names: dict[str, Any] = dict(RULE_NAMES)
        exec(problem.secret["rule"], names)
        pairs = problem.shown + problem.hidden
        assert [names["f"](pair.input) for pair in pairs] == [pair.output for pair in pairs]
        assert len({repr(pair.output) for pair in problem.shown}) > 1
        assert len({repr(pair.input) for pair in pairs}) == len(pairs)
    with pytest.raises(UsageError, match="at least 1"):
        TASK.generate(0, 0)


def _space(tmp_path: Path, *inputs: str, seed: int = 0) -> list[object]:
    text = "".join(f'{{"problem": "p", "input": {i}, "output": 0}}\n' for i in inputs)
    problems = TASK.load(_file(tmp_path, "s.jsonl", text), None, 0)
    return list(TASK.spaces(problems, seed)[0].inputs)


def test_the_space_follows_the_type_of_the_inputs(tmp_path: Path) -> None:
    lists = _space(tmp_path, "[5, -3, 40]", "[1]")
    assert lists[:2] == [[5, -3, 40], [1]] and max(map(len, lists)) == 5
    assert {v for row in lists for v in row} == set(range(-3, 41))
    integers = _space(tmp_path, "7", "3")
    assert integers[:2] == [7, 3] and sorted(integers) == list(range(-7, 18))
    texts = _space(tmp_path, '"Ada-12"', '"Bo-7"')
    assert texts[:2] == ["Ada-12", "Bo-7"] and len(texts) > 1_000
    alike = [text for text in texts if re.fullmatch(r"[A-Z][a-z]{0,3}-[0-9]{1,3}", str(text))]
    assert len(alike) > 0.6 * len(texts)
    dates = _space(tmp_path, '"2024-02-29"', '"1999-12-31"')
    assert len(dates) > 1_000 and all(date.fromisoformat(str(one)) for one in dates)
    times = _space(tmp_path, '"2024-02-29T12:00:00+02:00"', '"1999-12-31T23:59:59-05:30"')
    assert len(times) > 1_000 and {str(one)[-6:] for one in times} == {"+02:00", "-05:30"}
    assert all(datetime.strptime(str(one), "%Y-%m-%dT%H:%M:%S%z") for one in times)
    records = _space(tmp_path, '{"a": 1, "b": [0.5]}', '{"a": 3, "b": []}')
    assert all(type(row) is dict and list(row) == ["a", "b"] for row in records)
    assert {type(row["a"]) for row in records} == {int}  # type: ignore[index]
    assert {v for row in records for v in map(type, row["b"])} == {float}  # type: ignore[index]
    arguments = _space(tmp_path, '["ab", 1]', '["c", 2]')
    assert {tuple(map(type, row)) for row in arguments} == {(str, int)}  # type: ignore[arg-type, call-overload]
    assert _space(tmp_path, "[[1]]", '{"a": 1}', "[[1]]")[:2] == [[[1]], {"a": 1}]
    assert _space(tmp_path, str(10**400), "1")[:2] == [10**400, 1]
    assert _space(tmp_path, "null") == [None]


def test_fractions_need_not_agree_in_digits_that_arithmetic_does_not_determine(
    tmp_path: Path,
) -> None:
    text = (
        '{"problem": "c", "input": 37, "output": 98.6}\n{"problem": "n", "input": 1, "output": 2}\n'
    )
    fractions, whole = TASK.load(_file(tmp_path, "f.jsonl", text), None, 0)
    assert fractions.public["equality"] == {"numbers": {"significant": 12}}
    assert "equality" not in whole.public


def test_the_space_is_seeded_and_has_no_input_twice(tmp_path: Path) -> None:
    first = _space(tmp_path, "[5, 50]", seed=1)
    assert first == _space(tmp_path, "[5, 50]", seed=1) != _space(tmp_path, "[5, 50]", seed=2)
    assert len({repr(row) for row in first}) == len(first)


def test_problems_of_one_type_share_a_space_and_others_do_not(tmp_path: Path) -> None:
    text = PAIRS + '{"problem": "up", "input": [60], "output": [61]}\n'
    loaded = load_problems("examples", _file(tmp_path, "m.jsonl", text))
    spaces = {problem.id: space for problem, space in loaded}
    assert spaces["rev"] is spaces["up"] and spaces["len"].digest != spaces["rev"].digest
    alone = load_problems("examples", _file(tmp_path, "m.jsonl", text), ids=["rev"])
    assert alone[0][1].digest == spaces["rev"].digest


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("told", [True, False])
def test_what_a_spreadsheet_parts_its_cells_by_is_read_and_said(
    tmp_path: Path, mark: str, told: bool
) -> None:
    text = f"input{mark}output\n{'[1, 2]'}{mark}3\n1,5{mark}2\n"
    path = _file(tmp_path, "a.csv", f"sep={mark}\n{text}" if told else text)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        (problem,) = TASK.load(path, None, 0)
    assert [(one.input, one.output) for one in problem.shown] == [([1, 2], 3), ("1,5", 2)]
    sentence = f"{path}: the cells are separated by {mark!r} and are read so"
    assert [str(one.message) for one in said] == ([] if told else [sentence])


@pytest.mark.parametrize("name", ["a, b", "a;b", "a;b,c|d"])
def test_what_stands_in_a_quoted_column_name_parts_nothing(tmp_path, name, recwarn):
    (tmp_path / "one.csv").write_text(f'"{name}"\n"1"\n"2"\n')
    assert list(read_csv(tmp_path / "one.csv")) == [(2, {name: "1"}), (3, {name: "2"})]
    assert not recwarn.list


def test_a_first_line_of_a_spreadsheet_says_what_parts_the_cells(tmp_path, recwarn):
    (tmp_path / "one.csv").write_text("sep=;\na,b;c\n1,5;2\n")
    assert list(read_csv(tmp_path / "one.csv")) == [(3, {"a,b": "1,5", "c": "2"})]
    assert not recwarn.list


def _outputs(folder: Path, name: str, text: str) -> list[Any]:
    return [pair.output for pair in TASK.load(_file(folder, name, text), None, 0)[0].shown]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["TRUE", "FALSE", "true", "False"], [True, False, True, False]),
        (["42", "007", "100"], ["42", "007", "100"]),
        (["00", "1", "-5", "x"], ["00", "1", -5, "x"]),
        (["32", "98.6", "-40"], [32.0, 98.6, -40.0]),
        (["1_000", "0x1F", "+49", ".5"], ["1_000", "0x1F", "+49", 0.5]),
        (["1e3", "0", "0.0"], [1000.0, 0.0, 0.0]),
        (["True", "x", "null", "None"], [True, "x", None, None]),
    ],
)
def test_a_column_is_read_as_a_spreadsheet_means_it(
    tmp_path: Path, cells: list[str], values: list[Any]
) -> None:
    rows = "".join(f"{n},{cell}\n" for n, cell in enumerate(cells))
    found = _outputs(tmp_path, "a.csv", f"input,output\n{rows}")
    assert [(type(one), one) for one in found] == [(type(one), one) for one in values]


def test_whole_numbers_beside_fractions_are_fractions(tmp_path: Path) -> None:
    """In one place only; a number that a float cannot hold stays."""
    lines = [
        '{"input": [1, 2, "a"], "output": {"a": 1, "b": 2}}',
        '{"input": [2.5, 3, "b"], "output": {"a": 0.5, "b": 3}}',
        f'{{"input": [{10**20}, 4, "c"], "output": {{"b": 1}}, "split": "hidden"}}',
    ]
    (problem,) = TASK.load(_file(tmp_path, "a.jsonl", "\n".join(lines)), None, 0)
    pairs = [*problem.shown, *problem.hidden]
    assert [repr(one.input) for one in pairs] == [
        "[1.0, 2, 'a']", "[2.5, 3, 'b']", f"[{10**20}, 4, 'c']"
    ]  # fmt: skip
    assert [repr(one.output) for one in pairs] == [
        "{'a': 1.0, 'b': 2}",
        "{'a': 0.5, 'b': 3}",
        "{'b': 1}",
    ]
    lists = '{"input": [1, 2], "output": 1}\n{"input": [0.5], "output": null}\n'
    (problem,) = TASK.load(_file(tmp_path, "b.jsonl", lists), None, 0)
    assert repr([one.input for one in problem.shown]) == "[[1.0, 2.0], [0.5]]"


def test_an_empty_cell_says_how_an_empty_text_is_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match='line 2, output: missing; write """""" '):
        TASK.load(_file(tmp_path, "a.csv", "input,output\na,\n"), None, 0)
    assert _outputs(tmp_path, "b.csv", 'input,output\na,""""""\n') == [""]


def test_long_texts_have_a_small_sample_space_soon(tmp_path: Path) -> None:
    lines = [f'{{"input": "{"ab " * 33_000}{n}", "output": {n}}}' for n in range(3)]
    (problem,) = TASK.load(_file(tmp_path, "a.jsonl", "\n".join(lines)), None, 0)
    begun = time.process_time()
    space = TASK.space(problem, 0)
    assert 13 <= len(space) <= 40 and time.process_time() - begun < 20


def test_dates_at_the_ends_of_the_calendar_have_a_sample_space(tmp_path: Path) -> None:
    days = ("9999-12-31", "9999-12-30", "0001-01-01")
    text = "".join(f'{{"input": "{day}", "output": 1}}\n' for day in days)
    (problem,) = TASK.load(_file(tmp_path, "d.jsonl", text), None, 0)
    space = TASK.space(problem, 0).inputs
    assert space[:3] == days and len(space) > 100
