"""Functions on parts of a grid and on templates that steps may call, as the text that stands in
answers (helpers.py says what a helper is)."""

from __future__ import annotations

PART_HELPERS: dict[str, str] = {
    # The cells of every panel between full rows and columns of a colour that stands nowhere else.
    "panes": """\
def panes(g):
    for wall in sorted({v for row in g for v in row}):
        across = [i for i, row in enumerate(g) if set(row) == {wall}]
        down = [j for j, line in enumerate(zip(*g)) if set(line) == {wall}]
        high = [i for i in range(len(g)) if i not in across]
        wide = [j for j in range(len(g[0])) if j not in down]
        if (across or down) and all(g[i][j] != wall for i in high for j in wide):
            free = [[int(i in high and j in wide) for j in range(len(g[0]))] for i in range(len(g))]
            return objects(free, True, False)
    return [[(i, j) for i, row in enumerate(g) for j, _ in enumerate(row)]]
""",
    # The cells inside of rectangles of one colour's outlines.
    "insides": """\
def insides(g):
    found = []
    for o in objects(g, True, False):
        a, b, c, d = box(o)
        edge = [(i, j) for i in range(a, c) for j in range(b, d) if i in (a, c - 1) or j in (b, d - 1)]
        if c - a > 2 and d - b > 2 and set(edge) <= set(o):
            found.append([(i, j) for i in range(a + 1, c - 1) for j in range(b + 1, d - 1)])
    return found
""",
    # Moves after which all marks of a template lie on their colours, outside of `own`.
    "fits": """\
def fits(g, marks, own):
    found = []
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            a, b = (i - marks[0][0], j - marks[0][1]) if marks else (0, 0)
            if marks and v == marks[0][2] and all(
                0 <= x + a < len(g) and 0 <= y + b < len(row) and g[x + a][y + b] == w
                and (x + a, y + b) not in own for x, y, w in marks
            ):
                found.append((a, b))
    return found
""",
    # The cells of an object in the colours of the first shape that it is, magnified or not.
    "dressed": """\
def dressed(o, shapes):
    top, left, bottom, right = box(o)
    for cells in shapes:
        a, b, c, d = box([(i, j) for i, j, _ in cells])
        k = max((bottom - top) // (c - a), 1)
        known = {(i - a, j - b): v for i, j, v in cells}
        drawn = [((i - top) // k, (j - left) // k) for i, j in o]
        if len(o) == k * k * len(known) and set(drawn) == set(known):
            return [(i, j, known[p]) for (i, j), p in zip(o, drawn)]
    return []
""",
}
