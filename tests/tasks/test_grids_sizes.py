"""The paper's sizes of S, 767 and 4,826, on files of the published shape that are made here: problems,
pairs and repeated inputs as many as there, the grids invented. (The published files themselves are
counted in test_grids.py, where they are whole.)"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peirce.tasks import DataWarning, load_problems

MINI_PAIRS = (*[6] * 126, *[5] * 3, 4)  # of Qiu's 130 problems: 775 pairs
ARC_SIZE = 4_826


def grids(different: int, height: int, width: int) -> Iterator[list[list[int]]]:
    """`different` grids, then the first ones again for ever."""
    while True:
        for k in range(different):
            cells = [int(digit) for digit in f"{k:0{height * width}d}"]
            yield [cells[i * width : (i + 1) * width] for i in range(height)]


def tasks(names: list[str], tests: int, pairs: int, inputs: Iterator[Any]) -> dict[str, Any]:
    """Tasks with `tests` test pairs and `pairs` train pairs in all, three or more of these each."""
    made = {}
    for k, name in enumerate(names):
        counts = [pairs // len(names) + (k < pairs % len(names)),
                  tests // len(names) + (k < tests % len(names))]  # fmt: skip
        made[name] = {
            part: [{"input": next(inputs), "output": [[k % 10]]} for _ in range(count)]
            for part, count in zip(("train", "test"), counts, strict=True)
        }
    return made


def unsolved(some: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {**task, "test": [{"input": pair["input"]} for pair in task["test"]]}
        for name, task in some.items()
    }


def size(task: str, path: Path, **options: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        pairs = load_problems(task, str(path), **options)
    (space,) = {id(space): space for _, space in pairs}.values()
    texts = {json.dumps(one) for one in space.inputs}
    assert len(texts) == len(space.inputs)
    return len(space)


def test_mini_arc_of_130_problems_has_767_inputs(tmp_path: Path) -> None:
    inputs = grids(767, 5, 5)
    rows = []
    for k, count in enumerate(MINI_PAIRS):
        pairs = [{"input": next(inputs), "output": [[0] * 5] * 5} for _ in range(count)]
        rows.append(json.dumps({"idx": k, "train": pairs[:3], "test": pairs[3:]}) + "\n")
    path = tmp_path / "miniarc.jsonl"
    path.write_text("".join(rows))
    assert sum(MINI_PAIRS) == 775
    for options in ({}, {"problems": 1}, {"sample": 7}, {"observations": "4"}):
        assert size("mini_arc", path, **options) == 767, options
    path.write_text("".join(row.replace(" ", "").replace("[0,", "[  0 ,") for row in rows[::-1]))
    assert size("mini_arc", path) == 767  # as the grids are, and not as they are written


@pytest.fixture
def kaggle(tmp_path: Path) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Challenges and solutions of 1,000 training and 120 evaluation tasks, and as test challenges
    the first 240 of the training tasks, without outputs."""
    inputs = grids(ARC_SIZE, 3, 4)
    training = tasks([f"a{k:07x}" for k in range(1_000)], 1_076, 3_232, inputs)
    evaluation = tasks([f"e{k:07x}" for k in range(120)], 172, 362, inputs)
    folder = tmp_path / "kaggle"
    folder.mkdir()
    for part, some in (("training", training), ("evaluation", evaluation)):
        answers = {name: [p["output"] for p in task["test"]] for name, task in some.items()}
        (folder / f"arc-agi_{part}_challenges.json").write_text(json.dumps(unsolved(some)))
        (folder / f"arc-agi_{part}_solutions.json").write_text(json.dumps(answers))
    first = dict(list(unsolved(training).items())[:240])
    (folder / "arc-agi_test_challenges.json").write_text(json.dumps(first))
    return folder, training, evaluation


def test_arc_of_1120_tasks_has_4826_inputs_in_either_form(tmp_path: Path, kaggle: Any) -> None:
    folder, training, evaluation = kaggle
    assert size("arc", folder) == ARC_SIZE
    for part, some in (("training", training), ("evaluation", evaluation)):
        place = tmp_path / "ARC-AGI-2" / "data" / part
        place.mkdir(parents=True)
        for name, task in some.items():
            (place / f"{name}.json").write_text(json.dumps(task))
    assert size("arc", tmp_path / "ARC-AGI-2", sample=5) == ARC_SIZE


def test_challenges_without_outputs_count_too(kaggle: Any) -> None:
    folder, training, _ = kaggle
    for path in folder.glob("*_solutions.json"):
        path.unlink()
    assert size("arc", folder) == ARC_SIZE
    new = {"b0000000": {"train": training["a0000000"]["train"], "test": [{"input": [[9] * 7]}]}}
    (folder / "arc-agi_test_challenges.json").write_text(json.dumps(new))
    assert size("arc", folder) == ARC_SIZE + 1
