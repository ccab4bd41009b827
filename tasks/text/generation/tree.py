"""`labels:tree`: random decision trees over applicants, with their paths as sentences.

A node tests one condition on a column that no node above it uses: a grade among the best, a count
above a threshold, a major, or a truth value. The two leaves of a node have different labels, so
every test matters, and each path holds for at least 30% of its even share of records. Set n has
depth 1 + n mod 4.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import numpy as np

from ....tools.sentence_rules.conditions import AllOf, Compare, Condition, Is, Not
from ....tools.sentence_rules.prepared import Prepared
from ....tools.sentence_rules.quantities import Number
from ....tools.sentence_rules.rules import Rule, When
from ..problems import Rows
from .applicants import FIELDS, GRADES, LABELS, balanced, columns_of
from .planted import Noise, clean, noisy, planted, public_of

ROWS = 200  # rows per split
SETS = 12
COLUMNS = 8
_LEAST = 0.3  # minimum of a path, relative to the even share of records
_SHOWN = 2_000  # records to measure the paths on
_TRIES = 1_000
_ABOUT = "Records of applicants to a university, and whether they were admitted."
Path = tuple[tuple[Condition, ...], str]


class Trees:
    """The generator `tree`."""

    name = "tree"
    about = "applicants: a random decision tree of depth 1 to 4"

    def sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the standard data sets with their depth as a tag."""
        return {_name(number): frozenset((f"depth_{_depth(number)}",)) for number in range(SETS)}

    def more(self, seed: int) -> Iterator[str]:
        """Yield the names of further trees without end."""
        return (_name(number) for number in count(SETS))

    def made(self, name: str, seed: int, noise: Noise = "exact") -> Rows:
        """Return the data set with this name."""
        number = int(name.rpartition("_")[2])
        draw = random.Random(f"{name} {seed}")
        chosen = draw.sample(sorted(FIELDS), COLUMNS)
        columns = [one for one in FIELDS if one in chosen]
        paths = _paths(columns, _depth(number), draw)
        rules = [Rule((When(_all(some), label),)) for some, label in paths]
        rule = Rule(tuple(clause for one in rules for clause in one.clauses))
        rows = {
            split: balanced(columns, rule, ROWS // 2, draw, {})
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
        splits = noisy(clean(rows), 0.0, LABELS, noise, f"{name} {seed}")
        return planted(name, columns_of(columns, {}), LABELS, splits, _ABOUT, rules, rules, told)


def _name(number: int) -> str:
    return f"tree/depth_{_depth(number)}_{number}"


def _depth(number: int) -> int:
    return 1 + number % 4


def _paths(columns: Sequence[str], depth: int, draw: random.Random) -> list[Path]:
    about = columns_of(columns, {})
    for _ in range(_TRIES):
        paths = _grown(columns, depth, draw, ())
        records = [{name: FIELDS[name].drawn(draw) for name in columns} for _ in range(_SHOWN)]
        rows = Prepared(records, public_of(about, LABELS))
        if all(np.mean(_all(some).holds(rows)) >= _LEAST / len(paths) for some, _ in paths):
            return paths
    raise AssertionError(f"no tree of depth {depth} in {_TRIES} has paths that are walked")


def _grown(
    columns: Sequence[str], depth: int, draw: random.Random, above: tuple[Condition, ...]
) -> list[Path]:
    name = draw.choice(columns)
    asked = _question(name, draw)
    sides: tuple[Condition, Condition] = (asked, Not(asked))
    if depth == 1:
        labels = draw.sample(LABELS, 2)
        return [((*above, side), label) for side, label in zip(sides, labels, strict=True)]
    rest = [one for one in columns if one != name]
    return [path for side in sides for path in _grown(rest, depth - 1, draw, (*above, side))]


def _question(name: str, draw: random.Random) -> Condition:
    field = FIELDS[name]
    if field.values == GRADES:
        return Is(name, GRADES[: draw.randint(1, 3)])
    if field.kind == "choice":
        return Is(name, tuple(sorted(draw.sample(field.values, draw.randint(2, 3)))))
    if field.kind == "truth":
        return Is(name, (True,))
    third = (field.high - field.low) // 3
    middle = draw.randint(field.low + third, field.high - third - 1)
    return Compare(Number(name), "more than", max(middle, field.low))


def _all(some: Sequence[Condition]) -> Condition:
    return some[0] if len(some) == 1 else AllOf(tuple(some))


GENERATOR = Trees()
