"""Votes, the set of entries that differ, examples and scores: pure functions, each by hand or beside
another way of working it out.

Internals: votes, patterns and similarities are pure functions, compared one by one.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from fractions import Fraction

import pytest
import reading_bank as bank
from peirce.graphs.inference import (
    DOES_NOT_APPLY,
    NEEDS_MODEL,
    UNREADABLE,
    Entry,
    Reading,
    ReadingSettings,
    Worth,
)
from peirce.graphs.inference.selection import (
    count_votes,
    decide_by_vote,
    decide_without_label,
    draw_examples,
    heaviest_independent_set,
    select_patterns,
    similarity,
)
from peirce.records import BankEvent, UsageError
from peirce.store import Bank
from peirce.tools import accuracy, macro_f1


def test_a_vote_is_won_by_weight_not_by_heads() -> None:
    assert count_votes([0, 0, 1], [0.3, 0.3, 0.7], [0, 1, 2], 2, 0) == 1
    assert count_votes([0, 0, 1], [0.4, 0.4, 0.7], [0, 1, 2], 2, 0) == 0


def test_a_tie_is_the_first_voters_in_rank() -> None:
    assert (
        count_votes([1, 0, 0], [0.3, 0.1, 0.2], [0, 1, 2], 2, 0) == 1
    )  # .1 + .2 is not .3 in floats
    assert count_votes([1, 0, 0], [0.3, 0.1, 0.2], [2, 1, 0], 2, 1) == 0
    assert count_votes([2, 1, 0], [0.5, 0.5, 0.2], [0, 1, 2], 3, 0) == 2


def test_who_is_worse_than_chance_speaks_against_its_label() -> None:
    assert count_votes([1], [-0.5], [0], 2, 1) == 0
    assert (
        count_votes([0], [-0.5], [0], 3, 2) == 2
    )  # of the labels that nobody named the majority's
    assert count_votes([0], [-0.5], [0], 3, 0) == 1  # else the lowest
    assert count_votes([0, 1], [-0.5, -0.2], [0, 1], 2, 0) == 1


def test_weights_of_nothing_count_heads() -> None:
    assert count_votes([0, 1, 1], [0.0, 0.0, 0.0], [0, 1, 2], 2, 0) == 1
    assert count_votes([0, 1, 1], [0.1, 0.0, 0.0], [0, 1, 2], 2, 1) == 0


def test_no_vote_is_none_and_says_why() -> None:
    none = DOES_NOT_APPLY
    assert count_votes([none, UNREADABLE, NEEDS_MODEL], [1, 1, 1], [0, 1, 2], 2, 0) is None
    assert decide_without_label([none, none]) is None and decide_without_label([]) is None
    assert decide_without_label([none, NEEDS_MODEL]) is None
    ends = [
        decide_without_label([NEEDS_MODEL] * 2),
        decide_without_label([none, UNREADABLE, NEEDS_MODEL]),
    ]
    assert [one and one.code for one in ends] == [NEEDS_MODEL, UNREADABLE]


def test_a_vote_names_the_first_entry_that_voted_so() -> None:
    one = bank.reading()
    decided = decide_by_vote(one, [0, 1, 0, 1], [1.0, 1.5, 1.0, 0.1], one.ranked)
    assert decided is not None and (decided.code, decided.entry) == (0, 2)  # C stands before A


def test_similarity_is_the_cosine_of_the_rows_got_right() -> None:
    assert similarity((0, 1, 2), (0, 1, 2, 3)) == pytest.approx(3 / math.sqrt(12))
    assert similarity((0, 1), (1, 0)) == pytest.approx(1.0)
    assert similarity((0, 1), (2,)) == 0.0
    assert similarity((), (1,)) == 0.0 and similarity((), ()) == 0.0


def test_patterns_leave_out_what_is_alike_and_keep_what_got_no_row_right() -> None:
    assert select_patterns(bank.reading()) == [1, 2, 3]
    assert select_patterns(bank.reading(similar=1.1)) == [1, 2, 0, 3]
    assert select_patterns(bank.reading(similar=0.3)) == [2, 0, 3]  # A + C 1.3 outweigh B .8
    assert select_patterns(bank.reading(similar=0.0)) == [1]
    assert select_patterns(bank.reading(patterns=1)) == [1]
    assert select_patterns(bank.reading({})) == []


def test_of_sets_that_weigh_the_same_the_earlier_entries_are_taken() -> None:
    twins = {name: (0.5, (), (0, 1)) for name in "XYZ"}
    assert select_patterns(bank.reading(twins)) == [0]
    assert select_patterns(bank.reading(twins | {"W": (0.5, (), (4,))})) == [0, 3]


def test_the_set_is_that_of_trying_all() -> None:
    draw = random.Random(8)
    for _ in range(60):
        n = draw.randint(1, 11)
        weights = [Fraction(draw.randint(0, 6), 10) for _ in range(n)]
        edges = [e for e in itertools.combinations(range(n), 2) if draw.random() < 0.35]
        near = [sum(1 << (a + b - j) for a, b in edges if j in (a, b)) for j in range(n)]
        free = [
            some
            for size in range(n + 1)
            for some in itertools.combinations(range(n), size)
            if not any(a in some and b in some for a, b in edges)
        ]
        most = max(sum(weights[j] for j in some) for some in free)
        first = max(
            (some for some in free if sum(weights[j] for j in some) == most),
            key=lambda some: [j in some for j in range(n)],
        )
        assert heaviest_independent_set(weights, near) == list(first)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.5, 1.0])
def test_forty_entries_are_searched_in_no_time(share: float) -> None:
    draw = random.Random(3)
    near = [0] * 40
    for a, b in itertools.combinations(range(40), 2):
        if draw.random() < share:
            near[a] |= 1 << b
            near[b] |= 1 << a
    started = time.process_time()
    chosen = heaviest_independent_set([Fraction(draw.randint(1, 90), 100) for _ in range(40)], near)
    assert not any(near[a] >> b & 1 for a, b in itertools.combinations(chosen, 2))
    assert time.process_time() - started < 5


def test_a_bank_of_hundreds_is_cut_to_the_most_accurate() -> None:
    many = {f"H{i}": (i / 300, (), (i,)) for i in range(300)}
    assert select_patterns(bank.reading(many, patterns=3, visits=300)) == [299, 298, 297]


def test_examples_are_rows_got_right_drawn_by_seed_and_sentence() -> None:
    one = bank.reading(examples=2)
    names = [row.input["text"] for row in draw_examples(one, 1)]
    assert len(names) == 2 and set(names) < {"s0", "s1", "s2", "s3"} and names == sorted(names)
    assert draw_examples(one, 1) == draw_examples(bank.reading(examples=2), 1)
    drawn = {repr(draw_examples(bank.reading(examples=2, seed=seed), 1)) for seed in range(20)}
    assert len(drawn) > 1
    assert draw_examples(one, 3) == []
    assert draw_examples(bank.reading(examples=0), 1) == []
    assert draw_examples(bank.reading({"A": (1.0, (), (7, -1, 2, 2))}), 0) == [one.shown[2]]


def test_trust_is_laplaces_estimate_on_the_rows_it_applied_to() -> None:
    assert Worth(3, 4, 10).accuracy(2) == Fraction(6, 10)  # six guesses at 1/2
    assert Worth(3, 4, 10).accuracy(3) == Fraction(5, 10)
    assert Worth(3, None, 10).accuracy(2) == Fraction(3, 10) and Worth().accuracy(2) == 0
    assert Worth(3, 4, 10).trust(2) == pytest.approx(4 / 6)
    assert Worth(3, 4, 10).log_odds(2) == pytest.approx(math.log(2))
    assert Worth(3, 4, 10).log_odds(3) == pytest.approx(math.log(4 * 2 / 3))
    assert Worth().trust(4) == pytest.approx(1 / 4) and Worth().log_odds(4) == pytest.approx(0)
    assert Worth(0, 4, 4).log_odds(2) == pytest.approx(math.log(1 / 5))
    assert Worth(0, None, 4).log_odds(2) == 0.0  # it may never have applied
    assert math.isfinite(Worth(9, 9, 9).log_odds(1))


def test_worth_comes_from_the_bank_where_nothing_else_is_known() -> None:
    kept = Bank(chance=1 / 3)
    for row, right in enumerate([True] * 7 + [False] * 2 + [None] * 2):
        kept.apply(BankEvent("h", "H", "", row, right, row + 1))
    (told,) = kept.rows()
    entry = Entry("H", told["accuracy"], told["visits"], covered=told["covered"])
    assert Worth.from_bank(entry, 3) == Worth(7, 9, 11)
    assert float(Worth(7, 9, 11).accuracy(3)) == pytest.approx(told["accuracy"])
    assert bank.reading().worth[1] == Worth(8, None, 10)


def test_macro_f1_leaves_out_what_is_no_label() -> None:
    # gold a a b b, predicted a, other, b, other
    assert accuracy([0, -2, 1, -2], [0, 0, 1, 1]) == 0.5
    assert macro_f1([0, -2, 1, -2], [0, 0, 1, 1]) == pytest.approx(2 / 3)
    assert macro_f1([0, 2], [0, 0]) == pytest.approx(2 / 3)  # a class that the gold lacks
    assert macro_f1([], []) == 0.0 and accuracy([], []) == 0.0


@pytest.mark.parametrize(
    "bad", [{"top": 0}, {"patterns": 0}, {"examples": -1}, {"similar": -0.1}, {"similar": math.nan}]
)
def test_a_setting_out_of_range_is_named(bad: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(bad))} is"):
        ReadingSettings(**bad)


def test_a_reading_that_does_not_fit_together_is_refused() -> None:
    with pytest.raises(UsageError, match="4 entries, but 1 are weighed"):
        bank.reading(worth=[Worth()])
    with pytest.raises(UsageError, match="no prompts"):
        Reading((), bank.view(), bank.Table({}), ask=bank.Model({}))


def test_the_majority_of_the_shown_rows_ties_to_the_first_label() -> None:
    assert bank.reading(shown=["grant", "deny"]).majority == 0
    assert bank.reading(shown=["grant", "deny", "grant"]).majority == 1
    assert bank.reading(shown=[]).majority == 0
