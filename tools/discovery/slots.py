"""Texts that were made by filling places: `a young and tall man with red hat, …`.

Where all texts of a column have one shape and each place one of a few fillings, whichever the other
places have, the texts that there may be are all of these, also those that no row has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

MOST_TEXTS = 20_000
MOST_FILLINGS = 50
SEEN = 0.5  # of the pairs of fillings of two places, so many at least stand in the rows
_PIECE = re.compile(r"\w+|\W+")


@dataclass(frozen=True)
class Slots:
    """fillings: of each place, one where it never changes. The texts are their product, the last
    place changing first."""

    fillings: tuple[tuple[str, ...], ...]
    joint: str = ""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(self.joint.join, product(*self.fillings)))

    def matter(self, marks: NDArray[np.bool_]) -> frozenset[int]:
        """The places on which marks (one a text) depend."""
        shape = tuple(map(len, self.fillings))
        grid = marks.reshape(shape)
        changing = [axis for axis, size in enumerate(shape) if size > 1]
        return frozenset(a for a in changing if (grid != grid.take([0], axis=a)).any())


def slots_of(texts: Sequence[str]) -> Slots | None:
    """By lines where all texts have as many, from two on, else by words and what is between them;
    None where texts have no common shape or their places hang together."""
    some = list(dict.fromkeys(texts))
    if len(some) < 2:
        return None
    by_line = [text.split("\n") for text in some]
    if len(by_line[0]) > 1 and (found := _shaped(by_line, "\n")) is not None:
        return found
    return _shaped([_PIECE.findall(text) for text in some], "")


def _shaped(cut: Sequence[Sequence[str]], joint: str) -> Slots | None:
    if len({len(one) for one in cut}) != 1:
        return None
    places = [tuple(sorted(set(column))) for column in zip(*cut, strict=True)]
    changing = [n for n, some in enumerate(places) if len(some) > 1]
    if any(len(places[n]) > MOST_FILLINGS for n in changing):
        return None
    if math.prod(map(len, places)) > MOST_TEXTS:
        return None
    for one, other in combinations(changing, 2):
        seen = len({(text[one], text[other]) for text in cut})
        if seen < SEEN * len(places[one]) * len(places[other]):
            return None
    return Slots(tuple(places), joint)
