"""Grids of colours as a terminal shows them: a line of digits a row, in the colours that ARC's
viewers give them; without colours the digits stand alone."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

BACKGROUNDS = ("#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00", "#aaaaaa", "#f012be",
               "#ff851b", "#7fdbff", "#870c25")  # fmt: skip
DARK = (0, 1, 9)
STYLES = tuple(
    Style(color="#ffffff" if colour in DARK else "#000000", bgcolor=back)
    for colour, back in enumerate(BACKGROUNDS)
)
ROOM = 100  # columns of the terminal
ARROW = "  ->  "


def pair_lines(given: list[list[int]], wanted: list[list[int]]) -> list[Text]:
    """Two grids side by side; digits stand apart where there is room."""
    columns = len(given[0]) + len(wanted[0])
    cell = 2 if 2 * columns + len(ARROW) <= ROOM else 1
    height = max(len(given), len(wanted))
    lines = []
    for k in range(height):
        line = Text()
        _row(line, given, k, cell)
        line.append(ARROW if k == (min(len(given), len(wanted)) - 1) // 2 else " " * len(ARROW))
        _row(line, wanted, k, cell)
        line.rstrip()
        lines.append(line)
    return lines


def _row(line: Text, grid: list[list[int]], k: int, cell: int) -> None:
    if k >= len(grid):
        line.append(" " * (cell * len(grid[0])))
        return
    for colour in grid[k]:
        line.append(f"{colour:>{cell}}", STYLES[colour])
