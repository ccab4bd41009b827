"""Passes over the rows of a set: what one came to, which is the best, which rows go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """One pass over the training rows. loss, accuracy, f1: of the validation rows; train_loss: the
    mean of the pass; score: what passes are chosen by."""

    number: int
    train_loss: float
    loss: float
    accuracy: float
    f1: float
    score: float


Encoded = Sequence[Sequence[int]]
Rows = tuple[Encoded, Sequence[int]]
Told = Callable[[Epoch | None, int, int], Any]


def batches(sizes: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Places of rows to label together, the longest first, so that little is padding."""
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def score_of(f1: float, loss: float) -> float:
    """What the best pass is chosen by: macro F1, of equal ones the lower loss."""
    return round(f1, 9) + 1e-6 / (1 + max(0.0, loss))
