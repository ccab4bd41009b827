"""The page of `peirce reproduce gear-table4`: tables 2 and 4 and figures 6 to 10 of the GEAR paper.

Each table has the rows of the experiment with 95% bootstrap intervals over held-out problems, and
the published rows below. The paper publishes its figures as pictures without their numbers, so the
page states beside each figure what the paper's text says about it.

Not covered: the paper's three bases in one experiment (one experiment trains one base), and the
variance over seeds of the training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....records import Json
from ...files import plotting, tables
from ...files.plotting import render_figure
from ...files.tables import Cell, Mean, Table
from ...metrics.statistics import Interval, bootstrap
from ...metrics.statistics import metric_intervals as summarise
from ..gear.training import TrainingRun, draw_accuracies, draw_collapse_signs, draw_curriculum
from .metrics import (
    BASE,
    EVALUATION,
    FIXED,
    METRICS,
    MOMENTUM,
    PASS_RATES,
    SCORES,
    TABLE_2,
    TABLE_4,
    UNPUBLISHED,
)

SINGLE = "single:"
# The figure of the paper that shows the momentum training of a base, by a part of the base's name.
CURRICULUM_FIGURES = {"llama-3.1-8b": 8, "qwen2.5-7b": 9, "qwen-2.5-7b": 9, "nextcoder-7b": 10}
CLOCK_CURVES = ("seconds",)  # measurements that differ from run to run
PUBLISHED_COLUMNS = (*SCORES, *PASS_RATES)  # in the order of the published values
COMPARED = (*SCORES, *PASS_RATES, "consistency", "beta", "gamma")
ARROWS = {metric.name: metric.arrow for metric in METRICS}

ProblemMetrics = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class Variant:
    """The base or a trained model, with its metrics on held-out problems.

    Attributes:
        trained_by: "base", or the schedule of the training.
        problems: The metrics of each problem, by task and problem.
    """

    trained_by: str
    problems: ProblemMetrics

    @property
    def label(self) -> str:
        """The name of the row in tables, as the published rows are named."""
        return self.trained_by.removeprefix(SINGLE)


@dataclass(frozen=True)
class ExperimentFacts:
    """What the page says about the experiment besides its tables.

    Attributes:
        base: The name of the base.
        facts: Names and values of what was done, such as the numbers of problems.
        pairs: The number of preference pairs, by split and stage.
        left_out: What could not be done, as sentences.
        notes: Notes of the trainings, as sentences, by schedule.
    """

    base: str
    facts: Mapping[str, str]
    pairs: Mapping[str, Mapping[str, int]]
    left_out: Sequence[str]
    notes: Mapping[str, Sequence[str]]


# --- Values.


def score_variants(variants: Sequence[Variant]) -> list[dict[str, Json]]:
    """Return the means of each variant over its problems: [{trained_by, problems, metrics}].

    The order of problems has no effect.
    """
    return [
        {
            "trained_by": one.trained_by,
            "problems": len(one.problems),
            "metrics": {
                name: dict(value) for name, value in summarise(
                    [one.problems[key] for key in sorted(one.problems)], EVALUATION.metric_names
                ).items()
            },
        }
        for one in variants
    ]  # fmt: skip


def compare_variants(variants: Sequence[Variant]) -> list[dict[str, Json]]:
    """Return differences of variants, paired by problem: from the base, and from fixed.

    A problem counts where both variants have a value. Each object is {variant, minus, metrics}.
    """
    named = {one.trained_by: one for one in variants}
    found: list[dict[str, Json]] = []
    for other in (BASE, FIXED):
        for one in variants:
            if other in named and one.trained_by not in (BASE, other):
                metrics = {name: dict(_difference(one, named[other], name)) for name in COMPARED}
                found.append({"variant": one.trained_by, "minus": other, "metrics": metrics})
    return found


def _difference(one: Variant, other: Variant, metric: str) -> Interval:
    values = []
    for problem in sorted(one.problems.keys() & other.problems.keys()):
        pair = [of.problems[problem].get(metric) for of in (one, other)]
        values.append(None if pair[0] is None or pair[1] is None else pair[0] - pair[1])
    return bootstrap(values)


def published_rows() -> list[dict[str, Json]]:
    """Return the rows of table 4 as the paper prints them: [{base, trained_by, metrics}]."""
    return [
        {
            "base": base, "trained_by": setting,
            "metrics": dict(zip(PUBLISHED_COLUMNS, told, strict=True)),
        }
        for (base, setting), told in TABLE_4.items()
    ]  # fmt: skip


# --- Tables.


def published_comparison(
    base: str,
    rows: Sequence[Mapping[str, Json]],
    columns: Sequence[str],
    published: Mapping[tuple[str, str], Sequence[float]],
) -> Table:
    """Return a table of some columns with one row per variant, and the published rows below.

    Args:
        base: The name of the base.
        rows: The result of `score_variants`.
        columns: The names of the metrics.
        published: The published values by model and setting.
    """
    body: list[tuple[Cell, ...]] = [
        (
            f"{base} {str(row['trained_by']).removeprefix(SINGLE)}", "here", row["problems"],
            *(_cell(row["metrics"][name]) for name in columns),
        )
        for row in rows
    ]  # fmt: skip
    for (model, setting), told in published.items():
        values = dict(zip(PUBLISHED_COLUMNS, told, strict=True))
        body.append((f"{model} {setting}", "published", None, *(values.get(c) for c in columns)))
    heads = (f"{name} {ARROWS[name]}".rstrip() for name in columns)
    return Table(("model", "source", "problems", *heads), tuple(body))


def _cell(value: Mapping[str, Json]) -> Cell:
    if value["mean"] is None:
        return None
    return Mean(value["mean"], value["low"], value["high"])


def difference_table(found: Sequence[Mapping[str, Json]]) -> Table:
    """Return the result of `compare_variants` as a table."""
    rows = [
        (f"{one['variant']} − {one['minus']}", *(_cell(one["metrics"][name]) for name in COMPARED))
        for one in found
    ]
    return Table(("difference", *COMPARED), tuple(rows))


def accuracy_table(runs: Sequence[TrainingRun]) -> Table:
    """Return the probe accuracy of each training: at the first probe, at its peak and at the last."""
    rows = []
    for run in runs:
        for stage in run.stages:
            values = [value for _, value in run.get_curve(stage, "probe_accuracy")]
            if values:
                rows.append((run.schedule, stage, values[0], max(values), values[-1]))
    return Table(("training", "probe", "first", "peak", "last"), tuple(rows))


def weight_table(run: TrainingRun) -> Table:
    """Return the lowest, highest and last weight of each stage in a momentum training."""
    rows = []
    for stage in run.stages:
        values = [value for _, value in run.get_curve(stage, "weight")]
        if values:
            rows.append((stage, min(values), max(values), values[-1]))
    return Table(("stage", "lowest weight", "highest weight", "last weight"), tuple(rows))


# --- Figures.


def curriculum_name(base: str) -> tuple[str, str]:
    """Return the file name and the title of the figure of a momentum training."""
    for part, number in CURRICULUM_FIGURES.items():
        if part in base.lower():
            return f"figure{number}", f"Figure {number}"
    return "figure8-10", "Figures 8 to 10"


def draw_figures(runs: Sequence[TrainingRun], base: str) -> dict[str, bytes]:
    """Return the figures for which the trainings have data, as .png and .svg, by file name."""
    single = [one for one in runs if one.schedule.startswith(SINGLE)]
    mixed = [one for one in runs if not one.schedule.startswith(SINGLE)]
    momentum = next((one for one in runs if one.schedule == MOMENTUM), None)
    made = {
        "figure6": render_figure(lambda: draw_accuracies(single, "Training on one preference")),
        "figure7": render_figure(lambda: draw_accuracies(mixed, "Training on all three preferences")),
        "watch": render_figure(lambda: draw_collapse_signs(runs)),
    }  # fmt: skip
    if momentum is not None:
        made[curriculum_name(base)[0]] = render_figure(lambda: draw_curriculum(momentum))
    return {name + form: data for name, of in made.items() for form, data in (of or {}).items()}


# --- The page.

TABLES_ABOUT = (
    "The rows `here` have 95% bootstrap intervals over held-out problems, which are pooled over data"
    " sets. The published rows have neither intervals nor numbers of problems. The columns"
    " `consistency_of_parsed`, `beta_of_two` and `gamma_of_two` follow the conventions of the"
    " published tables: beta and gamma cover only problems with at least two consistent hypotheses"
    " in a round, and consistency divides by the well-formed answers."
)
INTERVALS_ABOUT = (
    "Each difference is paired by problem. The intervals resample problems. They include neither"
    " another seed nor another training."
)
FIGURE_6_ABOUT = (
    "The paper (appendix C): training on one preference raises the validation accuracy of this"
    " preference, but typically does not improve the other two, and often lowers them."
)
FIGURE_7_ABOUT = (
    "The paper (appendix C): momentum has a slightly lower peak accuracy on parsing and consistency"
    " early on, but makes steadier progress on the GEAR preference, with roughly 60% validation"
    " accuracy."
)
CURRICULUM_ABOUT = (
    "The paper's figures 8, 9 and 10 show the momentum training of Llama-3.1-8B, Qwen-2.5-7B and"
    " NextCoder-7B: the probe loss of each preference, its moving average, the improvement and the"
    " sampling weight."
)
MISSING = (
    "The published figures 6 to 10 are pictures, and the paper does not print their numbers, so"
    " their curves are not drawn beside those of this experiment.",
    "One experiment trains one base: the published rows of the other bases have no row here."
    " Run the command again with another --base and another --out.",
)
DIFFERENCES = (
    "Collecting models work on the training and validation problems alone. In the paper they also"
    " work on the problems that are held out later.",
    "Prompts are Peirce's own. They list the descriptions of earlier hypotheses, where the published"
    " code sends the chat.",
    "A training on one preference has as many examples as one on all three (a third of them in the"
    " published code).",
    "Pairs longer than the token limit are left out and counted. The published code truncates prompts"
    " to 512 tokens.",
    "Hypotheses run unchanged in a sandbox, and S has the 14,101 lists of the paper.",
    "Means are over problems, each with all its rounds, so that they have intervals.",
)


def render_files(
    folder: Path,
    about: ExperimentFacts,
    variants: Sequence[Variant],
    runs: Sequence[TrainingRun],
    details: Mapping[str, Json],
) -> dict[Path, str | bytes]:
    """Return the files of the results by path: results.json, results.md, tables as CSV, figures.

    Args:
        folder: The folder of the files.
        about: What the page says about the experiment.
        variants: The base and the trained models, in the order of the rows.
        runs: The trainings with their curves.
        details: Further keys of results.json. They must not depend on the clock or on paths, so
            that an interrupted experiment has the same file as an uninterrupted one.
    """
    rows, compared = score_variants(variants), compare_variants(variants)
    drawn: dict[str, bytes] = {}
    left_out = [*about.left_out]
    if plotting.has_matplotlib():
        drawn = draw_figures(runs, about.base)
    else:
        left_out.append(plotting.MISSING_MATPLOTLIB)
    of_table_2 = [row for row in rows if row["trained_by"] in (BASE, FIXED, MOMENTUM)]
    page = _page(about, rows, of_table_2, compared, runs, drawn, left_out)
    curves = {
        run.schedule: {
            stage or "all": {
                name: [list(point) for point in curve]
                for (of, name), curve in sorted(run.curves.items())
                if of == stage and name not in CLOCK_CURVES
            }
            for stage in ("", *run.stages)
        }
        for run in runs
    }  # fmt: skip
    content = {
        **details, "rows": rows, "published": published_rows(), "differences": compared,
        "curves": curves, "left_out": list(about.left_out),
    }  # fmt: skip
    every = (*SCORES, *PASS_RATES, *UNPUBLISHED)
    files: dict[Path, str | bytes] = {
        folder / "results.md": page,
        folder / "table2.csv": tables.as_csv(
            published_comparison(about.base, of_table_2, every, TABLE_2)
        ),
        folder / "table4.csv": tables.as_csv(
            published_comparison(about.base, rows, every, TABLE_4)
        ),
        folder / "differences.csv": tables.as_csv(difference_table(compared)),
        **{folder / name: data for name, data in drawn.items()},
    }
    # Last, because a complete results.json says that all other files are there.
    return files | {folder / "results.json": json.dumps(content, indent=1, sort_keys=True)}


def _page(
    about: ExperimentFacts,
    rows: Sequence[Mapping[str, Json]],
    of_table_2: Sequence[Mapping[str, Json]],
    compared: Sequence[Mapping[str, Json]],
    runs: Sequence[TrainingRun],
    drawn: Mapping[str, bytes],
    left_out: Sequence[str],
) -> str:
    base = about.base
    splits = [split for split, counts in about.pairs.items() if counts]
    stages = list(dict.fromkeys(stage for split in splits for stage in about.pairs[split]))
    pairs = Table(
        ("split", *stages),
        tuple((split, *(about.pairs[split].get(s, 0) for s in stages)) for split in splits),
    )
    facts = Table(("what", "value"), tuple(about.facts.items()))
    parts = [
        f"# GEAR, tables 2 and 4 and figures 6 to 10: {base}",
        tables.as_markdown(facts),
        "Preference pairs:",
        tables.as_markdown(pairs),
    ]
    for number, own, published in ((2, of_table_2, TABLE_2), (4, rows, TABLE_4)):
        parts += [f"## Table {number}", TABLES_ABOUT if number == 2 else ""]
        for columns in (SCORES, PASS_RATES):
            shown = published_comparison(base, own, columns, published)
            parts.append(tables.as_markdown(shown))
    own_columns = published_comparison(base, rows, UNPUBLISHED, {})
    parts += [
        "By the paper's definitions (beta is 0 with fewer than two consistent hypotheses), and the"
        " shares of answers that say little:",
        tables.as_markdown(own_columns),
    ]
    if compared:
        parts += ["## Differences", INTERVALS_ABOUT, tables.as_markdown(difference_table(compared))]
    singles = [run for run in runs if run.schedule.startswith(SINGLE)]
    mixed = [run for run in runs if not run.schedule.startswith(SINGLE)]
    for number, of, said in ((6, singles, FIGURE_6_ABOUT), (7, mixed, FIGURE_7_ABOUT)):
        if of:
            parts += [f"## Figure {number}", said, _picture(f"figure{number}", drawn),
                      tables.as_markdown(accuracy_table(of))]  # fmt: skip
    for run in runs:
        if run.schedule == MOMENTUM:
            name, title = curriculum_name(base)
            parts += [f"## {title}", CURRICULUM_ABOUT, _picture(name, drawn),
                      tables.as_markdown(weight_table(run))]  # fmt: skip
    if "watch.svg" in drawn:
        parts += ["## Signs of a collapse", "Log-ratios, which probe accuracy does not show. The paper"
                  " has no such figure.", _picture("watch", drawn)]  # fmt: skip
    parts += ["## What is missing", *(f"- {one}" for one in (*left_out, *MISSING))]
    for schedule, notes in about.notes.items():
        parts += [f"- {schedule}: {note}" for note in notes]
    parts += ["## What differs from the paper", *(f"- {one}" for one in DIFFERENCES)]
    return "\n\n".join(part for part in parts if part).replace("\n\n- ", "\n- ")


def _picture(name: str, drawn: Mapping[str, bytes]) -> str:
    return f"![{name}]({name}.svg)" if f"{name}.svg" in drawn else ""
