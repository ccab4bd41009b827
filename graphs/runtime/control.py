"""Control of a running session from other threads and processes: its status, a pause, a stop, and
changes of its concurrency and budgets.

The store's socket carries the messages (store/messages.py), and `SessionControl.answer` answers
them. A message is {"control": VERB, "session": ID, …arguments}. Each verb is a method of
`SessionControl`, and every answer is the description that `describe` returns.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ...agents.endpoint.limits import raise_open_file_limit
from ...config import MAX_CONCURRENCY
from ...records import Json, StoreError, UsageError
from ...store import Store
from .budget import Budget
from .call_gate import CallGate
from .hints import Mailbox, add_hint

Event = Mapping[str, Json]


class SessionControl:
    """The control of one running session.

    It is made in the event loop of the session. Its methods may be called in any thread, also in
    that of the event loop. None of them waits for the event loop.

    Args:
        store: The store, open for writing.
        session: The id of the session.
        concurrency: The number of problems that run at the same time.
        budget: The limits on tokens and dollars.
        stopping: The event that stops the session after the steps in flight.
        mailbox: The hints of people, and the open questions to them.
        secrets: The keys of the session's models by the variable that holds them, which no hint may
            hold.
        emit: Function that is called with each event of the session, in the event loop.
        on_concurrency: Function that is called in the event loop when the concurrency has changed.
    """

    def __init__(
        self,
        store: Store,
        session: str,
        *,
        concurrency: int,
        budget: Budget,
        stopping: asyncio.Event,
        mailbox: Mailbox,
        secrets: Mapping[str, str] | None = None,
        emit: Callable[[Event], None] = lambda event: None,
        on_concurrency: Callable[[], None] = lambda: None,
    ) -> None:
        self.gate = CallGate(max(1, concurrency), stopping)
        self._store, self._session = store, session
        self._mailbox, self._secrets = mailbox, secrets or {}
        self._budget, self._stopping = budget, stopping
        self._emit, self._on_concurrency = emit, on_concurrency
        self._loop = asyncio.get_running_loop()
        self._lock = threading.RLock()
        self._running: dict[str, int] = {}  # the last finished step of each running problem
        self._started = time.monotonic()
        self._seconds_before = float(store.session(session).get("seconds") or 0.0)
        self._is_stopping = False
        self._verbs: dict[str, Callable[..., dict[str, Json]]] = {
            "status": self.describe,
            "pause": self.pause,
            "continue": self.continue_,
            "stop": self.stop,
            "adjust": self.adjust,
            "hint": self.hint,
        }

    # --- Messages and events.

    def answer(self, message: Mapping[str, Any]) -> dict[str, Json]:
        """Return the answer to a message of another thread or process.

        Args:
            message: {"control": VERB, "session": ID, …arguments}.

        Raises:
            StoreError: This process runs another session, or the session has just ended.
            UsageError: The verb or an argument is invalid.
        """
        verb, session = message.get("control"), message.get("session")
        if session != self._session:
            raise StoreError(
                f"process {os.getpid()} runs session {self._session}, not {session!s:.40}"
            )
        if not isinstance(verb, str) or verb not in self._verbs:
            raise UsageError(
                f"{verb!r:.40} is no command for a running session: choose one of"
                f" {', '.join(self._verbs)}"
            )
        arguments = {key: value for key, value in message.items() if key not in ("control", "session")}  # fmt: skip
        try:
            inspect.signature(self._verbs[verb]).bind(**arguments)
        except TypeError:
            raise UsageError(f"{verb} does not take {', '.join(map(repr, arguments))}") from None
        return self._verbs[verb](**arguments)

    def note_event(self, event: Event) -> None:
        """Keep what `describe` tells of an event: running problems and their steps."""
        kind = event["type"]
        with self._lock:
            if kind == "problem_started":
                self._running[event["problem"]] = 0
            elif kind == "problem_ended":
                self._running.pop(event["problem"], None)
            elif kind == "step" and event["problem"] in self._running:
                self._running[event["problem"]] = event["step"]

    # --- The verbs.

    def describe(self) -> dict[str, Json]:
        """Return the state of the session as a JSON object.

        The keys are pid, status (running, paused or stopping), seconds (of all runs of the session),
        concurrency, budget_tokens, budget_usd, in_flight (calls of models and tools), running (one
        {problem, step} for each running problem, with its last finished step) and questions (one
        {problem, question, since} for each question to a person, since a time of ISO 8601 in UTC).
        """
        with self._lock:
            stopping = self._is_stopping or self._stopping.is_set()
            return {
                "pid": os.getpid(),
                "status": "stopping"
                if stopping
                else "paused"
                if self.gate.is_paused
                else "running",
                "seconds": round(self._seconds_before + time.monotonic() - self._started, 3),
                "concurrency": self.gate.limit,
                "budget_tokens": self._budget.limit_tokens,
                "budget_usd": self._budget.limit_usd,
                "in_flight": self.gate.requests + self.gate.tool_calls,
                "running": [
                    {"problem": name, "step": step} for name, step in self._running.items()
                ],
                "questions": self._mailbox.list_questions(),
            }

    def pause(self) -> dict[str, Json]:
        """Hold each new call until `continue_`. Calls in flight are finished and saved.

        Raises:
            StoreError: The session is stopping.
        """
        with self._lock:
            self._check_goes_on("it cannot be paused")
            if not self.gate.is_paused:
                self.gate.is_paused = True
                self._call_in_loop(self._emit, {"type": "paused"})
        return self.describe()

    def continue_(self) -> dict[str, Json]:
        """Make the calls that a pause holds.

        Raises:
            StoreError: The session is stopping.
        """
        with self._lock:
            self._check_goes_on("it cannot be continued")
            if self.gate.is_paused:
                self.gate.is_paused = False
                self._call_in_loop(self.gate.wake)
                self._call_in_loop(self._emit, {"type": "continued"})
        return self.describe()

    def stop(self) -> dict[str, Json]:
        """Stop the session after the steps that run, as the first Ctrl-C does.

        If the session is paused, the calls that are held are not made, and their steps are repeated
        by `resume` from the recorded calls.
        """
        with self._lock:
            if not self._is_stopping and not self._stopping.is_set():
                self._call_in_loop(self._set_stopping)
                self._is_stopping = True
        return self.describe()

    def adjust(
        self,
        concurrency: int | None = None,
        budget_tokens: int | None = None,
        budget_usd: float | None = None,
    ) -> dict[str, Json]:
        """Change the concurrency or the budgets. The store keeps the changes for `resume`.

        Args:
            concurrency: The number of problems that run at the same time; None for no change. If it
                is lower than before, problems that run go on, but with fewer requests at the same
                time.
            budget_tokens: The maximum number of tokens of the session; None for no change.
            budget_usd: The maximum cost of the session in US dollars; None for no change.

        Raises:
            UsageError: A value is out of bounds, or the session has no prices.
            StoreError: The session is stopping, or the store cannot be written.
        """
        check_adjustment(concurrency, budget_tokens, budget_usd)
        if budget_usd is not None and self._budget.prices is None:
            raise UsageError(
                "budget_usd cannot be set: the session has no prices; resume it with --price-in,"
                " --price-out and --budget-usd"
            )
        given: dict[str, Json] = {"budget_tokens": budget_tokens, "budget_usd": budget_usd}
        limits = {key: value for key, value in given.items() if value is not None}
        with self._lock:
            self._check_goes_on("its settings cannot be changed")
            changed: dict[str, Json] = {}
            if limits:
                spending = self._store.session(self._session).get("spending") or {}
                changed["spending"] = {**spending, **limits}
            if concurrency is not None:
                changed["concurrency"] = concurrency
            self._store.update_session(self._session, **changed)
            if budget_tokens is not None:
                self._budget.limit_tokens = budget_tokens
            if budget_usd is not None:
                self._budget.limit_usd = budget_usd
            if concurrency is not None:
                self.gate.limit = concurrency
                self._call_in_loop(self._spread)
            told = limits if concurrency is None else {"concurrency": concurrency, **limits}
            self._call_in_loop(self._emit, {"type": "adjusted", **told})
        return self.describe()

    def hint(self, problem: str, text: str) -> dict[str, Json]:
        """Give a hint for a problem to the session (hints.py). It is stored before this returns.

        Args:
            problem: The id of the problem, or "all".
            text: The hint. An empty text answers a question and gives the problem up.

        Raises:
            UsageError: The hint is refused (`add_hint`).
            StoreError: There is no such problem, or the store cannot be written.
        """
        add_hint(self._store, self._session, problem, text, self._mailbox, self._secrets)
        with suppress(StoreError):  # it has just ended
            self._call_in_loop(self._emit, {"type": "hint", "problem": problem})
        return self.describe()

    # --- Parts.

    def _check_goes_on(self, consequence: str) -> None:
        if self._is_stopping or self._stopping.is_set():
            raise StoreError(f"session {self._session} is stopping: {consequence}; resume it later")

    def _set_stopping(self) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            self._emit({"type": "stopping"})
        self.gate.wake()

    def _spread(self) -> None:
        raise_open_file_limit(self.gate.limit)
        self.gate.wake()
        self._on_concurrency()

    def _call_in_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed
            raise StoreError(f"session {self._session} has just ended") from None


def check_adjustment(concurrency: Any, budget_tokens: Any, budget_usd: Any) -> None:
    """Check the arguments of `SessionControl.adjust`, without regard to a session.

    Raises:
        UsageError: A value is out of bounds, or all are None.
    """
    if concurrency is None and budget_tokens is None and budget_usd is None:
        raise UsageError("nothing to change: set concurrency, budget_tokens or budget_usd")
    _check_number("concurrency", concurrency, MAX_CONCURRENCY, whole=True)
    _check_number("budget_tokens", budget_tokens, 2**63 - 1, whole=True)
    _check_number("budget_usd", budget_usd, 1e15)


def _check_number(name: str, value: Any, most: float, *, whole: bool = False) -> None:
    """Raise UsageError unless `value` is None or a number above 0 and at most `most`."""
    if value is None:
        return
    right = isinstance(value, int) or (isinstance(value, float) and not whole)
    if not right or isinstance(value, bool) or not 0 < value <= most:
        kind = "a whole number" if whole else "a number"
        # Python refuses to write out numbers of thousands of digits.
        large = isinstance(value, int) and abs(value) > most
        shown = "too large or small" if large else f"{value!r:.40}"
        raise UsageError(f"{name} is {shown}: it must be {kind} above 0 and at most {most:,}")
