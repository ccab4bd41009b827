"""Accuracy and macro F1 of predicted labels, counted as in HypoBench (section 4).

A row without a label counts as wrong and forms no class of its own. Macro F1 averages over the
labels that occur among the true ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def accuracy(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Return the share of rows with a correct label code, or 0.0 without rows.

    Negative codes count as wrong.
    """
    return float(np.mean(np.equal(codes, gold))) if len(gold) else 0.0


def macro_f1(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Return the mean of 2 right / (predicted + true) over the labels in `gold`; 0.0 without rows.

    Raises:
        ValueError: The two sequences differ in length.
    """
    said, true = np.asarray(codes, np.int64), np.asarray(gold, np.int64)
    if said.shape != true.shape:
        raise ValueError(f"{said.size} predictions of {true.size} rows")
    scores = [
        2
        * int(((said == label) & (true == label)).sum())
        / int((said == label).sum() + (true == label).sum())
        for label in np.unique(true)
    ]
    return sum(scores) / len(scores) if scores else 0.0
