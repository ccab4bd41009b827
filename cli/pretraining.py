"""`peirce pretrain`: train a small proposer from scratch."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from . import options as o
from .printing import emit

app = typer.Typer()
LINE_INTERVAL_S = 20.0  # Interval of progress lines if stderr is not a terminal.


def _option(text: str, *names: str, **rest: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=o.MODEL, show_envvar=False, **rest)


@app.command(
    epilog=o.examples(
        "peirce pretrain --out base-a",
        "peirce pretrain --out base-b --architecture gpt_neox",
        "peirce run acre --observations 3 --model hf:base-a --template compact",
    )
)
def pretrain(
    out: Annotated[str, _option("Folder to write the model to.", "--out", metavar="DIR")],
    architecture: Annotated[str, _option("Architecture of the model: llama or gpt_neox.", metavar="NAME")] = "llama",
    size: Annotated[
        str, _option("Size of the model: small (for a CPU) or large (for a GPU).", metavar="NAME")
    ] = "small",
    minutes: Annotated[float, _option("Training time in minutes.", metavar="N")] = 14.0,
    tokens: Annotated[
        int | None, _option("Train on this number of tokens instead of for a fixed time.", metavar="N")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        _option("Task to train on: list_functions, acre, mini_arc or arc. May be repeated"
                " (default: all).", "--tasks",
                metavar="NAME"),
    ] = None,
    seed: o.Seed = 0,
    template: Annotated[str, _option("Template of the prompts: compact.", metavar="NAME")] = "compact",
    measure: Annotated[
        int, _option(
            "Number of problems per task and number of observations in the final evaluation.",
                     metavar="N"),
    ] = 24,
    sandbox: o.SandboxName = "process",
    workers: o.Workers = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Train a small proposer from scratch on problems that `search` solved."""
    from .. import pretrain as pretrain_model

    told = _ProgressLine(quiet)
    try:
        made = pretrain_model(
            out, architecture=architecture, size=size, minutes=minutes, tokens=tokens,
            tasks=[one for given in tasks or () for one in given.split(",")], seed=seed,
            template=template, measure=measure, sandbox=sandbox, workers=workers, on_progress=told,
        )  # fmt: skip
    finally:
        told.end()
    if as_json:
        emit([made])
        return
    from ..reports.screen import text, training

    training.print_pretrained(text.create_console(), made)


class _ProgressLine:
    """Progress on stderr: one line that is overwritten on a terminal, else occasional lines.

    A thread repeats the last line with the time that has passed, because some steps, such as the
    merges of a tokenizer, report nothing for a while.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._live = quiet, sys.stderr.isatty()
        self._interval_s = 0.5 if self._live else LINE_INTERVAL_S
        self._began, self._printed_at = time.monotonic(), 0.0
        self._latest: Mapping[str, Any] | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        if not quiet:
            threading.Thread(target=self._repeat, daemon=True).start()

    def __call__(self, said: Mapping[str, Any]) -> None:
        with self._lock:
            before, self._latest = self._latest, said
            same = before is not None and all(
                before.get(k) == said.get(k) for k in ("part", "task")
            )
            if not same or time.monotonic() - self._printed_at >= self._interval_s:
                self._print()

    def end(self) -> None:
        """Stop, and clear the progress line of a terminal."""
        self._ended.set()
        with self._lock:
            if self._live and not self._quiet and self._latest is not None:
                typer.echo("\r\x1b[K", err=True, nl=False)

    def _repeat(self) -> None:
        while not self._ended.wait(self._interval_s):
            with self._lock:
                late = time.monotonic() - self._printed_at >= self._interval_s
                if self._latest is not None and late and not self._ended.is_set():
                    self._print()

    def _print(self) -> None:
        if self._quiet or self._latest is None:
            return
        from ..reports.screen.text import format_duration

        self._printed_at = time.monotonic()
        line = f"{_line(self._latest)}; {format_duration(self._printed_at - self._began)}"
        typer.echo(f"\r\x1b[K{line}" if self._live else line, err=True, nl=not self._live)


def _line(said: Mapping[str, Any]) -> str:
    part, task = said["part"], said.get("task")
    if part == "library" and said["waiting"]:
        line = f"waiting for another pretraining, which solves the problems of {task}"
    elif part == "library":
        line = (
            f"solving problems of {task} to learn from, {said['solved']:,} of {said['problems']:,}"
        )
    elif part == "tokenizer":
        line = f"making the tokenizer, {said['done']:.0%}"
    elif part == "training":
        line = f"training, {said['done']:.0%}"
    else:
        line = f"testing on {task} with {said['observations']} observations, {said['done']:.0%}"
    if "loss" in said:
        line += f", {said['tokens']:,} tokens, loss {said['loss']:.3f}"
    return f"pretrain: {line}"
