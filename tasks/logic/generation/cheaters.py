"""The cheapest rule that needs no knowledge of the reference (ABD, appendix D.4), in two tiers.

First constants, atoms and other rules without a quantifier, then rules of one step and those mined
from earlier answers. An instance where one is valid at no more than the reference's cost is
rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .competitors import Competitor
from .hardening import INVALID, Costs

TIERS: tuple[tuple[str, ...], ...] = (("tier0",), ("tier1", "mined"))


class Cheater(NamedTuple):
    """cost: in all prompt worlds."""

    id: str
    tier: int
    cost: int


def cheapest(rivals: Sequence[Competitor], costs: Costs) -> Cheater | None:
    """Of those that are valid everywhere, the first tier's before others of its cost; costs:
    (rivals, worlds)."""
    found = [
        Cheater(one.id, tier, int(total))
        for tier, kinds in enumerate(TIERS, 1)
        for one, total in zip(rivals, costs.sum(axis=1), strict=True)
        if one.kind in kinds and total < INVALID
    ]
    return min(found, key=lambda one: one.cost, default=None)


def beaten(cheater: Cheater | None, reference: int) -> bool:
    """Whether the reference, at this cost, is not trivially as good."""
    return cheater is None or cheater.cost > reference
