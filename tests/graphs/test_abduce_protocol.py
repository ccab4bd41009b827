"""GEAR's protocol (paper, section 4.1) on a trace small enough to work out by hand.

S is the ten singletons [0] … [9]; shown are [3] -> [3] and [5] -> [5].

| answer | predictions on S | covered before | verdict | bad |
|---|---|---|---|---|
| identity | [n] | 0 of 10 | accepted | 0 |
| prose | | | malformed | 1 |
| identity, [9] for [0] | differs at 0 alone | 9 of 10 | redundant | 2 |
| [n] at 3 and 5, [n + 1] else | agrees with identity at 3, 5 | 2 of 10 | accepted | 2 |
| undefined but at 3 and 5 | two, both made before | 2 of 10 | accepted | 2 |
| identity for n < 8, [n + 50] else | eight made before | 8 of 10 | redundant | 3 |
"""

from __future__ import annotations

from peirce.agents.scripted import ScriptedProposer
from peirce.records import Verdict

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
NINE_FOR_ZERO = "def f(x):\n    return [9] if x == [0] else x"
PLUS_ONE = "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]"
ONLY_SHOWN = "def f(x):\n    return {3: [3], 5: [5]}[x[0]]"
EIGHT_OF_TEN = "def f(x):\n    return x if x[0] < 8 else [x[0] + 50]"
SEVEN_OF_TEN = "def f(x):\n    return x if x[0] < 7 else [x[0] + 50]"
WRONG = "def f(x):\n    return x if x[0] != 3 else [4]"


def verdicts(steps):
    return [one.verdict for step in steps for answer in step.answers for one in answer.judged]


def coverages(steps):
    return [one.coverage for step in steps for answer in step.answers for one in answer.judged]


def test_hand_worked_trace_with_all_verdicts_stops_at_the_third_bad_answer(
    play, make_problem, make_answer
):
    replies = [make_answer(IDENTITY), "It must be the identity.", make_answer(NINE_FOR_ZERO),
               make_answer(PLUS_ONE), make_answer(ONLY_SHOWN), make_answer(EIGHT_OF_TEN),
               make_answer(SEVEN_OF_TEN)]  # fmt: skip
    store, session, steps = play(ScriptedProposer(replies), [make_problem(shown=SHOWN)])
    accepted, redundant, malformed = Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.MALFORMED
    assert verdicts(steps) == [accepted, malformed, redundant, accepted, accepted, redundant]
    assert coverages(steps) == [0.0, None, 0.9, 0.2, 0.2, 0.8]
    assert [row.cause for row in store.problems(session)] == ["three_bad"]


def test_an_answer_both_inconsistent_and_redundant_is_inconsistent(play, make_problem, make_answer):
    replies = [make_answer(IDENTITY), make_answer(WRONG)]
    _, _, steps = play(ScriptedProposer(replies), [make_problem(shown=SHOWN)])
    assert verdicts(steps) == [Verdict.ACCEPTED, Verdict.INCONSISTENT]
    assert coverages(steps)[1] == 0.9


def test_inconsistent_and_redundant_answers_cover_what_comes_after(play, make_problem, make_answer):
    replies = [make_answer(WRONG), make_answer(IDENTITY), make_answer(IDENTITY)]
    _, _, steps = play(ScriptedProposer(replies), [make_problem(shown=SHOWN)])
    assert coverages(steps) == [0.0, 0.9, 1.0]
    assert verdicts(steps)[1:] == [Verdict.REDUNDANT, Verdict.REDUNDANT]


def test_a_problem_ends_as_exhausted_when_the_proposer_has_nothing_left(
    play, make_problem, make_answer
):
    store, session, steps = play(
        ScriptedProposer([make_answer(IDENTITY)]), [make_problem(shown=SHOWN)]
    )
    assert len(steps) == 1
    assert [row.cause for row in store.problems(session)] == ["exhausted"]


def test_the_cap_on_answers_ends_a_problem(play, make_problem, make_answer):
    replies = [
        make_answer(f"def f(x):\n    return x if x[0] in (3, 5) else [{n}]") for n in range(9)
    ]
    store, session, steps = play(
        ScriptedProposer(replies), [make_problem(shown=SHOWN)], max_answers=4
    )
    assert len(steps) == 4
    assert [row.cause for row in store.problems(session)] == ["cap"]


def test_accepted_hypotheses_alone_enter_the_bank_with_an_event_for_each_observation(
    play, make_problem, make_answer
):
    replies = [make_answer(IDENTITY), make_answer(WRONG), make_answer(PLUS_ONE)]
    _, _, steps = play(ScriptedProposer(replies), [make_problem(shown=SHOWN)])
    events = [event for step in steps for event in step.events]
    assert [(e.text, e.observation, e.right, e.t) for e in events] == [
        (IDENTITY, 0, True, 1), (IDENTITY, 1, True, 2),
        (PLUS_ONE, 0, True, 3), (PLUS_ONE, 1, True, 4),
    ]  # fmt: skip


def test_hidden_pairs_are_judged_but_decide_nothing(play, make_problem, make_answer):
    hidden = [([7], [8]), ([8], [8])]
    _, _, steps = play(
        ScriptedProposer([make_answer(IDENTITY)]), [make_problem(shown=SHOWN, hidden=hidden)]
    )
    judged = steps[0].answers[0].judged[0]
    assert judged.verdict is Verdict.ACCEPTED
    assert judged.hidden is not None and judged.hidden.marks == (False, True)
