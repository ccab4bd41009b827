"""The files that `peirce eval gear SESSION… --out DIR` writes."""

from __future__ import annotations

from pathlib import Path

from ...files import plotting, tables
from ...files.tables import Table
from ...metrics.grouping import Study
from . import figures
from . import tables as gear_tables

ABOUT = {
    "table3": "Table 3 of the paper: by data set and model, all n together. Intervals are 95%,"
    " bootstrap over problems. An average over data sets is the mean of their means and names them;"
    " where it is of fewer, the cell says of which.",
    "settings": "Each data set, n and model; the averages over data sets at each n name them.",
    "volumes": "Hypotheses by verdict. Memorising ones are flagged; they stand among the consistent, unless"
    " they are left out.",
    "stops": "Why problems ended; bad answers by verdict, all of them and the last of those"
    " problems that bad answers ended.",
    "undefined": "Undefined predictions over S by reason, of all hypotheses and of the consistent.",
    "correlations": "Spearman's rank correlation of each metric with n, over problems, with 95%"
    " bootstrap intervals over problems; n beside it counts values.",
    "points": "Undefined counts as one extra output here, as the bounds of appendix D need: these"
    " are not the gamma and beta of the other tables.",
}  # fmt: skip


def tables_of(study: Study) -> dict[str, Table]:
    return {
        "table3": gear_tables.shown_table_3(gear_tables.table_3(study)),
        "settings": gear_tables.settings_table(study),
        "volumes": gear_tables.volumes(study),
        "stops": gear_tables.stops(study),
        "undefined": gear_tables.undefined(study),
        "correlations": gear_tables.correlations(study),
        "points": gear_tables.points(study),
    }


def files(study: Study, folder: Path, left_out: str = "") -> tuple[dict[Path, str | bytes], str]:
    """Each table as .txt, .md and .csv (points as .csv alone), averages.csv with every average and
    metric in long form, the figures. left_out: a sentence that stands above every table. Returns
    the files to write, and the sentence that says why there are no figures or ""."""
    found: dict[Path, str | bytes] = {}
    for name, table in tables_of(study).items():
        found[folder / f"{name}.csv"] = tables.as_csv(table)
        if name != "points":
            said = [line for line in (left_out, ABOUT[name]) if line]
            found[folder / f"{name}.md"] = "\n\n".join([*said, tables.as_markdown(table)])
            found[folder / f"{name}.txt"] = "\n\n".join([*said, tables.as_text(table, None)])
    found[folder / "averages.csv"] = tables.as_csv(gear_tables.long_table(study))
    if not plotting.available():
        return found, plotting.ABSENT
    found |= {folder / name: drawn for name, drawn in figures.draw(study).items()}
    return found, ""
