"""What is chosen by validation rows, and pairs of texts the other way round.

Internals: weights and choices are compared with those worked by hand from validation rows.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Sequence

import numpy as np
import pytest
import reading_bank as bank
from numpy.typing import NDArray
from peirce.graphs.inference import (
    STRATEGIES,
    Entry,
    Reading,
    Worth,
    predict,
    update_right_rows,
    weigh_entries,
)
from peirce.graphs.inference.choose import choose_strategy
from peirce.graphs.inference.weighing import encode_labels
from peirce.records import DataError, InputSet, Json, Message, Observation, UsageError, View

ROWS = tuple(
    Observation(one, bank.LABELS[code]) for one, code in zip(bank.INPUTS, bank.GOLD, strict=True)
)

GIVEN = [row.output for row in ROWS]


def test_the_choice_is_the_best_on_validation_rows() -> None:
    chosen = asyncio.run(choose_strategy(bank.reading(top=3, patterns=2), bank.INPUTS, GIVEN))
    assert chosen.strategy == "filter-weight"
    assert chosen.accuracy["filter-weight"] == chosen.f1["filter-weight"] == 1.0
    assert chosen.accuracy["best"] == pytest.approx(4 / 6)
    assert list(chosen.accuracy) == list(chosen.f1) == list(STRATEGIES) and chosen.n == 6
    assert chosen.predicted["filter-weight"].codes == list(bank.GOLD)


def test_a_tied_choice_is_the_first_strategy() -> None:
    one = bank.reading({"A": (0.9, bank.GOLD, ())})
    assert (
        asyncio.run(choose_strategy(one, bank.INPUTS, GIVEN)).strategy
        == next(iter(STRATEGIES))
        == "multi"
    )


def test_without_validation_rows_there_is_nothing_to_choose_by() -> None:
    with pytest.raises(
        UsageError, match=r"no validation rows to choose a strategy with: use one of multi, best"
    ):
        asyncio.run(choose_strategy(bank.reading(), (), ()))


def test_entries_are_weighed_on_the_rows_they_apply_to() -> None:
    one = asyncio.run(weigh_entries(bank.reading(), ROWS))
    # A 1 1 . 1 0 . | B 1 0 . 0 0 . | C 0 1 1 . 1 . | D . . . 1 . 1, gold 1 1 1 0 0 0
    assert one.worth == (Worth(3, 4, 6), Worth(3, 4, 6), Worth(2, 4, 6), Worth(0, 2, 6))
    assert one.ranked == (0, 1, 2, 3)
    # D, wrong wherever it applies, now speaks against its label
    assert asyncio.run(predict("multi", one, bank.INPUTS)).codes[5] == 0


def test_weighing_without_rows_keeps_the_banks_worth() -> None:
    before = bank.reading()
    assert asyncio.run(weigh_entries(before, ())) is before


def test_rows_got_right_are_found_anew_on_the_shown_rows() -> None:
    one = bank.reading()
    inputs = [row.input for row in one.shown]
    codes = {"A": (0, 0, 1, 1, -1), "B": (1, -1, -2, 0, -3), "C": (0,) * 5, "D": (1,) * 5}
    made = asyncio.run(update_right_rows(bank.reading(judge=bank.Table(codes, inputs))))
    assert [entry.right for entry in made.entries] == [(0, 1, 3), (), (0, 1, 2), (3, 4)]


def test_a_label_that_the_reading_does_not_know_is_named() -> None:
    with pytest.raises(DataError, match="row 1 has the label 'refuse': it is none of deny, grant"):
        encode_labels(bank.reading(), ["deny", "refuse"])


# --- two texts the other way round ------------------------------------------------------------

PAIR = ("first", "second")


def turned(pair: Json) -> Json:
    return {"first": pair["second"], "second": pair["first"]}


def liked(text: str, pair: Json) -> int:
    """A sentence's label: the text of a pair whose digest with the sentence is lower; it applies to
    two thirds of the pairs. By content alone, as a rule that compares two texts."""
    marks = [hashlib.sha256(f"{text}|{pair[name]}".encode()).digest()[0] for name in PAIR]
    return -1 if marks[0] == marks[1] or sum(marks) % 3 == 0 else int(marks[1] < marks[0])


async def judge(text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
    return np.array([liked(text, one) for one in inputs], np.int64)


class PairPrompts(bank.Prompts):
    """The pair in full, in its order."""

    def infer_many(self, view: View, hypotheses: Sequence[str], input: Json) -> list[Message]:
        return [{"role": "user", "content": f"label|{input['first']}|{input['second']}"}]

    def judge_relevance(self, view: View, hypothesis: str, input: Json) -> list[Message]:
        return [{"role": "user", "content": f"{hypothesis}|{input['first']}|{input['second']}"}]

    def infer_adaptively(self, view: View, patterns: object, input: Json) -> list[Message]:
        return self.infer_many(view, (), input)

    def select_pattern(self, view: View, patterns: object, input: Json) -> list[Message]:
        return [{"role": "user", "content": f"number|{input['first']}|{input['second']}"}]


async def reader(role: str, place: str, messages: Sequence[Message]) -> str:
    """Reads the two texts, not their order."""
    asked, first, second = str(messages[0]["content"]).split("|")
    if asked == "label":
        return f"Final answer: {PAIR[max(liked('all', {'first': first, 'second': second}), 0)]}"
    number = sum(map(ord, first + second))
    return f"Pattern {number % 4}" if asked == "number" else ("yes" if number % 3 else "no")


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("asking", [False, True])
def test_pairs_the_other_way_round_get_the_other_label(name: str, asking: bool) -> None:
    draw = random.Random(5)
    words = [f"w{i}" for i in range(60)]
    pairs = [dict(zip(PAIR, draw.sample(words, 2), strict=True)) for _ in range(80)]
    if asking:
        pairs = [pair for pair in pairs if liked("all", pair) >= 0]
    entries = tuple(
        Entry(f"H{i}", draw.random(), 20, 0.0, tuple(draw.sample(range(8), 3))) for i in range(6)
    )
    shown = tuple(Observation(pair, PAIR[i % 2]) for i, pair in enumerate(pairs[:8]))
    view = View(
        "pairs",
        "labels",
        "text",
        shown,
        {"labels": list(PAIR), "shape": "pair"},
        InputSet("space", ()),
    )
    one = Reading(entries, view, judge, prompts=PairPrompts(), ask=reader if asking else None)
    forth = asyncio.run(predict(name, one, pairs)).decisions
    back = asyncio.run(predict(name, one, [turned(pair) for pair in pairs])).decisions
    decided = [(a, b) for a, b in zip(forth, back, strict=True) if a.how != "majority"]
    assert len(decided) > 20 and {a.code for a, _ in decided} == {0, 1}
    assert all(a.code == 1 - b.code and a.entry == b.entry for a, b in decided)
    assert all(a == b for a, b in zip(forth, back, strict=True) if a.how == "majority")
