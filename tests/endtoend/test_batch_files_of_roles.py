"""Batch files in sessions with several roles: a judge of texts, and a second proposer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from batch_server import BatchServer
from faulty_server import FaultyServer
from text_model import RULES, TextModel, write_own

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LABELS = ("warm", "cold")
QUICK = {"batch_wait_s": 0.2, "batch_poll_s": 0.02}


@pytest.fixture
def data(tmp_path):
    return write_own(tmp_path / "made", "text")


def says(request):
    """A new model for each request, so that its answer depends on the request alone."""
    return {"content": TextModel(LABELS, RULES["text"])(request["messages"])}


@pytest.mark.parametrize(("method", "most"), [("direct", 3), ("io", 6)])
def test_the_questions_of_a_judge_share_few_batches(tmp_path, data, method, most):
    options = {"observations": 20, "judge": "model", "cache": False, "method": method}
    if method == "io":
        options |= {"hypotheses": 3, "split": ("ind",)}
    store = tmp_path / "s.duckdb"
    with FaultyServer(model=says) as server:
        direct = peirce.run("labels", data=data, model=f"{server.url}#m", store=store, **options)
        asked = server.requests
    with FaultyServer(model=says) as one, BatchServer(model=says) as other:
        judge = {"model": f"{other.url}#m", "batch_files": True, **QUICK}
        found = peirce.run("labels", data=data, model=f"{one.url}#m", store=store,
                           roles={"judge": judge}, **options)  # fmt: skip
        assert found.status == direct.status == "done"
        assert one.requests + sum(other.paid.values()) == asked and len(other.batches) <= most
        assert other.requests == 0 and one.requests <= 1
    assert peirce.replay(store=store).differences == []
    predicted = [
        [step.fields for step in peirce.load(each.session, store=store).steps]
        for each in (direct, found)
    ]
    assert predicted[0] == predicted[1]


def test_a_judge_that_is_the_proposer_may_alone_use_batch_files(tmp_path, data):
    with BatchServer(model=says) as server:
        found = peirce.run(
            "labels", data=data, model=f"{server.url}#m", method="io", judge="model", hypotheses=3,
            observations=20, split=("ind",), store=tmp_path / "s.duckdb",
            roles={"judge": {"batch_files": True, **QUICK}},
        )  # fmt: skip
        assert found.status == "done" and server.requests == 1 and server.batches


def test_a_second_proposer_may_use_batch_files(tmp_path):
    (tmp_path / "empty.json").write_text(json.dumps({"*": []}))
    with BatchServer() as server:
        store = tmp_path / "s.duckdb"
        found = peirce.run(
            "list_functions", problems=4, max_answers=2, observations=4, store=store, workers=1,
            space=Path(__file__).with_name("twelve_lists.jsonl"),
            model=f"scripted:{tmp_path / 'empty.json'}", then=f"{server.url}#m",
            roles={"then": {"batch_files": True, **QUICK}},
        )  # fmt: skip
        assert found.status == "done" and server.requests == 0
        assert len(server.batches["batch_0"].requests) == 4
    assert peirce.replay(store=store).differences == []
    assert {step.fields["proposed_by"] for step in peirce.load(store=store).steps} == {"then"}
