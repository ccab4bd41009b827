"""What sentences may count in a text besides mentions: marks, closed classes of words, lengths.

Counts are shares of 100 words, so that a long text is not taken for one that is rich in something.
The classes are those of any English grammar; in other languages none of their words is found, and no
sentence speaks of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...tools.sentence_rules.phrases import Unit
from ...tools.sentence_rules.quantities import Count, Length, Measure
from ...tools.sentence_rules.terms import KINDS, Term, terms

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


def measures(text: str) -> Iterator[Measure]:
    """text: the column that the measures speak of, "" where there is one alone."""
    for some in CLASSES:
        yield Count(terms(*some.split()), True, text)
    for mark in MARKS.split():
        yield Count((Term(mark),), True, text)
    for kind in KINDS:
        yield Count((Term(kind=kind),), True, text)
    for unit in UNITS:
        yield Length(unit, text)
