"""Checks how the compact template writes values: in one line, and no two of them alike.

Internals: the two writers of values are called with values that no prompt holds together.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from peirce.tasks.io.compact_values import format_compact, join_lines

CELLS = st.integers(0, 9)
GRIDS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=3)
)
LEAVES = (
    st.none() | st.booleans() | st.integers(-12, 12) | st.floats() | GRIDS
    | st.text(max_size=4) | st.sampled_from(["on", "True", "nan", "red cube", "12/", "1 2", "a, b"])
    | st.lists(st.integers(-12, 12), max_size=3)
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b c", "1", "x: y"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ([3, 1, -12], "[3 1 -12]"),
        ([], "[]"),
        ([[0, 1], [2, 3]], "01/23"),
        ([[7]], "7/"),
        (7, "7"),
        ([[1, 2], [3]], "[[1 2], [3]]"),
        ([[10]], "[[10]]"),
        ([[True]], "[[True]]"),
        ([1, 2.0], "[1, 2.0]"),
        (["red metal cube", "blue cube"], "[red metal cube, blue cube]"),
        ("on", "on"),
        ("True", "'True'"),
        ("a,b", "'a,b'"),
        ("two\nlines", "'two\\nlines'"),
        ({"cm": 1, "a b": [[1, 0]]}, "{cm: 1, a b: 10/}"),
        (None, "None"),
    ],
)
def test_values_are_written_in_few_tokens(value, written):
    assert format_compact(value) == written


@settings(suppress_health_check=[HealthCheck.too_slow])  # clocks of a busy machine
@given(VALUES, VALUES)
def test_values_that_differ_are_written_differently_and_each_in_one_line(one, other):
    assert "\n" not in format_compact(one)
    assert (format_compact(one) == format_compact(other)) == (json.dumps(one) == json.dumps(other))


def test_one_line_takes_blanks_and_breaks_together():
    assert join_lines("  a\n\n b\tc ") == "a b c"
