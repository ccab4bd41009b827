"""Accuracy and macro F1 of predicted labels, as HypoBench counts them (section 4): a row without a label is
wrong and no class of its own; F1 is the mean over the labels that stand among the true ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def accuracy(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Share of n rows whose code is the true one, 0.0 of no rows. Codes below 0 are wrong."""
    return float(np.mean(np.equal(codes, gold))) if len(gold) else 0.0


def macro_f1(codes: Sequence[int], gold: Sequence[int]) -> float:
    """Mean over the labels of `gold` of 2 right / (predicted + true), 0.0 of no rows. Raises ValueError
    where the two are not of one length."""
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
