"""Query a model in one of its roles: record the call, check the reply, and run queries
concurrently.

A proposer may be an object of the user's own class. Its results are checked before they are
recorded, so that the session can continue after the user has fixed the class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ...records import (
    CURRENT_CALL,
    BudgetSpent,
    CallKey,
    ContextExceeded,
    Json,
    Message,
    Outcome,
    Proposer,
    Reply,
    StoreError,
    ToolCall,
    ToolSpec,
    Unavailable,
    Usage,
    UsageError,
    View,
    canonical_json,
)
from .call_gate import SessionStopped
from .hints import show_hints
from .observation_choice import refusal_reply

if TYPE_CHECKING:
    from .case import Case

T = TypeVar("T")
PROPOSER, JUDGE, LITERATURE, NAMER = "proposer", "judge", "literature", "namer"
THEN = "then"  # proposes where the proposer ended without an accepted hypothesis
SECOND_JUDGE = "judge2"
SEEDER = "seeder"  # the search that gives hypotheses before the first request


@dataclass(frozen=True)
class Role:
    """The model that plays a role of a session, such as the judge.

    Args:
        model_settings: The settings of the model, as the session records them.
        proposer: The model; None if all answers come from the journal.
    """

    model_settings: Json
    proposer: Proposer | None = None


async def query_model(
    case: Case,
    role: str,
    path: str,
    view: View,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec] = (),
    schema: Mapping[str, Json] | None = None,
    *,
    is_optional: bool = False,
    may_shorten: bool = False,
) -> Reply:
    """Query the model of a role and return its reply. A recorded reply is taken from the journal.

    Args:
        case: The working data of the problem.
        role: The name of the role.
        path: The path of the call in the journal.
        view: The problem as the model may see it.
        messages: The prompt. The hints of a person are added for a proposer (hints.py).
        tools: The tools that the model may call.
        schema: The JSON schema of the answer; None for free text.
        is_optional: Whether the session can do without an answer. If the model gives none, an empty
            reply is then recorded, whose `meta` has the reason. Other sessions do not reuse the
            answer.
        may_shorten: Whether the caller can ask again with a shorter prompt. If the prompt is too
            long for the model, a reply with `finish` "too_long" is then recorded
            (observation_choice.py).

    Raises:
        Unavailable: The model gave no answer, and the call is not optional.
        StoreError: The recorded reply has an unexpected form.
        UsageError: The user's proposer object returned an invalid reply.
    """
    seed, player = case.derive_seed(path), case.get_role(role)
    if role in (PROPOSER, THEN):
        messages = await show_hints(case, path, messages)
    request = {
        "role": role,
        "model": player.model_settings,
        "messages": [dict(message) for message in messages],
        "tools": [dict(vars(tool)) for tool in tools],
        "earlier": len(view.past_answers),
        "seed": seed,
        **({"schema": dict(schema)} if schema else {}),
    }

    async def make() -> Outcome:
        if player.proposer is None:
            raise Unavailable("There is no model behind this session, only its journal.")
        before = CURRENT_CALL.set(CallKey(case.session, case.problem.id, path))
        try:
            reply = await player.proposer.propose(view, messages, tools, seed, schema)
        except Unavailable as error:
            if may_shorten and isinstance(error, ContextExceeded) and error.room_tokens > 0:
                return _record_refusal(error)
            # A call that a stopping session leaves is made again when it is resumed.
            if not is_optional or case.stopping.is_set():
                raise
            reply = Reply(meta={"unavailable": str(error)})
        finally:
            CURRENT_CALL.reset(before)
        check_reply(reply, player.proposer)
        return Outcome(reply_to_json(reply), usage=reply.usage, retries=reply.retries)

    return decode_outcome(
        path,
        reply_from_outcome,
        await case.record_once(path, "model", request, make, cached=not is_optional),
    )


def _record_refusal(error: ContextExceeded) -> Outcome:
    reply = refusal_reply(error)
    return Outcome(reply_to_json(reply), usage=reply.usage)


async def gather_or_cancel(queries: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run queries concurrently and return their answers, in the order of `queries`.

    If a query fails, the other queries are cancelled before the error is raised, so that no query
    keeps running. If the budget is spent, or the session is stopped in a pause, the queries in
    flight are finished first, because they are already paid for.
    """
    asked = [asyncio.ensure_future(question) for question in queries]
    try:
        return await asyncio.gather(*asked)
    except (BudgetSpent, SessionStopped):
        await asyncio.gather(*asked, return_exceptions=True)
        raise
    finally:
        for one in asked:
            one.cancel()  # this has no effect on a finished query
        await asyncio.gather(*asked, return_exceptions=True)


Value = TypeVar("Value")

FINISHES = ("stop", "tool_calls", "length", "exhausted", "no_tools")
TOKEN_COUNTS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
MAX_TOKENS, MAX_RETRIES = 2**63 - 1, 2**31 - 1  # the largest values of the store's columns


def read_settings(proposer: Any) -> dict[str, Json]:
    """Return the settings that a proposer reports about itself.

    Raises:
        UsageError: The settings cannot be recorded, for example because they are not JSON.
    """
    name = type(proposer).__name__
    if not callable(getattr(proposer, "settings", None)):
        raise UsageError(f"the proposer {name} has no settings(): it must return a mapping")
    told = proposer.settings()
    if not _is_object(told):
        raise UsageError(
            f"settings() of the proposer {name} gave {told!r:.80}: it must be a mapping from texts"
            ' to what JSON holds, as {"model": "mine"}'
        )
    return dict(told)


def check_reply(reply: Any, proposer: Any, verb: str = "propose") -> None:
    """Check that a proposer returned a valid Reply.

    Args:
        reply: The value that the proposer returned.
        proposer: The proposer, for the error message.
        verb: The name of the method that returned `reply`, for the error message.

    Raises:
        UsageError: `reply` is not a valid Reply.
    """
    wrong = _wrong(reply)
    if wrong is not None:
        what, value, must = wrong
        raise UsageError(
            f"{verb} of {type(proposer).__name__} gave {what}{value!r:.80}: it must be {must}"
        )


def _wrong(given: Any) -> tuple[str, Any, str] | None:
    """Return the first invalid part: its name, its value, and what it must be."""
    if not isinstance(given, Reply):
        return "", given, "a peirce.records.Reply, as Reply(text) or Reply(finish='exhausted')"
    reply: Any = given  # the types of its fields are not known yet
    if not isinstance(reply.text, str):
        return "a Reply with text ", reply.text, "a string"
    calls = reply.tool_calls
    if not isinstance(calls, tuple | list) or not all(isinstance(one, ToolCall) for one in calls):
        return "a Reply with tool_calls ", calls, "a tuple of ToolCall, () for none"
    for call in calls:
        if not isinstance(call.id, str) or not isinstance(call.name, str):
            return "the tool call ", call, "one whose id and name are texts"
        if not isinstance(call.arguments, str) and not _is_object(call.arguments):
            return "a tool call with arguments ", call.arguments, "a mapping of JSON, or a string"
    if reply.finish not in FINISHES:
        return "a Reply with finish ", reply.finish, f"one of {', '.join(FINISHES)}"
    if not isinstance(reply.usage, Usage):
        return "a Reply with usage ", reply.usage, "a Usage"
    for name in TOKEN_COUNTS:
        if not _is_count(getattr(reply.usage, name), MAX_TOKENS):
            return f"a usage with {name} ", getattr(reply.usage, name), "a whole number from 0 on"
    if not _is_count(reply.retries, MAX_RETRIES):
        return "a Reply with retries ", reply.retries, "a whole number from 0 on"
    if not _is_object(reply.meta):
        return "a Reply with meta ", reply.meta, "a mapping of JSON"
    if not _is_object(reply.meta.get("fields", {})):
        return "a meta with fields ", reply.meta["fields"], "a mapping of JSON"
    return None


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_object(value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return False
    try:
        canonical_json(dict(value))
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def reply_to_json(reply: Reply) -> Json:
    """Return a reply as the JSON object that the journal stores."""
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.tool_calls]
    return {
        "text": reply.text,
        "tool_calls": calls,
        "finish": reply.finish,
        "meta": dict(reply.meta),
    }


def reply_from_outcome(outcome: Outcome) -> Reply:
    """Rebuild the reply from an outcome that the journal stored."""
    data = outcome.response
    calls = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in data["tool_calls"])
    return Reply(data["text"], calls, data["finish"], outcome.usage, meta=data["meta"])


def decode_outcome(path: str, read: Callable[[Outcome], Value], outcome: Outcome) -> Value:
    """Return `read(outcome)` for a recorded outcome.

    Raises:
        StoreError: The outcome has an unexpected form, so that `read` fails. The message names
            `path`.
    """
    try:
        return read(outcome)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"the journal's response at {path} cannot be read ({type(error).__name__}: {error})"
        ) from error
