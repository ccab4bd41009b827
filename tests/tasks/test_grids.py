"""What a grid is, the sample space of grid problems, which pairs are shown, and how grids stand in
prompts.

Internals: single values are tested for being grids, which no data set holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import pytest
from peirce.records import DataError, Json, Observation, Problem, canonical_json
from peirce.tasks import DataWarning, load_problems, read_space
from peirce.tasks.io.messages import BadValue
from peirce.tasks.io.spaces import write_space
from peirce.tasks.programs.family import FAMILY
from peirce.tasks.programs.grid_values import UNANSWERED, check_grid, is_grid, sort_unique_grids
from peirce.tasks.programs.grids import ARC
from peirce.tasks.programs.grids import MINI_ARC as MINI

ROWS = [
    {
        "idx": k,
        "train": [{"input": [[k, 1], [2, 3]], "output": [[1, k], [3, 2]]},
                  {"input": [[5, 5], [5, k]], "output": [[5, 5], [k, 5]]}],
        "test": [{"input": [[9, 9], [k, k]], "output": [[9, 9], [k, k]]}],
    }
    for k in (4, 7, 1)
]  # fmt: skip
DIGEST = "5141630a87331ef9"  # of the space of ROWS, on any machine


def _file(folder: Path, rows: object = ROWS, name: str = "miniarc.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))  # type: ignore[attr-defined]
    return path


@pytest.mark.parametrize(
    ("value", "keys", "said"),
    [
        ([], (), "must be a grid"),
        ("[[1]]", (), "must be a grid"),
        (None, (), "must be a grid"),
        ([[]], (0,), "must be a row of colours 0 to 9, not []"),
        ([[1], 2], (1,), "must be a row of colours"),
        ([[1, 2], [1]], (1,), "a ragged grid: 1 cells under a row of 2"),
        ([[1, 10]], (0, 1), "must be a colour from 0 to 9, not 10"),
        ([[-1]], (0, 0), "must be a colour"),
        ([[True]], (0, 0), "must be a colour from 0 to 9, not True"),
        ([[1.0]], (0, 0), "must be a colour from 0 to 9, not 1.0"),
        ([["3"]], (0, 0), "must be a colour from 0 to 9, not 3"),
        ([[None]], (0, 0), "must be a colour from 0 to 9, not None"),
        ([[[1]]], (0, 0), "must be a colour"),
        ([[0]] * 31, (), "31 rows of 1, more than 30 by 30"),
        ([[0] * 31], (), "1 rows of 31, more than 30 by 30"),
    ],
)
def test_what_is_no_grid_says_where_and_why(value: Json, keys: tuple[int, ...], said: str) -> None:
    with pytest.raises(BadValue) as error:
        check_grid(value)
    assert error.value.keys == keys and said in str(error.value)
    assert not is_grid(value)


def test_a_grid_is_itself_and_the_editors_cells_are_read_where_asked() -> None:
    largest = [[9] * 30] * 30
    assert check_grid(largest) is largest and is_grid([[0]])
    assert check_grid([[None, "3"], [0, "0"]], from_editor=True) == [[0, 3], [0, 0]]
    for bad in ("", "10", "x", "²"):
        with pytest.raises(BadValue, match="must be a colour"):
            check_grid([[bad]], from_editor=True)


def test_the_space_holds_each_input_of_all_problems_once_in_canonical_order(tmp_path: Path) -> None:
    chosen = load_problems("mini_arc", str(_file(tmp_path)), ids=["7"])
    ((problem, space),) = chosen
    texts = [canonical_json(one) for one in space.inputs]
    assert problem.id == problem.group == "7"
    assert texts == sorted(set(texts))
    assert set(texts) == {
        canonical_json(pair["input"]) for row in ROWS for k in ("train", "test") for pair in row[k]
    }
    assert space.digest.startswith(DIGEST)


def test_neither_the_order_of_the_file_nor_seeds_change_the_space(tmp_path: Path) -> None:
    rows = list(ROWS)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        ((_, space), *_) = load_problems("mini_arc", str(_file(tmp_path, rows)), space_seed=seed)
        assert space.digest.startswith(DIGEST)


def test_a_space_is_the_same_under_every_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from peirce.tasks import load_problems\n"
        "print(load_problems('mini_arc', sys.argv[1])[0][1].digest)\n"
        "print(load_problems('arc')[0][1].digest)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, str(_file(tmp_path))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    of_file, of_generator = said.pop().split()
    assert of_file.startswith(DIGEST) and of_generator.startswith("eb4478f050727ae0")


def test_a_space_written_to_a_file_reads_back(tmp_path: Path) -> None:
    ((_, space), *_) = load_problems("mini_arc", str(_file(tmp_path)))
    write_space(space, tmp_path / "space.jsonl")
    assert read_space(tmp_path / "space.jsonl").digest == space.digest


def test_a_test_input_without_an_output_is_counted_and_stays_in_the_space(tmp_path: Path) -> None:
    row = {**ROWS[0], "test": [*ROWS[0]["test"], {"input": [[8, 8]]}]}  # type: ignore[misc]
    path = str(_file(tmp_path, [row]))
    with pytest.warns(DataWarning, match="1 test inputs of 1 problems have no output"):
        (problem,) = ARC.load(path, None, 0)
    assert len(problem.hidden) == 1 and problem.secret == {UNANSWERED: [[[8, 8]]]}
    with pytest.warns(DataWarning):
        ((shown, space),) = load_problems("arc", path, observations="3")
    assert [[8, 8]] in space.inputs and len(shown.shown) == 3 and not shown.hidden
    assert [8, 8] not in [row for pair in shown.shown for row in pair.input]


def test_arc_says_from_which_pairs_observations_are_drawn(tmp_path: Path) -> None:
    path = str(_file(tmp_path))
    with pytest.warns(DataWarning, match="from the train and test pairs of a task together"):
        drawn = load_problems("arc", path, observations="2", seed=3)
    assert any(pair.input[0] == [9, 9] for problem, _ in drawn for pair in problem.shown)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_problems("mini_arc", path, observations="2")


def test_given_observations_are_shown_and_the_rest_of_the_pool_is_hidden(tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"1": [[[[9, 9], [1, 1]], [[9, 9], [1, 1]]]]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ((problem, space),) = load_problems("arc", str(_file(tmp_path)), observations=str(given))
    assert problem.shown == (Observation([[9, 9], [1, 1]], [[9, 9], [1, 1]]),)
    assert [pair.input for pair in problem.hidden] == [[[1, 1], [2, 3]], [[5, 5], [5, 1]]]
    assert space.digest.startswith(DIGEST)


def test_observations_that_are_no_grids_are_named(tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"1": [[[[9, 9], [1]], [[9, 9]]]]}))
    with pytest.raises(
        DataError, match=r"given\.json, line 1, problem '1', pair 0\.input\[1\]: a ragged grid"
    ):
        load_problems("arc", str(_file(tmp_path)), observations=str(given))


def test_prompts_write_grids_without_blanks_and_lists_with_them() -> None:
    shown = FAMILY.words.show_observation
    assert shown(1, Observation([[1, 2], [3, 4]], [[0]])) == "Pair 1: ([[1,2],[3,4]], [[0]])"
    assert shown(2, Observation([1, 2], [])) == "Pair 2: ([1, 2], [])"
    assert shown(3, Observation([["a b", 1]], [[1.5, 2]])) == "Pair 3: ([['a b', 1]], [[1.5, 2]])"


def test_canonical_keeps_each_grid_once() -> None:
    assert sort_unique_grids([[[2]], [[1]], [[2]], [[1], [0]]]) == ([[1], [0]], [[1]], [[2]])


# --- the published files ------------------------------------------------------------------
# "Whole" sizes and hashes are those of the whole files (sha256 of the sorted texts of all inputs,
# as json.dumps writes them); a part of a file is told apart by its number of problems.

WHOLE = {"mini_arc": (767, "fba5d67747"), "arc": (4826, "5dac202691")}
PARTS = {
    ("mini_arc", 65): (386, "c1126a9511f4eb0b"),
    ("arc", 1000): (4296, "59d88d978181a353"),
}


@pytest.mark.parametrize(("task", "problems"), [("mini_arc", 130), ("arc", 1120)])
def test_the_space_of_the_published_files_is_that_of_the_paper(
    shared_data: Path, task: str, problems: int
) -> None:
    loaded = load_problems(task, str(shared_data / "gear"))
    space = loaded[0][1]
    if len(loaded) == problems:
        texts = sorted(json.dumps(one) for one in space.inputs)
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:10]
        assert (len(space), digest) == WHOLE[task]
        return
    if (task, len(loaded)) not in PARTS:
        pytest.skip(f"another part of the published {task}: {len(loaded)} problems")
    size, digest = PARTS[task, len(loaded)]
    assert len(space) == size and space.digest.startswith(digest)


@cache
def whole_data(task: object, folder: str) -> dict[str, Problem]:
    """The problems of a task without drawn observations, by their ids; loaded once."""
    return {p.id: p for p in task.load(folder, None, 0)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(("task", "stem"), [(MINI, "mini_arc"), (ARC, "arc_2025")])
def test_gears_own_observations_run_as_they_are(
    shared_data: Path, task: object, stem: str, n: int
) -> None:
    path = shared_data / "gear" / "io_pairs" / f"{stem}_{n}.json"
    published = json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        problems = task.load(str(shared_data / "gear"), str(path), 0)  # type: ignore[attr-defined]
    whole = whole_data(task, str(shared_data / "gear"))
    assert {p.id for p in problems} == set(published)
    for problem in problems:
        pool = whole[problem.id].shown + whole[problem.id].hidden
        assert [[o.input, o.output] for o in problem.shown] == published[problem.id]
        assert len(problem.shown) == n and len(problem.hidden) == len(pool) - n
