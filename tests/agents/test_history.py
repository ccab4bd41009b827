"""What a prompt shows of many earlier answers: the last in full, of older ones what was accepted.

Internals: prompts are pure functions of a view, and no session here is long enough.
"""

from __future__ import annotations

import pytest
from peirce.agents.prompts.history import split_history, summarise_answers
from peirce.agents.prompts.protocol import build_messages
from peirce.records import Hypothesis, InputSet, Observation, PastAnswer, Verdict, View


class Words:
    """A family whose words are marks that a test can look for."""

    instructions = "<instructions>"

    def contract(self, answer_format):
        return "<contract>"

    def show_observation(self, number, observation):
        return f"<observation {number}>"

    def show_hypothesis(self, hypothesis):
        return f"<{hypothesis.description}>"

    def compact(self):
        return self


SHOWN = tuple(Observation([n], [n]) for n in range(4))
VERDICTS = (Verdict.ACCEPTED, Verdict.INCONSISTENT, Verdict.REDUNDANT, Verdict.MALFORMED)


def answer(number, verdict=None, author=""):
    verdict = verdict or VERDICTS[number % 4]
    hypotheses = (Hypothesis(f"code {number}", f"h{number}"),)
    return PastAnswer(
        f"raw {number}", () if verdict is Verdict.MALFORMED else hypotheses, verdict, "", author
    )


def view(count):
    earlier = tuple(answer(n) for n in range(count))
    return View("p", "t", "f", SHOWN, {}, InputSet("S", ()), earlier)


def written(count, **style):
    return build_messages(view(count), Words(), answer_format="tuple", **style)


@pytest.mark.parametrize("history", ["descriptions", "chat"])
@pytest.mark.parametrize("template", ["full", "compact"])
@pytest.mark.parametrize("aim", ["another", "better"])
def test_below_the_limit_prompts_are_as_without_one(history, template, aim):
    style = {"history": history, "template": template, "aim": aim}
    assert written(30, history_limit=30, **style) == written(30, **style)
    assert written(31, history_limit=30, **style) != written(31, **style)


def test_older_answers_are_summarised_by_what_came_of_them():
    (message,) = written(20, history_limit=8)
    text = message["content"]
    shown = [n for n in range(20) if f"<h{n}>" in text]
    assert shown == [0, 4, 8, 12, 13, 14, 16, 17, 18]  # 15 and 19 are malformed
    assert "accepted among the first 12 answers" in text
    assert "3 more hypotheses of these answers did not agree" in text
    assert "3 more hypotheses of these answers predicted hardly anything new" in text
    assert "3 of these answers could not be read" in text
    assert "2 earlier answers could not be read" in text  # those among the last eight
    assert text.index("<h8>") < text.index("<h12>") < text.index("Find one more hypothesis")


def test_the_summary_stays_the_same_for_half_of_the_limit():
    """So an endpoint's cache of the beginning is of use for several answers."""
    older = [len(split_history(view(n).past_answers, 8)[0]) for n in range(7, 22)]
    assert older == [0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 16]
    for n in range(9, 12):
        before, after = (written(k, history_limit=8)[0]["content"] for k in (n, n + 1))
        assert before.split("Find one more")[0].split("\n\n")[:4] == after.split("\n\n")[:4]


def test_a_chat_goes_on_after_a_summary():
    messages = written(20, history_limit=8, history="chat")
    assert [one["role"] for one in messages] == ["user"] + ["assistant", "user"] * 8
    assert "accepted among the first 12 answers" in messages[0]["content"]
    assert messages[1]["content"] == "raw 12"
    assert "Find one more hypothesis" in messages[0]["content"]


def test_an_answer_keeps_what_a_search_made_of_it():
    earlier = [answer(n, Verdict.INCONSISTENT) for n in range(4)]
    earlier.insert(2, answer(9, Verdict.ACCEPTED, author="search"))
    older, recent = split_history(earlier, 3)
    assert (len(older), older[-1].author, recent[0].author) == (3, "search", "")
    older, _ = split_history(earlier[1:], 3)
    assert (len(older), older[-1].author) == (2, "search")


def test_each_hypothesis_of_an_answer_has_its_own_verdict():
    found = tuple(Hypothesis(f"code {n}", f"h{n}") for n in range(3))
    verdicts = (Verdict.INCONSISTENT, Verdict.ACCEPTED, Verdict.INCONSISTENT)
    one = PastAnswer("raw", found, Verdict.INCONSISTENT, verdicts=verdicts)
    (block,) = summarise_answers([one], lambda each: each.description)
    assert "1. h1" in block and "h0" not in block and "2 more hypotheses" in block
    assert summarise_answers([], lambda each: "") == []


def test_a_summary_without_accepted_hypotheses_says_so():
    (block,) = summarise_answers([answer(1), answer(3)], lambda each: each.description)
    assert block.startswith("None of the first 2 answers")
    assert "1 more hypothesis of these answers did not agree" in block


@pytest.mark.parametrize("template", ["full", "compact"])
def test_chosen_observations_keep_their_numbers(template):
    (message,) = written(0, listed=(1, 3), template=template)
    text = message["content"]
    assert [n for n in range(1, 5) if f"<observation {n}>" in text] == [2, 4]
    assert "2 of 4" in text
