"""What the search says of labels that mean nothing, of odd values, and of very many columns.

Internals: significance of a rule is compared with exact tests on the same counts.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from peirce.records import Json
from peirce.search.text.engine import Problem
from peirce.search.text.significance import fisher_exact, most_significant, select_significant
from peirce.tools.sentence_rules import NotExact, compile_sentence


def said(
    rows: list[dict[str, Json]], labels: list[str], kinds: dict[str, str], expansions: float = 2_000
) -> tuple[list[str], Any]:
    shape = "text" if set(kinds.values()) == {"text"} else "fields"
    columns: Json = {name: {"kind": kind} for name, kind in kinds.items()}
    public: dict[str, Json] = {
        "shape": shape, "labels": sorted(set(labels)), "columns": columns,
    }  # fmt: skip
    shown: list[list[Any]] = [[row, label] for row, label in zip(rows, labels, strict=True)]
    answer = Problem(shown, [], expansions, public).propose([], frozenset())
    lines = answer.source.splitlines() if answer else []
    sentences = [line.partition(". ")[2] for line in lines]
    assert not any(isinstance(compile_sentence(one, public), NotExact) for one in sentences)
    return sentences, answer.meta if answer else {}


def shuffled(seed: int, rows: int, labels: int) -> tuple[list[dict[str, Json]], list[str]]:
    """Texts of 40 words, the labels dealt out at random."""
    drawn = random.Random(seed)
    words = ["".join(drawn.choices("aeioulmnrst", k=drawn.randrange(3, 9))) for _ in range(600)]
    weights = [1 / (place + 3) for place in range(600)]
    texts: list[dict[str, Json]] = [
        {"text": " ".join(drawn.choices(words, weights, k=40))} for _ in range(rows)
    ]
    given = [f"l{at % labels}" for at in range(rows)]
    drawn.shuffle(given)
    return texts, given


@pytest.mark.parametrize(("rows", "labels"), [(60, 2), (100, 5)])
def test_of_shuffled_labels_hardly_anything_is_said(rows: int, labels: int) -> None:
    wrong = sum(bool(said(*shuffled(seed, rows, labels), {"text": "text"})[0]) for seed in range(8))
    assert wrong <= 2


def test_a_phrase_that_was_chosen_by_the_labels_pays_for_all_phrases() -> None:
    wanted = np.arange(40) < 20
    holds = np.array([(np.arange(40) < 9) | (np.arange(40) == 30)])
    alone, of_many = (
        most_significant(holds, wanted, [1.0]),
        most_significant(holds, wanted, [1.0], unseen=999),
    )
    assert alone[1] < 0.05 < of_many[1]
    assert of_many[1] == pytest.approx(min(1.0, 1_000 * fisher_exact(holds[0], wanted)))
    assert select_significant([0.001, 0.5]) == [0]
    assert select_significant([0.001, 0.5], unseen=98) == []


def test_fishers_test_is_that_of_the_lady_who_tasted_tea() -> None:
    milk = np.arange(8) < 4
    said_milk = np.isin(np.arange(8), [0, 1, 2, 4])
    assert fisher_exact(said_milk, milk) == pytest.approx(34 / 70)
    assert fisher_exact(milk, milk) == pytest.approx(2 / 70)


def test_single_conditions_are_counted_among_those_tried() -> None:
    rows: list[dict[str, Json]] = [{"n": at} for at in range(60)]
    _, meta = said(rows, ["yes" if at > 30 else "no" for at in range(60)], {"n": "number"}, 0)
    assert meta["tried"] > 50


def test_a_sentence_stands_on_one_line_and_is_read_as_the_rule_it_was() -> None:
    rows: list[dict[str, Json]] = [{"a": one} for one in ("two\nlines", "one") * 30]
    labels = ["of\ntwo", "other"] * 30
    assert said(rows, labels, {"a": "choice"})[0]
    nameless: list[dict[str, Json]] = [{"": row["a"]} for row in rows]
    assert said(nameless, labels, {"": "choice"})[0] == []


def test_numbers_at_the_end_of_the_range_are_bounded() -> None:
    rows: list[dict[str, Json]] = [{"n": (-1) ** at * 1.7e308} for at in range(60)]
    assert said(rows, ["yes", "no"] * 30, {"n": "number"})[0]


def test_of_a_thousand_columns_the_one_that_decides_is_found() -> None:
    drawn = random.Random(1)
    kinds = {f"c{at}": "choice" for at in range(1_000)}
    rows: list[dict[str, Json]] = [
        {name: drawn.choice("PQR") for name in kinds} for _ in range(100)
    ]
    sentences, meta = said(rows, ["yes" if row["c7"] == "P" else "no" for row in rows], kinds)
    assert sentences == ['If c7 is "P", the label is "yes"; otherwise, the label is "no".']
    assert meta["tried"] > 4_000


def test_records_with_a_text_have_rules_about_fields_and_about_words() -> None:
    draw = random.Random(8)
    common = ["".join(draw.choices("aeioulmnrst", k=6)) for _ in range(80)]
    rows: list[dict[str, Json]] = []
    labels = []
    for _ in range(600):
        yes = draw.random() < 0.5
        word = draw.choice(
            ["lovely", "superb"] if yes == (draw.random() < 0.85) else ["dismal", "gloomy"]
        )
        words = [*draw.choices(common, k=20), word]
        draw.shuffle(words)
        stars = draw.randrange(3, 6) if yes == (draw.random() < 0.8) else draw.randrange(1, 4)
        rows.append({"stars": stars, "review": " ".join(words)})
        labels.append("yes" if yes else "no")
    sentences, _ = said(rows, labels, {"stars": "number", "review": "text"}, 100_000)
    assert any("stars" in one for one in sentences)
    assert any('"superb"' in one for one in sentences) and any(
        '"gloomy"' in one for one in sentences
    )
