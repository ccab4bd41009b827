"""Conditions on words and phrases of texts: one to three adjacent words with no mark between them.

If several phrases occur in the same rows, the one with the fewest words is kept. Of these phrases,
only those with the strongest association with a label are kept, each phrase considered separately.
The description length of a condition accounts for the choice among all phrases.

A slot is a position in a template that generated texts fill with different phrases. The phrases of
a slot are treated like the values of one column of choices (atoms.py), with the same description
lengths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.conditions import mentions
from ...tools.sentence_rules.prepared_rows import PreparedRows, TextIndex
from ...tools.sentence_rules.terms import terms
from .atoms import Atoms, association, value_subsets

LONGEST = 3  # maximum number of words in a phrase
MIN_ROWS = 3  # minimum number of rows with a phrase, and of rows without it
MAX_PHRASES = 150  # maximum number of phrases per column
A_WORD_MORE = 0.5  # bits for each word after the first
SMALL = frozenset(
    ("a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that",
     "the", "to", "was", "with")
)  # fmt: skip
Marks = NDArray[np.bool_]


def build_phrase_atoms(rows: PreparedRows, labels: Sequence[str]) -> Atoms:
    """Return the conditions on words and phrases in all columns of text.

    In the result, each slot is one column, and so is each phrase that belongs to no slot.

    Args:
        rows: The shown rows.
        labels: The label of each row.
    """
    given = np.array([rows.label_index(label) for label in labels])
    kept: list[tuple[Sequence[str], str, Marks, float]] = []
    column: list[int] = []
    columns = left_out = 0
    for name in rows.texts:
        about = name if len(rows.texts) > 1 else ""
        found = dict(sorted(_phrases(rows.text(name)), key=lambda one: _telling(one[0])))
        price = math.log2(max(len(found), 1))
        apart = _by_rows(found)
        filled = find_slots(found)
        choice = 1.0 + math.log2(max(len(filled), 1))
        for some in filled:
            for chosen, bits in value_subsets(some):
                kept.append(
                    (chosen, about, np.any([apart[one] for one in chosen], axis=0), choice + bits)
                )
                column.append(columns)
            columns += 1
        inside = {one for some in filled for one in some}
        rest = [one for one in apart if one not in inside]
        scores = {one: association(apart[one], given) for one in rest}
        best = set(sorted(rest, key=lambda one: (-scores[one], one))[:MAX_PHRASES])
        left_out += len(rest) - len(best)
        for phrase in rest:
            if phrase in best:
                bits = price + A_WORD_MORE * phrase.count(" ")
                kept.append(((phrase,), about, apart[phrase], bits))
                column.append(columns)
                columns += 1
    own = math.log2(max(columns, 1))  # added later for the choice of a column
    return Atoms(
        [mentions(tuple(terms(one)[0] for one in some), text=about) for some, about, _, _ in kept],
        np.array([marks for _, _, marks, _ in kept], np.bool_).reshape(len(kept), len(rows)),
        np.array([bits - own for _, _, _, bits in kept], np.float64),
        np.array(column, np.int64),
        columns,
        columns,
        left_out,
    )


def _phrases(index: TextIndex) -> Iterator[tuple[str, Marks]]:
    """Yield each phrase that enough rows have, with the rows in which it occurs."""
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
            if MIN_ROWS <= count <= n - MIN_ROWS:
                marks = np.zeros(n, np.bool_)
                marks[pairs[1, begin : begin + count]] = True
                yield _decode_phrase(key, length, index.vocabulary), marks


def _decode_phrase(key: int, length: int, vocabulary: Sequence[str]) -> str:
    found: list[str] = []
    for _ in range(length):
        key, last = divmod(key, len(vocabulary))
        found.append(vocabulary[last])
    return " ".join(reversed(found))


def _telling(phrase: str) -> tuple[int, int, str]:
    """Return a sort key: fewer words first, then fewer small words.

    "red bag" says more than "a red".
    """
    words = phrase.split(" ")
    return len(words), sum(one in SMALL for one in words), phrase


def _by_rows(found: Mapping[str, Marks]) -> dict[str, Marks]:
    """Keep the first phrase, which is the shortest, of those in the same rows."""
    kept: dict[bytes, str] = {}
    for phrase, marks in found.items():
        kept.setdefault(marks.tobytes(), phrase)
    return {phrase: found[phrase] for phrase in kept.values()}


# --- Slots of texts that were generated from templates: sets of phrases of which each text has one.
#
# "black hat", "red hat" and four more are the fillings of one slot if nearly every text has one of
# them and none has two. Such phrases have all words in common but one. A slot is then a column with
# values, and one condition may name several of them. Texts that people wrote have no such slots.

FILLINGS = 12  # maximum number of fillings of a slot
FILLED = 0.95  # minimum share of texts that have one of its phrases; no text has two


def find_slots(found: Mapping[str, Marks]) -> list[tuple[str, ...]]:
    """Return for each slot the phrases that fill it, in alphabetical order.

    A slot is a set of phrases that differ in a single word. Nearly every text has one of these
    phrases, and no text has two.

    Args:
        found: For each phrase, the texts in which it occurs, bool of shape (n,). If phrases occur
            in the same texts, the first of them is used in the result.
    """
    first: dict[bytes, str] = {}
    for phrase, marks in found.items():
        first.setdefault(marks.tobytes(), phrase)
    frames: dict[tuple[str, ...], list[str]] = {}
    for phrase in found:
        for frame in _frames(phrase.split(" ")):
            frames.setdefault(frame, []).append(phrase)
    kept: dict[tuple[str, ...], None] = {}
    for some in frames.values():
        if 2 <= len(some) <= FILLINGS and _is_place([found[one] for one in some]):
            kept[tuple(sorted(first[found[one].tobytes()] for one in some))] = None
    return list(kept)


def _frames(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if len(words) > 1:
        for at in range(len(words)):
            yield (*words[:at], "", *words[at + 1 :])


def _is_place(some: Sequence[Marks]) -> bool:
    counts = np.sum(some, axis=0)
    return bool(counts.max() == 1 and counts.mean() >= FILLED)
