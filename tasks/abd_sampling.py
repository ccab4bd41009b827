"""The sample space S of task `abd`: elements of worlds that are drawn afresh.

Of each of 16 worlds the elements and their names are those of a prompt world, drawn by chance; each
predicate holds of as many atoms, true and unknown, as in a prompt world that is drawn for it, in
proportion to the number of all its atoms; which atoms these are is uniform. So sizes, densities and
shares of unknown atoms are those that the prompt worlds show. Nothing else is asked of them: that
some element breaks the theory, or that few do, is not.

An input is [world, element]; those of one world hold the same object. Only `Random.random` is used,
whose stream Python promises to keep, and whole numbers: one problem and one seed give one S on any
machine. No two worlds are alike; where the prompt worlds are so small that there are fewer than 16,
S has those that were found.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from ..records import InputSet, Json, Problem
from ..tools.logic.worlds import Tuples, World

WORLDS = 16
DRAWS = 10 * WORLDS


class Counts(NamedTuple):
    """Of one predicate in one world; all: atoms that could be."""

    true: int
    unknown: int
    all: int


def space(problem: Problem, seed: int) -> InputSet:
    """(world, element) of freshly drawn worlds. Treat it as read-only."""
    signature: Mapping[str, int] = problem.public["theory"]["signature"]
    shown = [pair.input for pair in problem.shown]
    counted = [_counts(world, signature) for world in shown]
    rng = random.Random(f"abd space {seed} {problem.id}")
    found: dict[object, World] = {}
    for _ in range(DRAWS):
        names = shown[_below(rng, len(shown))]["domain"]
        models = {name: counted[_below(rng, len(shown))][name] for name in signature}
        world = _world(rng, f"S{len(found)}", names, models, signature)
        parts = (tuple(sorted(part.items())) for part in (world.true, world.unknown))
        found.setdefault((world.names, *parts), world)
        if len(found) == WORLDS:
            break
    inputs: list[Json] = []
    for world in found.values():
        drawn = world.as_json()
        inputs += [[drawn, name] for name in world.names]
    return InputSet(f"abd space of {problem.id}, seed {seed}", tuple(inputs))


def _counts(world: Json, signature: Mapping[str, int]) -> dict[str, Counts]:
    """world: in its JSON form."""
    true, unknown = world["true"], world.get("unknown", {})
    return {
        name: Counts(
            len(true.get(name, ())), len(unknown.get(name, ())), len(world["domain"]) ** places
        )
        for name, places in signature.items()
    }


def _world(
    rng: random.Random,
    name: str,
    names: Sequence[str],
    models: Mapping[str, Counts],
    signature: Mapping[str, int],
) -> World:
    true: dict[str, Tuples] = {}
    unknown: dict[str, Tuples] = {}
    for predicate, places in signature.items():
        model = models[predicate]
        count = len(names) ** places
        sure = _in_proportion(model.true, model.all, count)
        open_ = min(_in_proportion(model.unknown, model.all, count), count - sure)
        drawn = _some(rng, count, sure + open_)
        true[predicate] = _tuples(drawn[:sure], len(names), places)
        if open_:
            unknown[predicate] = _tuples(drawn[sure:], len(names), places)
    return World(name, tuple(names), true, unknown)


def _in_proportion(part: int, whole: int, of: int) -> int:
    """part / whole * of, rounded, halves up."""
    return (2 * part * of + whole) // (2 * whole)


def _below(rng: random.Random, count: int) -> int:
    return int(rng.random() * count)


def _some(rng: random.Random, count: int, wanted: int) -> list[int]:
    """`wanted` different numbers below `count`, in the order drawn."""
    left = list(range(count))
    for place in range(wanted):
        other = place + _below(rng, count - place)
        left[place], left[other] = left[other], left[place]
    return left[:wanted]


def _tuples(numbers: Sequence[int], size: int, places: int) -> Tuples:
    atoms = _atoms(size, places)
    return tuple(atoms[number] for number in sorted(numbers))


@lru_cache(maxsize=16)
def _atoms(size: int, places: int) -> Tuples:
    """All atoms of a predicate, in order."""
    return tuple(product(range(size), repeat=places))
