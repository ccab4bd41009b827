"""Checks what prompts say of labelled text: each shape's input, labels, columns, feedback, and that
the sentences given as examples of the exact forms are ones.

Internals: the words of a prompt are made for shapes of rows that stand in no file.
"""

import json

import pytest
from peirce.records import Agreement, Hypothesis, InputSet, Observation, View
from peirce.tasks.text.answers import parse_hypotheses
from peirce.tasks.text.words import ANSWER_FORMATS, TextWords, format_input, truncate_middle
from peirce.tools.sentence_rules import compile_sentence

TEXT = {
    "labels": ["truthful", "deceptive"],
    "columns": {"review": {"kind": "text"}},
    "shape": "text",
}
PAIR = {
    "labels": ["first", "second"],
    "columns": {"first_headline": {"kind": "text"}, "second_headline": {"kind": "text"}},
    "shape": "pair",
    "description": "Which headline is clicked more often?",
}
FIELDS = {
    "labels": ["admitted", "rejected"],
    "columns": {
        "math": {"kind": "choice", "values": ["A", "B"], "about": "grade in mathematics"},
        "publications": {"kind": "number", "about": ""},
        "veteran": {"kind": "truth"},
        "letter": {"kind": "text"},
    },
    "shape": "fields",
}
SHAPES = {"text": TEXT, "pair": PAIR, "fields": FIELDS}


@pytest.mark.parametrize("shape", SHAPES)
def test_instructions_name_every_label_and_the_exact_forms(shape):
    words = TextWords.from_public(SHAPES[shape])
    said = words.instructions
    assert all(f'"{label}"' in said for label in SHAPES[shape]["labels"])
    assert all(example in said for example in words.examples)
    assert SHAPES[shape].get("description", "") in said


def test_columns_stand_with_their_kinds_and_what_they_are():
    said = TextWords.from_public(FIELDS).about
    assert "- math (one of A, B): grade in mathematics" in said
    assert "- publications (number)" in said and "- veteran (true or false)" in said


def test_words_without_a_problem_say_what_a_hypothesis_is():
    assert "hypothesis" in TextWords().instructions and "Labels" not in TextWords().instructions


FILLED = {"LABEL": "{label}", "WORD": "late", "NUMBER": "2", "VALUE": "B"}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_examples_are_judged_without_a_model(shape):
    for example in TextWords.from_public(SHAPES[shape]).examples:
        filled = example.replace("COLUMN is at least", "publications is at least")
        for mark, said in {**FILLED, "COLUMN": "math"}.items():
            filled = filled.replace(mark, said.format(label=SHAPES[shape]["labels"][0]))
        rule = compile_sentence(filled, SHAPES[shape])
        assert hasattr(rule, "codes"), (filled, rule)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_example_names_a_label_or_a_value(shape):
    for example in TextWords.from_public(SHAPES[shape]).examples:
        named = [*SHAPES[shape]["labels"], *SHAPES[shape]["columns"]]
        assert not any(name in example for name in named)


@pytest.mark.parametrize("answer_format", ANSWER_FORMATS)
def test_the_contract_shows_what_is_read(answer_format):
    contract = TextWords().contract(answer_format)
    assert parse_hypotheses(contract, 2) == ["first hypothesis", "second hypothesis"]
    schema = TextWords().schema(answer_format)
    assert (schema is None) == (answer_format == "list")
    json.dumps(schema)


def test_an_input_of_one_text_stands_alone_and_others_by_column():
    assert format_input({"review": " Fine. "}) == "Fine."
    assert format_input({"math": "A", "publications": 2, "veteran": True}) == (
        "math: A; publications: 2; veteran: true"
    )
    long = "word " * 10
    assert format_input({"one": long, "two": "b"}) == f"one: {long.strip()}\n   two: b"
    assert format_input({}) == ""


def test_an_observation_stands_with_its_label_on_a_line_of_its_own():
    words = TextWords.from_public(TEXT)
    assert words.show_observation(3, Observation({"review": "Fine."}, "truthful")) == (
        "3. Fine.\n   label: truthful"
    )
    assert words.show_observation(1, Observation({"review": "a\nb"}, "x")).endswith("b\nlabel: x")


def view(count):
    rows = tuple(Observation({"review": f"review {n}"}, "truthful") for n in range(count))
    return View("p", "labels", "text", rows, TEXT, InputSet("S", ()))


def agreement(*got):
    marks = {"truthful": True, "deceptive": False}
    return Agreement(
        tuple(marks.get(one) for one in got),
        tuple({"value": one} if one in marks else {"undefined": one} for one in got),
    )


def test_feedback_names_wrong_rows_and_counts_those_that_it_does_not_apply_to():
    got = agreement("truthful", "deceptive", "does_not_apply", "does_not_apply")
    assert TextWords.from_public(TEXT).show_feedback(view(4), got) == (
        "The hypothesis is right on 1 of the 2 rows judged.\n"
        "It does not apply to 2 rows.\n"
        'Wrong on row 2: review 1\n   expected "truthful", predicted "deceptive"'
    )


def test_feedback_tells_unread_answers_from_rows_not_applied_to_and_is_bounded():
    got = agreement("unreadable", "does_not_apply", *["deceptive"] * 30)
    said = TextWords.from_public(TEXT).show_feedback(view(32), got)
    assert "unreadable (1), does not apply (1)" in said and "Wrong on 20 more." in said
    wrong = Agreement((False,), ({"undefined": "unreadable"},))
    assert "predicted none (unreadable)" in TextWords.from_public(TEXT).show_feedback(
        view(1), wrong
    )


def test_long_texts_are_cut_in_the_middle_of_a_feedback():
    assert len(truncate_middle("word " * 1000)) < 450 and truncate_middle("short") == "short"
    assert TextWords().show_hypothesis(Hypothesis("a sentence")) == "a sentence"
