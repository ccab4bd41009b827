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
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
from .chat_replies import (
    Fault,
    completion_body,
    error_detail,
    reply_of,
    retry_after_s,
    sendable,
    with_readable_arguments,
    without,
)
from .limits import Pace, Patience, estimated_tokens

if TYPE_CHECKING:
    import httpx
    from langchain_openai import ChatOpenAI

SCHEMES = ("openai", "http", "https")
OPENAI_URL = "https://api.openai.com/v1"

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
PROXIES = ("OPENAI_PROXY", *(name for upper in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
                             for name in (upper, upper.lower())))  # fmt: skip
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
SECRET_NAME = re.compile(r"api_?key|secret|passw|authorization|bearer|access_?token|headers", re.I)


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. key_env: the variable that the key came from or should come from."""

    url: str
    model: str
    key: str
    key_env: str

    @property
    def openai(self) -> bool:
        host = urlsplit(self.url).hostname or ""
        return host in ("api.openai.com",) or host.endswith(".openai.azure.com")

    def scrubbed(self, text: str) -> str:
        """What an endpoint says in an error may repeat the key."""
        return text.replace(self.key, "***") if len(self.key) > 3 else text

    def scrubbed_reply(self, reply: Reply) -> Reply:
        """An answer may repeat the key too; a dummy key, which a true answer may hold, stays."""
        return without(reply, self.key) if len(self.key) >= 12 else reply


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
            raise self._status_fault(error) from None
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

    def _status_fault(self, error: Any) -> Fault:
        status: int = error.status_code
        try:
            said = f"{status} {HTTPStatus(status).phrase}"
        except ValueError:
            said = str(status)
        if status == 401:
            return Fault(
                f"{said}; is the key in {self._endpoint.key_env} right?", again=False, refused=True
            )
        if status == 403:
            return Fault(
                f"{said}; has the key in {self._endpoint.key_env} the right to use it?",
                again=False,
                refused=True,
            )
        if status == 404:
            return Fault(f"{said}; are URL and model name right?", again=False, refused=True)
        if getattr(error, "code", None) == "insufficient_quota":
            return Fault(
                f"{said}: the quota of the key in {self._endpoint.key_env} is spent",
                again=False,
                refused=True,
            )
        if status in (408, 409, 425, 429) or status >= 500:
            return Fault(said, again=True, asked_s=retry_after_s(error.response.headers))
        detail = " ".join(error_detail(error.body).split())
        return Fault(f"{said}: {self._endpoint.scrubbed(detail)[:300]}".rstrip(": "), again=False)

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
    endpoint = _endpoint(spec, given)
    _check_secrets(given.get("model_args"), endpoint)
    patience = Patience(**{k: given[k] for k in Patience.__dataclass_fields__ if k in given})

    import httpx
    from pydantic import SecretStr

    body = dict(given.get("model_args", {}))
    arguments: dict[str, Any] = {k: given[k] for k in ("temperature", "top_p") if k in given}
    if "max_tokens" in given and endpoint.openai:
        arguments["max_tokens"] = given["max_tokens"]  # sent as max_completion_tokens
    elif "max_tokens" in given:
        body["max_tokens"] = given["max_tokens"]  # the name that all other servers know
    timeout = httpx.Timeout(patience.timeout_s, connect=min(patience.timeout_s, 15.0), pool=None)
    try:
        http = httpx.AsyncClient(
            timeout=timeout,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            proxy=os.environ.get("OPENAI_PROXY") or None,
            follow_redirects=True,
        )
        model = _model_class()(
            model=endpoint.model,
            base_url=endpoint.url,
            api_key=SecretStr(endpoint.key),
            max_retries=0,
            timeout=timeout,
            http_async_client=http,
            openai_proxy="",  # given to `http`; langchain-openai refuses both
            use_responses_api=False,
            cache=False,
            extra_body=body or None,
            **arguments,
        )
    except (ValueError, OSError, ImportError, httpx.InvalidURL) as error:
        raise _client_error(spec, error) from None
    return OpenAIChat(endpoint, patience, given, model, http)


def _client_error(spec: str, error: Exception) -> UsageError:
    """Names the variables that it can come from, not their values: a proxy's may hold a secret."""
    names: tuple[str, ...] = PROXIES
    if isinstance(error, OSError):
        names, cause = CERTIFICATES, error.strerror or type(error).__name__
    elif isinstance(error, ImportError):
        cause = "a package is missing (a SOCKS proxy needs httpx[socks])"
    else:
        cause = "the URL of a proxy or of the endpoint cannot be used"
    found = [name for name in names if os.environ.get(name)]
    look = f"; look at {', '.join(found)} in the environment" if found else ""
    return UsageError(f"no client for model {spec!r} can be made: {cause}{look}")


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


def _check_secrets(arguments: Json, endpoint: Endpoint) -> None:
    """Settings are recorded in the session, so a secret must not come in by them."""
    if isinstance(arguments, Mapping):
        for key, value in arguments.items():
            if SECRET_NAME.search(str(key)):
                raise UsageError(
                    f"model_args must not hold {key!r}: settings are recorded; the key belongs into "
                    f"the environment variable {endpoint.key_env}"
                )
            _check_secrets(value, endpoint)
    elif isinstance(arguments, list | tuple):
        for value in arguments:
            _check_secrets(value, endpoint)
    elif isinstance(arguments, str) and endpoint.scrubbed(arguments) != arguments:
        raise UsageError(f"model_args must not hold the key of {endpoint.key_env}: it is recorded")


def _endpoint(spec: str, given: Mapping[str, Json]) -> Endpoint:
    scheme, _, rest = spec.partition(":")
    if not re.fullmatch(r"[A-Za-z_]\w*", str(given.get("api_key_env", "A"))):
        raise UsageError(  # without the value: it may be the key itself
            "api_key_env must be the name of an environment variable, not a key"
        )
    if scheme == "openai":
        source, url, name = "OPENAI_BASE_URL", os.environ.get("OPENAI_BASE_URL") or OPENAI_URL, rest
        key_env = given.get("api_key_env", "OPENAI_API_KEY")
    else:
        url, _, name = spec.partition("#")
        source, key_env = "the model string", given.get("api_key_env", "PEIRCE_API_KEY")
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:  # a port that is no number, brackets that do not close
        wrong = True
    if wrong:
        raise UsageError(f"{source} is no URL: write it like http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError(  # without the URL: it may hold a secret
            f"{source} must be a plain URL: the key belongs into the environment variable {key_env}"
        )
    if not name:
        raise UsageError(f"model {spec!r} names no model: write openai:NAME or {url}#NAME")
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"the key in {key_env} holds characters that no header can: copy it again")
    if not key and (scheme == "openai" or "api_key_env" in given):
        raise UsageError(
            f"model {spec!r} needs a key in the environment variable {key_env}, which is not set"
        )
    return Endpoint(url.rstrip("/"), name, key or "none", key_env)


@cache
def _model_class() -> type[ChatOpenAI]:
    """ChatOpenAI that tells bodies it cannot use from bugs, and keeps the first choice as it came
    (it drops `reasoning_content`, and fails on tool arguments that are JSON but no object)."""
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        def _create_chat_result(
            self, response: Any, generation_info: dict[Any, Any] | None = None
        ) -> Any:
            try:
                body = completion_body(response)
                choice = body["choices"][0]
                usage = body.get("usage")
                usage = usage if isinstance(usage, dict) else None
                tidy = {**body, "usage": usage, "choices": [with_readable_arguments(choice)]}
                result = super()._create_chat_result(tidy, generation_info)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
                raise Fault("the body of the answer is malformed", again=True) from None
            result.generations[0].message.additional_kwargs["choice"] = choice
            return result

        def _get_request_payload(self, *args: Any, **more: Any) -> dict[Any, Any]:
            payload: dict[Any, Any] = sendable(super()._get_request_payload(*args, **more))
            return payload

    return Chat


def _tool(spec: ToolSpec) -> Json:
    parameters = dict(spec.parameters)
    function = {"name": spec.name, "description": spec.description, "parameters": parameters}
    return {"type": "function", "function": function}
