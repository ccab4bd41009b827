"""The tables of a GEAR study: table 3, all settings, volumes, stops, undefined predictions, rank
correlations, and the points of the scatter plot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ....records import Json
from ....tools.gear.scores import beta_bounds
from ...files.tables import Cell, Mean, Table
from ...metrics.grouping import Entry, Setting, Study
from ...metrics.statistics import Interval
from . import metrics as gear

TABLE_3 = ("instruction_following", "consistency", "gamma", "beta", "generalizability")
PUBLISHED = ("consistency_of_parsed", "gamma_of_two", "beta_of_two")
CORRELATED_METRICS = (
    *TABLE_3,
    "hypotheses",
    "consistent_hypotheses",
    "gamma_of_two",
    "beta_of_two",
)
VERDICTS = ("accepted", "redundant", "inconsistent", "malformed")
_ARROWS = {metric.name: metric.arrow for metric in gear.METRICS}


def metric_heading(metric: str) -> str:
    """Return a metric's name with an arrow that shows whether higher or lower is better."""
    return f"{metric} {_ARROWS.get(metric, '')}".rstrip()


def table_3(study: Study) -> list[dict[str, Json]]:
    """Return, for each model, the average over its data sets, followed by each data set.

    All numbers of shown pairs are combined. Each object is {model, data_sets, problems, metrics}. A
    metric is {mean, low, high, n, data_sets}, where "data_sets" names the data sets that have a
    value. "problems" is the number of combinations of problem, number of shown pairs, and session.
    """
    rows: list[dict[str, Json]] = []
    for model in study.models:
        sets = study.find_data_sets(model)
        for named in ([sets] if len(sets) > 1 else []) + [[name] for name in sets]:
            averages = {m: study.average(m, model, named) for m in (*TABLE_3, *PUBLISHED)}
            rows.append(
                {
                    "model": model,
                    "data_sets": named,
                    "problems": sum(len(study.select_entries(model, name)) for name in named),
                    "metrics": {
                        name: {**one.interval, "data_sets": list(one.data_sets)}
                        for name, one in averages.items()
                    },
                }
            )
    return rows


def format_table_3(rows: Sequence[Mapping[str, Json]], *, intervals: bool = True) -> Table:
    """Return the result of `table_3` as a table.

    The first metrics follow the paper's definitions, and the last ones the conventions of its
    published tables. A row names the data sets of an average. A cell that covers fewer data sets
    names them.

    Args:
        rows: The result of `table_3`.
        intervals: Whether cells include intervals.
    """
    metrics = (*TABLE_3, *PUBLISHED)
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        cells = [_cell(row["metrics"][name], row["data_sets"], intervals) for name in metrics]
        body.append((row["model"], _named(row["data_sets"]), row["problems"], *cells))
    return Table(("model", "data set", "problems", *map(metric_heading, metrics)), tuple(body))


def settings_table(study: Study) -> Table:
    """Return GEAR's metrics for each model, number n of shown pairs and data set, with intervals.

    The table has one row for each combination. If a model has several data sets at one n, a further
    row has the average over these data sets and names them.
    """
    metrics = (*TABLE_3, *PUBLISHED, "hypotheses", "consistent_hypotheses")
    rows: list[tuple[Cell, ...]] = []
    for model in study.models:
        for n in study.ns:
            sets = study.find_data_sets(model, n)
            for named in [[name] for name in sets] + ([sets] if len(sets) > 1 else []):
                problems = sum(len(study.select_entries(model, name, n)) for name in named)
                averages = [study.average(metric, model, named, n) for metric in metrics]
                cells = [
                    _cell({**one.interval, "data_sets": one.data_sets}, named, True)
                    for one in averages
                ]
                rows.append((model, str(n), _named(named), problems, *cells))
    return Table(("model", "n", "data set", "problems", *map(metric_heading, metrics)), tuple(rows))


def long_table(study: Study) -> Table:
    """Return a table with one row per average and metric, with all digits, for CSV.

    If an average covers problems with different numbers n of shown pairs, the column for n is
    empty.
    """
    rows: list[tuple[Cell, ...]] = []
    for model in study.models:
        for n in (None, *study.ns):
            sets = study.find_data_sets(model, n)
            for named in [[name] for name in sets] + ([sets] if len(sets) > 1 else []):
                for metric in gear.METRICS:
                    one = study.average(metric.name, model, named, n)
                    whose = named[0] if len(named) == 1 else "Avg"
                    values = (one.interval[key] for key in ("mean", "low", "high", "n"))
                    shown = None if n is None else str(n)
                    rows.append(
                        (model, whose, shown, ", ".join(one.data_sets), metric.name, *values)
                    )
    heads = ("model", "data_set", "shown", "data_sets", "metric", "mean", "low", "high", "n")
    return Table(heads, tuple(rows))


def volumes_table(study: Study) -> Table:
    """Return the number of hypotheses by verdict, for each data set, n and model.

    Memorising hypotheses have a column of their own, and also count as consistent.
    """
    rows: list[tuple[Cell, ...]] = []
    for setting, some in group_by_setting(study):
        counts = study.sum_counts(lambda detail: detail.verdicts, some)
        memorising = sum(entry.detail.memorising for entry in some)
        numbers = (sum(counts.values()), *(counts[name] for name in VERDICTS), memorising)
        rows.append((setting.data_set, str(setting.n), setting.model, len(some), *numbers))
    heads = ("data set", "n", "model", "problems", "hypotheses", *VERDICTS, "memorising")
    return Table(heads, tuple(rows))


def stops_table(study: Study) -> Table:
    """Return the reasons why problems ended, for each data set, n and model.

    The columns are the number of problems by reason, the number of bad answers to these problems by
    verdict, and the verdict of the last bad answer of problems that ended because of bad answers.
    """
    causes = sorted({entry.detail.stop for entry in study.entries})
    bad = VERDICTS[1:]
    rows: list[tuple[Cell, ...]] = []
    for setting, some in group_by_setting(study):
        stopped = Counter(entry.detail.stop for entry in some)
        all_bad = Counter(verdict for entry in some for verdict in entry.detail.bad)
        ended = [e for e in some if e.detail.stop in ("three_bad", "bad") and e.detail.bad]
        last = Counter(entry.detail.bad[-1] for entry in ended)
        rows.append(
            (
                *(setting.data_set, str(setting.n), setting.model, len(some)),
                *(stopped[cause] for cause in causes),
                *(all_bad[name] for name in bad),
                *(last[name] for name in bad),
            )
        )
    heads = (
        *("data set", "n", "model", "problems"),
        *(cause or "unknown" for cause in causes),
        *(f"bad: {name}" for name in bad),
        *(f"last: {name}" for name in bad),
    )
    return Table(heads, tuple(rows))


def undefined_table(study: Study) -> Table:
    """Return the number of undefined predictions on the sample space S, by reason.

    There are counts and shares for all hypotheses that have predictions, and for consistent
    hypotheses.
    """
    rows: list[tuple[Cell, ...]] = []
    for setting, some in group_by_setting(study):
        every = study.sum_counts(lambda detail: detail.undefined, some)
        consistent = study.sum_counts(lambda detail: detail.undefined_consistent, some)
        total = sum(entry.detail.predictions for entry in some)
        of_consistent = sum(entry.detail.predictions_consistent for entry in some)
        for reason, count in sorted(every.items(), key=lambda pair: (-pair[1], pair[0])):
            own = consistent[reason]
            rows.append(
                (
                    *(setting.data_set, str(setting.n), setting.model, reason),
                    *(count, count / total, own, own / of_consistent if of_consistent else None),
                )
            )
    heads = (
        *("data set", "n", "model", "reason", "predictions", "share"),
        *("of consistent", "share of consistent"),
    )
    return Table(heads, tuple(rows))


def correlations_table(study: Study) -> Table:
    """Return Spearman's rank correlation of each metric with the number n of shown pairs.

    There is one row for each model and data set with at least two numbers n. The column "n" is the
    number of problems in the correlation.
    """
    rows: list[tuple[Cell, ...]] = []
    for model in study.models:
        for name in study.find_data_sets(model):
            numbers = {e.setting.n for e in study.select_entries(model, name)}
            if sum(isinstance(n, int) for n in numbers) < 2:
                continue
            cells: list[Cell] = []
            for metric in CORRELATED_METRICS:
                found = study.correlation(metric, model, name)
                cells += [_mean(found), found["n"]]
            rows.append((model, name, *cells))
    heads = [head for metric in CORRELATED_METRICS for head in (metric, "n")]
    return Table(("model", "data set", *heads), tuple(rows))


def points_table(study: Study) -> Table:
    """Return a point (gamma, beta) for each problem with at least two consistent hypotheses.

    Undefined predictions count as one more output. The bounds of beta for this gamma follow
    appendix D.
    """
    rows = []
    for entry in study.entries:
        if entry.detail.point is None:
            continue
        gamma, beta, k = entry.detail.point
        low, high = beta_bounds(min(max(gamma, 1.0), float(k)), k)
        setting = entry.setting
        whose = (setting.data_set, str(setting.n), setting.model, entry.problem)
        rows.append((*whose, k, gamma, beta, low, high))
    heads = ("data set", "n", "model", "problem", "k", "gamma", "beta", "least beta", "most beta")
    return Table(heads, tuple(rows))


def as_json(study: Study) -> list[dict[str, Json]]:
    """Return the metrics of each combination of data set, n and model, as JSON.

    Each object is {data_set, n, model, problems, metrics, verdicts, stops, undefined, memorising}.
    """
    found: list[dict[str, Json]] = []
    for setting, some in group_by_setting(study):
        found.append(
            {
                "data_set": setting.data_set,
                "n": setting.n,
                "model": setting.model,
                "problems": len(some),
                "metrics": {
                    metric.name: study.average(
                        metric.name, setting.model, [setting.data_set], setting.n
                    ).interval
                    for metric in gear.METRICS
                },
                "verdicts": dict(study.sum_counts(lambda detail: detail.verdicts, some)),
                "stops": dict(Counter(entry.detail.stop for entry in some)),
                "undefined": dict(study.sum_counts(lambda detail: detail.undefined, some)),
                "memorising": sum(entry.detail.memorising for entry in some),
            }
        )
    return found


def group_by_setting(study: Study) -> list[tuple[Setting, list[Entry]]]:
    """Return the problems of each setting: data set, number n of shown observations, and model."""
    found: dict[Setting, list[Entry]] = {setting: [] for setting in study.settings}
    for entry in study.entries:
        found[entry.setting].append(entry)
    return list(found.items())


# --- inside ------------------------------------------------------------------


def _named(data_sets: Sequence[str]) -> str:
    return data_sets[0] if len(data_sets) == 1 else f"Avg of {', '.join(data_sets)}"


def _cell(value: Mapping[str, Json], named: Sequence[str], intervals: bool) -> Cell:
    if value["mean"] is None:
        return None
    own = value["data_sets"]
    note = "" if len(own) == len(named) else f"{', '.join(own)} only"
    if intervals:
        return Mean(value["mean"], value["low"], value["high"], note)
    return f"{value['mean']:.3f} ({note})" if note else float(value["mean"])


def _mean(value: Interval) -> Cell:
    if value["mean"] is None:
        return None
    return Mean(value["mean"], value["low"], value["high"])
