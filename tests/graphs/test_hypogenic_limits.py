"""HypoGeniC within a small context, and within the tokens of a problem.

Internals: the forecast of the shortest problem is compared value by value.
"""

from __future__ import annotations

from contextlib import closing

import pytest
from peirce.config import TextSettings
from peirce.graphs import find_method
from peirce.graphs.forecast import Sizes
from peirce.records import ContextExceeded, InputSet, Reply, Usage
from peirce.store import Store
from text_sessions import Told, go_on, problem, rows

YES_NO = ("yes", "no") * 6
SMALL = {"examples": 6, "hypotheses": 2, "top": 2, "wrong": 2, "capacity": 3, "judge": "model"}
ANSWERS = [
    "1. What is said by A\n2. What is said by B",
    "1. What is said by C\n2. What is said by D",
]


class Limited:
    """A model of `room` tokens of four characters; each answer costs ten tokens."""

    def __init__(self, room=10**6):
        self.room, self.told = room, Told(ANSWERS, lambda name, row: "Final answer: yes")
        self.refused = 0

    def settings(self):
        return {"model": "limited"}

    async def propose(self, view, messages, tools, seed, schema=None):
        size = sum(len(str(one)) for one in messages) // 4
        if size > self.room:
            self.refused += 1
            raise ContextExceeded(f"{size} tokens are too many", size, self.room)
        return Reply(self.told(messages), usage=Usage(6, 4))

    async def close(self):
        return None


def begin(path, model, **settings):
    text = TextSettings(**{**find_method("hypogenic", "text").text, "inference": None, **SMALL})
    known = {
        "task": "labels", "method": "hypogenic", "model": "m", "seed": 0, "answer_format": "list",
        "model_settings": model.settings(), "text": text.to_dict(), **settings,
    }  # fmt: skip
    one = problem(rows(YES_NO))
    space = InputSet("space", tuple(row.input for row in one.shown[:5]))
    with closing(Store.open(path, write=True)) as store:
        return store.create_session(known, [(one, space)])


def size_of_first_prompt(tmp_path):
    model = Limited()
    go_on(tmp_path / "size", begin(tmp_path / "size", model), model)
    (first, *_) = model.told.prompts
    return len(str({"role": "user", "content": first})) // 4


def test_hypotheses_are_requested_from_the_rows_that_fit(tmp_path):
    model = Limited(room=size_of_first_prompt(tmp_path) - 2)
    session = begin(tmp_path / "s", model, fit="auto")
    played = go_on(tmp_path / "s", session, model)
    assert played.outcome["status"] == "done" and played.differences == []
    assert 0 < len(model.told.asked[0]) < 6 and model.refused == 1
    (one, *_) = played.steps[0].answers[0].judged
    assert (
        sum(mark is not None for mark in one.shown.marks) == 6
    )  # judged on all rows of the prompt


def test_with_refuse_the_problem_fails(tmp_path):
    model = Limited(room=size_of_first_prompt(tmp_path) - 2)
    session = begin(tmp_path / "s", model, fit="refuse")
    assert "too many" in go_on(tmp_path / "s", session, model).outcome["failed"]["made#0"]


@pytest.mark.parametrize("tokens", [1, 130, 200])
def test_the_bank_is_not_extended_beyond_the_tokens_of_a_problem(tmp_path, tokens):
    model = Limited()
    session = begin(tmp_path / "s", model, problem_tokens=tokens)
    played = go_on(tmp_path / "s", session, model)
    with closing(Store.open(tmp_path / "s", write=False)) as store:
        (row,) = store.problems(session)
        used = store.usage(session)
    spent = used["tokens_in"] + used["tokens_out"]
    assert row.cause == "problem_budget" and played.differences == []
    assert tokens <= spent < tokens + 250  # one step


def test_the_forecast_counts_a_problem_whose_first_prompt_uses_its_tokens():
    method = find_method("hypogenic", "text")
    text = TextSettings(**{**method.text, "inference": None, **SMALL})

    def least(**settings):
        told = {**method.settings().model_dump(), "text": text.to_dict(), **settings}
        return method.forecast(Sizes(problem(rows(YES_NO)), 5, told))["judge"].least

    assert 0 < least(problem_tokens=100) < least()
