"""`weighted`: what a regression over the sentences of a bank adds to their votes, and what it may read.

Internals: the regression's coefficients are compared with a slow one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from peirce.graphs.inference import Entry, Reading, RowPredictions, predict, weigh_entries
from peirce.graphs.inference.weighing import encode_labels
from peirce.graphs.inference.weighted import FeatureScale, fit_weights, sigmoid
from peirce.records import InputSet, Json, Observation, View
from peirce.tools import accuracy
from peirce.tools.sentence_rules import PreparedRows, Rule, compile_sentence

PUBLIC = {"labels": ["cold", "warm"], "columns": {"text": {"kind": "text"}}, "shape": "text"}
GOOD = [f"good{i}" for i in range(12)]
BAD = [f"bad{i}" for i in range(12)]
NOISE = [f"word{i}" for i in range(30)]


def rows(count: int, seed: int) -> list[Observation]:
    """Texts whose label is whether they hold more good words than bad ones."""
    draw = random.Random(seed)
    found: list[Observation] = []
    while len(found) < count:
        words = draw.sample(GOOD, draw.randrange(7)) + draw.sample(BAD, draw.randrange(7))
        balance = sum(word in GOOD for word in words) * 2 - len(words)
        if balance:
            words += draw.sample(NOISE, 10)
            draw.shuffle(words)
            label = "warm" if balance > 0 else "cold"
            found.append(Observation({"text": " ".join(words)}, label))
    return found


def listed(more: Sequence[str], less: Sequence[str]) -> str:
    one, two = (", ".join(f'"{word}"' for word in some) for some in (more, less))
    return f'If the text mentions more of {one} than of {two}, the label is "warm".'


SENTENCES = [
    *(listed(GOOD[i : i + 4], BAD[i : i + 4]) for i in (0, 4, 8)),
    'If the text mentions "word1", the label is "warm".',
]


def reading(
    sentences: Sequence[str], shown: Sequence[Observation], public: Json = PUBLIC
) -> Reading:
    async def judge(text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        rule = compile_sentence(text, public)
        assert isinstance(rule, Rule)
        return rule.codes(PreparedRows(inputs, public))

    view = View("made", "labels", "text", tuple(shown), public, InputSet("space", ()))
    return Reading(tuple(Entry(one, 0.6, 10) for one in sentences), view, judge)


def read(name: str, one: Reading, of: Sequence[Observation]) -> RowPredictions:
    return asyncio.run(predict(name, one, [row.input for row in of]))


def right(name: str, one: Reading, of: Sequence[Observation]) -> float:
    return accuracy(read(name, one, of).codes, encode_labels(one, [row.output for row in of]))


def with_validation(one: Reading, validation: Sequence[Observation]) -> Reading:
    return asyncio.run(weigh_entries(one, validation))


def test_how_many_more_tells_more_than_that_there_are_more() -> None:
    one = with_validation(reading(SENTENCES, rows(60, 1)), rows(200, 2))
    test = rows(300, 3)
    assert right("weighted", one, test) > 0.97 > right("multi", one, test) + 0.05
    assert read("weighted", one, test).counts == {"weights": 300}


def test_without_validation_rows_the_shown_rows_weigh() -> None:
    assert right("weighted", reading(SENTENCES, rows(200, 2)), rows(300, 3)) > 0.95


def test_a_sentence_that_only_looked_good_on_shown_rows_weighs_little() -> None:
    """Shown rows on which the fourth sentence is always right, validation rows on which it is not."""
    planted = [
        replace(row, input={"text": row.input["text"].replace("word1 ", "") + " word1"})
        if row.output == "warm"
        else replace(row, input={"text": row.input["text"].replace("word1", "word2")})
        for row in rows(200, 4)
    ]
    one = with_validation(reading(SENTENCES, planted), rows(200, 2))
    assert right("weighted", one, rows(300, 3)) > 0.95


def test_labels_of_the_rows_that_are_predicted_tell_nothing() -> None:
    one = with_validation(reading(SENTENCES, rows(60, 1)), rows(100, 2))
    test = rows(50, 3)
    turned = [replace(row, output="cold" if row.output == "warm" else "warm") for row in test]
    assert read("weighted", one, test) == read("weighted", one, turned)


def test_a_validation_row_is_not_predicted_by_its_own_label() -> None:
    """A bank of chance: what is said of validation rows is no better than chance on them either."""
    nothing = [f'If the text mentions "word{i}", the label is "warm".' for i in range(25)]
    validation = rows(120, 2)
    one = with_validation(reading(nothing, rows(60, 1)), validation)
    assert right("weighted", one, validation) < 0.62


def test_every_label_of_three_is_told() -> None:
    public = {**PUBLIC, "labels": ["a", "b", "c"]}
    draw = random.Random(7)
    made = [
        Observation({"text": f"{word} {' '.join(draw.sample(NOISE, 5))}"}, label)
        for label, word in [("a", "ant"), ("b", "bee"), ("c", "cat")] * 30
    ]
    said = [
        f'If the text mentions "{word}", the label is "{label}".'
        for label, word in [("a", "ant"), ("b", "bee"), ("c", "cat")]
    ]
    one = with_validation(reading(said, made[:30], public), made[30:60])
    assert right("weighted", one, made[60:]) == 1.0


def test_the_weights_are_those_of_a_ridge_logistic_regression() -> None:
    """The slope of the penalised loss is 0 there."""
    draw = np.random.default_rng(3)
    features = draw.normal(size=(80, 4)) * [1.0, 5.0, 0.1, 1.0]
    marks = features[:, 0] + features[:, 1] / 5 + draw.normal(size=80) > 0
    counted = draw.uniform(0.3, 1.0, 80)
    scale = FeatureScale.from_features(features, False)
    z = scale.transform(features)
    w = fit_weights(z, marks, counted, 10.0, False)
    miss = counted * (sigmoid(z @ w[:-1] + w[-1]) - marks)
    assert z.T @ miss + 10.0 * w[:-1] == pytest.approx(np.zeros(4), abs=1e-6)
    assert miss.sum() == pytest.approx(0, abs=1e-4)
    assert scale.transform(features * 100).max() == 3.0


def test_through_zero_a_row_turned_round_has_the_other_chance() -> None:
    draw = np.random.default_rng(4)
    features = draw.normal(size=(60, 3)) + 1.0
    marks = features[:, 0] > features[:, 1]
    scale = FeatureScale.from_features(features, True)
    w = fit_weights(scale.transform(features), marks, np.ones(60), 3.0, True)
    assert w[-1] == pytest.approx(0.0)
    assert scale.transform(-features) @ w[:-1] == pytest.approx(
        -(scale.transform(features) @ w[:-1])
    )


def test_the_sentence_with_the_greatest_weight_for_the_label_is_named() -> None:
    """The sentences about one word of each label decide, and never one that names another label."""
    for labels in (["cold", "warm"], ["cold", "warm", "mild"]):
        public = {**PUBLIC, "labels": labels}
        said = [
            'If the text mentions "word1", the label is "warm".',
            'If the text mentions "snow", the label is "cold".',
            'If the text mentions "sun", the label is "warm".',
        ]
        words = {"cold": "snow", "warm": "sun", "mild": "wind"}
        made = [
            Observation({"text": f"{words[label]} word{place % 2} number{place}"}, label)
            for place in range(60)
            for label in labels
        ]
        one = with_validation(reading(said, made[:60], public), made[60:])
        found = read("weighted", one, [*made[:2], Observation({"text": "word1"}, "warm")])
        assert [(labels[it.code], it.entry) for it in found.decisions[:2]] == [
            ("cold", 1), ("warm", 2)
        ]  # fmt: skip
        by_itself = found.decisions[2]
        assert by_itself.entry == (0 if labels[by_itself.code] == "warm" else None)
    single = with_validation(reading(SENTENCES[:1], rows(60, 1)), rows(100, 2))
    warm = [it for it in read("weighted", single, rows(50, 3)).decisions if it.code == 1]
    assert warm and {it.entry for it in warm} <= {0, None} and 0 in {it.entry for it in warm}


@pytest.mark.parametrize("labels", [["a", "b"], ["first", "second"], ["x", "y"]])
def test_labels_that_could_name_sides_of_a_pair_are_plain_labels_of_single_texts(
    labels: list[str],
) -> None:
    public = {**PUBLIC, "labels": labels}
    draw = random.Random(3)
    texts = [" ".join(draw.choices(NOISE, k=draw.randrange(20, 60))) for _ in range(200)]
    gold = [labels[len(text.split()) < 40] for text in texts]
    made = [Observation({"text": text}, label) for text, label in zip(texts, gold, strict=True)]
    sentence = (
        f'If the text has at least 40 words, the label is "{labels[0]}"; otherwise, the label is'
        f' "{labels[1]}".'
    )
    one = with_validation(reading([sentence], made[:100], public), made[100:150])
    assert right("weighted", one, made[150:]) > 0.9
