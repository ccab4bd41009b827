"""Rules of equality: what of an output does not count, in the parent and in the child alike.

Internals: the bytes of the normal form of a value are compared with the codes that workers send.
"""

from __future__ import annotations

import math
import sys
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.sandbox.inside import canonical, tolerance

NUMBERS = [
    {"decimals": 0}, {"decimals": 2}, {"decimals": -2}, {"nearest": 0.5}, {"nearest": 0.3},
    {"significant": 1}, {"significant": 4},
]  # fmt: skip
RULES = [
    *({"numbers": rule} for rule in NUMBERS),
    {"strings": {"ignore": ["case"]}},
    {"strings": {"ignore": ["case", "blanks"]}},
    {"lists": {"ignore": "order"}},
    {"lists": {"ignore": "repeats", "at": "everywhere"}},
    {"numbers": {"decimals": 1}, "strings": {"ignore": ["case"]}, "lists": {"ignore": "repeats"}},
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 3), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(rule, first, second):
    normal = tolerance.make_normaliser(rule)
    a, b = (
        tolerance.normal_bytes(canonical.to_json_value(value), normal) for value in (first, second)
    )
    return a == b


@pytest.mark.parametrize(
    ("rule", "first", "second", "equal"),
    [
        ({"numbers": {"decimals": 1}}, 16.44, 16.4, True),
        ({"numbers": {"decimals": 1}}, 16.46, 16.4, False),
        ({"numbers": {"decimals": 0}}, 3, 2.6, True),
        ({"numbers": {"decimals": 0}}, True, 1.2, True),
        ({"numbers": {"decimals": -2}}, 1249, 1151, True),
        ({"numbers": {"nearest": 0.5}}, 2.74, 2.26, True),
        ({"numbers": {"nearest": 0.5}}, 2.76, 2.26, False),
        ({"numbers": {"significant": 2}}, 0.01249, 0.012, True),
        ({"numbers": {"significant": 2}}, 1249, 1200.0, True),
        ({"numbers": {"decimals": 1}}, [1.01, {"a": 2.04}], [1, {"a": 2}], True),
        ({"strings": {"ignore": ["case"]}}, "Straße", "STRASSE", True),
        ({"strings": {"ignore": ["case"]}}, "a b", "a  b", False),
        ({"strings": {"ignore": ["blanks"]}}, " a  b ", "a b", True),
        ({"lists": {"ignore": "order"}}, [3, 1, 1], [1, 3, 1], True),
        ({"lists": {"ignore": "order"}}, [3, 1, 1], [3, 1], False),
        ({"lists": {"ignore": "repeats"}}, [3, 1, 1], [1, 3], True),
        ({"lists": {"ignore": "order"}}, [[1, 2], [3]], [[3], [2, 1]], False),
        ({"lists": {"ignore": "order", "at": "everywhere"}}, [[1, 2], [3]], [[3], [2, 1]], True),
        ({"lists": {"ignore": "order"}}, {"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"numbers": {"decimals": 1}, "lists": {"ignore": "repeats"}}, [1.01, 1.04], [1], True),
        ({"numbers": {"decimals": 1}}, float("nan"), float("nan"), True),
        ({"numbers": {"decimals": 1}}, float("inf"), 1e308, False),
        ({"numbers": {"decimals": 1}}, None, 0, False),
        ({"numbers": {"decimals": 1}}, "1.01", "1.0", False),
    ],
)
def test_what_a_rule_takes_for_one(rule, first, second, equal):
    assert same(rule, first, second) is same(rule, second, first) is equal


@given(VALUES, st.sampled_from(RULES))
def test_the_child_codes_by_the_bytes_that_the_parent_compares(value, rule):
    normal = tolerance.make_normaliser(rule)
    form = tolerance.normal_bytes(canonical.to_json_value(value), normal)
    assert tolerance.make_coder(normal, 100_000)(value) == blake2b(form, digest_size=8).digest()


@given(VALUES, st.sampled_from(RULES))
def test_a_normal_form_is_its_own(value, rule):
    normal = tolerance.make_normaliser(rule)
    once = normal(canonical.to_json_value(value))
    assert canonical.stored_bytes(normal(once)) == canonical.stored_bytes(once)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(NUMBERS))
def test_a_rule_sees_the_value_of_a_number_and_not_its_type(value, rule):
    if value.is_integer():
        assert same({"numbers": rule}, value, int(value))


@given(st.floats(-1e12, 1e12), st.integers(0, 9))
def test_decimals_are_those_of_round(value, decimals):
    normal = tolerance.make_normaliser({"numbers": {"decimals": decimals}})
    assert normal(value) == round(value, decimals)


@given(st.floats(-1e9, 1e9), st.sampled_from([0.5, 0.3, 2, 0.01]))
def test_what_is_nearest_lies_within_half_a_step(value, step):
    found = tolerance.make_normaliser({"numbers": {"nearest": step}})(value)
    assert abs(found - value) <= step / 2 + 1e-6 * step + math.ulp(value)


def test_an_empty_rule_is_the_rule_of_all_tasks():
    for value in (1, 1.5, "A ", [2, 1], {"a": (1, 2)}, {1: None}, float("nan")):
        assert tolerance.make_coder(tolerance.make_normaliser({}), 100)(
            value
        ) == canonical.code_bytes(value)


def test_no_method_of_a_strange_object_runs():
    class Sly(float):
        def __float__(self):
            raise AssertionError

        as_integer_ratio = __float__

    code = tolerance.make_coder(tolerance.make_normaliser({"numbers": {"decimals": 1}}), 1000)
    for value in (Sly(1.0), [Sly(1.0)], {1, 2}):
        with pytest.raises(canonical.Unrepresentable):
            code(value)


def test_a_value_within_its_bytes_has_a_code_though_casefolding_makes_it_longer():
    normal = tolerance.make_normaliser({"strings": {"ignore": ["case"]}})
    value = "\u0390" * 1_000  # one letter, three once its case is folded
    most = len(canonical.canonical_bytes(value))
    form = tolerance.normal_bytes(canonical.to_json_value(value), normal, most)
    assert len(form) > 2 * most
    assert tolerance.make_coder(normal, most)(value) == blake2b(form, digest_size=8).digest()


@pytest.mark.parametrize("ignored", ["order", "repeats"])
@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: [{"a": v}], lambda v: [0, [v, 1]]])
def test_the_work_of_a_rule_grows_with_the_size_of_a_value_and_not_with_its_depth(
    ignored, wrap
) -> None:
    """Each list was once written again for every list around it. Work is counted in calls."""
    normal = tolerance.make_normaliser({"lists": {"ignore": ignored, "at": "everywhere"}})

    def calls(depth: int) -> int:
        value, count = [[n] for n in range(300)], 0
        for _ in range(depth):
            value = wrap(value)

        def counted(_frame, event, _argument):
            nonlocal count
            count += event == "call"

        sys.setprofile(counted)
        try:
            tolerance.normal_bytes(value, normal)
        finally:
            sys.setprofile(None)
        return count

    assert calls(48) < 1.5 * calls(1)
