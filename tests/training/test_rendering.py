"""Checks that the prompt of a pair is the one that a session asks with.

Internals: the prompt of a pair is rendered from the view that a session had.
"""

from __future__ import annotations

import json

import peirce
import pytest
from peirce import tasks
from peirce.records import Hypothesis, InputSet, Observation, Reply, UsageError, View
from peirce.training.pair_prompts import render_prompt

DOUBLES = repr(("doubles\nall", "def f(x):\n    return [2 * one for one in x]"))
WRONG = repr(("keeps it", "def f(x):\n    return x"))
BOUNDED = repr(("doubles what is small", "def f(x):\n    return [2 * n for n in x if n < 50]"))
ANSWERS = (DOUBLES, BOUNDED, WRONG, "no function")
WORDS = tasks.load_family("programs").words


class Listed:
    """Gives `ANSWERS` in turn and keeps what it is asked."""

    def __init__(self):
        self.asked = []

    def settings(self):
        return {"model": "listed"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append((view, tuple(messages), tools))
        return Reply(text=ANSWERS[len(self.asked) - 1])

    async def close(self):
        return None


def lines(path, values):
    path.write_text("".join(json.dumps(one) + "\n" for one in values))
    return str(path)


@pytest.mark.parametrize("template", ["full", "compact"])
def test_a_pair_s_prompt_is_what_a_session_asks_after_the_answers_of_its_context(
    tmp_path, template
):
    pairs = [{"problem": "p", "input": [n], "output": [2 * n], "split": "shown"} for n in (3, 4)]
    proposer = Listed()
    peirce.run(
        "examples", data=lines(tmp_path / "pairs.jsonl", pairs), model=proposer,
        space=lines(tmp_path / "space.jsonl", [[1], [60], [70], [80]]), template=template,
        tool_calls=0, max_answers=4, workers=1, store=tmp_path / "store.duckdb",
    )  # fmt: skip
    assert len(proposer.asked) >= 3
    for count, (view, asked, tools) in enumerate(proposer.asked[:3]):
        context = [one for answer in view.past_answers for one in answer.hypotheses]
        assert len(context) == count and not tools
        assert render_prompt(view, context, WORDS, "tuple", template) == asked


def test_what_the_view_holds_as_earlier_does_not_count():
    view = View("p", "t", "programs", (Observation([1], [2]),), {}, InputSet("S", ()))
    hypothesis = Hypothesis("def f(x):\n    return x", "as it is")
    (first,) = render_prompt(view, (), WORDS, "tuple", "compact")
    (second,) = render_prompt(view, [hypothesis], WORDS, "tuple", "compact")
    assert second["content"] == first["content"] + "\n- as it is\nanother:"
    later = peirce.records.PastAnswer("", (hypothesis,), peirce.records.Verdict.ACCEPTED)
    told = View("p", "t", "programs", view.shown, {}, view.space, (later,))
    assert render_prompt(told, (), WORDS, "tuple", "compact") == (first,)
    with pytest.raises(UsageError, match="unknown template"):
        render_prompt(view, (), WORDS, "tuple", "short")
