"""The three scores against values worked by hand, and what they have to be of clear cases.

Internals: the parts that scores are made of are compared one by one.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from peirce.records import UsageError
from peirce.tools.discovery import (
    ExactScores,
    InputSpace,
    compile_truth,
    score_as_defined,
    score_as_released,
    score_exact,
)
from peirce.tools.discovery.identifiability import find_identified
from peirce.tools.discovery.overlap import complete_rule
from peirce.tools.discovery.rule_cases import split_into_cases
from peirce.tools.sentence_rules import PreparedRows, Rule

sys.path.insert(0, str(Path(__file__).parent))
from made import rule, students, texts

NAN = float("nan")
TRUE = (
    "Students with an A in math will be admitted.",
    "Students with more than 3 papers will be admitted.",
    "If english is one of B, C, the label is admitted.",
)
JUNK = [f"If math is {a} and english is {b}, the label is rejected." for a in "BC" for b in "ADF"]


def scored(truths: list[str] | tuple[str, ...], bank: list[str] | tuple[str, ...]) -> ExactScores:
    problem = students()
    found = score_exact(truths, bank, InputSpace(problem), problem.public)
    assert found is not None
    return found


# --- released and paper -----------------------------------------------------------


def test_two_truths_of_which_one_is_matched_with_a_half_and_three_quarters() -> None:
    found = score_as_released(
        np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.5, 0.75], [NAN, NAN]])
    )
    assert (found.fdr, found.rc, found.hdr, found.missing) == (0.5, 0.75, 0.375, 0)


def test_released_counts_no_guess_against_a_bank() -> None:
    few = score_as_released(np.array([[1.0]]), np.array([[0.5]]))
    many = score_as_released(np.array([[1.0, 1.0, 0.0]]), np.array([[0.5, 0.25, NAN]]))
    assert (few.fdr, few.rc, few.hdr) == (many.fdr, many.rc, many.hdr) == (1, 0.5, 0.5)


def test_what_could_not_be_read_is_missing_and_no_zero() -> None:
    matches = np.array([[1.0, NAN], [1.0, 1.0]])
    found = score_as_released(matches, np.array([[NAN, NAN], [1.0, 0.5]]))
    assert (found.fdr, found.rc, found.hdr, found.missing) == (1.0, 1.0, 1.0, 2)


def test_an_empty_bank_is_zero_and_no_truth_is_refused() -> None:
    empty = score_as_released(np.zeros((2, 0)), np.zeros((2, 0)))
    assert (empty.fdr, empty.rc, empty.hdr) == (0, 0, 0)
    nothing = score_as_defined(np.eye(2), np.zeros((0, 2)), np.zeros((2, 0)))
    assert (nothing.fdr, nothing.rc, nothing.hdr) == (0, 0, 0)
    with pytest.raises(UsageError):
        score_as_released(np.zeros((0, 2)), np.zeros((0, 2)))


def test_the_paper_s_score_counts_variables() -> None:
    true = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first is about two of the three
    about = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    ratings = np.array([[0.5, NAN], [NAN, 1.0]])
    found = score_as_defined(true, about, ratings)
    assert found.fdr == pytest.approx(2 / 3) and found.rc == 0.75
    assert found.hdr == pytest.approx(0.5)
    by_sentence = score_as_released(np.array([[1.0, 0.0], [0.0, 1.0]]), ratings)
    assert (by_sentence.fdr, by_sentence.hdr) == (1, 0.75)


def test_the_paper_s_ratings_are_of_sentences_about_the_variable_and_a_mean_of_truths() -> None:
    true, about = np.array([[1.0], [1.0]]), np.array([[1.0], [0.0]])
    found = score_as_defined(
        true, about, np.array([[1.0, 1.0], [0.5, 1.0]])
    )  # the second is not about it
    assert (found.fdr, found.rc) == (1, 0.75)


# --- exact -----------------------------------------------------------------------


def test_the_true_sentences_score_one_in_all_three() -> None:
    found = scored(TRUE, TRUE)
    assert (found.fdr, found.rc, found.hdr, found.precision, found.identical) == (1, 1, 1, 1, 1)
    assert found.released.hdr == found.paper.hdr == 1


def test_one_sentence_of_all_cases_says_what_one_sentence_a_case_says() -> None:
    whole = "If math is A, admitted; if papers is at least 4, admitted; if english is B or C, admitted; otherwise rejected."
    cases = scored([whole], TRUE)
    sentence = scored(TRUE, [whole])
    assert cases.hdr == sentence.hdr == 1 == sentence.precision
    assert len(cases.pairs) == len(sentence.pairs) == 3


def test_every_case_of_a_sentence_has_its_match() -> None:
    whole = "If math is A, admitted; if papers is at least 4, admitted; otherwise rejected."
    found = scored([whole], [whole])
    assert [pair.overlap for pair in found.pairs] == [1, 1]


def test_exact_rules_rate_by_quarters() -> None:
    found = scored(TRUE[:1], ["If math is A and donated is true, the label is admitted."])
    assert 0.6 < found.rc < 0.65 and found.released.rc == found.paper.rc == 0.5


def test_guesses_lower_precision_and_find_nothing() -> None:
    alone, among = scored(TRUE, TRUE[:1]), scored(TRUE, [TRUE[0], *JUNK])
    assert alone.hdr == pytest.approx(1 / 3) and alone.precision == 1
    assert among.identical == pytest.approx(1 / 3)
    assert among.precision == 0.5  # the guesses together say one thing more
    three = [
        "If math is B and english is A, the label is admitted.",
        "If papers is 0 and donated is true, the label is admitted.",
    ]
    false = scored(TRUE, [TRUE[0], *JUNK, *three])
    assert false.precision is not None and false.precision < 0.35


def test_a_sentence_finds_every_truth_that_it_includes_without_saying_more() -> None:
    truths = ["If math is A, the label is admitted.", "If math is A and donated is true, admitted."]
    found = scored(truths, ["If math is A, the label is admitted."] * 3)
    assert (found.fdr, found.rc, found.precision) == (1, 1, 1)
    # The second truth alone says less than the sentence.
    assert 0 < scored(truths[1:], truths[:1]).hdr < 1


def test_one_thing_in_other_words_is_no_guess() -> None:
    again = [
        "If math is not A, the label is rejected.",
        "If math is not one of B, C, D, F, admitted.",
    ]
    found = scored(TRUE[:1], [TRUE[0], *again])
    assert (found.hdr, found.precision) == (1, 1)


def test_a_finding_that_two_true_sentences_say_is_one() -> None:
    both = [TRUE[0], "If math is not A, the label is rejected."]
    found = scored(both, TRUE[:1])
    assert (found.hdr, len(found.pairs), len(found.rules)) == (1, 1, 1)


def test_two_truths_that_say_the_same_are_one_to_find() -> None:
    sides = ["If math is A, the label is admitted.", "If math is not A, the label is rejected."]
    for bank in (sides, sides[:1], sides[1:]):
        found = scored(sides, bank)
        assert (len(found.pairs), found.hdr, found.precision, found.identical) == (1, 1, 1, 1)
    # Of three labels the middle one is said by both others, which say two things.
    problem = texts(["red", "blue"], ["in", "out", "away"])
    some = [
        'If the text mentions "red", in; otherwise out.',
        'If the text mentions "red", in.',
        'If the text mentions "red", in; if the text does not mention "red", out.',
    ]
    found_all = score_exact(some[1:], some, InputSpace(problem), problem.public)
    assert found_all is not None and (found_all.hdr, found_all.precision) == (1, 1)


def test_a_contradiction_shares_the_variable_and_is_worth_nothing() -> None:
    found = scored(TRUE[:1], ["If math is A, the label is rejected."])
    assert (found.fdr, found.hdr, found.precision) == (0, 0, 0)
    assert (found.released.fdr, found.released.rc, found.released.hdr) == (1, 0, 0)
    assert found.paper.fdr == 1


def test_a_sentence_that_is_no_rule_counts_in_precision_alone() -> None:
    found = scored(TRUE[:1], [TRUE[0], "Students who write with warmth are admitted."])
    assert found.hdr == 1 and found.not_exact == 1 and found.precision == 0.5


def test_an_empty_bank_is_zero_and_has_no_precision() -> None:
    found = scored(TRUE, [])
    assert (found.fdr, found.rc, found.hdr, found.precision) == (0, 0, 0, None)
    assert found.released.hdr == found.paper.hdr == 0
    assert all(pair.overlap == 0 for pair in found.pairs)


def test_a_true_sentence_that_is_no_rule_counts_as_not_found() -> None:
    problem = students()
    assert score_exact([], [], InputSpace(problem), problem.public) is None
    nothing = scored(["Warmth persuades."], TRUE)
    assert (nothing.hdr, nothing.hdr_read, nothing.stated, nothing.unread) == (0, None, 1, 1)
    found = scored([*TRUE, "Warmth persuades."], TRUE)
    assert (found.stated, found.unread, found.hdr, found.hdr_read) == (4, 1, 0.75, 1)
    assert (found.fdr, found.rc, found.identical) == (0.75, 1, 0.75)


def test_the_true_sentences_of_published_logistic_sets_are_read() -> None:
    problem = texts(["He champions gun rights.", "She supports it."], ["Left", "Right"])
    told = 'If the "policy_stance" of the given tweet is "champions gun rights", then it is {} to be classified as "Right" and unlikely to be classified as "Left".'
    right = rule('If the text mentions "champions gun rights", the label is Right.', problem)
    for likelihood in ("highly likely", "likely", "neutral", "a bit unlikely"):
        assert compile_truth(told.format(likelihood), problem.public) == right
    # The least likely label is the second.
    turned = compile_truth(
        told.format("highly unlikely"), {**problem.public, "labels": ["Left", "Right"]}
    )
    assert turned == rule(
        'If the text mentions "champions gun rights", the label is Left.', problem
    )
    for said in (
        told.format("unlikely"),
        told.replace('"Right" and unlikely to be', "neither"),
        told,
    ):
        assert not isinstance(compile_truth(said, problem.public), Rule)
    template = told.format("likely").replace("policy_stance", "template")
    template = template.replace("champions gun rights", "So I [policy stance]. But: [reaction]!")
    assert compile_truth(template, problem.public) == rule(
        'If the text mentions all of "So I", ". But:", the label is Right.', problem
    )


def test_a_list_of_words_is_as_many_cases() -> None:
    problem = texts(["a red hat", "a blue hat", "no hat at all"], ["in", "out"])
    listed = 'If the text mentions one of "red", "blue", the label is in.'
    apart = [f'If the text mentions "{word}", the label is in.' for word in ("red", "blue")]
    assert split_into_cases(rule(listed, problem)) == tuple(rule(one, problem) for one in apart)
    for truths, bank in ((apart, [listed]), ([listed], apart)):
        found = score_exact(truths, bank, InputSpace(problem), problem.public)
        assert found is not None and (found.hdr, found.precision) == (1, 1)


def test_a_later_clause_of_another_label_holds_where_the_earlier_does_not() -> None:
    problem = students()
    some = split_into_cases(
        rule("If math is A, admitted; if papers is at least 1, rejected.", problem)
    )
    assert some[1] == rule("If math is not A and papers is at least 1, rejected.", problem)


def test_what_other_words_of_the_same_texts_say_shares_a_variable() -> None:
    some = [
        "I applaud the bill",
        "he applauds the bill",
        "a red day",
        "so we fear it",
        "it is late",
    ]
    problem = texts(some, ["in", "out"])
    true = 'If the text mentions one of "applaud the bill", "applauds the bill", the label is in.'
    for sentence, score in (
        ('If the text mentions "bill", the label is in.', 1.0),
        ('If the text does not mention "bill", the label is out.', 1.0),
        ('If the text mentions "red", the label is in.', 0.0),
    ):
        found = score_exact([true], [sentence], InputSpace(problem), problem.public)
        assert found is not None and found.released.fdr == found.paper.fdr == score
        assert found.released.hdr == found.paper.hdr == score


# --- identification ------------------------------------------------------------


def test_a_finding_is_identified_where_its_label_is_the_one_that_is_raised() -> None:
    some = ["a red hat", "a red hat", "a blue hat", "a blue hat", "a blue hat"]
    problem = texts(some, ["in", "out"])
    for labels, known in (
        (("in", "in", "out", "in", "out"), True),
        (("out", "in", "in", "in", "out"), False),
    ):
        shown = [replace(row, output=one) for row, one in zip(problem.shown, labels, strict=True)]
        true = rule('If the text mentions "red", the label is in.', problem)
        assert find_identified([true], shown, InputSpace(problem)) == [known]
    green = rule('If the text mentions "green", the label is in.', problem)
    assert find_identified([green], problem.shown, InputSpace(problem)) == [False]


def test_a_rule_is_identified_where_rows_refute_what_is_near_it() -> None:
    def row(math: str, papers: int, label: str) -> tuple[dict[str, object], str]:
        return {"math": math, "english": "D", "papers": papers, "donated": False}, label

    rows = [row(m, p, "admitted" if m == "A" and p > 2 else "rejected") for m in "ABCDF" for p in range(5)]  # fmt: skip
    for shown, known in ((rows, True), ([r for r in rows if r[0]["math"] == "A"], False),
                         ([r for r in rows if r[0]["papers"] != 2], False), (rows[5:], False)):  # fmt: skip
        problem = students(shown)
        true = rule("If math is A and papers is more than 2, the label is admitted.", problem)
        assert find_identified([true], problem.shown, InputSpace(problem)) == [known]


@pytest.mark.parametrize(
    ("sentence", "papers", "maths", "known"),
    [
        # A threshold: a row at it and one just past it.
        ("If papers is more than 2, admitted.", (2, 3), "D", True),
        ("If papers is more than 2, admitted.", (1, 3), "D", False),
        ("If papers is more than 2, admitted.", (2, 4), "D", False),
        ("If papers is more than 2.5, admitted.", (2, 3), "D", True),  # more than 2 is the same
        ("If papers is not more than 2, rejected.", (2, 3), "D", True),
        ("If papers is not more than 2, rejected.", (1, 3), "D", False),
        # A choice: each of its values shown; one more is a longer rule, which has to explain more.
        ("If math is one of A, B, admitted.", (0,), "ABCDF", True),
        ("If math is one of A, B, admitted.", (0,), "ABF", False),  # "not F" is shorter
        ("If math is one of A, B, admitted.", (0,), "AF", False),
        ("If math is A, admitted.", (0,), "AF", True),
        # A condition that no row needs.
        ("If math is A and papers is more than 2, admitted.", (2, 3), "A", False),
    ],
)
def test_what_identifies_a_rule(
    sentence: str, papers: tuple[int, ...], maths: str, known: bool
) -> None:
    empty = students()
    true = rule(sentence, empty)
    rows = [
        {"math": m, "english": "D", "papers": p, "donated": False} for m in maths for p in papers
    ]
    said = complete_rule(true, ("admitted", "rejected")).codes(PreparedRows(rows, empty.public))
    labels = [("admitted", "rejected")[code] for code in said]
    problem = students(list(zip(rows, labels, strict=True)))
    assert find_identified([true], problem.shown, InputSpace(problem)) == [known]


def test_a_rule_that_a_longer_one_explains_better_is_not_identified() -> None:
    def row(math: str, label: str) -> tuple[dict[str, object], str]:
        return {"math": math, "english": "D", "papers": 0, "donated": False}, label

    problem = students([row("A", "admitted"), row("B", "admitted"), row("F", "rejected")])
    true = rule("If math is A, admitted.", problem)
    assert find_identified([true], problem.shown, InputSpace(problem)) == [False]
