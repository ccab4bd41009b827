"""Worlds drawn as tables (tools/logic/sampling.py)."""

from __future__ import annotations

import random

import numpy as np
from peirce.tools.logic import (
    RandomStream,
    Structures,
    TruthAlgebra,
    World,
    draw_atoms,
    element_mask,
    evaluate,
)

from .worlds_at_random import any_theory, rule


def test_numbers_follow_from_the_text_and_are_these():
    assert RandomStream("a").uniform(3).tolist() == RandomStream("a").uniform(3).tolist()
    assert RandomStream("a").uniform(3).tolist() != RandomStream("b").uniform(3).tolist()
    # Raw words of PCG64 are promised for good; on another machine these are the numbers too.
    assert [round(one, 6) for one in RandomStream("peirce").uniform(3)] == KNOWN


KNOWN = [0.716624, 0.183329, 0.71586]


def test_numbers_are_uniform():
    some = RandomStream("uniform").uniform(20_000)
    assert abs(some.mean() - 0.5) < 0.01 and some.min() >= 0 and some.max() < 1
    counts = np.bincount(RandomStream("below").integers(7, 21_000), minlength=7)
    assert counts.min() > 2_700 and len(counts) == 7
    assert sorted(RandomStream("s").permutation(9)) == list(range(9))


def test_as_many_atoms_as_asked_for_and_each_as_likely():
    sizes = np.array([3, 5] * 3_000)
    inside = element_mask(sizes)
    counts = np.array([4, 10] * 3_000)
    table = draw_atoms(RandomStream("atoms"), inside, counts, 2)
    assert (table.sum(axis=(1, 2)) == counts).all()
    assert not table[::2, 3:].any() and not table[::2, :, 3:].any()
    share = table[1::2].mean(axis=0)
    assert abs(share - 10 / 25).max() < 0.05
    ones = draw_atoms(RandomStream("atoms"), inside, np.array([1, 2] * 3_000), 1)
    assert (ones.sum(axis=1) == np.array([1, 2] * 3_000)).all()


def test_tables_and_worlds_are_judged_alike():
    draw = random.Random("tables")
    for number in range(30):
        theory = any_theory(draw)
        formula = rule(draw, theory)
        inside = element_mask(np.array([2, 3, 4, 3]))
        stream = RandomStream(f"world {number}")
        true = {
            name: draw_atoms(stream, inside, np.array([1, 2, 3, 2]), places)
            for name, places in theory.signature.items()
            if places in (1, 2)
        }
        signature = {name: places for name, places in theory.signature.items() if name in true}
        if not formula.predicates <= set(signature):
            continue
        worlds = [
            World(
                str(w),
                tuple(f"a{e}" for e in range(inside[w].sum())),
                {n: tuple(map(tuple, np.argwhere(t[w]).tolist())) for n, t in true.items()},
            )
            for w in range(4)
        ]
        one = evaluate(formula, TruthAlgebra(Structures.from_tables(inside, true)))
        other = evaluate(formula, TruthAlgebra(Structures(worlds, signature)))
        where = inside if one.ndim == 2 else np.ones(4, bool)
        assert (one == other)[where].all()
