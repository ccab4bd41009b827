"""Conditions on single worlds, on prompt worlds together, and on holdouts (ABD, section 5, D.2,
F.1).

The generator keeps the worlds that meet the conditions, and the audit counts the worlds that do
not. The functions `..._fault` return the first condition that does not hold, or "" if all hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ....records import Json
from ....tools.logic.fast_path import BeyondFastPath, PreparedWorlds, Regime
from ....tools.logic.formula import Formula
from ....tools.logic.theories import Theory
from ....tools.logic.worlds import World
from .recipes import Recipe


class Judgement(NamedTuple):
    """The exact validity and cost of a rule in one world.

    Args:
        cost: the cost, or None if the rule is not valid.
        bound: the lower bound on the cost of all rules.
        elements: the number of elements of the world.
        known: False if the fast algorithm could not decide; the other values are then unreliable.
    """

    cost: int | None
    bound: int
    elements: int
    known: bool = True


def judge_rule(
    theory: Theory, worlds: Sequence[World], regime: Regime, rule: Formula
) -> list[Judgement]:
    """Return validity and cost of a rule in each world."""
    try:
        found = PreparedWorlds(theory, tuple(worlds), regime).judge(rule)
    except BeyondFastPath:
        if len(worlds) == 1:
            return [Judgement(None, 0, len(worlds[0].names), False)]
        return [one for world in worlds for one in judge_rule(theory, [world], regime, rule)]
    return [
        Judgement(worth.cost, worth.bound or 0, len(world.names))
        for worth, world in zip(found, worlds, strict=True)
    ]


# Conditions by their wording. These are on a prompt world; a world where the reference is not valid
# fails the first condition alone among those on its cost.
WORLD_CONDITIONS: Mapping[str, Callable[[Judgement, Recipe], bool]] = {
    "the reference is valid": lambda one, recipe: one.cost is not None,
    "an exception is needed": lambda one, recipe: one.bound >= 1,
    "the reference costs little more than the lower bound": lambda one, recipe: (
        one.cost is None or one.cost - one.bound <= recipe.max_slack
    ),
    "few of the elements need to be exceptions": lambda one, recipe: (
        one.bound <= recipe.max_exception_share * one.elements
    ),
    "the reference marks few of the elements": lambda one, recipe: (
        one.cost is None or one.cost <= recipe.max_covered_share * one.elements
    ),
}
# Conditions on all prompt worlds together.
SET_CONDITIONS: Mapping[str, Callable[[Sequence[Judgement], Recipe], bool]] = {
    "the summed lower bound reaches its floor": lambda worlds, recipe: (
        sum(one.bound for one in worlds) >= recipe.floors[0]
    ),
    "the summed cost of the reference reaches its floor": lambda worlds, recipe: (
        sum(one.cost or 0 for one in worlds) >= recipe.floors[1]
    ),
}


def world_fault(one: Judgement, recipe: Recipe) -> str:
    """Return the first condition that a prompt world does not meet, or "" if it meets all.

    Args:
        one: the results of the planted rule in the world.
        recipe: the sizes and limits.
    """
    return next((said for said, holds in WORLD_CONDITIONS.items() if not holds(one, recipe)), "")


def set_fault(worlds: Sequence[Judgement], recipe: Recipe) -> str:
    """Return the first condition that the prompt worlds together do not meet, or "" if they meet
    all.

    Args:
        worlds: the results of the planted rule in each prompt world.
        recipe: the sizes and limits.
    """
    return next((said for said, holds in SET_CONDITIONS.items() if not holds(worlds, recipe)), "")


class PromptRanges(NamedTuple):
    """The ranges (least, most) of costs and gaps over prompt worlds, and the mean cost.

    A gap is the difference between the cost of the planted rule and the lower bound.
    """

    cost: tuple[int, int]
    gap: tuple[int, int]
    mean_cost: float


def prompt_ranges(prompts: Sequence[Judgement]) -> PromptRanges:
    """Return the ranges of costs and gaps over prompt worlds, from the results of the planted rule."""
    costs = [one.cost or 0 for one in prompts]
    gaps = [(one.cost or 0) - one.bound for one in prompts]
    return PromptRanges((min(costs), max(costs)), (min(gaps), max(gaps)), sum(costs) / len(costs))


HOLDOUT_CONDITIONS: Mapping[str, Callable[[Judgement, PromptRanges], bool]] = {
    "the reference is valid": lambda one, of: one.cost is not None,
    "its cost is within the range of the prompt worlds": lambda one, of: (
        one.cost is None or of.cost[0] <= one.cost <= of.cost[1]
    ),
    "its gap is within the range of the prompt worlds": lambda one, of: (
        one.cost is None or of.gap[0] <= one.cost - one.bound <= of.gap[1]
    ),
}


def holdout_fault(one: Judgement, ranges: PromptRanges) -> str:
    """Return the first condition that a holdout world does not meet, or "" if it meets all.

    Args:
        one: the results of the planted rule in the holdout.
        ranges: the ranges of costs and gaps over the prompt worlds.
    """
    return next((said for said, holds in HOLDOUT_CONDITIONS.items() if not holds(one, ranges)), "")


# --- How often a template may be used within a theory, a difficulty and a regime (ABD, section 5).
#
# Twice, or in a third of the instances, whichever is more. Uses are counted as instances are made, so
# that an instance does not depend on how many follow.

MIN_USES_ALLOWED = 2  # uses that are always allowed
SHARE_DIVISOR = 3  # one instance in 3 may use the template


def max_uses(instances: int) -> int:
    """Return the maximum number of instances, among `instances` instances, that may use one
    template.
    """
    return max(MIN_USES_ALLOWED, -(-instances // SHARE_DIVISOR))


class TemplateUses:
    """Counts how many of the instances generated so far use each rule template."""

    def __init__(self) -> None:
        self.templates: Counter[tuple[str, ...]] = Counter()
        self.instances: Counter[tuple[str, ...]] = Counter()

    def allows(self, regime: str, difficulty: str, theory: str, template: str) -> bool:
        """Return whether the next instance with this regime, difficulty and theory may use the
        template.
        """
        key = (regime, difficulty, theory)
        return self.templates[(*key, template)] < max_uses(self.instances[key] + 1)

    def count(self, regime: str, difficulty: str, theory: str, template: str) -> None:
        """Record that one more instance uses the template."""
        key = (regime, difficulty, theory)
        self.instances[key] += 1
        self.templates[(*key, template)] += 1

    def as_json(self) -> Json:
        """Return the counts as lists of names with a number."""
        return [
            [[*key, count] for key, count in counts.items()]
            for counts in (self.templates, self.instances)
        ]

    @classmethod
    def from_json(cls, data: Json) -> TemplateUses:
        """Return the counts that `as_json` returned."""
        made = cls()
        for counts, rows in zip((made.templates, made.instances), data, strict=True):
            counts.update({tuple(names): count for *names, count in rows})
        return made
