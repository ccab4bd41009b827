"""Helper functions that take noise away (cleaning.py); helpers.py says what a helper is."""

from __future__ import annotations

CLEANING_HELPERS: dict[str, str] = {
    # Only cells that lie in a block of this size of one colour.
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
    # Cells of `c` become what most of the other cells around them are.
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
    # The periods of rows and of columns that hold for three quarters of all cells.
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
