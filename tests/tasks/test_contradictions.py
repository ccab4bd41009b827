"""A problem whose shown pairs contradict each other runs, and its name is told.

Internals: the sentence about a contradiction is made of single problems.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from peirce.records import Observation, Problem
from peirce.tasks import DataWarning, load_problems
from peirce.tasks.programs.family import FAMILY


def problem(*pairs: tuple[Any, Any], **other: Any) -> Problem:
    return Problem("p", "t", "programs", tuple(Observation(*pair) for pair in pairs), **other)


def data(folder: Path, **shown: list[tuple[Any, Any]]) -> str:
    path = folder / "d.jsonl"
    rows = [
        {"id": name, "train": [{"input": i, "output": o} for i, o in pairs]}
        for name, pairs in shown.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_one_input_with_two_outputs_is_told_and_runs(tmp_path: Path) -> None:
    path = data(tmp_path, a=[(1, 2)], b=[([1], 2), ([2], 2), ([True], 3)], c=[(0, 1), (0, 2)])
    with pytest.warns(DataWarning) as said:
        assert len(load_problems("examples", path)) == 3
    (text,) = [str(one.message) for one in said]
    assert text == (
        "no hypothesis can be consistent with problem 'b', which shows the input [1] with two"
        " outputs, 2 and 3; nor with 1 more: c"
    )


def test_problems_that_do_not_run_are_not_named(tmp_path: Path) -> None:
    path = data(tmp_path, a=[(1, 2), (1, 2.0)], b=[(1, 2), (1, 3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_problems("examples", path, problems=1)
        load_problems("examples", path, ids=["a"])
        load_problems("examples", path, observations="1", ids=["b"])


@pytest.mark.parametrize(
    ("first", "second", "contradict"),
    [
        ((1, [2, 0]), (1, [2.0, False]), False),
        ((1, 2), ("1", 3), False),
        (([1], 2), ([1.0], "2"), True),
        (({"a": 1, "b": 2}, 0), ({"b": 2, "a": 1}, 1), True),
        ((1, [0] * 40_000), (1, [1] * 40_000), False),  # neither can be predicted
    ],
)
def test_inputs_and_outputs_are_compared_as_predictions_are(
    first: Any, second: Any, contradict: bool
) -> None:
    assert bool(FAMILY.find_contradiction(problem(first, second))) == contradict


def test_the_rule_of_a_task_says_which_outputs_are_two() -> None:
    public = {"equality": {"numbers": {"decimals": 1}}}
    assert not FAMILY.find_contradiction(problem((1, 0.41), (1, 0.42), public=public))
    assert FAMILY.find_contradiction(problem((1, 0.41), (1, 0.52), public=public))
    assert FAMILY.find_contradiction(problem((1, 0.41), (1, 0.42)))
