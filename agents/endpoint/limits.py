"""How long and how fast an endpoint is asked: patience with one call, and the pace that all calls
of a proposer share.

Not covered: limits that several processes, or several proposers of one process, share with each
other; the endpoint's own 429 is what tells them.

How many files this process may have open, of which each request under way takes one: a limit that
is too low looks like an endpoint that is not there.
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
from dataclasses import replace

from ...records import Json, Message, Reply, Usage, canonical_json
from ...records.settings import Number, Settings, setting

WINDOW_S = 60.0
NEVER_REACHED_S = 30.0  # a wrong URL, or a server that was not started
OUTAGE_S = 300.0  # a server that starts again loads its model first
PROBE_S = 10.0
CHARACTERS_A_TOKEN = 4  # a rough count, corrected by what the endpoint says it was


class Patience(Settings):
    """How long to go on asking, how often, and with how much."""

    timeout_s: Number = setting(300.0, "of one request, default 300", ge=0)
    retries: int = setting(5, "of one call after its first request, default 5", ge=0)
    backoff_s: Number = setting(1.0, "before the first retry, doubled for each further one, default 1", ge=0)  # fmt: skip
    max_wait_s: Number = setting(
        120.0, "between two requests, default 120; an endpoint that asks for more fails", ge=0
    )
    requests_per_minute: int | None = setting(None, "of all calls together, retries too; default no limit", ge=1)  # fmt: skip
    tokens_per_minute: int | None = setting(None, "in and out, of all calls together; default no limit", ge=1)  # fmt: skip
    context_tokens: int | None = setting(
        None, "what the model holds; a request estimated above it is not sent; default: what the"
        " endpoint tells of it, 0: no limit and no check", ge=0,
    )  # fmt: skip
    outage_s: Number | None = setting(
        None, "without an endpoint, until the session stops; default 300, 30 where none ever was",
        ge=0,
    )  # fmt: skip

    def wait_s(self, attempt: int, seed: int, asked_s: float | None) -> float:
        """Before retry number `attempt` (from 0): what the endpoint asked for, at least, else
        exponential; with jitter from the seed, so that calls that failed together spread."""
        jitter = random.Random(f"{seed}/{attempt}").random()
        if asked_s is not None:
            return asked_s + self.backoff_s * jitter
        return min(self.backoff_s * 2.0 ** min(attempt, 60) * (0.5 + jitter), self.max_wait_s)

    def probe_s(self, attempt: int, seed: int) -> float:
        """Before the next try at an endpoint where nothing listens."""
        return min(self.wait_s(min(attempt, 10), seed, None), PROBE_S)


class Admitted:
    """A request that was let through, with the tokens that it counts for."""

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


class Pace:
    """Lets requests through in the order in which they come: never more than `requests` of them,
    and of tokens never more than `tokens`, begun in any `WINDOW_S` seconds; none at all during a
    pause. None means no limit.

    Tokens are an estimate while a request is under way and what the endpoint counted afterwards.
    A request larger than the whole limit goes alone. clock, sleep: for tests.
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
        self._begun: deque[Admitted] = deque()
        self._paused_until = float("-inf")
        self._turn = asyncio.Lock()  # fair: whoever waits first goes first

    async def admit(self, tokens: int) -> Admitted:
        """Waits for the turn of a request of about so many tokens."""
        async with self._turn:
            while (wait_s := self._wait_s(tokens)) > 0:
                await self._sleep(wait_s)
            admitted = Admitted(self._clock(), tokens)
            if self._requests is not None or self._tokens is not None:
                self._begun.append(admitted)
            return admitted

    def pause(self, seconds: float) -> None:
        """No request begins for so long; a longer pause under way stays."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def settle(self, admitted: Admitted, tokens: int) -> None:
        """What the request really took, where the endpoint said so (more than 0)."""
        if tokens > 0:
            admitted.tokens = tokens

    def _wait_s(self, tokens: int) -> float:
        """Until something may have changed; 0 where the request may begin."""
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


class Outage:
    """Whether anything listens at the endpoint, as all calls of a proposer have found it.

    A request that finds nothing there costs neither side anything, so a call goes on trying until
    the outage has lasted `patience_s` (None: `NEVER_REACHED_S` before the first answer, `OUTAGE_S`
    after it) and then tells that the session should stop. Not covered: an address that swallows
    what is sent there, which is a timeout like that of a busy server. clock: for tests.
    """

    def __init__(
        self, patience_s: float | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience_s = patience_s
        self._clock = clock
        self._since: float | None = None
        self._last = 0.0
        self._known = False  # that there is a server
        self.answers = 0  # of any kind, an error's too

    def answered(self) -> None:
        self.answers += 1
        self._since = None

    def missed(self, *, starting: bool = False) -> bool:
        """A request found nothing there, or a server that is `starting`. After a minute in which
        none tried, it is a new outage. Returns whether it is one."""
        now = self._clock()
        self._known = self._known or starting
        new = self._since is None or now - self._last > 60
        if new:
            self._since = now
        self._last = now
        return new

    @property
    def lasted_s(self) -> float:
        return 0.0 if self._since is None else self._clock() - self._since

    @property
    def patience_s(self) -> float:
        usual = OUTAGE_S if self.answers or self._known else NEVER_REACHED_S
        return usual if self._patience_s is None else self._patience_s

    @property
    def over_patience(self) -> bool:
        return self._since is not None and self.lasted_s >= self.patience_s


class InARow:
    """Different problems that met the same, without one between them that did not."""

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._problems: set[str] = set()

    def met(self, problem: str) -> bool:
        """Whether it is enough of them, with this one."""
        self._problems.add(problem)
        return len(self._problems) >= self._enough

    def over(self) -> None:
        self._problems.clear()


class Estimated(Usage):
    """A usage of which the endpoint told nothing, or one side alone."""


def with_estimate(reply: Reply, messages: Sequence[Message], extra: Mapping[str, Json]) -> Reply:
    """The reply with an estimate for the tokens in or out that the endpoint did not count (0), so
    that a budget binds."""
    usage = reply.usage
    calls = sum(len(canonical_json(call.arguments)) for call in reply.tool_calls)
    said = len(reply.text) + calls + len(str(reply.meta.get("reasoning", "")))
    tokens_in = usage.tokens_in or estimated_tokens(messages, extra, 0)
    tokens_out = usage.tokens_out or math.ceil(said / CHARACTERS_A_TOKEN)
    if (tokens_in, tokens_out) == (usage.tokens_in, usage.tokens_out):
        return reply
    thought = 0 if usage.tokens_out else len(str(reply.meta.get("reasoning", "")))
    reasoning = usage.tokens_reasoning or thought // CHARACTERS_A_TOKEN
    told = Estimated(tokens_in, tokens_out, usage.tokens_cached, reasoning)
    return replace(reply, usage=told)


def estimated_tokens(messages: Sequence[Message], extra: Mapping[str, Json], answer: int) -> int:
    """Of a request and its answer of at most `answer` tokens (0 where that is not known)."""
    characters = sum(len(str(message)) for message in messages) + len(str(extra.get("tools", "")))
    return characters // CHARACTERS_A_TOKEN + 1 + answer


OUT_OF_FILES = "nothing: too many open files here; lower --concurrency or raise ulimit -n"
KEPT = 64  # for stores, sandboxes, look-ups
FEWEST = 4


def raise_limit(concurrency: int) -> None:
    """Makes room for so many requests at once, as far as the system's hard limit allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _open_now() + KEPT + concurrency
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):  # some systems allow fewer than their hard limit says
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def sockets_left() -> int:
    """How many connections there is room for now."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1_000_000
    return max(FEWEST, soft - _open_now() - KEPT // 2)


def is_out_of_files(error: BaseException | None) -> bool:
    """Whether that is what an error, or what caused it, says."""
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
    return KEPT
