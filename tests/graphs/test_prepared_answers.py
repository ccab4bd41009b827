"""A proposer that can begin its next answer while the last one is judged: when it is told to, and with
what.
"""

from __future__ import annotations

import pytest
from peirce.agents.scripted import ScriptedProposer

SOURCES = [f"def f(x):\n    return {text}" for text in ("x", "sorted(x)", "x[::-1]", "x + x")]


class Preparing(ScriptedProposer):
    """Notes the problem as it is when an answer is to be prepared."""

    def __init__(self, answers) -> None:
        super().__init__(answers)
        self.events: list[tuple[str, int]] = []

    async def propose(self, view, messages, tools, seed, schema=None):
        self.events.append(("propose", len(view.past_answers)))
        return await super().propose(view, messages, tools, seed, schema)

    def prepare_answer(self, view) -> None:
        self.events.append(("prepare", len(view.past_answers)))
        self.last = view.past_answers[-1]


@pytest.fixture
def prepare(play, make_problem, make_answer):
    """prepare(**settings) -> the proposer after a session on one problem."""

    def run(**settings) -> Preparing:
        proposer = Preparing([make_answer(source) for source in SOURCES])
        play(proposer, [make_problem(shown=[([3], [3]), ([5], [5])])], **settings)
        return proposer

    return run


def test_each_answer_but_the_last_is_followed_by_a_preparation(prepare) -> None:
    proposer = prepare(method="abduce", max_answers=3, max_bad=9, tool_calls=0)
    assert proposer.events == [
        ("propose", 0), ("prepare", 1), ("propose", 1), ("prepare", 2), ("propose", 2),
    ]  # fmt: skip
    assert [one.text for one in proposer.last.hypotheses] == [SOURCES[1]]


def test_no_answer_is_prepared_where_the_next_request_depends_on_the_verdict(prepare) -> None:
    proposer = prepare(method="refine", max_answers=3)
    assert {event for event, _ in proposer.events} == {"propose"}


def test_no_answer_is_prepared_where_this_one_may_be_the_last_bad_one(prepare) -> None:
    proposer = prepare(method="abduce", max_answers=9, max_bad=1, tool_calls=0)
    assert {event for event, _ in proposer.events} == {"propose"}


def test_no_answer_is_prepared_for_a_new_conversation(prepare) -> None:
    proposer = prepare(method="t3", rounds=2, max_answers=6)
    assert proposer.events == [
        ("propose", 0), ("prepare", 1), ("propose", 1), ("prepare", 2), ("propose", 2),
        ("propose", 0), ("prepare", 1), ("propose", 1), ("prepare", 2), ("propose", 2),
    ]  # fmt: skip
