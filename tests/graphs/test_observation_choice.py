"""A prompt that is too long for its model is shortened: first its history, then its observations.

The refusal is recorded, so a session that was stopped and a replay build the same prompts.

Internals: the order of observations is compared value by value.
"""

from __future__ import annotations

import asyncio
import re

import pytest
from one_sandbox import in_sandbox
from peirce.graphs.runtime.observation_choice import allowed_characters, rank_observations
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import Agreement, ContextExceeded, InputSet, Observation, Reply, Usage
from peirce.store import Store

SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SHOWN = [([n] * (20 + n), [n]) for n in range(1, 31)]  # 30 pairs, each longer than the one before
LISTED = re.compile(r"Pair (\d+):")


class SmallContext:
    """Answers with new rules, and refuses prompts of more than `room` tokens of four characters.

    It knows its size (`says`), or only refuses."""

    def __init__(self, answer, room, says=True, after=None, wrong=2):
        self.answer, self.room, self.says, self.wrong = answer, room, says, wrong
        self.prompts, self.refused, self.asked = [], 0, 0
        self.after, self.stopping = after, asyncio.Event()

    def settings(self):
        return {"model": "small"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked += 1
        if self.asked == self.after:
            self.stopping.set()
        size = sum(len(str(one)) for one in messages) // 4
        if size > self.room:
            self.refused += 1
            room = self.room if self.says else size // 2
            error = ContextExceeded(f"{size} tokens are too many", size, room)
            error.usage = Usage(1, 0)
            raise error
        self.prompts.append("\n".join(one["content"] for one in messages))
        count = len(view.past_answers)
        if count < self.wrong:  # each is right on other pairs
            return Reply(self.answer(f"def f(x):\n    return [x[0] if x[0] % 5 == {count} else 0]"))
        return Reply(self.answer(f"def f(x):\n    return [x[0] if len(x) > 9 else {count}]"))

    async def close(self):
        return None


def begin(path, model, problem, **settings):
    with Store.open(path, write=True) as store:
        known = {
            "task": "examples", "method": "abduce", "model": "m", "seed": 0, "tool_calls": 0,
            "model_settings": model.settings(), "max_answers": 5, "fit": "auto", "history_limit": 30,
            **settings,
        }  # fmt: skip
        return store.create_session(known, [(problem, SPACE)])


def go_on(path, session, model, **options):
    with Store.open(path, write=True) as store:
        result = in_sandbox(
            lambda oracle: run_session(
                store, session, proposer=model, oracle=oracle, stopping=model.stopping, **options
            )
        )
        differences = asyncio.run(replay_session(store, session))["differences"]
        steps = [dict(one.fields) for one in store.steps(session)]
        return result, store.digest(session), differences, steps, store.calls(session)


def listed(prompt):
    """The numbers of the observations in a prompt."""
    return [int(n) for n in LISTED.findall(prompt.split("Observations")[1].split("\n\n")[0])]


@pytest.mark.parametrize("says", [True, False])
def test_a_prompt_that_does_not_fit_lists_fewer_observations(
    tmp_path, make_problem, make_answer, says
):
    model = SmallContext(make_answer, 900, says)
    session = begin(tmp_path / "s", model, make_problem(shown=SHOWN))
    result, _, differences, steps, calls = go_on(tmp_path / "s", session, model)
    assert result["status"] == "done" and differences == []
    assert all(0 < len(listed(prompt)) < 30 for prompt in model.prompts)
    assert all(f"({len(listed(one))} of 30;" in one for one in model.prompts)
    assert [one["listed"] for one in steps] == [len(listed(one)) for one in model.prompts]
    refusals = [
        one for one in calls if one["kind"] == "model" and one["response"]["finish"] == "too_long"
    ]
    assert 1 <= len(refusals) == model.refused < 4
    assert refusals[0]["path"] == "step/1/propose/0" and refusals[0]["tokens_in"] == 1


def test_the_hypothesis_is_judged_on_all_observations(tmp_path, make_problem, make_answer):
    model = SmallContext(make_answer, 900)
    session = begin(tmp_path / "s", model, make_problem(shown=SHOWN), max_answers=1)
    go_on(tmp_path / "s", session, model)
    with Store.open(tmp_path / "s", write=False) as store:
        (step,) = store.steps(session)
    assert len(step.answers[0].judged[0].shown.marks) == 30
    assert len(listed(model.prompts[0])) < 30


def test_observations_on_which_hypotheses_differ_are_listed_first(
    tmp_path, make_problem, make_answer
):
    """After two wrong rules that are right for other pairs, these pairs replace the shortest."""
    model = SmallContext(make_answer, 800)
    session = begin(tmp_path / "s", model, make_problem(shown=SHOWN))
    go_on(tmp_path / "s", session, model)
    first, third = listed(model.prompts[0]), listed(model.prompts[2])
    assert first == list(range(1, len(first) + 1))  # the shortest
    differ = {n for n in range(1, 31) if n % 5 in (0, 1)}
    assert set(third) <= differ or differ <= set(third)
    assert set(third) != set(first)


@pytest.mark.parametrize("cuts", [(1,), (2, 2), (3, 1)])
def test_a_stopped_session_lists_what_it_would_have_listed(
    tmp_path, make_problem, make_answer, cuts
):
    problem = make_problem(shown=SHOWN)
    whole = SmallContext(make_answer, 900)
    through = begin(tmp_path / "through", whole, problem)
    expected = go_on(tmp_path / "through", through, whole)
    session = begin(tmp_path / "cut", whole, problem)
    for after in (*cuts, None):
        found = go_on(tmp_path / "cut", session, SmallContext(make_answer, 900, after=after))
    assert found[1:4] == expected[1:4] and found[0]["status"] == "done"


def test_the_history_is_shortened_before_an_observation_is_left_out(
    tmp_path, make_problem, make_answer
):
    shown = [([n], [n]) for n in range(1, 4)]
    describe = lambda source: make_answer(source, "a long description " * 8)
    model = SmallContext(describe, 1_100, wrong=25)
    session = begin(tmp_path / "s", model, make_problem(shown=shown), max_answers=25, max_bad=99)
    result, _, differences, steps, _ = go_on(tmp_path / "s", session, model)
    assert result["status"] == "done" and differences == [] and model.refused >= 1
    assert "None of the first" in model.prompts[-1]
    assert not any("listed" in one for one in steps)


def test_with_refuse_the_problem_fails_as_before(tmp_path, make_problem, make_answer):
    for settings in ({"fit": "refuse"}, {"fit": None, "method": "t3"}):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        model = SmallContext(make_answer, 900)
        session = begin(path, model, make_problem(shown=SHOWN), **settings)
        result, _, _, _, calls = go_on(path, session, model)
        assert "tokens are too many" in result["failed"]["one"]
        assert calls == []


def test_a_prompt_that_cannot_be_shorter_fails_and_can_be_tried_again(
    tmp_path, make_problem, make_answer
):
    model = SmallContext(make_answer, 100)
    session = begin(tmp_path / "s", model, make_problem(shown=SHOWN), max_answers=2)
    result, *_ = go_on(tmp_path / "s", session, model)
    assert "tokens are too many" in result["failed"]["one"]
    larger = SmallContext(make_answer, 900)
    result, _, differences, _, _ = go_on(tmp_path / "s", session, larger, retry_failed=True)
    assert result["status"] == "done" and differences == []


def test_another_session_does_not_take_a_refusal_from_the_cache(
    tmp_path, make_problem, make_answer
):
    reached = {"operational": {"reached": {"endpoint": "http://here"}}}
    problem, path = make_problem(shown=SHOWN), tmp_path / "s"
    small, large = SmallContext(make_answer, 900), SmallContext(make_answer, 10_000)
    go_on(path, begin(path, small, problem, **reached), small)
    session = begin(path, large, problem, **reached)
    _, _, _, steps, _ = go_on(path, session, large)
    assert small.refused and large.asked and not any("listed" in one for one in steps)


@pytest.mark.parametrize(
    ("prompt", "room", "share"), [(1000, 600, 0.57), (1000, 1000, 0.475), (500, 900, 0.475)]
)
def test_a_prompt_that_had_to_fit_by_its_estimate_is_halved(prompt, room, share):
    messages = [{"role": "user", "content": "x" * 4000}]
    found = allowed_characters(messages, {"prompt_tokens": prompt, "room_tokens": room})
    assert found == pytest.approx(share * len(str(messages[0])), abs=2)


def rank(outputs, results=(), texts=None):
    shown = [Observation([n], output) for n, output in enumerate(outputs)]
    texts = texts or {n: "x" * (10 - n) for n in range(len(shown))}
    return rank_observations(shown, texts, results)


def result(*values, right=()):
    got = tuple({"value": one} for one in values)
    return Agreement(tuple(n in right for n in range(len(values))), got)


def test_before_any_hypothesis_each_output_has_its_turn_and_the_shortest_come_first():
    assert rank(["a", "b", "c", "d"]) == [3, 2, 1, 0]
    assert rank(["a", "a", "a", "b"]) == [3, 2, 1, 0]
    assert rank(["b", "a", "a", "a"]) == [3, 0, 2, 1]


def test_the_most_disputed_come_first_and_then_those_that_nobody_explains():
    results = [
        result(1, 2, 3, 4, right=(0, 1)),
        result(1, 5, 3, 9, right=(0,)),
        result(1, 6, 3, 4, right=(0,)),
    ]
    # predictions: 0 all right, 1 all differ, 2 all wrong alike, 3 two of three alike
    assert rank(["a", "b", "c", "d"], results) == [1, 3, 2, 0]


def test_an_observation_that_no_prompt_lists_is_not_chosen():
    assert rank(["a", "b", "c"], texts={0: "long text", 2: "short"}) == [2, 0]


def test_the_history_is_shortened_to_one_answer_before_an_observation_is_left_out(
    tmp_path, make_problem, make_answer
):
    """Long answers in a chat leave room for all observations only if one of them is repeated."""
    model = SmallContext(lambda code: make_answer(code + "  # " + "long " * 120), 900, wrong=9)
    few = [([n] * (2 + n), [n]) for n in range(1, 5)]
    session = begin(
        tmp_path / "s", model, make_problem(shown=few), history="chat", max_bad=50, max_answers=8
    )
    result, _, differences, steps, _ = go_on(tmp_path / "s", session, model)
    assert result["status"] == "done" and result["failed"] == {} and differences == []
    assert model.refused and len(steps) == 8
    assert not any("listed" in one for one in steps)
