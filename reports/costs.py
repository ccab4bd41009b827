"""What a session spent on its models for each result: accepted hypothesis, unit of gamma, solved problem.

Everything is a function of the store's records: the usage of the model calls, the verdicts and the
prices. Calls of the sandbox or the solver are no costs. The answered calls of failed and open problems
are costs too, and what their recorded steps found is a result. Tokens of requests whose call failed for
good are not in the costs, because the journal keeps no tokens of such a call. An answer that was taken
from another session has no tokens and is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..records import ROLES_OF_CALLS, Json, SessionPrices
from .answer_gains import PROPOSER, REPAIRER, SEEDER, ProblemGains
from .proposers import THEN

if TYPE_CHECKING:
    from ..store import Store

PROPOSING = (PROPOSER, THEN, REPAIRER, SEEDER)  # roles that give hypotheses
ROLE_NAMES = {THEN: "second proposer", "judge2": "second judge"}  # in texts
COUNTS = ("tokens_in", "tokens_out", "tokens_cached")


def read_costs(
    store: Store, session: str, gains: Sequence[ProblemGains], spending: Mapping[str, Json]
) -> dict[str, Json]:
    """Return what a session spent for each result (`summarize_costs`).

    Args:
        store: The open store.
        session: The id of the session.
        gains: What the answers to each problem added (answer_gains.py).
        spending: The settings that contain the prices.
    """
    prices = SessionPrices.from_settings(spending)
    return summarize_costs(store.model_usage(session), gains, prices)


def summarize_costs(
    usage: Mapping[str, Mapping[str, Any]],
    gains: Sequence[ProblemGains],
    prices: SessionPrices | None = None,
) -> dict[str, Json]:
    """Return what a session spent for each result.

    Args:
        usage: The sums over the model calls by name in their path (`Store.model_usage`).
        gains: What the answers to each problem added.
        prices: The prices of tokens; None if they are unknown.

    Returns:
        {"problems", "accepted", "gamma", "solved", "total", "per_accepted", "per_gamma",
        "per_solved", "by_role"}. "gamma" is the sum over problems. "total" has "calls" (model calls
        that were made), "reused" (answers taken from other sessions), "tokens_in", "tokens_out",
        "tokens_cached", "seconds" (added up over concurrent calls) and, with prices, "cost_usd". A
        "per_…" has "calls", "tokens" (in and out), "seconds" and, with prices, "cost_usd"; it is None
        where nothing was found, and "gamma" and "per_gamma" are None where the predictions of a
        consistent hypothesis are not known. A role in "by_role" has the keys of "total" and
        "per_accepted". For a role that gives hypotheses, this is by its own accepted hypotheses, and
        the role also has "accepted" and "solved", the number of problems that it solved.
    """
    by_role: dict[str, dict[str, Any]] = {}
    for name, used in usage.items():
        sums = by_role.setdefault(ROLES_OF_CALLS.get(name, name), _nothing())
        sums["calls"] += used["calls"] - used["repeated"]
        sums["reused"] += used["repeated"]
        for key in (*COUNTS, "seconds"):
            sums[key] += used[key]
    total = _nothing()
    for sums in by_role.values():
        for key in total:
            total[key] += sums[key]
    accepted = sum(sum(one.accepted.values()) for one in gains)
    solved = sum(one.solver is not None for one in gains)
    gamma = _sum_gamma(gains)
    if prices is not None:
        for role, sums in by_role.items():
            sums["cost_usd"] = round(prices.cost_usd(role, sums), 6)
        total["cost_usd"] = round(prices.total_usd(usage), 6)
    for role, sums in by_role.items():
        own = accepted
        if role in PROPOSING:
            own = sums["accepted"] = sum(one.accepted.get(role, 0) for one in gains)
            sums["solved"] = sum(one.solver == role for one in gains)
        sums["per_accepted"] = _divide(sums, own)
    return {
        "problems": len(gains),
        "accepted": accepted,
        "gamma": None if gamma is None else round(gamma, 6),
        "solved": solved,
        "total": total,
        "per_accepted": _divide(total, accepted),
        "per_gamma": _divide(total, gamma),
        "per_solved": _divide(total, solved),
        "by_role": by_role,
    }


def _nothing() -> dict[str, Any]:
    return {"calls": 0, "reused": 0, **dict.fromkeys(COUNTS, 0), "seconds": 0.0}


def _sum_gamma(gains: Sequence[ProblemGains]) -> float | None:
    found = [one.gamma for one in gains]
    return None if None in found else sum(one for one in found if one is not None)


def _divide(sums: Mapping[str, Any], number: float | None) -> dict[str, Json] | None:
    """Return the costs for each of a number of results; None without a result."""
    if not number:
        return None
    tokens = sums["tokens_in"] + sums["tokens_out"]
    found = {
        "calls": round(sums["calls"] / number, 4),
        "tokens": round(tokens / number, 2),
        "seconds": round(sums["seconds"] / number, 4),
    }
    if "cost_usd" in sums:
        found["cost_usd"] = round(sums["cost_usd"] / number, 8)
    return found


# --- Sentences


def describe_costs(costs: Mapping[str, Any]) -> list[str]:
    """Return the costs of a session in at most one line; none without a model call."""
    total = costs["total"]
    if not total["calls"] and not total["reused"]:
        return []
    per_accepted = costs["per_accepted"]
    if per_accepted is None:
        summed = {**total, "tokens": total["tokens_in"] + total["tokens_out"]}
        return [f"{_amount(summed, 'model call')} in total{_reused(total)}"]
    said = f"{_amount(per_accepted, 'model call')} for {_each(costs['accepted'], 'accepted hypothesis', 'accepted hypotheses')}"
    others = []
    if costs["per_solved"] and costs["solved"] != costs["accepted"]:
        of = _each(costs["solved"], "solved problem", "solved problems")
        others.append(f"{_main_amount(costs['per_solved'])} for {of}")
    if costs["per_gamma"] and costs["accepted"] > 1:
        others.append(f"{_main_amount(costs['per_gamma'])} for each unit of gamma")
    return ["; ".join([said, *([" and ".join(others)] if others else [])]) + _reused(total)]


def describe_roles(costs: Mapping[str, Any]) -> list[str]:
    """Return the costs of each role in one line; none with a single role."""
    roles = {role: sums for role, sums in costs["by_role"].items() if sums["calls"]}
    if len(roles) < 2:
        return []
    told = []
    for role, sums in roles.items():
        summed = {**sums, "tokens": sums["tokens_in"] + sums["tokens_out"]}
        found = f" ({sums['accepted']:,} accepted)" if "accepted" in sums else ""
        told.append(f"{ROLE_NAMES.get(role, role)} {_amount(summed, 'call')}{found}")
    return ["; ".join(told)]


def describe_cached(costs: Mapping[str, Any]) -> list[str]:
    """Return which share of the input tokens an endpoint had cached; none where it reported none."""
    total = costs["total"]
    if not total["tokens_cached"] or not total["tokens_in"]:
        return []
    share = min(total["tokens_cached"], total["tokens_in"]) / total["tokens_in"]
    return [f"{share:.0%} of {total['tokens_in']:,} input tokens were cached"]


def format_usd(amount: float) -> str:
    """Return an amount in US dollars with at least two significant digits, as 12.30 or 0.00042."""
    digits = 2
    while digits < 8 and 0 < amount < 10 ** (1 - digits):
        digits += 1
    return f"{amount:,.{digits}f}"


def _reused(total: Mapping[str, Any]) -> str:
    """Return how many answers were taken from other sessions, as the end of a line."""
    if not total["reused"]:
        return ""
    return f" ({total['reused']:,} of {total['reused'] + total['calls']:,} answers were reused)"


def _each(number: int, one: str, several: str) -> str:
    return f"the {one}" if number == 1 else f"each of {number:,} {several}"


def _amount(amounts: Mapping[str, Any], noun: str) -> str:
    """Return calls, tokens, dollars and seconds in words; tokens and dollars only if there are any."""
    calls = _round_count(amounts["calls"])
    told = [f"{calls} {noun}{'' if calls == '1' else 's'}"]
    if amounts["tokens"]:
        told.append(f"{amounts['tokens']:,.0f} tokens")
        if "cost_usd" in amounts:
            told.append(f"{format_usd(amounts['cost_usd'])} US dollars")
    told.append(_seconds(amounts["seconds"]))
    return f"{', '.join(told[:-1])} and {told[-1]}"


def _main_amount(amounts: Mapping[str, Any]) -> str:
    """Return dollars if they are known, otherwise tokens, otherwise seconds."""
    if not amounts["tokens"]:
        return _seconds(amounts["seconds"])
    if "cost_usd" in amounts:
        return f"{format_usd(amounts['cost_usd'])} US dollars"
    return f"{amounts['tokens']:,.0f} tokens"


def _round_count(count: float) -> str:
    return f"{count:.2f}" if count < 1 else f"{count:,.1f}".removesuffix(".0")


def _seconds(seconds: float) -> str:
    from .screen.text import format_duration

    return format_duration(seconds) if seconds >= 0.05 else "under 0.1 s"
