"""Lines on stderr about a long computation outside a session, such as the training of baselines."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from rich.console import Console

from .text import create_console, format_duration

SILENCE_S = 10.0  # seconds of silence after which another line says what is being done
PHASE_THREAD = "peirce phases"  # name of the thread that prints these lines


class PhaseLines:
    """Prints a line when a computation begins, and further lines as long as it takes.

    Use it as a context manager around the computation.

    Args:
        title: What is being computed. It is printed at once.
        quiet: Print nothing.
        out: The console; None for stderr.
        silence_s: Seconds between two lines.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        title: str,
        *,
        quiet: bool = False,
        out: Console | None = None,
        silence_s: float = SILENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._phase = title
        self._quiet = quiet
        self._out = out or create_console(stderr=True)
        self._silence_s = silence_s
        self._clock = clock
        self._began = clock()
        self._over = threading.Event()

    def __enter__(self) -> PhaseLines:
        if not self._quiet:
            self._say(self._phase)
            threading.Thread(target=self._beat, daemon=True, name=PHASE_THREAD).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def begin(self, phase: str) -> None:
        """Set what is being computed now. The next line says it."""
        self._phase = phase

    def _beat(self) -> None:
        while not self._over.wait(self._silence_s):
            self._say(f"{self._phase}; {format_duration(self._clock() - self._began)}")

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # the terminal or pipe is closed
            self._out.print(line, soft_wrap=True)
