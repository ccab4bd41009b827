"""The verbs as `peirce --help` shows them, and what stands in the place of one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from typer.core import TyperGroup

from .task_help import TaskHelpCommand, print_of, told_of

GROUPS = {
    "Sessions": ("run", "resume", "replay", "import", "sessions"),
    "What they found": ("report", "view", "show", "bank", "export"),
    "How good it is": ("eval", "study", "rate", "agree"),
    "Hypotheses on your data": ("check", "predict"),
    "A better proposer": ("pairs", "train", "pretrain"),
    "What there is": ("tasks", "doctor"),
}


class Verbs(TyperGroup):
    """The verbs by group; the name of a task, or the path of a user's own, in the place of one shows how to
    run on it. Anything else is an unknown verb as always."""

    def list_commands(self, ctx: Any) -> list[str]:
        grouped = [name for names in GROUPS.values() for name in names]
        return sorted(super().list_commands(ctx), key=grouped.index)

    def _say_nearest_task(self, ctx: Any, name: str) -> None:
        """Raises the error of a name that is nearer to a task's than to any verb's."""
        from .. import tasks_list

        tasks = [row.task for row in tasks_list()]
        if get_close_matches(name, self.commands) or not (near := get_close_matches(name, tasks)):
            return
        ctx.fail(f"No such command {name!r}. Did you mean the task {' or '.join(map(repr, near))}?")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            group = next(group for group, names in GROUPS.items() if cmd_name in names)
            setattr(found, "rich_help_panel", group)  # noqa: B010 - typer's own commands have it
        if found is not None or cmd_name.startswith("-"):
            return found
        told = told_of(cmd_name)
        if told is None:
            self._say_nearest_task(ctx, cmd_name)
        return None if told is None else TaskHelpCommand(cmd_name, callback=lambda: print_of(told))
