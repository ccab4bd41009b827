"""Tables that bench/laws.py learns laws from: drawn from known equations, noise, and real tables."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from peirce.tools.formulas import Expression, FormulaError, evaluate_formula, parse_formula

ROWS = 200
GENERATED = 8
DRAWS = 1_000  # at most so many times ROWS rows are drawn


@dataclass(frozen=True)
class Table:
    """Rows to learn from: values by column, the names of the columns of texts, and the output."""

    columns: Mapping[str, list[Any]]
    output: list[float]
    categories: tuple[str, ...] = ()

    def arrays(self) -> dict[str, Any]:
        return {
            name: np.array(values, str if name in self.categories else np.float64)
            for name, values in self.columns.items()
        }

    def take(self, rows: Sequence[int]) -> Table:
        columns = {name: [values[row] for row in rows] for name, values in self.columns.items()}
        return Table(columns, [self.output[row] for row in rows], self.categories)


@dataclass(frozen=True)
class Equation:
    """A known law. variables: (name, low, high); categories: the values of each column of texts."""

    id: str
    formula: Expression
    variables: tuple[tuple[str, float, float], ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def draw(self, pick: np.random.Generator, wider: float) -> Table:
        """Return rows in which the equation is defined, from ranges that are wider by this share."""
        kept: dict[str, list[Any]] = {name: [] for name, *_ in self.variables}
        kept |= {name: [] for name in self.categories}
        outputs: list[float] = []
        for _ in range(DRAWS):
            columns: dict[str, Any] = {}
            for name, low, high in self.variables:
                margin = wider * (high - low) / 2
                columns[name] = pick.uniform(low - margin, high + margin, ROWS)
            columns |= {name: pick.choice(texts, ROWS) for name, texts in self.categories.items()}
            output = evaluate_formula(self.formula, columns)
            defined = np.isfinite(output)
            for name, values in columns.items():
                kept[name] += values[defined].tolist()
            outputs += output[defined].tolist()
            if len(outputs) >= ROWS:
                rows = {name: values[:ROWS] for name, values in kept.items()}
                return Table(rows, outputs[:ROWS], tuple(self.categories))
        raise SystemExit(f"{self.id}: it is defined almost nowhere in its ranges")


def add_noise(table: Table, noise: float, pick: np.random.Generator) -> Table:
    values = np.array(table.output)
    errors = noise * values.std() * pick.standard_normal(len(values))
    return Table(table.columns, (values + errors).tolist(), table.categories)


def make_seed(*parts: Any) -> int:
    return random.Random(" ".join(map(str, parts))).getrandbits(32)


def read_equations(path: Path | None, half: str | None) -> list[Equation]:
    if path is None:
        return generate_equations(GENERATED)
    try:
        found = json.loads(path.read_text("utf-8"))
        chosen = found[half == "odd" :: 2] if half else found
        return [read_equation(one) for one in chosen]
    except (OSError, ValueError, KeyError, TypeError, FormulaError) as error:
        raise SystemExit(f"{path}: {error}") from None


def read_equation(found: Mapping[str, Any]) -> Equation:
    variables = tuple((one["name"], one["low"], one["high"]) for one in found["variables"])
    formula = parse_formula(found["formula"], [name for name, *_ in variables])
    return Equation(found["id"], formula, variables)


def generate_equations(count: int) -> list[Equation]:
    """Return laws that the task generates, with their ranges."""
    from peirce.tasks import load_task

    found = []
    task: Any = load_task("laws")
    for problem in task.generate(count, 0):
        about = problem.public["columns"]
        texts = {name: tuple(one["values"]) for name, one in about.items() if "values" in one}
        numbers = tuple(
            (name, one["low"], one["high"]) for name, one in about.items() if name not in texts
        )
        formula = parse_formula(problem.secret["law"], about, texts)
        found.append(Equation(problem.id, formula, numbers, texts))
    return found


def draw_noise(number: int) -> Table:
    pick = np.random.default_rng(make_seed("noise", number))
    inputs = {f"x{place}": pick.uniform(1, 5, ROWS).tolist() for place in range(1 + number % 5)}
    return Table(inputs, pick.standard_normal(ROWS).tolist())


def load_tables() -> Iterable[tuple[str, Table]]:
    """Yield tables that come with scikit-learn and statsmodels."""
    from sklearn import datasets

    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    yield "diabetes", to_table(frame, "target")
    iris = datasets.load_iris(as_frame=True)
    frame = iris.frame.assign(species=[str(iris.target_names[one]) for one in iris.target])
    frame.columns = [name.removesuffix(" (cm)").replace(" ", "_") for name in frame.columns]
    yield "iris", to_table(frame.drop(columns="target"), "petal_width")
    from statsmodels.datasets import engel, grunfeld, star98

    yield "engel", to_table(engel.load_pandas().data, "foodexp")
    yield "grunfeld", to_table(grunfeld.load_pandas().data, "invest")
    frame = star98.load_pandas().data
    frame = frame.assign(above=frame["NABOVE"] / (frame["NABOVE"] + frame["NBELOW"]))
    yield "star98", to_table(frame.drop(columns=["NABOVE", "NBELOW"]), "above")


def to_table(frame: Any, output: str) -> Table:
    """Return a data frame as a table; columns of texts become categories."""
    columns = {name: frame[name].tolist() for name in frame.columns if name != output}
    categories = tuple(name for name, cells in columns.items() if isinstance(cells[0], str))
    numbers = {
        name: cells if name in categories else [float(one) for one in cells]
        for name, cells in columns.items()
    }
    return Table(numbers, [float(one) for one in frame[output]], categories)


def split_table(table: Table, seed: int) -> tuple[list[int], list[int]]:
    places = list(range(len(table.output)))
    random.Random(f"rows {seed}").shuffle(places)
    held = len(places) // 4
    return sorted(places[held:]), sorted(places[:held])
