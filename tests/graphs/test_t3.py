"""`t3`: three answers a round whatever their verdicts, rounds that know nothing of each other.

S is the ten singletons [0] … [9]; shown are [3] -> [3] and [5] -> [5].
"""

from __future__ import annotations

import asyncio

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer, ScriptedProposer
from peirce.graphs.runtime.replay import replay_session
from peirce.records import Reply, ToolCall, UsageError, Verdict
from peirce.store import Store

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
NINE_FOR_ZERO = "def f(x):\n    return [9] if x == [0] else x"
WRONG = "def f(x):\n    return [x[0] + 1]"
OK, REDUNDANT, WRONG_ONE, BROKEN = (
    Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED,
)  # fmt: skip


def verdicts(steps):
    return [one.verdict for step in steps for answer in step.answers for one in answer.judged]


def test_three_answers_a_round_whatever_their_verdicts(play, make_problem, make_answer):
    replies = ["no tuple", make_answer(WRONG), "no tuple", make_answer(IDENTITY)]
    store, session, steps = play(
        ScriptedProposer(replies), [make_problem(shown=SHOWN)], method="t3", rounds=5
    )
    assert verdicts(steps) == [BROKEN, WRONG_ONE, BROKEN] * 5
    assert [step.step for step in steps] == list(range(1, 16))
    assert [step.fields["round"] for step in steps] == [r for r in (1, 2, 3, 4, 5) for _ in "abc"]
    assert [row.cause for row in store.problems(session)] == ["answered"]


def test_five_rounds_are_the_default(play, make_problem):
    _, _, steps = play(ScriptedProposer(["prose"] * 4), [make_problem(shown=SHOWN)], method="t3")
    assert len(steps) == 15


def test_redundancy_and_coverage_are_counted_within_a_round(play, make_problem, make_answer):
    replies = [make_answer(IDENTITY), make_answer(NINE_FOR_ZERO), make_answer(IDENTITY)]
    _, _, steps = play(
        ScriptedProposer(replies), [make_problem(shown=SHOWN)], method="t3", rounds=2
    )
    judged = [step.answers[0].judged[0] for step in steps]
    assert [one.verdict for one in judged] == [OK, REDUNDANT, REDUNDANT] * 2
    assert [one.coverage for one in judged] == [0.0, 0.9, 1.0] * 2


def test_a_hypothesis_that_several_rounds_accept_enters_the_bank_once(
    play, make_problem, make_answer
):
    replies = [make_answer(IDENTITY), "prose", "prose"]
    _, _, steps = play(
        ScriptedProposer(replies), [make_problem(shown=SHOWN)], method="t3", rounds=3
    )
    events = [event for step in steps for event in step.events]
    assert [(e.text, e.observation, e.t) for e in events] == [(IDENTITY, 0, 1), (IDENTITY, 1, 2)]


@pytest.mark.parametrize("history", ["descriptions", "chat"])
def test_a_prompt_shows_the_answers_of_its_own_round_alone(
    play, make_problem, make_answer, history
):
    prompts = []

    def counts(messages):
        prompts.append("\n".join(str(message["content"]) for message in messages))
        return make_answer(IDENTITY, f"idea number {len(prompts)}")

    play(
        FunctionProposer(counts, "counts"), [make_problem(shown=SHOWN)],
        method="t3", rounds=3, history=history, tool_calls=0,
    )  # fmt: skip
    seen = [[n for n in range(1, 10) if f"idea number {n}" in prompt] for prompt in prompts]
    assert seen == [[], [1], [1, 2], [], [4], [4, 5], [], [7], [7, 8]]
    assert prompts[0] == prompts[3] == prompts[6]


def test_each_call_has_a_seed_of_its_own(play, make_problem):
    seeds = []

    class Seeded(FunctionProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            seeds.append(seed)
            return Reply("prose")

    play(Seeded(str, "seeded"), [make_problem(shown=SHOWN)], method="t3", rounds=5)
    assert len(set(seeds)) == 15


class Ending(FunctionProposer):
    """Says its tool's turns and then nothing more in the second answer of every other round."""

    def __init__(self):
        super().__init__(str, "ending")
        self.rounds = 0

    async def propose(self, view, messages, tools, seed, schema=None):
        roles = [message["role"] for message in messages]
        if not view.own_answer_count:
            self.rounds += 1
        elif view.own_answer_count == 1 and self.rounds % 2 and "tool" not in roles:
            return Reply(
                tool_calls=(ToolCall("a", "execute", {"code": WRONG}),), finish="tool_calls"
            )
        elif view.own_answer_count == 1 and self.rounds % 2:
            return Reply(finish="exhausted")
        assert view.own_answer_count or "tool" not in roles  # of another round
        return Reply("prose")


def test_who_has_nothing_left_to_say_ends_the_round_alone(play, make_problem):
    store, session, steps = play(
        Ending(), [make_problem(shown=SHOWN)], method="t3", rounds=4, tool_calls=4
    )
    assert [(step.step, step.fields["round"]) for step in steps] == [
        (1, 1), (4, 2), (5, 2), (6, 2), (7, 3), (10, 4), (11, 4), (12, 4),
    ]  # fmt: skip
    assert [row.cause for row in store.problems(session)] == ["exhausted"]
    replayed = asyncio.run(replay_session(store, session))
    assert (replayed["steps"], replayed["differences"]) == (8, [])


def test_two_sessions_come_to_one_digest_and_replay(tmp_path):
    def says(messages):
        size = sum(len(str(message["content"])) for message in messages)
        return repr((f"size {size}", f"def f(x):\n    return [{size}]"))

    options = dict(method="t3", rounds=2, problems=1, observations=2, store=tmp_path / "s.duckdb")
    first = peirce.run("list_functions", model=FunctionProposer(says, "says"), **options)
    again = peirce.run("list_functions", model=FunctionProposer(says, "says"), **options)
    assert first.digest == again.digest
    replayed = peirce.replay(first.session, store=options["store"])
    assert (replayed["steps"], replayed["differences"]) == (6, [])


@pytest.mark.parametrize(
    ("task", "options"),
    [("list_functions", {"observations": 3}), ("abd", {}), ("labels", {"judge": "exact"})],
)
def test_the_embedded_search_says_the_same_in_every_round(tmp_path, task, options):
    store = tmp_path / "s.duckdb"
    session = peirce.run(task, method="t3", rounds=2, problems=1, store=store, **options)
    with Store.open(store, write=False) as opened:
        steps = list(opened.steps(session.session))
    said = {1: [], 2: []}
    for step in steps:
        if "round" not in step.fields:  # the bank of labelled text is read at the end
            continue
        said[step.fields["round"]].append(step.answers[0].text)
    assert said[1] and said[1] == said[2]
    assert peirce.replay(session.session, store=store)["differences"] == []


def test_options_that_t3_does_not_take_and_rounds_of_other_methods(tmp_path):
    store = tmp_path / "s.duckdb"
    with pytest.raises(UsageError, match="max_answers is 4: method t3 does not take it"):
        peirce.run("list_functions", method="t3", max_answers=4, store=store)
    with pytest.raises(UsageError, match="rounds is 0: it must be at least 1"):
        peirce.run("list_functions", method="t3", rounds=0, store=store)
    with pytest.raises(
        UsageError,
        match="rounds is 2: method abduce does not take it; t3 and methods that pass through the rows of labelled text do",
    ):
        peirce.run("list_functions", rounds=2, store=store)


def test_a_dry_run_counts_every_answer(tmp_path):
    store = tmp_path / "s.duckdb"
    counted = peirce.plan(
        "list_functions", method="t3", rounds=4, problems=2, model="http://127.0.0.1:9/v1#m",
        store=store,
    )  # fmt: skip
    assert counted["calls"]["proposer"] == {"least": 24, "most": 24}
    counted = peirce.plan("list_functions", method="t3", problems=2, store=store)
    assert counted["calls"]["proposer"] == {"least": 10, "most": 30}
