"""The search for laws with known units: monomials with a wanted dimension, and laws that only they reach.

Internals: what is listed and found first has no public name; units are read as the task reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from peirce.search.budget import Budget
from peirce.search.laws.arguments import list_arguments
from peirce.search.laws.dimensions import KnownDimensions, describe_dimensions
from peirce.search.laws.engine import search_laws
from peirce.search.laws.refining import Table, refine, start_fit
from peirce.tasks.laws.units import read_dimension
from peirce.tools.formulas import (
    Column,
    Dimensions,
    Expression,
    evaluate_formula,
    find_dimension,
    format_formula,
    list_columns,
    missing_dimensions,
    parse_formula,
    to_dimension,
)


def read(units: dict[str, str], target: str | None) -> Dimensions:
    known = {name: to_dimension(read_dimension(unit) or {}) for name, unit in units.items()}
    return Dimensions(known, None if target is None else to_dimension(read_dimension(target) or {}))


UNITS = {"q": "C", "V": "V", "k": "J/K", "T": "K", "r": "m", "s": "m", "t": "s"}


def prepare(target: str) -> tuple[KnownDimensions, Dimensions, Any, list[Expression]]:
    names: list[Expression] = [Column(name) for name in UNITS]
    dimensions = read(UNITS, target)
    x = np.random.default_rng(0).uniform(1, 3, (50, len(UNITS)))
    return KnownDimensions(names, dimensions), dimensions, x, names


@pytest.mark.parametrize("wanted", ["-", "J", "m", "1/s", "V/m"])
def test_all_listed_monomials_have_the_wanted_dimension(wanted: str) -> None:
    known, dimensions, x, _ = prepare(wanted)
    assert dimensions.target is not None
    found = known.list_arguments(x, dimensions.target, 400)
    assert 0 < len(found.sizes) <= 600
    for place in range(len(found.sizes)):
        tree = found.tree(place)
        assert find_dimension(tree, dimensions) == dimensions.target, format_formula(tree)
        assert not missing_dimensions(tree, dimensions), format_formula(tree)
        values = evaluate_formula(tree, dict(zip(UNITS, x.T, strict=True)))
        np.testing.assert_allclose(values, found.values[:, place], rtol=1e-9)


def test_simple_monomials_are_listed_completely() -> None:
    known, dimensions, x, names = prepare("-")
    listed = {format_formula(found.tree(k)) for found in [known.list_arguments(x, {}, 2000)] for k in range(len(found.sizes))}  # fmt: skip
    arguments = list_arguments(x, names, 3_000)
    simple = [arguments.tree(int(k)) for k in np.flatnonzero(arguments.sizes <= 6)]
    agreeing = {format_formula(one) for one in simple if find_dimension(one, dimensions) == {} and not missing_dimensions(one, dimensions)}  # fmt: skip
    assert {"r / s", "(r - s) / r"} <= agreeing
    assert agreeing <= listed
    assert "q * V / (k * T)" in listed


def test_no_monomial_where_the_dimension_cannot_be_reached() -> None:
    known, _, x, _ = prepare("mol")
    assert len(known.list_arguments(x, to_dimension({"substance": 1}), 100).sizes) == 0


def test_others_come_after_those_that_agree_and_cost_more() -> None:
    known, dimensions, x, names = prepare("-")
    plain = list_arguments(x, names, 500)
    mixed = known.put_first(plain, x, {}, 500)
    agrees = [not missing_dimensions(mixed.tree(k), dimensions) for k in range(len(mixed.sizes))]
    first = agrees.index(False)
    assert first > 50
    own = {format_formula(plain.tree(k)): int(size) for k, size in enumerate(plain.sizes)}
    text = next(format_formula(mixed.tree(k)) for k in range(first, len(mixed.sizes)))
    assert mixed.sizes[first] == own[text] + 4
    assert len({format_formula(mixed.tree(k)) for k in range(len(mixed.sizes))}) == len(mixed.sizes)


def search(
    law: str, units: dict[str, str], target: str, ranges: dict[str, tuple[float, float]], noise: float,
    *, with_units: bool, budget: float = 80_000,
) -> tuple[str, str]:  # fmt: skip
    """Return the first law that is found, and what is said of its dimensions."""
    pick = np.random.default_rng(1)
    columns = {name: pick.uniform(*ranges[name], 200) for name in units}
    y = evaluate_formula(parse_formula(law, list(units)), columns)
    y = y + noise * y.std() * pick.standard_normal(200)
    dimensions = read(units, target)
    table = Table(columns, y, len(units), dimensions if with_units else None)
    x, names = np.array(list(columns.values())).T, [Column(name) for name in units]
    found = search_laws(table, x, names, Budget(budget))[0].tree
    return format_formula(found), describe_dimensions(found, dimensions)


def test_free_fall_is_found_though_the_table_lacks_g() -> None:
    units = {"t": "s", "m": "kg", "w": "m"}
    ranges = {"t": (1.0, 5.0), "m": (1.0, 3.0), "w": (1.0, 2.0)}
    law, said = search("4.905 * t ** 2", units, "m", ranges, 0.001, with_units=True, budget=20_000)
    assert (
        parse_formula(law, list(units)) is not None
        and "t" in law
        and "w" not in law
        and "m" not in law
    )
    assert said == "Its dimensions agree if a constant has the dimension length / time^2."


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("m * v ** 2 / 2", "Its dimensions agree."),
        ("m * v ** 2 * x", "Its known dimensions agree."),
        ("3 * v", "Its dimensions agree if a constant has the dimension length mass / time."),
        (
            "3 + v * 2",
            "Its dimensions agree if constants have the dimensions time / length,"
            " length^2 mass / time^2.",
        ),
    ],
)
def test_the_sentence_says_whether_dimensions_agree(law: str, said: str) -> None:
    dimensions = read({"m": "kg", "v": "m/s"}, "J")
    assert describe_dimensions(parse_formula(law, ["m", "v", "x"]), dimensions) == said


def test_nothing_is_said_of_dimensions_that_are_not_known() -> None:
    assert describe_dimensions(parse_formula("m", ["m"]), None) == ""
    assert describe_dimensions(parse_formula("m", ["m"]), read({"m": "kg"}, None)) == ""


def test_long_sums_are_found_with_all_rows() -> None:
    """A sum of seven weak terms in 900 rows, of which the first 200 do not show all."""
    pick = np.random.default_rng(0)
    x = pick.uniform(-1, 1, (900, 7))
    y = x @ np.arange(1, 8) / 4 + pick.standard_normal(900)
    names: list[Expression] = [Column(f"x{k}") for k in range(7)]
    columns = {f"x{k}": x[:, k] for k in range(7)}
    law = search_laws(Table(columns, y, 7), x, names, Budget(80_000))[0].tree
    assert len(list_columns(law)) >= 6


def test_noise_in_many_rows_and_columns_gives_the_constant() -> None:
    for seed in range(3):
        pick = np.random.default_rng(seed)
        x = pick.uniform(1, 5, (600, 6))
        names: list[Expression] = [Column(f"x{k}") for k in range(6)]
        columns = {f"x{k}": x[:, k] for k in range(6)}
        found = search_laws(Table(columns, pick.standard_normal(600), 6), x, names, Budget(40_000))
        assert not list_columns(found[0].tree), format_formula(found[0].tree)


def test_a_formula_whose_derivatives_overflow_does_not_hang() -> None:
    """The decomposition of a matrix with infinite entries may never end."""
    x = np.linspace(1, 2, 30) * 1e160
    table = Table({"x": x}, np.linspace(0, 1, 30), 1)
    formula = parse_formula("c0 * x + c1", ["x"], free_constants=True)
    fit = start_fit(formula, {"c0": 1e-160, "c1": 0.1}, table)
    law = refine(fit, table) if fit else None
    assert law is None or np.isfinite(law.bits)
