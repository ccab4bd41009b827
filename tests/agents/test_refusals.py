"""Checks what an endpoint's 401, 403 and 404 end: the session, or the one problem that met it."""

import asyncio
from dataclasses import replace

import pytest
from asking import ASK, QUICK, VIEW, ask_all, fails
from chat_server import ChatServer, says, status
from peirce.agents import EndpointRefused, open_model
from peirce.records import Reply, Unavailable

CALLS = [(ASK, (), n) for n in range(9)]


@pytest.mark.parametrize("code", [403, 404])
def test_one_refusal_after_good_answers_fails_its_problem_alone(code):
    behaviours = [says("x"), status(code, "upstream hiccup"), says("x")]
    with ChatServer(behaviours) as server:
        told = ask_all(server, CALLS)
    assert [type(one) for one in told] == [Reply, Unavailable, *[Reply] * 7]
    assert str(code) in str(told[1]) and len(server.requests) == 9


@pytest.mark.parametrize("code", [403, 404])
def test_five_problems_in_a_row_that_are_refused_end_the_session(code):
    no = status(code)
    with ChatServer([says("x"), *[no] * 4, says("x"), no]) as server:
        told = ask_all(server, [(ASK, (), n) for n in range(11)])
    kinds = [Reply, *[Unavailable] * 4, Reply, *[Unavailable] * 4, EndpointRefused]
    assert [type(one) for one in told] == kinds


def test_one_problem_that_is_refused_again_and_again_ends_no_session():
    with ChatServer([says("x"), status(403)]) as server:

        async def several():
            proposer = await open_model(f"{server.url}#m", QUICK)
            await proposer.propose(VIEW, ASK, (), 0)
            for n in range(7):
                with pytest.raises(Unavailable) as caught:
                    await proposer.propose(replace(VIEW, problem="p"), ASK, (), n)
                assert not isinstance(caught.value, EndpointRefused)
            await proposer.close()

        asyncio.run(several())


@pytest.mark.parametrize("code", [403, 404])
def test_an_endpoint_that_never_answered_is_believed_at_once(code):
    error, server = fails(status(code))
    assert isinstance(error, EndpointRefused) and len(server.requests) == 1


@pytest.mark.parametrize("code", [401, 402])
def test_a_key_that_is_no_longer_taken_ends_the_session_at_once(code):
    with ChatServer([says("x"), status(code)]) as server:
        told = ask_all(server, CALLS[:2])
    assert [type(one) for one in told] == [Reply, EndpointRefused]


def test_a_call_that_waits_to_ask_again_does_not_once_all_are_refused():
    def behave(request):
        slow = request["messages"][0]["content"] == "slow"
        return status(500)(request) if slow else status(401)(request)

    with ChatServer([behave]) as server:

        async def both():
            proposer = await open_model(f"{server.url}#m", {"backoff_s": 0.3})
            slow = proposer.propose(VIEW, [{"role": "user", "content": "slow"}], (), 0)
            return await asyncio.gather(
                slow, proposer.propose(VIEW, ASK, (), 0), return_exceptions=True
            )

        told = asyncio.run(both())
    assert [type(one) for one in told] == [EndpointRefused, EndpointRefused] and len(
        server.requests
    ) <= 3
