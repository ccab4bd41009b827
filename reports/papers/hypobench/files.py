"""The files that `peirce eval hypobench SESSION… --out DIR` writes in addition to the metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ....records import Json, Problem
from ...files import plotting, tables
from ...files.tables import Table
from . import figures
from . import tables as hypobench_tables
from .entries import Average, build_entries
from .layout import LONG_COLUMNS, Grid, Key

MEASURES = {
    "feature": {"FDR: Cohen's kappa": "kappa", "FDR: agreement": "agreement"},
    "relationship": {"RC: weighted kappa": "weighted_kappa", "RC: within one point": "within_one"},
}


def map_proposers(cells: Iterable[Mapping[str, Json]]) -> dict[str, str]:
    """Return the proposer of each session in the cross-model table, by session.

    Args:
        cells: The result of `cross_model.build_cells`.
    """
    return {str(one["session"]): str(one["proposer"]) for one in cells}


def agreement_values(compared: Sequence[Mapping[str, Json]]) -> dict[Key, Average]:
    """Return the values of table 8, the agreement of raters.

    Args:
        compared: Rows that `peirce agree` prints, with "data_sets" added.
    """
    found: dict[Key, Average] = {}
    for row in compared:
        for name, key in MEASURES[str(row["question"])].items():
            if row[key] is not None:
                column = f"{row['one']} and {row['other']}"
                found[name, column, ""] = Average(row[key], tuple(row["data_sets"]), row["n"])
    return found


def render_files(
    folder: Path,
    recorded: Sequence[Mapping[str, Json]],
    scored: Sequence[Mapping[str, Json]],
    problems: Sequence[Sequence[Problem]],
    roles: Sequence[Collection[str]],
    cross_model: Sequence[Mapping[str, Json]],
    compared: Sequence[Mapping[str, Json]] = (),
    trainings: Sequence[Mapping[str, Json]] = (),
) -> tuple[dict[Path, str | bytes], str]:
    """Return the files to write, and a sentence that says why there are no figures ("" if there
    are).

    The files are each table as .txt, .md and .csv (one line per value), hypobench-tables.md with
    all tables, points.csv with the points of the figures, and the figures.

    Args:
        folder: Folder of the files.
        recorded: As in `build_entries`.
        scored: As in `build_entries`.
        problems: As in `build_entries`.
        roles: As in `build_entries`.
        cross_model: The result of `cross_model.build_cells`.
        compared: As in `agreement_values`.
        trainings: As in `build_entries`.
    """
    some = build_entries(recorded, scored, problems, roles, trainings)
    found: dict[Path, str | bytes] = {}
    together = []
    for grid in hypobench_tables.build_grids(
        some, map_proposers(cross_model), agreement_values(compared)
    ):
        found[folder / f"{grid.name}.csv"] = tables.as_csv(
            Table(LONG_COLUMNS, tuple(grid.long_rows()))
        )
        found[folder / f"{grid.name}.txt"] = _format_grid(
            grid, tables.as_text(grid.to_table(), None)
        )
        marked = _format_grid(grid, tables.as_markdown(grid.to_table()))
        found[folder / f"{grid.name}.md"] = marked
        together.append(marked)
    found[folder / "hypobench-tables.md"] = "\n\n".join(together)
    points = figures.build_points(some)
    found[folder / "points.csv"] = tables.as_csv(figures.points_table(points))
    if not points:
        return found, (
            "Figures 2 to 6 are not written because no session uses one of their synthetic data"
            " sets"
        )
    if not plotting.has_matplotlib():
        return found, plotting.MISSING_MATPLOTLIB
    drawn = figures.draw_figures(points)
    return found | {folder / name: data for name, data in drawn.items()}, ""


def _format_grid(grid: Grid, table: str) -> str:
    return "\n\n".join([grid.about, table, *grid.footnotes])
