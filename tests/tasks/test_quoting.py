"""A quote is found where it stands, whatever a PDF did to its letters, and nowhere else; pieces lose
nothing and keep to their length.

Internals: quotes are looked for in single texts, without papers or a model.
"""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.tasks.text.papers import contains_quote, split_text

SOURCE = (
    "We ﬁnd that decep-\ntive reviews use “fewer” words about\n  spatial conﬁguration; a well-\n"
    "known eﬀect. It’s not able to tell short- and long-term cues: 3.5 % of re-signed users."
)


@pytest.mark.parametrize(
    "quote",
    [
        'deceptive reviews use "fewer" words about spatial configuration',
        "decep-\ntive reviews",
        "decep- tive reviews",
        "a well-known effect",
        "a wellknown effect",  # what the line's end hid
        "  “find that deceptive reviews”  ",
        "use ``fewer'' words",
        "It's not able",
        "short- and long-term cues",
        "wordsabout spatial",  # PDFs lose blanks
        "3.5 % of re-signed",
        "re\u2011signed users.",
        "We ﬁnd",
    ],
)
def test_what_typesetting_does_is_forgiven(quote):
    assert contains_quote(quote, SOURCE)


@pytest.mark.parametrize(
    "quote",
    [
        "deceptive reviews use more words",
        "Deceptive reviews",  # case
        "deceptive reviews use words",  # something left out
        "deceptive … fewer",
        "de-ceptive reviews",  # a hyphen of its own
        "resigned users",  # a hyphen that the source has within a line
        "long—term",
        "3,5 %",
        "reviews, use",
        "its not able",
        "",
        ' - "…" ',
    ],
)
def test_nothing_else_is_forgiven(quote):
    assert not contains_quote(quote, SOURCE)


@given(
    st.text(alphabet="ab-\n \"'ﬁ.", min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 40)
)
def test_every_part_of_a_text_stands_in_it(text, start, length):
    part = text[start : start + length]
    if any(sign.isalnum() for sign in part):
        assert contains_quote(part, text)


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.soak)])
def test_hostile_quotes_are_answered_soon(times):
    """In time that grows with the product of both lengths the shorter ones would take minutes too."""
    text = "a-" * (40_000 * times) + "b"
    started = time.process_time()
    assert not contains_quote("a-" * 5_000 + "aa", text)
    assert contains_quote("x " * 10_000, "x" * (200_000 * times))
    assert not contains_quote("x-" * 10_000 + "y", "x" * (200_000 * times))
    assert contains_quote("a-a-b", text)
    assert time.process_time() - started < 30


def test_pieces_end_with_paragraphs_where_they_can():
    text = "One two three.\n\nFour five.\nSix.\n \nSeven eight nine ten. Eleven twelve!"
    assert split_text(text, 100) == [text]
    assert split_text(text, 6) == [
        "One two three.\n\nFour five.\nSix.", "Seven eight nine ten. Eleven twelve!",
    ]  # fmt: skip
    assert split_text(text, 5) == [
        "One two three.", "Four five.\nSix.", "Seven eight nine ten.", "Eleven twelve!",
    ]  # fmt: skip
    assert split_text("a b c d e", 2) == ["a b", "c d", "e"]
    assert split_text(" \n ", 3) == []
    with pytest.raises(ValueError, match="0 words"):
        split_text(text, 0)


@given(st.text(alphabet="ab. \n!'", max_size=300), st.integers(1, 9))
def test_pieces_lose_nothing_but_blanks(text, words):
    found = split_text(text, words)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(1 <= len(piece.split()) <= words for piece in found if len(piece) <= 40)


def test_a_text_without_blanks_is_cut_too():
    rng = random.Random(0)
    text = "".join(rng.choice("甲乙丙") for _ in range(1_000_000))
    started = time.process_time()
    found = split_text(text, 500)
    assert "".join(found) == text and max(map(len, found)) == 500 * 40
    assert time.process_time() - started < 30
