"""Make problems of rows with a numeric target: which rows are shown, and how exact a law must be.

A fifth of the rows, drawn with the seed, is held out. At most `MAX_SHOWN` of the other rows are shown,
and at most `MAX_HIDDEN` are held out; they are drawn, too.

The noise is estimated from the shown rows (tools/formulas/noise.py). The tolerance of a law is the
noise times 1 + 3 / sqrt(2 n), for n shown rows: the root mean square of n normally distributed errors
is as large only once in about 700 samples. A law whose constants were found on the same rows has a
smaller error still.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...records import Json, Observation, Problem, UsageError, is_finite_number
from ...tools.formulas import estimate_noise
from ..io.messages import warn
from .columns import CATEGORY, NUMBER, LawColumns
from .tables import LawRows, make_column_identifiers
from .units import read_dimensions

TASK_NAME = FAMILY_NAME = "laws"
HELD_OUT = 0.2  # share of the rows
MAX_SHOWN = 2_000
MAX_HIDDEN = 1_000
DIGITS = 6  # significant digits of the tolerance and the spread


@dataclass(frozen=True)
class LawSplit:
    """The shown and the hidden rows of a problem."""

    shown: Sequence[Observation]
    hidden: Sequence[Observation]


def split_rows(rows: LawRows, observations: int | None, seed: int) -> LawSplit:
    """Divide rows into shown and hidden ones.

    Args:
        rows: The rows. If they name their splits, training rows are shown.
        observations: The number of shown rows; None for four fifths, at most `MAX_SHOWN`.
        seed: The seed of the draw.

    Raises:
        UsageError: There are fewer rows than `observations`.
    """
    pairs = [Observation(dict(x), y) for x, y in zip(rows.inputs, rows.outputs, strict=True)]
    if rows.splits:
        pool = [place for place, split in enumerate(rows.splits) if split == "train"]
        held = [place for place, split in enumerate(rows.splits) if split != "train"]
    else:
        places = list(range(len(pairs)))
        random.Random(f"law rows {seed} {len(pairs)}").shuffle(places)
        count = int(len(pairs) * HELD_OUT)
        held, pool = places[:count], places[count:]
    if observations is not None and observations > len(pairs):
        raise UsageError(
            f"--observations {observations}: there are only {len(pairs):,} rows with a value"
        )
    if observations is not None and observations > len(pool):
        pool, held = [*pool, *held], []
    limit = min(len(pool), MAX_SHOWN) if observations is None else observations
    if observations is None and len(pool) > MAX_SHOWN:
        warn(
            f"{len(pairs):,} rows: {MAX_SHOWN:,} of them are shown and"
            f" {min(len(held), MAX_HIDDEN):,} held out, drawn with seed {seed}"
        )
    random.Random(f"shown law rows {seed} {limit}").shuffle(pool)
    shown, held = sorted(pool[:limit]), sorted([*held, *pool[limit:]][:MAX_HIDDEN])
    return LawSplit([pairs[place] for place in shown], [pairs[place] for place in held])


def make_problem(
    name: str,
    target: str,
    split: LawSplit,
    units: Mapping[str, str],
    secret: Mapping[str, Json] | None = None,
) -> Problem:
    """Return the problem of rows that are divided into shown and hidden ones."""
    return Problem(
        id=name,
        task=TASK_NAME,
        family=FAMILY_NAME,
        shown=tuple(split.shown),
        hidden=tuple(split.hidden),
        public=describe_rows(target, split, units),
        secret=dict(secret or {}),
        group=name,
    )


def describe_rows(target: str, split: LawSplit, units: Mapping[str, str]) -> dict[str, Json]:
    """Return the public facts of a problem (columns.py).

    Ranges and values of inputs are those of all rows; everything else follows from the shown rows.
    """
    inputs = [one.input for one in (*split.shown, *split.hidden)]
    names = list(dict.fromkeys(name for row in inputs for name in row))
    identifiers = make_column_identifiers([*names, target])
    dimensions = read_dimensions(
        {name: units[name] for name in (*names, target) if units.get(name)}
    )
    about: dict[str, Json] = {}
    for name in names:
        values = [row[name] for row in inputs if name in row]
        numeric = all(is_finite_number(one) for one in values)
        one: dict[str, Json] = {
            "identifier": identifiers[name],
            "kind": NUMBER if numeric else CATEGORY,
        }
        if numeric:
            one |= {
                "low": min(values),
                "high": max(values),
                "whole": all(isinstance(value, int) for value in values),
            }
        else:
            one["values"] = sorted({str(value) for value in values})
        if units.get(name):
            one["unit"] = units[name]
        if name in dimensions:
            one["dimension"] = dimensions[name]
        about[name] = one
    public: dict[str, Json] = {
        "target": target,
        "target_unit": units.get(target, ""),
        "columns": about,
        "identifiers": {name: identifiers[name] for name in (*names, target)},
        "rows": len(split.shown),
    }
    if target in dimensions:
        public["target_dimension"] = dimensions[target]
    outputs = np.array([float(one.output) for one in split.shown])
    arrays = LawColumns(public).arrays([one.input for one in split.shown])
    noise = estimate_noise(arrays, outputs)
    allowance = 1 + 3 / math.sqrt(2 * len(outputs))
    return public | {
        "noise": float(f"{noise:.{DIGITS}g}"),
        "tolerance": float(f"{noise * allowance:.{DIGITS}g}"),
        "spread": float(f"{np.std(outputs):.{DIGITS}g}"),
    }
