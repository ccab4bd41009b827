"""Checks the pace that the calls of a proposer share, on a clock of its own and once over HTTP.

Internals: the pace runs on a clock of the test's own.
"""

import asyncio
import time

import pytest
from chat_server import ChatServer, completion, says, status
from peirce.agents import EndpointRefused, open_model
from peirce.agents.endpoint.limits import (
    NEVER_REACHED_S,
    OUTAGE_S,
    PROBE_S,
    WINDOW_S,
    OutageTracker,
    RateLimiter,
    RetrySettings,
    estimate_tokens,
)
from peirce.records import InputSet, Unavailable, UsageError, View

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
ASK = [{"role": "user", "content": "a question"}]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def begun(sizes, requests=None, tokens=None, used=None):
    """When each of the requests of these sizes began; each then took `used` tokens."""
    clock = Clock()
    pace = RateLimiter(requests, tokens, clock=clock, sleep=clock.sleep)

    async def all_of_them():
        for size in sizes:
            one = await pace.admit(size)
            pace.record_tokens(one, used or 0)
            starts.append(one.at)

    starts = []
    asyncio.run(all_of_them())
    return starts


def test_no_window_holds_more_requests_than_the_limit():
    starts = begun([1] * 10, requests=3)
    assert starts[:3] == [0, 0, 0] and starts[-1] == pytest.approx(3 * WINDOW_S)
    for at in starts:
        assert sum(at <= other < at + WINDOW_S for other in starts) <= 3


def test_no_window_holds_more_tokens_than_the_limit():
    starts = begun([40] * 6, tokens=100)
    assert starts == pytest.approx([0, 0, WINDOW_S, WINDOW_S, 2 * WINDOW_S, 2 * WINDOW_S])


def test_what_the_endpoint_counted_replaces_the_estimate():
    assert begun([40] * 6, tokens=100, used=10) == [0] * 6
    assert begun([1] * 3, tokens=100, used=100) == pytest.approx([0, WINDOW_S, 2 * WINDOW_S])


def test_a_request_larger_than_the_limit_goes_alone():
    assert begun([500, 500, 1], tokens=100) == pytest.approx([0, WINDOW_S, 2 * WINDOW_S])


def test_without_limits_nothing_waits_and_nothing_is_kept():
    clock = Clock()
    pace = RateLimiter(clock=clock, sleep=clock.sleep)

    async def many():
        for _ in range(1000):
            await pace.admit(10**9)

    asyncio.run(many())
    assert clock.now == 0 and len(pace._begun) == 0


def test_a_pause_holds_every_request_and_a_shorter_one_does_not_end_it():
    clock = Clock()
    pace = RateLimiter(clock=clock, sleep=clock.sleep)
    pace.pause(9)
    pace.pause(2)
    assert asyncio.run(pace.admit(1)).at == 9


def test_requests_begin_in_the_order_in_which_they_came():
    clock, order = Clock(), []
    pace = RateLimiter(1, clock=clock, sleep=clock.sleep)

    async def one(number):
        await pace.admit(1)
        order.append(number)

    async def all_of_them():
        await asyncio.gather(*(one(number) for number in range(20)))

    asyncio.run(all_of_them())
    assert order == list(range(20))


def test_an_estimate_counts_messages_tools_and_the_longest_answer():
    bare = estimate_tokens(ASK, {}, 0)
    assert bare < estimate_tokens(ASK, {"tools": ["x" * 40]}, 0) < estimate_tokens(ASK, {}, 500)
    assert estimate_tokens([{"role": "user", "content": "x" * 4000}], {}, 0) >= 1000


def test_a_wait_that_one_call_is_asked_for_is_kept_by_all():
    """The second call meets no 429 and yet does not begin before the first one's wait is over."""
    with ChatServer([status(429, retry_after="0.6"), says("x")]) as server:

        async def both():
            proposer = await open_model(f"{server.url}#m", {"backoff_s": 0})
            try:
                first = asyncio.create_task(proposer.propose(VIEW, ASK, (), 1))
                while not server.requests:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.1)  # until the 429 is back
                start = time.monotonic()
                await asyncio.gather(first, proposer.propose(VIEW, ASK, (), 2))
                return time.monotonic() - start
            finally:
                await proposer.close()

        waited = asyncio.run(both())
    assert 0.3 < waited < 5 and len(server.requests) == 3


def test_the_endpoints_count_makes_room_for_a_call_that_the_estimate_would_hold_back():
    long = [{"role": "user", "content": "x" * 4000}]  # about 1,000 tokens; says() counts few

    async def twice(url):
        proposer = await open_model(f"{url}#m", {"tokens_per_minute": 1500})
        try:
            for seed in (1, 2):
                await asyncio.wait_for(proposer.propose(VIEW, long, (), seed), 20)
        finally:
            await proposer.close()

    with ChatServer([says("x")]) as server:
        asyncio.run(twice(server.url))
    assert len(server.requests) == 2


def test_calls_that_failed_together_do_not_come_back_together():
    waits = [RetrySettings().wait_s(1, seed, None) for seed in range(20)]
    assert len(set(waits)) == 20 and 1.0 <= min(waits) < max(waits) <= 3.0
    assert waits == [RetrySettings().wait_s(1, seed, None) for seed in range(20)]


# --- an endpoint where nothing listens ----------------------------------------


def test_an_outage_is_over_patience_sooner_where_nothing_ever_answered():
    clock = Clock()
    never, once, given = (
        OutageTracker(None, clock=clock),
        OutageTracker(None, clock=clock),
        OutageTracker(5, clock=clock),
    )
    once.record_answer()
    for outage in (never, once, given):
        assert not outage.has_expired
        outage.record_miss()
        assert not outage.has_expired
    lasted = []
    for outage in (given, never, once):
        while not outage.has_expired:
            clock.now += 1
            for other in (never, once, given):
                other.record_miss()
        lasted.append(clock.now)
    assert lasted == [5, NEVER_REACHED_S, OUTAGE_S]


def test_an_answer_ends_an_outage_and_a_pause_without_requests_is_none():
    clock = Clock()
    outage = OutageTracker(30, clock=clock)
    outage.record_miss()
    clock.now = 29
    outage.record_answer()
    outage.record_miss()
    clock.now = 58
    assert not outage.has_expired and outage.duration_s == 29
    clock.now = 1000  # nobody asked for a long time
    outage.record_miss()
    assert not outage.has_expired
    clock.now = 1030
    assert outage.has_expired


def test_the_endpoint_is_probed_often_enough_to_be_found_again():
    patience = RetrySettings(backoff_s=1.0)
    waits = [patience.probe_s(attempt, 7) for attempt in range(1, 100)]
    assert waits[0] < 4 and max(waits) == PROBE_S == waits[-1]


def gone_and_back(away_s, **settings):
    """What a call comes to at an endpoint that begins to listen after so long; None: never."""
    with ChatServer([says("x")]) as server:
        url = server.url
    told = []

    async def call():
        proposer = await open_model(f"{url}#m", {"backoff_s": 0.02, **settings})
        asked = asyncio.create_task(proposer.propose(VIEW, ASK, (), 1))
        try:
            if away_s is None:
                return await asked
            await asyncio.sleep(away_s)
            with ChatServer([says("x")], port=int(url.split(":")[2].split("/")[0])) as back:
                reply = await asked
                await proposer.propose(VIEW, ASK, (), 2)
                told.extend(back.got)
                return reply
        finally:
            await proposer.close()

    return asyncio.run(call()), told


def test_a_call_waits_for_an_endpoint_that_is_away_without_spending_its_retries():
    reply, got = gone_and_back(1.0, retries=1)
    assert reply.text == "x" and reply.retries > 1
    assert got == ["/v1/models"]  # the next call looks it up


def test_a_server_that_is_loading_its_model_is_waited_for():
    """llama.cpp says so from its start; it is not given up after the time of a wrong URL."""
    loading = status(503, "Loading model", type="unavailable_error")
    with ChatServer([loading] * 9 + [says("x")]) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", {"backoff_s": 0.001, "retries": 1})
            try:
                return await proposer.propose(VIEW, ASK, (), 1)
            finally:
                await proposer.close()

        assert asyncio.run(call()).retries == 9
    clock = Clock()
    outage = OutageTracker(None, clock=clock)
    outage.record_miss(starting=True)
    clock.now = OUTAGE_S - 1
    assert not outage.has_expired


def test_an_endpoint_that_never_comes_ends_the_session_with_one_sentence():
    begin = time.monotonic()
    with pytest.raises(
        EndpointRefused, match=r"could not be reached for .* s: the connection failed"
    ) as told:
        gone_and_back(None, outage_s=0.5)
    assert 0.5 <= time.monotonic() - begin < 30 and "\n" not in str(told.value)


def test_a_host_that_does_not_exist_ends_the_session_too():
    async def call():
        proposer = await open_model(
            "http://nowhere.invalid/v1#m", {"outage_s": 0.2, "backoff_s": 0.02}
        )
        try:
            await proposer.propose(VIEW, ASK, (), 1)
        finally:
            await proposer.close()

    with pytest.raises(EndpointRefused, match=r"nowhere\.invalid"):
        asyncio.run(call())


def test_without_retries_none_are_made_for_an_outage_either():
    with pytest.raises(Unavailable, match="1 request") as told:
        gone_and_back(None, retries=0)
    assert not isinstance(told.value, EndpointRefused)


LIMITS = ["requests_per_minute", "tokens_per_minute", "context_tokens", "outage_s"]


@pytest.mark.parametrize("key", LIMITS)
@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True])
def test_a_limit_that_cannot_be_is_refused_by_name(key, value):
    if (key, value) in (("context_tokens", 0), ("outage_s", 0), ("outage_s", 1.5)):
        return  # these can be
    with pytest.raises(UsageError, match=key):
        asyncio.run(open_model("http://127.0.0.1:9/v1#m", {key: value}))


def test_limits_are_recorded_as_transport_which_decides_no_answer():
    async def settings():
        proposer = await open_model("http://127.0.0.1:9/v1#m", {"requests_per_minute": 60})
        await proposer.close()
        return proposer.settings()

    told = asyncio.run(settings())
    assert told["transport"]["requests_per_minute"] == 60 and "requests_per_minute" not in told


@pytest.mark.parametrize(("context", "sent"), [(1700, 1), (1400, 0)])
def test_a_request_that_would_not_fit_is_not_sent_and_the_figure_is_told(context, sent):
    settings = {"context_tokens": context, "max_tokens": 500}
    long = [{"role": "user", "content": "word " * 800}]  # some 1,000 tokens
    usage = {"prompt_tokens": 1000, "completion_tokens": 1}
    with ChatServer([lambda request: completion({"content": "x"}, usage=usage)]) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", settings)
            try:
                return await proposer.propose(VIEW, long, (), 1)
            finally:
                await proposer.close()

        if sent:
            assert asyncio.run(call()).text == "x"
        else:
            figure = (
                "an answer of 500 tokens are about 1,5.. tokens, more than context_tokens 1,400"
            )
            with pytest.raises(Unavailable, match=figure):
                asyncio.run(call())
    assert len(server.requests) == sent


def test_the_thousandth_retry_waits_no_longer_than_the_longest():
    patience = RetrySettings(retries=5000, backoff_s=1.0, max_wait_s=120.0)
    assert patience.wait_s(4999, 0, None) == 120.0
