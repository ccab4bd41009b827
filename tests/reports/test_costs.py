"""What each result cost: sums, roles and sentences, from usage and steps made by hand.

Internals: sums and ratios are compared value by value.
"""

from __future__ import annotations

import io
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from peirce.records import NOT_REQUESTED, InputSet, JudgedAnswer, Prices, StepRecord, Verdict
from peirce.reports.answer_gains import ProblemGains, trace_gains
from peirce.reports.costs import (
    describe_cached,
    describe_costs,
    describe_roles,
    format_usd,
    summarize_costs,
)
from peirce.reports.marginal_gain import summarize_gain
from peirce.reports.papers.gear.metrics import problem_metrics
from peirce.reports.screen.summaries import print_effort
from rich.console import Console

A, R, I, M = Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED  # noqa: E741
INPUTS = 4


def used(calls: int, tokens_in: int = 0, tokens_out: int = 0, **more: float) -> dict[str, float]:
    return {"calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out, "tokens_cached": 0,
            "repeated": 0, "seconds": 1.0 * calls, **more}  # fmt: skip


def gains(name: str, accepted: dict[str, int], gamma: float | None = 1.0) -> ProblemGains:
    return ProblemGains(name, "done", "cap", accepted=accepted, gamma=gamma if accepted else 0.0,
                        solver=next(iter(accepted), None))  # fmt: skip


PROBLEMS = [gains("a", {"proposer": 3}, 2.5), gains("b", {"then": 1}), gains("c", {})]
USAGE = {
    "propose": used(10, 1_000, 500, tokens_cached=400),
    "then": used(4, 600, 200),
    "judge": used(20, 2_000, 100),
    "judge2": used(2, 300, 10),
    "name": used(1, 50, 5),
    "repair": used(3),
    "seed": used(1),
}


def test_costs_are_sums_of_all_roles_over_what_was_found():
    told = summarize_costs(USAGE, PROBLEMS, Prices(1.0, 2.0, 0.5))
    assert (told["problems"], told["accepted"], told["solved"], told["gamma"]) == (3, 4, 2, 3.5)
    assert told["total"]["calls"] == 41 and told["total"]["tokens_in"] == 3_950
    usd = (3_550 * 1 + 400 * 0.5 + 815 * 2) / 1e6
    assert told["total"]["cost_usd"] == pytest.approx(usd)
    for key, number in (("per_accepted", 4), ("per_solved", 2), ("per_gamma", 3.5)):
        assert told[key]["calls"] == pytest.approx(41 / number, abs=1e-4)
        assert told[key]["tokens"] == pytest.approx(4_765 / number, abs=1e-2)
        assert told[key]["cost_usd"] == pytest.approx(usd / number, abs=1e-8)
        assert told[key]["seconds"] == pytest.approx(41 / number, abs=1e-4)


def test_roles_are_apart_and_those_that_propose_have_their_own_hypotheses():
    roles = summarize_costs(USAGE, PROBLEMS)["by_role"]
    assert list(roles) == ["proposer", "then", "judge", "judge2", "namer", "repairer", "seeder"]
    assert (roles["proposer"]["accepted"], roles["proposer"]["solved"]) == (3, 1)
    assert (roles["then"]["accepted"], roles["then"]["solved"]) == (1, 1)
    assert roles["proposer"]["per_accepted"]["calls"] == pytest.approx(10 / 3, abs=1e-4)
    assert roles["then"]["per_accepted"]["tokens"] == 800
    assert roles["judge"]["per_accepted"]["calls"] == 5 and "accepted" not in roles["judge"]
    assert roles["repairer"]["accepted"] == 0 and roles["repairer"]["per_accepted"] is None
    assert "cost_usd" not in roles["proposer"]


def test_reused_answers_are_no_calls():
    told = summarize_costs({"propose": used(5, repeated=3, seconds=0.4)}, PROBLEMS)
    assert (told["total"]["calls"], told["total"]["reused"]) == (2, 3)
    assert describe_costs(told)[0].endswith("(3 of 5 answers were reused)")


@pytest.mark.parametrize("found", [[], [gains("a", {})], [gains("a", {}), gains("b", {})]])
@pytest.mark.parametrize("usage", [{}, {"propose": used(0)}, {"propose": used(3, 20, 10)}])
def test_nothing_found_divides_by_nothing(usage, found):
    told = summarize_costs(usage, found, Prices(1.0, 1.0))
    assert told["per_accepted"] is told["per_gamma"] is told["per_solved"] is None
    assert not describe_roles(told) and not describe_cached(told)
    lines = describe_costs(told)
    assert lines == (
        ["3 model calls, 30 tokens, 0.000030 US dollars and 3.0 s in total"]
        if told["total"]["calls"]
        else []
    )


def test_a_line_says_what_each_result_cost():
    with_prices = summarize_costs(USAGE, PROBLEMS, Prices(1.0, 2.0))
    assert describe_costs(with_prices) == [
        "10.2 model calls, 1,191 tokens, 0.0014 US dollars and 10 s for each of 4 accepted hypotheses;"
        " 0.0028 US dollars for each of 2 solved problems and 0.0016 US dollars for each unit of gamma"
    ]
    plain = describe_costs(summarize_costs(USAGE, PROBLEMS))[0]
    assert "dollars" not in plain and "; 2,382 tokens for each of 2 solved problems" in plain
    search = summarize_costs({"propose": used(4, seconds=90.0)}, PROBLEMS[:1])
    assert describe_costs(search) == [
        "1.3 model calls and 30 s for each of 3 accepted hypotheses; 1:30 for the solved problem and"
        " 36 s for each unit of gamma"
    ]
    quick = summarize_costs({"propose": used(1, seconds=0.001)}, [gains("b", {"proposer": 1})])
    assert describe_costs(quick) == ["1 model call and under 0.1 s for the accepted hypothesis"]


def test_lines_on_roles_and_on_cached_tokens():
    told = summarize_costs(USAGE, PROBLEMS)
    (roles,) = describe_roles(told)
    assert roles.startswith(
        "proposer 10 calls, 1,500 tokens and 10 s (3 accepted); second proposer 4"
    )
    assert "second judge 2 calls, 310 tokens and 2.0 s;" in roles
    assert describe_cached(told) == ["10% of 3,950 input tokens were cached"]
    assert not describe_roles(summarize_costs({"propose": used(3)}, PROBLEMS))


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0.00"), (12.3, "12.30"), (1234.5, "1,234.50"), (0.0421, "0.042"), (0.00042, "0.00042"),
     (1e-12, "0.00000000")],
)  # fmt: skip
def test_dollars_have_two_digits_that_count(amount, text):
    assert format_usd(amount) == text


def test_findings_end_with_judges_costs_and_cached_tokens():
    judging = {"questions": 50, "batches": {"batches": 5, "texts": 40, "differing": 3, "compared": 20,
               "unreadable": 0, "calls": 9, "single_calls": 2, "fell_back": 1}}  # fmt: skip
    costs = summarize_costs(USAGE, PROBLEMS)
    trace = SimpleNamespace(judging=judging, costs=costs, gain=summarize_gain(PROBLEMS, {}))
    out = Console(file=io.StringIO(), width=300)
    print_effort(out, trace)
    lines = out.file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["judges", "cost", "cost", "cost"]
    assert "15% of 20 labels changed with the order" in lines[0]
    assert lines[3] == "cost      10% of 3,950 input tokens were cached"


# --- What answers added


def traced(steps, cause="cap", weights=None, inputs=INPUTS):
    return trace_gains("p", "done", cause, steps, inputs, weights)


def step(number, *answers, **fields):
    return StepRecord(
        "p", number, tuple(JudgedAnswer(path, "", judged) for path, *judged in answers), fields
    )


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5, 3.0)])
def test_gains_of_gamma_add_up_to_the_metric(write, weights):
    codes = ([1, 2, 3, 4], [1, 2, 3, 5], [9, None, 3, 4], [1, 2, 3, 4], [7, 7, 7, 7])
    verdicts = (A, A, I, R, A)
    judged = [write.judged(v, c) for v, c in zip(verdicts, codes, strict=True)]
    steps = [step(n, (f"step/{n}/propose/0", one)) for n, one in enumerate(judged, 1)]
    found = traced(steps, weights=weights)
    space = InputSet("s", tuple([n] for n in range(INPUTS)), weights)
    assert found.gamma == pytest.approx(problem_metrics(write.problem(), steps, space)["gamma"])
    assert found.gamma == pytest.approx(sum(one.gamma for one in found.answers))
    assert found.answers[0].gamma == pytest.approx(1)
    assert found.answers[2].gamma == found.answers[3].gamma == 0
    assert [one.accepted for one in found.answers] == [1, 1, 0, 0, 1]
    assert found.accepted == {"proposer": 3} and found.solver == "proposer"


def test_gamma_is_unknown_where_predictions_are(write):
    unread = write.judged(A, [1, 2, 3, 4])
    unread = replace(unread, space=replace(unread.space, verdict=NOT_REQUESTED))
    for one in (unread, write.judged(A)):
        found = traced([step(1, ("step/1/propose/0", one))])
        assert found.gamma is None and found.answers[0].gamma is None
        assert found.answers[0].accepted == 1
        told = summarize_costs({"propose": used(1)}, [found])
        assert told["gamma"] is told["per_gamma"] is None and told["per_accepted"]["calls"] == 1
    assert traced([step(1, ("step/1/propose/0", write.judged(A, [])))], inputs=0).gamma is None
    assert traced([]).gamma == 0 and traced([]).solver is None


def test_a_repaired_answer_counts_for_the_answer_before_it(write):
    good = write.judged(A, [1, 2, 3, 4])
    found = traced([
        step(1, ("step/1/propose/0", write.judged(I, [0, 0, 0, 0])), ("step/1/repair/0", good)),
        step(2, ("step/2/propose/0", write.judged(M))),
    ])  # fmt: skip
    assert [(one.accepted, one.gamma, one.added) for one in found.answers] == [
        (1, 1.0, True),
        (0, 0.0, False),
    ]
    assert found.accepted == {"repairer": 1} and found.solver == "repairer"


def test_seeds_are_no_answers_and_have_their_own_role(write):
    found = traced([
        step(1, ("seed/0", write.judged(A, [1, 2, 3, 4]))),
        step(2, ("step/2/propose/0", write.judged(A, [1, 2, 3, 5]))),
    ])  # fmt: skip
    assert [one.gamma for one in found.answers] == [0.25]
    assert found.accepted == {"seeder": 1, "proposer": 1} and found.solver == "seeder"


def test_answers_of_two_proposers_have_their_roles(write):
    found = traced([
        step(1, ("step/1/propose/0", write.judged(M)), proposed_by="proposer"),
        step(2, ("step/2/propose/0", write.judged(A, [1, 2, 3, 4])), proposed_by="then"),
    ])  # fmt: skip
    assert [one.role for one in found.answers] == ["proposer", "then"]
    assert found.accepted == {"then": 1} and found.solver == "then"


def test_a_method_that_refines_counts_better_hypotheses_and_a_reached_target(write):
    shown = [(False, False), (True, False), (True, False), (True, True)]
    steps = [
        step(n, (f"step/{n}/propose/0", write.judged(A if all(marks) else I, shown=marks)), feedback=True)
        for n, marks in enumerate(shown, 1)
    ]  # fmt: skip
    found = traced(steps, "target")
    assert found.refining and found.solver == "proposer"
    assert [one.added for one in found.answers] == [True, True, False, True]
    assert traced(steps, "cap").solver is None


def test_costs_of_many_small_sums_are_finite():
    told = summarize_costs({"propose": used(3, seconds=1e-9)}, [gains("a", {"proposer": 10**6})])
    assert all(math.isfinite(value) for value in told["per_accepted"].values())
