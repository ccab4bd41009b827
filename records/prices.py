"""Prices of the tokens of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .values import Json

TOKENS_PER_PRICE = 1_000_000  # number of tokens that a price is for
PRICES = ("price_in", "price_out", "price_cached")


@dataclass(frozen=True)
class Prices:
    """Prices in US dollars per million tokens.

    Args:
        price_in: The price of input tokens.
        price_out: The price of output tokens, which include reasoning.
        price_cached: The price of cached input tokens; None if it equals `price_in`.
    """

    price_in: float
    price_out: float
    price_cached: float | None = None

    @staticmethod
    def from_settings(spending: Mapping[str, Json]) -> Prices | None:
        """Return the prices that the user set, or None if the user set none."""
        if spending.get("price_in") is None or spending.get("price_out") is None:
            return None
        return Prices(*(spending.get(name) for name in PRICES))  # type: ignore[arg-type]

    def cost_usd(self, usage: Mapping[str, Json]) -> float:
        """Return the cost in US dollars of a call, or of a sum of calls.

        Args:
            usage: The token counts `tokens_in`, `tokens_out` and `tokens_cached`.
        """
        cached = min(usage["tokens_cached"], usage["tokens_in"])
        again = self.price_in if self.price_cached is None else self.price_cached
        fresh = (usage["tokens_in"] - cached) * self.price_in
        return float(
            (fresh + cached * again + usage["tokens_out"] * self.price_out) / TOKENS_PER_PRICE
        )
