"""A better reference than the planted one, where there is one (ABD, appendix D.4).

Alternatives are templates of the recipe's tiers and mutants of the seed. One that passes all
filters in the chosen worlds and costs less takes the seed's place; of several the cheapest, which is
furthest from the cheaters too, then the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.sampling import Stream
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from ....tools.logic.writing import written
from .filters import Judged, judged, set_fault, world_fault
from .mutants import mutants
from .recipes import Recipe
from .templates import Template, templates_of

MOST_TEMPLATES = 24
MOST_MUTANTS = 24


class Reference(NamedTuple):
    """source: "seed", "template" or "mutant". worths: in the prompt worlds."""

    formula: Formula
    id: str
    tier: int
    source: str
    worths: tuple[Judged, ...]

    @property
    def text(self) -> str:
        return written(self.formula)

    @property
    def cost(self) -> int:
        return sum(one.cost or 0 for one in self.worths)

    @property
    def bound(self) -> int:
        return sum(one.bound for one in self.worths)


def refined(
    seed: Reference, theory: Theory, worlds: Sequence[World], recipe: Recipe, stream: Stream
) -> Reference:
    """The seed, or what takes its place."""
    best = seed
    for formula, name, tier, source in _alternatives(seed, theory, recipe, stream):
        worths = tuple(judged(theory, worlds, recipe.regime, formula))
        if any(world_fault(one, recipe) for one in worths) or set_fault(worths, recipe):
            continue
        one = Reference(formula, name, tier, source, worths)
        if (one.cost, one.formula.size) < (best.cost, best.formula.size) and one.cost < seed.cost:
            best = one
    return best


def _alternatives(
    seed: Reference, theory: Theory, recipe: Recipe, stream: Stream
) -> list[tuple[Formula, str, int, str]]:
    of_library = [one for tier in recipe.tiers for one in templates_of(theory, tier)]
    changed = mutants(seed.formula, theory)
    some: list[Template] = [
        of_library[place] for place in stream.shuffled(len(of_library))[:MOST_TEMPLATES]
    ]
    others = [changed[place] for place in stream.shuffled(len(changed))[:MOST_MUTANTS]]
    return [
        *((one.formula, one.id, one.tier, "template") for one in some),
        *((one, f"{seed.id} changed", seed.tier, "mutant") for one in others),
    ]
