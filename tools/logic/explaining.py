"""What a proposer can use of a verdict: the elements that break a rule, and those marked needlessly.

Of each invalid world the first elements that the rule leaves broken, with the completion in which
it does: in the partial regime an element that is broken in every completion, or the atoms among
which no choice repairs all elements; in the skeptical one a completion that breaks it. Of every
world the elements that are marked although no completion needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from .completions import Component, bits
from .formula import Formula
from .judging import Prepared
from .worlds import World

SHOWN = 3  # elements of a world


class Breach(NamedTuple):
    """elements: names that are broken and not covered. completion: by unknown atom, as `R(a0, a1)`,
    whether it is true there; empty where every completion breaks the elements. None: it may be
    either, and whatever these atoms are, one of the elements is broken."""

    elements: tuple[str, ...]
    completion: Mapping[str, bool | None]


class Explained(NamedTuple):
    """Of one world. needless: names of elements."""

    breaches: tuple[Breach, ...]
    needless: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
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


def explained(prepared: Prepared, rule: Formula) -> tuple[Explained, ...]:
    """For each world. Raises `judging.Beyond`."""
    if prepared.regime == "full":
        return _full(prepared, rule)
    found = prepared.undecided(rule)
    breaches: list[list[Breach]] = [[] for _ in prepared.worlds]
    for place, (violated, covered) in enumerate(
        zip(found.violated.true, found.covered.false, strict=True)
    ):
        names = prepared.worlds[place].names
        for element in np.flatnonzero(violated & covered)[:SHOWN]:
            breaches[place].append(Breach((names[element],), {}))
    of_rule = prepared.rows(found.components, rule)
    of_theory = prepared.rows(found.components, prepared.violation)
    for (component, covers), (_, violates) in zip(of_rule, of_theory, strict=True):
        breach = _breach(prepared, component, bits(violates & ~covers))
        if breach is not None and len(breaches[component.world]) < SHOWN:
            breaches[component.world].append(breach)
    needless = found.covered.true & found.violated.false
    return tuple(
        Explained(tuple(some), _names(world, marked))
        for world, some, marked in zip(prepared.worlds, breaches, needless, strict=True)
    )


def _full(prepared: Prepared, rule: Formula) -> tuple[Explained, ...]:
    violated, covered = prepared.extents(rule)
    made = []
    for world, breaks, marks in zip(
        prepared.worlds, violated & ~covered, covered & ~violated, strict=True
    ):
        breaches = tuple(
            Breach((world.names[element],), {}) for element in np.flatnonzero(breaks)[:SHOWN]
        )
        made.append(Explained(breaches, _names(world, marks)))
    return tuple(made)


def _names(world: World, marks: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(world.names[element] for element in np.flatnonzero(marks[: len(world.names)]))


def _breach(prepared: Prepared, component: Component, broken: NDArray[np.bool_]) -> Breach | None:
    """broken: (elements, completions)."""
    world = prepared.worlds[component.world]
    some = broken.any(axis=0)
    if not (some.all() if prepared.regime == "partial" else some.any()):
        return None
    names = [world.names[element] for element in component.elements]
    atoms = [atom_name(world, number) for number in component.atoms]
    if prepared.regime == "partial":
        return Breach(tuple(names), dict.fromkeys(atoms))
    # The first such completion makes the fewest late atoms true.
    completion = int(np.argmax(some))
    chosen = {atom: bool(completion >> place & 1) for place, atom in enumerate(atoms)}
    broken_there = [n for n, row in zip(names, broken, strict=True) if row[completion]]
    return Breach(tuple(broken_there[:SHOWN]), chosen)


def atom_name(world: World, number: int) -> str:
    """An unknown atom of a world by its number, as `R(a0, a1)`."""
    name, at = world.unknown_atoms[number]
    return f"{name}({', '.join(world.names[place] for place in at)})"
