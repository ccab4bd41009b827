"""Every method on labelled text, on published data sets and on our own, with a made-up model and over
real HTTP; and each session again from its journal alone.

With every change each method runs on one data set, and every fifth over HTTP too; on the others in
`make soak`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest
from peirce.tasks import load_problems

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion
from text_model import OWN, PUBLISHED, RULES, TextModel, shortened, write_own

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

METHODS = ("hypogenic", "hyporefine", "literature", "union", "zero-shot-gen", "direct", "infer", "io",
           "refine", "abduce")  # fmt: skip
WITH_PAPERS = ("hyporefine", "literature", "union")
QUICK = {"top": 3, "wrong": 4, "capacity": 8, "readers": 3}
OPTIONS = {
    "hypogenic": {"hypotheses": 4, "method_arg": QUICK},
    "hyporefine": {"hypotheses": 3, "method_arg": {**QUICK, "rewrites": 3}},
    "literature": {"hypotheses": 5, "inference": "best"},
    "union": {"hypotheses": 4, "method_arg": QUICK, "inference": "filter-weight"},
    "zero-shot-gen": {"hypotheses": 4, "inference": "two-step"},
    "direct": {"shots": 2},
    "infer": {"inference": "one-step"},
    "io": {"examples": "all"},
    "refine": {"hypotheses": 2, "inference": "choose", "validation_rows": 5},
    "abduce": {"max_answers": 4},
}


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    (folder / "mood.md").write_text("# Of moods\n\nFINDING: gardens make people warm\n\nThanks.")
    (folder / "cars.txt").write_text("Of cars\n\nFINDING: an engine is never cold\n")
    return folder


@pytest.fixture(scope="module")
def data_of(tmp_path_factory, request):
    """data_of(name) -> its folder, with few rows; the published ones where they are."""
    base, known = tmp_path_factory.mktemp("data"), {}

    def folder(name):
        if name not in known:
            if name in OWN:
                known[name] = write_own(base / name, name)
            else:
                shared = request.getfixturevalue("shared_data") / "text" / PUBLISHED[name]
                known[name] = shortened(shared, base / name)
        return known[name]

    return folder


def model_for(name, data):
    ((problem, _),) = load_problems("labels", str(data))
    return TextModel(problem.public["labels"], RULES[name])


def settings_for(method, papers, bank=None):
    more = {"literature": papers} if method in WITH_PAPERS else {}
    if method == "infer":
        more["bank"] = bank
    return {"observations": 30, **OPTIONS[method], **more}


@pytest.fixture(scope="module")
def banks(data_of, tmp_path_factory):
    """banks(name) -> a file with the bank of zero-shot generation on a data set, made once."""
    folder, known = tmp_path_factory.mktemp("banks"), {}

    def bank(name):
        if name not in known:
            data, store = data_of(name), folder / f"{name}.duckdb"
            session = peirce.run("labels", data=data, method="zero-shot-gen", store=store,
                                 model=model_for(name, data).proposer, observations=20,
                                 method_arg={"inference": None}, hypotheses=6)  # fmt: skip
            rows = peirce.bank(session.session, store=store)
            file = folder / f"{name}.json"
            file.write_text(json.dumps([row.to_dict() for row in rows]))
            known[name] = file
        return known[name]

    return bank


def last_inference(session):
    trace = peirce.load(session.session, store=session.store)
    (problem,) = trace.problems
    return problem, trace.steps[-1].fields["inference"]


def well_done(session, splits=("ind",)):
    """That every row of the splits was predicted, and that the scores follow."""
    assert (session.status, session.failed) == ("done", {})
    problem, told = last_inference(session)
    assert set(told["splits"]) == set(splits)
    for split, found in told["splits"].items():
        start, stop = problem.secret["splits"][split]
        gold = [row.output for row in problem.hidden[start:stop]]
        assert (
            len(found["labels"])
            == len(gold)
            == sum(found["decided"].values())
            - found["decided"].get("pattern_unnamed", 0)
            - found["decided"].get("relevance_unreadable", 0)
        )
        assert set(found["labels"]) <= {*problem.public["labels"], None}
        assert found["labels"].count(None) == sum(found["reasons"].values())
        right = sum(one == other for one, other in zip(found["labels"], gold, strict=True))
        assert session.metrics[f"accuracy_{split}"]["mean"] == pytest.approx(right / len(gold))


OVER_HTTP = dict(zip(METHODS, ("shoe", "text", "pair", "fields", "dreaddit", "admission", "text",
                               "hotel_reviews", "pair", "fields"), strict=True))  # fmt: skip
NAMES = (*OWN, *PUBLISHED)


def combinations():
    """Every method on every data set; all but one of each method are soak tests."""
    for method in METHODS:
        for name in NAMES:
            few = name == OVER_HTTP[method]
            yield pytest.param(method, name, marks=() if few else pytest.mark.soak)


def test_each_method_and_each_data_set_runs_with_every_change():
    few = [case.values for case in combinations() if not case.marks]
    assert {method for method, _ in few} == set(METHODS) and len(few) == len(METHODS)
    assert {name for _, name in few} == set(NAMES)


@pytest.fixture(scope="module")
def session_of(data_of, papers, banks, tmp_path_factory):
    """session_of(method, name) -> a session in this process and its model; each is run once."""
    folder, known = tmp_path_factory.mktemp("sessions"), {}

    def ran(method, name):
        if (method, name) not in known:
            model = model_for(name, data_of(name))
            bank = [banks(name)] if method == "infer" else []
            session = peirce.run(
                "labels", data=data_of(name), method=method, model=model.proposer, split=("ind",),
                store=folder / f"{method}-{name}.duckdb", **settings_for(method, papers, bank),
            )  # fmt: skip
            known[method, name] = session, model
        return known[method, name]

    return ran


def replays(session):
    replayed = peirce.replay(session.session, store=session.store)
    assert replayed["differences"] == [] and replayed["steps"] == session.steps


@pytest.mark.parametrize(("method", "name"), list(combinations()))
def test_a_method_runs_on_a_data_set_and_replays_without_a_call(session_of, method, name):
    session, model = session_of(method, name)
    well_done(session)
    calls = session.usage["by_kind"].get("model", {}).get("calls", 0)
    assert calls == model.calls and (calls > 0 or method == "infer")  # exact banks ask nobody
    asked = model.calls
    replays(session)
    assert model.calls == asked


@pytest.mark.parametrize(("method", "name"), list(OVER_HTTP.items()))
def test_a_method_comes_to_the_same_over_http(
    session_of, data_of, papers, banks, tmp_path, method, name
):
    data = data_of(name)
    expected, inside = session_of(method, name)
    outside = model_for(name, data)
    bank = [banks(name)] if method == "infer" else []
    options = {"data": data, "method": method, "split": ("ind",),
               **settings_for(method, papers, bank)}  # fmt: skip

    def answer(request):
        return completion({"content": outside(request["messages"])})

    with ChatServer([answer]) as server:
        session = peirce.run(
            "labels", model=f"{server.url}#m", store=tmp_path / "b.duckdb", **options
        )
        asked = len(server.requests)
    well_done(session)
    assert asked == inside.calls == outside.calls > 0
    assert last_inference(session)[1] == last_inference(expected)[1]
    assert session.verdicts == expected.verdicts
    replays(session)  # the server has gone
