"""The client of a chat endpoint: LangChain's ChatOpenAI, which sends what it is given once, puts a
streamed answer together, and keeps the first choice of an answer as it came. Callbacks of whoever
calls it (LangChain passes them on by context) hear of the start, of pieces and of the end.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from ..records import Json, UsageError
from .chat_faults import Fault
from .chat_replies import completion_body, sendable, told_usage, with_readable_arguments
from .chat_streams import Pieces, bounded, events
from .endpoint import Endpoint

if TYPE_CHECKING:
    import httpx2
    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
    from langchain_openai import ChatOpenAI

    from .openai_settings import ChatSettings

PROXIES = ("OPENAI_PROXY", *(name for upper in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
                             for name in (upper, upper.lower())))  # fmt: skip
MALFORMED = "the body of the answer is malformed"
WHICH_URL = "is the URL right? Mostly it ends in /v1"
LONGEST_ERROR = 1_000_000  # bytes of one that are read
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def open_client(
    endpoint: Endpoint, settings: ChatSettings
) -> tuple[ChatOpenAI, httpx2.AsyncClient]:
    """The client, and the connections under it, which are the caller's to close. Raises UsageError
    where the environment's proxies or certificates cannot be used."""
    import httpx2
    from pydantic import SecretStr

    body, given = dict(settings.model_args), settings.given()
    arguments: dict[str, Any] = {k: given[k] for k in ("temperature", "top_p") if k in given}
    if "max_tokens" in given and endpoint.openai:
        arguments["max_tokens"] = given["max_tokens"]  # sent as max_completion_tokens
    elif "max_tokens" in given:
        body["max_tokens"] = given["max_tokens"]  # the name that all other servers know
    limit_s = settings.timeout_s
    timeout = httpx2.Timeout(limit_s, connect=min(limit_s, 15.0), pool=None)
    try:
        http = httpx2.AsyncClient(
            timeout=timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            proxy=os.environ.get("OPENAI_PROXY") or None,
            follow_redirects=True,
            event_hooks={"response": [_read_error]},
        )
        model = _client_class()(
            model=endpoint.model,
            base_url=endpoint.url,
            api_key=SecretStr(endpoint.key),
            max_retries=0,
            timeout=timeout,
            http_async_client=http,
            openai_proxy="",  # given to `http`; langchain-openai refuses both
            use_responses_api=False,
            cache=False,
            streaming=settings.stream,
            disable_streaming=True,  # a listener's wish to stream: `_agenerate` tells it of pieces
            extra_body=body or None,
            **arguments,
        )
    except (ValueError, OSError, ImportError, httpx2.InvalidURL) as error:
        raise _client_error(settings.model, error) from None
    return model, http


async def _read_error(response: httpx2.Response) -> None:
    """What an error says, without end where the endpoint is broken: the openai client would read
    all of it."""
    if not response.is_error:
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
    """The errors of reading a body, no JSON, no UTF-8, too long a number, as a Fault: those of a
    listener that LangChain calls are its own and pass. form: the content type."""
    try:
        yield
    except UnicodeEncodeError:
        raise Fault("nothing: the request cannot be written as UTF-8", again=False) from None
    except (ValueError, RecursionError):
        said = f"the answer is a web page; {WHICH_URL}" if "html" in form else MALFORMED
        raise Fault(said, again=True) from None


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    with _malformed():
        async for data in events(pieces):
            yield data


def _client_error(spec: str, error: Exception) -> UsageError:
    """Names the variables that it can come from, not their values: a proxy's may hold a secret."""
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
    """ChatOpenAI that reads bodies itself, streamed or whole: it tells those that it cannot use
    from bugs, and keeps the first choice as it came (its parent drops `reasoning_content`, fails
    on tool arguments that are JSON but no object, and on any cut answer that has a schema)."""
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        async def _agenerate(
            self,
            messages: list[Any],
            stop: list[str] | None = None,
            run_manager: AsyncCallbackManagerForLLMRun | None = None,
            **kwargs: Any,
        ) -> ChatResult:
            payload = self._get_request_payload(messages, stop=stop, **kwargs)
            payload.pop("stream", None)
            limit_s: float = self.request_timeout.read  # type: ignore[union-attr]
            limit = asyncio.timeout(limit_s)
            try:
                async with limit:
                    body = await self._body(payload, limit, limit_s, run_manager)
            except TimeoutError:
                if limit.expired():
                    raise Fault(f"no answer within {limit_s:g} s", again=True) from None
                raise
            result = self._create_chat_result(body)
            if run_manager is not None and self.streaming:
                result.generations[0].message.id = _message_id(run_manager)
            return result

        async def _body(
            self,
            payload: dict[str, Any],
            limit: asyncio.Timeout,
            limit_s: float,
            run_manager: AsyncCallbackManagerForLLMRun | None,
        ) -> Json:
            """The whole body. The time limit begins again with each event that brings something."""
            clock = asyncio.get_running_loop().time
            asked = {**payload, "stream": True} if self.streaming else payload
            with _malformed():
                opened = self.async_client.with_streaming_response.create(**asked)
                response = await opened.__aenter__()
            try:
                form = response.headers.get("content-type", "")
                if not self.streaming or "json" in form:
                    with _malformed(form):
                        return json.loads(await bounded(response.iter_bytes()))
                pieces = Pieces()
                told = _events(response.iter_bytes())
                async for data in told:
                    before = pieces.size
                    text = pieces.add(data)
                    if pieces.size > before:
                        limit.reschedule(clock() + limit_s)
                    if text and run_manager is not None and run_manager.handlers:
                        message = AIMessageChunk(content=text, id=_message_id(run_manager))
                        chunk = ChatGenerationChunk(message=message)
                        await run_manager.on_llm_new_token(text, chunk=chunk)
                    if pieces.ended:
                        break
                with suppress(TimeoutError):  # read to its end, the connection can be used again
                    async with asyncio.timeout(1):
                        async for _ in told:
                            pass
                return pieces.completion()
            finally:
                await opened.__aexit__(None, None, None)

        def _create_chat_result(
            self, response: Any, generation_info: dict[Any, Any] | None = None
        ) -> ChatResult:
            try:
                body = completion_body(response)
                choice = body["choices"][0]
                usage = told_usage(body.get("usage"))
                tidy = {**body, "usage": usage, "choices": [with_readable_arguments(choice)]}
                result = super()._create_chat_result(tidy, generation_info)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
                raise Fault(MALFORMED, again=True) from None
            result.generations[0].message.additional_kwargs["choice"] = choice
            return result

        def _get_request_payload(self, *args: Any, **more: Any) -> dict[Any, Any]:
            payload: dict[Any, Any] = sendable(super()._get_request_payload(*args, **more))
            return payload

    return Chat


def _message_id(run_manager: AsyncCallbackManagerForLLMRun) -> str:
    """One for the pieces and the whole, so that a listener knows that they are the same message."""
    return f"lc_run--{run_manager.run_id}"
