"""The sample space of `abd`: fresh worlds as the prompt worlds are, from problem and seed alone.

Internals: a space is drawn for problems that stand in no file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, InputSet, Problem, digest_of
from peirce.tasks import load_problems, read_space
from peirce.tasks.io.spaces import write_space
from peirce.tasks.logic.abd import TASK, WORLD_COUNT, sample_space
from peirce.tasks.logic.problems import build_problem as made
from peirce.tests.counts import drawn
from peirce.tools.logic import PUBLISHED_THEORIES, World, parse_theory, parse_world

THEORY = PUBLISHED_THEORIES["TH2"]


def every(size: int, share: int, start: int = 0) -> tuple[tuple[int, int], ...]:
    """Every `share`-th pair of a domain."""
    pairs = [(one, other) for one in range(size) for other in range(size)]
    return tuple(pairs[start::share])


def prompt(name: str, size: int, share: int, unknown: bool = True) -> World:
    names = tuple(f"a{k}" for k in range(size))
    true = {"P": ((0,), (1,)), "Q": (), "R": every(size, share), "S": every(size, 7)}
    return World(name, names, true, {"R": every(size, share, 1)} if unknown else {})


def problem(regime: Any = "partial", name: str = "p") -> Problem:
    worlds = [prompt("W0", 9, 4, regime != "full"), prompt("W1", 12, 9, regime != "full")]
    return made(name, THEORY, regime, worlds, [], {})


def worlds_of(found: InputSet) -> list[dict[str, Any]]:
    return list({id(world): world for world, _ in found.inputs}.values())


def test_s_holds_each_element_of_16_worlds_once_in_order() -> None:
    found = sample_space(problem(), 0)
    worlds = worlds_of(found)
    assert len(worlds) == WORLD_COUNT == 16
    assert [world["id"] for world in worlds] == [f"S{k}" for k in range(16)]
    assert list(found.inputs) == [[world, name] for world in worlds for name in world["domain"]]


def test_fresh_worlds_are_worlds_in_the_form_of_problems() -> None:
    for world in worlds_of(sample_space(problem(), 0)):
        assert parse_world(world, THEORY.signature, "").as_json() == world


def test_sizes_densities_and_unknown_atoms_are_those_of_the_prompt_worlds() -> None:
    counts = {9: {len(every(9, 4)), len(every(9, 9))}, 12: {len(every(12, 4)), len(every(12, 9))}}
    sizes, of_r = set(), set()
    for seed in range(8):
        for world in worlds_of(sample_space(problem(), seed)):
            size = len(world["domain"])
            sizes.add(size)
            assert min(abs(len(world["true"]["R"]) - count) for count in counts[size]) <= 1
            assert len(world["true"]["P"]) in (2, 3)  # 2 of 12 and 2 of 9, in proportion
            assert "Q" not in world["true"]  # it holds of nothing in the prompt worlds
            assert set(world["unknown"]) == {"R"}
            assert abs(len(world["unknown"]["R"]) - len(world["true"]["R"])) <= 1
            of_r.add((size, len(world["true"]["R"]) > size * size // 6))
    assert sizes == {9, 12} and len(of_r) == 4  # the model of R is drawn apart from the size


def test_the_full_regime_has_no_unknown_atoms() -> None:
    assert all("unknown" not in world for world in worlds_of(sample_space(problem("full"), 0)))


def test_which_atoms_hold_is_uniform() -> None:
    seen = {(one, other): 0 for one in range(9) for other in range(9)}
    worlds = [
        world
        for seed in range(60)
        for world in worlds_of(sample_space(made("p", THEORY, "full", [prompt("W", 9, 4, False)], [], {}), seed))
    ]  # fmt: skip
    for world in worlds:
        for one, other in world["true"]["R"]:
            seen[int(one[1:]), int(other[1:])] += 1
    expected = len(worlds) * len(every(9, 4)) / 81
    chi2 = sum((count - expected) ** 2 / expected for count in seen.values())
    assert chi2 < 130  # 80 degrees of freedom


def test_one_problem_and_one_seed_give_one_space_on_any_machine() -> None:
    found = sample_space(problem(), 0)
    assert found.digest == sample_space(problem(), 0).digest
    assert found.digest.startswith("de505793db99bcc9")
    others = {sample_space(problem(), 1).digest, sample_space(problem(name="q"), 0).digest}
    assert len(others | {found.digest}) == 3


def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(problem().as_json()))
    script = (
        "import json, sys; from peirce.records import Problem;"
        "from peirce.tasks.logic.abd import sample_space;"
        "print(sample_space(Problem.from_json(json.load(open(sys.argv[1]))), 0).digest)"
    )
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "p.json")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == sample_space(problem(), 0).digest


def test_holdouts_and_secrets_have_no_part_in_it() -> None:
    plain = problem()
    worlds = [prompt("W0", 9, 4), prompt("W1", 12, 9)]
    full = made("p", THEORY, "partial", worlds, [prompt("H0", 5, 2)], {"reference": "(P x)"})
    assert (
        full.digest != plain.digest
        and sample_space(full, 0).digest == sample_space(plain, 0).digest
    )


def test_where_few_worlds_are_possible_s_has_them_and_none_twice() -> None:
    tiny = World("W0", ("only",), {"P": ((0,),), "Q": (), "R": (), "S": ()})
    found = sample_space(made("p", THEORY, "full", [tiny], [], {}), 0)
    assert found.inputs == ([{**tiny.as_json(), "id": "S0"}, "only"],)
    two = World("W0", ("b", "c"), {"P": ((0,),), "Q": (), "R": (), "S": ()})
    worlds = worlds_of(sample_space(made("p", THEORY, "full", [two], [], {}), 0))
    assert sorted(world["true"]["P"] for world in worlds) == [[["b"]], [["c"]]]


def test_a_signature_of_ones_own_is_sampled() -> None:
    theory = parse_theory(
        ("own",),
        ["(forall x (implies (and (Bird x) (not (Ab x))) (Night)))"],
        {"Bird": 1, "Night": 0, "Between": 3},
        ["Between"],
        "",
    )
    world = World("W0", ("b", "c", "d"), {"Bird": ((1,),), "Night": ((),), "Between": ((0, 1, 2),)})
    for fresh in worlds_of(sample_space(made("p", theory, "full", [world], [], {}), 0)):
        assert fresh["true"]["Night"] == [[]] and len(fresh["true"]["Between"]) == 1
        assert fresh["domain"] == ["b", "c", "d"]


def test_a_space_is_written_and_read_back(tmp_path: Path) -> None:
    found = sample_space(problem(), 0)
    write_space(found, tmp_path / "space.jsonl")
    assert read_space(tmp_path / "space.jsonl", TASK.read_input).digest == found.digest


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"domain": ["b"]}, "s: not [world, element]"),
        ([{"domain": ["b"], "true": {}}], "s: not [world, element]"),
        (["b", {}], "s: not [world, element]"),
        ([{"domain": ["b"], "true": {}}, "c"], "s: 'c' is not in the world's domain"),
        ([{"domain": ["b"], "true": {}}, ["b"]], "is not in the world's domain"),
        ([{"true": {}}, "b"], "s: domain has to list"),
        ([{"domain": ["b"], "true": {"R": [["b", "c"]]}}, "b"], "s: true R: 'c' is not in the"),
        ([{"domain": ["b"], "true": {"R": 3}}, "b"], "s: true R: a list of atoms is due"),
        ([{"domain": ["b"], "true": [1]}, "b"], "s: true is an object of lists"),
    ],
)
def test_a_bad_input_of_a_space_is_one_sentence(value: Any, said: str) -> None:
    with pytest.raises(DataError) as error:
        TASK.read_input(value, "s")
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.counted
def test_published_problems_have_spaces_of_16_worlds(shared_data: Path) -> None:
    """Of every fifth problem, and of all in `make soak`."""
    stride = drawn(5, soak=1)
    place = str(shared_data / "abd")
    names = [one.id for one in TASK.load(place, None, 0)]
    assert len(names) == 305
    loaded = load_problems("abd", place, ids=names[::stride])
    assert [one.id for one, _ in loaded] == names[::stride]
    for one, found in loaded:
        worlds = worlds_of(found)
        shown = [pair.input for pair in one.shown]
        assert len(worlds) == 16 and len(found) == sum(len(world["domain"]) for world in worlds)
        sizes = {len(world["domain"]) for world in shown}
        assert {len(world["domain"]) for world in worlds} <= sizes
        for name, places in (("P", 1), ("R", 2), ("S", 2)):
            low, high = (
                pick(
                    len(world["true"].get(name, ())) / len(world["domain"]) ** places
                    for world in shown
                )
                for pick in (min, max)
            )
            for world in worlds:
                cells = len(world["domain"]) ** places
                count = len(world["true"].get(name, ()))
                assert low * cells - 0.5 <= count <= high * cells + 0.5
    digests = digest_of([found.digest for _, found in loaded])
    assert digests.startswith({1: "a51990bb2344f9dd", 5: "093007da89a52654"}[stride])
