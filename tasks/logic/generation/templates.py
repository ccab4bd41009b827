"""The template library: the rules that can be planted in an instance, in tiers by quantifier depth.

Rules of tier 0 have no quantifier, and rules of tier 1 have one. Rules of tier 2 have two nested
quantifiers. Rules of tier 3 have three, or they count (exactly two, only one, two different ones).
For a theory, the templates over its allowed predicates are used. The published library is not
public. The templates here are formulas of graded modal logic over the relations R and S, and some
of them equal references of published instances.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.parser import parse_formula
from ....tools.logic.theories import SIGNATURE, Theory

# --- Templates are made of shapes: properties of an element in graded modal logic, as formulas.
#
# A relation is "R" (successors) or "R-" (predecessors). The name of a shape describes it in terms of
# modal logic. A shape writes itself about a variable, with the letters that are not used yet.

LETTERS = "yzwuv"


class Shape(NamedTuple):
    """A property of an element, from which a formula about any variable can be written."""

    name: str
    write_about: Callable[[str, str], str]  # (variable, unused letters) -> formula

    def text(self) -> str:
        """Return the formula for the variable `x`."""
        return self.write_about("x", LETTERS)


def _edge(relation: str, one: str, other: str) -> str:
    if relation.endswith("-"):
        one, other = other, one
    return f"({relation[0]} {one} {other})"


def _joined(*parts: str) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def atom_of(predicate: str) -> Shape:
    """Return the property that the predicate `predicate` holds for the element."""
    return Shape(predicate, lambda x, spare: f"({predicate} {x})")


def self_loop(relation: str) -> Shape:
    """Return the property "`relation` leads from the element to itself"."""
    return Shape(f"loop-{relation}", lambda x, spare: f"({relation} {x} {x})")


def negation(shape: Shape) -> Shape:
    """Return the negation of a property."""
    return Shape(f"not-{shape.name}", lambda x, spare: f"(not {shape.write_about(x, spare)})")


def conjunction(*shapes: Shape) -> Shape:
    """Return the property of having all given properties."""
    name = "&".join(shape.name for shape in shapes)
    return Shape(name, lambda x, spare: _joined(*(shape.write_about(x, spare) for shape in shapes)))


def disjunction(one: Shape, other: Shape) -> Shape:
    """Return the property of having at least one of two properties."""
    return Shape(
        f"{one.name}|{other.name}",
        lambda x, spare: f"(or {one.write_about(x, spare)} {other.write_about(x, spare)})",
    )


def diamond(relation: str, inner: Shape | None = None) -> Shape:
    """Return the property "there is a successor".

    Args:
        relation: the relation that leads to the successor.
        inner: a property that the successor must have, or None.
    """

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.write_about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), *rest)})"

    return Shape(_named("some", relation, inner), about)


def box(relation: str, inner: Shape) -> Shape:
    """Return the property "every successor by `relation` has the property `inner`"."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        return f"(forall {y} (implies {_edge(relation, x, y)} {inner.write_about(y, spare[1:])}))"

    return Shape(_named("every", relation, inner), about)


def two_successors(relation: str, one: Shape | None = None, other: Shape | None = None) -> Shape:
    """Return the property "there are two different successors".

    Args:
        relation: the relation that leads to the successors.
        one: a property that the first successor must have, or None.
        other: a property that the second successor must have, or None.
    """

    def about(x: str, spare: str) -> str:
        y, z, rest = spare[0], spare[1], spare[2:]
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        parts += [] if one is None else [one.write_about(y, rest)]
        parts += [] if other is None else [other.write_about(z, rest)]
        return f"(exists {y} (exists {z} {_joined(*parts)}))"

    said = ",".join("-" if part is None else part.name for part in (one, other))
    return Shape(f"two-{relation}({said})", about)


def exactly_two_successors(relation: str) -> Shape:
    """Return the property "there are exactly two successors by `relation`"."""

    def about(x: str, spare: str) -> str:
        y, z, w = spare[0], spare[1], spare[2]
        no_more = f"(implies {_edge(relation, x, w)} (or (= {w} {y}) (= {w} {z})))"
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        return f"(exists {y} (exists {z} {_joined(*parts, f'(forall {w} {no_more})')}))"

    return Shape(f"exactly-two-{relation}", about)


def unique_successor(
    relation: str, inner: Shape | None = None, further: Shape | None = None
) -> Shape:
    """Return the property "there is exactly one successor".

    Args:
        relation: the relation that leads to the successor.
        inner: a property; if not None, exactly one successor has this property.
        further: another property that this successor must have, or None.
    """

    def about(x: str, spare: str) -> str:
        y, z, rest = spare[0], spare[1], spare[1:]
        here = [_edge(relation, x, y)] + ([] if inner is None else [inner.write_about(y, rest)])
        there = [_edge(relation, x, z)] + (
            [] if inner is None else [inner.write_about(z, spare[2:])]
        )
        last = f"(forall {z} (implies {_joined(*there)} (= {z} {y})))"
        also = [] if further is None else [further.write_about(y, rest)]
        return f"(exists {y} {_joined(*here, *also, last)})"

    name = _named("one", relation, inner)
    return Shape(name if further is None else f"{name}:{further.name}", about)


def meeting_successors(one: str, other: str, inner: Shape | None = None) -> Shape:
    """Return the property "a successor by `one` and a successor by `other` have a common
    successor".

    Args:
        one: the relation to the first successor, and from there to the common successor.
        other: the relation to the second successor, and from there to the common successor.
        inner: a property that the common successor must have, or None.
    """

    def about(x: str, spare: str) -> str:
        y, z, w, rest = spare[0], spare[1], spare[2], spare[3:]
        end = [] if inner is None else [inner.write_about(w, rest)]
        meet = f"(exists {w} {_joined(_edge(one, y, w), _edge(other, z, w), *end)})"
        return f"(exists {y} (exists {z} {_joined(_edge(one, x, y), _edge(other, x, z), meet)}))"

    return Shape(_named("meet", f"{one},{other}", inner), about)


def shared_successor(relation: str, other: str) -> Shape:
    """Return the property "some element is an `other`-successor of all `relation`-successors"."""

    def about(x: str, spare: str) -> str:
        z, y = spare[0], spare[1]
        inner = f"(forall {y} (implies {_edge(relation, x, y)} {_edge(other, y, z)}))"
        return f"(exists {z} {inner})"

    return Shape(f"shared-{relation},{other}", about)


def locally_transitive(relation: str) -> Shape:
    """Return the property "every element two `relation` steps away is also a successor"."""

    def about(x: str, spare: str) -> str:
        y, z = spare[0], spare[1]
        far = f"(forall {z} (implies {_edge(relation, y, z)} {_edge(relation, x, z)}))"
        return f"(forall {y} (implies {_edge(relation, x, y)} {far}))"

    return Shape(f"closed-{relation}", about)


def returning_successor(relation: str, inner: Shape | None = None) -> Shape:
    """Return the property "some successor has the element itself as a successor".

    Args:
        relation: the relation for both steps.
        inner: a property that the successor must have, or None.
    """

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.write_about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), _edge(relation, y, x), *rest)})"

    return Shape(_named("back", relation, inner), about)


def _named(word: str, relation: str, inner: Shape | None) -> str:
    return f"{word}-{relation}" if inner is None else f"{word}-{relation}({inner.name})"


class Template(NamedTuple):
    """A rule of the library from which planted rules are drawn.

    Args:
        id: an id made of the tier and the name of the shape.
        tier: the number of nested quantifiers, from 0 to 3.
        text: the rule as text.
        formula: the rule.
    """

    id: str
    tier: int
    text: str
    formula: Formula

    @property
    def family(self) -> str:
        """The predicates of the rule, in alphabetical order."""
        return "".join(sorted(self.formula.predicates))


_P, _Q, _NOT_P, _NOT_Q = atom_of("P"), atom_of("Q"), negation(atom_of("P")), negation(atom_of("Q"))
_OTHER = {"R": "S", "S": "R"}


def _tier_0() -> list[Shape]:
    plain = [_P, _Q, self_loop("R"), self_loop("S")]
    return [
        *plain, *map(negation, plain), conjunction(_P, _Q), conjunction(_P, _NOT_Q), conjunction(_NOT_P, _Q), disjunction(_P, _Q),
        *(conjunction(_P, self_loop(r)) for r in "RS"), *(conjunction(_P, negation(self_loop(r))) for r in "RS"),
    ]  # fmt: skip


def _tier_1() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        made += [
            diamond(r),
            negation(diamond(r)),
            diamond(f"{r}-"),
            negation(diamond(f"{r}-")),
            returning_successor(r),
            returning_successor(r, _P),
        ]
        for p in (_P, _Q):
            made += [
                diamond(r, p), diamond(r, negation(p)), box(r, p), box(r, negation(p)), diamond(f"{r}-", p),
                conjunction(diamond(r), box(r, p)), box(f"{r}-", p), conjunction(p, diamond(r)), conjunction(negation(p), diamond(r)),
            ]  # fmt: skip
        made += [
            conjunction(_P, diamond(r, _P)), conjunction(_P, diamond(r, _NOT_P)), conjunction(_NOT_P, diamond(r, _P)),
            conjunction(_NOT_P, diamond(r, _NOT_P)), conjunction(_P, box(r, _P)), conjunction(_P, diamond(f"{r}-", _P)),
            conjunction(diamond(r, _P), diamond(r, _NOT_P)), conjunction(_Q, diamond(r, _P)), conjunction(_P, diamond(r, _Q)),
            diamond(r, conjunction(_P, _Q)), diamond(r, conjunction(_P, self_loop(r))),
        ]  # fmt: skip
    return [*made, conjunction(diamond("R"), diamond("S")), conjunction(diamond("R", _P), diamond("S")),
            conjunction(diamond("S", _P), diamond("R")), conjunction(diamond("R", _P), negation(diamond("S")))]  # fmt: skip


def _tier_2() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        for q in (r, _OTHER[r]):
            all_p, some_p = box(q, _P), diamond(q, _P)
            made += [
                diamond(r, all_p), diamond(r, conjunction(_P, all_p)), diamond(r, conjunction(_P, some_p)),
                diamond(r, some_p), box(r, some_p), box(r, all_p), diamond(r, negation(diamond(q))),
                diamond(r, conjunction(_P, negation(diamond(q)))), diamond(r, diamond(q, _NOT_P)),
                conjunction(_P, diamond(r, all_p)), conjunction(_NOT_P, diamond(r, all_p)), conjunction(_P, box(r, all_p)),
                diamond(r, conjunction(_NOT_P, all_p)), diamond(r, conjunction(diamond(q), all_p)),
                diamond(r, conjunction(_P, diamond(q, _NOT_P))), diamond(r, conjunction(_P, box(q, _NOT_P))),
                conjunction(_P, diamond(r, some_p)), conjunction(_P, box(r, diamond(q))), conjunction(_P, box(r, some_p)),
            ]  # fmt: skip
        made += [
            diamond(f"{r}-", box(r, _P)), diamond(f"{r}-", conjunction(_P, box(r, _P))),
            diamond(r, box(f"{r}-", _P)), diamond(r, conjunction(_P, box(f"{r}-", _P))),
            box(f"{r}-", diamond(r, _P)),
        ]  # fmt: skip
    made += [
        diamond("R", conjunction(_Q, box("R", _P))), diamond("R", conjunction(_P, box("R", _Q))),
        diamond("R-", conjunction(_Q, box("R", _P))), diamond("R", conjunction(_P, diamond("R", _Q))),
        diamond("R", conjunction(_P, box("R", _NOT_Q))), conjunction(_P, diamond("R", conjunction(_Q, box("R", _P)))),
        diamond("S", conjunction(_P, diamond("S", _Q))), diamond("S", conjunction(_Q, box("S", _P))),
    ]  # fmt: skip
    return made


def _tier_3() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        s = _OTHER[r]
        all_p, some_p = box(r, _P), diamond(r, _P)
        made += [
            exactly_two_successors(r), conjunction(_P, exactly_two_successors(r)), two_successors(r, _P, _P),
            unique_successor(r, _P), unique_successor(r, _P, all_p), conjunction(_P, unique_successor(r, _P)), unique_successor(r, all_p),
            two_successors(r, _P, all_p), two_successors(r, all_p, all_p), two_successors(r, conjunction(_P, all_p)),
            diamond(r, diamond(r, all_p)), diamond(r, conjunction(_P, diamond(r, all_p))), diamond(r, box(r, some_p)),
            diamond(r, conjunction(_P, box(r, some_p))), box(r, diamond(r, all_p)), box(r, box(r, some_p)),
            conjunction(_P, diamond(r, diamond(r, all_p))), diamond(r, conjunction(_P, box(r, box(r, _P)))),
            diamond(r, two_successors(r, _P, _P)), diamond(r, conjunction(_P, two_successors(r))), diamond(r, unique_successor(r, _P)),
            locally_transitive(r), conjunction(_P, locally_transitive(r)), diamond(r, conjunction(_P, locally_transitive(r))),
            diamond(r, diamond(s, box(r, _P))), diamond(r, conjunction(_P, diamond(s, box(r, _P)))),
            diamond(r, box(s, diamond(r, _P))), diamond(r, box(s, negation(diamond(r)))),
            diamond(r, diamond(s, conjunction(_P, negation(diamond(r))))), shared_successor(r, s),
            diamond(r, unique_successor(s, _P)), conjunction(two_successors(r, _P, _P), diamond(s)), diamond(r, conjunction(_P, unique_successor(r))),
        ]  # fmt: skip
    return [
        *made, meeting_successors("R", "S", _P), two_successors("R", _Q, _Q), two_successors("R", _P, _Q), unique_successor("R", _Q), unique_successor("R", conjunction(_P, _Q)),
        diamond("R", conjunction(_Q, diamond("R", box("R", _P)))), diamond("R", conjunction(_P, box("R", diamond("R", _Q)))),
        conjunction(_P, diamond("R", conjunction(_Q, box("R", box("R", _P))))), two_successors("S", _Q, _Q),
    ]  # fmt: skip


@cache
def template_library() -> tuple[Template, ...]:
    """Return all templates, ordered by tier (number of nested quantifiers)."""
    made: list[Template] = []
    tiers = (_tier_0(), _tier_1(), _tier_2(), _tier_3())
    for tier, shapes in enumerate(tiers):
        for shape in shapes:
            text = shape.text()
            made.append(
                Template(f"t{tier}-{shape.name}", tier, text, parse_formula(text, tuple(SIGNATURE)))
            )
    return tuple(made)


def templates_in_tier(theory: Theory, tier: int) -> list[Template]:
    """Return the templates of a tier whose predicates the theory allows in rules.

    Instances of the skeptical regime need templates that contain the relation R or S. All templates
    from tier 1 on do.
    """
    return [
        one
        for one in template_library()
        if one.tier == tier and one.formula.predicates <= theory.allowed
    ]
