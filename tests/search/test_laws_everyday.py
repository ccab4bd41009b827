"""Laws that people fit every day: growth and decay, saturation, oscillations, polynomials, in any units.

Internals: a session takes longer than the search that it asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from peirce.search.budget import Budget
from peirce.search.laws.arguments import list_arguments
from peirce.search.laws.engine import search_laws
from peirce.search.laws.refining import Law, Table
from peirce.search.laws.scan import Scan, choose_several
from peirce.search.laws.terms import Terms
from peirce.tools.formulas import Column, evaluate_formula, format_formula

Floats = NDArray[np.float64]
BUDGET = 50_000
ROWS = 150


def find_law(x: dict[str, Floats], y: Floats, budget: float) -> Law:
    table = Table(x, y, len(x))
    names = [Column(name) for name in x]
    return search_laws(table, np.array(list(x.values())).T, names, Budget(budget))[0]


def check(
    law: Callable[..., Any],
    ranges: dict[str, tuple[float, float]],
    noise: float = 0.01,
    budget: float = BUDGET,
) -> None:
    """Assert that a law is found from noisy rows, exactly, also a little beyond its ranges."""
    pick = np.random.default_rng(6)
    x = {name: pick.uniform(low, high, ROWS) for name, (low, high) in ranges.items()}
    y = law(**x)
    found = find_law(x, y + noise * y.std() * pick.standard_normal(ROWS), budget)
    fresh = {name: pick.uniform(low, 1.1 * high, ROWS) for name, (low, high) in ranges.items()}
    wanted = law(**fresh)
    error = np.abs(evaluate_formula(found.tree, fresh) - wanted).max()
    assert error < 1e-6 * np.abs(wanted).max(), format_formula(found.tree)


def test_cooling_has_a_constant_in_the_exponent() -> None:
    check(lambda t: 20 + 65 * np.exp(-0.05 * t), {"t": (0, 60)})


def test_charging_saturates() -> None:
    check(lambda t, r, c: 5 * (1 - np.exp(-t / (r * c))), {"t": (0, 5), "r": (1, 3), "c": (0.2, 1)})


def test_growth_ends_at_a_capacity() -> None:
    check(lambda t: 50 / (1 + 20 * np.exp(-0.9 * t)), {"t": (0, 10)})


def test_an_enzyme_saturates() -> None:
    check(lambda s: 7.3 * s / (2.4 + s), {"s": (0.1, 20)}, noise=0.001)


def test_an_oscillation_has_frequency_and_phase() -> None:
    check(lambda t: 1.5 * np.sin(2.2 * t + 0.4) + 3, {"t": (0, 10)})


def test_an_oscillation_is_damped() -> None:
    check(lambda t: 3 * np.exp(-0.3 * t) * np.cos(4 * t), {"t": (0, 10)})


def test_two_decays_add_up() -> None:
    check(lambda t: 3 * np.exp(-0.4 * t) + 2 * np.exp(-1.9 * t), {"t": (0, 10)}, noise=0)


def test_a_polynomial_is_not_hidden_by_other_sums() -> None:
    check(lambda x: 2 * x**2 - 3 * x + 1, {"x": (-5, 5)})


def test_a_sum_of_monomials_is_not_hidden_by_other_sums() -> None:
    ranges = {"p": (1000.0, 5000.0), "rho": (900.0, 1100.0), "v": (1.0, 5.0), "h": (0.0, 3.0)}
    check(lambda p, rho, v, h: p + 0.5 * rho * v**2 + 9.81 * rho * h, ranges, noise=0.001)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_laws_of_quantities_of_any_size(size: float) -> None:
    check(lambda a, b: 3 * a / b**2, {"a": (size, 5 * size), "b": (1 / size, 5 / size)})
    check(lambda t: 4 * np.exp(-2.5 * t / size), {"t": (0, size)})
    check(lambda a: 2e-20 * a - 7e-21 * size, {"a": (size, 5 * size)}, noise=0.001)


def test_thermal_radiation_in_si_units() -> None:
    ranges = {"f": (1e13, 2e14), "T": (500.0, 3000.0)}
    radiance: Callable[..., Any] = lambda f, T: 1.475e-50 * f**3 / (np.exp(4.8e-11 * f / T) - 1)
    check(radiance, ranges, noise=0, budget=3 * BUDGET)


def test_times_since_1970_are_counted_from_their_beginning() -> None:
    t = 1.7e9 + 60 * np.arange(100.0)
    found = find_law({"t": t}, 20 + 0.01 * np.arange(100.0), BUDGET)
    later = {"t": np.array([1.7e9 + 60 * 1e4])}
    assert np.allclose(evaluate_formula(found.tree, later), 120), format_formula(found.tree)


def test_differences_of_large_numbers_are_found() -> None:
    pick = np.random.default_rng(7)
    x, z = 1e15 + 7 * np.arange(100.0), pick.uniform(1, 5, 100)
    found = find_law({"x": x, "z": z}, x + np.round(100 * z), BUDGET)
    later = {"x": np.array([1e15 + 3_000]), "z": np.array([8.0])}
    assert abs(evaluate_formula(found.tree, later) - later["x"] - 800).max() < 2, found.tree


@pytest.mark.parametrize("noise", [0, 0.002])
def test_an_outlier_does_not_change_the_law(noise: float) -> None:
    pick = np.random.default_rng(7)
    x = {name: pick.uniform(1, 5, 60) for name in "ab"}
    y = 3 * x["a"] * x["b"]
    y = y + noise * y.std() * pick.standard_normal(60)
    y[[7, 30]] += [50, -20]
    found = find_law(x, y, BUDGET)
    fresh = {"a": np.array([7.0]), "b": np.array([2.0])}
    assert np.allclose(evaluate_formula(found.tree, fresh), 42), format_formula(found.tree)


# --- parts ----------------------------------------------------------------------------


def make_terms() -> tuple[Terms, dict[str, Floats]]:
    pick = np.random.default_rng(8)
    x = pick.uniform(0.5, 3, (60, 2))
    arguments = list_arguments(x, [Column("a"), Column("b")], 300)
    return Terms(arguments, arguments, 0.1), dict(zip("ab", x.T, strict=True))


def test_terms_have_the_values_of_their_formulas() -> None:
    terms, columns = make_terms()
    for place in range(0, len(terms.prices), 7):
        start: dict[str, float] = {}
        tree = terms.tree(place, start)
        values = evaluate_formula(tree, columns, start)
        assert np.allclose(values, terms.values[:, place], rtol=1e-9), format_formula(tree)
        assert bool(start) == terms.has_scale(place)


def test_monomials_are_the_first_terms() -> None:
    terms, _ = make_terms()
    texts = [format_formula(terms.tree(k, {})) for k in range(terms.monomial_count)]
    assert {"a", "b", "a * b"} <= set(texts) and not any("exp" in text for text in texts)


def test_a_sine_and_its_cosine_are_a_sine_with_a_phase() -> None:
    terms, columns = make_terms()
    pairs = {k: c for k in range(len(terms.prices)) if (c := terms.cosine_of(k)) is not None}
    assert pairs
    for sine, cosine in list(pairs.items())[::50]:
        start: dict[str, float] = {}
        both = evaluate_formula(terms.tree(sine, start, np.arctan2(4, 3)), columns, start)
        assert np.allclose(5 * both, 3 * terms.values[:, sine] + 4 * terms.values[:, cosine])


def test_sets_leave_what_least_squares_leave() -> None:
    pick = np.random.default_rng(9)
    columns, target = pick.standard_normal((50, 12)), pick.standard_normal(50)
    scan = Scan.prepare(columns, np.ones((50, 1)), target, np.ones(50))
    sets = np.array([[0, 1, 2], [3, 7, 11]])
    errors = scan.errors_of_sets(sets)
    for own, error in zip(sets, errors, strict=True):
        matrix = np.column_stack([columns[:, own], np.ones(50)])
        left = target - matrix @ np.linalg.lstsq(matrix, target, rcond=None)[0]
        assert np.isclose(error, left @ left, rtol=1e-4)
        assert np.isclose(scan.left_by(tuple(own.tolist())), left @ left, rtol=1e-6)


def test_dependent_sets_are_left_out() -> None:
    pick = np.random.default_rng(9)
    columns = pick.standard_normal((50, 3))
    columns[:, 2] = columns[:, 0] + columns[:, 1]
    scan = Scan.prepare(columns, np.zeros((50, 0)), pick.standard_normal(50), np.ones(50))
    assert np.isinf(scan.errors_of_sets(np.array([[0, 1, 2]]))).all()


def test_a_set_is_chosen_of_which_no_part_explains_anything() -> None:
    pick = np.random.default_rng(10)
    columns = pick.standard_normal((100, 30))
    columns[:, 5] = 20 * columns[:, 4] + pick.standard_normal(100)
    target = columns[:, 5] - 20 * columns[:, 4]
    scan = Scan.prepare(columns, np.ones((100, 1)), target, np.ones(100))
    wanted = (4, 5)
    found = choose_several(
        scan, np.full(30, 10.0), float(target.var()), 1, 2, 1, [np.array([wanted])]
    )
    assert min(found)[1] == wanted
