"""Features of the search for rules: their values, sizes and kinds, against the evaluator of
tools/logic and the naive one.

Internals: values and sizes of features are compared with the evaluator, feature by feature.
"""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from peirce.search.logic.features import Features, Recipe
from peirce.search.logic.lanes import EQUALITY, Guard, Lanes, Literal
from peirce.search.logic.ranking import build_guards, grow_features
from peirce.tools.logic import (
    RandomStream,
    Structures,
    TruthAlgebra,
    broadcast_to_elements,
    draw_atoms,
    element_mask,
    evaluate,
    format_sexpr,
    parse_formula,
)

from ..tools.logic.worlds_at_random import completions, holds
from .logic_problems import formula_of, worlds_of

SIGNATURES = {
    "published": {"P": 1, "Q": 1, "R": 2, "S": 2},
    "no relation": {"P": 1, "Q": 1, "A": 1},
    "relations alone": {"R": 2, "S": 2},
    "one property": {"P": 1},
    "nothing": {},
    "more": {"A": 1, "B": 1, "C": 1, "K": 2, "L": 2, "M": 2},
}
KINDS = {
    "all", "atom", "not", "and", "or", "iff", "implies",
    "some", "every", "two", "one", "just_two", "pair",
}  # fmt: skip


def lanes_of(name: str, sizes: tuple[int, ...]) -> Lanes:
    signature = SIGNATURES[name]
    structures = Structures(worlds_of(f"lanes {name}", sizes, 0, signature), signature)
    return Lanes(structures.inside, structures.true)


@lru_cache(maxsize=8)
def features_of(name: str, sizes: tuple[int, ...] = (1, 5, 3, 6, 4)) -> Features:
    return grow_features(lanes_of(name, sizes), sorted(SIGNATURES[name]), 1_500)


def rows(formula, lanes: Lanes):
    value = evaluate(formula, TruthAlgebra(Structures.from_tables(lanes.inside, lanes.true)))
    return (broadcast_to_elements(value, formula, lanes.size) & lanes.inside).reshape(-1)


@pytest.mark.parametrize("name", SIGNATURES)
def test_values_and_sizes_are_those_of_the_written_formula(name: str) -> None:
    features = features_of(name)
    step = max(1, len(features) // 1_200)
    for place in [
        *range(0, len(features), step),
        *range(max(0, len(features) - 40), len(features)),
    ]:
        formula = formula_of(features, place)
        text = format_sexpr(formula)
        assert format_sexpr(parse_formula(text, SIGNATURES[name])) == text
        assert formula.free <= {"x"}, text
        assert (features.values[place] == rows(formula, features.lanes)).all(), text
        assert features.sizes[place] == formula.size, text


def test_values_are_those_of_the_textbook() -> None:
    features, worlds = features_of("published"), worlds_of("lanes published", (1, 5, 3, 6, 4))
    for place in random.Random(0).sample(range(len(features)), 60):
        formula = formula_of(features, place)
        table = features.values[place].reshape(len(worlds), -1)
        for number, world in enumerate(worlds):
            true, size = next(completions(world, closed=True)), len(world.names)
            marked = [holds(formula, true, size, {"x": e}) for e in range(size)]
            assert table[number, :size].tolist() == marked, format_sexpr(formula)
            assert not table[number, size:].any()


@pytest.mark.parametrize("name", SIGNATURES)
def test_no_two_have_equal_values(name: str) -> None:
    values = features_of(name).values
    assert len(np.unique(np.packbits(values, axis=1), axis=0)) == len(values)


def test_all_kinds_and_guards_occur() -> None:
    recipes = features_of("published").recipes
    assert {recipe.kind for recipe in recipes} == KINDS
    guards = {recipe.guard.literals for recipe in recipes if recipe.kind not in ("all", "atom")}
    assert any(len(g) == 2 for g in guards), "two literals"
    assert any(
        not literal.positive and literal.predicate != EQUALITY for g in guards for literal in g
    )
    assert any(literal.predicate == EQUALITY for g in guards for literal in g)
    assert any(literal.swapped for g in guards for literal in g)
    free = [r for r in recipes if r.kind in ("some", "every") and not r.guard.literals]
    assert free, "any element at all, near or not"


def test_of_equal_values_offered_at_once_the_smallest_is_kept() -> None:
    features = Features(lanes_of("published", (4, 3)))
    atoms = features.add_atoms(["P", "Q"])
    row = features.lanes.atom_table("R").reshape(-1)
    dear, cheap = Recipe("and", one=int(atoms[0]), other=int(atoms[1])), Recipe("atom", name="R")
    kept = features.add([dear, cheap], np.array([row, row]))
    assert [features.recipes[place] for place in kept] == [cheap]
    assert features.add([dear], row[None]).size == 0, "one that is known is not added again"
    assert features.tried == 5 and len(features) == 3


@pytest.mark.parametrize("name", ["published", "more"])
def test_over_other_worlds_they_are_the_same_formulas(name: str) -> None:
    features = features_of(name)
    others = lanes_of(name, (7, 2, 4))
    some = random.Random(1).sample(range(len(features)), 150)
    values = features.evaluate_over(others, some)
    assert set(values) == set(some)
    for place, table in values.items():
        formula = formula_of(features, place)
        assert (table.reshape(-1) == rows(formula, others)).all(), format_sexpr(formula)
    again = features.evaluate_over(features.lanes, some)
    assert all((again[p].reshape(-1) == features.values[p]).all() for p in some)


def test_guards_are_related_as_their_literals_say() -> None:
    lanes = lanes_of("published", (4, 6))
    alone, together = build_guards(["R", "S"])
    literals = {Literal(name, way) for name in "RS" for way in (False, True)}
    assert {g.literals[0] for g in alone} == literals and len(alone) == 4
    assert all(len(g.literals) == 2 for g in together) and len(set(together)) == len(together)
    for guard in [Guard(), *alone, *together]:
        table = lanes.relation_table(guard)
        for world, x, y in product(range(2), range(6), range(6)):
            said = all(one == literal.positive for literal in guard.literals
                       for one in [_holds(lanes, literal, world, x, y)])  # fmt: skip
            inside = lanes.inside[world, x] and lanes.inside[world, y]
            assert table[world, x, y] == (said and inside)


def _holds(lanes: Lanes, literal: Literal, world: int, x: int, y: int) -> bool:
    if literal.predicate == EQUALITY:
        return x == y
    table = lanes.true[literal.predicate][world]
    return bool(table[y, x] if literal.swapped else table[x, y])


def test_a_larger_budget_finds_more_and_the_smallest_budget_still_looks_at_neighbours() -> None:
    lanes = lanes_of("published", (5, 6, 4, 6, 6, 5))
    counts = [len(grow_features(lanes, "PQRS", most)) for most in (0, 300, 3_000, 20_000)]
    assert counts == sorted(counts) and counts[0] > 300 and counts[-1] > 2 * counts[0]


def test_many_predicates_do_not_burst_the_budget() -> None:
    """Twenty predicates: the published four evaluate so many features, these hardly more."""
    stream, inside = RandomStream("many"), element_mask(np.array([6, 7, 5]))
    true = {
        f"{kind}{k}": draw_atoms(stream, inside, np.array([2, 3, 2]) * places, places)
        for kind, places in (("U", 1), ("B", 2))
        for k in range(10)
    }
    features = grow_features(Lanes(inside, true), sorted(true), 3_000)
    assert 5_000 < features.tried < 120_000
    used = {recipe.name for recipe in features.recipes if recipe.kind == "atom"}
    assert used == set(true)
    said = {one.predicate for recipe in features.recipes for one in recipe.guard.literals}
    assert {name for name in true if name[0] == "B"} <= said
