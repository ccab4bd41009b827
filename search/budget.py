"""Budgets that limit a search by its amount of work, so that results do not depend on the
machine.
"""

from __future__ import annotations

from typing import NamedTuple


class Budget:
    """A limit on the work of a search, counted in expansions.

    An expansion is the unit of work: the evaluation of one list program on all example inputs. One
    expansion also pays for `VECTOR` element programs evaluated in one numpy operation, for `RULES`
    rules about scenes, or for one operation of a grid program on `CELLS` grid cells. An expansion
    takes at most about 20 microseconds on one core (on laws of numbers, about 60).

    A search checks `left` before each piece of work and charges the cost of that piece. The search
    therefore stops at the same point on any machine, and exceeds its limit by at most one piece.

    Args:
        limit: Number of expansions that the search may spend.
    """

    VECTOR = 64
    RULES = 64
    CELLS = 24

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0

    def charge(self, amount: float) -> bool:
        """Spend `amount` expansions and return whether any budget is left."""
        self.spent += amount
        return self.spent < self.limit

    @property
    def left(self) -> float:
        """Return how many expansions are left, never below 0."""
        return max(0.0, self.limit - self.spent)


class Preset(NamedTuple):
    """Settings of a named search mode.

    Args:
        expansions: Budget of the search, in expansions (see `Budget`).
        trade_off: Name of a trade-off between the cost, size and validity of rules about worlds
            (`TRADE_OFFS` in logic/ranking.py); "" selects the default. Engines that search programs
            ignore this setting.
    """

    expansions: int
    trade_off: str = ""


STANDARD = 150_000  # about one to three seconds of one core, and nine on laws of numbers
PRESETS = {
    "quick": Preset(20_000),
    "standard": Preset(STANDARD),
    "thorough": Preset(600_000),
    "tight": Preset(STANDARD, "tight"),
    "safe": Preset(STANDARD, "safe"),
}
