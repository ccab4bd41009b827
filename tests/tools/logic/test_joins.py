"""Rules are evaluated by joins exactly as by tables of all their parts.

Internals: which of the two ways judges a rule depends on its size, so both are called directly.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from peirce.tools.logic import (
    MAX_COMPONENT_ATOMS,
    SIGNATURE,
    BeyondFastPath,
    GroundedWorlds,
    PreparedWorlds,
    Structures,
    World,
    fast_path,
    parse_formula,
)
from peirce.tools.logic.completions import Component, unpack_bits
from peirce.tools.logic.evaluation import TableTooLarge
from peirce.tools.logic.joins import JoinEvaluator
from peirce.tools.logic.truth_bounds import BoundsAlgebra, evaluate_bounds

from .worlds_at_random import any_theory, completions, covered, formula_text, rule, world

SPARSE = (0.02, 0.1)


def sparse_world(draw: random.Random, size: int, unknown: int, degree: float = 3.0) -> World:
    """Each element has about `degree` neighbours; unary atoms hold for a third of the elements."""
    true, open_ = {}, {}
    for name, places in SIGNATURE.items():
        if places == 1:
            true[name] = tuple((e,) for e in range(size) if draw.random() < 0.3)
            continue
        pairs = sorted({(draw.randrange(size), draw.randrange(size)) for _ in range(int(degree * size))})
        chosen = set(draw.sample(pairs, min(unknown // 2, len(pairs))))
        true[name] = tuple(pair for pair in pairs if pair not in chosen)
        open_[name] = tuple(sorted(chosen))
    return World("W", tuple(f"a{n}" for n in range(size)), true, open_)


def both_ways(structures: Structures, formula):
    joined = JoinEvaluator(structures, False).evaluate(formula, 1 << 20)
    return joined, evaluate_bounds(formula, BoundsAlgebra(structures))


def assert_same(structures: Structures, formula) -> int:
    """Returns how many values are undecided."""
    joined, tabled = both_ways(structures, formula)
    for one, other in zip(joined.three_valued, tabled.three_valued, strict=True):
        assert np.array_equal(one, other)
    masks = tabled.three_valued.depends_on
    components = []
    for place in np.argwhere(masks):
        atoms = tuple(bit for bit in range(64) if int(masks[tuple(place)]) >> bit & 1)
        if len(atoms) <= 10:
            components.append(Component(int(place[0]), (int(place[1]),), atoms))
    true = tabled.bounds.true
    # Elements that share atoms are components of their own here, so each is evaluated alone.
    for one in components:
        words = [
            found.circuit.evaluate([one], found.roots, structures.size, true)[0]
            for found in (joined, tabled)
        ]
        assert np.array_equal(*words)
    return len(components)


def test_random_rules_have_the_same_values_and_depend_on_the_same_unknown_atoms():
    draw = random.Random("joins")
    undecided = 0
    for _ in range(150):
        worlds = [world(draw, draw.randint(1, 6), draw.randint(0, 9)) for _ in range(3)]
        structures = Structures(worlds, dict(SIGNATURE))
        for _ in range(4):
            text = formula_text(draw, "PQRS", draw.randint(2, 6))
            undecided += assert_same(structures, parse_formula(text, SIGNATURE))
    assert undecided > 500


GUARDED = (
    "(exists y (and (R x y) (exists z (and (S y z) (and (R z x) (Q z))))))",
    "(forall y (implies (R x y) (exists z (and (R y z) (forall w (implies (S z w) (P w)))))))",
    "(exists y (exists z (and (R x y) (and (R x z) (and (not (= y z)) (forall w (implies (R x w) (or (= w y) (= w z)))))))))",
    "(exists y (exists z (exists w (and (and (R x y) (R y z)) (and (R z w) (and (P w) (not (= x w))))))))",
    "(exists y (or (and (R x y) (P y)) (exists z (and (S y z) (S x z)))))",
    "(forall y (or (not (R x y)) (iff (P y) (exists z (and (R y z) (not (Q z)))))))",
    "(exists y (and (forall z (and (R x z) (S z y))) (not (P y))))",
    "(iff (exists y (and (R x y) (Q y))) (forall x (implies (P x) (exists y (R y x)))))",
    "(exists y (and (or (R x y) (S y x)) (forall z (implies (and (R y z) (R x z)) (P z)))))",
)


@pytest.mark.parametrize("text", GUARDED)
def test_guarded_rules_have_the_same_values_in_sparse_worlds(text):
    draw = random.Random(text)
    worlds = [sparse_world(draw, size, 12) for size in (30, 24, 1)]
    assert_same(Structures(worlds, dict(SIGNATURE)), parse_formula(text, SIGNATURE))
