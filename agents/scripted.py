"""Proposers that say what they were told to: for tests, examples and trials without a model.

`scripted:FILE` reads one JSON object: problem id, or "*" for all others, to a list of answers.
An answer is a text, {"tool": NAME, "arguments": {...}}, or a list of these (the turns of one
answer: tool calls first, the text last).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..records import (
    DataError,
    Json,
    Message,
    Proposer,
    Reply,
    ToolCall,
    ToolSpec,
    Unavailable,
    UsageError,
    View,
    digest_of,
)
from ..tasks.files import identity, locate, read_json
from . import given_settings

SCHEMES = ("scripted",)

Said: TypeAlias = str | Reply | Unavailable
Item: TypeAlias = Said | Sequence[Said]


class Scripted:
    """Answers number n of a problem (n earlier answers) with `replies[n]`; after the last one it
    is exhausted.

    replies: one list for every problem, or a mapping from problem id (or "*" for all others) to
    such lists. An entry is a text, a Reply, an Unavailable (raised), or a sequence of these: the
    turns of one answer, of which the k-th is given after k rounds of tool calls; without tools
    only the last is given. file: {"name", "sha256"} of the file that they come from.
    """

    def __init__(
        self, replies: Sequence[Item] | Mapping[str, Sequence[Item]], file: Json = None
    ) -> None:
        self._replies = replies if isinstance(replies, Mapping) else {"*": replies}
        self._file = file

    def settings(self) -> Json:
        plain = {key: [_plain(item) for item in items] for key, items in self._replies.items()}
        told = {"scheme": "scripted", "digest": digest_of(plain)}
        return told | ({} if self._file is None else {"answers_from": self._file})

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        replies = self._replies.get(view.problem, self._replies.get("*", ()))
        if view.answers >= len(replies):
            return Reply(finish="exhausted", meta={"reason": "the script says no more of it"})
        item = replies[view.answers]
        turns = [item] if isinstance(item, str | Reply | Unavailable) else list(item)
        turn = rounds(messages)
        said = turns[min(turn, len(turns) - 1)] if tools or turn else turns[-1]
        if isinstance(said, Unavailable):
            raise said
        return Reply(said) if isinstance(said, str) else said

    async def close(self) -> None:
        return None


class Mender:
    """A chat model for programs that learns from a counterexample.

    Offered `tool`, it first calls it with the source `wrong`; if the result names failing
    observations, it answers with what `mended` makes of them (or with `mended` itself where that
    is a source), else with `wrong`. Without tools it answers with `wrong`. One answer a problem.

    answer: writes a source as an answer; by default in the format "tuple".
    """

    def __init__(
        self,
        wrong: str,
        mended: str | Callable[[Sequence[Json]], str],
        *,
        tool: str = "execute",
        argument: str = "code",
        answer: Callable[[str], str] | None = None,
    ) -> None:
        self._wrong = wrong
        self._mended = mended
        self._tool = tool
        self._argument = argument
        self._answer = answer or tuple_answer

    def settings(self) -> Json:
        mended = self._mended if isinstance(self._mended, str) else "a function of what failed"
        return {"scheme": "scripted", "digest": digest_of(["Mender", self._wrong, mended])}

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        if view.earlier:
            return Reply(finish="exhausted")
        if rounds(messages) == 0:
            if not any(tool.name == self._tool for tool in tools):
                return Reply(self._answer(self._wrong))
            call = ToolCall("call_0", self._tool, {self._argument: self._wrong})
            return Reply(tool_calls=(call,), finish="tool_calls")
        failing = self._failing(messages)
        if not failing:
            return Reply(self._answer(self._wrong))
        mended = self._mended if isinstance(self._mended, str) else self._mended(failing)
        return Reply(self._answer(mended))

    async def close(self) -> None:
        return None

    def _failing(self, messages: Sequence[Message]) -> list[Json]:
        """What the last tool result says of failing observations."""
        results = [m["content"] for m in messages if m["role"] == "tool"]
        try:
            result = json.loads(results[-1])
        except ValueError:  # a tool that failed says so in words
            return []
        return list(result.get("failing", [])) if isinstance(result, dict) else []


def rounds(messages: Sequence[Message]) -> int:
    """How many turns of the conversation called tools."""
    return sum(1 for m in messages if m["role"] == "assistant" and m.get("tool_calls"))


def tuple_answer(source: str, description: str = "") -> str:
    """A program as an answer in the format "tuple"."""
    return f"({description or 'A rule from a script'!r}, {source!r})"


async def open_model(spec: str, settings: Mapping[str, Json]) -> Proposer:
    """The answers of the file that `spec` names. Raises UsageError, DataError."""
    given_settings(spec, settings, ())
    path = spec.partition(":")[2]
    if not path:
        raise UsageError(f"model {spec!r} names no file: write scripted:FILE")
    place = locate(path, ("answers.json",))
    data = read_json(place)
    if not isinstance(data, dict):
        raise DataError(f'{path}: must be one object, {{"ID or *": [answers]}}')
    replies = {key: _items(path, key, value) for key, value in data.items()}
    return Scripted(replies, identity(place))


def _items(path: str, key: str, value: Json) -> list[Item]:
    if not isinstance(value, list):
        raise DataError(f"{path}: field {key!r}: {value!r:.60} is no list of answers")
    items: list[Item] = []
    for n, entry in enumerate(value):
        at = f"{path}: field {key!r}, answer {n}"
        if isinstance(entry, list) and entry:
            items.append([_said(at, part, turn) for turn, part in enumerate(entry)])
        else:
            items.append(_said(at, entry, 0))
    return items


def _said(at: str, entry: Json, turn: int) -> Said:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, dict) and isinstance(entry.get("tool"), str):
        call = ToolCall(f"call_{turn}", entry["tool"], entry.get("arguments", {}))
        return Reply(tool_calls=(call,), finish="tool_calls")
    raise DataError(f"{at}: {entry!r:.60} is neither a text nor a tool call")


def _plain(item: Item) -> Json:
    if isinstance(item, str):
        return item
    if isinstance(item, Reply):
        calls = [[call.name, call.arguments] for call in item.tool_calls]
        return [item.text, calls, item.finish, dict(item.meta)]
    if isinstance(item, Unavailable):
        return ["unavailable", str(item)]
    return [_plain(said) for said in item]
