"""What a session may spend on its models, and where it stops if too many problems fail.

Every model call is checked before it is made and counted when it has come back; on resume what
the journal holds is counted first. Calls in flight when the budget is reached are let finish, so a
session may spend more than its budget by as many calls as run side by side. What an endpoint
charges for requests that gave no answer is not known here and not counted. Where it does not tell
what it counted, an estimate binds in its place, and the sentence that ends the session says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...agents.endpoint.limits import Estimated
from ...records import BudgetSpent, Json, PeirceError, Usage

PER = 1_000_000  # prices are for so many tokens
PRICES = ("price_in", "price_out", "price_cached")


@dataclass(frozen=True)
class Prices:
    """US dollars a million tokens. cached: of those going in; None: as all that go in. Reasoning
    is part of what comes out."""

    price_in: float
    price_out: float
    price_cached: float | None = None

    @staticmethod
    def of(spending: Mapping[str, Json]) -> Prices | None:
        """The prices that the user gave; None where there are none."""
        if spending.get("price_in") is None or spending.get("price_out") is None:
            return None
        return Prices(*(spending.get(name) for name in PRICES))  # type: ignore[arg-type]

    def cost_usd(self, usage: Mapping[str, Json]) -> float:
        """Of `tokens_in`, `tokens_out` and `tokens_cached` of a call or of a sum of calls."""
        cached = min(usage["tokens_cached"], usage["tokens_in"])
        again = self.price_in if self.price_cached is None else self.price_cached
        fresh = (usage["tokens_in"] - cached) * self.price_in
        return float((fresh + cached * again + usage["tokens_out"] * self.price_out) / PER)


@dataclass
class Budget:
    """spent: tokens and dollars so far, those of the journal first. estimated: calls of this run
    whose tokens the endpoint did not tell. closed: why no further call is made, whatever is left.
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
    def of(given: Mapping[str, Json], used: Mapping[str, Json]) -> Budget:
        """given: as `config.BudgetConfig.given` gives them; used: the sums of the model calls of the journal, if any."""
        budget = Budget(given.get("budget_tokens"), given.get("budget_usd"), Prices.of(given))
        for name in budget.spent:
            budget.spent[name] += int(used.get(name, 0))
        return budget

    def check(self) -> None:
        """Raises BudgetSpent, or what it was closed with, where no further call may be made."""
        if self.closed is not None:
            raise self.closed
        told = f"{self.estimated:,} of the calls estimated" if self.estimated else ""
        tokens = self.spent["tokens_in"] + self.spent["tokens_out"]
        if self.limit_tokens is not None and tokens >= self.limit_tokens:
            raise BudgetSpent(
                f"The budget of {self.limit_tokens:,} tokens is spent ({tokens:,} so far{told and f', {told}'}): resume"
                " with a larger --budget-tokens."
            )
        if self.limit_usd is None or self.prices is None:
            return
        usd = self.prices.cost_usd(self.spent)
        if usd >= self.limit_usd:
            raise BudgetSpent(
                f"The budget of {self.limit_usd:g} US dollars is spent ({usd:.4g} so far{told and f', {told}'}): resume"
                " with a larger --budget-usd."
            )

    def count(self, usage: Usage) -> None:
        self.estimated += isinstance(usage, Estimated)
        for name in self.spent:
            self.spent[name] += getattr(usage, name)


def priced(usage: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    """`Store.usage` with `cost_usd` in all, by kind and by role, where prices are known."""
    prices = Prices.of(given)
    if prices is None:
        return dict(usage)

    def with_cost(sums: Mapping[str, Json]) -> dict[str, Json]:
        return {**sums, "cost_usd": round(prices.cost_usd(sums), 6)}

    parts = {by: {name: with_cost(sums) for name, sums in usage[by].items()} for by in ("by_kind", "by_role")}  # fmt: skip
    return {**with_cost(usage), **parts}
