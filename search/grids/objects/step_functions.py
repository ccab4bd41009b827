"""Source of helper functions that work on objects, which are lists of cells, and on parts of grids.

step_functions.py explains what a helper is.
"""

from __future__ import annotations

OBJECT_HELPERS: dict[str, str] = {
    # The colour of most cells of an object, the lowest one of a tie.
    "tint": """\
def tint(g, o):
    seen = [g[i][j] for i, j in o]
    return max(sorted(set(seen)), key=seen.count)
""",
    # The most frequent colour of a grid, the lowest one of a tie.
    "backdrop": """\
def backdrop(g):
    seen = [v for row in g for v in row]
    return max(sorted(set(seen)), key=seen.count)
""",
    # Objects on a background that need not be 0.
    "parts": """\
def parts(g, b, same, around):
    return objects([[0 if v == b else v or 10 for v in row] for row in g], same, around)
""",
    # Regions of connected empty cells.
    "regions": """\
def regions(g):
    return objects([[int(not v) for v in row] for row in g], True, False)
""",
    "pixels": """\
def pixels(g):
    return [[(i, j)] for i, row in enumerate(g) for j, v in enumerate(row) if v]
""",
    # The cells of each colour, as one object.
    "layers": """\
def layers(g):
    cells = [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v]
    colours = sorted({g[i][j] for i, j in cells})
    return [[(i, j) for i, j in cells if g[i][j] == c] for c in colours]
""",
    "row_cells": """\
def row_cells(g):
    return [[(i, j) for j in range(len(g[0]))] for i in range(len(g))]
""",
    "column_cells": """\
def column_cells(g):
    return [[(i, j) for i in range(len(g))] for j in range(len(g[0]))]
""",
    "height": """\
def height(o):
    return max(i for i, _ in o) - min(i for i, _ in o) + 1
""",
    "width": """\
def width(o):
    return max(j for _, j in o) - min(j for _, j in o) + 1
""",
    "crop": """\
def crop(g, o):
    a, b, c, d = box(o)
    return [row[b:d] for row in g[a:c]]
""",
    # The box of an object, without the other objects in it.
    "alone": """\
def alone(g, o):
    a, b, c, d = box(o)
    own = set(o)
    return [[g[i][j] if (i, j) in own else 0 for j in range(b, d)] for i in range(a, c)]
""",
    # The cells of an object relative to the corner of its box, whatever their colours.
    "form": """\
def form(o):
    a, b, _, _ = box(o)
    return sorted((i - a, j - b) for i, j in o)
""",
    # Regions of cells that an object encloses, as lists.
    "holes": """\
def holes(o):
    a, b, c, d = box(o)
    own = set(o)
    free = [[int((i, j) not in own) for j in range(b - 1, d + 1)] for i in range(a - 1, c + 1)]
    return [[(i + a - 1, j + b - 1) for i, j in h] for h in objects(free, True, False)[1:]]
""",
    "shut_in": """\
def shut_in(o):
    return [cell for hole in holes(o) for cell in hole]
""",
    # Cells of an object's box that are not its own.
    "gaps": """\
def gaps(o):
    a, b, c, d = box(o)
    own = set(o)
    return [(i, j) for i in range(a, c) for j in range(b, d) if (i, j) not in own]
""",
    # Neighbours of an object, diagonal ones included.
    "halo": """\
def halo(g, o):
    own = set(o)
    near = {(i + a, j + b) for i, j in o for a in (-1, 0, 1) for b in (-1, 0, 1)} - own
    return sorted((i, j) for i, j in near if 0 <= i < len(g) and 0 <= j < len(g[0]))
""",
    # Direct neighbours of an object.
    "sides": """\
def sides(g, o):
    own = set(o)
    near = {p for i, j in o for p in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))} - own
    return sorted((i, j) for i, j in near if 0 <= i < len(g) and 0 <= j < len(g[0]))
""",
    # The ring of cells around an object's box.
    "frame": """\
def frame(g, o):
    a, b, c, d = box(o)
    outer = {(i, j) for i in range(a - 1, c + 1) for j in range(b - 1, d + 1)}
    inner = {(i, j) for i in range(a, c) for j in range(b, d)}
    return sorted((i, j) for i, j in outer - inner if 0 <= i < len(g) and 0 <= j < len(g[0]))
""",
    # Cells of an object whose neighbours, diagonal ones included, are all its own.
    "core": """\
def core(o):
    own = set(o)
    near = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    return [(i, j) for i, j in o if all((i + a, j + b) in own for a, b in near)]
""",
    "rim": """\
def rim(o):
    inner = set(core(o))
    return [cell for cell in o if cell not in inner]
""",
    "corners": """\
def corners(o):
    a, b, c, d = box(o)
    own = set(o)
    return [(i, j) for i in (a, c - 1) for j in (b, d - 1) if (i, j) in own]
""",
    "middle": """\
def middle(o):
    a, b, c, d = box(o)
    rows, columns = {(a + c - 1) // 2, (a + c) // 2}, {(b + d - 1) // 2, (b + d) // 2}
    return [(i, j) for i in rows for j in columns]
""",
    # Cells from an object in the given directions, up to the border or, unless `through`, up to the
    # first cell that is not empty.
    "rays": """\
def rays(g, o, ways, through):
    found, own = [], set(o)
    for i, j in o:
        for a, b in ways:
            for k in range(1, 30):
                p = i + k * a, j + k * b
                if p in own or not (0 <= p[0] < len(g) and 0 <= p[1] < len(g[0])):
                    break
                if g[p[0]][p[1]] and not through:
                    break
                found.append(p)
    return found
""",
    "at_border": """\
def at_border(g, o):
    return any(i in (0, len(g) - 1) or j in (0, len(g[0]) - 1) for i, j in o)
""",
    # Colours of the direct neighbours of an object.
    "beside": """\
def beside(g, o):
    return {g[i][j] for i, j in sides(g, o)}
""",
    # Colours in the box of an object, without its main colour and 0.
    "within": """\
def within(g, o):
    return sorted({v for row in crop(g, o) for v in row} - {0, tint(g, o)})
""",
    # Colour of the nearest object of another colour, or the object's own.
    "nearest": """\
def nearest(g, o, many):
    near = [
        (min(abs(i - a) + abs(j - b) for i, j in o for a, b in x), tint(g, x))
        for x in many
        if tint(g, x) != tint(g, o)
    ]
    return min(near, default=(0, tint(g, o)))[1]
""",
    # The colours of a grid except 0, most frequent first.
    "ranked": """\
def ranked(g):
    seen = [v for row in g for v in row if v]
    return sorted(set(seen), key=lambda v: (-seen.count(v), v))
""",
    # Number of steps that an object can go before it meets the border or a cell that is not empty.
    "room": """\
def room(g, o, a, b):
    own = set(o)
    for k in range(1, 31):
        for i, j in o:
            p = i + k * a, j + k * b
            if p in own:
                continue
            if not (0 <= p[0] < len(g) and 0 <= p[1] < len(g[0])) or g[p[0]][p[1]]:
                return k - 1
    return 0
""",
    # Direction from one object to another, with components -1, 0 or 1.
    "way": """\
def way(o, x):
    a, b, c, d = box(o)
    s, t, u, v = box(x)
    return (s >= c) - (u <= a), (t >= d) - (v <= b)
""",
    # The parts between full rows and columns of a colour that occurs nowhere else.
    "panels": """\
def panels(g):
    for wall in sorted({v for row in g for v in row if v}):
        across = [i for i, row in enumerate(g) if set(row) == {wall}]
        down = [j for j, line in enumerate(zip(*g)) if set(line) == {wall}]
        lines = len(across) * len(g[0]) + len(down) * len(g) - len(across) * len(down)
        if sum(row.count(wall) for row in g) == lines:
            tops, lefts = [-1, *across], [-1, *down]
            high = [(a + 1, b) for a, b in zip(tops, [*across, len(g)]) if b > a + 1]
            wide = [(a + 1, b) for a, b in zip(lefts, [*down, len(g[0])]) if b > a + 1]
            return [[row[c:d] for row in g[a:b]] for a, b in high for c, d in wide]
    return [g]
""",
    "shares": """\
def shares(g, m, n):
    a, b = len(g) // m, len(g[0]) // n
    if a * m != len(g) or b * n != len(g[0]):
        return [g]
    starts = [(i * a, j * b) for i in range(m) for j in range(n)]
    return [[row[j : j + b] for row in g[i : i + a]] for i, j in starts]
""",
    # The insides of rectangular frames of one colour.
    "solid": """\
def solid(g):
    found = []
    for o in objects(g, True, False):
        a, b, c, d = box(o)
        every = {(i, j) for i in range(a, c) for j in range(b, d)}
        edge = {(i, j) for i, j in every if i in (a, c - 1) or j in (b, d - 1)}
        if c - a > 2 and d - b > 2 and edge <= set(o):
            found.append([row[b + 1 : d - 1] for row in g[a + 1 : c - 1]])
    return found
""",
    # Replaces colour c by the smallest period of rows and columns, or along a diagonal.
    "repeated": """\
def repeated(g, c):
    h, w = len(g), len(g[0])
    periods = [(p, q, 0) for p in range(1, h + 1) for q in range(1, w + 1)]
    periods += [(1, q, s) for q in range(2, w + 1) for s in (1, -1)]
    for p, q, s in sorted(periods, key=lambda x: (x[0] * x[1], x)):
        known = {}
        if all(
            v == c or known.setdefault((i % p, (j - s * i) % q), v) == v
            for i, row in enumerate(g)
            for j, v in enumerate(row)
        ):
            if len(known) == p * q and p * q < h * w:
                return [[known[i % p, (j - s * i) % q] for j in range(w)] for i in range(h)]
    return g
""",
    # Replaces colour c by mirroring about the vertical axis that is nearest to the middle.
    "mirrored": """\
def mirrored(g, c):
    w = len(g[0])
    for k in sorted(range(w // 2, w + (w + 1) // 2), key=lambda k: abs(k - w + 1)):
        facing = [j for j in range(w) if 0 <= k - j < w]
        if all(c in (row[j], row[k - j]) or row[j] == row[k - j] for row in g for j in facing):
            return [
                [row[k - j] if v == c and j in facing else v for j, v in enumerate(row)]
                for row in g
            ]
    return g
""",
    "flipped": """\
def flipped(g, c):
    return [list(row) for row in zip(*mirrored([list(row) for row in zip(*g)], c))]
""",
    # Replaces colour c by mirroring about the diagonal, which may be off the corner.
    "across": """\
def across(g, c):
    h, w = len(g), len(g[0])
    for k in (0, 1, -1, 2, -2):
        cells = [(i, j) for i in range(h) for j in range(w)]
        cells = [(i, j) for i, j in cells if 0 <= j + k < h and 0 <= i - k < w]
        facing = [(g[i][j], g[j + k][i - k]) for i, j in cells]
        if all(c in (v, x) or v == x for v, x in facing):
            r = [row[:] for row in g]
            for (i, j), (v, x) in zip(cells, facing):
                r[i][j] = x if v == c else v
            return r
    return g
""",
    # Replaces colour c by the same grid turned by a quarter, a half and three quarters.
    "quarters": """\
def quarters(g, c):
    r = [row[:] for row in g]
    if len(g) != len(g[0]):
        return r
    n = len(g) - 1
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            if v == c:
                seen = [x for x in (g[j][n - i], g[n - i][n - j], g[n - j][i]) if x != c]
                r[i][j] = seen[0] if seen else c
    return r
""",
    # Straight runs of cells between two cells of equal colour, each with that colour.
    "links": """\
def links(g, ways, through):
    found = []
    for a, b in ways:
        for i, row in enumerate(g):
            for j, v in enumerate(row):
                cells = []
                for k in range(1, 30 if v else 0):
                    x, y = i + k * a, j + k * b
                    if not (0 <= x < len(g) and 0 <= y < len(row)):
                        break
                    if g[x][y] == v:
                        found.append((v, cells))
                        break
                    if g[x][y] and not through:
                        break
                    cells.append((x, y))
    return found
""",
    # An object as cells with colours, in its eight poses.
    "turns": """\
def turns(g, o):
    cells = [(i, j, g[i][j]) for i, j in o]
    found = []
    for _ in range(4):
        cells = [(j, -i, v) for i, j, v in cells]
        found += [cells, [(i, -j, v) for i, j, v in cells]]
    return found
""",
    # The first shape that can be moved so that it covers all cells of an object; else nothing.
    "onto": """\
def onto(g, o, shapes):
    i, j = o[0]
    for cells in shapes:
        for a, b, v in cells:
            if v == g[i][j]:
                moved = {(x + i - a, y + j - b): w for x, y, w in cells}
                if all(moved.get(p) == g[p[0]][p[1]] for p in o):
                    return [(x, y, w) for (x, y), w in moved.items()]
    return []
""",
    # Distance between two objects.
    "gap": """\
def gap(o, x):
    return min(abs(i - a) + abs(j - b) for i, j in o for a, b in x)
""",
    # Cells on the edge of an object's box that are not its own.
    "edges": """\
def edges(o):
    a, b, c, d = box(o)
    return [(i, j) for i, j in gaps(o) if i in (a, c - 1) or j in (b, d - 1)]
""",
    # Empty cells between an object and whatever it faces straight on.
    "bridges": """\
def bridges(g, o, ways):
    found, own = [], set(o)
    for i, j in o:
        for a, b in ways:
            cells = []
            for k in range(1, 30):
                p = i + k * a, j + k * b
                if p in own or not (0 <= p[0] < len(g) and 0 <= p[1] < len(g[0])):
                    break
                if g[p[0]][p[1]]:
                    found += cells
                    break
                cells.append(p)
    return found
""",
    # A different colour of another object with the same form, or the object's own colour.
    "twin": """\
def twin(g, o, many):
    alike = [tint(g, x) for x in many if x != o and form(x) == form(o)]
    return next((v for v in alike if v != tint(g, o)), tint(g, o))
""",
    # Number of cells of a grid that are not empty.
    "filled": """\
def filled(p):
    return sum(v > 0 for row in p for v in row)
""",
    # Mask of the cells of a grid that are not empty.
    "drawn": """\
def drawn(p):
    return [[v > 0 for v in row] for row in p]
""",
}
