"""Worlds that rules are looked for in: completions of the prompt worlds, and worlds drawn like them.

Internals: the worlds that rules are looked for in are drawn here and are seen by no caller.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from peirce.search.logic import lanes as lanes_module
from peirce.search.logic.lanes import (
    COMPLETIONS_DRAWN,
    MOST_BROKEN,
    Lanes,
    batch_size,
    complete_worlds,
    draw_broken,
    draw_hidden,
    draw_similar,
    is_irreflexive,
    max_violations,
)
from peirce.search.logic.validity import draw_worlds
from peirce.tools.logic import (
    PUBLISHED_THEORIES,
    SIGNATURE,
    PreparedWorlds,
    RandomStream,
    Regime,
    World,
)

from ..tools.logic.worlds_at_random import any_theory, completions, holds
from .logic_problems import default, generated, of_regime, prepared_of, worlds_of

REGIMES = ("full", "partial", "skeptical")
ODD = {"Z": 0, "P": 1, "Q": 1, "R": 2, "T": 3}


def atoms_of(lanes: Lanes, world: int) -> set:
    return {
        (name, tuple(map(int, at)))
        for name, t in lanes.true.items()
        for at in np.argwhere(t[world])
    }


def small(regime: Regime, seed: str = "small", sizes=(4, 2, 5), unknown: int = 4) -> PreparedWorlds:
    worlds = worlds_of(seed, sizes, 0 if regime == "full" else unknown)
    return PreparedWorlds(PUBLISHED_THEORIES["TH11"], worlds, regime)


@pytest.mark.parametrize("regime", REGIMES)
def test_each_is_a_completion_of_its_world_and_the_first_makes_nothing_true(regime) -> None:
    prepared = small(regime)
    found = complete_worlds(prepared, 10, RandomStream("c"))
    assert found.world_of_lane.tolist() == sorted(found.world_of_lane.tolist())
    for number, world in enumerate(prepared.worlds):
        possible = [set(one) for one in completions(world, closed=regime == "full")]
        places = np.flatnonzero(found.world_of_lane == number)
        assert len(places) == (1 if regime == "full" else 10)
        own = [atoms_of(found.lanes, place) for place in places]
        assert all(one in possible for one in own)
        assert own[0] == possible[0], "all unknown atoms false"
        assert found.lanes.inside[places].sum(axis=1).tolist() == [len(world.names)] * len(places)
        if regime == "skeptical":
            assert possible[-1] in own, "all unknown atoms true"


def test_partial_keeps_the_completions_that_break_least() -> None:
    prepared = small("partial", sizes=(6, 7), unknown=9)
    whole = complete_worlds(prepared, COMPLETIONS_DRAWN, RandomStream("p"))
    kept = complete_worlds(prepared, 8, RandomStream("p"))
    for world in range(2):
        all_ = whole.lanes.find_violations(prepared).sum(axis=1)[whole.world_of_lane == world]
        some = kept.lanes.find_violations(prepared).sum(axis=1)[kept.world_of_lane == world]
        assert len(all_) == COMPLETIONS_DRAWN and len(some) == 8
        assert some[0] == all_[0]
        assert sorted(some[1:]) == sorted(all_[1:])[:7]


@pytest.mark.parametrize("regime", REGIMES)
def test_a_world_whose_atoms_are_all_known_is_its_only_completion(regime) -> None:
    prepared = small(regime, unknown=0)
    found = complete_worlds(prepared, 4, RandomStream("k"))
    assert all(
        atoms_of(found.lanes, place) == set(next(completions(prepared.worlds[world], True)))
        for place, world in enumerate(found.world_of_lane)
    )


def test_elements_that_break_the_theory_are_those_of_the_textbook() -> None:
    draw = random.Random("broken")
    for number in range(12):
        theory = any_theory(draw)
        prepared = PreparedWorlds(theory, worlds_of(f"v{number}", (1, 4, 3)), "full")
        lanes = complete_worlds(prepared, 1, RandomStream("v")).lanes
        broken = lanes.find_violations(prepared)
        for place, world in enumerate(prepared.worlds):
            true, size = next(completions(world, True)), len(world.names)
            said = [holds(theory.violation, true, size, {"x": e}) for e in range(size)]
            assert broken[place].tolist() == said + [False] * (lanes.size - size)


def test_many_worlds_are_judged_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = small("full", sizes=(6, 5, 4))
    lanes = draw_similar(prepared, 50, RandomStream("parts"))
    whole = lanes.find_violations(prepared)
    monkeypatch.setattr(lanes_module, "MAX_CELLS", 700)
    assert whole.any() and (lanes.find_violations(prepared) == whole).all()
    assert lanes.select(np.zeros(50, bool)).find_violations(prepared).shape == (0, 6)


def test_drawn_worlds_have_the_sizes_and_densities_of_prompt_worlds() -> None:
    prepared = prepared_of(of_regime("full"))
    lanes = draw_similar(prepared, 3_000, RandomStream("drawn"))
    sizes = lanes.inside.sum(axis=1)
    own = [len(world.names) for world in prepared.worlds]
    assert set(sizes.tolist()) == set(own)
    assert abs(sizes.mean() - np.mean(own)) < 0.1
    for name, places in SIGNATURE.items():
        outside = lanes.true[name] & ~_possible(lanes, places)
        assert not outside.any()
        axes = tuple(range(1, 1 + places))
        shares = lanes.true[name].sum(axis=axes) / sizes**places
        given = [len(world.true[name]) / len(world.names) ** places for world in prepared.worlds]
        assert abs(shares.mean() - np.mean(given)) < 0.01, name
        nearest = abs(shares[:, None] - np.array(given)[None]).min(axis=1)
        assert (nearest <= 1 / sizes**places + 1e-9).all(), "each as in some prompt world"


def tree_worlds(regime: Regime, sizes=(7, 9), unknown: int = 0) -> PreparedWorlds:
    """Everyone but the first reports to one of those before."""
    signature = {"P": 1, "R": 2, "S": 2}
    worlds = [
        World(f"W{n}", tuple(f"e{k}" for k in range(n)),
              {"P": ((0,), (n - 1,)), "R": tuple((k, k // 2) for k in range(1, n - unknown)),
               "S": ((0, 0), (1, 2))},
              {"R": tuple((k, k // 2) for k in range(n - unknown, n))} if unknown else {})
        for n in sizes
    ]  # fmt: skip
    return PreparedWorlds(default("(P x)", "(S x x)", signature), tuple(worlds), regime)


def test_a_relation_without_loops_is_drawn_as_that_of_a_prompt_world_renamed() -> None:
    prepared = tree_worlds("full")
    lanes = draw_similar(prepared, 400, RandomStream("trees"))
    assert np.diagonal(lanes.true["S"], axis1=1, axis2=2).any(), "the others are uniform"
    own = {
        len(w.names): _degrees(prepared.structures.true["R"][k])
        for k, w in enumerate(prepared.worlds)
    }
    tables = {table.tobytes() for table in lanes.true["R"]}
    for table, size in zip(lanes.true["R"], lanes.inside.sum(axis=1).tolist(), strict=True):
        assert _degrees(table) == own[size]
        assert not (table & ~np.pad(np.ones((size, size), bool), (0, 9 - size))).any()
    assert len(tables) > 390, "in another order each time"


def _degrees(table) -> list:
    """Pairs (superiors, reports) of all elements."""
    return sorted(zip(table.sum(axis=1).tolist(), table.sum(axis=0).tolist(), strict=True))


def test_unknown_atoms_of_a_relation_without_loops_are_drawn_by_density() -> None:
    lanes = draw_similar(tree_worlds("partial", (9,), 3), 2_000, RandomStream("trees"))
    counts = lanes.true["R"].sum(axis=(1, 2))
    assert set(counts.tolist()) <= {5, 6, 7, 8} and counts.max() > 5
    assert abs(counts.mean() - (5 + 3 * 5 / (81 - 3))) < 0.05
    assert not np.diagonal(lanes.true["R"], axis1=1, axis2=2).any()


def test_a_relation_is_irreflexive_where_uniform_atoms_would_rather_have_loops() -> None:
    few, many, loop = np.zeros((3, 1, 3, 3), bool)
    few[0, 0, 1] = True  # one atom of nine is no loop in two of three cases
    many[0, 0, 1] = many[0, 1, 2] = True  # two are none in 15 of 36
    loop[0, :2, :2] = True
    size = np.array([3])
    assert not is_irreflexive(few, size) and is_irreflexive(many, size)
    assert not is_irreflexive(loop, size) and not is_irreflexive(np.zeros((1, 3, 3), bool), size)
    assert is_irreflexive(np.concatenate([few, few]), np.array([3, 3])), "two worlds say more"


def test_as_many_may_break_a_drawn_world_as_a_prompt_world_and_three_in_any_case() -> None:
    theory = default("(P x)", "(Q x)", {"P": 1, "Q": 1, "R": 2})
    names = tuple(f"e{k}" for k in range(10))
    for broken in (1, 3, 7):
        true = {"P": tuple((k,) for k in range(broken)), "Q": (), "R": ((0, 0),)}
        prepared = PreparedWorlds(theory, (World("W", names, true, {}),), "full")
        assert max_violations(prepared) == max(3, broken) >= MOST_BROKEN
        drawn = draw_broken(prepared, 20, RandomStream("many"))
        assert set(drawn.find_violations(prepared).sum(axis=1).tolist()) == {broken}
        further = draw_worlds(prepared, RandomStream("many"))
        assert further is not None and further.worlds.worlds == 1_500


def test_unknown_atoms_count_by_the_density_of_the_known_ones() -> None:
    signature = {"P": 1, "R": 2}
    atoms = list(product(range(6), repeat=2))
    worlds = (
        World("W", tuple("abcdef"), {"P": ((0,),), "R": tuple(atoms[:8])}, {"R": tuple(atoms[8:20])}),
    )  # fmt: skip
    prepared = PreparedWorlds(default("(P x)", "(R x x)", signature), worlds, "partial")
    lanes = draw_similar(prepared, 2_000, RandomStream("unknown"))
    assert abs(lanes.true["R"].sum(axis=(1, 2)).mean() - 36 * 8 / 24) < 0.2
    hidden = draw_hidden(prepared, lanes, RandomStream("hidden"))
    assert abs(hidden["R"].mean() - 12 / 36) < 0.01
    assert not hidden["P"].any()


def _possible(lanes: Lanes, places: int):
    found = np.ones(lanes.worlds, bool)
    for place in range(places):
        found = found[..., None] & lanes.inside.reshape(lanes.worlds, *(1,) * place, lanes.size)
    return found


def test_broken_alike_are_worlds_in_which_some_break_the_theory_and_not_many() -> None:
    for problem in generated()[:6]:
        prepared = prepared_of(problem)
        lanes = draw_broken(prepared, 40, RandomStream("alike"))
        counts = lanes.find_violations(prepared).sum(axis=1)
        assert lanes.worlds == 40 and (counts >= 1).all() and (counts <= MOST_BROKEN).all()
    none = PreparedWorlds(
        default("(P x)", "(P x)", {"P": 1}), worlds_of("n", (3,), 0, {"P": 1}), "full"
    )
    assert draw_broken(none, 40, RandomStream("none")).worlds == 40, "any, where none breaks"


@pytest.mark.parametrize("regime", REGIMES)
def test_predicates_of_any_number_of_arguments_are_completed_and_drawn(regime) -> None:
    worlds = worlds_of("odd", (3, 4), 0 if regime == "full" else 3, ODD)
    theory = default("(and (P x) (Z ))", "(exists y (T x y x))", ODD)
    prepared = PreparedWorlds(theory, worlds, regime)
    found = complete_worlds(prepared, 6, RandomStream("odd"))
    for place, number in enumerate(found.world_of_lane):
        assert atoms_of(found.lanes, place) in [set(c) for c in completions(worlds[number], False)]
    lanes = draw_similar(prepared, 200, RandomStream("odd"))
    for name, places in ODD.items():
        assert lanes.true[name].ndim == 1 + places
        assert not (lanes.true[name] & ~_possible(lanes, places)).any()


def test_all_is_drawn_from_the_stream_alone_and_large_worlds_in_smaller_numbers() -> None:
    prepared = small("skeptical")
    for made in (complete_worlds, draw_similar, draw_broken):
        one, other = (made(prepared, 12, RandomStream("same")) for _ in range(2))
        one, other = (getattr(some, "lanes", some) for some in (one, other))
        assert all((one.true[name] == other.true[name]).all() for name in SIGNATURE)
    assert batch_size(prepared, 6_000) == 6_000
    large = PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds_of("large", (64,)), "full")
    assert 100 < batch_size(large, 6_000) < 6_000


def test_further_worlds_are_read_and_completed_as_each_regime_has_it() -> None:
    for regime in REGIMES:
        prepared = prepared_of(of_regime(regime))
        drawn = draw_worlds(prepared, RandomStream("further"))
        assert drawn is not None and drawn.worlds.worlds >= 150
        counts = drawn.worlds.find_violations(prepared).sum(axis=1)
        assert (counts >= 1).all() and (counts <= MOST_BROKEN).all()
        if regime != "partial":
            assert drawn.read is drawn.worlds
        if regime != "skeptical":
            assert drawn.completed == ()
        if regime == "partial":
            gone = {n: drawn.worlds.true[n] & ~drawn.read.true[n] for n in SIGNATURE}
            assert not any((drawn.read.true[n] & ~drawn.worlds.true[n]).any() for n in SIGNATURE)
            assert not gone["P"].any() and gone["R"].any() and gone["S"].any()
    least, most, *others = drawn.completed
    first = drawn.worlds.select(np.arange(least.worlds))
    possible = _possible(first, 2)
    for name in ("R", "S"):
        open_ = (most.true[name] & ~least.true[name])[possible]
        given = [len(w.unknown.get(name, ())) / len(w.names) ** 2 for w in prepared.worlds]
        assert abs(open_.mean() - np.mean(given)) < 0.01
        for lanes in (first, *others):
            own = lanes.true[name]
            assert not (least.true[name] & ~own)[possible].any(), "nothing known is lost"
            assert not (own & ~most.true[name])[possible].any(), "nothing known is added"
        assert any((one.true[name] != most.true[name])[possible].any() for one in others)
