"""Long lists of a sentence are shortened for a reader, and get a name that says what they are about."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.tools.sentence_rules import NotExact, compile_sentence, name_theme, shorten_lists

PUBLIC = {
    "labels": ["a", "b"],
    "columns": {"text": {"kind": "text", "about": ""}, "city": {"kind": "choice", "about": ""}},
    "shape": "fields",
}
WORDS = [f"word{n}" for n in range(30)]


def listed(*words):
    return ", ".join(json.dumps(one, ensure_ascii=False) for one in words)


def sentence(*words, rest=""):
    return (
        f"If the text mentions at least 2 of {listed(*words)}{rest}, the label is a; otherwise b."
    )


def test_a_list_of_twelve_terms_is_shown_whole():
    assert shorten_lists(sentence(*WORDS[:12])) == sentence(*WORDS[:12])
    assert shorten_lists(sentence("x")) == sentence("x")


def test_of_a_longer_list_the_first_twelve_terms_are_shown_and_the_others_counted():
    shown = shorten_lists(sentence(*WORDS))
    assert shown == (
        'If the text mentions at least 2 of the theme "word0, word1, word2"'
        f" ({listed(*WORDS[:12])}, … and 18 more), the label is a; otherwise b."
    )
    assert shorten_lists(sentence(*WORDS, rest=", a number")).count("and 19 more") == 1


def test_a_given_name_takes_the_place_of_the_strongest_words():
    assert 'of the theme "web \\"servers\\"" ("word0",' in shorten_lists(
        sentence(*WORDS), name='web "servers"'
    )


def test_each_long_list_of_a_sentence_is_shortened_for_itself():
    one, other = listed(*WORDS[:14]), listed("x", *WORDS[15:30])
    said = f'The text mentions more of {one} than of {other}; `a "b", c` is "x".'
    shown = shorten_lists(said)
    assert shown.startswith('The text mentions more of the theme "word0, word1, word2" ("word0",')
    assert ', … and 2 more) than of the theme "word15, word16, word17" ("x", "word15",' in shown
    assert shown.endswith(', … and 4 more); `a "b", c` is "x".')


def test_values_of_a_column_are_no_theme():
    said = f"If city is one of {listed(*WORDS)}, the label is a."
    assert shorten_lists(said) == (
        f"If city is one of {listed(*WORDS[:12])}, … and 18 more, the label is a."
    )


@given(st.lists(st.text(min_size=1), min_size=13, max_size=30), st.integers(1, 12))
def test_quotes_and_backslashes_within_terms_end_no_list(words, most):
    quoted = ['"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' for one in words]
    said = f"If city is one of {', '.join(quoted)}, the label is a."
    assert shorten_lists(said, most) == (
        f"If city is one of {', '.join(quoted[:most])}, … and {len(words) - most} more,"
        " the label is a."
    )


@pytest.mark.parametrize("said", [
    sentence(*WORDS), f"If city is one of {listed(*WORDS)}, the label is a.",
    f"If city is not one of {listed(*WORDS)}, the label is a.",
    f"If the text starts with {listed(*WORDS)}, the label is a; otherwise b.",
])  # fmt: skip
def test_a_shortened_sentence_is_not_mistaken_for_a_rule_about_fewer_terms(said):
    assert not isinstance(compile_sentence(said, PUBLIC), NotExact)
    assert isinstance(compile_sentence(shorten_lists(said), PUBLIC), NotExact)


@pytest.mark.parametrize(
    ("terms", "name"),
    [
        (
            ["the server", "server", "request", "http request", "session"],
            "server, request, session",
        ),
        (["of the", "a", "who is", "!", "12", "x", "3 cats", "luxur*"], "luxur"),
        (["service account", "account", "the order"], "service account"),
        (["of", "it's", "", "a number"], ""),
        (["don't", "Café", "naïve reader"], "café, naïve reader"),
    ],
)
def test_a_theme_is_named_by_its_strongest_distinctive_words(terms, name):
    assert name_theme(terms) == name


def test_a_list_without_distinctive_words_has_no_name():
    marks = [f"{n}" for n in range(20)]
    assert shorten_lists(sentence(*marks)) == (
        f"If the text mentions at least 2 of {listed(*marks[:12])}, … and 8 more, the label is a;"
        " otherwise b."
    )


@pytest.mark.parametrize("piece", ['"\\', '"a, ', "`", '"x" ', "\\"])
def test_a_long_text_without_long_lists_stays_as_it_is(piece):
    assert shorten_lists(piece * 100_001) == piece * 100_001
