"""Figures of laws: what is drawn of odd tables, and that undefined values leave gaps.

Internals: the text of a law in a figure is checked by itself, without a figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest
from peirce.records import Figure, FrontPoint, Problem
from peirce.tasks import load_family, load_problems
from peirce.tasks.laws.columns import LawColumns
from peirce.tasks.laws.figures import write_law


def read(path: Path, header: str, rows: Sequence[Sequence[object]], **options: object) -> Problem:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    target = header.rpartition(",")[2]
    ((problem, _),) = load_problems("laws", str(path), target=target, **options)
    return problem


def draw(problem: Problem, *laws: str, front: Sequence[FrontPoint] = ()) -> list[Figure]:
    return list(load_family("laws").draw_figures(problem, laws, front))


def titles(figures: Sequence[Figure]) -> list[str]:
    return [one.title.partition(":")[0] for one in figures]


@pytest.fixture
def pendulum(tmp_path: Path) -> Problem:
    rows = [(0.5 + i / 20, i % 7 - 3, "ab"[i % 2], round(2 * math.sqrt(0.5 + i / 20), 4)) for i in range(60)]  # fmt: skip
    return read(tmp_path / "t.csv", "length [m],tilt,bob,period [s]", rows)


def test_the_fit_shows_each_row_once_by_its_part(pendulum: Problem) -> None:
    fit = draw(pendulum, "2 * sqrt(length)")[0]
    dots, rings = (one for one in fit.series if one.kind in ("dots", "rings"))
    assert (dots.name, rings.name) == ("shown rows", "held-out rows")
    assert (len(dots.points), len(rings.points)) == (len(pendulum.shown), len(pendulum.hidden))
    for point, row in zip(rings.points, pendulum.hidden, strict=True):
        assert point == pytest.approx((2 * math.sqrt(row.input["length [m]"]), row.output))
    assert fit.x.label == "predicted period [s]" and fit.y.label == "measured period [s]"
    assert fit.x.low < min(one.output for one in pendulum.shown)


def test_at_most_a_thousand_rows_are_drawn(tmp_path: Path) -> None:
    problem = read(tmp_path / "t.csv", "x,y", [(i, 2 * i + i % 2) for i in range(1_500)])
    fit, *_, residuals = draw(problem, "2 * x")
    for figure in (fit, residuals):
        marks = sum(len(one.points) for one in figure.series if one.kind in ("dots", "rings"))
        assert marks == 1_000 and figure.note.startswith("1,000 of 1,500 rows")


def test_residuals_are_drawn_against_the_prediction_and_each_column(pendulum: Problem) -> None:
    found = [one for one in draw(pendulum, "2 * sqrt(length) - 0.1") if one.choice == "against"]
    assert [one.option for one in found] == ["prediction", "length [m]", "tilt", "bob"]
    bob = found[-1]
    assert bob.x.names == ["a", "b"] and (bob.x.low, bob.x.high) == (-0.5, 1.5)
    heights = [
        point[1] for one in bob.series if one.kind == "dots" for point in one.points if point
    ]
    assert heights == pytest.approx([0.1] * len(pendulum.shown), abs=1e-4)


def test_the_column_along_which_rivals_differ_most_comes_first(pendulum: Problem) -> None:
    near = draw(pendulum, "2 * sqrt(length)", "2 * sqrt(length) + tilt / 50")
    far = draw(pendulum, "2 * sqrt(length)", "2 * sqrt(length) + tilt / 50 + where(length > 3.4, 4, 0)")  # fmt: skip
    columns = [[one.option for one in found if one.choice == "along"] for found in (near, far)]
    assert columns == [["tilt", "length [m]"], ["length [m]", "tilt"]]
    figure = next(one for one in near if one.option == "length [m]")
    middle = median(one.input["tilt"] for one in pendulum.shown)
    assert figure.note == f"The other columns stay at: tilt {middle:g}."
    band, *lines = figure.series
    assert band.kind == "band" and [x for x, _ in band.points] == [
        min(one.input["length [m]"] for one in pendulum.shown),
        max(one.input["length [m]"] for one in pendulum.shown),
    ]
    assert [one.name for one in lines] == ["1. 2 · √(length)", "2. 2 · √(length) + tilt / 50"]
    width = band.points[1][0] - band.points[0][0]
    assert figure.x.high == pytest.approx(band.points[1][0] + width / 2)
    assert figure.x.low == 0  # lengths stay positive


def test_a_curve_has_gaps_where_the_law_is_undefined_and_where_it_leaves_the_figure(
    pendulum: Problem,
) -> None:
    laws = ("2 * sqrt(tilt)", "1 / (tilt - 4.1)")
    root, pole = next(one for one in draw(pendulum, *laws) if one.option == "tilt").series[1:]
    drawn = [point is not None for point in root.points]
    assert not any(drawn[:40]) and all(drawn[-40:])
    figure = next(one for one in draw(pendulum, *laws) if one.option == "tilt")
    heights = [point[1] for point in pole.points if point]
    assert max(heights) == pytest.approx(figure.y.high) and min(heights) == pytest.approx(figure.y.low)  # fmt: skip
    places = [point is None for point in pole.points]
    assert True in places and False in places[places.index(True) :]
    for one in (root, pole):
        assert all(math.isfinite(value) for point in one.points if point for value in point)


def test_columns_that_no_law_uses_have_no_curve(pendulum: Problem) -> None:
    (figure,) = (one for one in draw(pendulum, "2 * sqrt(length)") if one.choice == "along")
    assert figure.title == "Extrapolation" and figure.option == "length [m]"
    assert figure.note == "No law here uses tilt."


def test_a_table_with_one_column_has_all_figures(tmp_path: Path) -> None:
    problem = read(tmp_path / "t.csv", "x,y", [(i, 3 * i + 1 + i % 3) for i in range(40)])
    front = [FrontPoint("60", 1, 35.0), FrontPoint("3 * x + 2", 5, 0.8, True)]
    assert titles(draw(problem, "3 * x + 2", front=front)) == [
        "Fit", "Size against error", "Extrapolation", "Residuals", "Residuals"
    ]  # fmt: skip


def test_without_columns_of_numbers_nothing_is_extrapolated(tmp_path: Path) -> None:
    rows = [("abc"[i % 3], "de"[i % 2], [1, 2, 5][i % 3] + i / 1_000) for i in range(40)]
    problem = read(tmp_path / "t.csv", "kind,place,y", rows)
    found = draw(problem, "where(kind == 'a', 1, 3)")
    assert titles(found) == ["Fit", "Residuals", "Residuals", "Residuals"]


def test_a_constant_is_drawn_by_its_rows_alone(pendulum: Problem) -> None:
    found = draw(pendulum, "2.5", front=[FrontPoint("2.5", 1, 0.7, True)])
    assert titles(found) == ["Fit", *["Residuals"] * 4]
    assert all(one.x.low < one.x.high and one.y.low < one.y.high for one in found)


def test_a_law_that_is_undefined_everywhere_has_no_figure(pendulum: Problem) -> None:
    assert draw(pendulum, "sqrt(0 - 1 - length)") == []
    assert draw(pendulum) == []


def test_the_front_marks_the_chosen_law_and_joins_only_laws_that_none_beats(
    pendulum: Problem,
) -> None:
    front = [
        FrontPoint("2.5", 1, 0.7), FrontPoint("2 * sqrt(length)", 4, 0.0),
        FrontPoint("2 * sqrt(length) + 0.01", 6, 0.01, True),
    ]  # fmt: skip
    figure = draw(pendulum, "2 * sqrt(length)", front=front)[1]
    kinds = {one.kind: one for one in figure.series}
    assert [x for x, _ in kinds["line"].points] == [1, 4]
    assert kinds["rings"].points == [(6, 0.01)] and kinds["rings"].name == "chosen law"
    assert list(kinds["line"].texts) == ["2.5", "2 · √(length)"]
    assert kinds["line"].points[1][1] == figure.y.zero
    assert 0 < figure.y.low < kinds["line"].points[1][1] < 0.01 and figure.y.logarithmic
    assert figure.note.endswith(" The lowest point has no error.")
    assert figure.about.endswith("chosen: 2 · √(length) + 0.01 with size 6 and error 0.01")


@pytest.mark.parametrize(
    ("law", "text"),
    [
        ("2 * pi * sqrt(length / 9.81)", "2 · π · √(length / 9.81)"),
        ("length ** 2 - tilt ** -3", "length² − tilt⁻³"),
        ("length ** 1.5 + length ** 2 ** 3", "length^1.5 + length^2³"),
        ("where(bob == 'a * b', 1, 2 * pi)", "where(bob == 'a * b', 1, 2 * pi)"),
    ],
)
def test_laws_are_written_as_people_write_them(pendulum: Problem, law: str, text: str) -> None:
    assert write_law(LawColumns(pendulum.public).parse(law)) == text


def test_size_and_error_are_those_of_the_shown_rows(pendulum: Problem) -> None:
    measure = load_family("laws").measure_size_and_error
    assert measure("2 * pi * length + tilt", pendulum)[0] == 7
    outputs = [row.output for row in pendulum.shown]
    error = math.sqrt(sum((2.5 - one) ** 2 for one in outputs) / len(outputs))
    assert measure("2.5", pendulum) == (1, pytest.approx(error, rel=1e-5))
    assert measure("sqrt(tilt)", pendulum) is None  # undefined in many rows
    assert measure("no law", pendulum) is None


def test_an_error_of_the_arithmetic_alone_is_none(tmp_path: Path) -> None:
    rows = [(i / 7, i / 7 * 0.1 * 3) for i in range(1, 40)]
    problem = read(tmp_path / "t.csv", "x,y", rows)
    assert load_family("laws").measure_size_and_error("0.3 * x", problem) == (3, 0.0)
