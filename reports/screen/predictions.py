"""What `peirce predict` prints where a person reads: a line a row, and how many were right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text

from ...records import Json
from ..papers.hypobench.metrics import scores
from .text import number_of, one_line

HOW = {
    "hypothesis": "by one sentence",
    "vote": "by vote",
    "weights": "by all sentences, weighted",
    "model": "by the model",
    "best": "by the best sentence, for no other applies",
    "no_pattern": "by the best sentence, for the model named none",
    "majority": "the majority label, for no sentence applies",
    "unreadable": "the judge's answer names no label",
    "needs_model": "needs a model (--judge-model)",
}  # what `graphs.inference.Decision` calls it


def print_rows(out: Console, rows: Iterable[Mapping[str, Json]]) -> None:
    """Each row as it comes; then the sums, with accuracy and macro F1 of the rows with a label."""
    how: Counter[str] = Counter()
    gold: list[str] = []
    said: list[str | None] = []
    for row in rows:
        how[row["how"]] += 1
        out.print(_line(row), soft_wrap=True)
        if "expected" in row:
            gold.append(row["expected"])
            said.append(row["label"])
    ways = "; ".join(f"{count:,} {HOW.get(name, name)}" for name, count in how.items())
    out.print(f"{number_of(sum(how.values()), 'row')}: {ways}", soft_wrap=True)
    if gold:
        accuracy, f1 = scores(gold, said)
        out.print(f"{len(gold):,} rows have a label: accuracy {accuracy:.3f}, F1 {f1:.3f}")


def _line(row: Mapping[str, Json]) -> Text:
    label = "(no label)" if row["label"] is None else one_line(row["label"], 40)
    line = Text.assemble(f"row {row['row']:>5}  ", (f"{label:<16}", "bold"))
    if "expected" in row:
        mark = (
            ("right", "green") if row["right"] else (f"not {one_line(row['expected'], 40)}", "red")
        )
        line.append(f"  {mark[0]:<8}", style=mark[1])
    line.append(f"  {HOW.get(row['how'], row['how'])}", style="dim")
    if row["hypothesis"]:
        line.append(f": {one_line(row['hypothesis'], 100)}", style="dim")
    return line
