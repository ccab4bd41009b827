"""What templates are made of: properties of an element in graded modal logic, as formulas.

A relation is "R" (successors) or "R-" (predecessors). A shape has a name, which says it in words of
modal logic, and writes itself about a variable with the letters that are still free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

LETTERS = "yzwuv"


class Shape(NamedTuple):
    name: str
    about: Callable[[str, str], str]  # a variable, spare letters

    def text(self) -> str:
        return self.about("x", LETTERS)


def _edge(relation: str, one: str, other: str) -> str:
    if relation.endswith("-"):
        one, other = other, one
    return f"({relation[0]} {one} {other})"


def _joined(*parts: str) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def has(predicate: str) -> Shape:
    return Shape(predicate, lambda x, spare: f"({predicate} {x})")


def loop(relation: str) -> Shape:
    return Shape(f"loop-{relation}", lambda x, spare: f"({relation} {x} {x})")


def no(shape: Shape) -> Shape:
    return Shape(f"not-{shape.name}", lambda x, spare: f"(not {shape.about(x, spare)})")


def both(*shapes: Shape) -> Shape:
    name = "&".join(shape.name for shape in shapes)
    return Shape(name, lambda x, spare: _joined(*(shape.about(x, spare) for shape in shapes)))


def either(one: Shape, other: Shape) -> Shape:
    return Shape(
        f"{one.name}|{other.name}",
        lambda x, spare: f"(or {one.about(x, spare)} {other.about(x, spare)})",
    )


def some(relation: str, inner: Shape | None = None) -> Shape:
    """A successor, one that has `inner`."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), *rest)})"

    return Shape(_named("some", relation, inner), about)


def every(relation: str, inner: Shape) -> Shape:
    def about(x: str, spare: str) -> str:
        y = spare[0]
        return f"(forall {y} (implies {_edge(relation, x, y)} {inner.about(y, spare[1:])}))"

    return Shape(_named("every", relation, inner), about)


def two(relation: str, one: Shape | None = None, other: Shape | None = None) -> Shape:
    """Two successors; the first has `one`, the second `other`."""

    def about(x: str, spare: str) -> str:
        y, z, rest = spare[0], spare[1], spare[2:]
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        parts += [] if one is None else [one.about(y, rest)]
        parts += [] if other is None else [other.about(z, rest)]
        return f"(exists {y} (exists {z} {_joined(*parts)}))"

    said = ",".join("-" if part is None else part.name for part in (one, other))
    return Shape(f"two-{relation}({said})", about)


def exactly_two(relation: str) -> Shape:
    def about(x: str, spare: str) -> str:
        y, z, w = spare[0], spare[1], spare[2]
        no_more = f"(implies {_edge(relation, x, w)} (or (= {w} {y}) (= {w} {z})))"
        parts = [_edge(relation, x, y), _edge(relation, x, z), f"(not (= {y} {z}))"]
        return f"(exists {y} (exists {z} {_joined(*parts, f'(forall {w} {no_more})')}))"

    return Shape(f"exactly-two-{relation}", about)


def one_only(relation: str, inner: Shape | None = None, further: Shape | None = None) -> Shape:
    """Exactly one successor, or exactly one that has `inner`; that one has `further`."""

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
    """A successor by `one` and one by `other` with a common successor, by the same relations."""

    def about(x: str, spare: str) -> str:
        y, z, w, rest = spare[0], spare[1], spare[2], spare[3:]
        end = [] if inner is None else [inner.about(w, rest)]
        meet = f"(exists {w} {_joined(_edge(one, y, w), _edge(other, z, w), *end)})"
        return f"(exists {y} (exists {z} {_joined(_edge(one, x, y), _edge(other, x, z), meet)}))"

    return Shape(_named("meet", f"{one},{other}", inner), about)


def shared(relation: str, other: str) -> Shape:
    """Successors by `relation` that one element has all as successors by `other`."""

    def about(x: str, spare: str) -> str:
        z, y = spare[0], spare[1]
        inner = f"(forall {y} (implies {_edge(relation, x, y)} {_edge(other, y, z)}))"
        return f"(exists {z} {inner})"

    return Shape(f"shared-{relation},{other}", about)


def closed(relation: str) -> Shape:
    """All two steps away are successors already."""

    def about(x: str, spare: str) -> str:
        y, z = spare[0], spare[1]
        far = f"(forall {z} (implies {_edge(relation, y, z)} {_edge(relation, x, z)}))"
        return f"(forall {y} (implies {_edge(relation, x, y)} {far}))"

    return Shape(f"closed-{relation}", about)


def back(relation: str, inner: Shape | None = None) -> Shape:
    """A successor that leads back."""

    def about(x: str, spare: str) -> str:
        y = spare[0]
        rest = [] if inner is None else [inner.about(y, spare[1:])]
        return f"(exists {y} {_joined(_edge(relation, x, y), _edge(relation, y, x), *rest)})"

    return Shape(_named("back", relation, inner), about)


def _named(word: str, relation: str, inner: Shape | None) -> str:
    return f"{word}-{relation}" if inner is None else f"{word}-{relation}({inner.name})"
