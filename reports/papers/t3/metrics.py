"""The T3 evaluation: pass rates, Top-1/2/3 and GEAR scores (GEAR, section 6.2, tables 2 and 4).

`pass_rates.py` defines how answers are counted.

A session of the method `t3` works on each problem in several rounds. Every metric is computed for
each round, then averaged over the rounds of a problem that have a value, and then over problems.
Intervals resample problems with all their rounds. A round without any answer is left out, and a
problem without any answer counts as one round. A session of another method has one round per
problem.

Two further metrics are the shares of uninformative answers, among well-formed answers whose
predictions on the sample space S are known. Constant answers predict the same value on all of S.
Narrow answers are defined on less than 80% of S. A tuned proposer may collapse into such answers,
which consistency alone does not show.

Differences from the paper: here the last average is over problems, so that intervals can be over
problems, while in the paper it is over rounds. Both means are equal if every round has a value. The
paper's beta and gamma are `beta_of_two` and `gamma_of_two`, and its consistency is
`consistency_of_parsed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ....records import (
    NOT_REQUESTED,
    InputSet,
    Json,
    JudgedHypothesis,
    Predictions,
    Problem,
    StepRecord,
)
from ....tools.gear.scores import prediction_share
from ...files import tables
from ...files.tables import Cell, Mean, Table
from ...metrics import pass_rates
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.results import list_judged
from ...metrics.statistics import Interval
from ...metrics.statistics import metric_intervals as summarise
from ..gear import metrics

MIN_WIDE_SHARE = 0.8  # share of S
_GEAR = (
    "instruction_following",
    "consistency",
    "consistency_of_parsed",
    "generalizability",
    "beta",
    "gamma",
    "beta_of_two",
    "gamma_of_two",
    "hypotheses",
)
_OWN = (
    Metric(
        "constant",
        "lower",
        "Share of answers with the same prediction for every input of the sample space S.",
    ),
    Metric(
        "narrow",
        "lower",
        "Share of answers that are defined on less than 80% of the sample space S.",
    ),
)
ROUNDS = Metric("rounds", None, "Number of rounds with answers per problem.")

METRICS = (
    *pass_rates.METRICS,
    *(metric for name in _GEAR for metric in metrics.METRICS if metric.name == name),
    *_OWN,
    ROUNDS,
    pass_rates.WITHOUT_HIDDEN,
)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Return the metrics of one problem, as means over its rounds that have a value.

    The metrics are pass rates, Top-k, GEAR's scores, and the shares of constant and narrow answers.

    Args:
        problem: The problem.
        steps: The recorded steps of the problem.
        space: The sample space, if its inputs have weights; otherwise None.
    """
    rounds = group_by_round(steps)
    found = [_of_round(problem, own, space) for own in rounds]
    counted = {ROUNDS.name: float(sum(map(bool, rounds)))}
    return {
        name: counted[name] if name in counted else _mean([one[name] for one in found])
        for name in EVALUATION.metric_names
    }


def group_by_round(steps: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """Return the steps of each round, in order. The result has at least one round.

    If no step names its round, all steps form one round. Otherwise steps without a round are left
    out, for example the step that applies a bank at the end.
    """
    rounds: dict[int, list[StepRecord]] = {}
    named = any("round" in record.fields for record in steps)
    for record in steps:
        if named and "round" not in record.fields:
            continue
        rounds.setdefault(int(record.fields.get("round", 1)), []).append(record)
    return [rounds[number] for number in sorted(rounds)] or [[]]


def _of_round(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None
) -> dict[str, float | None]:
    scored = metrics.problem_metrics(problem, steps, space)
    return scored | _saying_little(list_judged(steps), space)


def _saying_little(
    judged: Sequence[JudgedHypothesis], space: InputSet | None
) -> dict[str, float | None]:
    weights = None if space is None else space.weights
    known = [one.space for one in judged if one.space and one.space.verdict != NOT_REQUESTED]
    narrow = [float(prediction_share(one.defined, weights) < MIN_WIDE_SHARE) for one in known]
    return {"constant": _mean([float(is_constant(one)) for one in known]), "narrow": _mean(narrow)}


def is_constant(predictions: Predictions) -> bool:
    """Return whether predictions are defined and equal on all inputs; False if there are no
    inputs.
    """
    codes = predictions.codes
    return bool(len(codes) and predictions.defined.all() and np.all(codes == codes[0]))


def _mean(values: Sequence[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None


def summarize(
    results: Sequence[Mapping[str, float | None]], *, seed: int = 0
) -> dict[str, Interval]:
    """Return the mean of each metric over problems, with intervals.

    Args:
        results: The result of `problem_metrics` for each problem.
        seed: Seed of the bootstrap.
    """
    return summarise(results, EVALUATION.metric_names, seed=seed)


EVALUATION = Evaluation(
    name="t3",
    about="Pass rates and Top-1/2/3 of three answers on the hidden observations, by round.",
    families=None,
    metrics=METRICS,
    problem_metrics=problem_metrics,
    needs_all_predictions=True,
    main=("consistency", "beta", "gamma", "top1", "top3"),
)


# --- The additional files of `peirce eval t3 SESSION… --out DIR`: tables 2 and 4 of the GEAR paper,
# with the sessions first and the published values below.
#
# The published beta and gamma are means over the problems with at least two consistent hypotheses
# in a round, of which there are few (1 to 20 consistent answers among 480 of a round, as the
# authors' code counts them), without intervals. They are in the columns `beta_of_two` and
# `gamma_of_two`. The published consistency divides by the well-formed answers (5.6 consistent
# answers of 480 in a round are printed as .013 where .863 are well formed), as
# `consistency_of_parsed` does.

SCORES = ("instruction_following", "consistency_of_parsed", "generalizability", "beta_of_two",
          "gamma_of_two")  # fmt: skip
PASS_RATES = ("train_pass", "test_pass", "top1", "top2", "top3")
UNPUBLISHED = ("consistency", "beta", "gamma", "constant", "narrow")  # not published
COLUMNS = (*SCORES, *PASS_RATES, *UNPUBLISHED)
BASE, FIXED, MOMENTUM = "base", "fixed", "momentum"

TABLE_4: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("Llama-3.1-8b", BASE): (0.149, 0.002, 1.000, 0.000, 1.000, 0.011, 0.009, 0.000, 0.003, 0.004),
    ("Llama-3.1-8b", FIXED): (0.968, 0.014, 1.000, 0.000, 1.000, 0.096, 0.076, 0.028, 0.043, 0.049),
    ("Llama-3.1-8b", MOMENTUM): (0.970, 0.020, 1.000, 0.196, 1.179, 0.129, 0.101, 0.035, 0.052, 0.065),
    ("Llama-3.1-8b", "parsing"): (0.941, 0.009, 1.000, 0.000, 1.000, 0.130, 0.099, 0.026, 0.031, 0.041),
    ("Llama-3.1-8b", "consistency"): (0.322, 0.009, 1.000, 0.014, 1.011, 0.084, 0.066, 0.018, 0.022, 0.028),
    ("Llama-3.1-8b", "gear"): (0.258, 0.005, 1.000, 0.000, 1.000, 0.039, 0.030, 0.011, 0.016, 0.020),
    ("Qwen-2.5-7b", BASE): (0.988, 0.037, 0.987, 0.032, 1.001, 0.198, 0.154, 0.035, 0.059, 0.068),
    ("Qwen-2.5-7b", FIXED): (0.996, 0.042, 0.987, 0.044, 1.046, 0.205, 0.160, 0.054, 0.064, 0.077),
    ("Qwen-2.5-7b", MOMENTUM): (0.997, 0.041, 1.000, 0.073, 1.052, 0.203, 0.163, 0.066, 0.083, 0.095),
    ("Qwen-2.5-7b", "parsing"): (0.996, 0.032, 1.000, 0.014, 1.008, 0.198, 0.154, 0.045, 0.055, 0.066),
    ("Qwen-2.5-7b", "consistency"): (0.988, 0.047, 0.975, 0.015, 1.010, 0.224, 0.176, 0.059, 0.075, 0.086),
    ("Qwen-2.5-7b", "gear"): (0.981, 0.034, 1.000, 0.023, 1.012, 0.183, 0.141, 0.039, 0.056, 0.065),
    ("NextCoder-7b", BASE): (0.863, 0.013, 1.000, 0.140, 1.081, 0.151, 0.121, 0.025, 0.044, 0.055),
    ("NextCoder-7b", FIXED): (0.965, 0.028, 1.000, 0.078, 1.066, 0.173, 0.136, 0.051, 0.065, 0.074),
    ("NextCoder-7b", MOMENTUM): (0.991, 0.030, 0.991, 0.182, 1.151, 0.189, 0.149, 0.065, 0.080, 0.092),
    ("NextCoder-7b", "parsing"): (0.992, 0.020, 1.000, 0.222, 1.140, 0.162, 0.125, 0.045, 0.055, 0.062),
    ("NextCoder-7b", "consistency"): (0.945, 0.034, 1.000, 0.054, 1.040, 0.200, 0.153, 0.060, 0.074, 0.080),
    ("NextCoder-7b", "gear"): (0.980, 0.015, 0.976, 0.202, 1.145, 0.150, 0.118, 0.033, 0.043, 0.049),
}  # fmt: skip
TABLE_2 = {row: told for row, told in TABLE_4.items() if row[1] in (BASE, FIXED, MOMENTUM)}
ABOUT = (
    "Sessions with 95% bootstrap intervals over problems, each with all its rounds. Below them"
    " is the paper's table {number}: held-out problems of its four data sets, five rounds, no"
    " intervals. The paper computes beta and gamma only over problems with at least two"
    " consistent hypotheses, and consistency only over well-formed answers. The columns `beta`"
    " (0 with fewer than two), `gamma` (with at least one) and `consistency` (over all answers)"
    " follow the definitions. constant: answers with the same prediction on all of S. narrow:"
    " answers that are defined on less than 80% of S."
)


def compare_with_published(
    scored: Sequence[Mapping[str, Json]], published: Mapping[tuple[str, str], Sequence[float]]
) -> Table:
    """Return a table with one row per session, followed by one row per published setting.

    Args:
        scored: The scores of the sessions.
        published: The published values, by model and setting.
    """
    arrows = {metric.name: metric.arrow for metric in METRICS}
    rows: list[tuple[Cell, ...]] = [
        (name, "here", one["problems"], *(_cell(one["metrics"][column]) for column in COLUMNS))
        for name, one in zip(tables.session_headings(scored), scored, strict=True)
    ]
    for (model, setting), told in published.items():
        rows.append((f"{model} {setting}", "published", None, *told, *(None for _ in UNPUBLISHED)))
    heads = (f"{name} {arrows[name]}".rstrip() for name in COLUMNS)
    return Table(("model", "source", "problems", *heads), tuple(rows))


def _cell(value: Mapping[str, Json]) -> Cell:
    if value["mean"] is None:
        return None
    return Mean(value["mean"], value["low"], value["high"])


def split_means(table: Table) -> Table:
    """Return a table for CSV in which each column of means is replaced by mean, low and high.

    Published values have no bounds.
    """
    heads = [head.rstrip(" ↑↓") for head in table.headings[3:]]
    whole = [part for head in heads for part in (head, f"{head} low", f"{head} high")]
    rows = [
        (*row[:3], *(number for cell in row[3:] for number in _numbers(cell))) for row in table.rows
    ]
    return Table((*table.headings[:3], *whole), tuple(rows))


def _numbers(cell: Cell) -> tuple[Cell, Cell, Cell]:
    return (cell.mean, cell.low, cell.high) if isinstance(cell, Mean) else (cell, None, None)


def render_files(scored: Sequence[Mapping[str, Json]], folder: Path) -> dict[Path, str | bytes]:
    """Return the files table2 and table4, each as .md and .csv, by path.

    Args:
        scored: The scores of the sessions.
        folder: Folder of the files.
    """
    found: dict[Path, str | bytes] = {}
    for number, published in ((2, TABLE_2), (4, TABLE_4)):
        table = compare_with_published(scored, published)
        said = ABOUT.format(number=number)
        found[folder / f"table{number}.md"] = f"{said}\n\n{tables.as_markdown(table)}"
        found[folder / f"table{number}.csv"] = tables.as_csv(split_means(table))
    return found
