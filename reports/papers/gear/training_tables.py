"""Trainings as tables: where each stage began and ended, and what warns of a collapse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...files import plotting, tables
from ...files.tables import Cell, Table
from . import training_figures
from .training_runs import Curve, Run

LONG = ("training", "base", "schedule", "seed", "examples", "stage", "name", "value")
NO_PROBES = "figures are left out: no probe has been logged yet"


def files(runs: Sequence[Run], folder: Path) -> tuple[dict[Path, str | bytes], str]:
    """training.csv (every point), training.md (a row a training) and the figures; and the sentence
    that says why there are no figures, or ""."""
    found: dict[Path, str | bytes] = {
        folder / "training.csv": tables.as_csv(long_table(runs)),
        folder / "training.md": tables.as_markdown(summary(runs)),
    }
    if not plotting.available():
        return found, plotting.ABSENT
    drawn = training_figures.draw(runs)
    return found | {folder / name: data for name, data in drawn.items()}, "" if drawn else NO_PROBES


def long_table(runs: Sequence[Run]) -> Table:
    """A row a point."""
    rows: list[tuple[Cell, ...]] = [
        (one.training, one.base, one.label, one.seed, examples, stage, name, value)
        for one in runs
        for (stage, name), curve in sorted(one.curves.items())
        for examples, value in curve
    ]
    return Table(LONG, tuple(rows))


def summary(runs: Sequence[Run]) -> Table:
    """A row a training: probe accuracy of each stage from the first probe to the last, the least mean
    chosen log-ratio, sampled instruction following from first to last, the range of the weights."""
    stages = list(dict.fromkeys(stage for one in runs for stage in one.stages))
    heads = ("training", "base", "schedule", "seed", "status", "examples",
             *(f"{stage} accuracy" for stage in stages), "least chosen log-ratio",
             "instruction following", "weights")  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in runs:
        ratios = [value for stage in one.stages for _, value in one.curve(stage, "chosen_logratio")]
        weights = [value for stage in one.stages for _, value in one.curve(stage, "weight")]
        rows.append(
            (
                *(one.training, one.base, one.label, one.seed, one.status, examples(one)),
                *(_course(one.curve(stage, "probe_accuracy")) for stage in stages),
                min(ratios) if ratios else None,
                _course(one.curve("", "instruction_following")),
                f"{min(weights):.3f} to {max(weights):.3f}" if weights else None,
            )
        )
    return Table(heads, tuple(rows))


def examples(run: Run) -> int:
    return max((curve[-1][0] for curve in run.curves.values() if curve), default=0)


def _course(curve: Curve) -> str | None:
    """From the first value to the last."""
    return f"{curve[0][1]:.3f} → {curve[-1][1]:.3f}" if curve else None
