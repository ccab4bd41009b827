"""Helper functions that find rooms and parts of a grid (rooms.py); helpers.py says what a helper is."""

from __future__ import annotations

ROOM_HELPERS: dict[str, str] = {
    # Boxes (top, left, bottom, right) between full rows and columns of one colour.
    "rooms": """\
def rooms(g):
    columns = [list(column) for column in zip(*g)]
    lines = [row[0] for row in g + columns if row[0] and len(set(row)) == 1]
    wall = max(sorted(set(lines)), key=lines.count, default=None)

    def spans(rows):
        cuts = [-1, *(i for i, row in enumerate(rows) if set(row) == {wall}), len(rows)]
        return [(a + 1, b) for a, b in zip(cuts, cuts[1:]) if b > a + 1]

    across = spans(columns)
    return [(a, c, b, d) for a, b in spans(g) for c, d in across]
""",
    # Boxes of what rectangles of one colour frame.
    "inner_boxes": """\
def inner_boxes(g):
    found = []
    for o in objects(g, True, False):
        a, b, c, d = box(o)
        edge = {(i, j) for i in range(a, c) for j in range(b, d)
                if i in (a, c - 1) or j in (b, d - 1)}
        if c - a > 2 and d - b > 2 and edge <= set(o):
            found.append((a + 1, b + 1, c - 1, d - 1))
    return found
""",
    "equal_boxes": """\
def equal_boxes(g, down, across):
    a, b = len(g) // down, len(g[0]) // across
    return [(i * a, j * b, i * a + a, j * b + b) for i in range(down) for j in range(across)]
""",
    # The colours of the rings, from the outside inwards, in the opposite order, or each moved inwards.
    "nested": """\
def nested(p, opposite):
    height, width = len(p), len(p[0])
    cells = sorted((min(i, j, height - 1 - i, width - 1 - j), i, j)
                   for i in range(height) for j in range(width))
    order = list(dict.fromkeys(p[i][j] for _, i, j in cells))
    other = order[::-1] if opposite else order[-1:] + order[:-1]
    return [[dict(zip(order, other))[v] for v in row] for row in p]
""",
    # Where there are two colours, each becomes the other.
    "turned_over": """\
def turned_over(p):
    colours = sorted(set(sum(p, [])))
    if len(colours) != 2:
        return p
    return [[sum(colours) - v for v in row] for row in p]
""",
}
