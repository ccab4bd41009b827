"""Settings and averages: by data set, model and n, and over data sets, which are named.

Internals: entries of settings and averages are written by hand.
"""

from __future__ import annotations

from collections import Counter

import pytest
from peirce.reports.metrics.grouping import Entry, Setting, Study, find_settings
from peirce.reports.metrics.results import ProblemDetail
from peirce.reports.papers.gear import tables


def detail(problem, stop="three_bad", bad=(), **fields):
    given = {
        "verdicts": Counter(), "memorising": 0, "undefined": Counter(),
        "undefined_consistent": Counter(), "predictions": 0, "predictions_consistent": 0,
        "point": None,
    }  # fmt: skip
    return ProblemDetail(problem=problem, stop=stop, bad=tuple(bad), **{**given, **fields})


def entry(data_set, n, model, problem, metrics=None, **fields):
    return Entry(Setting(data_set, n, model), metrics or {}, detail(problem, **fields))


def recorded(task="acre", observations=None, model="m", method="abduce", data=None):
    operational = {"observations": observations, "data": data}
    return {
        "settings": {"task": task, "method": method, "model": model, "operational": operational}
    }


def test_n_is_the_number_drawn_or_what_a_file_shows_else_original(write):
    three, two = write.problem(shown=3), write.problem(shown=2)
    file = {"name": "acre_3.json", "sha256": "…"}
    found = find_settings(
        [
            recorded(observations=4),
            recorded(observations=file),
            recorded(observations=file),
            recorded(),
        ],
        [[two], [three, three], [two, three], [two]],
    )
    assert [setting.n for setting in found] == [4, 3, "various", "original"]


def test_methods_stand_apart_where_there_are_both(write):
    found = find_settings([recorded(), recorded(method="t3")], [[write.problem()]] * 2)
    assert [s.model for s in found] == ["m · abduce", "m · t3"]


def test_an_average_over_data_sets_is_the_mean_of_their_means_and_names_those_in_it():
    study = Study(
        [
            entry("acre", 2, "m", "a", {"beta": 1.0}),
            entry("acre", 3, "m", "a", {"beta": 0.0}),
            entry("acre", 3, "m", "b", {"beta": 0.5}),
            entry("arc", 2, "m", "c", {"beta": 0.1}),
            entry("mini_arc", 2, "m", "d", {"beta": None}),
        ]
    )
    found = study.average("beta", "m", study.data_sets)
    assert found.interval["mean"] == pytest.approx((0.5 + 0.1) / 2)
    assert (found.interval["n"], found.data_sets) == (4, ("acre", "arc"))
    rows = tables.table_3(study)
    assert rows[0]["data_sets"] == ["acre", "arc", "mini_arc"]
    shown = tables.format_table_3(rows)
    assert shown.rows[0][1] == "Avg of acre, arc, mini_arc"
    assert str(shown.rows[0][6]).endswith("(acre, arc only)")


def test_a_problem_under_several_n_is_drawn_as_one():
    """Its values move together, so the interval is that of the problems' own means."""
    together = Study([entry("acre", n, "m", p, {"beta": p / 9}) for n in (2, 3) for p in range(10)])
    alone = Study([entry("acre", 2, "m", p, {"beta": p / 9}) for p in range(10)])
    both = [study.average("beta", "m", ["acre"]).interval for study in (together, alone)]
    assert both[0]["low"] == pytest.approx(both[1]["low"])
    assert (both[0]["n"], both[1]["n"]) == (20, 10)


def test_causes_of_the_stop_stand_by_n_with_the_last_bad_verdict():
    study = Study(
        [
            entry("acre", 2, "m", "a", bad=["inconsistent", "inconsistent", "redundant"]),
            entry("acre", 2, "m", "b", stop="cap", bad=["malformed"]),
            entry("acre", 3, "m", "a", bad=["redundant", "redundant", "redundant"]),
        ]
    )
    table = tables.stops_table(study)
    rows = [dict(zip(table.headings, row, strict=True)) for row in table.rows]
    assert [(r["n"], r["cap"], r["three_bad"]) for r in rows] == [("2", 1, 1), ("3", 0, 1)]
    assert (rows[0]["bad: inconsistent"], rows[0]["bad: malformed"]) == (2, 1)
    assert (rows[0]["last: redundant"], rows[0]["last: malformed"]) == (1, 0)


def test_undefined_predictions_are_shares_of_all_and_of_the_consistent():
    study = Study(
        [
            entry("acre", 2, "m", "a", undefined=Counter(KeyError=3), predictions=10,
                  undefined_consistent=Counter(KeyError=1), predictions_consistent=5),
        ]
    )  # fmt: skip
    assert tables.undefined_table(study).rows == (("acre", "2", "m", "KeyError", 3, 0.3, 1, 0.2),)


def test_rank_correlation_is_given_where_there_are_two_n():
    falls = [entry("acre", n, "m", p, {"beta": 1.0 / n}) for n in (2, 3, 4) for p in "abc"]
    table = tables.correlations_table(Study([*falls, entry("arc", 1, "m", "a", {"beta": 1.0})]))
    assert [row[:2] for row in table.rows] == [("m", "acre")]
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert row["beta"].mean == pytest.approx(-1.0)


def test_points_stand_with_the_bounds_of_appendix_d():
    table = tables.points_table(Study([entry("acre", 2, "m", "a", point=(4 / 3, 0.5, 2))]))
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert row["least beta"] <= 0.5 <= row["most beta"]
