"""Tables as text, Markdown and CSV, compared whole.

Internals: tables are compared whole with what three writers make of them.
"""

from __future__ import annotations

import csv
import io

from peirce.reports.files.tables import (
    Mean,
    Table,
    as_csv,
    as_markdown,
    as_text,
    long_table,
    problem_table,
    session_headings,
    split_valued,
    summary_table,
)
from peirce.reports.metrics.evaluation import Metric
from peirce.reports.papers.abd import files

METRICS = (Metric("consistency", "higher", ""), Metric("gap", "lower", ""), Metric("t", None, ""))


def interval(mean, n):
    if mean is None:
        return {"mean": None, "low": None, "high": None, "n": n}
    return {"mean": mean, "low": mean - 0.25, "high": mean + 0.25, "n": n}


def session(model, task="acre", session="ab12", **metrics):
    return {"session": session, "task": task, "method": "abduce", "model": model} | {
        "metrics": metrics
    }


def test_text_has_the_mean_its_interval_its_n_and_the_good_direction():
    table = summary_table(
        [session("search", consistency=interval(0.5, 125), gap=interval(None, 0))], METRICS
    )
    assert as_text(table) == (
        "metric                       search    n\n"
        "─────────────  ────────────────────  ───\n"
        "consistency ↑  0.500 [0.250, 0.750]  125\n"
        "gap ↓                             –    0"
    )


def test_sessions_stand_side_by_side_and_a_missing_metric_is_a_dash():
    table = summary_table(
        [session("a", consistency=interval(0.5, 3)), session("b", t=interval(2.0, 4))], METRICS
    )
    assert table.headings == ("metric", "a", "n", "b", "n")
    assert as_markdown(table) == (
        "| metric | a | n | b | n |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| consistency ↑ | 0.500 [0.250, 0.750] | 3 | – | – |\n"
        "| t | – | – | 2.000 [1.750, 2.250] | 4 |"
    )


def test_metrics_without_a_value_are_named_apart():
    some = session("search", consistency=interval(0.5, 125), gap=interval(None, 0))
    other = session("else", consistency=interval(None, 0), gap=interval(None, 0))
    found, empty = split_valued(summary_table([some, other], METRICS))
    assert empty == ["gap"] and [row[0] for row in found.rows] == ["consistency ↑"]
    nothing = summary_table([other], METRICS)
    assert split_valued(nothing) == (nothing, [])


def test_one_row_a_session_is_the_papers_form():
    table = summary_table([session("a", gap=interval(1.0, 3))], METRICS, rows="sessions")
    assert table.headings == ("session", "gap ↓", "n")
    assert as_markdown(table).splitlines()[2] == "| a | 1.000 [0.750, 1.250] | 3 |"


def test_columns_beyond_the_width_follow_in_a_block_of_their_own():
    many = [session(m, consistency=interval(0.5, 3)) for m in ("a", "b", "c")]
    blocks = as_text(summary_table(many, METRICS), width=70).split("\n\n")
    assert [block.splitlines()[0].split() for block in blocks] == [
        ["metric", "a", "n", "b", "n"],
        ["metric", "c", "n"],
    ]
    assert all(len(line) <= 70 for block in blocks for line in block.splitlines())
    narrow = as_text(summary_table(many, METRICS), width=1).split("\n\n")
    assert len(narrow) == 3


def test_csv_of_means_is_numbers_under_names_of_their_own():
    table = Table(
        ("model", "beta ↑", "n", "gamma", "n", "share"),
        (
            ("a", Mean(1 / 3, 0.0, 0.5), 3, Mean(2.0, 1.0, 3.0, "acre alone"), 4, 0.25),
            ("b", None, 0, Mean(1.0, 1.0, 1.0), 2, None),
        ),
    )
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert rows[0] == {
        "model": "a", "beta": repr(1 / 3), "beta low": "0.0", "beta high": "0.5", "beta n": "3",
        "gamma": "2.0", "gamma low": "1.0", "gamma high": "3.0", "gamma of": "acre alone",
        "gamma n": "4", "share": "0.25",
    }  # fmt: skip
    assert (rows[1]["beta"], rows[1]["beta n"], rows[1]["gamma of"], rows[1]["share"]) == ("", "0", "", "")  # fmt: skip


def test_no_cell_of_a_csv_is_a_formula():
    """Names of models and problems come from texts that others wrote."""
    texts = ("=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "-1.5", "+3%", "-", "a=b")
    table = Table(("=heading", "n"), tuple((text, -1.5) for text in texts))
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[0] == [" =heading", "n"] and {row[1] for row in rows[1:]} == {"-1.5"}
    firsts = [row[0] for row in rows[1:]]
    assert firsts[:4] == [" =1+1", " +cmd", " -2+3", " @SUM(A1)"]
    assert firsts[4][0] not in "\t=" and firsts[5:] == ["-1.5", "+3%", "-", "a=b"]


def test_csv_is_long_with_numbers_whole_and_missing_ones_empty():
    table = long_table(
        [session("a,b", consistency=interval(1 / 3, 3), gap=interval(None, 0))], METRICS
    )
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[0] == [
        "session",
        "task",
        "method",
        "model",
        "metric",
        "better",
        "mean",
        "low",
        "high",
        "n",
    ]
    assert rows[1][3:7] == ["a,b", "consistency", "higher", "0.3333333333333333"]
    assert rows[2][4:] == ["gap", "lower", "", "", "", "0"]


def test_a_heading_says_what_tells_sessions_apart():
    assert session_headings([session("m"), session("m", task="arc")]) == ["acre · m", "arc · m"]
    assert session_headings([session("m", session="1"), session("m", session="2")]) == [
        "m · 1",
        "m · 2",
    ]
    assert session_headings([session("m")]) == ["m"]


def test_a_metric_that_no_evaluation_names_is_still_printed():
    table = summary_table([session("m", odd=interval(1.0, 1))], METRICS)
    assert [row[0] for row in table.rows] == ["odd"]


def test_names_cannot_break_a_table():
    nasty = "a|b<i>\n\x1b[31m`x`"
    table = Table(("name", "x|y"), ((nasty, 1),))
    assert "\x1b" not in as_text(table) + as_markdown(table) + as_csv(table)
    assert len(as_text(table).splitlines()) == len(as_markdown(table).splitlines()) == 3
    assert as_markdown(table).splitlines()[2] == "| a\\|b&lt;i>��[31m\\`x\\` | 1 |"


def test_problems_stand_in_rows_with_a_dash_where_a_value_is_missing():
    table = problem_table([{"problem": "p", "beta": 0.5, "n": 3}, {"problem": "q", "gamma": 2.0}])
    assert as_text(table).splitlines()[2:] == [
        "p        0.500  3      –",
        "q            –  –  2.000",
    ]


def test_a_table_speaks_of_intervals_where_a_cell_has_one():
    def told(*cells):
        return files.describe_table(
            "exact", "table2", Table(("a",), tuple((cell,) for cell in cells))
        )

    assert "Intervals" not in told(Mean(0.5, None, None), 3, "x")
    assert "Intervals: 95%" in told(Mean(0.5, None, None), Mean(0.5, 0.25, 0.75))
