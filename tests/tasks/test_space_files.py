"""Sample spaces as files: there and back, each input once, of the type of the task.

Internals: inputs are written and compared without a task whose space they are.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, InputSet
from peirce.tasks import DataWarning, load_problems, read_space
from peirce.tasks.io.spaces import drop_repeated, drop_repeated_inputs, write_space


def write(folder: Path, *rows: Any) -> str:
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def used(task: str, path: str) -> InputSet:
    ((_, space),) = load_problems(task, problems=1, space_file=path)
    return space


@pytest.mark.parametrize(
    "space",
    [
        InputSet("s", ([1], [2, 3], "x", None)),
        InputSet("s", ([1], [2]), (1.0, 2.5)),
        InputSet("s", ({"input": 1}, {"input": 2})),
    ],
)
def test_a_space_file_reads_back_to_the_same_inputs(tmp_path: Path, space: InputSet) -> None:
    path = tmp_path / "space.jsonl"
    write_space(space, path)
    assert read_space(path).digest == space.digest


def test_a_bad_space_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"input": 1}, {"input": 2, "weight": -1})
    with pytest.raises(DataError, match=r"s.jsonl, line 2, weight: .*-1"):
        read_space(path)


# --- each input once ---------------------------------------------------------------------


def test_inputs_are_one_by_the_equality_of_predictions() -> None:
    inputs = [1, 1.0, True, "1", [1], [True], {"a": 1, "b": 0}, {"b": False, "a": 1.0}, -0.0, 0]
    assert [repr(one) for one in drop_repeated(inputs)] == [
        "1", "'1'", "[1]", "{'a': 1, 'b': 0}", "-0.0"
    ]  # fmt: skip
    large = [[0] * 40_000, [1] * 40_000, [0] * 40_000]  # too large to be predicted
    assert drop_repeated(large) == large[:2]


def test_a_space_of_different_inputs_is_left_as_it_is() -> None:
    space = InputSet("s", ([1], [2]), (1.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drop_repeated_inputs(space, "", str) is space


def test_a_weight_beyond_floats_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"input": [1], "weight": 10**400}, {"input": [2], "weight": 1})
    with pytest.raises(DataError, match="line 1, weight: must be a number of at least 0"):
        read_space(path)


def test_an_input_that_stands_twice_in_a_file_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path, [1], [2], "[1]", [1])
    with pytest.warns(DataWarning, match=r"s\.jsonl: 2 inputs .* \(the first of them is \[1\]\)"):
        assert used("list_functions", path).digest == InputSet("", ([1], [2])).digest
    rows = [{"input": one, "weight": weight} for one, weight in (([1], 2), ([2], 1), ([1], 2.0))]
    with pytest.warns(DataWarning, match="1 inputs"):
        assert used("list_functions", write(tmp_path, *rows)).weights == (2.0, 1.0)
    rows[2]["weight"] = 0.5
    with pytest.raises(DataError) as error:
        used("list_functions", write(tmp_path, *rows))
    said = str(error.value).replace(f"{tmp_path}/", "")
    assert said == ("s.jsonl, line 3: the input [1] occurs twice with different weights, 2 and 0.5")


# --- of the type of the task ------------------------------------------------------------------

GOOD: dict[str, list[Any]] = {
    "list_functions": [[], [1, 2], "[3]"],
    "acre": [[], ["red metal cube"]],
    "mini_arc": [[[0]], [[1, 2], [3, 4]]],
    "arc": [[[0]], [[1] * 30]],
}
BAD: dict[str, list[Any]] = {
    "list_functions": ["a", {"x": 1}, [1.5], [True], [[1]], None, 3],
    "acre": ["red metal cube", [1], ["red metal ball"], {"x": 1}, None],
    "mini_arc": ["a", [], [1], [[1], [1, 2]], [[10]], [["1"]], {"x": 1}],
    "arc": ["a", [], [1], [[1], [1, 2]], [[1] * 31], [[None]], None],
}


@pytest.mark.parametrize("name", GOOD)
def test_inputs_of_the_task_are_taken(tmp_path: Path, name: str) -> None:
    read = [json.loads(one) if isinstance(one, str) else one for one in GOOD[name]]
    assert list(used(name, write(tmp_path, *GOOD[name])).inputs) == read
    wrapped = [{"input": one, "weight": 2} for one in GOOD[name]]
    assert list(used(name, write(tmp_path, *wrapped)).inputs) == read


@pytest.mark.parametrize(("name", "bad"), [(name, one) for name in BAD for one in BAD[name]])
def test_an_input_of_another_type_is_named_with_its_line(
    tmp_path: Path, name: str, bad: Any
) -> None:
    for rows in ((GOOD[name][1], bad), ({"input": GOOD[name][1]}, {"input": bad})):
        with pytest.raises(DataError) as error:
            used(name, write(tmp_path, *rows))
        said = str(error.value).replace(f"{tmp_path}/", "")
        assert said.startswith("s.jsonl, line 2, input") and "\n" not in said, said


def test_every_task_s_own_space_is_taken_by_it(tmp_path: Path) -> None:
    for name in GOOD:
        ((_, space),) = load_problems(name, problems=1)
        write_space(space, tmp_path / "space.jsonl")
        assert used(name, str(tmp_path / "space.jsonl")).digest == space.digest
