"""One question to a model in one of its roles: journalled, checked, read back; and many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..records import (
    BudgetSpent,
    Json,
    Message,
    Outcome,
    Proposer,
    Reply,
    ToolSpec,
    Unavailable,
    View,
)
from .replies import check_reply, read_back, reply_of, reply_to_json

if TYPE_CHECKING:
    from .case import Case

T = TypeVar("T")
PROPOSER, JUDGE, LITERATURE = "proposer", "judge", "literature"


@dataclass(frozen=True)
class Role:
    """Who plays it (None: the journal answers alone), and its settings as the session records them."""

    model: Json
    who: Proposer | None = None


async def asked(
    case: Case,
    role: str,
    path: str,
    view: View,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec] = (),
    schema: Mapping[str, Json] | None = None,
) -> Reply:
    """The reply to `messages`, of the journal where it stands there. Raises Unavailable, StoreError,
    UsageError for an object that gives no Reply."""
    seed, player = case.seed_of(path), case.role(role)
    request = {
        "role": role,
        "model": player.model,
        "messages": [dict(message) for message in messages],
        "tools": [asdict(tool) for tool in tools],
        "earlier": len(view.earlier),
        "seed": seed,
        **({"schema": dict(schema)} if schema else {}),
    }

    async def make() -> Outcome:
        if player.who is None:
            raise Unavailable("There is no model behind this session, only its journal.")
        reply = await player.who.propose(view, messages, tools, seed, schema)
        check_reply(reply, player.who)
        return Outcome(reply_to_json(reply), usage=reply.usage, retries=reply.retries)

    return read_back(path, reply_of, await case.once(path, "model", request, make))


async def side_by_side(questions: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The answers in the order of the questions, whatever the order of their arrival. Where one is
    an outage the others are cancelled and awaited before it is raised: none is left running. Where
    the budget is spent those in flight come to their end, as they are paid for."""
    asked = [asyncio.ensure_future(question) for question in questions]
    try:
        return await asyncio.gather(*asked)
    except BudgetSpent:
        await asyncio.gather(*asked, return_exceptions=True)
        raise
    finally:
        for one in asked:
            one.cancel()  # nothing, where it has come to its end
        await asyncio.gather(*asked, return_exceptions=True)
