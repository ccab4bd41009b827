"""Write features of elements as formulas (tools/logic/formula.py)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ...tools.logic.formula import FREE, LETTERS, FormulaBuilder, Kind
from .features import CONNECTED, Features, Recipe
from .lanes import EQUALITY, Guard


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
