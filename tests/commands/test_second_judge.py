"""`--judge-then` and `--judge-batch`: what a plan counts, what is refused, and what a run reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest
from peirce.records import UsageError

sys.path.insert(0, str(Path(__file__).parents[1] / "endtoend"))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion
from text_model import RULES, TextModel, calls_of, write_own

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LABELS = ("warm", "cold")
ENDPOINT = "http://127.0.0.1:9/v1#m"
QUICK = {"hypotheses": 3, "observations": 20, "split": ("ind",), "inference": "best"}


@pytest.fixture
def data(tmp_path):
    return write_own(tmp_path / "made", "text")


def served(model):
    """An endpoint that cannot label batches: its answers about them are texts without JSON."""
    return lambda request: completion({"content": model(request["messages"])})


def test_a_run_with_two_judges_reports_both_and_replays(tmp_path, data):
    proposer, dear = TextModel(LABELS, ()), TextModel(LABELS, (), nonsense=0)
    with ChatServer([served(proposer)]) as one, ChatServer([served(dear)]) as other:
        options = {
            "data": data,
            "model": f"{one.url}#cheap",
            "judge_then": f"{other.url}#dear",
            **QUICK,
        }
        planned = peirce.plan("labels", method="io", **options)["calls"]
        session = peirce.run("labels", method="io", store=tmp_path / "s.duckdb", **options)
        again = peirce.resume(session.session, store=session.store)
    assert session.status == "done" and again.digest == session.digest
    asked = [call for call in calls_of(session).values() if call["kind"] == "model"]
    by_role = {role: sum(call["request"]["role"] == role for call in asked) for role in planned}
    assert by_role["judge2"] == len(other.requests) == session.judging["second"] >= 24
    for role in ("judge", "judge2"):
        assert planned[role]["least"] <= by_role[role] <= planned[role]["most"]
    assert by_role["judge"] == 3 * session.judging["questions"]
    assert session.usage["by_role"]["judge2"]["calls"] == by_role["judge2"]
    settings = peirce.load(session.session, store=session.store).settings
    assert settings["text"]["repeats"] == 3 and settings["roles"]["judge2"]["model"] == "dear"
    assert "judging" in session.to_dict()
    assert peirce.replay(session.session, store=session.store)["differences"] == []


def test_an_endpoint_that_cannot_label_batches_is_asked_about_single_texts(tmp_path, data):
    model = TextModel(LABELS, (), nonsense=0)
    with ChatServer([served(model)]) as server:
        options = {"data": data, "model": f"{server.url}#m", "judge_batch": 5, **QUICK}
        planned = peirce.plan("labels", method="io", **options)["calls"]["judge"]
        session = peirce.run("labels", method="io", store=tmp_path / "s.duckdb", **options)
        plain = peirce.run(
            "labels", method="io", store=tmp_path / "t.duckdb", **{**options, "judge_batch": 1}
        )
    told = session.judging["batches"]
    assert told["fell_back"] == 1 and told["compared"] == 0
    made = session.usage["by_role"]["judge"]["calls"]
    assert planned["least"] <= made <= planned["most"]
    assert made - told["calls"] == plain.usage["by_role"]["judge"]["calls"]
    assert plain.judging == {} and "judging" not in plain.to_dict()
    prediction = lambda one: (
        peirce.load(one.session, store=one.store).steps[-1].fields["inference"]["splits"]
    )
    assert prediction(session) == prediction(plain)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repeats": 1}, "repeats of at least 2"),
        ({"judge_then": "search"}, "cannot label texts"),
        ({"judge": "exact"}, "no first judge"),
        ({"model": "search"}, "no first judge"),
        ({"method": "direct"}, "nothing to judge a second time"),
        ({"judge_then": None, "roles": {"judge2": {"temperature": 0}}}, "no model"),
        ({"judge_batch": 0}, "judge_batch is 0"),
        ({"judge_batch": 101}, "at most 100"),
        ({"method_arg": {"judge_calibration": 0}}, "judge_calibration is 0"),
    ],
)
def test_what_cannot_be_is_one_sentence(data, options, said):
    with pytest.raises(UsageError, match=said) as caught:
        peirce.plan("labels", data=data, **{"model": ENDPOINT, "judge_then": ENDPOINT, **options})
    assert "\n" not in str(caught.value)


def test_the_prompt_of_a_data_set_takes_no_batches(data):
    config = data / "config.yaml"
    config.write_text(
        config.read_text() + "prompt_templates:\n  inference: 'Say ${hypothesis} of ${text}'\n"
    )
    with pytest.raises(UsageError, match="one text at a time"):
        peirce.plan("labels", data=data, model=ENDPOINT, judge_batch=4, prompts="config")


def test_settings_at_their_default_are_not_recorded(data):
    from peirce.config import TextSettings

    assert "judge_batch" not in TextSettings().to_dict()
    assert TextSettings(judge_batch=4).to_dict()["judge_batch"] == 4
    assert json.dumps(TextSettings().to_dict()) == json.dumps(TextSettings(judge_batch=1).to_dict())


def test_an_exact_rule_asks_neither_judge(tmp_path, data):
    says = "\n".join(f"{n}. {rule}" for n, rule in enumerate(RULES["text"], 1))
    answer = lambda request: completion({"content": says})
    with ChatServer([answer]) as server:
        session = peirce.run("labels", data=data, method="io", model=f"{server.url}#m",
                             judge_then=f"{server.url}#n", store=tmp_path / "s.duckdb", **QUICK)  # fmt: skip
    assert len(server.requests) == session.usage["by_role"]["propose"]["calls"]
    assert session.judging == {}
