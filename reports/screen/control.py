"""Print the state of a session, as `peirce status` and the commands that control a session do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from ...records import Json
from .text import (
    DEFAULT_STORE,
    escape_unprintable,
    format_command,
    format_count,
    format_duration,
    format_resume,
    join_counts,
    to_one_line,
)

MAX_PROBLEMS = 10  # running problems that are listed


def print_status(out: Console, row: Mapping[str, Json]) -> None:
    """Print the state of a session in a few lines, with the command that goes on from it.

    Args:
        out: The console.
        row: The state (`commands.session.results.SessionStatus`).
    """
    pid = f", process {row['pid']}" if row["pid"] else ""
    store = DEFAULT_STORE if Path(row["store"]) == Path(DEFAULT_STORE).resolve() else row["store"]
    _line(out, f"Session {row['session']}: {row['status']}{pid}")
    if row.get("cause"):
        _line(out, f"Cause: {to_one_line(row['cause'], 300)}")
    _line(out, f"{row['task']}, {row['method']}, {row['model']}; store {store}")
    ended = f"{row['done']:,} done, {row['failed']:,} failed, {row['open']:,} open"
    _line(out, f"{format_count(row['problems'], 'problem')}: {ended}; {format_count(row['steps'], 'step')}")  # fmt: skip
    if verdicts := join_counts(row["verdicts"]):
        _line(out, f"Hypotheses: {verdicts}")
    _line(out, _describe_usage(row))
    if row["pid"]:
        _line(out, f"Concurrency {row['concurrency']}; {format_count(row['in_flight'], 'call')} in flight")  # fmt: skip
        running = [f"{one['problem']} (step {one['step']})" for one in row["running"]]
        more = f", and {len(running) - MAX_PROBLEMS} more" if len(running) > MAX_PROBLEMS else ""
        if running:
            _line(out, f"Running: {', '.join(running[:MAX_PROBLEMS])}{more}")
    for one in row["questions"]:
        _line(out, f"Question for {one['problem']}, since {one['since']}: {to_one_line(one['question'], 300)}")  # fmt: skip
    if row.get("note"):
        _line(out, f"Note: {row['note']}")
    if row["log"]:
        _line(out, f"Log: {row['log']}")
    if row["status"] == "paused":
        _line(out, f"To go on, run: {format_command('continue', row['session'], store)}")
    elif not row["pid"] and (row["open"] or row["failed"]):
        again = format_resume(row["session"], store, failed=bool(row["failed"]), cause=row.get("cause", ""))  # fmt: skip
        _line(out, f"To continue, run: {again}")


def _describe_usage(row: Mapping[str, Json]) -> str:
    usage = row["usage"]
    tokens = usage.get("tokens_in", 0) + usage.get("tokens_out", 0)
    limit = f" of at most {row['budget_tokens']:,}" if row["budget_tokens"] else ""
    parts = [f"{tokens:,} tokens{limit}"]
    if "cost_usd" in usage:
        most = f" of at most ${row['budget_usd']:g}" if row["budget_usd"] else ""
        parts.append(f"${usage['cost_usd']:.4g}{most}")
    return f"Used: {', '.join(parts)}; {format_duration(row['seconds'])}"


def _line(out: Console, text: str) -> None:
    out.print(escape_unprintable(text), markup=False, highlight=False, soft_wrap=True)
