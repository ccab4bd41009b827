"""All inputs that a data set may hold, as far as two rules can tell them apart.

A column of choices or truth values has the values that are told of it and those of the rows; a column
of whole numbers all from the least to the greatest; other numbers and texts those of the rows; texts
that were made by filling places, all fillings (discovery/space.py). Inputs are the product of the columns, each
value of a column as likely as another. For a pair of rules the columns that neither reads do not
matter, and values of a column on which no condition differs are one, weighed by their number: so
the product is small, and what is computed on it is exact. Where it is not, MOST inputs are drawn from
it, and the result says so. Pairs of texts are the rows themselves.

Texts that were made by filling places: `a young and tall man with red hat, …`.

Where all texts of a column have one shape and each place one of a few fillings, whichever the other
places have, the texts that there may be are all of these, also those that no row has.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Problem, UsageError, canonical_json
from ..sentence_rules.columns import text_columns
from ..sentence_rules.conditions import AllOf, AnyOf, Condition, Not
from ..sentence_rules.prepared import Prepared, missing
from ..sentence_rules.rules import NOT_APPLICABLE, Codes, Prefer, Rule, When
from .parts import columns_of, leaves

MOST = 50_000  # inputs that two rules are compared on
WIDEST = 10_000  # of whole numbers between the least and the greatest

Weights = NDArray[np.float64]
Classes = tuple[NDArray[np.int64], Weights]  # of values of a column: a place of each, its share


@dataclass(frozen=True)
class Cells(ABC):
    """n inputs and their weights, which sum to 1. drawn: some of all that there are."""

    labels: tuple[str, ...]
    weights: Weights
    drawn: bool

    def __len__(self) -> int:
        return len(self.weights)

    @abstractmethod
    def codes(self, rule: Rule) -> Codes:
        """int64 (n,): indices of labels, -1 where the rule does not apply."""


@dataclass(frozen=True)
class RowCells(Cells):
    rows: Prepared

    def codes(self, rule: Rule) -> Codes:
        return rule.codes(self.rows)


@dataclass(frozen=True)
class GridCells(Cells):
    """held: of each condition without parts, whether it holds (n,)."""

    held: Mapping[Condition, NDArray[np.bool_]]

    def codes(self, rule: Rule) -> Codes:
        codes = np.full(len(self), NOT_APPLICABLE, np.int64)
        for clause in rule.clauses:
            assert isinstance(clause, When)  # what compares two texts has rows
            free = codes == NOT_APPLICABLE
            codes[free & self.holds(clause.condition)] = self.labels.index(clause.label)
        if rule.otherwise is not None:
            codes[codes == NOT_APPLICABLE] = self.labels.index(rule.otherwise)
        return codes

    def holds(self, condition: Condition) -> NDArray[np.bool_]:
        if isinstance(condition, Not):
            return ~self.holds(condition.part)
        if isinstance(condition, AllOf):
            return np.asarray(np.all([self.holds(part) for part in condition.parts], axis=0))
        if isinstance(condition, AnyOf):
            return np.asarray(np.any([self.holds(part) for part in condition.parts], axis=0))
        return self.held[condition]


class Space:
    """Of the problem's rows, those that are hidden too: nothing of it may reach a proposer. drawn:
    whether some rules were compared on a part of their inputs alone."""

    def __init__(self, problem: Problem) -> None:
        self.public = problem.public
        rows = [*problem.shown, *problem.hidden]
        self.rows: list[Mapping[str, Json]] = list(
            {canonical_json(one.input): one.input for one in rows}.values()
        )
        self.texts = text_columns(self.public)
        self.as_rows = self.public.get("shape") == "pair" or len(self.texts) > 1
        self._domains: dict[str, tuple[Json, ...]] = {}
        self._prepared: dict[str, Prepared] = {}
        self._slots: dict[str, Slots | None] = {}
        self._marks: dict[tuple[Condition, str], NDArray[np.bool_]] = {}
        self._about: dict[Condition, frozenset[str]] = {}
        self._all: Cells | None = None
        self.drawn = False

    @property
    def only_text(self) -> str:
        return self.texts[0] if len(self.texts) == 1 else ""

    def domain(self, column: str) -> tuple[Json, ...]:
        """The values that the column may have, in order; None where some row has none there."""
        if column not in self._domains:
            told = self.public["columns"].get(column)
            if told is None:
                raise UsageError(f"no column {column!r}")
            self._domains[column] = tuple(self._values(column, told))
        return self._domains[column]

    def _values(self, column: str, told: Mapping[str, Json]) -> list[Json]:
        seen = [row.get(column) for row in self.rows]
        there = [one for one in seen if not missing(one)]
        gap: list[Json] = [None] if len(there) < len(seen) else []
        kind = told.get("kind")
        if kind == "text":
            slots = self.slots(column)
            return [*(slots.texts if slots else dict.fromkeys(map(str, there))), *gap]
        if kind == "truth":
            return [False, True, *gap]
        numbers = [float(one) for one in there if isinstance(one, int | float)]
        if kind == "number" and numbers and len(numbers) == len(there):
            low, high = math.floor(min(numbers)), math.ceil(max(numbers))
            if all(one.is_integer() for one in numbers) and high - low < WIDEST:
                return [*range(low, high + 1), *gap]
            return [*sorted(set(numbers)), *gap]
        every = dict.fromkeys([*(told.get("values") or ()), *map(_hashable, there)])
        return [*every, *gap]

    def slots(self, column: str) -> Slots | None:
        """The places of the texts of a column; None where they have none."""
        if column not in self._slots:
            self._slots[column] = slots_of([str(row.get(column) or "") for row in self.rows])
        return self._slots[column]

    def marks(self, leaf: Condition, column: str) -> NDArray[np.bool_]:
        """Whether a condition that reads this column alone holds, for each value of it."""
        if (leaf, column) not in self._marks:
            if column not in self._prepared:
                rows = [{column: value} for value in self.domain(column)]
                self._prepared[column] = Prepared(rows, self.public)
            self._marks[leaf, column] = leaf.holds(self._prepared[column])
        return self._marks[leaf, column]

    def cells(self, rules: Iterable[Rule]) -> Cells:
        """Where the rules may differ. Raises UsageError for a column that the problem lacks."""
        some = list(rules)
        told = self._told(some)
        if self._by_rows(some, told):
            return self._rows_of(sorted({c for columns in told.values() for c in columns}))
        return self._grid(told, self._by_column(told))

    def together(self, rules: Iterable[Rule]) -> Cells | None:
        """Cells on which any two of the rules differ by as much as on cells of their own. None where the
        inputs that all rules tell apart are more than MOST, or columns are read together. Raises
        UsageError like `cells`."""
        some = list(rules)
        told = self._told(some)
        if self._by_rows(some, told):
            return self._rows_of(()) if self.as_rows else None
        classes = self._by_column(told)
        few = math.prod(len(shares) for _, shares in classes.values()) <= MOST
        return self._grid(told, classes) if few else None

    def _told(self, rules: Sequence[Rule]) -> dict[Condition, list[str]]:
        """The columns of each condition without parts."""
        every = dict.fromkeys(leaf for rule in rules for leaf in leaves(rule))
        return {leaf: sorted(columns_of(leaf, self.only_text)) for leaf in every}

    def _by_rows(self, rules: Sequence[Rule], told: Mapping[Condition, Sequence[str]]) -> bool:
        return (
            self.as_rows
            or any(isinstance(c, Prefer) for rule in rules for c in rule.clauses)
            or any(len(columns) > 1 for columns in told.values())
        )

    def _by_column(self, told: Mapping[Condition, Sequence[str]]) -> dict[str, Classes]:
        names = sorted({column for (column,) in told.values()})
        own = {name: [leaf for leaf in told if told[leaf] == [name]] for name in names}
        return {name: self._classes(name, some) for name, some in own.items()}

    def _grid(
        self, told: Mapping[Condition, Sequence[str]], classes: Mapping[str, Classes]
    ) -> GridCells:
        at, weights, drawn = self._product([shares for _, shares in classes.values()])
        values = {name: classes[name][0][some] for name, some in zip(classes, at, strict=True)}
        held = {leaf: self.marks(leaf, name)[values[name]] for leaf, (name,) in told.items()}
        return GridCells(tuple(self.public["labels"]), weights, drawn, held)

    def _rows_of(self, names: Sequence[str]) -> Cells:
        """The rows themselves where texts are compared with each other, else the product of columns
        that are read together."""
        labels = tuple(self.public["labels"])
        if self.as_rows or not names:
            if self._all is None:
                even = np.full(len(self.rows), 1 / len(self.rows))
                self._all = RowCells(labels, even, False, Prepared(self.rows, self.public))
            return self._all
        domains = [self.domain(name) for name in names]
        at, weights, drawn = self._product([np.full(len(d), 1 / len(d)) for d in domains])
        columns = [[d[n] for n in some] for d, some in zip(domains, at, strict=True)]
        rows = [dict(zip(names, some, strict=True)) for some in zip(*columns, strict=True)]
        return RowCells(labels, weights, drawn, Prepared(rows, self.public))

    def _classes(self, column: str, some: Sequence[Condition]) -> Classes:
        """A value of each class on which the conditions agree, by its place in the domain, and the
        classes' shares."""
        signs = np.packbits(np.stack([self.marks(leaf, column) for leaf in some]), axis=0)
        _, first, counts = np.unique(
            np.ascontiguousarray(signs.T).view(f"V{signs.shape[0]}").ravel(),
            return_index=True, return_counts=True,
        )  # fmt: skip
        return first, counts / signs.shape[1]

    def _product(
        self, shares: Sequence[Weights]
    ) -> tuple[list[NDArray[np.int64]], Weights, bool]:  # fmt: skip
        """Of each input the place of its value in each column, the inputs' weights, and whether they
        are drawn."""
        sizes = [len(some) for some in shares]
        if math.prod(sizes) <= MOST:
            at = [one.ravel() for one in np.indices(sizes)]
            weights = np.ones(1)
            for some in shares:
                weights = np.outer(weights, some).ravel()
            return at, weights, False
        self.drawn = True
        draw = np.random.default_rng(0)
        at = [draw.choice(size, MOST, p=some) for size, some in zip(sizes, shares, strict=True)]
        return at, np.full(MOST, 1 / MOST), True

    def variables(self, rule: Rule) -> frozenset[str]:
        """What the rule is about: its columns; of a text the places that it depends on, where texts
        have places, else the words and marks that it names."""
        found: set[str] = set()
        for leaf in dict.fromkeys(leaves(rule)):
            if leaf not in self._about:
                self._about[leaf] = self._variables(leaf)
            found |= self._about[leaf]
        for clause in rule.clauses:
            if isinstance(clause, Prefer):
                found |= _named(clause.by)
        return frozenset(found)

    def _variables(self, leaf: Condition) -> frozenset[str]:
        found: set[str] = set()
        for column in columns_of(leaf, self.only_text):
            if column not in self.texts:
                found.add(column)
            elif (slots := None if self.as_rows else self.slots(column)) is not None:
                marks = self.marks(leaf, column)[: len(slots.texts)]
                found |= {f"{column} {place}" for place in slots.matter(marks)}
            else:
                found |= _named(leaf)
        return frozenset(found)

    def alike(self, rule: Rule, others: Sequence[Rule]) -> frozenset[str]:
        """The variables of conditions of `others` on a text without places that hold where a condition of
        `rule` does, in whichever words: of the texts where one of the two holds, in most both do."""
        found: set[str] = set()
        for column in [] if self.as_rows else self.texts:
            told = [
                [
                    leaf
                    for leaf in dict.fromkeys(some)
                    if columns_of(leaf, self.only_text) == {column}
                ]
                for some in (leaves(rule), (leaf for other in others for leaf in leaves(other)))
            ]
            if not all(told) or self.slots(column) is not None:
                continue
            here, there = (
                np.array([self.marks(leaf, column) for leaf in some], np.float32) for some in told
            )
            both = here @ there.T
            either = here.sum(axis=1)[:, None] + there.sum(axis=1) - both
            for place in np.flatnonzero((2 * both > either).any(axis=0)):
                found |= _named(told[1][place])
        return frozenset(found)

    def described(self, variable: str) -> str:
        """A variable in words, for who is asked about it: a column with what is told of it, a place of a
        text by what may stand there."""
        column, _, place = variable.rpartition(" ")
        if column in self.texts and place.isdigit() and (slots := self.slots(column)) is not None:
            return (
                f"which of {', '.join(slots.fillings[int(place)])} stands at one place of {column}"
            )
        told = self.public["columns"].get(variable)
        if told is None:
            return f'the mention of "{variable}"'
        about = str(told.get("about") or "").strip()
        return f"{variable} ({about})" if about else variable


def _named(told: object) -> set[str]:
    """The words that a condition or quantity lists; where it lists none, what it measures."""
    for name in ("part", "quantity"):
        if (inner := getattr(told, name, None)) is not None:
            return _named(inner)
    several = getattr(told, "parts", None) or [
        one for one in (getattr(told, "left", None), getattr(told, "right", None)) if one
    ]
    if several:
        return set().union(*map(_named, several))
    listed = getattr(told, "terms", None)
    if listed:
        return {one.text or one.kind for one in listed}
    return {str(getattr(told, "unit", None) or getattr(told, "column", ""))}


def _hashable(value: Json) -> Json:
    return value if isinstance(value, str | int | float | bool) else str(value)


MOST_TEXTS = 20_000
MOST_FILLINGS = 50
SEEN = 0.5  # of the pairs of fillings of two places, so many at least stand in the rows
_PIECE = re.compile(r"\w+|\W+")


@dataclass(frozen=True)
class Slots:
    """fillings: of each place, one where it never changes. The texts are their product, the last
    place changing first."""

    fillings: tuple[tuple[str, ...], ...]
    joint: str = ""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(self.joint.join, product(*self.fillings)))

    def matter(self, marks: NDArray[np.bool_]) -> frozenset[int]:
        """The places on which marks (one a text) depend."""
        shape = tuple(map(len, self.fillings))
        grid = marks.reshape(shape)
        changing = [axis for axis, size in enumerate(shape) if size > 1]
        return frozenset(a for a in changing if (grid != grid.take([0], axis=a)).any())


def slots_of(texts: Sequence[str]) -> Slots | None:
    """By lines where all texts have as many, from two on, else by words and what is between them;
    None where texts have no common shape or their places hang together."""
    some = list(dict.fromkeys(texts))
    if len(some) < 2:
        return None
    by_line = [text.split("\n") for text in some]
    if len(by_line[0]) > 1 and (found := _shaped(by_line, "\n")) is not None:
        return found
    return _shaped([_PIECE.findall(text) for text in some], "")


def _shaped(cut: Sequence[Sequence[str]], joint: str) -> Slots | None:
    if len({len(one) for one in cut}) != 1:
        return None
    places = [tuple(sorted(set(column))) for column in zip(*cut, strict=True)]
    changing = [n for n, some in enumerate(places) if len(some) > 1]
    if any(len(places[n]) > MOST_FILLINGS for n in changing):
        return None
    if math.prod(map(len, places)) > MOST_TEXTS:
        return None
    for one, other in combinations(changing, 2):
        seen = len({(text[one], text[other]) for text in cut})
        if seen < SEEN * len(places[one]) * len(places[other]):
            return None
    return Slots(tuple(places), joint)
