"""The template `gear`: what it lists of earlier answers and pairs, and what is added where a session departs
from GEAR's protocol.

Internals: prompts are pure functions of a view, and a session would show only some of the views.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from peirce.agents.prompts.protocol import build_messages
from peirce.records import (
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    Problem,
    UsageError,
    Verdict,
)
from peirce.tasks import load_family

WORDS = load_family("programs").words.gear()  # type: ignore[attr-defined]
SHOWN = (Observation([3, 1], [1]), Observation([5], []), Observation([2, 2], [2]))
VIEW = Problem("p", "t", "programs", SHOWN).make_view(InputSet("s", ([1],)))


def past(name: str, verdict: Verdict = Verdict.ACCEPTED, feedback: str = "") -> PastAnswer:
    hypotheses = () if verdict is Verdict.MALFORMED else (Hypothesis(f"def f(x): {name}", name),)
    return PastAnswer(f"answer {name}", hypotheses, verdict, feedback)


def ask(*earlier: PastAnswer, **options: object) -> list[str]:
    given = {"answer_format": "tuple", "template": "gear", **options}
    messages = build_messages(replace(VIEW, past_answers=earlier), WORDS, **given)  # type: ignore[arg-type]
    return [str(one["content"]) for one in messages]


def test_every_earlier_hypothesis_is_a_bullet_whatever_its_verdict_and_no_malformed_answer_is():
    (text,) = ask(past("a"), past("b", Verdict.INCONSISTENT), past("c", Verdict.MALFORMED),
                  past("d", Verdict.REDUNDANT))  # fmt: skip
    assert "proposed so far:\n- a\n- b\n- d\n\n" in text and "answer c" not in text


def test_only_a_first_request_states_the_task_and_only_a_later_one_the_goal():
    (first,), (later,) = ask(), ask(past("a"))
    assert "Task\n" in first and "Goal\n" not in first
    assert "Goal\n" in later and "Task\n" not in later
    assert first.count("def f(x)") == later.count("def f(x)") == 2


def test_tools_and_feedback_are_mentioned_only_where_a_session_has_them():
    (plain,) = ask(past("a", Verdict.INCONSISTENT))
    (told,) = ask(past("a", Verdict.INCONSISTENT, "It is wrong on Pair 2."), tools=True)
    assert "tool" not in plain
    assert "- a\n  It is wrong on Pair 2.\n" in told and "try functions with the tools" in told


def test_a_shorter_list_keeps_the_accepted_ones_and_chosen_pairs_keep_their_numbers():
    answers = [past("a"), past("b", Verdict.INCONSISTENT), past("c"), past("d")]
    (text,) = ask(*answers, history_limit=2, listed=[0, 2])
    assert "proposed so far:\n- a\n- c\n- d\n" in text
    assert (
        "Pairs (2 of 3; a hypothesis is judged on all 3):\nPair 1: ([3, 1], [1])\nPair 3: " in text
    )


def test_a_chat_repeats_answers_literally_and_states_only_their_number():
    first, one, later, two, last = ask(past("a"), past("b", Verdict.MALFORMED), history="chat")
    assert (one, two) == ("answer a", "answer b") and first == ask()[0]
    assert "So far you have proposed 1 hypothesis," in later
    assert "So far you have proposed 2 hypotheses," in last and "Rules for the code" not in last


def test_another_format_has_the_familys_words_for_it():
    (text,) = ask(answer_format="json")
    assert '{"description": ' in text and "Give the answer in the form stated above" in text


def test_a_family_without_such_words_is_refused():
    with pytest.raises(UsageError, match="template is 'gear': only programs have prompts of this"):
        build_messages(VIEW, load_family("logic").words, answer_format="json", template="gear")
