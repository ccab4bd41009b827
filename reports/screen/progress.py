"""Progress output of a running session: a banner, a live display or plain lines, and the resume
command.

The output goes to stderr, because data goes to stdout. If stdout or stderr is not a terminal, there
is no live display. Instead, lines report progress at the end of steps and problems, at most one per
second. A line is also printed after a period without progress, so that a slow model does not look
like a stuck program.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ...records import Interrupted, Json, PeirceError
from .banner import banner, describe_search
from .text import (
    VERDICT_STYLES,
    create_console,
    escape_unprintable,
    format_command,
    format_duration,
    format_resume,
    join_counts,
    stop_sentence,
    to_one_line,
)

VERDICTS = ("accepted", "redundant", "inconsistent", "malformed")
TOO_LONG_TEXT = (
    "A prompt is longer than the model's context, so Peirce shortens the list of earlier hypotheses"
    " and then lists the most informative observations only. With --fit refuse, such a problem"
    " fails."
)
MAX_PROBLEM_LINES = 10  # Running problems that the live display lists.
NO_TOOLS_TEXT = (
    "This model does not accept tools here, so Peirce does not offer any. Instead, the next"
    " prompt tells the model where its answer failed. Use --model-arg tools=true to see the"
    " endpoint's error."
)
LINE_INTERVAL_S = (1.0, 30.0)  # Plain lines become rarer in a long session.
SILENCE_INTERVAL_S = (10.0, 60.0)  # The same bounds for lines during silence.
HEARTBEAT_THREAD = "peirce screen"  # Name of the thread that prints them.
OPENING = "Opening the data, the model and the sandbox"
SCORING = "Scoring the hypotheses"
CURVE_HINT = "run the same command again: finished sessions of the learning curve are not run again"
STOPPING = "Finishing the steps in progress. Press Ctrl-C again to stop immediately."


@dataclass
class RunningProblem:
    """A running problem on the screen, with its step, verdicts, open calls and start time."""

    started_at: float
    step: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    open_calls: set[str] = field(default_factory=set)  # Paths of calls without an answer yet.
    retry_causes: dict[str, str] = field(
        default_factory=dict
    )  # Why a call is being retried, by path.


class Picture(Protocol):
    """A display of the progress that is updated while it is shown."""

    def start(self) -> None:
        """Show the display."""

    def stop(self) -> None:
        """End the display."""


class SessionProgress:
    """A progress display for a session. Pass it as `on_event` to `peirce.run`.

    Use it as a context manager around the run.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        out: Console | None = None,
        live: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = ""
        self.store = ""
        self.answers_here = False  # whether questions to a person are asked on this terminal
        self._out = out or create_console(stderr=True)
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._said = self._began
        self._total = self._ended = self._before = self._failed = 0
        self._verdicts: Counter[str] = Counter()
        self._causes: set[str] = set()
        self._running: dict[str, RunningProblem] = {}
        self._sums: Counter[str] = Counter()
        self._stopping = self._paused = self._in_curve = False
        self._without_tools = self._shortens = False
        self._status = self._cause = ""
        self._phase = OPENING
        self._search = ""  # The line about the first call of the search, until it is printed.
        self._max_answers: int | None = None
        self._over = threading.Event()
        self._picture: Picture | None = (
            Live(console=self._out, refresh_per_second=4, transient=True, get_renderable=self._draw)
            if not quiet
            and (self._out.is_terminal and sys.stdout.isatty() if live is None else live)
            else None
        )

    def __enter__(self) -> SessionProgress:
        if not self._quiet:
            threading.Thread(target=self._beat, daemon=True, name=HEARTBEAT_THREAD).start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            if self._picture is not None:
                self._picture.stop()
            # The command line prints the error after this line.
            solved = isinstance(error, PeirceError) and not isinstance(error, Interrupted)
            when = "To continue once the problem below is solved" if solved else "To continue"
            if self.session and (self._status != "done" or self._failed):
                self._out.print(f"{when}, run: {self._resume_hint()}", soft_wrap=True)
            elif self._in_curve and not self.session:
                self._out.print(f"{when}, {CURVE_HINT}", soft_wrap=True)

    def _resume_hint(self) -> str:
        """Return the command that continues the session."""
        return format_resume(self.session, self.store, failed=self._failed > 0, cause=self._cause)

    def __call__(self, event: Mapping[str, Json]) -> None:
        """Handle one event of the session. Unknown types of events are ignored.

        If the terminal or pipe is closed, the session continues without progress output.
        """
        take = getattr(self, f"_on_{event['type']}", None)
        if take is not None:
            with contextlib.suppress(OSError):
                take(event)

    # --- events ----------------------------------------------------------------

    def _on_session(self, event: Mapping[str, Json]) -> None:
        self.session = event["session"]
        self.store = event["settings"].get("operational", {}).get("store", "")
        self._max_answers = event["settings"].get("max_answers")
        self._total = event["problems"]
        self._ended = self._before = self._total - event.get("open", self._total)
        self._began = self._clock()
        self._phase = ""
        self._search = describe_search(event)
        if not self._quiet:
            for line in banner(event):
                self._say(line)
        if self._picture is not None:
            self._picture.start()

    def _on_reading(self, event: Mapping[str, Json]) -> None:
        self._phase = f"Reading {escape_unprintable(event['data'])}"
        if not self._quiet:
            self._say(self._phase)

    def _on_read(self, event: Mapping[str, Json]) -> None:
        self._phase = OPENING
        if not self._quiet:
            took = event["seconds"]
            after = f" in {format_duration(took)}" if took >= 1 else ""
            self._say(f"Read {event['rows']:,} rows{after}")

    def _on_curve(self, event: Mapping[str, Json]) -> None:
        self._in_curve = True
        self._phase = (
            f"Learning curve: {event['rows']:,} rows (session {event['number']} of {event['of']})"
        )
        if not self._quiet:
            self._say(self._phase)

    def _on_problem_started(self, event: Mapping[str, Json]) -> None:
        self._running[event["problem"]] = RunningProblem(self._clock())

    def _on_call_started(self, event: Mapping[str, Json]) -> None:
        if event["problem"] in self._running:
            self._running[event["problem"]].open_calls.add(event["path"])
        if self._search and not self._quiet and event["path"].endswith("/propose/0"):
            self._say(self._search)
            self._search = ""

    def _on_call(self, event: Mapping[str, Json]) -> None:
        running = self._running.get(event["problem"])
        if running is not None:
            running.open_calls.discard(event["path"])
            running.retry_causes.pop(event["path"], None)
        self._sums[f"{event['kind']} calls"] += 1
        self._sums[event["source"]] += 1
        self._sums["retries"] += event.get("retries", 0)
        for name in ("tokens_in", "tokens_out"):
            self._sums[name] += (event.get("usage") or {}).get(name, 0)

    def _on_asked_again(self, event: Mapping[str, Json]) -> None:
        if event["problem"] in self._running:
            self._running[event["problem"]].retry_causes[event["path"]] = event["cause"]
            self._plain(self._progress)

    def _on_report(self, event: Mapping[str, Json]) -> None:
        if not self._quiet:
            self._say(escape_unprintable(event["text"]))

    def _on_step(self, event: Mapping[str, Json]) -> None:
        self._verdicts.update(event["verdicts"])
        running = self._running.get(event["problem"])
        if running is not None:
            running.step = event["step"]
            running.verdicts.update(event["verdicts"])
        self._plain(self._progress)

    def _on_problem_ended(self, event: Mapping[str, Json]) -> None:
        self._ended += 1
        running = self._running.pop(event["problem"], RunningProblem(self._clock()))
        if event["status"] == "failed":
            self._failed += 1
            if event["cause"] not in self._causes and not self._quiet:
                self._causes.add(event["cause"])  # Print each cause only once.
                self._say(self._ended_line(event, running))
                return
        self._plain(lambda: self._ended_line(event, running), always=self._ended == self._total)

    def _on_no_tools(self, event: Mapping[str, Json]) -> None:
        if not self._without_tools and not self._quiet:
            self._without_tools = True
            self._say(NO_TOOLS_TEXT)

    def _on_too_long(self, event: Mapping[str, Json]) -> None:
        if not self._shortens and not self._quiet:
            self._shortens = True
            self._say(TOO_LONG_TEXT)

    def _on_stopping(self, event: Mapping[str, Json]) -> None:
        if not self._stopping:
            self._stopping = True
            self._out.print(STOPPING)

    def _on_paused(self, event: Mapping[str, Json]) -> None:
        self._paused = True
        command = format_command("continue", self.session, self.store)
        self._say(f"Paused: requests in flight are finished. To go on, run: {command}")

    def _on_continued(self, event: Mapping[str, Json]) -> None:
        self._paused = False
        if not self._quiet:
            self._say("The session goes on.")

    def _on_adjusted(self, event: Mapping[str, Json]) -> None:
        changed = [f"{key} {value:,}" for key, value in event.items() if key != "type"]
        if not self._quiet:
            self._say(f"Changed: {', '.join(changed)}")

    def _on_question(self, event: Mapping[str, Json]) -> None:
        if not self.answers_here:
            self._say(escape_unprintable(f"Question: {event['question']}"))
            self.tell_how_to_answer(event["problem"])

    def _on_hint(self, event: Mapping[str, Json]) -> None:
        if not self._quiet:
            self._say(f"A hint for {escape_unprintable(event['problem'])} arrived.")

    def tell_how_to_answer(self, problem: str) -> None:
        """Print the command that answers a question about a problem."""
        command = format_command("hint", self.session, self.store, problem, "TEXT")
        self._say(f"To answer, run: {escape_unprintable(command)}")

    def write(self, line: str) -> None:
        """Print a line, with control characters shown as escapes, also if the display is quiet."""
        self._say(escape_unprintable(line))

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the live display inside the `with` block, so that a line can be typed."""
        picture = self._picture
        if picture is None:
            yield
            return
        picture.stop()
        try:
            yield
        finally:
            if not self._over.is_set() and not self._status:  # the session has not ended
                picture.start()

    def _on_ended(self, event: Mapping[str, Json]) -> None:
        self._status, self._cause = event["status"], event.get("cause", "")
        self._failed = event.get("failed", self._failed)  # Also in earlier runs of the session.
        self._phase = SCORING
        if self._picture is not None:
            self._picture.stop()

    # --- plain lines -------------------------------------------------------------

    def _plain(self, line: Callable[[], str], always: bool = False) -> None:
        now = self._clock()
        least, most = LINE_INTERVAL_S
        wait = 0.0 if always else min(max(least, (now - self._began) / 20), most)
        if not self._quiet and self._picture is None and now - self._said >= wait:
            self._say(line())

    def _beat(self) -> None:
        while not self._over.wait(1.0):
            with contextlib.suppress(OSError):
                self._still()

    def _still(self) -> None:
        """Print the current phase after a period of silence; the live display has its own clock."""
        if self._picture is not None and not self._phase:
            return
        now = self._clock()
        least, most = SILENCE_INTERVAL_S
        if now - self._said >= min(max(least, (now - self._began) / 20), most):
            self._say(f"{self._phase}; {self._time()}" if self._phase else self._progress())

    def _say(self, line: str) -> None:
        self._said = self._clock()
        self._out.print(line, soft_wrap=True)

    def _ended_line(self, event: Mapping[str, Json], running: RunningProblem) -> str:
        what = join_counts({name: running.verdicts[name] for name in VERDICTS}) or "no answers"
        status = "" if event["status"] == "done" else f" {event['status']}"
        return (
            f"[{self._ended}/{self._total}] problem {escape_unprintable(event['problem'])}{status}: {what};"
            f" {stop_sentence(event['cause'], self._max_answers)}; {self._time()}"
        )

    def _progress(self) -> str:
        verdicts = (
            join_counts({name: self._verdicts[name] for name in VERDICTS}) or "no verdicts yet"
        )
        paused = "paused; " if self._paused else ""
        return f"[{self._ended}/{self._total}] {paused}{verdicts}; {self._footer()}; {self._time()}"

    def _time(self) -> str:
        passed = self._clock() - self._began
        now = self._ended - self._before
        left = self._total - self._ended
        if not now or not left:
            return format_duration(passed)
        return f"{format_duration(passed)}, about {format_duration(passed / now * left)} left"

    def _footer(self) -> str:
        flight = sum(len(running.open_calls) for running in list(self._running.values()))
        told = {
            "in flight": flight,
            "retries": self._sums["retries"],
            "from the journal": self._sums["journal"],
            "from the cache": self._sums["cache"],
            "input tokens": self._sums["tokens_in"],
            "output tokens": self._sums["tokens_out"],
        }
        said = [f"{n:,} {name}" for name, n in told.items() if n or name == "in flight"]
        again = [
            why
            for running in list(self._running.values())
            for why in list(running.retry_causes.values())
        ]
        if again:
            said.insert(1, f"{len(again):,} retrying ({to_one_line(again[-1], 80)})")
        return ", ".join(said)

    # --- the live picture ----------------------------------------------------------

    def _draw(self) -> RenderableType:
        """Return the live display.

        It runs in its own thread while events arrive, so it copies collections before iterating.
        """
        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            ProgressBar(total=max(self._total, 1), completed=self._ended, width=40),
            Text(f"{self._ended}/{self._total} problems"),
            Text(f"{self._failed} failed", style="red") if self._failed else Text(""),
            Text(self._time(), style="dim"),
        )
        parts: list[RenderableType] = [bar, self._verdict_table()]
        running = list(self._running.items())
        parts += [self._line(name, one) for name, one in running[:MAX_PROBLEM_LINES]]
        if len(running) > MAX_PROBLEM_LINES:
            parts.append(Text(f"  and {len(running) - MAX_PROBLEM_LINES} more", style="dim"))
        parts.append(Text(self._footer(), style="dim"))
        if self._paused:
            parts.append(Text("Paused", "yellow"))
        if self._stopping:
            parts.append(Text(STOPPING, "yellow"))
        return Group(*parts)

    def _verdict_table(self) -> Table:
        shown = Table.grid(padding=(0, 2))
        total = sum(self._verdicts.values())
        for name in VERDICTS:
            count = self._verdicts[name]
            share = f"{count / total:.0%}" if total else ""
            shown.add_row(Text(name, VERDICT_STYLES[name]), Text(f"{count:>6}"), Text(share, "dim"))
        return shown

    def _line(self, name: str, running: RunningProblem) -> Text:
        line = Text(f"  {to_one_line(name, 20):<12} step {running.step + 1:<3} ")
        for verdict in VERDICTS:
            line.append("■" * min(running.verdicts[verdict], 30), style=VERDICT_STYLES[verdict])
        return line.append(f"  {format_duration(self._clock() - running.started_at)}", style="dim")
