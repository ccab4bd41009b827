"""Fine-tune a local model to predict the labels of a labelled text data set.

HypoBench compares hypotheses with fine-tuned models ("fine-tuned Llama-8B", tables 5 and 12). The
classifier learns from all training rows, whereas a session is shown at most 200 rows. After each
epoch the classifier labels the validation rows. The epoch with the best macro F1 is kept, and a
lower loss decides ties. The test rows, in distribution and out of distribution, are labelled once,
at the end.

 - A model with fewer than 100 million weights is trained completely. A larger model gets a LoRA
   adapter. On a GPU, a base model with a billion weights or more is loaded in 4 bits.
 - If a row is longer than `max_length` or the model's context, its longest columns are cut at the
   end. No column is removed completely. The result contains the number of shortened rows.
 - If a data set has no validation rows, a tenth of the training rows, drawn with the seed, is used
   for validation.

The paper does not state the learning rate, the adapter's rank or the number of epochs. The values
here are our own and were not tuned on any data set.
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
    """The rows of one labelled data set: the split `train`, and any other splits of `SPLITS`.

    Attributes:
        name: The name of the data set.
        labels: The labels. A classifier numbers the labels in this order.
        rows: The rows of each split, by the name of the split.
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
        labels: The labels of the data set.
        epochs: The results of each epoch.
        best: The number of the epoch whose weights were kept.
        predicted: For each labelled split, the predicted label of each row.
        cut: The number of rows that were shortened to the length limit.
        weights: The number of weights of the model.
        trained: The number of weights that were trained.
        learning_rate: The peak learning rate of the training.
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
    """Raise UsageError if a package that classifiers need is not installed.

    The message contains the command that installs the missing packages.

    Args:
        purpose: What needs the packages; the message begins with this text.
    """
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
    """Train a classifier on one data set, and save the classifier and its tokenizer in `out`/model.

    The saved model is an adapter of the base model or a complete model, as `settings.full` or the
    size of the base model decides.

    Args:
        base: The base model.
        data: The rows of the data set, with their labels.
        settings: The settings of the training.
        out: The folder of the training.
        resume: Continue from the last epoch in `out`/checkpoints.
        progress: Called during training with an epoch's results (None while an epoch is running),
            the number of updates so far, and the maximum number of updates.

    Raises:
        DataError: All training rows have the same label, or there are too few training rows.
        UsageError: The base model cannot be used as a classifier.
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
    """Return the accuracy, the macro F1 and the number of rows as "accuracy", "f1" and "n".

    The macro F1 is the mean over the labels that occur in `gold`.

    Args:
        gold: The true label of each row.
        predicted: The predicted label of each row.
        labels: All labels of the data set.
    """
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
