"""The rows that bench scripts report, and the table that `make bench` prints of them.

Every script prints its figures for people. With `--json FILE` it also writes them as rows of one form,
so that `run_all.py` can put all scripts into one table and `compare.py` can pair the rows of two
working trees:

    {"protocol": 1, "skipped": null, "rows": [{"work": ..., "now": ..., "unit": ..., ...}]}

A row is identified by its script and its `work`, so `work` names what is done and contains no figure
that was measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

PROTOCOL = 1
HEADS = ("script", "work", "limit", "reference", "now", "ratio")


@dataclass(frozen=True)
class Row:
    """One figure of a bench script.

    Args:
        work: What is done, in words.
        now: The figure that was measured.
        unit: The unit of `now`, `reference` and a limit on `now`.
        better: Whether a lower or a higher figure is better.
        reference: What `now` is compared with, measured in the same run, or None.
        compared_with: What the reference is, in words.
        limit: The aim that the project has stated for this figure, or None where it has stated none.
        limit_of: Whether the limit applies to `now` or to the ratio. A limit is an upper bound where
            lower is better, else a lower bound.
    """

    work: str
    now: float
    unit: str
    better: Literal["lower", "higher"] = "lower"
    reference: float | None = None
    compared_with: str = ""
    limit: float | None = None
    limit_of: Literal["now", "ratio"] = "now"

    @property
    def ratio(self) -> float | None:
        """`now` divided by the reference; None without a reference other than 0."""
        return self.now / self.reference if self.reference else None

    @property
    def keeps_limit(self) -> bool | None:
        """Whether the figure keeps its limit; None where there is nothing to compare."""
        figure = self.now if self.limit_of == "now" else self.ratio
        if self.limit is None or figure is None:
            return None
        return figure <= self.limit if self.better == "lower" else figure >= self.limit

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "keeps_limit": self.keeps_limit}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Row:
        return cls(**{name: found[name] for name in cls.__dataclass_fields__})


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Give a script the option `--json FILE`."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as rows")


def write_rows(file: Path | None, rows: Sequence[Row], **details: Any) -> None:
    """Write the rows of a script, and further JSON values by name. Does nothing without a file."""
    if file is not None:
        found = {"protocol": PROTOCOL, "skipped": None, "rows": [row.as_json() for row in rows]}
        file.write_text(json.dumps({**found, **details}, indent=1) + "\n")


def write_skipped(file: Path | None, reason: str) -> None:
    """Say why nothing was measured, on the screen and in the file."""
    print(f"NOT MEASURED: {reason}", flush=True)
    if file is not None:
        found = {"protocol": PROTOCOL, "skipped": reason, "rows": []}
        file.write_text(json.dumps(found) + "\n")


def format_figure(value: float | None, unit: str = "") -> str:
    """Return a figure with three digits or more, and its unit."""
    if value is None:
        return "-"
    size = abs(value)
    if (value == int(value) and size < 1e15) or size >= 100:
        text = f"{value:,.0f}"
    elif size >= 0.001:
        text = f"{value:.3g}"
    else:
        text = f"{value:.2e}"
    return f"{text} {unit}".strip()


def format_ratio(value: float | None) -> str:
    """Return a ratio; one below a tenth is written as a fraction of 1."""
    if value is None:
        return "-"
    return f"1/{1 / value:,.0f}" if 0 < value < 0.1 else f"{value:,.3g}"


def format_limit(row: Row) -> str:
    """Return the limit with its direction, and a mark where the figure does not keep it."""
    if row.limit is None:
        return "-"
    sign = "≤" if row.better == "lower" else "≥"
    if row.limit_of == "now":
        text = f"{sign} {format_figure(row.limit, row.unit)}"
    else:
        text = f"ratio {sign} {format_ratio(row.limit)}"
    return f"{text} MISSED" if row.keeps_limit is False else text


def format_row(script: str, row: Row) -> tuple[str, ...]:
    reference = format_figure(row.reference, row.unit)
    if row.reference is not None and row.compared_with:
        reference += f" ({row.compared_with})"
    return (
        script, row.work, format_limit(row), reference, format_figure(row.now, row.unit),
        format_ratio(row.ratio),
    )  # fmt: skip


def format_table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table in columns as wide as their widest cell."""
    widths = [max(len(row[n]) for row in (heads, *body)) for n in range(len(heads))]
    lines = [heads, ["─" * width for width in widths], *body]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
