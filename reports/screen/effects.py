"""Print the effects of the sentences in a bank (`peirce bank --effects`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ...records import Json
from ...tools.odds_ratios import OddsRatio
from ..effect_wording import format_ratio
from ..sentence_effects import SHOWN
from .listings import EMPTY_BANK_TEXT
from .text import SHORTENED, create_table, format_hypothesis, to_one_line

LEGEND = (
    "Odds ratio: the odds of the label in rows to which the sentence gives it, divided by its odds in"
    " the rows compared with them, with Woolf's 95% interval. Applies: the share of rows to which the"
    " sentence gives the label; if it gives two labels, the share with the first of the share with"
    " either. Found again: the share of 200 bootstrap samples of the rows with the odds ratio on the"
    " same side of 1 / with an interval that excludes 1. Within a column: the Mantel-Haenszel odds"
    " ratio."
)
MODEL_TEXT = "no effect: only a model could apply it"
SHOWN_NOTE = " (the rows that the search saw, so sentences look better than they are)"
SPLITS = ("test", "validation", SHOWN)
MAX_SENTENCE = 400  # characters


def print_effects(out: Console, rows: Sequence[Mapping[str, Json]], full: bool = False) -> None:
    """Print the sentences of a bank with their effects, by problem and best first.

    Args:
        out: The console.
        rows: The rows of `peirce bank --effects --json`.
        full: Print sentences whole, however long they are.
    """
    if not rows:
        out.print(EMPTY_BANK_TEXT)
        return
    for problem, found in groupby(rows, key=lambda row: row["problem"]):
        own = list(found)
        out.print(Text(_heading(str(problem), own), style="bold"), soft_wrap=True)
        table = create_table("rank", "label", "odds ratio", "effect", "applies", "right", "found again",
                             "sentence", numbers=[0, 2, 4, 5, 6])  # fmt: skip
        for row in own:
            for effect in row["effects"]:
                table.add_row(*_cells(row, effect, full))
            if not row["effects"]:
                sentence = format_hypothesis(row, row["text"], MAX_SENTENCE, full)
                table.add_row(
                    str(row["rank"]), "", "", "", "", "", "", f"{sentence} ({MODEL_TEXT})"
                )
        out.print(table)
        _print_within(out, own)
        out.print()
    out.print(LEGEND, soft_wrap=True)
    if not full and any(row.get("summary") for row in rows):
        out.print(SHORTENED, soft_wrap=True)


def _heading(problem: str, rows: Sequence[Mapping[str, Json]]) -> str:
    names = {(one["rows"], one["n"]): None for row in rows for one in row["effects"]}
    parts = [
        f"{n:,} {name} rows" if name in SPLITS else f"{n:,} rows of {name}" for name, n in names
    ]
    note = SHOWN_NOTE if any(name == SHOWN for name, _ in names) else ""
    return f"{to_one_line(problem, 60)}: " + (" and ".join(parts) or "no rows") + note


def _cells(row: Mapping[str, Json], effect: Mapping[str, Json], full: bool) -> list[str]:
    stability = effect["stability"]
    versus = f" / {effect['other']}" if effect["other"] is not None else ""
    again = f"{stability['direction']:.0%} / {stability['significant']:.0%}" if stability else "–"
    right = f"{effect['right'] / effect['covered']:.1%}" if effect["covered"] else "–"
    return [
        str(row["rank"]), to_one_line(f"{effect['label']}{versus}", 24),
        format_ratio(_ratio(effect["odds_ratio"])), effect["verdict"], _applies(effect), right, again,
        format_hypothesis(row, row["text"], MAX_SENTENCE, full),
    ]  # fmt: skip


def _applies(effect: Mapping[str, Json]) -> str:
    """Return the share of rows with the label; if it is another, also of those with any label."""
    says = sum(effect["table"][0]) / effect["n"] if effect["n"] else 0.0
    is_part = effect["other"] is not None and effect["covered"] < effect["n"]
    of_any = "" if not is_part else f" of {effect['coverage']:.0%}"
    return f"{says:.1%}{of_any}"


def _ratio(found: Mapping[str, float] | None) -> OddsRatio | None:
    return None if found is None else OddsRatio(found["value"], found["low"], found["high"])


def _print_within(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print the verdicts within groups, one line each."""
    listed = [
        (row["rank"], effect, one)
        for row in rows
        for effect in row["effects"]
        for one in effect["within"]
    ]
    if not listed:
        return
    several = any(len(row["effects"]) > 1 for row in rows)
    for rank, effect, one in listed:
        about = f" ({to_one_line(effect['label'], 24)})" if several else ""
        out.print(Text(f"{rank:>4}{about}  {to_one_line(one['reading'], 300)}"), soft_wrap=True)
