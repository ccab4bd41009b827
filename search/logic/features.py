"""Features: formulas about one element of a world, without equivalent duplicates.

Features are atoms, their combinations, and properties of an element's neighbours, as in graded
modal logic: some, every, at least two, exactly one, or exactly two neighbours have a property. Two
features are equivalent here if the same elements have both features in all worlds at hand.

A feature is stored as a recipe: its kind, the guard that says which elements are neighbours, and
the earlier features from which the feature is built. The values of a feature are one row of bits
over all lanes (elements of all worlds). A matrix product counts, for all elements and many
properties at once, the neighbours that have a property. All neighbour features follow from these
counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.sampling import Integers
from .lanes import Floats, Guard, Lanes

Kind = OneOf[
    "all", "atom", "not", "and", "or", "iff", "implies",
    # Of neighbours; pair: two, one of each property.
    "some", "every", "two", "one", "just_two", "pair",
]  # fmt: skip
CONNECTED: tuple[Kind, ...] = ("and", "or", "iff", "implies")
JUST_TWO: Kind = "just_two"
TWO_PARTS: tuple[Kind, ...] = (*CONNECTED, "pair")
_AT_ONCE = 1 << 22  # maximum number of counts in one product
MOST_VALUES = 1 << 28  # maximum number of stored values, one byte each
NO_PART = -1
_FIRST_ROOM = 1 << 10  # features for which there is room at first


class Recipe(NamedTuple):
    """The way in which a feature (a property of elements) is built from simpler features.

    Args:
        kind: Kind of the feature.
        guard: The condition that says which elements are neighbours, for a feature about
            neighbours.
        one: Index of the first feature from which this feature is built, or -1.
        other: Index of the second feature from which this feature is built, or -1.
        name: Name of the predicate if the feature is an atom.
    """

    kind: Kind
    guard: Guard = Guard()
    one: int = NO_PART
    other: int = NO_PART
    name: str = ""


def ast_size(
    kind: Kind, guard: int, one: Integers, other: Integers, plain: Bools, plain_other: Bools
) -> Integers:
    """Return the number of syntax nodes of features, their AST sizes (ABD, appendix B.3).

    All arrays have the shape (features,).

    Args:
        kind: Kind of the features.
        guard: Size of the guard of all features.
        one: Size of the first feature from which each feature is built.
        other: Size of the second feature from which each feature is built, or 0.
        plain: Whether all elements have the first feature. A condition on a neighbour that all
            elements meet is left out of the formula, so it adds no nodes.
        plain_other: Whether all elements have the second feature.
    """
    if kind == "not":
        return 1 + one
    if kind in CONNECTED:
        return 1 + one + other
    told: Integers = np.where(plain, 0, one)
    joined: Integers = guard + told  # the guard and the property
    if guard:
        joined = joined + (told > 0)
    if kind == "some":
        return 2 + np.where(joined > 0, joined, one)
    if kind == "every":
        return 2 + one + (1 + guard if guard else 0)
    two = 4 + 2 * guard + 4 + (2 if guard else 0)
    if kind == "pair":
        rest: Integers = np.where(plain, 0, 1 + one) + np.where(plain_other, 0, 1 + other)
        return two + rest
    again: Integers = np.where(plain, 0, 2 * one + 2)
    if kind == "two":
        return two + again
    if kind == "just_two":
        return 4 + 2 * guard + 4 + again + 2 + 1 + 2 + 1 + joined + 7
    return 2 + joined + 1 + 2 + 1 + joined + 3  # one


class Features:
    """The features (properties of elements) that the search has built so far.

    Args:
        lanes: The worlds in which the features are evaluated.
        expected: Number of features for which there is room at first. Memory is only taken by those
            that are added, but more features than expected are copied.

    Attributes:
        recipes: The recipe of each feature. The index of a feature is its position in this list.
        tried: Number of features evaluated, including features equivalent to earlier features.
    """

    def __init__(self, lanes: Lanes, expected: int = _FIRST_ROOM) -> None:
        self.lanes = lanes
        self.inside = lanes.inside.reshape(-1)
        self.recipes: list[Recipe] = []
        room = max(1, min(expected, self.capacity))
        self._sizes = np.zeros(room, np.int64)
        self._plain = np.zeros(room, bool)  # whether all elements have the feature
        self.tried = 0
        self._values: Bools | None = np.zeros((room, len(self.inside)), bool)
        self._known: set[bytes] = set()  # the rows of all features, packed

    def __len__(self) -> int:
        return len(self.recipes)

    @property
    def capacity(self) -> int:
        """Return the maximum number of features whose values fit the memory limit."""
        return max(1, MOST_VALUES // max(1, len(self.inside)))

    @property
    def sizes(self) -> Integers:
        """Return the number of syntax nodes (AST size) of each feature, shape (features,)."""
        return self._sizes[: len(self)]

    @property
    def values(self) -> Bools:
        """Return which elements have each feature, as bools of shape (features, worlds * size)."""
        assert self._values is not None, "released"
        return self._values[: len(self)]

    def release(self) -> None:
        """Free the values of all features, which take tens of megabytes. Recipes and sizes
        remain.
        """
        self._values = None
        self._known.clear()
        self.lanes.release()

    def smallest(self, places: NDArray[np.int64], count: int) -> Integers:
        """Return the indices of the `count` smallest features among the features with indices
        `places`.
        """
        return places[np.argsort(self.sizes[places], kind="stable")[:count]]

    def add(self, recipes: Sequence[Recipe], values: Bools) -> Integers:
        """Add features, and return the indices of the added features.

        A feature is added only if its values differ from those of all earlier features. Of several
        `recipes` with equal values, the smallest is added. No features are added beyond `capacity`.

        Args:
            recipes: The recipes of the features.
            values: Which elements have each feature, bool of shape (recipes, worlds * size).
        """
        sizes = np.array([self._size(recipe) for recipe in recipes], np.int64)
        kept = self._keep(sizes, values)
        return self._store([recipes[place] for place in kept], sizes, values, kept)

    def _add_alike(
        self, kind: Kind, guard: Guard, ones: Integers, others: Integers | None, values: Bools
    ) -> Integers:
        """Add features of one kind and guard, as `add` does, without recipes of known features.

        Args:
            kind: Kind of the features.
            guard: Guard of the features.
            ones: Index of the first feature from which each feature is built.
            others: Index of the second feature, or None for kinds with one part.
            values: Which elements have each feature, bool of shape (features, worlds * size).
        """
        sizes = self._sizes_alike(kind, guard, ones, others)
        kept = self._keep(sizes, values)
        second = np.full(len(kept), NO_PART) if others is None else others[kept]
        parts = zip(
            repeat(kind), repeat(guard), ones[kept].tolist(), second.tolist(), repeat(""),
            strict=False,
        )  # fmt: skip
        recipes = list(map(Recipe._make, parts))
        return self._store(recipes, sizes, values, kept)

    def _keep(self, sizes: Integers, values: Bools) -> list[int]:
        """Return which rows have values that no earlier feature and no smaller row has."""
        self.tried += len(sizes)
        room = self.capacity - len(self)
        kept: list[int] = []
        if not len(sizes) or room <= 0:
            return kept
        packed = np.packbits(values, axis=1)
        width, whole, known = packed.shape[1], packed.tobytes(), self._known
        for place in np.argsort(sizes, kind="stable").tolist():
            image = whole[place * width : (place + 1) * width]
            if image not in known:
                known.add(image)
                kept.append(place)
                if len(kept) == room:
                    break
        return kept

    def _store(
        self, recipes: Sequence[Recipe], sizes: Integers, values: Bools, kept: Sequence[int]
    ) -> Integers:
        """Store the features at the places `kept`, whose recipes are given."""
        assert self._values is not None, "released"
        start = len(self)
        if not recipes:
            return np.zeros(0, np.int64)
        self.recipes += recipes
        end = len(self)
        if end > len(self._values):
            room = min(max(2 * len(self._values), end), max(end, self.capacity))
            self._values = _with_room(self._values, room)
            self._sizes, self._plain = _with_room(self._sizes, room), _with_room(self._plain, room)
        # The places are valid; "clip" lets the rows be copied without another array.
        np.take(values, kept, axis=0, out=self._values[start:end], mode="clip")
        self._sizes[start:end] = sizes[kept]
        if recipes[0].kind == "all":
            self._plain[start] = True
        return np.arange(start, end)

    def _size(self, recipe: Recipe) -> int:
        if recipe.kind == "all":
            return 3  # (= x x)
        if recipe.kind == "atom":
            return 2 if self.lanes.true[recipe.name].ndim == 2 else 3
        others = None if recipe.other < 0 else np.array([recipe.other])
        return int(self._sizes_alike(recipe.kind, recipe.guard, np.array([recipe.one]), others)[0])

    def _sizes_alike(
        self, kind: Kind, guard: Guard, ones: Integers, others: Integers | None
    ) -> Integers:
        one, plain = self._sizes[ones], self._plain[ones]
        if others is None:
            return ast_size(kind, guard.size, one, np.zeros_like(one), plain, plain)
        return ast_size(kind, guard.size, one, self._sizes[others], plain, self._plain[others])

    # --- building blocks -----------------------------------------------------

    def add_universal(self) -> Integers:
        """Add the feature that all elements have, and return its index in an array."""
        return self.add([Recipe("all")], self.inside[None])

    def add_atoms(self, predicates: Iterable[str]) -> Integers:
        """Add an atom about a single element for each predicate, and return the indices of the new
        features.
        """
        names = sorted(predicates)
        rows = [self.lanes.atom_table(name).reshape(-1) for name in names]
        return self.add([Recipe("atom", name=name) for name in names], np.array(rows))

    def add_negations(self, places: Integers) -> Integers:
        """Add the negations of the features with indices `places`, and return the indices of the
        new features.
        """
        values = ~self.values[places] & self.inside
        return self.add([Recipe("not", one=int(place)) for place in places], values)

    def add_connected(self, kind: Kind, ones: Integers, others: Integers) -> Integers:
        """Add combinations of each feature in `ones` with each feature in `others`.

        Args:
            kind: The combination: "and", "or", "iff" or "implies". For "implies", both directions
                are added.
            ones: Indices of features.
            others: Indices of features.

        Returns:
            The indices of the new features.
        """
        first, second = (part.reshape(-1) for part in np.meshgrid(ones, others, indexing="ij"))
        low, high = np.minimum(first, second), np.maximum(first, second)
        low, high = np.unique(np.stack([low, high])[:, low != high], axis=1)
        if kind == "implies":
            low, high = np.concatenate([low, high]), np.concatenate([high, low])
        found = []
        values = self.values
        step = max(1, 4 * _AT_ONCE // max(1, values.shape[1]))
        for start in range(0, len(low), step):
            here, there = low[start : start + step], high[start : start + step]
            rows = connect_values(kind, values[here], values[there], self.inside)
            found.append(self._add_alike(kind, Guard(), here, there, rows))
        return concatenate_places(found)

    def add_neighbour_grades(
        self, kinds: Collection[Kind], guards: Iterable[Guard], grades: Integers
    ) -> Integers:
        """Add features about the number of neighbours that have a property.

        Args:
            kinds: Conditions on the number: "some", "every", "two", "one" or "just_two".
            guards: Conditions that say which elements are neighbours. One feature is built for each
                guard.
            grades: Indices of the features that serve as the property.

        Returns:
            The indices of the new features.
        """
        found = []
        for start in range(0, len(grades), step := self._step()):
            part = grades[start : start + step]
            values = self._by_world(self.values[part])
            for guard in guards:
                related = self.lanes.relation_table(guard)
                counts = count_neighbours(values, related)
                for kind in kinds:
                    if kind in ("two", "one", "just_two") and not guard.literals:
                        continue
                    rows = apply_grade(kind, counts, related) & self.lanes.inside
                    rows = rows.reshape(len(part), -1)
                    found.append(self._add_alike(kind, guard, part, None, rows))
        return concatenate_places(found)

    def add_neighbour_pairs(
        self, guards: Iterable[Guard], ones: Integers, others: Integers
    ) -> Integers:
        """Add features of the form "two different neighbours, one with each of two properties".

        Args:
            guards: Conditions that say which elements are neighbours.
            ones: Indices of features that serve as the first property.
            others: Indices of features that serve as the second property.

        Returns:
            The indices of the new features.
        """
        first, second = (part.reshape(-1) for part in np.meshgrid(ones, others, indexing="ij"))
        low, high = np.minimum(first, second), np.maximum(first, second)
        low, high = np.unique(np.stack([low, high])[:, low != high], axis=1)
        found = []
        for start in range(0, len(low), step := self._step()):
            here, there = low[start : start + step], high[start : start + step]
            one, other = (self._by_world(self.values[places]) for places in (here, there))
            for guard in guards:
                related = self.lanes.relation_table(guard)
                counts = (count_neighbours(rows, related) for rows in (one, other, one | other))
                rows = (has_pair(*counts) & self.lanes.inside).reshape(len(here), -1)
                found.append(self._add_alike("pair", guard, here, there, rows))
        return concatenate_places(found)

    def _step(self) -> int:
        return max(1, _AT_ONCE // max(1, len(self.inside)))

    def _by_world(self, rows: Bools) -> Bools:
        """Reshape (features, worlds * size) to (features, worlds, size)."""
        return rows.reshape(len(rows), self.lanes.worlds, self.lanes.size)

    # --- the same formulas over other worlds ----------------------------------

    def evaluate_over(self, lanes: Lanes, positions: Collection[int]) -> dict[int, Bools]:
        """Return which elements of the worlds in `lanes` have the features with indices
        `positions`.

        Returns:
            A mapping from the index of each feature to a bool array of shape (worlds, size).
        """
        wanted = self._parts(positions)
        found: dict[int, Bools] = {}
        groups: dict[tuple[int, Kind, Guard], list[int]] = {}
        depths: dict[int, int] = {}
        for place in wanted:
            recipe = self.recipes[place]
            depths[place] = 1 + max((depths[part] for part in _parts_of(recipe)), default=-1)
            groups.setdefault((depths[place], recipe.kind, recipe.guard), []).append(place)
        step = max(1, _AT_ONCE // max(1, lanes.inside.size))
        for (_, kind, guard), places in sorted(groups.items(), key=lambda group: group[0][0]):
            for start in range(0, len(places), step):
                part = places[start : start + step]
                rows = self._over(lanes, kind, guard, [self.recipes[p] for p in part], found)
                found.update(zip(part, rows & lanes.inside, strict=True))
        return {place: found[place] for place in positions}

    def _parts(self, some: Collection[int]) -> list[int]:
        wanted, left = set(some), list(some)
        while left:
            for part in _parts_of(self.recipes[left.pop()]):
                if part not in wanted:
                    wanted.add(part)
                    left.append(part)
        return sorted(wanted)

    def _over(
        self,
        lanes: Lanes,
        kind: Kind,
        guard: Guard,
        recipes: Sequence[Recipe],
        found: dict[int, Bools],
    ) -> Bools:
        """Return the values of recipes of one kind over other worlds, (features, worlds, size)."""
        if kind == "all":
            return np.repeat(lanes.inside[None], len(recipes), axis=0)
        if kind == "atom":
            return np.array([lanes.atom_table(recipe.name) for recipe in recipes])
        one = np.array([found[recipe.one] for recipe in recipes])
        if kind == "not":
            return ~one
        other = np.array([found[recipe.other] for recipe in recipes]) if kind in TWO_PARTS else one
        if kind in CONNECTED:
            return connect_values(kind, one, other, lanes.inside)
        related = lanes.relation_table(guard)
        if kind == "pair":
            return has_pair(*(count_neighbours(t, related) for t in (one, other, one | other)))
        return apply_grade(kind, count_neighbours(one, related), related)


def _with_room(rows: NDArray[Any], room: int) -> NDArray[Any]:
    """Return the rows in an array of `room` rows, of which the others are 0."""
    found = np.zeros((room, *rows.shape[1:]), rows.dtype)
    found[: len(rows)] = rows
    return found


def connect_values(kind: Kind, one: Bools, other: Bools, inside: Bools | None = None) -> Bools:
    """Return which elements have a combination of two properties.

    Args:
        kind: The combination: "and", "or", "iff" or "implies".
        one: Which elements have the first property.
        other: Which elements have the second property.
        inside: Which array entries are elements of a world. With "iff" and "implies", all other
            entries become False. None leaves these entries as computed.
    """
    if kind == "and":
        return one & other
    if kind == "or":
        return one | other
    found = ~(one ^ other) if kind == "iff" else ~one | other
    return found if inside is None else found & inside


def count_neighbours(values: Bools, related: Floats) -> Floats:
    """Return how many neighbours of each element have some properties.

    Args:
        values: Which elements have each property, of shape (properties, worlds, size).
        related: 1 for pairs of neighbours and 0 for other pairs, shape (worlds, size, size).

    Returns:
        The counts, in the shape of `values`.
    """
    found = np.empty(values.shape, np.float32)
    rows = values.astype(np.float32).transpose(1, 0, 2)
    np.matmul(rows, related.transpose(0, 2, 1), out=found.transpose(1, 0, 2))
    return found


def apply_grade(kind: Kind, counts: Floats, related: Floats) -> Bools:
    """Return which elements satisfy a condition on how many of their neighbours have a property.

    The result is a bool array of shape (properties, worlds, size).

    Args:
        kind: The condition: "some", "every", "two" (at least two), "one" or "just_two" (exactly one
            or two).
        counts: Number of neighbours with each property, shape (properties, worlds, size).
        related: 1 for pairs of neighbours and 0 for other pairs, shape (worlds, size, size).
    """
    if kind == "some":
        return counts > 0.5
    if kind == "every":
        found: Bools = counts > related.sum(axis=2) - 0.5
        return found
    if kind == "two":
        return counts > 1.5
    return (counts > 0.5) & (counts < 1.5) if kind == "one" else (counts > 1.5) & (counts < 2.5)


def has_pair(ones: Floats, others: Floats, either: Floats) -> Bools:
    """Return which elements have two different neighbours, one with each of two properties.

    Args:
        ones: Number of neighbours with the first property.
        others: Number of neighbours with the second property.
        either: Number of neighbours with at least one of the two properties.
    """
    return (ones > 0.5) & (others > 0.5) & (either > 1.5)


def _parts_of(recipe: Recipe) -> list[int]:
    return [part for part in (recipe.one, recipe.other) if part != NO_PART]


def concatenate_places(found: Sequence[Integers]) -> Integers:
    """Return several arrays of feature indices as one array."""
    return np.concatenate(found) if found else np.zeros(0, np.int64)
