"""Source of helper functions that find rooms (rooms.py) or work on parts of grids and templates.

step_functions.py explains what a helper is.
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
    # Boxes of the insides of rectangular frames of one colour.
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
    # Puts the colours of the rings, from the outside in, in the opposite order, or moves each one
    # inwards.
    "nested": """\
def nested(p, opposite):
    height, width = len(p), len(p[0])
    cells = sorted((min(i, j, height - 1 - i, width - 1 - j), i, j)
                   for i in range(height) for j in range(width))
    order = list(dict.fromkeys(p[i][j] for _, i, j in cells))
    other = order[::-1] if opposite else order[-1:] + order[:-1]
    return [[dict(zip(order, other))[v] for v in row] for row in p]
""",
    # Swaps the two colours of a part; a part with another number of colours stays as it is.
    "turned_over": """\
def turned_over(p):
    colours = sorted(set(sum(p, [])))
    if len(colours) != 2:
        return p
    return [[sum(colours) - v for v in row] for row in p]
""",
}


PART_HELPERS: dict[str, str] = {
    # Cells of each panel between full rows and columns of a colour that occurs nowhere else.
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
    # Cells of the insides of rectangular frames of one colour.
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
    # Offsets that move all marks of a template onto cells of their colours, outside of `own`.
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
    # The cells of an object in the colours of the first shape that it equals, magnified or not.
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
    # Cells of colour c that an object needs to be symmetric about the best centre. The best centre
    # is the one for which most cells have colours that are already symmetric.
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
    # The colour whose cells fill their box; the one with most cells if there are several.
    "veil": """\
def veil(g):
    full = [x for x in layers(g) if not gaps(x)]
    return tint(g, max(full, key=len))
""",
    # Pairs of colours next to each other in small full blocks, with the cells of each pair. The
    # blocks have two cells or, with `larger`, are two cells wide (or high, if `upright`).
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
    # Colour of a differently coloured object for which `of` gives the same, or the object's own.
    "peer": """\
def peer(g, o, many, of):
    own, wanted = tint(g, o), of(o)
    return next((tint(g, x) for x in many if tint(g, x) != own and of(x) == wanted), own)
""",
    # A form of an object that does not change when it is turned or mirrored.
    "pose": """\
def pose(o):
    found = []
    for _ in range(4):
        o = [(j, -i) for i, j in o]
        found += [form(o), form([(i, -j) for i, j in o])]
    return min(found)
""",
    # The largest squares of one colour that divide the grid.
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
    # An object as cells with colours, in four sizes, the largest first.
    "sizes": """\
def sizes(g, o):
    return [
        [(i * k + a, j * k + b, g[i][j]) for i, j in o for a in range(k) for b in range(k)]
        for k in range(4, 0, -1)
    ]
""",
    # Regions of connected empty cells in the boxes of objects.
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
    # Joins rows of grids to one grid with `apart` empty cells in between; smaller grids are padded.
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
    # The most frequent other colour in an object's box, or the object's own colour.
    "inner": """\
def inner(g, o):
    seen = [v for row in crop(g, o) for v in row if v not in (0, tint(g, o))]
    return max(sorted(set(seen)), key=seen.count, default=tint(g, o))
""",
    # Number of colours of an object.
    "hues": """\
def hues(g, o):
    return len({g[i][j] for i, j in o})
""",
    # Colour of a differently coloured object in the same rows (k = 0) or columns (k = 1).
    "aligned": """\
def aligned(g, o, many, k):
    own, lines = tint(g, o), {p[k] for p in o}
    others = (x for x in many if tint(g, x) != own)
    return next((tint(g, x) for x in others if any(p[k] in lines for p in x)), own)
""",
}
