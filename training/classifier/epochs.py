"""Epochs of a classifier: their results, the choice of the best one, and batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """One epoch over the training rows.

    Attributes:
        number: Its number, from 1.
        train_loss: The mean loss of the epoch.
        loss: The loss on the validation rows.
        accuracy: The accuracy on the validation rows.
        f1: The macro F1 on the validation rows.
        score: The value by which the best epoch is chosen (`epoch_score`).
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
    """Yield batches of row positions, longest rows first, so that there is little padding."""
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def epoch_score(f1: float, loss: float) -> float:
    """Return the value that selects the best epoch: macro F1, with the lower loss deciding ties."""
    return round(f1, 9) + 1e-6 / (1 + max(0.0, loss))
