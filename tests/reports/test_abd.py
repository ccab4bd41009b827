"""Checks how predictions of exception rules are chosen and counted: on records written by hand, and
on small worlds judged by the solver. What is expected of the worlds is counted by hand beside them.

Internals: records are written by hand, with modes and parts that few sessions would show.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from peirce.commands.score.rule_scores import RuleJudge, SessionAnswers
from peirce.records import Agreement, Hypothesis, Observation, Oracles, Problem
from peirce.reports.files import tables
from peirce.reports.papers.abd import (
    appendix,
    files,
    groups,
    metrics,
)
from peirce.reports.papers.abd import (
    tables as abd_tables,
)
from peirce.reports.papers.abd import (
    worlds as abd_worlds,
)
from peirce.reports.papers.abd.groups import SessionRecords
from peirce.reports.papers.abd.records import (
    Attempt,
    Facts,
    Record,
    choose_attempt,
    quantifier_pattern,
)
from peirce.tasks import load_family
from peirce.tasks.logic.measures import RuleMeasures, WorldResults
from peirce.tools.logic import PUBLISHED_THEORIES, parse_formula
from peirce.tools.solve import Solver


def world(name, **true):
    """P, Q: texts of elements; R: texts of two."""
    return {
        "id": name,
        "domain": ["a0", "b0", "c0"],
        "true": {key: [[f"{one}0" for one in atom] for atom in true[key]] for key in true},
    }


# T6: P(x) and not Ab(x) implies that x has an R. In both worlds a0 alone breaks it: bound 1 each.
SHOWN = (world("W0", P="ab", Q="a", R=["bc"]), world("W1", P="a", Q="ab"))
HELD = (world("H0", P="ac", Q="a", R=["cc"]), world("H1", P="a"))
PLANTED = "(P x)"  # costs 2 and 1; on the holdouts 2 and 1, with bounds 1 and 1
ALWAYS = "(= x x)"  # 3 and 3
CHEAP = "(and (P x) (Q x))"  # 1 and 1; not valid in H1
BARE = "(Q x)"  # 1 and 2; not valid in H1
WRONG = "(not (P x))"


def problem(name="one", held=HELD, **secret):
    return Problem(
        name, "abd", "logic",
        tuple(Observation(one, True) for one in SHOWN),
        tuple(Observation(one, True) for one in held),
        {"theory": {**PUBLISHED_THEORIES["TH3"].as_json(), "regime": "full"}},
        {"reference": PLANTED, "reference_cost": 3, "bounds": [1, 1], "hidden_bounds": [1, 1],
         "holdouts_published": len(held), "difficulty": "easy", **secret},
        name,
    )  # fmt: skip


def answer(formula):
    return json.dumps({"formula": formula, "description": ""})


def judged(one, *answers, evaluator="exact", solver="fast", refined=False):
    async def ask():
        opened = Solver(solver)
        try:
            judging = RuleJudge(
                load_family("logic").with_evaluator(evaluator), evaluator, Oracles(solve=opened)
            )
            (record,) = await judging.judge_answers([SessionAnswers(one, answers, refined)])
            (described,) = await judging.describe_problems([one])
            return record, described
        finally:
            await opened.close()

    return asyncio.run(ask())


def given(*formulas, **options):
    return judged(problem(), *map(answer, formulas), **options)[0]


# --- the prediction -------------------------------------------------------------------


def test_the_first_valid_rule_counts_whatever_later_ones_cost():
    assert given(ALWAYS, PLANTED).formula == ALWAYS
    assert given(WRONG, PLANTED, CHEAP).formula == PLANTED
    alone = given(ALWAYS)
    assert (alone.valid, alone.measured.prompt.cost, alone.gap, alone.gref) == (True, 6, 2.0, 1.5)


def test_of_refined_rules_one_that_marks_everything_is_never_preferred_to_a_cheaper_valid_one():
    for formulas in ([ALWAYS, PLANTED], [PLANTED, ALWAYS]):
        assert given(*formulas, refined=True).formula == PLANTED


def test_of_refined_rules_the_least_cost_comes_before_size_and_size_before_the_order_of_answers():
    def best(*formulas):
        return given(*formulas, refined=True).formula

    assert best(BARE, CHEAP) == CHEAP  # cost 2 with 7 nodes before 3 with 2
    longer = f"(and {PLANTED} {PLANTED})"
    assert best(longer, PLANTED) == PLANTED
    assert best(BARE, PLANTED) == BARE and best(PLANTED, BARE) == PLANTED


def test_holdouts_have_no_part_in_the_choice():
    # The planted rule would be valid there.
    assert given(PLANTED, CHEAP, refined=True).holdout_valid is False
    assert given(CHEAP, PLANTED).holdout_valid is False


def test_without_a_valid_rule_the_first_that_was_read_counts_and_without_any_the_first_answer():
    both = judged(problem(), "nothing to say here", answer(WRONG), answer("(not (Q x))"))[0]
    assert (both.formula, both.mode, both.answers) == (WRONG, "all_invalid", 3)
    none = judged(problem(), answer("(R x x)"), answer("(P y)"))[0]
    assert (none.formula, none.reason, none.mode) == (None, "forbidden_predicate", "parse_error")
    assert none.malformed == ("forbidden_predicate", "unbound_variable")
    assert none.holdout_valid is False and none.valid is False


def test_an_answer_of_ten_characters_is_missing_and_a_longer_one_malformed():
    assert judged(problem(), "  no idea… ")[0].mode == "missing"
    assert judged(problem(), "no idea at all")[0].mode == "parse_error"
    assert judged(problem(), answer(""))[0].reason == "no_formula"
    assert judged(problem())[0].mode == "missing"  # nothing was said


def test_missing_parentheses_are_valid_when_repaired_and_not_when_strict():
    one = given("(and (P x) (Q x)")
    assert (one.closed, one.valid, one.strictly_valid, one.mode) == (1, True, False, "brittle")
    outside = given("(and (P x) (R x x)")
    assert (outside.closed, outside.reason) == (1, "forbidden_predicate")
    told = metrics.record_metrics(one)
    assert (told["prompt_validity"], told["prompt_validity_repaired"]) == (0.0, 1.0)
    assert told["auto_closed"] == 1.0


# --- what it is worth -----------------------------------------------------------------


def test_the_metrics_of_the_small_worlds_are_those_counted_by_hand():
    planted, cheap = metrics.record_metrics(given(PLANTED)), metrics.record_metrics(given(CHEAP))
    expected = {"gap": 0.5, "gref": 0.0, "beats_reference": 0.0, "ast_size": 2.0,
                "holdout_validity": 1.0, "holdout_validity_given_prompt": 1.0,
                "holdout_gap": 0.5, "delta_gap": 0.0, "invalid": 0.0, "parse_error": 0.0,
                "missing": 0.0, "auto_closed": 0.0, "limited": 0.0, "ast_size_read": 2.0,
                "prompt_validity": 1.0, "prompt_validity_repaired": 1.0}  # fmt: skip
    assert planted == expected and set(expected) == set(metrics.NAMES)
    assert (cheap["gap"], cheap["gref"], cheap["beats_reference"]) == (0.0, -0.5, 1.0)
    assert (cheap["holdout_validity"], cheap["holdout_gap"], cheap["delta_gap"]) == (0, None, None)


def test_an_invalid_rule_has_neither_gap_nor_size_among_the_valid():
    told = metrics.record_metrics(given(WRONG))
    assert told["invalid"] == 1.0 and told["prompt_validity_repaired"] == 0.0
    assert all(told[name] is None for name in ("gap", "gref", "beats_reference", "ast_size"))
    assert told["ast_size_read"] == 3.0 and told["holdout_validity"] == 0.0


def test_the_solver_z3_counts_the_same():
    for formulas in ([PLANTED, CHEAP], [WRONG], [ALWAYS]):
        assert given(*formulas, solver="z3") == given(*formulas)


def test_names_of_objects_are_malformed_by_the_exact_evaluator_and_judged_by_the_released_one():
    case_split = "(or (= x a0) (= x a0))"
    assert given(case_split).reason == "object_name"
    assert given(case_split, evaluator="released").measured.prompt.cost == 2


def test_the_released_evaluator_takes_stored_bounds_and_holdouts_closed():
    stored = problem(bounds=[0, 1], hidden_bounds=[0, 1])
    exact, _ = judged(stored, answer(PLANTED))
    released, _ = judged(stored, answer(PLANTED), evaluator="released")
    assert (exact.gap, released.gap) == (0.5, 1.0)
    assert (exact.holdout_gap, released.holdout_gap) == (0.5, 1.0)


def test_a_problem_without_holdouts_counts_as_published_and_one_of_whose_holdouts_nothing_is_known_not():
    known, _ = judged(problem(held=()), answer(PLANTED))
    assert (known.holdout_valid, known.holdout_given_prompt, known.mode) == (False, None, "brittle")
    unknown, _ = judged(problem(held=(), holdouts_published=None), answer(PLANTED))
    assert (unknown.holdout_valid, unknown.mode) == (None, "no_holdouts")


def test_a_planted_rule_without_a_recorded_cost_is_judged():
    one, _ = judged(problem(reference_cost=None), answer(CHEAP))
    assert one.gref == -0.5


# --- records by hand ------------------------------------------------------------------


def part(marks, cost=None, bound=None):
    valid = False if False in marks else None if None in marks else bool(marks) or None
    worlds = tuple({"valid": mark, "cost": None, "lower_bound": None} for mark in marks)
    return WorldResults(worlds, valid, cost if valid else None, bound if valid else None)


def record(name="p", regime="full", theory="T1 / TH2", size=8, closed=0, reference=10,
           prompt=None, holdout=None, reason="", formula="f", difficulty="easy",
           pattern="exists_only", planted=4):  # fmt: skip
    prompt = prompt or part([True, True], 6, 2)
    holdout = holdout or part([True, True], 6, 2)
    facts = Facts(name, name, regime, theory, difficulty, "g", reference, 2, 2, True)
    read = not reason
    return Record(
        facts, 1, (), (), reason, formula if read else None, size if read else None, 1, closed,
        pattern if read else None, RuleMeasures("exact", prompt, holdout, planted),
    )  # fmt: skip


YES, NO = [True, True], [True, False]


def test_each_record_falls_under_the_first_mode_that_fits():
    def mode(**options):
        return record(**options).mode

    assert mode(reason="missing") == "missing" and mode(reason="syntax") == "parse_error"
    assert mode(prompt=part([False, False])) == "all_invalid"
    assert mode(prompt=part(NO)) == "partial_invalid"
    assert mode(holdout=part(NO)) == "brittle"
    assert mode(holdout=part(YES, 10, 2)) == "success"  # grows by 2, and no more
    assert mode(holdout=part(YES, 11, 2)) == "parsimony_inflation"
    assert mode() == "success"
    assert not record(holdout=part(NO)).catastrophic  # half of them
    assert record(holdout=part([True, False, False])).catastrophic


def test_a_limit_of_the_solver_is_a_count_of_its_own_and_never_invalid_or_zero():
    open_, held = record(prompt=part([True, None])), record(holdout=part([True, None]))
    assert open_.mode == held.mode == record(prompt=part([False, None])).mode == "limit"
    for one in (open_, held):
        assert metrics.record_metrics(one)["limited"] == 1.0 and one.limited
    told = metrics.record_metrics(open_)
    for name in ("prompt_validity", "prompt_validity_repaired", "invalid", "gap", "ast_size"):
        assert told[name] is None
    assert metrics.record_metrics(held)["holdout_validity"] is None and held.valid
    # A world that is certainly invalid settles it, whatever the limit leaves open elsewhere.
    assert record(prompt=part([True, False, None])).mode == "partial_invalid"
    runs = (SessionRecords("s", "s", (open_, record())),)
    (row,) = files.as_json(appendix.table_h1(runs))
    assert (row["valid"], row["invalid"], row["limit of the solver"]) == (0.5, 0.0, 0.5)
    found = metrics.intervals([open_, record()])
    assert found["prompt_validity"]["mean"] == 1.0 and found["prompt_validity"]["n"] == 1


def test_an_attempt_whose_cost_a_limit_hides_ranks_behind_one_with_a_cost():
    def attempt(place, cost):
        rule = Hypothesis(f"f{place}", "", {"size": 1})
        return Attempt(place, "", rule, shown=Agreement((True,), ({},), "ok", {"cost": cost}))

    assert choose_attempt([attempt(0, None), attempt(1, 9)], refined=True).index == 1
    assert choose_attempt([attempt(0, None), attempt(1, 9)]).index == 0
    assert choose_attempt([attempt(0, None)]).index == 0


def test_repaired_answers_are_counted_beside_the_mode_of_the_repaired_rule():
    some = (
        record(closed=1),
        record(closed=2, reason="syntax"),
        record(holdout=part([False, False])),
        record(reason="missing"),
    )
    (row,) = files.as_json(appendix.table_h2((SessionRecords("s", "s", some),)))
    assert row["auto_repaired"] == 2 and row["success"] == 1 and row["parse_error"] == 1
    assert (row["brittle"], row["of which catastrophic"], row["missing"]) == (1, 1, 1)
    (row,) = files.as_json(appendix.table_h1((SessionRecords("s", "s", some),)))
    assert [row[name] for name in ("valid", "parse error", "repaired", "missing")] == [
        0.5, 0.25, 0.5, 0.25
    ]  # fmt: skip


def test_brittle_patterns_go_by_the_quantifiers_that_stand_in_a_rule():
    def pattern(text):
        return quantifier_pattern(parse_formula(text, ("P", "R")))

    assert pattern("(exists y (R x y))") == "exists_only"
    assert pattern("(not (forall y (R x y)))") == "forall_only"
    assert pattern("(exists y (forall z (R y z)))") == "mixed"
    assert pattern("(and (P x) (not (P x)))") == "propositional_and"
    assert pattern("(P x)") == pattern("(or (P x) (P x))") == "other"


def test_the_spread_of_gaps_is_linear_between_ranks_and_its_shares_are_strict():
    gaps = [0, 1, 3, 5, 6]
    some = [record(prompt=part(YES, 2 * gap, 0)) for gap in gaps] + [record(prompt=part(NO))]
    found = groups.gap_spread(some)
    assert found == (5, 3.0, 3.0, pytest.approx(5 + 0.6), 6.0, 0.4, 0.2)  # 0.9 * 4 = 3.6
    assert groups.gap_spread(some[-1:]) is None


def test_bins_begin_where_they_say_and_hold_each_size_once():
    some = [record(size=size) for size in (0, 14, 15, 29, 30, 400)]
    names = [(name, len(inside)) for name, inside in
             groups.group_by_size(some, lambda one: one.size, groups.SIZES)]  # fmt: skip
    assert names == [("[0, 15)", 2), ("[15, 30)", 2), ("[30, ∞)", 2)]
    finer = groups.group_by_size(some, lambda one: one.size, groups.FINER_SIZES)
    assert [len(inside) for _, inside in finer] == [1, 0, 1, 1, 1, 1, 1]


def test_rules_that_beat_the_planted_one_are_counted_among_valid_ones_by_its_size():
    some = (
        record(prompt=part(YES, 2, 2), planted=4, reference=10),  # 1 a world better
        record(prompt=part(YES, 4, 2), planted=4, reference=14),  # as good: does not beat it
        record(prompt=part(NO), planted=4, reference=10),
        record(prompt=part(YES, 0, 0), planted=4, reference=30),
    )
    rows = files.as_json(appendix.table_g8((SessionRecords("s", "s", some),)))
    of = {row["reference AST"]: row for row in rows}
    assert (of["[10, 15)"]["beat it"], of["[10, 15)"]["valid"]) == (1, 2)
    assert of["[10, 15)"]["mean improvement a world"] == 1.0
    assert of["[30, ∞)"]["largest"] == 2.0 and of["[0, 5)"]["valid"] == 0


def test_shorter_and_longer_rules_are_compared_on_problems_that_have_both():
    def run(name, *records):
        return SessionRecords(name, name, records)

    short, long = {"size": 10}, {"size": 11}
    runs = (
        run("a", record("one", **short), record("two", **short),
            record("three", size=10, formula="g")),
        run("b", record("one", **long, holdout=part(NO)), record("two", **short),
            record("three", **long)),
        run("c", record("one", **long, holdout=part(YES, 8, 2))),
    )  # fmt: skip
    (pair,) = groups.find_pairs(runs)  # three's shorter rule is the planted one itself
    assert pair == ("full", 1.0, 0.5, 0.0, 1.0)
    rows = files.as_json(abd_tables.paired_table(runs))
    assert [(row["than the planted rule"], row["problems"]) for row in rows] == [
        ("shorter", 1), ("longer", 1)
    ]  # fmt: skip
    assert rows[1]["holdout_validity_given_prompt"]["mean"] == 0.5
    assert abd_tables.paired_table(runs[:1]) is None


def test_sessions_are_ordered_by_band_then_by_gap():
    def run(name, valid, gap):
        some = [record(prompt=part(YES, 2 * gap, 0)) for _ in range(valid)]
        return SessionRecords(name, name, (*some, *[record(prompt=part(NO))] * (10 - valid)))

    runs = [run("low", 4, 0), run("middle", 5, 1), run("wide", 10, 3), run("near", 10, 2)]
    assert [one.name for one in groups.sort_runs(runs)] == ["near", "wide", "middle", "low"]
    assert run("nine", 9, 0).band == "intermediate validity"  # above 90%, not from it on


# --- tables ---------------------------------------------------------------------------


def scored():
    brittle = record("two", "partial", holdout=part(NO))
    some = (record("one"), brittle, record("three", reason="cut"))
    described = [replace(judged(problem(), answer(PLANTED))[1], facts=one.facts) for one in some]
    runs = (SessionRecords("s1", "first", some), SessionRecords("s2", "second", some[:2]))
    return files.ScoredRuns("released", groups.sort_runs(runs), tuple(described))


def test_every_table_is_written_with_its_evaluator_and_the_seed_of_its_intervals(tmp_path):
    whole = scored()
    by_name = files.build_tables(whole)
    assert set(by_name) <= set(files.ABOUT)
    found = files.render_files(whole, by_name, {"s1": [{"problem": "one", "gap": 1.0}]}, tmp_path)
    assert tmp_path / "abd-s1.csv" in found and tmp_path / "table6-finer.md" in found
    for path, text in found.items():
        if path.suffix == ".csv":
            assert all(line.startswith("released,") for line in text.splitlines()[1:]), path
        else:
            assert "Evaluator: released." in text, path
    assert (
        "2,000 resamples of problems within their regime, seed 0" in found[tmp_path / "table2.md"]
    )
    assert "Intervals" not in found[tmp_path / "tableH2.md"]
    assert [*files.render_files(whole, by_name, {}, tmp_path / "x.md")] == [tmp_path / "x.md"]
    (long,) = files.render_files(whole, by_name, {}, tmp_path / "x.csv").values()
    assert long.startswith("evaluator,session,name,group,of,problems,metric,mean,low,high,n\n")


def test_tables_as_json_hold_what_json_can():
    for name, table in files.build_tables(scored()).items():
        rows = files.as_json(table)
        assert json.loads(json.dumps(rows, allow_nan=False)) == rows, name
        assert len(set(table.headings)) == len(table.headings), name
        tables.as_text(table)


def test_the_statistics_of_the_worlds_are_those_counted_by_hand():
    _, described = judged(problem(), answer(PLANTED))
    assert described.prompt.bounds == (1, 1) and described.prompt.costs == (2, 1)
    assert described.holdout.costs == (2, 1) and described.in_scope is True
    assert described.prompt.true["P"] == pytest.approx((2 / 3, 1 / 3))
    assert described.prompt.true["R"] == pytest.approx((1 / 9, 0))
    (row, other) = files.as_json(abd_worlds.table_f1([described]))
    assert (row["reference cost"], row["lower bound"], row["reference gap"]) == (1.5, 1.0, 0.5)
    assert other["worlds"] == "holdout" and other["problems where it is valid"] == 1
    (row,) = files.as_json(abd_worlds.table_1a([described]))
    assert (row["problems"], row["prompt worlds"], row["theories"]) == (1, 2.0, "T6 / TH3")


def test_a_planted_rule_out_of_scope_is_told_and_its_cost_counted():
    _, described = judged(problem(reference="(exists y (R x y))"), answer(PLANTED))
    assert described.in_scope is False
    assert described.prompt.costs == (None, None)  # it repairs no world
    _, without = judged(problem(reference=None), answer(PLANTED))
    assert (without.in_scope, without.prompt.costs, without.prompt.bounds) == (None, (), (1, 1))
