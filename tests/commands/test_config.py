"""A setting is one field: what config/ and the methods declare is what the command line, the
keywords for type checkers and a session's record know, with one default.

Internals: the keywords of the public functions are a file that is written from the settings, and both are compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import peirce
import pytest
from peirce import graphs
from peirce.cli import app, main
from peirce.commands.option_types import (
    CheckOptions,
    PairsOptions,
    PredictOptions,
    ResumeOptions,
    RunOptions,
)
from peirce.commands.session.planning import method_record
from peirce.commands.write_option_types import FILE, generate_source
from peirce.config import DataConfig, MethodSettings, ModelConfig, RunConfig, TextConfig
from peirce.records import UsageError
from peirce.tasks import load_family
from typer.main import get_command

OPTIONS = {
    option for part in RunConfig.part_classes().values() for option, _, _ in part.iter_options()
} | {
    option for one in graphs.all_methods().values() for option, _, _ in one.settings.iter_options()
}
NO_FLAG = {"roles", "method_options"}


def test_the_keywords_for_type_checkers_are_those_of_the_settings():
    assert FILE.read_text("utf-8") == generate_source(), (
        "run python -m peirce.commands.write_option_types"
    )
    assert set(RunOptions.__annotations__) == OPTIONS | NO_FLAG


@pytest.mark.parametrize(
    ("command", "options"),
    [("run", RunOptions), ("resume", ResumeOptions), ("check", CheckOptions),
     ("predict", PredictOptions), ("pairs", PairsOptions)],
)  # fmt: skip
def test_every_setting_is_a_flag_with_its_words(command, options):
    flags = {
        name.removeprefix("--").replace("-", "_"): one
        for one in get_command(app).commands[command].params for name in one.opts
    }  # fmt: skip
    assert set(options.__annotations__) - NO_FLAG <= set(flags)
    assert all(flags[name].help for name in set(options.__annotations__) - NO_FLAG)


@pytest.mark.parametrize("name", ["timeout_s", "temperature", "seed", "tau"])
@pytest.mark.parametrize("digits", [400, 5_000])
def test_an_integer_beyond_floats_is_refused_by_name(name: str, digits: int) -> None:
    with pytest.raises(UsageError, match=f"^{name} is .*: it must be a number below 1e308$"):
        RunConfig.from_options({name: 10**digits}, graphs)


def test_a_configuration_is_read_back_from_its_record():
    config = RunConfig.from_options(
        {"method": "refine", "target_gap": 2, "temperature": 1, "problems": 3, "bank": ["b.json"],
         "data": Path("pairs.csv"), "examples": "all", "budget_tokens": 5, "split": ["val"]}, graphs,
    )  # fmt: skip
    again = RunConfig.from_record(config.to_record(), graphs)
    assert again.to_record() == config.to_record()
    assert isinstance(again.method, graphs.settings_of("refine")) and again.method.target_gap == 2
    assert config.to_record()["model"] == {"temperature": 1}  # a whole number stays one


def test_options_are_laid_over_a_configuration_and_leave_it_as_it_was():
    begun = RunConfig(model=ModelConfig(temperature=0.5), data=DataConfig(problems=3))
    now = RunConfig.from_options({"problems": 4, "top_p": None}, graphs, begun)
    assert (now.model.temperature, now.data.problems, begun.data.problems) == (0.5, 4, 3)
    other = RunConfig.from_options({"method": "refine"}, graphs, begun)
    assert other.method.max_answers == 8 and other.model.temperature == 0.5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sead": 1}, "unknown setting 'sead'; did you mean seed?"),
        ({"tool_call": 1}, "unknown setting 'tool_call'; did you mean tool_calls?"),
        ({"problems": "3"}, "problems is '3': it must be a whole number or None"),
        ({"tau": 2}, "tau is 2: it is a share and must be at most 1"),
        ({"price_in": 1.0}, "a price also needs price_out: set prices in US dollars per million tokens"),
        ({"method": "io", "max_answers": 3}, "max_answers is 3: method io does not take it; methods that do: "),
        ({"method": "refin"}, "'refin' is not a method; did you mean refine?"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_one_sentence(options, sentence):
    with pytest.raises(UsageError) as caught:
        RunConfig.from_options(options, graphs)
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)


def test_a_part_refuses_what_it_does_not_know_and_cannot_be_changed():
    with pytest.raises(UsageError, match="unknown setting 'problem_s'; did you mean problems"):
        DataConfig(problem_s=3)
    with pytest.raises(Exception, match="frozen"):
        DataConfig().seed = 3


def test_fixed_settings_of_a_method_take_their_own_value_alone():
    assert (
        RunConfig.from_options({"method": "io", "max_answers": 1}, graphs).method.max_answers == 1
    )
    assert RunConfig.from_options({"method": "t3", "rounds": 2}, graphs).method.max_answers == 6


def test_every_method_names_itself_and_narrows_the_shared_settings():
    for name, method in graphs.all_methods().items():
        assert issubclass(method.settings, MethodSettings)
        assert {option for option, _, _ in method.settings.iter_options()} <= OPTIONS
        assert graphs.settings_of(name) is method.settings


def test_settings_that_only_method_arg_sets_have_no_flag():
    hidden = set(TextConfig.model_fields) - {field for _, field, _ in TextConfig.iter_options()}
    assert {"capacity", "alpha", "rewrites"} <= hidden
    assert not hidden & set(RunOptions.__annotations__)


@pytest.mark.parametrize(
    ("task", "method", "said"),
    [
        ("list_functions", "nope", "'nope' is not a method; for programs tasks: abduce, imported, io, refine, t3"),
        ("list_functions", "refin", "'refin' is not a method; did you mean refine? for programs tasks: "),
        ("labels:admission", "hypogen", "'hypogen' is not a method; did you mean hypogenic? for text tasks"),
        ("list_functions", "hypogenic", "'hypogenic' does not work on programs tasks; for programs"),
    ],
)  # fmt: skip
def test_an_unknown_method_is_answered_with_those_for_the_task(
    tmp_path, capsys, task, method, said
):
    for verb in (peirce.run, peirce.plan):
        with pytest.raises(UsageError) as refused:
            verb(task, method=method, store=tmp_path / "s.duckdb")
        assert said in str(refused.value)
    with pytest.raises(SystemExit) as ended:
        main(["run", task, "--method", method, "--store", str(tmp_path / "s.duckdb")])
    assert ended.value.code == 2 and said in capsys.readouterr().err
    listed = str(refused.value).partition(" tasks: ")[2].split(", ")
    family = "programs" if task == "list_functions" else "text"
    assert listed == [one.name for one in graphs.all_methods().values() if one.supports(family)]


def test_a_session_keeps_its_configuration_and_a_resume_lays_options_over_it(tmp_path):
    store = tmp_path / "s.duckdb"
    config = RunConfig(
        data=DataConfig(problems=1, seed=3), model=ModelConfig(budget_expansions=500)
    )
    session = peirce.run("list_functions", config, max_answers=1, workers=1, store=store)
    operational = peirce.load("last", store=store).settings["operational"]
    assert operational["config"] == {
        "data": {"problems": 1, "seed": 3}, "model": {"budget_expansions": 500},
        "method": {"max_answers": 1}, "cluster": {"workers": 1}, "store": {"store": str(store)},
    }  # fmt: skip
    again = peirce.resume("last", store=store, concurrency=2)
    assert (again.digest, again.status) == (session.digest, "done")


def test_no_session_takes_a_scorer(tmp_path):
    store = tmp_path / "s.duckdb"
    with pytest.raises(UsageError, match="unknown setting 'scorer_model'"):
        peirce.run("list_functions", scorer_model="openai:large", store=store)
    with pytest.raises(UsageError, match="role 'scorer': only `peirce rate` uses it"):
        peirce.run("list_functions", roles={"scorer": {"model": "openai:large"}}, store=store)
    calls = peirce.plan("list_functions", problems=1).to_dict()["calls"]
    assert list(calls) == ["proposer", "judge", "literature"] and not store.exists()


@pytest.mark.parametrize("older", [False, True])
def test_a_session_that_recorded_a_scorer_is_resumed_and_replayed(tmp_path, older):
    """Sessions took one before only `rate` did; older: those that kept no configuration yet."""
    store = tmp_path / "s.duckdb"
    session = peirce.run("list_functions", problems=1, max_answers=1, workers=1, store=store)
    with duckdb.connect(str(store)) as connection:
        ((text,),) = connection.execute("SELECT settings FROM session").fetchall()
        settings = json.loads(text)
        operational = settings["operational"]
        operational["roles"] = {"scorer": {"model": "openai:large", "temperature": 0}}
        operational["config"]["roles"] = {
            "scorer_model": "openai:large", "role": ["scorer.temperature=0"],
            "roles": {"scorer": {"top_p": 1}},
        }  # fmt: skip
        if older:
            del operational["config"]
        connection.execute("UPDATE session SET settings = ?", [json.dumps(settings)])
    assert peirce.show("last", store=store)
    again = peirce.resume("last", store=store)
    assert (again.digest, again.status) == (session.digest, "done")
    assert peirce.replay("last", store=store).to_dict()["differences"] == []


def test_importing_the_configuration_imports_no_room(tmp_path):
    import subprocess

    code = "import sys, peirce.config; print(*sorted(m for m in sys.modules if m.startswith('peirce.')))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in seen.stdout.split()}
    assert rooms == {"config", "records"}


# What somebody tried who did not write this.


def test_none_counts_as_not_given() -> None:
    every = dict.fromkeys(OPTIONS | {"roles"})
    assert RunConfig.from_options(every, graphs) == RunConfig()
    base = RunConfig.from_options({"method": "refine", "seed": 3}, graphs)
    assert RunConfig.from_options(every, graphs, base) == base
    with pytest.raises(UsageError, match="unknown setting 'temprature'; did you mean temperature"):
        RunConfig.from_options({"temprature": None}, graphs)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: peirce.resume("last", seed=5), "resume does not take a setting 'seed'"),
        (lambda: peirce.resume("last", max_answer=5), "resume does not take a setting 'max_answer'"),
        (lambda: peirce.check("list_functions", "a.jsonl", model="search"), "check does not take a setting 'model'"),
        (lambda: peirce.predict("bank.json", "a.csv", method="refine"), "predict does not take a setting 'method'"),
        (lambda: peirce.import_recorded("a.jsonl", method="io"), "method is 'io': it cannot be set for an import, whose answers come from its file"),
        (lambda: peirce.plan("list_functions", {"data": {"problems": 1}}), "it must be a RunConfig or None"),
        (lambda: peirce.plan("list_functions", "x"), "config is 'x': it must be a RunConfig or None"),
        (lambda: peirce.plan("list_functions", model_arg={"x": object()}), "the settings of model contain a value that is not JSON"),
        (lambda: peirce.plan("list_functions", roles={"judge": 3}), "role judge is 3: it must be a mapping"),
        (lambda: peirce.plan("list_functions", max_bad=3), "unknown setting 'max_bad'"),
        (lambda: peirce.plan("labels", split=["vall"]), r"split is \['vall'\]: it must be a list of val, ind, ood"),
        (
            lambda: peirce.plan("list_functions", RunConfig(text=TextConfig(rounds=3)), method="t3"),
            "rounds is 3 in the settings of labelled text, but for ",
        ),
    ],
)  # fmt: skip
def test_what_a_function_does_not_take_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_settings_of_a_method_in_the_shared_class_count() -> None:
    config = RunConfig(method=MethodSettings(method="refine", max_answers=3))
    taken = RunConfig.from_options({}, graphs, config).method
    assert (taken.method, taken.max_answers, taken.target_gap) == ("refine", 3, 1.0)
    chat = RunConfig(method=MethodSettings(method="io", history="chat"))
    assert RunConfig.from_options({}, graphs, chat).method.history == "chat"
    several = RunConfig(method=MethodSettings(method="io", max_answers=5))
    with pytest.raises(UsageError, match="max_answers is 5: method io does not take it"):
        RunConfig.from_options({}, graphs, several)


def test_settings_of_a_method_may_stand_together() -> None:
    plan = peirce.plan("list_functions", problems=1, method="t3", method_options={"rounds": 2})
    assert (
        plan.calls["proposer"]["most"]
        == peirce.plan("list_functions", problems=1, method="t3", rounds=2).calls["proposer"][
            "most"
        ]
    )
    for options, said in (
        ({"roundz": 2}, "method t3 has no setting 'roundz'; did you mean rounds"),
        ({"problems": 2}, "method t3 has no setting 'problems'"),
        (3, "method_options is 3: it must be a mapping"),
    ):
        with pytest.raises(UsageError, match=said):
            peirce.plan("list_functions", method="t3", method_options=options)
    with pytest.raises(UsageError, match="rounds is set twice, directly and in method_options"):
        peirce.plan("list_functions", method="t3", rounds=2, method_options={"rounds": 2})


def test_a_configuration_comes_back_from_its_dict() -> None:
    options = {"method": "refine", "target_gap": 2, "problems": 3, "workers": 2, "seed": 4}
    config = RunConfig.from_options(options, graphs)
    assert config.to_dict()["method"] == {"method": "refine", "target_gap": 2}
    assert RunConfig(**config.to_dict()) == config
    assert peirce.plan("abd", RunConfig(**config.to_dict())).method == "refine"


def test_a_session_records_a_limit_of_the_history_only_where_it_can_matter():
    """Sessions of before the setting have no such key, and equal sessions keep their digest."""

    def recorded(method="abduce", **settings):
        chosen = graphs.find_method(method, "programs").settings(**settings)
        record = method_record(chosen, load_family("programs"))
        return record.get("history_limit"), record.get("fit")

    assert recorded() == (None, None)
    assert recorded(max_answers=31) == (30, None)
    assert recorded(history_limit=5, fit="refuse") == (5, "refuse")
    assert recorded(method="t3", fit="auto") == (None, "auto")
    assert recorded(method="t3", fit="refuse") == (None, None)
