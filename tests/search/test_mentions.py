"""Texts that are put together from pieces: each phrase that weighs gets its sentence, and nothing else does.

Internals: weights of phrases are compared with those that the labels were drawn by.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from peirce.records import Json
from peirce.search.budget import Budget
from peirce.search.text.engine import find_text_rules
from peirce.search.text.mentions import (
    MentionRules,
    Setting,
    find_mention_rules,
    find_pieces,
    fit_weights,
    predict_proba,
    select_setting,
)
from peirce.search.text.pieces import find_repeated_phrases, repeated_share
from peirce.tools.sentence_rules import PreparedRows, compile_sentence

LABELS = ["cat", "dog", "hen"]
PUBLIC = {"labels": LABELS, "columns": {"text": {"kind": "text"}}, "shape": "text"}
MOODS = ("a calm afternoon", "the loud siren", "my wet boots", "the broken lamp", "our long queue")
MEALS = ("a cold soup", "the burnt toast", "some ripe plums", "salted butter", "the last egg")
FRAMES = (
    "Well, yesterday it was all about {0}, as you know; then {1} came along.",
    "Nobody told me that {1} would do. I had hoped for {0} instead.",
)
FORMS = {"base": "like {}", "gerund": "liking {}"}
BUDGET = 1e6


def made(
    count: int, seed: int = 1, noise: float = 0.0, weigh: bool = True
) -> tuple[list[dict[str, Json]], list[str]]:
    """Two groups of five phrases in two frames, with a verb whose form follows the frame; moods decide
    more than meals."""
    draw = random.Random(seed)
    rows, labels = [], []
    for _ in range(count):
        mood, meal, frame = draw.randrange(5), draw.randrange(5), draw.randrange(2)
        verb = FORMS["gerund" if frame else "base"]
        text = FRAMES[frame].format(verb.format(MOODS[mood]), MEALS[meal])
        label = "hen" if meal == 0 and mood < 3 else LABELS[mood % 2] if weigh else LABELS[meal % 3]
        other = draw.random() < noise
        rows.append({"text": text})
        labels.append(draw.choice(LABELS) if other else label)
    return rows, labels


def found(rows: Sequence[dict[str, Json]], labels: Sequence[str]) -> MentionRules:
    prepared = PreparedRows(rows, PUBLIC)
    pieces = find_pieces(prepared)
    assert pieces is not None
    return find_mention_rules(prepared, labels, pieces, Budget(BUDGET))


def test_phrases_are_whole_and_in_groups_of_which_each_text_has_one() -> None:
    pieces = find_repeated_phrases([str(row["text"]) for row in made(200)[0]])
    groups = {frozenset(pieces.phrases[at] for at in group) for group in pieces.groups}
    assert frozenset(MOODS) in groups and frozenset(MEALS) in groups
    assert len(groups) == 3, "the frames are the third"
    assert (pieces.marks.sum(0) == 3).all()


def test_words_at_an_edge_that_every_text_has_are_no_part_of_a_phrase() -> None:
    draw = random.Random(1)
    texts = [
        f"a man with {draw.choice(('red', 'blue'))} hat and {draw.choice(MEALS)}" for _ in range(90)
    ]
    assert {"red", "blue"} < set(find_repeated_phrases(texts).phrases)


def test_texts_that_people_write_are_not_put_together_from_pieces() -> None:
    draw = random.Random(3)
    words = [
        a + b + c for a in "bdgkmprt" for b in ("al", "or", "un", "ei") for c in ("ta", "vi", "po")
    ]
    texts = [" ".join(draw.choices(words, k=40)) for _ in range(200)]
    assert (
        repeated_share(texts) < 0.1 < 0.9 < repeated_share([str(r["text"]) for r in made(200)[0]])
    )
    assert find_pieces(PreparedRows([{"text": text} for text in texts], PUBLIC)) is None


@pytest.mark.parametrize(("noise", "rows"), [(0.0, 200), (0.2, 400)])
def test_each_phrase_that_weighs_gets_the_label_that_most_texts_with_it_have(
    noise: float, rows: int
) -> None:
    rules = {rule.to_text() for rule in found(*made(rows, noise=noise)).rules}
    for place, mood in enumerate(MOODS):
        assert f'If the text mentions "{mood}", the label is "{LABELS[place % 2]}".' in rules
    assert 'If the text mentions "a cold soup", the label is "hen".' in rules


def test_no_sentence_on_shuffled_labels_but_by_the_chance_that_is_told() -> None:
    wrong = 0
    for seed in range(8):
        rows, labels = made(120, seed)
        random.Random(seed).shuffle(labels)
        wrong += bool(found(rows, labels).rules)
    assert wrong <= 2  # a tenth, and what chance adds to that


def test_phrases_that_do_not_weigh_are_not_spoken_of() -> None:
    rules = found(*made(200, weigh=False)).rules
    assert all("came along" not in rule.to_text() for rule in rules)
    assert {rule.to_text().split('"')[1] for rule in rules} >= set(MEALS)


def test_the_sentences_are_read_back() -> None:
    rows, labels = made(200, noise=0.3)
    told = find_text_rules(rows, labels, PUBLIC, 150_000)
    assert told.rules and told.meta["tried"] > 10
    for rule in told.rules:
        assert compile_sentence(rule.to_text(), PUBLIC) == rule


def test_a_rule_names_the_whole_phrase() -> None:
    rows, _ = made(200)
    labels = ["cat" if "siren" in str(row["text"]) else "dog" for row in rows]
    told = find_text_rules(rows, labels, PUBLIC, 150_000)
    assert (
        told.rules[0]
        .to_text()
        .startswith('If the text mentions "the loud siren", the label is "cat"')
    )


def test_the_regression_finds_the_weights_that_made_the_labels() -> None:
    random_ = np.random.default_rng(1)
    x = (random_.random((4_000, 5)) < 0.5).astype(np.float64)
    true = np.array([[1.0, -1, 0], [0, 2, -2], [0, 0, 0], [-1, 1, 0], [2, 0, -1.0]])
    scores = x @ true
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    codes = np.array([random_.choice(3, p=one) for one in p])
    w = fit_weights(x, codes, 3, Setting(0.1))
    assert (
        np.abs(
            (w[:-1] - w[:-1].mean(1, keepdims=True)) - (true - true.mean(1, keepdims=True))
        ).max()
        < 0.3
    )
    assert np.allclose(predict_proba(x, w).sum(1), 1)
    assert select_setting(x[:300], codes[:300], 3).right > 0.5


def test_labels_changed_at_random_do_not_bend_the_weights_and_their_share_is_found() -> None:
    random_ = np.random.default_rng(2)
    x = (random_.random((600, 6)) < 0.5).astype(np.float64)
    true = random_.uniform(-5, 5, (6, 3))
    clean = (x @ true).argmax(1)
    codes = np.where(random_.random(600) < 0.3, (clean + random_.integers(1, 3, 600)) % 3, clean)
    found = select_setting(x, codes, 3)
    assert found.setting.slips in (0.2, 0.3)
    right = [
        (predict_proba(x, fit_weights(x, codes, 3, setting)).argmax(1) == clean).mean()
        for setting in (found.setting, Setting(found.setting.penalty))
    ]
    assert right[0] >= max(right[1], 0.95)
