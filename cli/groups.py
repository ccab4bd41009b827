"""The groups of commands in `peirce --help`, and help for tasks in the place of a command."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

if TYPE_CHECKING:
    from .. import TaskHelp


# --- Panels of flags in `--help`, and example command lines below it.

DATA, MODEL, TEXT = "Data", "Model and method", "Labelled text"
RUNNING, OUTPUT = "Running", "Output"
TRAINING_TARGET, TRAINING_SETTINGS = "What is trained", "Settings of a training"
# Panels whose settings are read from YAML (--config), not from peirce.toml.
YAML_PANELS = (TRAINING_TARGET, TRAINING_SETTINGS)


def examples(*lines: str) -> str:
    """Return an epilog with command lines to copy, one per line if the terminal is wide enough."""
    return "\n".join(("To copy:", *(f"  {line}" for line in lines)))


# --- `peirce TASK`, with or without --help, and `peirce run TASK --help`: examples for that task.


def find_task_help(name: str) -> TaskHelp | None:
    """Return the help of a task, or None if there is no such task.

    Raises:
        PeirceError: If `name` is an existing file that is not a valid task.
    """
    from .. import tasks_help
    from ..records import PeirceError

    try:
        return tasks_help(name)
    except PeirceError:
        if Path(name).exists():
            raise
        return None


def print_task_help(task_help: TaskHelp) -> None:
    """Print the help of a task."""
    from ..reports.screen import listings, text

    listings.print_task(text.create_console(), task_help)


class TaskHelpCommand(TyperCommand):
    """A command that prints the help of a task."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the task."""
        assert self.callback is not None
        self.callback()


class TaskCommand(TyperCommand):
    """A command whose first argument is a task; its `--help` ends with that task's examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember the first argument, then parse as usual."""
        ctx.meta[__name__] = args[0] if args and not args[0].startswith("-") else None
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the command's help, then the task's."""
        super().format_help(ctx, formatter)
        told = find_task_help(ctx.meta[__name__]) if ctx.meta.get(__name__) else None
        if told is not None:
            print_task_help(told)


# The commands by group, each with its module in this folder and the first line of its help, so that
# `peirce --help` imports none of them. A test compares the lines with the docstrings.
COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Sessions": {
        "run": ("running", "Run a session: hypotheses for the problems of a task."),
        "resume": ("running", "Go on where a session stopped, with the settings that it recorded."),
        "replay": ("running", "Drive the same graph with the journal alone and compare; exit 1 where they differ."),
        "import": ("running", "Judge recorded answers: a session without a model."),
        "sessions": ("reading", "The sessions of a store, also while a run owns it."),
    },
    "What they found": {
        "report": ("reporting", "One HTML page of sessions that works from a file."),
        "view": ("reporting", "The same page, live, while a session runs: served on 127.0.0.1, behind a token."),
        "show": ("reading", "The problems of a session, or every hypothesis of one of them."),
        "bank": ("reading", "The hypotheses that a session keeps, best first."),
        "export": ("reading", "Write a session as Parquet, JSONL or a Hugging Face dataset folder."),
    },
    "How good it is": {
        "eval": ("reading", "Metrics and tables from the store; never a model call."),
        "study": ("reading", "The simulation studies of GEAR from the store: defeasible, general."),
        "rate": ("rating", "A model rates the hypotheses of a session; what was rated before is not asked again."),
        "agree": ("rating", "How far people and the model that rated a session agree; first a sheet for these people."),
    },
    "Hypotheses on your data": {
        "check": ("checking", "Judge hypotheses that you bring; no session, and no model but one that labels texts."),
        "predict": ("predicting", "Apply a bank to new rows; no session, nothing is written."),
    },
    "A better proposer": {
        "pairs": ("pairing", "Preference pairs from sessions, of any models, into the store: what `peirce train` trains on."),
        "train": ("training", "Train a proposer on preference pairs (DPO, momentum curriculum); merge adapters; classifiers."),
        "pretrain": ("pretraining", "Train a small model that proposes, on generated problems with the search's answers."),
    },
    "What there is": {
        "tasks": ("tasks", "The tasks: list, show, generate, audit, space."),
        "doctor": ("reading", "What is here: settings and where each comes from, sandbox layers, models, extras, store."),
    },
}  # fmt: skip


class CommandGroup(TyperGroup):
    """The commands by group, each imported when it is called.

    The name of a task, or the path of a task file, in the place of a command shows how to run it.
    Any other name is an unknown command.
    """

    _shows_help = False

    def __init__(self, **rest: Any) -> None:
        # Imported commands, with settings attached to their options.
        self._known: dict[str, Any] = {}
        super().__init__(**rest)

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Every command by name; all are imported."""
        return {name: self._imported(name, group) for name, group in self._groups().items()}

    @commands.setter
    def commands(self, value: Any) -> None:
        """Ignore assignments by click; `COMMANDS` defines the commands."""

    def _groups(self) -> dict[str, str]:
        return {name: group for group, names in COMMANDS.items() for name in names}

    def _imported(self, name: str, group: str) -> Any:
        if name not in self._known:
            module = import_module(f".{COMMANDS[group][name][0]}", __package__)
            found: Any = get_group(module.app)
            self._known |= {name: found} if found.name == name else found.commands
            self._known[name].rich_help_panel = group
        return self._known[name]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self._groups())

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help with the first line of each command."""
        self._shows_help = True  # First lines suffice.
        super().format_help(ctx, formatter)

    def _say_nearest_task(self, ctx: Any, name: str) -> None:
        """Fail with a suggestion if a name is closer to a task than to any command."""
        from .. import tasks_list

        tasks = [row["task"] for row in tasks_list()]
        if get_close_matches(name, self._groups()) or not (near := get_close_matches(name, tasks)):
            return
        ctx.fail(f"No such command {name!r}. Did you mean the task {' or '.join(map(repr, near))}?")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or one that prints the help of a task; None if there is neither."""
        group = self._groups().get(cmd_name)
        if group is not None and self._shows_help:
            summary = COMMANDS[group][cmd_name][1]
            return TyperCommand(cmd_name, help=summary, rich_help_panel=group)
        if group is not None:
            return self._imported(cmd_name, group)
        told = None if cmd_name.startswith("-") else find_task_help(cmd_name)
        if told is None:
            self._say_nearest_task(ctx, cmd_name)
        return (
            None
            if told is None
            else TaskHelpCommand(cmd_name, callback=lambda: print_task_help(told))
        )
