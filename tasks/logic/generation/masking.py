"""Which atoms of R and S nobody knows: one routine for prompt worlds and holdouts.

Partial: of each relation the recipe's share of all atoms, uniform. Skeptical: atoms in a random
order, S and R in turn, and each stays unknown only where the rule is valid afterwards in every
completion, within the limits of the recipe, until there are as many as the recipe has at most, or one fewer; a
world that does not come to the least of them is given up. P and Q are never masked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....tools.logic.formula import Formula
from ....tools.logic.sampling import Stream, drawn
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .drawing import Drawn
from .filters import judged, world_fault
from .recipes import Recipe

RELATIONS = ("R", "S")
TRIES = 30  # atoms tried for a world; there are at least 100 of each relation


def masked_at_random(stream: Stream, worlds: Drawn, recipe: Recipe) -> Drawn:
    """Worlds of the partial regime."""
    sizes = worlds.inside.sum(axis=1)
    true, unknown = dict(worlds.true), {}
    for name in RELATIONS:
        counts = np.floor(recipe.masked[name] * sizes**2 + 1e-9).astype(np.int64)
        unknown[name] = drawn(stream, worlds.inside, counts, 2)
        true[name] = true[name] & ~unknown[name]
    return Drawn(worlds.inside, true, unknown)


def masked_with_care(
    stream: Stream, worlds: Sequence[World], theory: Theory, rule: Formula, recipe: Recipe
) -> list[World]:
    """Of the skeptical regime: those worlds that came to enough unknown atoms, in order. All go on
    at once, an atom each time."""
    least, most = recipe.unknown
    wanted = (most - stream.below(2, len(worlds))).tolist()
    orders = [_order(stream, len(world.names)) for world in worlds]
    now = list(worlds)
    for _ in range(TRIES):
        at = [k for k, world in enumerate(now) if len(world.unknown_atoms) < wanted[k]]
        tried = [_without(now[k], _next(orders[k], now[k])) for k in at]
        found = judged(theory, tried, recipe.regime, rule)
        for k, world, worth in zip(at, tried, found, strict=True):
            if not world_fault(worth, recipe):
                now[k] = world
    return [world for world in now if len(world.unknown_atoms) >= least]


Atom = tuple[str, tuple[int, int]]


def _order(stream: Stream, size: int) -> dict[str, list[Atom]]:
    """The atoms of each relation in a random order."""
    return {
        name: [(name, divmod(int(one), size)) for one in stream.shuffled(size * size)]
        for name in RELATIONS
    }


def _next(order: dict[str, list[Atom]], world: World) -> Atom:
    """Of the relation with fewer unknown atoms, S first; each atom once."""
    return order[min("SR", key=lambda one: len(world.unknown.get(one, ())))].pop()


def _without(world: World, atom: Atom) -> World:
    """The world in which the atom is not known."""
    name, at = atom
    true = {**world.true, name: tuple(one for one in world.true[name] if one != at)}
    open_ = {**world.unknown, name: tuple(sorted((*world.unknown.get(name, ()), at)))}
    return World(world.id, world.names, true, open_)
