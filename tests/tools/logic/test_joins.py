"""Rules are evaluated by joins and by tables of bits exactly as by stored tables of all their parts.

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
    grounding,
    packed_tables,
    parse_formula,
)
from peirce.tools.logic import completions as completions_
from peirce.tools.logic.completions import Component, ComponentIndex, unpack_bits
from peirce.tools.logic.evaluation import TableTooLarge
from peirce.tools.logic.grounding import evaluate_bounds
from peirce.tools.logic.joins import JoinEvaluator
from peirce.tools.logic.packed_tables import PackedValues
from peirce.tools.logic.truth_bounds import BoundsAlgebra

from .worlds_at_random import any_theory, completions, covered, formula_text, rule, world


def sparse_world(draw: random.Random, size: int, unknown: int, degree: float = 3.0) -> World:
    """Each element has about `degree` neighbours; unary atoms hold for a third of the elements."""
    true, open_ = {}, {}
    for name, places in SIGNATURE.items():
        if places == 1:
            true[name] = tuple((e,) for e in range(size) if draw.random() < 0.3)
            continue
        pairs = sorted(
            {(draw.randrange(size), draw.randrange(size)) for _ in range(int(degree * size))}
        )
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
            found.circuit.evaluate(ComponentIndex([one]), found.roots, true)[0]
            for found in (joined, tabled)
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(completions_, "_FEW_WORDS", 0)  # only the cells that are needed
            words += tabled.circuit.evaluate(ComponentIndex([one]), tabled.roots, true)
        assert all(np.array_equal(words[0], other) for other in words[1:])
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


def test_tables_of_bits_have_the_values_and_circuits_of_stored_tables(monkeypatch):
    draw = random.Random("bits")
    undecided = regions = 0
    for _ in range(200):
        worlds = [world(draw, draw.randint(1, 10), draw.randint(0, 9)) for _ in range(3)]
        structures = Structures(worlds, dict(SIGNATURE))
        for closed in (False, True):
            algebra = BoundsAlgebra(structures, closed)
            formula = parse_formula(formula_text(draw, "PQRS", draw.randint(3, 6)), SIGNATURE)
            stored = evaluate_bounds(formula, algebra)
            with monkeypatch.context() as patch:
                patch.setattr(packed_tables, "FEW_CELLS", 0)
                patch.setattr(packed_tables, "_WORDS_AT_ONCE", draw.choice((1, 40, 1 << 16)))
                patch.setattr(packed_tables, "_PACKED_AT_ONCE", draw.choice((1, 300, 1 << 20)))
                patch.setattr(grounding, "_MARKED", draw.choice((0, 1 << 20)))
                packed = evaluate_bounds(formula, algebra)
                regions += len(PackedValues(formula, algebra).regions)
            for one, other in zip(stored.three_valued, packed.three_valued, strict=True):
                assert np.array_equal(one, other)
            assert len(stored.circuit.layers) == len(packed.circuit.layers)
            for one, other in zip(stored.circuit.layers, packed.circuit.layers, strict=True):
                assert one.kind == other.kind
                assert np.array_equal(one.worlds, other.worlds)
                assert np.array_equal(one.depends_on, other.depends_on)
                for mine, theirs in zip(one.operands, other.operands, strict=True):
                    assert np.array_equal(mine.at, theirs.at)
                    assert (mine.layer, mine.negated) == (theirs.layer, theirs.negated)
            undecided += int((stored.three_valued.depends_on > 0).sum())
    assert undecided > 50 and regions > 100


UNGUARDED = "(exists y (forall z (or (R x z) (exists w (iff (S y w) (R z w))))))"


@pytest.mark.parametrize("size", (65, 80))
def test_a_rule_without_guards_has_the_same_values_by_bits_and_by_joins(size):
    draw = random.Random(f"unguarded {size}")
    worlds = [sparse_world(draw, n, 12) for n in (size, 63)]
    structures = Structures(worlds, dict(SIGNATURE))
    formula = parse_formula(UNGUARDED, SIGNATURE)
    joined = JoinEvaluator(structures, False).evaluate(formula, 1 << 24)
    tabled = evaluate_bounds(formula, BoundsAlgebra(structures))
    assert PackedValues(formula, BoundsAlgebra(structures)).regions
    for one, other in zip(joined.three_valued, tabled.three_valued, strict=True):
        assert np.array_equal(one, other)


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


@pytest.mark.parametrize("regime", ("full", "partial", "skeptical"))
@pytest.mark.parametrize("text", (*GUARDED[:4], UNGUARDED))
def test_rules_are_judged_without_z3_up_to_256_elements(regime, text):
    draw = random.Random(f"{regime} {text}")
    theory = any_theory(draw)
    worlds = tuple(sparse_world(draw, 256, 18) for _ in range(3))
    worths = PreparedWorlds(theory, worlds, regime).judge(parse_formula(text, SIGNATURE))
    assert all(worth.reason == "" and worth.bound is not None for worth in worths)


@pytest.mark.parametrize("regime", ("full", "partial", "skeptical"))
def test_joins_and_z3_judge_rules_alike(monkeypatch, regime):
    monkeypatch.setattr(packed_tables, "FEW_CELLS", 0)
    monkeypatch.setattr(fast_path, "FEW_TIME", 0)
    monkeypatch.setattr(fast_path, "ROW_TIME", 0.001)
    draw = random.Random(f"joins and Z3 {regime}")
    joined = valid = 0
    real = JoinEvaluator.evaluate

    def evaluate(self, *given):
        nonlocal joined
        joined += 1
        return real(self, *given)

    monkeypatch.setattr(JoinEvaluator, "evaluate", evaluate)
    for _ in range(6):
        theory = any_theory(draw)
        worlds = tuple(world(draw, draw.randint(5, 8), draw.randint(3, 9)) for _ in range(2))
        fast = PreparedWorlds(theory, worlds, regime)
        solved = GroundedWorlds(theory, worlds, regime)
        for _ in range(5):
            alpha = rule(draw, theory, 5)
            worths = fast.judge(alpha)
            assert worths == solved.judge(alpha)
            assert (fast.extension(alpha) == solved.extension(alpha))[fast.structures.inside].all()
            valid += sum(bool(one.valid) for one in worths)
    assert joined > 25 and valid > 3


def test_the_cells_of_a_circuit_have_the_values_of_every_completion():
    draw = random.Random("completions of a circuit")
    checked = 0
    for _ in range(40):
        one = world(draw, draw.randint(2, 5), draw.randint(1, 6))
        structures = Structures([one], dict(SIGNATURE))
        formula = parse_formula(formula_text(draw, "PQRS", 4), SIGNATURE)
        every = Component(0, tuple(range(len(one.names))), tuple(range(len(one.unknown_atoms))))
        sets = [covered(formula, true, len(one.names)) for true in completions(one, closed=False)]
        for found in both_ways(structures, formula):
            (words,) = found.circuit.evaluate(
                ComponentIndex([every]), found.roots, found.bounds.true
            )
            # The naive judge lets the last atom change fastest, the patterns the first one.
            count = len(every.atoms)
            for number, marks in enumerate(sets):
                completion = int(f"{number:0{count}b}"[::-1], 2)
                bits = unpack_bits(words)[:, completion]
                assert set(np.flatnonzero(bits)) == set(marks)
                checked += 1
    assert checked > 200


def test_joins_give_up_when_they_need_too_many_rows():
    structures = Structures([world(random.Random("rows"), 9, 4)], dict(SIGNATURE))
    formula = parse_formula("(forall y (forall z (iff (R x y) (S y z))))", SIGNATURE)
    with pytest.raises(TableTooLarge):
        JoinEvaluator(structures, False).evaluate(formula, 700)
    assert JoinEvaluator(structures, False).evaluate(formula, 7_000)


def test_a_component_of_too_many_cells_goes_to_z3_with_a_reason():
    draw = random.Random("cells")
    names = tuple(f"a{n}" for n in range(200))
    open_ = tuple((n, 0) for n in range(MAX_COMPONENT_ATOMS - 1))
    world_ = World(
        "W", names, {"P": tuple((n,) for n in range(200)), "Q": (), "R": (), "S": ()}, {"R": open_}
    )
    text = "(exists y (exists z (and (iff (P x) (P y)) (and (R y z) (iff (= x y) (R y z))))))"
    prepared = PreparedWorlds(any_theory(draw), (world_,), "skeptical")
    with pytest.raises(BeyondFastPath, match=r"words for a component of 17 atoms"):
        prepared.judge(parse_formula(text, SIGNATURE))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 33, 64, 65, 128])
def test_elements_are_packed_as_bits_also_where_there_are_no_rows(size: int) -> None:
    for rows in (0, 1, 5):
        table = np.random.default_rng(size).random((rows, 2, size)) < 0.5
        packed = packed_tables.pack_elements(table)
        words = packed_tables.word_count(size)
        assert packed.shape == (rows, 2, words)
        octets = packed.view(np.uint8).reshape(rows, 2, words * packed.itemsize)
        bits = np.unpackbits(octets, axis=-1, bitorder="little")
        assert (bits[..., :size].astype(bool) == table).all() and not bits[..., size:].any()
