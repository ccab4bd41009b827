"""Sentences as rules: what they say, on which rows, and that they are read back as written."""

from __future__ import annotations

from typing import Any

import pytest
from peirce.tools.sentence_rules import NotExact, PreparedRows, Rule, compile_sentence

REVIEWS = {
    "labels": ["deceptive", "truthful"],
    "columns": {"review": {"kind": "text"}},
    "shape": "text",
}
STUDENTS: dict[str, Any] = {
    "labels": ["admitted", "rejected"],
    "columns": {
        "math": {"kind": "choice", "about": "Grade in Mathematics", "values": list("ABCDF")},
        "num_publications": {"kind": "number", "about": "Number of publications"},
        "donated": {"kind": "truth"},
    },
    "shape": "fields",
}


def codes(sentence: str, public: Any, rows: list[Any]) -> list[int]:
    rule = compile_sentence(sentence, public)
    assert isinstance(rule, Rule), rule
    assert compile_sentence(rule.to_text(), public) == rule
    return [int(code) for code in rule.codes(PreparedRows(rows, public))]


def reviews(*texts: str) -> list[dict[str, str]]:
    return [{"review": text} for text in texts]


def test_a_bare_condition_is_undefined_elsewhere_and_otherwise_makes_it_total() -> None:
    rows = reviews("Pure luxury!", "A bed.")
    sentence = 'If the text mentions "luxur*", the label is deceptive'
    assert codes(sentence + ".", REVIEWS, rows) == [0, -1]
    assert codes(sentence + "; otherwise truthful.", REVIEWS, rows) == [0, 1]


def test_clauses_go_in_order() -> None:
    rows = [{"math": "A", "num_publications": 0}, {"math": "A", "num_publications": 3},
            {"math": "F", "num_publications": 3}]  # fmt: skip
    sentence = (
        "If math is F, then rejected; if publications are at least 2 or the math grade is B, then "
        "admitted; otherwise rejected."
    )
    assert codes(sentence, STUDENTS, rows) == [1, 0, 1]


@pytest.mark.parametrize("text", ["", "?", "If", "If the text mentions", "Emotional reviews lie."])
def test_what_is_outside_the_grammar_has_a_reason(text: str) -> None:
    got = compile_sentence(text, REVIEWS)
    assert isinstance(got, NotExact) and got.reason
