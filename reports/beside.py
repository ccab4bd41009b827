"""The baselines beside what a session predicted, as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from ..records import Json
from .labels import SPLITS
from .text import one_line, table, visible

LISTED = 12  # sentences
MINE = "the session"


def print_beside(
    out: Console, metrics: Mapping[str, Mapping[str, Json]], found: Sequence[Mapping[str, Json]]
) -> None:
    """metrics: of the session; found: as `baselines.beside_session` gives it. A row for the session and
    for each baseline, accuracy and macro F1 of each split, means over problems; then whether it beats
    them."""
    rows = [row for one in found for row in one["baselines"]]
    splits = [split for split in SPLITS if any(row["split"] == split for row in rows)]
    if not splits:
        return
    names = [f"{split} {what}" for split in splits for what in ("accuracy", "F1")]
    shown = table("", *names, numbers=range(1, 1 + len(names)))
    mine = [_number(metrics.get(f"{what}_{split}", {}).get("mean"))
            for split in splits for what in ("accuracy", "f1")]  # fmt: skip
    shown.add_row(MINE, *mine)
    for name in dict.fromkeys(row["name"] for row in rows):
        of_name = [row for row in rows if row["name"] == name]
        means = [_number(_mean([row[what] for row in of_name if row["split"] == split]))
                 for split in splits for what in ("accuracy", "f1")]  # fmt: skip
        shown.add_row(visible(name), *means)
    out.print(shown)
    several = len(found) > 1
    said = dict.fromkeys(
        f"{one_line(one['problem'], 40)}: {line}" if several and ", " in line else line
        for one in found
        for line in one["said"]
    )
    for line in list(said)[:LISTED]:
        out.print(visible(line), soft_wrap=True)
    if len(said) > LISTED:
        out.print(f"and {len(said) - LISTED} more (peirce eval hypobench --json)")


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
