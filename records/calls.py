"""Calls to models and tools, and the journal that records them."""

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

# A caller sets this to learn why a request gave no answer and is retried while the call lasts.
RETRY_LISTENER: ContextVar[Callable[[str], None]] = ContextVar(
    "asked_again", default=lambda why: None
)


@dataclass(frozen=True)
class ToolSpec:
    """The description of a tool that a model may call."""

    name: str
    description: str
    parameters: Mapping[str, Json]  # a JSON schema


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool that a model requested."""

    id: str
    name: str
    arguments: Mapping[str, Json] | str  # The raw text where it is no JSON object.


@dataclass(frozen=True)
class Usage:
    """The tokens of one call, or a sum over calls. A count that a model does not report is 0."""

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
    """The reply of a proposer: text or tool calls.

    `finish` is "stop", "tool_calls", "length", "exhausted" (the proposer has no further answer, so
    the problem ends) or "no_tools" (the model accepts no tools and is queried again without them).
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage = Usage()
    retries: int = 0
    # Only for recorded answers: last_of_turn, and fields of the turn.
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class CallKey:
    """The path of a call in its session, such as `step/3/propose/0`, independent of timing."""

    session: str
    problem: str
    path: str


@dataclass(frozen=True)
class Outcome:
    """The result of a call as the journal keeps it: JSON, and named arrays stored beside it.

    If a recorded call of another session answered this call, `repeats` is that session. The model
    then used no tokens.
    """

    response: Json
    vectors: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    repeats: str = ""


class Journal(Protocol):
    """A record of the calls of a session, from which a resumed session takes answers instead of
    calling again.
    """

    async def record_once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the recorded outcome of `key`, or call `make` and record its outcome.

        The outcome is durable before this returns.
        """
        ...


# --- Proposers of answers, and repairers of answers.


class Proposer(Protocol):
    """A source of answers: a model, a search, or recorded and scripted answers."""

    def settings(self) -> Json:
        """Return the settings that the session records, without secrets.

        "endpoint" (where the model is reached) and "transport" do not count as settings that shape
        answers. Answers of a proposer with an "endpoint" are cached across sessions. "tools" is
        False for a model that accepts no tools.
        """
        ...

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return the proposer's reply to the messages.

        Args:
            view: The part of the problem that an agent may see.
            messages: The prompt.
            tools: The tools that the model may call.
            seed: The seed of random choices.
            schema: The JSON schema of an answer, for models with constrained decoding. An answer
                that does not fit the schema is parsed too.

        Raises:
            Unavailable: No answer can be obtained.
        """
        ...

    async def close(self) -> None:
        """Release connections, processes and memory."""
        ...


@runtime_checkable
class HoldsSecrets(Protocol):
    """A proposer with a key that no session may store."""

    def secrets(self) -> Mapping[str, str]:
        """Return the secrets, by the name of the environment variable that holds each."""
        ...


@runtime_checkable
class Repairer(Protocol):
    """Repairs a hypothesis that the oracle found inconsistent or too costly."""

    def settings(self) -> Json:
        """Return the settings that the session records, as for a `Proposer`."""
        ...

    async def repair(self, view: View, text: str) -> Reply:
        """Return a better hypothesis as an answer in the session's format.

        Args:
            view: The problem, with the answer to repair as the last earlier answer.
            text: The hypothesis to repair, in the form that the oracle takes. For a malformed
                hypothesis, the text as the model wrote it; "" if the answer had no hypothesis.

        Returns:
            The answer; `finish` is "exhausted" if there is no better hypothesis.

        Raises:
            Unavailable: No answer can be obtained.
        """
        ...

    async def close(self) -> None:
        """Release connections, processes and memory."""
        ...
