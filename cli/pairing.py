"""`peirce pairs`: build preference pairs from sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from ..commands.option_types import PairsOptions
from ..training.pairs.settings import PairsConfig
from . import options as o
from .printing import emit

app = typer.Typer()


def _option(
    panel: str, text: str, *names: str, metavar: str | None = None
) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        *names, help=text, metavar=metavar, rich_help_panel=panel, show_envvar=False
    )
    return option


@app.command(
    epilog=o.examples(
        "peirce pairs last",
        "peirce pairs 4f1c 9a --limit 100000 --base models/small --max-length 1024",
        "peirce pairs --saved last --out pairs --format hf",
        "peirce pairs --list",
    )
)
@o.add_flags(*PairsOptions.__annotations__, config_class=PairsConfig)
def pairs(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(help=("Sessions to build pairs from, joined by problem and shown pairs (default: last)."),
                       metavar="[SESSION]..."),
    ] = None,
    saved: Annotated[
        str | None, _option(o.OUTPUT, "Use this stored set instead of sessions: its digest, or last.",
                            metavar="SET")
    ] = None,
    listed: Annotated[bool, _option(o.OUTPUT, "List the sets in the store.", "--list")] = False,
    dry_run: Annotated[bool, _option(o.OUTPUT, "Count the pairs without storing them.", "--dry-run")] = False,
    out: Annotated[
        str | None, _option(o.OUTPUT, "Also write the set to this folder.", metavar="DIR")
    ] = None,
    format: Annotated[
        str, _option(o.OUTPUT, "Format of the files: parquet, or hf for a Hugging Face dataset folder.")
    ] = "parquet",
    plain: Annotated[
        bool, _option(o.OUTPUT, "Write texts formatted with the chat template of --base instead of messages.", "--plain")
    ] = False,
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Build preference pairs for `peirce train` from sessions of any model."""
    from .. import pair_sets
    from .. import pairs as build_pairs
    from ..reports.screen import text, training

    if listed:
        rows = pair_sets(store=store)
        emit([rows]) if as_json else training.print_pair_sets(text.create_console(), rows)
        return
    for name in ("contexts", "per_context"):
        if name in settings:
            settings[name] = _caps(f"--{name.replace('_', '-')}", settings[name])
    if "ratio" in settings:
        settings["ratio"] = _parse_integers("--ratio", settings["ratio"], ":")
    with _progress() as progress:
        report = build_pairs(
            *(sessions or ()), saved=saved, dry_run=dry_run, out=out, format=format, plain=plain,
            workers=workers, cluster=cluster, store=store, progress=progress, **settings,
        )  # fmt: skip
    emit([report]) if as_json else training.print_pairs(text.create_console(), report)


def _caps(option: str, given: str) -> list[int | None]:
    """Read limits; `all` replaces one number or all three."""
    parts = given.split(",") if given != "all" else ["all"] * 3
    return [
        None if part.strip() == "all" else _parse_integers(option, part, ",")[0] for part in parts
    ]


def _parse_integers(option: str, given: str, between: str) -> list[int]:
    from ..records import UsageError

    try:
        return [int(part) for part in given.split(between)]
    except ValueError:
        valid = between.join("NNN")
        raise UsageError(f"{option} {given!r}: give whole numbers in the form {valid}") from None


@contextmanager
def _progress() -> Iterator[Callable[[int, int, int], None] | None]:
    """Show a progress bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from ..reports.screen import text

    columns = (TextColumn("problems"), BarColumn(), MofNCompleteColumn(),
               TextColumn("{task.fields[pairs]:,} pairs"))  # fmt: skip
    with Progress(*columns, console=text.create_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pairs=0)

        def report(done: int, total: int, pairs: int) -> None:
            bar.update(task, completed=done, total=total, pairs=pairs)

        yield report
