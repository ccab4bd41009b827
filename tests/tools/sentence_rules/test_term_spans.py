"""The places in a text that a rule is about are those at which its terms are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.tools.sentence_rules import PreparedRows, compile_sentence, find_term_spans

PUBLIC = {
    "labels": ["a", "b"], "columns": {"text": {"kind": "text", "about": ""}}, "shape": "text"
}  # fmt: skip


def marked(sentence, text, public=PUBLIC, column="text", texts=("text",)):
    rule = compile_sentence(sentence, public)
    return [text[start:end] for start, end in find_term_spans(rule, column, text, texts)]


@pytest.mark.parametrize(
    ("condition", "text", "found"),
    [
        ('mentions "luxur*"', "A Luxurious room, luxury.", ["Luxurious", "luxury"]),
        ('mentions "front desk"', "The “front desk”; front, desk", ["front desk"]),
        ('mentions "it\'s"', "It’s … it's", ["It’s", "it's"]),
        ('mentions a number', "3 cats… or 4.5", ["3", "4.5"]),
        ('starts with "the"', "The cat, the dog", ["The"]),
        ('ends with "the"', "The cat and the…!", ["the"]),
        ('ends with "?"', "Why? Why?", ["?"]),
        ('mentions "a" and mentions "a b"', "a b", ["a b"]),
        ('does not mention "cat"', "The dog", []),
        ("has at least 2 words", "The dog", []),
    ],
)  # fmt: skip
def test_the_terms_of_a_condition_are_marked(condition, text, found):
    assert marked(f"If the text {condition}, the label is a.", text) == found


def test_letters_that_are_longer_in_lower_case_move_no_mark():
    assert marked('If the text mentions "cat", the label is a.', "İİ… Cat") == ["Cat"]


def test_both_texts_of_a_pair_are_marked():
    about = {"kind": "text", "about": ""}
    public = {"labels": ["first", "second"], "columns": {"t1": about, "t2": about}, "shape": "pair"}
    sentence = 'The text that mentions more of "you", "now" wins.'
    for column in ("t1", "t2"):
        assert marked(sentence, "Now or you", public, column, ("t1", "t2")) == ["Now", "you"]


@given(st.text(alphabet="aAbB ,.’'…\"“İß1", max_size=40), st.sampled_from(["a", "ab*", "b a", "…", "1"]))  # fmt: skip
def test_a_text_has_marks_exactly_if_it_mentions_the_term(text, term):
    rule = compile_sentence(f'If the text mentions "{term}", the label is a.', PUBLIC)
    spans = find_term_spans(rule, "text", text, ("text",))
    assert bool(spans) == bool(rule.codes(PreparedRows([{"text": text}], PUBLIC))[0] == 0)
    assert all(0 <= start < end <= len(text) for start, end in spans)
