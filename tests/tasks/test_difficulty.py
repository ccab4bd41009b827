"""Easy and hard problems are the generated ones in their order, parted, and a file of them is read.

Internals: the measure of difficulty is applied to single problems of the generators.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import Problem, UsageError
from peirce.tasks import load_problems, load_task
from peirce.tasks.programs.difficulty import (
    MAX_EASY_CELLS,
    count_cells,
    generate_with_difficulty,
    is_easy,
)

TASKS = ("list_functions", "acre", "mini_arc", "arc")


@pytest.mark.parametrize("name", TASKS)
def test_easy_and_hard_part_the_generated_problems(name: str) -> None:
    source: Any = load_task(name)
    made = source.generate(24, 5)
    for difficulty in ("easy", "hard"):
        wanted = [one for one in made if is_easy(one) == (difficulty == "easy")][:4]
        assert len(wanted) > 1
        assert generate_with_difficulty(source, len(wanted), 5, difficulty) == wanted


def test_easy_is_one_step_and_small() -> None:
    for name in ("list_functions", "mini_arc", "arc"):
        for problem in generate_with_difficulty(load_task(name), 6, 3, "easy"):
            assert problem.secret["steps"] == 1
            if name != "list_functions":
                grids = [grid for pair in problem.shown for grid in (pair.input, pair.output)]
                assert max(map(count_cells, grids)) <= MAX_EASY_CELLS
    for problem in generate_with_difficulty(load_task("acre"), 6, 3, "easy"):
        assert "on indirect" not in problem.secret["objects"].values()


@pytest.mark.parametrize("name", TASKS)
def test_a_file_of_easy_problems_is_read_back(name: str, tmp_path: Path) -> None:
    out = tmp_path / "easy.jsonl"
    told = peirce.tasks_generate(name, out, problems=3, seed=2, difficulty="easy")
    assert told["problems"] == 3
    read = [problem for problem, _ in load_problems(name, str(out))]
    easy = generate_with_difficulty(load_task(name), 3, 2, "easy")
    assert [one.id for one in read] == [one.id for one in easy]
    assert [one.shown for one in read] == [one.shown for one in easy]


def test_without_a_difficulty_nothing_changes(tmp_path: Path) -> None:
    plain = tmp_path / "all.jsonl"
    peirce.tasks_generate("list_functions", plain, problems=4, seed=1)
    made = load_task("list_functions").generate(4, 1)
    read = [problem for problem, _ in load_problems("list_functions", str(plain))]
    assert [one.shown for one in read] == [one.shown for one in made]


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--difficulty simple: it must be one of easy, hard"):
        peirce.tasks_generate("acre", tmp_path / "a", problems=1, difficulty="simple")

    class Hard:
        def generate(self, count: int, seed: int) -> list[Problem]:
            return generate_with_difficulty(load_task("acre"), 1, seed, "hard") * count

    with pytest.raises(UsageError, match="only 0 of the first 4,000 problems of seed 0 are "):
        generate_with_difficulty(Hard(), 3, 0, "easy")
    assert not list(tmp_path.iterdir())
