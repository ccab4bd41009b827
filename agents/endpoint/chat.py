"""The proposer for an OpenAI-compatible chat endpoint, based on langchain-openai.

    PROVIDER:NAME             base URL and key variable from records/providers.py
    http://host:port/v1#NAME  the endpoint at this URL (https too), with the key in the variable
                              PEIRCE_API_KEY, because the key of a provider is never sent elsewhere;
                              replicas.py serves several URLs

This module retries requests itself, so that a session can count and explain retries; the libraries
do not retry. It uses only chat completions, not the Responses API.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from ...records import (
    RETRY_LISTENER,
    ContextExceeded,
    Json,
    Message,
    Reply,
    ToolSpec,
    Unavailable,
    Usage,
    View,
)
from .. import EndpointRefused
from .address import Endpoint, check_secrets, ignored_fields, resolve_endpoint
from .batch_client import BatchClient
from .batch_files import REQUEST_ID, BatchFiles, name_request
from .client import open_client
from .context import ContextChecker, room_for_prompt
from .faults import KEEPS_ITS_MODEL, ErrorInBody, Fault, fault_from_status
from .limits import (
    OUT_OF_FILES,
    FailureStreak,
    OutageTracker,
    RateLimiter,
    RetrySettings,
    add_wasted_usage,
    count_free_sockets,
    estimate_tokens,
    is_out_of_files,
    with_estimate,
)
from .replies import parse_reply, with_unique_ids
from .request_parts import RequestParts
from .settings import BATCH_SETTINGS, check_batches
from .structured import sent_parts
from .thinking import RETURNED, check_reasoning_tokens, keep_returned

if TYPE_CHECKING:
    import httpx2
    import openai
    from langchain_openai import ChatOpenAI

    from .settings import ChatSettings

TOOL_REFUSALS_LIMIT = (
    2  # If this many problems in a row are refused tools, no further problem offers them.
)
REFUSALS_LIMIT = 5  # problems in a row with a 403 or 404, at an endpoint that has answered before
TRANSPORT = (
    *RetrySettings.model_fields,
    "stream",
    "cache_key",
    *BATCH_SETTINGS,
)  # These settings do not shape answers.

# What the endpoint reported for each request of a call that gave no usable answer.
WASTED: ContextVar[list[Usage]] = ContextVar("wasted")
# Whether another server of the same model can take over after a fault (replicas.py).
FAILOVER: ContextVar[Callable[[Fault], bool]] = ContextVar("failover", default=lambda fault: False)
HEALTH_CHECK_S = 5.0
OUT_OF_SERVICE = (502, 503, 504)


class ToolsRefused(Exception):
    """Raised when the endpoint does not support tools.

    Attributes:
        requests: The number of requests that the current call has made.
    """

    def __init__(self, requests: int) -> None:
        super().__init__("tools were refused")
        self.requests = requests


class ServerFailed(Exception):
    """Raised instead of a retry if another server of the same model can take over.

    Attributes:
        requests: The number of requests that this server was sent for the call.
        usage: The tokens that the server reported for them.
        wait_s: How long the server asked to wait, in seconds.
    """

    def __init__(self, requests: int, wait_s: float) -> None:
        super().__init__("another server takes over")
        self.requests = requests
        self.usage = Usage()
        self.wait_s = wait_s


class OpenAIChatProposer:
    """A proposer that sends requests to one chat endpoint. `open_server` creates it."""

    def __init__(
        self,
        endpoint: Endpoint,
        settings: ChatSettings,
        model: ChatOpenAI,
        http: httpx2.AsyncClient,
        ignored: Sequence[str] = (),
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._model = model
        self._http = http
        self._pace = RateLimiter(settings.requests_per_minute, settings.tokens_per_minute)
        self._outage = OutageTracker(settings.outage_s)
        self._context = ContextChecker(endpoint, http, settings.context_tokens)
        self._parts = RequestParts(endpoint, settings, self._context, ignored)
        self._no_tools = FailureStreak(TOOL_REFUSALS_LIMIT)
        self._confirming = asyncio.Lock()  # One call at a time confirms that tools are refused.
        self._no_answer = FailureStreak(REFUSALS_LIMIT)
        self._answered = False  # whether any request succeeded
        self._ended = ""  # why every request is refused
        self._sockets: asyncio.Semaphore | None = None
        self._batches: BatchFiles | None = None
        if settings.batch_files:
            # Batches have limits of their own, by which the endpoint orders its work.
            self._pace = RateLimiter()
            shaping = {
                k: v for k, v in self.settings().items() if k not in ("endpoint", "transport")
            }
            self._batches = BatchFiles(
                BatchClient(endpoint, http),
                shaping,
                wait_s=settings.batch_wait_s,
                poll_s=settings.batch_poll_s,
                outage_s=settings.outage_s,
            )
            model.batch_answer = self._batches.answer  # type: ignore[attr-defined]

    @property
    def answers_late(self) -> bool:
        """Return whether requests are sent by batch files."""
        return self._batches is not None

    def join_session(self, stopping: asyncio.Event, report: Callable[[str], None]) -> None:
        """Leave batches that run when `stopping` is set, and report what happens to them."""
        if self._batches is not None:
            self._batches.join_session(stopping, report)

    def settings(self) -> Json:
        """Return the settings of this proposer that the session records.

        Settings that cannot affect answers are grouped under the key `transport`.
        """
        apart = (*TRANSPORT, "model_args", "api_key_env")
        settings = self._settings
        return {
            "scheme": "openai",
            "model": self._endpoint.model,
            "endpoint": self._endpoint.url,
            **{key: value for key, value in settings.explicit_values().items() if key not in apart},
            "model_args": settings.model_args,
            "transport": {
                **{key: getattr(settings, key) for key in TRANSPORT},
                "api_key_env": self._endpoint.key_env,
            },
        }

    def secrets(self) -> dict[str, str]:
        """Return the key by the name of its environment variable; empty if there is no real key."""
        return self._endpoint.secrets()

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Send the messages to the model and return its reply. Temporary failures are retried.

        Raises:
            EndpointRefused: Every other request would fail in the same way.
            ContextExceeded: The request does not fit into the model's context.
            Unavailable: The request failed after all retries.
        """
        if tools and (self._settings.tools is False or "tools" in self._parts.refused):
            return Reply(finish="no_tools")
        extra = self._parts.build(view, tools, seed, schema)
        await self._context.check(messages, extra, self._settings.max_tokens or 0)
        if self._batches is not None:
            named = (view.problem, self._batches.model, messages, tools, seed, schema)
            REQUEST_ID.set(name_request(*named))
        wasted: list[Usage] = []
        before = WASTED.set(wasted)
        try:
            try:
                reply = await self._patiently(view.problem, messages, extra, seed)
            except ToolsRefused as refusal:
                reply = await self._confirmed(refusal, view.problem, messages, extra, seed)
            if reply.finish == "no_tools":
                return add_wasted_usage(reply, sum(wasted, Usage()))
            try:
                await self._context.check_answer(
                    messages, reply.usage, self._settings.max_tokens or 0
                )
            except Unavailable:
                wasted.append(reply.usage)
                raise
        except (Unavailable, ServerFailed) as error:
            error.usage = sum(wasted, Usage())
            raise
        finally:
            WASTED.reset(before)
        told = with_unique_ids(with_estimate(reply, messages, extra), messages)
        return add_wasted_usage(told, sum(wasted, Usage()))

    async def _confirmed(
        self,
        refusal: ToolsRefused,
        problem: str,
        messages: Sequence[Message],
        extra: Mapping[str, Json],
        seed: int,
    ) -> Reply:
        """Repeat a request whose tools were refused.

        A gateway may refuse tools while the backend that supports them is away. Once `TOOL_REFUSALS_LIMIT`
        problems in a row were refused twice, tools are no longer offered.
        """
        no = Reply(finish="no_tools", retries=refusal.requests)
        async with self._confirming:
            if "tools" in self._parts.refused:
                return replace(no, retries=refusal.requests - 1)
            if "tools" not in self._parts.taken:
                await asyncio.sleep(self._settings.wait_s(0, seed, None))
                try:
                    return await self._patiently(problem, messages, extra, seed, refusal.requests)
                except ToolsRefused as again:
                    if self._no_tools.record_failure(problem):
                        self._parts.refused.add("tools")
                    return replace(no, retries=again.requests - 1)
        return await self._patiently(problem, messages, extra, seed, refusal.requests)

    async def _patiently(
        self,
        problem: str,
        messages: Sequence[Message],
        given: Mapping[str, Json],
        seed: int,
        before: int = 0,
    ) -> Reply:
        """Return the reply, after as many requests as needed.

        Args:
            before: Requests that this call has already made.

        Raises:
            ToolsRefused, Refused, Unavailable: See the classes.
        """
        # Tools stay, because the request would be another question without them.
        gone = self._parts.refused - {"tools"}
        extra = {key: one for key, one in given.items() if key not in gone}
        attempt = 0
        wasted = WASTED.get()
        for requests in itertools.count(before + 1):
            answers = self._outage.answers
            await self._parts.check_budget()
            if "response_format" in extra and not self._parts.find_means(extra):
                del extra["response_format"]
            means = self._parts.find_means(extra)
            try:
                reply = await self._request(messages, extra, means, requests - 1)
                break
            except Fault as error:
                fault = error
            wasted.append(fault.usage)
            if fault.part and self._parts.drop_rejected(fault, extra, means):
                if fault.part == "tools":
                    raise ToolsRefused(requests)
                continue
            if fault.retryable and FAILOVER.get()(fault):
                RETRY_LISTENER.get()(f"{self._endpoint}: {fault}")
                raise ServerFailed(requests, fault.wait_s or 0.0)
            if self._ended and fault.retryable:
                raise EndpointRefused(self._ended)
            # The endpoint is unreachable for all calls.
            lost = fault.unreachable and self._outage.answers == answers
            if fault.too_long:
                raise self._context_exceeded(fault, messages, extra)
            if self._is_final(fault, lost, attempt):
                raise self._unavailable(fault, requests, problem)
            RETRY_LISTENER.get()(str(fault))
            if lost:  # An outage does not use up retries.
                await asyncio.sleep(self._settings.probe_s(requests, seed))
                continue
            if fault.wait_s is not None:
                self._pace.pause(fault.wait_s)
            await asyncio.sleep(self._settings.wait_s(attempt, seed, fault.wait_s))
            attempt += 1
        self._parts.record_answer(extra, means)
        self._no_answer.reset()
        self._answered, self._ended = True, ""
        return reply

    def _is_final(self, fault: Fault, lost: bool, attempt: int) -> bool:
        if lost and self._settings.retries:
            return self._outage.has_expired
        asked_s = fault.wait_s or 0.0
        used = attempt >= self._settings.retries
        return not fault.retryable or used or asked_s > self._settings.max_wait_s

    async def is_reachable(self) -> bool:
        """Return whether a server answers at the endpoint and is not out of service."""
        import httpx2

        headers = {"Authorization": f"Bearer {self._endpoint.key}"}
        try:
            async with (
                asyncio.timeout(HEALTH_CHECK_S),
                self._http.stream("GET", f"{self._endpoint.url}/models", headers=headers) as reply,
            ):
                return reply.status_code not in OUT_OF_SERVICE
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, Fault):
            return False

    async def close(self) -> None:
        """Close the connections of this proposer."""
        if self._batches is not None:
            await self._batches.close()
        await self._http.aclose()

    async def _request(
        self, messages: Sequence[Message], extra: Mapping[str, Json], means: str, retries: int
    ) -> Reply:
        """Send one request, after `retries` others. Raises Fault.

        Args:
            messages: The prompt.
            extra: The other parts of the request.
            means: The means that expresses the schema (`RequestParts.find_means`).
            retries: The number of requests before this one.
        """
        import httpx2
        import openai

        sent = self._parts.express(extra, means)
        parts = sent_parts(extra, sent.get("tools", ()))
        size = estimate_tokens(messages, extra, self._settings.max_tokens or 0)
        admitted = await self._pace.admit(size)
        if self._sockets is None:
            self._sockets = asyncio.Semaphore(count_free_sockets())
        try:
            # A request in a batch holds no connection while it waits.
            async with self._sockets if self._batches is None else nullcontext():
                message = await self._model.ainvoke([dict(m) for m in messages], **sent)
            self._outage.record_answer()
            reply = parse_reply(message, retries)
            told = message.additional_kwargs["choice"]["message"]
            if reply.tool_calls and (returned := keep_returned(told, self._parts.scheme)):
                reply = replace(reply, meta={**reply.meta, RETURNED: returned})
            self._pace.record_tokens(admitted, reply.usage.tokens_in + reply.usage.tokens_out)
            return self._endpoint.redact_reply(reply)
        except openai.APIStatusError as error:
            raise self._status_fault(error, parts) from None
        except ErrorInBody as error:
            raise error.make_fault(self._endpoint, parts) from None
        except (openai.APITimeoutError, httpx2.ReadTimeout):
            raise Fault(
                f"no answer within {self._settings.timeout_s:g} s", retryable=True
            ) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise self._connection_fault(error.__cause__ or error) from None
        except openai.APIError:
            raise Fault("the body of the answer is malformed", retryable=True) from None

    def _status_fault(self, error: openai.APIStatusError, sent: Collection[str]) -> Fault:
        headers = error.response.headers
        fault = fault_from_status(self._endpoint, error.status_code, error.body, headers, sent)
        if fault.unreachable:
            self._outage.record_miss(starting=True)
        else:
            self._outage.record_answer()
        return fault

    def _connection_fault(self, error: BaseException) -> Fault:
        import httpx2

        name = type(error).__name__
        if not isinstance(error, httpx2.ConnectError):
            return Fault(f"the connection failed ({name})", retryable=True)
        if is_out_of_files(error):
            return Fault(OUT_OF_FILES, retryable=False, refused=True)
        said = self._endpoint.redact(str(error)) or name
        fault = Fault(f"the connection failed ({said:.200})", retryable=True, unreachable=True)
        if self._outage.record_miss():
            goes_over = FAILOVER.get()(fault)
            again = f"tried again for {self._outage.patience_s:g} s"
            then = "another server takes over" if goes_over else again
            if goes_over or self._settings.retries:
                warnings.warn(
                    f"{self._endpoint}: no connection ({said:.200}); {then}", stacklevel=2
                )
        return fault

    def _context_exceeded(
        self, fault: Fault, messages: Sequence[Message], extra: Mapping[str, Json]
    ) -> ContextExceeded:
        prompt, size = estimate_tokens(messages, extra, 0), fault.context_tokens
        answer = self._settings.max_tokens or 0
        room = prompt // 2 if size is None else room_for_prompt(size, answer)
        if size is not None and fault.prompt_tokens > size:
            prompt = fault.prompt_tokens
        return ContextExceeded(f"{self._endpoint} answered {fault}", prompt, room)

    def _unavailable(self, fault: Fault, requests: int, problem: str) -> Unavailable:
        error = self._convert_fault(fault, requests)
        enough = fault.may_be_temporary and self._no_answer.record_failure(problem)
        if isinstance(error, EndpointRefused):
            if fault.may_be_temporary and self._answered and not enough:
                return Unavailable(str(error))
            self._ended = str(error)
        return error

    def _convert_fault(self, fault: Fault, requests: int) -> Unavailable:
        where = self._endpoint
        if not fault.retryable:
            return (EndpointRefused if fault.refused else Unavailable)(f"{where} answered {fault}")
        if fault.wait_s is not None and fault.wait_s > self._settings.max_wait_s:
            wait = "forever" if math.isinf(fault.wait_s) else f"{fault.wait_s:g} s"
            return Unavailable(
                f"{where} asks to wait {wait}, longer than max_wait_s "
                f"{self._settings.max_wait_s:g}: {fault}"
            )
        start = f" Start it with `{where.start_command}`." if where.start_command else ""
        if fault.unreachable and self._outage.has_expired:
            return EndpointRefused(
                f"{where} could not be reached for {self._outage.duration_s:.0f} s: {fault}; is it "
                f"running there?{start} {KEEPS_ITS_MODEL}"
            )
        times = "1 request" if requests == 1 else f"{requests} requests"
        hint = f"; is it running there?{start}" if fault.unreachable else ""
        return Unavailable(f"{where} gave no answer in {times}; the last: {fault}{hint}")


def open_server(settings: ChatSettings) -> OpenAIChatProposer:
    """Return a proposer for one endpoint, without sending a request.

    Raises:
        UsageError: The model string, a setting or the environment is invalid.
    """
    endpoint, ignored = resolve_endpoint(settings), ignored_fields(settings)
    check_batches(settings)
    check_secrets(settings.model_args, endpoint)
    check_reasoning_tokens(settings, settings.model.partition(":")[0])
    model, http = open_client(endpoint, settings)
    return OpenAIChatProposer(endpoint, settings, model, http, ignored)
