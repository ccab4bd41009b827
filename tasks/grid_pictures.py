"""Pictures that grid_generator.py draws as inputs: one function a kind, on a background of 0.

Every picture is a function of the generator of random numbers, the size and the palette alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Grid = list[list[int]]
Cell = tuple[int, int]


class Canvas:
    """A grid that is drawn on. rng: decides all that is drawn."""

    def __init__(self, rng: random.Random, height: int, width: int, palette: Sequence[int]) -> None:
        self.rng = rng
        self.height = height
        self.width = width
        self.palette = palette
        self.grid: Grid = [[0] * width for _ in range(height)]

    def below(self, limit: int) -> int:
        return int(self.rng.random() * limit)

    def between(self, low: int, high: int) -> int:
        return low + self.below(max(high, low) - low + 1)

    def colour(self) -> int:
        return self.palette[self.below(len(self.palette))]

    @property
    def area(self) -> int:
        return self.height * self.width

    def around(self, cell: Cell, diagonal: bool = True) -> list[Cell]:
        i, j = cell
        steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
        return [
            (i + a, j + b)
            for a, b in steps
            if (diagonal or not (a and b)) and 0 <= i + a < self.height and 0 <= j + b < self.width
        ]

    def is_free(self, cells: Sequence[Cell]) -> bool:
        """Nothing coloured there or beside."""
        near = {one for cell in cells for one in (cell, *self.around(cell))}
        return not any(self.grid[i][j] for i, j in near)

    def paint(self, cells: Sequence[Cell], colour: int | None = None) -> bool:
        if not self.is_free(cells):
            return False
        colour = self.colour() if colour is None else colour
        for i, j in cells:
            self.grid[i][j] = colour
        return True

    def blob(self, size: int) -> list[Cell]:
        cells = [(self.below(self.height), self.below(self.width))]
        for _ in range(4 * size):
            if len(cells) == size:
                break
            near = self.around(cells[self.below(len(cells))], diagonal=False)
            if near and (cell := near[self.below(len(near))]) not in cells:
                cells.append(cell)
        return cells

    def box(self, low: int) -> list[Cell]:
        """The cells of a rectangle of at least `low` by `low`, where the grid has room for it."""
        high = self.between(min(low, self.height), min(self.height, low + 3))
        wide = self.between(min(low, self.width), min(self.width, low + 3))
        top, left = self.below(self.height - high + 1), self.below(self.width - wide + 1)
        return [(i, j) for i in range(top, top + high) for j in range(left, left + wide)]


def noise(canvas: Canvas) -> None:
    density = 0.25 + 0.4 * canvas.rng.random()
    for row in canvas.grid:
        for j in range(canvas.width):
            if canvas.rng.random() < density:
                row[j] = canvas.colour()


def full(canvas: Canvas) -> None:
    for row in canvas.grid:
        row[:] = [canvas.colour() for _ in row]


def dots(canvas: Canvas) -> None:
    for _ in range(canvas.between(2, 2 + canvas.area // 12)):
        canvas.grid[canvas.below(canvas.height)][canvas.below(canvas.width)] = canvas.colour()


def blobs(canvas: Canvas) -> None:
    for _ in range(3 * canvas.between(2, 2 + canvas.area // 25)):
        canvas.paint(canvas.blob(canvas.between(1, 3 + canvas.area // 25)))


def one_object(canvas: Canvas) -> None:
    cells = canvas.blob(canvas.between(3, 4 + canvas.area // 15))
    for i, j in cells:
        canvas.grid[i][j] = canvas.palette[0]
    if canvas.rng.random() < 0.5:
        i, j = cells[-1]
        canvas.grid[i][j] = canvas.colour()


def rectangles(canvas: Canvas) -> None:
    for _ in range(canvas.between(1, 2 + canvas.area // 25)):
        canvas.paint(canvas.box(canvas.between(2, 3)))


def boxes(canvas: Canvas) -> None:
    """Hollow ones, some of them with a gap."""
    for _ in range(canvas.between(1, 2 + canvas.area // 20)):
        cells = canvas.box(3)
        if not canvas.is_free(cells):
            continue
        rows, columns = {i for i, _ in cells}, {j for _, j in cells}
        rim = [(i, j) for i, j in cells
               if i in (min(rows), max(rows)) or j in (min(columns), max(columns))]  # fmt: skip
        if canvas.rng.random() < 0.2:
            rim.pop(canvas.below(len(rim)))
        colour = canvas.colour()
        for i, j in rim:
            canvas.grid[i][j] = colour


def noisy(canvas: Canvas) -> None:
    rectangles(canvas)
    for _ in range(2 + canvas.area // 8):
        canvas.paint([(canvas.below(canvas.height), canvas.below(canvas.width))])


KINDS: dict[str, Callable[[Canvas], None]] = {
    "noise": noise,
    "full": full,
    "dots": dots,
    "blobs": blobs,
    "object": one_object,
    "rectangles": rectangles,
    "boxes": boxes,
    "noisy": noisy,
}


def picture(kind: str, rng: random.Random, height: int, width: int, palette: Sequence[int]) -> Grid:
    """height, width: at least 1. palette: colours from 1 to 9, at least one."""
    canvas = Canvas(rng, height, width, palette)
    KINDS[kind](canvas)
    return canvas.grid
