"""Generated ACRE problems: blickets explain every scene, hidden outputs are what logic leaves,
evidence of every kind occurs, and a written file reads back to the same problems.

Internals: what logic leaves is concluded from scenes that the test draws itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import peirce
import pytest
from peirce.records import Problem, UsageError
from peirce.tasks import judgeable_pairs
from peirce.tasks.programs.acre import TASK
from peirce.tasks.programs.acre_generator import conclude, generate

MADE = generate(200, 3)


def _rule(problem: Problem) -> Callable[[list[str]], str]:
    names: dict[str, Callable[[list[str]], str]] = {}
    exec(problem.secret["rule"], names)
    return names["f"]


def test_the_true_rule_gives_every_output_that_is_not_undetermined() -> None:
    for problem in MADE:
        rule = _rule(problem)
        for pair in problem.shown:
            assert rule(pair.input) == pair.output
        for pair in problem.hidden:
            assert pair.output in (rule(pair.input), "undetermined")


def test_hidden_outputs_are_what_every_set_of_blickets_agrees_on() -> None:
    for problem in MADE[:60]:
        objects = sorted(problem.secret["objects"])
        explaining = []
        for choice in product((False, True), repeat=len(objects)):
            blickets = {entity for entity, is_one in zip(objects, choice, strict=True) if is_one}
            lights = ["on" if blickets & set(pair.input) else "off" for pair in problem.shown]
            if lights == [pair.output for pair in problem.shown]:
                explaining.append(blickets)
        assert explaining
        for pair in problem.hidden:
            lights = {"on" if blickets & set(pair.input) else "off" for blickets in explaining}
            assert pair.output == (lights.pop() if len(lights) == 1 else "undetermined")


@pytest.mark.parametrize(
    ("scene", "output", "kind"),
    [
        (["a"], "on", "direct"),
        (["a", "z"], "on", "direct"),
        (["d"], "on", "indirect"),
        (["b"], "off", "screen_off"),
        (["b", "e"], "off", "screen_off"),
        (["e"], "off", "direct"),
        (["g"], "undetermined", "potential"),
        (["g", "h", "b"], "on", "indirect"),
    ],
)
def test_logic_concludes(scene: list[str], output: str, kind: str) -> None:
    shown = [
        (["a"], "on"),
        (["b"], "off"),
        (["a", "b"], "on"),
        (["c", "e"], "off"),
        (["c", "d"], "on"),
        (["g", "h", "c"], "on"),
    ]
    assert conclude(shown, scene) == (output, kind)


def test_problem_k_of_a_seed_is_the_same_however_many_are_made() -> None:
    assert generate(10, 3) == MADE[:10]
    assert [p.shown for p in generate(10, 4)] != [p.shown for p in MADE[:10]]


def test_problems_have_the_shape_of_the_published_ones() -> None:
    for problem in MADE:
        assert (len(problem.shown), len(problem.hidden)) == (6, 4)
        pairs = problem.shown + problem.hidden
        assert len({frozenset(pair.input) for pair in pairs}) == 10
        assert all(1 <= len(pair.input) <= 5 for pair in pairs)
        assert {pair.output for pair in problem.shown} == {"on", "off"}
    undetermined = sum(not all(judgeable_pairs(problem)) for problem in MADE)
    assert 0.5 < undetermined / len(MADE) < 0.9  # 30 of 50 of the published ones


def test_evidence_of_every_kind_occurs() -> None:
    objects = [Counter(problem.secret["objects"].values()) for problem in MADE]
    assert all(of["on direct"] and of["off screen_off"] for of in objects)
    assert 0.4 < sum(of["on indirect"] > 0 for of in objects) / len(MADE) < 0.6
    types = Counter(kind for problem in MADE for kind in problem.secret["types"].values())
    assert min(types[k] for k in ("direct", "indirect", "screen_off", "potential")) > 60


def test_a_written_file_reads_back_to_equal_problems(tmp_path: Path) -> None:
    out = tmp_path / "made.jsonl"
    peirce.tasks_generate("acre", out, problems=20, seed=3)
    assert TASK.load(str(out), None, 0) == MADE[:20]


def test_no_problems_are_refused() -> None:
    with pytest.raises(UsageError, match="0 problems"):
        generate(0, 0)
