"""Source of helper functions that compute which cells a stroke paints (strokes.py).

step_functions.py explains what a helper is. A start is (row, column, step down, step to the right).
A stroke is a list of (row, column, colour). If the argument `c` is 0, cells of all colours are
used; otherwise only cells of the colour `c`.
"""

from __future__ import annotations

STROKE_HELPERS: dict[str, str] = {
    "aimed": """\
def aimed(g, c, ways):
    return [(i, j, a, b) for i, row in enumerate(g) for j, v in enumerate(row)
            if v and c in (0, v) for a, b in ways]
""",
    # Ends of lines: cells that touch only one other cell, with the direction that leads on from it.
    "line_ends": """\
def line_ends(g, c):
    starts = []
    for i, row in enumerate(g):
        for j, v in enumerate(row):
            if not v or c not in (0, v):
                continue
            near = [(y, x) for y in range(max(i - 1, 0), min(i + 2, len(g)))
                    for x in range(max(j - 1, 0), min(j + 2, len(row)))
                    if g[y][x] and (y, x) != (i, j)]
            if len(near) == 1:
                starts.append((i, j, i - near[0][0], j - near[0][1]))
    return starts
""",
    # From cells of `c`, in the directions in which there is a cell of colour `w`.
    "facing": """\
def facing(g, c, w, ways):
    seen = set()
    for i, j in places(g, w):
        for a, b in ways:
            for k in range(1, 30):
                y, x = i - a * k, j - b * k
                if not (0 <= y < len(g) and 0 <= x < len(g[0])) or (y, x, a, b) in seen:
                    break
                seen.add((y, x, a, b))
    return [(i, j, a, b) for i, j, a, b in aimed(g, c, ways)
            if g[i][j] != w and (i, j, a, b) in seen]
""",
    # From cells of `c`, in the directions away from cells of colour `w` in a straight line.
    "leaving": """\
def leaving(g, c, w, ways):
    return [(i, j, -a, -b) for i, j, a, b in facing(g, c, w, ways)]
""",
    # From cells of `c`, away from cells of `w` that they touch.
    "pushed": """\
def pushed(g, c, w, ways):
    return [(i, j, a, b) for i, j, a, b in aimed(g, c, ways)
            if 0 <= i - a < len(g) and 0 <= j - b < len(g[0]) and g[i - a][j - b] == w]
""",
    # From the corners of every object's box, diagonally outwards.
    "outwards": """\
def outwards(g, c, ways):
    starts = []
    for o in objects(g, True, True):
        if c in (0, g[o[0][0]][o[0][1]]):
            top, left, bottom, right = box(o)
            corners = [(bottom - 1 if a > 0 else top, right - 1 if b > 0 else left, a, b)
                       for a, b in ways]
            starts += [start for start in corners if g[start[0]][start[1]]]
    return starts
""",
    # Out of the only gap in the edge of an object's box; each start carries the object's colour.
    "openings": """\
def openings(g, back):
    starts = []
    for o in objects(g, True, True):
        top, left, bottom, right = box(o)
        edge = [(i, j) for i in range(top, bottom) for j in range(left, right)
                if (i in (top, bottom - 1) or j in (left, right - 1)) and (i, j) not in o]
        if len(edge) == 1 and bottom - top > 1 and right - left > 1:
            i, j = edge[0]
            a, b = (i == bottom - 1) - (i == top), (j == right - 1) - (j == left)
            if back:
                i, j = (bottom - 1 if a < 0 else top if a > 0 else i,
                        right - 1 if b < 0 else left if b > 0 else j)
                a, b = -a, -b
            starts.append((i, j, a, b, g[o[0][0]][o[0][1]]))
    return starts
""",
    # From the cells with the rarer colour of an object of two colours, away from its middle.
    "tips": """\
def tips(g, back):
    starts = []
    for o in objects(g, False, True):
        colours = [g[i][j] for i, j in o]
        if len(set(colours)) == 2 and colours.count(colours[0]) * 2 != len(o):
            odd = min(colours, key=colours.count)
            top, left, bottom, right = box(o)
            for i, j in o:
                a, b = 2 * i - top - bottom + 1, 2 * j - left - right + 1
                if g[i][j] == odd:
                    step = (a > 0) - (a < 0), (b > 0) - (b < 0)
                    starts.append((i, j, -step[0], -step[1]) if back else (i, j, *step))
    return starts
""",
    # From every cell of an object, away from the middle of its box.
    "away": """\
def away(g, c, same):
    starts = []
    for o in objects(g, same, True):
        top, left, bottom, right = box(o)
        for i, j in o:
            a, b = 2 * i - top - bottom + 1, 2 * j - left - right + 1
            if c in (0, g[i][j]) and (a or b):
                starts.append((i, j, (a > 0) - (a < 0), (b > 0) - (b < 0)))
    return starts
""",
    # Cells that lines pass on their way from the starts over empty cells. At an obstacle a line
    # stops, turns right or left, bounces (off the border, too) or steps aside. With "through" it
    # passes behind obstacles, with "over" in front of them. With "dotted" it stops and leaves out
    # the first cell, the third, and so on. A start may carry the colour of its line.
    "walks": """\
def walks(g, starts, mode):
    def at(y, x):
        return g[y][x] if 0 <= y < len(g) and 0 <= x < len(g[0]) else -1
    found = []
    for i, j, a, b, *tint in starts:
        v = tint[0] if tint else g[i][j]
        for k in range(3 * (len(g) + len(g[0]))):
            met = at(i + a, j + b)
            y, x = i + a, j + b
            if met and mode == "bounce":
                down, right = at(i + a, j), at(i, j + b)
                both = bool(down) == bool(right)
                a, b = -a if down or both else a, -b if right or both else b
                y, x = i + a, j + b
            elif met > 0 and mode in ("right", "left"):
                a, b = (b, -a) if mode == "right" else (-b, a)
                y, x = i + a, j + b
            elif met > 0 and mode in ("aside right", "aside left"):
                y, x = (i + b, j - a) if mode == "aside right" else (i - b, j + a)
            met = at(y, x)
            if met < 0 or met and mode not in ("through", "over"):
                break
            i, j = y, x
            if (not met or mode == "over") and (mode != "dotted" or k % 2):
                found.append((i, j, v))
    return found
""",
    # Flows like water from cells of `c`: ahead where it is free, else to both sides of an obstacle.
    "flows": """\
def flows(g, c, a, b):
    def at(y, x):
        return g[y][x] if 0 <= y < len(g) and 0 <= x < len(g[0]) else -1
    cells = [(i, j, g[i][j]) for i, j, _, _ in aimed(g, c, [(a, b)])]
    seen, found = set(), []
    for i, j, v in cells:
        ahead = at(i + a, j + b)
        sides = [(i + b, j + a), (i - b, j - a)] if ahead > 0 and not g[i][j] else []
        for y, x in [(i + a, j + b)] if not ahead else sides:
            if at(y, x) == 0 and (y, x) not in seen:
                seen.add((y, x))
                cells.append((y, x, v))
                found.append((y, x, v))
    return found
""",
    # Empty cells with a cell of `c` in their row and one of `w` in their column.
    "crossings": """\
def crossings(g, c, w):
    return [(i, j, c) for i, row in enumerate(g) for j, v in enumerate(row)
            if not v and c in row and w in [line[j] for line in g]]
""",
    # Paths with two legs from each cell of `c` to the nearest of `w`; if c == w, to the nearest one
    # that follows in reading order.
    "joins": """\
def joins(g, c, w, kind):
    found = []
    ends = places(g, w)
    for i, j in places(g, c):
        others = [p for p in ends if p > (i, j) or c != w]
        if not others:
            continue
        y, x = min(others, key=lambda p: (abs(p[0] - i) + abs(p[1] - j), p))
        a, b = (y > i) - (y < i), (x > j) - (x < j)
        down, right = abs(y - i), abs(x - j)
        both = min(down, right)
        steps = {
            "across": [(0, b)] * right + [(a, 0)] * down,
            "down": [(a, 0)] * down + [(0, b)] * right,
            "slanting": [(a, b)] * both + [(a, 0)] * (down - both) + [(0, b)] * (right - both),
            "straight": [(a, 0)] * (down - both) + [(0, b)] * (right - both) + [(a, b)] * both,
        }[kind]
        v = g[i][j]
        for s, t in steps[:-1]:
            i, j = i + s, j + t
            if not g[i][j]:
                found.append((i, j, v))
    return found
""",
    # Cells of `c` that lie in a block of this size, all of `c`.
    "full_blocks": """\
def full_blocks(g, c, high, wide):
    found = set()
    for i in range(len(g) - high + 1):
        for j in range(len(g[0]) - wide + 1):
            if all(row[j:j + wide] == [c] * wide for row in g[i:i + high]):
                found |= {(y, x) for y in range(i, i + high) for x in range(j, j + wide)}
    return [(i, j, c) for i, j in sorted(found)]
""",
    # The largest rectangles of `c` that are at least `least` cells high and wide.
    "widest": """\
def widest(g, c, least):
    best, found = 1, set()
    for top in range(len(g)):
        full = [True] * len(g[0])
        for bottom in range(top, len(g)):
            full = [f and v == c for f, v in zip(full, g[bottom])]
            left = 0
            for j, f in enumerate([*full, False]):
                if f:
                    continue
                size = (bottom - top + 1) * (j - left)
                if size >= best and min(bottom - top + 1, j - left) >= least:
                    found = found if size == best else set()
                    best = size
                    found |= {(y, x) for y in range(top, bottom + 1) for x in range(left, j)}
                left = j + 1
    return [(i, j, c) for i, j in sorted(found)]
""",
    # Square rings around every object of `c`, at distances that are multiples of `step`, at most
    # `most` of them.
    "rings": """\
def rings(g, c, step, most):
    found = []
    for o in objects(g, True, True):
        v = g[o[0][0]][o[0][1]]
        if c not in (0, v):
            continue
        top, left, bottom, right = box(o)
        for i, row in enumerate(g):
            for j, w in enumerate(row):
                far = max(top - i, i - bottom + 1, left - j, j - right + 1)
                if not w and 0 < far <= most * step and far % step == 0:
                    found.append((i, j, v))
    return found
""",
    # Empty cells that spread from cells of `c`, only at every `step`-th distance.
    "spread": """\
def spread(g, c, around, step, first):
    cells = [(i, j, v, 0) for i, row in enumerate(g) for j, v in enumerate(row)
             if v and c in (0, v)]
    seen = {(i, j) for i, j, _, _ in cells}
    found = []
    for i, j, v, far in cells:
        for a, b in ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)):
            y, x = i + a, j + b
            if (a and b and not around) or not (0 <= y < len(g) and 0 <= x < len(g[0])):
                continue
            if g[y][x] or (y, x) in seen:
                continue
            seen.add((y, x))
            cells.append((y, x, v, far + 1))
            if (far + 1 - first) % step == 0:
                found.append((y, x, v))
    return found
""",
    # A spiral from a corner inwards, with one empty row or column between its lines.
    "spiral": """\
def spiral(g, below, right, turned):
    height, width = len(g), len(g[0])
    i, j = (height - 1 if below else 0), (width - 1 if right else 0)
    a, b = (-1 if below else 1, 0) if turned else (0, -1 if right else 1)
    clockwise = turned == (below == right)
    turn = (lambda a, b: (-b, a)) if clockwise else (lambda a, b: (b, -a))
    seen = {(i, j)}
    for _ in range(height * width):
        for _ in range(2):
            y, x = i + a, j + b
            ahead = (y + a, x + b)
            if not (0 <= y < height and 0 <= x < width) or ahead in seen:
                a, b = turn(a, b)
        y, x = i + a, j + b
        inside = 0 <= y < height and 0 <= x < width
        if not inside or (y + a, x + b) in seen or (y, x) in seen:
            break
        i, j = y, x
        seen.add((i, j))
    return [(i, j, 0) for i, j in sorted(seen)]
""",
    # The empty cells in the box of all cells of `c`, or only those on its edge.
    "spans": """\
def spans(g, c, full):
    cells = places(g, c)
    if not cells:
        return []
    top, left, bottom, right = box(cells)
    return [(i, j, c) for i in range(top, bottom) for j in range(left, right)
            if not g[i][j] and (full or i in (top, bottom - 1) or j in (left, right - 1))]
""",
}
