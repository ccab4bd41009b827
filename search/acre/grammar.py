"""The rules that the embedded search knows of scenes: when a scene of objects is "on".

A scene is a list of entities, each of three words, "color material shape". An object kind is an
entity, an attribute or two of them, the lack of one, a set of entities or all but a set. A test is
about how many objects of a kind a scene holds: one at all, at least k, an odd number, more than of
another kind. A literal is a test or its negation; a rule is one, two or three literals joined by
`and` and `or`. Costs are whole numbers, so that rules can be listed by cost without a gap:

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

MOST = 3  # of an attribute that a rule counts
MOST_OBJECTS = 8


class Kind(NamedTuple):
    """Of objects. words: all must be among those of the entity. lacks: this word must not be.
    entities: it must be one of them, or with `others` none of them."""

    words: tuple[str, ...] = ()
    lacks: str = ""
    entities: tuple[str, ...] = ()
    others: bool = False

    @property
    def cost(self) -> int:
        if self.entities:
            return 2 + len(self.entities) // 2
        return 2 + (len(self.words) > 1) + bool(self.lacks)

    def holds(self, entity: str) -> bool:
        words = entity.split()
        if self.entities:
            return (entity in self.entities) is not self.others
        return all(word in words for word in self.words) and self.lacks not in words


EVERY = Kind()


class Literal(NamedTuple):
    """A test of a scene. k: of "least". than: of "more". holds: False for the negation."""

    test: Test
    kind: Kind
    k: int = 1
    than: Kind = EVERY
    holds: bool = True

    @property
    def cost(self) -> int:
        cost = self.kind.cost + (not self.holds)
        if self.test == "least" and self.kind != EVERY:
            cost += self.k - 1
        return cost + 2 * (self.test in ("odd", "more"))

    def negated(self) -> Literal:
        return self._replace(holds=not self.holds)


class Rule(NamedTuple):
    """`first` alone, `first` join `second`, or (`first` join `second`) outer `third`."""

    first: Literal
    join: Join = "or"
    second: Literal | None = None
    outer: Join = "or"
    third: Literal | None = None

    @property
    def literals(self) -> tuple[Literal, ...]:
        return tuple(one for one in (self.first, self.second, self.third) if one is not None)

    @property
    def cost(self) -> int:
        literals = self.literals
        return sum(one.cost for one in literals) + len(literals) - 1


def literals(scenes: Sequence[Scene], sets: Sequence[Kind]) -> list[Literal]:
    """Every literal about the entities of `scenes`, the attributes of the vocabulary `words` and
    the `sets`, positive ones first."""
    entities = sorted({entity for scene in scenes for entity in scene})
    named = [Literal("any", Kind(entities=(entity,))) for entity in entities]
    tests = named + [Literal("any", kind) for kind in sets]
    tests += [Literal("least", kind, k) for kind in sets for k in range(2, MOST + 1)]
    tests += [Literal("least", EVERY, k) for k in range(1, MOST_OBJECTS + 1)]
    tests.append(Literal("odd", EVERY))
    return tests + [test.negated() for test in tests]


def attribute_literals(vocabulary: Sequence[str]) -> list[Literal]:
    """Every literal about attributes of the entities of `vocabulary`."""
    colors, materials, shapes = (
        sorted({entity.split()[place] for entity in vocabulary}) for place in range(3)
    )
    single = [Kind((word,)) for word in (*colors, *materials, *shapes)]
    lacking = [Kind((), word) for word in (*colors, *shapes)]
    pairs = [(a, b) for some in (materials, shapes) for a in colors for b in some]
    double = [Kind(words) for words in pairs + [(m, s) for m in materials for s in shapes]]
    kinds = single + double + lacking
    tests = [Literal("any", kind) for kind in kinds]
    tests += [Literal("least", kind, k) for kind in kinds for k in range(2, MOST + 1)]
    tests += [Literal("odd", kind) for kind in single]
    for some in (materials, shapes):
        tests += [Literal("more", Kind((a,)), 1, Kind((b,))) for a in some for b in some if a != b]
    return tests + [test.negated() for test in tests]


class Table:
    """Scenes as a matrix: how many objects of each entity each of n scenes holds."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self.entities = sorted({entity for scene in scenes for entity in scene})
        place = {entity: i for i, entity in enumerate(self.entities)}
        self.counts = np.zeros((len(scenes), len(place)), np.int32)
        for row, scene in enumerate(scenes):
            for entity in scene:
                self.counts[row, place[entity]] += 1
        self.memo: dict[Kind, NDArray[np.int32]] = {}

    def count(self, kind: Kind) -> NDArray[np.int32]:
        """int32 (n,): objects of the kind in each scene."""
        if kind not in self.memo:
            chosen = np.array([kind.holds(entity) for entity in self.entities], bool)
            self.memo[kind] = self.counts[:, chosen].sum(axis=1, dtype=np.int32)
        return self.memo[kind]

    def evaluate(self, literal: Literal) -> Mask:
        """bool (n,): where the literal holds."""
        counted = self.count(literal.kind)
        if literal.test == "odd":
            found = counted % 2 == 1
        elif literal.test == "more":
            found = counted > self.count(literal.than)
        else:
            found = counted >= literal.k
        return np.asarray(found if literal.holds else ~found)

    def on(self, rule: Rule) -> Mask:
        """bool (n,): where the rule says "on"."""
        found = self.evaluate(rule.first)
        for join, literal in ((rule.join, rule.second), (rule.outer, rule.third)):
            if literal is not None:
                other = self.evaluate(literal)
                found = found & other if join == "and" else found | other
        return found
