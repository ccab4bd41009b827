"""Worlds in which a rule can be a reference, as many as are asked for: drawn, masked, filtered.

What is drawn is first looked at with the unknown atoms taken as false, thousands of worlds at
once; there too the rule has to be valid, which the published prompt worlds have as well. What is
left is judged exactly. Prompt worlds and holdouts come from here alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from ....tools.logic.formula import Formula
from ....tools.logic.sampling import Stream, drawn
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .drawing import Drawn, draw
from .filters import Judged, judged, world_fault
from .recipes import Recipe

# --- Which atoms of R and S nobody knows: one routine for prompt worlds and holdouts.
#
# Partial: of each relation the recipe's share of all atoms, uniform. Skeptical: atoms in a random
# order, S and R in turn, and each stays unknown only where the rule is valid afterwards in every
# completion, within the limits of the recipe, until there are as many as the recipe has at most, or one fewer; a
# world that does not come to the least of them is given up. P and Q are never masked.

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


BATCH = 2_000  # worlds drawn at once
MOST = {"full": 60, "partial": 60, "skeptical": 30}  # of a batch that are judged exactly


class Candidate(NamedTuple):
    """A world, and the reference in it."""

    world: World
    judged: Judged


@dataclass
class Source:
    """Candidates one after the other, a function of its stream's text. drawn: worlds so far."""

    text: str
    theory: Theory
    rule: Formula
    recipe: Recipe
    size: int | None
    drawn: int = 0
    batches: Iterator[int] = field(default_factory=count)

    def more(self) -> list[Candidate]:
        """Those of one batch."""
        stream = Stream(f"{self.text} batch {next(self.batches)}")
        worlds = draw(stream, self.recipe, BATCH, self.size)
        self.drawn += len(worlds)
        if self.recipe.regime == "partial":
            worlds = masked_at_random(stream, worlds, self.recipe)
        worlds = self.plausible(worlds)
        most = min(len(worlds), MOST[self.recipe.regime])
        found = [worlds.world(place, "W") for place in range(most)]
        if self.recipe.regime == "skeptical":
            found = masked_with_care(stream, found, self.theory, self.rule, self.recipe)
        if not found:
            return []
        worths = judged(self.theory, found, self.recipe.regime, self.rule)
        return [
            Candidate(world, worth)
            for world, worth in zip(found, worths, strict=True)
            if not world_fault(worth, self.recipe)
        ]

    def plausible(self, worlds: Drawn) -> Drawn:
        """Those where the rule is valid, and costs little, with unknown atoms false."""
        violation = self.theory.violation
        assert violation is not None
        violated = worlds.extent(violation)
        bound = violated.sum(axis=1)
        most = self.recipe.share * worlds.inside.sum(axis=1) + (self.recipe.regime == "partial")
        kept = (bound >= 1) & (bound <= most)
        worlds, violated = worlds.picked(kept), violated[kept]
        covered = worlds.extent(self.rule)
        valid = ~(violated & ~covered).any(axis=1)
        slack = covered.sum(axis=1) - violated.sum(axis=1)
        return worlds.picked(valid & (slack <= 1))
