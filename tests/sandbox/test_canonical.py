"""The equality rule: one form for equal values, different forms for different ones, compared with
a naive definition of the rule; the fast path and the slow path give the same codes.

Internals: the bytes of the equality rule are compared with a naive definition of it.
"""

from __future__ import annotations

import json
import math
import struct
from collections import Counter, OrderedDict, namedtuple
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.sandbox import Unrepresentable, code_of, equal
from peirce.sandbox.inside.canonical import (
    canonical_bytes,
    code_bytes,
    make_coder,
    stored_bytes,
    to_json_value,
)

AWKWARD = [0, 1, True, False, 1.0, -0.0, 0.5, math.nan, math.inf, -math.inf, None, "", "1", "\ud800",
           2**31, -(2**31) - 1, 2**63, 2**200, float(2**70), 1e300, "N", "i"]  # fmt: skip
scalars = st.one_of(st.sampled_from(AWKWARD), st.integers(), st.floats(), st.text(max_size=4))
keys = st.one_of(scalars, st.tuples(scalars, scalars))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


def naive(value: Any) -> Any:
    """The rule of equality, written down with Python's own equality."""
    if isinstance(value, (bool, int)):
        return ("number", Fraction(value))
    if isinstance(value, float):
        return ("number", Fraction(value) if math.isfinite(value) else repr(value))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(map(naive, value)))
    if isinstance(value, dict):
        pairs = Counter((naive(k), naive(v)) for k, v in value.items())
        return ("dict", frozenset(pairs.items()))
    return (type(value).__name__, value)


@given(values, values)
@settings(max_examples=200)
def test_forms_are_equal_exactly_where_the_naive_rule_says_so(a: Any, b: Any) -> None:
    assert (canonical_bytes(a) == canonical_bytes(b)) == (naive(a) == naive(b))


@given(
    st.lists(st.sampled_from(AWKWARD), max_size=3), st.lists(st.sampled_from(AWKWARD), max_size=3)
)
def test_near_misses_are_told_apart_as_the_naive_rule_does(a: Any, b: Any) -> None:
    assert equal(a, b) == (naive(a) == naive(b))


@given(values)
@settings(max_examples=100)
def test_the_coder_of_a_batch_agrees_with_code_of(value: Any) -> None:
    code = make_coder()
    assert code(value) == code(value) == code_bytes(value)
    assert int.from_bytes(code(value), "little", signed=True) == code_of(value)


@given(values)
@settings(max_examples=100)
def test_plain_values_are_strict_json_and_restore_to_equal_ones(value: Any) -> None:
    text = json.dumps(to_json_value(value), allow_nan=False)
    assert stored_bytes(json.loads(text)) == canonical_bytes(value)


grids = st.lists(
    st.lists(
        st.sampled_from([0, 1, 9, 2**31 - 1, -(2**31), 2**31, True, 1.0, "a"]) | st.integers(0, 9),
        max_size=5,
    ),
    max_size=5,
)


@given(grids)
def test_the_coder_agrees_on_grids_too(grid: Any) -> None:
    assert make_coder()(grid) == make_coder()(tuple(map(tuple, grid))) == code_bytes(grid)


def test_numbers_are_one_by_value_and_strings_are_not_numbers() -> None:
    assert equal(True, 1) and equal(1, 1.0) and equal(0, -0.0) and equal(math.nan, -math.nan)
    assert equal([1, (2, 3)], (True, [2.0, 3])) and equal({1: "a", "b": 2}, {"b": 2.0, True: "a"})
    assert not equal("1", 1) and not equal(None, 0) and not equal([], {}) and not equal("", [])
    assert equal(10**40, float(10**40)) is (float(10**40) == 10**40)


def test_the_form_is_pinned_so_codes_in_old_stores_keep_their_meaning() -> None:
    value = [1, -2, 2**40, 0.5, "é", None, [True, math.nan], {"b": (), 1: "x"}]
    expected = (
        "5b08000000"  # a list of 8
        "6901000000" "69feffffff" "6c03000000000000000004"  # 1, -2, 2**40
        "67000000000000e03f" "7502000000c3a9" "4e"  # 0.5, "é", None
        "5b02000000" "6901000000" "67000000000000f87f"  # [True, NaN]
        "7b" "6901000000" "750100000078" "750100000062" "5b00000000" "30"  # {1: "x", "b": ()}
    )  # fmt: skip
    assert canonical_bytes(value).hex() == expected
    assert code_of([3, 1, 2]) == code_of((3.0, True, 2)) == 4421385510906152871
    assert code_of([]) == -2251407713494116250


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        raise AssertionError("a method of an untrusted object ran")

    __index__ = __int__ = __bool__ = __float__ = __repr__ = __hash__  # type: ignore[assignment]


class ListLiar(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("a method of an untrusted object ran")

    __len__ = __getitem__ = __iter__  # type: ignore[assignment]


class ClassLiar:
    @property
    def __class__(self) -> Any:
        return int

    def __index__(self) -> int:
        raise AssertionError("a method of an untrusted object ran")


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [{1}, b"x", object(), 1j, Liar(3), ListLiar([1]), ClassLiar(), Point(1, 2), OrderedDict(a=1),
     range(3), iter([]), Fraction(1, 2), int, {"a": {1}}, [1, [2, Liar(3)]], [ClassLiar()], (1, {2})],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_other_types_have_no_form_and_run_no_method(value: Any) -> None:
    for image in (canonical_bytes, make_coder()):
        with pytest.raises(Unrepresentable) as caught:
            image(value)
        assert caught.value.reason == "unrepresentable"
    assert not equal(value, value)


def test_circular_values_have_no_form_but_shared_ones_do() -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    with pytest.raises(Unrepresentable, match="unrepresentable"):
        canonical_bytes(circle)
    shared = [1, 2]
    assert equal([shared, shared], [[1, 2], [1, 2]])


def test_sizes_are_bounded_before_anything_is_written() -> None:
    bomb: Any = [1]
    for _ in range(60):
        bomb = [bomb, bomb]
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    huge = 1 << 10_000_000
    for value in (bomb, deep, huge, [huge] * 10**6, "x" * 200_000, ["x" * 10**6] * 50, [0] * 30_000,
                  {i: i for i in range(30_000)}, [[0] * 10] * 10_000):  # fmt: skip
        for image in (canonical_bytes, make_coder()):
            with pytest.raises(Unrepresentable) as caught:
                image(value)
            assert caught.value.reason == "too_large"


def test_the_bound_is_the_same_on_the_fast_path() -> None:
    code = make_coder(max_bytes=30)
    assert code([1, 2, 3, 4, 5]) == code_bytes([1, 2, 3, 4, 5], 30)
    for value in ([1] * 6, ["abcdefghijklmnopqrstuvwxyz"], (1,) * 6):
        for image in (code, lambda v: canonical_bytes(v, 30)):
            with pytest.raises(Unrepresentable, match="too_large"):
                image(value)


def test_an_unknown_tag_is_an_error() -> None:
    with pytest.raises(ValueError, match="tag"):
        stored_bytes({"$set": [1]})


@pytest.mark.parametrize(
    "wrap",
    [lambda v: v, lambda v: [v], lambda v: [1, [v, None]], lambda v: {v: 1}, lambda v: {1: v}],
)
def test_two_surrogates_side_by_side_are_no_value_on_any_path(wrap: Any) -> None:
    """JSON reads them as one character, so a store would return another prediction than was made."""
    for text in ("\ud83d\ude00", "a\ud83d\ude00", "\ud800\udbff\udc00"):
        for form in (canonical_bytes, code_bytes, make_coder(), stored_bytes):
            with pytest.raises(Unrepresentable, match="unrepresentable"):
                form(wrap(text) if form is not stored_bytes else to_json_value(wrap(text)))
    for text in ("\U0001f600", "\ud83d", "\ude00\ud83d", "\ud83d \ude00", "\ud7ff\ude00"):
        assert code_bytes(wrap(text)) == make_coder()(wrap(text))
        assert stored_bytes(json.loads(json.dumps(to_json_value(wrap(text))))) == canonical_bytes(
            wrap(text)
        )
    odd = struct.unpack("<d", b"\xed\xa0\xbd\xed\xb8\x80\x01\x40")[0]  # the bytes of a pair
    assert code_bytes(wrap(odd)) == make_coder()(wrap(odd))
