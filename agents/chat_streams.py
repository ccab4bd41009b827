"""A streamed answer, put together into the chat completion that it would have been unstreamed.

What the pieces hold is joined as it comes; whether it makes sense is for `chat_replies` to say,
of streamed and whole answers alike.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from ..records import Json
from .chat_faults import ErrorInBody, Fault
from .chat_replies import THOUGHT, block_text

LONGEST = 32_000_000  # characters; a stream without end must not fill the memory
JOINED = ("reasoning_content", "reasoning", "refusal")


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What server-sent events hold: `data:` lines up to an empty one, joined; a line that is JSON
    by itself is an event of its own (some servers leave the empty lines out). Raises Fault for one
    that is longer than `LONGEST`."""
    held: list[bytes] = []  # of the event under way
    size = 0
    async for line in _lines(pieces):
        if line.startswith(b"data:"):
            if len(held) == 1 and _is_whole(held[0]):
                yield held.pop()
                size = 0
            told = line[5:].strip()
            size += len(told)
            if size > LONGEST:
                raise too_long()
            held += [told] if told else []
        if held and (not line or held == [b"[DONE]"]):
            yield b"\n".join(held)
            held, size = [], 0
    if held:
        yield b"\n".join(held)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines end in line feeds alone: the JSON in them may hold any other separator as it is."""
    rest: list[bytes] = []
    size = 0
    async for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LONGEST:
            raise too_long()
        if others:
            yield b"".join(rest).strip()
            for line in others[:-1]:
                yield line.strip()
            rest, size = [others[-1]], len(others[-1])
    yield b"".join(rest).strip()


def _is_whole(data: bytes | str) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


async def bounded(pieces: AsyncIterator[bytes]) -> bytes:
    """The whole of a body. Raises Fault where it is longer than `LONGEST`."""
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > LONGEST:
            raise too_long()
    return bytes(body)


def too_long() -> Fault:
    return Fault(f"an answer that is not over after {LONGEST:,} characters", again=False)


class Pieces:
    """The events of one stream, in their order. size: characters of all that they brought, an end
    being one; ended: whether [DONE] has come."""

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self._about: dict[str, Json] = {}
        self._usage: Json = None
        self._blocks: list[tuple[str, list[str]]] = []  # type, and its text in pieces
        self._joined: dict[str, list[str]] = {name: [] for name in JOINED}
        self._calls: list[dict[str, Any]] = []
        self._by_index: dict[Json, dict[str, Any]] = {}
        self._finish = ""
        self._choices = False

    def add(self, data: bytes) -> str:
        """The text that this event adds to the answer. Raises Fault, ErrorInBody."""
        if data == b"[DONE]":
            self.ended = True
            self.size += 1
            return ""
        if self.size > LONGEST:
            raise too_long()
        try:
            event = json.loads(data)
            if event.get("error"):
                raise ErrorInBody(event)
            return self._take(event)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise Fault("the body of the answer is malformed", again=True) from None

    def completion(self) -> dict[str, Json]:
        """The whole. Raises Fault for a stream that broke off."""
        if not (self.ended or self._finish):
            raise Fault("the streamed answer broke off", again=True)
        if not self._choices:
            return {**self._about, "usage": self._usage, "choices": []}
        content: Json = [{"type": kind, kind: joined(parts)} for kind, parts in self._blocks]
        if all(kind == "text" for kind, _ in self._blocks):
            content = joined([block["text"] for block in content])
        message: dict[str, Json] = {"role": "assistant", "content": content}
        message |= {name: joined(parts) for name, parts in self._joined.items() if parts}
        if self._calls:
            message["tool_calls"] = [_whole(call) for call in self._calls]
        choice = {"index": 0, "message": message, "finish_reason": self._finish or None}
        return {**self._about, "usage": self._usage, "choices": [choice]}

    def _take(self, event: dict[str, Json]) -> str:
        self._about |= {k: event[k] for k in ("id", "model", "created") if event.get(k)}
        groq = event.get("x_groq") or {}
        self._usage = event.get("usage") or groq.get("usage") or self._usage
        text = ""
        for choice in event.get("choices") or ():
            if choice.get("index"):  # none but the first was asked for
                continue
            self._choices = True
            text += self._delta(choice.get("delta") or choice.get("message") or {})
            if choice.get("finish_reason"):
                self.size += 1
                self._finish = choice["finish_reason"]
        return text

    def _delta(self, delta: dict[str, Json]) -> str:
        said = ""
        content = delta.get("content") or []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind, told = block["type"], block_text(block)
            if kind not in ("text", *THOUGHT):
                continue
            if not self._blocks or self._blocks[-1][0] != kind:
                self._blocks.append((kind, []))
            self._grow(self._blocks[-1][1], told)
            said += told if kind == "text" else ""
        for name, parts in self._joined.items():
            if delta.get(name):
                self._grow(parts, delta[name])
        for piece in delta.get("tool_calls") or ():
            self._call(piece)
        return said

    def _call(self, piece: dict[str, Json]) -> None:
        """Servers leave out the index, or the id, or give every call the index 0: a piece with a
        name begins a call, whatever its index, where its id is another one; without ids, where
        its name is another one or the arguments so far are whole."""
        function = piece.get("function") or {}
        index, name, told = piece.get("index"), function.get("name"), piece.get("id")
        call = self._by_index.get(index) if index is not None else None
        if index is None and self._calls and not name:
            call = self._calls[-1]
        if call is None or (name and call["name"] and _is_another(call, name, told)):
            call = {"id": None, "name": None, "arguments": []}
            self._calls.append(call)
            self._by_index[index] = call
        call["id"] = call["id"] or told
        call["name"] = call["name"] or name
        arguments = function.get("arguments") or ""
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
        self._grow(call["arguments"], whole)

    def _grow(self, parts: list[str], more: str) -> None:
        parts.append(more)
        self.size += len(more)


def joined(parts: list[str]) -> str:
    """The text in pieces. A character may have been cut into two surrogates."""
    text = "".join(parts)
    if text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _is_another(call: dict[str, Any], name: Json, told: Json) -> bool:
    if told and call["id"]:
        return bool(told != call["id"])
    return bool(name != call["name"] or _is_whole("".join(call["arguments"])))


def _whole(call: dict[str, Any]) -> dict[str, Json]:
    function = {"name": call["name"], "arguments": joined(call["arguments"])}
    if call["name"] is None:
        raise Fault("the body of the answer is malformed", again=True)
    return {"id": call["id"], "type": "function", "function": function}
