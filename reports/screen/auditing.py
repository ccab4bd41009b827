"""What `peirce tasks audit` prints: a line a check, what fails first, and figures of the set."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from ...records import Json
from .text import one_line, table


def print_audit(out: Console, told: Mapping[str, Json]) -> None:
    shown = table("check", "of", "passed", "failed", "first that fail", numbers=[2, 3])
    for one in sorted(told["checks"], key=lambda check: not check["failed"]):
        first = "; ".join(one["offenders"][:2])
        shown.add_row(
            one_line(one["check"], 100), one["of"], f"{one['passed']:,}", f"{one['failed']:,}",
            one_line(first, 120),
        )  # fmt: skip
    out.print(shown)
    figures = table("regime", "statistic", "prompt worlds", "holdouts")
    by_name: dict[tuple[str, str], dict[str, str]] = {}
    for row in told["statistics"]:
        said = f"{row['mean']:.3g} ({row['least']:.2g} to {row['most']:.2g})"
        by_name.setdefault((row["regime"], row["statistic"]), {})[row["worlds"]] = said
    for (regime, name), sides in by_name.items():
        figures.add_row(regime, name, sides.get("prompt", ""), sides.get("holdout", ""))
    out.print(figures)
    failed = told["failed"]
    out.print(
        f"{one_line(told['file'], 60)}: {told['instances']:,} instances, {told['holdouts']:,}"
        f" holdouts; {len(told['checks']) - failed} checks passed, {failed} failed"
    )
