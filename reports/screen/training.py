"""Terminal output of `train`, `eval training`, `pairs` and `pretrain`, at the end of a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ...records import Json
from ..papers.gear.training import STAGES
from .text import create_table, escape_unprintable, format_duration, to_one_line


def print_training(out: Console, record: Mapping[str, Json]) -> None:
    """Print the result of a training: losses by stage, warnings, the path of the weights, the next
    command.
    """
    head = (
        f"Training {record['training']}: {record['status']} after {record['examples']:,} examples"
    )
    seconds = record.get("seconds")
    out.print(f"{head} in {format_duration(seconds)}" if seconds is not None else head)
    if parts := record.get("seconds_by_part"):
        out.print(_time_by_part(parts), soft_wrap=True)
    if stages := record["stages"]:
        shown = create_table("stage", "loss ↓", "accuracy ↑", "chosen log-ratio")
        for stage, one in stages.items():
            shown.add_row(
                stage, *(_course(one.get(n)) for n in ("loss", "accuracy", "chosen_logratio"))
            )
        out.print(shown)
    for sentence in record["said"]:
        out.print(f"Warning: {escape_unprintable(str(sentence))}", soft_wrap=True)
    if record["model"] is not None:
        weights = str(record["model"])
        out.print(f"Weights: {weights}", soft_wrap=True)
        whole = weights if weights.endswith("model") else f"{record['base']}+{weights}"
        words = ["peirce", "run", "TASK", "--model", f"hf:{whole}"]
        if record.get("template", "full") != "full":
            words += ["--template", record["template"]]
        out.print(f"Next: {shlex.join(words)}", soft_wrap=True)


TIME_PARTS = {
    "updates": "updates",
    "probes": "probes",
    "samples": "sampled answers",
    "reference": "reference model",
    "saving": "saving",
    "other": "other",
}


def _time_by_part(parts: Mapping[str, float]) -> str:
    total = sum(parts.values()) or 1.0
    shares = (
        f"{name} {format_duration(parts[part])} ({parts[part] / total:.0%})"
        for part, name in TIME_PARTS.items()
        if part in parts
    )
    return f"Time: {', '.join(shares)}"


def _course(values: Sequence[float] | None) -> str:
    return f"{values[0]:.3f} → {values[-1]:.3f}" if values else "–"


def print_classifiers(out: Console, record: Mapping[str, Json]) -> None:
    """Print one row per data set with accuracy, its interval and macro F1 on each split."""
    splits = [s for s in ("ind", "ood", "val") if any(s in one["scores"] for one in record["sets"])]
    names = {"ind": "test", "ood": "other source", "val": "validation"}
    heads = [h for s in splits for h in (f"accuracy, {names[s]} ↑", "F1 ↑")]
    shown = create_table("data set", "rows", *heads, "epoch", numbers=(1,))
    for one in record["sets"]:
        cells = []
        for split in splits:
            of = one["scores"].get(split)
            cells += ["–", "–"] if of is None else [_share(of), f"{of['f1']:.3f}"]
        shown.add_row(
            escape_unprintable(one["set"]),
            f"{one['rows']['train']:,}",
            *cells,
            f"{one['best']} of {one['epochs']}",
        )
    out.print(shown)
    for one in record["sets"]:
        if one["cut"]:
            out.print(
                f"{escape_unprintable(one['set'])}: {one['cut']:,} rows were truncated to"
                " --max-length"
            )
    out.print(
        "Next: peirce eval hypobench SESSION… --out DIR adds them as a row of tables 5, 12 and 15"
    )


def _share(of: Mapping[str, Json]) -> str:
    return f"{of['accuracy']:.3f} [{of['low']:.3f}, {of['high']:.3f}]"


QUICK_METRICS = {
    "instruction_following": "answers that can be parsed",
    "consistent": "answers that agree with all shown observations",
    "answered": "problems with such an answer",
    "different": "problems with two that predict differently",
}


def print_quick_training(out: Console, record: Mapping[str, Any]) -> None:
    """Print the result of a quick training: pairs, measurements, and a command that uses the
    model.
    """
    if record["model"] is None:
        out.print(f"Training {record['training']}: {record['status']}")
        return
    pairs = create_table("training pairs", "of the session", "recorded", numbers=(1, 2))
    for stage, (own, recorded) in record["pairs"].items():
        pairs.add_row(stage, f"{own:,}", f"{recorded:,}")
    out.print(pairs)
    out.print(
        f"\n{record['problems']} held-out problems of {record['task']}, {record['answers']} answers"
        " to each"
    )
    shown = create_table("share of", "before", "after", "change, 95% interval", numbers=(1, 2, 3))
    for name, meaning in QUICK_METRICS.items():
        one = record["metrics"][name]
        change = f"{one['change']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]"
        shown.add_row(meaning, f"{one['before']:.3f}", f"{one['after']:.3f}", change)
    out.print(shown)
    out.print(
        f"{format_duration(record['processor_seconds'])} of processor time,"
        f" {format_duration(record['seconds'])} in all"
    )
    words = ["peirce", "run", record["task"], "--observations", str(record["observations"]), "--model",
             f"hf:{record['model']}", "--template", "compact"]  # fmt: skip
    out.print(f"Next: {shlex.join(words)}", soft_wrap=True)


def print_trainings(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print a table with one row for each training."""
    if not rows:
        out.print("This store contains no trainings.")
        return
    shown = create_table(
        "training",
        "kind",
        "base",
        "schedule",
        "seed",
        "status",
        "examples",
        "folder",
        numbers=(4, 6),
    )
    for row in rows:
        total = row["total"]
        seen = f"{row['examples']:,}" + (f" of {total:,}" if total else "")
        cells = (
            row["training"],
            row["kind"],
            row["base"],
            row["schedule"],
            row["seed"],
            row["status"],
            seen,
            row["out"],
        )
        shown.add_row(*("–" if cell is None else to_one_line(str(cell), 60) for cell in cells))
    out.print(shown)


def print_curves(out: Console, result: Mapping[str, Json]) -> None:
    """Print one row per training and stage, with the first and last values, and the written
    files.
    """
    if not result["trainings"]:
        out.print("This store contains no trainings on pairs.")
        return
    shown = create_table("training", "base", "schedule", "seed", "status", "stage", "accuracy ↑", "loss ↓",
                  "chosen log-ratio", numbers=(3,))  # fmt: skip
    for one in result["trainings"]:
        for stage, curves in one["curves"].items():
            if not stage:
                continue
            ends = [
                _course([value for _, value in curves.get(name, ())])
                for name in ("probe_accuracy", "probe_loss", "chosen_logratio")
            ]
            shown.add_row(
                one["training"], to_one_line(one["base"], 30), one["label"], str(one["seed"]), one["status"],
                stage, *ends,
            )  # fmt: skip
    out.print(shown)
    for path in result.get("files", ()):
        out.print(escape_unprintable(str(path)), soft_wrap=True)
    for note in result.get("notes", ()):
        out.print(escape_unprintable(str(note)), soft_wrap=True)


# --- Output of `peirce pairs`.

SPLITS = ("train", "validation", "held-out")
EXCLUSION_TEXTS = {
    "repeated": "duplicate answers",
    "cut": "answers that were cut at a token limit",
    "unanswered": "answers that contain only tool calls",
    "not_text": "answers that are not valid Unicode text",
    "after_hint": "answers after a hint of a person",
    "not_judged": "consistent hypotheses without predictions over S or a known cost",
    "in_another_split": "problems whose observations also occur in a stricter split",
    "repeated_pairs": "duplicate pairs",
    "too_long": "pairs longer than --max-length",
    "over_limit": "pairs beyond --limit",
    "out_of_ratio": "pairs beyond --ratio",
}


def print_pairs(out: Console, report: Mapping[str, Json]) -> None:
    """Print the report of a set of preference pairs: counts by split, task, context and model."""
    shown = create_table("pairs", *STAGES, "all", numbers=range(1, 5))
    for split in SPLITS:
        shown.add_row(split, *_cells(report["by_split"][split]))
    if len(report["by_task"]) > 1:
        for task, of_splits in report["by_task"].items():
            for split in SPLITS:
                if sum(of_splits[split].values()):
                    shown.add_row(f"{to_one_line(task, 40)}, {split}", *_cells(of_splits[split]))
    for size, stages in report["by_context"].items():
        shown.add_row(f"{size} earlier hypotheses", *_cells(stages))
    out.print(shown)
    out.print()
    models = create_table("model", "answers", "malformed", "inconsistent", "consistent", "chosen",
                   "rejected", numbers=range(1, 7))  # fmt: skip
    for model, counts in report["by_model"].items():
        told = [counts[key] for key in ("answers", "malformed", "inconsistent", "consistent")]
        told += [sum(counts[key].values()) for key in ("chosen", "rejected")]
        models.add_row(to_one_line(model, 60), *(f"{count:,}" for count in told))
    out.print(models)
    out.print()
    for why, count in report["left_out"].items():
        if count:
            out.print(f"left out: {count:,} {EXCLUSION_TEXTS[why]}")
    if report["ties"]:
        out.print(f"no pair: {report['ties']:,} pairs of answers have equal scores")
    if report["several"]:
        out.print(
            f"{report['several']:,} answers contain several hypotheses; only the first one is used"
        )
    for split in report["missing"]:
        out.print(f"The split {split} contains no problems. Use --fixed FILE to assign some to it.")
    out.print(
        f"{report['pairs']:,} pairs, {report['prompts']:,} prompts, {report['answers']:,} answers:"
        f" {report['digest'][:12]}"
    )
    if "export" in report:
        told = report["export"]
        out.print(f"{told['out']}: {', '.join(told['files'])}, {told['form']}", soft_wrap=True)


def print_pair_sets(out: Console, sets: Sequence[Mapping[str, Json]]) -> None:
    """Print one row per set of preference pairs in the store."""
    if not sets:
        out.print("This store contains no pairs. To build some, run: peirce pairs SESSION")
        return
    shown = create_table(
        "set", "created", "train", "validation", "held-out", "sessions", numbers=range(2, 6)
    )
    for one in sets:
        counts = one["counts"]
        told = [sum(counts["by_split"][split].values()) for split in SPLITS]
        shown.add_row(one["digest"][:12], one["created"][:16].replace("T", " "),
                      *(f"{count:,}" for count in told), f"{len(counts['sessions']):,}")  # fmt: skip
    out.print(shown)


def _cells(stages: Mapping[str, int]) -> list[str]:
    return [f"{stages[name]:,}" for name in STAGES] + [f"{sum(stages.values()):,}"]


# --- Output of `peirce pretrain`: the folder, the training run, answers on unseen problems.


def print_pretrained(out: Console, result: Mapping[str, Any]) -> None:
    """Print the folder, size and loss of a pretrained model, and its results on new problems."""
    settings = result["settings"]
    if result["used"]:
        out.print(f"{result['out']}: already trained with these settings, reused", markup=False)
    else:
        out.print(f"{result['out']}: written", markup=False)
    out.print(
        f"{settings['architecture']}, {result['parameters']:,} parameters, {result['tokens']:,}"
        f" training tokens in {result['seconds']:,.0f} s, loss {result['loss']}",
        markup=False,
    )
    rows = result.get("measured") or []
    if rows:
        out.print()
        out.print(_figures(rows))
    out.print(f"Next: peirce run TASK --model hf:{result['out']} --template compact", markup=False)


def _figures(rows: list[Mapping[str, Any]]) -> Any:
    headings = ("task", "shown", "prompts", "follows", "consistent", "any", "two differ")
    found = create_table(*headings, numbers=range(1, 7))
    for row in rows:
        shares = ("instruction_following", "consistent", "answered", "different")
        found.add_row(
            row["task"], str(row["observations"]), str(row["prompts"]),
            *(f"{row[name]:.3f}" for name in shares),
        )  # fmt: skip
    return found
