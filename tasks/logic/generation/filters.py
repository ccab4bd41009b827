"""What a world, a set of prompt worlds and a holdout have to be (ABD, section 5 and appendices D.2,
F.1): the generator keeps what passes, and the audit counts what does not.

A fault is what does not hold, "" where all does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.judging import Beyond, Prepared, Regime
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .recipes import Recipe


class Judged(NamedTuple):
    """A rule in one world, exactly: cost None where it is not valid. elements: of the domain.
    known: False where the fast path could not tell."""

    cost: int | None
    bound: int
    elements: int
    known: bool = True


def judged(theory: Theory, worlds: Sequence[World], regime: Regime, rule: Formula) -> list[Judged]:
    """The rule in each world."""
    try:
        found = Prepared(theory, tuple(worlds), regime).judge(rule)
    except Beyond:
        if len(worlds) == 1:
            return [Judged(None, 0, len(worlds[0].names), False)]
        return [one for world in worlds for one in judged(theory, [world], regime, rule)]
    return [
        Judged(worth.cost, worth.bound or 0, len(world.names))
        for worth, world in zip(found, worlds, strict=True)
    ]


# What has to hold, by how it is said. Of a prompt world; one where the reference is not valid breaks
# the first alone.
OF_WORLDS: Mapping[str, Callable[[Judged, Recipe], bool]] = {
    "the reference is valid": lambda one, recipe: one.cost is not None,
    "an exception is needed": lambda one, recipe: one.bound >= 1,
    "the reference costs little more than the lower bound": lambda one, recipe: (
        one.cost is None or one.cost - one.bound <= recipe.slack
    ),
    "few of the elements need to be exceptions": lambda one, recipe: (
        one.bound <= recipe.share * one.elements
    ),
    "the reference marks few of the elements": lambda one, recipe: (
        one.cost is None or one.cost <= recipe.marked * one.elements
    ),
}
# Of all prompt worlds together.
OF_SETS: Mapping[str, Callable[[Sequence[Judged], Recipe], bool]] = {
    "the summed lower bound reaches its floor": lambda worlds, recipe: (
        sum(one.bound for one in worlds) >= recipe.floors[0]
    ),
    "the summed cost of the reference reaches its floor": lambda worlds, recipe: (
        sum(one.cost or 0 for one in worlds) >= recipe.floors[1]
    ),
}


def world_fault(one: Judged, recipe: Recipe) -> str:
    """Of a prompt world."""
    return next((said for said, holds in OF_WORLDS.items() if not holds(one, recipe)), "")


def set_fault(worlds: Sequence[Judged], recipe: Recipe) -> str:
    """Of all prompt worlds together."""
    return next((said for said, holds in OF_SETS.items() if not holds(worlds, recipe)), "")


class Seen(NamedTuple):
    """The ranges of costs and gaps of some prompt worlds, and their mean cost."""

    cost: tuple[int, int]
    gap: tuple[int, int]
    mean_cost: float


def seen(prompts: Sequence[Judged]) -> Seen:
    costs = [one.cost or 0 for one in prompts]
    gaps = [(one.cost or 0) - one.bound for one in prompts]
    return Seen((min(costs), max(costs)), (min(gaps), max(gaps)), sum(costs) / len(costs))


OF_HOLDOUTS: Mapping[str, Callable[[Judged, Seen], bool]] = {
    "the reference is valid": lambda one, of: one.cost is not None,
    "its cost is within the range of the prompt worlds": lambda one, of: (
        one.cost is None or of.cost[0] <= one.cost <= of.cost[1]
    ),
    "its gap is within the range of the prompt worlds": lambda one, of: (
        one.cost is None or of.gap[0] <= one.cost - one.bound <= of.gap[1]
    ),
}


def holdout_fault(one: Judged, of: Seen) -> str:
    return next((said for said, holds in OF_HOLDOUTS.items() if not holds(one, of)), "")


# --- How often a template may be used within a theory, a difficulty and a regime (ABD, section 5).
#
# Twice, or for a third of the instances there, whichever is more; counted as they are made, so that
# an instance does not depend on how many follow.

ALWAYS = 2
SHARE = 3  # one in so many


def most_uses(instances: int) -> int:
    """Of one template among so many instances."""
    return max(ALWAYS, -(-instances // SHARE))


class Used:
    """How often each template stands in the instances so far."""

    def __init__(self) -> None:
        self.templates: Counter[tuple[str, ...]] = Counter()
        self.instances: Counter[tuple[str, ...]] = Counter()

    def may(self, regime: str, difficulty: str, theory: str, template: str) -> bool:
        key = (regime, difficulty, theory)
        return self.templates[(*key, template)] < most_uses(self.instances[key] + 1)

    def count(self, regime: str, difficulty: str, theory: str, template: str) -> None:
        key = (regime, difficulty, theory)
        self.instances[key] += 1
        self.templates[(*key, template)] += 1
