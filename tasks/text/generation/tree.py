"""`labels:tree`: random decision trees over applicants, with each path of a tree as a sentence.

An inner node tests one condition on a column that no node above it tests: whether a grade is among
the best, a count is above a threshold, the major has a certain value, or a truth value is true. If
both children of a node are leaves, they have different labels, so every test matters. A tree of
depth d has 2^d paths; each path holds for at least 30% of the records that it would get if all
paths were equally frequent. Data set n has depth 1 + n mod 4.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import numpy as np

from ....tools.sentence_rules.conditions import AllOf, Comparison, Condition, IsOneOf, Not
from ....tools.sentence_rules.prepared_rows import PreparedRows
from ....tools.sentence_rules.quantities import ColumnNumber
from ....tools.sentence_rules.rules import ConditionClause, Rule
from ..problems import LabelledData
from .applicants import FIELDS, GRADES, LABELS, build_columns, draw_balanced
from .planted import Noise, add_noise, build_labelled_data, make_clean_splits, public_facts

ROWS_PER_SPLIT = 200  # rows per split
SET_COUNT = 12
COLUMN_COUNT = 8
_LEAST = 0.3  # minimum of a path, relative to the even share of records
_SHOWN = 2_000  # records to measure the paths on
_TRIES = 1_000
_ABOUT = "Records of applicants to a university, and whether they were admitted."
Path = tuple[tuple[Condition, ...], str]


class DecisionTreeGenerator:
    """The generator `labels:tree`: records whose label a random decision tree decides."""

    name = "tree"
    about = "applicants: a random decision tree of depth 1 to 4"

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the standard data sets, each with its depth as a tag."""
        return {
            _name(number): frozenset((f"depth_{_depth(number)}",)) for number in range(SET_COUNT)
        }

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Yield the names of additional data sets, endlessly."""
        return (_name(number) for number in count(SET_COUNT))

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        number = int(name.rpartition("_")[2])
        draw = random.Random(f"{name} {seed}")
        chosen = draw.sample(sorted(FIELDS), COLUMN_COUNT)
        columns = [one for one in FIELDS if one in chosen]
        paths = _paths(columns, _depth(number), draw)
        rules = [Rule((ConditionClause(_conjunction(some), label),)) for some, label in paths]
        rule = Rule(tuple(clause for one in rules for clause in one.clauses))
        rows = {
            split: draw_balanced(columns, rule, ROWS_PER_SPLIT // 2, draw, {})
            for split in ("train", "val", "test")
        }
        told = {
            "underlying_model": "decision_tree",
            "balanced": True,
            "noise_level": 0,
            "true_num_hypotheses": len(rules),
            "depth": _depth(number),
            "seed": seed,
        }
        splits = add_noise(make_clean_splits(rows), 0.0, LABELS, noise, f"{name} {seed}")
        return build_labelled_data(
            name, build_columns(columns, {}), LABELS, splits, _ABOUT, rules, rules, told
        )


def _name(number: int) -> str:
    return f"tree/depth_{_depth(number)}_{number}"


def _depth(number: int) -> int:
    return 1 + number % 4


def _paths(columns: Sequence[str], depth: int, draw: random.Random) -> list[Path]:
    about = build_columns(columns, {})
    for _ in range(_TRIES):
        paths = _grow_paths(columns, depth, draw, ())
        records = [{name: FIELDS[name].draw_value(draw) for name in columns} for _ in range(_SHOWN)]
        rows = PreparedRows(records, public_facts(about, LABELS))
        if all(np.mean(_conjunction(some).holds(rows)) >= _LEAST / len(paths) for some, _ in paths):
            return paths
    raise AssertionError(f"no tree of depth {depth} in {_TRIES} has paths that are walked")


def _grow_paths(
    columns: Sequence[str], depth: int, draw: random.Random, above: tuple[Condition, ...]
) -> list[Path]:
    name = draw.choice(columns)
    asked = _question(name, draw)
    sides: tuple[Condition, Condition] = (asked, Not(asked))
    if depth == 1:
        labels = draw.sample(LABELS, 2)
        return [((*above, side), label) for side, label in zip(sides, labels, strict=True)]
    rest = [one for one in columns if one != name]
    return [path for side in sides for path in _grow_paths(rest, depth - 1, draw, (*above, side))]


def _question(name: str, draw: random.Random) -> Condition:
    field = FIELDS[name]
    if field.values == GRADES:
        return IsOneOf(name, GRADES[: draw.randint(1, 3)])
    if field.kind == "choice":
        return IsOneOf(name, tuple(sorted(draw.sample(field.values, draw.randint(2, 3)))))
    if field.kind == "truth":
        return IsOneOf(name, (True,))
    third = (field.high - field.low) // 3
    middle = draw.randint(field.low + third, field.high - third - 1)
    return Comparison(ColumnNumber(name), "more than", max(middle, field.low))


def _conjunction(some: Sequence[Condition]) -> Condition:
    return some[0] if len(some) == 1 else AllOf(tuple(some))


GENERATOR = DecisionTreeGenerator()
