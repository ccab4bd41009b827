"""`peirce pretrain`: train a small proposer from scratch."""

from __future__ import annotations

import sys
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
    made = pretrain_model(
        out, architecture=architecture, size=size, minutes=minutes, tokens=tokens,
        tasks=[one for given in tasks or () for one in given.split(",")], seed=seed,
        template=template, measure=measure, sandbox=sandbox, workers=workers, on_progress=told,
    )  # fmt: skip
    told.end()
    if as_json:
        emit([made])
        return
    from ..reports.screen import text, training

    training.print_pretrained(text.create_console(), made)


class _ProgressLine:
    """Progress on stderr: one line that is overwritten on a terminal, else occasional lines."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.live = quiet, sys.stderr.isatty()
        self.part: object = None
        self.last = 0.0

    def __call__(self, said: Mapping[str, Any]) -> None:
        now, part = time.monotonic(), (said["part"], said.get("task"))
        wait = 0.5 if self.live else LINE_INTERVAL_S
        if self.quiet or (part == self.part and now - self.last < wait):
            return
        self.part, self.last = part, now
        line = _line(said)
        typer.echo(f"\r\x1b[K{line}" if self.live else line, err=True, nl=not self.live)

    def end(self) -> None:
        """Clear the progress line of a terminal."""
        if self.live and not self.quiet and self.part is not None:
            typer.echo("\r\x1b[K", err=True, nl=False)


def _line(said: Mapping[str, Any]) -> str:
    words = [str(said["part"])]
    words += [str(said[key]) for key in ("task", "observations") if key in said]
    words.append(f"{said['done']:.0%}")
    if "loss" in said:
        words.append(f"{said['tokens']:,} tokens, loss {said['loss']:.3f}")
    return "pretrain: " + " ".join(words)
