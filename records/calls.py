"""Calls to models and tools, and the journal that keeps them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from .problems import View
from .values import Json

if TYPE_CHECKING:
    from numpy.typing import NDArray


Message: TypeAlias = Mapping[str, Json]  # OpenAI chat form: role, content, tool_calls, tool_call_id

# Whoever makes a call hears here, while it lasts, why a request of it gave no answer and is made again.
ASKED_AGAIN: ContextVar[Callable[[str], None]] = ContextVar("asked_again", default=lambda why: None)


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Json]  # a JSON schema


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    arguments: Mapping[str, Json] | str  # the raw text where it is no JSON object


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, or a sum of them; None nowhere: what is not told counts 0."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.tokens_cached + other.tokens_cached,
            self.tokens_reasoning + other.tokens_reasoning,
        )


@dataclass(frozen=True)
class Reply:
    """What a proposer says: text or tool calls; `finish` is "stop", "tool_calls", "length",
    "exhausted" (it has nothing left to say: the problem ends) or "no_tools" (it cannot be given
    tools: it is asked again without)."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage = Usage()
    retries: int = 0
    # Of recorded answers: last_of_turn, fields of the turn.
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class CallKey:
    """Where a call stands: structural, never an order of arrival. path: `step/3/propose/0`."""

    session: str
    problem: str
    path: str


@dataclass(frozen=True)
class Outcome:
    """What a call came to, as the journal keeps it: JSON, and arrays named beside it. repeats: the
    session whose recorded call answered it instead of the model, which then took no tokens."""

    response: Json
    vectors: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    repeats: str = ""


class Journal(Protocol):
    """What keeps calls, so that none is made twice."""

    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """The recorded outcome of `key`, or that of `make`, durable before this returns."""
        ...


# --- Who answers, and who mends answers.


class Proposer(Protocol):
    """Who answers."""

    def settings(self) -> Json:
        """What is recorded in the session; no secret. "endpoint" (where the model is reached) and
        "transport" do not count as shaping answers; answers of a proposer that has an "endpoint"
        are cached across sessions. "tools": False for a model that cannot be given any."""
        ...

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """schema: the JSON schema that the text of an answer has to fit, for what can hold a model
        to one; an answer that does not is read tolerantly all the same. Raises Unavailable when
        there is no answer to be had."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Repairer(Protocol):
    """Who mends a hypothesis that the oracle found wanting."""

    def settings(self) -> Json:
        """What is recorded in the session, as of a `Proposer`."""
        ...

    async def repair(self, view: View, text: str) -> Reply:
        """A better hypothesis, as an answer in the session's format; "exhausted" where there is
        none. text: the hypothesis as the oracle takes it, or as it was given where it is none; ""
        where the answer held nothing. view: with that answer as the last of the earlier ones.
        Raises Unavailable."""
        ...

    async def close(self) -> None: ...
