"""Models behind an OpenAI-compatible chat endpoint, through langchain-openai.

    openai:NAME               base URL from OPENAI_BASE_URL (else api.openai.com), key from
                              OPENAI_API_KEY
    http://host:port/v1#NAME  the endpoint as written (https too), key from PEIRCE_API_KEY where
                              that is set: the key of one provider never travels to another

Settings are in `SETTINGS`. Requests are retried here and not by the libraries below, so that a
session can count and explain them. Only chat completions are spoken, not the Responses API, and
nothing is streamed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..records import (
    Json,
    Message,
    Proposer,
    Reply,
    ToolSpec,
    Unavailable,
    UsageError,
    View,
)
from . import Refused, given_settings
from .chat_client import open_client
from .chat_faults import Fault, status_fault
from .chat_replies import reply_of
from .endpoint import Endpoint, check_secrets, endpoint_of
from .limits import Pace, Patience, estimated_tokens

if TYPE_CHECKING:
    import httpx
    from langchain_openai import ChatOpenAI

SCHEMES = ("openai", "http", "https")

SETTINGS: dict[str, str] = {
    "temperature": "as the endpoint takes it; without it the endpoint's default",
    "top_p": "as the endpoint takes it",
    "max_tokens": "of one answer; what is cut there finishes with 'length'",
    "model_args": "further fields of the request, as they are (reasoning_effort, top_k, …)",
    "api_key_env": "name of the environment variable that holds the key",
    "send_seed": "send each call's seed (default true); some endpoints refuse the field",
    "timeout_s": "of one request, default 300",
    "retries": "of one call after its first request, default 5",
    "backoff_s": "before the first retry, doubled for each further one, default 1",
    "max_wait_s": "between two requests, default 120; an endpoint that asks for more fails",
    "requests_per_minute": "of all calls together, retries too; default no limit",
    "tokens_per_minute": "in and out, of all calls together; default no limit",
    "context_tokens": "what the model holds; a request estimated above it is not sent",
}
OURS = ("model", "messages", "tools", "stream", "n", "seed", *SETTINGS)


class OpenAIChat:
    """A Proposer behind one endpoint; `open_model` makes it."""

    def __init__(
        self,
        endpoint: Endpoint,
        patience: Patience,
        given: Mapping[str, Json],
        model: ChatOpenAI,
        http: httpx.AsyncClient,
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._given = given
        self._model = model
        self._http = http
        self._pace = Pace(patience.requests_per_minute, patience.tokens_per_minute)

    def settings(self) -> Json:
        """What decides the answers, and apart from it (`transport`) what does not."""
        given = {k: v for k, v in self._given.items() if k not in Patience.__dataclass_fields__}
        return {
            "scheme": "openai",
            "model": self._endpoint.model,
            "endpoint": self._endpoint.url,
            **{k: v for k, v in given.items() if k not in ("model_args", "api_key_env")},
            "model_args": given.get("model_args", {}),
            "transport": {**vars(self._patience), "api_key_env": self._endpoint.key_env},
        }

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Raises Refused where every request would fail alike, Unavailable where this one has
        failed for good."""
        extra: dict[str, Json] = {}
        if tools:
            extra["tools"] = [_tool(spec) for spec in tools]
        if self._given.get("send_seed", True):
            extra["seed"] = seed & 0x7FFFFFFF  # what every server's integer holds
        self._check_context(messages, extra)
        for attempt in range(self._patience.retries + 1):
            try:
                return await self._request(messages, extra, attempt)
            except Fault as error:
                fault = error
            if not fault.again:
                break
            wait_s = self._patience.wait_s(attempt, seed, fault.asked_s)
            if fault.asked_s is not None:
                if fault.asked_s > self._patience.max_wait_s:
                    break
                self._pace.pause(fault.asked_s)
            if attempt < self._patience.retries:
                await asyncio.sleep(wait_s)
        raise self._unavailable(fault, attempt + 1)

    def _check_context(self, messages: Sequence[Message], extra: Mapping[str, Json]) -> None:
        most, answer = self._patience.context_tokens, self._given.get("max_tokens", 0)
        size = estimated_tokens(messages, extra, answer)
        if most is not None and size > most:
            raise Unavailable(
                f"model {self._endpoint.model!r} at {self._endpoint.url} was not asked: the request"
                f" and an answer of {answer:,} tokens are about {size:,} tokens, more than"
                f" context_tokens {most:,}"
            )

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(
        self, messages: Sequence[Message], extra: Mapping[str, Json], retries: int
    ) -> Reply:
        """One request, after `retries` others. Raises Fault."""
        import httpx
        import openai

        size = estimated_tokens(messages, extra, self._given.get("max_tokens", 0))
        admitted = await self._pace.admit(size)
        try:
            async with asyncio.timeout(self._patience.timeout_s):
                message = await self._model.ainvoke([dict(m) for m in messages], **extra)
            reply = reply_of(message, retries)
            self._pace.settle(admitted, reply.usage.tokens_in + reply.usage.tokens_out)
            return self._endpoint.scrubbed_reply(reply)
        except openai.APIStatusError as error:
            raise status_fault(self._endpoint, error) from None
        except (openai.APITimeoutError, TimeoutError):
            raise Fault(f"no answer within {self._patience.timeout_s:g} s", again=True) from None
        except (openai.APIConnectionError, httpx.HTTPError) as error:
            cause = type(error.__cause__ or error).__name__
            raise Fault(f"the connection failed ({cause})", again=True) from None
        except UnicodeEncodeError:
            raise Fault("nothing: the request cannot be written as UTF-8", again=False) from None
        except (
            openai.APIError,
            ValueError,
            RecursionError,
        ):  # no JSON, no UTF-8, too long a number
            raise Fault("the body of the answer is malformed", again=True) from None

    def _unavailable(self, fault: Fault, requests: int) -> Unavailable:
        where = f"model {self._endpoint.model!r} at {self._endpoint.url}"
        if not fault.again:
            return (Refused if fault.refused else Unavailable)(f"{where} answered {fault}")
        if fault.asked_s is not None and fault.asked_s > self._patience.max_wait_s:
            return Unavailable(
                f"{where} asks to wait {fault.asked_s:g} s, longer than max_wait_s "
                f"{self._patience.max_wait_s:g}: {fault}"
            )
        times = "1 request" if requests == 1 else f"{requests} requests"
        return Unavailable(f"{where} gave no answer in {times}; the last: {fault}")


async def open_model(spec: str, settings: Mapping[str, Json]) -> Proposer:
    """Nothing is asked of the endpoint yet. Raises UsageError."""
    given = given_settings(spec, settings, SETTINGS)
    _check(spec, given)
    endpoint = endpoint_of(spec, given)
    check_secrets(given.get("model_args"), endpoint)
    patience = Patience(**{k: given[k] for k in Patience.__dataclass_fields__ if k in given})

    model, http = open_client(spec, endpoint, given, patience.timeout_s)
    return OpenAIChat(endpoint, patience, given, model, http)


def _check(spec: str, given: Mapping[str, Json]) -> None:
    lowest = {"temperature": 0, "top_p": 0, "max_tokens": 1, "retries": 0, "backoff_s": 0,
              "timeout_s": 0, "max_wait_s": 0, "requests_per_minute": 1, "tokens_per_minute": 1, "context_tokens": 1}  # fmt: skip
    whole = ("max_tokens", "retries", "requests_per_minute", "tokens_per_minute", "context_tokens")
    for key, low in lowest.items():
        value = given.get(key, low)
        kind = int if key in whole else int | float
        if isinstance(value, bool) or not isinstance(value, kind) or not value >= low:
            noun = "whole number" if kind is int else "number"
            raise UsageError(
                f"{key} {value!r} of model {spec!r} must be a {noun} of at least {low}"
            )
    arguments = given.get("model_args", {})
    if not isinstance(arguments, Mapping):
        raise UsageError(f"model_args of model {spec!r} must be a mapping, not {arguments!r:.60}")
    for key in arguments:
        if key in OURS:
            raise UsageError(f"model_args of model {spec!r} must not hold {key!r}: it is set apart")


def _tool(spec: ToolSpec) -> Json:
    parameters = dict(spec.parameters)
    function = {"name": spec.name, "description": spec.description, "parameters": parameters}
    return {"type": "function", "function": function}
