"""The search for laws beside pyoperon and gplearn: `python bench/laws.py [FILE] [--half even|odd]
[--noise 0 0.001 0.01] [--seconds 10 60] [--only search|pyoperon|gplearn] [--seeds N] [--json FILE]`,
`python bench/laws.py --tables` or `python bench/laws.py --noise-sets 100`.

FILE holds equations: [{"id": …, "output": …, "formula": …, "variables": [{"name": …, "low": …, "high": …},
…]}, …]. Without it, the task generates laws. `--half` takes the equations at even or odd places of the
file. Of each equation, 200 rows are drawn to learn from. Normally distributed noise is added to the
output, with a standard deviation relative to the output's.

A law counts as found if, on 200 fresh rows without noise from ranges that are 20% wider (half of that at
each end), at least 98% of its predictions differ from the value by at most 1e-6 of the value or of the
standard deviation of the output, whichever is larger. Rows in which the equation is not defined are drawn
again. Only the first answer counts. Each answer has a process of its own. The peers are asked as
`--model pyoperon` and `--model gplearn` ask them, which end by themselves after the seconds and are
killed 5 s later. The search examines `--rate` expansions for each second, which is near the median here,
and is killed after four times the limit.

Shares have 95% score intervals; with several seeds, the draws of an equation count as independent. The
seconds are the median CPU time of an answer with the start of its process. "Size" is the number of nodes of
the formula in Peirce's language: a weighted variable of pyoperon is 3, and a protected quotient of gplearn
repeats its divisor. Both are the median over the laws that are not found, as is R2, which is that of
the fresh rows. A law that is not defined in a fresh row, or is nowhere right, has a R2 of at most 0.

`--tables` measures the held-out R2 and the size on five tables that come with scikit-learn (diabetes, iris)
and statsmodels (engel, grunfeld, star98), beside scikit-learn's linear regression (size: coefficients),
decision tree (chosen depth by cross-validation; size: nodes) and random forest (size: nodes of all trees).
A fourth of the rows is held out, drawn `--seeds` times. statsmodels is installed for this only: pip install
statsmodels. Nothing is downloaded.

`--noise-sets` draws so many sets of 200 rows whose output is noise, with one to five inputs, and gives the
share in which the first answer is a constant.

Not measured: pyoperon and gplearn with other settings than ours, which are those of published comparisons
(agents/regression).
"""

from __future__ import annotations

import argparse
import asyncio
import resource
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median
from typing import Any, Protocol

import numpy as np
from law_data import (
    Equation,
    Table,
    add_noise,
    draw_noise,
    load_tables,
    make_seed,
    read_equations,
    split_table,
)
from peirce.agents.regression.proposer import RegressionProposer
from peirce.reports.metrics.statistics import wilson_interval
from peirce.tools.formulas import (
    Column,
    Expression,
    FormulaError,
    Operation,
    Text,
    evaluate_formula,
    iter_nodes,
    list_columns,
    parse_formula,
)
from peirce.tools.line_process import LineProcess, ProcessDied
from table import Row, add_json_option, format_table, write_rows, write_skipped

NEAR = 1e-6
SHARE = 0.98
WIDER = 0.2
MEMORY_MB = 4_096
PATIENCE = 4  # times the limit, after which the search is killed
PEERS = ("pyoperon", "gplearn")
INSTALL = "pip install 'peirce[peers]'"


class Finder(Protocol):
    """Finds the first law of a table, or None."""

    async def find(self, table: Table, seed: int) -> str | None: ...


class Peer:
    """pyoperon or gplearn, as `--model` runs it."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.proposer = RegressionProposer(name, seconds, MEMORY_MB, 1, "")

    async def find(self, table: Table, seed: int) -> str | None:
        asked = {
            "columns": table.columns,
            "categories": table.categories,
            "target": table.output,
        }
        found = await self.proposer.search(asked, seed)
        return found["laws"][0] if "laws" in found else None


class Search:
    """The embedded search, in a process that is killed at the limit."""

    def __init__(self, expansions: float, seconds: float) -> None:
        self.expansions, self.seconds = expansions, seconds

    async def find(self, table: Table, seed: int) -> str | None:
        problem, space = to_problem(table)
        asked: dict[str, Any] = {
            "shown": [[o.input, o.output] for o in problem.shown], "family": problem.family,
            "told": problem.public, "space": space.digest, "inputs": space.inputs, "skip": [],
            "earlier": [], "expansions": self.expansions,
        }  # fmt: skip
        process = LineProcess("peirce.search.worker")
        try:
            await process.ask({**asked, "expansions": 1})  # load the engine
            found = await process.ask(asked, self.seconds)
        except (TimeoutError, ProcessDied):
            return None
        finally:
            await process.close()
        if "reason" in found:
            raise SystemExit(f"the search does not take such problems: {found['reason']}")
        return found.get("source")


def to_problem(table: Table) -> Any:
    """Return a table as a problem of the task `laws`, and the problem's sample space."""
    from peirce.records import Observation
    from peirce.tasks import load_task
    from peirce.tasks.laws.problems import LawSplit, make_problem

    rows = zip(*table.columns.values(), strict=True)
    inputs = [dict(zip(table.columns, row, strict=True)) for row in rows]
    shown = [Observation(x, y) for x, y in zip(inputs, table.output, strict=True)]
    problem = make_problem("bench", "output", LawSplit(shown, []), {})
    return problem, load_task("laws").space(problem, 0)


@dataclass(frozen=True)
class Outcome:
    """What an answer is worth on rows that were not shown. r2 is at most 1; text: None if there is none."""

    problem: str
    text: str | None
    r2: float
    size: int
    seconds: float
    found: bool = False

    def as_json(self) -> dict[str, Any]:
        return self.__dict__


def read_law(text: str, table: Table) -> Expression:
    try:
        return parse_formula(text, table.columns, table.categories)
    except FormulaError as error:
        raise SystemExit(f"an answer is no formula: {error}: {text}") from None


def score_r2(predictions: Any, output: Sequence[float]) -> float:
    """Return R2, and 0 for predictions that are worse than the mean or not all finite."""
    values = np.array(output)
    if not np.all(np.isfinite(predictions)):
        return 0.0
    with np.errstate(over="ignore"):
        ratio = float(np.sum((predictions - values) ** 2) / np.sum((values - values.mean()) ** 2))
    return max(0.0, 1 - ratio)


def is_found(predictions: Any, output: Sequence[float], spread: float) -> bool:
    values = np.array(output)
    with np.errstate(invalid="ignore"):
        near = np.abs(predictions - values) <= NEAR * np.maximum(np.abs(values), spread)
    return bool(near.mean() >= SHARE)


def seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def ask(finder: Finder, table: Table, fresh: Table, name: str, seed: int) -> Outcome:
    began = seconds_of_children()
    text = await finder.find(table, seed)
    seconds = seconds_of_children() - began
    if text is None:
        return Outcome(name, None, 0.0, 0, seconds)
    law = read_law(text, table)
    predictions = evaluate_formula(law, fresh.arrays())
    size = sum(1 for _ in iter_nodes(law))
    found = is_found(predictions, fresh.output, float(np.std(table.output)))
    return Outcome(name, text, score_r2(predictions, fresh.output), size, seconds, found)


async def measure_equations(
    equations: Sequence[Equation], finder: Finder, noise: float, seeds: int, show: bool
) -> list[Outcome]:
    outcomes = []
    for equation in equations:
        for seed in range(seeds):
            pick = np.random.default_rng(make_seed(equation.id, seed))
            table, fresh = equation.draw(pick, 0.0), equation.draw(pick, WIDER)
            noisy = add_noise(table, noise, pick) if noise else table
            one = await ask(finder, noisy, fresh, f"{equation.id} {seed}", seed)
            outcomes.append(one)
            if show:
                mark = "found" if one.found else f"R2 {one.r2:.6f}"
                print(f"{equation.id}: {mark}, {one.seconds:.1f} s: {one.text}", flush=True)
    return outcomes


def share(count: int, n: int) -> str:
    found = wilson_interval(count, n)
    return f"{count}/{n} = {found['mean']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def compare_equations(given: argparse.Namespace) -> list[Row]:
    equations = read_equations(given.file, given.half)
    print(f"{len(equations)} equations, {given.seeds} draws of each", flush=True)
    rows, body, answers = [], [], []
    for seconds in given.seconds:
        for name, finder in open_finders(given, seconds):
            for noise in given.noise:
                found = asyncio.run(
                    measure_equations(equations, finder, noise, given.seeds, given.show)
                )
                n, exact = len(found), sum(one.found for one in found)
                near = sum(one.r2 > 0.999 for one in found)
                others = [one for one in found if not one.found]
                used = median(one.seconds for one in found)
                body.append((
                    f"{name}, {seconds:g} s", f"{noise:g}", share(exact, n), share(near, n),
                    f"{median(one.r2 for one in others):.4f}" if others else "-",
                    f"{median(one.size for one in others):g}" if others else "-", f"{used:.1f}",
                ))  # fmt: skip
                print(*body[-1], sep="  ", flush=True)
                work = f"laws: {{}}, {name}, {seconds:g} s, noise {noise:g}"
                rows += [
                    Row(work.format("found exactly"), exact / n, "", "higher"),
                    Row(work.format("R2 above 0.999"), near / n, "", "higher"),
                    Row(work.format("CPU time of an answer"), used, "s"),
                ]
                answers += [
                    {"peer": name, "limit_s": seconds, "noise": noise, **one.as_json()}
                    for one in found
                ]
    heads = ("", "noise", "found", "R2 above 0.999", "R2 of others", "size", "median s")
    print(format_table(heads, body))
    write_rows(given.json, rows, answers=answers)
    return rows


# --- noise ----------------------------------------------------------------------------


def is_constant(law: Expression, table: Table) -> bool:
    """Return whether a law predicts the same everywhere. pyoperon writes a constant as 3 + 0 * x."""
    if not list_columns(law):
        return True
    values = evaluate_formula(law, table.arrays())
    return bool(np.ptp(values) <= 1e-9 * np.std(table.output))


async def measure_noise(finder: Finder, sets: int) -> list[dict[str, Any]]:
    found = []
    for number in range(sets):
        table = draw_noise(number)
        began = seconds_of_children()
        text = await finder.find(table, number)
        used = seconds_of_children() - began
        constant = text is not None and is_constant(read_law(text, table), table)
        found.append({"set": number, "text": text, "constant": constant, "seconds": used})
    return found


def compare_on_noise(given: argparse.Namespace) -> None:
    rows, body, answers = [], [], []
    for seconds in given.seconds:
        for name, finder in open_finders(given, seconds):
            found = asyncio.run(measure_noise(finder, given.noise_sets))
            constant, n = sum(one["constant"] for one in found), len(found)
            none = sum(one["text"] is None for one in found)
            used = median(one["seconds"] for one in found)
            body.append((f"{name}, {seconds:g} s", share(constant, n), str(none), f"{used:.1f}"))
            work = f"laws: the constant is the answer to noise, {name}, {seconds:g} s"
            rows.append(Row(work, constant / n, "", "higher"))
            answers += [{"peer": name, "limit_s": seconds, **one} for one in found]
    heads = ("", "the constant", "no answer", "median s")
    print(f"{given.noise_sets} sets of noise\n{format_table(heads, body)}")
    write_rows(given.json, rows, answers=answers)


# --- tables ---------------------------------------------------------------------------


def to_features(table: Table) -> Any:
    """Return the columns as an array of shape (n, k), with a column of 0 and 1 for each category."""
    features: list[Expression] = []
    for name, cells in table.columns.items():
        if name in table.categories:
            texts = sorted(set(cells))
            features += [Operation("==", (Column(name), Text(text))) for text in texts]
        else:
            features.append(Column(name))
    return np.stack([evaluate_formula(one, table.arrays()) for one in features], axis=1)


def fit_baselines(learn: Any, output: Any, seed: int) -> Iterable[tuple[str, Any, int]]:
    """Yield name, fitted model and size of the models of scikit-learn."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeRegressor

    linear = LinearRegression().fit(learn, output)
    yield "linear regression", linear, len(linear.coef_) + 1
    depths = {"max_depth": [1, 2, 3, 4, 6, 8, None]}
    tree = GridSearchCV(DecisionTreeRegressor(random_state=seed), depths).fit(learn, output)
    yield "decision tree", tree, tree.best_estimator_.tree_.node_count
    forest = RandomForestRegressor(random_state=seed).fit(learn, output)
    yield "random forest", forest, sum(one.tree_.node_count for one in forest.estimators_)


def compare_on_tables(given: argparse.Namespace) -> None:
    lacking = [name for name in ("sklearn", "statsmodels") if find_spec(name) is None]
    if lacking:
        write_skipped(
            given.json, f"no {' and no '.join(lacking)} here: pip install scikit-learn statsmodels"
        )
        return
    tables = list(load_tables())
    scores: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, table in tables:
        features, output = to_features(table), np.array(table.output)
        for seed in range(given.seeds):
            learn, held = split_table(table, seed)
            values = output[held].tolist()
            for model, fitted, size in fit_baselines(features[learn], output[learn], seed):
                r2 = score_r2(fitted.predict(features[held]), values)
                scores.setdefault(model, {}).setdefault(name, []).append((r2, size))
            for seconds in given.seconds:
                for peer, finder in open_finders(given, seconds):
                    one = asyncio.run(ask(finder, table.take(learn), table.take(held), name, seed))
                    model = f"{peer}, {seconds:g} s"
                    scores.setdefault(model, {}).setdefault(name, []).append((one.r2, one.size))
                    if given.show:
                        print(f"{name} {seed}, {peer}: R2 {one.r2:.4f}: {one.text}", flush=True)
    rows, body = [], []
    for model, by_table in scores.items():
        cells = []
        for name, found in by_table.items():
            r2, size = fmean(one for one, _ in found), fmean(one for _, one in found)
            cells.append(f"{r2:.3f} ({size:.0f})")
            rows.append(Row(f"laws: held-out R2 on {name}, {model}", r2, "", "higher"))
        body.append((model, *cells))
    heads = ("R2 (size)", *(f"{name}, {len(table.output)} rows" for name, table in tables))
    print(format_table(heads, body))
    write_rows(given.json, rows, scores=scores)


# --- the command ----------------------------------------------------------------------


def open_finders(given: argparse.Namespace, seconds: float) -> list[tuple[str, Finder]]:
    """Return what is measured, by name."""
    found: list[tuple[str, Finder]] = []
    if "search" in given.measured:
        found.append(("search", Search(seconds * given.rate, PATIENCE * seconds)))
    return found + [(name, Peer(name, seconds)) for name in PEERS if name in given.measured]


def choose_measured(only: str | None) -> list[str]:
    """Return what can be measured here, and say what cannot."""
    from peirce.records import registry

    chosen = [only] if only else ["search", *PEERS]
    lacking = [name for name in PEERS if name in chosen and find_spec(name) is None]
    for name in lacking:
        print(f"NOT MEASURED: {name}, which is not here: {INSTALL}", flush=True)
    if "search" in chosen and "laws" not in registry.components("search_engines"):
        print("NOT MEASURED: the search, which has no engine for laws here", flush=True)
        lacking.append("search")
    return [name for name in chosen if name not in lacking]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="equations (default: generated)")
    parser.add_argument("--half", choices=("even", "odd"), help="of the places in the file")
    parser.add_argument("--noise", type=float, nargs="+", default=[0, 0.001, 0.01])
    parser.add_argument("--seconds", type=float, nargs="+", default=[10, 60])
    parser.add_argument("--rate", type=float, default=15_000, help="expansions for a second")
    parser.add_argument("--only", choices=("search", *PEERS))
    parser.add_argument("--seeds", type=int, default=1, help="draws of each equation or table")
    parser.add_argument("--tables", action="store_true", help="measure on five real tables")
    parser.add_argument("--noise-sets", type=int, help="measure on so many sets of noise")
    parser.add_argument("--show", action="store_true", help="print each answer")
    add_json_option(parser)
    given = parser.parse_args()
    given.measured = choose_measured(given.only)
    if not given.measured:
        write_skipped(given.json, "nothing to measure here")
    elif given.tables:
        compare_on_tables(given)
    elif given.noise_sets:
        compare_on_noise(given)
    else:
        compare_equations(given)


if __name__ == "__main__":
    main()
