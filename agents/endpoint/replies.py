"""Convert a chat completion of an OpenAI-compatible endpoint to a `Reply`.

All functions are pure. chat.py sends the requests, and faults.py describes failures.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...records import (
    PROMPT_DIGEST,
    Json,
    Message,
    Reply,
    ToolCall,
    Usage,
    canonical_json,
    digest_prompt,
)
from ..reasoning import split_reasoning
from .arguments import parse_json
from .faults import ErrorInBody, Fault

MAX_DEPTH = 100  # maximum nesting of an answer; json and the journal fail at a few hundred levels
MOST_TOKENS = 2**63 - 1
MAX_OTHER_ANSWERS = 16
OTHER_ANSWERS = "other_answers"  # the key, in a reply's meta, of answers that were not requested
REASONING_TYPES = ("thinking", "reasoning")  # types of content blocks


def completion_body(body: Json) -> dict[str, Json]:
    """Check that a response body is a chat completion with at least one choice, and return it.

    Its choices are ordered by their `index`, if each of them has one. Endpoints may send them in
    another order.

    Raises:
        Fault: The body is malformed.
        ErrorInBody: The body contains an error of the endpoint.
    """
    if not isinstance(body, dict):
        raise Fault("the body of the answer is malformed", retryable=True)
    if body.get("error"):
        raise ErrorInBody(body)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Fault("the answer holds no choices", retryable=True)
    if all(isinstance(one, dict) and type(one.get("index")) is int for one in choices):
        choices = sorted(choices, key=lambda one: one["index"])
    if not isinstance(choices[0], dict) or not isinstance(choices[0].get("message"), dict):
        raise Fault("the body of the answer is malformed", retryable=True)
    _check_depth(choices[0])
    return {**body, "choices": choices}


def _check_depth(value: Json) -> None:
    """Raise Fault for a value nested deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise Fault("the body of the answer is malformed", retryable=True)


def escape_surrogates(value: Json) -> Json:
    r"""Return a JSON value in which lone surrogates are written as text, such as `\ud800`.

    UTF-8 cannot encode lone surrogates.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {escape_surrogates(key): escape_surrogates(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [escape_surrogates(inner) for inner in value]
    return value


def normalise_choice(choice: Mapping[str, Json]) -> dict[str, Json]:
    """Return a choice of a completion with valid tool arguments and the role "assistant".

    Tool arguments that are not a JSON object become {"unreadable": text}. The role is replaced
    because some endpoints send another role.
    """
    said = choice["message"]
    calls = [dict(call) for call in said.get("tool_calls") or ()]
    for number, call in enumerate(calls):
        arguments = _tool_call(number, call).arguments
        if isinstance(arguments, str):
            arguments = {"unreadable": arguments}
        call["function"] = {**call["function"], "arguments": canonical_json(arguments)}
    return {**choice, "message": {**said, "role": "assistant", "tool_calls": calls or None}}


def prompt_digest(body: Mapping[str, Json]) -> str:
    """Return the digest of the token ids of the prompt, or "" if the response does not contain them.

    vLLM returns them as `prompt_token_ids` if the request has `return_token_ids`.
    """
    ids = body.get("prompt_token_ids")
    if not isinstance(ids, list) or not ids or not all(type(one) is int for one in ids):
        return ""
    return digest_prompt(ids)


def parse_reply(message: Any, retries: int) -> Reply:
    """Return the `Reply` for a LangChain message.

    The number of reasoning tokens is estimated from the share of reasoning characters if the
    endpoint does not report it.

    Args:
        message: The message, whose `additional_kwargs` contain the first choice of the completion.
        retries: The number of retries before this reply.
    """
    choice: dict[str, Json] = message.additional_kwargs["choice"]
    said: dict[str, Json] = choice["message"]
    content, told = _content(said.get("content"))
    text, thought = split_reasoning(content)
    field = said.get("reasoning_content") or said.get("reasoning") or ""
    reasoning = "\n\n".join(part for part in (as_text(field), told, thought) if part)
    finish = choice.get("finish_reason") or "stop"
    calls = tuple(_tool_call(n, call) for n, call in enumerate(said.get("tool_calls") or ()))
    meta: dict[str, Json] = {}
    if reasoning:
        meta["reasoning"] = reasoning
    if said.get("refusal"):
        meta["refusal"] = as_text(said["refusal"])
    if others := message.additional_kwargs.get(OTHER_ANSWERS):
        meta[OTHER_ANSWERS] = others
    if digest := message.additional_kwargs.get(PROMPT_DIGEST):
        meta[PROMPT_DIGEST] = digest
    if finish not in ("stop", "length", "tool_calls"):
        meta["finish_reason"] = finish
    if finish == "length":  # The last call was truncated, so its arguments are still text.
        calls = tuple(call for call in calls if not isinstance(call.arguments, str))
    ended = "length" if finish == "length" else "tool_calls" if calls else "stop"
    usage = _usage(message)
    if reasoning and not usage.tokens_reasoning:
        answer = len(text) + sum(len(canonical_json(call.arguments)) for call in calls)
        share = len(reasoning) / (len(reasoning) + answer)
        usage = replace(usage, tokens_reasoning=round(usage.tokens_out * share))
    return Reply(text, calls, ended, usage, retries, meta)


def other_answers(choices: Sequence[Json]) -> list[Json]:
    """Return the texts of the choices after the first.

    Only one choice is requested and read. Servers that send several are paid for all of them, so the
    journal keeps their texts, at most `MAX_OTHER_ANSWERS`.
    """
    messages = [one.get("message") for one in choices if isinstance(one, dict)]
    texts = [_content(one.get("content"))[0] for one in messages if isinstance(one, dict)]
    return [text for text in texts if text][:MAX_OTHER_ANSWERS]


def as_text(value: Json) -> str:
    """Return `value` if it is a text, otherwise `value` as JSON text."""
    return value if isinstance(value, str) else json.dumps(value)


def _content(content: Json) -> tuple[str, str]:
    """Return text and reasoning of a message's content, which may be a list of typed blocks."""
    if content is None or isinstance(content, str):
        return content or "", ""
    blocks = [block for block in content if isinstance(block, dict)]
    text = "".join(block_text(block) for block in blocks if block.get("type") == "text")
    thought = [block_text(block) for block in blocks if block.get("type") in REASONING_TYPES]
    return text, "\n\n".join(thought)


def block_text(block: Mapping[str, Json]) -> str:
    """Return the text of a content block in a reply.

    The text of a reasoning block may consist of nested blocks.
    """
    parts: list[str] = []
    left = [block]
    while left:  # Recursion would join a text once for each level that it is nested in.
        one = left.pop()
        told = one.get("thinking") or one.get("reasoning") or one.get("text") or ""
        if isinstance(told, list):
            left.extend(inner for inner in reversed(told) if isinstance(inner, dict))
        else:
            parts.append(str(told))
    return "".join(parts)


def _tool_call(number: int, call: Mapping[str, Json]) -> ToolCall:
    function = call.get("function") or {}
    raw = function.get("arguments") or "{}"  # Some models leave out empty arguments.
    try:
        arguments = parse_json(raw) if isinstance(raw, str) else raw
    except ValueError:
        arguments = raw
    _check_depth(arguments)
    if not isinstance(arguments, dict):
        arguments = raw if isinstance(raw, str) else json.dumps(raw)
    return ToolCall(str(call.get("id") or f"call_{number}"), str(function.get("name")), arguments)


def parse_usage(usage: Json) -> dict[str, Json] | None:
    """Return the token counts in the `usage` field of a response, or None if the field is no
    object.

    A value that is not a number becomes 0, because a wrong count must not invalidate a good answer.
    """
    if not isinstance(usage, dict):
        return None
    counts: dict[str, Json] = {
        name: _count(usage.get(name))
        for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    }
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        details = usage.get(name)
        if isinstance(details, dict):
            counts[name] = {key: _count(told) for key, told in details.items()}
    return counts


def reported_usage(body: Json) -> Usage:
    """Return the token counts that an unusable response reports; zeros if it reports none."""
    counts = parse_usage(body.get("usage")) if isinstance(body, dict) else None
    if counts is None:
        return Usage()
    cached = counts.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    reasoning = counts.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
    return Usage(counts["prompt_tokens"], counts["completion_tokens"], cached, reasoning)


def with_unique_ids(reply: Reply, messages: Sequence[Message]) -> Reply:
    """Return the reply with unique ids for its tool calls.

    An id is replaced if it already occurs in `messages` or twice in the reply. Some endpoints
    require unique ids and would refuse the next request.
    """
    used = {call.get("id") for one in messages for call in one.get("tool_calls") or ()}
    numbers: dict[str, Iterator[int]] = {}  # by id: a name that was taken stays taken
    calls = []
    for call in reply.tool_calls:
        free = call.id
        while free in used:
            free = f"{call.id}_{next(numbers.setdefault(call.id, itertools.count(2)))}"
        used.add(free)
        calls.append(replace(call, id=free))
    return replace(reply, tool_calls=tuple(calls))


def _usage(message: Any) -> Usage:
    told = getattr(message, "usage_metadata", None) or {}
    return Usage(
        _count(told.get("input_tokens")),
        _count(told.get("output_tokens")),
        _count((told.get("input_token_details") or {}).get("cache_read")),
        _count((told.get("output_token_details") or {}).get("reasoning")),
    )


def _count(told: Json) -> int:
    """Return a count as an integer that every reader of the journal can hold."""
    if isinstance(told, bool) or not isinstance(told, int | float) or told != told:
        return 0
    return int(min(max(told, 0), MOST_TOKENS))


def redact_reply(reply: Reply, key: str) -> Reply:
    """Return the reply with every occurrence of `key` replaced by ***."""
    calls = tuple(
        ToolCall(*(redact_key(one, key) for one in (call.id, call.name, call.arguments)))
        for call in reply.tool_calls
    )
    text, meta = redact_key(reply.text, key), redact_key(reply.meta, key)
    return replace(reply, text=text, tool_calls=calls, meta=meta)


def redact_key(value: Json, key: str) -> Any:
    """Return a JSON value with every occurrence of `key` in its texts replaced by ***."""
    if isinstance(value, str):
        return value.replace(key, "***")
    if isinstance(value, Mapping):
        return {redact_key(name, key): redact_key(one, key) for name, one in value.items()}
    return [redact_key(one, key) for one in value] if isinstance(value, list | tuple) else value
