"""Places of texts that were made by filling them: phrases of which each text has one.

"black hat", "red hat" and four more are the fillings of one place where nearly every text has one of
them and none has two. Such phrases have all words in common but one. A place is then a column with
values, and one condition may take several of them. Texts that people wrote have no such places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

FILLINGS = 12  # of a place, at most
FILLED = 0.95  # of the texts, at least, have one of its phrases; none has two
Marks = NDArray[np.bool_]


def places(found: Mapping[str, Marks]) -> list[tuple[str, ...]]:
    """found: phrase -> (n,), the texts it stands in; of phrases in the same texts the one to be said first. For
    each place its fillings, each as it is to be said, in the order of the alphabet."""
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
