"""The grammar of rules about scenes: when a scene of objects is "on", and what such a rule costs.

A scene is a list of entities, each of three words, "color material shape". An object kind is an
entity, an attribute or two of them, the lack of one, a set of entities, or all entities outside a
set. A test is about the number of objects of a kind in a scene: at least one, at least k, an odd
number, or more than of another kind. A literal is a test or its negation. A rule is one, two or
three literals joined by `and` and `or`. Costs are whole numbers, so that rules can be listed by
cost without a gap:

| part | cost |
|---|---|
| an entity, an attribute, all objects | 2 |
| two attributes; the lack of one | 3 |
| a set of n entities | 2 + n // 2 |
| at least k instead of any | + k - 1, for all objects + 0 |
| odd, more than another kind | + 2 |
| a negation | + 1 |
| `and`, `or` | 1 |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scene = list[str]
Test = OneOf["any", "least", "odd", "more"]
Join = OneOf["and", "or"]
Mask = NDArray[np.bool_]

MAX_ATTRIBUTE_COUNT = 3  # largest threshold for objects with an attribute
MOST_OBJECTS = 8


class Kind(NamedTuple):
    """A kind of object, defined by conditions on the object's name (such as "gray metal sphere").

    A field that is empty sets no condition.

    Args:
        words: Words that the name must contain.
        lacks: A word that the name must not contain.
        entities: Names of which the object must have one. If `others` is true, the object must have
            none of these names.
        others: Whether `entities` are the excluded names.
    """

    words: tuple[str, ...] = ()
    lacks: str = ""
    entities: tuple[str, ...] = ()
    others: bool = False

    @property
    def cost(self) -> int:
        """Return the cost of this kind of object, from the table of costs in this module."""
        if self.entities:
            return 2 + len(self.entities) // 2
        return 2 + (len(self.words) > 1) + bool(self.lacks)

    def matches(self, entity: str) -> bool:
        """Return whether the object with the name `entity` is of this kind."""
        words = entity.split()
        if self.entities:
            return (entity in self.entities) is not self.others
        return all(word in words for word in self.words) and self.lacks not in words


EVERY = Kind()


class Literal(NamedTuple):
    """A test of how many objects of some kind a scene contains, or the negation of that test.

    Args:
        test: "any" (at least one object of the kind), "least" (at least `k` objects), "odd" (an odd
            number of objects) or "more" (more objects than there are of the kind `than`).
        kind: Kind of the counted objects.
        k: Threshold of the test "least".
        than: The kind with which the test "more" compares.
        holds: True for the test itself, False for its negation.
    """

    test: Test
    kind: Kind
    k: int = 1
    than: Kind = EVERY
    holds: bool = True

    @property
    def cost(self) -> int:
        """Return the cost of this literal, from the table of costs in this module."""
        cost = self.kind.cost + (not self.holds)
        if self.test == "least" and self.kind != EVERY:
            cost += self.k - 1
        return cost + 2 * (self.test in ("odd", "more"))

    def negated(self) -> Literal:
        """Return the negation of this literal."""
        return self._replace(holds=not self.holds)


class Rule(NamedTuple):
    """A rule that says when a scene is on: one to three literals joined by "and" and "or".

    The rule reads `first`, or `first` `join` `second`, or (`first` `join` `second`) `outer`
    `third`.
    """

    first: Literal
    join: Join = "or"
    second: Literal | None = None
    outer: Join = "or"
    third: Literal | None = None

    @property
    def literals(self) -> tuple[Literal, ...]:
        """Return the one to three literals of this rule."""
        return tuple(one for one in (self.first, self.second, self.third) if one is not None)

    @property
    def cost(self) -> int:
        """Return the cost of this rule: the costs of its literals plus 1 for each "and" or "or"."""
        literals = self.literals
        return sum(one.cost for one in literals) + len(literals) - 1


def list_literals(scenes: Sequence[Scene], sets: Sequence[Kind]) -> list[Literal]:
    """Return all literals about single objects in `scenes`, the kinds in `sets`, or all objects."""
    entities = sorted({entity for scene in scenes for entity in scene})
    named = [Literal("any", Kind(entities=(entity,))) for entity in entities]
    tests = named + [Literal("any", kind) for kind in sets]
    tests += [Literal("least", kind, k) for kind in sets for k in range(2, MAX_ATTRIBUTE_COUNT + 1)]
    tests += [Literal("least", EVERY, k) for k in range(1, MOST_OBJECTS + 1)]
    tests.append(Literal("odd", EVERY))
    return tests + [test.negated() for test in tests]


def list_attribute_literals(vocabulary: Sequence[str]) -> list[Literal]:
    """Return all literals about the colors, materials and shapes of the objects in `vocabulary`.

    Args:
        vocabulary: Names of objects, each of the form "color material shape".
    """
    colors, materials, shapes = (
        sorted({entity.split()[place] for entity in vocabulary}) for place in range(3)
    )
    single = [Kind((word,)) for word in (*colors, *materials, *shapes)]
    lacking = [Kind((), word) for word in (*colors, *shapes)]
    pairs = [(a, b) for some in (materials, shapes) for a in colors for b in some]
    double = [Kind(words) for words in pairs + [(m, s) for m in materials for s in shapes]]
    kinds = single + double + lacking
    tests = [Literal("any", kind) for kind in kinds]
    tests += [
        Literal("least", kind, k) for kind in kinds for k in range(2, MAX_ATTRIBUTE_COUNT + 1)
    ]
    tests += [Literal("odd", kind) for kind in single]
    for some in (materials, shapes):
        tests += [Literal("more", Kind((a,)), 1, Kind((b,))) for a in some for b in some if a != b]
    return tests + [test.negated() for test in tests]


class Table:
    """A table of n scenes on which literals and rules are evaluated.

    The attribute `counts` is an int32 array with one row per scene and one column per object name
    (such as "gray metal sphere"). Each value says how many objects with that name the scene
    contains.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self.entities = sorted({entity for scene in scenes for entity in scene})
        place = {entity: i for i, entity in enumerate(self.entities)}
        self.counts = np.zeros((len(scenes), len(place)), np.int32)
        for row, scene in enumerate(scenes):
            for entity in scene:
                self.counts[row, place[entity]] += 1
        self.memo: dict[Kind, NDArray[np.int32]] = {}

    def count(self, kind: Kind) -> NDArray[np.int32]:
        """Return the number of objects of `kind` in each scene, as an int32 array of shape (n,)."""
        if kind not in self.memo:
            chosen = np.array([kind.matches(entity) for entity in self.entities], bool)
            self.memo[kind] = self.counts[:, chosen].sum(axis=1, dtype=np.int32)
        return self.memo[kind]

    def evaluate(self, literal: Literal) -> Mask:
        """Return for each scene whether `literal` holds, as a bool array of shape (n,)."""
        counted = self.count(literal.kind)
        if literal.test == "odd":
            found = counted % 2 == 1
        elif literal.test == "more":
            found = counted > self.count(literal.than)
        else:
            found = counted >= literal.k
        return np.asarray(found if literal.holds else ~found)

    def predict(self, rule: Rule) -> Mask:
        """Return for each scene whether `rule` predicts "on", as a bool array of shape (n,)."""
        found = self.evaluate(rule.first)
        for join, literal in ((rule.join, rule.second), (rule.outer, rule.third)):
            if literal is not None:
                other = self.evaluate(literal)
                found = found & other if join == "and" else found | other
        return found
