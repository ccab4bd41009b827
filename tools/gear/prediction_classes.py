"""Compare the predictions of several hypotheses once, and reuse what was found.

On a sample space of thousands of inputs, few hypotheses agree and differ in few ways: ten hypotheses on
14,101 inputs have a few hundred different patterns of equal predictions. Scores that depend only on
which predictions are equal are computed on the patterns, each of which counts for as many inputs as
have it. The results are those of `scores.py` on all inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...records import Predictions

UNDEFINED = -1
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class PredictionClasses:
    """Which of h hypotheses make equal predictions on each of n inputs.

    Attributes:
        patterns: int32 array of shape (h, u). A column says which hypotheses agree on an input: it
            has for each hypothesis the index of the first hypothesis with the same prediction, or
            `UNDEFINED`. Different inputs may have equal columns, of which one is kept. Columns are
            in the order of the first input that has them.
        first: The first input of each column, of shape (u,).
        counts: The number of inputs of each column, of shape (u,).
        places: The column of each input, of shape (n,).
    """

    patterns: NDArray[np.int32]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]

    @cached_property
    def shared(self) -> NDArray[np.int64]:
        """Return the number of inputs for which each two hypotheses predict the same, (h, h).

        The diagonal has the number of inputs for which a hypothesis predicts something.
        """
        rows, counts = self.patterns, self.counts.astype(np.float64)  # whole numbers, so exact
        found = np.empty((len(rows), len(rows)))
        for row, own in enumerate(rows):
            found[row] = ((rows == own) & (own != UNDEFINED)).astype(np.float64) @ counts
        return found.astype(np.int64)

    @cached_property
    def new(self) -> NDArray[np.int64]:
        """Return for each hypothesis the number of inputs for which no earlier one predicts the same."""
        numbers = np.arange(len(self.patterns), dtype=np.int32)[:, None]
        own: NDArray[np.float64] = (self.patterns == numbers).astype(np.float64)
        found: NDArray[np.float64] = own @ self.counts.astype(np.float64)
        return found.astype(np.int64)

    @cached_property
    def with_undefined_output(self) -> PredictionClasses:
        """Return the classes if "undefined" is one more output, the same for all hypotheses."""
        undefined = self.patterns == UNDEFINED
        if not undefined.any():
            return self
        first = undefined.argmax(axis=0).astype(np.int32)  # the first that is undefined there
        rows = np.where(undefined, first, self.patterns)
        return PredictionClasses(rows, self.first, self.counts, self.places)

    def select(self, rows: Sequence[int]) -> PredictionClasses:
        """Return the classes of some of the hypotheses, in the order of `rows`.

        Columns that differ only in the other hypotheses are not merged.
        """
        if list(rows) == list(range(len(self.patterns))):
            return self
        part = self.patterns[list(rows)]
        found = np.full(part.shape, UNDEFINED, np.int32)
        for row in reversed(range(len(part))):
            found[(part == part[row]) & (part[row] != UNDEFINED)] = row
        return PredictionClasses(found, self.first, self.counts, self.places)


def classify_predictions(predictions: Sequence[Predictions]) -> PredictionClasses:
    """Return which of h hypotheses make equal predictions on the same n inputs.

    Raises:
        ValueError: The predictions differ in length, so they belong to different inputs.
    """
    lengths = {len(one.codes) for one in predictions}
    if len(lengths) > 1:
        raise ValueError(f"predictions over input sets of different sizes: {sorted(lengths)}")
    n = lengths.pop() if lengths else 0
    classes = _classes(predictions, n)
    keys = _column_keys(classes)
    ordered = np.sort(keys)
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]
    places = np.searchsorted(distinct, keys)
    first = np.empty(len(distinct), np.int64)
    first[places[::-1]] = np.arange(n - 1, -1, -1)  # the lowest index is written last
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    places, first = rank[places], first[order]
    counts = np.bincount(places, minlength=len(first))
    return PredictionClasses(classes[:, first], first, counts, places)


def _classes(predictions: Sequence[Predictions], n: int) -> NDArray[np.int32]:
    defined = [None if not one.reasons.any() else one.defined for one in predictions]
    found = np.empty((len(predictions), n), np.int32)
    same = np.empty(n, np.bool_)
    for row, one in enumerate(predictions):
        own = found[row]
        own.fill(row)
        for other in reversed(range(row)):  # the lowest number is written last
            np.equal(one.codes, predictions[other].codes, out=same)
            if (known := defined[other]) is not None:
                np.logical_and(same, known, out=same)
            np.copyto(own, other, where=same)
        if (known := defined[row]) is not None:
            own[~known] = UNDEFINED
    return found


def _column_keys(classes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a number for each column, equal for equal columns and only for these."""
    h, n = classes.shape
    keys = np.zeros(n, np.int64)
    most = 1  # keys are below it
    for row in range(h):
        if most > _LARGEST_KEY // (row + 2):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, most = keys.astype(np.int64), len(distinct)
        keys *= row + 2  # a class is at least -1 and at most the number of its row
        keys += classes[row]
        keys += 1
        most *= row + 2
    return keys


Held = tuple[tuple[Predictions, ...], dict[int, int], PredictionClasses]
_last: list[
    Held
] = []  # the predictions of the last call, their rows by identity, and their classes


def recall_classes(predictions: Sequence[Predictions]) -> PredictionClasses:
    """Return what `classify_predictions` returns, without comparing the same predictions again.

    The predictions of the last call are kept, because the scores of a problem need the same ones
    one after another. For some of the predictions of that call, columns may occur several times.
    """
    for _, rows, found in _last:
        places = [rows.get(id(one), -1) for one in predictions]
        if places and -1 not in places:
            return found.select(places)
    found = classify_predictions(predictions)
    kept = tuple(predictions)  # as long as they are kept, no other object has their identity
    _last[:] = [(kept, {id(one): row for row, one in enumerate(kept)}, found)]
    return found
