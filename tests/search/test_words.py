"""Sentences about texts: what is planted is found, what is noise is not, and all of it can be said.

Internals: the table of terms, the regression, the themes and the test of the evidence are compared
with slow or known results.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from peirce.records import Json
from peirce.search.budget import Budget
from peirce.search.text.evidence import measure_evidence
from peirce.search.text.held_out import Attempt, Shape, admit, match_themes, significant_mask
from peirce.search.text.regression import (
    Features,
    Fold,
    Weights,
    calibrated_losses,
    narrow,
    refit,
)
from peirce.search.text.themes import Theme, group_terms, merge_weights, split_sides, term_vectors
from peirce.search.text.vocabulary import build_term_table
from peirce.search.text.words import MAX_SENTENCES, min_texts, mine_rules
from peirce.tools.sentence_rules import (
    Begins,
    Comparison,
    ConditionClause,
    MentionedEntries,
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


def mined(rows, labels, public=PUBLIC, budget=BUDGET, seed=0):
    return mine_rules(rows, labels, public, Budget(budget), seed)


def right(rules: Sequence[Rule], rows: list[dict[str, Json]], labels: list[str]) -> float:
    """Of the first of the rules, where it applies."""
    codes = rules[0].codes(PreparedRows(rows, PUBLIC))
    gold = np.array([PUBLIC["labels"].index(one) for one in labels])
    return float((codes == gold)[codes >= 0].mean())


def voted(rules: Sequence[Rule], rows: list[dict[str, Json]], labels: list[str]) -> float:
    """Share of rows on which most of the rules are right."""
    prepared = PreparedRows(rows, PUBLIC)
    votes = sum(rule.codes(prepared) for rule in rules) / len(rules) > 0.5
    return float(np.mean(votes == np.array([one == "warm" for one in labels])))


def test_planted_words_are_listed_first_and_hold_on_new_rows() -> None:
    found = mined(*made(300))
    said = [rule.to_text() for rule in found.rules]
    assert all(any(word[:5] in one for one in said[:3]) for word in (*WARM, *COLD))
    assert voted(found.rules[:3], *made(200, seed=2, noise=0.0)) > 0.95
    assert not any(found.weak[:2]) and found.chance < 0.01


def test_many_weak_words_are_found_together_and_called_weak() -> None:
    draw = random.Random(3)
    weak = ["".join(draw.choices("aeioulmnrst", k=7)) for _ in range(120)]

    def row(warm: bool) -> dict[str, Json]:
        likely, other = (weak[:60], weak[60:]) if warm else (weak[60:], weak[:60])
        return {"text": " ".join(draw.choices(likely, k=13) + draw.choices(other, k=11))}

    labels = ["warm" if at % 2 else "cold" for at in range(800)]
    rows = [row(label == "warm") for label in labels]
    found = mined(rows[:400], labels[:400])
    assert found.chance <= 0.03 and any(found.weak)
    assert voted(found.rules, rows[400:], labels[400:]) > 0.53


def test_every_sentence_is_read_back() -> None:
    found = mined(*made(300))
    assert 1 <= len(found.rules) <= MAX_SENTENCES and found.sure >= 1
    assert found.judged >= len(found.rules) and found.tried > len(COMMON)
    for rule in found.rules:
        assert compile_sentence(rule.to_text(), PUBLIC) == rule
        assert compile_sentence(f"Weak evidence: {rule.to_text()}", PUBLIC) == rule


@pytest.mark.parametrize(
    ("filler", "planted"),
    [
        ("的一是不了人我在有他这为之大来以个中上们", "退款"),
        ("กขคงจฉชซดตถทนบปผพมยร", "หลอก"),
        ("あいうえおかきくけこさしすせそたちつ", "返金"),
    ],
)
def test_texts_without_spaces_get_sentences_that_the_judge_reads(filler: str, planted: str) -> None:
    draw = random.Random(5)
    rows, labels = [], []
    for place in range(200):
        text = "".join(draw.choices(filler, k=30))
        if place % 2 == (draw.random() < 0.9):
            text = text[:15] + planted + text[15 + len(planted) :]
        rows.append({"text": text})
        labels.append("warm" if place % 2 else "cold")
    found = mined(rows, labels)
    said = [rule.to_text() for rule in found.rules]
    assert any(one in sentence for one in {*planted} - {*filler} for sentence in said)
    assert [compile_sentence(one, PUBLIC) for one in said] == list(found.rules)
    sentence = f'If the text mentions "{planted}", the label is "warm"; otherwise "cold".'
    rule = compile_sentence(sentence, PUBLIC)
    codes = rule.codes(PreparedRows(rows, PUBLIC))
    assert codes.tolist() == [int(planted in row["text"]) for row in rows]


def test_of_few_rows_a_single_telling_word_gives_few_sentences() -> None:
    """Without it, sixteen lists of noise stand around the word."""
    draw = random.Random(1)
    noise = [a + b for a in COMMON[:25] for b in COMMON[:20]]
    rows, labels = [], []
    for place in range(250):
        said = draw.choices(noise, [1 / (at + 3) for at in range(500)], k=20)
        said += ["zebra"] * (draw.random() < (0.3 if place % 2 else 0.02))
        rows.append({"text": " ".join(said)})
        labels.append("warm" if place % 2 else "cold")
    found = mined(rows, labels)
    assert 1 <= len(found.rules) <= 6 and "zebra" in found.rules[0].to_text()


def test_labels_of_chance_have_no_sentence_in_most_samples() -> None:
    said = 0
    for seed in range(12):
        rows, labels = made(100, seed)
        random.Random(seed).shuffle(labels)
        said += bool(mined(rows, labels).rules)
    assert said <= 2


def test_the_same_rows_and_seed_give_the_same_sentences() -> None:
    one, two = (mined(*made(120), seed=3) for _ in range(2))
    assert one == two and one.rules


def test_few_rows_or_one_label_say_nothing() -> None:
    rows, labels = made(60)
    assert mined(rows[:20], labels[:20]).rules == ()
    assert mined(rows, ["warm"] * 60).rules == ()
    assert mined([{"text": ""}] * 60, labels).rules == ()


def test_a_short_budget_looks_at_fewer_terms() -> None:
    rows, labels = made(200)
    assert mined(rows, labels, budget=30).tried < mined(rows, labels).tried


def test_many_rows_keep_terms_enough_within_the_budget() -> None:
    rows, labels = made(4000)
    budget = Budget(20_000)
    found = mine_rules(rows, labels, PUBLIC, budget)
    assert budget.spent <= 20_000 and found.sure >= 1
    assert right(found.rules, *made(200, seed=2, noise=0.0)) > 0.95


def test_style_is_found_where_no_word_tells() -> None:
    draw = random.Random(4)
    rows, labels = [], []
    for place in range(300):
        said = [one + ("(" if draw.random() < 0.05 + 0.15 * (place % 2) else ",")
                for one in draw.sample(COMMON, 20)]  # fmt: skip
        rows.append({"text": " ".join(said)})
        labels.append("warm" if place % 2 else "cold")
    said = [rule.to_text() for rule in mined(rows, labels).rules]
    assert any("per 100 words" in one and ('"("' in one or '","' in one) for one in said)


def test_the_first_word_is_found_where_all_texts_have_the_same_words() -> None:
    draw = random.Random(7)
    labels = ["warm" if at % 2 else "cold" for at in range(300)]
    rows = []
    for label in labels:
        rest = draw.sample(COMMON, 8)
        first, last = ("alpha", "omega") if label == "warm" else ("omega", "alpha")
        rows.append({"text": " ".join([first, *rest, "then", last, draw.choice(rest)])})
    rules = mined(rows, labels).rules
    assert any(
        isinstance(clause, ConditionClause) and isinstance(clause.condition, Begins)
        for rule in rules
        for clause in rule.clauses
    )
    assert voted(rules, rows, labels) > 0.9


def test_each_of_three_labels_gets_its_sentences() -> None:
    public = {**PUBLIC, "labels": ["a", "b", "c"]}
    draw = random.Random(5)
    special = {"a": ["apple", "anchor"], "b": ["butter", "bottle"], "c": ["candle", "carrot"]}
    labels = [draw.choice("abc") for _ in range(240)]
    rows = [{"text": text(draw, special[label], 1)} for label in labels]
    rules = mined(rows, labels, public).rules
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
    rules = mined(rows, labels, PAIR).rules
    assert all(isinstance(rule.clauses[0], PreferenceClause) for rule in rules)
    assert all(compile_sentence(rule.to_text(), PAIR) == rule for rule in rules)
    turned = [{"tweet_1": row["tweet_2"], "tweet_2": row["tweet_1"]} for row in rows]
    codes, back = (rules[0].codes(PreparedRows(some, PAIR)) for some in (rows, turned))
    assert (codes >= 0).mean() > 0.8
    assert (back[codes >= 0] == 1 - codes[codes >= 0]).all()


def test_a_sentence_about_mentions_asks_for_a_whole_number_of_them() -> None:
    for rule in mined(*made(300)).rules:
        for clause in rule.clauses:
            condition = clause.condition
            if isinstance(condition, Comparison) and isinstance(
                condition.quantity, MentionedEntries
            ):
                assert condition.value == int(condition.value) >= 1


# --- the table of terms


def test_a_stem_stands_for_words_that_differ_in_their_endings_alone() -> None:
    said = ["a luxury place", "luxurious rooms", "the carpet", "the car", "plain", "old"] * 3
    shown = [one.text for one in build_term_table(TextIndex(said), 3).terms]
    assert "luxur*" in shown and "luxury" not in shown and "luxurious" not in shown
    assert "car" in shown and "carpet" in shown


def test_the_table_says_which_texts_contain_a_term_as_the_judge_does() -> None:
    index = TextIndex(
        [
            row["text"] + " In 2024," * (at % 3 == 0) + " 3.5 of 10!" * (at % 4 == 0)
            for at, row in enumerate(made(60)[0])
        ]
    )
    table = build_term_table(index, 4)
    texts = [one.text for one in table.terms]
    assert {"2024", "10", "balta"} & {*texts} and any(" " in one for one in texts)
    for column, one in enumerate(table.terms):
        there = np.asarray(table.present[:, [column]].todense()).ravel()
        assert (there == index.contains(one)).all()
    assert (table.frequency == np.asarray(table.present.sum(axis=0)).ravel()).all()


def test_terms_of_few_or_nearly_all_texts_are_left_out() -> None:
    index = TextIndex(["rare all"] + ["all common"] * 5 + ["all"] * 6)
    assert [one.text for one in build_term_table(index, 2).terms] == ["common"]
    assert min_texts(200) == 2 and min_texts(50_000) == 25


# --- the regression and the themes


def sample(n: int, t: int, effect: float, paired: bool = False) -> tuple[Features, np.ndarray]:
    draw = np.random.default_rng(5)
    y = draw.random(n) < 0.5
    shift = np.where(y, 1, -1)[:, None] * np.r_[np.full(4, effect), np.zeros(t - 4)]
    x = (draw.random((n, t)) < 0.3 + shift).astype(float)
    if paired:
        x = x - (draw.random((n, t)) < 0.3 - shift)
    return Features(narrow(x), draw.normal(size=(n, 2)), paired), y


@pytest.mark.parametrize("paired", [False, True])
def test_weights_of_the_regression_predict_as_the_library_does(paired: bool) -> None:
    from sklearn.linear_model import LogisticRegression

    features, y = sample(200, 12, 0.1, paired)
    weights = features.fit(y, 3.0)
    model = LogisticRegression(C=3.0, fit_intercept=not paired, tol=1e-8, max_iter=10_000)
    model.fit(features.design.toarray(), y)
    slow = model.decision_function(features.design.toarray())
    assert features.predict(weights) == pytest.approx(slow, abs=0.05)


def test_fewer_and_fewer_terms_are_the_strongest_ones() -> None:
    features, y = sample(600, 30, 0.15)
    found = list(refit(features, y, 3.0, features.fit(y, 3.0), (10, 4)))
    assert [len(kept) for kept, _ in found] == [10, 4]
    assert found[1][0].tolist() == [0, 1, 2, 3] and (found[1][1].terms[4:] == 0).all()


def test_the_loss_of_predictions_in_another_scale_is_the_same() -> None:
    draw = np.random.default_rng(1)
    y = draw.random(400) < 0.3
    logit = np.where(y, 1.0, -1.0) + draw.normal(size=400)
    losses = calibrated_losses(logit, y, False)
    assert calibrated_losses(7 * logit + 3, y, False) == pytest.approx(losses, abs=1e-6)
    assert losses.mean() < calibrated_losses(np.zeros(400), y, False).mean()
    share = y.mean()
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert calibrated_losses(np.zeros(400), y, False).mean() == pytest.approx(entropy)
    assert calibrated_losses(-logit, y, False).mean() == pytest.approx(entropy, abs=0.02)


def test_themes_join_terms_of_the_same_texts_with_similar_weights() -> None:
    draw = np.random.default_rng(2)
    topic = draw.integers(0, 2, 500)
    here = draw.random((500, 8)) < 0.5
    x = np.hstack([here[:, :4] & (topic == 0)[:, None], here[:, 4:] & (topic == 1)[:, None]])
    features = Features(narrow(x.astype(float)), np.zeros((500, 0)), False)
    weights = Weights(np.ones(8), np.zeros(0))
    found = group_terms(np.arange(8), weights, np.full(8, 0.4), term_vectors(features), (2, 0))
    assert sorted(sorted(one.terms) for one in found) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    unlike = Weights(np.array([9.0, 9, 9, 0.1, 0.1, 0.1, -1, -1]), np.zeros(0))
    same = np.zeros((8, 3))
    found = group_terms(np.arange(8), unlike, np.full(8, 0.4), same, (2, 1))
    assert [(sorted(one.terms), one.sign) for one in found] == [
        ([0, 1, 2], 1), ([3, 4, 5], 1), ([6, 7], -1),
    ]  # fmt: skip
    merged = merge_weights(found, unlike, np.full(8, 0.4))
    assert merged.terms == pytest.approx(unlike.terms)


def test_both_sides_of_a_label_have_themes() -> None:
    weights = Weights(np.array([1.0] * 9 + [-1.0]), np.zeros(0))
    assert split_sides(np.arange(10), weights, 4) == (3, 1)
    assert split_sides(np.arange(9), weights, 4) == (4, 0)
    assert split_sides(np.arange(10), weights, 1) == (1, 0)


# --- the evidence


def test_evidence_is_found_where_it_is_and_not_where_labels_are_shuffled() -> None:
    features, y = sample(300, 60, 0.12)
    assert measure_evidence(features, y).chance < 0.01
    draw = np.random.default_rng(0)
    shuffled = [draw.permutation(y) for _ in range(20)]
    chances = [measure_evidence(features, one, at).chance for at, one in enumerate(shuffled)]
    assert sum(one <= 0.05 for one in chances) <= 4 and np.mean(chances) > 0.3


def test_evidence_of_pairs_does_not_depend_on_their_order() -> None:
    features, y = sample(200, 40, 0.06, paired=True)
    turned = Features(narrow(-features.present), -features.style, True)
    here = measure_evidence(features, y)
    assert here == measure_evidence(turned, ~y) and here.chance < 0.05


def test_a_sentence_that_misleads_is_dropped_and_one_that_helps_is_kept() -> None:
    draw = np.random.default_rng(3)
    y = draw.random(500) < 0.5
    good = np.where(y, 0.5, -0.5)[:, None] + draw.normal(size=(500, 2))
    bad = np.where(y, -0.5, 0.5)[:, None] + draw.normal(size=(500, 1))
    assert admit(np.hstack([good, bad]), y, False) == [0, 1]


def test_chance_is_corrected_for_by_the_number_of_sentences() -> None:
    assert significant_mask(np.array([2.0])).all()
    assert not significant_mask(np.array([2.0] + [0.0] * 40)).any()
    assert not significant_mask(np.array([-4.0])).any()


def test_terms_are_listed_as_the_judge_reads_them() -> None:
    table = build_term_table(TextIndex([row["text"] for row in made(60)[0]]), 4)
    assert table.terms and all(isinstance(one, Term) for one in table.terms)


def test_what_a_theme_says_of_held_out_rows_is_what_a_similar_theme_says() -> None:
    folds = [
        Fold(np.array([2, 3]), np.array([0, 1]), Weights(np.zeros(6), np.zeros(0))),
        Fold(np.array([0, 1]), np.array([2, 3]), Weights(np.zeros(6), np.zeros(0))),
    ]
    placed = ({0: Theme((0, 1), 1), 1: Theme((2, 3), 1)}, {0: Theme((2,), 1), 1: Theme((0, 4), 1)})
    said = np.array([[1.0, 10], [2, 20], [3, 30], [4, 40]])
    attempt = Attempt(Shape(4, (2, 0), 0), np.zeros(4), said, placed)
    themes = [Theme((2, 3), 1), Theme((0, 1), 1), Theme((5,), 1), Theme((2, 3), -1)]
    assert match_themes(themes, attempt, folds).tolist() == [
        [10, 1, 0, 0], [20, 2, 0, 0], [3, 30, 0, 0], [4, 40, 0, 0],
    ]  # fmt: skip
