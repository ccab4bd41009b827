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
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.fast_path import Regime
from ...tools.logic.formula import FREE, LETTERS, Formula, FormulaBuilder, Kind
from ...tools.logic.sampling import Integers
from .features import CONNECTED, Features, Recipe, connect_values
from .lanes import EQUALITY, Completions, Guard, all_of, any_of

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

    def evaluate(self, values: Mapping[int, Bools]) -> Bools:
        """Return which elements this shape marks.

        Args:
            values: For the index of each feature, which elements have the feature.
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
        values: The elements that each rule marks, bool of shape (rules, completions, size).
        sizes: Number of syntax nodes of each rule, shape (rules,).
        held: Random worlds in which each rule is known to be valid, bool of shape (rules, random
            worlds).
    """

    shapes: list[Shape]
    values: Bools
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
        if self.regime == "full":
            return all_of(valid), covered.sum(axis=-1, dtype=np.int64)
        if self.regime == "skeptical":
            most = np.maximum.reduceat(covered, self.starts, axis=-1)
            return all_of(valid), most.sum(axis=-1, dtype=np.int64)
        least = np.minimum.reduceat(np.where(valid, covered, _MANY), self.starts, axis=-1)
        return all_of(least < _MANY), least.sum(axis=-1, dtype=np.int64)

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
        self.values = whole[:, :count]
        self.held = ~any_of(evidence.broken_drawn[None] & ~whole[:, count:])
        self.sizes = features.sizes
        self.found: dict[Shape, PricedRule] = {}

    def candidates(self, width: int) -> list[PricedRule]:
        """Return valid rules: features, disjunctions, and conjunctions of two and three."""
        broken = self.evidence.broken
        uncovered = broken[None] & ~self.values
        covered = self.values.sum(axis=2)
        valid, costs = self.evidence.judge(~any_of(uncovered), covered)
        told = np.array([recipe.kind != "all" for recipe in self.features.recipes])
        right = np.flatnonzero(valid & told)
        for place in self._best(right, costs[right], width):
            held = float(self.held[place].mean())
            self._keep(_feature_shape(place), int(costs[place]), int(self.sizes[place]), held)
        base = self._choice(self._best(right, costs[right], width))

        share = 1 - uncovered.sum(axis=(1, 2)) / max(1, broken.sum())
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
        count = len(some.shapes)
        ones, others = np.triu_indices(count, 1)
        evidence = self.evidence
        structures = some.values.shape[1]
        covered = np.zeros((len(ones), structures), np.int16)
        valid = np.zeros((len(ones), structures), bool)
        uncovered = evidence.broken[None] & ~some.values
        alone = some.values.sum(axis=2)
        for place in range(structures):
            rows = some.values[:, place].astype(np.float32)
            common = (rows @ rows.T)[ones, others]
            if kind == "and":
                broken = any_of(uncovered[:, place])
                covered[:, place] = common
                valid[:, place] = ~(broken[ones] | broken[others])
            else:
                left = uncovered[:, place].astype(np.float32)
                covered[:, place] = alone[ones, place] + alone[others, place] - common
                valid[:, place] = (left @ left.T)[ones, others] < 0.5
        sizes = some.sizes[ones] + some.sizes[others] + 1
        return self._valid(ones, others, valid, covered, sizes, _held(kind, some, some))

    def _crossed(self, ones: ShapeTable, others: ShapeTable) -> CombinedPairs:
        """Return the valid conjunctions of one shape from each choice."""
        first, second = (
            part.reshape(-1)
            for part in np.meshgrid(
                np.arange(len(ones.shapes)), np.arange(len(others.shapes)), indexing="ij"
            )
        )
        evidence = self.evidence
        structures = ones.values.shape[1]
        covered = np.zeros((len(first), structures), np.int16)
        broken = [any_of(evidence.broken[None] & ~some.values) for some in (ones, others)]
        for place in range(structures):
            here = ones.values[:, place].astype(np.float32)
            there = others.values[:, place].astype(np.float32)
            covered[:, place] = (here @ there.T).reshape(-1)
        valid = ~(broken[0][first] | broken[1][second])
        sizes = ones.sizes[first] + others.sizes[second] + 1
        return self._valid(first, second, valid, covered, sizes, _held("and", ones, others))

    def _valid(
        self,
        ones: Integers,
        others: Integers,
        valid: Bools,
        covered: NDArray[np.int16],
        sizes: Integers,
        held: NDArray[np.float64],
    ) -> CombinedPairs:
        """Keep the valid pairs; `held` (ones, others) is indexed by the parts of a pair."""
        right, costs = self.evidence.judge(valid, covered)
        kept = np.flatnonzero(right)
        one, other = ones[kept], others[kept]
        return CombinedPairs(one, other, costs[kept], sizes[kept], held[one, other])

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
        values, held_ = (
            connect_values(kind, here[one_], there[other_])
            for here, there in ((ones.values, others.values), (ones.held, others.held))
        )
        return ShapeTable(shapes, values, combined.sizes[places], held_)


def _held(kind: OneOf["and", "or"], ones: ShapeTable, others: ShapeTable) -> NDArray[np.float64]:
    """Return the share of drawn worlds in which each pair is valid, (ones, others).

    For a disjunction it is a lower bound.
    """
    one, other = ones.held.astype(np.float64), others.held.astype(np.float64)
    both: NDArray[np.float64] = one @ other.T / max(1, one.shape[1])
    if kind == "and":
        return both
    either: NDArray[np.float64] = one.mean(axis=1)[:, None] + other.mean(axis=1)[None] - both
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


# --- Recipes as formulas (tools/logic/formula.py).


class FormulaWriter:
    """A writer that adds features to one formula builder. Neighbours get the first unused letters.

    Args:
        features: The features to write.
    """

    def __init__(self, features: Features) -> None:
        self.recipes = features.recipes
        self.arguments = {name: t.ndim - 1 for name, t in features.lanes.true.items()}
        self.builder = FormulaBuilder()

    def write(self, place: int, variable: str = FREE, taken: Sequence[str] = (FREE,)) -> int:
        """Add the formula of a feature to the builder, and return the index of its root node.

        Args:
            place: Index of the feature.
            variable: Name of the variable that the formula is about.
            taken: Names of variables that are already in use.
        """
        recipe, builder = self.recipes[place], self.builder
        if recipe.kind == "all":
            return builder.equal(variable, variable)
        if recipe.kind == "atom":
            return builder.atom(recipe.name, [variable] * self.arguments[recipe.name])
        if recipe.kind == "not":
            return builder.connect("not", [self.write(recipe.one, variable, taken)])
        if recipe.kind in CONNECTED:
            parts = [self.write(part, variable, taken) for part in (recipe.one, recipe.other)]
            return builder.connect(_kind(recipe), parts)
        return self._of_neighbours(recipe, variable, tuple(taken))

    def _of_neighbours(self, recipe: Recipe, x: str, taken: tuple[str, ...]) -> int:
        builder, guard = self.builder, recipe.guard
        y, z, w = islice((letter for letter in LETTERS if letter not in taken), 3)
        if recipe.kind == "some":
            said = self._guard(guard, x, y) + self._property(recipe.one, y, (*taken, y))
            return builder.bind("exists", y, self._and(said or [self._all(y)]))
        if recipe.kind == "every":
            body = self.write(recipe.one, y, (*taken, y))
            limits = self._guard(guard, x, y)
            whole = builder.connect("implies", [self._and(limits), body]) if limits else body
            return builder.bind("forall", y, whole)
        inner = (*taken, y, z)
        if recipe.kind == "one":
            others = self._guard(guard, x, z) + self._property(recipe.one, z, inner)
            alike = builder.connect("implies", [self._and(others), builder.equal(z, y)])
            said = self._guard(guard, x, y) + self._property(recipe.one, y, inner)
            return builder.bind("exists", y, self._and([*said, builder.bind("forall", z, alike)]))
        if recipe.kind == "just_two":
            inner = (*inner, w)
        said = [
            *self._guard(guard, x, y),
            *self._guard(guard, x, z),
            builder.connect("not", [builder.equal(y, z)]),
            *self._property(recipe.one, y, inner),
            *self._property(recipe.other if recipe.kind == "pair" else recipe.one, z, inner),
        ]
        if recipe.kind == "just_two":
            others = self._guard(guard, x, w) + self._property(recipe.one, w, inner)
            either = builder.connect("or", [builder.equal(w, y), builder.equal(w, z)])
            none = builder.connect("implies", [self._and(others), either])
            said.append(builder.bind("forall", w, none))
        return builder.bind("exists", y, builder.bind("exists", z, self._and(said)))

    def _guard(self, guard: Guard, x: str, y: str) -> list[int]:
        found = []
        for literal in guard.literals:
            terms = [y, x] if literal.swapped else [x, y]
            if literal.predicate == EQUALITY:
                place = self.builder.equal(*terms)
            else:
                place = self.builder.atom(literal.predicate, terms)
            found.append(place if literal.positive else self.builder.connect("not", [place]))
        return found

    def _property(self, place: int, variable: str, taken: tuple[str, ...]) -> list[int]:
        if self.recipes[place].kind == "all":
            return []
        return [self.write(place, variable, taken)]

    def _all(self, variable: str) -> int:
        return self.builder.equal(variable, variable)

    def _and(self, parts: Sequence[int]) -> int:
        return self.builder.connect("and", parts) if len(parts) > 1 else parts[0]


def _kind(recipe: Recipe) -> Kind:
    return recipe.kind  # type: ignore[return-value]  # of CONNECTED, which formulas have too
