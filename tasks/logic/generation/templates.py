"""The template library: rules that instances are planted with, in tiers by quantifier depth.

Tier 0 has no quantifier, tier 1 has one, tier 2 has two nested steps, and tier 3 has three of them
or counts (exactly two, only one, two different ones). A theory takes the templates over its allowed
predicates. The published library is not public. These templates are the shapes of graded modal
logic over R and S, and some coincide with references of the published instances.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.reading import read_formula
from ....tools.logic.theories import SIGNATURE, Theory

# --- Templates are made of shapes: properties of an element in graded modal logic, as formulas.
#
# A relation is "R" (successors) or "R-" (predecessors). The name of a shape describes it in terms of
# modal logic. A shape writes itself about a variable, with the letters that are not used yet.

LETTERS = "yzwuv"


class Shape(NamedTuple):
    """A property of an element, as a function that writes its formula about a variable."""

    name: str
    about: Callable[[str, str], str]  # (variable, unused letters) -> formula

    def text(self) -> str:
        """Return the formula about `x`."""
        return self.about("x", LETTERS)


def _edge(relation: str, one: str, other: str) -> str:
    if relation.endswith("-"):
        one, other = other, one
    return f"({relation[0]} {one} {other})"


def _joined(*parts: str) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def has(predicate: str) -> Shape:
    """Return the shape: the predicate holds of the element."""
    return Shape(predicate, lambda x, spare: f"({predicate} {x})")


def loop(relation: str) -> Shape:
    """Return the shape: the relation leads from the element to itself."""
    return Shape(f"loop-{relation}", lambda x, spare: f"({relation} {x} {x})")


def no(shape: Shape) -> Shape:
    """Return the negation of a shape."""
    return Shape(f"not-{shape.name}", lambda x, spare: f"(not {shape.about(x, spare)})")


def both(*shapes: Shape) -> Shape:
    """Return the conjunction of shapes."""
    name = "&".join(shape.name for shape in shapes)
    return Shape(name, lambda x, spare: _joined(*(shape.about(x, spare) for shape in shapes)))


def either(one: Shape, other: Shape) -> Shape:
    """Return the disjunction of two shapes."""
    return Shape(
        f"{one.name}|{other.name}",
        lambda x, spare: f"(or {one.about(x, spare)} {other.about(x, spare)})",
    )


def some(relation: str, inner: Shape | None = None) -> Shape:
    """Return the shape: there is a successor, one with `inner` where it is given."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), *rest)})"

    return Shape(_named("some", relation, inner), about)


def every(relation: str, inner: Shape) -> Shape:
    """Return the shape: every successor has `inner`."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        return f"(forall {y} (implies {_edge(relation, x, y)} {inner.about(y, spare[1:])}))"

    return Shape(_named("every", relation, inner), about)


def two(relation: str, one: Shape | None = None, other: Shape | None = None) -> Shape:
    """Return the shape: there are two successors, the first with `one`, the second with `other`."""

    def about(x: str, spare: str) -> str:
        y, z, rest = spare[0], spare[1], spare[2:]
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        parts += [] if one is None else [one.about(y, rest)]
        parts += [] if other is None else [other.about(z, rest)]
        return f"(exists {y} (exists {z} {_joined(*parts)}))"

    said = ",".join("-" if part is None else part.name for part in (one, other))
    return Shape(f"two-{relation}({said})", about)


def exactly_two(relation: str) -> Shape:
    """Return the shape: there are exactly two successors."""

    def about(x: str, spare: str) -> str:
        y, z, w = spare[0], spare[1], spare[2]
        no_more = f"(implies {_edge(relation, x, w)} (or (= {w} {y}) (= {w} {z})))"
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        return f"(exists {y} (exists {z} {_joined(*parts, f'(forall {w} {no_more})')}))"

    return Shape(f"exactly-two-{relation}", about)


def one_only(relation: str, inner: Shape | None = None, further: Shape | None = None) -> Shape:
    """Return the shape: exactly one successor, or exactly one with `inner`.

    The one successor also has `further`, where it is given.
    """

    def about(x: str, spare: str) -> str:
        y, z, rest = spare[0], spare[1], spare[1:]
        here = [_edge(relation, x, y)] + ([] if inner is None else [inner.about(y, rest)])
        there = [_edge(relation, x, z)] + ([] if inner is None else [inner.about(z, spare[2:])])
        last = f"(forall {z} (implies {_joined(*there)} (= {z} {y})))"
        also = [] if further is None else [further.about(y, rest)]
        return f"(exists {y} {_joined(*here, *also, last)})"

    name = _named("one", relation, inner)
    return Shape(name if further is None else f"{name}:{further.name}", about)


def meeting(one: str, other: str, inner: Shape | None = None) -> Shape:
    """Return the shape: a successor by `one` and one by `other` that have a common successor.

    The common successor is reached by the same relations, and has `inner` where it is given.
    """

    def about(x: str, spare: str) -> str:
        y, z, w, rest = spare[0], spare[1], spare[2], spare[3:]
        end = [] if inner is None else [inner.about(w, rest)]
        meet = f"(exists {w} {_joined(_edge(one, y, w), _edge(other, z, w), *end)})"
        return f"(exists {y} (exists {z} {_joined(_edge(one, x, y), _edge(other, x, z), meet)}))"

    return Shape(_named("meet", f"{one},{other}", inner), about)


def shared(relation: str, other: str) -> Shape:
    """Return the shape: some element is an `other`-successor of all `relation`-successors."""

    def about(x: str, spare: str) -> str:
        z, y = spare[0], spare[1]
        inner = f"(forall {y} (implies {_edge(relation, x, y)} {_edge(other, y, z)}))"
        return f"(exists {z} {inner})"

    return Shape(f"shared-{relation},{other}", about)


def closed(relation: str) -> Shape:
    """Return the shape: everything two steps away is a successor already."""

    def about(x: str, spare: str) -> str:
        y, z = spare[0], spare[1]
        far = f"(forall {z} (implies {_edge(relation, y, z)} {_edge(relation, x, z)}))"
        return f"(forall {y} (implies {_edge(relation, x, y)} {far}))"

    return Shape(f"closed-{relation}", about)


def back(relation: str, inner: Shape | None = None) -> Shape:
    """Return the shape: some successor, with `inner` where it is given, leads back."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), _edge(relation, y, x), *rest)})"

    return Shape(_named("back", relation, inner), about)


def _named(word: str, relation: str, inner: Shape | None) -> str:
    return f"{word}-{relation}" if inner is None else f"{word}-{relation}({inner.name})"


class Template(NamedTuple):
    """A rule of the library.

    Args:
        id: its tier and the name of its shape.
        tier: from 0 to 3.
        text: the rule as text.
        formula: the rule.
    """

    id: str
    tier: int
    text: str
    formula: Formula

    @property
    def family(self) -> str:
        """Predicates of the rule, in alphabetical order."""
        return "".join(sorted(self.formula.predicates))


_P, _Q, _NOT_P, _NOT_Q = has("P"), has("Q"), no(has("P")), no(has("Q"))
_OTHER = {"R": "S", "S": "R"}


def _tier_0() -> list[Shape]:
    plain = [_P, _Q, loop("R"), loop("S")]
    return [
        *plain, *map(no, plain), both(_P, _Q), both(_P, _NOT_Q), both(_NOT_P, _Q), either(_P, _Q),
        *(both(_P, loop(r)) for r in "RS"), *(both(_P, no(loop(r))) for r in "RS"),
    ]  # fmt: skip


def _tier_1() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        made += [some(r), no(some(r)), some(f"{r}-"), no(some(f"{r}-")), back(r), back(r, _P)]
        for p in (_P, _Q):
            made += [
                some(r, p), some(r, no(p)), every(r, p), every(r, no(p)), some(f"{r}-", p),
                both(some(r), every(r, p)), every(f"{r}-", p), both(p, some(r)), both(no(p), some(r)),
            ]  # fmt: skip
        made += [
            both(_P, some(r, _P)), both(_P, some(r, _NOT_P)), both(_NOT_P, some(r, _P)),
            both(_NOT_P, some(r, _NOT_P)), both(_P, every(r, _P)), both(_P, some(f"{r}-", _P)),
            both(some(r, _P), some(r, _NOT_P)), both(_Q, some(r, _P)), both(_P, some(r, _Q)),
            some(r, both(_P, _Q)), some(r, both(_P, loop(r))),
        ]  # fmt: skip
    return [*made, both(some("R"), some("S")), both(some("R", _P), some("S")),
            both(some("S", _P), some("R")), both(some("R", _P), no(some("S")))]  # fmt: skip


def _tier_2() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        for q in (r, _OTHER[r]):
            all_p, some_p = every(q, _P), some(q, _P)
            made += [
                some(r, all_p), some(r, both(_P, all_p)), some(r, both(_P, some_p)),
                some(r, some_p), every(r, some_p), every(r, all_p), some(r, no(some(q))),
                some(r, both(_P, no(some(q)))), some(r, some(q, _NOT_P)),
                both(_P, some(r, all_p)), both(_NOT_P, some(r, all_p)), both(_P, every(r, all_p)),
                some(r, both(_NOT_P, all_p)), some(r, both(some(q), all_p)),
                some(r, both(_P, some(q, _NOT_P))), some(r, both(_P, every(q, _NOT_P))),
                both(_P, some(r, some_p)), both(_P, every(r, some(q))), both(_P, every(r, some_p)),
            ]  # fmt: skip
        made += [
            some(f"{r}-", every(r, _P)), some(f"{r}-", both(_P, every(r, _P))),
            some(r, every(f"{r}-", _P)), some(r, both(_P, every(f"{r}-", _P))),
            every(f"{r}-", some(r, _P)),
        ]  # fmt: skip
    made += [
        some("R", both(_Q, every("R", _P))), some("R", both(_P, every("R", _Q))),
        some("R-", both(_Q, every("R", _P))), some("R", both(_P, some("R", _Q))),
        some("R", both(_P, every("R", _NOT_Q))), both(_P, some("R", both(_Q, every("R", _P)))),
        some("S", both(_P, some("S", _Q))), some("S", both(_Q, every("S", _P))),
    ]  # fmt: skip
    return made


def _tier_3() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        s = _OTHER[r]
        all_p, some_p = every(r, _P), some(r, _P)
        made += [
            exactly_two(r), both(_P, exactly_two(r)), two(r, _P, _P),
            one_only(r, _P), one_only(r, _P, all_p), both(_P, one_only(r, _P)), one_only(r, all_p),
            two(r, _P, all_p), two(r, all_p, all_p), two(r, both(_P, all_p)),
            some(r, some(r, all_p)), some(r, both(_P, some(r, all_p))), some(r, every(r, some_p)),
            some(r, both(_P, every(r, some_p))), every(r, some(r, all_p)), every(r, every(r, some_p)),
            both(_P, some(r, some(r, all_p))), some(r, both(_P, every(r, every(r, _P)))),
            some(r, two(r, _P, _P)), some(r, both(_P, two(r))), some(r, one_only(r, _P)),
            closed(r), both(_P, closed(r)), some(r, both(_P, closed(r))),
            some(r, some(s, every(r, _P))), some(r, both(_P, some(s, every(r, _P)))),
            some(r, every(s, some(r, _P))), some(r, every(s, no(some(r)))),
            some(r, some(s, both(_P, no(some(r))))), shared(r, s),
            some(r, one_only(s, _P)), both(two(r, _P, _P), some(s)), some(r, both(_P, one_only(r))),
        ]  # fmt: skip
    return [
        *made, meeting("R", "S", _P), two("R", _Q, _Q), two("R", _P, _Q), one_only("R", _Q), one_only("R", both(_P, _Q)),
        some("R", both(_Q, some("R", every("R", _P)))), some("R", both(_P, every("R", some("R", _Q)))),
        both(_P, some("R", both(_Q, every("R", every("R", _P))))), two("S", _Q, _Q),
    ]  # fmt: skip


@cache
def library() -> tuple[Template, ...]:
    """Return all templates, tier by tier."""
    made: list[Template] = []
    tiers = (_tier_0(), _tier_1(), _tier_2(), _tier_3())
    for tier, shapes in enumerate(tiers):
        for shape in shapes:
            text = shape.text()
            made.append(
                Template(f"t{tier}-{shape.name}", tier, text, read_formula(text, tuple(SIGNATURE)))
            )
    return tuple(made)


def templates_of(theory: Theory, tier: int) -> list[Template]:
    """Return the templates of the tier that the theory allows.

    The skeptical regime needs templates over R or S, as all templates from tier 1 on are.
    """
    return [
        one for one in library() if one.tier == tier and one.formula.predicates <= theory.allowed
    ]
