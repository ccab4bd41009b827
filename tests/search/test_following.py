"""What is proposed next among candidates: novel by the protocol, likely first, then far and new.

Internals: the ranking of candidates is called with predictions worked by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from peirce.search.novelty import (
    MAX_COMPARED,
    MAX_EXTRA_COST,
    NoveltyRanker,
    Predictions,
    diversity_gain,
    new_share,
)


class Fixed:
    """A candidate whose predictions are written down; None is undefined."""

    def __init__(self, text: str, cost: float, values: Sequence[int | None]) -> None:
        self.text, self.sentence, self.cost, self.values = text, text, cost, values

    def predict(self, inputs: Sequence[int]) -> Predictions:
        given = [self.values[k] for k in inputs]
        return (
            np.array([v or 0 for v in given], np.int64),
            np.array([v is not None for v in given], bool),
        )


INPUTS = list(range(10))
FIRST = Fixed("first", 1.0, [1] * 10)
ALIKE = Fixed("alike", 1.5, [1] * 8 + [2] * 2)  # covered to exactly 0.8: redundant
NEAR = Fixed("near", 2.0, [1] * 7 + [2] * 3)
HALF = Fixed("half", 2.5, [1] * 7 + [3] * 3)
FAR = Fixed("far", 4.0, [9] * 10)
UNDEFINED = Fixed("undefined", 2.2, [None] * 10)
RANKED = [FIRST, ALIKE, NEAR, UNDEFINED, HALF, FAR]


def following() -> NoveltyRanker:
    return NoveltyRanker(INPUTS, 10)


def test_the_first_is_the_cheapest_and_what_is_covered_to_a_fifth_is_passed_over() -> None:
    assert following().choose(RANKED, [], frozenset()) is FIRST
    assert following().choose(RANKED, [FIRST], frozenset({"first"})) is NEAR


def test_after_some_by_price_the_one_that_adds_most_comes_next_where_there_are_many() -> None:
    known = [FIRST, Fixed("b", 1.0, [2] * 10), Fixed("c", 1.0, [3] * 10)]
    many = [Fixed(f"d{k}", 2.0, [1] * 5 + [k + 4] * 5) for k in range(MAX_COMPARED - 1)]
    assert following().choose([*known, *many, FAR], known, frozenset({"first"})) is FAR
    few = [*known, *many[1:], FAR]
    assert following().choose(few, known, frozenset({"first"})) is many[1], "the cheapest of few"
    dear = Fixed("dear", 2.0 + MAX_EXTRA_COST + 0.1, [9] * 10)
    chosen = following().choose([*known, *many, dear], known, frozenset({"first"}))
    assert chosen is many[0], "diversity is not bought with a rule that is far dearer"


def test_nothing_novel_left_is_no_answer() -> None:
    assert following().choose([FIRST, ALIKE], [FIRST], frozenset({"first"})) is None


def test_an_undefined_prediction_is_nothing_new() -> None:
    first, nothing = FIRST.predict(INPUTS), UNDEFINED.predict(INPUTS)
    assert new_share(nothing, [first]) == new_share(nothing, [nothing]) == 0.0
    assert new_share(first, [nothing]) == new_share(first, []) == 1.0
    assert diversity_gain(FAR.predict(INPUTS), [first]) == 2.0
    partial = Fixed("partial", 2.0, [5] * 2 + [None] * 8)
    assert following().choose([FIRST, partial], [FIRST], frozenset({"first"})) is None


def test_a_part_of_the_space_decides_only_what_is_looked_at() -> None:
    """Of 100 inputs 10 are met first; on those all is new, on the whole nearly nothing."""
    inputs = list(range(100))
    first = Fixed("first", 1.0, [1] * 100)
    cunning = Fixed("cunning", 2.0, [2 if k % 10 == 0 else 1 for k in inputs])
    honest = Fixed("honest", 3.0, [3] * 100)
    chosen = NoveltyRanker(inputs, 10).choose(
        [first, cunning, honest], [first], frozenset({"first"})
    )
    assert chosen is honest
