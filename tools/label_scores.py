"""Accuracy and macro F1 of predicted labels, counted as in HypoBench (section 4).

A row without a predicted label counts as wrong, and does not form a separate class. Macro F1
averages over the labels that occur among the true labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def accuracy(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Return the share of predicted label codes that are correct; 0.0 without rows.

    Args:
        codes: Predicted label codes. A negative code stands for no label and counts as wrong.
        gold: True label codes.
    """
    return float(np.mean(np.equal(codes, gold))) if len(gold) else 0.0


def macro_f1(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Return the macro F1 of predicted label codes; 0.0 without rows.

    For each label in `gold`, F1 is 2 correct / (predicted + true), where the three numbers count
    rows of this label. The result is the mean over the labels.

    Args:
        codes: Predicted label codes. A negative code stands for no label and counts as wrong.
        gold: True label codes.

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
