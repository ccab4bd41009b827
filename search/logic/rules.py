"""Candidate rules: features that repair every prompt world, and combinations of a few features.

In the full and skeptical regimes, a conjunction of valid rules is valid. The search therefore pairs
valid rules to find rules with fewer exceptions. Disjunctions combine features that each cover a
part of the violations. The search computes costs over the completions of lanes.py. These costs are
exact in the full regime. They are lower bounds in the skeptical regime, where other completions may
also refute a rule, and upper bounds in the partial regime. Every proposed rule is judged exactly
(ranking.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal as OneOf
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.formula import Formula
from ...tools.logic.packed_tables import Packed, any_packed, pack_elements
from ...tools.logic.sampling import Integers
from .evidence import Evidence, Numbers
from .features import Features
from .formula_writer import FormulaWriter
from .lanes import count_packed

Bits = TypeVar("Bits", Bools, Packed)

_PARTLY = 0.3  # share of the violations that each part of a disjunction must cover


class Shape(NamedTuple):
    """A rule in terms of features: one feature, or a conjunction or disjunction of shapes.

    Args:
        kind: "feature", "and" or "or".
        feature: Index of the feature, or -1 for a conjunction or disjunction.
        parts: The shapes that a conjunction or disjunction combines.
    """

    kind: OneOf["feature", "and", "or"]
    feature: int = -1
    parts: tuple[Shape, ...] = ()

    def list_features(self) -> list[int]:
        """Return the indices of all features in this shape."""
        if self.kind == "feature":
            return [self.feature]
        return [place for part in self.parts for place in part.list_features()]

    def evaluate(self, values: Mapping[int, Bits]) -> Bits:
        """Return which elements this shape marks.

        Args:
            values: For the index of each feature, which elements have the feature, as bools or
                packed (`packed_tables.pack_elements`).
        """
        if self.kind == "feature":
            return values[self.feature]
        found = self.parts[0].evaluate(values)
        for part in self.parts[1:]:
            found = (
                found & part.evaluate(values)
                if self.kind == "and"
                else found | part.evaluate(values)
            )
        return found

    def to_formula(self, features: Features) -> Formula:
        """Return this shape as a formula.

        Args:
            features: The features to which the indices refer.
        """
        writer = FormulaWriter(features)

        def write(shape: Shape) -> int:
            if shape.kind == "feature":
                return writer.write(shape.feature)
            return writer.builder.connect(shape.kind, [write(part) for part in shape.parts])

        return writer.builder.formula(write(self))


class PricedRule(NamedTuple):
    """A candidate rule with its cost and size.

    Args:
        shape: The rule.
        cost: Number of elements that the rule marks, summed over the prompt worlds. The number is
            exact or a bound (see the module docstring).
        size: Number of syntax nodes of the rule.
        held: Share of the random worlds in which the rule is valid.
    """

    shape: Shape
    cost: int
    size: int
    held: float = 0.0


class ShapeTable(NamedTuple):
    """Candidate rules in parallel arrays, with the elements that each rule marks.

    Args:
        shapes: The rules.
        values: The elements that each rule marks, packed (`packed_tables.pack_elements`), of shape (rules,
            completions, words).
        sizes: Number of syntax nodes of each rule, shape (rules,).
        held: Random worlds in which each rule is known to be valid, bool of shape (rules, random
            worlds).
    """

    shapes: list[Shape]
    values: Packed
    sizes: Integers
    held: Bools


class CombinedPairs(NamedTuple):
    """Valid combinations of two rules, in parallel arrays of shape (pairs,).

    Args:
        ones: Index of the first rule of each pair.
        others: Index of the second rule of each pair.
        costs: Cost of each combination.
        sizes: Number of syntax nodes of each combination.
        held: Share of the random worlds in which each combination is valid; for a disjunction, a
            lower bound.
    """

    ones: Integers
    others: Integers
    costs: Integers
    sizes: Integers
    held: NDArray[np.float64]


def find_candidates(features: Features, evidence: Evidence, most: int) -> list[PricedRule]:
    """Return valid candidate rules, which are the best for some price of a syntax node.

    Args:
        features: The features from which rules are built.
        evidence: The requirements of the prompt worlds.
        most: Approximate number of pairs of rules to examine.
    """
    search = _Search(features, evidence)
    return search.candidates(width=max(8, int((most / 1.4) ** 0.5)))


class _Search:
    def __init__(self, features: Features, evidence: Evidence) -> None:
        self.features, self.evidence = features, evidence
        count = evidence.prompt.lanes.worlds
        shape = (len(features), features.lanes.worlds, features.lanes.size)
        whole = features.values.reshape(shape)
        packed = pack_elements(whole)
        self.values = packed[:, :count]
        drawn = pack_elements(evidence.broken_drawn)
        self.held = ~any_packed(drawn[None] & ~packed[:, count:])
        self.sizes = features.sizes
        self.found: dict[Shape, PricedRule] = {}

    def candidates(self, width: int) -> list[PricedRule]:
        """Return valid rules: features, disjunctions, and conjunctions of two and three."""
        broken = self.evidence.broken
        uncovered = pack_elements(broken)[None] & ~self.values
        covered = count_packed(self.values)
        valid, costs = self.evidence.judge(~any_packed(uncovered), covered)
        told = np.array([recipe.kind != "all" for recipe in self.features.recipes])
        right = np.flatnonzero(valid & told)
        for place in self._best(right, costs[right], width):
            held = float(self.held[place].mean())
            self._keep(_feature_shape(place), int(costs[place]), int(self.sizes[place]), held)
        base = self._choice(self._best(right, costs[right], width))

        missed = count_packed(uncovered).sum(axis=1, dtype=np.int64)
        share = 1 - missed / max(1, broken.sum())
        part = np.flatnonzero((share >= _PARTLY) & ~valid)
        dear = covered[part].mean(axis=1) * self.evidence.worlds
        dear = dear + 1.5 * self.evidence.worlds * (1 - share[part])
        parts = self._choice(self._best(part, dear, width))
        either = self._kept("or", parts, parts, self._pairs("or", parts), width // 2)

        wide = ShapeTable(
            base.shapes + either.shapes,
            np.concatenate([base.values, either.values]),
            np.concatenate([base.sizes, either.sizes]),
            np.concatenate([base.held, either.held]),
        )
        both = self._kept("and", wide, wide, self._pairs("and", wide), width)
        few = max(4, width // 3)
        top = ShapeTable(both.shapes[:few], both.values[:few], both.sizes[:few], both.held[:few])
        self._kept("and", top, wide, self._crossed(top, wide), width // 2)
        if not self.found:  # if no other rule is valid, the rule that marks everything
            for place in np.flatnonzero(valid & ~told).tolist():
                held = float(self.held[place].mean())
                self._keep(_feature_shape(place), int(costs[place]), int(self.sizes[place]), held)
        return list(self.found.values())

    def _keep(self, shape: Shape, cost: int, size: int, held: float) -> None:
        self.found[shape] = PricedRule(shape, cost, size, held)

    def _best(self, places: Integers, costs: Numbers, count: int) -> Integers:
        held = self.held[places].mean(axis=1)
        found: Integers = places[self.evidence.take_in_turn(costs, self.sizes[places], held, count)]
        return found

    def _choice(self, places: Integers) -> ShapeTable:
        shapes = [_feature_shape(place) for place in places]
        return ShapeTable(shapes, self.values[places], self.sizes[places], self.held[places])

    def _pairs(self, kind: OneOf["and", "or"], some: ShapeTable) -> CombinedPairs:
        """Return the valid pairs of two shapes of a choice."""
        ones, others = np.triu_indices(len(some.shapes), 1)
        right, costs = self.evidence.judge_pairs(kind, some.values, some.values)
        kept = right[ones, others]
        return self._combined(kind, some, some, ones[kept], others[kept], costs)

    def _crossed(self, ones: ShapeTable, others: ShapeTable) -> CombinedPairs:
        """Return the valid conjunctions of one shape from each choice."""
        right, costs = self.evidence.judge_pairs("and", ones.values, others.values)
        first, second = np.nonzero(right)
        return self._combined("and", ones, others, first, second, costs)

    def _combined(
        self,
        kind: OneOf["and", "or"],
        ones: ShapeTable,
        others: ShapeTable,
        first: Integers,
        second: Integers,
        costs: Integers,
    ) -> CombinedPairs:
        """Return the pairs of shapes with the places `first` and `second`."""
        sizes = ones.sizes[first] + others.sizes[second] + 1
        held = _held(kind, ones.held, others.held, first, second)
        return CombinedPairs(first, second, costs[first, second], sizes, held)

    def _kept(
        self,
        kind: OneOf["and", "or"],
        ones: ShapeTable,
        others: ShapeTable,
        combined: CombinedPairs,
        count: int,
    ) -> ShapeTable:
        """Add the best pairs to the candidates and return them."""
        shapes: list[Shape] = []
        places: list[int] = []
        order = self.evidence.take_in_turn(combined.costs, combined.sizes, combined.held, count)
        for place in order.tolist():
            one, other = int(combined.ones[place]), int(combined.others[place])
            shape = _shape(kind, ones.shapes[one], others.shapes[other])
            if shape is not None and shape not in self.found:
                size, held = int(combined.sizes[place]), float(combined.held[place])
                self._keep(shape, int(combined.costs[place]), size, held)
                shapes.append(shape)
                places.append(place)
        one_, other_ = combined.ones[places], combined.others[places]
        # Packed elements are connected as bools are.
        connect: np.ufunc = np.bitwise_and if kind == "and" else np.bitwise_or
        values: Packed = connect(ones.values[one_], others.values[other_])
        held_: Bools = connect(ones.held[one_], others.held[other_])
        return ShapeTable(shapes, values, combined.sizes[places], held_)


def _held(
    kind: OneOf["and", "or"], ones: Bools, others: Bools, first: Integers, second: Integers
) -> NDArray[np.float64]:
    """Return the share of drawn worlds in which each pair is valid, (pairs,).

    For a disjunction it is a lower bound.

    Args:
        kind: How two rules are combined.
        ones: The drawn worlds in which each rule is valid, bool of shape (rules, drawn worlds).
        others: The same for the other rules.
        first: The place of the first rule of each pair in `ones`.
        second: The place of the second rule of each pair in `others`.
    """
    one, other = pack_elements(ones), pack_elements(others)
    common = count_packed(one[first] & other[second])
    both: NDArray[np.float64] = common.astype(np.float64) / max(1, ones.shape[1])
    if kind == "and":
        return both
    alone = [held.astype(np.float64).mean(axis=1) for held in (ones, others)]
    either: NDArray[np.float64] = alone[0][first] + alone[1][second] - both
    return either


def _feature_shape(place: int) -> Shape:
    return Shape("feature", int(place))


def _shape(kind: OneOf["and", "or"], one: Shape, other: Shape) -> Shape | None:
    """Return the combined shape, or None if a part would occur twice."""
    parts = [part for s in (one, other) for part in (s.parts if s.kind == kind else (s,))]
    return Shape(kind, parts=tuple(parts)) if len(set(parts)) == len(parts) else None


def narrow(rules: Iterable[PricedRule], evidence: Evidence, count: int) -> Sequence[PricedRule]:
    """Return at most `count` of the rules, taking the best rule at each price of a syntax node in
    turn.
    """
    whole = list(rules)
    costs, sizes = (np.array([one[at] for one in whole], np.int64) for at in (1, 2))
    held = np.array([one.held for one in whole])
    return [whole[place] for place in evidence.take_in_turn(costs, sizes, held, count)]
