"""The files that `peirce eval hypobench SESSION… --out DIR` writes beside its list of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..records import Json, Problem
from ..tools.discovery.agreement import agreement
from . import hypobench_figures, hypobench_tables, plotting, tables
from .hypobench_entries import Average, entries
from .hypobench_tables import Grid
from .tables import Table

YES_NO = (0.0, 1.0)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def crossed_in(cells: Iterable[Mapping[str, Json]]) -> dict[str, tuple[str, str]]:
    """Session -> (who proposed, who labelled), from `cross_model.cells`."""
    return {str(one["session"]): (str(one["proposer"]), str(one["judge"])) for one in cells}


def agreements(rows: Sequence[Mapping[str, Json]]) -> dict[tuple[str, str, str], Average]:
    """Table 8 of each two raters, from ratings (`ratings_file`) of one or more sessions; only what
    both rated counts."""
    of_rater: dict[str, dict[str, dict[tuple[str, ...], float]]] = {}
    sets: dict[tuple[str, ...], str] = {}
    for row in rows:
        if row["kind"] in ("feature", "relationship") and row["score"] is not None:
            item = tuple(str(row.get(name)) for name in ("problem", "true", "hypothesis"))
            told = of_rater.setdefault(str(row["by"]), {"feature": {}, "relationship": {}})
            told[str(row["kind"])][item] = float(row["score"])
            sets[item] = str(row["problem"]).partition("#")[0]
    found: dict[tuple[str, str, str], Average] = {}
    raters = list(of_rater)
    for place, one in enumerate(raters):
        for other in raters[place + 1 :]:
            for question, scale in (("feature", YES_NO), ("relationship", QUARTERS)):
                left, right = of_rater[one][question], of_rater[other][question]
                items = sorted(left.keys() & right.keys())
                if items:
                    both = agreement([left[i] for i in items], [right[i] for i in items], scale)
                    measures = (
                        {"FDR: Cohen's kappa": both.kappa, "FDR: agreement": both.same}
                        if question == "feature"
                        else {
                            "RC: weighted kappa": both.weighted,
                            "RC: within one point": both.near,
                        }
                    )
                    names = tuple(sorted({sets[item] for item in items}))
                    for name, value in measures.items():
                        if value is not None:
                            found[name, f"{one} and {other}", ""] = Average(
                                value, names, len(items)
                            )
    return found


def files(
    folder: Path,
    recorded: Sequence[Mapping[str, Json]],
    scored: Sequence[Mapping[str, Json]],
    problems: Sequence[Sequence[Problem]],
    cross_model: Sequence[Mapping[str, Json]],
    ratings: Sequence[Mapping[str, Json]] = (),
) -> tuple[dict[Path, str | bytes], str]:
    """Each table as .txt, .md and .csv (a line a value), hypobench-tables.md with all of them,
    the points of the figures as points.csv, the figures. Returns them, and the sentence that says
    why there are no figures or "". recorded, scored, problems: as of `entries`; ratings: rows."""
    some = entries(recorded, scored, problems)
    found: dict[Path, str | bytes] = {}
    together = []
    for grid in hypobench_tables.grids(some, crossed_in(cross_model), agreements(ratings)):
        found[folder / f"{grid.name}.csv"] = tables.as_csv(
            Table(hypobench_tables.LONG, tuple(grid.long()))
        )
        found[folder / f"{grid.name}.txt"] = _said(grid, tables.as_text(grid.table(), None))
        marked = _said(grid, tables.as_markdown(grid.table()))
        found[folder / f"{grid.name}.md"] = marked
        together.append(marked)
    found[folder / "hypobench-tables.md"] = "\n\n".join(together)
    points = hypobench_figures.points(some)
    found[folder / "points.csv"] = tables.as_csv(hypobench_figures.points_table(points))
    if not points:
        return found, "figures 2 to 6 are left out: no session is on a synthetic data set of theirs"
    if not plotting.available():
        return found, plotting.ABSENT
    drawn = hypobench_figures.draw(points)
    return found | {folder / name: data for name, data in drawn.items()}, ""


def _said(grid: Grid, table: str) -> str:
    return "\n\n".join([grid.about, table, *grid.below])
