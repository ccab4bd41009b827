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
    made = _MadeOutputs(facts) if facts.fits else None
    paints = [c for c in facts.goal.made_colours if c]
    for n, (text, says, price) in enumerate(PLACES):
        if (facts.first and n < OPENING_PLACES) or (made and made.agrees("0", 0)[n]):
            yield _step(f"0 if {text} else v", f"clear the cells {says}", 2.9 + price)
        if not made:
            continue
        for k in paints:
            for kind, value, what in (
                ("k", f"{k} if {text} else v", f"paint {colour_name(k)} {says}"),
                ("v and k", f"{k} if v and ({text}) else v", f"make coloured cells {says} {colour_name(k)}"),
                ("v or k", f"v or ({k} if {text} else 0)", f"make the background {says} {colour_name(k)}"),
            ):  # fmt: skip
                if made.agrees(kind, k)[n]:
                    yield _step(value, what, 3.0 + price + 0.2 * (kind != "k"))


def _step(value: str, says: str, price: float) -> Step:
    code = f"g = [[{value}\n      for j, v in enumerate(row)]\n     for i, row in enumerate(g)]"
    return Step(code, says, price)


@lru_cache(maxsize=64)
def _masks(shapes: tuple[tuple[int, int], ...]) -> NDArray[np.bool_]:
    """Return which cells each place has in grids of these sizes, shape (places, cells of all pairs)."""
    cells = [(i, j, [[0] * width] * height, [0] * width)
             for height, width in shapes for i in range(height) for j in range(width)]  # fmt: skip
    return np.array([[test(*cell) for cell in cells] for test in _TESTS], dtype=bool)


class _MadeOutputs:
    """Which steps of each kind make the outputs, for all places at once.

    Args:
        facts: Facts about a state whose grids have the sizes of the outputs.
    """

    def __init__(self, facts: Facts) -> None:
        self.masks = _masks(tuple(facts.shapes))
        self.here = np.concatenate([grid.ravel() for grid in facts.arrays])
        self.out = np.concatenate([grid.ravel() for grid in facts.output_arrays])
        self.changed = self.here != self.out
        self._agreed: dict[tuple[str, int], list[bool]] = {}

    def agrees(self, kind: str, k: int) -> list[bool]:
        """Return for each place whether a step of a kind makes the outputs with the colour `k`."""
        if (kind, k) not in self._agreed:
            where = self.masks
            if kind not in ("0", "k"):
                where = where & ((self.here > 0) == (kind == "v and k"))
            wrong = np.where(where, self.out != k, self.changed)
            self._agreed[kind, k] = (~wrong.any(axis=1)).tolist()
        return self._agreed[kind, k]
