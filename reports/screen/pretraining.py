"""What `peirce pretrain` prints: the folder, the course, what the model answers on unseen problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from .text import table


def print_pretrained(out: Console, made: Mapping[str, Any]) -> None:
    settings = made["settings"]
    if made["used"]:
        out.print(f"{made['out']}: made before with these settings, used again", markup=False)
    else:
        out.print(f"{made['out']}: written", markup=False)
    out.print(
        f"{settings['architecture']}, {made['parameters']:,} parameters, {made['tokens']:,} tokens in"
        f" {made['seconds']:,.0f} s, loss {made['loss']}",
        markup=False,
    )
    rows = made.get("measured") or []
    if rows:
        out.print()
        out.print(_figures(rows))
    out.print(f"next: peirce run TASK --model hf:{made['out']} --template compact", markup=False)


def _figures(rows: list[Mapping[str, Any]]) -> Any:
    headings = ("task", "shown", "prompts", "follows", "consistent", "any", "two differ")
    found = table(*headings, numbers=range(1, 7))
    for row in rows:
        shares = ("instruction_following", "consistent", "answered", "different")
        found.add_row(
            row["task"], str(row["observations"]), str(row["prompts"]),
            *(f"{row[name]:.3f}" for name in shares),
        )  # fmt: skip
    return found
