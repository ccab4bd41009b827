"""One-to-one matching of greatest sum (Kuhn and Munkres, by shortest augmenting paths)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def matched(gain: NDArray[np.float64]) -> list[tuple[int, int]]:
    """(row, column) pairs of gain (n, m), each row and column at most once, of greatest total; pairs
    that gain nothing are left out. Of equals the first rows and columns. O(n m min(n, m))."""
    rows, columns = gain.shape
    if not gain.size:
        return []
    if rows > columns:
        return sorted((row, column) for column, row in matched(gain.T))
    cost = -np.asarray(gain, np.float64)
    of_row, of_column = np.zeros(rows + 1), np.zeros(columns + 1)
    holder = np.zeros(columns + 1, np.int64)  # row + 1 that holds a column + 1
    for row in range(1, rows + 1):
        holder[0], column = row, 0
        least, before = np.full(columns + 1, np.inf), np.zeros(columns + 1, np.int64)
        used = np.zeros(columns + 1, np.bool_)
        while holder[column]:
            used[column] = True
            at = holder[column]
            free = np.flatnonzero(~used[1:]) + 1
            reduced = cost[at - 1, free - 1] - of_row[at] - of_column[free]
            closer = reduced < least[free]
            least[free[closer]] = reduced[closer]
            before[free[closer]] = column
            nearest = int(free[np.argmin(least[free])])
            step = least[nearest]
            of_row[holder[used]] += step
            of_column[used] -= step
            least[~used] -= step
            column = nearest
        while column:
            holder[column] = holder[before[column]]
            column = int(before[column])
    pairs = [(int(holder[c]) - 1, c - 1) for c in range(1, columns + 1) if holder[c]]
    return sorted((row, column) for row, column in pairs if gain[row, column] > 0)
