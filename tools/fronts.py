"""The front of size against error: the points that no other point beats in both (a Pareto front)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def find_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points on the front, from the smallest to the largest.

    A point is left out if another one is at most as large and has at most its error. Of equal points,
    the first one stays.

    Args:
        points: (size, error) pairs without NaN; smaller is better for both.
    """
    front: list[int] = []
    least = math.inf
    for place in sorted(range(len(points)), key=lambda one: points[one]):
        if points[place][1] < least:
            front.append(place)
            least = points[place][1]
    return front
