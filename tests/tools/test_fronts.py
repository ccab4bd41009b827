"""The front of size against error has what no smaller and closer point replaces.

Internals: fronts are compared with their definition on drawn points.
"""

from __future__ import annotations

import math
import random

from peirce.tools.fronts import find_front


def test_a_point_that_another_beats_in_both_is_left_out() -> None:
    points = [(5, 0.1), (1, 2.0), (3, 0.5), (4, 0.6), (9, 0.1), (3, 0.7), (7, math.inf)]
    assert find_front(points) == [1, 2, 0]


def test_of_equal_points_the_first_one_stays() -> None:
    assert find_front([(2, 0.5), (2, 0.5), (1, 0.5)]) == [2]
    assert find_front([(2, 0.5), (2, 0.5)]) == [0]
    assert find_front([]) == []


def test_the_front_is_that_of_the_definition() -> None:
    rng = random.Random(7)
    for _ in range(50):
        points = [(rng.randrange(6), float(rng.randrange(6))) for _ in range(12)]
        front = {points[place] for place in find_front(points)}
        beaten = {
            one
            for one in points
            if any(a <= one[0] and b <= one[1] and (a, b) != one for a, b in points)
        }
        assert front == set(points) - beaten
