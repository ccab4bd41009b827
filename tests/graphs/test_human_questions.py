"""A session asks a person where a problem would end unsolved (`ask_human`).

Internals: the mailbox of a running session is filled by the socket of the store; here the tests fill it.
"""

from __future__ import annotations

import asyncio
import threading

import pytest
from one_sandbox import in_sandbox
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.hints import Mailbox, add_hint
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Reply, UsageError
from peirce.store import Store

SHOWN = [([3], [3]), ([5], [5])]
SPACE = InputSet("singletons", tuple([n] for n in range(10)))
IDENTITY = "def f(x):\n    return x"
WRONG = "def f(x):\n    return [0]"


class Asked:
    """A listener that answers questions in another thread, as a person at the socket does.

    Args:
        store, session: The session; opened before it runs.
        answers: The answers, in turn; None stops the session.
    """

    def __init__(self, store, session, answers) -> None:
        self.store, self.session, self.answers = store, session, list(answers)
        self.mailbox = Mailbox.open(store, session)
        self.stopping = asyncio.Event()
        self.questions: list[str] = []
        self.events: list[dict] = []

    def __call__(self, event) -> None:
        self.events.append(event)
        if event["type"] != "question":
            return
        self.questions.append(event["question"])
        answer = self.answers.pop(0)
        if answer is None:
            self.stopping.set()
            return
        give = lambda: add_hint(self.store, self.session, event["problem"], answer, self.mailbox)
        threading.Timer(0.05, give).start()


@pytest.fixture
def asking(tmp_path, make_problem):
    """asking(replies, answers, **settings) -> (store, session, asked, outcome)."""
    stores: list[Store] = []

    def begin(replies, **settings):
        store = Store.open(tmp_path / f"asked{len(stores)}.duckdb", write=True)
        stores.append(store)
        known = {
            "task": "examples", "method": "abduce", "model": "scripted", "seed": 0, "tool_calls": 0,
            "model_settings": ScriptedProposer(replies).settings(), "ask_human": True, **settings,
        }  # fmt: skip
        problems = [(make_problem(name, SHOWN), SPACE) for name in replies]
        return store, store.create_session(known, problems)

    yield begin
    for store in stores:
        store.close()


def go_on(store, session, replies, answers, players=None, **options):
    asked = Asked(store, session, answers)
    outcome = in_sandbox(
        lambda one: run_session(
            store, session, proposer=ScriptedProposer(replies), oracle=one, on_event=asked,
            mailbox=asked.mailbox, stopping=asked.stopping, players=players, **options,
        )
    )  # fmt: skip
    return asked, outcome


def human_calls(store, session) -> dict[str, object]:
    return {one["path"]: one["response"] for one in store.calls(session) if one["kind"] == "human"}


def differences(store, session):
    return asyncio.run(replay_session(store, session))["differences"]


def test_an_answer_continues_a_problem_with_new_counts(asking, make_answer):
    replies = {"one": [*[make_answer(WRONG)] * 3, make_answer(IDENTITY), "bad", "bad", "bad"]}
    store, session = asking(replies)
    asked, outcome = go_on(store, session, replies, ["return it unchanged"])
    assert outcome["status"] == "done"
    (question,) = asked.questions
    assert question.startswith(
        "No hypothesis for problem one was accepted, and three answers were bad."
    )
    assert human_calls(store, session) == {
        "step/4/human/0": {"text": "return it unchanged"},
        **{f"step/{n}/propose/0/hints": {"hints": ["return it unchanged"]} for n in (4, 5, 6, 7)},
    }
    assert store.problems(session)[0].cause == "three_bad"
    assert [str(one.answers[0].judged[0].verdict) for one in store.steps(session)][3] == "accepted"
    assert differences(store, session) == []
    assert store.session(session)["questions"] == []


def test_an_empty_answer_ends_the_problem_as_without_the_setting(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 9}
    store, session = asking(replies)
    asked, _ = go_on(store, session, replies, [""])
    assert human_calls(store, session) == {"step/4/human/0": {"text": ""}}
    (row,) = store.problems(session)
    assert (row.status, row.cause, len(asked.questions)) == ("done", "three_bad", 1)
    assert differences(store, session) == []


def test_each_further_end_asks_again(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 99}
    store, session = asking(replies)
    asked, _ = go_on(store, session, replies, ["a", "b", ""])
    assert len(asked.questions) == 3
    paths = [path for path in human_calls(store, session) if "/human/" in path]
    assert sorted(paths) == ["step/10/human/2", "step/4/human/0", "step/7/human/1"]
    assert human_calls(store, session)["step/9/propose/0/hints"] == {"hints": ["a", "b"]}
    assert differences(store, session) == []


def test_an_exhausted_proposer_is_asked_again_at_another_path(asking, make_answer):
    replies = {"one": [Reply(finish="exhausted")]}
    store, session = asking(replies)
    asked, outcome = go_on(store, session, replies, ["a", ""])
    assert outcome["status"] == "done" and len(asked.questions) == 2
    made = sorted(one["path"] for one in store.calls(session))
    assert made == ["step/1/human/0", "step/1/human/1", "step/1/propose/0", "step/1/propose/1",
                    "step/1/propose/1/hints"]  # fmt: skip
    assert differences(store, session) == []


def test_a_solved_problem_asks_nobody(asking, make_answer):
    replies = {"one": [make_answer(IDENTITY), "bad", "bad", "bad"]}
    store, session = asking(replies)
    asked, _ = go_on(store, session, replies, [])
    assert asked.questions == [] and human_calls(store, session) == {}


def test_refine_asks_until_its_target_is_reached(asking, make_answer):
    replies = {"one": [make_answer(WRONG), make_answer(WRONG), make_answer(IDENTITY)]}
    store, session = asking(replies, method="refine", max_answers=2)
    asked, _ = go_on(store, session, replies, ["unchanged"])
    assert "reaches the target, and the limit of answers is reached" in asked.questions[0]
    assert store.problems(session)[0].cause == "target"
    assert differences(store, session) == []


def test_a_hint_that_came_before_the_end_answers_the_question_at_once(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 3 + [make_answer(IDENTITY), "bad", "bad", "bad"]}
    store, session = asking(replies)

    class Early(Asked):
        def __call__(self, event) -> None:
            super().__call__(event)
            if event["type"] == "step" and event["step"] == 3:  # no later request shows it
                add_hint(self.store, self.session, "one", "early", self.mailbox)

    asked = Early(store, session, [])
    in_sandbox(lambda one: run_session(
        store, session, proposer=ScriptedProposer(replies), oracle=one, on_event=asked,
        mailbox=asked.mailbox,
    ))  # fmt: skip
    assert asked.questions == []
    assert human_calls(store, session)["step/4/human/0"] == {"text": "early"}
    assert differences(store, session) == []


def test_a_waiting_problem_holds_up_no_other_one(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 9, "two": [make_answer(IDENTITY), *["bad"] * 3],
               "three": [make_answer(IDENTITY), *["bad"] * 3]}  # fmt: skip
    store, session = asking(replies)

    class Last(Asked):
        """Answers only once the other problems have ended."""

        def __call__(self, event) -> None:
            self.events.append(event)
            ended = [one["problem"] for one in self.events if one["type"] == "problem_ended"]
            if event["type"] == "problem_ended" and sorted(ended) == ["three", "two"]:
                add_hint(self.store, self.session, "one", "", self.mailbox)

    asked = Last(store, session, [])
    outcome = in_sandbox(lambda one: run_session(
        store, session, proposer=ScriptedProposer(replies), oracle=one, on_event=asked,
        mailbox=asked.mailbox, concurrency=1,
    ))  # fmt: skip
    assert outcome["status"] == "done" and outcome["done"] == 3


def test_a_stop_leaves_the_question_open_and_resume_asks_again(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 3 + [make_answer(IDENTITY), "bad", "bad", "bad"]}
    store, session = asking(replies)
    asked, outcome = go_on(store, session, replies, [None])
    assert outcome["status"] == "interrupted" and store.problems(session)[0].status == "open"
    (kept,) = store.session(session)["questions"]
    assert (kept["problem"], kept["question"]) == ("one", asked.questions[0])
    assert differences(store, session) == []
    again, outcome = go_on(store, session, replies, ["unchanged"], concurrency=3)
    assert again.questions == asked.questions and outcome["status"] == "done"
    assert differences(store, session) == []


def test_a_second_text_does_not_answer_the_question_that_comes_next(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 9}
    store, session = asking(replies)
    go_on(store, session, replies, [None])
    add_hint(store, session, "one", "look again")
    assert store.session(session)["questions"] == []
    with pytest.raises(UsageError, match="problem one asked none"):
        add_hint(store, session, "one", "")
    again, _ = go_on(store, session, replies, [""])
    assert len(again.questions) == 1
    assert list(human_calls(store, session).values())[-1] == {"text": ""}


def test_a_hint_answers_the_listed_questions_of_its_problem_at_once():
    saved = []

    async def ask():
        mailbox, stopping = Mailbox(save_questions=saved.append), asyncio.Event()
        waiting = [
            asyncio.ensure_future(
                mailbox.wait_for_text(name, 0, "What now?", stopping, lambda: None)
            )
            for name in ("one", "two", "three")
        ]
        await asyncio.sleep(0)
        mailbox.add({"problem": "two", "text": "a"})
        left = [one["problem"] for one in mailbox.list_questions()]
        mailbox.add({"problem": None, "text": "b"})
        return left, mailbox.list_questions(), await asyncio.gather(*waiting)

    assert asyncio.run(ask()) == (["one", "three"], [], ["b", "a", "b"])
    assert saved[-1] == []


def test_a_question_is_answered_while_nobody_runs_the_session(asking, make_answer):
    replies = {"one": [make_answer(WRONG)] * 9}
    store, session = asking(replies)
    go_on(store, session, replies, [None])
    add_hint(store, session, "one", "")  # gives the problem up
    again, outcome = go_on(store, session, replies, [])
    assert again.questions == [] and outcome["status"] == "done"
    assert human_calls(store, session) == {"step/4/human/0": {"text": ""}}
    assert differences(store, session) == []


def test_the_second_proposer_is_asked_before_a_person(asking, make_answer):
    first = {"one": [make_answer(WRONG)] * 3}
    then = {"one": ["never said"] * 3 + ["bad"] * 3 + [make_answer(IDENTITY), "bad", "bad", "bad"]}
    second = ScriptedProposer(then)
    store, session = asking(first, roles={"then": second.settings()})
    asked, _ = go_on(store, session, first, ["unchanged"], players={"then": second})
    assert len(asked.questions) == 1
    by = [step.fields["proposed_by"] for step in store.steps(session)]
    assert by == ["proposer"] * 3 + ["then"] * 7
    assert differences(store, session) == []


def test_a_budget_of_the_problem_ends_it_without_a_question(asking, make_answer):
    from peirce.records import Usage

    replies = {"one": [Reply(make_answer(WRONG), usage=Usage(5, 5))] * 3}
    store, session = asking(replies, problem_tokens=5)
    asked, _ = go_on(store, session, replies, [])
    assert asked.questions == [] and store.problems(session)[0].cause == "problem_budget"
