"""Terms that sentences about texts may list: words, stems, phrases, marks and kinds of words.

In scripts without spaces between words, the words are single characters, and the phrases pairs of
characters. A stem such as `luxur*` stands for all words that differ only in their endings. Which texts contain
which terms is a sparse matrix, so that 50,000 texts take some tens of megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...tools.sentence_rules.prepared_rows import TextIndex
from ...tools.sentence_rules.terms import KINDS, MARKS, Term, join_tokens

WORD = re.compile(rf"\w[\w.,'{MARKS}]*")  # a word, a number, or a character with its marks
LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
PLAIN_MARKS = frozenset('!?()$/"-:;,%&...') | {"..."}
STEM_LETTERS = 4  # minimum length of a stem
SUFFIXES = (
    "s es ed d ing ings er ers or ors est ly y ies ied ier iest ness ment ments al ally e en ion ions"
    " ation ations able ably ible ful fully less ous ously ious iously ive ively ity ities ance ence"
    " ant ent ish 's s'"
)
ENDINGS = tuple(sorted(SUFFIXES.split(), key=len, reverse=True))

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class TermTable:
    """The t terms that may be listed, and which of the n texts contain them.

    Attributes:
        terms: The terms.
        present: Float64 matrix of shape (n, t) in CSR format, with 1 where the text contains the
            term.
    """

    terms: tuple[Term, ...]
    present: sparse.csr_matrix

    def select(self, columns: Integers) -> TermTable:
        """Return the table with only the terms whose indices are in `columns`."""
        return TermTable(tuple(self.terms[at] for at in columns), self.present[:, columns])

    @property
    def frequency(self) -> Integers:
        """Number of texts that contain each term, of shape (t,)."""
        return np.bincount(self.present.indices, minlength=len(self.terms)).astype(np.int64)


def build_term_table(index: TextIndex, least: int) -> TermTable:
    """Return the terms that occur in some of the texts, but neither in few nor in nearly all.

    A term must occur in at least `least` texts and be missing from at least `least` texts.

    If several terms occur in the same texts, only the simplest is kept: words come first, then
    stems, kinds of words and phrases.
    """
    texts, starts = _texts_of_tokens(index)
    some = find_stems(index)
    known = {one.text[:-1] for one in some}
    kept: dict[bytes, tuple[Term, NDArray[np.int32]]] = {}

    def keep(one: Term, there: NDArray[np.int32]) -> None:
        if least <= len(there) <= len(index) - least:
            kept.setdefault(there.tobytes(), (one, there))

    for number, token in enumerate(index.vocabulary):
        plain = WORD.fullmatch(token) or token in PLAIN_MARKS
        if plain and known.isdisjoint(word_prefixes(token)):
            keep(Term(token), texts[starts[number] : starts[number + 1]])
    for one in some:
        first, last = index.token_range(one.text)
        keep(one, np.unique(texts[starts[first] : starts[last]]))
    for kind in KINDS:
        keep(Term(kind=kind), np.flatnonzero(index.count_kind(kind)).astype(np.int32))
    for one, there in _find_phrases(index, least):
        keep(one, there)
    columns = [there for _, there in kept.values()]
    bounds = np.cumsum([0, *map(len, columns)])
    rows = np.concatenate(columns) if columns else np.zeros(0, np.int32)
    shape = len(index), len(columns)
    present = sparse.csc_matrix((np.ones(len(rows)), rows, bounds), shape=shape).tocsr()
    return TermTable(tuple(one for one, _ in kept.values()), present)


def _texts_of_tokens(index: TextIndex) -> tuple[NDArray[np.int32], Integers]:
    """Return the texts of each token of the vocabulary, and where those of each token start."""
    rows, ids = index.row_of[index.order].astype(np.int32), index.ids[index.order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (ids[1:] != ids[:-1])
    starts = np.searchsorted(ids[new], np.arange(len(index.vocabulary) + 1))
    return rows[new], starts


def word_prefixes(word: str) -> list[str]:
    """Return all beginnings of `word` with at least `STEM_LETTERS` letters, shortest first."""
    return [word[:count] for count in range(STEM_LETTERS, len(word) + 1)]


def stem_of(word: str) -> str:
    """Return `word` without its ending: `luxurious` and `luxury` give `luxur`.

    The word is returned unchanged if fewer than `STEM_LETTERS` letters would remain.
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LETTERS:
            return word[: -len(ending)]
    return word


def find_stems(index: TextIndex) -> list[Term]:
    """Return stems such as `luxur*` that stand for at least two words of the texts.

    The words of a stem differ only in their endings.
    """
    found = []
    for stem in sorted({stem_of(token) for token in index.vocabulary if LETTERS.fullmatch(token)}):
        if len(stem) < STEM_LETTERS:
            continue
        start, stop = index.token_range(f"{stem}*")
        some = index.vocabulary[start:stop]
        alike = all(
            word == stem or word[len(stem) :] in ENDINGS or stem_of(word) == stem for word in some
        )
        if len(some) > 1 and alike:
            found.append(Term(f"{stem}*"))
    return found


def _find_phrases(index: TextIndex, least: int) -> Iterator[tuple[Term, NDArray[np.int32]]]:
    """Yield the pairs of adjacent words in at least `least` texts, each with its texts."""
    allowed = np.array([bool(WORD.fullmatch(token)) for token in index.vocabulary], np.bool_)
    if index.ids.size < 2:
        return
    allowed &= np.diff(index.bounds) >= least  # a phrase is not more frequent than its words
    first, second = index.ids[:-1].astype(np.int64), index.ids[1:].astype(np.int64)
    inside = (index.row_of[:-1] == index.row_of[1:]) & allowed[first] & allowed[second]
    count, texts = len(index.vocabulary), len(index)
    pairs = first[inside] * count + second[inside]
    keys = np.unique(pairs * texts + index.row_of[:-1][inside])
    found, starts, sizes = np.unique(keys // texts, return_index=True, return_counts=True)
    rows = (keys % texts).astype(np.int32)
    for at in np.flatnonzero(sizes >= least):
        one, other = divmod(int(found[at]), count)
        there = rows[starts[at] : starts[at] + sizes[at]]
        yield Term(join_tokens([index.vocabulary[one], index.vocabulary[other]])), there
