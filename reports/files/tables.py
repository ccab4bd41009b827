"""Tables as plain aligned text, Markdown and CSV. Pure functions of what `peirce eval` prints:
sessions as {session, task, method, model, problems, metrics: {name: {mean, low, high, n}}}.

Names in a table are data: line breaks and control characters in them are shown as "�", and what
would end a cell in Markdown is escaped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...records import Json
from ..metrics.evaluation import Metric

NO_VALUE = "–"


@dataclass(frozen=True)
class Mean:
    """A mean with its interval where it has one, in one cell; note: what it is of, where its row does
    not say."""

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
    """headings: (c,) names; rows: c cells each. A number is printed with three decimals in text
    and Markdown, whole in CSV; None is "–" there and empty here."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


# --- from summaries to tables ------------------------------------------------


def summary_table(
    sessions: Sequence[Mapping[str, Json]],
    metrics: Sequence[Metric],
    *,
    rows: Literal["metrics", "sessions"] = "metrics",
) -> Table:
    """Sessions side by side: each mean with its 95% interval and, beside it, the number of
    problems behind it. A metric no session has is left out."""
    names = headings(sessions)
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


def valued(table: Table) -> tuple[Table, list[str]]:
    """The rows of a `summary_table` of metrics that hold a mean, and the names of the others; all
    rows where none holds one."""
    full = tuple(row for row in table.rows if any(isinstance(cell, Mean) for cell in row))
    if not full:
        return table, []
    rest = [str(row[0]).rstrip(" ↑↓") for row in table.rows if row not in full]
    return Table(table.headings, full), rest


def long_table(sessions: Sequence[Mapping[str, Json]], metrics: Sequence[Metric]) -> Table:
    """One row for each session and metric, numbers whole: what CSV is best read from."""
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
    """One row a problem; columns as the first row has them, then what others add."""
    columns = list(dict.fromkeys(key for row in by_problem for key in row))
    return Table(
        tuple(columns), tuple(tuple(row.get(key) for key in columns) for row in by_problem)
    )


def headings(sessions: Sequence[Mapping[str, Json]]) -> list[str]:
    """A short name for each session, from what tells them apart: the model, and task or method
    where they differ; the session's id where nothing else does. What the model was told meanwhile
    is always said (reports/papers/abd/records.py)."""
    fields = ["task", "method", "model"]
    differ = [f for f in fields if len({str(s.get(f)) for s in sessions}) > 1]
    used = [f for f in fields if f in differ or f == "model"]
    names = [" · ".join([*(_plain(s.get(f)) for f in used), *_told(s)]) for s in sessions]
    if len(set(names)) == len(names):
        return names
    return [f"{name} · {_plain(s.get('session'))}" for name, s in zip(names, sessions, strict=True)]


def _told(session: Mapping[str, Json]) -> list[str]:
    told = session.get("feedback")
    return [] if told in (None, "none") else [f"feedback: {_plain(told)}"]


# --- from tables to text -----------------------------------------------------


def as_text(table: Table, width: int | None = 100) -> str:
    """Aligned columns, numbers to the right. Columns that do not fit `width` characters follow
    in further blocks that repeat the first one."""
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
    """A pipe table."""
    marks = ["---:" if _numeric(table, i) else "---" for i in range(len(table.headings))]
    lines = [[_escaped(_clean(h)) for h in table.headings], marks]
    lines += [[_escaped(_shown(cell)) for cell in row] for row in table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_csv(table: Table) -> str:
    """Comma-separated, one heading line of different names, numbers whole, no value empty. A column
    of means becomes three, "NAME", "NAME low" and "NAME high", and "NAME of" where cells have notes;
    the "n" behind it is "NAME n"."""
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
    writer.writerow([name for name, _ in made])
    for row in zip(*(cells for _, cells in made), strict=True):
        writer.writerow([_clean(c) if isinstance(c, str) else c for c in row])
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
    """Those of `metrics` that a session has, then the sessions' own that are not among them."""
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
    """Numbers, and means with their intervals, stand to the right."""
    return column > 0 and not any(isinstance(row[column], str) for row in table.rows)


def _blocks(headings: tuple[str, ...], widths: Sequence[int], width: int | None) -> list[list[int]]:
    """The columns of each block, the first one in all; an "n" stays with the mean before it."""
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
