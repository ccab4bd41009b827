"""Style that sentences about texts may state: marks, closed classes of words, lengths, positions.

A position is the first or the last word of a text. Counts are per 100 words, so that a long text does not seem to be rich in something. The classes
are those of any English grammar. In other languages none of their words is found, and no sentence
uses them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.conditions import Begins
from ...tools.sentence_rules.degrees import amount_degrees
from ...tools.sentence_rules.prepared_rows import PreparedRows, TextIndex
from ...tools.sentence_rules.quantities import Count, Length, Measure
from ...tools.sentence_rules.terms import KINDS, Term, terms
from ...tools.sentence_rules.vocabulary import Unit

POSITIONS = 0.05  # share of the texts that must begin or end with a word

Style: TypeAlias = Measure | Begins

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


def list_positions(index: TextIndex, text: str) -> Iterator[Begins]:
    """Yield conditions on the first and the last word that many of the texts share.

    Args:
        index: Index of the texts.
        text: Name of the column, or "" if there is only one column of text.
    """
    some = np.flatnonzero(index.words)
    for last in (False, True):
        places = index.last_word[some] if last else index.begins[some]
        counts = Counter(index.vocabulary[number] for number in index.ids[places].tolist())
        for word, count in sorted(counts.items()):
            if POSITIONS * len(index) <= count < len(index):
                yield Begins((Term(word),), text, last)


def style_degrees(one: Style, rows: PreparedRows, text: str = "") -> NDArray[np.float64]:
    """Return how much of something each of n texts has, of shape (n,).

    Args:
        one: A measure, or a condition on the first or last word, which is 1 or 0.
        rows: The rows.
        text: The text column; "" for the only text column.
    """
    if isinstance(one, Begins):
        return one.holds(rows, text).astype(np.float64)
    return amount_degrees(one, rows, text)
