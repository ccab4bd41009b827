"""Terminal output of `peirce compare`: metrics and costs of sessions, a column for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from ...records import Json
from ..costs import ROLE_NAMES, format_usd
from ..files import tables
from ..files.tables import Cell, Table
from ..judging import describe_judging
from ..marginal_gain import describe_advice
from ..metrics.evaluation import find_evaluation
from .text import escape_unprintable

RESULTS = (
    ("accepted hypothesis", "per_accepted"),
    ("unit of gamma", "per_gamma"),
    ("solved problem", "per_solved"),
)


def print_comparison(out: Console, result: Mapping[str, Json]) -> None:
    """Print the result of `peirce compare`.

    Args:
        out: The console.
        result: The result, as `peirce compare --json` prints it.
    """
    sessions = result["sessions"]
    metrics = {
        one.name: one
        for session in sessions
        for one in find_evaluation(session["evaluation"]).metrics
    }
    scored, _ = tables.split_valued(tables.summary_table(sessions, list(metrics.values())))
    out.print(tables.as_text(scored, out.width))
    out.print()
    out.print(tables.as_text(cost_table(sessions), out.width))
    out.print()
    names = tables.session_headings(sessions)
    for name, one in zip(names, sessions, strict=True):
        told = [
            *(f"{count} {status}" for status, count in one["left_out"].items()),
            *describe_judging(one.get("judging", {})),
            *describe_advice(one["gain"]),
        ]
        for line in told:
            out.print(f"{escape_unprintable(name)}: {escape_unprintable(line)}", soft_wrap=True)
    for path in result.get("files", ()):
        out.print(f"written   {escape_unprintable(path)}", soft_wrap=True)


def cost_table(sessions: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of what sessions found and what they spent, one column for each session.

    A row is left out if no session has a value.

    Args:
        sessions: The sessions of a result of `peirce compare`.
    """
    costs = [one["costs"] for one in sessions]
    rows: list[tuple[str, Callable[[Mapping[str, Any]], Cell]]] = [
        ("problems", lambda one: one["problems"]),
        ("solved problems", lambda one: one["solved"]),
        ("accepted hypotheses", lambda one: one["accepted"]),
        ("gamma, summed over problems", lambda one: one["gamma"]),
        ("model calls", lambda one: one["total"]["calls"]),
        ("reused answers", lambda one: one["total"]["reused"] or None),
        ("input tokens", lambda one: one["total"]["tokens_in"] or None),
        ("of these cached", _cached_share),
        ("output tokens", lambda one: one["total"]["tokens_out"] or None),
        ("US dollars", lambda one: _dollars(one["total"])),
        ("seconds of model calls", lambda one: round(one["total"]["seconds"], 1)),
    ]
    for name, key in RESULTS:
        rows += [
            (f"{what} for each {name}", _pick(read, key))
            for what, read in (
                ("calls", _calls),
                ("tokens", _tokens),
                ("US dollars", _dollars),
                ("seconds", _seconds),
            )
        ]
    for role in dict.fromkeys(role for one in costs for role in one["by_role"]):
        named = ROLE_NAMES.get(role, role)
        rows += [
            (f"calls of the {named}", _pick_role(role, lambda sums: sums["calls"])),
            (f"tokens of the {named}", _pick_role(role, _total_tokens)),
            (f"accepted from the {named}", _pick_role(role, lambda sums: sums.get("accepted"))),
        ]
    body = [(name, *map(read, costs)) for name, read in rows]
    kept = [row for row in body if any(cell is not None for cell in row[1:])]
    return Table(("cost", *tables.session_headings(sessions)), tuple(kept))


def _pick(
    read: Callable[[Mapping[str, Any]], Cell], key: str
) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda one: None if one[key] is None else read(one[key])


def _pick_role(
    role: str, read: Callable[[Mapping[str, Any]], Cell]
) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda one: read(one["by_role"][role]) if role in one["by_role"] else None


def _cached_share(costs: Mapping[str, Any]) -> Cell:
    total = costs["total"]
    if not total["tokens_cached"] or not total["tokens_in"]:
        return None
    return f"{min(total['tokens_cached'], total['tokens_in']) / total['tokens_in']:.0%}"


def _calls(amounts: Mapping[str, Any]) -> Cell:
    return round(float(amounts["calls"]), 2)


def _tokens(amounts: Mapping[str, Any]) -> Cell:
    return round(amounts["tokens"]) or None


def _total_tokens(sums: Mapping[str, Any]) -> Cell:
    return sums["tokens_in"] + sums["tokens_out"] or None


def _dollars(amounts: Mapping[str, Any]) -> Cell:
    return format_usd(amounts["cost_usd"]) if amounts.get("cost_usd") else None


def _seconds(amounts: Mapping[str, Any]) -> Cell:
    return round(float(amounts["seconds"]), 2)
