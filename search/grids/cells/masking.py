"""Steps that clear or paint the cells at certain positions.

The positions are the border, diagonals, every second row, halves and similar regions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..goal import Facts
from ..grammar import Step, colour_name

# Each place as an expression, a phrase and an extra cost.
PLACES = [
    ("i in (0, len(g) - 1) or j in (0, len(row) - 1)", "on the border", 0.0),
    ("0 < i < len(g) - 1 and 0 < j < len(row) - 1", "inside the border", 0.1),
    ("(i + j) % 2 == 0", "on the black fields of a chessboard", 0.1),
    ("(i + j) % 2", "on the white fields of a chessboard", 0.1),
    ("i % 2 == 0", "in every second row", 0.1),
    ("i % 2", "in every second row, from the second", 0.1),
    ("j % 2 == 0", "in every second column", 0.1),
    ("j % 2", "in every second column, from the second", 0.1),
    ("i == j", "on the main diagonal", 0.1),
    ("i + j == len(g) - 1", "on the other diagonal", 0.1),
    ("i > j", "below the main diagonal", 0.2),
    ("i < j", "above the main diagonal", 0.2),
    ("i >= j", "on and below the main diagonal", 0.3),
    ("i <= j", "on and above the main diagonal", 0.3),
    ("i == 0", "in the first row", 0.2),
    ("i == len(g) - 1", "in the last row", 0.2),
    ("j == 0", "in the first column", 0.2),
    ("j == len(row) - 1", "in the last column", 0.2),
    ("i in (0, len(g) - 1) and j in (0, len(row) - 1)", "in the corners", 0.2),
    ("2 * i == len(g) - 1 and 2 * j == len(row) - 1", "in the middle", 0.3),
    ("2 * i == len(g) - 1 or 2 * j == len(row) - 1", "in the middle row and column", 0.3),
    ("2 * i < len(g)", "in the upper half", 0.3),
    ("2 * i >= len(g)", "in the lower half", 0.3),
    ("2 * j < len(row)", "in the left half", 0.3),
    ("2 * j >= len(row)", "in the right half", 0.3),
    ("i in (j, len(g) - 1 - j)", "on both diagonals", 0.3),
]
OPENING_PLACES = (
    10  # number of places, from the first on, that are also cleared before another step
)
_TESTS = [eval(f"lambda i, j, g, row: bool({text})") for text, _, _ in PLACES]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that clear or paint certain positions.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if not facts.may_keep_size:
        return
    masks = _masks(tuple(facts.shapes)) if facts.fits else []
    paints = [c for c in facts.goal.made_colours if c]
    for n, (text, says, price) in enumerate(PLACES):
        if (facts.first and n < OPENING_PLACES) or (masks and _agrees(facts, masks[n], "0")):
            yield _step(f"0 if {text} else v", f"clear the cells {says}", 2.9 + price)
        if not masks:
            continue
        for k in paints:
            for kind, value, what in (
                ("k", f"{k} if {text} else v", f"paint {colour_name(k)} {says}"),
                ("v and k", f"{k} if v and ({text}) else v", f"make coloured cells {says} {colour_name(k)}"),
                ("v or k", f"v or ({k} if {text} else 0)", f"make the background {says} {colour_name(k)}"),
            ):  # fmt: skip
                if _agrees(facts, masks[n], kind, k):
                    yield _step(value, what, 3.0 + price + 0.2 * (kind != "k"))


def _step(value: str, says: str, price: float) -> Step:
    code = f"g = [[{value}\n      for j, v in enumerate(row)]\n     for i, row in enumerate(g)]"
    return Step(code, says, price)


@lru_cache(maxsize=64)
def _masks(shapes: tuple[tuple[int, int], ...]) -> list[list[NDArray[np.bool_]]]:
    """Return masks of shape (places, pairs) that show each place in grids of these sizes."""
    found = []
    for test in _TESTS:
        grids = [[[0] * width] * height for height, width in shapes]
        found.append(
            [
                np.array([[test(i, j, g, row) for j in range(len(row))] for i, row in enumerate(g)])
                for g in grids
            ]
        )
    return found


def _agrees(facts: Facts, masks: list[NDArray[np.bool_]], kind: str, k: int = 0) -> bool:
    """Return whether the step makes the outputs."""
    for mask, here, out in zip(masks, facts.arrays, facts.output_arrays, strict=True):
        where = mask if kind in ("0", "k") else mask & ((here > 0) == (kind == "v and k"))
        if (out[~where] != here[~where]).any() or (out[where] != k).any():
            return False
    return True
