"""`refine` and `io` on programs: a model is told where its function fails and mends it; what repairs
stands beside it in the same step; when it ends, and that it replays."""

from __future__ import annotations

import asyncio
import re

import pytest
from one_sandbox import in_sandbox
from peirce.graphs import find_method
from peirce.graphs.runtime.memory import SessionSettings, make_case
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.graphs.runtime.steps import START_STATE
from peirce.records import InputSet, Reply, ToolCall, UsageError
from peirce.store import Store
from peirce.tasks import load_family

IO = find_method("io", "programs")
REFINE = find_method("refine", "programs")

SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SHOWN = [([3], [3]), ([5], [6]), ([6], [8]), ([7], [9])]
WRONG = "def f(x):\n    return x"
FAILING = re.compile(r"Input (\[\d+\]): expected (\[\d+\]), got")


class Mends:
    """Answers WRONG, then a table of all pairs that prompts have named as failing."""

    def __init__(self, answer, most=20):
        self.answer, self.most, self.asked = answer, most, []

    def settings(self):
        return {"model": "mends"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append(([tool.name for tool in tools], messages))
        if view.own_answer_count >= self.most:
            return Reply(finish="exhausted")
        failing = FAILING.findall(messages[-1]["content"])
        if not failing:
            return Reply(self.answer(WRONG))
        table = ", ".join(f"{n[1:-1]}: {out}" for n, out in sorted(set(failing)))
        return Reply(self.answer(f"def f(x):\n    return {{{table}}}.get(x[0], x)"))

    async def close(self):
        return None

    @property
    def prompts(self):
        return [messages[-1]["content"] for _, messages in self.asked]


class Repairs:
    """Gives `sources` in turn, then nothing; None: nothing that once."""

    def __init__(self, answer, *sources):
        self.answer, self.sources, self.told = answer, list(sources), []

    def settings(self):
        return {"model": "by hand"}

    async def repair(self, view, text):
        self.told.append((text, view.past_answers[-1].author, str(view.past_answers[-1].verdict)))
        source = self.sources.pop(0) if self.sources else None
        return Reply(finish="exhausted") if source is None else Reply(self.answer(source))

    async def close(self):
        return None


def judged(steps):
    return [[str(one.verdict) for a in step.answers for one in a.judged] for step in steps]


def refine(play, model, problem, **settings):
    told = {
        name: value for name, value in REFINE.settings() if value is not None and name != "method"
    }
    return play(model, [problem], method="refine", **{**told, "target_gap": None, **settings})


def ends(store, session):
    return [(row.status, row.cause) for row in store.problems(session)]


def test_a_wrong_function_is_told_its_wrong_pairs_and_mended(play, make_problem, make_answer):
    model = Mends(make_answer)
    store, session, steps = refine(play, model, make_problem(shown=SHOWN))
    assert judged(steps) == [["inconsistent"], ["accepted"]]
    assert ends(store, session) == [("done", "target")]
    first, second = model.prompts
    assert "expected [6], got" not in first
    assert "right on 1 of 4 pairs" in second and "Input [5]: expected [6], got [5]" in second
    assert WRONG.splitlines()[1] in second  # a description alone could not be mended
    assert "better hypothesis" in second and "another idea than all" not in second
    assert all(tools == [] for tools, _ in model.asked)
    assert all(step.fields == {"feedback": True} for step in steps)
    result = asyncio.run(replay_session(store, session))
    assert (result["steps"], result["differences"]) == (2, [])


def test_a_chat_is_told_of_its_answer_in_the_next_turn(play, make_problem, make_answer):
    model = Mends(make_answer)
    _, _, steps = refine(play, model, make_problem(shown=SHOWN), history="chat")
    assert judged(steps)[-1] == ["accepted"]
    turns = model.asked[1][1]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert "Input [6]: expected [8], got [6]" in turns[-1]["content"]


def test_no_answer_is_bad_and_a_redundant_one_that_mends_enters_the_bank(
    play, make_problem, make_answer
):
    """On S the mended function differs from the wrong one in two of ten places."""
    store, session, steps = refine(play, Mends(make_answer), make_problem(shown=SHOWN[:3]))
    assert judged(steps) == [["inconsistent"], ["redundant"]]
    assert not any(one.bad for step in steps for a in step.answers for one in a.judged)
    assert [(event.t, event.right) for step in steps for event in step.events] == [
        (1, True), (2, True), (3, True),
    ]  # fmt: skip
    assert ends(store, session) == [("done", "target")]


class Says(Mends):
    """The same answers whatever it is told."""

    def __init__(self, *replies):
        super().__init__(str)
        self.replies = replies

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append(([], messages))
        return Reply(self.replies[view.own_answer_count % len(self.replies)])


def test_it_stops_at_the_cap_and_when_nothing_is_left_to_say(play, make_problem, make_answer):
    stubborn = Says(make_answer(WRONG))
    store, session, steps = refine(play, stubborn, make_problem(shown=SHOWN))
    assert len(steps) == len(stubborn.asked) == 8 and ends(store, session) == [("done", "cap")]
    store, session, steps = refine(play, stubborn, make_problem(shown=SHOWN), max_answers=3)
    assert len(steps) == 3 and ends(store, session) == [("done", "cap")]
    gives_up = Mends(make_answer, most=1)
    store, session, steps = refine(play, gives_up, make_problem(shown=SHOWN))
    assert len(steps) == 1 and ends(store, session) == [("done", "exhausted")]
    assert asyncio.run(replay_session(store, session))["differences"] == []


def test_a_malformed_answer_is_told_why_in_its_place_among_the_others(
    play, make_problem, make_answer
):
    model = Says(make_answer(WRONG), "no function at all", make_answer(WRONG))
    refine(play, model, make_problem(shown=SHOWN), max_answers=4)
    last = model.prompts[-1]
    assert "2. It gives no hypothesis: " in last and "\n3. a rule" in last
    assert "could not be read" not in last
    chat = Says("no function at all", make_answer(WRONG))
    refine(play, chat, make_problem(shown=SHOWN), max_answers=2, history="chat")
    assert chat.prompts[-1].startswith("It gives no hypothesis: ")


def with_repair(tmp_path, model, repairer, problem, **settings):
    """(store, session) of one problem; the store stays open."""
    store = Store.open(tmp_path / "repaired.duckdb", write=True)
    told = {
        name: value for name, value in REFINE.settings() if value is not None and name != "method"
    }
    known = {
        "task": "examples", "method": "refine", "model": "mends", "seed": 0,
        "model_settings": model.settings(), "repair": "by hand",
        "repairer_settings": repairer.settings(), **told, "target_gap": None, **settings,
    }  # fmt: skip
    session = store.create_session(known, [(problem, SPACE)])

    run = lambda one: run_session(store, session, proposer=model, oracle=one, repairer=repairer)
    in_sandbox(run)
    return store, session


HALF = "def f(x):\n    return [6] if x == [5] else x"
WHOLE = "def f(x):\n    return {5: [6], 6: [8], 7: [9]}.get(x[0], x)"


def test_what_repairs_answers_in_the_same_step_and_is_shown_to_the_model(
    tmp_path, make_problem, make_answer
):
    model, repairer = Says(make_answer(WRONG), "nothing"), Repairs(make_answer, HALF, WHOLE)
    store, session = with_repair(tmp_path, model, repairer, make_problem(shown=SHOWN))
    steps = list(store.steps(session))
    assert judged(steps) == [["inconsistent", "inconsistent"], ["malformed", "redundant"]]
    assert [[a.path for a in step.answers] for step in steps] == [
        [f"step/{n}/propose/0", f"step/{n}/repair/0"] for n in (1, 2)
    ]
    assert all(step.fields == {"feedback": True, "repair": "by hand"} for step in steps)
    assert repairer.told == [(WRONG, "", "inconsistent"), ("", "", "malformed")]
    assert len(model.asked) == 2 and ends(store, session) == [("done", "target")]
    second = model.prompts[1]
    assert "2. A search made this of it:" in second and HALF.splitlines()[1] in second
    assert "right on 2 of 4 pairs" in second
    calls = {call["path"]: call for call in store.calls(session)}
    assert calls["step/1/repair/0"]["request"]["role"] == "repairer"
    assert calls["step/1/repair/0"]["kind"] == "model"
    result = asyncio.run(replay_session(store, session))
    assert (result["steps"], result["differences"]) == (2, [])
    store.close()


def test_a_model_that_reaches_the_target_is_not_repaired_and_one_that_cannot_be_goes_on(
    tmp_path, make_problem, make_answer
):
    model, repairer = Mends(make_answer), Repairs(make_answer, None)
    store, session = with_repair(tmp_path, model, repairer, make_problem(shown=SHOWN))
    assert judged(store.steps(session)) == [["inconsistent"], ["accepted"]]
    assert len(repairer.told) == 1 and "A search made" not in model.prompts[1]
    assert asyncio.run(replay_session(store, session))["differences"] == []
    store.close()


def test_a_repair_is_no_answer_of_the_chats_model(tmp_path, make_problem, make_answer):
    model, repairer = Mends(make_answer), Repairs(make_answer, HALF)
    problem = make_problem(shown=SHOWN)
    store, _ = with_repair(tmp_path, model, repairer, problem, history="chat")
    turns = model.asked[1][1]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    told = turns[-1]["content"]
    assert told.index("got [5]") < told.index("A search made this of it:") < told.index("2 of 4")
    store.close()


def test_a_repairer_that_says_what_is_no_reply_is_named(tmp_path, make_problem, make_answer):
    class Odd(Repairs):
        async def repair(self, view, text):
            return "mended"

    with pytest.raises(UsageError, match="repair of Odd gave 'mended': it must be a peirce"):
        with_repair(tmp_path, Mends(make_answer), Odd(make_answer), make_problem(shown=SHOWN))


def test_a_model_may_be_given_tools_beside(play, make_problem, make_answer):
    class Tries(Mends):
        async def propose(self, view, messages, tools, seed, schema=None):
            if tools and not any(m["role"] == "tool" for m in messages):
                call = ToolCall("a", "execute", {"code": WRONG})
                return Reply(tool_calls=(call,), finish="tool_calls")
            return await super().propose(view, messages, tools, seed, schema)

    model = Tries(make_answer)
    store, session, steps = refine(play, model, make_problem(shown=SHOWN), tool_calls=1)
    assert judged(steps)[0] == ["inconsistent"]
    assert "step/1/propose/0/tool/0" in {call["path"] for call in store.calls(session)}
    assert asyncio.run(replay_session(store, session))["differences"] == []


def test_io_asks_exactly_once_without_tools_and_feedback(play, make_problem, make_answer):
    told = {name: value for name, value in IO.settings() if value is not None and name != "method"}
    model = Mends(make_answer)
    problems = [make_problem("one", shown=SHOWN), make_problem("two", shown=SHOWN[:1])]
    store, session, steps = play(model, problems, method="io", **told)
    assert judged(steps) == [["inconsistent"], ["accepted"]]
    assert len(model.asked) == 2 and all(tools == [] for tools, _ in model.asked)
    assert ends(store, session) == [("done", "answered")] * 2
    assert not any(step.fields for step in steps)
    assert asyncio.run(replay_session(store, session))["differences"] == []
    silent = Mends(make_answer, most=0)
    store, session, steps = play(silent, problems[:1], method="io", **told)
    assert not steps and ends(store, session) == [("done", "exhausted")]


def test_both_run_by_themselves_with_their_own_settings(make_problem, make_answer):
    async def alone(sandbox, method, **settings):
        course = SessionSettings(method=method.settings(**settings))
        repairer = Repairs(make_answer, WHOLE)
        case = make_case(
            make_problem(shown=SHOWN), Mends(make_answer), sandbox,
            settings=course, repairer=repairer,
        )  # fmt: skip
        state = await method.graph.ainvoke(START_STATE, context=case)
        return state["stop"], judged(case.ledger.steps)

    run = lambda *args, **settings: in_sandbox(lambda one: alone(one, *args, **settings))
    assert run(IO) == ("answered", [["inconsistent"]])
    assert run(REFINE) == ("target", [["inconsistent"], ["accepted"]])
    mended = run(REFINE, repair="by hand")
    assert mended == ("target", [["inconsistent", "accepted"]])


def test_every_family_has_both_methods():
    for name in ("programs", "logic"):
        assert IO.supports(load_family(name).name) and REFINE.supports(load_family(name).name)
