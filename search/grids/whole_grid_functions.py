"""Source of helper functions that work on entire grids, and of helpers that remove noise.

step_functions.py explains what a helper is. cleaning.py uses the helpers that remove noise.
"""

from __future__ import annotations

WHOLE_GRID_HELPERS: dict[str, str] = {
    # The smallest box around the cells, cut out; without cells, the grid itself.
    "cut": """\
def cut(g, cells):
    if not cells:
        return g
    top, left, bottom, right = box(cells)
    return [row[left:right] for row in g[top:bottom]]
""",
    "places": """\
def places(g, colour):
    return [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v == colour]
""",
    # The most and the least frequent colour other than 0; 0 if the grid is empty.
    "most": """\
def most(g):
    cells = [v for row in g for v in row if v]
    return max(sorted(set(cells)), key=cells.count, default=0)
""",
    "least": """\
def least(g):
    cells = [v for row in g for v in row if v]
    return min(sorted(set(cells)), key=cells.count, default=0)
""",
    "commonest": """\
def commonest(g):
    cells = sum(g, [])
    return max(sorted(set(cells)), key=cells.count)
""",
    # Empty cells that are connected to the edge.
    "reachable": """\
def reachable(g):
    height, width = len(g), len(g[0])
    cells = [(i, j) for i in range(height) for j in range(width)
             if not g[i][j] and (i in (0, height - 1) or j in (0, width - 1))]
    seen = set(cells)
    for i, j in cells:
        for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= a < height and 0 <= b < width and not g[a][b] and (a, b) not in seen:
                seen.add((a, b))
                cells.append((a, b))
    return seen
""",
    # The parts between full rows and columns of one colour, in reading order.
    "sections": """\
def sections(g):
    columns = [list(column) for column in zip(*g)]
    lines = [row[0] for row in g + columns if row[0] and len(set(row)) == 1]
    line = max(sorted(set(lines)), key=lines.count, default=None)

    def spans(rows):
        cuts = [-1] + [i for i, row in enumerate(rows) if set(row) == {line}] + [len(rows)]
        return [(a + 1, b) for a, b in zip(cuts, cuts[1:]) if b > a + 1]

    across = spans(columns)
    return [[row[c:d] for row in g[a:b]] for a, b in spans(g) for c, d in across]
""",
    # Fills empty cells between two equal colours in a row with that colour, or with `paint`.
    "connect": """\
def connect(g, paint):
    out = [row[:] for row in g]
    for row in out:
        full = [j for j, v in enumerate(row) if v]
        for a, b in zip(full, full[1:]):
            if row[a] == row[b]:
                row[a + 1:b] = [paint or row[a]] * (b - a - 1)
    return out
""",
    # Draws straight lines over empty cells from each cell of `colour`, or of any colour if it is 0.
    "shoot": """\
def shoot(g, colour, ways):
    out = [row[:] for row in g]
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            if not v or colour and v != colour:
                continue
            for a, b in ways:
                for k in range(1, 30):
                    y, x = i + a * k, j + b * k
                    if not (0 <= y < len(g) and 0 <= x < len(row)) or g[y][x]:
                        break
                    out[y][x] = v
    return out
""",
    # For each cell, its colour in the first grid where it is not empty.
    "overlaid": """\
def overlaid(grids):
    return [[next((v for v in cells if v), 0) for cells in zip(*rows)] for rows in zip(*grids)]
""",
    # Number of squares of 2 by 2 cells that have one colour.
    "squares": """\
def squares(g, colour):
    return sum(a == b == c == d == colour for r, s in zip(g, g[1:])
               for a, b, c, d in zip(r, r[1:], s, s[1:]))
""",
    # Extends every colour of a row up to the next one.
    "onward": """\
def onward(row):
    out, last = [], 0
    for v in row:
        last = v or last
        out.append(last)
    return out
""",
    # Moves the whole picture until it meets a wall. `down` and `right` are -1, 0 or 1.
    "slid": """\
def slid(g, down, right):
    height, width = len(g), len(g[0])
    full = [(i, j) for i in range(height) for j in range(width) if g[i][j]]
    top, left, bottom, right_end = box(full or [(0, 0)])
    a = -top if down < 0 else height - bottom if down > 0 else 0
    b = -left if right < 0 else width - right_end if right > 0 else 0
    return [[g[i - a][j - b] if 0 <= i - a < height and 0 <= j - b < width else 0
             for j in range(width)] for i in range(height)]
""",
    # Moves the picture to the middle, or half a cell up and left if it cannot be centred exactly.
    "centred": """\
def centred(g):
    part = cut(g, [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v])
    a, b = (len(g) - len(part)) // 2, (len(g[0]) - len(part[0])) // 2
    return [[part[i - a][j - b] if 0 <= i - a < len(part) and 0 <= j - b < len(part[0]) else 0
             for j in range(len(g[0]))] for i in range(len(g))]
""",
    # Fills each row between its outermost coloured cells with `paint`, or else the first colour.
    "spanned": """\
def spanned(g, paint):
    out = []
    for row in g:
        full = [j for j, v in enumerate(row) if v] or [0]
        out.append([v or (paint or row[full[0]] if full[0] < j < full[-1] else 0)
                    for j, v in enumerate(row)])
    return out
""",
    # Cells of the objects with the most cells (`largest`) or the fewest.
    "extreme": """\
def extreme(g, largest):
    found = objects(g, False, False)
    size = (max if largest else min)(map(len, found), default=0)
    return {cell for cells in found if len(cells) == size for cell in cells}
""",
    # Colours of the eight cells around a place, as far as they lie in the grid.
    "encircling": """\
def encircling(g, i, j):
    return [g[a][b] for a in range(max(0, i - 1), min(len(g), i + 2))
            for b in range(max(0, j - 1), min(len(g[0]), j + 2)) if (a, b) != (i, j)]
""",
    # The most frequent of these colours.
    "crowd": """\
def crowd(g, i, j):
    cells = encircling(g, i, j)
    return max(sorted(set(cells)), key=cells.count, default=0)
""",
    # Colours of the four direct neighbours of a place, as far as they lie in the grid.
    "flanking": """\
def flanking(g, i, j):
    near = ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
    return [g[a][b] for a, b in near if 0 <= a < len(g) and 0 <= b < len(g[0])]
""",
    # Like `repeating`, for colours that repeat along diagonals: falling (slope -1) or rising (1).
    "striped": """\
def striped(g, hole, slope, height, width):
    for p in range(2, len(g) + len(g[0])):
        stripe = {}
        if all(v == hole or stripe.setdefault((j + slope * i) % p, v) == v
               for i, row in enumerate(g) for j, v in enumerate(row)) and len(stripe) == p:
            return [[stripe[(j + slope * i) % p] for j in range(width)] for i in range(height)]
    return g
""",
    # Finds the smallest block whose repetition gives the grid, cells of `hole` aside, and repeats
    # it to a grid of `height` by `width`.
    "repeating": """\
def repeating(g, hole, height, width):
    cells = [(i, j, v) for i, row in enumerate(g) for j, v in enumerate(row) if v != hole]
    sizes = [(p, q) for p in range(1, len(g) + 1) for q in range(1, len(g[0]) + 1)]
    for p, q in sorted(sizes, key=lambda size: (size[0] * size[1], size)):
        tile = {}
        if all(tile.setdefault((i % p, j % q), v) == v for i, j, v in cells):
            if len(tile) == p * q:
                return [[tile[i % p, j % q] for j in range(width)] for i in range(height)]
    return g
""",
    # Puts a grid into a corner of an empty one.
    "cornered": """\
def cornered(g, high, wide, below, right):
    blank = [0] * (wide - len(g[0]))
    rows = [blank + row if right else row + blank for row in g]
    empty = [[0] * wide for _ in range(high - len(g))]
    return empty + rows if below else rows + empty
""",
    # Mirrors the drawing about the longest row or column of its box that is full.
    "folded": """\
def folded(g):
    cells = [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v]
    top, left, bottom, right = box(cells)
    full = [(right - left, i, True) for i in range(top, bottom) if all(g[i][left:right])]
    upright = [j for j in range(left, right) if all(row[j] for row in g[top:bottom])]
    full += [(bottom - top, j, False) for j in upright]
    _, at, level = max(full)
    r = [[0] * len(row) for row in g]
    for i, j in cells:
        x, y = (2 * at - i, j) if level else (i, 2 * at - j)
        if 0 <= x < len(g) and 0 <= y < len(g[0]):
            r[x][y] = g[i][j]
    return r
""",
    # Gives empty cells the only colour that is neither in their row nor in their column.
    "distinct": """\
def distinct(g):
    r = [row[:] for row in g]
    for _ in g:
        for i, row in enumerate(r):
            for j, v in enumerate(row):
                seen = {*row, *(line[j] for line in r)}
                left = [w for w in {w for line in g for w in line} if w not in seen]
                if not v and len(left) == 1:
                    row[j] = left[0]
    return r
""",
}


CLEANING_HELPERS: dict[str, str] = {
    # Keeps only the cells that lie in a block of this size of one colour.
    "in_blocks": """\
def in_blocks(g, high, wide):
    r = [[0] * len(row) for row in g]
    for i in range(len(g) - high + 1):
        for j in range(len(g[0]) - wide + 1):
            v = g[i][j]
            if v and all(row[j:j + wide] == [v] * wide for row in g[i:i + high]):
                for row in r[i:i + high]:
                    row[j:j + wide] = [v] * wide
    return r
""",
    "smoothed": """\
def smoothed(g):
    def most_of(cells):
        return max(sorted(set(cells)), key=cells.count)
    return [[most_of([w for line in g[max(i - 1, 0):i + 2] for w in line[max(j - 1, 0):j + 2]])
             for j in range(len(row))] for i, row in enumerate(g)]
""",
    # Gives cells of `c` the most frequent colour among the other cells around them.
    "healed": """\
def healed(g, c):
    r = [row[:] for row in g]
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            near = [w for line in g[max(i - 1, 0):i + 2] for w in line[max(j - 1, 0):j + 2]
                    if w != c]
            if v == c and near:
                r[i][j] = max(sorted(set(near)), key=near.count)
    return r
""",
    "straightened": """\
def straightened(g):
    def uniform(rows):
        return [[max(sorted(set(row)), key=row.count)] * len(row) for row in rows]
    across, turned = uniform(g), uniform([list(line) for line in zip(*g)])
    down = [list(line) for line in zip(*turned)]
    def changes(r):
        return sum(v != w for row, old in zip(r, g) for v, w in zip(row, old))
    return min(across, down, key=changes)
""",
    # Uses the periods of rows and of columns that hold for three quarters of all cells.
    "mended": """\
def mended(g):
    def period(rows):
        for p in range(1, len(rows) // 2 + 1):
            both = [v == w for r, s in zip(rows, rows[p:]) for v, w in zip(r, s)]
            if 4 * sum(both) >= 3 * len(both):
                return p
        return len(rows)
    p, q = period(g), period(list(zip(*g)))
    tile = {}
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            tile.setdefault((i % p, j % q), []).append(v)
    tile = {k: max(sorted(set(cells)), key=cells.count) for k, cells in tile.items()}
    return [[tile[i % p, j % q] for j in range(len(row))] for i, row in enumerate(g)]
""",
}
