"""What a model is asked and what becomes of its reply: answers that were cut, tools that are called
to the end of a step's limit, what later prompts tell of earlier answers, and the seeds of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peirce.agents.scripted import ScriptedProposer
from peirce.records import Message, Reply, ToolCall, ToolSpec, Verdict, View

NO_CALLS_LEFT = "No tool calls are left for this answer. Give the answer now, in the form above."
EARLIER = "Hypotheses proposed so far:"
UNREADABLE = (
    "{count} earlier {answers} could not be read, because the form of the answer was not kept."
)
SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
PLUS_ONE = "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]"
WRONG = "def f(x):\n    return [4]"


class Spy:
    """A proposer that keeps what another one is asked: (problem, messages, seed) of each request."""

    def __init__(self, proposer: Any) -> None:
        self._proposer = proposer
        self.asked: list[tuple[str, list[Message], int]] = []

    def settings(self) -> Any:
        return self._proposer.settings()

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Any = None,
    ) -> Reply:
        self.asked.append((view.problem, list(messages), seed))
        return await self._proposer.propose(view, messages, tools, seed, schema)

    async def close(self) -> None:
        return None


def call(number: int = 1) -> Reply:
    """A reply that calls `execute` so many times."""
    calls = tuple(ToolCall(f"c{n}", "execute", {"code": IDENTITY}) for n in range(number))
    return Reply(tool_calls=calls, finish="tool_calls")


def outcomes(steps):
    """(verdict, reason) of all that was judged."""
    judged = [one for step in steps for answer in step.answers for one in answer.judged]
    return [(one.verdict, one.reason) for one in judged]


def said_last(messages: Sequence[Message]) -> Any:
    return messages[-1]["role"], messages[-1]["content"]


def test_an_answer_cut_at_the_token_limit_is_malformed_though_it_could_be_read(
    play, make_problem, make_answer
):
    cut = Reply(make_answer(IDENTITY), finish="length")
    _, _, steps = play(ScriptedProposer([cut]), [make_problem(shown=SHOWN)])
    ((verdict, reason),) = outcomes(steps)
    assert verdict is Verdict.MALFORMED and reason.startswith("cut")
    assert steps[0].answers[0].judged[0].bad


def test_a_model_that_calls_tools_beyond_the_limit_is_told_and_then_malformed(play, make_problem):
    spy = Spy(ScriptedProposer([[call(), call(), call()]]))
    store, session, steps = play(spy, [make_problem(shown=SHOWN)], tool_calls=2)
    ((verdict, reason),) = outcomes(steps)
    assert verdict is Verdict.MALFORMED and reason.startswith("no_answer")
    first, second, third = (messages for _, messages, _ in spy.asked[:3])
    told = [NO_CALLS_LEFT in str(messages) for messages in (first, second, third)]
    assert told == [False, False, True]
    assert said_last(third) == ("user", NO_CALLS_LEFT)
    paths = {one["path"] for one in store.calls(session)}
    assert {path for path in paths if "/tool/" in path} == {
        "step/1/propose/0/tool/0",
        "step/1/propose/1/tool/0",
    }
    # the next step has calls of its own again
    assert NO_CALLS_LEFT not in str(spy.asked[3][1])


def test_a_model_that_answers_when_no_calls_are_left_is_judged(play, make_problem, make_answer):
    spy = Spy(ScriptedProposer([[call(2), make_answer(IDENTITY)]]))
    _, _, steps = play(spy, [make_problem(shown=SHOWN)], tool_calls=2)
    assert said_last(spy.asked[1][1]) == ("user", NO_CALLS_LEFT)
    assert outcomes(steps) == [(Verdict.ACCEPTED, "")]


def test_a_later_prompt_lists_all_parsable_answers_and_counts_the_others(
    play, make_problem, make_answer
):
    replies = [
        make_answer(IDENTITY, "first idea"),
        "prose alone",
        make_answer(WRONG, "second idea"),
        make_answer(IDENTITY, "third idea"),
        "more prose",
        make_answer(PLUS_ONE, "fourth idea"),
    ]
    spy = Spy(ScriptedProposer(replies))
    _, _, steps = play(spy, [make_problem(shown=SHOWN)], max_bad=10)
    accepted, malformed = Verdict.ACCEPTED, Verdict.MALFORMED
    inconsistent, redundant = Verdict.INCONSISTENT, Verdict.REDUNDANT
    assert [verdict for verdict, _ in outcomes(steps)] == [
        accepted, malformed, inconsistent, redundant, malformed, accepted,
    ]  # fmt: skip
    asked = [messages for _, messages, _ in spy.asked]
    assert [len(messages) for messages in asked] == [1] * 7
    texts = [messages[0]["content"] for messages in asked]
    assert EARLIER not in texts[0] and "idea" not in texts[0]
    ideas = [
        f"{n}. {word} idea" for n, word in enumerate(("first", "second", "third", "fourth"), 1)
    ]
    for text, listed, unread in zip(
        texts, (0, 1, 1, 2, 3, 3, 4), (0, 0, 1, 1, 1, 2, 2), strict=True
    ):
        lines = text.splitlines()
        assert [line for line in lines if line.endswith(" idea")] == ideas[:listed]
        counts = [
            UNREADABLE.format(count=count, answers=answers)
            for count, answers in ((1, "answer"), (2, "answers"))
        ]
        assert [line for line in lines if line in counts] == counts[unread - 1 : unread]


def test_seeds_of_calls_differ_by_problem_and_path_and_follow_the_seed_of_the_session(
    play, make_problem, make_answer
):
    replies = [[call(), make_answer(IDENTITY)], make_answer(PLUS_ONE)]
    problems = [make_problem(name, shown=SHOWN) for name in ("one", "two")]

    def seeds(seed: int) -> dict[tuple[str, str], int]:
        spy = Spy(ScriptedProposer(replies))
        store, session, _ = play(spy, problems, seed=seed)
        found = {
            (one["problem"], one["path"]): one["request"]["seed"]
            for one in store.calls(session)
            if one["kind"] == "model"
        }
        assert sorted(seed for _, _, seed in spy.asked) == sorted(found.values())
        return found

    first, again, other = seeds(1), seeds(1), seeds(2)
    paths = ["step/1/propose/0", "step/1/propose/1", "step/2/propose/0", "step/3/propose/0"]
    assert sorted(first) == [(name, path) for name in ("one", "two") for path in paths]
    assert len(set(first.values())) == len(first)
    assert again == first
    assert not set(other.values()) & set(first.values()) and sorted(other) == sorted(first)


def test_a_request_holds_the_schema_of_an_answer_format_that_has_one(
    play, make_problem, make_answer
):
    """So that the cache gives no answer to a question with another one."""
    for form, held in (("json", True), ("tuple", False)):
        spy = ScriptedProposer([make_answer(IDENTITY)])
        store, session, _ = play(spy, [make_problem(shown=SHOWN)], answer_format=form)
        (first, *_) = [one["request"] for one in store.calls(session) if one["kind"] == "model"]
        assert ("schema" in first) == held
        if held:
            assert set(first["schema"]["required"]) == {"description", "code"}
