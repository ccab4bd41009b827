"""What a world, a set of prompt worlds and a holdout have to be (ABD, section 5 and appendices D.2,
F.1): the generator keeps what passes, and the audit counts what does not.

Each filter answers with the reason why it rejects, "" where it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...tools.logic.formula import Formula
from ...tools.logic.judging import Beyond, Prepared, Regime
from ...tools.logic.theories import Theory
from ...tools.logic.worlds import World
from .recipes import Recipe


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


NOT_VALID = "the reference is not valid"
NO_EXCEPTION = "no exception is needed"
TOO_DEAR = "the reference costs too much above the lower bound"
TOO_MANY = "too many of the elements are exceptions"
TOO_LITTLE_NEEDED = "the summed lower bound is below its floor"
TOO_CHEAP = "the summed cost of the reference is below its floor"
OUT_OF_RANGE = "cost or gap is not within the range of the prompt worlds"


def world_fault(one: Judged, recipe: Recipe) -> str:
    """Of a prompt world."""
    if one.cost is None:
        return NOT_VALID
    if one.bound < 1:
        return NO_EXCEPTION
    if one.cost - one.bound > recipe.slack:
        return TOO_DEAR
    if one.bound > recipe.share * one.elements:
        return TOO_MANY
    return ""


def set_fault(worlds: Sequence[Judged], recipe: Recipe) -> str:
    """Of all prompt worlds together."""
    least_bound, least_cost = recipe.floors
    if sum(one.bound for one in worlds) < least_bound:
        return TOO_LITTLE_NEEDED
    if sum(one.cost or 0 for one in worlds) < least_cost:
        return TOO_CHEAP
    return ""


class Seen(NamedTuple):
    """The ranges of costs and gaps of some prompt worlds, and their mean cost."""

    cost: tuple[int, int]
    gap: tuple[int, int]
    mean_cost: float


def seen(prompts: Sequence[Judged]) -> Seen:
    costs = [one.cost or 0 for one in prompts]
    gaps = [(one.cost or 0) - one.bound for one in prompts]
    return Seen((min(costs), max(costs)), (min(gaps), max(gaps)), sum(costs) / len(costs))


def holdout_fault(one: Judged, of: Seen) -> str:
    if one.cost is None:
        return NOT_VALID
    within = of.cost[0] <= one.cost <= of.cost[1]
    if not within or not of.gap[0] <= one.cost - one.bound <= of.gap[1]:
        return OUT_OF_RANGE
    return ""
