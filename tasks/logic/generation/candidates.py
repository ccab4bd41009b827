"""Draw random worlds that fit a planted rule, the rule that a new instance is built around.

The worlds are drawn, some of their atoms become unknown, and unsuitable worlds are dropped. For
speed, thousands of worlds at a time are first examined with all unknown atoms false. The rule has
to be valid there, as it is in the published prompt worlds. The remaining worlds are then judged
exactly. Prompt worlds and holdouts are both chosen from these candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from ....tools.logic.formula import Formula
from ....tools.logic.sampling import RandomStream, draw_atoms
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .filters import Judgement, judge_rule, world_fault
from .random_worlds import WorldTables, draw_worlds
from .recipes import Recipe

# --- Masking: which atoms of R and S are unknown, for prompt worlds and holdouts alike.
#
# Partial: the recipe's share of all atoms of each relation, drawn uniformly. Skeptical: atoms in a
# random order, S and R in turn. An atom stays unknown only where the rule is then still valid in every
# completion and within the limits of the recipe. This ends at the recipe's largest number of unknown
# atoms or at one fewer, drawn for each world. A world that does not reach the recipe's least number
# is dropped. P and Q are never masked.

RELATIONS = ("R", "S")
MAX_TRIES = 30  # atoms tried per world; each relation has at least 100


def mask_at_random(stream: RandomStream, worlds: WorldTables, recipe: Recipe) -> WorldTables:
    """Return the worlds with random atoms made unknown, as in the partial regime."""
    sizes = worlds.inside.sum(axis=1)
    true, unknown = dict(worlds.true), {}
    for name in RELATIONS:
        counts = np.floor(recipe.masked[name] * sizes**2 + 1e-9).astype(np.int64)
        unknown[name] = draw_atoms(stream, worlds.inside, counts, 2)
        true[name] = true[name] & ~unknown[name]
    return WorldTables(worlds.inside, true, unknown)


def mask_while_valid(
    stream: RandomStream, worlds: Sequence[World], theory: Theory, rule: Formula, recipe: Recipe
) -> list[World]:
    """Return the worlds with atoms made unknown, as in the skeptical regime, such that `rule` stays
    valid.

    Worlds in which too few atoms can become unknown are left out. The order of the worlds is kept.

    Args:
        stream: the source of random numbers.
        worlds: the worlds without unknown atoms.
        theory: the theory.
        rule: the planted rule.
        recipe: the allowed numbers of unknown atoms.
    """
    least, most = recipe.unknown
    wanted = (most - stream.integers(2, len(worlds))).tolist()
    orders = [_order(stream, len(world.names)) for world in worlds]
    now = list(worlds)
    for _ in range(MAX_TRIES):
        at = [k for k, world in enumerate(now) if len(world.unknown_atoms) < wanted[k]]
        tried = [_forget_atom(now[k], _next(orders[k], now[k])) for k in at]
        found = judge_rule(theory, tried, recipe.regime, rule)
        for k, world, worth in zip(at, tried, found, strict=True):
            if not world_fault(worth, recipe):
                now[k] = world
    return [world for world in now if len(world.unknown_atoms) >= least]


Atom = tuple[str, tuple[int, int]]


def _order(stream: RandomStream, size: int) -> dict[str, list[Atom]]:
    """Return the atoms of each relation in a random order."""
    return {
        name: [(name, divmod(int(one), size)) for one in stream.permutation(size * size)]
        for name in RELATIONS
    }


def _next(order: dict[str, list[Atom]], world: World) -> Atom:
    """Return the next atom of the relation with fewer unknown atoms, S first."""
    return order[min("SR", key=lambda one: len(world.unknown.get(one, ())))].pop()


def _forget_atom(world: World, atom: Atom) -> World:
    """Return the world in which the atom is unknown."""
    name, at = atom
    true = {**world.true, name: tuple(one for one in world.true[name] if one != at)}
    open_ = {**world.unknown, name: tuple(sorted((*world.unknown.get(name, ()), at)))}
    return World(world.id, world.names, true, open_)


BATCH_SIZE = 2_000  # worlds drawn at once
MAX_JUDGED = {
    "full": 60,
    "partial": 60,
    "skeptical": 30,
}  # worlds of a batch that are judged exactly


class Candidate(NamedTuple):
    """A world that may become part of an instance, with the results of the planted rule in this
    world.
    """

    world: World
    judgement: Judgement


@dataclass
class CandidateSource:
    """A reproducible source of candidate worlds for a planted rule.

    Args:
        text: the seed of all random choices.
        theory: the theory.
        rule: the planted rule.
        recipe: the sizes and limits of the worlds.
        size: the number of elements of every world, or None to draw a number for each world.
        worlds_drawn: the number of worlds drawn so far.
        batches: yields the number of the next batch.
    """

    text: str
    theory: Theory
    rule: Formula
    recipe: Recipe
    size: int | None
    worlds_drawn: int = 0
    batches: Iterator[int] = field(default_factory=count)

    def next_batch(self) -> list[Candidate]:
        """Draw the next batch of worlds and return those that are suitable; the result may be
        empty.
        """
        stream = RandomStream(f"{self.text} batch {next(self.batches)}")
        worlds = draw_worlds(stream, self.recipe, BATCH_SIZE, self.size)
        self.worlds_drawn += len(worlds)
        if self.recipe.regime == "partial":
            worlds = mask_at_random(stream, worlds, self.recipe)
        worlds = self.filter_plausible(worlds)
        most = min(len(worlds), MAX_JUDGED[self.recipe.regime])
        found = [worlds.to_world(place, "W") for place in range(most)]
        if self.recipe.regime == "skeptical":
            found = mask_while_valid(stream, found, self.theory, self.rule, self.recipe)
        if not found:
            return []
        worths = judge_rule(self.theory, found, self.recipe.regime, self.rule)
        return [
            Candidate(world, worth)
            for world, worth in zip(found, worths, strict=True)
            if not world_fault(worth, self.recipe)
        ]

    def filter_plausible(self, worlds: WorldTables) -> WorldTables:
        """Return the worlds in which the planted rule is valid and cheap if all unknown atoms are
        false.
        """
        violation = self.theory.violation
        assert violation is not None
        violated = worlds.extent(violation)
        bound = violated.sum(axis=1)
        most = self.recipe.max_exception_share * worlds.inside.sum(axis=1) + (
            self.recipe.regime == "partial"
        )
        kept = (bound >= 1) & (bound <= most)
        worlds, violated = worlds.select(kept), violated[kept]
        covered = worlds.extent(self.rule)
        valid = ~(violated & ~covered).any(axis=1)
        slack = covered.sum(axis=1) - violated.sum(axis=1)
        return worlds.select(valid & (slack <= 1))
