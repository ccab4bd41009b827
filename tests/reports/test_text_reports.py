"""What is said of sessions on labelled text: at the start, at the end, and of several together.

Internals: banners and comparisons are made of results that are written by hand.
"""

from __future__ import annotations

import io

import pytest
from peirce.reports.papers.hypobench import cross_model
from peirce.reports.screen import banner, listings, summaries
from peirce.reports.screen.findings import describe_together
from rich.console import Console

TEXT = {
    "judge": "auto", "repeats": 1, "inference": "multi", "capacity": 20, "top": 10, "alpha": 0.5,
    "examples": 10, "splits": ["val", "ind", "ood"], "shots": 0,
}  # fmt: skip
ROWS = {"shown": 200, "val": 300, "ind": 500, "ood": 0}
CALLS = {"proposer": {"least": 1, "most": 20}, "judge": {"least": 7, "most": 7},
         "literature": {"least": 0, "most": 0}}  # fmt: skip


def event(method="hypogenic", operational=None, **text):
    settings = {"method": method, "model": "small", "text": {**TEXT, **text}}
    settings["operational"] = operational or {}
    return {"settings": settings, "rows": ROWS, "calls": CALLS}


def said(**changed):
    return dict(banner.describe_text_session(event(**changed)))


def printed(draw, *args):
    out = Console(file=io.StringIO(), width=160, markup=False, highlight=False)
    draw(out, *args)
    return out.file.getvalue()


def test_the_start_names_judge_reading_rows_and_calls():
    told = said()
    assert told["judge"] == "the model: sentences that are not exact rules"
    assert told["bank"].endswith("applied by multi") and "best 10" in told["bank"]
    assert told["rows"] == (
        "200 shown, 10 of them in the first prompt; to predict: 300 validation rows (val), 500 test rows (ind)"
    )
    assert told["calls"] == "proposer 1 to 20, judge 7"


@pytest.mark.parametrize(
    ("changed", "judge"),
    [
        ({"judge": "exact"}, "exact rules only; no model is asked about texts"),
        ({"judge": "model", "repeats": 3}, "the model: all sentences, 3 answers per question"),
        ({"operational": {"players": {"judge": ["openai:big", {}]}}},
         "openai:big: sentences that are not exact rules"),
        ({"method": "direct", "inference": None, "shots": 2},
         "the model labels the rows directly, with 2 labelled rows in each prompt"),
    ],
)  # fmt: skip
def test_the_start_names_who_judges(changed, judge):
    assert said(**changed)["judge"] == judge


def test_a_session_without_a_bank_names_none_and_one_without_splits_says_so():
    assert "bank" not in said(inference=None)
    assert "no rows" in said(splits=["ood"])["rows"]


def row(name, split, accuracy, f1):
    return {
        "name": name,
        "split": split,
        "accuracy": accuracy,
        "low": 0,
        "high": 1,
        "f1": f1,
        "n": 9,
    }


def test_baselines_stand_in_a_row_each_with_means_over_problems():
    found = [
        {"problem": "a#0", "baselines": [row("majority", "ind", 0.5, 0.3)], "said": ["ind, 9 rows: no"]},
        {"problem": "a#1", "baselines": [row("majority", "ind", 0.7, 0.5)], "said": ["ind, 9 rows: yes"]},
    ]  # fmt: skip
    metrics = {"accuracy_ind": {"mean": 0.9}, "f1_ind": {"mean": 0.8}}
    out = printed(summaries.print_baselines, metrics, found)
    lines = [line.split() for line in out.splitlines()]
    assert ["majority", "0.600", "0.400"] in lines and ["the", "session", "0.900", "0.800"] in lines
    assert "a#0: ind, 9 rows: no" in out and "a#1: ind, 9 rows: yes" in out


@pytest.mark.parametrize(("lines", "more"), [(12, ""), (13, "and 1 more; to see all")])
def test_more_sentences_than_a_screen_takes_are_counted(lines, more):
    said = [f"ind: {number}" for number in range(lines)]
    rows = [row("majority", "ind", 0.5, 0.3)]
    out = printed(
        summaries.print_baselines, {}, [{"problem": "a", "baselines": rows, "said": said}]
    )
    assert "ind: 11" in out and "ind: 12" not in out
    assert more in out and (" more" in out) == bool(more)


def test_nothing_is_said_where_nothing_was_predicted():
    assert printed(summaries.print_baselines, {}, []) == ""
    assert (
        printed(summaries.print_baselines, {}, [{"problem": "a", "baselines": [], "said": []}])
        == ""
    )


def session(name, model, method="infer", bank=(), judge=None, **text):
    operational = {"bank": [{"session": one} for one in bank]} if bank else {}
    operational |= {"players": {"judge": [judge, {}]}} if judge else {}
    record = {"session": name, "settings": {"method": method, "text": {**TEXT, **text},
                                            "operational": operational}}  # fmt: skip
    metrics = {"accuracy_ind": {"mean": 0.5}, "f1_ind": {"mean": 0.25}}
    return record, {"session": name, "model": model, "metrics": metrics}


def test_sessions_that_share_a_bank_are_a_table_of_proposer_and_judge():
    given = [
        session("s1", "small", "hypogenic"),
        session("s2", "large", bank=["s1"]),
        session("s3", "small", bank=["s1"], judge="openai:other"),
        session("s4", "search", bank=["s9"]),
    ]  # fmt: skip
    records, scored = zip(*given, strict=True)
    found = cross_model.build_cells(records, scored, {"s1": "small", "s9": "gone"})
    assert [(one["bank"], one["proposer"], one["judge"]) for one in found] == [
        ("s1", "small", "small"), ("s1", "small", "large"), ("s1", "small", "openai:other"),
    ]  # fmt: skip
    out = printed(cross_model.print_table, found)
    assert out.count("0.500 / 0.250") == 3 and "openai:other" in out and "ind: accuracy / F1" in out


def test_exact_rules_are_a_judge_of_their_own():
    (record, _) = session("s1", "search")
    record["settings"]["text"]["judge"] = "exact"
    assert cross_model.find_judge(record["settings"], "search") == "exact rules"


def test_many_observations_are_counted_and_a_source_is_named():
    shown = {
        "step": 1, "verdict": "accepted", "reason": "", "hypothesis": "Long texts are good.",
        "description": "", "observations": [True] * 70 + [False] * 5 + [None] * 125, "hidden": [],
        "coverage": None, "undefined": {"not_asked": 100}, "breaches": ["quote_not_in_source"],
        "meta": {"source": "one.pdf", "quote": "longer texts"}, "answer": "",
    }  # fmt: skip
    out = printed(listings.print_hypotheses, [shown])
    assert "shown 70 correct, 5 wrong, 125 undefined of 200" in out and "not_asked" not in out
    assert 'from one.pdf   "longer texts"' in out and "quote_not_in_source" in out


def test_shares_of_right_rows_are_rounded_as_in_the_table_of_metrics() -> None:
    for right in range(1, 400):
        told = {"hypotheses": 2, "strategy": "weighted", "right": right, "of": 400, "rows": "test",
                "shown": 9, "training": 9}  # fmt: skip
        assert f" right on {float(f'{right / 400:.3f}') * 100:.1f}% of" in describe_together(told)
