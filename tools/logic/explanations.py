"""Explanations of why a rule is not valid in a world, or marks more elements than necessary.

An element is broken if it violates a default of the theory and the rule does not mark it as an
exception. For each world in which the rule is not valid, an explanation names the first broken
elements and a completion (an assignment of truth values to the unknown atoms). In the partial
regime, it names an element that is broken in every completion, or the unknown atoms for which no
choice repairs all elements. In the skeptical regime, it names a completion in which an element is
broken. For every world, an explanation also names the elements that the rule marks although no
completion requires it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from .completions import Component, unpack_bits
from .fast_path import PreparedWorlds
from .formula import Formula
from .worlds import World

MAX_SHOWN_ELEMENTS = 3  # elements that are shown of each world


class Breach(NamedTuple):
    """Elements that violate the theory although a rule marks exceptions.

    Attributes:
        elements: Names of the elements that violate a default and that the rule does not mark.
        completion: The truth value of each relevant unknown atom, written `R(a0, a1)`. The mapping
            is empty if the elements are broken in every completion. The value None means that the
            atom may be true or false: one of the elements is broken in either case.
    """

    elements: tuple[str, ...]
    completion: Mapping[str, bool | None]


class Explanation(NamedTuple):
    """The explanation for one world: breaches, and names of elements that are marked needlessly."""

    breaches: tuple[Breach, ...]
    needless: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        """Return this explanation as a JSON object."""
        return {
            "breaches": [
                {
                    **one._asdict(),
                    "elements": list(one.elements),
                    "completion": dict(one.completion),
                }
                for one in self.breaches
            ],
            "needless": list(self.needless),
        }


def explain_rule(prepared: PreparedWorlds, rule: Formula) -> tuple[Explanation, ...]:
    """Return an explanation for each of the prepared worlds.

    Raises:
        BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
    """
    if prepared.regime == "full":
        return _full(prepared, rule)
    found = prepared.find_undecided(rule)
    breaches: list[list[Breach]] = [[] for _ in prepared.worlds]
    for place, (violated, covered) in enumerate(
        zip(found.violated.true, found.covered.false, strict=True)
    ):
        names = prepared.worlds[place].names
        for element in np.flatnonzero(violated & covered)[:MAX_SHOWN_ELEMENTS]:
            breaches[place].append(Breach((names[element],), {}))
    of_rule = prepared.component_words(found.components, rule)
    of_theory = prepared.component_words(found.components, prepared.violation)
    for (component, covers), (_, violates) in zip(of_rule, of_theory, strict=True):
        breach = _breach(prepared, component, unpack_bits(violates & ~covers))
        if breach is not None and len(breaches[component.world]) < MAX_SHOWN_ELEMENTS:
            breaches[component.world].append(breach)
    needless = found.covered.true & found.violated.false
    return tuple(
        Explanation(tuple(some), _names(world, marked))
        for world, some, marked in zip(prepared.worlds, breaches, needless, strict=True)
    )


def _full(prepared: PreparedWorlds, rule: Formula) -> tuple[Explanation, ...]:
    violated, covered = prepared.full_extents(rule)
    made = []
    for world, breaks, marks in zip(
        prepared.worlds, violated & ~covered, covered & ~violated, strict=True
    ):
        breaches = tuple(
            Breach((world.names[element],), {})
            for element in np.flatnonzero(breaks)[:MAX_SHOWN_ELEMENTS]
        )
        made.append(Explanation(breaches, _names(world, marks)))
    return tuple(made)


def _names(world: World, marks: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(world.names[element] for element in np.flatnonzero(marks[: len(world.names)]))


def _breach(
    prepared: PreparedWorlds, component: Component, broken: NDArray[np.bool_]
) -> Breach | None:
    """Return the breach of a component, or None if its elements are not broken.

    `broken` has the shape (elements, completions).
    """
    world = prepared.worlds[component.world]
    some = broken.any(axis=0)
    if not (some.all() if prepared.regime == "partial" else some.any()):
        return None
    names = [world.names[element] for element in component.elements]
    atoms = [atom_name(world, number) for number in component.atoms]
    if prepared.regime == "partial":
        return Breach(tuple(names), dict.fromkeys(atoms))
    # The first such completion makes as few late atoms true as possible.
    completion = int(np.argmax(some))
    chosen = {atom: bool(completion >> place & 1) for place, atom in enumerate(atoms)}
    broken_there = [n for n, row in zip(names, broken, strict=True) if row[completion]]
    return Breach(tuple(broken_there[:MAX_SHOWN_ELEMENTS]), chosen)


def atom_name(world: World, number: int) -> str:
    """Return the text of an unknown atom, such as `R(a0, a1)`.

    `number` is the index of the atom in `world.unknown_atoms`.
    """
    name, at = world.unknown_atoms[number]
    return f"{name}({', '.join(world.names[place] for place in at)})"
