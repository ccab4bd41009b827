"""Parts of the search for laws: arguments, functions, projections, and the numbers that measured ones mean.

Internals: sessions show whole laws only.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from peirce.search.laws.arguments import list_arguments
from peirce.search.laws.constants import find_exponent, find_meanings
from peirce.search.laws.functions import FACTORS, IN_LOGARITHMS, IN_SUMS, SCALED
from peirce.search.laws.refining import Law, Table, refine, start_fit
from peirce.search.laws.scan import Scan, smallest
from peirce.tools.formulas import (
    Column,
    Number,
    evaluate_formula,
    format_formula,
    parse_formula,
)

PICK = np.random.default_rng(5)
X = PICK.uniform(-3, 3, (40, 3))
COLUMNS = dict(zip("abc", X.T, strict=True))


def test_arguments_have_the_values_of_their_formulas_simplest_first() -> None:
    found = list_arguments(X, [Column(name) for name in "abc"], 200)
    assert len(found.sizes) > 100 and (np.diff(found.sizes) >= 0).all()
    texts = set()
    for place in range(len(found.sizes)):
        tree = found.tree(place)
        texts.add(format_formula(tree))
        assert np.allclose(evaluate_formula(tree, COLUMNS), found.values[:, place], rtol=1e-9)
    assert {"a", "a * b", "a / b", "a - b", "a + b", "(a - b) ** 2"} <= texts


def test_arguments_that_are_infinite_or_constant_are_left_out() -> None:
    x = np.column_stack([np.arange(20.0), np.ones(20)])
    found = list_arguments(x, [Column("a"), Column("b")], 100)
    assert np.isfinite(found.values).all()
    assert (np.ptp(found.values, axis=0) > 0).all()
    assert len(found.sizes)


@pytest.mark.parametrize("factor", FACTORS, ids=lambda one: one.name)
def test_a_factor_has_the_values_of_its_formula(factor: object) -> None:
    u = np.linspace(0.1, 2, 9)
    scale = 2.0 if factor.name in SCALED else 1.0  # type: ignore[attr-defined]
    tree = factor.tree(Number(scale), Column("u"))  # type: ignore[attr-defined]
    assert np.allclose(evaluate_formula(tree, {"u": u}), factor.values(scale * u))  # type: ignore[attr-defined]


@pytest.mark.parametrize("transform", [*IN_LOGARITHMS, *IN_SUMS], ids=lambda one: one.name)
def test_a_transform_is_inverted_and_has_its_slope(transform: object) -> None:
    y, step = np.linspace(0.2, 1.2, 7), 1e-6
    values = transform.values(y)  # type: ignore[attr-defined]
    assert transform.suits(y)  # type: ignore[attr-defined]
    assert np.allclose(evaluate_formula(transform.inverse(Column("t")), {"t": values}), y)  # type: ignore[attr-defined]
    ahead = transform.values(y + step)  # type: ignore[attr-defined]
    assert np.allclose((ahead - values) / step, transform.slopes(y), rtol=1e-4)  # type: ignore[attr-defined]


def test_a_scan_leaves_what_least_squares_leave() -> None:
    target, weights = PICK.standard_normal(40), PICK.uniform(0.5, 2, 40)
    columns, common = PICK.standard_normal((40, 6)), np.ones((40, 1))
    scan = Scan.prepare(columns, common, target, weights)

    def squares(*places: int) -> float:
        matrix = np.column_stack([common, columns[:, list(places)]]) * weights[:, None]
        found = np.linalg.lstsq(matrix, target * weights, rcond=None)[0]
        return float(np.sum((target * weights - matrix @ found) ** 2))

    assert np.allclose(scan.errors(), [squares(k) for k in range(6)], rtol=1e-5)
    beside = scan.errors_beside((2,))
    assert np.isinf(beside[2])
    assert np.allclose(np.delete(beside, 2), [squares(2, k) for k in (0, 1, 3, 4, 5)], rtol=1e-4)


def test_the_smallest_are_in_order_and_the_first_of_equal_ones() -> None:
    assert smallest(np.array([3.0, 1.0, 2.0, 1.0, 0.5]), 3).tolist() == [4, 1, 3]
    assert smallest(np.array([2.0, 1.0]), 9).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.5003, 0.001, "1 / 2"),
        (3.1420, 0.001, "pi"),
        (6.2829, 0.001, "2 * pi"),
        (-2.0004, 0.001, "-2"),
        (0.0002, 0.001, "0"),
        (8.31415, 0.0004, "8.314"),
        (0.39894, 0.0001, "1 / sqrt(2 * pi)"),
        (7.0, 1e-12, "7"),
    ],
)
def test_a_measured_value_means_a_likely_number(value: float, error: float, text: str) -> None:
    assert format_formula(find_meanings(value, error, 1)[0].tree) == text


def test_a_value_that_means_nothing_keeps_its_digits() -> None:
    value = 0.8237465913
    assert math.isclose(find_meanings(value, 1e-12, 1)[0].value, value, rel_tol=1e-10)
    assert find_meanings(value, 1e-6, 1)[0].value == 0.823747


@pytest.mark.parametrize(
    ("value", "error", "exponent"),
    [
        (1.99, 0.02, 2),
        (-0.502, 0.005, Fraction(-1, 2)),
        (0.334, 0.002, Fraction(1, 3)),
        (0.01, 0.02, 0),
        (1.2345678, 1e-6, 1.235),
    ],
)
def test_a_measured_exponent_means_a_likely_one(
    value: float, error: float, exponent: float
) -> None:
    assert find_exponent(value, error)[1] == exponent


def refine_from(text: str, start: dict[str, float], table: Table) -> Law | None:
    fit = start_fit(parse_formula(text, ["a"], free_constants=True), start, table)
    return refine(fit, table) if fit else None


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_constants_that_are_fitted_under_noise_are_exact(noise: float) -> None:
    x = {"a": PICK.uniform(1, 3, 200)}
    y = evaluate_formula(parse_formula("2 * exp(-(a / 4)) + 3", ["a"]), x)
    table = Table(x, y + noise * y.std() * np.random.default_rng(0).standard_normal(200), 1)
    law = refine_from("c0 * exp(c1 * a) + c2", {"c0": 1.0, "c1": -0.5, "c2": 2.0}, table)
    assert law is not None
    wanted = {"a": np.linspace(0, 9, 20)}
    planted = evaluate_formula(parse_formula("2 * exp(-(a / 4)) + 3", ["a"]), wanted)
    if noise == 0:
        assert np.allclose(evaluate_formula(law.tree, wanted), planted, rtol=1e-9)
    line = 0.5 * x["a"]
    noisy = line + noise * line.std() * np.random.default_rng(1).standard_normal(200)
    found = refine_from("c0 * a", {"c0": 1.0}, Table(x, noisy, 1))
    assert found is not None and format_formula(found.tree) in ("a / 2", "0.5 * a")


def test_a_formula_that_is_undefined_has_no_costs() -> None:
    table = Table({"a": np.arange(-3.0, 9.0)}, np.arange(12.0), 1)
    assert refine_from("c0 * log(a)", {"c0": 1.0}, table) is None
