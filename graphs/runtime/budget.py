"""Limits on the tokens and dollars that a session spends on its models.

Every model call is checked before it is made and counted when it returns. If a session is resumed,
the calls in its journal are counted first. When the budget is reached, calls in flight are
finished. Therefore, a session may exceed its budget by the calls that run at the same time.

Requests without a usable answer are counted with the tokens that the endpoint reports for them. If
the call succeeds later, these tokens are recorded in the journal with the call. If the call fails,
they count only until the session is stopped. If an endpoint reports no tokens, an estimate is used,
and the message that ends the session says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...agents.endpoint.limits import EstimatedUsage
from ...records import BudgetSpent, Json, PeirceError, Prices, Usage


@dataclass
class Budget:
    """The budget of a session: its limits, and the tokens spent so far.

    Args:
        limit_tokens: The maximum number of tokens; None for no limit.
        limit_usd: The maximum cost in US dollars; None for no limit.
        prices: The prices of tokens; None if they are unknown.
        spent: The tokens spent so far, including the tokens of recorded calls.
        estimated: The number of calls in this run whose tokens the endpoint did not report.
        closed: An error that `check` raises for every further call, regardless of the limits; None
            if calls are allowed.
    """

    limit_tokens: int | None = None
    limit_usd: float | None = None
    prices: Prices | None = None
    spent: dict[str, int] = field(
        default_factory=lambda: {"tokens_in": 0, "tokens_out": 0, "tokens_cached": 0}
    )
    estimated: int = 0
    closed: PeirceError | None = None

    @staticmethod
    def from_settings(settings: Mapping[str, Json], used: Mapping[str, Json]) -> Budget:
        """Return the budget of a session, in which the tokens of earlier calls already count.

        Args:
            settings: The settings, as `config.BudgetConfig.explicit_values` returns them.
            used: The token sums of the model calls in the journal; empty if there are none.
        """
        budget = Budget(
            settings.get("budget_tokens"),
            settings.get("budget_usd"),
            Prices.from_settings(settings),
        )
        for name in budget.spent:
            budget.spent[name] += int(used.get(name, 0))
        return budget

    def check(self) -> None:
        """Check that another model call may be made.

        Raises:
            BudgetSpent: A limit is reached.
            PeirceError: The budget was closed with this error.
        """
        if self.closed is not None:
            raise self.closed
        told = f"{self.estimated:,} of the calls estimated" if self.estimated else ""
        tokens = self.spent["tokens_in"] + self.spent["tokens_out"]
        if self.limit_tokens is not None and tokens >= self.limit_tokens:
            raise BudgetSpent(
                f"The budget of {self.limit_tokens:,} tokens is spent ({tokens:,} so far{told and f', {told}'}): resume"
                f" with a larger budget, for example --budget-tokens {_next_limit(self.limit_tokens, tokens)}."
            )
        if self.limit_usd is None or self.prices is None:
            return
        usd = self.prices.cost_usd(self.spent)
        if usd >= self.limit_usd:
            raise BudgetSpent(
                f"The budget of {self.limit_usd:g} US dollars is spent ({usd:.4g} so far{told and f', {told}'}): resume"
                f" with a larger budget, for example --budget-usd {_next_limit(self.limit_usd, usd):g}."
            )

    def count(self, usage: Usage) -> None:
        """Add the tokens of a call to the tokens spent."""
        self.estimated += isinstance(usage, EstimatedUsage)
        for name in self.spent:
            self.spent[name] += getattr(usage, name)


def _next_limit(limit: float, spent: float) -> float:
    """Return the smallest multiple of a limit that leaves half of it or more to spend."""
    return limit * math.ceil(spent / limit + 0.5)


def add_costs(usage: Mapping[str, Json], spending: Mapping[str, Json]) -> dict[str, Json]:
    """Return the token sums of a session with the cost in US dollars added as `cost_usd`.

    The cost is added to the total and to the sums by kind and by role. If the user set no prices,
    no cost is added.

    Args:
        usage: The token sums, as `Store.usage` returns them.
        spending: The settings that contain the prices.
    """
    prices = Prices.from_settings(spending)
    if prices is None:
        return dict(usage)

    def with_cost(sums: Mapping[str, Json]) -> dict[str, Json]:
        return {**sums, "cost_usd": round(prices.cost_usd(sums), 6)}

    parts = {by: {name: with_cost(sums) for name, sums in usage[by].items()} for by in ("by_kind", "by_role")}  # fmt: skip
    return {**with_cost(usage), **parts}
