"""Helper functions that find rooms and parts of a grid (rooms.py); helpers.py says what a helper is.

Functions on parts of a grid and on templates that steps may call, as the text that stands in
answers (helpers.py says what a helper is).
"""

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
            free = [[0] * len(row) for row in g]
            for i in high:
                for j in wide:
                    free[i][j] = 1
            return objects(free, True, False)
    return [[(i, j) for i, row in enumerate(g) for j, _ in enumerate(row)]]
""",
    # The cells inside of rectangles of one colour's outlines.
    "insides": """\
def insides(g):
    found = []
    for o in objects(g, True, False):
        a, b, c, d = box(o)
        core = [(i, j) for i in range(a + 1, c - 1) for j in range(b + 1, d - 1)]
        edge = {(i, j) for i in range(a, c) for j in range(b, d)} - set(core)
        if core and edge <= set(o):
            found.append(core)
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
    "cells": """\
def cells(g):
    return [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v]
""",
    # What an object lacks to be symmetric about the centre that fits it best, where the grid shows
    # colour c. Best is where most cells are of colours that are symmetric already.
    "balanced": """\
def balanced(g, o, c, images):
    top, left, bottom, right = box(o)
    best = None
    for p in range(2 * top, 2 * bottom - 1):
        for q in range(2 * left, 2 * right - 1):
            made, same, broken = {}, 0, set()
            for i, j in o:
                for y, x in images(2 * i - p, 2 * j - q):
                    m, n = divmod(p + y, 2), divmod(q + x, 2)
                    if m[1] or n[1]:
                        break
                    m, n, v = m[0], n[0], g[i][j]
                    if 0 <= m < len(g) and 0 <= n < len(g[0]):
                        if g[m][n] not in (c, v) or made.get((m, n), v) != v:
                            break
                        same += g[m][n] == v
                        broken |= {v} - {g[m][n]}
                        made[m, n] = v
                else:
                    continue
                break
            else:
                whole = sum(g[i][j] not in broken for i, j in o)
                rank = whole, same, -abs(p - top - bottom + 1) - abs(q - left - right + 1)
                if best is None or rank > best[0]:
                    best = rank, made
    return [(i, j, v) for (i, j), v in best[1].items() if g[i][j] == c] if best else []
""",
    # The colour whose cells fill their box, the largest such.
    "veil": """\
def veil(g):
    full = [x for x in layers(g) if not gaps(x)]
    return tint(g, max(full, key=len))
""",
    # Pairs of colours that stand side by side in small full blocks, with the cells of each pair:
    # objects of two cells, or also larger ones two cells wide (or high, where upright).
    "keys": """\
def keys(g, upright, larger):
    found = []
    for o in objects(g, False, False):
        a, b, c, d = box(o)
        if len(o) != (c - a) * (d - b) or len(o) < 2 or len(o) > 2 and not larger:
            continue
        if len(o) == 2 or (c - a if upright else d - b) == 2:
            o = sorted(o, key=lambda p: p[::-1]) if upright else sorted(o)
            pairs = [(p, q) for p, q in zip(o[::2], o[1::2])]
            if all(g[i][j] != g[x][y] for (i, j), (x, y) in pairs):
                found += [(g[i][j], g[x][y], [(i, j), (x, y)]) for (i, j), (x, y) in pairs]
    return found
""",
    # The colour of another-coloured object for which `of` is the same, or its own.
    "peer": """\
def peer(g, o, many, of):
    own, wanted = tint(g, o), of(o)
    return next((tint(g, x) for x in many if tint(g, x) != own and of(x) == wanted), own)
""",
    # The form of an object, however it is turned or mirrored.
    "pose": """\
def pose(o):
    found = []
    for _ in range(4):
        o = [(j, -i) for i, j in o]
        found += [form(o), form([(i, -j) for i, j in o])]
    return min(found)
""",
    # The squares of one colour that a grid is made of, as large as they can be.
    "blocks": """\
def blocks(g):
    h, w = len(g), len(g[0])
    for k in range(min(h, w), 0, -1):
        if h % k == w % k == 0:
            if all(g[i][j] == g[i - i % k][j - j % k] for i in range(h) for j in range(w)):
                corners = [(i, j) for i in range(0, h, k) for j in range(0, w, k)]
                own = [(i, j) for i in range(k) for j in range(k)]
                return [[(i + a, j + b) for a, b in own] for i, j in corners]
""",
    # A shape as cells with colours, in four sizes, the largest first.
    "sizes": """\
def sizes(g, o):
    return [
        [(i * k + a, j * k + b, g[i][j]) for i, j in o for a in range(k) for b in range(k)]
        for k in range(4, 0, -1)
    ]
""",
    # Connected empty cells in the boxes of objects.
    "pockets": """\
def pockets(g):
    found = []
    for o in objects(g, True, True):
        free = [[0] * len(row) for row in g]
        for i, j in gaps(o):
            free[i][j] = int(not g[i][j])
        found += objects(free, True, False)
    return found
""",
    # Rows of grids as one grid, with empty cells where they differ in size, and some apart.
    "joined": """\
def joined(rows, apart):
    h = max(len(p) for row in rows for p in row)
    w = max(len(p[0]) for row in rows for p in row)
    n = max(map(len, rows))
    r = [[0] * (n * (w + apart) - apart) for _ in range(len(rows) * (h + apart) - apart)]
    for k, row in enumerate(rows):
        for m, p in enumerate(row):
            for i, line in enumerate(p):
                for j, v in enumerate(line):
                    r[k * (h + apart) + i][m * (w + apart) + j] = v
    return r
""",
    # The colour but its own that is most frequent in the box of an object, or its own.
    "inner": """\
def inner(g, o):
    seen = [v for row in crop(g, o) for v in row if v not in (0, tint(g, o))]
    return max(sorted(set(seen)), key=seen.count, default=tint(g, o))
""",
    # How many colours an object has.
    "hues": """\
def hues(g, o):
    return len({g[i][j] for i, j in o})
""",
    # The colour of an object of another colour that stands in the same rows (k: 0) or columns (1).
    "aligned": """\
def aligned(g, o, many, k):
    own, lines = tint(g, o), {p[k] for p in o}
    others = (x for x in many if tint(g, x) != own)
    return next((tint(g, x) for x in others if any(p[k] in lines for p in x)), own)
""",
}
