"""HypoBench's tables 5 to 8 and 11 to 16, with the scores of sessions and the values of the paper.

`layout` describes how to read the tables. Discovery scores are listed separately for each source:
exact rules, or a rater, whose ratings are counted as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import fsum, nan

import numpy as np

from ....records import Json, is_finite_number
from ....tasks.text.rating_answers import QUALITIES
from ....tools.discovery.scores import DiscoveryScores, score_as_defined, score_as_released
from . import layout
from .entries import (
    BASELINE_PREFIX,
    PAPER_METHODS,
    READERS,
    Average,
    Entry,
    average,
    metric_getter,
    order_methods,
)
from .layout import MODELS, Grid, Key, Published, merge_grids

# --- Scores from ratings: the two discovery scores, and the mean quality of a bank.
#
# Rows are those that `peirce rate` writes for one problem and one rater. `score_as_released` and `score_as_defined` are
# defined in tools/discovery/scores.py; the latter takes its variables from the `variable` rows.


def summarize_ratings(
    rows: Sequence[Mapping[str, Json]],
    truths: Sequence[str],
    bank: Sequence[str],
    variables: Mapping[str, Sequence[str]],
) -> dict[str, Json]:
    """Return the scores of one problem from the ratings of one rater.

    Args:
        rows: The ratings, as `peirce rate` writes them.
        truths: The true sentences.
        bank: The rated sentences.
        variables: The variables of each true sentence, if they are known.

    Returns:
        {"released": {fdr, rc, hdr, missing}, "paper": …, "novelty": {mean, n, missing}, …}. A key
            is
        present only if there are ratings for it.
    """
    given = {(r["kind"], r.get("true"), r["hypothesis"]): r["score"] for r in rows}
    found: dict[str, Json] = {}
    kinds = {kind for kind, _, _ in given}
    if truths and ("feature" in kinds or not bank):
        ratings = _matrix(given, "relationship", truths, bank)
        found["released"] = _scores_to_json(
            score_as_released(_matrix(given, "feature", truths, bank), ratings)
        )
        names = list(dict.fromkeys(name for one in truths for name in variables.get(one, ())))
        if names:
            true = np.array([[name in variables.get(one, ()) for name in names] for one in truths])
            said = _matrix(given, "variable", names, bank).T
            found["paper"] = _scores_to_json(
                score_as_defined(true.astype(np.float64), said, ratings)
            )
    for kind in QUALITIES:
        scores = [score for (which, _, _), score in given.items() if which == kind]
        known = [score for score in scores if score is not None]
        if scores:
            mean = fsum(known) / len(known) if known else None
            found[kind] = {"mean": mean, "n": len(known), "missing": len(scores) - len(known)}
    return found


def _matrix(
    given: Mapping[tuple[str, Json, Json], Json], kind: str, rows: Sequence[str], bank: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:  # fmt: skip
    """Return ratings (rows, bank), NaN if a rating is missing."""
    found = np.full((len(rows), len(bank)), nan)
    for n, one in enumerate(rows):
        for m, other in enumerate(bank):
            score = given.get((kind, one, other))
            found[n, m] = nan if score is None else score
    return found


def _scores_to_json(found: DiscoveryScores) -> dict[str, Json]:
    return {"fdr": found.fdr, "rc": found.rc, "hdr": found.hdr, "missing": found.missing}


EntryValue = Callable[[Entry], float | None]
RatedValue = Callable[[Mapping[str, object]], float | None]
REAL_ONLY = ("literature only", "literature + data")
RATES = ("FDR", "RC", "HDR")
DISCOVERY = ("zero-shot generation", "IO prompting", "iterative refinement", "HypoGeniC")


def build_grids(
    entries: Sequence[Entry],
    proposers: Mapping[str, str],
    agreements: Mapping[Key, Average] | None = None,
) -> list[Grid]:
    """Return all ten tables of HypoBench for a set of entries.

    Args:
        entries: The scores of each method on each problem.
        proposers: The proposer of each session in the cross-model tables, by session.
        agreements: The agreement of raters, for table 8; None for an empty table.
    """
    real = [one for one in entries if one.real]
    numeric = [one for one in entries if not one.real and one.numeric]
    labels = [one for one in entries if not one.real and not one.numeric]
    return [
        _accuracy("table5", "ood", real, layout.TABLE_5),
        _crossed("table6", "ood", real, proposers, layout.TABLE_6),
        _qualities(real),
        _agreement(agreements or {}),
        _marine(numeric),
        _accuracy("table12", "ind", real, layout.TABLE_12),
        _crossed("table13", "ind", real, proposers, layout.TABLE_13),
        _discovery(labels),
        _synthetic(labels),
        _by_set(labels),
    ]


# --- single tables -----------------------------------------------------------------------


def _accuracy(name: str, split: str, real: Sequence[Entry], beside: Published) -> Grid:
    number, about = {"ood": ("5", "rows of another source"), "ind": ("12", "test rows")}[split]
    return _grid(
        name,
        f"Table {number} of the paper: accuracy and macro F1 on {about} of real data sets.",
        real, PAPER_METHODS, {"accuracy": metric_getter(f"accuracy_{split}"), "F1": metric_getter(f"f1_{split}")}, beside,
        note="Baselines are trained on exactly the rows that the session was shown. Each cell"
             " of the paper's literature + data is the best of three methods; its fine-tuned"
             " models were trained on the entire training split.",
    )  # fmt: skip


def _crossed(
    name: str, split: str, real: Sequence[Entry], proposers: Mapping[str, str], beside: Published
) -> Grid:
    number, about = {"ood": ("6", "rows of another source"), "ind": ("13", "test rows")}[split]
    own = [o for o in real if o.session in proposers and not o.method.startswith(BASELINE_PREFIX)]
    rows = list(dict.fromkeys(proposers[one.session] for one in own))
    columns = list(dict.fromkeys(one.reader for one in own))
    values = {}
    for row, column in product(rows, columns):
        chosen = [one for one in own if (proposers[one.session], one.reader) == (row, column)]
        if (found := average(chosen, metric_getter(f"accuracy_{split}"))) is not None:
            values[row, column, "accuracy"] = found
    made_by = ", ".join(dict.fromkeys(one.method for one in own if one.method not in READERS))
    return Grid(
        name,
        f"Table {number} of the paper: accuracy on {about} of real data sets. Each row is a"
        " model that proposed hypotheses, each column a model that predicted labels with them.",
        "proposer", [*rows, *(one for one in MODELS if one not in rows)], columns, ("accuracy",), values,
        beside, f"Banks here: {made_by}; the paper's: literature + data." if made_by else "",
    )  # fmt: skip


def _qualities(real: Sequence[Entry]) -> Grid:
    return _rated(
        "table7",
        "Table 7 of the paper: novelty, plausibility and clarity (1 to 5) of the hypotheses on"
        " real data sets, from `peirce rate`.",
        [one for one in PAPER_METHODS if not one.endswith("inference")], _banks(real),
        {name: _quality(name) for name in ("novelty", "plausibility", "clarity")}, layout.TABLE_7,
    )  # fmt: skip


def _agreement(found: Mapping[Key, Average]) -> Grid:
    rows = list(dict.fromkeys(row for row, _, _ in layout.TABLE_8))
    columns = list(dict.fromkeys(column for _, column, _ in found))
    return Grid(
        "table8",
        "Table 8 of the paper: agreement between human raters (from the sheets given by"
        " --ratings), and of a model with each rater and with their majority.",
        "measure", rows, columns, ("",), found, layout.TABLE_8,
        "In the paper, two people rated 100 pairs, and the model was GPT-4o.",
    )  # fmt: skip


def _marine(numeric: Sequence[Entry]) -> Grid:
    own = [one for one in numeric if not one.method.startswith(BASELINE_PREFIX)]
    rows = [one for one in PAPER_METHODS if one not in REAL_ONLY]
    error = _grid("table11", "", own, rows, {"MSE": metric_getter("mse")}, {})
    return _together(
        "table11",
        "Table 11 of the paper: squared error of numeric labels, scaled by the range of the"
        " training labels (marine), and recovered true rules (FDR, RC, HDR).",
        own, rows, [error, *_discovered("table11", _banks(own), rows)], ("MSE", *RATES),
        layout.TABLE_11,
        f"The paper's data set is not released. Its ratings are from GPT-4o. {_rules_read(own)}",
    )  # fmt: skip


def _discovery(labels: Sequence[Entry]) -> Grid:
    banks = _banks(labels)
    counted = _grid(
        "table14", "", banks, DISCOVERY, {"HDR": metric_getter("hdr_released")}, {},
        column=lambda one: f"{one.comparer_label} counted as published",
    )  # fmt: skip
    return _together(
        "table14",
        "Table 14 of the paper: recovered true rules (FDR), how correctly they are stated (RC),"
        " and both combined (HDR) on synthetic data sets. With exact rules, each true rule"
        " matches at most one sentence, and both are compared on all inputs. In the published"
        " counts and for raters, any sentence that shares a variable matches.",
        banks, DISCOVERY, [*_discovered("table14", banks, DISCOVERY), counted], RATES, layout.TABLE_14,
        f"The paper's ratings are from GPT-4o. {_rules_read(banks)}",
    )  # fmt: skip


def _synthetic(labels: Sequence[Entry]) -> Grid:
    return _grid(
        "table15",
        "Table 15 of the paper: accuracy and macro F1 on the test rows of synthetic data sets.",
        labels, [one for one in PAPER_METHODS if one not in REAL_ONLY],
        {"accuracy": metric_getter("accuracy"), "F1": metric_getter("f1")}, layout.TABLE_15,
    )  # fmt: skip


def _by_set(labels: Sequence[Entry]) -> Grid:
    """Return table 16: one row per data set, one column per method, model and source of the scores."""
    banks = [one for one in _banks(labels) if one.method not in READERS]
    own_rows = sorted({one.data_set for one in banks})
    values: dict[Key, Average] = {}
    columns: list[str] = []
    for told in dict.fromkeys((one.method, one.model) for one in banks):
        mine = [one for one in banks if (one.method, one.model) == told]
        for who, wanted in _comparers(mine).items():
            column = f"{told[0]} · {told[1]} · {who.removeprefix(f'{told[1]} · ')}"
            columns.append(column)
            for row, name in product((*own_rows, layout.AVERAGE), RATES):
                chosen = [o for o in mine if row in (o.data_set, layout.AVERAGE)]
                if (found := average(chosen, wanted[name])) is not None:
                    values[row, column, name] = found
    listed = [row for row, _, _ in layout.TABLE_16 if row != layout.AVERAGE]
    return Grid(
        "table16",
        "Table 16 of the paper: recovered true rules on each synthetic data set. The paper"
        " reports O3, which was asked once for 20 hypotheses, with all training rows in the"
        " prompt.",
        "data set", [*dict.fromkeys((*listed, *own_rows)), layout.AVERAGE], columns, RATES, values,
        layout.TABLE_16,
        "The paper averages over 11 data sets but prints only nine. Its data set `preference`"
        f" is called personality here. {_rules_read(banks)}",
    )  # fmt: skip


# --- inside ------------------------------------------------------------------------------


def _grid(
    name: str,
    about: str,
    some: Sequence[Entry],
    rows: Sequence[str],
    wanted: Mapping[str, EntryValue],
    beside: Published,
    *,
    column: Callable[[Entry], str] = lambda one: one.reader_label,
    note: str = "",
) -> Grid:
    """Return a table with one row per method.

    Rows are those of `rows`, of the sessions and of the paper. A column needs a value that is not a
    baseline's.
    """
    own = [one for one in some if one.method not in READERS]
    columns = list(
        dict.fromkeys(column(one) for one in own if not one.method.startswith(BASELINE_PREFIX)
                      and any(of(one) is not None for of in wanted.values()))
    )  # fmt: skip
    listed = _listed(own, rows, beside)
    values = {}
    for row, place, (key, of) in product(listed, columns, wanted.items()):
        chosen = [one for one in own if (one.method, column(one)) == (row, place)]
        if (found := average(chosen, of)) is not None:
            values[row, place, key] = found
    return Grid(name, about, "method", listed, columns, tuple(wanted), values, beside, note)


def _rated(
    name: str,
    about: str,
    rows: Sequence[str],
    some: Sequence[Entry],
    wanted: Mapping[str, RatedValue],
    beside: Published,
) -> Grid:
    """Return a table whose columns are models with each of their raters."""
    own = [one for one in some if one.method not in READERS]
    columns = list(
        dict.fromkeys(_by(one.model, by) for one in own for by, told in one.rated
                      if any(of(told) is not None for of in wanted.values()))
    )  # fmt: skip
    listed = _listed(own, rows, beside)
    values = {}
    for row, place, key in product(listed, columns, wanted):
        chosen = [one for one in own if one.method == row]
        if (found := average(chosen, _as_rated(place, wanted[key]))) is not None:
            values[row, place, key] = found
    return Grid(name, about, "method", listed, columns, tuple(wanted), values, beside)


def _discovered(name: str, banks: Sequence[Entry], rows: Sequence[str]) -> list[Grid]:
    """Return FDR, RC and HDR by exact rules and by each rater."""
    exact: dict[str, EntryValue] = {one: metric_getter(one.lower()) for one in RATES}
    return [
        _grid(name, "", banks, rows, exact, {}, column=lambda one: one.comparer_label),
        _rated(name, "", rows, banks, _released(), {}),
    ]


def _rules_read(banks: Sequence[Entry]) -> str:
    """Return a note on how many true rules were read, with the HDR over these rules."""
    counts = {
        one.data_set: (one.metrics["rules_read"], one.metrics["rules_stated"])
        for one in banks
        if one.metrics.get("rules_read") is not None and one.metrics.get("rules_stated") is not None
    }
    if not counts:
        return ""
    read, stated = (round(fsum(pair[n] or 0 for pair in counts.values())) for n in (0, 1))
    mean = average(banks, metric_getter("hdr_read"))
    over = "" if mean is None else f"; the exact HDR over these alone is {mean.mean:.3f}"
    return f"True rules read: {read} of {stated}. The others count as not found{over}."


def _together(
    name: str,
    about: str,
    some: Sequence[Entry],
    rows: Sequence[str],
    parts: Sequence[Grid],
    metrics: Sequence[str],
    beside: Published,
    note: str,
) -> Grid:
    """Return one table from several with the same rows; empty columns are left out."""
    values = merge_grids(parts)
    held = {column for _, column, _ in values}
    columns = [
        one for one in dict.fromkeys(c for part in parts for c in part.columns) if one in held
    ]
    own = [one for one in some if one.method not in READERS]
    return Grid(
        name, about, "method", _listed(own, rows, beside), columns, metrics, values, beside, note
    )  # fmt: skip


def _listed(some: Sequence[Entry], rows: Sequence[str], beside: Published) -> list[str]:
    there = {one.method for one in some}
    listed = [one for one in order_methods(some) if one in rows or one in there]
    return [*listed, *(row for row in dict.fromkeys(r for r, _, _ in beside) if row not in listed)]


def _banks(some: Sequence[Entry]) -> list[Entry]:
    return [one for one in some if one.has_bank]


def _comparers(some: Sequence[Entry]) -> dict[str, dict[str, EntryValue]]:
    """Return by source of the discovery scores a function for each metric."""
    found: dict[str, dict[str, EntryValue]] = {}
    if any(one.metrics.get("hdr") is not None for one in some):
        found[some[0].comparer_label] = {name: metric_getter(name.lower()) for name in RATES}
    for one in some:
        for by, told in one.rated:
            if "released" in told:
                who = _by(one.model, by)
                found[who] = {name: _as_rated(who, of) for name, of in _released().items()}
    return found


def _as_rated(column: str, of: RatedValue) -> EntryValue:
    def value(one: Entry) -> float | None:
        return next((of(told) for by, told in one.rated if _by(one.model, by) == column), None)

    return value


def _by(model: str, rater: str) -> str:
    return f"{model} · rated by {rater}"


def _quality(name: str) -> RatedValue:
    return lambda told: _number(told.get(name), "mean")


def _released() -> dict[str, RatedValue]:
    def read_rate(name: str) -> RatedValue:
        return lambda told: _number(told.get("released"), name)

    return {name: read_rate(name.lower()) for name in RATES}


def _number(told: object, name: str) -> float | None:
    value = told.get(name) if isinstance(told, Mapping) else None
    return float(value) if is_finite_number(value) else None
