"""Steps that move cells: cells fall to one side, or all cells shift by a distance.

The distances are read from the pairs. Cells that leave the grid are dropped or come back on the
opposite side.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..goal import Array, Facts
from ..grammar import Step

_FALL = [
    ("g = [sorted(row, key=bool) for row in g]", "to the right"),
    ("g = [sorted(row, key=lambda v: not v) for row in g]", "to the left"),
    (
        "g = [list(row) for row in zip(*(sorted(column, key=bool) for column in zip(*g)))]",
        "down",
    ),
    (
        "g = [list(row) for row in zip(*(sorted(column, key=lambda v: not v) for column in zip(*g)))]",
        "up",
    ),
]
FALLS = [Step(code, f"let every coloured cell fall {way}", 2.8) for code, way in _FALL]
SLIDES = [
    Step(f"g = slid(g, {down}, {right})", f"move the whole picture {way} until it meets the wall", 2.9)
    for down, right, way in (
        (0, 1, "to the right"), (0, -1, "to the left"), (1, 0, "down"), (-1, 0, "up"),
    )
] + [Step("g = centred(g)", "move the whole picture to the middle", 3.0)] + [
    Step(f"g = slid(g, {down}, {right})", f"move the whole picture to the {way} corner", 3.1)
    for down, right, way in (
        (1, 1, "lower right"), (1, -1, "lower left"), (-1, 1, "upper right"), (-1, -1, "upper left"),
    )
]  # fmt: skip
SWAPS = [
    Step(
        "n = len(g[0]) // 2\ng = [row[-n:] + row[n:-n] + row[:n] for row in g]",
        "let the left and the right half change places",
        2.8,
    ),
    Step("n = len(g) // 2\ng = g[-n:] + g[n:-n] + g[:n]", "let the upper and the lower half change places", 2.8),
    Step("g = folded(g)", "mirror the drawing about the longest full line of its box", 3.0),
]  # fmt: skip
MAX_DISTANCE = 5


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that move cells.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if not facts.may_keep_size:
        return
    yield from FALLS
    yield from SLIDES
    yield from SWAPS
    if not facts.fits:
        return
    for wraps in (True, False):
        yield from _shifts(facts, wraps)
    yield from _per_row()


def build_shift(down: int, right: int, wraps: bool) -> Step:
    """Return the step that moves all cells by a number of rows and columns.

    Args:
        down: Number of rows; a negative number moves the cells up.
        right: Number of columns; a negative number moves the cells to the left.
        wraps: Whether cells that leave the grid come back on the opposite side. Otherwise they are
            dropped, and empty cells (0) take their place.
    """
    lines = []
    if wraps:
        if right:
            lines.append(f"g = [row[{-right}:] + row[:{-right}] for row in g]")
        if down:
            lines.append(f"g = g[{-down}:] + g[:{-down}]")
    else:
        if right > 0:
            lines.append(f"g = [[0] * {right} + row[:-{right}] for row in g]")
        elif right:
            lines.append(f"g = [row[{-right}:] + [0] * {-right} for row in g]")
        if down > 0:
            lines.append(f"g = [[0] * len(g[0]) for _ in range({down})] + g[:-{down}]")
        elif down:
            lines.append(f"g = g[{-down}:] + [[0] * len(g[0]) for _ in range({-down})]")
    ways = []
    if right:
        ways.append(f"{abs(right)} to the {'right' if right > 0 else 'left'}")
    if down:
        ways.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
    price = 2.6 + 0.1 * (abs(down) + abs(right)) + 0.2 * (down != 0 and right != 0)
    end = "round the edge" if wraps else "dropping what leaves the grid"
    return Step("\n".join(lines), f"move all {' and '.join(ways)}, {end}", price)


def shift_array(a: Array, down: int, right: int, wraps: bool) -> Array:
    """Return a copy of `a` with all cells moved, as the step of `build_shift` moves them."""
    if wraps:
        return np.roll(a, (down, right), (0, 1))
    out = np.zeros_like(a)
    h, w = a.shape
    if abs(down) < h and abs(right) < w:
        out[max(0, down) : h + min(0, down), max(0, right) : w + min(0, right)] = a[
            max(0, -down) : h + min(0, -down), max(0, -right) : w + min(0, -right)
        ]
    return out


def _shifts(facts: Facts, wraps: bool) -> Iterator[Step]:
    """Yield the shifts that make every output, and those by one cell as first steps."""
    here, out = facts.arrays[0], facts.output_arrays[0]
    before, after = np.bincount(here.ravel(), minlength=10), np.bincount(out.ravel(), minlength=10)
    possible = (before == after).all() if wraps else (after[1:] <= before[1:]).all() and after.any()
    far = min(MAX_DISTANCE, min(min(size) for size in facts.shapes) - 1) if possible else 1
    steps_ = [(d, r) for d in range(-far, far + 1) for r in range(-far, far + 1) if d or r]
    for d, r in sorted(steps_, key=lambda s: (abs(s[0]) + abs(s[1]), s)):
        if abs(d) + abs(r) == 1 or all(
            (shift_array(a, d, r, wraps) == b).all()
            for a, b in zip(facts.arrays, facts.output_arrays, strict=True)
        ):
            yield build_shift(d, r, wraps)


def _per_row() -> Iterator[Step]:
    yield Step(
        "g = [row[-i % len(row):] + row[:-i % len(row)] for i, row in enumerate(g)]",
        "move each row to the right by its number, round the edge",
        3.4,
    )
    yield Step(
        "g = [row[i % len(row):] + row[:i % len(row)] for i, row in enumerate(g)]",
        "move each row to the left by its number, round the edge",
        3.4,
    )
    yield Step(
        "g = [row[::-1] if i % 2 else row for i, row in enumerate(g)]",
        "mirror every second row",
        3.2,
    )
