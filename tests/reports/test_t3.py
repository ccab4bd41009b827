"""Pass rates and Top-1/2/3, worked by hand, of one round and of several.

Internals: pass rates of single problems are worked by hand from steps that are written here.
"""

from __future__ import annotations

import csv
from dataclasses import replace

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.records import Verdict
from peirce.reports import evaluate
from peirce.reports.papers.t3 import metrics as t3

OK, WRONG, BROKEN = Verdict.ACCEPTED, Verdict.INCONSISTENT, Verdict.MALFORMED
TOP = ("top1", "top2", "top3")


def test_pass_rates_are_means_over_answers_with_malformed_ones_at_zero(write):
    steps = write.steps(
        write.judged(OK, [1], shown=(True, True), hidden=(True, False)),
        write.judged(WRONG, [1], shown=(True, False), hidden=(None, False)),
        write.judged(BROKEN),
    )
    found = t3.problem_metrics(write.problem(), steps)
    assert found["train_pass"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["test_pass"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert [found[k] for k in TOP] == [0, 0, 0]


@pytest.mark.parametrize("right", [0, 1, 2, 3])
def test_top_k_asks_for_one_of_the_first_k_answers(write, right):
    answers = [
        write.judged(OK, [1], hidden=(True, True) if i == right else (True, None)) for i in range(4)
    ]
    found = t3.problem_metrics(write.problem(), write.steps(*answers))
    assert [found[k] for k in TOP] == [float(right < k) for k in (1, 2, 3)]


def test_an_answer_right_on_the_hidden_pairs_counts_though_inconsistent(write):
    steps = write.steps(write.judged(WRONG, [1], shown=(False, False), hidden=(True, True)))
    assert t3.problem_metrics(write.problem(), steps)["top1"] == 1.0


def test_a_malformed_answer_takes_its_place_among_the_first_k(write):
    steps = write.steps(write.judged(BROKEN), write.judged(OK, [1]))
    found = t3.problem_metrics(write.problem(), steps)
    assert [found[k] for k in TOP] == [0, 1, 1]


def test_answers_of_one_step_count_in_their_order(write):
    wrong = write.judged(OK, [1], hidden=(False, False))
    steps = write.steps((wrong, write.judged(OK, [1])), wrong)
    found = t3.problem_metrics(write.problem(), steps)
    assert [found[k] for k in TOP] == [0, 1, 1]


def test_a_problem_without_hidden_pairs_is_left_out_and_counted(write):
    without = write.problem("q", hidden=0)
    steps = write.steps(write.judged(OK, [1], hidden=()))
    results = [t3.problem_metrics(without, steps), t3.problem_metrics(write.problem(), steps[:0])]
    found = t3.summarize(results)
    assert [found[k]["n"] for k in (*TOP, "test_pass")] == [1, 1, 1, 1]
    assert found["top1"]["mean"] == 0.0
    assert found["without_hidden"]["mean"] == 0.5
    assert (found["train_pass"]["n"], found["train_pass"]["mean"]) == (2, 0.5)


def test_an_answer_never_compared_with_the_hidden_pairs_leaves_them_without_value(write):
    steps = write.steps(write.judged(OK, [1], hidden=None))
    found = t3.problem_metrics(write.problem(), steps)
    assert (found["train_pass"], found["test_pass"], found["top1"]) == (1.0, None, None)


def test_every_metric_named_is_given(write):
    found = t3.problem_metrics(write.problem(), [])
    assert tuple(found) == t3.EVALUATION.metric_names


# --- by round ----------------------------------------------------------------


def in_rounds(steps, rounds):
    return [replace(step, fields={"round": r}) for step, r in zip(steps, rounds, strict=True)]


def two_by_two(write):
    """Two problems, two rounds of three answers, over an S of five inputs, shown 2, hidden 2.

    | | answers (shown, hidden right; over S) | train | test | top1 | top3 | cons | beta | gamma | constant | narrow |
    |---|---|---|---|---|---|---|---|---|---|---|
    | p 1 | OK 2, 2: 1 2 3 4 5; WRONG 1, 0: 7 7 7 7 7; BROKEN | .5 | 1/3 | 1 | 1 | 1/3 | 0 | 1 | 1/2 | 0 |
    | p 2 | BROKEN; OK 2, 1: 1 2 3 4 5; OK 2, 2: 1 2 3 4 - | 2/3 | .5 | 0 | 1 | 2/3 | 1/5 | 1 | 0 | 0 |
    | q 1 | BROKEN x 3 | 0 | 0 | 0 | 0 | 0 | 0 | none | none | none |
    | q 2 | WRONG 0, 0: 1 1 1 - -; OK 2, 0: 9 9 9 9 9; OK 2, 0: 1 2 3 4 9 | 2/3 | 0 | 0 | 0 | 2/3 | 8/9 | 9/5 | 1/3 | 1/3 |
    """
    full = (1, 2, 3, 4, 5)
    ok, no = (True, True), (False, False)
    p = write.steps(
        write.judged(OK, full, ok, ok),
        write.judged(WRONG, (7,) * 5, (True, False), no),
        write.judged(BROKEN),
        write.judged(BROKEN),
        write.judged(OK, full, ok, (True, False)),
        write.judged(OK, (1, 2, 3, 4, None), ok, ok),
    )
    q = write.steps(
        *[write.judged(BROKEN)] * 3,
        write.judged(WRONG, (1, 1, 1, None, None), no, no),
        write.judged(OK, (9,) * 5, ok, no),
        write.judged(OK, (1, 2, 3, 4, 9), ok, no),
        problem="q",
    )
    rounds = (1, 1, 1, 2, 2, 2)
    problems = [write.problem("p"), write.problem("q")]
    return problems, [*in_rounds(p, rounds), *in_rounds(q, rounds)]


def test_two_problems_in_two_rounds_worked_by_hand(write):
    problems, steps = two_by_two(write)
    found = evaluate("t3", problems, steps)
    p, q = found["by_problem"]
    about = pytest.approx
    assert (p["rounds"], p["hypotheses"]) == (2, 3)
    assert (p["train_pass"], p["test_pass"]) == about(((1 / 2 + 2 / 3) / 2, (1 / 3 + 1 / 2) / 2))
    assert [p[k] for k in TOP] == [0.5, 0.5, 1.0]
    assert (p["consistency"], p["instruction_following"]) == about((1 / 2, 2 / 3))
    assert (p["beta"], p["beta_of_two"]) == about((0.1, 0.2))
    assert (p["gamma"], p["gamma_of_two"], p["generalizability"]) == about((1, 1, 0.95))
    assert (p["constant"], p["narrow"]) == about((1 / 4, 0))
    assert (q["train_pass"], q["test_pass"]) == about((1 / 3, 0))
    assert [q[k] for k in TOP] == [0, 0, 0]
    assert (q["consistency"], q["instruction_following"]) == about((1 / 3, 1 / 2))
    assert (p["consistency_of_parsed"], q["consistency_of_parsed"]) == about((3 / 4, 1 / 3))
    assert (q["beta"], q["beta_of_two"]) == about((4 / 9, 8 / 9))
    assert (q["gamma"], q["gamma_of_two"]) == about((9 / 5, 9 / 5))
    assert (q["constant"], q["narrow"]) == about((1 / 3, 1 / 3))
    metrics = found["metrics"]
    assert {one["n"] for one in metrics.values()} == {2}
    assert metrics["top3"]["mean"] == about(0.5)
    assert metrics["constant"]["mean"] == about((1 / 4 + 1 / 3) / 2)
    assert (metrics["top3"]["low"], metrics["top3"]["high"]) == (0, 1)  # problems are drawn


def test_steps_that_name_no_round_are_one(write):
    problems, steps = two_by_two(write)
    plain = [replace(step, fields={}) for step in steps]
    p = evaluate("t3", problems, plain)["by_problem"][0]
    assert (p["rounds"], p["hypotheses"], p["top1"]) == (1, 6, 1.0)


def test_the_constant_answer_of_an_inconsistent_hypothesis_is_read_from_the_store(tmp_path):
    def says(messages):
        return repr(("one value", "def f(x):\n    return [77]"))

    store = tmp_path / "s.duckdb"
    for name in ("a", "b"):
        peirce.run("list_functions", method="t3", rounds=2, problems=2, observations=3,
                   model=FunctionProposer(says, name), store=store)  # fmt: skip
    sessions = [one["session"] for one in peirce.sessions(store=store)]
    found = peirce.evaluate(*sessions, name="t3", store=store, out=tmp_path / "out")
    for one in found["sessions"]:
        means = {name: one["metrics"][name]["mean"] for name in ("constant", "narrow", "rounds")}
        assert means == {"constant": 1.0, "narrow": 0.0, "rounds": 2.0}
    rows = list(csv.DictReader((tmp_path / "out" / "table4.csv").open()))
    assert [row["source"] for row in rows] == ["here"] * 2 + ["published"] * 18
    assert (rows[0]["constant"], rows[0]["constant low"]) == ("1.0", "1.0")
    assert (rows[2]["instruction_following"], rows[2]["top3"], rows[2]["top3 low"]) == (
        "0.149", "0.004", "",
    )  # fmt: skip
    table = (tmp_path / "out" / "table2.md").read_text()
    assert len(table.splitlines()) == 4 + 2 + 9 and "0.182" in table
