"""Which exact rules have degrees, and what these are."""

from __future__ import annotations

import pytest
from peirce.tools.sentence_rules import PreparedRows, Rule, compile_sentence, rule_degrees

PUBLIC = {
    "labels": ["deceptive", "truthful"],
    "columns": {"text": {"kind": "text"}, "stars": {"kind": "number"}},
    "shape": "fields",
}
ROWS = [{"text": "my spa and my suite!", "stars": 1}, {"text": "a floor", "stars": 5}]
PAIR = {
    "labels": ["first", "second"],
    "columns": {"tweet_1": {"kind": "text"}, "tweet_2": {"kind": "text"}},
    "shape": "pair",
}
PAIRS = [{"tweet_1": "free free new", "tweet_2": "free"}, {"tweet_1": "one", "tweet_2": "new one"}]


def degrees(sentence: str, rows=ROWS, public=PUBLIC):
    rule = compile_sentence(sentence, public)
    assert isinstance(rule, Rule), rule
    found = rule_degrees(rule, PreparedRows(rows, public))
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ('If the text mentions more of "spa", "suite" than of "floor", deceptive.', [2, -1]),
        ('If the text mentions more of "spa" than of "floor", deceptive; if the text mentions more of'
         ' "floor" than of "spa", truthful.', [1, -1]),
        ('If the text mentions at least 2 of "spa", "suite", deceptive; otherwise truthful.', [2, 0]),
        ('If the text does not mention "spa" or "suite", deceptive.', [-2, 0]),
        ("If the text has fewer than 4 words, deceptive.", [-(5**0.5), -(2**0.5)]),
        ('If the text has at least 1 occurrences of "my" per 100 words, deceptive.', [40**0.5, 0]),
    ],
)  # fmt: skip
def test_an_amount_is_a_degree(sentence: str, expected: list[float]) -> None:
    assert degrees(sentence) == pytest.approx(expected)


@pytest.mark.parametrize(
    "sentence",
    [
        'If the text starts with "my", deceptive.',
        "If stars is at least 3, truthful.",
        "If the text has between 2 and 4 words, truthful.",
        'If the text mentions "spa" and has more than 3 words, deceptive.',
        'If the text mentions "spa", deceptive; if the text mentions "floor", truthful.',
    ],
)
def test_what_holds_or_does_not_has_no_degrees(sentence: str) -> None:
    assert degrees(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ('The text that mentions more of "free", "new" wins.', [1, -1]),
        ('The text that mentions fewer of "free", "new" wins.', [-1, 1]),
        ("The text with more words wins.", [3**0.5 - 1, 1 - 2**0.5]),
    ],
)
def test_of_two_texts_the_difference_is_the_degree(sentence: str, expected: list[float]) -> None:
    assert degrees(sentence, PAIRS, PAIR) == pytest.approx(expected)
