"""Progress of a running training: a live display, or lines, and the resume command.

The display goes to stderr. If stderr is not a terminal, a line is printed for each probe (a
measurement on validation pairs) and each epoch.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.text import Text

from .text import create_console, create_table, escape_unprintable, format_duration, to_one_line

PHASE_TEXTS = {
    "tokens": "reading the pairs", "reference": "evaluating the reference model", "probe": "probing",
    "sample": "sampling answers", "save": "saving",
}  # fmt: skip


class _Screen:
    """A context manager that shows the progress of a training; call it with each progress report."""

    def __init__(
        self,
        folder: str,
        *,
        quiet: bool = False,
        out: Console | None = None,
        live: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._out = out or create_console(stderr=True)
        shown = self._out.is_terminal and sys.stderr.isatty() if live is None else live
        self._picture = (
            Live(console=self._out, refresh_per_second=4, transient=True, get_renderable=self._draw)
            if shown and not quiet
            else None
        )
        self.done = False  # Set by the caller; otherwise the resume command is printed.

    def __enter__(self) -> Any:
        if self._picture is not None:
            self._picture.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            if self._picture is not None:
                self._picture.stop()
            begun = self._before() > 0
            if begun and not self.done and (kind is None or issubclass(kind, KeyboardInterrupt)):
                again = shlex.join(["peirce", "train", "--resume", "--out", self._folder])
                self._out.print(f"To continue, run: {again}", soft_wrap=True)

    def _draw(self) -> RenderableType:
        raise NotImplementedError

    def _before(self) -> float:
        raise NotImplementedError

    def _say(self, line: str) -> None:
        if not self._quiet:
            with contextlib.suppress(OSError):
                self._out.print(escape_unprintable(line), soft_wrap=True)

    def _format_time_left(self, done: float, total: float, since: float, began: float) -> str:
        """Return the elapsed time and an estimate of the rest from the pace since `began`."""
        passed = self._clock() - began
        if done <= since or total <= 0:
            return format_duration(passed)
        return f"{format_duration(passed)}, about {format_duration(passed * (total - done) / (done - since))} left"


class TrainingProgress(_Screen):
    """A progress display for a training on pairs. Pass it as `on_progress` to `peirce.train`.

    It is called with `training.dpo.progress.Progress`.
    """

    _last: Any = None
    _probes: tuple[int, Mapping[str, Mapping[str, float]]] = (-1, {})
    _first: float | None = None
    _said = 0
    _reach = ""

    def __call__(self, progress: Any) -> None:
        """Update the display, and print new warnings and how far the schedule can move the draws.

        Without a live display, new probe results are printed as a line.
        """
        self._last = progress
        if progress.phase == "train" and self._first is None:
            self._first, self._began = progress.examples, self._clock()
        if progress.reach != self._reach:
            self._reach = progress.reach
            self._say(self._reach)
        for sentence in progress.messages[self._said :]:
            self._say(f"Warning: {sentence}")
        self._said = max(self._said, len(progress.messages))
        if progress.probes and dict(progress.probes) != self._probes[1]:
            self._probes = (progress.examples, dict(progress.probes))
            if self._picture is None:
                self._say(self._line())

    def _line(self) -> str:
        told = self._last
        parts = [
            f"{stage} {one.get('probe_accuracy', float('nan')):.3f}"
            for stage, one in told.probes.items()
        ]
        sampled = [f"{name.replace('_', ' ')} {value:.3f}" for name, value in told.samples.items()]
        loss = "" if told.train_loss is None else f", loss {told.train_loss:.3f}"
        return (
            f"{told.examples:,} of {told.total:,} examples{loss}; accuracy {', '.join(parts)}"
            + (f"; {', '.join(sampled)}" if sampled else "")
            + f"; {format_duration(self._clock() - self._began)}"
        )

    def print_step(self, sentence: str) -> None:
        """Print a sentence about what is done before or after the training."""
        self._say(sentence)

    def _before(self) -> float:
        return 0.0 if self._last is None else float(self._last.examples)

    def _draw(self) -> RenderableType:
        told = self._last
        if told is None:
            return Text("loading the model")
        head = Text()
        head.append(f"{told.examples:,} of {told.total:,} examples")
        if told.train_loss is not None:
            head.append(f"   loss {told.train_loss:.3f}")
        head.append(
            f"   {self._format_time_left(told.examples, told.total, self._first or 0, self._began)}"
        )
        if told.phase in PHASE_TEXTS:
            head.append(f"   {PHASE_TEXTS[told.phase]}", style="dim")
        parts: list[RenderableType] = [_bar(told.examples, told.total), head]
        if told.probes:
            shown = create_table(
                "stage", "loss", "accuracy", "chosen log-ratio", "weight", numbers=(1, 2, 3, 4)
            )
            for stage, one in told.probes.items():
                shown.add_row(
                    stage, *(_number(one.get(name)) for name in
                             ("probe_loss", "probe_accuracy", "chosen_logratio")),
                    _number(told.weights.get(stage)),
                )  # fmt: skip
            parts.append(shown)
        if told.samples:
            sampled = (f"{name.replace('_', ' ')} {v:.3f}" for name, v in told.samples.items())
            parts.append(Text(f"sampled: {', '.join(sampled)}"))
        parts += [
            Text(to_one_line(sentence, 110), style="yellow") for sentence in told.messages[-3:]
        ]
        return Group(*parts)


class ClassifierProgress(_Screen):
    """A progress display for trainings of classifiers.

    It is called with a mapping that has the keys "set", "epoch", "update" and "updates".
    """

    _told: Mapping[str, Any] | None = None
    _set = ""

    def __call__(self, progress: Mapping[str, Any]) -> None:
        """Update the display, and print a line at the end of an epoch."""
        if progress["set"] != self._set:
            self._set, self._began = progress["set"], self._clock()
        self._told = progress
        epoch = progress["epoch"]
        if epoch is not None:
            self._say(
                f"{progress['set']}, epoch {epoch.number}: training loss {epoch.train_loss:.3f},"
                f" validation loss {epoch.loss:.3f}, accuracy {epoch.accuracy:.3f}, macro F1"
                f" {epoch.f1:.3f}"
            )

    def _before(self) -> float:
        return 0.0 if self._told is None else float(self._told["update"])

    def _draw(self) -> RenderableType:
        told = self._told
        if told is None:
            return Text("loading the model")
        done, total = told["update"], max(1, told["updates"])
        line = f"{escape_unprintable(told['set'])}: update {done} of at most {total}   "
        line += self._format_time_left(done, total, 0, self._began)
        return Group(_bar(done, total), Text(line))


def _bar(done: float, total: float) -> RenderableType:
    """Return a progress bar on its own line; without padding a bar does not end its line."""
    return Padding(ProgressBar(total=max(1, total), completed=done, width=60), 0)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
