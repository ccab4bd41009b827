"""The trade-off curve of the search for exception rules: `python bench/abd_tradeoff.py [--data DATA]
[--sample N|all] [--half first|second|all] [--expansions N] [--workers N] [--out DIR] [--rows FILE]
[--json FILE]`.

Without --data the published instances are looked for in the folder that PEIRCE_SHARED names, else in
`shared` beside the repository. Each instance is searched once; then every trade-off of a grid (what a
node of the formula is worth, what certainty to hold further on is worth, by which reading of
holdouts) says its first answer. Answers are judged on prompt worlds and holdouts by both evaluators,
as `peirce eval abd` judges them, and beside them the planted rule and the antecedent of the theory.
Printed are the presets and what stands beside them, by half and regime: gaps and sizes are means over
rules valid on the prompt worlds, validity is of all instances.

--out writes abd-tradeoff.csv (those rows and every point of the grid), abd-tradeoff.md (those rows with
95% intervals: instances drawn within their regime, 2,000 times, seed 0), the figure (abd_curve.py), and
abd-tradeoff.jsonl, from which --rows makes all of it again without a search.
Holdouts judge here; no answer was chosen by them, but who reads off the best point of the grid does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import abd_curve
import abd_instances
from abd_instances import Row
from peirce.commands.oracles import open_oracles
from peirce.commands.score.rule_scores import RuleJudge, SessionAnswers
from peirce.records import Problem
from peirce.reports.files import plotting
from peirce.reports.files.tables import Cell, Mean, Table, as_csv, as_markdown, as_text
from peirce.reports.metrics.statistics import metric_intervals
from peirce.reports.papers.abd import metrics
from peirce.reports.papers.abd.reference_rules import ANTECEDENT, PLANTED, PLANTED_IN_SCOPE
from peirce.search.budget import PRESETS
from peirce.search.logic.ranking import TRADE_OFFS, CandidateRules, Ranking, TradeOff
from peirce.tasks import load_family
from peirce.tasks.logic.measures import EVALUATORS
from peirce.tools.logic.formula import format_sexpr
from table import Row as BenchRow
from table import write_rows

NODES = (0.0, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13, 0.17, 0.22, 0.3)
HOLDS = (0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0, 7.0)
GRID = tuple(
    TradeOff(node, holds, exact) for exact, holds, node in product((False, True), HOLDS, NODES)
)
METRICS = ("prompt_validity", "gap", "ast_size", "holdout_validity", "holdout_gap")
NOTHING = {"prompt_validity": 0.0, "gap": None, "ast_size": None, "holdout_validity": 0.0,
           "holdout_gap": None}  # fmt: skip
BESIDE = (PLANTED, PLANTED_IN_SCOPE, ANTECEDENT)
NAMED = (*TRADE_OFFS, *BESIDE)


def rows_of(problems: Sequence[Problem], expansions: float) -> Iterator[Row]:
    """answers: by evaluator, the values of each different rule. grid, presets: which of them each
    trade-off says first, None where it says none. beside: by name and evaluator."""
    for problem in problems:
        found = abd_instances.searched(problem, expansions).ranking.found
        texts: dict[str, int] = {}
        grid = [_first(found, one, texts) for one in GRID]
        presets = {name: _first(found, one, texts) for name, one in TRADE_OFFS.items()}
        answers, beside = asyncio.run(_judged(problem, list(texts)))
        yield {
            "id": problem.id, "regime": abd_instances.regime_of(problem), "rules": list(texts),
            "answers": answers, "grid": grid, "presets": presets, "beside": beside,
        }  # fmt: skip


def _first(found: CandidateRules, trade_off: TradeOff, texts: dict[str, int]) -> int | None:
    first = next(iter(Ranking(found, trade_off)), None)
    return None if first is None else texts.setdefault(format_sexpr(first.formula), len(texts))


async def _judged(problem: Problem, texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    of_rules = load_family("logic")
    answers: dict[str, Any] = {}
    beside: dict[str, Any] = {name: {} for name in BESIDE}
    said = [
        SessionAnswers(problem, [json.dumps({"formula": text, "description": ""})])
        for text in texts
    ]
    async with open_oracles(of_rules) as tools:
        for evaluator in EVALUATORS:
            judging = RuleJudge(of_rules.with_evaluator(evaluator), evaluator, tools.make_oracles())
            answers[evaluator] = [_kept(one) for one in await judging.judge_answers(said)]
            for kind, record, in_scope in await judging.judge_known_rules([problem]):
                beside[kind][evaluator] = _kept(record)
                if kind == PLANTED and in_scope:
                    beside[PLANTED_IN_SCOPE][evaluator] = _kept(record)
    return answers, {name: some for name, some in beside.items() if some}


def _kept(record: Any) -> dict[str, float | None]:
    values = metrics.record_metrics(record)
    return {name: values[name] for name in METRICS}


# --- points ---------------------------------------------------------------------------


def of_grid(rows: Sequence[Row], place: int) -> dict[str, float | None]:
    """Means of one trade-off: {metric_evaluator: mean}."""
    return _means([_values(row, row["grid"][place]) for row in rows])


def of_name(rows: Sequence[Row], name: str) -> list[Mapping[str, Any]]:
    """By evaluator, the values of a preset or of what stands beside, of the instances that have it."""
    if name in TRADE_OFFS:
        return [_values(row, row["presets"][name]) for row in rows]
    return [row["beside"][name] for row in rows if name in row["beside"]]


def _values(row: Row, answer: int | None) -> Mapping[str, Any]:
    return {
        evaluator: NOTHING if answer is None else row["answers"][evaluator][answer]
        for evaluator in EVALUATORS
    }


def _means(some: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    found = {}
    for metric, evaluator in product(METRICS, EVALUATORS):
        values = [v for one in some if (v := one[evaluator][metric]) is not None]
        found[f"{metric}_{evaluator}"] = fmean(values) if values else None
    return found


def named_rows(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Presets and what stands beside them, with the instances that have it. Planted rules in scope
    where not all are."""
    for name in NAMED:
        some = [row for row in rows if name in TRADE_OFFS or name in row["beside"]]
        whole = sum(PLANTED in row["beside"] for row in rows)
        if some and (name != PLANTED_IN_SCOPE or len(some) < whole):
            yield name, some


def points_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """All points, by half and regime: of the grid (name ""), presets, and what stands beside."""
    found = []
    for half, regime, some in abd_instances.groups(rows):
        for name, kept in named_rows(some):
            means = _means(of_name(kept, name))
            found.append(_point(half, regime, name, TRADE_OFFS.get(name), len(kept), means))
        for place, trade_off in enumerate(GRID):
            means = of_grid(some, place)
            found.append(_point(half, regime, "", trade_off, len(some), means))
    return found


def _point(
    half: str,
    regime: str,
    name: str,
    trade_off: TradeOff | None,
    count: int,
    means: Mapping[str, Any],
) -> dict[str, Any]:
    setting: tuple[Cell, ...] = (None, None, None)
    if trade_off is not None:
        setting = (trade_off.node, trade_off.holds, "exact" if trade_off.exact else "released")
    told = dict(zip(("node", "holds", "reading"), setting, strict=True))
    return {"half": half, "regime": regime, "name": name, **told, "instances": count, **means}


COLUMNS = (
    ("prompt_validity", "exact"), ("gap", "exact"), ("gap", "released"), ("ast_size", "exact"),
    ("holdout_validity", "released"), ("holdout_validity", "exact"),
    ("holdout_gap", "released"), ("holdout_gap", "exact"),
)  # fmt: skip


def table_of(rows: Sequence[Row], intervals: bool) -> Table:
    """Presets and what stands beside them, by half and regime."""
    body: list[tuple[Cell, ...]] = []
    for half, regime, some in abd_instances.groups(rows):
        for name, kept in named_rows(some):
            values = of_name(kept, name)
            cells = [_cell(kept, values, *column, intervals) for column in COLUMNS]
            body.append((half, regime, name, len(kept), *cells))
    heads = ("half", "regime", "rule", "instances")
    return Table((*heads, *(f"{metric} {evaluator}" for metric, evaluator in COLUMNS)), tuple(body))


def _cell(
    rows: Sequence[Row],
    values: Sequence[Mapping[str, Any]],
    metric: str,
    evaluator: str,
    interval: bool,
) -> Cell:
    some = [one[evaluator] for one in values]
    if not interval:
        known = [one[metric] for one in some if one[metric] is not None]
        return fmean(known) if known else None
    found = metric_intervals(
        some, [metric], strata=[row["regime"] for row in rows], seed=metrics.SEED
    )[metric]
    none = found["mean"] is None
    return None if none else Mean(found["mean"], found["low"], found["high"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    abd_instances.options_of(parser)
    parser.add_argument("--expansions", type=float, default=PRESETS["standard"].expansions)
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="of an earlier run, judged already"
    )
    options = parser.parse_args()
    if not options.rows and not abd_instances.has_data(options):
        return
    if options.rows:
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    else:
        rows = abd_instances.measured(options, lambda some: rows_of(some, options.expansions))
    print(f"{len(rows)} instances, half: {options.half}, {options.expansions:,.0f} expansions")
    print(as_text(table_of(rows, intervals=False), None))
    work = f"{len(rows)} instances of exception rules, preset balanced"
    means = _means(of_name(rows, "balanced"))
    kinds = (("prompt_validity", "", "higher"), ("holdout_validity", "", "higher"),
             ("gap", "elements", "lower"), ("ast_size", "nodes", "lower"))  # fmt: skip
    found = [
        BenchRow(f"{work}: {name.replace('_', ' ')}", value, unit, better)
        for name, unit, better in kinds
        if (value := means[f"{name}_exact"]) is not None
    ]
    write_rows(options.json, found)
    if options.out:
        points = points_of(rows)
        whole = Table(tuple(points[0]), tuple(tuple(one.values()) for one in points))
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "abd-tradeoff.csv").write_text(as_csv(whole))
        (options.out / "abd-tradeoff.md").write_text(as_markdown(table_of(rows, True)) + "\n")
        (options.out / "abd-tradeoff.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
        if plotting.has_matplotlib():
            made = plotting.render_figure(lambda: abd_curve.draw(points), (".svg", ".png")) or {}
            for form, data in made.items():
                (options.out / f"abd-tradeoff{form}").write_bytes(data)
        else:
            print(plotting.MISSING_MATPLOTLIB)


if __name__ == "__main__":
    main()
