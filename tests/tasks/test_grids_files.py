"""The published forms of grid problems read alike, and bad data are one sentence that names file,
line and field, with nothing half-imported.

Internals: the mark of an unanswered pair is no output of a problem.
"""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, UsageError
from peirce.tasks import DataWarning
from peirce.tasks.programs.grid_values import UNANSWERED
from peirce.tasks.programs.grids import ARC
from peirce.tasks.programs.grids import MINI_ARC as MINI

TASKS: dict[str, Any] = {
    f"{k:08x}": {
        "train": [{"input": [[k, 0]], "output": [[0], [k]]}, {"input": [[k]], "output": [[k]]}],
        "test": [{"input": [[k, k]], "output": [[k], [k]]}],
    }
    for k in (1, 2, 3, 4)
}
SOLUTIONS = {name: [pair["output"] for pair in task["test"]] for name, task in TASKS.items()}
UNSOLVED = {
    name: {**task, "test": [{"input": pair["input"]} for pair in task["test"]]}
    for name, task in TASKS.items()
}


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def _lines(path: Path, tasks: dict[str, Any] = TASKS, key: str = "idx") -> Path:
    rows = [json.dumps({key: name, **task}) + "\n" for name, task in tasks.items()]
    return _write(path, "".join(rows))


def _repository(folder: Path) -> Path:
    for k, (name, task) in enumerate(TASKS.items()):
        part = ("evaluation", "training")[k % 2]
        _write(folder / "data" / part / f"{name}.json", json.dumps(task, indent=k or None))
    _write(folder / "package.json", "{}")
    _write(folder / "data" / "training" / "._x.json", "no JSON")
    return folder


def test_all_forms_of_the_same_tasks_give_the_same_problems(tmp_path: Path) -> None:
    expected = sorted(ARC.load(str(_lines(tmp_path / "a.jsonl")), None, 0), key=lambda p: p.id)
    assert [p.id for p in expected] == list(TASKS)
    assert expected[0].hidden[0].output == [[1], [1]]
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    repository = _repository(tmp_path / "repository")
    kaggle = tmp_path / "kaggle"
    _write(kaggle / "arc-agi_training_challenges.json", UNSOLVED)
    _write(kaggle / "arc-agi_training_solutions.json", SOLUTIONS)
    _write(kaggle / "arc-agi_test_challenges.json", {"00000003": UNSOLVED["00000003"]})
    _write(kaggle / "sample_submission.json", {"00000003": [{"attempt_1": [[0]]}]})
    forms = [
        packed,
        _lines(tmp_path / "c.jsonl", key="id"),
        _lines(tmp_path / "lines-called.json"),
        repository,
        repository / "data",
        _write(tmp_path / "whole.json", json.dumps(TASKS, indent=1)),
        _write(tmp_path / "odd.json", json.dumps(TASKS)[:-1] + "\n}\n"),
        kaggle / "arc-agi_training_challenges.json",
        kaggle,
        _lines(tmp_path / "folder" / "arc_2025.jsonl").parent,
    ]
    for form in forms:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = ARC.load(str(form), None, 0)
        assert sorted(found, key=lambda p: p.id) == expected, form
        texts = [str(one.message) for one in said]
        assert texts == ([f"{kaggle}: 1 problems stand in two files with the same pairs, and are"
                          " read once"] if form == kaggle else [])  # fmt: skip
    (one,) = ARC.load(str(repository / "data" / "evaluation" / "00000001.json"), None, 0)
    assert one == expected[0]
    training = ARC.load(str(repository / "data" / "training"), None, 0)
    assert training == [expected[1], expected[3]]


def test_challenges_alone_have_no_hidden_pairs(tmp_path: Path) -> None:
    path = _write(tmp_path / "arc-agi_test_challenges.json", UNSOLVED)
    with pytest.warns(DataWarning, match="4 test inputs of 4 problems have no output"):
        problems = ARC.load(str(path), None, 0)
    assert all(not p.hidden and p.secret[UNANSWERED] for p in problems)
    assert len(ARC.spaces(problems, 0)[0]) == 12


def test_the_official_mini_arc_is_read_as_its_editor_drew_it(tmp_path: Path) -> None:
    drawn = {"train": [{"input": [[None, "3"]], "output": [["0", 3]]}],
             "test": [{"input": [[0, "9"]], "output": [[9, None]]}]}  # fmt: skip
    name = "Flip!_it's_l6ab99rx"
    _write(tmp_path / "data" / "MiniARC" / f"{name}.json", drawn)
    _write(tmp_path / "data" / "Logs" / "x.json", "[]")
    for path in (tmp_path, tmp_path / "data", tmp_path / "data" / "MiniARC"):
        (problem,) = MINI.load(str(path), None, 0)
        assert problem.id == name
        assert (problem.shown[0].input, problem.shown[0].output) == ([[0, 3]], [[0, 3]])
        assert problem.hidden[0].output == [[9, 0]]
    with pytest.raises(DataError, match=r"train\[0\]\.input\[0\]\[0\]: must be a colour"):
        ARC.load(str(tmp_path / "data" / "MiniARC"), None, 0)
    with pytest.raises(DataError, match=r"line 1, train\[0\]\.input\[0\]\[0\]: must be a colour"):
        MINI.load(str(_lines(tmp_path / "x.jsonl", {"1": drawn})), None, 0)


def test_the_identity_of_a_folder_follows_every_file_that_is_read(tmp_path: Path) -> None:
    repository = _repository(tmp_path / "repository")
    before = ARC.identify_data(repository)
    assert before == ARC.identify_data(repository) and before["name"] == "repository"
    _write(repository / "README.md", "more")
    assert ARC.identify_data(repository) == before
    _write(repository / "data" / "training" / "00000009.json", TASKS["00000001"])
    assert ARC.identify_data(repository) != before
    path = _write(tmp_path / "x_challenges.json", UNSOLVED)
    alone = ARC.identify_data(path)
    _write(tmp_path / "x_solutions.json", SOLUTIONS)
    assert ARC.identify_data(path) != alone


def test_what_tasks_generate_writes_reads_back_equal(tmp_path: Path) -> None:
    for task in (MINI, ARC):
        made = task.generate(3, 5)
        rows = {p.id: {"train": p.shown, "test": p.hidden} for p in made}
        tasks = {name: {part: [{"input": o.input, "output": o.output} for o in some]
                        for part, some in parts.items()} for name, parts in rows.items()}  # fmt: skip
        for problem in made:
            tasks[problem.id]["secret"] = problem.secret  # type: ignore[assignment]
        back = task.load(str(_lines(tmp_path / f"{task.name}-own.json", tasks)), None, 0)
        assert back == made
        assert task.spaces(back, 0)[0].digest == task.spaces(made, 0)[0].digest
        first = {made[0].id: tasks[made[0].id]}
        assert task.load(str(_lines(tmp_path / "one.json", first)), None, 0) == made[:1]


# --- bad data ----------------------------------------------------------------------------------

GOOD = TASKS["00000001"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([1], "line 2: must be an object"),
        ({**GOOD}, "line 2, idx: must be a number or a string, not None"),
        ({**GOOD, "idx": 1.5}, "line 2, idx: must be a number"),
        ({**GOOD, "idx": True}, "line 2, idx: must be a number"),
        ({**GOOD, "idx": ""}, "line 2, idx: must be a number or a string"),
        ({**GOOD, "idx": "7"}, "line 2, idx: 7 occurs twice"),
        ({**GOOD, "idx": 8, "train": []}, "line 2, train: must be a list of pairs, not []"),
        ({"idx": 8, "test": []}, "line 2, train: must be a list of pairs, not None"),
        ({**GOOD, "idx": 8, "test": "x"}, "line 2, test: must be a list of pairs, not x"),
        ({**GOOD, "idx": 8, "train": [1]}, "line 2, train[0]: must be a pair"),
        ({**GOOD, "idx": 8, "train": [{"input": [[1]]}]}, "line 2, train[0].output: missing"),
        ({**GOOD, "idx": 8, "test": [{"output": [[1]]}]}, "line 2, test[0].input: missing"),
        ({**GOOD, "idx": 8, "test": [{"input": [[1]], "output": None}]}, "test[0].output: must be a grid"),
        (
            {**GOOD, "idx": 8, "train": [{"input": [[1, 2], [3]], "output": [[1]]}]},
            "line 2, train[0].input[1]: a ragged grid",
        ),
        (
            {**GOOD, "idx": 8, "test": [{"input": [[1]], "output": [[1, "a"]]}]},
            "line 2, test[0].output[0][1]: must be a colour from 0 to 9, not a",
        ),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_by_file_line_and_field(tmp_path: Path, row: object, said: str) -> None:
    path = _write(tmp_path / "x.jsonl", json.dumps({"idx": 7, **GOOD}) + "\n" + json.dumps(row))
    with pytest.raises(DataError) as error:
        ARC.load(str(path), None, 0)
    assert str(path) in str(error.value) and said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bad_value_in_one_json_value_is_named_by_its_line(tmp_path: Path) -> None:
    bad = json.loads(json.dumps(TASKS))
    bad["00000002"]["train"][1]["output"] = [[1, 2], [3, "é"]]
    text = json.dumps(bad, indent=1)
    line = text.count("\n", 0, text.index('"\\u00e9"')) + 1
    path = _write(tmp_path / "x.json", text)
    with pytest.raises(DataError) as error:
        ARC.load(str(path), None, 0)
    where = f"{path}, line {line}, problem '00000002', train[1].output[1][1]: must be a colour"
    assert str(error.value).startswith(where)
    single = json.dumps(bad["00000002"], indent=2)
    path = _write(tmp_path / "y.json", single)
    with pytest.raises(
        DataError, match=r"y\.json, line \d+, train\[1\]\.output\[1\]\[1\]: must be"
    ):
        ARC.load(str(path), None, 0)
    del bad["00000002"]["train"]
    path = _write(tmp_path / "z.json", json.dumps(bad, indent=1))
    with pytest.raises(DataError, match=r"z\.json, line \d+, problem '00000002', train: must be a"):
        ARC.load(str(path), None, 0)


@pytest.mark.parametrize(
    ("solutions", "said"),
    [
        ({k: v for k, v in SOLUTIONS.items() if k != "00000002"}, "no outputs of problem '00000002'"),
        ({**SOLUTIONS, "x": []}, "outputs of problem 'x', which x_challenges.json lacks"),
        ({**SOLUTIONS, "00000003": []}, "line 1, problem '00000003': must be a list of 1 outputs"),
        ({**SOLUTIONS, "00000003": [[[1], []]]}, "problem '00000003', [0][1]: must be a row"),
        ([], "must be an object of outputs"),
    ],
)  # fmt: skip
def test_solutions_that_do_not_fit_are_refused(
    tmp_path: Path, solutions: object, said: str
) -> None:
    path = _write(tmp_path / "x_challenges.json", UNSOLVED)
    _write(tmp_path / "x_solutions.json", solutions)
    with pytest.raises(DataError) as error:
        ARC.load(str(path), None, 0)
    assert "x_solutions.json" in str(error.value) and said in str(error.value)


def test_one_id_with_two_contents_is_refused(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    _write(repository / "data" / "training" / "00000001.json", TASKS["00000002"])
    with pytest.raises(DataError, match=r"evaluation/00000001.json: 00000001 stands in .*training"):
        ARC.load(str(repository), None, 0)


def test_bytes_that_are_no_data_are_one_sentence(tmp_path: Path) -> None:
    for name, content, said in [
        ("a.jsonl", b'{"idx": 1,', "a.jsonl, line 1: not JSON"),
        ("b.jsonl", b"", "b.jsonl: the file is empty"),
        ("b.json", b" \n", "b.json: the file is empty"),
        ("c.json", b"\xff\xfe\x00", "c.json, line 1: not UTF-8"),
        ("d.jsonl.gz", b"\x1f\x8b\x08garbage", "cannot be read"),
        ("d.json.gz", b"\x1f\x8b\x08garbage", "cannot be read"),
        ("e.json", b"[1, 2]", "e.json, line 1: neither a task"),
        ("f.json", b'{\n "train": [1,}\n', "f.json, line 2: not JSON"),
        ("g.json", b"{}", "g.json, line 1: neither a task"),
        (
            "h.json",
            b'{"a": 1}',
            "h.json, line 1, problem 'a': must be an object with train and test",
        ),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError) as error:
            ARC.load(str(path), None, 0)
        assert said in str(error.value), name
    one = tmp_path / "folder"
    _write(one / "good.json", GOOD)
    _write(one / "tsk.json", "{")
    with pytest.raises(DataError, match=r"tsk\.json, line 1: not JSON"):
        ARC.load(str(one), None, 0)


def test_a_folder_without_data_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"looked for arc_2025\.jsonl.*data/training"):
        ARC.load(str(tmp_path), None, 0)
    with pytest.raises(UsageError, match="no such file"):
        ARC.load(str(tmp_path / "absent.jsonl"), None, 0)


@pytest.mark.parametrize("name", ["big.jsonl", "big.json"])
def test_a_line_of_200_mb_is_refused_without_gigabytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open(path, "w") as out:
        out.write('{"idx": 1, "train": [{"input": [[')
        for _ in range(200):
            out.write("1," * 500_000)
        out.write('1]], "output": [[1]]}], "test": []}')
    code = (
        "import sys; from peirce.tasks import load_problems; from peirce.records import DataError\n"
        "try: load_problems('arc', sys.argv[1])\n"
        "except DataError as error: print(error)\n"
    )
    limit = 2**30

    def confined() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        preexec_fn=confined,
        timeout=120,
    )
    assert done.stdout.startswith(f"{path}, line 1: ") and "longer than" in done.stdout, done.stderr
