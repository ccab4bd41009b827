"""Select which preference pairs to keep under a limit or a ratio, reproducibly from a seed.

The limit applies separately to the pairs of each stage in each split.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..draws import draw, hash_key

Integers = NDArray[np.int64]


def quotas(counts: Sequence[int], total: int) -> list[int]:
    """Return how many items to take from each group so that `total` items are taken.

    All groups give equally many items, except that a small group gives all its items. If the
    division leaves a remainder, the first groups give one more item.

    Args:
        counts: The number of items in each group.
        total: The number of items to take, or more than there are to take all items.
    """
    wanted = [0] * len(counts)
    left = min(total, sum(counts))
    open_ = [place for place, count in enumerate(counts) if count]
    while left:
        share = max(1, left // len(open_))
        for place in open_:
            more = min(counts[place] - wanted[place], share, left)
            wanted[place] += more
            left -= more
        open_ = [place for place in open_ if wanted[place] < counts[place]]
    return wanted


def select_within_limit(
    split: Integers, stage: Integers, task: Integers, limit: int | None, seed: int
) -> Integers:
    """Return the positions of at most `limit` pairs per split and stage, balanced over the tasks.

    The positions are in ascending order.

    Args:
        split: The number of each pair's split, of shape (m,).
        stage: The number of each pair's stage, of shape (m,).
        task: The number of each pair's task, of shape (m,).
        limit: The maximum number of pairs per split and stage; None keeps all pairs.
        seed: The seed of the draws.
    """
    if limit is None:
        return np.arange(len(stage), dtype=np.int64)
    kept: list[Integers] = [np.zeros(0, np.int64)]
    for cell in _cells(split, stage):
        tasks = np.unique(task[cell]).tolist()
        of_task = [cell[task[cell] == one] for one in tasks]
        for one, places, count in zip(
            tasks, of_task, quotas([len(p) for p in of_task], limit), strict=True
        ):
            key = hash_key("limit", seed, int(split[cell[0]]), int(stage[cell[0]]), int(one))
            kept.append(_drawn(places, count, key))
    return np.sort(np.concatenate(kept))


def select_in_ratio(
    split: Integers, stage: Integers, ratio: Sequence[int] | None, seed: int
) -> Integers:
    """Return the positions of as many pairs as possible whose stages have the ratio `ratio`.

    The ratio holds in each split separately. The positions are in ascending order.

    Args:
        split: The number of each pair's split, of shape (m,).
        stage: The number of each pair's stage, of shape (m,).
        ratio: The relative number of pairs of each stage, by the number of the stage; None keeps
            all pairs.
        seed: The seed of the draws.
    """
    if ratio is None:
        return np.arange(len(stage), dtype=np.int64)
    kept: list[Integers] = [np.zeros(0, np.int64)]
    for one in np.unique(split).tolist():
        of_stage = [np.flatnonzero((split == one) & (stage == s)) for s in range(len(ratio))]
        whole = min(
            len(places) // part for places, part in zip(of_stage, ratio, strict=True) if part
        )
        for s, (places, part) in enumerate(zip(of_stage, ratio, strict=True)):
            kept.append(_drawn(places, whole * part, hash_key("ratio", seed, int(one), s)))
    return np.sort(np.concatenate(kept))


def _cells(split: Integers, stage: Integers) -> list[Integers]:
    cell = split.astype(np.int64) * 16 + stage
    return [np.flatnonzero(cell == one) for one in np.unique(cell).tolist()]


def _drawn(places: Integers, count: int, key: int) -> Integers:
    _, numbers = draw(np.array([len(places)], np.int64), count, key, np.zeros(1, np.int64))
    return places[numbers]
