"""Explanations of a verdict for a proposer: elements that break a rule, and needlessly marked ones.

For each invalid world, the explanation names the first elements that the rule leaves broken, with a
completion. In the partial regime this is an element that is broken in every completion, or the
atoms among which no choice repairs all elements. In the skeptical regime it is a completion that
breaks the rule. For every world, it names the elements that are marked although no completion
requires it.
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
        elements: Names of elements that are broken and not covered.
        completion: For each unknown atom, written `R(a0, a1)`, whether it is true. It is empty if
            every completion breaks the elements. None for an atom means that it may be either:
            whatever these atoms are, one of the elements is broken.
    """

    elements: tuple[str, ...]
    completion: Mapping[str, bool | None]


class Explanation(NamedTuple):
    """The explanation for one world: breaches, and names of elements that are marked needlessly."""

    breaches: tuple[Breach, ...]
    needless: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        """Return the JSON form of the explanation."""
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
    """Return the explanation for each world. Raises `fast_path.BeyondFastPath`."""
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
    """Return the text of an unknown atom of a world, such as `R(a0, a1)`, from the atom's
    number.
    """
    name, at = world.unknown_atoms[number]
    return f"{name}({', '.join(world.names[place] for place in at)})"
