"""Reading, writing, measuring and renaming formulas."""

from __future__ import annotations

import random

import pytest
from peirce.records import DataError
from peirce.tools.logic import (
    PUBLISHED_THEORIES,
    SCOPE,
    SIGNATURE,
    FormulaBuilder,
    FormulaError,
    InvalidRule,
    Rule,
    find_published,
    format_infix,
    format_sexpr,
    parse_formula,
    parse_repaired,
    parse_theory,
    read_rule,
    substitute,
    theory_from_json,
)
from worlds_at_random import PREDICATES, any_theory, formula_text, holds, rule, world

SIZES = {  # ABD, appendix B.3, and the published evaluator's counts
    "(P x)": (2, 0),
    "(P)": (1, 0),
    "(= x y)": (3, 0),
    "(not (P x))": (3, 0),
    "(iff (P x) (Q x))": (5, 0),
    "(and (P x) (Q x) (R x x))": (9, 0),
    "(or (P x) (Q x) (P x) (Q x))": (11, 0),
    "(exists y (and (R x y) (P y)))": (8, 1),
    "(forall y (exists z (R y z)))": (7, 2),
    "(exists y (exists z (and (R x y) (R x z) (not (= y z)))))": (16, 2),
}


@pytest.mark.parametrize("text", SIZES)
def test_sizes_and_depths_are_the_papers(text):
    formula = parse_formula(text, PREDICATES)
    assert (formula.size, formula.depth) == SIZES[text]


BROKEN = {
    "": ("end", 0),
    "   ": ("end", 3),
    "P x": ("open", 0),
    "∃y (P y)": ("open", 0),
    "[exists y (P y)]": ("open", 0),
    '{"formula": "(P x)"}': ("open", 0),
    "()": ("unknown", 1),
    "(T x)": ("unknown", 1),
    "(AND (P x) (Q x))": ("unknown", 1),
    "(-> (P x) (Q x))": ("unknown", 1),
    "(xor (P x) (Q x))": ("unknown", 1),
    "((P x))": ("unknown", 1),
    "(!= x y)": ("unknown", 1),
    "(p x)": ("unknown", 1),
    "(or)": ("few", 0),
    "(and (P x))": ("few", 0),
    "(not (P x) (Q x))": ("close", 11),
    "(implies (P x) (Q x) (P x))": ("close", 21),
    "(= x y z)": ("close", 7),
    "(exists (y) (P y))": ("variable", 8),
    "(forall yy (P yy))": ("variable", 8),
    "(exists Y (P Y))": ("variable", 8),
    "(P x) (Q x)": ("trailing", 6),
    "(P x) extra": ("trailing", 6),
    "(P x))": ("trailing", 5),
    "(= x)": ("end", 5),
    "(forall y)": ("open", 9),
    "(not)": ("open", 4),
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_formula_is_told_with_its_kind_and_place(text):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text, PREDICATES)
    assert (caught.value.kind, caught.value.place) == BROKEN[text]
    assert f"character {BROKEN[text][1] + 1}" in caught.value.sentence


def test_missing_parentheses_at_the_end_are_added_and_counted_and_nothing_else_is_mended():
    for text, closed in {
        "(or (P x) (Q x)": 1,
        "(exists y (and (R x y) (P y": 3,
        "(P x": 1,
        "(P x)": 0,
        "(not (R x x)  \n": 1,
    }.items():
        assert parse_repaired(text, PREDICATES).closed == closed
    for text, kind in {
        "(and (P x)": "few",  # the repaired text is none either
        "(P x) (Q x": "trailing",
        "(P x))(": "trailing",
        ")(P x": "open",
        "(or (P x) (T x)": "unknown",
        "(= x)": "end",  # nothing is open: the term that is missing is not made up
    }.items():
        with pytest.raises(FormulaError) as caught:
            parse_repaired(text, PREDICATES)
        assert caught.value.kind == kind, text


def test_what_is_written_is_read_as_the_same_formula():
    draw = random.Random("written")
    for _ in range(300):
        formula = parse_formula(formula_text(draw, SIGNATURE, 6), PREDICATES)
        assert parse_formula(format_sexpr(formula), PREDICATES) == formula
        assert hash(parse_formula(format_sexpr(formula), PREDICATES)) == hash(formula)


def test_the_usual_notation_shows_every_grouping_that_matters():
    for text, shown in {
        "(exists y (and (R x y) (P y)))": "∃y (R(x, y) ∧ P(y))",
        "(not (= x y))": "x ≠ y",
        "(not (not (P x)))": "¬¬P(x)",
        "(and (P x) (or (Q x) (P x)))": "P(x) ∧ (Q(x) ∨ P(x))",
        "(or (P x) (and (Q x) (P x)))": "P(x) ∨ Q(x) ∧ P(x)",
        "(implies (implies (P x) (Q x)) (P x))": "(P(x) → Q(x)) → P(x)",
        "(implies (P x) (implies (Q x) (P x)))": "P(x) → (Q(x) → P(x))",
        "(iff (P x) (iff (Q x) (P x)))": "P(x) ↔ (Q(x) ↔ P(x))",
        "(and (P x) (Q x) (P x))": "P(x) ∧ Q(x) ∧ P(x)",
        "(not (exists y (P y)))": "¬∃y P(y)",
        "(and (exists y (P y)) (Q x))": "∃y P(y) ∧ Q(x)",
        "(not (and (P x) (Q x)))": "¬(P(x) ∧ Q(x))",
    }.items():
        assert format_infix(parse_formula(text, PREDICATES)) == shown


def test_nesting_of_any_depth_is_read_measured_and_written():
    deep = "(not " * 10_000 + "(P x)" + ")" * 10_000
    formula = parse_formula(deep, PREDICATES)
    assert (formula.size, formula.depth) == (10_002, 0)
    assert format_sexpr(formula) == deep and format_infix(formula).count("¬") == 10_000
    binders = "(exists y " * 10_000 + "(R x y)" + ")" * 10_000
    found = parse_formula(binders, PREDICATES)
    assert (found.depth, found.free) == (10_000, {"x"})
    chain = "(and " + "(P x) " * 10_000 + ")"
    assert parse_formula(chain, PREDICATES).size == 2 * 10_000 + 9_999
    assert parse_repaired(deep[:-10_000], PREDICATES).closed == 10_000
    assert isinstance(read_rule(deep, PUBLISHED_THEORIES["TH2"]), Rule)
    assert substitute(found, "z").free == {"z"}


def test_a_formula_of_more_parts_than_can_be_judged_is_too_large():
    text = "(P x)"
    for number in range(15_000):
        text = f"(or (not {text}) (R x x))" if number % 2 else f"(not {text})"
    found = read_rule(text, PUBLISHED_THEORIES["TH2"])
    assert isinstance(found, InvalidRule) and found.reason == "too_large"


def test_renaming_says_of_another_element_what_was_said_of_x():
    draw = random.Random("renamed")
    caught = 0
    for _ in range(300):
        alpha = rule(draw, any_theory(draw), 5)
        about = substitute(alpha, "y")
        assert "x" not in about.free
        caught += "y" in {node.name for node in alpha.nodes}
        one = world(draw, 3, 0)
        true = {(p, at) for p, atoms in one.true.items() for at in atoms}
        for element in range(3):
            assert holds(alpha, true, 3, {"x": element}) == holds(about, true, 3, {"y": element})
    assert caught > 50


def test_a_builder_makes_equal_parts_once():
    formula = parse_formula("(and (P x) (or (P x) (not (P x))))", PREDICATES)
    assert len(formula.nodes) == 4 and formula.size == 2 + 1 + (2 + 1 + 3)
    builder = FormulaBuilder()
    assert builder.include(formula) == builder.include(formula)


# --- what may be a rule -------------------------------------------------------------------------


def test_scope_is_checked_in_order_each_with_its_reason():
    theory = PUBLISHED_THEORIES["TH2"]  # P, R and S may be used, Q not
    for text, reason in {
        "(and (Ab x) (Q x))": "defines_itself",
        "(and (Q x) (P y))": "forbidden_predicate",
        "(and (P y) (= x a0))": "unbound_variable",
        "(= x a0)": "object_name",
        "(P X)": "object_name",
        "(exists y (P x1))": "object_name",
        "": "missing",
        "no formula": "syntax",
    }.items():
        found = read_rule(text, theory)
        assert isinstance(found, InvalidRule) and found.reason == reason, text
        assert found.detail and (found.formula is None) == (reason not in SCOPE)
    assert isinstance(read_rule("(= x a0)", theory, objects=True), Rule)
    assert isinstance(read_rule("(exists y (P y))", theory), Rule)  # closed: of no element


# --- theories -----------------------------------------------------------------------------------


def test_the_seven_theories_have_both_names_and_default_form():
    assert [theory.names for theory in PUBLISHED_THEORIES.values()] == [
        ("T1", "TH2"), ("T2", "TH7"), ("T3", "TH10"), ("T4", "TH11"), ("T5", "TH12"),
        ("T6", "TH3"), ("T7", "TH5"),
    ]  # fmt: skip
    assert find_published("T4") is find_published("TH11") and find_published("T8") is None
    violations = {
        theory.names[0]: format_infix(theory.violation) for theory in PUBLISHED_THEORIES.values()
    }
    assert violations["T1"] == "∃y (R(x, y) ∧ P(y)) ∧ ¬Q(x)"
    assert violations["T7"] == "P(x) ∧ ¬∀y (R(x, y) → Q(y))"
    antecedents = {
        theory.names[0]: format_sexpr(theory.antecedent) for theory in PUBLISHED_THEORIES.values()
    }
    assert antecedents["T3"] == "(exists y (and (S x y) (P y)))" and antecedents["T7"] == "(P x)"
    for theory in PUBLISHED_THEORIES.values():
        assert theory.antecedent.predicates <= theory.allowed
        assert theory_from_json(theory.as_json()) == theory
        assert "Ab" in theory.forbidden and not set(theory.forbidden) & theory.allowed


def test_the_antecedent_is_read_off_any_theory_of_default_form():
    def antecedent(*axioms):
        found = parse_theory(["own"], axioms, {"P": 1, "Q": 1, "R": 2}, ["P"], "here").antecedent
        return None if found is None else format_sexpr(found)

    unless = "(forall y (implies (and (R y y) (and (not (Ab y)) (P y))) (Q y)))"
    assert antecedent(unless) == "(and (R x x) (P x))"
    always = "(forall x (implies (not (Ab x)) (Q x)))"
    assert antecedent(always) == "(= x x)"
    assert antecedent(unless, always) == "(or (and (R x x) (P x)) (= x x))"
    assert antecedent("(forall x (implies (P x) (or (Q x) (Ab x))))") is None
    assert antecedent(unless, "(exists x (Ab x))") is None


@pytest.mark.parametrize(
    ("axioms", "signature", "allowed", "said"),
    [
        (["(forall x (P x)"], {"P": 1}, ["P"], "axiom 1: the formula ends too early"),
        (["(forall x (Ab y))"], {"P": 1}, ["P"], "axiom 1: 'y' is bound by no quantifier"),
        (["(forall x (implies (P a0) (Ab x)))"], {"P": 1}, ["P"], "names the object 'a0'"),
        (["(forall x (implies (P x x) (Ab x)))"], {"P": 1}, ["P"], "P takes 1 arguments, not 2"),
        (["(forall x (P x))"], {"P": 1}, ["P"], "no axiom speaks of Ab"),
        (["(forall x (Ab x))"], {"Ab": 1}, [], "Ab is what a rule defines"),
        (["(forall x (Ab x))"], {"P": "1"}, [], "predicate 'P' has '1' arguments"),
        (["(forall x (Ab x))"], {"P": 1}, ["Q"], "rules may hold 'Q'"),
        (["(forall x (implies (Q x) (Ab x)))"], {"P": 1}, ["P"], "'Q' is no operator"),
    ],
)
def test_a_theory_that_is_none_is_one_sentence(axioms, signature, allowed, said):
    with pytest.raises(DataError) as caught:
        parse_theory(["own"], axioms, signature, allowed, "here")
    assert said in str(caught.value) and str(caught.value).startswith("here")


def test_a_rule_has_at_most_fifty_different_variables() -> None:
    theory = next(iter(PUBLISHED_THEORIES.values()))
    letters = [c for c in map(chr, range(ord("a"), 0x2000)) if c.islower()][:51]
    for count, reason in ((50, "unbound_variable"), (51, "too_large")):
        found = read_rule(f"(and {' '.join(f'(P {c})' for c in letters[:count])})", theory)
        assert isinstance(found, InvalidRule) and found.reason == reason
