"""`peirce TASK`, with or without --help, and `peirce run TASK --help`: lines to copy for that task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

if TYPE_CHECKING:
    from .. import TaskHelp


def told_of(name: str) -> TaskHelp | None:
    """What `peirce.tasks_help` says of a task; None where there is none of this name. A file that is there
    and is no task is an error that says why (PeirceError)."""
    from .. import tasks_help
    from ..records import PeirceError

    try:
        return tasks_help(name)
    except PeirceError:
        if Path(name).exists():
            raise
        return None


def print_of(told: TaskHelp) -> None:
    from ..reports.screen import reading, text

    reading.print_task(text.console(), told)


class TaskHelpCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        assert self.callback is not None
        self.callback()


class OfTask(TyperCommand):
    """A verb whose first argument is a task: with --help behind one, that task's lines stand below."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[__name__] = args[0] if args and not args[0].startswith("-") else None
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        told = told_of(ctx.meta[__name__]) if ctx.meta.get(__name__) else None
        if told is not None:
            print_of(told)
