"""What a search may spend: expansions, which mean about the same work on any machine."""

from __future__ import annotations

from typing import NamedTuple


class Budget:
    """One list program evaluated on all shown inputs is one expansion, and so are `VECTOR` element
    programs that numpy evaluates at once, `RULES` rules of scenes, and a step of a grid program on
    `CELLS` shown cells: at most about 20 microseconds of one core each.

    A search asks for `left` before each piece of work and charges what the piece was; so it ends at
    the same place on any machine, and after its limit by one piece at most.
    """

    VECTOR = 64
    RULES = 64
    CELLS = 24

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0

    def charge(self, amount: float) -> bool:
        """Spends; False where nothing is left."""
        self.spent += amount
        return self.spent < self.limit

    @property
    def left(self) -> float:
        return max(0.0, self.limit - self.spent)


class Preset(NamedTuple):
    """expansions: candidates looked at; trade_off: of rules about worlds, "" for the
    default one (logic/choice.py); programs know none."""

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
