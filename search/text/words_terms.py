"""Terms that sentences about texts may list: words, stems, phrases, marks and kinds of words.

A stem such as `luxur*` stands for all words that differ only in their endings. Names are left out,
because they show where a text comes from and not how it is written, and other texts contain other
names. A word counts as a name if at least half of its uses within a sentence have a capital letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.prepared_rows import TextIndex
from ...tools.sentence_rules.quantities import Count, Length, Measure
from ...tools.sentence_rules.terms import KINDS, TOKEN, Term, terms
from ...tools.sentence_rules.vocabulary import Unit

LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
PLAIN_MARKS = frozenset('!?()$/"-:;,%&...') | {"..."}
STEM_LETTERS = 4  # minimum length of a stem
PHRASES = 2  # a phrase must be in this many times as many texts as a word
NAMED = 0.5  # share of mid-sentence uses with a capital from which on a word is a name
TITLES = 0.3  # share of all mid-sentence words with a capital from which on capitals mean nothing
SUFFIXES = (
    "s es ed d ing ings er ers or ors est ly y ies ied ier iest ness ment ments al ally e en ion ions"
    " ation ations able ably ible ful fully less ous ously ious iously ive ively ity ities ance ence"
    " ant ent ish 's s'"
)
ENDINGS = tuple(sorted(SUFFIXES.split(), key=len, reverse=True))


@dataclass(frozen=True)
class TermTable:
    """The t terms that may be listed, and how many texts contain each of them.

    Attributes:
        terms: The terms.
        frequency: Number of texts that contain each term, of shape (t,).
    """

    terms: tuple[Term, ...]
    frequency: NDArray[np.int64]

    def present(self, index: TextIndex) -> NDArray[np.float32]:
        """Return which texts contain which terms.

        Returns:
            A float32 array of shape (texts, t), with 1 if the text contains the term and 0
            otherwise.
        """
        found = np.zeros((len(index), len(self.terms)), np.float32)
        for column, one in enumerate(self.terms):
            found[:, column] = index.contains(one)
        return found


def build_term_table(index: TextIndex, least: int) -> TermTable:
    """Return the terms that occur in some of the texts, but neither in few nor in nearly all.

    A term must occur in at least `least` texts and be missing from at least `least` texts.

    If several terms occur in the same texts, only the simplest is kept: words come first, then
    stems, kinds of words and phrases.
    """
    names = find_names(index)
    some = find_stems(index, names)
    known = {one.text[:-1] for one in some}
    alone = [one for one in list_words(index, names) if known.isdisjoint(word_prefixes(one.text))]
    kept: dict[bytes, tuple[Term, int]] = {}
    for one in [*alone, *some, *list_kinds(), *find_phrases(index, names, PHRASES * least)]:
        there = index.contains(one)
        count = int(there.sum())
        if least <= count <= len(index) - least:
            kept.setdefault(np.packbits(there).tobytes(), (one, count))
    return TermTable(
        tuple(one for one, _ in kept.values()),
        np.array([count for _, count in kept.values()], np.int64),
    )


def word_prefixes(word: str) -> list[str]:
    """Return all beginnings of `word` with at least `STEM_LETTERS` letters, shortest first."""
    return [word[:count] for count in range(STEM_LETTERS, len(word) + 1)]


def list_words(index: TextIndex, names: frozenset[str]) -> list[Term]:
    """Return one term for each word and punctuation mark that occurs in the texts.

    Only the punctuation marks in `PLAIN_MARKS` are used.

    Args:
        index: Index of the texts, with their vocabulary of words and marks.
        names: Words to leave out because they are names.
    """
    return [
        Term(token)
        for token in index.vocabulary
        if token not in names and (LETTERS.fullmatch(token) or token in PLAIN_MARKS)
    ]


def list_kinds() -> list[Term]:
    """Return one term for each kind of word that sentences can name."""
    return [Term(kind=kind) for kind in KINDS]


def stem_of(word: str) -> str:
    """Return `word` without its ending: `luxurious` and `luxury` give `luxur`.

    The word is returned unchanged if fewer than `STEM_LETTERS` letters would remain.
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LETTERS:
            return word[: -len(ending)]
    return word


def find_stems(index: TextIndex, names: frozenset[str]) -> list[Term]:
    """Return stems such as `luxur*` that stand for at least two words of the texts.

    The words of a stem differ only in their endings.

    Args:
        index: Index of the texts.
        names: Names. A stem that stands for a name is left out.
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
        if len(some) > 1 and alike and not names.intersection(some):
            found.append(Term(f"{stem}*"))
    return found


def find_phrases(index: TextIndex, names: frozenset[str], least: int) -> list[Term]:
    """Return the pairs of adjacent words that occur in at least `least` texts.

    Args:
        index: Index of the texts.
        names: Words to leave out because they are names.
        least: Minimum number of texts.
    """
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


def find_names(index: TextIndex) -> frozenset[str]:
    """Return the words that are names, in lower case.

    A word counts as a name if at least half of its uses within a sentence have a capital letter.
    The result is empty if the texts use capitals for most words, as in headlines.
    """
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


# --- What sentences may count in a text besides mentions: marks, closed classes of words, lengths.
#
# Counts are per 100 words, so that a long text does not seem to be rich in something. The classes
# are those of any English grammar. In other languages none of their words is found, and no sentence
# uses them.

CLASSES = (
    "i my me mine myself i'm i've i'd i'll am",
    "we our us ours ourselves we're we've we'd we'll",
    "you your yours yourself you're you'll you've",
    "he she him her his they them their who someone",
    "was were had did went came said been got felt",
    "is are am be being has have do does 's",
    "not no never nothing don't didn't can't couldn't wasn't isn't",
    "in on at near from of between across around into",
    "a an the this that these those",
    "and but or so because if then also although however",
    "very really so too extremely truly absolutely quite just even",
    "will would could should can may might must",
    "all every everything always everyone any each most entire",
    "what why how when where which",
    "one two three four five several few many some other",
)
MARKS = '! ? , . ( $ % " - : ; / ... &'
UNITS: tuple[Unit, ...] = ("words", "characters", "sentences", "different words")


def list_measures(text: str) -> Iterator[Measure]:
    """Yield measures of style, such as the number of words, for one column of text.

    Args:
        text: Name of the column, or "" if there is only one column of text.
    """
    for some in CLASSES:
        yield Count(terms(*some.split()), True, text)
    for mark in MARKS.split():
        yield Count((Term(mark),), True, text)
    for kind in KINDS:
        yield Count((Term(kind=kind),), True, text)
    for unit in UNITS:
        yield Length(unit, text)


# --- Ridge regression on labels of ±1: it chooses the terms, and measures what a set of features
# predicts.
#
# The loss is squared, because leaving one row out then costs nothing. On balanced labels it orders
# texts as a logistic loss does.

Numbers = NDArray[np.float64]
DROPPED = 0.3  # share of the terms dropped in each round of elimination
PENALTY = 100.0  # ridge penalty when terms are chosen, on presence: 0 or 1
WEIGHINGS = (3.0, 10.0, 30.0, 100.0)  # penalties tried on features of unit variance


def centre_columns(x: NDArray[np.float32], through_zero: bool) -> NDArray[np.float32]:
    """Return `x` minus the mean of each column, or unchanged if `through_zero` is true."""
    return x if through_zero else x - x.mean(axis=0, dtype=np.float32)


def ridge_weights(x: NDArray[np.float32], y: Numbers) -> Numbers:
    """Return the weights of a ridge regression of `y` on the columns of `x`, without a constant.

    Args:
        x: Features of shape (n, t).
        y: Targets of shape (n,).

    Returns:
        A float64 array of shape (t,).
    """
    n, t = x.shape
    if t <= n:
        gram = (x.T @ x).astype(np.float64) + PENALTY * np.eye(t)
        target = np.asarray(x.T @ y.astype(np.float32), np.float64)
        return np.asarray(np.linalg.solve(gram, target), np.float64)
    kernel = (x @ x.T).astype(np.float64) + PENALTY * np.eye(n)
    dual = np.linalg.solve(kernel, y).astype(np.float32)
    return np.asarray(x.T @ dual, np.float64)


def eliminate_columns(
    x: NDArray[np.float32], y: Numbers, stops: Sequence[int]
) -> Iterator[tuple[NDArray[np.int64], Numbers]]:
    """Drop columns with small ridge weights step by step, and yield the remaining columns.

    Each round drops about the share `DROPPED` of the columns and fits the weights again.

    Args:
        x: Features of shape (n, t).
        y: Targets of shape (n,).
        stops: Numbers of columns at which a result is yielded, in descending order.

    Yields:
        The indices of the remaining columns, and their weights.
    """
    left = np.arange(x.shape[1])
    w = ridge_weights(x, y)
    for stop in stops:
        while len(left) > stop:
            keep = max(stop, int(len(left) * (1 - DROPPED)))
            order = np.argsort(-np.abs(w), kind="stable")[:keep]
            left = left[np.sort(order)]
            w = ridge_weights(x[:, left], y)
        yield left, w


def count_multiplications(rows: int, terms: int) -> float:
    """Return about how many multiplications `eliminate_columns` needs.

    Args:
        rows: Number of texts.
        terms: Number of columns.
    """
    return 4.0 * rows * min(rows, terms) * terms + min(rows, terms) ** 3


class RidgeFit:
    """A ridge regression of `y` on standardised features, with leave-one-out predictions.

    The penalty is the one of `WEIGHINGS` with the smallest leave-one-out error.

    Args:
        features: Features of shape (n, m).
        y: Targets of shape (n,).
        through_zero: If true, means are not subtracted and the regression has no constant.
    """

    def __init__(self, features: Numbers, y: Numbers, through_zero: bool = False) -> None:
        self.y = y
        self.middle = 0.0 if through_zero else features.mean(axis=0)
        spread = np.sqrt(((features - self.middle) ** 2).mean(axis=0))
        self.spread = np.where(spread > 1e-9, spread, 1.0)
        z = (features - self.middle) / self.spread
        self.base = 0.0 if through_zero else float(y.mean())
        left, values, right = np.linalg.svd(z, full_matrices=False)
        self.loss = np.inf
        for penalty in WEIGHINGS:
            shrunk = values**2 / (values**2 + penalty)
            predicted = self.base + (left * shrunk) @ (left.T @ (y - self.base))
            held = (left**2 * shrunk).sum(axis=1) + (0.0 if through_zero else 1 / len(y))
            residual = (y - predicted) / np.maximum(1 - held, 1e-6)
            loss = float((residual**2).mean())
            if loss < self.loss:
                self.loss, self.left_out = loss, y - residual
                factor = values / (values**2 + penalty)
                self.w = right.T @ (factor * (left.T @ (y - self.base)))
