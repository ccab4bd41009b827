"""Worlds in which a rule can be a reference, as many as are asked for: drawn, masked, filtered.

What is drawn is first looked at with the unknown atoms taken as false, thousands of worlds at
once; there too the rule has to be valid, which the published prompt worlds have as well. What is
left is judged exactly. Prompt worlds and holdouts come from here alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.sampling import Stream
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .drawing import Drawn, draw
from .filters import Judged, judged, world_fault
from .masking import masked_at_random, masked_with_care
from .recipes import Recipe

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
