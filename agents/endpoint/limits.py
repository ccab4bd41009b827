"""Limits on requests to an endpoint: retries of one call, the rate of all calls, and open files.

Limits that several processes share, or several proposers in one process, are not enforced here. In
that situation, only status 429 of the endpoint slows requests down.

Each request in flight takes one open file of this process. If the limit on open files is too low,
the endpoint seems to be unreachable.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import random
import resource
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, replace

from ...records import Json, Message, Reply, Usage, canonical_json
from ...records.settings import Number, Settings, setting

WINDOW_S = 60.0
NEVER_REACHED_S = 30.0  # a wrong URL, or a server that was not started
OUTAGE_S = 300.0  # A restarted server first loads its model.
PROBE_S = 10.0
CHARACTERS_A_TOKEN = 4  # a rough estimate, corrected by the endpoint's own count


class RetrySettings(Settings):
    """Settings for timeouts, retries, waits and rates of requests."""

    timeout_s: Number = setting(
        300.0, "Time limit in seconds for one request, including its complete answer (300).", ge=0
    )
    retries: int = setting(5, "Maximum number of retries per call (5).", ge=0)
    backoff_s: Number = setting(1.0, "Seconds to wait before the first retry; each further retry doubles it (1).", ge=0)  # fmt: skip
    max_wait_s: Number = setting(
        120.0,
        "Maximum wait in seconds between two requests (120). If the endpoint asks for a"
        " longer wait, the call fails.",
        ge=0,
    )
    requests_per_minute: int | None = setting(None, "Maximum number of requests per minute over all calls, including retries (default: no"
        " limit).", ge=1)  # fmt: skip
    tokens_per_minute: int | None = setting(None, "Maximum number of input and output tokens per minute over all calls (default: no"
        " limit).", ge=1)  # fmt: skip
    context_tokens: int | None = setting(
        None, "Context length of the model in tokens; a request that is estimated to be longer"
              " is not sent. 0 disables the check (default: the length that the endpoint"
              " reports).", ge=0,
    )  # fmt: skip
    outage_s: Number | None = setting(
        None, "Seconds without a reachable endpoint after which the session stops (300; 30 if"
              " it was never reached).",
        ge=0,
    )  # fmt: skip

    def wait_s(self, attempt: int, seed: int, asked_s: float | None) -> float:
        """Return the seconds to wait before a retry.

        If the endpoint asked for a waiting time, the wait is at least this time. Otherwise, the
        wait grows exponentially with `attempt`. A random addition, derived from the seed, spreads
        the retries of calls that failed at the same time.

        Args:
            attempt: The number of earlier retries.
            seed: The seed of the call.
            asked_s: The seconds that the endpoint asked to wait; None if it did not ask.
        """
        jitter = random.Random(f"{seed}/{attempt}").random()
        if asked_s is not None:
            return asked_s + self.backoff_s * jitter
        return min(self.backoff_s * 2.0 ** min(attempt, 60) * (0.5 + jitter), self.max_wait_s)

    def probe_s(self, attempt: int, seed: int) -> float:
        """Return the seconds to wait before trying again to reach an endpoint where no server
        listens.

        Args:
            attempt: The number of earlier attempts.
            seed: The seed of the call.
        """
        return min(self.wait_s(min(attempt, 10), seed, None), PROBE_S)


class AdmittedRequest:
    """A request that a `RateLimiter` admitted, with its start time and the tokens that it counts
    for.
    """

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


class RateLimiter:
    """A rate limiter that admits requests in the order of their arrival.

    Tokens are estimated while a request is in flight. Afterwards, the count of the endpoint
    replaces the estimate. A request that exceeds the limit on tokens by itself is admitted alone.
    During a pause, no request is admitted.

    Args:
        requests: The maximum number of requests that start in any `WINDOW_S` seconds; None for no
            limit.
        tokens: The maximum number of tokens of these requests; None for no limit.
        clock, sleep: Replacements for the time functions, for tests.
    """

    def __init__(
        self,
        requests: int | None = None,
        tokens: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._begun: deque[AdmittedRequest] = deque()
        self._paused_until = float("-inf")
        self._turn = asyncio.Lock()  # An asyncio lock is fair: waiters proceed in order.

    async def admit(self, tokens: int) -> AdmittedRequest:
        """Wait until a request of about `tokens` tokens may start."""
        async with self._turn:
            while (wait_s := self._wait_s(tokens)) > 0:
                await self._sleep(wait_s)
            admitted = AdmittedRequest(self._clock(), tokens)
            if self._requests is not None or self._tokens is not None:
                self._begun.append(admitted)
            return admitted

    def pause(self, seconds: float) -> None:
        """Admit no request for `seconds` seconds. A longer pause that is already in progress
        continues.
        """
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def record_tokens(self, admitted: AdmittedRequest, tokens: int) -> None:
        """Replace the estimated tokens of a request by the count of the endpoint.

        A count of 0 means that the endpoint reported none, and the estimate stays.
        """
        if tokens > 0:
            admitted.tokens = tokens

    def _wait_s(self, tokens: int) -> float:
        """Return the seconds until a request may be possible; 0 where it may start now."""
        now = self._clock()
        if now < self._paused_until:
            return self._paused_until - now
        while self._begun and now - self._begun[0].at >= WINDOW_S:
            self._begun.popleft()
        if not self._begun:
            return 0.0
        full = self._requests is not None and len(self._begun) >= self._requests
        used = sum(one.tokens for one in self._begun) if self._tokens is not None else 0
        full = full or (self._tokens is not None and used + tokens > self._tokens)
        return max(self._begun[0].at + WINDOW_S - now, 0.001) if full else 0.0


class OutageTracker:
    """Tracks whether an endpoint can be reached, over all calls of a proposer.

    A request to an unreachable endpoint costs nothing, so calls are retried until the outage has
    lasted `patience_s` seconds. Then the session should stop. An address that drops packets is not
    recognized as unreachable, because it looks like a busy server that times out.

    Args:
        patience_s: How long an outage may last, in seconds. None means `NEVER_REACHED_S` before the
            first answer of the endpoint, and `OUTAGE_S` after it.
        clock: A replacement for the time function, for tests.
    """

    def __init__(
        self, patience_s: float | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience_s = patience_s
        self._clock = clock
        self._since: float | None = None
        self._last = 0.0
        self._known = False  # whether a server is known to run there
        self.answers = 0  # answers of any kind, including errors

    def record_answer(self) -> None:
        """Record that the endpoint answered."""
        self.answers += 1
        self._since = None

    def record_miss(self, *, starting: bool = False) -> bool:
        """Record that a request could not reach the endpoint.

        Args:
            starting: Whether a server is running there but has not loaded its model yet.

        Returns:
            Whether this request starts a new outage. If the previous unanswered request was more
            than 60 seconds ago, it does.
        """
        now = self._clock()
        self._known = self._known or starting
        new = self._since is None or now - self._last > 60
        if new:
            self._since = now
        self._last = now
        return new

    @property
    def duration_s(self) -> float:
        """Return how long the current outage has lasted, in seconds; 0 if there is none."""
        return 0.0 if self._since is None else self._clock() - self._since

    @property
    def patience_s(self) -> float:
        """Return how long an outage may last, in seconds."""
        usual = OUTAGE_S if self.answers or self._known else NEVER_REACHED_S
        return usual if self._patience_s is None else self._patience_s

    @property
    def has_expired(self) -> bool:
        """Return whether the current outage has lasted as long as `patience_s` allows."""
        return self._since is not None and self.duration_s >= self.patience_s


class FailureStreak:
    """Counts how many different problems have failed in the same way since the last success."""

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._problems: set[str] = set()

    def record_failure(self, problem: str) -> bool:
        """Record a failure of a problem, and return whether the maximum number of problems is
        reached.
        """
        self._problems.add(problem)
        return len(self._problems) >= self._enough

    def reset(self) -> None:
        """Reset the count after a success."""
        self._problems.clear()


class EstimatedUsage(Usage):
    """Token counts that are partly or fully estimated, because the endpoint did not report them."""


def with_estimate(reply: Reply, messages: Sequence[Message], extra: Mapping[str, Json]) -> Reply:
    """Return the reply with estimates for the token counts that the endpoint did not report.

    Without estimates, a budget of tokens would have no effect on such an endpoint.

    Args:
        reply: The reply of the endpoint.
        messages: The prompt.
        extra: The other fields of the request, such as tools.
    """
    usage = reply.usage
    calls = sum(len(canonical_json(call.arguments)) for call in reply.tool_calls)
    said = len(reply.text) + calls + len(str(reply.meta.get("reasoning", "")))
    tokens_in = usage.tokens_in or estimate_tokens(messages, extra, 0)
    tokens_out = usage.tokens_out or math.ceil(said / CHARACTERS_A_TOKEN)
    if (tokens_in, tokens_out) == (usage.tokens_in, usage.tokens_out):
        return reply
    thought = 0 if usage.tokens_out else len(str(reply.meta.get("reasoning", "")))
    reasoning = usage.tokens_reasoning or thought // CHARACTERS_A_TOKEN
    told = EstimatedUsage(tokens_in, tokens_out, usage.tokens_cached, reasoning)
    return replace(reply, usage=told)


def add_wasted_usage(reply: Reply, wasted: Usage) -> Reply:
    """Return the reply with the tokens of earlier unusable answers added to its usage.

    Args:
        reply: The usable reply.
        wasted: The tokens that earlier requests of the same call used.
    """
    kind = type(reply.usage)
    return replace(reply, usage=kind(*astuple(reply.usage + wasted)))


def estimate_tokens(messages: Sequence[Message], extra: Mapping[str, Json], answer: int) -> int:
    """Return the estimated number of tokens of a request and its answer.

    Args:
        messages: The prompt.
        extra: The other fields of the request, such as tools.
        answer: The maximum number of tokens of the answer.
    """
    characters = sum(len(str(message)) for message in messages) + len(str(extra.get("tools", "")))
    return characters // CHARACTERS_A_TOKEN + 1 + answer


OUT_OF_FILES = "nothing: too many open files here; lower --concurrency or raise ulimit -n"
RESERVED_FILES = 64  # for stores, sandboxes and look-ups
MIN_SOCKETS = 4


def raise_open_file_limit(concurrency: int) -> None:
    """Raise this process's limit on open files, so that `concurrency` requests can be open at once.

    The limit is not raised above the system's hard limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _open_now() + RESERVED_FILES + concurrency
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):  # Some systems allow fewer than their hard limit says.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def count_free_sockets() -> int:
    """Return how many more connections this process can open now."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1_000_000
    return max(MIN_SOCKETS, soft - _open_now() - RESERVED_FILES // 2)


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, says that the limit on open files is
    reached.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup) and any(map(is_out_of_files, error.exceptions)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _open_now() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(folder))
        except OSError:
            continue
    return RESERVED_FILES
