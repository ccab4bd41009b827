"""The fast path and Z3 against a naive judge, and against each other."""

from __future__ import annotations

import random

import numpy as np
import pytest
from peirce.records import DataError
from peirce.tests.counts import drawn
from peirce.tools.logic import (
    EVERY_COMPLETION,
    LIMITED,
    MAX_COMPONENT_ATOMS,
    NO_COMPLETION,
    PUBLISHED_THEORIES,
    REGIMES,
    SIGNATURE,
    SOLVER_LIMIT,
    SOME_COMPLETIONS,
    TOO_LARGE,
    BeyondFastPath,
    FormulaBuilder,
    GroundedWorlds,
    PreparedWorlds,
    World,
    explain_rule,
    parse_formula,
    parse_theory,
)

from .worlds_at_random import (
    any_theory,
    completions,
    covered,
    formula_text,
    holds,
    naive,
    rule,
    world,
)


@pytest.mark.counted
@pytest.mark.parametrize("regime", REGIMES)
def test_the_fast_path_and_z3_say_what_going_through_all_completions_says(regime):
    draw = random.Random(f"naive {regime}")
    seen = set()
    for _ in range(drawn(20, soak=40)):
        theory = any_theory(draw)
        worlds = tuple(world(draw, draw.randint(1, 4), draw.randint(0, 5)) for _ in range(3))
        fast, solved = (
            PreparedWorlds(theory, worlds, regime),
            GroundedWorlds(theory, worlds, regime),
        )
        for _ in range(3):
            alpha = rule(draw, theory)
            expected = [naive(theory, one, regime, alpha) for one in worlds]
            assert [tuple(worth)[:3] for worth in fast.judge(alpha)] == expected
            assert [tuple(worth)[:3] for worth in solved.judge(alpha)] == expected
            seen.update(valid for valid, _, _ in expected)
    assert seen == {True, False}


@pytest.mark.parametrize("regime", REGIMES)
def test_both_paths_agree_on_worlds_of_the_published_size(regime):
    draw = random.Random(f"large {regime}")
    judged = beyond = 0
    for _ in range(12):
        theory = any_theory(draw)
        worlds = tuple(
            world(draw, draw.randint(8, 12), draw.randint(4, 20), name=str(n)) for n in range(3)
        )
        fast, solved = (
            PreparedWorlds(theory, worlds, regime),
            GroundedWorlds(theory, worlds, regime),
        )
        for _ in range(6):
            alpha = rule(draw, theory, 5)
            try:
                worths = fast.judge(alpha)
            except BeyondFastPath:
                beyond += 1
                continue
            assert worths == solved.judge(alpha)
            assert (fast.extension(alpha) == solved.extension(alpha))[fast.structures.inside].all()
            judged += 1
    assert judged > 10 * beyond


def test_extensions_are_those_of_all_completions():
    draw = random.Random("extensions")
    for _ in range(40):
        theory, one = any_theory(draw), world(draw, draw.randint(2, 5), draw.randint(1, 5))
        alpha = rule(draw, theory)
        size = len(one.names)
        sets = [covered(alpha, true, size) for true in completions(one, closed=False)]
        expected = [
            EVERY_COMPLETION if all(e in s for s in sets) else SOME_COMPLETIONS if any(e in s for s in sets)
            else NO_COMPLETION
            for e in range(size)
        ]  # fmt: skip
        assert PreparedWorlds(theory, (one,), "partial").extension(alpha)[0].tolist() == expected
        assert GroundedWorlds(theory, (one,), "partial").extension(alpha)[0].tolist() == expected


@pytest.mark.parametrize("regime", REGIMES)
def test_an_explanation_names_what_breaks_the_rule_and_nothing_else(regime):
    draw = random.Random(f"explained {regime}")
    told = 0
    for _ in range(200):
        theory, one = any_theory(draw), world(draw, draw.randint(2, 4), draw.randint(1, 5))
        alpha, size = rule(draw, theory), len(one.names)
        prepared = PreparedWorlds(theory, (one,), regime)
        (worth,), (why,) = prepared.judge(alpha), explain_rule(prepared, alpha)
        assert bool(why.breaches) == (worth.valid is False)
        violated = prepared.violation
        cases = list(completions(one, regime == "full"))
        for breach in why.breaches:
            told += 1
            either = None in breach.completion.values()
            for true in (true for true in cases if _fits(one, true, breach.completion)):
                broken = [
                    holds(violated, true, size, {"x": at})
                    and not holds(alpha, true, size, {"x": at})
                    for at in map(one.names.index, breach.elements)
                ]
                assert any(broken) if either else all(broken)
        for element in why.needless:
            at = one.names.index(element)
            assert not any(holds(violated, true, size, {"x": at}) for true in cases)
    assert told > 20


def _fits(one: World, true, completion) -> bool:
    written = {f"{p}({', '.join(one.names[e] for e in at)})" for p, at in true}
    return all(yes is None or (atom in written) == yes for atom, yes in completion.items())


OWN = {
    "two defaults": [
        "(forall x (implies (and (P x) (not (Ab x))) (Q x)))",
        "(forall y (implies (and (not (Ab y)) (Q y)) (exists z (R y z))))",
    ],
    "Ab elsewhere": [
        "(forall x (implies (and (P x) (not (Ab x))) (exists y (and (R x y) (not (Ab y))))))",
    ],
    "a fact beside": [
        "(forall x (implies (and (P x) (not (Ab x))) (Q x)))",
        "(exists x (and (Q x) (not (Ab x))))",
    ],
    "for all pairs": ["(forall x (forall y (implies (R x y) (or (Ab x) (Ab y)))))"],
    "no Ab repairs": ["(forall x (and (P x) (or (Ab x) (not (Ab x)))))"],
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("regime", REGIMES)
def test_theories_of_any_form_are_judged_as_all_completions_say(name, regime):
    theory = parse_theory([name], OWN[name], SIGNATURE, ["P", "Q", "R"], "here")
    draw = random.Random(f"{name} {regime}")
    for _ in range(8):
        worlds = tuple(world(draw, draw.randint(1, 3), draw.randint(0, 3)) for _ in range(2))
        solved = GroundedWorlds(theory, worlds, regime)
        alpha = rule(draw, theory, 3)
        expected = [naive(theory, one, regime, alpha) for one in worlds]
        assert [tuple(worth)[:3] for worth in solved.judge(alpha)] == expected
        if theory.violation is None:
            with pytest.raises(BeyondFastPath, match="default form"):
                PreparedWorlds(theory, worlds, regime).judge(alpha)
        else:
            worths = PreparedWorlds(theory, worlds, regime).judge(alpha)
            assert [tuple(worth)[:3] for worth in worths] == expected
    assert (theory.violation is not None) == (name == "two defaults")


def test_a_theory_that_no_ab_repairs_has_no_bound_and_says_so():
    theory = parse_theory(["own"], OWN["no Ab repairs"], SIGNATURE, ["P"], "here")
    lacking = World("W", ("a", "b"), {"P": ((0,),), "Q": (), "R": (), "S": ()})
    (worth,) = GroundedWorlds(theory, (lacking,), "full").judge(parse_formula("(P x)", SIGNATURE))
    assert worth == (False, None, None, "unrepairable")


def test_what_the_solver_has_no_resources_for_is_neither_valid_nor_invalid():
    draw = random.Random("limits")
    worlds = tuple(world(draw, 10, 18, name=str(n)) for n in range(2))
    alpha = parse_formula("(exists y (and (R x y) (exists z (and (S y z) (R z x)))))", SIGNATURE)
    for regime in ("partial", "skeptical"):
        worths = GroundedWorlds(PUBLISHED_THEORIES["TH12"], worlds, regime, resources=1).judge(
            alpha
        )
        assert {(one.valid, one.cost) for one in worths} == {(None, None)}
        assert {one.reason for one in worths} == {SOLVER_LIMIT}
        marks = GroundedWorlds(PUBLISHED_THEORIES["TH12"], worlds, regime, resources=1).extension(
            alpha
        )
        assert LIMITED in marks


def test_a_rule_with_too_many_variables_at_once_is_too_large_for_both():
    text = "(= x a)"
    for variable in "abcdefgh":
        text = f"(exists {variable} (or (R x {variable}) {text}))"
    wide = "(iff (R a b) (iff (R c d) (iff (R e f) (R g h))))"
    for variable in "abcdefgh":
        wide = f"(exists {variable} {wide})"
    draw = random.Random("wide")
    worlds = (world(draw, 12, 3),)
    assert PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds, "partial").judge(
        parse_formula(text, SIGNATURE)
    )
    with pytest.raises(BeyondFastPath, match="tables are too large"):
        PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds, "partial").judge(
            parse_formula(wide, SIGNATURE)
        )
    (worth,) = GroundedWorlds(PUBLISHED_THEORIES["TH2"], worlds, "partial").judge(
        parse_formula(wide, SIGNATURE)
    )
    assert (worth.valid, worth.cost, worth.reason) == (None, None, TOO_LARGE)


def test_a_rule_of_many_wide_parts_is_refused_before_it_is_evaluated():
    text = "(P x)"
    for letter in "uvwzyijklmnopq":
        text = f"(and (exists {letter} (and (R a b) (R c d) (R e {letter}))) {text})"
    for variable in "abcde":
        text = f"(exists {variable} {text})"
    worlds = tuple(world(random.Random("long"), 16, 12, name=str(n)) for n in range(3))
    huge = parse_formula(text, SIGNATURE)
    for regime in REGIMES:
        with pytest.raises(BeyondFastPath, match="tables are too large"):
            PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds, regime).judge(huge)
    (worth, *_) = GroundedWorlds(PUBLISHED_THEORIES["TH2"], worlds, "partial").judge(huge)
    assert (worth.valid, worth.reason) == (None, TOO_LARGE)


def test_a_component_of_many_atoms_is_beyond_the_fast_path_and_z3_judges_it():
    size = MAX_COMPONENT_ATOMS + 4
    names = tuple(f"a{n}" for n in range(size))
    chain = World(
        "W", names, {"P": ((0,),), "Q": (), "R": (), "S": ()},
        {"R": tuple((n, n + 1) for n in range(size - 1))},
    )  # fmt: skip
    path = "(P x)"
    for variable in "bcdefgh":
        path = f"(exists {variable} (and (R x {variable}) {path}))"
    some = parse_formula("(exists y (exists z (R y z)))", SIGNATURE)
    prepared = PreparedWorlds(PUBLISHED_THEORIES["TH3"], (chain,), "skeptical")
    with pytest.raises(BeyondFastPath, match=f"{size - 1} unknown atoms"):
        prepared.judge(some)
    (worth,) = GroundedWorlds(PUBLISHED_THEORIES["TH3"], (chain,), "skeptical").judge(some)
    assert worth == (False, None, 1, "")


def test_an_always_true_rule_is_valid_and_costs_every_element():
    draw = random.Random("true")
    for regime in REGIMES:
        worlds = tuple(world(draw, 5, 4, name=str(n)) for n in range(3))
        for theory in PUBLISHED_THEORIES.values():
            worths = PreparedWorlds(theory, worlds, regime).judge(
                parse_formula("(= x x)", SIGNATURE)
            )
            assert [(one.valid, one.cost) for one in worths] == [(True, 5)] * 3
            assert all(one.bound <= one.cost for one in worths)


def test_names_of_objects_are_compared_as_text():
    small = World("W", ("a0", "a1"), {"P": (), "Q": (), "R": ((0, 1),), "S": ()})
    prepared = PreparedWorlds(PUBLISHED_THEORIES["TH2"], (small,), "full")
    for text, marks in {
        "(= x a1)": [0, 1], "(R x a1)": [1, 0], "(R a0 x)": [0, 1], "(= x a7)": [0, 0],
        "(= a7 a7)": [1, 1], "(= a0 a1)": [0, 0], "(R x a7)": [0, 0], "(not (R x a7))": [1, 1],
        "(P x x)": [0, 0], "(R x)": [0, 0], "(not (P))": [1, 1], "(exists y (R y y))": [0, 0],
    }.items():  # fmt: skip
        rule_ = parse_formula(text, SIGNATURE)
        assert prepared.extension(rule_)[0].tolist() == marks, text
        assert (
            GroundedWorlds(PUBLISHED_THEORIES["TH2"], (small,), "full").extension(rule_)[0].tolist()
            == marks
        )


def test_worlds_of_different_sizes_do_not_see_each_others_padding():
    draw = random.Random("padding")
    for _ in range(20):
        theory = any_theory(draw)
        worlds = [world(draw, size, 3, name=str(size)) for size in (1, 3, 7)]
        alpha = rule(draw, theory)
        for regime in REGIMES:
            together = PreparedWorlds(theory, tuple(worlds), regime).judge(alpha)
            alone = [PreparedWorlds(theory, (one,), regime).judge(alpha)[0] for one in worlds]
            assert list(together) == alone


def test_random_formulas_shadow_variables():
    draw = random.Random("shadow")
    texts = [formula_text(draw, "PR", 5) for _ in range(200)]
    assert sum("(exists x" in text or "(forall x" in text for text in texts) > 20


def test_the_codes_of_an_extension_are_small_numbers():
    assert sorted({NO_COMPLETION, EVERY_COMPLETION, SOME_COMPLETIONS}) == [0, 1, 2]
    assert np.int8(LIMITED) < 0


def test_a_signature_beyond_what_can_be_grounded_is_refused():
    with pytest.raises(DataError, match="0 to 3"):
        parse_theory(["own"], ["(forall x (Ab x))"], {"P": 9}, ["P"], "here")


@pytest.mark.soak
def test_both_paths_agree_on_5000_random_pairs_over_all_regimes_and_theories():
    draw = random.Random("5,000 pairs")
    judged = beyond = valid = 0
    for regime in REGIMES:
        for theory in PUBLISHED_THEORIES.values():
            for _ in range(24):
                worlds = tuple(
                    world(draw, draw.randint(9, 12), draw.randint(8, 23), name=str(n))
                    for n in range(2)
                )
                fast, solved = (
                    PreparedWorlds(theory, worlds, regime),
                    GroundedWorlds(theory, worlds, regime),
                )
                for _ in range(10):
                    alpha = rule(draw, theory, draw.randint(2, 6))
                    if draw.random() < 0.5:  # or few would be valid
                        alpha = _with_antecedent(theory, alpha)
                    judged += 1
                    try:
                        worths = fast.judge(alpha)
                    except BeyondFastPath:
                        beyond += 1
                        continue
                    assert worths == solved.judge(alpha), (theory.title, regime)
                    valid += all(one.valid for one in worths)
    assert judged == 5_040 and beyond < 500 and valid > 1_000


def _with_antecedent(theory, alpha):
    """The rule or what triggers the default: valid everywhere, at a cost that differs."""
    builder = FormulaBuilder()
    before = theory.axioms[0]
    implies = before.nodes[before.nodes[-1].parts[0]]
    parts = [builder.include(alpha)]
    places = []
    for node in before.nodes:
        places.append(builder.add(node._replace(parts=tuple(places[p] for p in node.parts))))
    trigger = before.nodes[implies.parts[0]].parts[0]
    return builder.formula(builder.connect("or", [*parts, places[trigger]]))
