"""The second proposer goes on where the first one ended without an accepted hypothesis."""

from __future__ import annotations

import asyncio

import pytest
from one_sandbox import in_sandbox
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Reply

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"
WRONG = "def f(x):\n    return [0]"
EXHAUSTED = Reply(finish="exhausted")


def start(play, problems, first, then, **settings):
    """Return (store, session) of a session that has not begun."""
    store = play(ScriptedProposer([[]]), [])[0]
    known = {
        "task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
        "model_settings": first.settings(), "roles": {"then": then.settings()}, **settings,
    }  # fmt: skip
    space = InputSet("singletons", tuple([n] for n in range(10)))
    return store, store.create_session(known, [(one, space) for one in problems])


def second(earlier: int, answers) -> ScriptedProposer:
    """A script counts the answers to the problem, those of the first proposer too."""
    return ScriptedProposer({"*": ["never said"] * earlier + list(answers)})


def go_on(store, session, first, then, **options):
    return in_sandbox(
        lambda one: run_session(
            store, session, proposer=first, oracle=one, players={"then": then}, **options
        )
    )


def model_paths(store, session) -> list[str]:
    return [one["path"] for one in store.calls(session) if one["kind"] == "model"]


def proposed_by(store, session) -> list[str]:
    return [step.fields["proposed_by"] for step in store.steps(session)]


@pytest.fixture
def scripts(make_answer):
    first = ScriptedProposer({"*": [make_answer(WRONG), "no answer", make_answer(WRONG)]})
    then = second(3, [make_answer(WRONG), "nothing", make_answer(IDENTITY), "no", "no"])
    return first, then


def test_a_problem_without_an_accepted_hypothesis_goes_on_with_its_own_counts(
    play, make_problem, scripts
):
    store, session = start(play, [make_problem("one", SHOWN)], *scripts)
    assert go_on(store, session, *scripts)["status"] == "done"
    assert model_paths(store, session) == [f"step/{n}/propose/0" for n in range(1, 8)]
    # three bad answers of the first, then three bad answers of the second, whose third is accepted
    assert proposed_by(store, session) == ["proposer"] * 3 + ["then"] * 4
    assert [row.cause for row in store.problems(session)] == ["three_bad"]
    asked = [one["request"]["role"] for one in store.calls(session) if one["kind"] == "model"]
    assert asked == ["proposer"] * 3 + ["then"] * 4
    replayed = asyncio.run(replay_session(store, session))
    assert replayed["differences"] == [] and replayed["steps"] == 7


def test_a_problem_with_an_accepted_hypothesis_ends(play, make_problem, make_answer):
    first = ScriptedProposer({"*": [make_answer(IDENTITY), EXHAUSTED]})
    then = ScriptedProposer({"*": [make_answer(IDENTITY)]})
    store, session = start(play, [make_problem("one", SHOWN)], first, then)
    go_on(store, session, first, then)
    assert proposed_by(store, session) == ["proposer"]
    assert [row.cause for row in store.problems(session)] == ["exhausted"]


def test_refine_goes_on_until_its_target_is_reached(play, make_problem, make_answer):
    first = ScriptedProposer({"*": [make_answer(WRONG)] * 2})
    then = second(2, [make_answer(WRONG), make_answer(IDENTITY)])
    store, session = start(
        play, [make_problem("one", SHOWN)], first, then, method="refine", max_answers=2
    )
    go_on(store, session, first, then)
    assert proposed_by(store, session) == ["proposer"] * 2 + ["then"] * 2
    assert [row.cause for row in store.problems(session)] == ["target"]


def test_a_request_in_vain_and_the_second_proposers_request_have_different_paths(
    play, make_problem, make_answer
):
    first = ScriptedProposer({"*": [EXHAUSTED]})
    then = ScriptedProposer({"*": [make_answer(IDENTITY), EXHAUSTED]})
    store, session = start(play, [make_problem("one", SHOWN)], first, then)
    go_on(store, session, first, then)
    assert model_paths(store, session) == [
        "step/1/propose/0", "step/1/propose/1", "step/2/propose/0",
    ]  # fmt: skip
    assert asyncio.run(replay_session(store, session))["differences"] == []


@pytest.mark.parametrize("calls", [1, 3, 4, 5, 7])
def test_a_session_that_is_stopped_anywhere_and_resumed_has_the_same_digest(
    play, make_problem, scripts, calls
):
    problems = [make_problem("one", SHOWN), make_problem("two", SHOWN)]
    whole = start(play, problems, *scripts)
    go_on(*whole, *scripts)
    store, session = start(play, problems, *scripts)
    stopping, made = asyncio.Event(), []

    def stop(event) -> None:
        if event["type"] == "call" and event["kind"] == "model":
            made.append(event)
            if len(made) == calls:
                stopping.set()

    outcome = go_on(store, session, *scripts, stopping=stopping, on_event=stop, concurrency=1)
    assert outcome["status"] == "interrupted"
    assert go_on(store, session, *scripts)["status"] == "done"
    assert store.session(session)["digest"] == whole[0].session(whole[1])["digest"]


def test_tools_that_the_first_refused_are_offered_to_the_second(play, make_problem, make_answer):
    first = ScriptedProposer({"*": [Reply(finish="no_tools"), "nothing", "nothing", "nothing"]})
    then = second(3, [make_answer(IDENTITY), EXHAUSTED])
    store, session = start(play, [make_problem("one", SHOWN)], first, then)
    go_on(store, session, first, then)
    offered = [
        bool(one["request"]["tools"]) for one in store.calls(session) if one["kind"] == "model"
    ]
    assert offered == [True, False, False, False, True, True]
