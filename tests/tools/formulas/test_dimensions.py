"""Dimensional analysis of formulas: which constants with a dimension a law needs, and what they cost.

Internals: the price of a law in bits belongs to the dimensions that its constants need.
"""

from __future__ import annotations

import pytest
from peirce.tools.description_length import dimension_bits, law_bits
from peirce.tools.formulas import (
    Dimensions,
    find_dimension,
    format_dimension,
    missing_dimensions,
    parse_formula,
    to_dimension,
)

COLUMNS = {
    "m": {"mass": 1}, "v": {"length": 1, "time": -1}, "t": {"time": 1}, "l": {"length": 1}, "h": {"length": 1},
    "n": {}, "a": {"length": 1, "time": -2},
}  # fmt: skip
KNOWN = {name: to_dimension(one) for name, one in COLUMNS.items()}
ENERGY = {"mass": 1, "length": 2, "time": -2}


def missing(text: str, target: dict[str, float] | None) -> list[str]:
    law = parse_formula(text, [*KNOWN, "free", "kind"], ["kind"])
    dimensions = Dimensions(KNOWN, None if target is None else to_dimension(target))
    return [format_dimension(one) for one in missing_dimensions(law, dimensions)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("m * v ** 2 / 2", ENERGY),
        ("m * v ** 2 / 2 + m * a * h - m * l ** 2 / t ** 2", ENERGY),
        ("2 * pi * sqrt(l / a)", {"time": 1}),
        ("l * exp(-v * t / h) * (1 + n)", {"length": 1}),
        ("sqrt(l ** 2 + h ** 2)", {"length": 1}),
        ("abs(l - h) * where(l > h, 1, 2)", {"length": 1}),
        ("where(kind == 'x', l, h)", {"length": 1}),
        ("2 ** (l / h)", {}),
        ("n ** n + arctan(l / h)", {}),
        ("(l * h) ** (1 / 2)", {"length": 1}),
        ("m * v", None),  # the dimension of the target is not known
        ("free * m", ENERGY),  # that of a column is not known
        ("l + free", {"length": 1}),
        ("l * 0.5 - h", {"length": 1}),
    ],
)
def test_nothing_is_missing_where_dimensions_agree(
    text: str, target: dict[str, float] | None
) -> None:
    assert missing(text, target) == []


@pytest.mark.parametrize(
    ("text", "target", "needed"),
    [
        ("4.9 * t ** 2", {"length": 1}, ["length / time^2"]),
        ("2 * sqrt(l)", {"time": 1}, ["time / length^(1/2)"]),
        ("exp(-t / 3)", {}, ["1 / time"]),
        ("l + 2", {"length": 1}, ["length"]),
        ("l + 3 * t + 2 * m", {"length": 1}, ["length / time", "length / mass"]),
        ("l * (1 + v / 5)", {"length": 1}, ["time / length"]),
        ("2 ** t", {}, ["1 / time"]),
        ("l ** n", {}, ["1 / length"]),
        ("where(l > 2, l, t)", {"length": 1}, ["1 / length", "length / time"]),
        ("7", {"mass": 1, "time": -1}, ["mass / time"]),
        ("n * 7", ENERGY, ["length^2 mass / time^2"]),
    ],
)  # fmt: skip
def test_constants_that_a_law_needs(text: str, target: dict[str, float], needed: list[str]) -> None:
    assert missing(text, target) == needed


def test_a_law_that_needs_a_constant_costs_the_dimension_of_it() -> None:
    dimensions = Dimensions(KNOWN, to_dimension({"length": 1}))
    plain, agreeing = (
        parse_formula("5 * t ** 2", [*KNOWN]),
        parse_formula("a * t ** 2 / 2", [*KNOWN]),
    )
    cost = dimension_bits(to_dimension({"length": 1, "time": -2}))
    assert 8 < cost < 20
    assert law_bits(plain, 3, dimensions) == pytest.approx(law_bits(plain, 3) + cost)
    assert law_bits(agreeing, 3, dimensions) == law_bits(agreeing, 3)


def test_the_dimension_of_a_formula_is_unknown_with_an_unknown_column() -> None:
    dimensions = Dimensions(KNOWN, None)
    assert find_dimension(parse_formula("l / t", [*KNOWN]), dimensions) == COLUMNS["v"]
    assert find_dimension(parse_formula("l * x", ["l", "x"]), dimensions) is None
