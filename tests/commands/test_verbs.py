"""The verbs as functions: what a run leaves behind, and that every reading verb finds it.

Killed runs, whole data sets and the published record are in tests/endtoend.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import DataError, StoreError, UsageError, Verdict

RUN_KEYS = [
    "session", "findings", "status", "digest", "store", "task", "method", "model", "seed", "problems",
    "steps", "verdicts", "metrics", "usage", "seconds", "costs", "gain",
]  # fmt: skip
TAIL = "def f(x):\n    return x[1:]"
TAIL_ANSWER = repr(("the tail", TAIL))


def test_run_returns_the_keys_of_the_contract_and_the_verdicts_of_the_protocol(setting):
    session = setting.finished()
    assert list(session.to_dict()) == RUN_KEYS
    assert json.loads(json.dumps(session.to_dict(), allow_nan=False)) == session.to_dict()
    assert (session.status, session.problems, session.steps) == ("done", 2, 5)
    assert session.verdicts == {"accepted": 2, "redundant": 1, "inconsistent": 1, "malformed": 1}
    assert session.ends == {"three_bad": 1, "exhausted": 1}
    assert session.metrics["consistency"]["mean"] == pytest.approx((2 / 4 + 1) / 2)
    assert session.metrics["consistency"]["n"] == 2


def test_every_reading_verb_finds_what_a_run_left(setting):
    session = setting.finished()
    store = setting.store
    (listed,) = peirce.sessions(store=store)
    assert (listed["session"], listed["task"], listed["status"]) == (
        session.session,
        "examples",
        "done",
    )
    (scored,) = peirce.evaluate(session.session[:4], store=store)["sessions"]
    assert scored["metrics"] == session.metrics and "by_problem" not in scored
    (detailed,) = peirce.evaluate(store=store, name="t3", by_problem=True)["sessions"]
    assert [row["problem"] for row in detailed["by_problem"]] == ["one", "two"]
    assert detailed["metrics"]["top1"]["mean"] == 1.0
    rows = peirce.show(store=store)
    assert [(row["problem"], row["cause"], row["steps"]) for row in rows] == [
        ("one", "three_bad", 4),
        ("two", "exhausted", 1),
    ]
    assert [row["reason"] for row in rows] == ["", "the script says no more of it"]
    said = peirce.show("last", "one", store=store)
    assert [row["verdict"] for row in said] == [
        "accepted",
        "redundant",
        "inconsistent",
        "malformed",
    ]
    assert said[0]["hypothesis"] == TAIL and said[0]["hidden"] == [True]
    assert said[3]["hypothesis"] is None and said[3]["answer"].startswith("I think")
    banked = peirce.bank(store=store)
    assert [(row["problem"], row["text"], row["accuracy"]) for row in banked] == [
        ("one", TAIL, 1.0),
        ("two", TAIL, 1.0),
    ]
    assert peirce.replay(store=store) == {"session": session.session, "steps": 5, "differences": []}


def test_load_gives_problems_steps_and_digest(setting):
    session = setting.finished()
    trace = peirce.load("last", store=setting.store)
    assert trace.digest == session.digest
    assert [problem.id for problem in trace.problems] == ["one", "two"]
    assert trace.steps[0].answers[0].judged[0].verdict is Verdict.ACCEPTED
    assert trace.settings["max_answers"] == 25


def test_two_runs_of_one_seed_have_one_digest_wherever_the_data_lie(setting, tmp_path):
    first = setting.run(concurrency=1)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for path in (setting.data, setting.space):
        (moved / Path(path).name).write_bytes(Path(path).read_bytes())
    second = setting.run(
        data=moved / "pairs.jsonl", space=moved / "space.jsonl", store=moved / "s.duckdb",
        concurrency=2, workers=2,
    )  # fmt: skip
    assert first.digest == second.digest
    assert setting.run(seed=1).digest != first.digest
    assert setting.run(max_answers=2).digest != first.digest


def test_names_packing_and_place_of_files_do_not_shape_the_digest(setting, tmp_path):
    """`--space` holds the same S."""
    pairs = [{"problem": "p", "input": [[n], [n + 1]], "output": [[n + 1]]} for n in range(4)]
    text = "".join(json.dumps(pair) + "\n" for pair in pairs)
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("examples.jsonl", "renamed.txt", "folder/examples.jsonl", "folder/other.csv"):
        (tmp_path / name).write_text(text)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    peirce.tasks_space("examples", tmp_path / "s.jsonl", data=tmp_path / "examples.jsonl")
    shown = json.dumps({"p": [[pair["input"], pair["output"]] for pair in pairs]})
    (tmp_path / "shown.json").write_text(shown)
    plain = {
        "data": tmp_path / "examples.jsonl",
        "space": None,
        "model": setting.answers(p=[TAIL_ANSWER]),
    }
    (tmp_path / "again.json").write_text(json.dumps({"p": [TAIL_ANSWER]}, indent=1))
    forms = [
        {},
        {"data": tmp_path / "packed.jsonl.gz"},
        {"data": tmp_path / "renamed.txt"},
        {"data": folder},
        {"space": tmp_path / "s.jsonl"},
        {"observations": tmp_path / "shown.json"},
        {"model": f"scripted:{tmp_path / 'again.json'}"},
    ]
    sessions = [setting.run(**plain | form) for form in forms]
    assert len({session.digest for session in sessions}) == 1
    assert sessions[-1].model == "scripted:again.json"
    listed = peirce.sessions(store=setting.store)
    assert [row["data"]["name"] for row in listed[:4]] == [
        "examples.jsonl", "packed.jsonl.gz", "renamed.txt", "examples.jsonl",
    ]  # fmt: skip
    assert len({row["data"]["sha256"] for row in listed}) == 1
    (scored,) = peirce.evaluate(store=setting.store)["sessions"]
    assert scored["model"] == listed[-1]["model"] == "scripted:again.json"
    other = setting.run(**plain | {"model": setting.answers(p=[TAIL_ANSWER, "more"])})
    assert other.digest != sessions[0].digest


def test_a_renamed_record_is_imported_to_one_digest(setting):
    line = json.dumps({"problem": "one", "step": 1, "answer": f"```python\n{TAIL}\n```"})
    (setting.folder / "a.jsonl").write_text(line)
    (setting.folder / "b.jsonl.gz").write_bytes(gzip.compress(line.encode() + b"\n"))
    first, second = (
        peirce.import_recorded(
            setting.folder / name,
            task="examples",
            data=setting.data,
            space=setting.space,
            store=setting.store,
            workers=1,
        )
        for name in ("a.jsonl", "b.jsonl.gz")
    )
    assert first.digest == second.digest
    assert [first.model, second.model] == ["recorded:a.jsonl", "recorded:b.jsonl.gz"]


def test_settings_name_the_data_by_hash_and_hold_no_path_that_shapes(setting):
    setting.finished()
    settings = dict(peirce.load(store=setting.store).settings)
    operational = settings.pop("operational")
    for part, name in (
        ("data", "pairs.jsonl"),
        ("space", "space.jsonl"),
        ("answers", "script.json"),
    ):
        assert operational[part]["name"] == name and len(operational[part]["sha256"]) == 64
    assert str(setting.folder) not in json.dumps(settings)
    assert operational["concurrency"] == 8 and operational["layers"]
    assert settings["versions"]["peirce"] == peirce.__version__


def test_resume_goes_on_where_a_session_stopped(setting):
    whole = setting.finished()
    stopped = []

    def stop_after_two(event):
        if event["type"] == "step":
            stopped.append(event)
            if len(stopped) == 2:
                import os
                import signal

                os.kill(os.getpid(), signal.SIGINT)

    other = str(setting.folder / "stopped.duckdb")
    partly = setting.run(store=other, on_event=stop_after_two, concurrency=1)
    assert partly.status == "interrupted" and partly.steps < whole.steps
    resumed = peirce.resume(store=other)
    assert (resumed.status, resumed.digest) == ("done", whole.digest)
    assert peirce.resume(store=other).digest == whole.digest


def test_a_proposer_object_runs_and_is_needed_again_to_resume(setting):
    proposer = ScriptedProposer({"*": [repr(("tail", TAIL))]})
    session = setting.run(model=proposer)
    assert session.verdicts["accepted"] == 2
    with pytest.raises(UsageError, match="proposer object"):
        peirce.resume(store=setting.store)
    assert peirce.resume(model=proposer, store=setting.store).digest == session.digest
    with pytest.raises(UsageError, match="start a new session to use another one"):
        peirce.resume(model=ScriptedProposer(["other"]), store=setting.store)


def test_verbs_work_inside_a_running_event_loop(setting):
    async def notebook():
        session = setting.run()
        return session, list(peirce.check("examples", brought, data=setting.data, workers=1))

    brought = setting.folder / "brought.jsonl"
    brought.write_text(json.dumps({"problem": "one", "hypothesis": TAIL}))
    session, (judged,) = asyncio.run(notebook())
    assert session.status == "done" and judged["verdict"] == "consistent"


def test_a_failed_problem_is_counted_and_never_scored(setting):
    from peirce.records import Unavailable

    proposer = ScriptedProposer(
        {"one": [Unavailable("the endpoint is gone")], "two": [repr(("t", TAIL))]}
    )
    session = setting.run(model=proposer)
    assert session.status == "done" and session.failed == {"one": "the endpoint is gone"}
    assert session.metrics["consistency"] == {"mean": 1.0, "low": None, "high": None, "n": 1}
    proposer = ScriptedProposer([Unavailable("the endpoint is gone")])
    assert setting.run(model=proposer).status == "failed"


def test_export_writes_what_it_says(setting):
    setting.finished()
    out = setting.folder / "export"
    told = peirce.export("last", out, format="jsonl", store=setting.store)
    assert (told["problems"], told["steps"]) == (2, 5) and out.exists()


def test_tables_are_written_as_a_folder_or_as_one_file(setting):
    setting.finished()
    told = peirce.evaluate(store=setting.store, out=setting.folder / "tables")
    names = {Path(path).name for path in told["files"]}
    (session,) = told["sessions"]
    assert {"gear.csv", "gear.md", f"gear-{session['session']}.csv", "table3.csv"} <= names
    assert names == {path.name for path in (setting.folder / "tables").iterdir()}
    told = peirce.evaluate(store=setting.store, out=setting.folder / "one.csv")
    assert told["files"] == [str(setting.folder / "one.csv")]
    assert "consistency" in (setting.folder / "one.csv").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "abdcue"}, "abduce"),
        ({"answer_format": "prose"}, "tuple"),
        ({"history": "poem"}, "descriptions"),
        ({"max_answers": 0}, "at least 1"),
        ({"workers": 0}, "at least 1"),
        ({"method": "imported"}, "recorded:FILE"),
        ({"problem": ["three"]}, "one"),
        ({"problems": 0}, "at least 1"),
        ({"model": "nothing:x"}, "search"),
        ({"temperature": 0.5}, "temperature"),
        ({"model_arg": ["novalue"]}, "K=V"),
        ({"sandbox": "dokcer"}, "process"),
        ({"data": "absent.jsonl"}, "absent.jsonl"),
    ],
)
def test_what_cannot_be_is_refused_with_the_valid_choices(setting, options, said):
    with pytest.raises(UsageError, match=said):
        setting.run(**options)
    assert not list(Path(setting.folder).glob("store*")), "an empty store was left behind"


def test_an_unknown_session_problem_or_store_is_named(setting):
    with pytest.raises(StoreError, match="no store"):
        peirce.sessions(store=setting.store)
    setting.finished()
    with pytest.raises(StoreError, match="no session 'nope'"):
        peirce.show("nope", store=setting.store)
    with pytest.raises(UsageError, match="no problem 'three'"):
        peirce.show("last", "three", store=setting.store)
    with pytest.raises(
        StoreError, match=r"neither an evaluation nor a session 'abd'.* gear, hypobench, t3"
    ):
        peirce.evaluate("abd", store=setting.store)
    with pytest.raises(StoreError, match="no session 'abd'"):
        peirce.evaluate("last", "abd", store=setting.store)
    with pytest.raises(UsageError, match="gear"):
        peirce.evaluate(name="gaer", store=setting.store)


def test_a_store_that_cannot_be_made_is_one_sentence(setting):
    place = Path(setting.data) / "inside" / "s.duckdb"
    with pytest.raises(StoreError, match=r"no store can be created at .*s\.duckdb"):
        setting.run(store=place)


def test_an_import_needs_the_problems(setting):
    record = setting.folder / "answers.jsonl"
    lines = [{"problem": "one", "step": 1, "answer": f"```python\n{TAIL}\n```"}]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match="--task"):
        peirce.import_recorded(record, data=setting.data, store=setting.store)
    with pytest.raises(UsageError, match="--data"):
        peirce.import_recorded(record, task="examples", store=setting.store)
    session = peirce.import_recorded(
        record, task="examples", data=setting.data, space=setting.space, store=setting.store
    )
    assert (session.method, session.problems, session.model) == (
        "imported", 1, "recorded:answers.jsonl",
    )  # fmt: skip
    assert session.verdicts["accepted"] == 1
    with pytest.raises((UsageError, DataError)):
        peirce.import_recorded(setting.folder / "absent.json", store=setting.store)


def test_tasks_write_what_the_verbs_read_back(setting, tmp_path):
    out = tmp_path / "made.jsonl"
    told = peirce.tasks_generate("list_functions", out, problems=3, seed=7)
    again = peirce.tasks_show("list_functions", data=out)
    made = peirce.tasks_show("list_functions", problems=3, seed=7)
    assert told["problems"] == 3
    assert [p["shown"] for p in again] == [p["shown"] for p in made]
    space = tmp_path / "space.jsonl"
    assert peirce.tasks_space("list_functions", space)["inputs"] == 14_101
    assert {row["task"] for row in peirce.tasks_list()} >= {"list_functions", "examples"}


def test_doctor_says_what_is_here_and_names_no_secret(setting, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:planted@example.org:8443/v1?key=planted")
    found = peirce.doctor(store=setting.store)
    assert "planted" not in json.dumps(found.to_dict())
    assert found["models"]["keys"]["OPENAI_API_KEY"] is True
    assert found["models"]["endpoint"] == "https://example.org:8443/v1"
    assert found["sandbox"]["process"]["layers"]["rlimits"] is True
    assert found["store"]["here"] is False


BREACHING = {
    "one": [repr(("d", f"import math\n{TAIL}")), repr(("d", f"print(1)\n{TAIL}")), TAIL_ANSWER],
    "two": [TAIL_ANSWER],
}


def test_breaches_of_the_contract_run_and_are_counted_by_kind(setting):
    session = setting.run(model=setting.answers(**BREACHING))
    assert session.verdicts == {"accepted": 2, "redundant": 2, "inconsistent": 0, "malformed": 0}
    kinds = {"import": 1, "prints": 1, "top_level_code": 1}
    assert (session.breaches, session.malformed) == (kinds, {})
    (scored,) = peirce.evaluate(store=setting.store)["sessions"]
    assert (scored["breaches"], scored["malformed"]) == (kinds, {})
    listed = peirce.show(store=setting.store)
    assert [row["breaches"] for row in listed] == [kinds, {}]
    rows = peirce.show("last", "one", store=setting.store)
    assert rows[0]["breaches"] == ["import"] and rows[2]["breaches"] == []


def test_under_the_strict_contract_each_breach_is_malformed_by_its_own_reason(setting):
    model = setting.answers(**BREACHING)
    session = setting.run(model=model, strict_contract=True)
    assert session.verdicts == {"accepted": 2, "redundant": 0, "inconsistent": 0, "malformed": 2}
    reasons = {"breach_import": 1, "breach_top_level_code": 1}
    assert (session.breaches, session.malformed) == ({}, reasons)
    assert [row["malformed"] for row in peirce.show(store=setting.store)] == [reasons, {}]
    first = peirce.show("last", "one", store=setting.store)[0]
    assert first["reason"].startswith("breach_import: imports math; one function alone")
    assert peirce.load(store=setting.store).settings["strict_contract"] is True
    assert peirce.replay(store=setting.store)["differences"] == []


def test_the_strict_contract_counts_in_the_digest_even_where_nothing_breaches(setting):
    kept = setting.answers(one=[TAIL_ANSWER], two=[TAIL_ANSWER])
    digests = {setting.run(model=kept, strict_contract=strict).digest for strict in (False, True)}
    assert len(digests) == 2


def test_resume_keeps_to_the_contract_of_the_session(setting):
    model = setting.answers(**BREACHING)
    whole = setting.run(model=model, strict_contract=True)

    def stop_at_once(event):
        if event["type"] == "step":
            import os
            import signal

            os.kill(os.getpid(), signal.SIGTERM)

    other = str(setting.folder / "stopped.duckdb")
    partly = setting.run(
        model=model, strict_contract=True, store=other, on_event=stop_at_once, concurrency=1
    )
    assert partly.status == "interrupted" and partly.steps < whole.steps
    assert peirce.resume(store=other).digest == whole.digest


def test_an_import_can_be_held_to_the_contract(setting):
    record = setting.folder / "answers.jsonl"
    record.write_text(
        json.dumps({"problem": "one", "step": 1, "answer": f"```python\nimport math\n{TAIL}\n```"})
    )
    options = {"task": "examples", "data": setting.data, "space": setting.space, "workers": 1}
    for strict, verdict in ((False, "accepted"), (True, "malformed")):
        session = peirce.import_recorded(
            record, store=setting.store, strict_contract=strict, **options
        )
        assert session.verdicts[verdict] == 1


@pytest.mark.parametrize("kind", ["folder", "link", "dangling", "fifo"])
def test_out_replaces_a_plain_file_and_nothing_else(setting, tmp_path, kind):
    import os

    setting.finished()
    place, other = tmp_path / "out.csv", tmp_path / "other.csv"
    other.write_text("a user's own")
    make = {
        "folder": lambda: place.mkdir(),
        "link": lambda: place.symlink_to(other),
        "dangling": lambda: place.symlink_to(tmp_path / "nothing"),
        "fifo": lambda: os.mkfifo(place),
    }
    make[kind]()
    before = place.lstat()
    for write in (
        lambda: peirce.evaluate(store=setting.store, out=place),
        lambda: peirce.tasks_generate("list_functions", place, problems=1),
        lambda: peirce.tasks_space("list_functions", place),
        lambda: peirce.export("last", place, store=setting.store),
    ):
        with pytest.raises(UsageError, match=r"out\.csv") as caught:
            write()
        assert "\n" not in str(caught.value)
    assert place.lstat() == before and other.read_text() == "a user's own"
    peirce.evaluate(store=setting.store, out=other)
    assert "consistency" in other.read_text()
