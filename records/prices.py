"""Prices of the tokens of a session: of all its models, and of the roles whose models cost otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .values import Json

TOKENS_PER_PRICE = 1_000_000  # number of tokens that a price is for
PRICES = ("price_in", "price_out", "price_cached")
ROLE_PRICES = "role_prices"  # of a session's spending: {role: prices that differ for it}
# The role behind a name in the path of a model call (`Store.model_usage`); other names are roles.
ROLES_OF_CALLS = {
    "propose": "proposer",
    "rewrite": "proposer",
    "then": "then",
    "name": "namer",
    "repair": "repairer",
    "seed": "seeder",
}


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


@dataclass(frozen=True)
class SessionPrices:
    """The prices of the models of a session.

    Args:
        of_all: The prices of every model without prices of its own.
        by_role: The prices of roles with prices of their own.
    """

    of_all: Prices
    by_role: Mapping[str, Prices] = field(default_factory=dict)

    @staticmethod
    def from_settings(spending: Mapping[str, Json]) -> SessionPrices | None:
        """Return the prices that the user set, or None if the user set none.

        A price that a role does not set is that of all models.

        Args:
            spending: The budget and the prices of a session, and under "role_prices" the prices of
                roles.
        """
        if spending.get("price_in") is None or spending.get("price_out") is None:
            return None
        common: dict[str, Any] = {name: spending.get(name) for name in PRICES}
        own = spending.get(ROLE_PRICES) or {}
        by_role = {role: Prices(**{**common, **prices}) for role, prices in own.items()}
        return SessionPrices(Prices(**common), by_role)

    def cost_usd(self, role: str, usage: Mapping[str, Json]) -> float:
        """Return the cost in US dollars of calls of one role (`Prices.cost_usd`)."""
        return self.by_role.get(role, self.of_all).cost_usd(usage)

    def total_usd(self, usage: Mapping[str, Mapping[str, Json]]) -> float:
        """Return the cost in US dollars of the model calls of a session.

        Args:
            usage: The token sums by the name in the path of a call (`Store.model_usage`).
        """
        return sum(
            self.cost_usd(ROLES_OF_CALLS.get(name, name), used) for name, used in usage.items()
        )
