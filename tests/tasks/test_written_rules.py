"""What a model writes of a topic: read whatever its form, and held to the rules of each part.

Internals: the rules of each part are held to drafts that no model wrote.
"""

from __future__ import annotations

import pytest
from peirce.records import DataError
from peirce.tasks.text.generation import topic_parsers as rules
from peirce.tasks.text.generation.topic_draft import Definition, Draft, Template, WrittenPhrase
from peirce.tools.sentence_rules import tokenize

LABELS = ("stays", "moves out")


def draft() -> Draft:
    """Two types of two phrases, and a template."""
    made = Draft("notes", "Notes to a landlord.", [Definition(one) for one in LABELS])
    made.types = [Definition("complaint"), Definition("next_step")]
    made.phrases = [
        [WrittenPhrase("reports a dripping tap", "a dripping tap", 0),
         WrittenPhrase("dislikes noisy neighbours", "noisy neighbours", 1)],
        [WrittenPhrase("packs cardboard boxes", "cardboard boxes", 1),
         WrittenPhrase("paints the hall", "the hall", 0)],
    ]  # fmt: skip
    made.templates = [Template(("Dear landlord, I ", ". Soon I'll be ", ", as you know."), (0, 1))]
    return made


def faults(found: rules.ParsedItems[object]) -> str:
    assert not found.valid
    return " | ".join(found.faults)


# --- labels and types -----------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "1. Quiet tenant: pays and stays\n2. Loud tenant: has parties",
        "Sure, here are two labels:\n\n1. **Quiet tenant** - pays and stays\n2. **Loud tenant**: has parties",
        '1) "Quiet tenant" – pays and stays\n2) "Loud tenant" – has parties\n\nLet me know!',
        "- Quiet tenant: pays and stays\n- Loud tenant: has parties",
        '["Quiet tenant: pays and stays", "Loud tenant: has parties"]',
    ],
)
def test_labels_are_read_in_the_forms_that_models_write(said: str) -> None:
    found = rules.parse_labels(said, Draft("n", "a"), 2)
    assert [one.name for one in found.valid] == ["Quiet tenant", "Loud tenant"]
    assert found.valid[0].about == "pays and stays"


def test_labels_that_a_rule_cannot_name_are_sent_back() -> None:
    said = "1. Stays.\n2. yes, no\n3. one two three four five six\n4. fine\n5. FINE"
    found = rules.parse_labels(said, draft(), 5)
    assert [one.name for one in found.valid] == ["fine"]
    assert [one.split(": ")[1][:24] for one in found.faults] == [
        "there is such a label al",
        "a label has letters, dig",
        "a label has at most 5 wo",
        "there is such a label al",
    ]


def test_names_of_types_become_one_word() -> None:
    said = "1. [Policy Stance]: what is favored\n2. mood: how\n3. Moves-out: when\n4. template: x\n5. Über: y"
    found = rules.parse_types(said, draft(), 5)
    assert [one.name for one in found.valid] == ["policy_stance", "mood"]
    assert len(found.faults) == 3


# --- phrases --------------------------------------------------------------------------


def test_words_that_stay_are_those_in_brackets_else_all_but_the_first() -> None:
    made = draft()
    made.phrases[1] = []
    said = '1. **calls [the plumber]** | Stays\n2. "sells old furniture" | Moves Out.'
    found = rules.parse_phrases(said, made, 1, 2)
    assert [(one.text, one.core, one.expected_label) for one in found.valid] == [
        ("calls the plumber", "the plumber", 0),
        ("sells old furniture", "old furniture", 1),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "calls [the plumber] - moves out",
        "calls [the plumber]: **Moves out**",
        "calls [the plumber] → moves out",
        "calls [the plumber] (moves out)",
        r"calls \[the plumber\] | moves out",
        "calls **the plumber** – moves out",
    ],
)
def test_a_label_may_stand_after_other_marks_than_a_bar(line: str) -> None:
    made = draft()
    made.phrases[1] = []
    (one,) = rules.parse_phrases(f"1. {line}", made, 1, 2).valid
    assert (one.core, one.expected_label) == ("the plumber", 1)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("thinks of Dr. [the plumber] | stays", "a part of a sentence"),
        ("mends [a dripping tap] | stays", "share the words in brackets"),
        ("has [dripping] | moves out", "share the words in brackets"),
        ("fixes a dripping tap [quickly] | stays", "share the words in brackets"),
        ("calls [the] [plumber] | stays", "one pair of square brackets"),
        ("calls [the plumber] | goes", '"goes" is no label'),
        ("calls [the plumber]", "no label stands there"),
        ("calls the man who is said to be [a plumber] | stays", "outside the brackets"),
        ("calls [one two three four five six seven eight nine] | stays", "at most 14 words"),
        ("makes a [complaint] | stays", 'the name of the type "complaint"'),
        ("calls [plumb*] | stays", "letters, digits"),
    ],
)
def test_a_phrase_that_the_judge_could_not_tell_apart_is_sent_back(line: str, why: str) -> None:
    made = draft()
    made.phrases[1] = []
    assert why in faults(rules.parse_phrases(f"1. {line}", made, 1, 2))


def test_the_phrases_of_a_type_suggest_every_label() -> None:
    made = draft()
    made.phrases[1] = []
    said = (
        "1. calls [the plumber] | stays\n2. waters [the lawn] | stays\n3. rents [a van] | moves out"
    )
    found = rules.parse_phrases(said, made, 1, 2)
    assert [one.core for one in found.valid] == ["the plumber", "a van"]
    assert "has to suggest moves out" in found.faults[0]


# --- templates ------------------------------------------------------------------------


def test_a_template_has_each_slot_once_and_is_whole_again() -> None:
    text = "Well, since I [Next Step], {so} it is; and [complaint] is all that I’ll add."
    found = rules.parse_templates(f"1. {text}", draft(), 1)
    (one,) = found.valid
    assert one.slots == (1, 0)
    assert one.render(["complaint", "next_step"]) == (
        "Well, since I [next_step], {so} it is; and [complaint] is all that I'll add."
    )
    assert one.to_format_string(3).count("{{so}}") == 1 and "{0.t3}" in one.to_format_string(3)
    assert one.split_at_slot(0, draft().kinds)[1] == " is all that I'll add."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Well, since I [next_step] it is and that is all that I will add.", "it lacks [complaint]"),
        ("I [next_step] and [complaint] and [next_step], which is all that I say.", "more than once"),
        ("I [next_step] and [complaint] and [mood], which is all that I say.", "[mood] is no type"),
        ("I have to say once more that I [next_step] [complaint] these days.", "between two slots"),
        ("I [next_step] and [complaint].", "at least 8 words"),
        ("In the hall I [next_step] and [complaint], as I said before to you.", '"the hall"'),
        ("Dear landlord, I [complaint]. Soon I'll be [next_step], as you know!", "already"),
    ],
)  # fmt: skip
def test_a_template_that_breaks_a_rule_is_sent_back(text: str, why: str) -> None:
    assert why in faults(rules.parse_templates(f"1. {text}", draft(), 1))


# --- forms ----------------------------------------------------------------------------

BEFORE, AFTER = "Dear landlord, I [complaint]. Soon I'll be ", ", as you know."


def forms(*lines: str) -> rules.ParsedItems[tuple[int, str]]:
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(lines, 1))
    return rules.parse_forms(said, draft(), 0, 1, 2)


def test_a_form_is_what_stands_in_the_slot_whatever_the_order() -> None:
    found = forms(
        f"{BEFORE}[painting the hall]{AFTER}",
        "**Dear landlord, I [complaint]. Soon I’ll be packing cardboard boxes, as you know.**",
    )
    assert found == rules.ParsedItems(((0, "packing cardboard boxes"), (1, "painting the hall")))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{BEFORE}[painting the whole hall]{AFTER}", "has to stand in it, word for word"),
        (f"{BEFORE}[painting the hall], as we know.", "not as it was given"),
        (f"Dear landlord, I [reports]. Soon I'll be [painting the hall]{AFTER}", "not as it was"),
        (f"{BEFORE}[not painting the hall]{AFTER}", 'with "not" it says the contrary'),
        (f"{BEFORE}[painting the hall after work in great haste]{AFTER}", "adds more than 4 words"),
        (f"{BEFORE}[painting the hall. Really]{AFTER}", "a part of a sentence"),
        (f"{BEFORE}[painting the hall for noisy neighbours]{AFTER}", "another phrase"),
        (f"{BEFORE}[]{AFTER}", "has to stand in it"),
    ],
)
def test_a_form_that_breaks_a_rule_is_sent_back(line: str, why: str) -> None:
    assert why in faults(forms(line))


def test_dashes_are_alike_in_the_text_around_a_slot() -> None:
    made = draft()
    made.templates = [Template(("Well – I ", " it is: ", " - as you know."), (0, 1))]
    said = "1. Well - I [report a dripping tap] it is: [next_step] — as you know."
    assert rules.parse_forms(said, made, 0, 0, 1).valid == ((0, "report a dripping tap"),)


def test_a_form_at_the_beginning_of_a_sentence_has_a_capital() -> None:
    made = draft()
    made.templates = [Template(("", " is on my list. ", " was yesterday, as you know."), (0, 1))]
    said = "1. [reporting a dripping tap] is on my list. [next_step] was yesterday, as you know."
    assert rules.parse_forms(said, made, 0, 0, 1).valid == ((0, "Reporting a dripping tap"),)
    said = "1. [complaint] is on my list. painting the hall was yesterday, as you know."
    assert rules.parse_forms(said, made, 0, 1, 1).valid == ((1, "Painting the hall"),)


# --- the whole ------------------------------------------------------------------------


def test_a_topic_whose_texts_hold_another_phrase_is_refused() -> None:
    made = draft()
    made.forms = {(0, n): one.text for n, one in enumerate([*made.phrases[0], *made.phrases[1]])}
    topic = made.build_topic()
    assert topic.fill_template(topic.templates[0], (0, 3)) == (
        "Dear landlord, I reports a dripping tap. Soon I'll be paints the hall, as you know."
    )
    made.forms[0, 2] = "packs cardboard boxes in the hall"
    with pytest.raises(DataError, match="has 'the hall': Dear landlord"):
        made.build_topic()


HOSTILE = (
    "", "1.", "1. |", "1. [", "1. []|[]", "[[[[" * 500, "1. " + "a " * 200_000, "\0" * 99,
    "\n".join(f"{n}. [x] | stays" for n in range(1, 3_000)),
    '{"hypotheses": [1, null, {"text": "[a] | stays"}]}',
)  # fmt: skip


@pytest.mark.parametrize("said", HOSTILE, ids=lambda said: f"{said[:8]!r} {len(said)}")
def test_no_answer_makes_a_reader_raise(said: str) -> None:
    made = draft()
    rules.parse_labels(said, made, 3)
    rules.parse_types(said, made, 4)
    rules.parse_phrases(said, made, 0, 5)
    rules.parse_templates(said, made, 4)
    rules.parse_forms(said, made, 0, 0, 5)


def test_runs_are_found_as_the_judge_finds_them() -> None:
    assert rules.contains_tokens(tokenize("the hall"), tokenize("In THE hall."))
    assert not rules.contains_tokens(tokenize("the hall"), tokenize("the, hall hallway"))
