"""Candidate rules: features that repair every prompt world, and combinations of a few features.

In the full and skeptical regimes, a conjunction of valid rules is valid. The search therefore pairs
valid rules to find rules with fewer exceptions. Disjunctions combine features that each cover a
part of the violations. The search computes costs over the completions of lanes.py. These costs are
exact in the full regime. They are lower bounds in the skeptical regime, where other completions may
also refute a rule, and upper bounds in the partial regime. Every proposed rule is judged exactly
(ranking.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.fast_path import Regime
from ...tools.logic.formula import Formula
from ...tools.logic.packed_tables import Packed, any_packed, pack_elements
from ...tools.logic.sampling import Integers
from .features import Features
from .formula_writer import FormulaWriter
from .lanes import Completions, all_of, count_packed

Bits = TypeVar("Bits", Bools, Packed)
Counts: TypeAlias = NDArray[np.int16]
Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]

# What certainty of being valid in all drawn worlds is worth, in marked elements per world.
WORTHS = (0.0, 1.0, 3.0)
# Prices of a node of the formula, in marked elements per world. Each has its own best rules.
PRICES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13, 0.17, 0.25)
_MANY = 1_000  # more than any cost in a world
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


class Evidence:
    """The requirements of the prompt worlds on a rule, computed over completions of these worlds.

    A completion of a world makes each unknown atom true or false.

    Attributes:
        judged: Number of rules that were judged so far.
    """

    def __init__(
        self, prompt: Completions, broken: Bools, regime: Regime, broken_drawn: Bools
    ) -> None:
        """Collect the completions and their violations.

        Args:
            prompt: Completions of the prompt worlds.
            broken: Elements that violate the theory in each completion, bool (completions, size).
            regime: The regime of the problem, which says how unknown atoms count.
            broken_drawn: Elements that violate the theory in each drawn world, bool (worlds, size).
        """
        self.prompt, self.broken, self.regime = prompt, broken, regime
        self.broken_drawn = broken_drawn
        self.worlds = int(prompt.world_of_lane[-1]) + 1
        self.starts = np.searchsorted(prompt.world_of_lane, np.arange(self.worlds))
        self.judged = 0

    def judge(self, valid: Bools, covered: NDArray[Any]) -> tuple[Bools, Integers]:
        """Return whether each rule is valid in all prompt worlds, and what each rule costs.

        A rule repairs a completion if the rule marks all elements that violate the theory in the
        completion. The regime says whether a rule must repair one or all completions of a world.
        The regime also says whether the cost in a world is the smallest or the largest number of
        marked elements (docs/explanation/exception-rules.md).

        Args:
            valid: Whether each rule repairs each completion; the last axis runs over completions.
            covered: Number of elements that each rule marks in each completion, in the same shape.

        Returns:
            Validity (bool) and cost (int64) of each rule, in the shape of `valid` without the last
            axis.
        """
        self.judged += valid[..., 0].size
        if self.regime == "full":
            return all_of(valid), covered.sum(axis=-1, dtype=np.int64)
        if self.regime == "skeptical":
            most = np.maximum.reduceat(covered, self.starts, axis=-1)
            return all_of(valid), most.sum(axis=-1, dtype=np.int64)
        least = np.minimum.reduceat(np.where(valid, covered, _MANY), self.starts, axis=-1)
        return all_of(least < _MANY), least.sum(axis=-1, dtype=np.int64)

    def judge_pairs(
        self, kind: OneOf["and", "or"], ones: Packed, others: Packed
    ) -> tuple[Bools, Integers]:
        """Judge the conjunction or disjunction of each of some rules with each of others.

        Args:
            kind: How two rules are combined.
            ones: The elements that each rule marks, packed, of shape (rules, completions, words).
            others: The same for the other rules.

        Returns:
            Validity (bool) and cost (int64) of each pair, of shape (rules, other rules). The cost
            of a pair that is not valid has no meaning.
        """
        self.judged += len(ones) * len(others)
        pairs = _Pairs(kind, ones, others, pack_elements(self.broken))
        costs = np.zeros((len(ones), len(others)), np.int32)
        ends = [*self.starts[1:].tolist(), len(self.broken)]
        right = np.ones(costs.shape, bool)
        for start, end in zip(self.starts.tolist(), ends, strict=True):
            if self.regime == "partial":
                least = pairs.least(range(start, end))
                right &= least < _MANY
                costs += least
            else:
                costs += pairs.most(range(start, end))
        if self.regime != "partial":
            right = pairs.repair_all()
        return right, costs.astype(np.int64)

    def rank_by_price(
        self, costs: Numbers, sizes: Integers, held: NDArray[np.float64], most: int
    ) -> Iterator[Integers]:
        """Yield the indices of the best rules for each pair of a price in `PRICES` and a value in
        `WORTHS`.

        `PRICES` are prices of one syntax node, and `WORTHS` are values of validity in the random
        worlds.

        Args:
            costs: Cost of each rule, summed over the prompt worlds.
            sizes: Number of syntax nodes of each rule.
            held: Share of the random worlds in which each rule is valid.
            most: Maximum number of indices in each yielded array.

        Yields:
            Indices of the best rules, best first.
        """
        each = min(len(sizes), most)
        for price in PRICES:
            for worth in WORTHS:
                scores = costs / self.worlds + price * sizes - worth * held
                # Among equal scores the first are taken: which of them a partition puts in front
                # depends on the machine.
                worst = np.partition(scores, each - 1)[each - 1]
                top = np.flatnonzero(scores <= worst)
                yield top[np.argsort(scores[top], kind="stable")[:each]]

    def take_in_turn(
        self, costs: Numbers, sizes: Integers, held: NDArray[np.float64], count: int
    ) -> Integers:
        """Return the indices of at most `count` rules that are best for some price or value of
        validity.

        The best rules of all lists of `rank_by_price` come first, then all second-best rules, and
        so on.

        Args:
            costs: Cost of each rule, summed over the prompt worlds.
            sizes: Number of syntax nodes of each rule.
            held: Share of the random worlds in which each rule is valid.
            count: Maximum number of indices.
        """
        if not len(sizes):
            return np.zeros(0, np.int64)
        each = 8 * max(1, count // (len(PRICES) * len(WORTHS)))
        order = np.stack(list(self.rank_by_price(costs, sizes, held, each))).T.reshape(-1)
        _, first = np.unique(order, return_index=True)
        found: Integers = order[np.sort(first)][:count]
        return found


class _Pairs:
    """What pairs of rules cover, in one completion after the other.

    The results share memory, so the next call of the same method overwrites the last result.
    """

    def __init__(
        self, kind: OneOf["and", "or"], ones: Packed, others: Packed, broken: Packed
    ) -> None:
        self.either = kind == "or"
        self.tables = [np.ascontiguousarray(table.swapaxes(0, 1)) for table in (ones, others)]
        self.left = [broken[:, None] & ~table for table in self.tables]
        self.counts = [count_packed(table) for table in self.tables]
        self.fails = [any_packed(left) for left in self.left]
        shape = len(ones), len(others)
        self._bits = np.empty(shape, ones.dtype)
        self._word_counts = np.empty(shape, np.uint8)
        self._found = np.empty(shape, np.int16)

    def _common(self, tables: Sequence[Packed], place: int, word: int) -> Packed:
        one, other = (table[place, :, word] for table in tables)
        common: Packed = np.bitwise_and(one[:, None], other[None], out=self._bits)
        return common

    def covered(self, place: int) -> Counts:
        """Return how many elements each pair marks in a completion, (rules, other rules)."""
        found = self._found
        for word in range(self.tables[0].shape[-1]):
            bits = self._common(self.tables, place, word)
            counts = np.bitwise_count(bits, out=self._word_counts)
            if word:
                found += counts
            else:
                found[:] = counts
        if self.either:
            first, second = (counts[place] for counts in self.counts)
            np.subtract(first[:, None], found, out=found)
            found += second
        return found

    def fail(self, place: int) -> Bools:
        """Return which pairs do not repair a completion, (rules, other rules)."""
        first, second = (fails[place] for fails in self.fails)
        if not self.either:
            found: Bools = first[:, None] | second[None]
            return found
        found = np.zeros(self._bits.shape, bool)
        for word in range(self.tables[0].shape[-1]):
            found |= self._common(self.left, place, word) != 0
        return found

    def least(self, places: Iterable[int]) -> Counts:
        """Return the least number of elements that each pair marks in a completion it repairs.

        The number is `_MANY` where a pair repairs none of the completions.
        """
        least = np.full(self._found.shape, _MANY, np.int16)
        for place in places:
            found = self.covered(place)
            np.putmask(found, self.fail(place), _MANY)
            np.minimum(least, found, out=least)
        return least

    def most(self, places: Iterable[int]) -> Counts:
        """Return the largest number of elements that each pair marks in one of the completions."""
        most = np.zeros(self._found.shape, np.int16)
        for place in places:
            np.maximum(most, self.covered(place), out=most)
        return most

    def repair_all(self) -> Bools:
        """Return which pairs repair all completions, (rules, other rules)."""
        if not self.either:
            one, other = (all_of(~fails, axis=0) for fails in self.fails)
            both: Bools = one[:, None] & other[None]
            return both
        found = np.ones(self._bits.shape, bool)
        for place in range(len(self.tables[0])):
            found &= ~self.fail(place)
        return found


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
