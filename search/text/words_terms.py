"""The terms that sentences about texts may list: words, stems, phrases, marks, kinds of word.

A stem `luxur*` stands for words that differ in their endings alone. Names (words with a capital in
mid-sentence in at least half of their uses) are left out: they tell where a text comes from and not
how it is written, and other texts have others.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.prepared import TextIndex
from ...tools.sentence_rules.terms import KINDS, TOKEN, Term

LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
PLAIN_MARKS = frozenset('!?()$/"-:;,%&...') | {"..."}
STEM_LETTERS = 4  # of a stem at least
PHRASES = 2  # times as many texts have to hold a phrase as a word
NAMED = 0.5  # share of the uses in mid-sentence with a capital, from which on a word is a name
TITLES = (
    0.3  # share of all words in mid-sentence with a capital, from which on capitals name nothing
)
SUFFIXES = (
    "s es ed d ing ings er ers or ors est ly y ies ied ier iest ness ment ments al ally e en ion ions"
    " ation ations able ably ible ful fully less ous ously ious iously ive ively ity ities ance ence"
    " ant ent ish 's s'"
)
ENDINGS = tuple(sorted(SUFFIXES.split(), key=len, reverse=True))


@dataclass(frozen=True)
class Table:
    """t terms on the texts that picked them. frequency: texts that hold each, int (t,)."""

    terms: tuple[Term, ...]
    frequency: NDArray[np.int64]

    def present(self, index: TextIndex) -> NDArray[np.float32]:
        """1 where a text holds a term, float32 (texts, t)."""
        found = np.zeros((len(index), len(self.terms)), np.float32)
        for column, one in enumerate(self.terms):
            found[:, column] = index.present(one)
        return found


def table(index: TextIndex, least: int) -> Table:
    """The terms that at least `least` of the texts hold, and at least `least` do not; of terms that
    stand in the same texts the plainest one."""
    names = names_in(index)
    some = stems(index, names)
    known = {one.text[:-1] for one in some}
    alone = [one for one in words(index, names) if known.isdisjoint(beginnings(one.text))]
    kept: dict[bytes, tuple[Term, int]] = {}
    for one in [*alone, *some, *kinds(), *phrases(index, names, PHRASES * least)]:
        there = index.present(one)
        count = int(there.sum())
        if least <= count <= len(index) - least:
            kept.setdefault(np.packbits(there).tobytes(), (one, count))
    return Table(
        tuple(one for one, _ in kept.values()),
        np.array([count for _, count in kept.values()], np.int64),
    )


def beginnings(word: str) -> list[str]:
    return [word[:count] for count in range(STEM_LETTERS, len(word) + 1)]


def words(index: TextIndex, names: frozenset[str]) -> list[Term]:
    return [
        Term(token)
        for token in index.vocabulary
        if token not in names and (LETTERS.fullmatch(token) or token in PLAIN_MARKS)
    ]


def kinds() -> list[Term]:
    return [Term(kind=kind) for kind in KINDS]


def stem_of(word: str) -> str:
    """The word without its ending: `luxurious` and `luxury` give `luxur`; itself where what is left
    would be short."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LETTERS:
            return word[: -len(ending)]
    return word


def stems(index: TextIndex, names: frozenset[str]) -> list[Term]:
    """Stems all of whose words in these texts differ in their endings alone, and are no names."""
    found = []
    for stem in sorted({stem_of(token) for token in index.vocabulary if LETTERS.fullmatch(token)}):
        if len(stem) < STEM_LETTERS:
            continue
        start, stop = index.range_of(f"{stem}*")
        some = index.vocabulary[start:stop]
        alike = all(
            word == stem or word[len(stem) :] in ENDINGS or stem_of(word) == stem for word in some
        )
        if len(some) > 1 and alike and not names.intersection(some):
            found.append(Term(f"{stem}*"))
    return found


def phrases(index: TextIndex, names: frozenset[str], least: int) -> list[Term]:
    """Pairs of words side by side that stand in at least `least` texts."""
    allowed = np.array(
        [bool(LETTERS.fullmatch(token)) and token not in names for token in index.vocabulary],
        np.bool_,
    )
    if index.ids.size < 2:
        return []
    first, second = index.ids[:-1].astype(np.int64), index.ids[1:].astype(np.int64)
    inside = (index.row_of[:-1] == index.row_of[1:]) & allowed[first] & allowed[second]
    count = len(index.vocabulary)
    pairs = first[inside] * count + second[inside]
    each_once = np.unique(np.stack([pairs, index.row_of[:-1][inside]]), axis=1)[0]
    found, texts = np.unique(each_once, return_counts=True)
    return [
        Term(f"{index.vocabulary[pair // count]} {index.vocabulary[pair % count]}")
        for pair in found[texts >= least].tolist()
    ]


def names_in(index: TextIndex) -> frozenset[str]:
    """Words that begin with a capital in at least half of their uses in mid-sentence; none where
    capitals are the habit, as in headlines."""
    inside: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for text in index.texts:
        before = "."
        for token in TOKEN.findall(text):
            words = LETTERS.fullmatch(token) and LETTERS.fullmatch(before)
            before = token
            if words and not (token.isupper() and len(token) > 1) and not _first_person(token):
                inside[token.lower()] += 1
                capital[token.lower()] += token[0].isupper()
    if sum(capital.values()) > TITLES * max(1, sum(inside.values())):
        return frozenset()
    return frozenset(word for word, n in inside.items() if capital[word] >= NAMED * n)


def _first_person(token: str) -> bool:
    return token == "I" or token.startswith("I'")
