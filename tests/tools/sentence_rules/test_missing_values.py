"""A label depends on a missing value exactly where two values in its place give two labels."""

from __future__ import annotations

from typing import Any

import pytest
from peirce.tools.sentence_rules import (
    PreparedRows,
    Rule,
    compile_sentence,
    missing_value_marks,
    rule_columns,
)

FIELDS: dict[str, Any] = {
    "labels": ["no", "yes"],
    "shape": "fields",
    "columns": {
        "tickets": {"kind": "number"},
        "plan": {"kind": "choice", "values": ["free", "pro"]},
        "note": {"kind": "text"},
    },
}
PAIR: dict[str, Any] = {
    "labels": ["first", "second"],
    "shape": "pair",
    "columns": {"text_1": {"kind": "text"}, "text_2": {"kind": "text"}},
}
VALUES: dict[str, tuple[Any, ...]] = {
    "tickets": (0, 4, 4.5, 9), "plan": ("free", "pro"), "note": ("a refund", "it rains a lot here"),
    "text_1": ("short", "a much longer one", "soup"), "text_2": ("soup", "a long one of words"),
}  # fmt: skip
SENTENCES = (
    ('If tickets is at most 4, the label is "no"; otherwise, the label is "yes".', {"tickets"}),
    ('If tickets is more than 4, the label is "yes"; otherwise, the label is "no".', {"tickets"}),
    ('If tickets is not more than 4, the label is "no".', {"tickets"}),
    ('If tickets is missing, the label is "yes"; otherwise, the label is "no".', {"tickets"}),
    ('If plan is "pro" and tickets is between 2 and 5, the label is "yes"; otherwise, "no".',
     {"plan", "tickets"}),
    ('If plan is "pro" or tickets is at least 5, the label is "yes".', {"plan", "tickets"}),
    ('If the text mentions "refund", the label is "yes"; if plan is "pro", the label is "yes";'
     ' otherwise, the label is "no".', {"note", "plan"}),
    ('If the text has more than 3 words, the label is "yes"; otherwise, the label is "no".',
     {"note"}),
    ('If the text starts with "it", the label is "yes".', {"note"}),
)  # fmt: skip


def compiled(sentence: str, public: Any) -> Rule:
    rule = compile_sentence(sentence, public)
    assert isinstance(rule, Rule), rule
    return rule


def filled(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The row with every combination of values in the places of its missing ones."""
    found = [row]
    for name in row:
        found = [
            {**one, name: value}
            for one in found
            for value in (VALUES[name] if one[name] is None else (one[name],))
        ]
    return found


def rows_of(public: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{}]
    for name in public["columns"]:
        found = [{**row, name: value} for row in found for value in (None, *VALUES[name])]
    return found


@pytest.mark.parametrize(("sentence", "columns"), SENTENCES)
def test_a_label_depends_on_a_missing_value_where_two_values_give_two_labels(
    sentence: str, columns: set[str]
) -> None:
    rule = compiled(sentence, FIELDS)
    assert rule_columns(rule, ("note",)) == columns
    rows = rows_of(FIELDS)
    marks = missing_value_marks(rule, PreparedRows(rows, FIELDS), tuple(FIELDS["columns"]))
    for row, mark in zip(rows, marks.tolist(), strict=True):
        labels = set(rule.codes(PreparedRows(filled(row), FIELDS)).tolist())
        if "is missing" in sentence:
            assert not mark
        else:
            assert mark == (len(labels) > 1), row


def test_the_text_that_wins_depends_on_a_missing_text() -> None:
    for sentence in ("The longer text wins.", 'The text that mentions "soup" wins.'):
        rule = compiled(sentence, PAIR)
        assert rule_columns(rule, ("text_1", "text_2")) == {"text_1", "text_2"}
        rows = rows_of(PAIR)
        marks = missing_value_marks(rule, PreparedRows(rows, PAIR), tuple(PAIR["columns"]))
        assert marks.tolist() == [None in row.values() for row in rows]


def test_only_the_named_columns_may_hold_any_value() -> None:
    rule = compiled(SENTENCES[4][0], FIELDS)
    rows = PreparedRows([{"tickets": None, "plan": "pro"}, {"tickets": 4, "plan": None}], FIELDS)
    assert missing_value_marks(rule, rows, ("tickets",)).tolist() == [True, False]
    assert missing_value_marks(rule, rows, ()).tolist() == [False, False]
