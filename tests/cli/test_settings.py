"""Settings: one key means the same as a flag, in the environment and in peirce.toml, in this order;
`doctor` tells what is set and whence; the other roles are recorded; a dry run only counts."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

TAIL = repr(("all but the first", "def f(x):\n    return x[1:]"))
ENDPOINT = "http://127.0.0.1:9/v1#NAME"


@pytest.fixture
def folder(folder: Path) -> Path:
    """The working directory of a user: a pair, a sample space and a scripted model."""
    pairs = [{"problem": "one", "input": [3, 1], "output": [1]}]
    Path("pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    Path("space.jsonl").write_text("[]\n[1]\n[1, 2]\n")
    Path("script.json").write_text(json.dumps({"*": [TAIL]}))
    return folder


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch):
    """options() -> what the command line hands to `peirce.run`, and nothing runs."""
    import peirce as package
    from peirce.records import UsageError

    taken: list[dict] = []

    def take(task, **given):
        taken.append(defaultdict(lambda: None, given))
        raise UsageError("taken")

    monkeypatch.setattr(package, "run", take)
    return lambda: taken.pop()


SCRIPTED = [
    "run", "examples", "--data", "pairs.jsonl", "--space", "space.jsonl", "--workers", "1",
    "--model", "scripted:script.json", "--quiet", "--json",
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "file", "variable", "flag"),
    [
        ("temperature", 0.1, "0.2", 0.3),
        ("top_p", 0.1, "0.2", 0.3),
        ("max_tokens", 10, "20", 30),
        ("timeout_s", 1.5, "2.5", 3.5),
        ("retries", 1, "2", 3),
        ("reasoning_effort", "low", "medium", "high"),
        ("model", "search", "openai:a", "openai:b"),
    ],
)
def test_a_flag_beats_the_environment_and_that_the_file(
    peirce, options, monkeypatch, key, file, variable, flag
):
    named = () if key == "model" else ("--model", "openai:small")
    assert peirce("run", "examples", *named)[0] == 2
    default = options()[key]
    assert default == ("search" if key == "model" else None)
    for table in ("", "[proposer]\n"):
        Path("peirce.toml").write_text(f"{table}{key.replace('_', '-')} = {json.dumps(file)}\n")
        peirce("run", "examples", *named)
        assert options()[key] == file
    for prefix in ("PEIRCE_", "PEIRCE_PROPOSER_"):
        with monkeypatch.context() as here:
            here.setenv(f"{prefix}{key.upper()}", variable)
            peirce("run", "examples", *named)
            assert options()[key] == type(file)(variable)
            peirce("run", "examples", *named, f"--{key.replace('_', '-')}", str(flag))
            assert options()[key] == flag


@pytest.mark.parametrize("key", ["seed", "problems", "temperature", "timeout_s"])
def test_a_truth_value_of_the_file_is_no_number(peirce, options, key):
    for value in ("true", "false"):
        Path("peirce.toml").write_text(f"{key} = {value}\n")
        code, _, err = peirce("run", "examples", "--model", "openai:small")
        assert code == 2 and f"peirce.toml: {key} is {value}: it must not be true or false" in err
    Path("peirce.toml").write_text("quiet = true\n")
    assert "taken" in peirce("run", "examples", "--model", "openai:small")[2]


def test_an_integer_of_the_file_that_python_cannot_write_is_one_sentence(peirce):
    Path("peirce.toml").write_text(f"seed = 0x{'f' * 5000}\n")
    code, _, err = peirce("run", "examples", "--dry-run")
    assert code == 2 and "peirce.toml cannot be read" in err


def test_model_arguments_merge_key_by_key(peirce, options, monkeypatch):
    Path("peirce.toml").write_text(
        "[proposer]\nbackoff_s = 2\nmax_wait_s = 9\n[proposer.model_arg]\ntop_k = 5\nmin_p = 0.1\n"
    )
    monkeypatch.setenv("PEIRCE_PROPOSER_MAX_WAIT_S", "8")
    monkeypatch.setenv("PEIRCE_MODEL_ARG", "min_p=0.2 stop=a")
    peirce("run", "examples", "--model", "openai:small", "--model-arg", "stop=b")
    merged = dict(pair.split("=", 1) for pair in options()["model_arg"])
    assert merged == {
        "backoff_s": "2", "max_wait_s": "8", "top_k": "5", "min_p": "0.2", "stop": "b",
    }  # fmt: skip


def test_one_text_is_a_list_of_one_where_the_file_may_hold_several(peirce, options):
    for text in ('"gen0-1"', '["gen0-1"]'):
        Path("peirce.toml").write_text(f"problem = {text}\n")
        peirce("run", "examples")
        assert list(options()["problem"]) == ["gen0-1"]
    Path("peirce.toml").write_text('problem = ["a", "b"]\n')
    assert peirce("tasks", "list")[0] == 0  # a verb of one problem leaves a list alone


def test_the_configuration_may_lie_elsewhere(peirce, options, monkeypatch):
    Path("peirce.toml").write_text("seed = 1\n")
    Path("other.toml").write_text("seed = 2\n")
    monkeypatch.setenv("PEIRCE_CONFIG", "other.toml")
    peirce("run", "examples")
    assert options()["seed"] == 2
    monkeypatch.setenv("PEIRCE_CONFIG", "gone.toml")
    code, _, err = peirce("tasks", "list")
    assert code == 2 and "gone.toml" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sead = 1", "unknown key 'sead'; did you mean seed?"),
        ("[proposer]\ntemprature = 1", "[proposer]: unknown key 'temprature'; did you mean temp"),
        ("[judge]\nmax_token = 1", "[judge]: unknown key 'max_token'; did you mean max_tokens?"),
        ("[juge]\ntop_p = 1", "unknown key 'juge'; did you mean judge"),
        ("judge = 1", "judge must be a table"),
        ("temperature = 1\n[proposer]\ntemperature = 1", "temperature is set twice"),
        ("top-p = 1\ntop_p = 1", "top_p is set twice"),
        ("[proposer]\nmodel_arg = 3", "model_arg must be a table or a list"),
        (
            "problem = {a = 1}",
            'peirce.toml: problem is {"a": 1}: it must be a single value or a list of strings',
        ),
        (
            "problem = [['x']]",
            'peirce.toml: problem is [["x"]]: it must be a single value or a list of strings',
        ),
        ("seed = [1]", "peirce.toml: seed is [1]: it must be a single value"),
        (
            "[proposer]\nmodel = {a = 1}",
            'model is {"a": 1}: it must be a single value or a list of strings',
        ),
        ("seed = " + "[" * 9_000, "peirce.toml cannot be read: it is nested too deeply"),
        ("seed = " + "{a=" * 9_000, "peirce.toml cannot be read: it is nested too deeply"),
        ("seed = " + "1" * 9_000, "peirce.toml cannot be read: "),
        ("\n" + "a." * 9_000 + "a = 1", "cannot be read: line 2 has more than 500 dots"),
        ("# " + "x" * 300_000, "peirce.toml cannot be read: it is larger than 256,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_sentence(peirce, text, said):
    Path("peirce.toml").write_text(text)
    code, _, err = peirce("tasks", "list")
    assert code == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("PEIRCE_TEMPRATURE", "did you mean PEIRCE_TEMPERATURE?"),
        ("PEIRCE_SEDE", "did you mean PEIRCE_SEED?"),
        ("PEIRCE_TOOLS", "did you mean PEIRCE_PROPOSER_TOOLS?"),
        ("PEIRCE_PROPOSR_TOOLS", "did you mean PEIRCE_PROPOSER_TOOLS?"),
        ("PEIRCE_JUDGE_TEMPRATURE", "unknown key 'temprature'; did you mean temperature?"),
    ],
)
def test_a_misspelt_variable_is_one_sentence_without_its_value(peirce, monkeypatch, name, said):
    monkeypatch.setenv(name, "0.123")
    code, _, err = peirce("tasks", "list")
    assert code == 2 and said in err and "0.123" not in err and err.count("\n") == 1


def test_other_variables_with_our_prefix_are_left_alone(peirce, monkeypatch):
    for name in ("PEIRCE_API_KEY", "PEIRCE_LAB_KEY", "PEIRCE_JUDGE_KEY", "PEIRCE_SHARED",
                 "PEIRCE_HOME", "PEIRCE_DEBUG", "PEIRCE_DATA_DIR", "PEIRCE_LOG"):  # fmt: skip
        monkeypatch.setenv(name, "abc")
    assert peirce("tasks", "list")[0] == 0


def test_doctor_tells_what_is_set_and_whence_and_no_secret(peirce, monkeypatch):
    Path("peirce.toml").write_text(
        'seed = 4\ntemperature = 0.5\n[judge]\nmodel = "openai:small"\ntop_p = 0.9\n'
        '[proposer]\nmodel_arg = ["extra=sk-verysecret12345", "user=planted-value-1"]\n'
    )
    monkeypatch.setenv("PEIRCE_TEMPERATURE", "0.25")
    monkeypatch.setenv("PEIRCE_MODEL", "http://me:hush@127.0.0.1/v1?token=hush#NAME")
    monkeypatch.setenv("LAB_TOKEN", "planted-value-1")
    monkeypatch.setenv("PEIRCE_API_KEY", "planted-value-2")
    code, out, _ = peirce("doctor", "--json")
    told = {row["key"]: (row["value"], row["source"]) for row in json.loads(out)["settings"]}
    assert code == 0 and told["seed"] == ("4", "peirce.toml")
    assert told["temperature"] == ("0.25", "PEIRCE_TEMPERATURE")
    assert told["judge_model"] == ("openai:small", "peirce.toml")
    assert told["judge.top_p"] == ("0.9", "peirce.toml [judge]")
    assert told["model"] == ("http://***@127.0.0.1/v1?***#NAME", "PEIRCE_MODEL")
    assert told["model_arg"][1] == "peirce.toml"
    code, text, _ = peirce("doctor")
    assert code == 0 and "setting   seed = 4 (peirce.toml)" in text
    for secret in ("hush", "sk-very", "planted-value"):
        assert secret not in out + text


def test_transport_and_body_reach_the_model_and_its_record(peirce):
    code, _, err = peirce(
        "run", "list_functions", "--problems", "1", "--model", ENDPOINT, "--timeout-s", "2",
        "--retries", "0", "--reasoning-effort", "low", "--temperature", "0.5", "--model-arg",
        "top_k=5", "--model-arg", "backoff_s=0.5", "--model-arg", "outage_s=0.2", "--workers", "1",
        "--json", "--quiet",
    )  # fmt: skip
    assert code == 1 and "gave no answer in 1 request" in err, err
    settings = json.loads(peirce("sessions", "--json")[1])[0]["settings"]
    assert settings["model_settings"]["model_args"] == {"reasoning_effort": "low", "top_k": 5}
    assert settings["model_settings"]["temperature"] == 0.5
    transport = settings["operational"]["reached"]["transport"]
    assert (transport["timeout_s"], transport["retries"], transport["backoff_s"]) == (2, 0, 0.5)
    code, _, err = peirce("resume", "--retry-failed", "--retries", "1", "--quiet")
    assert code == 1 and "could not be reached for" in err  # with retries it is waited for


def test_two_words_for_one_setting_must_agree(peirce):
    code, _, err = peirce(
        "run", "list_functions", "--model", ENDPOINT, "--temperature", "1", "--model-arg",
        "temperature=0",
    )  # fmt: skip
    assert code == 2 and "contradict" in err and not Path("peirce.duckdb").exists()


def test_other_roles_are_recorded_and_change_no_digest(peirce, monkeypatch):
    alone = json.loads(peirce(*SCRIPTED)[1])
    Path("peirce.toml").write_text('[judge]\nmodel = "openai:small"\ntemperature = 0\ntop_p = 1\n')
    monkeypatch.setenv("PEIRCE_JUDGE_TOP_P", "0.5")
    monkeypatch.setenv("PEIRCE_SCORER_MODEL", "openai:large")  # of `rate`: left out
    code, _, err = peirce(*SCRIPTED, "--judge-model", "search", "--role", "judge.temperature=0")
    assert code == 2 and "model 'search' does not take a setting " in err
    code, out, err = peirce(
        *SCRIPTED, "--judge-model", "openai:medium", "--role", "judge.max-tokens=9"
    )
    assert code == 0, err
    recorded = json.loads(peirce("sessions", "--json")[1])[-1]["settings"]["operational"]["roles"]
    assert recorded == {
        "judge": {"model": "openai:medium", "temperature": 0, "top_p": 0.5, "max_tokens": 9},
    }
    assert json.loads(out)["digest"] == alone["digest"]


def test_the_scorer_is_of_rate_alone(peirce, monkeypatch):
    """Its table of the file is left out of a session, and reaches `rate`."""
    import peirce as package

    Path("peirce.toml").write_text('[scorer]\nmodel = "openai:large"\ntop_p = 0.5\n')
    code, _, err = peirce(*SCRIPTED)
    assert code == 0, err
    operational = json.loads(peirce("sessions", "--json")[1])[-1]["settings"]["operational"]
    assert operational["roles"] == {} and "roles" not in operational["config"]

    taken: list[dict] = []
    monkeypatch.setattr(package, "rate", lambda session, **given: taken.append(given) or iter(()))
    monkeypatch.setenv("PEIRCE_SCORER_TEMPERATURE", "0")
    assert peirce("rate", "--role", "scorer.max-tokens=9", "--json")[0] == 0
    assert peirce("rate", "--scorer-model", "openai:small", "--json")[0] == 0
    assert [given["roles"]["scorer"] for given in taken] == [
        {"model": "openai:large", "temperature": 0, "top_p": 0.5, "max_tokens": 9},
        {"model": "openai:small", "temperature": 0, "top_p": 0.5},
    ]
    Path("peirce.toml").write_text(
        'role = ["scorer.model=openai:tiny", "judge.model=openai:small"]\n'
    )
    monkeypatch.delenv("PEIRCE_SCORER_TEMPERATURE")
    assert peirce("rate", "--json")[0] == 0
    assert taken[-1]["roles"] == {"scorer": {"model": "openai:tiny"}}
    assert peirce(*SCRIPTED)[0] == 0
    operational = json.loads(peirce("sessions", "--json")[1])[-1]["settings"]["operational"]
    assert operational["roles"] == {"judge": {"model": "openai:small"}}
    code, out, err = peirce("rate", "--role", "judge.temperature=0")
    assert (code, out) == (2, "") and "role 'judge': `peirce rate` does not use it" in err


@pytest.mark.parametrize("verb", ["run", "resume", "check", "predict"])
def test_no_session_takes_a_scorer(peirce, verb):
    code, out, err = peirce(verb, "examples", "--scorer-model", "openai:large")
    assert (code, out) == (2, "") and "No such option: --scorer-model" in err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--role", "judge.temprature=0"], "did you mean temperature?"),
        (["--role", "critic.temperature=0"], "role 'critic': unknown"),
        (["--role", "proposer.temperature=0"], "the options of the command itself"),
        (["--role", "judge"], "ROLE.KEY=VALUE"),
        (["--judge-model", "oracle"], "unknown model 'oracle'"),
        (["--judge-model", "http://me:hush@host/v1#NAME"], "must be a URL without credentials"),
        (["--judge-model", "http://[::bad#NAME"], "is not a URL"),
        (["--role", "judge.temperature=hot"], "role judge: temperature is 'hot': it must be a number"),
        (["--role", "judge.max_tokens=1.5"], "role judge: max_tokens is 1.5: it must be a whole"),
        (["--role", "literature.price_in=cheap"], "role literature: price_in is 'cheap': it must be"),
        (["--role", "scorer.temperature=0"], "role 'scorer': only `peirce rate` uses it"),
        (["--role", "judge.model=5"], "the model of role judge must be a string"),
        (["--judge-model", ENDPOINT, "--role", "judge.stream=perhaps"], "role judge: stream 'perhaps'"),
        (["--judge-model", "hf:x", "--role", "judge.batch=0"], "role judge: batch 0 of model 'hf:x'"),
        (["--role", "judge.model_arg={\"api_key\": \"hush\"}"], "must not contain 'api_key'"),
        (["--role", "judge.model_arg={\"user\": \"hush-hush-hush\"}"], " must not contain a key of the environment, because settings are recorded"),
    ],
)  # fmt: skip
def test_a_role_that_cannot_be_is_one_sentence_and_makes_no_store(peirce, monkeypatch, flags, said):
    monkeypatch.setenv("LAB_TOKEN", "hush-hush-hush")
    code, out, err = peirce(*SCRIPTED, *flags)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert "hush" not in err and not Path("peirce.duckdb").exists()


def test_a_dry_run_counts_asks_nothing_and_makes_no_store(peirce):
    arguments = ["run", "list_functions", "--problems", "6", "--max-answers", "5", "--dry-run"]
    code, out, err = peirce(*arguments, "--model", ENDPOINT, "--json")
    told = json.loads(out)
    assert (code, err, told["problems"]) == (0, "", 6)
    assert told["calls"]["proposer"] == {"least": 18, "most": 150}
    assert told["calls"]["judge"] == {"least": 0, "most": 0}
    assert json.loads(peirce(*arguments, "--json")[1])["calls"]["proposer"]["least"] == 6
    code, out, _ = peirce(*arguments, "--model", ENDPOINT)
    assert code == 0 and "proposer  18 to 150 calls" in out
    assert not Path("peirce.duckdb").exists()
    code, _, err = peirce(*arguments, "--model", "oracle")
    assert code == 2 and "unknown model" in err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--max-answers", "0"], "max_answers is 0: it must be at least 1"),
        (["--max-answers", "-3"], "max_answers is -3: it must be at least 1"),
        (["--tool-calls", "-1"], "tool_calls is -1: it must be at least 0"),
        (["--model", ENDPOINT, "--temperature", "nan"], "temperature is nan: it must be a number"),
        (["--concurrency", "-1"], "concurrency is -1: it must be at least 1"),
        (["--concurrency", "5000"], "concurrency is 5000: it must be at most 1,000"),
        (["--model", "hf:./nowhere"], "model folder './nowhere' does not exist"),
        (["--model", "hf:org/nowhere"], "is no folder here, is not in the hub's cache"),
        (["--model", "hf:org/nowhere", "--model-arg", "batch=0"], "batch 0 of model"),
        (["--model", "recorded:nofile"], "nofile"),
        (["--model", "scripted:nofile"], "nofile"),
        (["--model", "openai:"], "names no model"),
        (["--model", "openai:small"], "OPENAI_API_KEY, which is not set"),
        (["--model", ENDPOINT, "--model-arg", "structured=perhaps"], "must be one of auto"),
        (["--model", "search", "--preset", "quickest"], "preset"),
        (["--method", "imported"], "model must be recorded:FILE"),
        (["--budget-usd", "1"], "needs price_in and price_out"),
        (["--sandbox", "sand"], "no sandbox backend 'sand'"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses_in_the_same_words(peirce, monkeypatch, flags, said):
    pytest.importorskip("transformers") if "hf:" in str(flags) else None
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True, raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    arguments = ["run", "list_functions", "--problems", "2", "--workers", "1", "--quiet", *flags]
    planned, run = peirce(*arguments, "--dry-run"), peirce(*arguments)
    assert planned == run
    assert planned[0] in (2, 3) and said in planned[2] and planned[2].count("\n") == 1
    assert not Path("peirce.duckdb").exists()


def test_a_dry_run_fetches_no_model_and_says_what_it_would_ask(peirce, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    code, out, err = peirce("run", "list_functions", "--model", "hf:org/nowhere", "--dry-run")
    assert (code, err) == (0, "") and "hf:org/nowhere" in out


def test_a_dry_run_brackets_what_a_session_then_does(peirce):
    told = json.loads(peirce(*SCRIPTED, "--dry-run")[1])["calls"]["proposer"]
    assert not Path("peirce.duckdb").exists()
    asked = json.loads(peirce(*SCRIPTED)[1])["usage"]["by_kind"]["model"]["calls"]
    assert told["least"] <= asked <= told["most"]


def test_settings_of_the_files_model_are_left_out_for_a_model_of_another_kind(peirce):
    Path("peirce.toml").write_text(
        '[proposer]\nmodel = "openai:small"\ntemperature = 0.5\ntimeout_s = 60\nmax_tokens = 9\n'
        'reasoning_effort = "low"\nbackoff_s = 0.5\nmodel_arg = { top_k = 5 }\n'
    )
    code, _, err = peirce("run", "list_functions", "--problems", "1", "--model", "search",
                          "--max-answers", "1", "--budget-expansions", "500", "--quiet")  # fmt: skip
    assert (code, err) == (0, "")
    code, _, err = peirce("run", "list_functions", "--model", "search", "--temperature", "1")
    assert code == 2 and "temperature" in err  # what is typed is meant


@pytest.mark.parametrize("file", ['then = "search"\n', '[then]\nmodel = "search"\n'])
def test_the_second_proposer_is_named_by_a_key_or_a_table(peirce, file):
    Path("peirce.toml").write_text(file)
    code, out, err = peirce("run", "list_functions", "--problems", "1", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["calls"]["then"]["most"] > 0, err
