"""The rewritings of hyporefine: what becomes of each hypothesis, whatever the answer leaves out."""

from __future__ import annotations

import pytest
from peirce.agents.scripted import FunctionProposer
from text_sessions import play, problem, rows

SMALL = {"examples": 2, "hypotheses": 3, "top": 3, "wrong": 1, "capacity": 9, "judge": "model"}
TOO_LONG = "x" * 5_000


def entered(path, *rewritings):
    """What was judged at the first regeneration, which proposed A, B, C, and how often it was
    rewritten. Each rewriting answers in turn; after the last all repeat it."""
    said = iter(rewritings)
    last = [""]

    def answer(messages):
        prompt = messages[-1]["content"]
        if "Final answer" in prompt:
            return "Final answer: no"
        if "Rewrite" in prompt:
            last[0] = next(said, last[0])
            return last[0]
        if "item 0" in prompt:
            return "1. The first one."
        return "1. A is so.\n2. B is so.\n3. C is so."

    played = play(path / "s.duckdb", problem(rows(("yes", "yes", "yes"))), FunctionProposer(answer, "m"),
                  "hyporefine", **{**SMALL, "rewrites": len(rewritings) + 1})  # fmt: skip
    step = next(step for step in played.steps if "rewrites" in step.fields)
    texts = [one.hypothesis.text[0] for one in step.answers[0].judged if one.hypothesis]
    made = [one.hypothesis.meta.get("rewrite") for one in step.answers[0].judged if one.hypothesis]
    assert played.differences == []
    return "".join(texts), made, step.fields["rewrites"]


@pytest.mark.parametrize(
    ("rewriting", "left"),
    [
        ("1. D is so.\n2. E is so.\n3. F is so.", "DEF"),
        ("1. B is so.", "ABC"),  # what it repeats is none of those that it left out
        ("1. C is so.\n2. D is so.", "CDB"),
        ("1. B is so.\n2. A is so.\n3. C is so.", "ABC"),  # changes nothing
        (f"1. {TOO_LONG}\n2. E is so.\n3. F is so.", "AEF"),  # the first cannot be read
        ("I have nothing to add.", "ABC"),
        ("", "ABC"),
        ("1. D is so.\n2. E is so.\n3. F is so.\n4. G is so.", "DEF"),
    ],
)
def test_a_rewriting_loses_no_hypothesis(tmp_path, rewriting, left):
    assert entered(tmp_path, rewriting)[0] == left


def test_a_rewriting_that_changes_nothing_ends_them_and_the_last_change_is_told(tmp_path):
    texts, made, counts = entered(
        tmp_path, "1. A is so.\n2. D is so.\n3. C is so.", "1. A is so.\n2. E is so.", "1. C is so."
    )
    assert (texts, counts) == ("AEC", [3, 2, 1])
    assert made == [None, 1, None]
