"""Memorising hypotheses: flagged by what they do and by what their source holds, both.

Internals: both signs of memorising are functions of their own, which are checked apart.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.records import Observation, Predictions
from peirce.tools.gear.memorisation import (
    Inputs,
    contains_pairs,
    find_literals,
    is_memorising,
    is_mostly_constant,
)

SHOWN = (Observation([1, 2], [3]), Observation([4], [5, 6]))
SPACE = [[1, 2], [4], *([i] for i in range(100, 138))]
OTHER = Inputs(SPACE).mask_unshown(SHOWN)
TABLE = "def f(x):\n    return {(1, 2): [3], (4,): [5, 6]}[tuple(x)]"


def predictions(codes):
    """None where undefined."""
    reasons = np.array([code is None for code in codes], np.uint8)
    return Predictions(np.array([code or 0 for code in codes], np.int64), reasons, ("KeyError",))


UNDEFINED = predictions([7, 8] + [None] * 38)
CONSTANT = predictions([7, 8] + [5] * 38)
RULE = predictions(list(range(40)))


def test_a_table_that_is_undefined_elsewhere_memorises():
    assert is_memorising(TABLE, SHOWN, UNDEFINED, OTHER)


def test_a_table_with_a_constant_for_the_rest_memorises():
    assert is_memorising(TABLE, SHOWN, CONSTANT, OTHER)


def test_a_table_that_falls_back_on_a_rule_does_not():
    assert not is_memorising(TABLE, SHOWN, RULE, OTHER)


def test_an_honest_constant_and_an_honest_rule_with_examples_do_not():
    assert not is_memorising("def f(x):\n    return [3]", SHOWN, CONSTANT, OTHER)
    assert not is_memorising(TABLE, SHOWN, RULE, OTHER)


def test_nobody_memorises_where_nothing_is_shown():
    assert not is_memorising(TABLE, (), UNDEFINED, Inputs(SPACE).mask_unshown(()))


def test_95_percent_is_enough_and_less_is_not():
    # 38 inputs that were not shown: 37 are 97%, 36 are 94.7%.
    assert is_memorising(TABLE, SHOWN, predictions([7, 8, 1] + [5] * 37), OTHER)
    assert not is_memorising(TABLE, SHOWN, predictions([7, 8, 1, 2] + [5] * 36), OTHER)
    assert is_mostly_constant(predictions([5] * 19 + [1]), np.ones(20, bool))  # exactly 95%


def test_undefined_and_constant_inputs_count_together():
    assert is_memorising(TABLE, SHOWN, predictions([7, 8] + [5, None] * 19), OTHER)


def test_shown_inputs_are_found_in_s_by_value():
    assert Inputs([[1.0, True], (4,), [2]]).mask_unshown(
        (Observation([1, 1], 0), Observation([4], 0))
    ).tolist() == [False, False, True]


@pytest.mark.parametrize(
    "source",
    [
        TABLE,
        "def f(x):\n    if x == [1, 2]:\n        return [3]\n    return [5, 6] if x == [4] else None",
        "def f(x):\n    return {'[1, 2]': [3], '[4]': [5, 6]}.get(str(x))",
        "PAIRS = [([1, 2], [3]), ([4], [5, 6])]\ndef f(x):\n    return dict(PAIRS)[x]",
        "import json\ndef f(x):\n    return json.loads('[[[1, 2], [3]], [[4], [5, 6]]]')",
    ],
)
def test_pairs_are_found_in_tables_tests_and_strings(source):
    assert contains_pairs(source, SHOWN)


def test_one_pair_missing_is_not_all_pairs():
    assert not contains_pairs("def f(x):\n    return {(1, 2): [3]}.get(tuple(x))", SHOWN)


def test_negative_numbers_strings_and_grids_are_literals():
    shown = (Observation([["red", "blue"], [-1, 2.5]], "on"),)
    assert contains_pairs(
        "def f(x):\n    return 'on' if x == [('red', 'blue'), (-1, 2.5)] else 0", shown
    )


@pytest.mark.parametrize(
    "source", ["def f(x:", "x = " + "(" * 5_000, "-" * 5_000 + "1", "\0", "é = '\\q'"]
)
def test_odd_sources_hold_nothing_and_raise_nothing(source):
    assert not contains_pairs(source, SHOWN)
    find_literals(source)


@given(st.lists(st.none() | st.integers(0, 3), max_size=60), st.data())
def test_unvaried_is_what_counting_says(codes, data):
    among = data.draw(st.lists(st.booleans(), min_size=len(codes), max_size=len(codes)))
    kept = [code for code, one in zip(codes, among, strict=True) if one]
    defined = [code for code in kept if code is not None]
    most = max((defined.count(code) for code in defined), default=0)
    expected = bool(kept) and 100 * (len(kept) - len(defined) + most) >= 95 * len(kept)
    assert is_mostly_constant(predictions(codes), np.array(among, bool)) == expected


def test_inputs_without_their_outputs_are_not_all_pairs():
    assert not contains_pairs("def f(x):\n    return x if x in ([1, 2], [4]) else None", SHOWN)
    assert not contains_pairs("def f(x):\n    return [3] if len(x) == 2 else [5, 6]", SHOWN)


def test_exceptions_that_stand_apart_are_no_more_than_those_side_by_side():
    # 40 inputs, 2 exceptions: 95% in either order, though the prediction changes four times.
    everywhere = np.ones(40, bool)
    assert is_mostly_constant(predictions([1, 2] + [5] * 38), everywhere)
    assert is_mostly_constant(predictions([5] * 9 + [1] + [5] * 20 + [2] + [5] * 9), everywhere)


@pytest.mark.parametrize(("strings", "found"), [(0, True), (1, True), (3, True), (4, False)])
def test_pairs_are_found_up_to_three_strings_deep(strings, found):
    text = "[[[1, 2], [3]], [[4], [5, 6]]]"
    for _ in range(strings):
        text = repr(text)
    assert contains_pairs(f"TABLE = {text}\ndef f(x):\n    return None", SHOWN) == found


def test_negative_floats_are_literals():
    shown = (Observation([-0.5], -2.25),)
    assert contains_pairs("def f(x):\n    return {(-0.5,): -2.25}.get(tuple(x))", shown)
    assert not contains_pairs("def f(x):\n    return {(0.5,): 2.25}.get(tuple(x))", shown)
