"""What the search for exception rules takes: `python bench/abd_search.py [--data DATA] [--sample N|all]
[--half first|second|all] [--budgets N…] [--workers N] [--out DIR] [--json FILE]`.

Without --data the published instances are looked for in the folder that PEIRCE_SHARED names, else in
`shared` beside the repository. Each instance is searched once a budget of expansions, and its first
answer of the default trade-off judged on the prompt worlds. Two tables, by regime:

- seconds of CPU an instance (mean, median, most), of them what each stage took on the average: worlds
  drawn, features, pairs of them, how likely candidates hold further on, the rest with the exact
  judging; and candidates looked at a second of CPU: features evaluated, and rules made of them, in
  the stages that do;
- the share of instances whose first answer is valid on all prompt worlds, its mean gap and AST size.

Seconds are of this machine, of one thread, and with --workers of processes beside each other. --out
writes abd-search.csv, a row an instance and budget, and abd-search.svg.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median
from typing import Any

import abd_instances
from abd_instances import ALL, Row
from peirce.records import Problem
from peirce.reports.files import plotting
from peirce.reports.files.tables import Cell, Table, as_csv, as_text
from peirce.search.logic import ranking
from peirce.search.logic.evidence import Evidence
from peirce.search.logic.ranking import TRADE_OFFS, Ranking
from table import Row as BenchRow
from table import write_rows

BUDGETS = (5_000, 20_000, 50_000, 150_000, 600_000)
STAGES = {
    "worlds": ("complete_worlds", "draw_broken"),
    "features": ("grow_features",),
    "pairs": ("find_candidates", "narrow"),
    "weighing": ("estimate_validity",),
}  # of `ranking`
REST = "judging"
NAMES = (*STAGES, REST)


class Clock:
    """Seconds of CPU of the stages, and rules judged over the completions at hand, as `ranking` calls
    them; it stands in place of its functions until `close`."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.rules = 0
        self._kept = [
            (ranking, name, getattr(ranking, name)) for some in STAGES.values() for name in some
        ]
        self._judged = Evidence.judge
        for stage, some in STAGES.items():
            for name in some:
                setattr(ranking, name, self._timed(stage, getattr(ranking, name)))
        Evidence.judge = self._counted()

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            began = time.process_time()
            found = work(*given)
            self.seconds[stage] += time.process_time() - began
            return found

        return run

    def _counted(self) -> Callable[..., Any]:
        work = self._judged

        def run(evidence: Evidence, valid: Any, covered: Any) -> Any:
            self.rules += len(valid)
            return work(evidence, valid, covered)

        return run

    def close(self) -> None:
        for module, name, work in self._kept:
            setattr(module, name, work)
        Evidence.judge = self._judged


def measure(problem: Problem, budget: float) -> dict[str, Any]:
    """Of one budget. valid: of the first answer on all prompt worlds; gap, size: where it is."""
    clock = Clock()
    began = time.process_time()
    try:
        one = abd_instances.searched(problem, budget)
        found = one.ranking.found
        first = next(iter(Ranking(found, TRADE_OFFS[ranking.DEFAULT])), None)
    finally:
        clock.close()
    whole = time.process_time() - began
    worths = one.prepared.judge(first.formula) if first else ()
    valid = bool(worths) and all(worth.valid for worth in worths)
    cost = sum(worth.cost or 0 for worth in worths)
    return {
        "budget": budget,
        "seconds": whole,
        **{name: clock.seconds[name] for name in STAGES},
        REST: whole - clock.seconds.total(),
        "features_tried": found.features.tried,
        "rules_tried": getattr(found.evidence, "judged", clock.rules) - len(found.features),
        "valid": valid,
        "gap": (cost - found.bound) / len(worths) if valid else None,
        "size": first.formula.size if first and valid else None,
    }


def rows_of(problems: Sequence[Problem], budgets: Sequence[float]) -> Iterator[Row]:
    for one in problems:
        of_budgets = [measure(one, budget) for budget in budgets]
        yield {"id": one.id, "regime": abd_instances.regime_of(one), "budgets": of_budgets}


# --- tables ---------------------------------------------------------------------------


def by_group(rows: Sequence[Row]) -> Iterator[tuple[str, float, list[dict[str, Any]]]]:
    """(regime, budget, what was measured of its instances); halves together."""
    last = list(abd_instances.groups(rows))[-1][0]
    for half, regime, some in abd_instances.groups(rows):
        for place, first in enumerate(some[0]["budgets"] if half == last else ()):
            yield regime, first["budget"], [row["budgets"][place] for row in some]


def times_table(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for regime, budget, some in by_group(rows):
        seconds = [one["seconds"] for one in some]
        features = _rate(some, ("features_tried",), ("features",))
        rules = _rate(some, ("rules_tried",), ("pairs",))
        both = _rate(some, ("features_tried", "rules_tried"), ("seconds",))
        stages = [fmean(one[name] for one in some) for name in NAMES]
        body.append(
            (regime, int(budget), len(some), fmean(seconds), median(seconds), max(seconds), *stages,
             features, rules, both)
        )  # fmt: skip
    heads = ("regime", "budget", "instances", "CPU s", "median", "most", *NAMES, "features a s",
             "rules a s", "both, of all s")  # fmt: skip
    return Table(heads, tuple(body))


def _rate(some: Sequence[dict[str, Any]], counts: Sequence[str], stages: Sequence[str]) -> int:
    count = sum(one[name] for one in some for name in counts)
    return round(count / max(1e-9, sum(one[name] for one in some for name in stages)))


def solved_table(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for regime, budget, some in by_group(rows):
        valid = [one for one in some if one["valid"]]
        means = [fmean(one[name] for one in valid) if valid else None for name in ("gap", "size")]
        body.append((regime, int(budget), len(some), len(valid) / len(some), *means))
    heads = ("regime", "budget", "instances", "share valid", "gap", "AST size")
    return Table(heads, tuple(body))


def long_table(rows: Sequence[Row]) -> Table:
    fields = list(rows[0]["budgets"][0])
    return Table(
        ("instance", "regime", *fields),
        tuple(
            (row["id"], row["regime"], *(one[field] for field in fields))
            for row in rows
            for one in row["budgets"]
        ),
    )


def bench_rows(rows: Sequence[Row]) -> list[BenchRow]:
    """Return time and validity of all instances together, a budget each."""
    found = []
    groups = list(by_group(rows))
    for regime, budget, some in groups:
        if regime == groups[-1][0]:
            work = f"{len(some)} instances of exception rules, {budget:,.0f} expansions"
            seconds = [one["seconds"] for one in some]
            found += [
                BenchRow(f"{work}: CPU of an instance, mean", fmean(seconds), "s"),
                BenchRow(f"{work}: CPU of an instance, most", max(seconds), "s"),
                BenchRow(f"{work}: first answers that are valid",
                         fmean(one["valid"] for one in some), "", "higher"),
            ]  # fmt: skip
    return found


def draw(rows: Sequence[Row]) -> Any:
    panels = (
        ("share of instances", lambda some: fmean(one["valid"] for one in some)),
        ("gap (elements a world)", lambda some: _mean(some, "gap")),
        ("AST size (nodes)", lambda some: _mean(some, "size")),
        ("CPU (s an instance)", lambda some: fmean(one["seconds"] for one in some)),
    )
    titles = ("first answer is valid", "its gap", "its size", "time")
    figure = plotting.create_figure(11, 3.4)
    axes = figure.subplots(1, len(panels))
    groups = list(by_group(rows))
    names = list(dict.fromkeys(regime for regime, *_ in groups))
    for panel, title, (label, value) in zip(axes, titles, panels, strict=True):
        for regime in names:
            points = [(budget, value(some)) for name, budget, some in groups if name == regime]
            style = {"color": "black", "linewidth": 2} if regime == ALL else {"marker": "."}
            panel.plot(*zip(*points, strict=True), label=regime, **style)
        panel.set(xscale="log", xlabel="budget (expansions)", ylabel=label, title=title)
        budgets = sorted({budget for _, budget, _ in groups})
        panel.set_xticks(budgets, [f"{budget / 1000:g}k" for budget in budgets])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    plotting.add_legend_below(figure, axes, names)
    return figure


def _mean(some: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [one[name] for one in some if one[name] is not None]
    return fmean(values) if values else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    abd_instances.options_of(parser)
    parser.add_argument("--budgets", type=float, nargs="+", default=list(BUDGETS), metavar="N")
    options = parser.parse_args()
    if not abd_instances.has_data(options):
        return
    rows = abd_instances.measured(options, lambda some: rows_of(some, sorted(options.budgets)))
    print(f"{len(rows)} instances, half: {options.half}, workers: {options.workers}\n")
    print(as_text(times_table(rows), None), end="\n\n")
    print(as_text(solved_table(rows), None))
    write_rows(options.json, bench_rows(rows))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "abd-search.csv").write_text(as_csv(long_table(rows)))
        if plotting.has_matplotlib():
            made = plotting.render_figure(lambda: draw(rows), (".svg", ".png")) or {}
            for form, data in made.items():
                (options.out / f"abd-search{form}").write_bytes(data)
        else:
            print(plotting.MISSING_MATPLOTLIB)


if __name__ == "__main__":
    main()
