"""Tables as aligned text, Markdown and CSV.

The functions take sessions as `peirce eval` prints them: {session, task, method, model, problems,
metrics: {name: {mean, low, high, n}}}. They read and write no files.

Names in a table may come from a model. Therefore line breaks and control characters in names are
shown as "�", and characters with a meaning in Markdown tables are escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...records import Json
from ..metrics.evaluation import Metric

NO_VALUE = "–"
_SIGNED = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?%?")


@dataclass(frozen=True)
class Mean:
    """A table cell with a mean, and with its interval if there is one.

    Args:
        mean: The mean.
        low: Lower bound of the interval; None without an interval.
        high: Upper bound of the interval; None without an interval.
        note: What the mean covers, if the row of the table does not say this.
    """

    mean: float
    low: float | None
    high: float | None
    note: str = ""

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        if self.low is None or self.high is None:
            return f"{self.mean:.3f}{note}"
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]{note}"


Cell = str | int | float | Mean | None


@dataclass(frozen=True)
class Table:
    """A table that can be written as text, Markdown or CSV.

    Text and Markdown show numbers with three decimals and None as "–". CSV has numbers with all
    digits and empty cells for None.

    Args:
        headings: The names of the columns.
        rows: The rows. Each row has one cell for each heading.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


# --- from summaries to tables ------------------------------------------------


def summary_table(
    sessions: Sequence[Mapping[str, Json]],
    metrics: Sequence[Metric],
    *,
    rows: Literal["metrics", "sessions"] = "metrics",
) -> Table:
    """Return a table of sessions, with a mean, its 95% interval and the number of problems n per
    metric.

    A metric that no session has is left out.

    Args:
        sessions: The sessions of a result of `peirce eval`.
        metrics: The metrics to show first. Further metrics of the sessions follow.
        rows: "metrics" gives one row per metric and columns for each session; "sessions" gives one
            row per session.
    """
    names = session_headings(sessions)
    shown = _metrics(sessions, metrics)
    if rows == "sessions":
        columns = [h for m in shown for h in (_titled(m), "n")]
        body = [
            (name, *(cell for m in shown for cell in _cells(session, m.name)))
            for name, session in zip(names, sessions, strict=True)
        ]
        return Table(("session", *columns), tuple(body))
    columns = [h for name in names for h in (name, "n")]
    body = [
        (_titled(m), *(cell for session in sessions for cell in _cells(session, m.name)))
        for m in shown
    ]
    return Table(("metric", *columns), tuple(body))


def split_valued(table: Table) -> tuple[Table, list[str]]:
    """Split a `summary_table` into the rows that have a mean and the names of all other metrics.

    If no row has a mean, all rows are kept and the list of names is empty.
    """
    full = tuple(row for row in table.rows if any(isinstance(cell, Mean) for cell in row))
    if not full:
        return table, []
    rest = [str(row[0]).rstrip(" ↑↓") for row in table.rows if row not in full]
    return Table(table.headings, full), rest


def long_table(sessions: Sequence[Mapping[str, Json]], metrics: Sequence[Metric]) -> Table:
    """Return a table with one row per session and metric, with all digits, for CSV.

    Args:
        sessions: The sessions of a result of `peirce eval`.
        metrics: The metrics to list first. Further metrics of the sessions follow.
    """
    fields = ("session", "task", "method", "model")
    body = []
    for session in sessions:
        for metric in _metrics([session], metrics):
            value = session["metrics"][metric.name]
            body.append(
                (
                    *(_plain(session.get(field)) for field in fields),
                    metric.name,
                    metric.better or "",
                    *(value[key] for key in ("mean", "low", "high", "n")),
                )
            )
    return Table((*fields, "metric", "better", "mean", "low", "high", "n"), tuple(body))


def problem_table(by_problem: Sequence[Mapping[str, Json]]) -> Table:
    """Return a table with one row per problem and one column for each key that occurs."""
    columns = list(dict.fromkeys(key for row in by_problem for key in row))
    return Table(
        tuple(columns), tuple(tuple(row.get(key) for key in columns) for row in by_problem)
    )


def session_headings(sessions: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return a short name for each session, made of the fields in which the sessions differ.

    The name always contains the model. It contains the task or the method if the sessions differ in
    it, and the session's id if nothing else distinguishes the sessions. If the model received
    feedback, the name says which (reports/papers/abd/records.py).
    """
    fields = ["task", "method", "model"]
    differ = [f for f in fields if len({str(s.get(f)) for s in sessions}) > 1]
    used = [f for f in fields if f in differ or f == "model"]
    names = [
        " · ".join([*(_plain(s.get(f)) for f in used), *_describe_feedback(s)]) for s in sessions
    ]
    if len(set(names)) == len(names):
        return names
    return [f"{name} · {_plain(s.get('session'))}" for name, s in zip(names, sessions, strict=True)]


def _describe_feedback(session: Mapping[str, Json]) -> list[str]:
    told = session.get("feedback")
    return [] if told in (None, "none") else [f"feedback: {_plain(told)}"]


# --- from tables to text -----------------------------------------------------


def as_text(table: Table, width: int | None = 100) -> str:
    """Return a table as text with aligned columns.

    If the table is wider than `width` characters, further columns follow in blocks below, which
    repeat the first column. None means no limit.
    """
    cells = [list(map(_clean, table.headings)), *([_shown(c) for c in row] for row in table.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.headings))]
    right = [_numeric(table, i) for i in range(len(table.headings))]
    blocks = []
    for columns in _blocks(table.headings, widths, width):
        lines = [
            "  ".join(
                row[i].rjust(widths[i]) if right[i] else row[i].ljust(widths[i]) for i in columns
            ).rstrip()
            for row in cells
        ]
        rule = "  ".join("─" * widths[i] for i in columns)
        blocks.append("\n".join([lines[0], rule, *lines[1:]]))
    return "\n\n".join(blocks)


def as_markdown(table: Table) -> str:
    """Return a table as a Markdown pipe table."""
    marks = ["---:" if _numeric(table, i) else "---" for i in range(len(table.headings))]
    lines = [[_escaped(_clean(h)) for h in table.headings], marks]
    lines += [[_escaped(_shown(cell)) for cell in row] for row in table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_text_cell(text: str) -> str:
    """Return a text in a form that spreadsheets do not read as a formula.

    The text may come from a model or a file. Numbers and single characters are unchanged.
    """
    if len(text) < 2 or text[0] not in "=+-@\t\r" or _SIGNED.fullmatch(text):
        return text
    return f" {text}"


def as_csv(table: Table) -> str:
    """Return a table as comma-separated text with one heading line and all digits of numbers.

    A column NAME of means becomes the columns "NAME", "NAME low" and "NAME high", and also "NAME
    of" if cells have notes. A column "n" after it becomes "NAME n".
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [[row[i] for row in table.rows] for i in range(len(table.headings))]
    made: list[tuple[str, list[Cell]]] = []
    mean = ""
    for heading, cells in zip(table.headings, columns, strict=True):
        name = _clean(heading)
        if any(isinstance(cell, Mean) for cell in cells):
            mean = name.rstrip(" ↑↓")
            made += [(f"{mean}{part}", read) for part, read in _in_parts(cells)]
        else:
            made.append((f"{mean} n" if mean and name == "n" else name, cells))
            mean = ""
    writer.writerow([as_text_cell(name) for name, _ in made])
    for row in zip(*(cells for _, cells in made), strict=True):
        writer.writerow([as_text_cell(_clean(c)) if isinstance(c, str) else c for c in row])
    return out.getvalue()


def _in_parts(cells: Sequence[Cell]) -> list[tuple[str, list[Cell]]]:
    means = [cell if isinstance(cell, Mean) else None for cell in cells]
    parts: list[tuple[str, list[Cell]]] = [
        ("", [one.mean if one else None for one in means]),
        (" low", [one.low if one else None for one in means]),
        (" high", [one.high if one else None for one in means]),
    ]
    if any(one and one.note for one in means):
        parts.append((" of", [one.note or None if one else None for one in means]))
    return parts


# --- inside ------------------------------------------------------------------


def _metrics(sessions: Sequence[Mapping[str, Json]], metrics: Sequence[Metric]) -> list[Metric]:
    """Return those of `metrics` that a session has, then further metrics of the sessions."""
    there = list(dict.fromkeys(name for s in sessions for name in s["metrics"]))
    known = {m.name for m in metrics}
    own = [Metric(name, None, "") for name in there if name not in known]
    return [*(m for m in metrics if m.name in there), *own]


def _titled(metric: Metric) -> str:
    return f"{metric.name} {metric.arrow}".rstrip()


def _cells(session: Mapping[str, Json], name: str) -> tuple[Cell, Cell]:
    value = session["metrics"].get(name)
    if value is None:
        return None, None
    if value["mean"] is None:
        return None, value["n"]
    return Mean(value["mean"], value["low"], value["high"]), value["n"]


def _plain(value: Json) -> str:
    return "" if value is None else _clean(str(value))


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)


def _shown(cell: Cell) -> str:
    if cell is None:
        return NO_VALUE
    return f"{cell:.3f}" if isinstance(cell, float) else _clean(str(cell))


def _escaped(text: str) -> str:
    for mark, safe in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`"), ("*", "\\*")):
        text = text.replace(mark, safe)
    return text


def _numeric(table: Table, column: int) -> bool:
    """Return whether a column holds numbers or means, which are aligned to the right."""
    return column > 0 and not any(isinstance(row[column], str) for row in table.rows)


def _blocks(headings: tuple[str, ...], widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Return the columns of each block; all start with the first one, and "n" follows its mean."""
    blocks, used = [[0]], widths[0]
    for i in range(1, len(widths)):
        if headings[i] == "n" and i > 1:
            continue
        group = [i, i + 1] if headings[i + 1 : i + 2] == ("n",) else [i]
        needed = sum(2 + widths[j] for j in group)
        if width is not None and len(blocks[-1]) > 1 and used + needed > width:
            blocks.append([0])
            used = widths[0]
        blocks[-1].extend(group)
        used += needed
    return blocks
