"""Baselines on labelled text: what they learn and from which rows, and what is said of a result that
does not beat them.

Internals: each baseline's predictions are compared with those worked by hand.
"""

from __future__ import annotations

import asyncio
import io
import random
import sys
from dataclasses import replace

import pytest
from labelled import RAIN, SUN, problem, rows, step
from peirce.records import InputSet, Observation
from peirce.reports.papers.hypobench import baseline_models, baselines
from peirce.reports.papers.hypobench.baseline_models import describe_missing, fit_baselines
from peirce.reports.papers.hypobench.baselines import (
    BaselineComparison,
    compare_with_baselines,
    describe_comparisons,
    mcnemar,
    score_baselines,
    session_baselines,
)
from peirce.reports.screen.summaries import print_baselines
from peirce.store import Store
from peirce.tasks import load_task
from rich.console import Console

TEXTS = [({"text": t}, "wet") for t in RAIN] + [({"text": t}, "dry") for t in SUN]
GRADES = {
    "grade": {"kind": "choice", "about": "", "values": ["A", "B", "C"]},
    "books": {"kind": "number", "about": ""},
    "legacy": {"kind": "truth", "about": ""},
}
# Before conftest.py leaves boosting out.
HAS_INTERPRET, DESCRIBE_MISSING = baseline_models.has_interpret, baselines.describe_missing
PAIR = {"first": {"kind": "text", "about": ""}, "second": {"kind": "text", "about": ""}}


@pytest.fixture
def as_installed(monkeypatch):
    """Explainable boosting is used if it is installed, as outside of the tests."""
    monkeypatch.setattr(baseline_models, "has_interpret", HAS_INTERPRET)
    monkeypatch.setattr(baselines, "describe_missing", DESCRIBE_MISSING)


@pytest.fixture
def boosting(as_installed):
    """Explainable boosting, which the other tests leave out: it takes seconds on every problem."""
    pytest.importorskip(
        "interpret", reason="BOOSTING NOT TESTED: interpret-core absent (extra ebm)"
    )


def applicant(grade, books, legacy):
    label = "in" if grade == "A" and books >= 2 else "out"
    return {"grade": grade, "books": books, "legacy": legacy}, label


def applicants(count, seed):
    rng = random.Random(seed)
    return [
        applicant(rng.choice("AABC"), rng.randrange(5), rng.random() < 0.5) for _ in range(count)
    ]


def test_words_tell_labels_apart_and_the_majority_does_not():
    p = problem(shown=TEXTS, ind=[({"text": "rain again"}, "wet"), ({"text": "the sun"}, "dry")])
    assert [(one["name"], one["split"], one["accuracy"], one["n"]) for one in score_baselines(p)] == [
        ("majority", "ind", 0.5, 2), ("tfidf", "ind", 1.0, 2), ("tree", "ind", 1.0, 2),
    ]  # fmt: skip
    assert score_baselines(p)[0]["f1"] == pytest.approx(1 / 3)


def test_of_equally_frequent_labels_the_first_of_the_list_is_the_majority():
    for labels in (("wet", "dry"), ("dry", "wet")):
        p = problem(shown=TEXTS, labels=labels, ind=rows("a"))
        assert fit_baselines(p)["majority"]([{}, {}]) == [labels[0]] * 2


def test_a_tree_learns_fields_and_there_are_no_words():
    p = problem(shown=applicants(200, 1), labels=("in", "out"), columns=GRADES, shape="fields",
                val=applicants(50, 2), ind=applicants(100, 3))  # fmt: skip
    by_name = {(one["name"], one["split"]): one["accuracy"] for one in score_baselines(p)}
    assert set(by_name) == {(n, s) for n in ("majority", "tree") for s in ("ind", "val")}
    assert by_name["tree", "ind"] == by_name["tree", "val"] == 1.0
    strange = [{"grade": "Z", "books": None}, {}, {"grade": 3, "books": "many", "legacy": 1e300}]
    assert set(fit_baselines(p)["tree"](strange)) <= {"in", "out"}


def test_texts_with_fields_have_both():
    mixed = [(one | {"note": "fine"}, label) for one, label in applicants(40, 1)]
    columns = GRADES | {"note": {"kind": "text", "about": ""}}
    p = problem(shown=mixed, labels=("in", "out"), columns=columns, shape="fields", ind=mixed)
    assert list(fit_baselines(p)) == ["majority", "tfidf", "tree"]


def test_two_texts_swapped_get_the_other_label():
    rng = random.Random(4)
    pairs = []
    for _ in range(40):
        wet, dry = rng.choice(RAIN), rng.choice(SUN)
        first = rng.random() < 0.7
        texts = (wet, dry) if first else (dry, wet)
        pairs.append(({"first": texts[0], "second": texts[1]}, "First" if first else "Second"))
    columns = PAIR | {"about": {"kind": "text", "about": ""}}
    p = problem(shown=pairs, labels=("First", "Second"), columns=columns, shape="pair", ind=pairs)
    models = fit_baselines(p)
    texts = [(a, b) for a in (*RAIN, *SUN, "new words of rain") for b in (*SUN, "a") if a != b]
    there = models["tfidf"]([{"first": a, "second": b} for a, b in texts])
    swapped = models["tfidf"]([{"first": b, "second": a} for a, b in texts])
    assert all(one != other for one, other in zip(there, swapped, strict=True))
    for name in ("tfidf", "tree"):
        assert models[name]([one for one, _ in pairs]) == [label for _, label in pairs]
        reverse = [{"first": one["second"], "second": one["first"]} for one, _ in pairs]
        assert all(a != b for a, (_, b) in zip(models[name](reverse), pairs, strict=True))


@pytest.mark.parametrize(
    "shown",
    [
        [({"text": "one"}, "wet")] * 3,  # one label
        [({"text": "!?"}, "wet"), ({"text": ""}, "dry"), ({"text": None}, "wet")],  # no word
        [({"text": "x"}, "wet"), ({}, "dry"), ({"text": 5}, "wet")],
        [("a bare text", "wet"), ("another one", "dry"), ("a third", "wet")],
    ],
)
def test_rows_from_which_nothing_can_be_learnt_give_the_majority(shown):
    p = problem(shown=shown, ind=[({"text": "qq"}, "wet"), ({}, "dry")])
    (found,) = [one for one in score_baselines(p) if one["name"] == "tfidf"]
    assert found["accuracy"] == 0.5


def test_nothing_but_the_shown_rows_is_learnt_from():
    p = problem(shown=TEXTS, val=rows("ab"), ind=[({"text": "rain sun a the"}, "wet")])
    hidden = tuple(Observation(o.input, "dry") for o in p.hidden)
    texts = [{"text": t} for t in ("rain or sun", "the day", "nothing", "much here")]
    for name, predict in fit_baselines(p).items():
        assert predict(texts) == fit_baselines(replace(p, hidden=hidden))[name](texts)
    assert score_baselines(p) == score_baselines(p)


@pytest.mark.parametrize(
    ("name", "baseline", "ind"),
    [("hotel_reviews", "tfidf", 0.776), ("dreaddit", "tfidf", 0.656), ("depth_4", "tree", 0.88)],
)
def test_published_sets_are_predicted_about_as_well_as_others_found(
    shared_data, name, baseline, ind
):
    """ind: means of other samples of 200 rows, of which this is one."""
    (folder,) = (one.parent for one in shared_data.glob(f"text/**/{name}/config.yaml"))
    p = load_task("labels").load(str(folder), None, 42)[0]
    found = {one["name"]: one for one in score_baselines(p) if one["split"] == "ind"}
    assert found["majority"]["accuracy"] == pytest.approx(0.5, abs=0.02)
    assert found[baseline]["accuracy"] == pytest.approx(ind, abs=0.06)


def test_a_problem_without_shown_rows_is_refused():
    with pytest.raises(ValueError, match="p: no row is shown"):
        score_baselines(problem(ind=rows("ab")))


def test_boosting_learns_words_fields_and_interactions(boosting):
    p = problem(
        shown=TEXTS * 5, ind=[({"text": "rain again"}, "wet"), ({"text": "the sun"}, "dry")]
    )
    found = {one["name"]: one["accuracy"] for one in score_baselines(p)}
    assert found == {"majority": 0.5, "tfidf": 1.0, "tree": 1.0, "ebm": 1.0}
    p = problem(shown=applicants(200, 1), labels=("in", "out"), columns=GRADES, shape="fields",
                ind=applicants(100, 3))  # fmt: skip
    models = fit_baselines(p)
    scored = score_baselines(p, models)
    assert {one["name"]: one["accuracy"] for one in scored}["ebm"] > 0.95
    strange = [{"grade": "Z", "books": None}, {}, {"grade": 3, "books": "many", "legacy": 1e300}]
    assert set(models["ebm"](strange)) <= {"in", "out"}
    assert score_baselines(p) == scored


def test_boosting_learns_from_several_labels_and_from_next_to_nothing(boosting):
    three = [({"text": f"an {animal} here"}, animal) for animal in ("ox", "cow", "pig") * 20]
    p = problem(shown=three, labels=("ox", "cow", "pig"), ind=three[:3])
    assert fit_baselines(p)["ebm"]([one for one, _ in three[:3]]) == ["ox", "cow", "pig"]
    for shown in ([({"text": "!?"}, "wet"), ({"text": ""}, "dry")], [({"text": "a"}, "wet")]):
        p = problem(shown=shown, ind=[({"text": "qq"}, "wet")])
        assert fit_baselines(p)["ebm"]([{"text": "qq"}])[0] in ("wet", "dry")
        assert fit_baselines(p)["ebm"]([]) == []


def test_a_tree_reads_words_that_two_rows_share_and_no_other(monkeypatch):
    shown = [({"text": f"alpha n{n}"}, "wet") for n in range(20)]
    shown += [({"text": f"beta m{n}"}, "dry") for n in range(20)]
    p = problem(shown=shown, ind=[])
    features = baseline_models._Features(
        [one for one, _ in shown], [label for _, label in shown], ["text"], {}, False
    )
    assert features.words == [(["text"], ["alpha", "beta"])]
    assert fit_baselines(p)["tree"]([{"text": "n25 alpha"}, {"text": "beta"}]) == ["wet", "dry"]
    monkeypatch.setattr(baseline_models, "MOST_WORDS", 1)
    features = baseline_models._Features(
        [one for one, _ in shown], [label for _, label in shown], ["text"], {}, False
    )
    assert features.words == [(["text"], ["alpha"])]


# --- against them ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (3, 3, 1.0), (1, 0, 1.0), (0, 6, 2 / 64), (2, 8, 2 * (1 + 10 + 45) / 1024)],
)
def test_mcnemars_test_is_exact(first, second, p):
    assert mcnemar(first, second) == mcnemar(second, first) == pytest.approx(p)


def test_mcnemars_test_of_many_rows_is_no_overflow():
    assert mcnemar(4_000, 5_000) < 1e-20
    assert mcnemar(4_500, 4_510) > 0.8


def results(ind, **more):
    """Of a problem where every row is "qq", which the words learnt do not have."""
    p = problem(shown=[*TEXTS, TEXTS[0]], ind=[({"text": "qq"}, one) for one in ("wet", "dry") * 20],
                **{name: rows(given) for name, given in more.items()})  # fmt: skip
    return p, [step(ind={"labels": ind}, **more)]


def test_a_result_that_beats_no_baseline_has_found_nothing():
    p, steps = results(["dry"] * 40)
    (said,) = describe_comparisons(compare_with_baselines(p, steps))
    assert said.startswith(
        "ind, 40 rows: accuracy 0.500 beside majority 0.500, tfidf 0.500, tree 0.500; "
    )
    assert said.endswith("it does not beat majority (p 1, McNemar): it has found nothing beyond it")


def test_a_baseline_that_is_better_is_named():
    worse = BaselineComparison("ind", "tree", 40, 0.4, 0.7, 0.001)
    assert (worse.beats, worse.loses) == (False, True)
    assert describe_comparisons([worse])[0].endswith("tree is better (p 0.001, McNemar)")


def test_a_little_more_than_a_baseline_is_not_more():
    p, steps = results(["wet", "dry"] * 2 + ["wet"] * 36)
    (one, *_) = compare_with_baselines(p, steps)
    assert (one.accuracy, one.baseline_accuracy, one.p, one.beats) == (0.55, 0.5, 0.5, False)
    assert (
        "McNemar): the difference may be chance"
        in describe_comparisons(compare_with_baselines(p, steps))[0]
    )


def test_comparing_reads_the_rows_of_a_split_once(monkeypatch):
    """A split of 10,000 rows once took minutes."""
    p, steps = results(["wet", "dry"] * 20)
    read = []
    monkeypatch.setattr(baselines, "as_columns", lambda given: read.append(given) or given)
    compare_with_baselines(p, steps)
    assert len(read) == 40


def test_a_result_that_beats_them_all_says_so():
    p, steps = results(["wet", "dry"] * 20, val="ab")
    (said,) = describe_comparisons(compare_with_baselines(p, steps))  # validation is no test
    assert said.endswith("it beats all (p at most 1.91e-06, McNemar)")


def test_a_result_is_compared_on_the_rows_that_it_was_asked():
    p, _ = results(["wet"] * 40)
    asked = step(ind={"labels": ["wet", "wet", None], "rows": [0, 2, 1]})
    assert {one.n for one in compare_with_baselines(p, [asked])} == {3}
    assert [one.accuracy for one in compare_with_baselines(p, [asked])] == pytest.approx(
        [2 / 3] * 3
    )


def test_without_interpret_boosting_is_left_out_and_one_line_says_how_to_install_it(
    monkeypatch, as_installed
):
    monkeypatch.setitem(sys.modules, "interpret", None)
    p, steps = results(["wet", "dry"] * 20)
    assert [one["name"] for one in score_baselines(p)] == ["majority", "tfidf", "tree"]
    *_, absent = describe_comparisons(compare_with_baselines(p, steps))
    line = "the baseline ebm is left out: it needs interpret-core, pip install 'peirce[ebm]'"
    assert absent == describe_missing() == line
    out = io.StringIO()
    rows = [{"problem": name, "baselines": score_baselines(p), "said": ["it, too", absent]}
            for name in ("p", "q")]  # fmt: skip
    print_baselines(Console(file=out, width=200), {}, rows)
    assert out.getvalue().count("ebm is left out") == 1
    assert "p: it, too" in out.getvalue() and "q: it, too" in out.getvalue()


def test_a_stored_session_stands_beside_its_baselines(tmp_path):
    p, steps = results(["wet", "dry"] * 20)
    settings = {"task": "labels", "method": "infer", "model": "scripted:x", "seed": 0}

    async def record(store, session):
        ledger = store.ledger(session)
        for one in steps:
            await ledger.record_step(one)
        await ledger.record_end("p", "done", "applied")

    with Store.open(tmp_path / "s.duckdb", write=True) as store:
        session = store.create_session(settings, [(p, InputSet("S", ({"text": "x"},)))])
        asyncio.run(record(store, session))
        (found,) = session_baselines(store, session)
    assert (found["problem"], found["baselines"]) == ("p", score_baselines(p))
    assert found["said"] == describe_comparisons(compare_with_baselines(p, steps))
