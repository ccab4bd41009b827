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
    """What stands in the `data:` lines of server-sent events, each an event of its own. Lines end
    in line feeds alone: the JSON in them may hold any other line separator as it is."""
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if rest.startswith(b"data:"):
        yield rest[5:].strip()


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
            raise Fault(f"a stream that is not over after {LONGEST:,} characters", again=False)
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
        content: Json = [{"type": kind, kind: "".join(parts)} for kind, parts in self._blocks]
        if all(kind == "text" for kind, _ in self._blocks):
            content = "".join(block["text"] for block in content)
        message: dict[str, Json] = {"role": "assistant", "content": content}
        message |= {name: "".join(parts) for name, parts in self._joined.items() if parts}
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
        name and another id begins a call, whatever its index."""
        function = piece.get("function") or {}
        index, name, told = piece.get("index"), function.get("name"), piece.get("id")
        call = self._by_index.get(index) if index is not None else None
        if index is None and self._calls and not name:
            call = self._calls[-1]
        if call is None or (name and told and call["id"] and told != call["id"]):
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


def _whole(call: dict[str, Any]) -> dict[str, Json]:
    function = {"name": call["name"], "arguments": "".join(call["arguments"])}
    if call["name"] is None:
        raise Fault("the body of the answer is malformed", again=True)
    return {"id": call["id"], "type": "function", "function": function}
