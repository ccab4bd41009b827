"""The studies' figures from a store against loops over problems, hypotheses and draws, and their tables
and plots. What is joined and left out: test_studies.py.

Internals: tables and plots are made of studies that are computed here in loops.
"""

from __future__ import annotations

import csv
import io
import random
import re
import sys
from itertools import combinations

import pytest
from peirce.records import (
    Hypothesis,
    UsageError,
    Verdict,
    canonical_json,
)
from peirce.reports.files import tables
from peirce.reports.files.plotting import render_figure
from peirce.reports.papers.gear import study_tables
from peirce.reports.papers.gear.joined_problems import StudySources, join_problems
from peirce.reports.papers.gear.studies import CONTEXT_SIZES, HIDDEN_COUNTS
from peirce.tests import counts
from peirce.tools import draw_hidden_sets
from study_shelf import MARKS, SHOWN, Shelf, judged, problem, row_of

# --- figures ---------------------------------------------------------------------


def shelve(shelf, seed):
    """Two models on problems of several n; returns all hypotheses by data set, n and problem."""
    rng = random.Random(seed)
    known = {}
    for model, n in ((model, n) for model in "xy" for n in (1, 2)):
        written = []
        for name in ("p", "q") if n == 1 else ("p",):
            key = ("list_functions", n, name)
            hidden = tuple((i, i) for i in range(2, rng.choice([3, 5, 7])))
            hidden, some = known.setdefault(key, (hidden, []))
            new = []
            for i in range(rng.randint(0, 4)):
                outputs = [rng.choice([None, 0, 1]) for _ in range(6)]
                new.append((f"{model}{i}", outputs, [rng.choice(MARKS) for _ in hidden]))
            some.extend(new)
            one = problem(name, hidden, SHOWN[:n])
            written.append((one, [judged(*hypothesis) for hypothesis in new]))
        shelf.session(*written, model=model, observations=n)
    return known


def prepared(shelf, known, m, draws=5):
    """For each problem: n, its prediction sets, and who passes each draw of m hidden pairs."""
    ids = [row["session"] for row in shelf.store.sessions()]
    for one in join_problems(shelf.store, ids, StudySources()):
        hidden, some = known[one.data_set, one.n, one.problem]
        some = sorted(some, key=lambda h: Hypothesis(h[0]).digest)
        order = sorted(
            range(len(hidden)), key=lambda i: canonical_json([[hidden[i][0]], [hidden[i][1]]])
        )
        sets = [{(i, o) for i, o in enumerate(h[1]) if o is not None} for h in some]
        drawn = draw_hidden_sets(len(hidden), m, draws, f"0 {one.key}").tolist()
        passing = [
            [all(h[2][order[place]] is True for place in draw) for draw in drawn] for h in some
        ]
        yield one, sets, drawn, passing


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


@pytest.mark.counted
@pytest.mark.parametrize("seed", range(counts.drawn(3, soak=6)))
def test_the_figures_of_study_1_equal_those_of_loops(shelf, seed):
    known = shelve(shelf, seed)
    result = shelf.study("defeasible")
    cases = {m: list(prepared(shelf, known, m)) for m in HIDDEN_COUNTS}
    for n, m in ((n, m) for n in (1, 2, "all") for m in HIDDEN_COUNTS):
        rates, gammas, all_gammas, passed, trials = [], [], [], 0, 0
        for one, sets, drawn, passing in cases[m]:
            if n not in (one.n, "all") or not sets or not drawn:
                continue
            rates.append(mean(mark for marks in passing for mark in marks))
            passed += sum(map(sum, passing))
            trials += len(sets) * len(drawn)
            own = []
            for d in range(len(drawn)):
                survivors = [s for s, marks in zip(sets, passing, strict=True) if marks[d]]
                if survivors:
                    own.append(len(set().union(*survivors)) / 6)
            gammas += [mean(own)] if own else []
            all_gammas += own
        found = row_of(result, n=n, m=m)
        assert (found["problems"], found["passed"], found["trials"]) == (len(rates), passed, trials)
        for name, value in (
            ("pass_rate", mean(rates)),
            ("pass_rate_micro", passed / trials if trials else None),
            ("rejected", 1 - mean(rates) if rates else None),
            ("gamma", mean(gammas)),
            ("gamma_micro", mean(all_gammas)),
        ):
            assert found[name]["value"] == (None if value is None else pytest.approx(value))
            if value is not None and found[name]["n"] > 1:
                assert found[name]["low"] <= value + 1e-9 and value - 1e-9 <= found[name]["high"]


def score(sets, context, f):
    def gamma(members):
        return len(set().union(*(sets[i] for i in members))) / 6

    def beta(members):
        apart = [
            1 - len(sets[a] & sets[b]) / len(sets[a] | sets[b]) if sets[a] | sets[b] else 0
            for a, b in combinations(members, 2)
        ]
        return mean(apart) or 0.0

    with_it = [*context, f]
    gained = gamma(with_it) - gamma(context) + beta(with_it) - beta(context)
    return (gamma([f]) + gained) / 3


@pytest.mark.counted
@pytest.mark.parametrize("seed", range(counts.drawn(3, soak=6)))
def test_the_figures_of_study_2_equal_those_of_loops(shelf, seed):
    known = shelve(shelf, seed)
    result = shelf.study("general")
    cases = {m: list(prepared(shelf, known, m)) for m in HIDDEN_COUNTS}
    for n, m, k in (
        (n, m, k) for n in (1, 2, "all") for m in HIDDEN_COUNTS for k in (*CONTEXT_SIZES, "all")
    ):
        sums = {"pairs": 0, "chosen": 0, "rejected": 0, "contexts": 0, "passing": 0, "ties": 0}
        rates = []
        for one, sets, drawn, passing in cases[m]:
            if n not in (one.n, "all"):
                continue
            own = dict.fromkeys(sums, 0)
            for size in CONTEXT_SIZES if k == "all" else (k,):
                if len(sets) >= size + 2:
                    naive_comparisons(sets, passing, range(len(drawn)), size, own)
            sums = {name: value + own[name] for name, value in sums.items()}
            if own["pairs"]:
                rates.append([own[name] / own["pairs"] for name in ("chosen", "rejected")])
        found = row_of(result, n=n, m=m, k=k)
        assert {name: found[name] for name in sums} == sums  # so few that no cap binds
        assert found["problems"] == len(rates)
        a, b, whole = sums["chosen"], sums["rejected"], sums["pairs"]
        chosen, rejected = (sum(rate[i] for rate in rates) for i in (0, 1))
        for name, over, under in (
            ("ratio", a, b),
            ("odds_ratio", a * (whole - b), b * (whole - a)),
            ("ratio_by_problem", chosen, rejected),
            ("odds_ratio_by_problem", chosen * (len(rates) - rejected),
             rejected * (len(rates) - chosen)),
        ):  # fmt: skip
            expected = pytest.approx(over / under) if under > 1e-12 else None
            assert found[name]["value"] == expected, name


def naive_comparisons(sets, passing, draws, size, counts):
    for d in draws:
        for context in combinations(range(len(sets)), size):
            if any(passing[member][d] for member in context):
                counts["passing"] += 1
                continue
            counts["contexts"] += 1
            for a, b in combinations([i for i in range(len(sets)) if i not in context], 2):
                first, second = (round(score(sets, context, f), 9) for f in (a, b))
                if first == second:
                    counts["ties"] += 1
                    continue
                high, low = (a, b) if first > second else (b, a)
                counts["pairs"] += 1
                counts["chosen"] += passing[high][d]
                counts["rejected"] += passing[low][d]


def test_a_case_worked_by_hand(shelf):
    """Of four hypotheses the whole hidden set rejects three. In order of their scores without a
    context a > b > c > d, and a alone is right everywhere: of the 6 pairs it is chosen in 3."""
    some = [
        judged("a", [0, 1, 2, 3, 4, 5], [True, True]),
        judged("b", [0, 1, 2, 3, 4, None], [True, False]),
        judged("c", [0, 1, 2, 3, None, None], [False, False]),
        judged("d", [0, 1, 2, None, None, None], [False, False]),
    ]
    shelf.session((problem("p", ((2, 2), (3, 3))), some))
    first = shelf.study("defeasible")
    whole = row_of(first, m="all")
    assert whole["rejected"]["value"] == whole["rejected_micro"]["value"] == 3 / 4
    assert whole["gamma"]["value"] == 1.0 and whole["gamma_two"]["value"] is None
    assert (
        whole["rejected"]["low"] is whole["rejected"]["high"] is None
    )  # nothing is known of others
    assert "reject 0.750 of a problem's" in study_tables.study_facts(first)[1]
    assert first["whole"]["rejected"]["value"] == 3 / 4
    assert first["whole"]["data_sets"] == ["list_functions"]
    one = row_of(first, m=1)  # both pairs are drawn once: 2 and 1 of 4 pass
    assert (one["draws"], one["passed"]) == (2, 3)
    assert one["pass_rate"]["value"] == 3 / 8
    found = row_of(shelf.study("general"), m=2, k=0)
    assert (found["pairs"], found["chosen"], found["rejected"]) == (6, 3.0, 0.0)
    assert found["chosen_rate"]["value"] == 0.5 and found["ratio"]["value"] is None
    found = row_of(shelf.study("general"), m=1, k=0)  # b: chosen in 2, rejected in 1
    assert (found["pairs"], found["chosen"], found["rejected"]) == (12, 8.0, 1.0)
    assert found["ratio"]["value"] == 8.0
    assert found["odds_ratio"]["value"] == pytest.approx((8 / 4) / (1 / 11))


def test_equal_hypotheses_count_as_often_as_they_were_given_unless_distinct(shelf):
    twice = [judged("a", range(6), [True]), judged("b", range(6), [True], Verdict.REDUNDANT)]
    other = judged("c", [0] * 6, [False])
    shelf.session((problem("p", ((2, 2),)), [*twice, other]))
    result = shelf.study("defeasible")
    assert (result["hypotheses"], result["distinct"]) == (3, 2)
    assert row_of(result, m=1)["pass_rate"]["value"] == pytest.approx(2 / 3)
    once = shelf.study("defeasible", distinct=True)
    assert row_of(once, m=1)["pass_rate"]["value"] == 1 / 2
    assert row_of(once, m=1)["hypotheses"] == 2


@pytest.mark.parametrize("choice", ["draws", "contexts", "pairs"])
def test_a_choice_below_one_and_an_unknown_study_are_refused(shelf, choice):
    with pytest.raises(UsageError, match=f"{choice} is 0: it must be at least 1"):
        shelf.study("general", **{choice: 0})
    with pytest.raises(UsageError, match="there is no study 'both': choose defeasible or general"):
        shelf.study("both")


# --- tables and plots ------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    shelf = Shelf(tmp_path_factory.mktemp("results") / "store.duckdb")
    shelve(shelf, 3)
    found = [shelf.study(name) for name in ("defeasible", "general")]
    shelf.store.close()
    return found


def test_csv_has_every_row_and_number(results):
    for result in results:
        rows = list(csv.DictReader(io.StringIO(tables.as_csv(study_tables.long_table(result)))))
        assert len(rows) == len(result["rows"])
        for row, told in zip(rows, result["rows"], strict=True):
            for name, value in told.items():
                if name == "left_out":
                    assert sum(int(row[f"left_out_{w}"]) for w in study_tables.REASONS) == sum(
                        value.values()
                    )
                elif isinstance(value, dict):
                    assert row[name] == ("" if value["value"] is None else str(value["value"]))
                    assert row[f"{name}_n"] == str(value["n"])
                else:
                    assert row[name] == str(value)


def test_text_is_no_wider_than_a_page_and_markdown_has_every_row(results):
    for result in results:
        text = tables.as_text(study_tables.short_table(result), 120)
        assert max(map(len, text.splitlines())) <= 120
        assert len(text.split("\n\n")) == 1
        markdown = tables.as_markdown(study_tables.full_table(result))
        assert len(markdown.splitlines()) == 2 + len(result["rows"])


def test_a_plot_has_every_setting_and_is_the_same_twice(results):
    pytest.importorskip("matplotlib", reason="MATPLOTLIB ABSENT (extra `report`): no plot is drawn")
    for result in results:
        drawn, again = (
            render_figure(lambda r=result: study_tables.draw_study(r)) for _ in range(2)
        )
        assert drawn == again and set(drawn) == {".png", ".svg"}
        words = re.findall(r"<!-- (.*?) -->", drawn[".svg"].decode())
        plotted = study_tables.PLOTTED[result["study"]]
        with_figures = {
            row["n"]
            for row in result["rows"]
            if row.get("k", "all") == "all" and any(row[name]["value"] for name in plotted)
        }
        assert len(with_figures) > 1
        lines = ["all n" if n == "all" else f"n = {n}" for n in with_figures]
        for said in (*lines, "hidden pairs drawn (m)", *plotted.values()):
            assert any(said in word for word in words), said


def test_without_matplotlib_a_plot_is_refused_with_what_to_install(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        UsageError, match=r"a figure needs matplotlib: pip install 'peirce\[report\]'"
    ):
        render_figure(lambda: study_tables.draw_study(results[0]))
