"""Calls to models and tools, and the journal that records each call with its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from .problems import View
from .values import Digest, Json, digest_of

if TYPE_CHECKING:
    import asyncio

    from numpy.typing import NDArray


Message: TypeAlias = Mapping[str, Json]  # OpenAI chat form: role, content, tool_calls, tool_call_id
# A "human" call is a text from a person: the hints of a request, or the answer to a question.
CallKind: TypeAlias = Literal["model", "tool", "human"]
HINTS = "hints"  # the last part of the path of the hints that a request showed

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
    """A request of a model to call a tool."""

    id: str
    name: str
    arguments: Mapping[str, Json] | str  # The raw text where it is no JSON object.


@dataclass(frozen=True)
class Usage:
    """The token counts of one call, or the sum over several calls.

    A count that the model did not report is 0.
    """

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


# Of `Reply.meta` of a repairer, and of the fields of a step: how it found the hypothesis. `FOUND_ANEW`
# is one that owes nothing to the answer that was to be repaired.
REPAIR_KIND = "repair_kind"
FOUND_ANEW = "search"
IS_LAST = "is_last"  # of `Reply.meta`: True if the proposer has nothing to add to this reply
PROMPT_DIGEST = "prompt_digest"  # of `Reply.meta`: `digest_prompt` of the prompt, where it is known


def digest_prompt(tokens: Sequence[int]) -> str:
    """Return 16 hexadecimal digits that identify the token ids of a prompt."""
    return digest_of(list(tokens))[:16]


@dataclass(frozen=True)
class Reply:
    """The reply of a model or another proposer: text or tool calls.

    Attributes:
        finish: Why the reply ended: "stop", "tool_calls" or "length" (the reply was cut off).
            "exhausted" means that the proposer has no further answer, so the problem ends.
            "no_tools" means that the model accepts no tools and will be queried again without
            tools. A session also records "too_long" for a prompt that did not fit into the
            model's context (`ContextExceeded`) and will be shortened.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage = Usage()
    retries: int = 0
    # `IS_LAST`; `PROMPT_DIGEST`; fields of the step; for recorded answers last_of_turn.
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class CallKey:
    """The identity of a call within a session.

    Attributes:
        path: The position of the call in the work on the problem, such as "step/3/propose/0". The
            path does not depend on timing.
    """

    session: str
    problem: str
    path: str


# The call of a session that a proposer is answering; None outside a session.
CURRENT_CALL: ContextVar[CallKey | None] = ContextVar("current_call", default=None)


@dataclass(frozen=True)
class Outcome:
    """The result of a call as the journal stores it.

    Attributes:
        response: The result as JSON.
        vectors: Arrays that belong to the result, by name.
        repeats: The id of another session whose recorded result answered this call without a
            request to the model; otherwise "".
    """

    response: Json
    vectors: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    repeats: str = ""


class Journal(Protocol):
    """A record of all calls of a session.

    A resumed session takes the results of finished calls from the journal and does not repeat the
    calls.
    """

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the recorded outcome of `key`. If there is none, call `make` and record its
        outcome.

        An outcome is stored in the order in which calls were recorded, possibly after this method
        returns. When the ledger has recorded a step, all calls before it are stored durably.

        Args:
            key: The identity of the call.
            kind: "model", "tool" or "human".
            request: The request, as JSON.
            make: Function that makes the call.
        """
        ...

    def find_entry(self, key: CallKey) -> tuple[Digest, Outcome] | None:
        """Return the digest of the recorded request and the outcome of a call; None without a record."""
        ...


# --- Proposers of answers, and repairers of answers.


class Proposer(Protocol):
    """A source of answers: a language model, a search program, or a file of recorded answers."""

    def settings(self) -> Json:
        """Return the settings of this proposer that the session records, without secrets.

        The setting "endpoint" is the address of the model. If "endpoint" is present, answers are
        cached across sessions. The settings "endpoint" and "transport" are assumed not to affect
        the content of answers. "tools" is False for a model that accepts no tools.
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
        """Return the reply to the messages.

        Args:
            view: The data of the problem that a model may see.
            messages: The prompt.
            tools: The tools that the model may call.
            seed: The seed for random choices.
            schema: The JSON schema of an answer, for models with constrained decoding. An answer
                that does not fit the schema is parsed nevertheless.

        Raises:
            Unavailable: No answer can be obtained.
        """
        ...

    async def close(self) -> None:
        """Release the connections, processes and memory of this proposer."""
        ...


@runtime_checkable
class HoldsSecrets(Protocol):
    """A proposer that holds a key or another secret, which no session may store."""

    def secrets(self) -> Mapping[str, str]:
        """Return the values of the secrets, by the name of the environment variable that holds the
        secret.
        """
        ...


@runtime_checkable
class JoinsSession(Protocol):
    """A proposer whose answers may take hours, so that a session must not wait for them when it
    stops.
    """

    @property
    def answers_late(self) -> bool:
        """Whether an answer may take hours, so that many requests should be made at once."""
        ...

    def join_session(self, stopping: asyncio.Event, report: Callable[[str], None]) -> None:
        """Prepare for the calls of one session.

        Args:
            stopping: When this event is set, every waiting call, and every later one, raises
                Unavailable.
            report: Function that is called with sentences about the progress.
        """
        ...


@runtime_checkable
class PreparesAnswers(Protocol):
    """A proposer that can begin its next answer while the last one is judged."""

    def prepare_answer(self, view: View) -> None:
        """Begin to work on the answer to `view`, which will probably be requested next.

        This saves time but changes no reply. The call returns at once.

        Args:
            view: The problem with the answer that is being judged as the last of its past answers.
                Verdict and feedback of that answer are not known yet.
        """
        ...


@runtime_checkable
class Repairer(Protocol):
    """A program that repairs hypotheses which are inconsistent or too costly."""

    def settings(self) -> Json:
        """Return the settings of this repairer that the session records, as `Proposer.settings`
        does.
        """
        ...

    async def repair(self, view: View, text: str) -> Reply:
        """Return a better hypothesis, written as an answer in the format of the session.

        Args:
            view: The problem. The last item of `view.past_answers` is the answer to repair.
            text: The hypothesis to repair, in its executable form. For a malformed hypothesis, the
                text as the model wrote it; "" if the answer contains no hypothesis.

        Returns:
            The answer. Its `finish` is "exhausted" if no better hypothesis was found.

        Raises:
            Unavailable: No answer can be obtained.
        """
        ...

    async def close(self) -> None:
        """Release the connections, processes and memory of this repairer."""
        ...
