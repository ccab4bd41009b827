"""The tables of a sweep: one row for each session, and means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import Json
from .tables import Cell, Mean, Table, as_csv, as_markdown

SUFFIXES = (".csv", ".md")


def session_table(rows: Sequence[Mapping[str, Any]], metrics: int | None = None) -> Table:
    """Return a table with one row for each session of a sweep.

    Args:
        rows: The rows of `peirce sweep`.
        metrics: The number of metrics to show; None for all.
    """
    axes, names = _axes(rows), _metrics(rows)[:metrics]
    body = []
    for row in rows:
        values: list[Cell] = [
            Mean(one["mean"], one["low"], one["high"])
            if (one := row["metrics"].get(name)) and one["mean"] is not None
            else None
            for name in names
        ]
        plain = [_plain(row["axes"].get(axis)) for axis in axes]
        body.append((*plain, row["session"] or "", row["status"], row["problems"], *values))
    return Table((*axes, "session", "status", "problems", *names), tuple(body))


def forecast_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with the numbers of calls that the sessions of a sweep would make."""
    roles = list(dict.fromkeys(role for row in rows for role in row["calls"]))
    body = [
        (
            *(_plain(row[name]) for name in ("task", "method", "model", "seed")),
            row["problems"],
            *(_range(row["calls"].get(role)) for role in roles),
        )
        for row in rows
    ]
    headings = ("task", "method", "model", "seed", "problems")
    return Table((*headings, *(f"calls of the {role}" for role in roles)), tuple(body))


def _range(calls: Mapping[str, int] | None) -> str:
    if calls is None:
        return ""
    least, most = calls["least"], calls["most"]
    return str(least) if least == most else f"{least} to {most}"


def seed_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with the means over the seeds of each combination of the other settings.

    A mean is that of the sessions' means. Its bounds are the smallest and the largest of them, because
    few seeds give no reliable interval. Only sessions that are done count.
    """
    axes, names = [axis for axis in _axes(rows) if axis != "seed"], _metrics(rows)
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == "done":
            key = tuple(_plain(row["axes"].get(axis)) for axis in axes)
            groups.setdefault(key, []).append(row)
    body = []
    for key, some in groups.items():
        cells: list[Cell] = []
        for name in names:
            found = [
                one for row in some if (one := row["metrics"].get(name, {}).get("mean")) is not None
            ]
            cells.append(Mean(sum(found) / len(found), min(found), max(found)) if found else None)
        body.append((*key, len(some), *cells))
    return Table((*axes, "seeds", *names), tuple(body))


def render_files(rows: Sequence[Mapping[str, Any]], target: Path) -> dict[Path, str | bytes]:
    """Return the contents of the files of a sweep, by path.

    Args:
        rows: The rows of `peirce sweep`.
        target: A .csv or .md file for the table of sessions, or a folder for both tables in both forms.
    """
    forms = {".csv": as_csv, ".md": as_markdown}
    if target.suffix in SUFFIXES:
        return {target: forms[target.suffix](session_table(rows))}
    return {
        target / f"{name}{suffix}": render(table)
        for name, table in (("sessions", session_table(rows)), ("seeds", seed_table(rows)))
        for suffix, render in forms.items()
    }


def _axes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(axis for row in rows for axis in row["axes"]))


def _metrics(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["metrics"]))


def _plain(value: Json) -> str:
    return "" if value is None else str(value)
