"""The HTTP client of a chat endpoint: a ChatOpenAI that sends each request once.

The client reads response bodies itself. It assembles a streamed answer into the chat completion
that a request without streaming would have returned, and keeps the first choice of an answer
unchanged. LangChain callbacks that are set in the context receive the start, the pieces and the end
of an answer.

This module only joins the pieces. replies.py validates all answers, with and without streaming.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ...records import PROMPT_DIGEST, Json, UsageError
from .address import Endpoint
from .arguments import Arguments, is_json, parse_json
from .faults import KEEPS_ITS_MODEL, ErrorInBody, Fault
from .replies import (
    MAX_OTHER_ANSWERS,
    OTHER_ANSWERS,
    REASONING_TYPES,
    as_text,
    block_text,
    completion_body,
    escape_surrogates,
    normalise_choice,
    other_answers,
    parse_usage,
    prompt_digest,
    reported_usage,
)
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


MAX_CHARACTERS = 32_000_000  # characters; an endless stream must not fill the memory
MOST_BYTES = 8 * MAX_CHARACTERS  # of a stream; an event of one token takes some 200 bytes
MOST_PIECES = 1_000_000  # of a stream: events, and lines within them
JOINED = ("reasoning_content", "reasoning", "refusal")
CALL_FIELDS = ("extra_content",)  # of a tool call, for the same reason
LISTED = ("reasoning_details",)  # lists that a provider wants to see again (thinking.py)
KEPT_FIELDS = ("id", "model", "created", "prompt_token_ids")  # of the events of a stream


async def iter_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each server-sent event in a stream.

    An event consists of consecutive `data:` lines and ends at an empty line. Some servers leave out
    the empty lines. Therefore, a line that is complete JSON also counts as an event.

    Raises:
        Fault: An event is longer than `MAX_CHARACTERS`, or the stream exceeds its limits.
    """
    held: list[bytes] = []  # data lines of the current event
    size = count = 0
    async for line in _lines(pieces):
        if line.startswith(b"data:"):
            if len(held) == 1 and is_json(held[0]):
                yield held.pop()
                size = 0
            told = line[5:].strip()
            size += len(told)
            count += 1
            if size > MAX_CHARACTERS:
                raise too_long_fault()
            if count > MOST_PIECES:
                raise Fault(f"an answer in more than {MOST_PIECES:,} pieces", retryable=False)
            held += [told] if told else []
        if held and (not line or held == [b"[DONE]"]):
            yield b"\n".join(held)
            held, size = [], 0
    if held:
        yield b"\n".join(held)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield lines, split at line feeds only: JSON in them may hold any other separator."""
    rest = bytearray()
    total = 0
    async for piece in pieces:
        first, *others = piece.split(b"\n")
        rest += first
        total += len(piece)
        if len(rest) > MAX_CHARACTERS:
            raise too_long_fault()
        if total > MOST_BYTES:
            raise Fault(f"a stream that is not over after {MOST_BYTES:,} bytes", retryable=False)
        if others:
            yield bytes(rest.strip())
            for line in others[:-1]:
                yield line.strip()
            rest = bytearray(others[-1])
    yield bytes(rest.strip())


async def read_bounded(pieces: AsyncIterator[bytes]) -> bytes:
    """Return the complete body of a response.

    Raises:
        Fault: The body is longer than `MAX_CHARACTERS`.
    """
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MAX_CHARACTERS:
            raise too_long_fault()
    return bytes(body)


def too_long_fault() -> Fault:
    """Return the Fault for an answer longer than `MAX_CHARACTERS`."""
    return Fault(f"an answer that is not over after {MAX_CHARACTERS:,} characters", retryable=False)


class StreamedAnswer:
    """An answer of an endpoint, assembled from the events of its stream.

    Attributes:
        size: The number of characters received so far. The end of the answer counts as one
            character.
        ended: Whether the final event [DONE] has arrived.
    """

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self._about: dict[str, Json] = {}
        self._usage: Json = None
        self._blocks: list[tuple[str, list[str]]] = []  # type, and pieces of its text
        self._joined: dict[str, list[str]] = {name: [] for name in JOINED}
        self._listed: dict[str, list[Json]] = {name: [] for name in LISTED}
        self._others: dict[Json, list[str]] = {}  # texts of further choices, by index
        self._calls: list[dict[str, Any]] = []
        self._by_index: dict[Json, dict[str, Any]] = {}
        self._finish = ""
        self._choices = False

    def add_event(self, data: bytes) -> str:
        """Add an event to this answer, and return the answer text that the event contains.

        Raises:
            Fault: The event is malformed, or the answer is too long.
            ErrorInBody: The event contains an error of the endpoint.
        """
        if data == b"[DONE]":
            self.ended = True
            self.size += 1
            return ""
        if self.size > MAX_CHARACTERS:
            raise too_long_fault()
        try:
            event = parse_json(data)
            if event.get("error"):
                raise ErrorInBody(event)
            return self._take(event)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise Fault("the body of the answer is malformed", retryable=True) from None

    def build_completion(self) -> dict[str, Json]:
        """Return the assembled chat completion.

        Raises:
            Fault: The stream ended before the answer was complete.
        """
        if not (self.ended or self._finish):
            raise Fault("the streamed answer broke off", retryable=True)
        if not self._choices:
            return {**self._about, "usage": self._usage, "choices": []}
        content: Json = [{"type": kind, kind: join_text(parts)} for kind, parts in self._blocks]
        if all(kind == "text" for kind, _ in self._blocks):
            content = join_text([block["text"] for block in content])
        message: dict[str, Json] = {"role": "assistant", "content": content}
        message |= {name: join_text(parts) for name, parts in self._joined.items() if parts}
        message |= {name: _join_listed(parts) for name, parts in self._listed.items() if parts}
        if self._calls:
            message["tool_calls"] = [_assemble_call(call) for call in self._calls]
        choice = {"index": 0, "message": message, "finish_reason": self._finish or None}
        others = [{"message": {"content": join_text(parts)}} for parts in self._others.values()]
        return {**self._about, "usage": self._usage, "choices": [choice, *others]}

    def _take(self, event: dict[str, Json]) -> str:
        self._about |= {k: event[k] for k in KEPT_FIELDS if event.get(k)}
        groq = event.get("x_groq") or {}
        self._usage = event.get("usage") or groq.get("usage") or self._usage
        text = ""
        for choice in event.get("choices") or ():
            if choice.get("index"):  # Only the first choice was requested.
                self._take_other(choice)
                continue
            self._choices = True
            text += self._delta(choice.get("delta") or choice.get("message") or {})
            if choice.get("finish_reason"):
                self.size += 1
                self._finish = choice["finish_reason"]
        return text

    def _take_other(self, choice: dict[str, Json]) -> None:
        """Keep the text of a choice that was not requested."""
        text = (choice.get("delta") or choice.get("message") or {}).get("content")
        if isinstance(text, str) and len(self._others) < MAX_OTHER_ANSWERS:
            self._grow(self._others.setdefault(choice["index"], []), text)

    def _delta(self, delta: dict[str, Json]) -> str:
        said = ""
        content = delta.get("content") or []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind, told = block["type"], block_text(block)
            if kind not in ("text", *REASONING_TYPES):
                continue
            if not self._blocks or self._blocks[-1][0] != kind:
                self._blocks.append((kind, []))
            self._grow(self._blocks[-1][1], told)
            said += told if kind == "text" else ""
        for name, parts in self._joined.items():
            if delta.get(name):
                self._grow(parts, as_text(delta[name]))
        for name, listed in self._listed.items():
            listed += delta.get(name) or ()
            self.size += len(str(delta.get(name) or ""))
        for piece in delta.get("tool_calls") or ():
            self._call(piece)
        return said

    def _call(self, piece: dict[str, Json]) -> None:
        """Add a piece of a tool call.

        Servers leave out the index or the id, or give every call the index 0. A piece with a name
        starts a new call, whatever its index, if its id differs; without ids, if its name differs
        or the arguments so far are complete.
        """
        function = piece.get("function") or {}
        index, name, told = piece.get("index"), function.get("name"), piece.get("id")
        call = self._by_index.get(index) if index is not None else None
        if index is None and self._calls and not name:
            call = self._calls[-1]
        if call is None or (name and call["name"] and _is_another(call, name, told)):
            call = {"id": None, "name": None, "arguments": Arguments(), "extra": {}}
            self._calls.append(call)
            self._by_index[index] = call
        call["id"] = call["id"] or told
        call["extra"] |= {name: piece[name] for name in CALL_FIELDS if piece.get(name)}
        call["name"] = call["name"] or name
        arguments = function.get("arguments") or ""
        more = as_text(arguments)
        call["arguments"].add(more)
        self.size += len(more)

    def _grow(self, parts: list[str], more: str) -> None:
        parts.append(more)
        self.size += len(more)


def join_text(parts: list[str]) -> str:
    """Return the joined text.

    A character that was split into two surrogates across pieces is restored.
    """
    text = "".join(parts)
    if text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _is_another(call: dict[str, Any], name: Json, told: Json) -> bool:
    if told and call["id"]:
        return bool(told != call["id"])
    return bool(name != call["name"] or call["arguments"].is_complete())


def _assemble_call(call: dict[str, Any]) -> dict[str, Json]:
    function = {"name": call["name"], "arguments": join_text(call["arguments"].parts)}
    if call["name"] is None:
        raise Fault("the body of the answer is malformed", retryable=True)
    return {"id": call["id"], "type": "function", "function": function, **call["extra"]}


def _join_listed(parts: Sequence[Json]) -> list[Json]:
    """Return the entries of a streamed list, in which consecutive pieces of one text are joined."""
    joined: list[Json] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(last, dict) and isinstance(part, dict) and _continues(last, part):
            last["text"] = str(last.get("text") or "") + str(part["text"])
            last |= {key: one for key, one in part.items() if key != "text" and one is not None}
        else:
            joined.append(dict(part) if isinstance(part, dict) else part)
    return joined


def _continues(last: Mapping[str, Json], part: Mapping[str, Json]) -> bool:
    same = all(last.get(key) == part.get(key) for key in ("type", "index"))
    return same and isinstance(part.get("text"), str)
