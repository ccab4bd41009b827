"""All tables of `peirce eval abd`, as JSON and as the files that `--out DIR|FILE` writes.

Above every table is a sentence that names the evaluator and says how intervals were computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....records import Json
from ...files import tables
from ...files.tables import Cell, Mean, Table
from ...metrics.statistics import LEVEL, RESAMPLES
from . import appendix, worlds
from . import tables as abd_tables
from .groups import FINER_SIZES, SIZES, SessionRecords
from .metrics import SEED
from .worlds import ProblemStatistics

BOOTSTRAP: Mapping[str, Json] = {
    "kind": "percentile", "level": LEVEL, "resamples": RESAMPLES, "seed": SEED, "strata": "regime",
    "unit": "problem",
}  # fmt: skip
ABOUT = {
    "table1a": "Table 1a: numbers of problems.",
    "table1b": "Table 1b: theories, with their number of problems by regime.",
    "table2": "Table 2: prompt worlds. prompt_validity_repaired is the paper's PV%, and"
    " prompt_validity is its PSV%. Sizes and gaps are over valid rules. The rows below the"
    " sessions evaluate the planted rules and the antecedent of each theory in the same"
    " way.",
    "table3": "Table 3: prompt worlds by theory, over all regimes.",
    "table4": "Table 4: holdouts, over all regimes. ast_size_read is over all rules that were parsed."
    " The rows below the sessions are the planted rules and the antecedents.",
    "table5": (
        "Table 5: holdouts by regime. The rows below the sessions are the planted rules and the"
        " antecedents."
    ),
    "table6": "Table 6: holdouts by rule size, over rules that are valid on the prompt worlds.",
    "table6-finer": "Table 6 with finer bins.",
    "difficulty": "Metrics by regime and difficulty.",
    "paired": "Section 6.5: rules that are at most as long as the planted rule (but different from"
    " it) compared with longer ones, on problems with valid rules of both kinds. Values are"
    " means over problems.",
    "tableF1": "Table F.1: prompt worlds compared with holdouts. Values per world, averaged over"
    " problems. The cost of the planted rule is over problems where it is valid in all"
    " worlds.",
    "worlds": "Worlds: densities, unknown atoms, lower bounds, and costs of the planted rule where it"
    " is valid.",
    "tableG1-G3": "Tables G.1 to G.3: gaps by regime and theory. The gap on holdouts is over rules that"
    " are valid there, even if they are not valid on the prompt worlds.",
    "tableG4": "Table G.4: gaps of valid rules on the prompt worlds. The 90th percentile is"
    " interpolated linearly at 0.9 (n - 1).",
    "tableG5": (
        "Table G.5: increase of the gap by theory, over rules valid on both prompt worlds and"
        " holdouts."
    ),
    "tableG6": "Table G.6: rules that are valid on both the prompt worlds and the holdouts.",
    "tableG7": "Table G.7: valid rules that cost less than the planted one, by theory.",
    "tableG8": (
        "Table G.8: valid rules that cost less than the planted one, by the size of the planted"
        " rule."
    ),
    "tableH1": (
        "Table H.1: shares of all problems. Repaired answers are also counted in the other columns."
    ),
    "reasons": (
        "Reasons why answers contain no rule; syntax and scope errors are counted separately."
    ),
    "tableH2": "Table H.2: the first failure mode that applies, in the order of the columns. Repaired"
    " answers are counted separately. A solver limit is a mode of its own and does not"
    " count as an invalid rule.",
    "tableH3": "Table H.3: brittle rules by the quantifiers that they contain.",
}


@dataclass(frozen=True)
class ScoredRuns:
    """Scored sessions in the order of the tables, with their problems.

    Args:
        evaluator: Name of the evaluator.
        runs: The records of each session.
        problems: Statistics of the problems.
        references: The reference rules of the problems (abd/reference_rules.py), in the form of
            sessions.
    """

    evaluator: str
    runs: tuple[SessionRecords, ...]
    problems: tuple[ProblemStatistics, ...]
    references: tuple[SessionRecords, ...] = ()


def build_tables(scored: ScoredRuns) -> dict[str, Table]:
    """Return the tables by name. `ABOUT` describes each table.

    Empty tables are left out. The comparison of shorter and longer rules is left out for a single
    session.
    """
    runs, problems = scored.runs, scored.problems
    all_rows = (*runs, *scored.references)
    found = {
        "table1a": worlds.table_1a(problems),
        "table1b": worlds.table_1b(problems),
        "table2": abd_tables.table_2(all_rows),
        "table3": abd_tables.table_3(runs),
        "table4": abd_tables.table_4(all_rows),
        "table5": abd_tables.table_5(all_rows),
        "table6": abd_tables.table_6(runs, SIZES),
        "table6-finer": abd_tables.table_6(runs, FINER_SIZES),
        "difficulty": abd_tables.difficulty_table(runs),
        "paired": abd_tables.paired_table(runs),
        "tableF1": worlds.table_f1(problems),
        "worlds": worlds.worlds_table(problems),
        "tableG1-G3": appendix.table_g1(runs),
        "tableG4": appendix.table_g4(runs),
        "tableG5": appendix.table_g5(runs),
        "tableG6": appendix.table_g6(runs),
        "tableG7": appendix.table_g7(runs),
        "tableG8": appendix.table_g8(runs),
        "tableH1": appendix.table_h1(runs),
        "reasons": appendix.reasons(runs),
        "tableH2": appendix.table_h2(runs),
        "tableH3": appendix.table_h3(runs),
    }
    return {name: table for name, table in found.items() if table is not None and table.rows}


def as_json(table: Table) -> list[dict[str, Json]]:
    """Return a table as one object per row. A mean is {mean, low, high}, where the bounds may be
    None.
    """
    heads = [heading.rstrip(" ↑↓") for heading in table.headings]
    return [dict(zip(heads, map(_json, row), strict=True)) for row in table.rows]


def _json(cell: Cell) -> Json:
    return (
        {"mean": cell.mean, "low": cell.low, "high": cell.high} if isinstance(cell, Mean) else cell
    )


def describe_table(evaluator: str, name: str, table: Table) -> str:
    """Return the sentences to print above a table.

    Args:
        evaluator: Name of the evaluator.
        name: Name of the table.
        table: The table.
    """
    named = f"{ABOUT[name]} Evaluator: {evaluator}."
    cells = (cell for row in table.rows for cell in row)
    if not any(isinstance(cell, Mean) and cell.low is not None for cell in cells):
        return named
    return (
        f"{named} Intervals: {LEVEL:.0%} percentile bootstrap, {RESAMPLES:,} resamples of"
        f" problems within their regime, seed {SEED}."
    )


def render_files(
    scored: ScoredRuns,
    by_name: Mapping[str, Table],
    by_problem: Mapping[str, Sequence[Mapping[str, Json]]],
    target: Path,
) -> dict[Path, str | bytes]:
    """Return the contents of the files to write, by path.

    A .csv file contains every metric of every group, one per row. A .md file contains all tables. A
    folder contains both as abd.csv and abd.md, each table as .csv and .md, and one CSV of problems
    per session.

    Args:
        scored: The sessions.
        by_name: The result of `build_tables`.
        by_problem: Rows of problems, by session.
        target: The file or folder to write.
    """
    long = add_evaluator_column(abd_tables.long_table(scored.runs), scored.evaluator)
    if target.suffix == ".csv":
        return {target: tables.as_csv(long)}
    written = {name: _markdown(scored.evaluator, name, table) for name, table in by_name.items()}
    if target.suffix == ".md":
        return {target: "\n\n".join(written.values())}
    found: dict[Path, str | bytes] = {
        target / "abd.csv": tables.as_csv(long),
        target / "abd.md": "\n\n".join(written.values()),
    }
    for name, table in by_name.items():
        found[target / f"{name}.csv"] = tables.as_csv(add_evaluator_column(table, scored.evaluator))
        found[target / f"{name}.md"] = written[name]
    for session, rows in by_problem.items():
        of_session = add_evaluator_column(tables.problem_table(rows), scored.evaluator)
        found[target / f"abd-{session}.csv"] = tables.as_csv(of_session)
    return found


def _markdown(evaluator: str, name: str, table: Table) -> str:
    return f"{describe_table(evaluator, name, table)}\n\n{tables.as_markdown(table)}"


def add_evaluator_column(table: Table, evaluator: str) -> Table:
    """Return a table with a first column that names the evaluator, for CSV files."""
    return Table(("evaluator", *table.headings), tuple((evaluator, *row) for row in table.rows))
