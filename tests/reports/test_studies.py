"""The studies from a store: what is joined, what is left out and counted, and every figure against
loops over problems, hypotheses and draws.

The stores hold sessions written as a run writes them, with outputs and marks of the test's own.
Not covered: the scores and draws themselves (tests/tools/test_studies.py), sessions of a real run
(tests/api/test_study_verb.py).
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
import re
import sys
from itertools import combinations

import numpy as np
import pytest
from peirce import tasks
from peirce.records import (
    Agreement,
    Answered,
    Hypothesis,
    InputSet,
    Judged,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    UsageError,
    Verdict,
    canonical_json,
)
from peirce.reports import study_figures, study_tables, tables
from peirce.reports.joining import Sources, joined
from peirce.reports.plotting import rendered
from peirce.reports.studies import CONTEXT_SIZES, HIDDEN, Choices, study
from peirce.store import Store
from peirce.tools import studies

SPACE = InputSet("six", tuple([i] for i in range(6)))
SHOWN = ((0, 0), (1, 1))
MARKS = [True, True, False, None]


def pairs(some):
    return tuple(Observation([given], [output]) for given, output in some)


def problem(name, hidden, shown=SHOWN):
    return Problem(name, "list_functions", "programs", pairs(shown), pairs(hidden), group=name)


def judged(text, outputs, marks, verdict=Verdict.ACCEPTED):
    """outputs: over S, None where undefined. marks: of the hidden pairs, None: never compared."""
    codes = np.array([0 if o is None else o for o in outputs], np.int64)
    reasons = np.array([o is None for o in outputs], np.uint8)
    hidden = None if marks is None else Agreement(tuple(marks), ({},) * len(marks))
    return Judged(
        verdict, "", Hypothesis(text), 0.0, None, hidden, Predictions(codes, reasons, ("E",))
    )


class Shelf:
    """A store that sessions are put into."""

    def __init__(self, path):
        self.path, self.store = path, Store.open(path, write=True)

    def session(self, *problems, model="m", space=SPACE, status="done", **operational):
        """problems: (problem, its hypotheses). Returns the session's id."""
        settings = {
            "task": "list_functions", "family": "programs", "method": "abduce", "model": model,
            "equality": 1, "operational": {"data": {"name": "file"}} | operational,
        }  # fmt: skip
        session = self.store.create_session(settings, [(one, space) for one, _ in problems])
        ledger = self.store.ledger(session)

        async def write():
            for one, hypotheses in problems:
                for step, hypothesis in enumerate(hypotheses, 1):
                    await ledger.step(
                        StepRecord(one.id, step, (Answered(f"step/{step}", "", (hypothesis,)),))
                    )
                if status != "open":
                    await ledger.end(one.id, status, "exhausted")

        asyncio.run(write())
        return session

    def study(self, name, *sessions, **choices):
        ids = sessions or [row["session"] for row in self.store.sessions()]
        return study(name, self.store, ids, Choices(resamples=50, **choices))


@pytest.fixture
def shelf(tmp_path):
    made = Shelf(tmp_path / "store.duckdb")
    yield made
    made.store.close()


def row_of(result, **place):
    (found,) = [r for r in result["rows"] if all(r[key] == value for key, value in place.items())]
    return found


TABLE = "def f(x):\n    return {(0,): [0], (1,): [1]}[tuple(x)]"


@pytest.mark.parametrize("name", ["defeasible", "general"])
def test_memorising_hypotheses_are_counted_and_a_study_can_be_without_them(shelf, name):
    hidden = ((2, 2), (3, 3), (4, 4), (5, 5))
    honest = [judged(f"{i}", [*range(5), i], [True, True, i > 1, False]) for i in range(4)]
    table = judged(TABLE, [0, 1, None, None, None, None], [False] * 4)
    shelf.session((problem("p", hidden), [*honest, table]), model="able")
    shelf.session((problem("p", hidden), [table]), model="weak")
    whole, without = (shelf.study(name, without_memorising=left) for left in (False, True))
    assert (whole["memorising"], whole["hypotheses"]) == (2, 6)
    assert (without["memorising"], without["hypotheses"], without["problems"]) == (2, 4, 1)
    said = [study_tables.facts(result) for result in (whole, without)]
    assert any("2 hypotheses memorise what they were shown (--without" in line for line in said[0])
    assert any("memorise what they were shown and are left out" in line for line in said[1])
    other = Shelf(shelf.path.with_name("honest.duckdb"))
    other.session((problem("p", hidden), honest), model="able")
    assert other.study(name)["rows"] == without["rows"]
    other.store.close()


# --- what is joined ------------------------------------------------------------


def test_sessions_are_joined_by_problem_and_shown_pairs_whatever_the_order_of_pairs(shelf):
    hidden = ((2, 2), (3, 3), (4, 4))
    one = judged("a", [0, 1, 2, 9, 9, 9], [True, False, False])
    other = judged("b", [0, 1, 9, 9, 4, 9], [True, None, False])
    shelf.session((problem("p", hidden), [one]), model="x")
    shelf.session((problem("p", hidden[::-1], SHOWN[::-1]), [other]), model="y")
    (both,) = joined(shelf.store, [r["session"] for r in shelf.store.sessions()], Sources())
    assert len(both.population) == 2
    by_row = {tuple(marks) for marks in both.population.right.tolist()}
    assert by_row == {(True, False, False), (False, False, True)}


@pytest.mark.parametrize(
    "other",
    [
        {"problem": problem("p", ((2, 2),), ((0, 0),))},
        {"problem": problem("q", ((2, 2),))},
        {"problem": problem("p", ((2, 5),))},
        {"space": InputSet("others", tuple([i + 9] for i in range(6)))},
        {"observations": 2},
        {"data": None},
    ],
)
def test_what_differs_in_shown_hidden_problem_data_or_space_stays_apart(shelf, other):
    one = judged("a", range(6), [True])
    shelf.session((problem("p", ((2, 2),)), [one]))
    apart = other.pop("problem", problem("p", ((2, 2),)))
    shelf.session((apart, [one]), **other)
    result = shelf.study("defeasible")
    assert (result["problems"], result["hypotheses"]) == (2, 2)


def test_neither_the_order_of_sessions_nor_naming_one_twice_changes_a_result(shelf):
    rng = random.Random(4)
    ids = []
    for model in "xyz":
        hypotheses = [
            judged(f"{model}{i}", [rng.randrange(3) for _ in range(6)],
                   [rng.random() < 0.5 for _ in range(6)])
            for i in range(4)
        ]  # fmt: skip
        hidden = tuple((i, i) for i in range(2, 8))
        ids.append(shelf.session((problem("p", hidden), hypotheses), model=model))
    for name in ("defeasible", "general"):
        whole = shelf.study(name, *ids)
        again = shelf.study(name, *ids[::-1], ids[0])
        assert again["rows"] == whole["rows"] and whole["hypotheses"] == 12
        assert shelf.study(name, *ids, seed=1)["rows"] != whole["rows"]


# --- what is left out ------------------------------------------------------------


def test_pairs_that_judge_nothing_are_left_out_and_counted_unless_all_are_asked_for(
    shelf, monkeypatch
):
    monkeypatch.setattr(tasks, "judgeable", lambda p: tuple(o.output != [9] for o in p.hidden))
    shelf.session((problem("p", ((2, 2), (3, 9))), [judged("a", range(6), [True, False])]))
    without = shelf.study("defeasible")
    assert without["hidden_left_out"] == {"not_judgeable": 1, "repeated": 0}
    assert row_of(without, m="all")["pass_rate"]["value"] == 1.0
    assert row_of(without, m=2)["left_out"] == {"too_few_hidden": 1}
    whole = shelf.study("defeasible", all_pairs=True)
    assert whole["hidden_left_out"] == {"not_judgeable": 0, "repeated": 0}
    assert row_of(whole, m="all")["rejected"]["value"] == 1.0


def test_hidden_pairs_that_are_shown_or_stand_twice_do_not_count(shelf):
    hidden = ((2, 2), (0, 0), (2, 2))
    shelf.session((problem("p", hidden), [judged("a", range(6), [False, True, False])]))
    result = shelf.study("defeasible")
    assert result["hidden_left_out"]["repeated"] == 2
    assert row_of(result, m=1)["draws"] == 1


def test_problems_not_done_and_hypotheses_never_compared_are_left_out_and_counted(shelf):
    p = problem("p", ((2, 2),))
    shelf.session((p, [judged("a", range(6), [True])]), status="failed")
    shelf.session((p, [judged("b", range(6), None), judged("c", range(6), [True])]))
    shelf.session(
        (p, [judged("d", range(6), [True], Verdict.INCONSISTENT),
             judged("e", range(6), [False], Verdict.REDUNDANT)])
    )  # fmt: skip
    result = shelf.study("defeasible")
    assert (result["hypotheses"], result["not_judged"]) == (2, 1)
    assert [one["left_out"] for one in result["sessions"]] == [{"failed": 1}, {}, {}]
    assert row_of(result, m=1)["pass_rate"]["value"] == 0.5
    told = " ".join(study_tables.facts(result))
    assert "1 hypotheses not judged" in told and "1 problems failed" in told


def test_problems_that_fit_no_cell_are_left_out_and_counted_with_the_reason(shelf):
    one = judged("a", range(6), [True, True])
    shelf.session(
        (problem("none", ((2, 2), (3, 3))), []),
        (problem("nothing hidden", ()), [judged("a", range(6), [])]),
        (problem("two hidden", ((2, 2), (3, 3))), [one]),
    )
    first = shelf.study("defeasible")
    assert row_of(first, m=2)["left_out"] == {"no_consistent": 1, "too_few_hidden": 1}
    assert row_of(first, m=3)["left_out"] == {"no_consistent": 1, "too_few_hidden": 2}
    assert row_of(first, m=3)["problems"] == 0
    assert row_of(first, m=3)["pass_rate"]["value"] is None
    assert row_of(first, m="all")["left_out"] == {"no_consistent": 1, "too_few_hidden": 1}
    assert first["without_consistent"] == 1
    second = shelf.study("general")
    for k in (0, 1, 2, "all"):
        left_out = {"no_consistent": 1, "too_few_hidden": 1, "too_few_hypotheses": 1}
        assert row_of(second, m=2, k=k)["left_out"] == left_out


def test_a_store_without_anything_to_study_gives_tables_without_figures(shelf):
    shelf.session((problem("p", ()), []))
    for name in ("defeasible", "general"):
        result = shelf.study(name)
        assert "–" in tables.as_text(study_tables.short_table(result), 120)
        json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("right", [True, False])
def test_ratios_are_null_and_counted_where_all_pass_or_none(shelf, right):
    some = [judged(c, [i] * (6 - i) + [None] * i, [right]) for i, c in enumerate("abcd")]
    shelf.session((problem("p", ((2, 2),)), some))
    found = row_of(shelf.study("general"), m=1, k=0)
    assert found["ratio"]["value"] == (1.0 if right else None)
    assert found["odds_ratio"]["value"] is None
    assert found["odds_ratio"]["undefined"] == 50
    assert found["problems_none_pass"] == (0 if right else 1)
    assert row_of(shelf.study("general"), m=1, k=1)["passing"] == (4 if right else 0)
    some_pass = [judged(c, [i] * (6 - i) + [None] * i, [i == 3]) for i, c in enumerate("abcd")]
    shelf.session((problem("q", ((2, 2),)), some_pass))
    assert row_of(shelf.study("general"), m=1, k=0)["problems_none_pass"] == (0 if right else 1)
    if right:  # every context has a member that passes
        assert row_of(shelf.study("general"), m=1, k=1)["left_out"] == {"nothing_to_compare": 1}


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
    for one in joined(shelf.store, ids, Sources()):
        hidden, some = known[one.data_set, one.n, one.problem]
        some = sorted(some, key=lambda h: Hypothesis(h[0]).digest)
        order = sorted(
            range(len(hidden)), key=lambda i: canonical_json([[hidden[i][0]], [hidden[i][1]]])
        )
        sets = [{(i, o) for i, o in enumerate(h[1]) if o is not None} for h in some]
        drawn = studies.hidden_draws(len(hidden), m, draws, f"0 {one.key}").tolist()
        passing = [
            [all(h[2][order[place]] is True for place in draw) for draw in drawn] for h in some
        ]
        yield one, sets, drawn, passing


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


@pytest.mark.parametrize("seed", range(6))
def test_the_figures_of_study_1_equal_those_of_loops(shelf, seed):
    known = shelve(shelf, seed)
    result = shelf.study("defeasible")
    cases = {m: list(prepared(shelf, known, m)) for m in HIDDEN}
    for n, m in ((n, m) for n in (1, 2, "all") for m in HIDDEN):
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


@pytest.mark.parametrize("seed", range(6))
def test_the_figures_of_study_2_equal_those_of_loops(shelf, seed):
    known = shelve(shelf, seed)
    result = shelf.study("general")
    cases = {m: list(prepared(shelf, known, m)) for m in HIDDEN}
    for n, m, k in (
        (n, m, k) for n in (1, 2, "all") for m in HIDDEN for k in (*CONTEXT_SIZES, "all")
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
    assert "reject 0.750 of a problem's" in study_tables.facts(first)[1]
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
    with pytest.raises(UsageError, match="no study 'both': there are defeasible and general"):
        shelf.study("both")


# --- tables and plots ------------------------------------------------------------


@pytest.fixture
def results(shelf):
    shelve(shelf, 3)
    return [shelf.study(name) for name in ("defeasible", "general")]


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
        markdown = tables.as_markdown(study_tables.whole_table(result))
        assert len(markdown.splitlines()) == 2 + len(result["rows"])


def test_a_plot_has_every_setting_and_is_the_same_twice(results):
    pytest.importorskip("matplotlib", reason="MATPLOTLIB ABSENT (extra `report`): no plot is drawn")
    for result in results:
        drawn, again = (rendered(lambda r=result: study_figures.figure(r)) for _ in range(2))
        assert drawn == again and set(drawn) == {".png", ".svg"}
        words = re.findall(r"<!-- (.*?) -->", drawn[".svg"].decode())
        plotted = study_figures.PLOTTED[result["study"]]
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
        rendered(lambda: study_figures.figure(results[0]))
