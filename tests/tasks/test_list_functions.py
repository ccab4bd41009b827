"""The loader of the published list functions, the sample space of GEAR's section 4.2, and what
errors in a file say.

Internals: the sample space is compared with the function that draws it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from peirce.records import DataError, UsageError, canonical_json
from peirce.tasks import load_problems
from peirce.tasks.programs.list_functions import TASK, sample_space

ROW = {
    "idx": 7,
    "train": [{"input": "[3, 4]", "output": "[4]"}, {"input": [1], "output": []}],
    "test": [{"input": "[]", "output": "[0]"}],
}


def _file(folder: Path, *rows: object, name: str = "list_function.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_space_has_14101_distinct_lists_in_the_strata_of_the_paper() -> None:
    lists = sample_space(0).inputs
    lengths = Counter(len(row) for row in lists)
    assert len(lists) == 14_101
    assert lengths == {0: 1, 1: 100, **{k: 1_000 for k in range(2, 16)}}
    assert len({tuple(row) for row in lists}) == 14_101
    assert {value for row in lists for value in row} == set(range(100))


def test_one_seed_gives_one_space_on_any_machine() -> None:
    digest = hashlib.sha256(canonical_json(sample_space(0).inputs).encode()).hexdigest()
    assert digest.startswith("602e9f9cacc39208")
    assert sample_space(1).digest != sample_space(0).digest
    assert sample_space.__wrapped__(0).digest == sample_space(0).digest


def test_the_space_tells_identity_from_removing_duplicates() -> None:
    repeating = sum(list(dict.fromkeys(row)) != row for row in sample_space(0).inputs)
    assert 0.2 < repeating / 14_101 < 0.5  # uniform elements: 0.30 expected


def test_elements_are_uniform_in_every_stratum() -> None:
    by_length: dict[int, Counter[int]] = {}
    for row in sample_space(0).inputs[101:]:
        by_length.setdefault(len(row), Counter()).update(row)
    for length, counts in by_length.items():
        expected = 1_000 * length / 100
        chi2 = sum((counts[v] - expected) ** 2 / expected for v in range(100))
        assert 50 < chi2 < 170, length  # 99 degrees of freedom


def test_sessions_of_different_seeds_share_one_space() -> None:
    spaces = {load_problems("list_functions", problems=1, seed=s)[0][1].digest for s in range(3)}
    assert spaces == {sample_space(0).digest}


def test_pairs_that_are_strings_become_lists(tmp_path: Path) -> None:
    (problem,) = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    assert problem.id == problem.group == "7"
    assert [(p.input, p.output) for p in problem.shown] == [([3, 4], [4]), ([1], [])]
    assert [(p.input, p.output) for p in problem.hidden] == [([], [0])]


def test_generated_problems_written_as_a_file_read_back_with_their_rule(tmp_path: Path) -> None:
    (made,) = TASK.generate(1, 0)
    sides = {"train": made.shown, "test": made.hidden}
    pairs = {k: [{"input": p.input, "output": p.output} for p in v] for k, v in sides.items()}
    path = _file(tmp_path, {"idx": made.id, "secret": made.secret, **pairs})
    assert TASK.load(str(path), None, 0) == [made]


def test_a_folder_and_a_packed_file_read_alike(tmp_path: Path) -> None:
    plain = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "list_function.jsonl.gz").write_bytes(
        gzip.compress((tmp_path / "list_function.jsonl").read_bytes())
    )
    assert TASK.load(str(tmp_path), None, 0) == plain == TASK.load(str(packed), None, 0)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**ROW, "idx": None}, "line 2, idx"),
        ({**ROW, "idx": 7}, "line 2, idx: 7 occurs twice"),
        ({**ROW, "idx": 8, "train": []}, "line 2, train"),
        ({**ROW, "idx": 8, "train": [{"input": "[1]"}]}, "line 2, train[0].output: missing"),
        (
            {**ROW, "idx": 8, "test": [{"input": "[1]", "output": "[1, x]"}]},
            "line 2, test[0].output: must be a Python literal, not [1, x]",
        ),
        (
            {**ROW, "idx": 8, "test": [{"input": "(1.5,)", "output": "[1]"}]},
            "line 2, test[0].input: must be a list of integers, not (1.5,)",
        ),
        ([1], "line 2: must be an object"),
    ],
)
def test_a_bad_row_is_named_by_file_line_and_field(tmp_path: Path, row: object, said: str) -> None:
    path = _file(tmp_path, ROW, row)
    with pytest.raises(DataError) as error:
        TASK.load(str(path), None, 0)
    assert f"{path}, {said}" in str(error.value)


def test_bytes_that_are_no_jsonl_are_one_sentence(tmp_path: Path) -> None:
    for name, content, said in [
        ("a.jsonl", b'{"idx": 1,', "line 1: not JSON"),
        ("b.jsonl", b"", "the file is empty"),
        ("c.jsonl", b"\xff\xfe\x00", "not UTF-8"),
        ("d.jsonl", b"\x1f\x8b\x08garbage", "cannot be read"),
        ("e.jsonl", b"[" * 100_000, "line 1: this JSON cannot be used"),
        ("f.jsonl", b'{"idx": ' + b"9" * 5_000 + b"}", "line 1: this JSON cannot be used"),
        ("g.jsonl", b'{"idx": NaN}', "line 1: this JSON cannot be used"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            TASK.load(str(path), None, 0)


def test_a_path_that_is_not_there_names_its_neighbour(tmp_path: Path) -> None:
    _file(tmp_path, ROW)
    with pytest.raises(UsageError, match=r"did you mean list_function\.jsonl"):
        TASK.load(str(tmp_path / "list_functions.jsonl"), None, 0)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"looked for list_function\.jsonl"):
        TASK.load(str(empty), None, 0)


def test_the_published_file_is_read_whole(shared_data: Path) -> None:
    problems = TASK.load(str(shared_data / "gear"), None, 0)
    assert len(problems) == 125
    assert all(len(p.shown) == len(p.hidden) == 8 for p in problems)
    assert problems[0].id == "0" and problems[0].shown[0].output == [1]
