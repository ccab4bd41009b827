"""A second judge and batches of texts: who is asked what, in which order, and again after a kill."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
from contextlib import closing

import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.config import TextSettings
from peirce.graphs import find_method
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Unavailable
from peirce.store import Store
from text_sessions import HYPOTHESIS, Played, problem, rows

LABELS = ["yes" if n % 3 else "no" for n in range(40)]
ANSWER = "\n".join(f"{n}. Items of mood {n} are yes." for n in range(1, 5))
ITEM = re.compile(r"Input(?: (\d+))?:\nitem (\d+)\.")


def noise(*parts) -> float:
    return int(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8], 16) / 2**32


class Judges(FunctionProposer):
    """Proposes ANSWER once and labels items, alone or in batches, by `says(item, seed, place)`.
    asked: the numbers of items in each call. Answers come after random pauses."""

    def __init__(self, says, most=10**9, pause=0.0):
        super().__init__(lambda messages: "", "judges")
        self.says, self.most, self.pause = says, most, pause
        self.asked: list[list[int]] = []
        self.schemas: list = []

    async def propose(self, view, messages, tools, seed, schema=None):
        if self.pause:
            await asyncio.sleep(random.random() * self.pause)
        prompt = messages[-1]["content"]
        if not HYPOTHESIS.search(prompt):
            return await self._reply(view, ANSWER, seed)
        if len(self.asked) >= self.most:
            raise Unavailable("The judge is away.")
        items = [(place, int(item)) for place, item in ITEM.findall(prompt)]
        self.asked.append([item for _, item in items])
        self.schemas.append(schema)
        said = {place or "1": self.says(item, seed, int(place or 0)) for place, item in items}
        text = json.dumps(said) if items[0][0] else f"Final answer: {said['1']}"
        return await self._reply(view, text, seed)

    async def _reply(self, view, text, seed):
        return await FunctionProposer(lambda messages: text, "j").propose(
            view, [{"content": ""}], (), seed
        )


def truth(item, seed=0, place=0):
    return LABELS[item % 40]


def unsure(item, seed=0, place=0):
    """Right on three items of four, always; answers differ on the others."""
    return truth(item) if item % 4 else ("yes" if noise(item, seed) < 0.5 else "no")


def split_on_some():
    """A judge that is right; of its answers on every fourth item, each second one differs."""
    counts = {}

    def says(item, seed=0, place=0):
        counts[item] = counts.get(item, 0) + 1
        other = "no" if truth(item) == "yes" else "yes"
        return other if item % 4 == 0 and counts[item] % 2 else truth(item)

    return says


def started(path, first, second=None, method="io", **text):
    settings = TextSettings(**{
        **find_method(method, "text").text, "inference": None, "hypotheses": 4, "examples": 30, **text
    })  # fmt: skip
    one = problem(rows(LABELS[:30]), {"ind": rows(LABELS[30:], 30)})
    known = {
        "task": "labels", "method": method, "model": "scripted", "seed": 0, "max_answers": 1,
        "model_settings": first.settings(), "text": settings.to_dict(), "answer_format": "list",
        "max_bad": None, "roles": {} if second is None else {"judge2": second.settings()},
    }  # fmt: skip
    with closing(Store.open(path, write=True)) as store:
        space = InputSet("space", tuple(row.input for row in one.shown[:5]))
        return store.create_session(known, [(one, space)])


def go(path, session, first, second=None, **more):
    with closing(Store.open(path, write=True)) as store:
        players = {} if second is None else {"judge2": second}
        outcome = asyncio.run(
            run_session(store, session, proposer=first, oracle=None, players=players, **more)
        )
    return Played(path, session, outcome)


def play(path, first, second=None, **text):
    return go(path, started(path, first, second, **text), first, second)


def figures(played):
    return played.steps[-1].fields["judging"]


def role_calls(played, role):
    return [
        call for call in played.calls if call["kind"] == "model" and f"/{role}/" in call["path"]
    ]


def test_the_second_judge_labels_only_what_the_first_is_unsure_of(tmp_path):
    first, second = Judges(split_on_some()), Judges(truth)
    played = play(tmp_path / "s.duckdb", first, second, repeats=3)
    told = figures(played)
    assert told["questions"] == 4 * 30 and told["calibration"]["questions"] == 24
    assert told["calibration"]["threshold"] == 1.0
    assert told["second"] == len(second.asked) == len(role_calls(played, "judge2"))
    assert 24 <= told["second"] < 70
    assert len(first.asked) == 3 * 120
    assert played.differences == []


def test_a_first_judge_that_is_often_surely_wrong_is_always_asked_again(tmp_path):
    wrong = lambda item, seed, place: "yes" if truth(item) == "no" else "no"
    first, second = Judges(wrong), Judges(truth)
    played = play(tmp_path / "s.duckdb", first, second, repeats=2)
    told = figures(played)
    assert told["calibration"] | {"kept": 0} == {
        "questions": 24, "agreed": 0, "threshold": None, "kept": 0, "kept_agreed": 0
    }  # fmt: skip
    assert told["second"] == told["overruled"] == 120


def test_a_batch_is_one_call_with_a_schema_and_labels_as_single_questions_do(tmp_path):
    first, alone = Judges(truth), Judges(truth)
    played = play(tmp_path / "s.duckdb", first, judge_batch=8)
    single = play(tmp_path / "single.duckdb", alone)
    assert [one.verdict for one in played.steps[0].answers[0].judged] == [
        one.verdict for one in single.steps[0].answers[0].judged
    ]
    assert [one.shown.marks for one in played.steps[0].answers[0].judged] == [
        one.shown.marks for one in single.steps[0].answers[0].judged
    ]
    told = figures(played)["batches"]
    assert told["used"] and told["differing"] == 0 and told["compared"] >= 24
    assert len(alone.asked) == 120 and len(first.asked) < 40
    assert told["single_calls"] == 120 and told["calls"] == len(first.asked)
    assert first.schemas[0]["required"] == [str(n) for n in range(1, 9)]
    assert "judging" not in single.steps[0].fields
    assert played.differences == []


def test_labels_that_follow_the_place_of_a_text_send_the_problem_back_to_single_questions(tmp_path):
    placed = lambda item, seed, place: truth(item) if place < 5 else "yes"
    first = Judges(placed)
    played = play(tmp_path / "s.duckdb", first, judge_batch=8)
    told = figures(played)["batches"]
    assert not told["used"] and told["calibrated"] and told["differing"] > 0.1 * told["compared"]
    assert sum(len(items) == 1 for items in first.asked) == 120
    assert played.differences == []


def test_texts_without_a_readable_label_are_asked_about_alone(tmp_path):
    mute = lambda item, seed, place: "hm" if place == 2 else truth(item)
    played = play(tmp_path / "s.duckdb", first := Judges(mute), judge_batch=8)
    told = figures(played)["batches"]
    assert told["used"] and told["unreadable"] > 8
    assert all(None not in one.shown.marks for one in played.steps[0].answers[0].judged)
    assert sum(len(items) == 1 for items in first.asked) == told["unreadable"]
    assert played.differences == []


@pytest.mark.parametrize(
    ("method", "inference"),
    [("io", "two-step"), ("hypogenic", None), ("hypogenic", "filter-weight"), ("abduce", "best")],
)
def test_the_digest_does_not_depend_on_which_answer_comes_first(tmp_path, method, inference):
    text = {"judge_batch": 4, "repeats": 2, "inference": inference, "examples": 8}
    digests = set()
    for number in range(2):
        first, second = Judges(unsure, pause=0.002 * number), Judges(truth, pause=0.002 * number)
        path = tmp_path / f"{number}.duckdb"
        played = play(path, first, second, method=method, **text)
        assert played.outcome["status"] == "done" and played.differences == []
        digests.add(played.digest)
    assert len(digests) == 1


@pytest.mark.parametrize(("batch", "most"), [(1, 1), (1, 30), (1, 60), (5, 1), (5, 5), (5, 9)])
def test_a_session_that_ends_in_the_middle_goes_on_to_the_same_digest(tmp_path, most, batch):
    text = {"judge_batch": batch, "repeats": 2, "inference": "best", "examples": 10}
    whole = play(tmp_path / "whole.duckdb", Judges(unsure), Judges(truth), **text)
    path, broken = tmp_path / "s.duckdb", Judges(unsure, most=most, pause=0.001)
    session = started(path, broken, Judges(truth), **text)
    cut = go(path, session, broken, Judges(truth))
    assert cut.outcome["status"] != "done"
    made = len(cut.calls)
    first, second = Judges(unsure, pause=0.001), Judges(truth, pause=0.001)
    again = go(path, session, first, second, retry_failed=True)
    assert again.digest == whole.digest and again.differences == []
    assert len(again.calls) == len(whole.calls) and made < len(whole.calls)
