"""Units of the columns of a table: the dimensions of what people write, and what is said of other texts.

Internals: dimensions are read from units when a table is, and no public name gives those of one unit.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from peirce.records import Observation
from peirce.tasks import DataWarning
from peirce.tasks.laws.columns import LawColumns
from peirce.tasks.laws.problems import LawSplit, make_problem
from peirce.tasks.laws.units import read_dimension

SPEED = {"length": 1, "time": -1}
ACCELERATION = {"length": 1, "time": -2}
ENERGY = {"length": 2, "mass": 1, "time": -2}
PRESSURE = {"length": -1, "mass": 1, "time": -2}


@pytest.mark.parametrize(
    ("unit", "dimension"),
    [
        *(
            (one, ACCELERATION)
            for one in ("m/s^2", "m/s²", "m s-2", "m s⁻²", "m·s^-2", "m / s / s")
        ),
        *((one, SPEED) for one in ("km/h", "m s-1", "m.s-1", "knots", "m per second", "cm/ms")),
        *((one, ENERGY) for one in ("J", "N m", "N·m", "kg m2/s2", "kWh", "eV", "kg*m**2*s**-2")),
        *((one, PRESSURE) for one in ("Pa", "mmHg", "mm Hg", "psi", "hPa", "N/m2", "bar")),
        *((one, {}) for one in ("%", "-", "1", "rad", "°", "pH", "ppm", "points", "m/m")),
        *((one, {"length": 1}) for one in ("µm", "μm", "Å", "Angstrom", "1e3 km", "10^3 m")),
        *((one, {"temperature": 1}) for one in ("°C", "degC", "K")),
        *((one, {"time": -1}) for one in ("1/s", "/s", "Hz", "s-1", "s^(-1)", "counts/s")),
        ("kg·m/s", {"length": 1, "mass": 1, "time": -1}),
        ("J / (mol K)", {**ENERGY, "substance": -1, "temperature": -1}),
        ("J mol-1 K-1", {**ENERGY, "substance": -1, "temperature": -1}),
        ("g/100 mL", {"length": -3, "mass": 1}),
        ("m^(1/2)", {"length": 0.5}),
    ],
)
def test_units_that_people_write_have_their_dimension(
    unit: str, dimension: dict[str, float]
) -> None:
    assert read_dimension(unit) == dimension


@pytest.mark.parametrize(
    "unit",
    ["USD", "€", "US$", "people", "m/", "(", "m)", "m((s)", "m//s", "m^^2", "m^999", "log10(m)", "x" * 500,
     "9**9**9**9", "m*9**9**9", "m^(1/0)", "m^1/0", "(9**9)**9**9 m", "m^9^9^9", "__import__('os')", "m\x00"],
)  # fmt: skip
def test_other_texts_have_no_known_dimension_and_no_power_is_computed(unit: str) -> None:
    assert read_dimension(unit) is None


def make(units: dict[str, str]) -> dict[str, Any]:
    rows = [Observation({"m": 1.0 + k, "v": 1.0 + k % 3}, float(k)) for k in range(12)]
    return dict(make_problem("p", "energy", LawSplit(rows, []), units).public)


def test_a_problem_holds_the_dimension_of_each_unit() -> None:
    public = make({"m": "kg", "v": "m/s", "energy": "J"})
    assert public["columns"]["m"]["dimension"] == {"mass": 1}
    assert public["columns"]["v"]["dimension"] == SPEED
    assert public["target_dimension"] == ENERGY
    dimensions = LawColumns(public).dimensions
    assert dimensions is not None and dimensions.target == ENERGY


def test_one_warning_lists_unknown_units_and_their_columns_stay_free() -> None:
    with pytest.warns(DataWarning) as caught:
        public = make({"m": "USD", "v": "florins", "energy": "J"})
    assert [str(one.message) for one in caught] == [
        "the units 'USD' of 'm', 'florins' of 'v' are not known; the columns may have any dimension"
    ]
    assert "dimension" not in public["columns"]["m"]
    assert public["columns"]["m"]["unit"] == "USD"
    assert LawColumns(public).dimensions is None


def test_without_units_nothing_is_known_or_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        public = make({})
    assert "target_dimension" not in public and LawColumns(public).dimensions is None
