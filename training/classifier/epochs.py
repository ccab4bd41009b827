"""The results of a classifier's epochs, the choice of the best epoch, and batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """The results of one pass over the training rows.

    Attributes:
        number: The number of the epoch, counted from 1.
        train_loss: The mean training loss during the epoch.
        loss: The loss on the validation rows after the epoch.
        accuracy: The accuracy on the validation rows.
        f1: The macro F1 on the validation rows.
        score: The value that selects the best epoch (`epoch_score`).
    """

    number: int
    train_loss: float
    loss: float
    accuracy: float
    f1: float
    score: float


TokenRows = Sequence[Sequence[int]]
LabelledRows = tuple[TokenRows, Sequence[int]]
EpochCallback = Callable[[Epoch | None, int, int], Any]


def length_batches(sizes: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Yield batches of row indices, longest rows first, so that batches need little padding.

    Args:
        sizes: The length of each row, in tokens.
        batch: The number of rows per batch.
    """
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def epoch_score(f1: float, loss: float) -> float:
    """Return a score by which epochs are compared; the epoch with the highest score is the best.

    The score is the macro F1. Among epochs with equal F1, a lower loss gives a slightly higher
    score.
    """
    return round(f1, 9) + 1e-6 / (1 + max(0.0, loss))
