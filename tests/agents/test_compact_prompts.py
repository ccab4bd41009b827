"""Checks the compact template: what stands in its prompts, line by line, and what does not.

Internals: prompts are pure functions of a view, and a session would show only some of the views.
"""

import pytest
from peirce import tasks
from peirce.agents.prompts.protocol import AIMS, HISTORIES, TEMPLATES, build_messages, prompt_hash
from peirce.records import (
    Agreement,
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    Problem,
    UsageError,
    Verdict,
    View,
)

SPACE = InputSet("S", ([987654],))
SHOWN = (Observation([3, 1], [1]), Observation([5], []))
FIRST = 'Rule as ("description", "def f(x): ..."):\n[3 1] -> [1]\n[5] -> []'
TAIL = Hypothesis("def f(x):\n    return x[1:]", "the tail")
LAST = Hypothesis("def f(x):\n    return x[-1:]", "")
ACCEPTED = PastAnswer("raw-1", (TAIL,), Verdict.ACCEPTED)
WRONG = PastAnswer("raw-2", (LAST,), Verdict.INCONSISTENT, "1 of 2 right")
UNREAD = PastAnswer("raw-3", (), Verdict.MALFORMED, "no tuple")
PROGRAMS = tasks.load_family("programs").words


def ask(*earlier, words=PROGRAMS, answer_format="tuple", shown=SHOWN, **options):
    view = View("p", "t", "programs", shown, {}, SPACE, earlier)
    return build_messages(view, words, answer_format=answer_format, template="compact", **options)


def text(*earlier, **options):
    (message,) = ask(*earlier, **options)
    assert message["role"] == "user"
    return message["content"]


def test_the_first_prompt_is_the_contract_and_a_line_an_observation():
    assert text() == FIRST


def test_earlier_hypotheses_are_a_line_each_and_another_is_asked_for():
    assert text(ACCEPTED, ACCEPTED) == f"{FIRST}\n- the tail\n- the tail\nanother:"


def test_without_a_description_the_function_stands_in_one_line():
    assert text(PastAnswer("", (LAST,), Verdict.ACCEPTED)).splitlines()[3] == (
        r"- def f(x):\n    return x[-1:]"
    )


def test_a_description_of_several_lines_is_one_line():
    several = PastAnswer("", (Hypothesis("c", "a\n\n  b"),), Verdict.ACCEPTED)
    assert text(several) == f"{FIRST}\n- a b\nanother:"


def test_malformed_answers_are_not_listed_and_change_nothing():
    assert text(UNREAD) == FIRST
    assert text(UNREAD, ACCEPTED, UNREAD) == text(ACCEPTED)


def test_a_better_one_is_asked_for_with_functions_and_all_that_is_said_of_answers():
    assert text(ACCEPTED, WRONG, UNREAD, aim="better").splitlines()[3:] == [
        r"- the tail def f(x):\n    return x[1:]",
        r"- def f(x):\n    return x[-1:]: 1 of 2 right",
        "- no tuple",
        "better:",
    ]


def test_a_chat_repeats_answers_as_they_came():
    turns = ask(ACCEPTED, WRONG, history="chat")
    assert [turn["content"] for turn in turns] == [
        FIRST, "raw-1", "another:", "raw-2", "1 of 2 right\nanother:",
    ]  # fmt: skip
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]


def test_a_chat_holds_no_turn_that_is_empty():
    turns = ask(PastAnswer("", (), Verdict.MALFORMED), history="chat")
    assert len(turns) == 3 and all(turn["content"].strip() for turn in turns)


def test_what_a_search_made_of_an_answer_is_told_after_it_in_a_chat():
    mended = PastAnswer("b", (TAIL,), Verdict.ACCEPTED, "all right", author="search")
    turns = ask(WRONG, mended, history="chat", aim="better")
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert "the tail" in turns[-1]["content"] and turns[-1]["content"].endswith("better:")


def test_several_are_asked_for_by_their_number():
    assert text(count=5) == f"{FIRST}\n5:"
    assert text(ACCEPTED, count=5).endswith("\n5 others:")
    assert text(ACCEPTED, count=5, aim="better").endswith("\n5 better:")


def test_tools_are_not_spoken_of():
    assert text(tools=True) == FIRST


@pytest.mark.parametrize("history", HISTORIES)
def test_the_sample_space_is_in_no_prompt(history):
    assert "987654" not in str(ask(ACCEPTED, WRONG, history=history))


@pytest.mark.parametrize("name", ["programs", "logic", "text"])
def test_every_family_has_compact_words_that_stay_what_they_are(name):
    family = tasks.load_family(name)
    brief = family.words.compact()
    assert type(brief.compact()) is type(brief)
    for form in family.answer_formats:
        contract = brief.contract(form)
        assert contract and "\n" not in contract and len(contract) < 160
        assert len(contract) * 3 < len(family.words.contract(form) + family.words.instructions)
        assert brief.schema(form) == family.words.schema(form)


def test_a_world_is_a_line_with_its_theory_before_it():
    theory = {
        "names": ["T"], "axioms": ["(forall x (implies (and (P x) (not (Ab x))) (Q x)))"],
        "signature": {"P": 1, "Q": 1, "R": 2}, "allowed": ["P", "R"], "regime": "partial",
    }  # fmt: skip
    world = {"id": "W", "domain": ["a", "b"], "true": {"P": [["a"]], "R": [["a", "b"]]},
             "unknown": {"Q": [["b"]]}}  # fmt: skip
    problem = Problem("p", "abd", "logic", (Observation(world, True),), (), {"theory": theory})
    rule = PastAnswer("", (Hypothesis("(P x)", "said"),), Verdict.ACCEPTED)
    words = tasks.problem_family(problem).words
    assert text(rule, words=words, answer_format="json", shown=problem.shown).splitlines() == [
        'Ab(x) as {"formula": "(and (... x) (not (... x)))", "description": "..."}:',
        "(forall x (implies (and (P x) (not (Ab x))) (Q x))) Ab of P R =, partial",
        "a b: P a; R a,b; ?Q b",
        "- (P x)",
        "another:",
    ]
    agreed = Agreement((True, False), ({}, {}), "ok", {"cost": 4, "bound": 1})
    said = words.compact().show_feedback(None, agreed)
    assert said == "valid in 1 of 2, cost 4, least 1"


def test_a_labelled_text_is_a_line_with_the_labels_before_it():
    shown = (Observation({"text": "so\n\n good"}, "yes"),)
    problem = Problem("p", "labels", "text", shown, (), {"labels": ["yes", "no"]})
    words = tasks.problem_family(problem).words
    lines = text(words=words, answer_format="list", shown=shown).splitlines()
    assert lines[0].startswith("Rule as 1. If the text")
    assert lines[1:] == ['LABEL: "yes", "no"', "so good -> yes"]
    agreed = Agreement((True, False, None), ({}, {}, {}), "ok", {})
    assert words.compact().show_feedback(None, agreed) == "1 of 2 right, no label for 1"


@pytest.mark.parametrize(
    ("marks", "got", "verdict", "said"),
    [
        ((True, True), ({"value": [1]}, {"value": []}), "ok", "2 of 2 right"),
        ((True, False), ({"value": [1]}, {"value": [5]}), "ok", "1 of 2 right; [5] -> [5] is wrong"),
        ((True, None), ({"value": [1]}, {"undefined": "IndexError"}), "ok",
         "1 of 2 right; [5] -> undefined: IndexError is wrong"),
        ((None, None), ({"undefined": "memory"},) * 2, "memory", "0 of 2 right; memory"),
    ],
)  # fmt: skip
def test_feedback_of_a_function_is_one_line(marks, got, verdict, said):
    view = View("p", "t", "programs", SHOWN, {}, SPACE)
    assert PROGRAMS.compact().show_feedback(view, Agreement(marks, got, verdict, {})) == said


def test_a_user_s_own_words_are_kept_and_ours_are_not():
    public = {
        "instructions": "A gauge turns\na length into a reading.",
        "pair": "{number}:\n{input} reads {output}",
        "equality": {"numbers": {"decimals": 1}},
    }
    shown = (Observation(1, 0.4),)
    words = tasks.problem_family(Problem("p", "own", "programs", shown, (), public)).words
    assert text(words=words, shown=shown).splitlines() == [
        FIRST.splitlines()[0],
        "A gauge turns a length into a reading. Before outputs are compared, numbers are rounded to"
        " 1 decimals.",
        "1: 1 reads 0.4",
    ]
    assert words.compact().compact().instructions == words.compact().instructions


def test_the_prompt_hash_names_the_template():
    hashes = {
        prompt_hash(words, form, aim, template)
        for words, form in ((None, ""), (PROGRAMS, "tuple"), (PROGRAMS, "json"))
        for aim in AIMS
        for template in TEMPLATES
        if (template, aim) != ("gear", "better")  # it has no request for a better hypothesis
    }
    assert len(hashes) == 15
    assert prompt_hash(PROGRAMS, "tuple") == prompt_hash(PROGRAMS, "tuple", template="full")


def test_another_template_and_a_family_without_compact_words_are_refused():
    class Words:
        instructions = "i"

    with pytest.raises(
        UsageError, match="unknown template 'short': it must be one of full, compact"
    ):
        prompt_hash(PROGRAMS, "tuple", template="short")
    with pytest.raises(UsageError, match="Words has no method compact"):
        prompt_hash(Words(), "tuple", template="compact")
