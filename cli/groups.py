"""The groups of commands in `peirce --help`, and help for a task whose name is used as a
command.
"""

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
TRAINING_TARGET, TRAINING_SETTINGS = "Training target", "Training settings"
EXPERIMENT, ESTIMATE = "Experiment", "Estimate"
# Panels whose settings are not read from peirce.toml and the environment: trainings have a YAML file
# (--config), and the command line alone defines an experiment.
SEPARATE_PANELS = (TRAINING_TARGET, TRAINING_SETTINGS, EXPERIMENT, ESTIMATE)


def examples(*lines: str) -> str:
    """Return the examples of a command's help, with one command line per line."""
    return "\n".join(("Examples:", *(f"  {line}" for line in lines)))


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
    """A command whose first argument is a task. Its `--help` ends with examples for the task."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store the first argument for `format_help`, then parse all arguments."""
        ctx.meta[__name__] = args[0] if args and not args[0].startswith("-") else None
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the command, and then the help of the task if one was named."""
        super().format_help(ctx, formatter)
        told = find_task_help(ctx.meta[__name__]) if ctx.meta.get(__name__) else None
        if told is not None:
            print_task_help(told)


# The commands by group, each with its module in this folder and the first line of its help, so that
# `peirce --help` imports none of them. A test compares the lines with the docstrings.
COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Sessions": {
        "run": ("running", "Search for hypotheses that explain the problems of a task."),
        "discover": ("discovering", "Look at a file of data and run a session with the task that fits it."),
        "sweep": ("sweeping", ("Run a session for each combination of settings in a file; run it again to go"
            " on.")),
        "resume": ("running", "Continue a stopped session with its recorded settings."),
        "replay": ("running", ("Repeat sessions from the journal and compare; exit with 1 if they differ.")),
        "import": ("running", "Judge recorded answers in a session without a model."),
        "merge-stores": ("reading", "Merge stores of several runs into one; merging a store again changes nothing."),
        "sessions": ("reading", "List the sessions of a store, even while a run is using it."),
        "status": ("controlling", "Show the state of a session, also while another process runs it."),
        "pause": ("controlling", "Pause a running session: it makes no calls until `peirce continue`."),
        "continue": ("controlling", "Continue a paused session."),
        "stop": ("controlling", "Stop a running session after the steps in progress, as Ctrl-C does."),
        "adjust": ("controlling", "Change the concurrency or the budgets of a running session."),
        "hint": ("controlling", "Give the model a hint for a problem, or answer its question."),
    },
    "Results": {
        "report": ("reporting", "Write sessions as one self-contained HTML page."),
        "view": ("reporting", ("Serve the report live on 127.0.0.1 while a session runs, protected by a token.")),
        "show": ("reading", "List the problems of a session, or all hypotheses of one problem."),
        "bank": ("reading", "List the hypotheses in the bank of a session, best first."),
        "export": ("reading", "Write a session as Parquet, JSONL or a Hugging Face dataset folder."),
    },
    "Evaluation": {
        "compare": ("reading", "Compare sessions: their main metrics and what each result cost."),
        "eval": ("reading", "Compute metrics and tables from the store, without calling a model."),
        "study": ("reading", "Run the simulation studies of the GEAR paper on stored sessions."),
        "rate": ("rating", ("Let a model rate the hypotheses of a session; existing ratings are reused.")),
        "agree": ("rating", ("Write a rating sheet for people, and measure how well they agree with the model.")),
    },
    "Your own hypotheses and data": {
        "check": ("checking", ("Judge your own hypotheses without a session; only labelled text may need a model.")),
        "predict": ("predicting", "Apply what a session found to new data."),
    },
    "Training": {
        "pairs": ("pairing", ("Build preference pairs for `peirce train` from sessions of any model.")),
        "train": ("training", ("Train a proposer on preference pairs with DPO, merge adapters, or train text"
            " classifiers.")),
        "reproduce": ("reproducing", ("Run the experiment of a paper; run the same command again to go on"
            " after a stop.")),
        "pretrain": ("pretraining", ("Train a small proposer from scratch on problems that `search` solved.")),
    },
    "Tasks and installation": {
        "tasks": ("tasks", "List, show, generate and audit problems of the tasks."),
        "mcp": ("serving", "Serve tools to coding agents over MCP (Model Context Protocol)."),
        "doctor": ("reading", ("Show the settings and their sources, sandbox layers, models, extras and the store.")),
    },
}  # fmt: skip


class CommandGroup(TyperGroup):
    """The commands of the command line, by group. A command is imported when it is called.

    If the name of a task, or the path of a task file, is used instead of a command, its help is
    printed. Any other name is an unknown command.
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
        """Print the help of the command line, with the first line of each command's help."""
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
        """Return the command `cmd_name`, or a command that prints the help of the task with this
        name.

        The result is None if there is neither.
        """
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
