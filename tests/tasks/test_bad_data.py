"""Bad data of every published form is one sentence with file and line, and nothing of it is used."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peirce import cli
from peirce.records import DataError
from peirce.tasks import DataWarning, load_problems, load_task

GRID = [[1, 2], [3, 4]]
PAIRS: dict[str, dict[str, Any]] = {
    "list_functions": {"input": [1, 2], "output": [2]},
    "acre": {"input": ["red metal cube"], "output": "on"},
    "mini_arc": {"input": GRID, "output": GRID},
    "arc": {"input": GRID, "output": GRID},
}
GRIDS = ("mini_arc", "arc")
RAGGED = {"input": [[1, 2], [3]], "output": GRID}


def row(name: str, number: int, **other: Any) -> dict[str, Any]:
    pair = PAIRS[name]
    return {"idx": number, "train": [pair, pair], "test": [pair], **other}


def line(*args: Any, **other: Any) -> bytes:
    return json.dumps(row(*args, **other)).encode() + b"\n"


def refused(name: str, path: Path, **options: Any) -> str:
    """What the error says, without the folder of the test."""
    with pytest.raises(DataError) as error:
        load_problems(name, str(path), **options)
    said = str(error.value)
    assert "\n" not in said and len(said) < 400, said
    return said.replace(f"{path.parent}/", "")


FAULTS: dict[str, tuple[Callable[[str], bytes], str]] = {
    "missing output": (
        lambda t: line(t, 1, train=[{"input": PAIRS[t]["input"]}]),
        "f.jsonl, line 2, train[0].output: missing",
    ),
    "wrong type": (
        lambda t: line(t, 1, train=[{"input": 1.5, "output": PAIRS[t]["output"]}]),
        "f.jsonl, line 2, train[0].input: must be a ",
    ),
    "null": (
        lambda t: line(t, 1, test=[{"input": PAIRS[t]["input"], "output": None}]),
        "f.jsonl, line 2, test[0].output: ",
    ),
    "no pairs": (lambda t: line(t, 1, train=[]), "f.jsonl, line 2, train: must be a list of pairs"),
    "no object": (
        lambda t: b"[1]\n",
        "f.jsonl, line 2: must be an object with idx, train and test",
    ),
    "no id": (
        lambda t: line(t, None),
        "f.jsonl, line 2, idx: must be a number or a string, not None",
    ),
    "an id twice": (lambda t: line(t, 0), "f.jsonl, line 2, idx: 0 occurs twice"),
    "a key twice": (
        lambda t: line(t, 1).replace(b'"train"', b'"idx": 2, "train"'),
        "f.jsonl, line 2: the key 'idx' occurs twice",
    ),
    "no JSON": (lambda t: b'\n{"idx": 1,\n', "f.jsonl, line 3: not JSON"),
    "no UTF-8": (lambda t: line(t, 1) + b'{"idx": "\xff"}\n', "f.jsonl, line 3: not UTF-8 text"),
    "zero bytes": (lambda t: b"\0" * 100, "f.jsonl, line 2: not JSON"),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_line_is_named(tmp_path: Path, name: str, fault: str) -> None:
    make, said = FAULTS[fault]
    path = tmp_path / "f.jsonl"
    path.write_bytes(line(name, 0) + make(name))
    assert refused(name, path).startswith(said)


@pytest.mark.parametrize("name", PAIRS)
def test_a_file_that_is_empty_or_cut_short_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "f.jsonl.gz"
    for content in (b"", b"\n \n", gzip.compress(b"")):
        path.write_bytes(content)
        assert refused(name, path) == "f.jsonl.gz: the file is empty"
    path.write_bytes(gzip.compress(b"".join(line(name, k) for k in range(3_000)))[:-900])
    assert "line 2" in (said := refused(name, path)) and "cannot be read: Compressed file" in said


@pytest.mark.parametrize("name", GRIDS)
def test_a_ragged_grid_is_named_wherever_it_stands(tmp_path: Path, name: str) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(line(name, 0) + line(name, 1, train=[RAGGED]))
    assert refused(name, path).startswith("f.jsonl, line 2, train[0].input[1]: a ragged grid")
    folder = tmp_path / ("data/MiniARC" if name == "mini_arc" else "data/training")
    folder.mkdir(parents=True)
    good = {part: row(name, 0)[part] for part in ("train", "test")}
    (folder / "a.json").write_text(json.dumps(good))
    (folder / "b.json").write_text(json.dumps({**good, "test": [RAGGED]}, indent=1))
    assert "b.json, line 55, test[0].input[1]: a ragged" in refused(name, tmp_path)
    (folder / "b.json").write_bytes(gzip.compress(json.dumps(good).encode())[:-12])
    assert "b.json, line 1 or after: cannot be read: Compressed" in refused(name, tmp_path)


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_no_task_in_a_folder_is_left_alone(tmp_path: Path, name: str) -> None:
    folder = tmp_path / ("data/MiniARC" if name == "mini_arc" else "data/training")
    (folder / "old.json").mkdir(parents=True)
    good = {part: row(name, 0)[part] for part in ("train", "test")}
    (folder / "a.json").write_text(json.dumps(good))
    for stray, content in (("readme.md", b"#"), (".b.json", b"{"), ("c.png", b"\x89PNG")):
        (folder / stray).write_bytes(content)
    assert [problem.id for problem, _ in load_problems(name, str(tmp_path))] == ["a"]
    (folder / "package.json").write_text('{"version": 1}')
    assert "package.json, line 1, problem 'version'" in refused(name, tmp_path)


def test_mini_arc_has_no_test_input_without_output(tmp_path: Path) -> None:
    open_ = [PAIRS["mini_arc"], {"input": GRID}]
    path = tmp_path / "f.jsonl"
    path.write_bytes(line("mini_arc", 0) + line("mini_arc", 1, test=open_))
    assert refused("mini_arc", path) == "f.jsonl, line 2, test[1].output: missing"
    folder = tmp_path / "data/MiniARC"
    folder.mkdir(parents=True)
    one = {"train": row("mini_arc", 0)["train"], "test": open_}
    (folder / "a.json").write_text(json.dumps(one, indent=1))
    assert "a.json, line 71, test[1].output: missing" in refused("mini_arc", tmp_path)
    (tmp_path / "g.json").write_text(json.dumps({"a": one}))
    said = refused("mini_arc", tmp_path / "g.json")
    assert said == "g.json, line 1, problem 'a', test[1].output: missing"


def test_arc_says_where_the_first_test_input_without_output_stands(tmp_path: Path) -> None:
    open_ = [PAIRS["arc"], {"input": GRID}]
    path = tmp_path / "f.jsonl"
    path.write_bytes(line("arc", 0) + line("arc", 1, test=open_) + line("arc", 2, test=open_))
    with pytest.warns(
        DataWarning, match=r"2 test inputs of 2 .*, the first in .*f\.jsonl, line 2, test\[1\]:"
    ):
        load_problems("arc", str(path))
    tasks = {name: {"train": row("arc", 0)["train"], "test": open_} for name in ("a", "b")}
    (tmp_path / "g.json").write_text(json.dumps(tasks))
    with pytest.warns(DataWarning, match=r"the first in .*g\.json, problem 'a', test\[1\]:"):
        load_problems("arc", str(tmp_path / "g.json"))


PUBLISHED: dict[str, tuple[Any, str]] = {
    "no output": ([["IN"]], "line 6, problem '1', pair 0: must be [input, output]"),
    "wrong type": ([[1.5, "OUT"]], "line 6, problem '1', pair 0.input: must be a "),
    "no pairs": ([], "line 5, problem '1': must be a list of pairs"),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("fault", PUBLISHED)
def test_bad_observations_are_named(tmp_path: Path, name: str, fault: str) -> None:
    data, given = tmp_path / "f.jsonl", tmp_path / "given.json"
    data.write_bytes(line(name, 0) + line(name, 1))
    pair = [PAIRS[name][part] for part in ("input", "output")]
    table, said = PUBLISHED[fault]
    filled = [[{"IN": pair[0], "OUT": pair[1]}.get(str(v), v) for v in one] for one in table]
    head = f'{{\n"0": [\n {json.dumps(pair)}\n],\n"1": '
    pairs = ",\n".join(map(json.dumps, filled))
    given.write_text(f"{head}[{chr(10) if pairs else ''}{pairs}]}}")
    assert refused(name, data, observations=str(given)).startswith(f"given.json, {said}")
    for content, what in ((b"", ": the file is empty"), (b'{"\xff"', ", line 1: not UTF-8 text"),
                          (b'{"0":', ", line 1: not JSON"), (b"[1]", ", line 1: the file must contain")):  # fmt: skip
        given.write_bytes(content)
        assert refused(name, data, observations=str(given)).startswith(f"given.json{what}")


@pytest.mark.parametrize("name", PAIRS)
def test_the_command_line_says_it_in_one_sentence_and_makes_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.jsonl").write_bytes(line(name, 0) + line(name, 1, train=[{}]))
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", name, "--data", "f.jsonl", "--store", "s.duckdb", "--workers", "1"])
    said = capsys.readouterr()
    assert ended.value.code == 1 and said.out == ""
    assert said.err == "peirce: f.jsonl, line 2, train[0].input: missing\n"
    assert [path.name for path in tmp_path.iterdir()] == ["f.jsonl"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sparse files, ru_maxrss in KiB")
@pytest.mark.parametrize("name", PAIRS)
def test_a_line_of_200_mb_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    whole = load_task(name)
    folder = tmp_path / {"mini_arc": "data/MiniARC", "arc": "data/training"}.get(name, "")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("f.json" if name in GRIDS else whole.files[0])
    limit = "64,000,000" if name in GRIDS else "16,000,000"
    with path.open("wb") as out:
        out.write(b"" if name in GRIDS else line(name, 0))
        out.truncate(200_000_000)
    tracemalloc.start()
    said = refused(name, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"{path.name}, line {1 if name in GRIDS else 2}: " in said
    assert f"longer than {limit} characters" in said
    assert peak < 150_000_000


@pytest.mark.parametrize("name", ["list_functions", "acre"])
def test_a_table_given_to_a_task_of_jsonl_names_the_tasks_that_read_tables(tmp_path, name) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\ngood,yes\n")
    with pytest.raises(
        DataError, match=r"this is a table, but .* peirce run labels .* peirce run examples"
    ):
        load_task(name).load(str(path), None, 0)
