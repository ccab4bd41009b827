"""The embedded search for laws: planted laws of each shape, noise, awkward values, budget, and repeatability.

Internals: sessions show neither the budget that is spent nor all laws of a search.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from peirce.search.budget import Budget
from peirce.search.laws.engine import Problem, search_laws
from peirce.search.laws.refining import Law, Table
from peirce.search.laws.screening import MOST_VARIABLES, choose_variables
from peirce.tools.formulas import (
    Column,
    evaluate_formula,
    format_formula,
    list_columns,
    parse_formula,
)

Floats = NDArray[np.float64]
BUDGET = 15_000
ROWS = 80


def make_table(law: str, noise: float = 0.0, seed: int = 1) -> tuple[Table, Floats]:
    """Return rows of a, b and c from 1 to 4 with the values of a law, and noise relative to their spread."""
    pick = np.random.default_rng(seed)
    x = pick.uniform(1, 4, (ROWS, 3))
    columns = dict(zip("abc", x.T, strict=True))
    y = evaluate_formula(parse_formula(law, "abc"), columns)
    return Table(columns, y + noise * y.std() * pick.standard_normal(ROWS), 3), x


def search(table: Table, x: Floats, budget: float = BUDGET) -> list[Law]:
    return search_laws(table, x, [Column(name) for name in table.columns], Budget(budget))


def is_exact(law: Law, planted: str) -> bool:
    """Return whether two laws agree beyond the range of the rows."""
    fresh, _ = make_table(planted, seed=2)
    columns = {name: 1.3 * values for name, values in fresh.columns.items()}
    wanted = evaluate_formula(parse_formula(planted, "abc"), columns)
    return bool(np.allclose(evaluate_formula(law.tree, columns), wanted, rtol=1e-9))


@pytest.mark.parametrize(
    ("law", "noise"),
    [
        ("3 * a * sqrt(b) / c ** 2", 0.01),
        ("0.5 * a * exp(-b)", 0.001),
        ("2 * a * sin(b)", 0.01),
        ("a ** 2 + 3 * b", 0.01),
        ("a ** 2 + 3 * b", 0.0),
        ("a * b / (b + c)", 0.01),
        ("sqrt(a ** 2 + b ** 2)", 0.0),
    ],
)
def test_a_planted_law_is_the_first(law: str, noise: float) -> None:
    first = search(*make_table(law, noise), 30_000)[0]
    assert is_exact(first, law), format_formula(first.tree)


@pytest.mark.parametrize("draw", ["normal", "t", "lognormal", "few numbers"])
@pytest.mark.parametrize("seed", [1, 2])
def test_noise_is_no_law(draw: str, seed: int) -> None:
    pick = np.random.default_rng(seed)
    drawn: dict[str, Any] = {
        "normal": pick.standard_normal(ROWS),
        "t": pick.standard_t(2, ROWS),
        "lognormal": pick.lognormal(0, 2, ROWS),
        "few numbers": pick.integers(0, 4, ROWS).astype(float),
    }
    x = pick.uniform(1, 5, (ROWS, 2))
    table = Table(dict(zip("ab", x.T, strict=True)), drawn[draw], 2)
    first = search(table, x, 10_000)[0]
    assert list_columns(first.tree) == [], format_formula(first.tree)


def shown_rows(kind: str) -> tuple[list[list[Any]], dict[str, Any]]:
    pick = np.random.default_rng(3)
    factor = {"iron": 2.0, "copper": 5.0}
    shown: list[list[Any]] = []
    for number in range(40):
        row: dict[str, Any] = {"a": float(pick.uniform(1, 4)), "metal": list(factor)[number % 2]}
        value = factor[row["metal"]] * row["a"] if kind == "category" else 3 * row["a"]
        if kind == "missing" and number == 5:
            row["a"] = None
        shown.append([row, value])
    about = {
        "a": {"identifier": "a", "kind": "number"},
        "metal": {"identifier": "metal", "kind": "category"},
    }
    return shown, {"target": "y", "columns": about, "tolerance": 1e-6, "spread": 1.0}


def test_a_category_is_part_of_a_law() -> None:
    shown, public = shown_rows("category")
    answer = Problem(shown, [row for row, _ in shown], BUDGET, public).propose([], frozenset())
    assert answer is not None
    law = parse_formula(answer.source, ["a", "metal"], ["metal"])
    cells = {"a": np.array([9.0, 9.0]), "metal": np.array(["iron", "copper"], object)}
    assert np.allclose(evaluate_formula(law, cells), [18.0, 45.0])


def test_a_row_with_a_missing_value_is_left_out() -> None:
    shown, public = shown_rows("missing")
    answer = Problem(shown, [row for row, _ in shown], BUDGET, public).propose([], frozenset())
    assert answer is not None and answer.source == "3 * a"


def test_following_answers_are_other_laws() -> None:
    shown, public = shown_rows("category")
    problem = Problem(shown, [row for row, _ in shown], BUDGET, public)
    first = problem.propose([], frozenset())
    assert first is not None
    second = problem.propose([first.source], frozenset())
    assert second is not None and second.source != first.source


def test_equal_searches_give_equal_laws() -> None:
    runs = [search(*make_table("a * exp(-b) + c", 0.01), 10_000) for _ in range(2)]
    assert [format_formula(one.tree) for one in runs[0]] == [
        format_formula(one.tree) for one in runs[1]
    ]


def test_the_budget_limits_the_work() -> None:
    for limit in (2_000.0, 20_000.0):
        budget = Budget(limit)
        table, x = make_table("a * b + c", 0.1)
        search_laws(table, x, [Column(name) for name in table.columns], budget)
        assert limit / 2 < budget.spent < limit + 2_000


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_targets_of_any_size_are_explained_without_a_warning(factor: float) -> None:
    table, x = make_table("3 * a * b")
    scaled = Table(table.columns, table.target * factor, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = search(scaled, x)[0]
    assert np.allclose(evaluate_formula(first.tree, scaled.columns) / factor, table.target)


def test_zeros_and_a_constant_target_cause_no_warning() -> None:
    rows = np.arange(30.0)
    for target in (3 * rows + 1, np.zeros(30)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first = search(Table({"a": rows}, target, 1), rows[:, None])[0]
        assert np.allclose(evaluate_formula(first.tree, {"a": rows}), target)


@pytest.mark.parametrize("rows", [3, 4, 5])
def test_few_rows_have_laws(rows: int) -> None:
    pick = np.random.default_rng(5)
    x = pick.uniform(1, 5, (rows, 3))
    table = Table(dict(zip("abc", x.T, strict=True)), x[:, 0] * x[:, 1] / 2, 3)
    assert search(table, x, 5_000)


@pytest.mark.parametrize("rows", [40, 200])
def test_the_columns_of_a_product_are_chosen_among_many(rows: int) -> None:
    pick = np.random.default_rng(4)
    x = pick.standard_normal((rows, 150))
    chosen = choose_variables(x, x[:, 31] * x[:, 77])
    assert {31, 77} <= set(chosen) and len(chosen) <= MOST_VARIABLES
    assert choose_variables(x[:, :5], x[:, 0]) == [0, 1, 2, 3, 4]
