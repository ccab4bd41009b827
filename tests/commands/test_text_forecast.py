"""`--dry-run` of sessions on labelled text: what they then ask lies within what it said.

With every change each method has one of the judges, and the readings ask twice; the other
combinations run in `make soak`.
"""

from __future__ import annotations

from collections import Counter

import peirce
import pytest
from labelled_session import Model, labelled
from peirce.agents.scripted import FunctionProposer
from peirce.config import TextSettings
from peirce.graphs import Sizes, get_method
from peirce.records import UsageError
from peirce.store import Store
from peirce.tasks import load_problems

ROLES = ("proposer", "judge", "literature")
MANY = "".join(f"{n}. Texts that sound pleased in way {n} are good.\n" for n in range(1, 21))


@pytest.fixture
def meals(tmp_path):
    return labelled(tmp_path)


def papers(folder):
    place = folder / "papers"
    place.mkdir(exist_ok=True)
    (place / "one.md").write_text("# Praise\n\nReviews that praise the staff are good.\n")
    (place / "two.md").write_text("# Cold\n\nCold food makes reviews bad.\n")
    return place


def planned(meals, method, **options):
    given = {"data": meals.data, "store": meals.store, "observations": 20, **options}
    return peirce.plan("labels", method=method, **given)["calls"]


def asked(session):
    with Store.open(session.store, write=False) as store:
        calls = [one for one in store.calls(session.session) if one["kind"] == "model"]
    found = Counter(one["request"]["role"] for one in calls)
    return {role: found[role] for role in ROLES}


def check(meals, method, answer=MANY, **options):
    model = FunctionProposer(Model(answer), "model")
    calls = planned(meals, method, model=model, **options)
    session = meals.run(method, model=model, cache=False, **options)
    assert session.status == "done"
    found = asked(session)
    for role in ROLES:
        assert calls[role]["least"] <= found[role] <= calls[role]["most"], (role, calls, found)
    return calls, found


METHODS = ("hypogenic", "io", "refine", "abduce", "zero-shot-gen", "literature", "hyporefine",
           "union", "direct")  # fmt: skip
JUDGES = ("auto", "model", "exact")


def combinations():
    """Every method with every judge; with every change each method has one of them, in turn."""
    for number, method in enumerate(METHODS):
        judges = JUDGES[:2] if method == "direct" else JUDGES  # direct is nothing but asking
        for place, judge in enumerate(judges):
            few = place == number % len(judges)
            yield pytest.param(method, judge, marks=() if few else pytest.mark.soak)


@pytest.mark.parametrize(("method", "judge"), list(combinations()))
def test_every_method_asks_within_its_forecast(meals, method, judge):
    more = {}
    if method in ("literature", "hyporefine", "union"):
        more["literature"] = papers(meals.folder)
    if method == "abduce":
        more["max_answers"] = 4
    calls, found = check(meals, method, judge=judge, **more)
    if judge == "exact":
        assert found["judge"] == calls["judge"]["most"] == 0


@pytest.mark.parametrize(
    "inference", ["multi", "best", "filter-weight", "one-step", "two-step", "choose"]
)
@pytest.mark.parametrize("repeats", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_every_reading_asks_within_its_forecast(meals, inference, repeats):
    check(meals, "io", judge="model", inference=inference, hypotheses=4, repeats=repeats)


def test_one_answer_to_each_question_is_counted_to_the_call(meals):
    calls, _ = check(meals, "direct")
    assert calls["judge"] == {"least": 8 + 12 + 10, "most": 8 + 12 + 10}
    best = {"judge": "model", "inference": "best", "validation_rows": 0}
    calls, found = check(meals, "io", hypotheses=10, **best)
    # 10 hypotheses on 10 examples, and the best of them on 30 rows that are all different
    assert calls["judge"] == {"least": 130, "most": 130} and found["judge"] == 130


def test_rounds_and_wrong_rows_widen_the_range_of_hypogenic(meals):
    judge = {"judge": "model", "inference": "multi"}
    once = planned(meals, "hypogenic", model=FunctionProposer(Model(MANY), "m"), **judge)
    twice = planned(meals, "hypogenic", model=FunctionProposer(Model(MANY), "m"), rounds=2, **judge)
    # 20 rows, 10 of them in the first prompt: one regeneration in the first round, two more in the second
    assert once["proposer"] == {"least": 1, "most": 2}
    assert twice["proposer"] == {"least": 1, "most": 4}
    assert once["judge"]["least"] == twice["judge"]["least"]
    assert once["judge"]["most"] < twice["judge"]["most"]
    check(meals, "hypogenic", rounds=2, judge="model")


def test_stored_banks_are_counted_by_what_is_in_them(meals):
    session = meals.run(model=FunctionProposer(Model(MANY), "m"), judge="model")
    for method, banks in (("infer", [session.session]), ("union", [session.session] * 2)):
        check(meals, method, bank=banks, judge="model")


def test_all_rows_in_one_prompt_are_checked_against_what_the_model_holds(meals):
    options = {"examples": "all", "model": "http://127.0.0.1:9/v1#NAME"}
    calls = peirce.plan("labels", data=meals.data, method="io", **options)
    assert 300 < calls["prompt_tokens"] < 3_000
    holds = {"model_arg": {"context_tokens": 300}}
    with pytest.raises(
        UsageError, match=r"with 24 rows, has about \d+ tokens, .* context length is 300"
    ):
        peirce.plan("labels", data=meals.data, method="io", **options, **holds)
    with pytest.raises(UsageError, match="show fewer rows with --examples"):
        peirce.run("labels", data=meals.data, method="io", store=meals.store, **options, **holds)
    assert not (meals.folder / "store.duckdb").exists()
    peirce.plan(
        "labels",
        data=meals.data,
        method="io",
        **{**options, "model_arg": {"context_tokens": 9_000}},
    )


def test_the_published_golden_trace_lies_in_the_range_of_its_sizes(shared_data):
    """It asks its judge 2,384 times: 2,389 calls with those that make hypotheses, five of them."""
    ((problem, space),) = load_problems("labels", str(shared_data / "text" / "shoe"), seed=42)
    text = TextSettings(judge="model", inference=None).to_dict()
    found = get_method("hypogenic").forecast(Sizes(problem, len(space), {"text": text}))
    assert found["judge"].least <= 2_384 <= found["judge"].most
    assert found["proposer"].least <= 5 <= found["proposer"].most
