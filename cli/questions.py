"""Ask the questions of a running session in its terminal (`peirce run --ask-human`).

An answer is given to the session by `peirce.hint`, as from any other process. A question that is
answered elsewhere meanwhile is withdrawn.
"""

from __future__ import annotations

import contextlib
import queue
import select
import sys
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..records import Json, PeirceError

if TYPE_CHECKING:
    from ..reports.screen.progress import SessionProgress

LOOK_INTERVAL_S = 0.2  # between looks at whether the question still waits


@contextmanager
def answer_questions(screen: SessionProgress) -> Iterator[TerminalQuestions | SessionProgress]:
    """Yield the listener for the events of a session, which asks questions in a terminal.

    Without a terminal for input and for messages, it is `screen` itself, which prints the command
    that answers a question.

    Args:
        screen: The progress display of the session.
    """
    if not _has_terminal():
        yield screen
        return
    asking = TerminalQuestions(screen)
    try:
        yield asking
    finally:
        asking.close()


def _has_terminal() -> bool:
    return all(one is not None and one.isatty() for one in (sys.stdin, sys.stderr))


class TerminalQuestions:
    """A listener that passes events to the progress display and asks questions on the terminal.

    Args:
        screen: The progress display, which is hidden while a question waits.
    """

    def __init__(self, screen: SessionProgress) -> None:
        self._screen = screen
        self._open: set[tuple[str, str]] = set()  # problem and path of each question that waits
        self._questions: queue.Queue[Mapping[str, Json] | None] = queue.Queue()
        self._has_input = True
        self._thread = threading.Thread(target=self._ask_all, daemon=True, name="questions")
        screen.answers_here = True
        self._thread.start()

    def __call__(self, event: Mapping[str, Json]) -> None:
        """Handle one event of the session."""
        if event["type"] == "question":
            self._open.add((event["problem"], event["path"]))
            self._questions.put(event)
        elif event["type"] == "answered":
            self._open.discard((event["problem"], event["path"]))
        elif event["type"] in ("stopping", "ended"):
            self._open.clear()
        self._screen(event)

    def close(self) -> None:
        """Ask no more questions."""
        self._open.clear()
        self._questions.put(None)
        self._thread.join(2 * LOOK_INTERVAL_S)

    def _ask_all(self) -> None:
        while (event := self._questions.get()) is not None:
            with contextlib.suppress(OSError, ValueError, termios.error):  # the terminal is closed
                while self._waits(event) and self._has_input and not self._ask(event):
                    pass

    def _waits(self, event: Mapping[str, Json]) -> bool:
        return (event["problem"], event["path"]) in self._open

    def _ask(self, event: Mapping[str, Json]) -> bool:
        """Ask a question and give the answer to the session; return False if it was refused."""
        from .. import hint

        with self._screen.hidden():
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before is no answer
            self._screen.write(f"Question: {event['question']}")
            self._screen.write("Your hint, on one line, then Enter:")
            answer = self._read_line(event)
            if answer is None:
                return True
            try:
                hint(self._screen.session, event["problem"], answer, store=self._screen.store)
            except PeirceError as error:
                self._screen.write(f"The session did not take this hint: {error}")
                return False
        self._open.discard((event["problem"], event["path"]))
        return True

    def _read_line(self, event: Mapping[str, Json]) -> str | None:
        """Return a line of input; None if the question no longer waits or the input has ended."""
        while self._waits(event):
            ready, _, _ = select.select([sys.stdin], [], [], LOOK_INTERVAL_S)
            if ready:
                line = sys.stdin.readline()
                if line:
                    return line.rstrip("\n")
                self._has_input = self._screen.answers_here = False
                self._screen.tell_how_to_answer(event["problem"])
                return None
        self._screen.write("The question no longer waits.")
        return None
