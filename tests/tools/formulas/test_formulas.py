"""The language of formulas: text and tree say the same, nothing else is a formula, values are those
of NumPy, and constants are fitted.

Internals: the trees and the fitting that laws and their search share; the task `laws` shows them.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.tools.formulas import (
    FUNCTIONS,
    Column,
    Constant,
    Expression,
    FormulaError,
    Number,
    Operation,
    differentiate_formula,
    estimate_noise,
    evaluate_formula,
    fit_constants,
    format_formula,
    free_numbers,
    list_columns,
    list_numbers,
    make_identifiers,
    parse_formula,
    replace_numbers,
)

COLUMNS = {
    "m": np.array([1.0, 2.0, 3.0]),
    "v": np.array([2.0, -1.0, 0.0]),
    "kind": np.array(["a b", "c", "a b"]),
}


def read(text: str, **more: bool) -> Expression:
    return parse_formula(text, list(COLUMNS), ["kind"], **more)


def values(text: str) -> list[float]:
    return evaluate_formula(read(text), COLUMNS).tolist()


LEAVES = st.one_of(
    st.floats(0, 1e9).map(Number),
    st.sampled_from([Constant("pi"), Column("m"), Column("v"), Number(-2.0)]),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "**", "<", ">=", "and", "or"]), inner, inner)
        .map(lambda three: Operation(three[0], three[1:])),
        st.tuples(st.sampled_from([*FUNCTIONS, "not"]), inner)
        .map(lambda two: Operation(two[0], two[1:])),
        inner.filter(lambda one: not isinstance(one, Number))
        .map(lambda one: Operation("negate", (one,))),
        st.tuples(inner, inner, inner).map(lambda three: Operation("where", three)),
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200)
@given(TREES)
def test_the_text_of_a_formula_reads_as_the_same_tree(tree: Expression) -> None:
    assert read(format_formula(tree)) == tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5 * m * v ** 2", [2.0, 1.0, 0.0]),
        ("energy = 0.5*m*v^2", [2.0, 1.0, 0.0]),
        ("-v ** 2", [-4.0, -1.0, 0.0]),
        ("2 ** m ** 2 / 2", [1.0, 8.0, 256.0]),
        ("np.sqrt(m ** 2) + ln(e)", [2.0, 3.0, 4.0]),
        ("where(kind == 'a b', m, -m)", [1.0, -2.0, 3.0]),
        ("(kind != 'c') * 2", [2.0, 0.0, 2.0]),
        ("m if 1 < m <= 2 else 0", [0.0, 2.0, 0.0]),
        ("7", [7.0, 7.0, 7.0]),
    ],
)
def test_a_formula_has_the_values_that_it_says(text: str, expected: list[float]) -> None:
    assert values(text) == pytest.approx(expected)


def test_undefined_values_are_not_finite_and_raise_nothing() -> None:
    assert [np.isfinite(one) for one in values("log(v)")] == [True, False, False]
    assert [np.isfinite(one) for one in values("1 / v")] == [True, True, False]
    assert not np.isfinite(values("exp(1000 * m)")).any()
    assert values("where(v > 0, log(v), 0)")[1:] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no formula"),
        ("mass * v", "there is no column mass"),
        ("sinh(m)", "there is no function sinh; did you mean sin?"),
        ("kind + 1", "the column kind holds texts"),
        ("kind < 'c'", "may only be compared"),
        ("'c'", "may only be compared"),
        ("c0 * m", "c0 is a free constant"),
        ("sqrt(m, v)", "sqrt takes one argument, not 2"),
        ("sqrt", "sqrt is a function"),
        ("1e999 * m", "too large"),
        ("m.real", "is not a part of a formula"),
        ("__import__('os')", "there is no function __import__"),
        ("[m]", "is not a part of a formula"),
        ("m ** ", "it is no formula"),
        ("(" * 300 + "m" + ")" * 300, "nested"),
        ("-" * 200 + "v", "nested more than"),
        ("m + " * 999 + "m", "nested"),
        ("m" * 5_000, "at most 4,000"),
    ],
)
def test_what_is_no_formula_is_refused_in_a_clause(text: str, reason: str) -> None:
    with pytest.raises(FormulaError, match=r"(?s)^.{5,200}$") as error:
        read(text)
    assert reason in str(error.value)


def test_numbers_are_listed_and_replaced_in_order() -> None:
    tree = read("0.5 * m * (v - 3) ** 2")
    assert list_numbers(tree) == [0.5, 3.0, 2.0]
    assert list_columns(tree) == ["m", "v"]
    assert format_formula(replace_numbers(tree, [1, -1, 4])) == "1 * m * (v - -1) ** 4"
    free, found = free_numbers(tree)
    assert format_formula(free) == "c0 * m * (v - c1) ** c2"
    assert found == {"c0": 0.5, "c1": 3.0, "c2": 2.0}


def test_each_column_gets_an_identifier_of_its_own() -> None:
    names = ["mass (kg)", "mass [kg]", "2nd", "sin", "lambda", "", "m", "größe"]
    assert list(make_identifiers(names).values()) == [
        "mass_kg", "mass_kg_2", "x_2nd", "sin_2", "lambda_2", "column", "m", "größe",
    ]  # fmt: skip


def test_derivatives_agree_with_differences() -> None:
    tree = read("c0 * exp(-c1 * m) + sqrt(c2 + m) / (1 + c1 * v ** 2) + abs(c0) ** c1", free_constants=True)  # fmt: skip
    at = {"c0": 1.5, "c1": 0.7, "c2": 2.0}
    _, slopes = differentiate_formula(tree, COLUMNS, at)
    for place, name in enumerate(at):
        sides = [evaluate_formula(tree, COLUMNS, {**at, name: at[name] + h}) for h in (1e-6, -1e-6)]
        assert slopes[place] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("c0 * x + c1", [2.5, -1.0]),
        ("c0 * exp(-c1 * x)", [3.0, 0.7]),
        ("c0 * sin(c1 * x + c2)", [2.0, 1.3, 0.5]),
        ("c0 * x ** c1 + c2", [0.5, 1.5, -2.0]),
        ("c0 / (c1 + x)", [4.0, 2.0]),
    ],
)
def test_constants_are_found_again(text: str, constants: list[float]) -> None:
    x = np.linspace(0.5, 4, 60)
    tree = parse_formula(text, ["x"], free_constants=True)
    true = {f"c{place}": value for place, value in enumerate(constants)}
    y = evaluate_formula(tree, {"x": x}, true)
    fit = fit_constants(tree, {"x": x}, y)
    assert fit.rms < 1e-10 * np.std(y)
    assert fit.defined == 60


def test_rows_where_a_formula_is_undefined_are_left_out_of_the_fit() -> None:
    x = np.array([-1.0, 0.0, 1.0, 2.0, 4.0])
    fit = fit_constants(parse_formula("c0 * log(x)", ["x"], free_constants=True), {"x": x}, np.log(
        np.maximum(x, 1.0)) * 3)  # fmt: skip
    assert format_formula(fit.formula) == "3 * log(x)"
    assert fit.defined == 3


@pytest.mark.parametrize("noise", [1e-3, 1e-2, 0.3])
def test_noise_is_estimated_without_the_law(noise: float) -> None:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(1, 3, 200), rng.uniform(1, 3, 200)
    y = x * z + np.sin(x)
    found = estimate_noise({"x": x, "z": z}, y + noise * np.std(y) * rng.standard_normal(200))
    assert 0.85 * noise < found / np.std(y) < 1.3 * noise


def test_repeated_rows_measure_the_noise() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat(rng.uniform(0, 100, 40), 5)
    y = np.repeat(rng.uniform(0, 100, 40), 5) + rng.standard_normal(200)  # no smoother follows it
    assert estimate_noise({"x": x}, y) == pytest.approx(1.0, rel=0.15)


def test_noise_is_at_least_the_rounding_of_the_digits() -> None:
    x = np.linspace(0, 1, 50)
    assert estimate_noise({"x": x}, np.round(2 * x, 2)) == pytest.approx(0.01 / 12**0.5, rel=0.5)
