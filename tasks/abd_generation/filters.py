"""What a world, a set of prompt worlds and a holdout have to be (ABD, section 5 and appendices D.2,
F.1): the generator keeps what passes, and the audit counts what does not.

Each filter answers with the reason why it rejects, "" where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...tools.logic.formula import Formula
from ...tools.logic.judging import Beyond, Prepared, Regime
from ...tools.logic.theories import Theory
from ...tools.logic.worlds import World
from .recipes import MOST_MARKED, Recipe


class Judged(NamedTuple):
    """A rule in one world, exactly: cost None where it is not valid. elements: of the domain.
    known: False where the fast path could not tell."""

    cost: int | None
    bound: int
    elements: int
    known: bool = True


def judged(
    theory: Theory, worlds: Sequence[World], regime: Regime, rule: Formula
) -> list[Judged]:
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


Broken = Callable[[Judged, Recipe], bool]
# By what they say of a prompt world; a cost that is not there breaks the first alone.
WORLD_FILTERS: Mapping[str, Broken] = {
    "the reference is not valid": lambda one, recipe: one.cost is None,
    "no exception is needed": lambda one, recipe: one.bound < 1,
    "the reference costs too much above the lower bound": lambda one, recipe: (
        (one.cost or one.bound) - one.bound > recipe.slack
    ),
    "too many of the elements are exceptions": lambda one, recipe: (
        one.bound > recipe.share * one.elements
    ),
    "the reference marks too many of the elements": lambda one, recipe: (
        (one.cost or 0) > MOST_MARKED * one.elements
    ),
}
# Of all prompt worlds together.
SET_FILTERS: Mapping[str, Callable[[Sequence[Judged], Recipe], bool]] = {
    "the summed lower bound is below its floor": lambda worlds, recipe: (
        sum(one.bound for one in worlds) < recipe.floors[0]
    ),
    "the summed cost of the reference is below its floor": lambda worlds, recipe: (
        sum(one.cost or 0 for one in worlds) < recipe.floors[1]
    ),
}


def world_fault(one: Judged, recipe: Recipe) -> str:
    """Of a prompt world."""
    return next((said for said, broken in WORLD_FILTERS.items() if broken(one, recipe)), "")


def set_fault(worlds: Sequence[Judged], recipe: Recipe) -> str:
    """Of all prompt worlds together."""
    return next((said for said, broken in SET_FILTERS.items() if broken(worlds, recipe)), "")


class Seen(NamedTuple):
    """The ranges of costs and gaps of some prompt worlds, and their mean cost."""

    cost: tuple[int, int]
    gap: tuple[int, int]
    mean_cost: float


def seen(prompts: Sequence[Judged]) -> Seen:
    costs = [one.cost or 0 for one in prompts]
    gaps = [(one.cost or 0) - one.bound for one in prompts]
    return Seen((min(costs), max(costs)), (min(gaps), max(gaps)), sum(costs) / len(costs))


HOLDOUT_FILTERS: Mapping[str, Callable[[Judged, Seen], bool]] = {
    "the reference is not valid in the holdout": lambda one, of: one.cost is None,
    "the cost is not within the range of the prompt worlds": lambda one, of: (
        one.cost is not None and not of.cost[0] <= one.cost <= of.cost[1]
    ),
    "the gap is not within the range of the prompt worlds": lambda one, of: (
        one.cost is not None and not of.gap[0] <= one.cost - one.bound <= of.gap[1]
    ),
}


def holdout_fault(one: Judged, of: Seen) -> str:
    return next((said for said, broken in HOLDOUT_FILTERS.items() if broken(one, of)), "")
