"""Who answers, and who mends answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from .calls import Message, Reply, ToolSpec
from .problems import View
from .values import Json


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
