"""Source of helper functions for rules about a position in a grid or about the cells of an object.

step_functions.py explains what a helper is.
"""

from __future__ import annotations

CELL_HELPERS: dict[str, str] = {
    # Colours of the eight cells around a place, and of its four direct neighbours.
    "surrounding": """\
def surrounding(g, i, j):
    rows = g[max(i - 1, 0) : i + 2]
    near = [w for row in rows for w in row[max(j - 1, 0) : j + 2]]
    near.remove(g[i][j])
    return near
""",
    "next_to": """\
def next_to(g, i, j):
    places = [(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)]
    return [g[a][b] for a, b in places if 0 <= a < len(g) and 0 <= b < len(g[0])]
""",
    # Colours in a diagonal direction from a place, the nearest first.
    "diagonal": """\
def diagonal(g, i, j, down, right):
    rows = range(i + 1, len(g)) if down > 0 else range(i - 1, -1, -1)
    columns = range(j + 1, len(g[0])) if right > 0 else range(j - 1, -1, -1)
    return [g[a][b] for a, b in zip(rows, columns)]
""",
    # Black cells that are connected to the border over direct neighbours.
    "outside": """\
def outside(g):
    border = {(i, j) for i in range(len(g)) for j in (0, len(g[0]) - 1)}
    border |= {(i, j) for i in (0, len(g) - 1) for j in range(len(g[0]))}
    cells = [(i, j) for i, j in sorted(border) if g[i][j] == 0]
    seen = set(cells)
    for i, j in cells:
        for a, b in [(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)]:
            inside = 0 <= a < len(g) and 0 <= b < len(g[0])
            if inside and g[a][b] == 0 and (a, b) not in seen:
                seen.add((a, b))
                cells.append((a, b))
    return seen
""",
    # All places in the smallest box around the cells.
    "boxed": """\
def boxed(cells):
    top, left, bottom, right = box(cells)
    return [(i, j) for i in range(top, bottom) for j in range(left, right)]
""",
    "two_sided": """\
def two_sided(cells):
    _, left, _, right = box(cells)
    return {(i, left + right - 1 - j) for i, j in cells} == set(cells)
""",
    # The most and the least frequent value, the lowest one of a tie; 0 if there are no values.
    "common": """\
def common(values):
    return max(sorted(set(values)), key=values.count, default=0)
""",
    "rarest": """\
def rarest(values):
    return min(sorted(set(values)), key=values.count, default=0)
""",
}
