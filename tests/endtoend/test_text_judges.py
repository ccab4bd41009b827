"""Judges other than the proposer, judges that talk nonsense or go away, answers asked for three times,
and data, banks and hypotheses that are none."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer, ScriptedProposer
from peirce.records import DataError, PeirceError, Unavailable, UsageError

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion, status
from text_model import (
    PUBLISHED,
    RULES,
    TextModel,
    calls_of,
    role_of,
    shortened,
    text_rows,
    write_own,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LABELS = ("warm", "cold")
QUICK = {"hypotheses": 3, "observations": 20, "split": ("ind",)}
SMALL = {"top": 3, "wrong": 4, "capacity": 6}
LONG = "The label is warm if the tone of the text is " + "very " * 10_000 + "warm."


@pytest.fixture
def data(tmp_path):
    return write_own(tmp_path / "made", "text")


@pytest.fixture
def model():
    return TextModel(LABELS, RULES["text"])


def served(model):
    return lambda request: completion({"content": model(request["messages"])})


def inference(session):
    return peirce.load(session.session, store=session.store).steps[-1].fields["inference"]


# --- another model judges ---------------------------------------------------------------


@pytest.mark.parametrize("method", ["hypogenic", "refine", "direct"])
def test_another_model_judges_and_the_session_replays_without_either(tmp_path, data, method):
    proposer, judge = TextModel(LABELS, RULES["text"]), TextModel(LABELS, ())
    store = tmp_path / "s.duckdb"
    options = {} if method == "direct" else {"hypotheses": 3}
    with ChatServer([served(proposer)]) as one, ChatServer([served(judge)]) as other:
        session = peirce.run("labels", data=data, method=method, model=f"{one.url}#writes",
                             roles={"judge": {"model": f"{other.url}#judges"}}, store=store,
                             observations=20, split=("ind",), **options)  # fmt: skip
        again = peirce.resume(session.session, store=store)
        assert again.digest == session.digest
        assert {request["model"] for request in one.requests} <= {"writes"}
        assert {request["model"] for request in other.requests} == {"judges"}
    assert set(proposer.asked) == (set() if method == "direct" else {"propose"})
    assert "propose" not in judge.asked and judge.calls > 0
    calls = calls_of(session).values()
    by_role = {role: {call["request"]["model"]["model"] for call in calls
                      if call["kind"] == "model" and call["request"]["role"] == role}
               for role in ("proposer", "judge")}  # fmt: skip
    assert by_role["judge"] == {"judges"} and by_role["proposer"] <= {"writes"}
    assert peirce.replay(session.session, store=store)["differences"] == []
    asked = [
        call for call in calls if call["kind"] == "model" and call["request"]["role"] == "judge"
    ]
    assert len(asked) == judge.calls


def test_a_bank_is_applied_by_another_model_in_a_session_that_says_whose_it_is(tmp_path, data):
    proposer, judge = TextModel(LABELS, RULES["text"]), TextModel(LABELS, ())
    store = tmp_path / "s.duckdb"
    first = peirce.run("labels", data=data, method="zero-shot-gen", model=proposer.proposer,
                       store=store, **QUICK)  # fmt: skip
    made = proposer.calls
    with ChatServer([served(judge)]) as server:
        session = peirce.run("labels", data=data, method="infer", bank=[first.session], store=store,
                             model=ScriptedProposer([]), roles={"judge": {"model": f"{server.url}#other"}},
                             observations=20, split=("ind",))  # fmt: skip
    assert (session.status, proposer.calls) == ("done", made) and judge.calls > 0
    settings = peirce.load(session.session, store=store).settings
    assert first.session in json.dumps(settings)
    texts = {row["text"] for row in peirce.bank(first.session, store=store)}
    assert {row["text"] for row in peirce.bank(session.session, store=store)} == texts
    assert peirce.replay(session.session, store=store)["differences"] == []


def test_what_a_bank_of_another_sample_was_right_on_are_the_same_texts_here(tmp_path):
    """Its places are those of other rows: patterns are shown with the rows that they got right."""
    data = write_own(tmp_path / "made", "text", {"train": 60, "val": 5, "test": 6, "ood": 4})
    store, told = tmp_path / "s.duckdb", TextModel(LABELS, (), nonsense=0)
    first = peirce.run("labels", data=data, method="zero-shot-gen", model=told.proposer, store=store,
                       seed=1, observations=30, hypotheses=6, split=("ind",),
                       inference="best")  # fmt: skip
    session = peirce.run("labels", data=data, method="infer", bank=[first.session], store=store,
                         model=told.proposer, seed=2, observations=30, split=("ind",),
                         inference="one-step")  # fmt: skip
    before, after = (peirce.load(one.session, store=store).problems[0] for one in (first, session))
    assert before.shown != after.shown
    (bank,) = after.public["banks"]
    right = {row["text"]: {json.dumps(before.shown[n].input) for n in row["right"]}
             for row in peirce.bank(first.session, store=store)}  # fmt: skip
    kept = [(row["text"], after.shown[n]) for row in bank for n in row["right"]]
    assert kept and all(json.dumps(one.input) in right[text] for text, one in kept)
    prompts = [call["request"]["messages"][0]["content"] for call in calls_of(session).values()
               if call["path"].startswith("infer/")]  # fmt: skip
    assert prompts and any("label: " in prompt for prompt in prompts)


def test_a_judge_that_goes_away_fails_the_problem_and_is_asked_the_rest_later(tmp_path, data):
    proposer, judge = TextModel(LABELS, RULES["text"]), TextModel(LABELS, ())
    whole = TextModel(LABELS, ())
    store, settings = tmp_path / "s.duckdb", {"timeout_s": 5.0, "backoff_s": 0.01, "retries": 1}

    def falters(request):
        if gone and len(server.requests) > 12:
            return status(503, "gone fishing")(request)
        return served(judge)(request)

    def run(url, path):
        return peirce.run("labels", data=data, method="hypogenic", model=proposer.proposer,
                          roles={"judge": {"model": f"{url}#m", **settings}}, store=path,
                          method_arg=SMALL, **QUICK)  # fmt: skip

    gone = True
    with ChatServer([falters]) as server:
        session = run(server.url, store)
        assert session.status == "failed"
        (sentence,) = session.failed.values()
        assert "503" in sentence and "\n" not in sentence
        gone = False
        before = judge.calls
        again = peirce.resume(
            session.session, model=proposer.proposer, retry_failed=True, store=store
        )
        assert again.status == "done" and not again.failed and before >= 10
    with ChatServer([served(whole)]) as server:
        expected = run(server.url, tmp_path / "whole.duckdb")
    assert whole.calls == judge.calls  # nothing was asked twice
    assert inference(again) == inference(expected)
    assert peirce.replay(again.session, store=store)["differences"] == []


@pytest.mark.parametrize("budget", [60, 400])
def test_a_budget_that_is_spent_in_the_middle_loses_no_answer_that_was_paid(tmp_path, data, budget):
    """18 tokens a call, eight calls side by side, each a moment long."""
    said = TextModel(LABELS, ())

    def slowly(told):
        return lambda request: replace(
            served(told)(request), delay_s=0.02 + len(told.asked) % 2 / 100
        )

    options = {"data": data, "method": "hypogenic", "method_arg": SMALL, "store": tmp_path / "s.duckdb",
               "cache": False, **QUICK}  # fmt: skip
    with ChatServer([slowly(said)]) as server:
        session = peirce.run("labels", model=f"{server.url}#m", budget_tokens=budget, **options)
        assert session.status == "budget"
        made = [call for call in calls_of(session).values() if call["kind"] == "model"]
        assert len(made) == len(server.requests) == said.calls
        again = peirce.resume(session.session, store=session.store, budget_tokens=10**6)
        assert again.status == "done"
        expected = peirce.run("labels", model=f"{server.url}#m", **options)
    assert again.digest == expected.digest
    assert said.calls == 2 * sum(call["kind"] == "model" for call in calls_of(expected).values())


def test_a_judge_that_talks_nonsense_is_counted_and_counts_as_wrong(tmp_path, data):
    writes = TextModel(LABELS, ())

    def nonsense(messages):
        if role_of(messages[-1]["content"]) == "propose":
            return writes(messages)
        return "Warm? Cold? Both of these, or a third thing entirely."

    session = peirce.run("labels", data=data, method="hypogenic", model=FunctionProposer(nonsense, "n"),
                         store=tmp_path / "s.duckdb", method_arg=SMALL, **QUICK)  # fmt: skip
    told = inference(session)["splits"]["ind"]
    assert told["labels"] == [None] * 12 and told["reasons"] == {"unreadable": 12}
    assert session.metrics["accuracy_ind"]["mean"] == session.metrics["f1_ind"]["mean"] == 0.0
    bank = peirce.bank(session.session, store=session.store)
    assert bank and all(row["accuracy"] == 0.0 and row["covered"] == row["visits"] for row in bank)
    assert any("unreadable" in name for name in session.metrics)
    assert peirce.replay(session.session, store=session.store)["differences"] == []


def test_three_answers_a_question_make_a_majority_and_their_agreement_is_told(tmp_path, data):
    """Of each three answers the second and the third are alike."""
    writes, answers = TextModel(LABELS, ()), {}

    class Moody(FunctionProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            prompt = messages[-1]["content"]
            if role_of(prompt) != "judge":
                return await super().propose(view, messages, tools, seed, schema)
            seeds = answers.setdefault(prompt, [])
            seeds.append(seed)
            label = "warm" if len(seeds) == 1 else "cold"
            return await super().propose(view, [{"content": label}], tools, seed, schema)

    def says(messages):
        said = messages[-1]["content"]
        return f"Final answer: {said}" if said in LABELS else writes(messages)

    session = peirce.run("labels", data=data, method="hypogenic", model=Moody(says, "moody"),
                         store=tmp_path / "s.duckdb", repeats=3, method_arg=SMALL, concurrency=1,
                         inference="best", **QUICK)  # fmt: skip
    assert answers and all(len(seeds) == len(set(seeds)) == 3 for seeds in answers.values())
    told = inference(session)
    assert told["agreement"] == pytest.approx(2 / 3)
    assert set(told["splits"]["ind"]["labels"]) == {"cold"}
    for path, call in calls_of(session).items():
        if path.startswith("text/"):
            assert path.rpartition("/")[2] in ("0", "1", "2"), call["path"]
    assert peirce.replay(session.session, store=session.store)["differences"] == []


@pytest.mark.parametrize("name", ["shoe", "dreaddit"])
def test_the_prompts_that_a_data_set_brings_are_used(shared_data, tmp_path, name):
    data = shortened(shared_data / "text" / PUBLISHED[name], tmp_path / name)
    prompts = []
    labels = {"shoe": ("white", "red"), "dreaddit": ("has stress", "no stress")}[name]
    told = TextModel(labels, (), nonsense=0)

    def watched(messages):
        prompts.append(messages)
        return told(messages)

    sessions = [
        peirce.run("labels", data=data, method="hypogenic", model=FunctionProposer(watched, "w"),
                   store=tmp_path / f"{which}.duckdb", prompts=which, method_arg=SMALL, **QUICK)
        for which in ("own", "config")
    ]  # fmt: skip
    own = "You study what separates texts"
    as_own, as_config = (
        [message["content"] for call in calls_of(session).values() if call["kind"] == "model"
         for message in call["request"]["messages"]] for session in sessions
    )  # fmt: skip
    assert any(own in one for one in as_own) and not any(own in one for one in as_config)
    assert any(message["role"] == "system" for messages in prompts for message in messages)
    assert not any("${" in one for one in as_config)
    for session in sessions:
        assert (
            session.status == "done" and None not in inference(session)["splits"]["ind"]["labels"]
        )
        assert peirce.replay(session.session, store=session.store)["differences"] == []


# --- what is none -----------------------------------------------------------------------------


def broken(tmp_path, **columns):
    """A data set whose test rows have these columns instead of theirs."""
    folder = write_own(tmp_path / "broken", "text")
    told = {**text_rows(12, 200), **columns}
    (folder / "made_test.json").write_text(
        json.dumps({name: values for name, values in told.items() if values is not None})
    )
    return folder


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"label": None}, r"made_test\.json.*label"),
        ({"label": ["warm"] * 11 + ["lukewarm"]}, r"made_test\.json.*lukewarm.*cold"),
        ({"text": [], "label": []}, r"made_test\.json"),
        ({"label": ["warm"] * 11}, r"made_test\.json"),
    ],
    ids=["no label column", "a label never seen", "an empty split", "columns of two lengths"],
)
def test_data_that_cannot_be_is_one_sentence_and_leaves_no_store(tmp_path, model, columns, said):
    store = tmp_path / "none.duckdb"
    with pytest.raises(DataError, match=said) as caught:
        peirce.run("labels", data=broken(tmp_path, **columns), method="hypogenic", store=store,
                   model=model.proposer)  # fmt: skip
    assert "\n" not in str(caught.value) and not store.exists() and model.calls == 0


@pytest.mark.parametrize(
    "content",
    ["", "not json", "[]", "{}", "3", '[{"text": 3}]', '[{"hypothesis": "x"}]', '{"hypotheses": {}}',
     '[{"text": "x", "accuracy": "high"}]', '[{"text": "x", "right": 3}]', '["x"]', "[null]",
     '[{"text": "x", "right": ["a"]}]', '[{"text": "x", "visits": -1}]', '[{"text": "x", "visits": true}]',
     '[{"text": "x", "accuracy": 7.5, "visits": 3}]', '[{"text": "x", "accuracy": NaN, "visits": 3}]',
     '[{"text": "x", "covered": "all"}]'],
)  # fmt: skip
def test_a_bank_that_is_none_is_one_sentence(tmp_path, data, model, content):
    file, store = tmp_path / "bank.json", tmp_path / "none.duckdb"
    file.write_text(content)
    with pytest.raises((DataError, UsageError), match=r"bank\.json") as caught:
        peirce.run("labels", data=data, method="infer", bank=[file], model=model.proposer,
                   store=store, split=("ind",))  # fmt: skip
    assert "\n" not in str(caught.value) and not store.exists()


@pytest.mark.parametrize("named", ["nowhere.json", "last", "0123"])
def test_a_bank_that_is_nowhere_is_one_sentence(tmp_path, data, model, named):
    store = tmp_path / "none.duckdb"
    with pytest.raises(PeirceError, match=named) as caught:
        peirce.run("labels", data=data, method="infer", bank=[named], model=model.proposer,
                   store=store)  # fmt: skip
    assert "\n" not in str(caught.value) and not store.exists()


def test_a_hypothesis_of_ten_thousand_words_that_is_no_exact_rule_is_malformed_in_an_answer(
    tmp_path, data
):
    says = lambda messages: f"1. {LONG}\n2. {RULES['text'][0]}"
    session = peirce.run("labels", data=data, method="hypogenic", model=FunctionProposer(says, "long"),
                         store=tmp_path / "s.duckdb", judge="exact", **QUICK)  # fmt: skip
    first = peirce.load(session.session, store=session.store).steps[0].answers[0].judged
    assert [str(one.verdict) for one in first] == ["malformed", "accepted"]
    assert first[0].reason.startswith("too_long")
    (row,) = peirce.bank(session.session, store=session.store)
    assert row["text"] == RULES["text"][0]
    assert session.metrics["accuracy_ind"]["mean"] == 1.0


def test_so_it_is_in_check_and_in_a_bank_file(tmp_path, data, model):
    answers = tmp_path / "answers.jsonl"
    lines = [{"problem": "made", "hypothesis": text} for text in (LONG, RULES["text"][0])]
    answers.write_text("\n".join(map(json.dumps, lines)))
    rows = list(peirce.check("labels", data=data, answers=answers))
    assert rows[0]["verdict"] == "malformed"
    assert rows[0]["reason"].startswith("too_long") and rows[1]["verdict"] == "consistent"
    bank = tmp_path / "bank.json"
    bank.write_text(json.dumps([{"text": LONG}, {"text": RULES["text"][0]}]))
    session = peirce.run("labels", data=data, method="infer", bank=[bank], model=model.proposer,
                         store=tmp_path / "s.duckdb", judge="exact", split=("ind",))  # fmt: skip
    assert inference(session)["entries"] == 1
    assert session.metrics["accuracy_ind"]["mean"] == 1.0


def test_an_outage_in_the_middle_of_reading_the_bank_is_no_prediction(tmp_path, data, model):
    def away(messages):
        if role_of(messages[-1]["content"]) == "label":
            raise Unavailable("Nobody labels today.")
        return model(messages)

    options = {"data": data, "method": "io", "store": tmp_path / "s.duckdb", **QUICK}
    session = peirce.run("labels", model=FunctionProposer(away, "text model"), **options)
    assert list(session.failed.values()) == ["Nobody labels today."]
    assert session.metrics["accuracy_ind"]["n"] == 0
    again = peirce.resume(session.session, model=model.proposer, retry_failed=True,
                          store=session.store)  # fmt: skip
    assert again.status == "done" and len(inference(again)["splits"]["ind"]["labels"]) == 12
    assert model.asked["propose"] == 1
