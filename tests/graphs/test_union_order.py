"""The union ranks both sides by the same accuracy: a visit on which a sentence does not apply is a guess."""

from __future__ import annotations

from peirce.agents.scripted import Answering
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
    played = play(tmp_path / "s.duckdb", one, Answering(answer, "m"), "union",
                  examples=4, hypotheses=2, capacity=2, judge="exact")  # fmt: skip
    assert {row["text"] for row in played.bank} == {DATA, NARROW}
