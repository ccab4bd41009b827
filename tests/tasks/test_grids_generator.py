"""Generated grid problems: the rule in the secret part explains every pair, in the sandbox too,
one seed gives the same problems, and what is trivial, degenerate or double does not get through.

Internals: every rule, shape and picture of the catalogue is drawn by itself.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import pytest
from peirce.records import InputSet, Limits, Problem, UsageError, digest_of
from peirce.sandbox import open_sandbox
from peirce.tasks.programs.family import FAMILY
from peirce.tasks.programs.grid_generator import (
    PICTURE_KINDS,
    PROBLEM_SIZES,
    Rule,
    _compile,
    draw_inputs,
    draw_picture,
    generate,
)
from peirce.tasks.programs.grid_resizing import SIZE_CHANGING_STEPS, fractal_step
from peirce.tasks.programs.grid_rules import SIZE_KEEPING_STEPS, ParameterSampler
from peirce.tasks.programs.grid_values import Grid, is_grid
from peirce.tools.execute import build_executor

MADE = {task: generate(task, 100, 3) for task in PROBLEM_SIZES}
DIGESTS = {"mini_arc": "cfa1b27567e4226e", "arc": "92510fd70b0afcda"}
EVERY = [(task, problem) for task in PROBLEM_SIZES for problem in MADE[task]]


def _rule(problem: Problem) -> Callable[[Grid], Grid]:
    names: dict[str, Callable[[Grid], Grid]] = {}
    exec(problem.secret["rule"], names)
    return names["f"]


def test_the_sandbox_confirms_every_rule_on_every_pair() -> None:
    async def judge() -> None:
        async with await open_sandbox("process", workers=2) as sandbox:
            execute = build_executor(sandbox, Limits())
            for task, problem in EVERY:
                hypothesis = FAMILY.parse_hypothesis(
                    problem.secret["rule"], problem.make_view(InputSet("s", ()))
                )
                pairs = problem.shown + problem.hidden
                batch = await execute(
                    hypothesis.text,  # type: ignore[union-attr]
                    hypothesis.meta["entry"],  # type: ignore[union-attr]
                    InputSet("pairs", tuple(pair.input for pair in pairs)),
                    "values",
                )
                got = [came.get("value") for came in batch.values or ()]
                assert got == [pair.output for pair in pairs], (task, problem.secret["rule"])

    asyncio.run(judge())


def test_rules_keep_the_answer_contract() -> None:
    for _, problem in EVERY:
        hypothesis = FAMILY.with_strict_contract().parse_hypothesis(
            problem.secret["rule"], problem.make_view(InputSet("s", ()))
        )
        assert hypothesis.breaches == (), problem.secret["rule"]  # type: ignore[union-attr]


@pytest.mark.parametrize("task", PROBLEM_SIZES)
def test_one_seed_gives_one_set_of_problems_on_any_machine(task: str) -> None:
    assert digest_of([p.as_json() for p in MADE[task][:20]]).startswith(DIGESTS[task])
    assert generate(task, 10, 3) == MADE[task][:10]
    assert [p.shown for p in generate(task, 10, 4)] != [p.shown for p in MADE[task][:10]]


def test_sizes_and_numbers_of_pairs_are_those_of_the_task() -> None:
    for problem in MADE["mini_arc"]:
        assert (len(problem.shown), len(problem.hidden)) == (3, 3)
        for pair in problem.shown + problem.hidden:
            assert {len(g) for g in (pair.input, pair.output)} == {5}
            assert {len(row) for g in (pair.input, pair.output) for row in g} == {5}
    for problem in MADE["arc"]:
        assert len(problem.shown) in (3, 4) and len(problem.hidden) in (1, 2)
        for pair in problem.shown + problem.hidden:
            assert 3 <= len(pair.input) <= 15 and 3 <= len(pair.input[0]) <= 15
    sides = {len(p.input) for problem in MADE["arc"] for p in problem.shown}
    assert len(sides) > 8 and any(
        len({len(p.input) for p in problem.shown}) > 1 for problem in MADE["arc"]
    )


def test_no_pair_is_trivial_or_degenerate() -> None:
    for _, problem in EVERY:
        pairs = problem.shown + problem.hidden
        assert all(is_grid(pair.input) and is_grid(pair.output) for pair in pairs)
        assert all(pair.input != pair.output and any(map(any, pair.output)) for pair in pairs)
        assert len({repr(pair.input) for pair in pairs}) == len(pairs)
        assert len({repr(pair.output) for pair in pairs}) * 2 >= len(pairs)
        assert len({repr(pair.output) for pair in problem.shown}) > 1


@pytest.mark.parametrize("task", PROBLEM_SIZES)
def test_no_two_rules_of_a_seed_behave_alike(task: str) -> None:
    probes = draw_inputs("arc", 1, 40) + draw_inputs("mini_arc", 1, 40)

    def outputs(problem: Problem) -> str:
        rule, got = _rule(problem), []
        for one in probes:
            try:
                got.append(rule([row[:] for row in one]))
            except (IndexError, ValueError):
                got.append(None)
        return repr(got)

    assert len({outputs(problem) for problem in MADE[task]}) == len(MADE[task])


def test_rules_vary_in_length_and_kind() -> None:
    for task in PROBLEM_SIZES:
        steps = Counter(problem.secret["steps"] for problem in MADE[task])
        assert set(steps) == {1, 2, 3} and steps[1] < 65
    resized = sum(len(p.shown[0].output) != len(p.shown[0].input) for p in MADE["arc"])
    assert 20 < resized < 80
    assert all(p.secret["description"].endswith(".") for _, p in EVERY)


@pytest.mark.parametrize(
    "make", [*SIZE_KEEPING_STEPS, *SIZE_CHANGING_STEPS], ids=lambda make: make.__name__
)
def test_every_step_of_the_catalogue_is_python_that_shows_on_its_pictures(
    make: Callable[[ParameterSampler], object],
) -> None:
    draw = ParameterSampler(random.Random(1))
    for _ in range(40):
        step = make(draw)
        source = (
            "def f(g):\n" + "".join(f"    {k}\n" for k in step.code.split("\n")) + "    return g\n"
        )  # type: ignore[attr-defined]
        names: dict[str, Callable[[Grid], Grid]] = {}
        exec(source, names)
        changed = 0
        for k in range(20):
            palette = [*step.colours, *draw.sample_colours(2)]  # type: ignore[attr-defined]
            kind = step.pictures[k % len(step.pictures)]  # type: ignore[attr-defined]
            given = draw_picture(kind, draw.rng, 5, 5, palette)
            before = repr(given)
            try:
                output = names["f"](given)
            except (IndexError, ValueError):  # nothing to cut out
                output = given
            assert repr(given) == before, "a rule must not change its input"
            changed += output != given
            if step.keeps_size and is_grid(output):  # type: ignore[attr-defined]
                assert (len(output), len(output[0])) == (5, 5)
        assert changed >= 2, step


def test_pictures_are_grids_of_the_palette_in_every_size() -> None:
    rng = random.Random(0)
    for kind in PICTURE_KINDS:
        for height, width in ((1, 1), (3, 3), (5, 5), (3, 15), (15, 4), (30, 30)):
            made = draw_picture(kind, rng, height, width, [4, 6])
            assert is_grid(made) and (len(made), len(made[0])) == (height, width)
            assert {cell for row in made for cell in row} <= {0, 4, 6}


def test_no_problems_are_refused() -> None:
    with pytest.raises(UsageError, match="0 problems"):
        generate("arc", 0, 0)


def test_a_rule_that_squares_twice_is_undefined_before_it_fills_the_memory() -> None:
    step = fractal_step(ParameterSampler(random.Random(1)))
    assert step.kind == "fractal"
    twice = Rule((step, step))
    full = [[1] * 6 for _ in range(6)]
    with pytest.raises(ValueError):
        _compile(twice.bounded_source)(full)
    small = [[1, 0], [0, 2]]
    assert _compile(twice.bounded_source)(small) == _compile(twice.source)(small)
    assert "raise" not in twice.source
