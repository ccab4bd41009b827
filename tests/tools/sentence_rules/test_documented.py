"""docs/reference/exact-sentences.md says what the grammar is: every sentence there is exact, or is not where it says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from peirce.tools.sentence_rules import NotExact, Rule, compile_sentence

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/exact-sentences.md"
PUBLIC: dict[str, Any] = {
    "reviews": {
        "labels": ["deceptive", "truthful"],
        "columns": {"review": {"kind": "text", "about": "A hotel review."}},
        "shape": "text",
    },
    "students": {
        "labels": ["admitted", "rejected"],
        "columns": {
            "math": {"kind": "choice", "about": "Student's grade in Mathematics", "values": list("ABCDF")},
            "applied_major": {
                "kind": "choice", "about": "The major the student applied for",
                "values": ["Science", "Medicine", "Engineering", "Arts", "Business", "Law"],
            },
            "num_publications": {"kind": "number", "about": "Number of publications"},
            "num_letters": {"kind": "number", "about": "Number of recommendation letters submitted"},
            "donated_to_school": {"kind": "truth", "about": "Whether the family donated to the school"},
            "criminal_record": {"kind": "truth", "about": "Whether the student has a criminal record"},
        },
        "shape": "fields",
    },
    "tweets": {
        "labels": ["first", "second"],
        "columns": {"first_tweet": {"kind": "text", "about": ""}, "second_tweet": {"kind": "text", "about": ""}},
        "shape": "pair",
        "description": "Predict which of two tweets will get more retweets.",
    },
}  # fmt: skip
EXAMPLES = [
    (block[1], line)
    for block in re.finditer(r"```text ([\w ]+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for line in block[2].splitlines()
]


def test_there_are_examples_of_all_kinds() -> None:
    assert {kind for kind, _ in EXAMPLES} == {*PUBLIC, "not exact"} and len(EXAMPLES) > 60


@pytest.mark.parametrize(("kind", "sentence"), EXAMPLES)
def test_a_documented_sentence_is_what_the_page_says(kind: str, sentence: str) -> None:
    if kind == "not exact":
        assert isinstance(compile_sentence(sentence, PUBLIC["reviews"]), NotExact)
        return
    rule = compile_sentence(sentence, PUBLIC[kind])
    assert isinstance(rule, Rule), rule
    assert compile_sentence(rule.to_text(), PUBLIC[kind]) == rule
