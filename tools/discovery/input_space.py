"""The possible inputs of a data set, represented in enough detail to distinguish two rules.

The possible inputs combine the possible values of all columns:

- A column of choices or truth values has its declared values and the values of the rows.
- A column of whole numbers has every number from the smallest to the largest.
- A column of other numbers or of texts has the values of the rows. If the texts were made by
  filling the slots of a template, the column has every possible combination of fillings.

Every value of a column is equally likely. When two rules are compared, columns that neither rule
reads are left out. Values that no condition of the rules distinguishes are merged, and the merged
value is weighted by their number. The remaining product is usually small, and results on it are
exact. If the product is larger than `MAX_INPUTS`, that many inputs are drawn from it at random, and
the result says so. If the inputs are pairs of texts, the rows themselves are the inputs.

A text made by filling slots is, for example, `a young and tall man with red hat, …`. The slots of a
column are recognised if all its texts have the same form, and if each slot takes one of a few
fillings independently of the other slots. The possible texts are then all combinations of fillings,
including combinations that occur in no row.
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

from ...records import Json, Problem, UsageError, canonical_json, is_finite_number
from ..sentence_rules.columns import find_text_columns
from ..sentence_rules.conditions import AllOf, AnyOf, Condition, Not
from ..sentence_rules.prepared_rows import PreparedRows, is_missing
from ..sentence_rules.rules import NOT_APPLICABLE, Codes, ConditionClause, PreferenceClause, Rule
from .rule_cases import leaf_columns, leaf_conditions

MAX_INPUTS = 50_000  # inputs on which two rules are compared
MAX_RANGE = 10_000  # the largest range of a column of whole numbers that is filled up

Weights = NDArray[np.float64]
# Classes of the values of a column: the domain index of one value of each class, and its share.
Classes = tuple[NDArray[np.int64], Weights]


@dataclass(frozen=True)
class WeightedInputs(ABC):
    """A set of n inputs with weights, on which rules are compared.

    Attributes:
        labels: The possible labels.
        weights: Weight of each input, of shape (n,). The weights sum to 1.
        drawn: Whether the inputs are a random sample of a larger set.
    """

    labels: tuple[str, ...]
    weights: Weights
    drawn: bool

    def __len__(self) -> int:
        return len(self.weights)

    @abstractmethod
    def codes(self, rule: Rule) -> Codes:
        """Return the label index that `rule` gives to each input, as int64 of shape (n,).

        The value is -1 where the rule does not apply.
        """


@dataclass(frozen=True)
class WeightedRows(WeightedInputs):
    """Weighted inputs that are stored as rows of a table."""

    rows: PreparedRows

    def codes(self, rule: Rule) -> Codes:
        """Return the label index that `rule` gives to each row, as int64 of shape (n,).

        The value is -1 where the rule does not apply.
        """
        return rule.codes(self.rows)


@dataclass(frozen=True)
class WeightedGrid(WeightedInputs):
    """Weighted inputs that are stored as truth values of conditions.

    Attributes:
        held: For each leaf condition (a condition without and, or, not), whether it holds on each
            input, bool of shape (n,).
    """

    held: Mapping[Condition, NDArray[np.bool_]]

    def codes(self, rule: Rule) -> Codes:
        """Return the label index that `rule` gives to each input, as int64 of shape (n,).

        The value is -1 where the rule does not apply.
        """
        codes = np.full(len(self), NOT_APPLICABLE, np.int64)
        for clause in rule.clauses:
            assert isinstance(clause, ConditionClause)  # A preference is compared on rows.
            free = codes == NOT_APPLICABLE
            codes[free & self.holds(clause.condition)] = self.labels.index(clause.label)
        if rule.otherwise is not None:
            codes[codes == NOT_APPLICABLE] = self.labels.index(rule.otherwise)
        return codes

    def holds(self, condition: Condition) -> NDArray[np.bool_]:
        """Return whether `condition` holds on each input, as a bool array of shape (n,)."""
        if isinstance(condition, Not):
            return ~self.holds(condition.part)
        if isinstance(condition, AllOf):
            return np.asarray(np.all([self.holds(part) for part in condition.parts], axis=0))
        if isinstance(condition, AnyOf):
            return np.asarray(np.any([self.holds(part) for part in condition.parts], axis=0))
        return self.held[condition]


class InputSpace:
    """The possible inputs of a problem, built from its shown and hidden rows.

    The hidden rows are included. Therefore nothing in this object may be shown to a proposer (the
    model or search that proposes hypotheses).

    Attributes:
        drawn: Whether any rules were compared on a random sample of the inputs instead of on all
            inputs.
    """

    def __init__(self, problem: Problem) -> None:
        self.public = problem.public
        rows = [*problem.shown, *problem.hidden]
        self.rows: list[Mapping[str, Json]] = list(
            {canonical_json(one.input): one.input for one in rows}.values()
        )
        self.texts = find_text_columns(self.public)
        self.as_rows = self.public.get("shape") == "pair" or len(self.texts) > 1
        self._domains: dict[str, tuple[Json, ...]] = {}
        self._prepared: dict[str, PreparedRows] = {}
        self._slots: dict[str, Slots | None] = {}
        self._marks: dict[tuple[Condition, str], NDArray[np.bool_]] = {}
        self._about: dict[Condition, frozenset[str]] = {}
        self._all: WeightedInputs | None = None
        self.drawn = False

    @property
    def only_text(self) -> str:
        """The name of the text column, or "" if there is no text column or more than one."""
        return self.texts[0] if len(self.texts) == 1 else ""

    def domain(self, column: str) -> tuple[Json, ...]:
        """Return the possible values of a column, in order.

        The values include None if a row has no value in this column.

        Raises:
            UsageError: The problem has no column with this name.
        """
        if column not in self._domains:
            told = self.public["columns"].get(column)
            if told is None:
                raise UsageError(f"no column {column!r}")
            self._domains[column] = tuple(self._values(column, told))
        return self._domains[column]

    def _values(self, column: str, told: Mapping[str, Json]) -> list[Json]:
        seen = [row.get(column) for row in self.rows]
        there = [one for one in seen if not is_missing(one)]
        gap: list[Json] = [None] if len(there) < len(seen) else []
        kind = told.get("kind")
        if kind == "text":
            slots = self.find_slots(column)
            return [*(slots.texts if slots else dict.fromkeys(map(str, there))), *gap]
        if kind == "truth":
            return [False, True, *gap]
        numbers = [float(one) for one in there if is_finite_number(one)]
        if kind == "number" and numbers and len(numbers) == len(there):
            low, high = math.floor(min(numbers)), math.ceil(max(numbers))
            if all(one.is_integer() for one in numbers) and high - low < MAX_RANGE:
                return [*range(low, high + 1), *gap]
            return [*sorted(set(numbers)), *gap]
        every = dict.fromkeys([*(told.get("values") or ()), *map(_hashable, there)])
        return [*every, *gap]

    def find_slots(self, column: str) -> Slots | None:
        """Return the template slots of the texts in a column, or None if there are none."""
        if column not in self._slots:
            self._slots[column] = find_slots([str(row.get(column) or "") for row in self.rows])
        return self._slots[column]

    def leaf_truth(self, leaf: Condition, column: str) -> NDArray[np.bool_]:
        """Return whether the condition `leaf` holds for each value in the domain of `column`.

        The condition must read no other column. The result is a bool array in the order of
        `domain(column)`.
        """
        if (leaf, column) not in self._marks:
            if column not in self._prepared:
                rows = [{column: value} for value in self.domain(column)]
                self._prepared[column] = PreparedRows(rows, self.public)
            self._marks[leaf, column] = leaf.holds(self._prepared[column])
        return self._marks[leaf, column]

    def inputs_for(self, rules: Iterable[Rule]) -> WeightedInputs:
        """Return weighted inputs with every combination of values on which the rules may differ.

        Raises:
            UsageError: A rule names a column that the problem does not have.
        """
        some = list(rules)
        told = self._columns_by_leaf(some)
        if self._by_rows(some, told):
            return self._rows_of(sorted({c for columns in told.values() for c in columns}))
        return self._grid(told, self._by_column(told))

    def joint_inputs(self, rules: Iterable[Rule]) -> WeightedInputs | None:
        """Return one set of weighted inputs on which all pairs of the rules can be compared.

        Comparing two rules on this set gives the same result as comparing them on the inputs that
        `inputs_for` returns for the two rules alone.

        Returns:
            The inputs. None if the rules together distinguish more than `MAX_INPUTS` inputs, or if
            a condition reads several columns together.

        Raises:
            UsageError: A rule names a column that the problem does not have.
        """
        some = list(rules)
        told = self._columns_by_leaf(some)
        if self._by_rows(some, told):
            return self._rows_of(()) if self.as_rows else None
        classes = self._by_column(told)
        few = math.prod(len(shares) for _, shares in classes.values()) <= MAX_INPUTS
        return self._grid(told, classes) if few else None

    def _columns_by_leaf(self, rules: Sequence[Rule]) -> dict[Condition, list[str]]:
        """Return the columns that each leaf condition reads."""
        every = dict.fromkeys(leaf for rule in rules for leaf in leaf_conditions(rule))
        return {leaf: sorted(leaf_columns(leaf, self.only_text)) for leaf in every}

    def _by_rows(self, rules: Sequence[Rule], told: Mapping[Condition, Sequence[str]]) -> bool:
        return (
            self.as_rows
            or any(isinstance(c, PreferenceClause) for rule in rules for c in rule.clauses)
            or any(len(columns) > 1 for columns in told.values())
        )

    def _by_column(self, told: Mapping[Condition, Sequence[str]]) -> dict[str, Classes]:
        names = sorted({column for (column,) in told.values()})
        own = {name: [leaf for leaf in told if told[leaf] == [name]] for name in names}
        return {name: self._classes(name, some) for name, some in own.items()}

    def _grid(
        self, told: Mapping[Condition, Sequence[str]], classes: Mapping[str, Classes]
    ) -> WeightedGrid:
        at, weights, drawn = self._product([shares for _, shares in classes.values()])
        values = {name: classes[name][0][some] for name, some in zip(classes, at, strict=True)}
        held = {leaf: self.leaf_truth(leaf, name)[values[name]] for leaf, (name,) in told.items()}
        return WeightedGrid(tuple(self.public["labels"]), weights, drawn, held)

    def _rows_of(self, names: Sequence[str]) -> WeightedInputs:
        """Return the rows themselves if texts are compared with each other, else a product."""
        labels = tuple(self.public["labels"])
        if self.as_rows or not names:
            if self._all is None:
                even = np.full(len(self.rows), 1 / len(self.rows))
                self._all = WeightedRows(labels, even, False, PreparedRows(self.rows, self.public))
            return self._all
        domains = [self.domain(name) for name in names]
        at, weights, drawn = self._product([np.full(len(d), 1 / len(d)) for d in domains])
        columns = [[d[n] for n in some] for d, some in zip(domains, at, strict=True)]
        rows = [dict(zip(names, some, strict=True)) for some in zip(*columns, strict=True)]
        return WeightedRows(labels, weights, drawn, PreparedRows(rows, self.public))

    def _classes(self, column: str, some: Sequence[Condition]) -> Classes:
        """Return a value of each class on which the conditions agree, and the class shares.

        A value is given by its index in the domain.
        """
        signs = np.packbits(np.stack([self.leaf_truth(leaf, column) for leaf in some]), axis=0)
        _, first, counts = np.unique(
            np.ascontiguousarray(signs.T).view(f"V{signs.shape[0]}").ravel(),
            return_index=True, return_counts=True,
        )  # fmt: skip
        return first, counts / signs.shape[1]

    def _product(
        self, shares: Sequence[Weights]
    ) -> tuple[list[NDArray[np.int64]], Weights, bool]:  # fmt: skip
        """Return the inputs as indices per column, their weights, and whether they were drawn."""
        sizes = [len(some) for some in shares]
        if math.prod(sizes) <= MAX_INPUTS:
            at = [one.ravel() for one in np.indices(sizes)]
            weights = np.ones(1)
            for some in shares:
                weights = np.outer(weights, some).ravel()
            return at, weights, False
        self.drawn = True
        draw = np.random.default_rng(0)
        at = [
            draw.choice(size, MAX_INPUTS, p=some) for size, some in zip(sizes, shares, strict=True)
        ]
        return at, np.full(MAX_INPUTS, 1 / MAX_INPUTS), True

    def variables(self, rule: Rule) -> frozenset[str]:
        """Return the names of the variables that a rule is about.

        The variables are the columns that the rule reads. A text column is replaced by more precise
        variables. If its texts have template slots, the variables are the slots on which the rule
        depends. Otherwise they are the words and punctuation marks that the rule names.
        """
        found: set[str] = set()
        for leaf in dict.fromkeys(leaf_conditions(rule)):
            if leaf not in self._about:
                self._about[leaf] = self._variables(leaf)
            found |= self._about[leaf]
        for clause in rule.clauses:
            if isinstance(clause, PreferenceClause):
                found |= _named(clause.by)
        return frozenset(found)

    def _variables(self, leaf: Condition) -> frozenset[str]:
        found: set[str] = set()
        for column in leaf_columns(leaf, self.only_text):
            if column not in self.texts:
                found.add(column)
            elif (slots := None if self.as_rows else self.find_slots(column)) is not None:
                marks = self.leaf_truth(leaf, column)[: len(slots.texts)]
                found |= {f"{column} {place}" for place in slots.relevant_slots(marks)}
            else:
                found |= _named(leaf)
        return frozenset(found)

    def similar_variables(self, rule: Rule, others: Sequence[Rule]) -> frozenset[str]:
        """Return the variables of `others` that select nearly the same texts as `rule`.

        This finds rules that describe the same texts in different words. Only conditions on a text
        column without template slots are compared. A variable is included if one of its conditions
        and a condition of `rule` hold together in more than half of the texts in which at least one
        of the two conditions holds.
        """
        found: set[str] = set()
        for column in [] if self.as_rows else self.texts:
            told = [
                [
                    leaf
                    for leaf in dict.fromkeys(some)
                    if leaf_columns(leaf, self.only_text) == {column}
                ]
                for some in (
                    leaf_conditions(rule),
                    (leaf for other in others for leaf in leaf_conditions(other)),
                )
            ]
            if not all(told) or self.find_slots(column) is not None:
                continue
            here, there = (
                np.array([self.leaf_truth(leaf, column) for leaf in some], np.float32)
                for some in told
            )
            both = here @ there.T
            either = here.sum(axis=1)[:, None] + there.sum(axis=1) - both
            for place in np.flatnonzero((2 * both > either).any(axis=0)):
                found |= _named(told[1][place])
        return frozenset(found)

    def describe_variable(self, variable: str) -> str:
        """Return a description of a variable in words, for a person or model that rates sentences.

        A column is described by its name and its documentation. A template slot is described by its
        possible fillings. A word is described as the mention of this word.
        """
        column, _, place = variable.rpartition(" ")
        if (
            column in self.texts
            and place.isdigit()
            and (slots := self.find_slots(column)) is not None
        ):
            return (
                f"which of {', '.join(slots.fillings[int(place)])} stands at one place of {column}"
            )
        told = self.public["columns"].get(variable)
        if told is None:
            return f'the mention of "{variable}"'
        about = str(told.get("about") or "").strip()
        return f"{variable} ({about})" if about else variable


def _named(told: object) -> set[str]:
    """Return the words that a condition or quantity lists, or what it measures if it lists none."""
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


MAX_TEXTS = 20_000
MAX_FILLINGS = 50
MIN_PAIR_SHARE = (
    0.5  # the smallest share of the filling pairs of two slots that the rows have to contain
)
_PIECE = re.compile(r"\w+|\W+")


@dataclass(frozen=True)
class Slots:
    """The slots of texts that were made by filling a template.

    The possible texts are all combinations of fillings, ordered so that the last slot changes
    fastest.

    Attributes:
        fillings: For each slot, its possible fillings. A fixed text of the template is a slot with
            one filling.
        separator: The text between two slots.
    """

    fillings: tuple[tuple[str, ...], ...]
    separator: str = ""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All texts that result from combining the fillings of the slots."""
        return tuple(map(self.separator.join, product(*self.fillings)))

    def relevant_slots(self, marks: NDArray[np.bool_]) -> frozenset[int]:
        """Return the indices of the slots on which `marks` depends.

        Args:
            marks: One truth value for each text, in the order of `texts`.
        """
        shape = tuple(map(len, self.fillings))
        grid = marks.reshape(shape)
        changing = [axis for axis, size in enumerate(shape) if size > 1]
        return frozenset(a for a in changing if (grid != grid.take([0], axis=a)).any())


def find_slots(texts: Sequence[str]) -> Slots | None:
    """Return the template slots of texts, or None if no template is recognised.

    A template is recognised if all texts have the same form and if the fillings of different slots
    are independent. If all texts have the same number of lines, and at least two, the texts are
    split into lines. Otherwise they are split into words and the characters between words.
    """
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
    if any(len(places[n]) > MAX_FILLINGS for n in changing):
        return None
    if math.prod(map(len, places)) > MAX_TEXTS:
        return None
    for one, other in combinations(changing, 2):
        seen = len({(text[one], text[other]) for text in cut})
        if seen < MIN_PAIR_SHARE * len(places[one]) * len(places[other]):
            return None
    return Slots(tuple(places), joint)
