"""Rules of others made better: valid, and strictly better by the score without what further worlds
say; or nothing.

Internals: the mender is given rules that no proposer would send, and its score is recomputed.
"""

from __future__ import annotations

import random

import pytest
from peirce.search.logic.engine import LARGEST, VARIANTS, Space, _variants, repair_rule
from peirce.search.logic.engine import Problem as Engine
from peirce.search.logic.ranking import TRADE_OFFS, CandidateRules, Ranking
from peirce.tools.logic import Formula, PreparedWorlds, format_sexpr, parse_formula

from ..tools.logic.worlds_at_random import rule
from .logic_problems import default, found_of, of_regime, worlds_of

REGIMES = ("full", "partial", "skeptical")


def ranking_of(regime: str, trade_off: str = "balanced") -> Ranking:
    return Ranking(found_of(of_regime(regime).id), TRADE_OFFS[trade_off])


def read(text: str) -> Formula:
    return parse_formula(text, "PQRS")


def score(ranking: Ranking, formula: Formula) -> float:
    """Infinity where it is not valid."""
    worths = ranking.found.prepared.judge(formula)
    if not all(worth.valid for worth in worths):
        return float("inf")
    return ranking.plain_score(sum(worth.cost for worth in worths), formula.size)


def deep(levels: int) -> str:
    """A rule of so many nested quantifiers."""
    text, letters = "(P {})", "xyzwuvab"
    for level in range(levels, 0, -1):
        here, there = letters[level - 1], letters[level]
        inner = text.format(there)
        text = f"({'exists' if level % 2 else 'forall'} {there} (or (R {{0}} {there}) {inner}))"
        text = text.replace("{0}", "{}") if level > 1 else text.replace("{0}", here)
    return text


GIVEN = {
    "not valid": "(and (P x) (not (P x)))",
    "all": "(= x x)",
    "an object apart": "(and (P x) (exists y (and (R x y) (not (= x y)))))",
    "depth 6": deep(6),
    "300 nodes": "(or " * 100 + "(P x)" + " (R x x))" * 100,
    "300 different nodes": "(or (P x) " * 150
    + "(exists y (and (R x y) (exists z (R y z))))"
    + ")" * 150,
}


LARGE = ("300 nodes", "300 different nodes")  # dear: in one regime alone
CASES = [(r, name) for name in GIVEN for r in REGIMES if name not in LARGE or r == "partial"]


@pytest.mark.parametrize(("regime", "name"), CASES)
def test_a_mended_rule_is_valid_and_strictly_better(regime, name) -> None:
    ranking, given = ranking_of(regime), read(GIVEN[name])
    assert given.predicates <= ranking.found.prepared.theory.allowed
    found = repair_rule(ranking, given)
    assert found is not None, "all of these are bad"
    assert score(ranking, found) < score(ranking, given)
    assert found.predicates <= ranking.found.prepared.theory.allowed and found.free <= {"x"}
    assert repair_rule(ranking, given) == found, "and again the same"


@pytest.mark.parametrize("trade_off", TRADE_OFFS)
@pytest.mark.parametrize("regime", REGIMES)
def test_random_rules_become_better_or_stay(regime, trade_off) -> None:
    ranking = ranking_of(regime, trade_off)
    draw = random.Random(f"rules {regime}")
    for _ in range(6):
        given = rule(draw, ranking.found.prepared.theory)
        found = repair_rule(ranking, given)
        if found is not None:
            assert score(ranking, found) < score(ranking, given), format_sexpr(given)


@pytest.mark.parametrize("regime", REGIMES)
def test_mending_comes_to_an_end_at_a_rule_that_it_leaves_alone(regime) -> None:
    ranking, given, scores = ranking_of(regime), read("(= x x)"), []
    while (found := repair_rule(ranking, given)) is not None:
        given = found
        scores.append(score(ranking, given))
        assert len(scores) < 10
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] <= score(ranking, next(iter(ranking)).formula)


@pytest.mark.parametrize("regime", ["full", "skeptical"])
def test_a_needless_conjunct_is_dropped(regime) -> None:
    """A rule that the search leaves alone, joined with what holds of all."""
    ranking = ranking_of(regime)
    good = read("(= x x)")
    while (found := repair_rule(ranking, good)) is not None:
        good = found
    for text in ("(and {} (or (P x) (not (P x))))", "(and (= x x) {})", "(or {} (not (= x x)))"):
        longer = read(text.format(format_sexpr(good)))
        better = repair_rule(ranking, longer)
        assert better is not None and score(ranking, better) <= score(ranking, good)


def test_without_a_rule_to_mend_the_first_of_the_search_is_given() -> None:
    ranking = ranking_of("full")
    assert repair_rule(ranking, None) == next(iter(ranking)).formula


def test_where_the_search_finds_no_rule_a_bad_one_is_still_mended_or_left() -> None:
    theory = default("(P x)", "(Q x)", {"P": 1, "Q": 1, "R": 2}, "R")
    worlds = worlds_of("left", (3, 4), 0, {"P": 1, "Q": 1, "R": 2})
    for regime in REGIMES:
        ranking = Ranking(
            CandidateRules(PreparedWorlds(theory, worlds, regime), "left", 200), TRADE_OFFS["safe"]
        )
        for text in ("(R x x)", "(= x x)", "(not (= x x))", "(exists y (forall x (R x y)))"):
            found = repair_rule(ranking, read(text))
            if found is not None:
                assert score(ranking, found) < score(ranking, read(text))


def test_variants_are_rules_of_one_variable_each_once_and_hardly_larger() -> None:
    draw = random.Random("variants")
    for _ in range(30):
        theory = of_theory()
        given = rule(draw, theory, 5)
        variants = list(_variants(given))
        assert variants[0] == given and len(set(variants)) == len(variants) <= VARIANTS
        assert all(one.free <= {"x"} for one in variants)
        assert all(one.predicates <= given.predicates for one in variants)
        assert all(len(one.nodes) <= len(given.nodes) + 1 for one in variants)
    parts = {format_sexpr(one) for one in _variants(read("(and (P x) (or (Q x) (R x x)))"))}
    assert {"(P x)", "(or (Q x) (R x x))", "(and (P x) (Q x))", "(or (P x) (or (Q x) (R x x)))",
            "(and (not (P x)) (or (Q x) (R x x)))", "(and (P x) (and (Q x) (R x x)))"} <= parts  # fmt: skip
    quantified = {format_sexpr(one) for one in _variants(read("(exists y (and (R x y) (P y)))"))}
    assert "(forall y (and (R x y) (P y)))" in quantified and "(exists y (R x y))" in quantified
    assert "(and (R x y) (P y))" not in quantified, "y would be free"
    wide = read("(or " * 250 + "(P x)" + "".join(f" {_unlike(k)})" for k in range(250)))
    assert len(wide.nodes) > LARGEST and list(_variants(wide)) == [wide]


def _unlike(number: int) -> str:
    letters = [chr(ord("b") + (number // 20**k) % 20) for k in range(3)]
    return "".join(f"(exists {one} " for one in letters) + "(R x b)" + ")))"


def of_theory():
    return found_of(of_regime("full").id).prepared.theory


@pytest.mark.parametrize(
    "text",
    ["", "no formula", "(P x", "(P x))", "(Ab x)", "(Nothing x)", "(P a0)", "(R y y)", "(P x x x)",
     "(S x x)", "(Q x)", "(P x) " * 3, "(and " * 3_000 + "(P x)" + " (P x))" * 3_000],
)  # fmt: skip
@pytest.mark.parametrize("regime", REGIMES)
def test_whatever_text_is_given_nothing_raises(regime, text) -> None:
    engine = engine_of(regime)
    found = engine.repair(text)
    if found is not None:
        formula = read(found.source)
        assert score(engine.ranking, formula) < float("inf")
        assert found.description.endswith(".")


_ENGINES: dict[str, Engine] = {}


def engine_of(regime: str) -> Engine:
    if regime not in _ENGINES:
        problem = of_regime(regime)
        shown = [[o.input, o.output] for o in problem.shown]
        told = {**problem.public, "trade_off": ""}
        _ENGINES[regime] = Engine(shown, Space([]), 2_000, told)
    return _ENGINES[regime]
