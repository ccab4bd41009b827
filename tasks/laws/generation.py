"""Generate tables with planted laws, whose formula is known.

The kinds of laws are products of powers, sums, exponentials, oscillations, quotients and laws that
depend on a category. Columns, ranges and constants are drawn with the seed. The noise is normally
distributed, and given as a share of the target's standard deviation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...records import Json, Observation, Problem
from ...tools.formulas import evaluate_formula, format_formula, parse_formula
from .columns import LawColumns
from .problems import LawSplit, make_problem

NOISES = (0.0, 0.001, 0.01)  # of generated problems, in turn
ROWS = 200  # shown, and half as many held out
DIGITS = 10  # significant digits of the target; further digits differ between processors
NAMES = ("a", "b", "d", "h", "k", "m", "p", "q", "r", "t", "u", "v", "w")
MATERIALS = ("copper", "iron", "silver")
EXPONENTS = ("2", "3", "0.5", "-1", "-2", "1.5")
MOST_TRIES = 50


@dataclass(frozen=True)
class PlantedLaw:
    """A law with the ranges of its columns.

    Attributes:
        formula: The text of the law.
        ranges: (smallest, largest) value of each column of numbers.
        values: The values of each column of categories.
    """

    formula: str
    ranges: Mapping[str, tuple[float, float]]
    values: Mapping[str, Sequence[str]]


def generate_problem(
    seed: int, index: int, noise: float | None = None, rows: int | None = None
) -> Problem:
    """Return a problem with a planted law of the next kind.

    Args:
        seed: The seed of all draws.
        index: The number of the problem; the kind and, by default, the noise follow from it.
        noise: The standard deviation of the noise as a share of the target's; None for the next one
            in `NOISES`.
        rows: The number of shown rows; None for 200.
    """
    share = NOISES[index // len(KINDS) % len(NOISES)] if noise is None else noise
    count = rows or ROWS
    kind = list(KINDS)[index % len(KINDS)]
    rng = random.Random(f"law {seed} {index}")
    for _ in range(MOST_TRIES):
        law = KINDS[kind](rng)
        inputs = [_draw_row(law, rng) for _ in range(count + count // 2)]
        outputs = _evaluate(law, inputs)
        if np.isfinite(outputs).all() and np.std(outputs) > 1e-6 * np.max(np.abs(outputs)):
            break
    spread = float(np.std(outputs))
    noisy = [
        float(f"{value + (share * spread * rng.gauss(0, 1) if share else 0.0):.{DIGITS}g}")
        for value in outputs.tolist()
    ]
    pairs = [Observation(x, y) for x, y in zip(inputs, noisy, strict=True)]
    secret: dict[str, Json] = {"law": law.formula, "kind": kind, "noise": share}
    split = LawSplit(pairs[:count], pairs[count:])
    return make_problem(f"gen{seed}-{index}", "y", split, {}, secret)


def _draw_row(law: PlantedLaw, rng: random.Random) -> dict[str, Json]:
    row: dict[str, Json] = {
        name: float(f"{low + rng.random() * (high - low):.5g}")
        for name, (low, high) in law.ranges.items()
    }
    return row | {name: some[int(rng.random() * len(some))] for name, some in law.values.items()}


def _evaluate(law: PlantedLaw, inputs: Sequence[Mapping[str, Json]]) -> np.ndarray:
    names = [*law.ranges, *law.values]
    about = {
        name: {"identifier": name, "kind": "category" if name in law.values else "number"}
        for name in names
    }
    columns = LawColumns({"columns": about})
    return evaluate_formula(columns.parse(law.formula), columns.arrays(inputs))


# --- kinds of laws --------------------------------------------------------------------


def _names(rng: random.Random, least: int, most: int) -> list[str]:
    return sorted(rng.sample(NAMES, rng.randint(least, most)))


def _constant(rng: random.Random) -> str:
    """Return a constant with at most two digits, which differs from 0 and 1."""
    return rng.choice([str(rng.randint(2, 9)), f"{rng.randint(2, 99) / 10:g}"])


def _positive(names: Sequence[str], rng: random.Random) -> dict[str, tuple[float, float]]:
    return {name: (1.0, float(rng.randint(3, 6))) for name in names}


def _plant(
    formula: str,
    ranges: Mapping[str, tuple[float, float]],
    values: Mapping[str, Sequence[str]] | None = None,
) -> PlantedLaw:
    tree = parse_formula(formula, [*ranges, *(values or {})], list(values or {}))
    return PlantedLaw(format_formula(tree), ranges, values or {})


def _product(rng: random.Random) -> PlantedLaw:
    names = _names(rng, 2, 4)
    factors = [rng.choice([name, f"{name} ** {rng.choice(EXPONENTS)}"]) for name in names]
    return _plant(" * ".join([_constant(rng), *factors]), _positive(names, rng))


def _sum(rng: random.Random) -> PlantedLaw:
    names = _names(rng, 2, 3)
    terms = [
        f"{_constant(rng)} * {rng.choice([name, f'{name} ** 2', f'sqrt({name})'])}"
        for name in names
    ]
    return _plant(" + ".join([*terms, _constant(rng)]), _positive(names, rng))


def _exponential(rng: random.Random) -> PlantedLaw:
    first, second = _names(rng, 2, 2)
    sign = rng.choice(["-", ""])
    formula = f"{_constant(rng)} * {first} * exp({sign}{second} / {_constant(rng)})"
    return _plant(formula, _positive([first, second], rng))


def _oscillation(rng: random.Random) -> PlantedLaw:
    first, second = _names(rng, 2, 2)
    formula = (
        f"{first} * {rng.choice(['sin', 'cos'])}({rng.randint(1, 3)} * {second}) + {_constant(rng)}"
    )
    return _plant(formula, _positive([first, second], rng))


def _quotient(rng: random.Random) -> PlantedLaw:
    first, second, third = _names(rng, 3, 3)
    formula = rng.choice(
        [
            f"{first} * {second} / ({second} + {third})",
            f"{_constant(rng)} * {first} / ({_constant(rng)} + {second}) + {third}",
            f"{first} / sqrt(1 + {second} ** 2 / {third} ** 2)",
        ]
    )
    return _plant(formula, _positive([first, second, third], rng))


def _category(rng: random.Random) -> PlantedLaw:
    first, second = _names(rng, 2, 2)
    formula = f"where(material == '{rng.choice(MATERIALS)}', {_constant(rng)}, {_constant(rng)}) * {first} + {second} ** 2"
    return _plant(formula, _positive([first, second], rng), {"material": MATERIALS})


KINDS: Mapping[str, Callable[[random.Random], PlantedLaw]] = {
    "product": _product,
    "sum": _sum,
    "exponential": _exponential,
    "oscillation": _oscillation,
    "quotient": _quotient,
    "category": _category,
}
