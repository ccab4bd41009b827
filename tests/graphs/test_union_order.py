"""The union ranks both sides by the same accuracy: a visit on which a sentence does not apply is a guess."""

from __future__ import annotations

import pytest
from peirce.agents.scripted import FunctionProposer
from text_sessions import play, problem, rows

WIDE = 'If the text mentions "9", the label is no; otherwise yes.'  # right on 0, 1, 2 of 4: .75
NARROW = 'If the text mentions "0", "1", "2", the label is yes.'  # right there, silent on 3: .875
DATA = 'If the text mentions "3", the label is no.'


def test_a_narrow_sentence_of_literature_is_worth_what_one_of_the_data_would_be(tmp_path):
    def answer(messages):
        prompt = messages[-1]["content"]
        if "You read a research paper" in prompt:
            return 'something was found ["found"]'
        return f"1. {WIDE}\n2. {NARROW}" if "something was found" in prompt else f"1. {DATA}"

    one = problem(rows(("yes", "yes", "yes", "no")), papers=[
        {"source": "a.md", "title": "A", "text": "found"}])  # fmt: skip
    played = play(tmp_path / "s.duckdb", one, FunctionProposer(answer, "m"), "union",
                  examples=4, hypotheses=2, capacity=2, judge="exact")  # fmt: skip
    assert {row["text"] for row in played.bank} == {DATA, NARROW}


def union_of(path, data, literature, same="no", **settings):
    """The texts of the bank after the union of one sentence of each side."""

    def answer(messages):
        prompt = messages[-1]["content"]
        if "You read a research paper" in prompt:
            return 'something was found ["found"]'
        if "You decide" in prompt:
            return same
        if "Final answer" in prompt:
            return "Final answer: yes"
        return f"1. {literature if 'something was found' in prompt else data}"

    one = problem(rows(("yes", "yes", "yes", "no")), papers=[
        {"source": "a.md", "title": "A", "text": "found"}])  # fmt: skip
    played = play(path / "s.duckdb", one, FunctionProposer(answer, "m"), "union",
                  examples=4, hypotheses=1, **settings)  # fmt: skip
    return {row["text"] for row in played.bank}


def test_exact_rules_that_label_all_shown_rows_alike_say_the_same(tmp_path):
    other = 'If the text mentions "item 3", the label is no.'
    assert union_of(tmp_path, DATA, other, judge="exact") == {DATA}


@pytest.mark.parametrize(("said", "kept"), [("yes", 1), ("no", 2), ("hard to say", 2)])
def test_a_sentence_leaves_where_the_model_says_it_is_the_same_and_only_there(tmp_path, said, kept):
    found = union_of(tmp_path, "Warm texts are yes.", "Kind texts are yes.", same=said)
    assert len(found) == kept
