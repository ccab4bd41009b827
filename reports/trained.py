"""What `peirce train` and `peirce eval training` print: what trainings came to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from rich.console import Console

from ..records import Json
from .text import duration, one_line, table, visible


def print_record(out: Console, record: Mapping[str, Json]) -> None:
    """Where each stage began and ended, warnings, where the weights are, what to do next."""
    head = (
        f"Training {record['training']}: {record['status']} after {record['examples']:,} examples"
    )
    seconds = record.get("seconds")
    out.print(f"{head} in {duration(seconds)}" if seconds is not None else head)
    if stages := record["stages"]:
        shown = table("stage", "loss ↓", "accuracy ↑", "chosen log-ratio")
        for stage, one in stages.items():
            shown.add_row(
                stage, *(_course(one.get(n)) for n in ("loss", "accuracy", "chosen_logratio"))
            )
        out.print(shown)
    for sentence in record["said"]:
        out.print(f"Warning: {visible(str(sentence))}", soft_wrap=True)
    if record["model"] is not None:
        weights = str(record["model"])
        out.print(f"Weights: {weights}", soft_wrap=True)
        whole = weights if weights.endswith("model") else f"{record['base']}+{weights}"
        words = ["peirce", "run", "TASK", "--model", f"hf:{whole}"]
        if record.get("template", "full") != "full":
            words += ["--template", record["template"]]
        out.print(f"Next: {shlex.join(words)}", soft_wrap=True)


def _course(values: Sequence[float] | None) -> str:
    return f"{values[0]:.3f} → {values[-1]:.3f}" if values else "–"


def print_classifiers(out: Console, record: Mapping[str, Json]) -> None:
    """A row a data set: accuracy with its interval and macro F1, by split."""
    splits = [s for s in ("ind", "ood", "val") if any(s in one["scores"] for one in record["sets"])]
    names = {"ind": "test", "ood": "other source", "val": "validation"}
    heads = [h for s in splits for h in (f"accuracy, {names[s]} ↑", "F1 ↑")]
    shown = table("data set", "rows", *heads, "pass", numbers=(1,))
    for one in record["sets"]:
        cells = []
        for split in splits:
            of = one["scores"].get(split)
            cells += ["–", "–"] if of is None else [_share(of), f"{of['f1']:.3f}"]
        shown.add_row(
            visible(one["set"]),
            f"{one['rows']['train']:,}",
            *cells,
            f"{one['best']} of {one['epochs']}",
        )
    out.print(shown)
    for one in record["sets"]:
        if one["cut"]:
            out.print(
                f"{visible(one['set'])}: {one['cut']:,} rows are longer than what the model is shown"
            )
    out.print(
        "Next: peirce eval hypobench SESSION… --out DIR has them as a row of tables 5, 12 and 15"
    )


def _share(of: Mapping[str, Json]) -> str:
    return f"{of['accuracy']:.3f} [{of['low']:.3f}, {of['high']:.3f}]"


def print_trainings(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    if not rows:
        out.print("no training yet")
        return
    shown = table(
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
        shown.add_row(*("–" if cell is None else one_line(str(cell), 60) for cell in cells))
    out.print(shown)


def print_curves(out: Console, result: Mapping[str, Json]) -> None:
    """A row a training and stage; what was written."""
    if not result["trainings"]:
        out.print("no training on pairs yet")
        return
    shown = table("training", "base", "schedule", "seed", "status", "stage", "accuracy ↑", "loss ↓",
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
                one["training"], one_line(one["base"], 30), one["label"], str(one["seed"]), one["status"],
                stage, *ends,
            )  # fmt: skip
    out.print(shown)
    for path in result.get("files", ()):
        out.print(visible(str(path)), soft_wrap=True)
    for note in result.get("notes", ()):
        out.print(visible(str(note)), soft_wrap=True)
