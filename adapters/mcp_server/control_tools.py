"""The tools for sessions that are running: their state, a pause, a stop, changed limits and hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from ... import SessionStatus, adjust, continue_, hint, pause, run_in_thread, status, stop
from ...records.errors import UsageError
from .run_settings import MAX_CONCURRENCY, AccessRules
from .session_tools import READS, WRITES, SessionId, ToolEntry


class ControlTools:
    """The tools for sessions that are running, in this server or in another process.

    Args:
        rules: what clients may use.
    """

    def __init__(self, rules: AccessRules) -> None:
        self._rules = rules

    def list_tools(self) -> Iterator[ToolEntry]:
        """Yield each tool with the class of its result."""
        yield self.status, SessionStatus, READS
        yield self.pause, SessionStatus, WRITES
        yield self.continue_, SessionStatus, WRITES
        yield self.stop, SessionStatus, WRITES
        yield self.adjust, SessionStatus, WRITES
        yield self.hint, SessionStatus, WRITES

    async def status(self, session: SessionId = "last") -> SessionStatus:
        """Return how far a session is: its problems, steps, verdicts, tokens and limits."""
        return await self._call(status, session)

    async def pause(self, session: SessionId = "last") -> SessionStatus:
        """Pause a running session: it makes no calls until `continue`. Calls in flight are finished."""
        return await self._call(pause, session)

    async def continue_(self, session: SessionId = "last") -> SessionStatus:
        """Continue a paused session. A session that was stopped is continued with `resume`."""
        return await self._call(continue_, session)

    async def stop(self, session: SessionId = "last") -> SessionStatus:
        """Stop a running session after the steps in progress. `resume` continues it."""
        return await self._call(stop, session)

    async def adjust(
        self,
        session: SessionId = "last",
        concurrency: Annotated[
            int | None, Field(description="Problems at the same time.", ge=1, le=MAX_CONCURRENCY)
        ] = None,
        budget_tokens: Annotated[
            int | None, Field(description="Maximum number of tokens, with those spent.", ge=1)
        ] = None,
        budget_usd: Annotated[
            float | None, Field(description="Maximum cost in US dollars, with what is spent.", gt=0)
        ] = None,
    ) -> SessionStatus:
        """Change the concurrency or the budgets of a running session."""
        if budget_tokens is not None:
            self._rules.limit_budget({"budget_tokens": budget_tokens})
        return await self._call(
            adjust,
            session,
            concurrency=concurrency,
            budget_tokens=budget_tokens,
            budget_usd=budget_usd,
        )

    async def hint(
        self,
        session: SessionId,
        problem: Annotated[str, Field(description='Id of the problem, or "all".')],
        text: Annotated[
            str,
            Field(description="Remark for the model; empty to answer a question by giving up."),
        ],
    ) -> SessionStatus:
        """Give a hint for a problem: the model sees it in each later prompt about the problem. It also
        answers a question of the session, which `status` shows under `questions`.
        """
        return await self._call(lambda name, store: hint(name, problem, text, store=store), session)

    async def _call(
        self, function: Callable[..., SessionStatus], session: str, **options: Any
    ) -> SessionStatus:
        store = self._rules.server.store
        if not store.exists():
            raise UsageError("this server has no session yet: run one first")
        return await run_in_thread(function, session, store=store, **options)
