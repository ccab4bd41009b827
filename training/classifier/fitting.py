"""A local model fine-tuned to label the rows of a text set: what HypoBench compares hypotheses with
("fine-tuned Llama-8B", tables 5 and 12).

It learns from all training rows, where a session is shown 200 of them at most; after each pass over
them the validation rows are labelled, and the pass with the best macro F1 is kept (of equal ones that
with the lower loss). Test rows and those of another source are labelled once, at the end.

 - Weights: all of them below 100 million, above a LoRA adapter (on a GPU over a base in 4 bits, from a
   billion on).
 - A row too long for `max_length`, or for what the model holds, loses the ends of its longest columns,
   never a whole column; how many rows did is said.
 - A set without validation rows gives up every tenth training row, drawn by the seed.

The paper says neither rate, rank nor epochs; those here are ours, and not tuned on any set.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...records import DataError, Digest, Observation, UsageError
from ...tasks.text.problems import rows_digest
from ...tools.label_scores import accuracy, macro_f1
from .passes import Epoch, Told
from .settings import ClassifierSettings
from .tokens import encoded

if TYPE_CHECKING:
    from ...agents.local.files import Found

PACKAGES = ("torch", "transformers", "peft", "accelerate")
INSTALL = "pip install 'peirce[train]'"
HELD = 10  # of so many training rows one is for validation, where a set has no rows for that
SPLITS = ("ind", "ood", "val")  # as problems call them


@dataclass(frozen=True)
class LabelledSet:
    """Rows of one data set: `train` and those of `SPLITS` that it has. labels: in their order."""

    name: str
    labels: tuple[str, ...]
    rows: Mapping[str, Sequence[Observation]]

    def digests(self) -> dict[str, Digest]:
        """Of the rows of each split, as `rows_digest`."""
        return {split: rows_digest(some) for split, some in self.rows.items()}


@dataclass(frozen=True)
class Fitted:
    """What a set came to. best: which pass was kept. predicted: of each split that was labelled, a
    label a row. cut: rows that lost the end of a column. trained: weights that were."""

    labels: tuple[str, ...]
    epochs: tuple[Epoch, ...]
    best: int
    predicted: Mapping[str, tuple[str, ...]]
    cut: int
    weights: int
    trained: int
    learning_rate: float
    held: int  # training rows that were for validation


def check_packages(what: str) -> None:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"{what} needs {', '.join(missing)}: {INSTALL}")


def fit(
    base: Found,
    data: LabelledSet,
    settings: ClassifierSettings,
    out: Path,
    *,
    resume: bool = False,
    progress: Callable[[Epoch | None, int, int], None] | None = None,
) -> Fitted:
    """Trains on one set and writes `out`/model (an adapter or a whole model, with its tokenizer).

    progress: is told each pass, or None between passes, with updates made and all that there may be.
    resume: goes on from the last pass that `out`/checkpoints holds. Raises DataError for a set with
    one label or fewer than two rows, UsageError for a base that cannot be one.
    """
    if len(set(str(one.output) for one in data.rows["train"])) < 2:
        raise DataError(f"{data.name}: its training rows have one label alone: nothing to learn")
    train, val, held = _validation(data, settings.seed)
    from ..libraries import quiet

    with quiet():
        return _fitted(base, data, settings, out, (train, val, held), resume, progress)


def _fitted(
    base: Found,
    data: LabelledSet,
    settings: ClassifierSettings,
    out: Path,
    parts: tuple[Sequence[Observation], Sequence[Observation], int],
    resume: bool,
    progress: Told | None,
) -> Fitted:
    from .model import Course

    train, val, held = parts
    course = Course(base, data.labels, settings, out)
    cut = 0
    sets = {}
    for name, some in {**data.rows, "train": train, "val": val}.items():
        sets[name], lost = encoded(course.tokenizer, some, course.max_length)
        cut += lost
    told = {label: place for place, label in enumerate(data.labels)}
    gold = {"train": [told[str(one.output)] for one in train],
            "val": [told[str(one.output)] for one in val]}  # fmt: skip
    epochs, best = course.run(
        (sets["train"], gold["train"]), (sets["val"], gold["val"]), resume, progress
    )
    predicted = {
        split: tuple(data.labels[place] for place in course.predicted(sets[split]))
        for split in SPLITS
        if data.rows.get(split)
    }
    course.save(out / "model")
    return Fitted(
        data.labels, tuple(epochs), best, predicted, cut, course.weights, course.trained,
        course.learning_rate, held,
    )  # fmt: skip


def split_scores(
    gold: Sequence[str], got: Sequence[str], labels: Sequence[str]
) -> dict[str, float]:
    """accuracy, macro F1 over the labels that are true of a row, and n."""
    place = {label: number for number, label in enumerate(labels)}
    said, true = [place[one] for one in got], [place[one] for one in gold]
    return {"accuracy": accuracy(said, true), "f1": macro_f1(said, true), "n": len(true)}


def _validation(
    data: LabelledSet, seed: int
) -> tuple[Sequence[Observation], Sequence[Observation], int]:
    """Rows to learn from, rows to choose a pass by, and how many of these were training rows."""
    train, val = data.rows["train"], data.rows.get("val") or ()
    if val:
        return train, val, 0
    if len(train) < HELD:
        raise DataError(
            f"{data.name}: {len(train)} training rows and none for validation; at least {HELD} are"
            " needed"
        )
    order = list(range(len(train)))
    random.Random(f"validation {seed} {data.name}").shuffle(order)
    aside = set(order[: len(train) // HELD])
    kept = [one for place, one in enumerate(train) if place not in aside]
    return kept, [train[place] for place in sorted(aside)], len(aside)
