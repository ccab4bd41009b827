"""Checks the prompts on labelled text: what each role shows and leaves out, that prompts asked of
many rows share their beginning, that what they ask for is what the readers of answers take, and that
their digest moves with every word.

Internals: prompts are pure functions of a view, and their digest has to move with their words.
"""

import pytest
from peirce.agents.prompts import text as text_prompts
from peirce.agents.prompts.text import DEFAULT_PROMPTS, text_prompt_hash
from peirce.agents.prompts.text_parts import list_form
from peirce.records import InputSet, Observation, View
from peirce.tasks.text.answers import (
    NOT_APPLICABLE,
    parse_hypotheses,
    parse_judgement,
    parse_pattern_number,
    parse_sourced_hypotheses,
    parse_yes_no,
)

PUBLIC = {
    "labels": ["truthful", "deceptive"],
    "columns": {"review": {"kind": "text", "about": ""}},
    "shape": "text",
    "description": "Hotel reviews.",
}
ROWS = tuple(Observation({"review": f"review number {n}"}, "truthful") for n in range(3))


class Paper:
    title, summary, source, text = "On lies", "Liars say less.", "lies.pdf", "We found it."


def view(rows=ROWS):
    return View("p", "labels", "text", rows, PUBLIC, InputSet("S", ()))


def said(messages):
    (message,) = messages
    assert message["role"] == "user"
    return message["content"]


@pytest.mark.parametrize("rows", [ROWS, ()])
@pytest.mark.parametrize("papers", [(Paper(),), ()])
def test_a_proposal_shows_the_rows_and_papers_that_there_are(rows, papers):
    text = said(DEFAULT_PROMPTS.propose(view(rows), 7, papers))
    assert ("review number 2" in text) == bool(rows)
    assert ("Liars say less." in text) == ("On lies" in text) == bool(papers)
    assert "exactly 7 hypotheses" in text and ('"<quote>"' in text) == bool(papers)


def test_one_hypothesis_is_asked_for_as_one():
    text = said(DEFAULT_PROMPTS.propose(view(), 1))
    assert "exactly one hypothesis" in text and "\n2. <hypothesis>" not in text


def test_the_form_asked_for_is_the_form_that_is_read():
    text = list_form(3, sourced=True).replace("<number>", "2")
    assert parse_sourced_hypotheses(text, 3)[0] == ("<hypothesis>", 2, "<quote>")
    assert parse_hypotheses(list_form(2), 2) == ["<hypothesis>"]


def test_refinement_shows_the_hypotheses_and_what_they_are_refined_by():
    text = said(DEFAULT_PROMPTS.refine_with_data(view(), ["one", "two"], 2))
    assert "1. one\n2. two" in text and "review number 0" in text
    text = said(DEFAULT_PROMPTS.refine_with_papers(view(), ["one"], (Paper(),), 1))
    assert "Liars say less." in text and "review number 0" not in text
    text = said(
        DEFAULT_PROMPTS.refine_with_feedback(
            view(), "one", [(ROWS[1], "deceptive"), (ROWS[2], "")], 5
        )
    )
    assert "review number 1\n   label: truthful\n   predicted: deceptive" in text
    assert text.count("predicted:") == 1 and "review number 0" not in text


def begins(one, other):
    """How much of two prompts is the same from their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


@pytest.mark.parametrize(
    "ask",
    [
        lambda row: DEFAULT_PROMPTS.infer(view(), "one", row),
        lambda row: DEFAULT_PROMPTS.infer_many(view(), ["one", "two"], row),
        lambda row: DEFAULT_PROMPTS.judge_relevance(view(), "one", row),
        lambda row: DEFAULT_PROMPTS.infer_adaptively(view(), [("one", ROWS[:1]), ("two", ())], row),
        lambda row: DEFAULT_PROMPTS.select_pattern(view(), [("one", ROWS[:1]), ("two", ())], row),
        lambda row: DEFAULT_PROMPTS.label_directly(view(), ROWS, row),
    ],
)
def test_prompts_of_many_rows_differ_in_their_end_alone(ask):
    one, other = said(ask({"review": "Loud."})), said(ask({"review": "Quiet."}))
    assert one.endswith("Loud.") and begins(one, other) == len(one) - len("Loud.")
    assert said(ask({"review": "Loud."})) == one


def test_a_judge_sees_no_row_and_may_say_that_the_hypothesis_does_not_apply():
    text = said(DEFAULT_PROMPTS.infer(view(), "one", {"review": "Loud."}))
    assert "review number" not in text and '"does not apply"' in text
    assert parse_judgement('Final answer: "does not apply"', PUBLIC["labels"]) is NOT_APPLICABLE
    for ask in (
        DEFAULT_PROMPTS.infer_many(view(), ["one"], {}),
        DEFAULT_PROMPTS.label_directly(view(), (), {}),
    ):
        assert "does not apply" not in said(ask)


def test_the_last_lines_asked_for_are_what_is_read():
    text = said(
        DEFAULT_PROMPTS.infer_adaptively(view(), [("one", ()), ("two", ())], {"review": "Loud."})
    )
    assert "\nChosen pattern: NUMBER\nFinal answer: LABEL" in text and "from 1 to 2" in text
    answer = "So.\nChosen pattern: 2\nFinal answer: deceptive"
    assert (
        parse_pattern_number(answer, 2) == 2
        and parse_judgement(answer, PUBLIC["labels"]) == "deceptive"
    )
    assert "Final answer: yes" in said(DEFAULT_PROMPTS.compare_hypotheses(view(), "one", "two"))
    assert parse_yes_no("Both speak of pools.\nFinal answer: yes") is True


def test_patterns_stand_with_their_rows_and_zero_shot_shows_none():
    text = said(
        DEFAULT_PROMPTS.select_pattern(
            view(), [("one", ROWS[:2]), ("two", ())], {"review": "Loud."}
        )
    )
    assert "Pattern 1: one\n1. review number 0" in text and "Pattern 2: two" in text
    assert "Rows with" not in said(DEFAULT_PROMPTS.label_directly(view(), (), {"review": "Loud."}))


def test_a_summary_is_asked_of_the_whole_text_with_quotes():
    text = said(DEFAULT_PROMPTS.summarise(view(), Paper()))
    assert "We found it." in text and "On lies" in text and "quote" in text
    assert "review number" not in text


def test_the_digest_of_the_template_moves_with_its_words(monkeypatch):
    before = text_prompt_hash()
    assert before == text_prompt_hash()
    monkeypatch.setattr(text_prompts, "_SAME", "other words")
    assert text_prompt_hash() != before
