"""The HTTP client of a chat endpoint: a ChatOpenAI that sends each request once.

The client reads response bodies itself, so that a streamed answer becomes the same chat completion
as any other (streamed_answer.py) and the first choice of an answer stays unchanged. LangChain
callbacks that are set in the context receive the start, the pieces and the end of an answer.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ...records import PROMPT_DIGEST, Json, UsageError
from .address import Endpoint
from .arguments import parse_json
from .faults import KEEPS_ITS_MODEL, Fault
from .replies import (
    OTHER_ANSWERS,
    completion_body,
    escape_surrogates,
    normalise_choice,
    other_answers,
    parse_usage,
    prompt_digest,
    reported_usage,
)
from .streamed_answer import StreamedAnswer, iter_events, read_bounded
from .thinking import RETURNED, restore_returned

if TYPE_CHECKING:
    import httpx2
    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
    from langchain_openai import ChatOpenAI

    from .settings import ChatSettings

PROXIES = ("OPENAI_PROXY", *(name for upper in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
                             for name in (upper, upper.lower())))  # fmt: skip
MALFORMED = "the body of the answer is malformed"
WHICH_URL = "is the URL right? Mostly it ends in /v1"
EXTRA_FIELDS = "extra_fields"  # the argument of a call with fields that only this request has
LONGEST_ERROR = 1_000_000  # maximum bytes read of an error
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def open_client(
    endpoint: Endpoint, settings: ChatSettings
) -> tuple[ChatOpenAI, httpx2.AsyncClient]:
    """Return the chat model and its HTTP client, which the caller must close.

    Raises:
        UsageError: The proxies or certificates in the environment cannot be used.
    """
    import httpx2
    from pydantic import SecretStr

    body, given = dict(settings.model_args), settings.explicit_values()
    arguments: dict[str, Any] = {k: given[k] for k in ("temperature", "top_p") if k in given}
    if "max_tokens" in given and endpoint.is_openai:
        arguments["max_tokens"] = given["max_tokens"]  # sent as max_completion_tokens
    elif "max_tokens" in given:
        body["max_tokens"] = given["max_tokens"]  # the name that all other servers know
    limit_s = settings.timeout_s
    timeout = httpx2.Timeout(limit_s, connect=min(limit_s, 15.0), pool=None)
    try:
        check = partial(_check_origin, endpoint, _origin(httpx2.URL(endpoint.url)))
        http = httpx2.AsyncClient(
            timeout=timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            proxy=os.environ.get("OPENAI_PROXY") or None,
            follow_redirects=True,
            event_hooks={"request": [check], "response": [_read_error]},
        )
        model = _client_class()(
            model=endpoint.model,
            base_url=endpoint.url,
            api_key=SecretStr(endpoint.key),
            max_retries=0,
            timeout=timeout,
            http_async_client=http,
            openai_proxy="",  # `http` already has the proxy, and langchain-openai refuses both.
            use_responses_api=False,
            cache=False,
            streaming=settings.stream,
            # Otherwise a listener could switch streaming on; `_agenerate` reports pieces itself.
            disable_streaming=True,
            extra_body=body or None,
            **arguments,
        )
    except (ValueError, OSError, ImportError, httpx2.InvalidURL) as error:
        raise _client_error(settings.model, error) from None
    return model, http


async def _check_origin(
    endpoint: Endpoint, origin: tuple[str, str, int], request: httpx2.Request
) -> None:
    """Raise Fault for a redirected request to another scheme, host or port.

    It would carry the whole prompt there. The fault names the target without credentials, path and
    query, which may hold secrets.
    """
    target = _origin(request.url)
    if target != origin:
        where = endpoint.redact("{}://{}:{}".format(*target))
        raise Fault(
            f"a redirect to {where:.200}, which is not followed: prompts go only to the scheme, "
            f"host and port of the model's URL; is the URL right? {KEEPS_ITS_MODEL}",
            retryable=False,
            refused=True,
            may_be_temporary=True,
        )


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


async def _read_error(response: httpx2.Response) -> None:
    """Read the body of an error or of a redirect, up to a limit.

    The libraries would read an endless one completely.
    """
    if not (response.is_error or response.has_redirect_location):
        return
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > LONGEST_ERROR:
                break
    await response.aclose()
    response._content = bytes(body[:LONGEST_ERROR])


@contextmanager
def _malformed(form: str = "") -> Iterator[None]:
    """Convert errors of reading a body (no JSON, no UTF-8, a number too long) to a Fault.

    Errors of listeners that LangChain calls pass through.

    Args:
        form: The content type.
    """
    try:
        yield
    except UnicodeEncodeError:
        raise Fault("nothing: the request cannot be written as UTF-8", retryable=False) from None
    except (ValueError, RecursionError):
        said = f"the answer is a web page; {WHICH_URL}" if "html" in form else MALFORMED
        raise Fault(said, retryable=True) from None


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    with _malformed():
        async for data in iter_events(pieces):
            yield data


def _client_error(spec: str, error: Exception) -> UsageError:
    """Return an error that names environment variables, not values: a proxy's may hold a secret."""
    names: tuple[str, ...] = PROXIES
    if isinstance(error, OSError):
        names, cause = CERTIFICATES, error.strerror or type(error).__name__
    elif isinstance(error, ImportError):
        cause = "a package is missing (a SOCKS proxy needs httpx2[socks])"
    else:
        cause = "the URL of a proxy or of the endpoint cannot be used"
    found = [name for name in names if os.environ.get(name)]
    look = f"; look at {', '.join(found)} in the environment" if found else ""
    return UsageError(f"no client for model {spec!r} can be made: {cause}{look}")


@cache
def _client_class() -> type[ChatOpenAI]:
    """Return a ChatOpenAI that reads bodies itself, streamed or not.

    It distinguishes unusable bodies from bugs, and keeps the first choice unchanged. Its parent
    drops `reasoning_content` and fails on tool arguments that are JSON but no object, and on any
    truncated answer that has a schema.
    """
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        # answers requests by batch files (batch_files.py); None to send each request on its own
        batch_answer: Callable[[Json], Awaitable[Json]] | None = None

        async def _agenerate(
            self,
            messages: list[Any],
            stop: list[str] | None = None,
            run_manager: AsyncCallbackManagerForLLMRun | None = None,
            **kwargs: Any,
        ) -> ChatResult:
            fields = kwargs.pop(EXTRA_FIELDS, {})
            payload = self._get_request_payload(messages, stop=stop, **kwargs)
            payload.pop("stream", None)
            if fields:  # The SDK refuses fields that are not OpenAI's as arguments.
                payload["extra_body"] = {**(payload.get("extra_body") or {}), **fields}
            if self.batch_answer is not None:
                body = {**payload, **(payload.get("extra_body") or {})}
                body.pop("extra_body", None)
                return self._create_chat_result(await self.batch_answer(body))
            limit_s: float = self.request_timeout.read  # type: ignore[union-attr]
            limit = asyncio.timeout(limit_s)
            try:
                async with limit:
                    body = await self._body(payload, run_manager)
            except TimeoutError:
                if limit.expired():
                    raise Fault(f"no answer within {limit_s:g} s", retryable=True) from None
                raise
            result = self._create_chat_result(body)
            if run_manager is not None and self.streaming:
                result.generations[0].message.id = _message_id(run_manager)
            return result

        async def _body(
            self, payload: dict[str, Any], run_manager: AsyncCallbackManagerForLLMRun | None
        ) -> Json:
            """Return the complete body."""
            asked = {**payload, "stream": True} if self.streaming else payload
            with _malformed():
                opened = self.async_client.with_streaming_response.create(**asked)
                response = await opened.__aenter__()
            try:
                form = response.headers.get("content-type", "")
                if not self.streaming or "json" in form:
                    with _malformed(form):
                        return parse_json(await read_bounded(response.iter_bytes()))
                pieces = StreamedAnswer()
                told = _events(response.iter_bytes())
                async for data in told:
                    text = pieces.add_event(data)
                    if text and run_manager is not None and run_manager.handlers:
                        message = AIMessageChunk(content=text, id=_message_id(run_manager))
                        chunk = ChatGenerationChunk(message=message)
                        await run_manager.on_llm_new_token(text, chunk=chunk)
                    if pieces.ended:
                        break
                # A connection that is read to its end can be used again.
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        async for _ in told:
                            pass
                return pieces.build_completion()
            finally:
                await opened.__aexit__(None, None, None)

        def _create_chat_result(
            self, response: Any, generation_info: dict[Any, Any] | None = None
        ) -> ChatResult:
            try:
                body = completion_body(response)
                choice = body["choices"][0]
                usage = parse_usage(body.get("usage"))
                tidy = {**body, "usage": usage, "choices": [normalise_choice(choice)]}
                result = super()._create_chat_result(tidy, generation_info)
            except Fault as fault:
                fault.usage = reported_usage(response)
                raise
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
                malformed = Fault(MALFORMED, retryable=True)
                malformed.usage = reported_usage(response)
                raise malformed from None
            told = result.generations[0].message.additional_kwargs
            told["choice"] = choice
            told[OTHER_ANSWERS] = other_answers(body["choices"][1:])
            told[PROMPT_DIGEST] = prompt_digest(body)
            return result

        def _get_request_payload(self, *args: Any, **more: Any) -> dict[Any, Any]:
            payload: dict[Any, Any] = escape_surrogates(super()._get_request_payload(*args, **more))
            # Its parent drops all fields of a message that are not OpenAI's.
            for message, sent in zip(args[0], payload["messages"], strict=True):
                restore_returned(sent, message.additional_kwargs.get(RETURNED, {}))
            return payload

    return Chat


def _message_id(run_manager: AsyncCallbackManagerForLLMRun) -> str:
    """Return one id for the pieces and the complete message, so that listeners can match them."""
    return f"lc_run--{run_manager.run_id}"
