"""Words and phrases of texts as conditions: up to three words side by side, with no mark between them.

Of phrases in the same rows the shortest stands for all. Only those are kept that go best with a label, each
alone; the price of a condition is for the choice among all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ....tools.judge.conditions import Condition, mentions
from ....tools.judge.prepared import Prepared, TextIndex
from ....tools.judge.terms import terms
from .atoms import Atoms

LONGEST = 3  # words
FEWEST = 3  # rows with a phrase, and without it
MOST = 150  # phrases that are kept of a column
A_WORD_MORE = 0.5  # bits
Marks = NDArray[np.bool_]


def phrase_atoms(rows: Prepared, labels: Sequence[str]) -> Atoms:
    """One column of `Atoms` for each phrase, over all columns of text."""
    given = np.array([rows.label_index(label) for label in labels])
    kept: list[tuple[Condition, Marks, float]] = []
    for name in rows.texts:
        about = name if len(rows.texts) > 1 else ""
        found = list(_phrases(rows.text(name)))
        price = math.log2(max(len(found), 1))
        apart = _by_rows(found)
        scores = [_score(marks, given, len(rows.labels)) for _, marks in apart]
        order = sorted(range(len(apart)), key=lambda at: (-scores[at], apart[at][0]))[:MOST]
        own = math.log2(max(min(len(apart), MOST), 1))  # is added for the choice of a column
        for at in sorted(order):
            phrase, marks = apart[at]
            bits = price - own + A_WORD_MORE * phrase.count(" ")
            kept.append((mentions(terms(phrase), text=about), marks, bits))
    return Atoms(
        [one[0] for one in kept],
        np.array([one[1] for one in kept], np.bool_).reshape(len(kept), len(rows)),
        np.array([one[2] for one in kept], np.float64),
        np.arange(len(kept)),
        len(kept),
        len(kept),
    )


def _phrases(index: TextIndex) -> Iterator[tuple[str, Marks]]:
    """Each phrase of enough rows, with the rows it stands in."""
    size = np.int64(max(len(index.vocabulary), 1))
    ids = index.ids.astype(np.int64)
    words = index.is_word[index.ids] if len(ids) else np.zeros(0, np.bool_)
    n = len(index)
    for length in range(1, LONGEST + 1):
        starts = np.arange(max(len(ids) - length + 1, 0))
        whole = np.ones(len(starts), np.bool_)
        keys = np.zeros(len(starts), np.int64)
        for step in range(length):
            whole &= words[starts + step] & (index.row_of[starts + step] == index.row_of[starts])
            keys = keys * size + ids[starts + step]
        pairs = np.unique(np.stack([keys[whole], index.row_of[starts[whole]]]), axis=1)
        found, begins, counts = np.unique(pairs[0], return_index=True, return_counts=True)
        for key, begin, count in zip(found.tolist(), begins.tolist(), counts.tolist(), strict=True):
            if FEWEST <= count <= n - FEWEST:
                marks = np.zeros(n, np.bool_)
                marks[pairs[1, begin : begin + count]] = True
                yield _said(key, length, index.vocabulary), marks


def _said(key: int, length: int, vocabulary: Sequence[str]) -> str:
    found: list[str] = []
    for _ in range(length):
        key, last = divmod(key, len(vocabulary))
        found.append(vocabulary[last])
    return " ".join(reversed(found))


def _by_rows(found: Sequence[tuple[str, Marks]]) -> list[tuple[str, Marks]]:
    """The first, which is the shortest, of those in the same rows."""
    kept: dict[bytes, tuple[str, Marks]] = {}
    for phrase, marks in found:
        kept.setdefault(marks.tobytes(), (phrase, marks))
    return list(kept.values())


def _score(marks: Marks, given: NDArray[np.int64], labels: int) -> float:
    """How far the phrase goes with any label, in standard errors."""
    n, m = len(marks), float(marks.sum())
    counts = np.bincount(given, minlength=labels).astype(np.float64)
    with_it = np.bincount(given[marks], minlength=labels)
    spread = np.sqrt(counts * (n - counts) * m * (n - m) / (n * n * max(n - 1.0, 1.0)))
    return float(np.abs((with_it - counts * m / n) / np.maximum(spread, 1e-9)).max().round(9))
