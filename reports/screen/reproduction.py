"""Terminal output of `peirce reproduce`: plain lines of progress, the plan, and the results.

The lines go to stderr. A line says when a step begins and ends; during a step, a line is printed
every `LINE_INTERVAL_S` seconds.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console

from ...records import Json
from ..papers.t3.metrics import PASS_RATES, SCORES
from .text import create_console, create_table, escape_unprintable, format_duration

LINE_INTERVAL_S = 15.0
PROGRESS_THREAD = "peirce reproduction"
SHOWN_METRICS = (*SCORES, *PASS_RATES)


class ReproductionProgress:
    """Prints the progress of an experiment. Pass its methods to `peirce.reproduce`.

    Use it as a context manager around the experiment.

    Attributes:
        begun: Whether a step has begun, so that there is something to continue.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        out: Console | None = None,
        interval_s: float = LINE_INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.begun = False
        self._out = out or create_console(stderr=True)
        self._quiet = quiet
        self._interval_s = interval_s
        self._clock = clock
        self._over = threading.Event()
        self._name, self._state = "", ""
        self._reach = ("", "")  # the step and the sentence that were printed last
        self._began = clock()
        self._before = 0
        self._counts: Counter[str] = Counter()
        self._causes: set[str] = set()

    def __enter__(self) -> ReproductionProgress:
        self._say("Reading the data and looking for the base")
        if not self._quiet:
            threading.Thread(target=self._beat, daemon=True, name=PROGRESS_THREAD).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def take_step(self, progress: Any) -> None:
        """Print the beginning or the end of a step (`StepProgress`)."""
        head = f"[{progress.number}/{progress.total}] {progress.step.name}"
        if progress.phase == "before":
            self._before += 1
            return
        if self._before:
            self._say(f"{self._before} steps were finished before")
            self._before = 0
        if progress.phase == "begin":
            self.begun = True
            self._name, self._state, self._began = head, "", self._clock()
            self._counts = Counter()
            problems = len(progress.step.problems)
            count = "1 problem" if problems == 1 else f"{problems:,} problems"
            self._say(f"{head}: {count}" if problems else head)
        else:
            state = f"; {self._state}" if self._state else ""
            self._say(f"{head}: done in {format_duration(progress.seconds)}{state}")
            self._name = ""

    def take_event(self, event: Mapping[str, Json]) -> None:
        """Count an event of a session."""
        if event["type"] == "session":
            self._counts["total"] = event["problems"]
            self._counts["ended"] = event["problems"] - event.get("open", event["problems"])
        elif event["type"] == "step":
            self._counts["answers"] += 1
        elif event["type"] == "problem_ended":
            self._counts["ended"] += 1
            if event["status"] == "failed":
                self._counts["failed"] += 1
                if event["cause"] not in self._causes:
                    self._causes.add(event["cause"])  # Print each cause only once.
                    self._say(f"A problem failed: {event['cause']}")
        elif event["type"] == "stopping":
            self._say("Finishing the steps in progress. Press Ctrl-C again to stop immediately.")
        failed = f", {self._counts['failed']} failed" if self._counts["failed"] else ""
        self._state = (
            f"{self._counts['ended']} of {self._counts['total']} problems{failed},"
            f" {self._counts['answers']} answers"
        )

    def take_training(self, progress: Any) -> None:
        """Keep the state of a training (`training.dpo.progress.Progress`), and print its reach."""
        if progress.reach and self._reach != (self._name, progress.reach):
            self._reach = (self._name, progress.reach)
            self._say(progress.reach)
        loss = "" if progress.train_loss is None else f", loss {progress.train_loss:.3f}"
        accuracy = ", ".join(
            f"{stage} {one['probe_accuracy']:.3f}"
            for stage, one in progress.probes.items() if "probe_accuracy" in one
        )  # fmt: skip
        self._state = f"{progress.examples:,} of {progress.total:,} examples{loss}" + (
            f"; probe accuracy {accuracy}" if accuracy else ""
        )

    def take_pairs(self, done: int, total: int, pairs: int) -> None:
        """Keep the number of problems from which pairs were built."""
        self._state = f"{done:,} of {total:,} problems, {pairs:,} pairs"

    def _beat(self) -> None:
        while not self._over.wait(self._interval_s):
            name, state = self._name, self._state
            if name:
                passed = format_duration(self._clock() - self._began)
                self._say(f"{name}: {state + '; ' if state else ''}{passed}")

    def _say(self, line: str) -> None:
        if not self._quiet:
            with contextlib.suppress(OSError):  # the terminal or pipe is closed
                self._out.print(escape_unprintable(line), soft_wrap=True, markup=False)


def print_results(out: Console, done: Mapping[str, Any]) -> None:
    """Print the rows of this experiment, what was left out, and the paths of the files."""
    rows = [row for row in done["rows"] if row["source"] == "here"]
    heads = [row["trained_by"].removeprefix("single:") for row in rows]
    shown = create_table("mean", *heads, numbers=tuple(range(1, len(heads) + 1)))
    for name in SHOWN_METRICS:
        means = [row["metrics"][name]["mean"] for row in rows]
        shown.add_row(name, *("–" if mean is None else f"{mean:.3f}" for mean in means))
    shown.add_row("problems", *(f"{row['problems']:,}" for row in rows))
    out.print(shown)
    for one in done["left_out"]:
        out.print(escape_unprintable(f"Left out: {one}"), soft_wrap=True, markup=False)
    page = next(path for path in done["files"] if path.endswith("results.md"))
    out.print(f"Intervals, tables and figures beside the published ones: {escape_unprintable(page)}",
              soft_wrap=True, markup=False)  # fmt: skip


def print_plan(out: Console, plan: Mapping[str, Any]) -> None:
    """Print the steps of an experiment with their costs, their sums, and the assumptions."""
    shown = create_table("step", "problems", "calls", "tokens in", "tokens out", "GPU hours",
                         "disk", numbers=(1, 2, 3, 4, 5, 6))  # fmt: skip
    for step in (*plan["steps"], {"step": "total", **plan["total"]}):
        shown.add_row(
            escape_unprintable(step["step"]), _count(step["problems"]), _count(step["calls"]),
            _count(step["tokens_in"]), _count(step["tokens_out"]),
            "–" if step["gpu_hours"] is None else f"{step['gpu_hours']:.2f}",
            format_bytes(step["disk_bytes"]),
        )  # fmt: skip
    out.print(shown)
    for one in plan["assumptions"]:
        out.print(escape_unprintable(f"- {one}"), soft_wrap=True, markup=False)


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def format_bytes(number: int) -> str:
    """Return a number of bytes as text, such as "1.3 GB"."""
    if number <= 0:
        return "–"
    size, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
