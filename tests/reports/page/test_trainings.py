"""Trainings on the page: which of them belong to its sessions, and their curves as drawn.

Internals: which trainings belong to which sessions is asked for directly, session by session.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from peirce.reports.page.trainings import find_trainings
from peirce.store import Point, Store


def begin(store, training, *, schedule="momentum", out="", sessions=(), kind="dpo", status="done"):
    store.trainings.begin(training, {
        "kind": kind, "sessions": list(sessions), "stages": ["parsing", "gear"],
        "base": {"name": "models/small", "weights": "ab"},
        "settings": {"schedule": schedule, "seed": 3, "examples": 96, "batch": 8},
        "operational": {"out": out},
    })  # fmt: skip
    for n in range(3):
        store.trainings.add(training, [
            Point(48 * n, "parsing", "probe_accuracy", 0.5 + n / 10),
            Point(48 * n, "gear", "probe_accuracy", 0.25),
            Point(48 * n, "parsing", "weight", 1.0 + n),
            Point(48 * n, "", "train_loss", math.nan if n == 1 else 0.7 - n / 10),
        ])  # fmt: skip
    if status != "running":
        store.trainings.end(training, status, {})


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Two sessions and trainings of several kinds, and the page of the first session."""
    folder = tmp_path_factory.mktemp("trained")
    path = folder / "s.duckdb"
    problem = small_problem("one")
    record = [(problem, steps(problem, ("drop it", judged(problem, "def f(x): return x[1:]"))))]
    session = write(
        path, record, settings={"operational": {"model": f"hf:{folder}/tuned/adapter"}}, digest="d1"
    )
    other = write(path, record, digest="d2")
    with Store.open(path, write=True) as store:
        begin(store, "bypairs", sessions=["d1"], status="stopped")
        begin(store, "byout", schedule="fixed", out=f"{folder}/tuned", status="running")
        begin(store, "near", out=f"{folder}/tune")
        begin(store, "others", sessions=["d2"])
        begin(store, "labels", sessions=["d1"], kind="classifier")
    told = peirce.report(session, store=path, out=folder / "r.html")
    return SimpleNamespace(path=path, session=session, other=other, file=folder / told["file"])


def test_a_training_belongs_by_its_pairs_or_by_the_model_that_it_made(trained):
    with Store.open(trained.path, write=False) as store:
        of = {
            name: {one["training"] for one in find_trainings(store, [store.session(name)])}
            for name in (trained.session, trained.other)
        }
    assert of == {trained.session: {"bypairs", "byout"}, trained.other: {"others"}}


def test_curves_are_drawn_by_stage_with_their_numbers_below(trained, tab):
    page = tab().goto(trained.file)
    assert page.all("nav a")[-1] == "Training"
    heads = page.all("#training h3")
    assert heads == ["fixed not finished", "momentum stopped"]
    text = page.page.inner_text("#training")
    assert "bypairs" in text and "byout" in text and "others" not in text and "small" in text
    figures = page.all("#training article:nth-of-type(2) figcaption")
    assert figures == ["probe accuracy", "weight", "train loss"]
    drawn = page.all("#training svg", "one => one.getAttribute('aria-label')")
    assert drawn[0] == "probe accuracy: parsing from 0.500 to 0.700, gear from 0.250 to 0.250"
    lines = page.all(
        "#training article:nth-of-type(2) polyline",
        "one => one.getAttribute('points').split(' ').length",
    )
    assert lines == [3, 3, 3, 2]  # the loss that was no number has no place
    assert not any(page.all("#training svg", "one => /NaN|undefined|Infinity/.test(one.outerHTML)"))
    page.unfold()
    numbers = page.all("#training article:nth-of-type(2) figure:first-of-type tbody tr",
                       "row => [...row.children].map((one) => one.textContent)")  # fmt: skip
    assert numbers == [["0", "0.500", "0.250"], ["48", "0.600", "0.250"], ["96", "0.700", "0.250"]]
    assert page.said == [] and page.requests == [trained.file.as_uri()]
