"""What `peirce bank` prints where a person reads: the hypotheses that a session keeps, and how they
came together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from ..records import Json
from .text import one_line, table, visible

EMPTY = "The bank of this session is empty: no hypothesis was accepted."


def print_bank(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """The hypotheses of each problem, best first. applies: the share of its visits on which a
    hypothesis applied."""
    if not rows:
        out.print(EMPTY)
        return
    shown = table("problem", "rank", "reward", "accuracy", "visits", "applies", "hypothesis",
                  numbers=[1, 2, 3, 4, 5])  # fmt: skip
    for row in rows:
        what = row.get("description") or row.get("text", "")
        visits = row.get("visits")
        told = {**row, "applies": row.get("covered", 0) / visits if visits else None}
        names = ("rank", "reward", "accuracy", "visits", "applies")
        cells = (_number(told.get(name)) for name in names)
        shown.add_row(one_line(str(row.get("problem", "")), 24), *cells, one_line(what, 400))
    out.print(shown)


def print_growth(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """A line a step: how many hypotheses there were after it, how many of them were new and how many
    had left, and the best reward and accuracy."""
    if not rows:
        out.print(EMPTY)
        return
    shown = table("problem", "step", "t", "size", "entered", "left", "best reward", "best accuracy",
                  numbers=range(1, 8))  # fmt: skip
    for row in rows:
        told = (
            row["step"], row["t"], row["size"], len(row["entered"]), len(row["left"]),
            row["reward"], row["accuracy"],
        )  # fmt: skip
        shown.add_row(one_line(str(row["problem"]), 24), *map(_number, told))
    out.print(shown)


def print_written(
    out: Console, rows: Sequence[Mapping[str, Json]], path: str, history: bool
) -> None:
    (print_growth if history else print_bank)(out, rows)
    out.print(f"written   {visible(path)}", soft_wrap=True)


def _number(value: Json) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str("" if value is None else value)
