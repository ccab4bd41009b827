"""What `peirce rate` and `peirce agree` print where a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console

from ...records import Json
from .text import one_line, table, visible

BY_RULES = "fdr, rc, hdr, precision and their like: by exact rules; no model made them"
_COLUMNS = ("n", "agreement", "within_one", "kappa", "weighted_kappa")


def print_ratings(out: Console, rows: Iterable[Mapping[str, Json]]) -> None:
    """A line a rating as it comes; of each problem what they come to, marked by who rated."""
    for row in rows:
        if row["kind"] != "summary":
            score = "unread" if row["score"] is None else f"{row['score']:g}"
            against = f" | {one_line(str(row['true']), 60)}" if row["true"] else ""
            line = f"{row['kind']:<13}{score:>6}  {one_line(str(row['hypothesis']), 60)}{against}"
            out.print(visible(line), soft_wrap=True)
            continue
        out.print(
            visible(f"{row['problem']}: {row['hypotheses']} hypotheses, rated by {row['by']}"),
            soft_wrap=True,
        )
        for name, told in row["scores"].items():
            parts = [f"{key} {_number(value)}" for key, value in told.items()]
            out.print(visible(f"  {name:<13}{', '.join(parts)}"), soft_wrap=True)


def print_agreement(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    if rows and "sheet" in rows[0]:
        told = rows[0]
        out.print(visible(f"written   {told['sheet']}: {told['items']} pairs"), soft_wrap=True)
        for problem, counts in told["strata"].items():
            parts = ", ".join(f"{count} of score {score}" for score, count in counts.items())
            out.print(visible(f"  {one_line(problem, 40)}: {parts}"), soft_wrap=True)
        return
    shown = table("question", "one", "other", *_COLUMNS, numbers=range(3, 3 + len(_COLUMNS)))
    for row in rows:
        names = (one_line(str(row[name]), 40) for name in ("question", "one", "other"))
        shown.add_row(*names, *(_number(row[name]) for name in _COLUMNS))
    out.print(shown)


def compared_by_rules(scored: Mapping[str, Json]) -> bool:
    """Whether a session has discovery scores by exact rules."""
    return (scored["metrics"].get("hdr") or {}).get("mean") is not None


def print_raters(out: Console, scored: Mapping[str, Json]) -> None:
    """Of an evaluated session on labelled text, who made its discovery scores; and those of raters."""
    if compared_by_rules(scored):
        out.print(BY_RULES, soft_wrap=True)
    for one in scored.get("rated", ()):
        told = [
            f"{name} hdr {_number(scores['hdr'])} (fdr {_number(scores['fdr'])}, rc"
            f" {_number(scores['rc'])})" if "hdr" in scores else f"{name} {_number(scores['mean'])}"
            for name, scores in one["scores"].items()
        ]  # fmt: skip
        out.print(
            visible(f"{one_line(one['problem'], 40)}, rated by {one['by']}: {', '.join(told)}"),
            soft_wrap=True,
        )


def _number(value: Json) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
