"""The sizes, shares and limits of generated instances, for each regime and difficulty.

The paper describes the procedure but gives few of its numbers, and its table of densities is lost.
The numbers here were inferred from the public half of the paper's instances. The counts of true
atoms there are `floor(density * n^k)`, with densities in the ranges below. In the partial regime,
exactly .12 of the atoms of R and .08 of S are unknown (the paper says .20 and .10). Floors, slacks
and shares are the extreme values in the public instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ....tools.logic.fast_path import Regime

Difficulty = Literal["easy", "hard", "medium"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "hard")  # skeptical instances are all "medium"
VERSION = "peirce_abd_v1"  # the field generatorVersion of published records
HOLDOUTS = 5
MAX_HOLDOUT_ATTEMPTS = 150  # ABD, appendix F.1
MARGIN = 2  # a competitor is beaten where it costs at least this much more than the reference
Range = tuple[float, float]


@dataclass(frozen=True)
class Recipe:
    """Sizes and limits of the instances of a regime and a difficulty.

    Args:
        regime: the regime.
        difficulty: the difficulty.
        theories: the names of the theories that its instances use, such as "T1".
        sizes: the smallest and largest number of elements of a world.
        one_size: whether all worlds of an instance have the same size.
        densities: for each predicate, the range of the share of true atoms in a world, before atoms
            become unknown.
        masked: for each relation, the share of atoms that become unknown (partial regime).
        unknown: the smallest and largest number of unknown atoms of a world (skeptical regime).
        tiers: the weight of each tier of templates, by which the tier is drawn. The tier is the
            number of nested quantifiers of a rule.
        worlds: the smallest and largest number of prompt worlds of an instance.
        budget: the largest number of prompt worlds before surplus worlds are removed.
        max_slack: the largest allowed difference between the cost of the planted rule and the lower
            bound in a world.
        max_exception_share: the largest share of the elements of a world that must be exceptions.
        max_covered_share: the largest share of the elements of a world that the planted rule marks.
        floors: the smallest sum of the lower bounds and the smallest sum of the costs over all
            prompt worlds.
    """

    regime: Regime
    difficulty: Difficulty
    theories: tuple[str, ...]
    sizes: tuple[int, int]
    one_size: bool
    densities: Mapping[str, Range]
    masked: Mapping[str, float]
    unknown: tuple[int, int]
    tiers: Mapping[int, float]
    worlds: tuple[int, int]
    budget: int
    max_slack: int
    max_exception_share: float
    max_covered_share: float
    floors: tuple[int, int]


_FIVE = ("T1", "T2", "T3", "T4", "T5")
_DENSITIES = {"P": (0.2, 0.6), "Q": (0.2, 0.6), "R": (0.12, 0.25), "S": (0.08, 0.18)}
_SKEPTICAL = {"P": (0.25, 0.45), "Q": (0.2, 0.54), "R": (0.19, 0.305), "S": (0.11, 0.255)}
_MASKED = {"R": 0.12, "S": 0.08}


def get_recipe(regime: Regime, difficulty: Difficulty) -> Recipe:
    """Return the sizes and limits of instances with a regime and a difficulty.

    In the skeptical regime, all difficulties have the same recipe.
    """
    if regime == "skeptical":
        return Recipe(
            regime, "medium", (*_FIVE, "T6", "T7"), (10, 12), True, _SKEPTICAL, {}, (8, 10),
            {1: 0.35, 2: 0.55, 3: 0.10}, (5, 7), 12, 2, 0.30, 0.30, (5, 5),
        )  # fmt: skip
    hard = difficulty == "hard"
    full = regime == "full"
    worlds = (10 if full else 9) if hard else 8
    floors = ((10, 13) if full else (9, 9)) if hard else (8, 10 if full else 8)
    return Recipe(
        regime, "hard" if hard else "easy", _FIVE, (9, 11), False, _DENSITIES,
        {} if full else _MASKED, (0, 0), {3 if hard else 2: 1.0}, (worlds, worlds),
        15 if hard else 12, 1 if full else 2, 0.20 if full else 0.25, 1 / 3, floors,
    )  # fmt: skip
