"""Checks that answers about labelled text are read as they are meant: lists of hypotheses without
the traps of the published readers, a judge's label, yes or no, the number of a pattern; and that no
text, however long or odd, stops the reading.

Internals: each reader of answers is called alone; a session calls one of them.
"""

import json
import time

import pytest
from peirce.tasks.text.answers import (
    NOT_APPLICABLE,
    parse_hypotheses,
    parse_judgement,
    parse_pattern_number,
    parse_sourced_hypotheses,
    parse_yes_no,
    strip_reasoning,
)

AB = ["truthful", "deceptive"]
TWO = ["Guests name a street.", "Guests praise all."]


@pytest.mark.parametrize(
    "text",
    [
        "1. Guests name a street.\n2. Guests praise all.",
        "1) Guests name a street.\n2) Guests praise all.",
        "(1) Guests name a street.\n(2) Guests praise all.",
        "**1.** Guests name a street.\n**2.** Guests praise all.",
        "**1. Guests name a street.**\n**2. Guests praise all.**",
        "{1. [Guests name a street.]\n2. [Guests praise all.]}",
        "{1. Guests name a street.\n2. Guests praise all.}",
        "1. **Hypothesis 1:** Guests name a street.\n2. **Hypothesis 2:** Guests praise all.",
        "Hypothesis 1: Guests name a street.\nHypothesis 2: Guests praise all.",
        "### 1. Guests name a street.\n\n### 2. Guests praise all.",
        "Here are two.\n\n1. Guests name\n   a street.\n\n2. Guests praise all.\n\nHope this helps!",
        "3. hypotheses:\n1. Guests name a street.\n2. Guests praise all.",
        "Here are 2. hypotheses: 1. Guests name a street. 2. Guests praise all.\n"
        "1. Guests name a street.\n2. Guests praise all.",
        "1. Guests name a street. 2. Guests praise all.",
        "<think>\n1. I might say\n2. this\n3. and that\n</think>\n1. Guests name a street.\n2. Guests praise all.",
        "1. I might say\n2. this</think>1. Guests name a street.\n2. Guests praise all.",
        "Draft:\n1. one\n2. two\n\nFinal:\n1. Guests name a street.\n2. Guests praise all.",
        "1. Guests name a street.\n2. Guests praise all.\n1. Guests name a street.",
        "- Guests name a street.\n- Guests praise all.",
        "* Guests name a street.\n* Guests praise all.",
        '["Guests name a street.", "Guests praise all."]',
        '```json\n["Guests name a street.", "Guests praise all."]\n```',
        '{"hypotheses": ["Guests name a street.", "Guests praise all."]}',
        'Sure:\n{"hypotheses": [{"hypothesis": "Guests name a street."}, {"text": "Guests praise all."}]}',
        '{"hypothesis": "Guests name a street."}\n{"hypothesis": "Guests praise all."}',
        '{"hypotheses": ["Guests name a street.", "Guests praise all.", "cut of',
        '1. "Guests name a street."\n2. “Guests praise all.”',
        "1. Guests name a street.\n\n---\n\n2. Guests praise all.",
        "1. Guests name a street.\r\n2. Guests praise all.\r\n",
    ],
)
def test_a_list_is_read_in_every_form(text):
    assert parse_hypotheses(text, 2) == TWO


def test_years_and_decimals_split_no_item():
    text = "1. It was built in 2013. Second, a rating of 0.5. is low.\n2. In 1998. or\n2013. it closed."
    assert parse_hypotheses(text, 10) == [
        "It was built in 2013. Second, a rating of 0.5. is low.",
        "In 1998. or 2013. it closed.",
    ]


def test_more_items_than_asked_for_keep_the_first_and_repeats_count_once():
    text = "\n".join(f"{n}. item {max(n, 2)}" for n in range(1, 13))
    assert parse_hypotheses(text, 10) == [f"item {n}" for n in range(2, 12)]
    assert parse_hypotheses(text, 0) == []


def test_a_list_within_an_item_stays_in_it():
    text = "1. Both hold:\n   1. one\n   2. two\n2. Next\na. more\nb. less"
    assert parse_hypotheses(text, 5) == ["Both hold: 1. one 2. two", "Next a. more b. less"]


def test_a_list_of_words_within_an_item_is_no_answer_of_its_own():
    text = '1. The text mentions one of ["pool", "bar"].\n2. It mentions luxur* or **spa**.'
    assert parse_hypotheses(text, 2) == [
        'The text mentions one of ["pool", "bar"].',
        "It mentions luxur* or spa.",
    ]


def test_a_bare_sentence_counts_where_one_is_asked_for():
    assert parse_hypotheses("If the text is long, the label is x.", 1) == [
        "If the text is long, the label is x."
    ]
    assert parse_hypotheses("Hypothesis: If the text is long, the label is x.", 1) == [
        "If the text is long, the label is x."
    ]
    assert parse_hypotheses("I have no idea.", 5) == []
    assert parse_hypotheses("", 1) == [] and parse_hypotheses("<think>1. a", 3) == []


def test_sources_and_quotes_are_read_off_lists_and_json():
    text = (
        '1. Liars say less. [paper 2: "fewer spatial words"]\n'
        "2. They say I. [paper 1]\n3. They praise (all of it).\n4. Long [source 3, “so (they) say”]."
    )
    said = [
        ("Liars say less.", 2, "fewer spatial words"),
        ("They say I.", 1, ""),
        ("They praise (all of it).", None, ""),
        ("Long", 3, "so (they) say"),
    ]
    assert parse_sourced_hypotheses(text, 9) == said
    told = [{"hypothesis": h, "source": n, "quote": q} for h, n, q in said]
    assert parse_sourced_hypotheses(json.dumps({"hypotheses": told}), 9) == said
    told = [{"hypothesis": h, "source": f"paper {n}", "quote": None} for h, n, q in said[:1]]
    assert parse_sourced_hypotheses(json.dumps(told), 9) == [("Liars say less.", 2, "")]


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: truthful",
        "**Final answer:** truthful",
        "**Final Answer: Truthful**",
        "final answer: TRUTHFUL.",
        "{Final answer: truthful}",
        "Final answer: {truthful}",
        "Final answer: [truthful]",
        'Final answer: "truthful".',
        "Final answer: `truthful`",
        "Final answer:\n\n**truthful**",
        "Final answer: truthful\nThe review is deceptive in no way.",
        "Final answer: truthful. It does not read as deceptive.",
        "Final answer: the review is truthful.",
        "Final answer: truthful, not deceptive",
        "Final answer: \\boxed{truthful}",
        "Final answer: deceptive. Wait.\nFinal answer: truthful",
        "It may be deceptive.\nAnswer: truthful",
        "<think>Final answer: deceptive</think>truthful",
        "truthful",
        " Truthful. ",
        "Some say deceptive.\n\ntruthful",
        '{"final_answer": "truthful"}',
        '{"reason": "deceptive words", "label": "truthful"}',
        "The final answer is truthful.",
        "Label: truthful",
        "I think this one is truthful.",
        "Final answer: truthful<|im_end|>",
        "Final answer: truthful. That is my final answer.",
        "Final answer (one word): truthful",
        "truthful\n\nThat is my final answer.",
        "### Final Answer\n\ntruthful",
        "Label: truthful\nReason: my answer is led by how deceptive ones sound",
        '{"final_answer": "truthful", "reason": "deceptive ones say more"}',
        "Final answer: truthful because deceptive ones say more",
        "Final answer: it is truthful rather than deceptive",
        "Final answer: not deceptive but truthful",
    ],
)
def test_a_label_is_read_through_what_stands_around_it(text):
    assert parse_judgement(text, AB) == "truthful"


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: truthful or deceptive",
        "Final answer: truthful/deceptive",
        "Final answer: not truthful",
        "Final answer: unknown",
        "Final answer:",
        "Final answer: truthfulness",
        "",
        "  \n ",
        "No idea.",
        "It is truthful here.\nIt is deceptive there.\nHard to say.",
        "<think>truthful",
        "does not apply, so truthful",
        "Final answer: truthful\nFinal answer: unknown",
        "Final answer: neither truthful nor deceptive",
        "Final answer: cannot be truthful",
        "Final answer: LABEL",
    ],
)
def test_an_answer_without_one_label_is_unread(text):
    assert parse_judgement(text, AB) is None


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: does not apply",
        "Final answer: **Does not apply.**",
        "It speaks of truthful reviews.\nFinal answer: doesn't apply",
        "Final answer: the hypothesis doesn’t apply",
        "N/A",
        "Final answer: not applicable",
    ],
)
def test_a_hypothesis_that_does_not_apply_is_said_to(text):
    assert parse_judgement(text, AB) is NOT_APPLICABLE


@pytest.mark.parametrize(
    ("said", "labels", "label"),
    [
        ("Final answer: has stress", ["has stress", "no stress"], "has stress"),
        ("Final answer: No  Stress!", ["has stress", "no stress"], "no stress"),
        ("Final answer: stress", ["stress", "no stress"], "stress"),
        ("Final answer: no stress", ["stress", "no stress"], "no stress"),
        ("Final answer: there is no stress here", ["stress", "no stress"], "no stress"),
        ("Final answer: outdoor enthusiast", ["Outdoor Enthusiast", "Other"], "Outdoor Enthusiast"),
        ("Final answer: outdoor_enthusiast", ["Outdoor Enthusiast", "Other"], "Outdoor Enthusiast"),
        ("Final answer: 1", ["0", "1"], "1"),
        ("Final answer: 1. It has 0 errors", ["0", "1"], "1"),
        ("Final answer: A", ["A", "B"], "A"),
        ("Final answer: a text that is B", ["A", "B"], "B"),
        ("Final answer: positive", ["negative", "non-positive", "positive"], "positive"),
        ("Final answer: non-positive", ["negative", "non-positive", "positive"], "non-positive"),
        ("Final answer: the first headline", ["first", "second"], "first"),
        ("Final answer: not stressed", ["stressed", "not stressed"], "not stressed"),
        ("Final answer: does not apply", ["does not apply", "x"], "does not apply"),
        ("Final answer: C++.", ["C++", "C"], "C++"),
        ("Final answer: C.", ["C++", "C"], "C"),
        ("Final answer: +", ["+", "-"], "+"),
        ("Final answer: anything", [], None),
        ("Final answer: a long text", ["A", "B"], None),
        ("Final answer: label A.", ["A", "B"], "A"),
        ("Final answer: (B)", ["A", "B"], "B"),
        ("Final answer: -1", ["-1", "1"], "-1"),
        ("Final answer: -1", ["0", "1"], None),
        ("Final answer: the label is 10.5", ["10", "5"], None),
        ("Final answer: the label is 10.", ["10", "5"], "10"),
        ("Final answer: >50K per year", ["<=50K", ">50K"], ">50K"),
        ("Final answer: non-positive", ["positive", "negative"], None),
        ("Final answer: no stress", ["stress", "calm"], None),
        ("Final answer: Straße", ["STRASSE", "Weg"], "STRASSE"),
        ("Final answer: high_risk", ["high-risk", "high risk!x"], "high-risk"),
        (
            "Final answer: Headline 2 has more clicks than Headline 1.",
            [
                "Headline 1 has more clicks than Headline 2",
                "Headline 2 has more clicks than Headline 1",
            ],
            "Headline 2 has more clicks than Headline 1",
        ),
    ],
)
def test_labels_within_labels_and_odd_ones_are_told_apart(said, labels, label):
    assert parse_judgement(said, labels) == label


@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no"],
        ["a b", "a-b", "a_c"],
        ["1", "1.0", "10", "-1"],
        ["funny", "not funny", "Not at all funny"],
        ["N/A", "does not apply", "unknown", "none"],
        ["because", "is", "as"],
        ["No. 1", "No. 2"],
        ["<=50K", ">50K"],
        ["C", "C++", "C#"],
        ["+", "-", "?"],
        ["日本語", "English", "Español"],
        ["has stress", "no stress"],
        ["x" * 900, "y"],
    ],
)
def test_every_label_comes_back_from_every_form(labels):
    forms = [
        "Final answer: {}",
        "**Final answer:** {}.",
        "{}",
        '{{"label": "{}"}}',
        "Reason.\n[{}]",
    ]
    for form in forms:
        assert [parse_judgement(form.format(label), labels) for label in labels] == labels


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Final answer: yes", True),
        ("final answer: Yes", True),
        ("Final Answer: **No**.", False),
        ("No.", False),
        ("Yes, it speaks of pools.", True),
        ("There is no pool.\nFinal answer: yes", True),
        ("maybe", None),
        ("Final answer: yes or no", None),
        ("Final answer: no, the hypothesis does not apply", False),
        ("Final answer: Yes - there is no pool", True),
        ("Final answer: yes, there is no pool", True),
        ("", None),
    ],
)
def test_yes_and_no_are_read(text, meant):
    assert parse_yes_no(text) is meant


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Chosen pattern: 2", 2),
        ("Chosen Pattern: Pattern 2.", 2),
        ("chosen pattern: pattern <2>.", 2),
        ("**Chosen pattern:** Pattern #2", 2),
        ("Chosen pattern: Pattern 1\nno:\nChosen pattern: Pattern 2", 2),
        ("Pattern 1 is far off. I take pattern 2", 2),
        ("2", 2),
        ("Chosen pattern: Pattern 0", None),
        ("Chosen pattern: 4", None),
        ("Chosen pattern: 99999999999999999", None),
        ("none", None),
        ("", None),
    ],
)
def test_a_pattern_outside_of_those_shown_is_none(text, number):
    assert parse_pattern_number(text, 3) == number


def hostile(part: float) -> dict[str, str]:
    """Texts of up to a million characters, each this part as long."""

    def n(count: int) -> int:
        return int(part * count)

    return {
        "words": "word " * n(10_000),
        "one line": "a" * n(1_000_000),
        "numbers": "1. " * n(300_000),
        "lines of numbers": "1.\n" * n(300_000),
        "a long list": "\n".join(f"{n}. item {n}" for n in range(1, n(60_000))),
        "braces": "{" * n(1_000_000),
        "brackets": "[" * n(1_000_000),
        "nested": '{"hypotheses": ' + "[" * n(500_000),
        "quotes": '"' * n(1_000_000),
        "backslashes": "\\" * n(1_000_000),
        "json strings": '{"hypotheses": [' + '"a", ' * n(200_000),
        "stars": "*" * n(1_000_000),
        "star pairs": "** " * n(300_000),
        "blanks": " " * n(1_000_000),
        "lines": "\n" * n(1_000_000),
        "dashes": "- " * n(500_000),
        "thoughts": "<think>" * n(150_000),
        "ended thoughts": "</think>" * n(150_000),
        "answers": "final answer: " * n(70_000),
        "labels": "truthful deceptive " * n(50_000),
        "not": "not truthful " * n(70_000),
        "patterns": "pattern 1 " * n(100_000),
        "sources": "1. a " + "[paper 1: " * n(100_000),
        "open quote": '1. a [paper 1: "' + "x " * n(400_000),
        "surrogates": "\ud800" * n(100_000),
        "nul": "\0" * n(100_000),
        "digits": "9" * n(1_000_000),
        "digits at lines": "99999. \n" * n(100_000),
        "a title of blanks": "Hypothesis" + " " * n(500_000) + "x",
        "a source of blanks": "1. a [paper" + " " * n(500_000) + "x",
        "escaped quotes": '{"hypotheses": ["' + '\\"' * n(300_000) + "\\",
        "open bold": "1. " + "**a " * n(200_000),
        "chosen blanks": "chosen" + " " * n(500_000),
        "blank lines": "1. a\n" + " \n" * n(300_000) + "b",
        "not a label": "Final answer: " + "not " * n(250_000),
        "labels in one line": "Final answer: " + "truthful " * n(100_000),
        "quoted": "Final answer: " + "'a" * n(400_000),
        "newlines after": "final answer:" + "\n" * n(1_000_000),
        "superscripts": "¹. a\n٣. b\n" * n(50_000),
    }


WHOLE, TENTH = hostile(1), hostile(0.1)


@pytest.mark.parametrize("texts", [TENTH, pytest.param(WHOLE, marks=pytest.mark.soak)],
                         ids=["a tenth", "whole"])  # fmt: skip
@pytest.mark.parametrize("name", WHOLE)
def test_no_text_stops_the_reading(name, texts):
    """With every change of a tenth of the length, whole in `make soak`: in time that grows with the
    square of the length the tenth would take hours too."""
    text = texts[name]
    started = time.process_time()
    for count in (1, 10):
        assert len(parse_hypotheses(text, count)) <= count
        assert len(parse_sourced_hypotheses(text, count)) <= count
    parse_judgement(text, AB)
    parse_yes_no(text)
    parse_pattern_number(text, 3)
    assert time.process_time() - started < 60  # in a square of the length it would be days
    assert isinstance(strip_reasoning(text), str)
