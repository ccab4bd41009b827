"""Assemble a streamed answer into the chat completion that a request without streaming would return.

This module only joins the pieces, within limits of size. replies.py validates all answers, with and
without streaming.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from ...records import Json
from .arguments import Arguments, is_json, parse_json
from .faults import ErrorInBody, Fault
from .replies import MAX_OTHER_ANSWERS, REASONING_TYPES, as_text, block_text

MAX_CHARACTERS = 32_000_000  # characters; an endless stream must not fill the memory
MOST_BYTES = 8 * MAX_CHARACTERS  # of a stream; an event of one token takes some 200 bytes
MOST_PIECES = 1_000_000  # of a stream: events, and lines within them
JOINED = ("reasoning_content", "reasoning", "refusal")
CALL_FIELDS = ("extra_content",)  # of a tool call, kept as they come
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
