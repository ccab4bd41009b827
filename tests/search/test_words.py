"""Sentences about texts: what is planted is found, what is noise is not, and all of it can be said.

Internals: the table of terms and the regression on it are compared with slow ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from peirce.records import Json
from peirce.search.budget import Budget
from peirce.search.text import words
from peirce.search.text.words import (
    MAX_LISTED,
    MAX_SENTENCES,
    divide_into_tiers,
    mine_rules,
    mine_sentences,
    significant_mask,
)
from peirce.search.text.words_terms import RidgeFit, build_term_table, find_names
from peirce.tools.sentence_rules import (
    Comparison,
    Count,
    MentionedEntries,
    MoreThan,
    PreferenceClause,
    PreparedRows,
    Rule,
    Term,
    TextIndex,
    compile_sentence,
)

PUBLIC = {"labels": ["cold", "warm"], "columns": {"text": {"kind": "text"}}, "shape": "text"}
PAIR = {
    "labels": ["first", "second"],
    "columns": {"tweet_1": {"kind": "text"}, "tweet_2": {"kind": "text"}},
    "shape": "pair",
}
COMMON = [a + b + c for a in "bdgkm" for b in ("al", "or", "un") for c in ("ta", "vi", "po", "qu")]
WARM, COLD = ["sunshine", "beach", "summer"], ["winter", "snowing", "frozen"]
BUDGET = 1e6


def text(draw: random.Random, of: Sequence[str], count: int) -> str:
    said = draw.sample(COMMON, 18) + draw.sample(of, count)
    draw.shuffle(said)
    return " ".join(said)


def made(count: int, seed: int = 1, noise: float = 0.1) -> tuple[list[dict[str, Json]], list[str]]:
    draw = random.Random(seed)
    rows, labels = [], []
    for place in range(count):
        warm = place % 2 == 0
        rows.append({"text": text(draw, WARM if warm else COLD, draw.randrange(1, 3))})
        labels.append("warm" if warm == (draw.random() >= noise) else "cold")
    return rows, labels


def listed(rule: Rule) -> int:
    """Words that a rule lists."""
    clause = rule.clauses[0]
    said = clause.by if isinstance(clause, PreferenceClause) else clause.condition
    parts = (said.left, said.right) if isinstance(said, MoreThan) else (said,)
    measures = [one.quantity if isinstance(one, Comparison) else one for one in parts]
    return sum(len(one.terms) for one in measures if isinstance(one, MentionedEntries | Count))


def right(rules: Sequence[Rule], rows: list[dict[str, Json]], labels: list[str]) -> float:
    """Of the first of the rules, where it applies."""
    codes = rules[0].codes(PreparedRows(rows, PUBLIC))
    gold = np.array([PUBLIC["labels"].index(one) for one in labels])
    return float((codes == gold)[codes >= 0].mean())


def test_planted_words_are_listed_first_and_hold_on_new_rows() -> None:
    rules = mine_sentences(*made(200), PUBLIC, Budget(BUDGET))
    assert all(word[:5] in rules[0].to_text() for word in (*WARM, *COLD))
    assert right(rules, *made(200, seed=2, noise=0.0)) > 0.95


def test_every_sentence_is_read_back_and_lists_ten_words_at_most() -> None:
    found = mine_rules(*made(300), PUBLIC, Budget(BUDGET))
    assert 1 <= len(found.rules) <= MAX_SENTENCES and found.sure >= 1
    assert found.judged >= found.sure and found.tried > len(COMMON)
    for rule in found.rules:
        assert compile_sentence(rule.to_text(), PUBLIC) == rule
        assert listed(rule) <= MAX_LISTED


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_chance_have_no_sentence_as_a_rule(seed: int) -> None:
    rows, labels = made(200, seed)
    random.Random(seed).shuffle(labels)
    found = mine_rules(rows, labels, PUBLIC, Budget(BUDGET))
    assert found.sure <= 1 and found.judged > 0


def test_the_same_rows_and_seed_give_the_same_sentences() -> None:
    rows, labels = made(120)
    one, two = (mine_rules(rows, labels, PUBLIC, Budget(BUDGET), seed=3) for _ in range(2))
    assert one == two


def test_few_rows_or_one_label_say_nothing() -> None:
    rows, labels = made(60)
    assert mine_sentences(rows[:20], labels[:20], PUBLIC, Budget(BUDGET)) == []
    assert mine_sentences(rows, ["warm"] * 60, PUBLIC, Budget(BUDGET)) == []
    assert mine_sentences([{"text": ""}] * 60, labels, PUBLIC, Budget(BUDGET)) == []


def test_a_short_budget_looks_at_fewer_terms() -> None:
    rows, labels = made(200)
    whole, budget = mine_rules(rows, labels, PUBLIC, Budget(BUDGET)), Budget(50)
    short = mine_rules(rows, labels, PUBLIC, budget)
    assert short.tried < whole.tried and budget.spent <= 50


def test_many_rows_stay_within_the_budget_and_keep_terms_enough() -> None:
    rows, labels = made(4000)
    budget = Budget(60_000)
    found = mine_rules(rows, labels, PUBLIC, budget)
    assert budget.spent <= 60_000 and found.sure >= 1
    assert right(found.rules, *made(200, seed=2, noise=0.0)) > 0.95


def test_style_is_found_where_no_word_tells() -> None:
    draw = random.Random(4)
    rows, labels = [], []
    for place in range(200):
        said = [one + ("(" if draw.random() < 0.05 + 0.15 * (place % 2) else ",")
                for one in draw.sample(COMMON, 20)]  # fmt: skip
        rows.append({"text": " ".join(said)})
        labels.append("warm" if place % 2 else "cold")
    first = mine_sentences(rows, labels, PUBLIC, Budget(BUDGET))[0]
    assert "per 100 words" in first.to_text() and (
        '"("' in first.to_text() or '","' in first.to_text()
    )


def test_each_of_three_labels_gets_its_sentences() -> None:
    public = {**PUBLIC, "labels": ["a", "b", "c"]}
    draw = random.Random(5)
    special = {"a": ["apple", "anchor"], "b": ["butter", "bottle"], "c": ["candle", "carrot"]}
    labels = [draw.choice("abc") for _ in range(240)]
    rows = [{"text": text(draw, special[label], 1)} for label in labels]
    rules = mine_sentences(rows, labels, public, Budget(BUDGET))
    assert {rule.clauses[0].label for rule in rules} == {"a", "b", "c"}
    assert all(
        rule.otherwise is None and compile_sentence(rule.to_text(), public) == rule
        for rule in rules
    )


def test_of_two_texts_the_one_that_says_it_wins_in_either_order() -> None:
    draw = random.Random(6)
    rows, labels = [], []
    for _ in range(200):
        better, worse = text(draw, WARM, 2), text(draw, COLD, 1)
        first = draw.random() < 0.5
        pair = (better, worse) if first else (worse, better)
        rows.append({"tweet_1": pair[0], "tweet_2": pair[1]})
        labels.append("first" if first else "second")
    rules = mine_sentences(rows, labels, PAIR, Budget(BUDGET))
    assert all(isinstance(rule.clauses[0], PreferenceClause) for rule in rules)
    assert all(compile_sentence(rule.to_text(), PAIR) == rule for rule in rules)
    turned = [{"tweet_1": row["tweet_2"], "tweet_2": row["tweet_1"]} for row in rows]
    codes, back = (rules[0].codes(PreparedRows(some, PAIR)) for some in (rows, turned))
    assert (codes >= 0).mean() > 0.8
    assert (back[codes >= 0] == 1 - codes[codes >= 0]).all()


def test_names_are_no_terms_and_headlines_have_none() -> None:
    said = ["we met Sofia at noon and then I slept", "so Sofia left at dawn, and we did not"] * 5
    assert find_names(TextIndex(said)) == {"sofia"}
    assert find_names(TextIndex(["Seven Things That Sofia Never Says"] * 5)) == frozenset()


def test_a_stem_stands_for_words_that_differ_in_their_endings_alone() -> None:
    said = ["a luxury place", "luxurious rooms", "the carpet", "the car", "plain", "old"] * 3
    shown = [one.text for one in build_term_table(TextIndex(said), 3).terms]
    assert "luxur*" in shown and "luxury" not in shown and "luxurious" not in shown
    assert "car" in shown and "carpet" in shown


def test_tiers_hold_ten_words_each_and_every_word_once() -> None:
    draw = np.random.default_rng(1)
    w = draw.normal(size=80) + 0.4
    found = divide_into_tiers(np.arange(80), w, (8, MAX_LISTED), one_sided=False)
    assert [len(more) + len(less) for more, less in found] == [MAX_LISTED] * 8
    assert sorted(one for tier in found for side in tier for one in side) == list(range(80))
    assert all(w[one] > 0 for more, _ in found for one in more)
    heaviest = [np.abs(w[more + less]).max() for more, less in found]
    assert heaviest == sorted(heaviest, reverse=True)


def test_chance_is_corrected_for_by_the_number_of_sentences() -> None:
    z = np.array([2.2] + [0.0] * 3)
    assert significant_mask(z).tolist() == [False] * 4 or significant_mask(z)[0]
    assert significant_mask(np.array([2.2])).all()
    assert not significant_mask(np.array([2.2] + [0.0] * 40)).any()


def test_leaving_a_row_out_is_what_fitting_without_it_gives() -> None:
    draw = np.random.default_rng(2)
    features, y = draw.normal(size=(30, 3)), np.sign(draw.normal(size=30))
    fit = RidgeFit(features, y, through_zero=True)
    z = features / fit.spread
    for row in range(5):
        rest = np.delete(np.arange(30), row)
        gaps = []
        for penalty in (3.0, 10.0, 30.0, 100.0):
            gram = z[rest].T @ z[rest] + penalty * np.eye(3)
            gaps.append(
                abs(z[row] @ np.linalg.solve(gram, z[rest].T @ y[rest]) - fit.left_out[row])
            )
        assert min(gaps) < 1e-9


def test_terms_are_listed_as_the_judge_reads_them() -> None:
    assert all(
        isinstance(one, Term)
        for one in build_term_table(TextIndex([r["text"] for r in made(60)[0]]), 4).terms
    )
    assert words.min_texts(200) == 4 and words.min_texts(800) == 6
