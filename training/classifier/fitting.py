"""Fine-tune a local model to label the rows of a text set.

HypoBench compares hypotheses with such models ("fine-tuned Llama-8B", tables 5 and 12). The model
learns from all training rows, where a session is shown at most 200 of them. After each epoch the
validation rows are labelled, and the epoch with the best macro F1 is kept (the lower loss decides
ties). The test rows and those of another source are labelled once, at the end.

 - Weights: all of them below 100 million, and above that a LoRA adapter (on a GPU, over a 4-bit
   base from a billion on).
 - A row that is too long for `max_length`, or for the model's context, loses the ends of its
   longest columns, never a complete column. The result has the number of such rows.
 - A set without validation rows gives every tenth training row to validation, drawn by the seed.

The paper does not state learning rate, rank or epochs. The values here are ours, and not tuned on
any set.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...records import DataError, Digest, Observation, UsageError
from ...tasks.text.problems import digest_rows
from ...tools.label_scores import accuracy, macro_f1
from .epochs import Epoch, EpochCallback
from .settings import ClassifierSettings
from .tokens import encode_rows

if TYPE_CHECKING:
    from ...agents.local.files import ModelFolder

PACKAGES = ("torch", "transformers", "peft", "accelerate")
INSTALL = "pip install 'peirce[train]'"
VALIDATION_DIVISOR = (
    10  # one in HELD training rows is for validation, where a set has no validation rows
)
SPLITS = ("ind", "ood", "val")  # the names of splits in problems


@dataclass(frozen=True)
class LabelledSet:
    """The rows of one data set for a classifier: the split `train`, and any further split of
    `SPLITS`.

    Attributes:
        name: The name of the data set.
        labels: The labels, in their order.
        rows: The rows by split.
    """

    name: str
    labels: tuple[str, ...]
    rows: Mapping[str, Sequence[Observation]]

    def digests(self) -> dict[str, Digest]:
        """Return the digest of the rows of each split (`digest_rows`)."""
        return {split: digest_rows(some) for split, some in self.rows.items()}


@dataclass(frozen=True)
class FitResult:
    """The result of training a classifier.

    Attributes:
        labels: The labels.
        epochs: The epochs.
        best: The number of the epoch that was kept.
        predicted: One label per row, for each labelled split.
        cut: The number of rows that were truncated.
        weights: The number of weights of the model.
        trained: The number of weights that were trained.
        learning_rate: The learning rate that was used.
        held: The number of training rows that were used for validation.
    """

    labels: tuple[str, ...]
    epochs: tuple[Epoch, ...]
    best: int
    predicted: Mapping[str, tuple[str, ...]]
    cut: int
    weights: int
    trained: int
    learning_rate: float
    held: int  # number of training rows used for validation


def check_packages(purpose: str) -> None:
    """Raise UsageError, with the command that installs them, where packages are missing."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"{purpose} needs {', '.join(missing)}: {INSTALL}")


def fit(
    base: ModelFolder,
    data: LabelledSet,
    settings: ClassifierSettings,
    out: Path,
    *,
    resume: bool = False,
    progress: Callable[[Epoch | None, int, int], None] | None = None,
) -> FitResult:
    """Train a classifier on one data set, and write it with its tokenizer to `out`/model.

    The classifier is either an adapter of the base model or a full model.

    Args:
        base: The base model.
        data: The rows.
        settings: The settings.
        out: The folder of the training.
        resume: Continue from the last epoch in `out`/checkpoints.
        progress: Called with each epoch (None between epochs), the updates so far and the most
            updates that there may be.

    Raises:
        DataError: The training rows have fewer than two labels, or there are too few rows.
        UsageError: The base cannot become a classifier.
    """
    if len(set(str(one.output) for one in data.rows["train"])) < 2:
        raise DataError(
            f"{data.name}: all training rows have the same label, so there is nothing to learn"
        )
    train, val, held = _validation(data, settings.seed)
    from ..external_libraries import quiet_libraries

    with quiet_libraries():
        return _fitted(base, data, settings, out, (train, val, held), resume, progress)


def _fitted(
    base: ModelFolder,
    data: LabelledSet,
    settings: ClassifierSettings,
    out: Path,
    parts: tuple[Sequence[Observation], Sequence[Observation], int],
    resume: bool,
    progress: EpochCallback | None,
) -> FitResult:
    from .model import ClassifierTrainer

    train, val, held = parts
    course = ClassifierTrainer(base, data.labels, settings, out)
    cut = 0
    sets = {}
    for name, some in {**data.rows, "train": train, "val": val}.items():
        sets[name], lost = encode_rows(course.tokenizer, some, course.max_length)
        cut += lost
    told = {label: place for place, label in enumerate(data.labels)}
    gold = {"train": [told[str(one.output)] for one in train],
            "val": [told[str(one.output)] for one in val]}  # fmt: skip
    epochs, best = course.train(
        (sets["train"], gold["train"]), (sets["val"], gold["val"]), resume, progress
    )
    predicted = {
        split: tuple(data.labels[place] for place in course.predict(sets[split]))
        for split in SPLITS
        if data.rows.get(split)
    }
    course.save(out / "model")
    return FitResult(
        data.labels, tuple(epochs), best, predicted, cut, course.weights, course.trained,
        course.learning_rate, held,
    )  # fmt: skip


def split_scores(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]
) -> dict[str, float]:
    """Return the accuracy, the macro F1 over the labels that occur in `gold`, and n."""
    place = {label: number for number, label in enumerate(labels)}
    said, true = [place[one] for one in predicted], [place[one] for one in gold]
    return {"accuracy": accuracy(said, true), "f1": macro_f1(said, true), "n": len(true)}


def _validation(
    data: LabelledSet, seed: int
) -> tuple[Sequence[Observation], Sequence[Observation], int]:
    """Return training rows, validation rows, and how many of the latter were training rows."""
    train, val = data.rows["train"], data.rows.get("val") or ()
    if val:
        return train, val, 0
    if len(train) < VALIDATION_DIVISOR:
        raise DataError(
            f"{data.name}: there are {len(train)} training rows and none for validation; at"
            f" least {VALIDATION_DIVISOR} training rows are needed"
        )
    order = list(range(len(train)))
    random.Random(f"validation {seed} {data.name}").shuffle(order)
    aside = set(order[: len(train) // VALIDATION_DIVISOR])
    kept = [one for place, one in enumerate(train) if place not in aside]
    return kept, [train[place] for place in sorted(aside)], len(aside)
