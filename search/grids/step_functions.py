"""Helper functions that grid programs may call, as Python source that is copied into answers.

Every helper is a single function that uses only Python builtins and other helpers. It changes none
of its arguments.
"""

from __future__ import annotations

from .cells.step_functions import CELL_HELPERS
from .objects.step_functions import OBJECT_HELPERS
from .panels.step_functions import PART_HELPERS, ROOM_HELPERS
from .strokes.step_functions import STROKE_HELPERS
from .whole_grid_functions import CLEANING_HELPERS, WHOLE_GRID_HELPERS

_BASE: dict[str, str] = {
    # Connected cells of a grid that are not 0, as lists of (row, column), ordered by the first cell
    # of each in reading order. With `same`, only cells of one colour are connected; with `around`,
    # diagonal neighbours are connected too.
    "objects": """\
def objects(g, same, around):
    found, seen = [], set()
    near = [(-1, 0), (0, -1), (0, 1), (1, 0)]
    if around:
        near += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            if not v or (i, j) in seen:
                continue
            cells = [(i, j)]
            seen.add((i, j))
            for a, b in cells:
                for c, d in near:
                    p = (a + c, b + d)
                    if p in seen or not (0 <= p[0] < len(g) and 0 <= p[1] < len(row)):
                        continue
                    w = g[p[0]][p[1]]
                    if w == v or w and not same:
                        seen.add(p)
                        cells.append(p)
            found.append(cells)
    return found
""",
    "box": """\
def box(cells):
    rows, columns = [i for i, _ in cells], [j for _, j in cells]
    return min(rows), min(columns), max(rows) + 1, max(columns) + 1
""",
}

# Names are unique across the parts; a test checks it.
PARTS = (
    _BASE, OBJECT_HELPERS, WHOLE_GRID_HELPERS, CELL_HELPERS,
    STROKE_HELPERS, CLEANING_HELPERS, ROOM_HELPERS, PART_HELPERS,
)  # fmt: skip
HELPERS: dict[str, str] = {name: text for part in PARTS for name, text in part.items()}
