"""Search budgets, counted in expansions so that they mean the same work on any machine."""

from __future__ import annotations

from typing import NamedTuple


class Budget:
    """Count the expansions that a search spends, up to a limit.

    An expansion is the unit of work: one list program evaluated on all shown inputs. Three other
    pieces of work cost one expansion each: `VECTOR` element programs evaluated in one numpy
    operation, `RULES` rules about scenes, and one step of a grid program on `CELLS` shown cells. An
    expansion takes at most about 20 microseconds on one core.

    A search checks `left` before each piece of work and charges the cost of that piece. It
    therefore stops at an equal point on any machine, and exceeds its limit by at most one piece.
    """

    VECTOR = 64
    RULES = 64
    CELLS = 24

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0

    def charge(self, amount: float) -> bool:
        """Spend `amount` and return whether any budget is left."""
        self.spent += amount
        return self.spent < self.limit

    @property
    def left(self) -> float:
        """Return how many expansions are left, never below 0."""
        return max(0.0, self.limit - self.spent)


class Preset(NamedTuple):
    """Settings of a named search mode.

    Args:
        expansions: Number of candidates to examine.
        trade_off: Name of a trade-off for rules about worlds (logic/ranking.py); "" selects the
            default. Engines that search programs ignore it.
    """

    expansions: int
    trade_off: str = ""


STANDARD = 150_000  # about one to three seconds of one core
PRESETS = {
    "quick": Preset(20_000),
    "standard": Preset(STANDARD),
    "thorough": Preset(600_000),
    "tight": Preset(STANDARD, "tight"),
    "safe": Preset(STANDARD, "safe"),
}
