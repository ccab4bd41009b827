"""The command line: parse options, call the functions of the package, and print results.

`peirce --help` lists the commands. Data goes to stdout, and messages go to stderr. Large packages
are imported only by the command that needs them. `main` prints an expected error as one sentence
and exits with its code. Other errors keep their traceback.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

import sys
from typing import Annotated

import typer

from .. import __version__
from .groups import CommandGroup, examples

app = typer.Typer(
    name="peirce",
    cls=CommandGroup,
    help="Discover hypotheses from data with agents, and record every step in a store.",
    epilog=examples(
        "peirce run list_functions --problems 12    # a first session, offline",
        "peirce tasks list                          # list the tasks",
        "peirce labels                              # show how to run a task",
    ),
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"peirce {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run one command line, and exit the process with its exit code.

    Exit codes: 0 done, 1 failed, 2 usage, 3 budget spent, 4 sandbox unavailable, 130 interrupted.
    """
    from .boundary import run_command

    sys.exit(run_command(app, arguments))
