"""Filters of generated instances of ABD: each rejects what it must; competitors are beaten, cheaters
found, references refined, templates limited.

Internals: each filter is shown the instance that it must reject, which no seed would give.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import peirce
import pytest
from abd_sets import REGIMES, made, of
from peirce.records import UsageError
from peirce.tasks.logic.audit import audit_file
from peirce.tasks.logic.generation.candidates import Candidate, CandidateSource
from peirce.tasks.logic.generation.competitors import (
    Competitor,
    behaviour,
    build_pool,
    select_mined_rules,
)
from peirce.tasks.logic.generation.filters import (
    HOLDOUT_CONDITIONS,
    SET_CONDITIONS,
    WORLD_CONDITIONS,
    Judgement,
    PromptRanges,
    TemplateUses,
    holdout_fault,
    max_uses,
    set_fault,
    world_fault,
)
from peirce.tasks.logic.generation.hardening import (
    INVALID_COST,
    CandidatePool,
    choose_worlds,
    compute_costs,
    find_survivors,
)
from peirce.tasks.logic.generation.instances import (
    Cheater,
    Reference,
    beats_cheater,
    draw_template,
    find_cheapest_cheater,
    refine_reference,
    try_template,
)
from peirce.tasks.logic.generation.mutants import mutants
from peirce.tasks.logic.generation.recipes import DIFFICULTIES, MARGIN, get_recipe
from peirce.tasks.logic.generation.series import generate_instances
from peirce.tasks.logic.generation.set_files import save_instances
from peirce.tasks.logic.generation.templates import Template, template_library
from peirce.tools.logic import (
    PUBLISHED_THEORIES,
    SIGNATURE,
    PreparedWorlds,
    RandomStream,
    find_published,
    parse_formula,
)

T2 = find_published("T2")
assert T2 is not None


def formula(text: str):
    return parse_formula(text, tuple(SIGNATURE))


def named(name: str) -> Template:
    return next(one for one in template_library() if one.id == name)


PLANTED = named("t2-some-R(P&every-R(P))")
CLOSE = named("t2-P&some-R(some-R(P))")  # "t1-P&some-R(P)" is nearly as good


# --- filters ----------------------------------------------------------------------------

FULL = get_recipe("full", "easy")
GOOD = Judgement(2, 1, 10)
WORLDS = {
    "the reference is valid": GOOD._replace(cost=None),
    "an exception is needed": GOOD._replace(cost=0, bound=0),
    "the reference costs little more than the lower bound": GOOD._replace(cost=3),
    "few of the elements need to be exceptions": Judgement(3, 2, 9),
    "the reference marks few of the elements": Judgement(3, 2, 8),
}


@pytest.mark.parametrize("claim", WORLD_CONDITIONS)
def test_a_world_filter_rejects_what_breaks_it_alone(claim: str) -> None:
    assert not world_fault(GOOD, FULL)
    wide = replace(FULL, max_exception_share=1.0) if "marks" in claim else FULL
    broken = [said for said, holds in WORLD_CONDITIONS.items() if not holds(WORLDS[claim], wide)]
    assert broken == [claim] and world_fault(WORLDS[claim], wide) == claim


def test_floors_reject_sets_that_are_too_easy_together() -> None:
    enough = [Judgement(2, 1, 10)] * 8
    assert not set_fault(enough, FULL)
    bound, cost = SET_CONDITIONS
    assert set_fault([Judgement(2, 1, 10)] * 7, FULL) == bound
    assert set_fault([Judgement(1, 1, 10)] * 8, FULL) == cost


def test_an_instance_below_the_floors_is_rejected() -> None:
    assert T2 is not None
    assert any(try_template(f"floor {k}", T2, FULL, CLOSE) is not None for k in range(3))
    for floors in ((99, 0), (0, 99)):
        high = replace(FULL, floors=floors)
        assert all(try_template(f"floor {k}", T2, high, CLOSE) is None for k in range(3))


def test_holdouts_are_within_the_range_of_the_prompt_worlds() -> None:
    range_ = PromptRanges((2, 3), (1, 2), 2.5)
    valid, cost, gap = HOLDOUT_CONDITIONS
    assert not holdout_fault(Judgement(2, 1, 10), range_)
    assert holdout_fault(Judgement(None, 1, 10), range_) == valid
    assert holdout_fault(Judgement(4, 2, 10), range_) == cost
    assert holdout_fault(Judgement(3, 3, 10), range_) == gap


@pytest.mark.parametrize("regime", REGIMES)
def test_candidates_pass_all_filters_of_worlds(regime: str) -> None:
    one = of(regime)
    source = CandidateSource("some", one.theory, one.reference.formula, one.recipe, None)
    found = source.next_batch()
    assert found and not any(world_fault(candidate.judgement, one.recipe) for candidate in found)


# --- competitors ------------------------------------------------------------------------


def pool_of(text: str, rivals: list[Competitor] | None = None) -> CandidatePool:
    assert T2 is not None
    source = CandidateSource(text, T2, CLOSE.formula, FULL, None)
    return CandidatePool(
        source, build_pool(T2, CLOSE.formula, RandomStream(text)) if rivals is None else rivals
    )


def test_competitors_that_survive_the_first_worlds_are_beaten_in_the_end() -> None:
    for text in ("one", "two", "three"):
        worlds = pool_of(text)
        chosen = choose_worlds(worlds, FULL, 8)
        assert chosen is not None and len(chosen) == 8
        assert len(worlds.survivors(range(4))) > 0  # as drawn
        assert len(worlds.survivors(chosen)) == 0
        some = [worlds.candidates[place] for place in chosen]
        again = compute_costs(some, worlds.source, worlds.competitors)
        reference = sum(candidate.judgement.cost or 0 for candidate in some)
        valid = again[(again < INVALID_COST).all(axis=1)]
        assert len(valid) > 0 and (valid.sum(axis=1) >= reference + MARGIN).all()


def test_an_instance_whose_competitors_survive_the_budget_is_rejected() -> None:
    twin = Competitor("twin", "tier1", CLOSE.formula)  # as good as the reference, always
    assert choose_worlds(pool_of("one", [twin]), FULL, 8) is None
    assert choose_worlds(pool_of("one"), FULL, 8) is not None
    assert choose_worlds(pool_of("one"), replace(FULL, budget=4), 8) is None


def test_a_competitor_survives_below_the_margin_alone() -> None:
    costs = np.array([[1, 1], [2, 1], [3, 1], [INVALID_COST, 0]], np.int64)
    assert list(find_survivors(costs, 2)) == [0, 1]  # 2 and 3 are within the margin of 2, 4 is not


def test_a_rule_that_is_as_cheap_cheats_and_tiers_are_told_apart() -> None:
    rivals = [
        Competitor("step", "tier1", PLANTED.formula),
        Competitor("plain", "tier0", PLANTED.formula),
        Competitor("changed", "mutant", PLANTED.formula),
        Competitor("wrong", "tier0", PLANTED.formula),
    ]
    costs = np.array([[2, 2], [3, 1], [0, 1], [0, INVALID_COST]], np.int64)
    found = find_cheapest_cheater(rivals, costs)
    assert found == Cheater("plain", 1, 4)
    assert beats_cheater(found, 3) and not beats_cheater(found, 4) and not beats_cheater(found, 5)
    assert find_cheapest_cheater(rivals[2:], costs[2:]) is None and beats_cheater(None, 5)


def test_a_mined_rule_that_beats_the_reference_rejects_the_instance() -> None:
    assert T2 is not None
    other = named("t2-some-R(every-R(P))")
    cheaper = formula(f"(and (exists y (and (R x y) (P y))) {other.text})")
    assert any(try_template(f"mined {k}", T2, FULL, other) is not None for k in range(4))
    assert all(try_template(f"mined {k}", T2, FULL, other, [cheaper]) is None for k in range(4))


def test_mined_texts_are_rules_of_the_theory_shortest_first() -> None:
    assert T2 is not None
    long = "(and (P x) (exists y (and (R x y) (R y x))))"
    texts = [long, "(Q x)", "nonsense", "(P x)", "(or (P x) (R x x))", "(or (P x) (R x x))"]
    found = select_mined_rules(texts, T2)
    assert found == [formula("(or (P x) (R x x))"), formula(long)]  # (P x) is of the library


def test_rules_of_a_store_compete(tmp_path: Path) -> None:
    store, data = tmp_path / "a.duckdb", tmp_path / "set.jsonl"
    save_instances(made()[:1], data)
    rule = "(and (exists y (and (R x y) (P y))) (= x x))"
    lines = tmp_path / "answers.jsonl"
    told = {
        "schemaVersion": "abd_prediction_record_v1",
        "instanceId": made()[0].id,
        "scenario": "ABD_FULL",
        "theoryId": "TH2",
        "model": "m",
        "extractedFormula": rule,
    }
    lines.write_text(json.dumps(told) + "\n")
    peirce.import_recorded(lines, data=data, store=store)
    out = tmp_path / "more"
    answer = peirce.tasks_generate("abd", out, problems=1, seed=11, regime="full", mined=store)
    assert answer["problems"] == 1 and audit_file(out)["failed"] == 0


def test_mutants_are_rules_of_the_theory_and_differ() -> None:
    for theory in PUBLISHED_THEORIES.values():
        for one in template_library()[40::17]:
            if one.formula.predicates <= theory.allowed:
                found = mutants(one.formula, theory)
                assert len(found) == len(set(found)) and one.formula not in found
                assert all(m.predicates <= theory.allowed and m.free <= {"x"} for m in found)
    assert T2 is not None
    said = {str(m.nodes) for m in mutants(formula("(and (P x) (exists y (R x y)))"), T2)}
    wanted = ("(P x)", "(exists y (R x y))", "(and (not (P x)) (exists y (R x y)))",
              "(and (P x) (exists y (R y x)))", "(and (P x) (exists y (not (R x y))))")  # fmt: skip
    assert said == {str(formula(text).nodes) for text in wanted}


def test_no_competitor_covers_what_the_reference_does() -> None:
    assert T2 is not None
    for one in template_library()[10:80:7]:
        if one.formula.predicates <= T2.allowed:
            rivals = build_pool(T2, one.formula, RandomStream("x"))
            found = [behaviour(rival.formula) for rival in rivals]
            assert behaviour(one.formula) not in found and len(set(found)) == len(found)
            assert sum(rival.kind == "mutant" for rival in rivals) <= 10


def test_where_no_template_passes_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peirce.tasks.logic.generation.instances.try_template", lambda *_: None)
    with pytest.raises(UsageError, match="problem 0 of seed 3: none of 400 templates passed"):
        next(generate_instances(1, 3))


# --- refinement -------------------------------------------------------------------------


def test_a_cheaper_alternative_takes_the_place_of_the_seed() -> None:
    """Planted is a rule that marks more than another template, in worlds where both are valid."""
    assert T2 is not None
    loose = named("t2-some-R(every-R(P))")
    source = CandidateSource("loose", T2, PLANTED.formula, FULL, None)
    kept: list[Candidate] = []
    for candidate in source.next_batch():
        (worth,) = PreparedWorlds(T2, (candidate.world,), "full").judge(loose.formula)
        if worth.cost is not None and worth.cost - (worth.bound or 0) <= 1:
            kept.append(candidate)
    worlds = [one.world for one in kept[:12]]
    worths = PreparedWorlds(T2, tuple(worlds), "full").judge(loose.formula)
    seed = Reference(
        loose.formula, loose.id, 2, "seed",
        tuple(Judgement(w.cost, w.bound or 0, len(x.names)) for w, x in zip(worths, worlds, strict=True)),
    )  # fmt: skip
    found = refine_reference(seed, T2, worlds, FULL, RandomStream("any"))
    assert found.cost < seed.cost and found.source in ("template", "mutant")
    assert all(not world_fault(one, FULL) for one in found.judgements)
    high = replace(FULL, floors=(0, seed.cost))  # cheaper ones are too cheap together
    assert refine_reference(seed, T2, worlds, high, RandomStream("any")) == seed
    best = refine_reference(found, T2, worlds, FULL, RandomStream("other"))
    assert best.cost <= found.cost


# --- diversity --------------------------------------------------------------------------


def test_a_template_is_used_twice_or_for_a_third_of_its_bucket() -> None:
    assert [max_uses(n) for n in (1, 6, 7, 9, 10)] == [2, 2, 3, 3, 4]
    used = TemplateUses()
    for _ in range(2):
        assert used.allows("full", "easy", "T1", "a")
        used.count("full", "easy", "T1", "a")
    assert not used.allows("full", "easy", "T1", "a") and used.allows("full", "easy", "T2", "a")
    for name in "bcde":
        used.count("full", "easy", "T1", name)
    assert used.allows("full", "easy", "T1", "a")  # a third of seven is three


def test_a_template_at_its_limit_is_not_planted_and_the_antecedent_never() -> None:
    assert T2 is not None
    skeptical, used = get_recipe("skeptical", "easy"), TemplateUses()
    drawn = {draw_template(T2, skeptical, RandomStream(f"t {k}"), used) for k in range(300)}
    ids = {one.id for one in drawn if one is not None}
    assert len(ids) > 40 and "t1-some-R(P)" not in ids
    assert {one.tier for one in drawn if one is not None} == {1, 2, 3}
    for one in template_library():
        if one.tier == 2 and one.id != CLOSE.id:
            for _ in range(2):
                used.count("full", "easy", "T2", one.id)
    used.instances.clear()
    some = {draw_template(T2, FULL, RandomStream(f"t {k}"), used) for k in range(20)}
    assert some == {CLOSE}


def test_recipes_have_the_worlds_and_sizes_of_the_paper() -> None:
    worlds = {
        (regime, difficulty): get_recipe(regime, difficulty).worlds
        for regime in ("full", "partial", "skeptical")
        for difficulty in DIFFICULTIES
    }
    assert worlds == {
        ("full", "easy"): (8, 8), ("full", "hard"): (10, 10),
        ("partial", "easy"): (8, 8), ("partial", "hard"): (9, 9),
        ("skeptical", "easy"): (5, 7), ("skeptical", "hard"): (5, 7),
    }  # fmt: skip
