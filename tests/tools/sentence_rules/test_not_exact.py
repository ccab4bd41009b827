"""What looks like a sentence of the grammar and says something else is never compiled: only a model
can judge it. And no text, however odd or long, raises or takes long."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.tests.counts import drawn
from peirce.tools.sentence_rules import NotExact, Rule, compile_sentence

REVIEWS: dict[str, Any] = {
    "labels": ["deceptive", "truthful"],
    "columns": {"review": {"kind": "text", "about": "A review of a hotel."}},
    "shape": "text",
}
STUDENTS: dict[str, Any] = {
    "labels": ["admitted", "rejected"],
    "columns": {
        "math": {"kind": "choice", "about": "Grade in Mathematics", "values": list("ABCDF")},
        "num_publications": {"kind": "number", "about": "Number of publications"},
        "num_letters": {"kind": "number", "about": "Number of recommendation letters submitted"},
        "num_activities": {"kind": "number", "about": "Number of extracurricular activities"},
        "criminal_record": {"kind": "truth", "about": ""},
        "english": {"kind": "choice", "about": "", "values": list("ABCDF")},
        "english_2": {"kind": "number", "about": ""},
    },
    "shape": "fields",
}
TWEETS: dict[str, Any] = {
    "labels": ["first", "second"],
    "columns": {"first_tweet": {"kind": "text"}, "second_tweet": {"kind": "text"}},
    "shape": "pair",
    "description": "Given a pair of tweets, predict which one will get more retweets.",
}


@pytest.mark.parametrize(
    "sentence",
    [
        "Reviews with emotional language are deceptive.",
        "If the review mentions family members, it is truthful.",
        "If the review mentions one of the amenities, it is truthful.",
        "If the review mentions any of their friends, it is truthful.",
        "If the review uses words of praise, it is deceptive.",
        "If the review uses words expressing joy, it is deceptive.",
        "If the review uses words excessively, it is deceptive.",
        'If the review uses words like "amazing" or "perfect", it is deceptive.',
        'If the review mentions "luxury" in a positive way, it is deceptive.',
        'If the review mentions "luxury" and the tone is negative, then it is deceptive.',
        'If the review mentions "luxury", the tone is negative, then it is deceptive.',
        'If the review mentions "luxury" or sounds fake, it is deceptive.',
        'If the review mentions "luxury", which is vague, it is deceptive.',
        'If the review mentions "luxury", especially late, it is deceptive.',
        'If the review mentions "luxury" it is deceptive unless it is long.',
        'If the review mentions "luxury", it is not deceptive but truthful.',
        'If the review mentions "luxury", it is deceptive or truthful.',
        'If the review mentions "luxury", it is neither.',
        'If the review mentions "luxury", it is untruthful.',
        'If the review mentions "luxury", it is "fake" and deceptive.',
        'The review is deceptive if it mentions "luxury" in a negative tone.',
        'The review is deceptive if it mentions "luxury" and the tone is negative.',
        'Reviews that mention "luxury" in a negative tone are deceptive.',
        'Reviews that mention "luxury" are deceptive if they are honest.',
        "If the review mentions a number of reasons, it is truthful.",
        "If the review uses many exclamation marks, it is deceptive.",
        "If the review uses exclamation marks excessively, it is deceptive.",
        "If the review has more exclamation marks, it is deceptive.",
        "If the review has at least 3 exclamation marks in its title, it is deceptive.",
        'If the title mentions "luxury", it is deceptive.',
        'If the first paragraph mentions "luxury", it is deceptive.',
        "If the review is longer than average, it is truthful.",
        "If the review is long, it is truthful.",
        'If the review mentions "luxury", it is deceptive; otherwise, who knows.',
        'If the review mentions "luxury", it is deceptive; otherwise truthful. Mostly.',
        'If the headline mentions "", it is deceptive.',
        'If the review mentions "luxury", it is far from deceptive.',
        'If the review mentions "luxury", it is wrong to say deceptive.',
        'If the review mentions "luxury", nobody would call it deceptive.',
        'If the review mentions "luxury", the opposite of truthful.',
        'If the review mentions "luxury", the chance of deceptive is low.',
        'If the review mentions "luxury", truthful reviews are rare.',
        'If the review mentions "luxury", it is only slightly deceptive.',
        'If the review mentions "luxury", it is far from "deceptive".',
        'If the review mentions "luxury", it is non-deceptive.',
        'If the review mentions "luxury", deceptive is ruled out.',
        'Reviews that mention "luxury" are 20% deceptive.',
        'Reviews that mention "luxury" are not always deceptive.',
        'Reviews that mention "luxury" are not very deceptive.',
        'If the review mentions "luxury", it is as likely deceptive.',
        'If the review mentions "*ing", it is deceptive.',
        'The review is deceptive only if it mentions "luxury".',
        'The review is deceptive even if it mentions "luxury".',
        'If the review mentions "a" and "b" or "c", it is deceptive.',
        'If the review mentions one of "a", "b" and "c" or "d", it is deceptive.',
        'If the review does not start with "a" or end with "b", it is deceptive.',
        'If the review does not mention "a", "b" or start with "c", it is deceptive.',
        'Reviews that do not mention "a" and contain a number are deceptive.',
        "If the review has more than 5% numbers, it is deceptive.",
        "If the review has at least 5% exclamation marks, it is deceptive.",
        'If colour is "red", it is deceptive.',
        'If `colour` is "red", it is deceptive.',
        'If the review mentions "luxury", it is splendid.',
        "If the text wins, the label wins.",
        'Hotels that mention "luxury" are deceptive.',
        'If the hotel mentions "luxury", it is deceptive.',
        'The review is deceptive if the hotel has no "pool".',
        'If angry users mention "luxury", it is deceptive.',
    ],
)
def test_meaning_is_left_to_a_model(sentence: str) -> None:
    got = compile_sentence(sentence, REVIEWS)
    assert isinstance(got, NotExact) and got.reason, got


@pytest.mark.parametrize(
    "sentence",
    [
        "If math is excellent, then admitted.",
        "If math is at least B, then admitted.",
        "If their publications are many, then admitted.",
        "Students with a high math grade will be admitted.",
        "If they have a serious criminal record, then rejected.",
        "If they have publications in math, then admitted.",
        'If the text mentions "A", then admitted.',
        "If english 3 is A, then admitted.",
        "If salary is at least 3, then admitted.",
        "Students with an A in Math will be admitted, otherwise promoted.",
        "If they have at least 2 strong letters, then admitted.",
        "Students with more than 2 forged recommendation letters will be admitted.",
        "If they have 2 science publications, then admitted.",
        "If strong letters are at least 2, then admitted.",
        "If the number of strong letters is at least 2, then admitted.",
        "If num_publications is more than weak letters, then admitted.",
        "If the father's publications are at least 2, then admitted.",
        "Students with at least 2 strong activities will be admitted.",
        "If poor students have at least 2 publications, then admitted.",
        "Women with an A in Math will be admitted.",
    ],
)
def test_fields_that_are_not_there_or_are_said_otherwise_are_refused(sentence: str) -> None:
    got = compile_sentence(sentence, STUDENTS)
    assert isinstance(got, NotExact) and got.reason, got


@pytest.mark.parametrize(
    "sentence",
    [
        "The tweet with more words is more readable.",
        "The tweet with more words in its middle wins.",
        "The more vivid tweet wins.",
        'If the tweet mentions "free", the first wins.',
        "The tweet with a friendlier tone gets more retweets.",
        "Longer tweets that provide more information get more retweets.",
        "Tweets that mention prominent figures get more retweets.",
        "The tweet with more words than the other in mind wins.",
        'If the first tweet mentions "rt", the first tweet is far from winning.',
        'If the first tweet mentions "rt", the first tweet is seen by nobody.',
        "The politician that mentions a link wins.",
    ],
)
def test_of_a_pair_too(sentence: str) -> None:
    got = compile_sentence(sentence, TWEETS)
    assert isinstance(got, NotExact) and got.reason, got


GRADES: dict[str, Any] = {
    "labels": ["admitted", "rejected"],
    "columns": {
        **{name: {"kind": "choice", "about": "", "values": list("ABCDF")}
           for name in ("math_grade", "english_grade")},
        "stars": {"kind": "choice", "about": "", "values": ["1", 2, "3.5"]},
        "city": {"kind": "choice", "about": ""},
        "essay": {"kind": "text", "about": ""},
        "poem": {"kind": "text", "about": ""},
        "age": {"kind": "number", "about": ""},
    },
    "shape": "fields",
}  # fmt: skip


@pytest.mark.parametrize(
    "condition",
    [
        "math_grade is more than english_grade",
        "math_grade is more than 3",
        "math_grade > 3",
        "math_grade is at least 2",
        "math_grade is 2 or more",
        "math_grade is between 1 and 3",
        "the number of math_grade is at least 2",
        "age is more than math_grade",
        "age is less than the number of math_grade",
        "math_grade is more than age",
        "city is more than 3",
        "age is more than essay",
        "essay is more than poem",
    ],
)
def test_what_holds_no_numbers_is_more_or_less_than_nothing(condition: str) -> None:
    got = compile_sentence(f"If {condition}, then admitted.", GRADES)
    assert isinstance(got, NotExact) and "holds no numbers" in got.reason, got


@pytest.mark.parametrize(
    "condition",
    ["stars is more than 2", "age is more than stars", "math_grade is exactly A",
     "city is equal to 3", "math_grade is not equal to B"],
)  # fmt: skip
def test_numbers_that_are_chosen_from_may_be_compared_and_equal_is_no_comparison(
    condition: str,
) -> None:
    assert isinstance(compile_sentence(f"If {condition}, then admitted.", GRADES), Rule)


@pytest.mark.parametrize(
    ("sentence", "column", "about"),
    [
        ("If they have 2 recommendation letters, then admitted.", "num_letters", "Number of "
         "recommendation letters"),
        ("If they have 2 recommendation letters, then admitted.", "num_letters", ""),
        ("If they have 2 strong activities, then admitted.", "num_activities", ""),
        ("If they have 2 strong letters, then admitted.", "num_letters", "Strong letters"),
        ("If the student's total publications are over 2, then admitted.", "num_publications", ""),
        ("If the family's gifts are 2, then admitted.", "gifts", "Gifts of the family"),
        ("If the given student has 2 gifts, then admitted.", "gifts", ""),
        ("Graduates with 2 gifts will be admitted.", "gifts", ""),
    ],
)  # fmt: skip
def test_words_of_a_columns_name_and_description_and_neutral_ones_may_stand_there(
    sentence: str, column: str, about: str
) -> None:
    public = {**STUDENTS, "columns": {column: {"kind": "number", "about": about}},
              "description": "Predict whether a graduate will be admitted."}  # fmt: skip
    got = compile_sentence(sentence, public)
    assert isinstance(got, Rule), got
    assert column in got.to_text()


@pytest.mark.parametrize(
    ("sentence", "about"),
    [
        ("If they have 2 strong letters, then admitted.", ""),
        ("If they have 2 recommendation letters, then admitted.", "Number of sealed letters"),
    ],
)
def test_what_the_published_sentences_say_of_one_column_is_said_of_no_other(
    sentence: str, about: str
) -> None:
    public = {**STUDENTS, "columns": {"num_letters": {"kind": "number", "about": about}}}
    assert isinstance(compile_sentence(sentence, public), NotExact)


words = st.sampled_from(
    [
        "if",
        "the",
        "text",
        "mentions",
        '"a"',
        "b*",
        "one",
        "of",
        "and",
        "or",
        "not",
        "(",
        ")",
        ",",
        ";",
        ".",
        ":",
        "otherwise",
        "then",
        "deceptive",
        "truthful",
        "is",
        "at",
        "least",
        "more",
        "than",
        "of",
        "3",
        "words",
        "longer",
        "math",
        "A",
        "B",
        "they",
        "have",
        "no",
        "a",
        "an",
        "in",
        "between",
        "it",
        "wins",
        "that",
        "with",
        "does",
        "occurrences",
        "`review`",
        "per",
        "100",
        "number",
        "first",
        "second",
        "tweet",
        "either",
        "while",
        "reviews",
        "are",
        "do",
        "label",
    ]
)


@pytest.mark.counted
@settings(max_examples=drawn(500, soak=1500))
@given(st.lists(words, max_size=25).map(" ".join) | st.text(max_size=60))
def test_any_text_gives_a_rule_that_is_read_back_or_a_reason(sentence: str) -> None:
    for public in (REVIEWS, STUDENTS, TWEETS):
        got = compile_sentence(sentence, public)
        if isinstance(got, Rule):
            assert compile_sentence(got.to_text(), public) == got
        else:
            assert got.reason


PIECES = [
    "word ", "not ", "(", '"a", ', "'a ", "“a ", '\\"', '"a', "`a", "more than ", "otherwise ",
    "if ", "; ", "deceptive if ", "text that mentions ", "the number of ", "1 ", "1,000", "a-",
    "a'", "math is A or ", "they have at least ", 'If the text mentions "a", truthful; ',
        'the text mentions "a" and ', "reviews that do not ", "either ", "*", "a*", "\x00", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(PIECES)), ids=PIECES)
def test_ten_thousand_words_are_read_in_a_moment(at: int) -> None:
    """Each piece in each kind of sentence, of one grammar each: over the pieces all nine come."""
    piece = PIECES[at] * 10_000
    sentences = (piece, "If " + piece, "If the text mentions " + piece)
    for n, sentence in enumerate(sentences):
        public = (REVIEWS, STUDENTS, TWEETS)[(at + n) % 3]
        began = time.process_time()
        compile_sentence(sentence, public)
        assert time.process_time() - began < 8  # some 0.1 s on an idle machine


def test_a_list_of_ten_thousand_words_is_a_rule() -> None:
    entries = ", ".join(f'"w{n}"' for n in range(10_000))
    sentence = f"If the text mentions one of {entries}, the label is deceptive."
    assert isinstance(compile_sentence(sentence, REVIEWS), Rule)
    assert isinstance(compile_sentence(sentence * 20, REVIEWS), NotExact)  # over 200,000 characters
