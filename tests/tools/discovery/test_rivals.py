"""A true rule is identified only where no other rule as short explains the shown rows as well in its place.

Internals: whether another rule does as well is asked of chosen rows.
"""

from __future__ import annotations

from itertools import product

from made import GRADES, rule, students
from peirce.records import Problem
from peirce.tools.discovery import InputSpace
from peirce.tools.discovery.identifiability import find_identified


def known(sentences: list[str], problem: Problem) -> list[bool]:
    return find_identified(
        [rule(one, problem) for one in sentences], problem.shown, InputSpace(problem)
    )


def rows(keep=lambda row: True, wanted=lambda row: row["math"] == "A"):
    every = (
        {"math": m, "english": e, "papers": p, "donated": d}
        for m, e, p, d in product(GRADES, GRADES, range(5), (False, True))
    )
    return students(
        [(row, "admitted" if wanted(row) else "rejected") for row in every if keep(row)]
    )


def test_a_rule_is_identified_where_every_input_was_shown():
    assert known(['If math is "A", the label is admitted; otherwise rejected.'], rows()) == [True]


def test_a_rule_about_another_column_that_says_the_same_of_the_rows_is_a_rival():
    alike = rows(lambda row: (row["math"] == "A") == (row["papers"] > 3))
    assert known(['If math is "A", the label is admitted; otherwise rejected.'], alike) == [False]


def test_a_longer_rule_is_no_rival():
    alike = rows(lambda row: (row["math"] == "A") == (row["papers"] > 3 and row["donated"]))
    assert known(['If math is "A", the label is admitted; otherwise rejected.'], alike) == [True]


def test_a_rule_whose_rows_another_true_rule_explains_is_not_identified():
    sentences = [
        'If math is "A", the label is admitted.', 'If papers is at most 1, the label is admitted.'
    ]  # fmt: skip

    def wanted(row):
        return row["math"] == "A" or row["papers"] <= 1

    assert known(sentences, rows(wanted=wanted)) == [True, True]
    none_alone = rows(lambda row: row["math"] != "A" or row["papers"] <= 1, wanted)
    assert known(sentences, none_alone) == [False, True]


def test_rules_that_never_contradict_are_judged_each_by_itself():
    """In an order, the second rule without its first condition would say nothing wrong."""
    sentences = [
        'If donated is true and math is "A", the label is admitted.',
        'If donated is true and math is not "A", the label is rejected.',
        "If donated is false and papers is more than 2, the label is admitted.",
        "If donated is false and papers is at most 2, the label is rejected.",
    ]

    def wanted(row):
        return row["math"] == "A" if row["donated"] else row["papers"] > 2

    assert known(sentences, rows(wanted=wanted)) == [True] * 4
