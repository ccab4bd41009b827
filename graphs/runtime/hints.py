"""Hints: texts that a person gives for a problem, and the mailbox that holds them.

A hint is kept in the fields of the stored session (`hints`) before anyone is told that it arrived. The
fields are outside the digest. What counts for the results is the journal: a request of the proposer
shows the hints that are in the mailbox when it is made, and they are recorded first, as a call of the
kind "human":

    step/3/propose/0/hints           the hints that the request step/3/propose/0 shows
    step/3/propose/0                 the request
    step/4/human/0                   the answer of a person to a question (human_questions.py)

A request that was recorded without hints is never given any. Therefore concurrent requests, a killed
session, a resumed one and a replay read the same hints, and a replay needs nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ...agents.endpoint.replies import redact_key
from ...agents.prompts.hints import add_hints
from ...records import HINTS, CallKey, Json, Message, Outcome, StoreError, UsageError
from .observation_choice import count_characters

if TYPE_CHECKING:
    from ...store import Store
    from .case import Case

HINTS_FIELD, QUESTIONS_FIELD = "hints", "questions"  # of the fields of a stored session
ALL_PROBLEMS = "all"  # stands for every problem of the session
MAX_HINT_CHARACTERS = 10_000
MAX_PROBLEM_CHARACTERS = 50_000  # of all hints that one prompt shows
HUMAN: Final = "human"


class Mailbox:
    """The hints of a running session, and the questions that wait for an answer.

    Hints may be added from any thread. Problems wait for them in the event loop of the session.

    Args:
        hints: The stored hints, oldest first, each {"problem", "text", "at"}. The problem None stands
            for all problems.
        save_questions: Function that stores the list of open questions.
    """

    def __init__(
        self,
        hints: Sequence[Mapping[str, Json]] = (),
        save_questions: Callable[[Sequence[Json]], None] = lambda questions: None,
    ) -> None:
        self._hints = list(hints)
        self._save_questions = save_questions
        self._questions: dict[str, dict[str, Json]] = {}
        self._waiting: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    @staticmethod
    def open(store: Store, session: str, secrets: Mapping[str, str] | None = None) -> Mailbox:
        """Return the mailbox of a session that is about to run, without questions of an earlier run.

        Args:
            store: The store, open for writing.
            session: The full id of the session.
            secrets: The keys of the session's models by the variable that holds them. They are masked
                in hints that were stored while nobody ran the session.
        """

        def save_questions(questions: Sequence[Json]) -> None:
            store.change_fields(session, lambda fields: {QUESTIONS_FIELD: list(questions)})

        def mask(fields: Mapping[str, Json]) -> Mapping[str, Json]:
            hints = fields.get(HINTS_FIELD) or []
            for secret in (secrets or {}).values():
                hints = redact_key(hints, secret)
            return {HINTS_FIELD: hints, QUESTIONS_FIELD: []}

        fields = store.session(session)
        if fields.get(HINTS_FIELD) or fields.get(QUESTIONS_FIELD):
            store.change_fields(session, mask)
            fields = store.session(session)
        return Mailbox(fields.get(HINTS_FIELD) or (), save_questions)

    def add(self, hint: Mapping[str, Json]) -> None:
        """Add a hint that is stored already. It answers the questions of its problem."""
        with self._lock:
            self._hints.append(hint)
            for name in [one for one in self._questions if hint["problem"] in (None, one)]:
                del self._questions[name]
            waiting = list(self._waiting)
        for wake in waiting:
            wake()

    def get_texts(self, problem: str) -> tuple[str, ...]:
        """Return the texts for a problem, oldest first. The text "" is an answer that gives up."""
        with self._lock:
            return tuple(select_texts(self._hints, problem))

    def list_questions(self) -> list[dict[str, Json]]:
        """Return the open questions, each {"problem", "question", "since"}, oldest first."""
        with self._lock:
            return [dict(one) for one in self._questions.values()]

    async def wait_for_text(
        self, problem: str, known: int, question: str, stopping: asyncio.Event,
        announce: Callable[[], None], on_waiting: Callable[[bool], None] = lambda begins: None,
    ) -> str | None:  # fmt: skip
        """Return the first text for a problem after `known` ones; wait for it if need be.

        Args:
            problem: The id of the problem.
            known: The number of texts that the problem has read already.
            question: The question, which is listed while the problem waits.
            stopping: When this event is set, the problem waits no longer.
            announce: Function that is called before the problem waits.
            on_waiting: Function that is called with True when the problem begins to wait, and with
                False when it waits no longer.

        Returns:
            The text, or None if the session is stopping. The question then stays listed.
        """
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(arrived.set)

        with self._lock:
            self._waiting.append(wake)
        listed = False
        try:
            while True:
                arrived.clear()
                found = self.get_texts(problem)
                if len(found) > known:
                    break
                if not listed:
                    self._list_question(problem, question)
                    listed = True
                    announce()
                    on_waiting(True)
                if stopping.is_set():
                    return None
                await _wait_for_first(arrived, stopping)
        finally:
            with self._lock:
                self._waiting.remove(wake)
            if listed:
                on_waiting(False)
        if listed:
            with self._lock:
                self._questions.pop(problem, None)
            self._save_questions(self.list_questions())
        return found[known]

    def _list_question(self, problem: str, question: str) -> None:
        with self._lock:
            self._questions[problem] = {"problem": problem, "question": question, "since": _now()}
        self._save_questions(self.list_questions())


async def _wait_for_first(*events: asyncio.Event) -> None:
    tasks = [asyncio.ensure_future(one.wait()) for one in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def select_texts(hints: Sequence[Mapping[str, Json]], problem: str) -> Iterator[str]:
    """Yield the texts of the hints for one problem, including those for all problems.

    Raises:
        StoreError: A stored hint has an unexpected form.
    """
    for hint in hints:
        try:
            if hint["problem"] is None or hint["problem"] == problem:
                yield str(hint["text"])
        except (KeyError, TypeError) as error:
            raise StoreError("the store is damaged: a hint cannot be read") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- What a request shows.


async def show_hints(case: Case, path: str, messages: Sequence[Message]) -> Sequence[Message]:
    """Return the prompt of a request with its hints, and record them if there are any.

    Args:
        case: The working data of the problem.
        path: The path of the request in the journal.
        messages: The prompt without hints.

    Raises:
        StoreError: The recorded hints cannot be read.
    """
    place = f"{path}/{HINTS}"
    recorded = case.journal.find_entry(CallKey(case.session, case.problem.id, place))
    if recorded is not None:
        hints = read_hints(place, recorded[1].response)
    else:
        hints = await _read_new_hints(case, path)
        if not hints:
            return messages

    async def make() -> Outcome:
        return Outcome({"hints": list(hints)})

    outcome = await case.record_once(place, HUMAN, {"role": HUMAN, "hints": list(hints)}, make)
    hints = read_hints(place, outcome.response)
    case.hints_read = max(case.hints_read, len(hints))
    compact = case.settings.method.template == "compact"
    shown = add_hints(messages, [text for text in hints if text], compact)
    added = count_characters(shown) - count_characters(messages)
    case.hint_characters = max(case.hint_characters, added)
    return shown


async def _read_new_hints(case: Case, path: str) -> tuple[str, ...]:
    """Return the hints for a request that has recorded none; empty if it was recorded without.

    In a pause, hints are read when it ends.
    """
    paused = case.gate is not None and case.gate.is_paused
    if case.mailbox is None or not (paused or case.mailbox.get_texts(case.problem.id)):
        return ()
    if case.journal.find_entry(CallKey(case.session, case.problem.id, path)) is not None:
        return ()
    if case.gate is not None and paused:
        async with case.gate.passing(is_request=False):
            pass
    return case.mailbox.get_texts(case.problem.id)


def read_hints(path: str, response: Json) -> tuple[str, ...]:
    """Return the texts of recorded hints.

    Raises:
        StoreError: The recorded hints have an unexpected form.
    """
    hints = response.get("hints") if isinstance(response, Mapping) else None
    if not isinstance(hints, list) or not all(isinstance(one, str) for one in hints):
        raise StoreError(f"the journal's response at {path} cannot be read: it holds no hints")
    return tuple(hints)


# --- Adding a hint to a stored session.


def add_hint(
    store: Store,
    session: str,
    problem: str,
    text: str,
    mailbox: Mailbox | None = None,
    secrets: Mapping[str, str] | None = None,
) -> None:
    """Check a hint, store it, and give it to the running session.

    Args:
        store: The store, open for writing.
        session: The full id of the session.
        problem: The id of a problem, or `ALL_PROBLEMS`.
        text: The hint. An empty text answers a question and gives the problem up.
        mailbox: The mailbox of the running session; None if nobody runs the session.
        secrets: The keys of the session's models by the variable that holds them. A hint that
            contains one is refused.

    Raises:
        UsageError: The text is too long or holds a key, the method reads no hints, or the problem has
            ended.
        StoreError: There is no such problem, or the store cannot be written.
    """
    said = clean_text(text)
    for variable, secret in (secrets or {}).items():
        if secret in said:
            raise UsageError(f"the hint holds the key in {variable}: it was not stored")
    check_method(store.settings(session)["method"])
    names = {row.problem.id: row.status for row in store.problems(session)}
    of_all = problem == ALL_PROBLEMS and problem not in names
    if not of_all and problem not in names:
        store.check_problem(session, problem)  # names the nearest one
    open_ones = [name for name, status in names.items() if status != "done"]
    if of_all and not open_ones:
        raise UsageError(f"session {session} has ended: a hint would change nothing")
    if not of_all and problem not in open_ones:
        raise UsageError(f"problem {problem} has ended: a hint would change nothing")
    asked = [problem] if not of_all else open_ones

    def append(fields: Mapping[str, Json]) -> Mapping[str, Json]:
        held = list(fields.get(HINTS_FIELD) or ())
        questions = list(fields.get(QUESTIONS_FIELD) or ())
        waiting = {one["problem"] for one in questions}
        if not said and (of_all or problem not in waiting):
            raise UsageError(
                "the hint is empty: an empty text only answers a question, and"
                f" {'all' if of_all else f'problem {problem}'} asked none"
            )
        total = max(sum(map(len, select_texts(held, name))) for name in asked) + len(said)
        if total > MAX_PROBLEM_CHARACTERS:
            raise UsageError(
                f"the hints of this problem would have {total:,} characters: a problem takes"
                f" {MAX_PROBLEM_CHARACTERS:,}, because each prompt shows all of them"
            )
        # A second text would answer the next question, which nobody has seen yet.
        left = [one for one in questions if one["problem"] not in asked]
        return {HINTS_FIELD: [*held, hint], QUESTIONS_FIELD: left}

    hint = {"problem": None if of_all else problem, "text": said, "at": _now()}
    store.change_fields(session, append)
    if mailbox is not None:
        mailbox.add(hint)


def check_method(method: str) -> None:
    """Raise UsageError if a method asks no proposer, so that no prompt could show a hint."""
    from .. import get_method

    if not get_method(method).takes_hints:
        raise UsageError(
            f"method {method} asks no model for hypotheses, so no prompt could show a hint"
        )


def clean_text(text: str) -> str:
    """Return the text of a hint without control characters and lone surrogates.

    Raises:
        UsageError: The text is no string, or too long.
    """
    if not isinstance(text, str):
        raise UsageError(f"the hint is {text!r:.60}: it must be a text")
    if len(text) > MAX_HINT_CHARACTERS:
        raise UsageError(
            f"the hint has {len(text):,} characters: it may have {MAX_HINT_CHARACTERS:,}"
        )
    lines = ("".join(map(_as_printable, line)) for line in text.splitlines())
    return "\n".join(lines).strip()


def _as_printable(character: str) -> str:
    if character == "\t" or unicodedata.category(character) not in ("Cc", "Cs"):
        return character
    return "\N{REPLACEMENT CHARACTER}"
