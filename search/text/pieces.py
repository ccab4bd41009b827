"""Find the phrases from which texts are built, if phrases repeat word for word across rows.

    pieces = find_repeated_phrases(texts)
    pieces.phrases, pieces.marks, pieces.groups

A phrase is a sequence of adjacent words with no mark and no line break between them. If several
phrases occur in exactly the same rows, only the longest is kept. Words at its ends that occur in
nearly every row are cut off. Phrases that follow from other phrases are removed:

- Some phrases are the fixed words of a template and fill most of the texts. Such phrases divide the
  rows into parts, one part per template. A phrase is a form of a wider phrase if in each part it
  occurs either in all rows of the wider phrase or in none of them. For example, "backs the blue
  ticket" is a form of "the blue ticket". Forms are removed.
- A phrase is removed if it occurs exactly in the rows in which two wider phrases occur together
  ("young and tall"). A phrase that occurs in some of the parts only is removed if, in these parts,
  it occurs exactly where at least one of certain other phrases occurs ("all about the").
- A phrase is removed if it occurs exactly in the rows in which at least one of several narrower
  phrases occurs ("ticket", "the").

Phrases form a group if nearly every row contains one of them and no row contains two. Texts that
people write hardly ever have such groups: `repeated_share` is about 1 for generated texts and about
0.1 for texts that people write.

The search does not find pieces with other words in between, pieces with varying spelling, or pieces
that occur in nearly every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.terms import TOKEN, straighten_quotes

LONGEST = 12  # maximum number of words of a phrase
SEEN = 0.02  # minimum share of rows with a phrase, and of rows without it
FEWEST = 5  # minimum number of those rows
TRIGRAM = 3
CLASSES = 3_000  # maximum number of phrases compared, those in most rows first
WIDER = 40  # maximum number of wider phrases that a phrase is compared with
ENOUGH = 0.95  # minimum share of rows that a group must take
JOINTS = frozenset("-'/&%$#@")  # marks that a phrase may contain

Marks = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """The m phrases from which n generated texts are built.

    Args:
        phrases: The phrases.
        marks: In which texts each phrase occurs, bool of shape (m, n).
        groups: Groups of phrases, each given by the indices of its phrases. Nearly every text
            contains exactly one phrase of a group with several phrases. Every other phrase is a
            group by itself.
        tried: Number of phrases examined.
    """

    phrases: tuple[str, ...]
    marks: Marks
    groups: tuple[tuple[int, ...], ...]
    tried: int

    def select_phrases(self, most: int) -> Pieces:
        """Return a selection of at most `most` phrases.

        Groups with several phrases are preferred, then long phrases, then frequent phrases. A group
        is kept or dropped as a unit.
        """

        def key(group: tuple[int, ...]) -> tuple[bool, int, int]:
            words = max(self.phrases[at].count(" ") for at in group)
            return len(group) == 1, -words, -int(self.marks[list(group)].sum())

        kept: list[tuple[int, ...]] = []
        for group in sorted(self.groups, key=key):
            if sum(map(len, kept)) + len(group) <= most:
                kept.append(group)
        places = sorted(at for group in kept for at in group)
        return Pieces(
            tuple(self.phrases[at] for at in places),
            self.marks[places],
            tuple(tuple(places.index(at) for at in group) for group in kept),
            self.tried,
        )


@dataclass(frozen=True)
class _Cut:
    """All words of all texts, with the row and the segment of each."""

    vocabulary: tuple[str, ...]
    ids: Integers
    rows: Integers
    segments: Integers
    count: int

    @staticmethod
    def from_texts(texts: Sequence[str]) -> _Cut:
        """Split texts into words and segments."""
        number: dict[str, int] = {}
        ids: list[int] = []
        rows: list[int] = []
        segments: list[int] = []
        segment = 0
        for row, text in enumerate(texts):
            for line in straighten_quotes(text).lower().splitlines():
                segment += 1
                for token in TOKEN.findall(line):
                    if not (token[0].isalnum() or token[0] == "_" or token in JOINTS):
                        segment += 1
                        continue
                    ids.append(number.setdefault(token, len(number)))
                    rows.append(row)
                    segments.append(segment)
        which, row_of, segment_of = (np.array(some, np.int64) for some in (ids, rows, segments))
        return _Cut(tuple(number), which, row_of, segment_of, len(texts))

    def grams(self, longest: int) -> Iterator[tuple[int, Integers, Integers, Integers]]:
        """Yield the frequent phrases of each length.

        Yields:
            The length, the indices where such phrases begin, the number of the phrase at each, and
            the number of rows of each phrase.
        """
        least = min_rows(self.count)
        starts = np.arange(len(self.ids))
        which = self.ids
        for length in range(1, longest + 1):
            if length > 1:
                fits = starts + length - 1 < len(self.ids)
                starts, which = starts[fits], which[fits]
                last = starts + length - 1
                same = self.segments[starts] == self.segments[last]
                starts, which, last = starts[same], which[same], last[same]
                which = which * len(self.vocabulary) + self.ids[last]
            if not len(starts):
                return
            _, which = np.unique(which, return_inverse=True)
            each_once = np.unique(which * self.count + self.rows[starts])
            rows = np.bincount(each_once // self.count)
            enough = rows[which] >= least
            starts, which = starts[enough], which[enough]
            yield length, starts, which, rows

    @cached_property
    def everywhere(self) -> Marks:
        """Return which words nearly every row has."""
        each_once = np.unique(self.ids * self.count + self.rows)
        rows = np.bincount(each_once // self.count, minlength=len(self.vocabulary))
        return np.asarray(rows > self.count - min_rows(self.count), np.bool_)

    def phrase_at(self, start: int, length: int) -> str:
        """Return the phrase of `length` words from `start` on."""
        return " ".join(self.vocabulary[one] for one in self.ids[start : start + length].tolist())


def min_rows(rows: int) -> int:
    """Return in how many of `rows` rows a phrase must occur to be considered."""
    return max(FEWEST, round(SEEN * rows))


def repeated_share(texts: Sequence[str]) -> float:
    """Return how repetitive the texts are, as a share from 0 to 1.

    It is the share of words in frequent three-word phrases among the words in all three-word
    phrases. It is about 1 for texts generated from templates.
    """
    cut = _Cut.from_texts(texts)
    covered, possible = (np.zeros(len(cut.ids), np.bool_) for _ in range(2))
    starts = np.arange(max(0, len(cut.ids) - TRIGRAM + 1))
    whole = starts[cut.segments[starts] == cut.segments[starts + TRIGRAM - 1]]
    for step in range(TRIGRAM):
        possible[whole + step] = True
    for length, found, _, _ in cut.grams(TRIGRAM):
        if length == TRIGRAM:
            for step in range(TRIGRAM):
                covered[found + step] = True
    return float(covered.sum() / max(1, possible.sum()))


def find_repeated_phrases(texts: Sequence[str]) -> Pieces:
    """Return the phrases from which the texts are built.

    The result has no phrases if nothing is repeated.
    """
    cut = _Cut.from_texts(texts)
    found = _classes(cut)
    tried = len(found.said)
    if not tried:
        return Pieces((), np.zeros((0, len(texts)), np.bool_), (), 0)
    kept = _irreducible(found)
    marks = found.marks[kept]
    groups = _groups(marks)
    return Pieces(tuple(found.said[at] for at in kept), marks, groups, tried)


@dataclass(frozen=True)
class _Classes:
    """Phrases by the rows in which they occur.

    `filled` counts the words of all texts that are in phrases of exactly these rows.
    """

    said: tuple[str, ...]
    marks: Marks
    filled: Integers


def _classes(cut: _Cut) -> _Classes:
    n, least = cut.count, min_rows(cut.count)
    longest: dict[bytes, tuple[int, int]] = {}  # rows -> length, place
    places: dict[bytes, list[tuple[Integers, int]]] = {}
    for length, starts, which, _ in cut.grams(LONGEST):
        order = np.argsort(which, kind="stable")
        bounds = np.flatnonzero(np.diff(which[order], prepend=-1))
        for some in np.split(starts[order], bounds[1:]) if len(starts) else ():
            marks = np.zeros(n, np.bool_)
            marks[cut.rows[some]] = True
            if marks.sum() > n - least:
                continue
            key = np.packbits(marks).tobytes()
            longest[key] = (length, int(some[0]))
            places.setdefault(key, []).append((some, length))
    keys = sorted(longest, key=lambda key: (-_size(key), longest[key][1]))[:CLASSES]
    said, rows, filled = [], [], []
    for key in keys:
        length, start = longest[key]
        said.append(cut.phrase_at(*_trimmed(cut, length, start, places[key])))
        rows.append(np.unpackbits(np.frombuffer(key, np.uint8), count=n).astype(np.bool_))
        inside = np.zeros(len(cut.ids), np.bool_)
        for some, size in places[key]:
            for step in range(size):
                inside[some + step] = True
        filled.append(int(inside.sum()))
    return _Classes(
        tuple(said), np.array(rows, np.bool_).reshape(len(keys), n), np.array(filled, np.int64)
    )


def _trimmed(
    cut: _Cut, length: int, start: int, alike: Sequence[tuple[Integers, int]]
) -> tuple[int, int]:
    """Return the start and length of a phrase without words at its ends that nearly every row has.

    The shorter phrase must occur in the same rows, that is be among `alike`.
    """
    there = {(size, place) for some, size in alike for place in some.tolist()}
    trimmed = True
    while trimmed:
        trimmed = False
        for edge, place in ((start, start + 1), (start + length - 1, start)):
            if (length - 1, place) in there and cut.everywhere[cut.ids[edge]]:
                start, length, trimmed = place, length - 1, True
                break
    return start, length


def _size(key: bytes) -> int:
    return int.from_bytes(key, "big").bit_count()


def _irreducible(found: _Classes) -> list[int]:
    """Return the indices of the phrases that are no forms, meetings or unions of others."""
    marks = found.marks
    sizes = marks.sum(1)
    shared = marks.astype(np.float32) @ marks.T.astype(np.float32)
    # The row's phrase is within the column's.
    inside = (shared == sizes[:, None]) & (sizes[None, :] > sizes[:, None])
    parts = _parts(found)
    of_parts = np.zeros(len(marks), np.bool_)
    of_parts[parts] = True
    gone = np.zeros(len(marks), np.bool_)
    for at in np.argsort(-sizes, kind="stable").tolist():
        wider = np.flatnonzero(inside[at])
        wider = wider[np.argsort(sizes[wider], kind="stable")][:WIDER]
        if not of_parts[at] and (
            _form(marks[at], marks[wider], marks[parts]) or _meeting(marks[at], marks[wider])
        ):
            gone[at] = True
    left = np.flatnonzero(~gone)
    left = left[of_parts[left] | ~_crossings(marks[left], marks[parts])]
    kept: list[int] = []
    for at in left[np.argsort(sizes[left], kind="stable")].tolist():
        narrower = [one for one in kept if inside[one, at]]
        if not narrower or (marks[narrower].any(0) != marks[at]).any():
            kept.append(at)
    return sorted(kept)


def _parts(found: _Classes) -> list[int]:
    """Return phrases in disjoint rows that together take all rows, or an empty list.

    Phrases that fill most words come first.
    """
    taken = np.zeros(found.marks.shape[1], np.bool_)
    parts: list[int] = []
    for at in np.argsort(-found.filled, kind="stable").tolist():
        if not (found.marks[at] & taken).any():
            parts.append(at)
            taken |= found.marks[at]
    return parts if taken.mean() >= ENOUGH else []


def _form(one: Marks, wider: Marks, parts: Marks) -> bool:
    """Return whether a phrase is a form of a wider one.

    In each part it must occur in all rows of the wider phrase or in none, and in some part in none.
    """
    if len(parts) < 2 or not len(wider):
        return False
    whole = np.ones(len(wider), np.bool_)
    for part in parts:
        there = (wider & part).sum(1)
        own = int((one & part).sum())
        whole &= (own == 0) | (own == there)
    return bool(whole.any())


def _crossings(marks: Marks, parts: Marks) -> Marks:
    """Return which phrases are in some parts only and there a union of phrases of all parts.

    An example is "all about the": words of a template and the first word of some pieces.
    """
    found = np.zeros(len(marks), np.bool_)
    if len(parts) < 2:
        return found
    in_part = np.array([(marks & part).any(1) for part in parts])
    spread = marks[in_part.all(0)]
    for at in np.flatnonzero(~in_part.all(0)).tolist():
        found[at] = all(
            (
                (inner := spread & part)[~(inner & ~marks[at]).any(1)].any(0) == marks[at] & part
            ).all()
            for part in parts
        )
    return found


def _meeting(one: Marks, wider: Marks) -> bool:
    """Return whether two of the wider phrases occur together exactly where this one occurs."""
    size = int(one.sum())
    table = wider.astype(np.float32)
    both = table @ table.T
    np.fill_diagonal(both, -1)
    return bool((both == size).any())


def _groups(marks: Marks) -> tuple[tuple[int, ...], ...]:
    """Group phrases of which each row has one; every other phrase is a group of its own."""
    left = list(range(len(marks)))
    groups: list[tuple[int, ...]] = []
    while left:
        found = _cover(marks, left, left[0])
        groups.append(tuple(found))
        left = [at for at in left if at not in found]
    return tuple(groups)


_STEPS = 20_000  # maximum number of steps of a search for a group


def _cover(marks: Marks, some: Sequence[int], first: int) -> list[int]:
    """Return disjoint phrases, with `first`, that take nearly all rows, or `first` alone."""
    steps = 0

    def grown(chosen: list[int], taken: Marks, free: list[int]) -> list[int] | None:
        nonlocal steps
        steps += 1
        if taken.mean() >= ENOUGH and not free:
            return chosen
        if steps > _STEPS or not free:
            return None
        row = int(np.argmin(taken))
        here = [at for at in free if marks[at, row]] if not taken.all() else []
        if not here:
            return chosen if taken.mean() >= ENOUGH else None
        for at in here:
            rest = [one for one in free if one != at and not (marks[one] & marks[at]).any()]
            found = grown([*chosen, at], taken | marks[at], rest)
            if found is not None:
                return found
        return None

    free = [at for at in some if at != first and not (marks[at] & marks[first]).any()]
    found = grown([first], marks[first].copy(), free)
    return [first] if found is None else sorted(found)
