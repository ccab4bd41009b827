"""The advice where to stop: right on made answers with a known end, silent where the data do not say it.

Internals: gains are made by hand, without a session.
"""

from __future__ import annotations

import random

import pytest
from peirce.reports.answer_gains import AnswerGain, ProblemGains
from peirce.reports.marginal_gain import (
    MAX_LOST,
    MIN_PROBLEMS,
    describe_advice,
    describe_gain,
    summarize_gain,
)

SETTINGS = {"method": "abduce"}
CAP = 25


def problem(
    name: str, hits, *, status: str = "done", refining: bool = False, **more
) -> ProblemGains:
    """A problem whose answers added one hypothesis where `hits` has True."""
    answers = tuple(AnswerGain("proposer", int(hit), float(hit), bool(hit)) for hit in hits)
    number = sum(map(bool, hits))
    return ProblemGains(name, status, "cap", refining, answers, {"proposer": number} if number else {},
                        float(number), "proposer" if number else None, **more)  # fmt: skip


def draw_problems(count: int, chance, cap: int = CAP, seed: int = 0) -> list[ProblemGains]:
    """Problems whose answer n is accepted with the probability chance(n)."""
    draw = random.Random(seed)
    return [
        problem(str(place), [draw.random() < chance(n) for n in range(1, cap + 1)])
        for place in range(count)
    ]


def until(last: int, share: float = 0.7):
    return lambda n: share if n <= last else 0.0


def advice(problems, settings=SETTINGS):
    told = summarize_gain(problems, settings)
    assert (told["advice"] is None) == bool(told["no_advice"])
    return told["advice"] or told["no_advice"]


@pytest.mark.parametrize("last", [3, 6, 12])
def test_the_advice_is_the_answer_after_which_nothing_was_added(last):
    found = advice(draw_problems(60, until(last)))
    assert (found["option"], found["value"]) == ("max_answers", last)
    assert found["saved"] == 60 * (CAP - last) and found["answers"] == 60 * CAP
    assert found["missed"] == found["unsolved"] == 0 and 0 < found["at_most"] <= MAX_LOST
    said = describe_advice(summarize_gain(draw_problems(60, until(last)), SETTINGS))
    assert said == [
        f"--max-answers {last} would have saved {1 - last / CAP:.0%} of the 1,500 answers and missed none of"
        f" the {found['of']:,} accepted hypotheses (at most {found['at_most']:.1%}, 95% interval over 60"
        " problems)"
    ]


def test_patience_is_advised_where_problems_end_at_different_answers():
    draw = random.Random(1)
    ends = [draw.randrange(1, 20) for _ in range(80)]
    found = advice([problem(str(n), [k < end for k in range(CAP)]) for n, end in enumerate(ends)])
    assert (found["option"], found["value"], found["missed"]) == ("patience", 1, 0)
    assert found["saved"] == sum(CAP - end - 1 for end in ends)


def test_with_few_problems_nothing_is_advised():
    assert advice(draw_problems(MIN_PROBLEMS - 1, until(3))) == "few_problems"
    assert advice(draw_problems(MIN_PROBLEMS, until(3))) == "uncertain"
    assert advice([problem("a", [True, False])]) == "few_problems" == advice([])
    assert advice([problem(str(n), [True]) for n in range(50)]) == "few_problems"
    assert describe_advice(summarize_gain(draw_problems(5, until(3)), SETTINGS)) == []


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_advised_while_gain_goes_on(seed):
    for share in (0.05, 0.4, 0.9):
        assert (
            advice(draw_problems(100, lambda n, share=share: share, seed=seed)) == "gain_continues"
        )
    growing = draw_problems(100, lambda n: n / CAP, seed=seed)
    assert advice(growing) == "gain_continues"


def test_gain_of_few_late_problems_is_not_given_up():
    """One problem in ten finds all it finds after answer 15: the mean gain there is small."""
    late = [problem(f"late {n}", [k >= 15 for k in range(CAP)]) for n in range(6)]
    early = [problem(f"early {n}", [k < 5 for k in range(CAP)]) for n in range(54)]
    found = advice(early + late)
    assert (found["option"], found["value"], found["missed"]) == ("patience", 16, 0)
    lone = [problem("late", [k == 20 for k in range(CAP)])]
    found = advice(early + lone)  # a limit below 21 would leave one of 55 solved problems open
    assert (found["option"], found["value"], found["unsolved"]) == ("max_answers", 21, 0)


def keep(problem: ProblemGains, option: str, value: int) -> int:
    """How many hypotheses a limit keeps, by a loop that follows its definition."""
    kept = fruitless = 0
    for number, one in enumerate(problem.answers, 1):
        kept += one.accepted
        fruitless = 0 if one.accepted else fruitless + 1
        if (number if option == "max_answers" else fruitless) >= value:
            break
    return kept


def test_what_is_missed_stays_below_the_bound_in_new_problems():
    """Of gains that fade slowly: the share that the advised limit misses of 3,000 new problems."""
    chance = lambda n: 0.9 * 0.8**n
    fresh = draw_problems(3_000, chance, seed=99)
    total = sum(one.gamma for one in fresh)
    shares, options = [], set()
    for seed in range(20):
        problems = draw_problems(100, chance, seed=seed)
        found = advice(problems)
        options.add(found["option"])
        limit = found["option"], found["value"]
        assert found["missed"] == found["of"] - sum(keep(one, *limit) for one in problems)
        shares.append(1 - sum(keep(one, *limit) for one in fresh) / total)
    assert options == {"max_answers", "patience"}
    assert max(shares) <= MAX_LOST and sum(shares) > 0


def test_problems_that_an_outage_ended_do_not_count():
    whole = draw_problems(60, until(6))
    cut = [
        problem(f"cut {n}", [True] * 2, status=status)
        for n in range(40)
        for status in ("failed", "open")
    ]
    told = summarize_gain(whole + cut, SETTINGS)
    assert (told["problems"], told["left_out"]) == (60, 80)
    assert told["advice"] == summarize_gain(whole, SETTINGS)["advice"]
    assert told["answers"] == summarize_gain(whole, SETTINGS)["answers"]
    # Only few done problems are left of many: silence.
    assert advice(draw_problems(10, until(6)) + cut) == "few_problems"


def test_problems_that_ended_by_themselves_count_with_the_answers_they_had():
    """Half of the problems end after 3 answers with nothing left to find: no evidence against going on."""
    short = [problem(f"short {n}", [True, False, False]) for n in range(40)]
    long = draw_problems(40, lambda n: 0.5)
    told = summarize_gain(short + long, SETTINGS)
    assert told["advice"] is None and told["no_advice"] == "gain_continues"
    last = told["answers"][-1]
    assert (last["last"], last["problems"]) == (CAP, 40) and last["accepted"]["mean"] > 0.3


def test_improvements_count_where_a_method_refines():
    late = draw_problems(60, until(4))
    refined = [
        problem(one.problem, [each.added for each in one.answers], refining=True) for one in late
    ]
    refined = [ProblemGains(**{**vars(one), "solver": None}) for one in refined]
    found = advice(refined, {"method": "refine"})
    assert (found["option"], found["value"], found["unit"]) == ("max_answers", 4, "improvements")


@pytest.mark.parametrize("method", ["io", "t3", "imported", "hypogenic", None])
def test_methods_without_the_limits_get_no_advice(method):
    assert advice(draw_problems(60, until(6)), {"method": method}) == "method"


def test_sessions_with_a_second_proposer_get_no_advice():
    players = {"operational": {"players": {"then": ["search", {}]}}}
    assert advice(draw_problems(60, until(6)), SETTINGS | players) == "second_proposer"
    one = AnswerGain("then", 1, 1.0, True)
    both = [
        ProblemGains(
            "p", "done", "cap", False, (*draw_problems(1, until(2))[0].answers, one), {"then": 1}
        )
    ]
    told = summarize_gain(both, SETTINGS)
    assert told["no_advice"] == "second_proposer" and told["answers"][-1]["last"] == CAP


def test_unknown_gamma_leaves_accepted_hypotheses_as_the_only_measure():
    blind = [
        ProblemGains(**{**vars(one), "gamma": None,
                        "answers": tuple(AnswerGain("proposer", a.accepted, None, a.added) for a in one.answers)})
        for one in draw_problems(60, until(6))
    ]  # fmt: skip
    told = summarize_gain(blind, SETTINGS)
    assert told["advice"]["value"] == 6
    assert all(row["gamma"] is None for row in told["answers"])


def test_nothing_found_is_no_reason_to_stop():
    assert advice([problem(str(n), [False] * 5) for n in range(40)]) == "nothing_found"


def test_the_table_has_means_by_answer_with_intervals():
    told = summarize_gain(draw_problems(50, until(6, 1.0)), SETTINGS)["answers"]
    assert [(row["first"], row["last"]) for row in told] == [
        (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 15), (16, 20), (21, 25),
    ]  # fmt: skip
    assert told[0]["accepted"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 50}
    assert told[5]["accepted"]["mean"] == pytest.approx(0.2) and told[5]["answers"] == 250
    lone = summarize_gain([problem("a", [True, False])], SETTINGS)["answers"][0]["accepted"]
    assert (lone["mean"], lone["low"]) == (1, None)
    assert summarize_gain([], SETTINGS)["answers"] == []


def test_a_line_says_how_the_gain_fades():
    told = summarize_gain(draw_problems(50, until(6, 1.0)), SETTINGS)
    assert describe_gain(told) == [
        "accepted hypotheses by answer: 1.00 (answer 1), 1.00 (answers 2 to 5), 0.05 (answers 6 to 25)"
    ]
    assert describe_gain(summarize_gain([problem("a", [True, True])], SETTINGS)) == []
