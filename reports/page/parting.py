"""Where the consistent hypotheses of a problem part: inputs of S that few of them agree on.

A store keeps predictions over S as codes (`sandbox/inside/canonical.py`), so a prediction is known by
its value only where that value was seen elsewhere: as an output, or as what a hypothesis gave for an
observation. Who agrees with whom is known always.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import InputSet, Json, Predictions
from ...sandbox.inside.canonical import Unrepresentable, code_of

MOST_HYPOTHESES = 40
MOST_INPUTS = 6


@dataclass(frozen=True)
class Values:
    """Values by their codes."""

    known: dict[int, Json]

    @staticmethod
    def of(values: Iterable[Json]) -> Values:
        known = {}
        for value in values:
            try:
                known[code_of(value)] = value
            except Unrepresentable:
                continue
        return Values(known)


def parting(
    numbers: Sequence[int], predictions: Sequence[Predictions], space: InputSet, values: Values
) -> dict[str, Json]:
    """numbers: how the page calls the hypotheses; predictions: theirs over S.

    inputs: {place, input, groups: [{hypotheses, value?}], undefined: [number]}, chosen one after the
    other so that each parts as many pairs of hypotheses as it can that none before has parted. alone:
    by hypothesis, the share of S where it predicts what no other does. same: groups of hypotheses that
    predict the same everywhere. left_out: hypotheses beyond `MOST_HYPOTHESES`, which come last.
    """
    kept = predictions[:MOST_HYPOTHESES]
    told: dict[str, Json] = {"left_out": len(predictions) - len(kept)}
    if len(kept) < 2 or not len(space):
        return told | {"inputs": [], "alone": {}, "same": []}
    classes = _classes(kept)
    return told | {
        "inputs": [
            _input(int(place), numbers, kept, classes[:, place], space, values)
            for place in _chosen(classes)
        ],
        "alone": {
            str(number): share for number, share in zip(numbers, _alone(classes), strict=False)
        },
        "same": _same(numbers, classes),
    }


def _classes(predictions: Sequence[Predictions]) -> NDArray[np.int64]:
    """(m, n): equal numbers in a column are equal predictions, each the least row that predicts so;
    undefined is -1."""
    codes = np.stack([one.codes for one in predictions])
    defined = np.stack([one.defined for one in predictions])
    found = np.full(codes.shape, -1, np.int64)
    for row in reversed(range(len(codes))):
        found[(codes == codes[row]) & defined & defined[row]] = row
    return found


def _chosen(classes: NDArray[np.int64]) -> list[int]:
    first, second = np.triu_indices(len(classes), 1)
    parted = classes[first] != classes[second]  # (pairs, n)
    counts = parted.sum(axis=0)  # of pairs that none before has parted
    left = np.ones(len(first), np.bool_)
    chosen: list[int] = []
    while len(chosen) < MOST_INPUTS:
        best = int(np.argmax(counts))
        if not counts[best]:
            break
        chosen.append(best)
        gone = left & parted[:, best]
        counts -= parted[gone].sum(axis=0)
        left &= ~gone
    return chosen


def _input(
    place: int, numbers: Sequence[int], kept: Sequence[Predictions], classes: NDArray[np.int64],
    space: InputSet, values: Values,
) -> dict[str, Json]:  # fmt: skip
    groups: dict[int, list[int]] = {}
    for row, name in enumerate(classes.tolist()):
        groups.setdefault(name, []).append(row)
    undefined = groups.pop(-1, [])
    told = []
    for rows in sorted(groups.values(), key=lambda rows: (-len(rows), rows)):
        code = int(kept[rows[0]].codes[place])
        known = {"value": values.known[code]} if code in values.known else {}
        told.append({"hypotheses": [numbers[row] for row in rows], **known})
    return {"place": place, "input": space.inputs[place], "groups": told,
            "undefined": [numbers[row] for row in undefined]}  # fmt: skip


def _alone(classes: NDArray[np.int64]) -> list[float]:
    # A class is named by its first row, so whoever is alone is named by itself, and nobody else is.
    rows = range(len(classes))
    return [
        round(float((((classes == row).sum(axis=0) == 1) & (classes[row] == row)).mean()), 4)
        for row in rows
    ]


def _same(numbers: Sequence[int], classes: NDArray[np.int64]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for row in range(len(classes)):
        groups.setdefault(classes[row].tobytes(), []).append(numbers[row])
    return [group for group in groups.values() if len(group) > 1]
