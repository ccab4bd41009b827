"""Classes of equal predictions give the scores that are computed on all inputs.

Internals: classes are compared with the predictions that they were made of.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.records import Predictions
from peirce.tools import scatter_point
from peirce.tools.gear.prediction_classes import UNDEFINED, classify_predictions, recall_classes
from peirce.tools.gear.scores import (
    Coverage,
    intersections,
    scatter_point_of_classes,
    score_classes,
    score_set,
    stack_predictions,
)


def predictions(rows):
    """Of each row, None is undefined."""
    return [
        Predictions(
            np.array([0 if one is None else one for one in row], np.int64),
            np.array([one is None for one in row], np.uint8),
            ("ValueError",),
        )
        for row in rows
    ]


@st.composite
def tables(draw, most_rows=6):
    rows, inputs = draw(st.integers(1, most_rows)), draw(st.integers(0, 12))
    cell = st.none() | st.integers(0, 2)
    return draw(
        st.lists(
            st.lists(cell, min_size=inputs, max_size=inputs), min_size=rows, max_size=rows
        )
    )  # fmt: skip


def first_with(rows, row, place):
    """The number of the first row with the same prediction, which is the definition of a class."""
    own = rows[row][place]
    return UNDEFINED if own is None else [one[place] for one in rows].index(own)


@given(tables())
def test_a_class_is_the_first_hypothesis_with_the_same_prediction(rows):
    found = classify_predictions(predictions(rows))
    inputs = len(rows[0])
    assert found.patterns[:, found.places].tolist() == [
        [first_with(rows, row, place) for place in range(inputs)] for row in range(len(rows))
    ]
    columns = [tuple(column) for column in found.patterns.T.tolist()]
    assert len(set(columns)) == len(columns) == len(found.counts)
    assert found.counts.sum() == inputs
    assert list(found.first) == sorted(found.first)
    assert [list(found.places).index(at) for at in range(len(columns))] == list(found.first)


@given(tables(), st.randoms())
def test_some_hypotheses_in_another_order_are_classified_as_if_alone(rows, random):
    chosen = random.sample(range(len(rows)), random.randint(1, len(rows)))
    made = predictions(rows)
    some = classify_predictions(made).select(chosen)
    alone = classify_predictions([made[row] for row in chosen])
    assert (some.patterns[:, some.places] == alone.patterns[:, alone.places]).all()


@given(tables())
def test_scores_are_those_of_all_inputs(rows):
    made = predictions(rows)
    codes, defined = stack_predictions(made)
    classes = classify_predictions(made)
    expected = score_set(codes, defined)
    assert score_classes(classes)[:3] == expected[:3]
    assert classes.shared.tolist() == intersections(codes, defined).tolist()
    assert scatter_point_of_classes(classes) == scatter_point(codes, defined)
    covered, new = Coverage(len(rows[0])), []
    for one in made:
        new.append(int((one.defined & ~covered.covered_mask(one)).sum()))
        covered.add(one)
    assert classes.new.tolist() == new


def test_very_many_hypotheses_have_the_classes_of_their_definition():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 60, (70, 200)).tolist()  # more combinations than an integer has values
    found = classify_predictions(predictions(rows))
    assert found.patterns[:, found.places].tolist() == [
        [first_with(rows, row, place) for place in range(200)] for row in range(70)
    ]


def test_the_same_predictions_are_compared_once_and_others_anew():
    first, second, third = predictions([[1, 2, 3], [1, 5, None], [1, 2, 3]])
    both = recall_classes([first, second])
    assert recall_classes([first, second]) is both
    assert recall_classes([second, first]).patterns[:, both.places].tolist() == [
        [0, 0, -1],
        [0, 1, 1],
    ]
    assert recall_classes([first, third]).patterns.tolist() == [[0], [0]]
    assert recall_classes([first, second]).patterns.tolist() == both.patterns.tolist()


def test_predictions_for_different_inputs_are_refused():
    with pytest.raises(ValueError, match="different sizes"):
        classify_predictions(predictions([[1, 2], [1]]))
