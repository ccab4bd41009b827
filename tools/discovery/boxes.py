"""Sets of inputs as unions of boxes, for comparing rules by what they say of every input.

A box allows some values on each axis and contains the inputs whose values are all allowed, such as
"math is A or B, and more than 2 papers". A condition with "and", "or" and "not" is a union of
boxes. The maximal boxes of a set of inputs lie in it, and in no larger box that lies in it. They
depend on the set alone and not on the words of the condition (the prime implicants of Quine 1955,
here with sets of values instead of truth values).

An axis is a column, or an amount such as the number of times that a text contains a word. Any other
condition, such as a comparison of two amounts, is an axis with two values. Axes of one text depend
on each other, and so do columns that one condition compares. They form a group; groups are
independent of each other. A box therefore holds the allowed values of each axis, and the elements
that this leaves in each group. Whether a box lies in another one is decided by the elements.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ..sentence_rules.conditions import (
    AllOf,
    AnyOf,
    Between,
    Comparison,
    Condition,
    IsOneOf,
    Not,
    mentions,
)
from ..sentence_rules.prepared_rows import PreparedRows
from ..sentence_rules.quantities import ColumnNumber, Count, MentionedEntries
from ..sentence_rules.rules import PreferenceClause, Rule
from .input_space import MAX_INPUTS, InputSpace
from .rule_cases import leaf_columns, leaf_conditions

MAX_BOXES = 1_000  # A condition that needs more boxes is not compared.
MAX_MAXIMAL = 400  # maximal boxes of one union that are looked for

# The allowed values of each axis, then the elements of each group, all as bits of a number.
Box: TypeAlias = tuple[int, ...]
Boxes: TypeAlias = list[Box]
Marks = NDArray[np.bool_]


class TooManyBoxesError(Exception):
    """A condition is no union of at most `MAX_BOXES` boxes."""


@dataclass(frozen=True)
class Preferred:
    """The condition that a preference between two texts gives a label."""

    clause: PreferenceClause
    label: str

    def holds(self, rows: PreparedRows) -> Marks:
        """Return whether the preference gives the label in each of n rows, bool of shape (n,)."""
        return np.asarray(self.clause.codes(rows) == rows.label_index(self.label))


Leaf: TypeAlias = Condition | Preferred


def to_bits(marks: Marks) -> int:
    """Return marks of shape (n,) as the bits of a number; the first mark is the lowest bit."""
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


@dataclass
class Group:
    """The elements of columns that depend on each other. All elements are equally likely.

    Attributes:
        columns: The names of the columns.
        rows: The elements as n rows.
        values: For each axis of the group, the elements that have each value of the axis, as bits.
        numbers: For each axis of the group, its number among all axes.
    """

    columns: tuple[str, ...]
    rows: PreparedRows
    values: dict[int, list[int]] = field(default_factory=dict)
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def full(self) -> int:
        """All elements as bits."""
        return (1 << len(self.rows)) - 1

    def elements(self, axis: int, mask: int) -> int:
        """Return the elements, as bits, whose value on an axis of this group is one of `mask`."""
        if (axis, mask) not in self.known:
            some = (bits for n, bits in enumerate(self.values[axis]) if mask >> n & 1)
            self.known[axis, mask] = reduce(int.__or__, some, 0)
        return self.known[axis, mask]


class BoxSpace:
    """The possible inputs, with the axes that the conditions of some rules need.

    A column has the values of `space`. If no value fulfils a condition of a true rule, or none fails
    it, a value that does is added: what a true rule names is possible, even if no row has it.

    Args:
        space: The possible inputs.
        rules: The rules that are to be compared.
        true: The true rules.
    """

    def __init__(self, space: InputSpace, rules: Sequence[Rule], true: Sequence[Rule] = ()) -> None:
        self.space = space
        self._added: dict[str, list[Json]] = {}
        for leaf in dict.fromkeys(leaf for rule in true for leaf in leaf_conditions(rule)):
            self._add_value(leaf)
        self.labels: tuple[str, ...] = tuple(space.public["labels"])
        self.drawn = False
        leaves = list(dict.fromkeys(leaf for rule in rules for leaf in self._rule_leaves(rule)))
        self.groups = self._make_groups([self._columns(leaf) for leaf in leaves])
        self.group_of: list[int] = []  # for each axis, the number of its group
        self._axes: dict[Hashable, int] = {}
        self._sizes: list[int] = []
        self._leaf_sets: dict[Leaf, tuple[int, int]] = {}
        self._place(leaves)
        full = ((1 << size) - 1 for size in self._sizes)
        self.everything: Box = (*full, *(group.full for group in self.groups))
        self._counts = [len(group.rows) for group in self.groups]

    # --- axes ------------------------------------------------------------------

    def _rule_leaves(self, rule: Rule) -> Iterator[Leaf]:
        for clause in rule.clauses:
            if isinstance(clause, PreferenceClause):
                yield from (Preferred(clause, label) for label in self.labels)
            else:
                yield from _leaves(clause.condition)

    def _columns(self, leaf: Leaf) -> frozenset[str]:
        if isinstance(leaf, Preferred):
            return frozenset(self.space.texts)
        return leaf_columns(leaf, self.space.only_text)

    def _add_value(self, leaf: Condition) -> None:
        """Add a value for which a condition on one column holds, or fails, if there is none."""
        if isinstance(leaf, Comparison | Between) and isinstance(leaf.quantity, ColumnNumber):
            name = leaf.quantity.column
            bounds = [leaf.value] if isinstance(leaf, Comparison) else [leaf.low, leaf.high]
            candidates: list[Json] = [bound + step for bound in bounds for step in (0, 1, -1)]
        elif isinstance(leaf, IsOneOf):
            name, candidates = leaf.column, list(leaf.values)
        else:
            return
        there = [*self.space.domain(name), *self._added.get(name, ())]
        rows = [{name: value} for value in (*there, *candidates)]
        marks = leaf.holds(PreparedRows(rows, self.space.public)).tolist()
        for wanted in {True, False} - set(marks[: len(there)]):
            if wanted in marks[len(there) :]:
                place = marks.index(wanted, len(there)) - len(there)
                self._added.setdefault(name, []).append(candidates[place])

    def _make_groups(self, read: Sequence[frozenset[str]]) -> list[Group]:
        if self.space.as_rows:
            names = frozenset().union(*read)
            rows = PreparedRows(self.space.rows, self.space.public)
            return [Group(tuple(sorted(names)), rows)]
        joined: list[frozenset[str]] = []
        for names in read:
            touched = [one for one in joined if one & names]
            joined = [one for one in joined if not one & names]
            joined.append(names.union(*touched))
        return [self._make_group(tuple(sorted(names))) for names in sorted(joined, key=sorted)]

    def _make_group(self, names: tuple[str, ...]) -> Group:
        domains = [(*self.space.domain(name), *self._added.get(name, ())) for name in names]
        if math.prod(map(len, domains)) <= MAX_INPUTS or len(names) == 1:
            chosen: Iterator[tuple[Json, ...]] = product(*domains)
        else:
            self.drawn = True
            draw = np.random.default_rng(0)
            at = [draw.integers(len(domain), size=MAX_INPUTS) for domain in domains]
            chosen = (
                tuple(domain[n] for domain, n in zip(domains, places, strict=True))
                for places in zip(*at, strict=True)
            )
        rows = [dict(zip(names, values, strict=True)) for values in chosen]
        return Group(names, PreparedRows(rows, self.space.public))

    def _place(self, leaves: Sequence[Leaf]) -> None:
        """Find the axis of each leaf, and the values on this axis for which it holds."""
        placed: list[tuple[int, Hashable, Marks]] = []
        classes: dict[tuple[int, Hashable], NDArray[np.intp]] = {}
        for leaf in leaves:
            columns = self._columns(leaf)
            number = next(n for n, one in enumerate(self.groups) if columns <= {*one.columns})
            marks = leaf.holds(self.groups[number].rows)
            key, classes[number, key] = self._classes(leaf, self.groups[number], marks)
            placed.append((number, key, marks))
        # The order of the axes, which decides between equally large boxes, depends on no wording.
        order = sorted(range(len(leaves)), key=lambda n: (placed[n][0], repr(placed[n][1])))
        for leaf, (number, key, marks) in ((leaves[n], placed[n]) for n in order):
            own = classes[number, key]
            if (number, key) not in self._axes:
                axis = self._axes[number, key] = len(self.group_of)
                self.group_of.append(number)
                self._sizes.append(int(own.max(initial=0)) + 1)
                values = [to_bits(own == n) for n in range(self._sizes[-1])]
                self.groups[number].values[axis] = values
            axis = self._axes[number, key]
            mask = np.zeros(self._sizes[axis], np.bool_)
            mask[own] = marks
            self._leaf_sets[leaf] = axis, to_bits(mask)

    def _classes(self, leaf: Leaf, group: Group, marks: Marks) -> tuple[Hashable, NDArray[np.intp]]:
        """Return what identifies the axis of a leaf, and the value, (n,), of each element on it."""
        told = getattr(leaf, "quantity", None) if isinstance(leaf, Comparison | Between) else None
        names = sorted(self._columns(leaf))
        if len(names) == 1 and names[0] not in self.space.texts:
            column = [row.get(names[0]) for row in group.rows.rows]
            number = {repr(value): n for n, value in enumerate(dict.fromkeys(column))}
            return names[0], np.array([number[repr(value)] for value in column], np.intp)
        if isinstance(told, MentionedEntries) and len(told.terms) == 1:
            told = Count(told.terms, text=told.text)
        if told is not None and not isinstance(told, ColumnNumber):
            _, classes = np.unique(told.values(group.rows), return_inverse=True)
            return told, classes.ravel()
        turned = marks if marks[0] else ~marks
        return to_bits(turned), turned.astype(np.intp)

    # --- boxes -----------------------------------------------------------------

    def narrow(self, box: Box, axis: int, mask: int) -> Box | None:
        """Return the part of a box whose values on an axis are among `mask`; None if it is empty."""
        kept = box[axis] & mask
        place = len(self.group_of) + self.group_of[axis]
        group = self.groups[self.group_of[axis]]
        left = box[place] & group.elements(axis, kept)
        if not left:
            return None
        found = list(box)
        found[axis], found[place] = kept, left
        return tuple(found)

    def widen(self, box: Box, axis: int, mask: int) -> Box:
        """Return the box with the values `mask` on an axis and its other axes unchanged."""
        number = self.group_of[axis]
        group = self.groups[number]
        found = list(box)
        found[axis] = mask
        elements = group.full
        for one in group.values:
            elements &= group.elements(one, found[one])
        found[len(self.group_of) + number] = elements
        return tuple(found)

    def lies_in(self, inner: Box, outer: Box) -> bool:
        """Return whether every input of `inner` is in `outer`."""
        start = len(self.group_of)
        return all(not a & ~b for a, b in zip(inner[start:], outer[start:], strict=True))

    def meet(self, one: Box, other: Box) -> Box | None:
        """Return the box of the inputs that both boxes contain; None if there are none."""
        found = tuple([a & b for a, b in zip(one, other, strict=True)])
        return found if all(found[len(self.group_of) :]) else None

    def share(self, box: Box) -> float:
        """Return the share of all inputs that a box contains."""
        elements = box[len(self.group_of) :]
        return math.prod(
            bits.bit_count() / size for bits, size in zip(elements, self._counts, strict=True)
        )

    def subtract(self, one: Box, other: Box) -> Iterator[Box]:
        """Yield disjoint boxes with the inputs of `one` that `other` does not contain."""
        left: Box | None = one
        for axis in range(len(self.group_of)):
            if left is None:
                return
            if outside := left[axis] & ~other[axis]:
                if (piece := self.narrow(left, axis, outside)) is not None:
                    yield piece
                left = self.narrow(left, axis, other[axis])

    def covered(self, box: Box, boxes: Sequence[Box]) -> bool:
        """Return whether every input of `box` is in one of `boxes`."""
        if any(self.lies_in(box, one) for one in boxes):
            return True
        for at, one in enumerate(boxes):
            if self.meet(box, one) is not None:
                later = boxes[at + 1 :]
                return all(self.covered(piece, later) for piece in self.subtract(box, one))
        return False

    def equal(self, ones: Sequence[Box], others: Sequence[Box]) -> bool:
        """Return whether two unions of boxes contain the same inputs."""
        return all(self.covered(one, others) for one in ones) and all(
            self.covered(other, ones) for other in others
        )

    # --- conditions ------------------------------------------------------------

    def boxes(self, condition: Leaf, negated: bool = False) -> Boxes:
        """Return boxes whose union contains the inputs for which a condition holds, or fails.

        Raises:
            TooManyBoxesError: There are more than `MAX_BOXES`.
        """
        if isinstance(condition, Not):
            return self.boxes(condition.part, not negated)
        if not isinstance(condition, AllOf | AnyOf) and (wide := spell_out(condition)) is not None:
            return self.boxes(wide, negated)
        if isinstance(condition, AllOf | AnyOf):
            parts = [self.boxes(part, negated) for part in condition.parts]
            if isinstance(condition, AnyOf) != negated:
                return self.simplify([box for part in parts for box in part])
            return reduce(self.all_of, parts)
        axis, mask = self._leaf_sets[condition]
        found = self.narrow(
            self.everything, axis, self.everything[axis] & ~mask if negated else mask
        )
        return [] if found is None else [found]

    def all_of(self, ones: Boxes, others: Boxes) -> Boxes:
        """Return boxes whose union contains the inputs that both unions contain.

        Raises:
            TooManyBoxesError: There are more than `MAX_BOXES`.
        """
        both = (self.meet(one, other) for one, other in product(ones, others))
        found = self.simplify([box for box in both if box is not None])
        if len(found) > MAX_BOXES:
            raise TooManyBoxesError
        return found

    def none_of(self, boxes: Boxes) -> Boxes:
        """Return boxes whose union contains the inputs that none of `boxes` contains.

        Raises:
            TooManyBoxesError: There are more than `MAX_BOXES`.
        """
        left = [self.everything]
        for box in boxes:
            axes = [n for n in range(len(self.group_of)) if box[n] != self.everything[n]]
            sides = [self.narrow(self.everything, n, self.everything[n] & ~box[n]) for n in axes]
            left = self.all_of(left, [side for side in sides if side is not None])
        return left

    def simplify(self, boxes: Boxes) -> Boxes:
        """Return fewer boxes with the same union: boxes that lie in others are left out, and boxes
        that differ on one axis are joined.
        """
        kept = self._outermost(boxes)
        for axis in range(len(self.group_of)):
            joined: dict[tuple[int, ...], Box] = {}
            for box in kept:
                key = (*box[:axis], *box[axis + 1 : len(self.group_of)])
                there = joined.get(key)
                joined[key] = (
                    box if there is None else self.widen(box, axis, there[axis] | box[axis])
                )
            if len(joined) < len(kept):
                kept = self._outermost(list(joined.values()))
        return kept

    def _outermost(self, boxes: Boxes) -> Boxes:
        """Return the boxes that lie in no other, each once, the largest first."""
        kept: Boxes = []
        for box in sorted(dict.fromkeys(boxes), key=lambda one: (-self.share(one), one)):
            if not any(self.lies_in(box, one) for one in kept):
                kept.append(box)
        return kept

    def maximal(self, boxes: Boxes) -> Boxes:
        """Return the maximal boxes of a union of boxes, the largest first.

        Two boxes imply a third one, with the values of either on one axis and the common values on
        all others. Such boxes are added, and boxes that lie in others are left out, until nothing
        changes (iterated consensus). If there are more than `MAX_MAXIMAL`, the result is `boxes`,
        simplified.
        """
        given = kept = self.simplify(boxes)
        known = set(kept)
        pairs = list(combinations(kept, 2))
        while pairs:
            if len(kept) > max(MAX_MAXIMAL, len(given)):
                return given
            one, other = pairs.pop()
            if one not in known or other not in known:
                continue
            for found in list(self._implied(one, other)):
                if any(self.lies_in(found, box) for box in kept):
                    continue
                kept = [box for box in kept if not self.lies_in(box, found)]
                pairs += [(found, box) for box in kept]
                kept.append(found)
                known = set(kept)
        return self._outermost(kept)

    def _implied(self, one: Box, other: Box) -> Iterator[Box]:
        axes = range(len(self.group_of))
        common = [one[n] & other[n] for n in axes]
        apart = [n for n in axes if not common[n]]
        if len(apart) > 1:
            return
        for axis in apart or axes:
            either = one[axis] | other[axis]
            if either in (one[axis], other[axis]) and not apart:
                continue
            elements = [group.full for group in self.groups]
            for n, group_number in enumerate(self.group_of):
                mask = either if n == axis else common[n]
                elements[group_number] &= self.groups[group_number].elements(n, mask)
            if all(elements):
                yield (*common[:axis], either, *common[axis + 1 :], *elements)


def spell_out(condition: Leaf) -> Condition | None:
    """Return "mentions one of A, B" as two mentions with "or", "all of" with "and", else None."""
    if not (isinstance(condition, Comparison) and isinstance(condition.quantity, MentionedEntries)):
        return None
    listed, text = condition.quantity.terms, condition.quantity.text
    if len(listed) == 1 or condition.relation != "at least":
        return None
    parts = tuple(mentions((one,), text=text) for one in listed)
    by_number: dict[int, Condition] = {1: AnyOf(parts), len(listed): AllOf(parts)}
    return by_number.get(int(condition.value)) if condition.value.is_integer() else None


def _leaves(condition: Condition) -> Iterator[Condition]:
    wide = None if isinstance(condition, AllOf | AnyOf | Not) else spell_out(condition)
    if isinstance(condition, Not):
        yield from _leaves(condition.part)
    elif isinstance(wide or condition, AllOf | AnyOf):
        for part in (wide or condition).parts:  # type: ignore[union-attr]
            yield from _leaves(part)
    else:
        yield condition
