"""`--protocol`: a preset is what docs/reference/protocols.md says, an explicit option overrides it and is
recorded and shown, and a session under a protocol resumes and replays.

Internals: a difference is a matter of the configuration alone; a plan would need models and data."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import peirce
import pytest
from labelled_session import data_set
from peirce import graphs
from peirce.commands.session.protocols import describe_protocol, expand_protocol
from peirce.config import (
    DataConfig,
    MethodSettings,
    ModelConfig,
    ProtocolConfig,
    RolesConfig,
    RunConfig,
    TextConfig,
    find_protocol,
)
from peirce.graphs import get_method
from peirce.records import UsageError, registry
from peirce.store import Store
from peirce.tests.page_blocks import read_text

TAIL = repr(("all but the first", "def f(x):\n    return x[1:]"))
TAIL_AGAIN = repr(("drop the head", "def f(x):\n    return list(x)[1:]"))
HEAD = repr(("the first alone", "def f(x):\n    return x[:1]"))
PROSE = "I think that it drops the first element."
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "protocols.md"
PROTOCOLS = ("gear", "hypogenic", "abd")
ENDPOINT = "http://127.0.0.1:1/v1#model"
# Options that change no answer, or whose value no paper's protocol fixes.
NEUTRAL = {
    "method", "model", "timeout_s", "retries", "batch_files", "budget_expansions", "preset", "model_arg",
    "literature_model", "namer_model", "role", "roles", "max_tokens", "reasoning_tokens",
}  # fmt: skip


def documented(name: str) -> Iterator[tuple[str, str]]:
    """Yield (option, value) of each row of the tables in the section of a protocol."""
    section = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (own,) = (one for one in section if one.startswith(f"`{name}`"))
    for line in own.splitlines():
        cells = [one.strip() for one in line.strip("|").split(" | ")]
        if len(cells) == 4 and (option := re.fullmatch(r"`([a-z_]+)`", cells[1])):
            yield option[1], cells[2].strip("`")


def written(value: Any) -> str:
    words = {None: "not set", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words[value]
    return f"{value:.5f}" if isinstance(value, float) and value < 0.01 else str(value)


def stored(store: str) -> Mapping[str, Any]:
    with closing(Store.open(store, write=False)) as opened:
        return opened.session(opened.find_session("last"))["settings"]


def requests(store: str) -> list[Any]:
    with closing(Store.open(store, write=False)) as opened:
        calls = opened.calls(opened.find_session("last"))
    asked = [one for one in calls if one["kind"] == "model"]
    return [one["request"] for one in sorted(asked, key=lambda one: (one["problem"], one["path"]))]


def differences(**given: Any) -> Mapping[str, Any]:
    """Return the differences from its protocol of a session with these options."""
    config = RunConfig.from_options(expand_protocol(None, {"model": ENDPOINT} | given), graphs)
    described = describe_protocol(config)
    assert described is not None
    changed: Mapping[str, Any] = described["changed"]
    return changed


def other_value(name: str, option: str, default: Any) -> Any:
    """Return a valid value of an option that is neither its default nor that of a protocol."""
    words = {
        "answer_format": "fenced_function", "history": "chat", "template": "compact", "fit": "auto",
        "judge": "exact", "prompts": "own", "inference": "best", "repair": "search",
        "reasoning_effort": "low", "literature": "papers", "bank": ["bank.json"], "feedback": True,
    }  # fmt: skip
    if option in words:
        return words[option]
    if isinstance(default, bool):
        return not find_protocol(name).options.get(option, default)
    return 0.3 if option in ("temperature", "top_p", "tau") else 17


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_preset_is_exactly_what_its_table_says(name: str) -> None:
    protocol = find_protocol(name)
    known = [(option, written(value)) for option, value in protocol.options.items()]
    known += [(key, written(one)) for of in protocol.by_model.values() for key, one in of.items()]
    assert sorted(documented(name)) == sorted(known)


def test_the_page_has_a_section_for_each_protocol() -> None:
    assert set(registry.BUILT_IN["protocols"]) == set(PROTOCOLS)
    assert all(f"| `{name}` |" in PAGE.read_text("utf-8") for name in PROTOCOLS)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_option_of_a_method_and_of_a_model_is_decided(name: str) -> None:
    """A new option needs a decision: part of the presets, or in NEUTRAL."""
    protocol = find_protocol(name)
    method = get_method(str(protocol.options["method"]))
    parts: tuple[type[Any], ...] = (method.settings, ModelConfig, RolesConfig)
    options = {option for part in parts for option, _, _ in part.iter_options()}
    judging = {"judge_model", "judge_then"} if name != "hypogenic" else set()
    # one answer or a bank has no list of earlier answers and no offered tools
    single = {"history", "history_limit", "feedback", "template", "tool_calls", "max_answers"}
    left = options - protocol.options.keys() - NEUTRAL - judging
    assert left <= (single if name != "gear" else set())


@pytest.mark.parametrize(
    ("name", "task"), [("gear", "acre"), ("hypogenic", "labels"), ("abd", "abd")]
)
def test_a_preset_expands_to_its_options_and_nothing_differs(name: str, task: str) -> None:
    told = peirce.plan(task, protocol=name, model=ENDPOINT, problems=1)
    assert told.protocol is not None
    assert (told.protocol["changed"], told.protocol["unused"]) == ({}, [])
    assert told.method == find_protocol(name).options["method"]


def test_under_gear_a_session_asks_without_tools_feedback_schema_or_temperature(setting):
    done = setting.run(protocol="gear")
    settings = stored(setting.store)
    expected = {
        "method": "abduce", "template": "gear", "answer_format": "tuple", "strict_contract": True,
        "lenient": False, "tool_calls": 0, "feedback": False, "fit": "refuse", "max_answers": 25,
        "max_bad": 3, "history": "descriptions",
    }  # fmt: skip
    assert {key: settings[key] for key in expected} == expected
    record = settings["operational"]["protocol"]
    assert (record["name"], record["changed"]) == ("gear", {}) and done.protocol == "gear"
    asked = requests(setting.store)
    assert all(one["tools"] == [] and one.get("schema") is None for one in asked)


def test_the_requests_have_the_structure_of_the_appendix(setting):
    setting.run(protocol="gear", problem=["one"], model=setting.answers(one=[PROSE, TAIL, HEAD]))
    unread, first, second = (one["messages"] for one in requests(setting.store)[:3])
    assert unread == first  # an answer without a hypothesis leaves nothing to list
    assert [len(one) for one in (first, second)] == [1, 1]
    marks = ("Give your answer as", "Rules for the code", "Task\n", "Pairs:\nPair 1: ([3, 1, 2], [1, 2])",
             "Return nothing but:", "An example of this form")  # fmt: skip
    places = [first[0]["content"].index(mark) for mark in marks]
    assert places == sorted(places) and "proposed so far" not in first[0]["content"]
    later = ("Give your answer as", "Rules for the code", "proposed so far:\n- all but the first\n",
             "(input, output) pairs again.\nPairs:\nPair 1", "Goal\n", "Return nothing but:")  # fmt: skip
    places = [second[0]["content"].index(mark) for mark in later]
    assert places == sorted(places)


def test_gear_stops_after_the_third_bad_answer(setting):
    answers = [TAIL, HEAD, PROSE, TAIL_AGAIN, TAIL]
    setting.run(protocol="gear", problem=["one"], model=setting.answers(one=answers))
    assert len(requests(setting.store)) == 4


def test_the_strict_contract_of_gear_refuses_an_import(setting):
    imports = repr(("sqrt", "import math\ndef f(x):\n    return x[1:]"))
    done = setting.run(protocol="gear", problem=["one"], model=setting.answers(one=[imports]))
    assert done.malformed == {"breach_import": 1}


def test_an_explicit_option_overrides_is_recorded_and_shown_at_the_start(setting):
    events: list[Any] = []
    done = setting.run(protocol="gear", tool_calls=4, history="chat", on_event=events.append)
    settings = stored(setting.store)
    assert (settings["tool_calls"], settings["history"]) == (4, "chat")
    changed = {"tool_calls": 4, "history": "chat"}
    assert settings["operational"]["protocol"]["changed"] == changed
    said = "gear, with history=chat, tool_calls=4"
    assert done.protocol == done.to_dict()["protocol"] == said
    (start,) = (one for one in events if one["type"] == "session")
    assert start["settings"]["operational"]["protocol"]["changed"] == changed
    second = requests(setting.store)[1]["messages"]
    assert [one["role"] for one in second] == ["user", "assistant", "user"]
    assert "So far you have proposed 1 hypothesis, which you see above." in second[2]["content"]


def test_an_option_that_repeats_the_preset_is_no_difference(setting):
    assert setting.run(protocol="gear", tool_calls=0, lenient=False).protocol == "gear"


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"then": "search"}, {"then": "search"}),
        ({"roles": {"then": {"model": "search"}}}, {"then.model": "search"}),
        ({"model_arg": ["top_k=5"]}, {"top_k": 5}),
        ({"model_arg": ["temperature=0.5"]}, {"temperature": 0.5}),
        ({"temperature": 0.7}, {"temperature": 0.7}),
        ({"patience": 2}, {"patience": 2}),
        ({"method": "io"}, {"method": "io"}),
        ({"max_tokens": 100}, {"max_tokens": 100}),
        ({"reasoning_tokens": 64_000}, {"reasoning_tokens": 64_000}),
        ({"model_arg": ["send_seed=false"]}, {"send_seed": False}),
        ({"roles": {"then": {"model": "search", "model_arg": {"preset": "quick"}}}},
         {"then.model": "search", "then.preset": "quick"}),
        ({"then": ENDPOINT, "role": ["then.temperature=0.5"]},
         {"then": ENDPOINT, "then.temperature": 0.5}),
    ],
)  # fmt: skip
def test_options_that_the_protocol_lacks_are_differences(given, changed) -> None:
    told = peirce.plan("acre", protocol="gear", problems=1, model=ENDPOINT, **given)
    assert told.protocol["changed"] == changed


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"max_tokens": 20}, {"max_tokens": 20}),
        ({"method": "abduce", "feedback": True, "max_answers": 5, "history": "chat",
          "history_limit": 7},
         {"method": "abduce", "feedback": True, "max_answers": 5, "history": "chat",
          "history_limit": 7}),
        ({"method": "refine", "target_gap": 0.5}, {"method": "refine", "target_gap": 0.5}),
        ({"method": "refine", "target_gap": 1.0, "max_answers": 8}, {"method": "refine"}),
        ({"method": "t3", "rounds": 5}, {"method": "t3"}),
        ({"model": "hf:a", "max_tokens": 1024, "model_arg": ["dtype=auto"]}, {}),
        ({"model": "hf:a", "max_tokens": 512, "model_arg": ["dtype=float16", "batch=2"]},
         {"max_tokens": 512, "dtype": "float16"}),
    ],
)  # fmt: skip
def test_settings_that_no_preset_lists_are_differences_from_their_defaults(given, changed) -> None:
    assert differences(protocol="abd", **given) == changed


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"method_arg": ["judge_space=true"], "validation_rows": 30},
         {"judge_space": True, "validation_rows": 30}),
        ({"method_arg": ["judge_space=false", "banks_all=true"], "shots": 0, "tau": 0.7}, {}),
        ({"shots": 3}, {"shots": 3}),
        ({"namer_model": ENDPOINT}, {"namer_model": ENDPOINT}),
        ({"judge_model": ENDPOINT}, {}),  # it is the proposer
        ({"judge_model": "openai:a"}, {"judge_model": "openai:a"}),
        ({"judge_then": "openai:a"}, {"judge_then": "openai:a"}),
        ({"role": ["judge.temperature=0.5", "judge.timeout_s=5"]}, {"judge.temperature": 0.5}),
        ({"role": ["judge.temperature=0.00001"]}, {}),  # what the proposer has too
        ({"split": ["val"], "label": "label"}, {}),
        ({"bank": [Path("bank.json")]}, {"bank": ["bank.json"]}),
    ],
)  # fmt: skip
def test_settings_of_labelled_text_and_of_its_roles_are_differences(given, changed) -> None:
    assert differences(protocol="hypogenic", **given) == changed


WITHOUT_EFFECT = {
    "seed_hypotheses": 0, "timeout_s": 7, "retries": 1, "batch_files": True, "budget_tokens": 900_000,
    "budget_usd": 2, "price_in": 1, "price_out": 2, "max_failures": 3, "sandbox": "docker",
    "strict_sandbox": True, "workers": 2, "concurrency": 3, "cache": False, "seed": 4, "problems": 1,
    "observations": 3, "store": "other.duckdb", "max_answers": 25, "role": ["then.price_in=1"],
    "model_arg": ["stream=false", "cache_key=true", "structured=auto", "requests_per_minute=60"],
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_what_changes_no_answer_and_what_repeats_a_default_is_no_difference(name: str) -> None:
    given = {name: WITHOUT_EFFECT[name]}
    if name == "budget_usd" or name.startswith("price"):
        given = {"price_in": 1, "price_out": 2} | given
    assert differences(protocol="gear", **given) == {}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_option_of_the_method_and_of_sampling_is_named_if_it_differs(name: str) -> None:
    silent = {
        "model", "timeout_s", "retries", "batch_files", "budget_expansions", "preset", "model_arg",
        "method_arg", "split",
    }  # fmt: skip
    method = get_method(str(find_protocol(name).options["method"]))
    parts: list[type[Any]] = [method.settings, ModelConfig]
    for part in [*parts, *([TextConfig] if name == "hypogenic" else [])]:
        for option, _, field in part.iter_options():
            if option in silent | {"method"}:
                continue
            given = {option: other_value(name, option, field.default)}
            assert option in differences(protocol=name, **given), option


def test_what_the_model_or_the_method_does_not_take_is_named(setting):
    assert setting.run(protocol="gear", method="io").protocol == (
        "gear, with method=io (not applicable here: feedback, history_limit, max_answers)"
    )
    told = peirce.plan("abd", protocol="abd", problems=1, model="search")
    assert told.protocol["unused"] == ["structured", "temperature"]


def test_settings_without_a_flag_are_overridden_one_by_one(tmp_path):
    told = peirce.plan(
        "labels", protocol="hypogenic", data=data_set(tmp_path), model=ENDPOINT,
        method_arg=["capacity=5", "top=10"],
    )  # fmt: skip
    assert told.protocol["changed"] == {"capacity": 5}


def test_a_configuration_names_a_protocol_and_its_options_are_explicit(setting):
    config = RunConfig(
        protocol=ProtocolConfig(protocol="gear"),
        data=DataConfig(data=setting.data, space=setting.space),
        model=ModelConfig(model=setting.model),
        method=MethodSettings(tool_calls=3),
    )
    done = peirce.run("examples", config, store=setting.store, workers=1)
    assert done.protocol == "gear, with tool_calls=3"
    assert stored(setting.store)["template"] == "gear"


def test_a_session_under_a_protocol_is_the_session_with_its_options(setting, tmp_path):
    under = setting.run(protocol="gear")
    options = {key: one for key, one in find_protocol("gear").options.items() if one is not None}
    other = replace(setting, store=str(tmp_path / "other.duckdb"))
    assert other.run(**options).digest == under.digest


def test_stopped_and_resumed_and_replayed_it_gives_the_same_digest(setting, tmp_path):
    whole = setting.run(protocol="gear")
    every = requests(setting.store)

    def stop(event):
        if event["type"] == "step":
            os.kill(os.getpid(), signal.SIGINT)

    other = replace(setting, store=str(tmp_path / "stopped.duckdb"))
    partly = other.run(protocol="gear", on_event=stop, concurrency=1)
    assert partly.status == "interrupted" and len(requests(other.store)) < len(every)
    resumed = peirce.resume(store=other.store)
    assert (resumed.digest, resumed.protocol) == (whole.digest, "gear")
    assert requests(other.store) == every
    for store in (setting.store, other.store):
        assert peirce.replay(store=store).differences == []


def test_a_preset_that_changes_later_leaves_stored_sessions_alone(setting, monkeypatch):
    def stop(event):
        if event["type"] == "step":
            os.kill(os.getpid(), signal.SIGINT)

    setting.run(protocol="gear", on_event=stop, concurrency=1)
    monkeypatch.setitem(find_protocol("gear").options, "tool_calls", 9)  # type: ignore[arg-type]
    assert peirce.resume(store=setting.store).status == "done"
    assert stored(setting.store)["tool_calls"] == 0


def test_an_unknown_protocol_is_refused_in_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"^'gaer' is not a protocol; did you mean gear\?$"):
        peirce.plan("acre", protocol="gaer", problems=1)


@pytest.mark.parametrize(
    ("task", "name", "other"),
    [("abd", "gear", "abd"), ("list_functions", "hypogenic", "gear"), ("labels", "abd", "hypogenic")],
)  # fmt: skip
def test_a_protocol_that_does_not_fit_the_task_names_the_one_that_does(task, name, other) -> None:
    with pytest.raises(
        UsageError, match=rf"protocol is '{name}': .*the protocol for it is {other}$"
    ):
        peirce.plan(task, protocol=name, problems=1)
    with pytest.raises(UsageError, match=rf"protocol is '{name}': [^;]* laws$"):
        peirce.plan("laws", protocol=name, problems=1)


def test_the_template_gear_is_for_programs_and_for_other_hypotheses_alone(setting, tmp_path):
    with pytest.raises(UsageError, match="template is 'gear': only programs have prompts of this"):
        peirce.plan("abd", template="gear", problems=1)
    with pytest.raises(UsageError, match="ask for another hypothesis, and this method asks for a"):
        setting.run(template="gear", method="refine")
    setting.run(template="gear")
    assert stored(setting.store)["tool_calls"] == 0


def test_the_words_of_a_users_own_task_stand_in_the_template(setting, tmp_path):
    rows = [json.loads(line) for line in Path(setting.data).read_text().splitlines()]
    texts = [{**row, "input": f"{row['input']}", "output": "A"} for row in rows]
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in texts))
    setting.run(template="gear", data=str(data), space=None, model=setting.answers(one=[PROSE]))
    (asked, *_) = requests(setting.store)
    assert "imports nothing but modules that compute" in asked["messages"][0]["content"]


def test_the_protocol_comes_from_peirce_toml_or_the_environment_and_a_flag_overrides(setting):
    def read_protocol(*flags: str, **variables: str) -> Any:
        command = [sys.executable, "-m", "peirce", "run", "acre", "--problems", "1", "--dry-run"]
        done = subprocess.run(
            [*command, "--json", "--model", ENDPOINT, *flags],
            capture_output=True, text=True, cwd=setting.folder, env={**os.environ, **variables},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout).get("protocol")

    (setting.folder / "peirce.toml").write_text('protocol = "gear"\ntemperature = 0.3\n')
    assert read_protocol()["changed"] == {"temperature": 0.3}
    assert read_protocol("--tool-calls", "2")["changed"] == {"tool_calls": 2, "temperature": 0.3}
    (setting.folder / "peirce.toml").unlink()
    assert read_protocol(PEIRCE_PROTOCOL="gear")["name"] == "gear" and read_protocol() is None


def test_a_sweep_goes_over_protocols(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(
        '[sweep]\nprotocol = ["gear"]\nhistory = ["descriptions", "chat"]\n'
        f'[settings]\ntask = "acre"\nproblems = 1\nmodel = "{ENDPOINT}"\n'
    )
    plans = peirce.plan_sweep(file)
    changed = [one.protocol["changed"] for one in plans if one.protocol]
    assert changed == [{}, {"history": "chat"}]


def test_the_page_of_a_session_names_the_protocol(setting, tmp_path):
    setting.run(protocol="gear", tool_calls=4)
    peirce.report(store=setting.store, out=tmp_path / "page.html")
    assert "gear, with tool_calls=4" in read_text((tmp_path / "page.html").read_text("utf-8"))


@pytest.mark.soak
def test_killed_it_goes_on_to_the_same_digest(tmp_path):
    made = ["run", "list_functions", "--problems", "6", "--protocol", "gear", "--model", "search",
            "--budget-expansions", "3000", "--no-cache", "--quiet", "--workers", "1"]  # fmt: skip
    environment = {**os.environ, "PEIRCE_STORE": str(tmp_path / "killed.duckdb")}
    command = [sys.executable, "-m", "peirce", *made]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        log = tmp_path / "killed.duckdb.wal"
        while process.poll() is None and not (log.exists() and log.stat().st_size > 60_000):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    resumed = peirce.resume(store=tmp_path / "killed.duckdb")
    whole = peirce.run("list_functions", problems=6, protocol="gear", model="search", cache=False,
                       budget_expansions=3000, store=tmp_path / "whole.duckdb", workers=1)  # fmt: skip
    assert (resumed.status, resumed.protocol) == ("done", "gear")
    assert resumed.digest == whole.digest
