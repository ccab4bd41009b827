"""Family logic: what is read of answers, agreement, extensions, measures.

Internals: answers are read by the family itself, on problems that stand in no file.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from peirce.records import Hypothesis, Malformed, Observation, Oracles, Problem, UsageError
from peirce.tasks import problem_family
from peirce.tasks.logic.abd import sample_space
from peirce.tasks.logic.family import FAMILY
from peirce.tools.logic import PUBLISHED_THEORIES
from peirce.tools.solve import Solver

BIRD = {"id": "W0", "domain": ["a0", "a1", "a2"],
        "true": {"P": [["a1"]], "R": [["a0", "a1"], ["a2", "a1"]], "Q": [["a2"]]}}  # fmt: skip
OPEN = {"id": "W1", "domain": ["a0", "a1"],
        "true": {"P": [["a1"]]}, "unknown": {"R": [["a0", "a1"]]}}  # fmt: skip
HELD = {"id": "H0", "domain": ["a0", "a1"],
        "true": {"P": [["a1"]]}, "unknown": {"R": [["a1", "a1"]]}}  # fmt: skip


def problem(regime: str = "skeptical", name: str = "TH2") -> Problem:
    shown = (BIRD,) if regime == "full" else (BIRD, OPEN)
    return Problem(
        "birds", "abd", "logic",
        tuple(Observation(one, True) for one in shown), (Observation(HELD, True),),
        {"theory": {**PUBLISHED_THEORIES[name].as_json(), "regime": regime}},
        {"reference": "(exists y (R x y))", "reference_cost": 3, "bounds": [1, 0],
         "hidden_bounds": [0]},
        "birds",
    )  # fmt: skip


VIEW = problem().make_view(sample_space(problem(), 0))


def read(answer: str, family=FAMILY):
    (found,) = family.parse(VIEW, answer, "json")
    return found


def judged(text: str, one: Problem):
    """(agreement with the prompt worlds, with the holdouts, predictions over S)."""

    async def ask():
        solver = Solver()
        oracles = Oracles(solve=solver)
        view = one.make_view(sample_space(one, 0))
        rule = FAMILY.parse_hypothesis(text, view)
        assert isinstance(rule, Hypothesis), rule
        try:
            shown = await FAMILY.measure_agreement(rule, one.shown, view, oracles)
            hidden = await FAMILY.measure_agreement(rule, one.hidden, view, oracles)
            (codes,) = await FAMILY.predict([rule], view.space, view, oracles)
            return shown, hidden, codes
        finally:
            await solver.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        ('{"formula": "(R x x)", "description": "d"}', "(R x x)"),
        ('Let me think. {"formula": "(P x)"} or {"formula": "(R x x)"}', "(R x x)"),
        ('```json\n{"formula": "(R x x)", "description": "d"}\n```', "(R x x)"),
        ("The rule is (exists y (R x y)) I believe (see above).", "(exists y (R x y))"),
        ("(R x x)", "(R x x)"),
        ('{"formula": "(exists y (and (R x y) (P y)", "description": ""}',
         "(exists y (and (R x y) (P y)))"),
        ("So: (exists y (and (R x y) (P y", "(exists y (and (R x y) (P y)))"),
    ],
)  # fmt: skip
def test_a_formula_is_found_in_what_a_model_says(answer, formula):
    found = read(answer)
    assert isinstance(found, Hypothesis) and found.text == formula
    missing = formula.count(")") - answer.split("formula")[-1].count(")")
    assert (found.breaches == ("auto_closed",)) == (found.meta["closed"] > 0)
    assert found.meta["closed"] in (0, missing, missing + 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "missing"),
        ("I do not know.", "no_formula"),
        ('{"formula": 7}', "formula_not_text"),
        ('{"formula": "(exists y', "cut"),
        ('{"formula": ""}', "missing"),
        ('{"formula": "R(x, y)"}', "syntax"),
        ('{"formula": "(and (P x)"}', "syntax"),
        ('{"formula": "(Q x)"}', "forbidden_predicate"),
        ('{"formula": "(Ab x)"}', "defines_itself"),
        ('{"formula": "(R x y)"}', "unbound_variable"),
        ('{"formula": "(= x a0)"}', "object_name"),
        ("x" * 300_000, "too_long"),
        ('{"formula": "' + "(not " * 30_000 + '"}', "syntax"),
    ],
)
def test_an_answer_without_a_rule_is_malformed_with_its_reason(answer, reason):
    found = read(answer)
    assert isinstance(found, Malformed) and found.reason == reason


def test_the_released_evaluator_lets_names_of_objects_pass():
    assert isinstance(
        read('{"formula": "(= x a0)"}', FAMILY.with_evaluator("released")), Hypothesis
    )
    with pytest.raises(UsageError, match="no evaluator 'loose'; valid: exact, released"):
        FAMILY.with_evaluator("loose")


def test_a_strict_contract_refuses_missing_parentheses():
    found = read('{"formula": "(R x x"}', FAMILY.with_strict_contract())
    assert isinstance(found, Malformed) and found.reason == "breach_auto_closed"


def test_agreement_holds_cost_and_bound_and_explains():
    shown, _, _ = judged("(exists y (and (R x y) (P y)))", problem())
    assert shown.marks == (True, True) and FAMILY.is_consistent(shown)
    assert shown.detail == {"cost": 3, "bound": 2}
    words = problem_family(problem()).words
    said = words.show_feedback(VIEW, shown)
    assert "valid in all 2 worlds. Its cost is 3; no rule can cost less than 2." in said
    assert "Marked without need: a2 in world W0." in said
    wrong, _, _ = judged("(P x)", problem())
    assert wrong.marks == (False, False) and not FAMILY.is_consistent(wrong)
    told = words.show_feedback(VIEW, wrong)
    assert "World W0: a0 breaks the default and alpha does not hold of it." in told
    assert "World W1: if R(a0, a1): a0 is broken and not covered." in told


def test_the_tool_answers_with_what_a_proposer_can_use():
    async def ask(formula):
        solver = Solver()
        try:
            (tool,) = FAMILY.make_tools(VIEW, Oracles(solve=solver))
            return json.loads(await tool.ainvoke({"formula": formula}))
        finally:
            await solver.close()

    right = asyncio.run(ask("(exists y (R x y))"))
    assert right["consistent"] is True and (right["cost"], right["lower_bound"]) == (3, 2)
    assert right["size"] == 5
    wrong = asyncio.run(ask("(P x)"))
    assert (wrong["consistent"], wrong["valid_in"], wrong["of"]) == (False, 0, 2)
    assert "a0" in wrong["said"]
    assert "forbidden_predicate" in asyncio.run(ask("(Q x)"))["error"]
    assert list(FAMILY.make_tools(VIEW, Oracles())) == []


def test_predictions_are_extensions_over_the_space_in_three_values():
    one = problem("partial")
    for text, codes in {"(= x x)": {1}, "(not (= x x))": {0}}.items():
        assert set(judged(text, one)[2].codes.tolist()) == codes
    found = judged("(exists y (R x y))", one)[2]
    assert found.codes.shape == (len(sample_space(one, 0)),) and found.defined.all()
    assert set(found.codes.tolist()) <= {0, 1, 2}


def measures(text: str, one: Problem, evaluator: str = "exact"):
    family, seen = FAMILY.with_evaluator(evaluator), FAMILY.adapt_problem(one, evaluator)
    shown, hidden, _ = judged(text, seen)
    return family.compute_measures(seen, text, shown, hidden, evaluator)


def test_measures_are_costs_and_gaps_by_world():
    found = measures("(exists y (R x y))", problem())
    assert (found["valid"], found["cost"], found["gap"], found["gref"]) == (True, 3, 0.5, 0.0)
    assert (found["ast_size"], found["depth"], found["free_variables"]) == (5, 1, ["x"])
    assert [one["lower_bound"] for one in found["worlds"]] == [1, 1]
    assert found["holdouts"] == [{"valid": True, "cost": 1, "lower_bound": 1}]
    assert (found["holdout_valid"], found["holdout_gap"], found["delta_gap"]) == (True, 0.0, -0.5)


def test_the_released_evaluator_takes_stored_bounds_and_closed_holdouts():
    found = measures("(exists y (R x y))", problem(), "released")
    assert [one["lower_bound"] for one in found["worlds"]] == [1, 0]
    assert found["gap"] == 1.0
    assert found["holdouts"] == [{"valid": True, "cost": 0, "lower_bound": 0}]
    assert found["evaluator"] == "released"


def test_an_invalid_rule_has_no_cost_and_no_gap():
    found = measures("(P x)", problem())
    assert found["valid"] is False
    assert all(found[key] is None for key in ("cost", "gap", "gref", "delta_gap"))


def test_a_rule_that_was_not_read_is_measured_as_far_as_it_goes():
    found = FAMILY.compute_measures(problem(), "(and (Q x) (P x))", None, None, "exact")
    assert (found["ast_size"], found["depth"], found["auto_closed"]) == (5, 0, 0)
    assert found["valid"] is None and found["worlds"] == []
    nothing = FAMILY.compute_measures(problem(), "Q(x)", None, None, "exact")
    assert nothing["ast_size"] is None and nothing["free_variables"] is None


def test_an_always_true_rule_is_valid_and_its_cost_says_what_it_is():
    found = measures("(= x x)", problem())
    assert found["valid"] is True and found["cost"] == 5 and found["gap"] == 1.5
