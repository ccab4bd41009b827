"""What a harvest of preference pairs came to, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from ...records import Json
from ..papers.gear.training_runs import STAGES
from .text import one_line, table

SPLITS = ("train", "validation", "held-out")
WHY = {
    "repeated": "answers that stood there already",
    "cut": "answers cut at a token limit",
    "unanswered": "answers that were tool calls alone",
    "not_text": "answers that are no Unicode text",
    "not_judged": "consistent hypotheses without predictions over S or a known cost",
    "in_another_split": "problems whose observations also stand in a stricter split",
    "repeated_pairs": "pairs that stood there already",
    "too_long": "pairs that do not fit the length",
    "over_limit": "pairs over the limit",
    "out_of_ratio": "pairs that do not go into the ratio",
}


def print_pairs(out: Console, report: Mapping[str, Json]) -> None:
    shown = table("pairs", *STAGES, "all", numbers=range(1, 5))
    for split in SPLITS:
        shown.add_row(split, *_cells(report["by_split"][split]))
    if len(report["by_task"]) > 1:
        for task, of_splits in report["by_task"].items():
            for split in SPLITS:
                if sum(of_splits[split].values()):
                    shown.add_row(f"{one_line(task, 40)}, {split}", *_cells(of_splits[split]))
    for size, stages in report["by_context"].items():
        shown.add_row(f"with {size} earlier", *_cells(stages))
    out.print(shown)
    out.print()
    models = table("model", "answers", "malformed", "inconsistent", "consistent", "chosen",
                   "rejected", numbers=range(1, 7))  # fmt: skip
    for model, counts in report["by_model"].items():
        told = [counts[key] for key in ("answers", "malformed", "inconsistent", "consistent")]
        told += [sum(counts[key].values()) for key in ("chosen", "rejected")]
        models.add_row(one_line(model, 60), *(f"{count:,}" for count in told))
    out.print(models)
    out.print()
    for why, count in report["left_out"].items():
        if count:
            out.print(f"left out: {count:,} {WHY[why]}")
    if report["ties"]:
        out.print(f"no pair: {report['ties']:,} of equal scores")
    if report["several"]:
        out.print(f"{report['several']:,} answers hold several hypotheses: the first one counts")
    for split in report["missing"]:
        out.print(f"no group of problems is in the split {split}: --fixed FILE puts some there")
    out.print(
        f"{report['pairs']:,} pairs, {report['prompts']:,} prompts, {report['answers']:,} answers:"
        f" {report['digest'][:12]}"
    )
    if "export" in report:
        told = report["export"]
        out.print(f"{told['out']}: {', '.join(told['files'])}, {told['form']}", soft_wrap=True)


def print_sets(out: Console, sets: Sequence[Mapping[str, Json]]) -> None:
    if not sets:
        out.print("no pairs in this store yet: peirce pairs SESSION makes some")
        return
    shown = table("set", "made", "train", "validation", "held-out", "sessions", numbers=range(2, 6))
    for one in sets:
        counts = one["counts"]
        told = [sum(counts["by_split"][split].values()) for split in SPLITS]
        shown.add_row(one["digest"][:12], one["created"][:16].replace("T", " "),
                      *(f"{count:,}" for count in told), f"{len(counts['sessions']):,}")  # fmt: skip
    out.print(shown)


def _cells(stages: Mapping[str, int]) -> list[str]:
    return [f"{stages[name]:,}" for name in STAGES] + [f"{sum(stages.values()):,}"]
