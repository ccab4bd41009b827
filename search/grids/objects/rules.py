"""Rules that say which objects are painted in which colour.

The pairs show for each object whether it must be painted and which colour it may get. A rule
"objects that …: this colour" must apply to all objects that must be painted, and must give no
object a wrong colour. All conditions are tested at once with array operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..grammar import colour_name
from .features import NUMBERS, BoolArray, Condition, Value, ViewedObjects

MAX_JOINED = 40  # maximum number of conditions that are joined in pairs
MAX_KEYS = 5  # maximum number of keys of a table from a number to a colour
PATCH_COST = 2.5  # added to the cost for a clause that serves a single shown object
MAX_RULES = 6  # maximum number of rules of one kind


class Clause(NamedTuple):
    """A condition on objects, and the colour that the objects that meet the condition get."""

    condition: Condition
    value: Value


class Rule(NamedTuple):
    """A rule for the colours of objects: the first clause that applies to an object decides."""

    clauses: tuple[Clause, ...]
    patch: float = 0.0  # what clauses for a single object add to the cost

    @property
    def cost(self) -> float:
        """Return the cost of this rule.

        It is the sum of the costs of the clauses, plus 1 for each clause after the first, plus
        `patch`.
        """
        said = sum(c.condition.cost + c.value.cost for c in self.clauses)
        return said + 1.0 * (len(self.clauses) - 1) + self.patch


VALUES = (
    Value("tint(g, o)", "its own colour", 0.5),
    Value("within(g, o)[0]", "the other colour in its box", 0.9),
    Value("inner(g, o)", "the most frequent other colour in its box", 1.1),
    Value("twin(g, o, many)", "the colour of another object of its shape", 1.2),
    Value("peer(g, o, many, pose)", "the colour of another object of its shape, however turned", 1.4),
    Value("peer(g, o, many, len)", "the colour of another object of its size", 1.5),
    Value("peer(g, o, many, lambda x: len(holes(x)))", "the colour of another object with as many holes", 1.6),
    Value("peer(g, o, many, lambda x: (height(x), width(x)))", "the colour of another object as high and wide", 1.7),
    Value("aligned(g, o, many, 0)", "the colour of another object in its rows", 1.5),
    Value("aligned(g, o, many, 1)", "the colour of another object in its columns", 1.5),
    Value("max(beside(g, o) - {0}, default=tint(g, o))", "the colour that it touches", 1.2),
    Value("tint(g, halo(g, o) or o)", "the colour that is most around it", 1.3),
    Value("nearest(g, o, many)", "the colour of the nearest object of another colour", 1.4),
    Value("tint(g, max(many, key=len))", "the colour of the largest object", 1.3),
    Value("tint(g, min(many, key=len))", "the colour of the smallest object", 1.3),
    Value("ranked(g)[0]", "the most frequent colour", 1.1),
    Value("ranked(g)[-1]", "the rarest colour", 1.1),
    Value("g[0][0]", "the colour in the upper left corner", 1.3),
    Value("g[0][-1]", "the colour in the upper right corner", 1.5),
    Value("g[-1][0]", "the colour in the lower left corner", 1.5),
    Value("g[-1][-1]", "the colour in the lower right corner", 1.5),
    Value("g[o[0][0]][0]", "the first colour of its row", 1.4),
    Value("g[0][o[0][1]]", "the first colour of its column", 1.4),
    Value("g[o[0][0]][-1]", "the last colour of its row", 1.6),
    Value("g[-1][o[0][1]]", "the last colour of its column", 1.6),
)  # fmt: skip
PLAIN_VALUES = (*VALUES[:4], *(value for value in VALUES if "ranked" in value.text))
RANKS = (
    ("sorted({len(x) for x in many})[::-1].index(len(o))", "its rank by size (0: the largest)"),
    ("sorted({height(x) for x in many})[::-1].index(height(o))", "its rank by height (0: the highest)"),
    ("many.index(o)", "its place in reading order (0: the first)"),
)  # fmt: skip


def constant_values(colours: list[int]) -> list[Value]:
    """Return an expression for each colour in `colours` that gives this colour for every object."""
    return [Value(str(c), colour_name(c), 0.6) for c in colours]


def find_rules(
    viewed: ViewedObjects, must: BoolArray, wanted: NDArray[np.int64], colours: list[int]
) -> Iterator[Rule]:
    """Yield rules that paint objects as `must` and `wanted` require, simple kinds of rules first.

    Args:
        viewed: The objects of the current grids.
        must: Which objects must be painted, of shape (objects,).
        wanted: The colour that each object gets if it is painted, of shape (objects,). It is -1 if
            the object must not be painted and -2 if any colour is allowed.
        colours: Colours that rules may name.
    """
    if not must.any() or (must & (wanted == -1)).any():
        return
    conditions, holds = viewed.compute_conditions()
    options = []
    for value in [*constant_values(colours), *VALUES]:
        given = _evaluate_value(viewed, value)
        if given is not None:
            options.append((value, (given == wanted) | (wanted == -2)))
    found = list(_single(conditions, holds, options, must))
    if not found:
        found = list(_joint(conditions, holds, options, must))
    found.sort(key=lambda rule: rule.cost)
    yield from found[:MAX_RULES]
    yield from _tables(viewed, must, wanted, conditions, holds)
    if not found:
        pairs = list(_double(conditions, holds, options, must))
        pairs.sort(key=lambda rule: rule.cost)
        yield from pairs[:MAX_RULES]


def _evaluate_value(seen: ViewedObjects, value: Value) -> NDArray[np.int64] | None:
    if value.text.isdigit():
        return np.full(len(seen.flat), int(value.text))
    values = seen.evaluate(value.text)
    return None if values is None else np.array(values, dtype=np.int64)


Options = list[tuple[Value, BoolArray]]


def _single(
    conditions: list[Condition], holds: BoolArray, options: Options, must: BoolArray
) -> Iterator[Rule]:
    enough = (holds | ~must).all(axis=1)
    for value, allowed in options:
        if allowed[must].all():
            for k in np.flatnonzero(enough & (~holds | allowed).all(axis=1)):
                yield Rule((Clause(conditions[k], value),))


def _joint(
    conditions: list[Condition], holds: BoolArray, options: Options, must: BoolArray
) -> Iterator[Rule]:
    """Yield rules with two joined conditions, if at least two objects must be painted."""
    enough = np.flatnonzero((holds | ~must).all(axis=1))[1:MAX_JOINED]
    if must.sum() < 2:
        return
    for value, allowed in options:
        if not allowed[must].all():
            continue
        wrong = (holds[enough] & ~allowed).astype(np.float32)
        for a, b in np.argwhere(np.triu(wrong @ wrong.T == 0, 1))[: 4 * MAX_RULES]:
            first, second = conditions[enough[a]], conditions[enough[b]]
            text = f"{first.text} and {second.text}"
            says = f"{first.says} and{second.says}"
            both = Condition(text, says, first.cost + second.cost + 0.5)
            yield Rule((Clause(both, value),))


def _double(
    conditions: list[Condition], holds: BoolArray, options: Options, must: BoolArray
) -> Iterator[Rule]:
    """Yield rules with two clauses.

    If at least four objects must be painted, each clause has to serve at least two of them.
    """
    several = must.sum() >= 4
    for first, allowed in options:
        fine = (~holds | allowed).all(axis=1) & ((holds & must).sum(axis=1) >= 1 + several)
        for k in np.flatnonzero(fine)[:24]:
            left = must & ~holds[k]
            if left.sum() < 1 + several:
                continue
            enough = (holds | ~left).all(axis=1)
            for second, granted in options:
                if second is first or not granted[left].all():
                    continue
                both = enough & (~holds | granted | holds[k]).all(axis=1)
                for other in np.flatnonzero(both)[:2]:
                    single = (must & holds[k]).sum() < 2, left.sum() < 2
                    clauses = Clause(conditions[k], first), Clause(conditions[other], second)
                    yield Rule(clauses, PATCH_COST * sum(single))


def _tables(
    seen: ViewedObjects,
    must: BoolArray,
    wanted: NDArray[np.int64],
    conditions: list[Condition],
    holds: BoolArray,
) -> Iterator[Rule]:
    """Yield rules that look a colour up by a number.

    Every number must be seen in two objects on average, and all but one of the numbers in two
    grids.
    """
    numbers = [(n.text.replace("@", "o"), f"its {n.says}", n.cost) for n in NUMBERS]
    for text, says, cost in [*numbers, *((t, s, 0.6) for t, s in RANKS)]:
        values = seen.evaluate(text)
        if values is None:
            continue
        asked: dict[Any, set[int]] = {}
        grids: dict[Any, set[int]] = {}
        for k in np.flatnonzero(must):
            asked.setdefault(values[k], set()).add(int(wanted[k]))
            grids.setdefault(values[k], set()).add(int(seen.of[k]))
        if (
            any(len(colours - {-2}) > 1 for colours in asked.values())
            or not 2 <= len(asked) <= MAX_KEYS
        ):
            continue
        repeated = sum(len(of) > 1 for of in grids.values())
        if must.sum() < 2 * len(asked) or repeated < len(asked) - 1:
            continue
        table = {key: min(colours - {-2}, default=0) for key, colours in asked.items()}
        given = np.array([table.get(v, -3) for v in values])
        allowed = (given == wanted) | (wanted == -2) | (given == -3)
        if len(set(table.values())) == 1:
            continue
        enough = (holds | ~must).all(axis=1) & (~holds | allowed).all(axis=1)
        for k in np.flatnonzero(enough)[:2]:
            written = f"{dict(sorted(table.items()))}.get({text}, tint(g, o))"
            said = f"by {says}: " + ", ".join(
                f"{a} {colour_name(b)}" for a, b in sorted(table.items())
            )
            value = Value(written, said, 1.0 + cost + 1.0 * len(table))
            yield Rule((Clause(conditions[k], value),))
