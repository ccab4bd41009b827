"""The command line: data on stdout, talk on stderr, exit codes, settings from three places.

The command line is called in this process; as one of its own: test_cli_process.py.

Internals: the groups of `peirce --help` are compared with the table that lists them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from peirce import cli
from scripted_run import RUN, SOURCE, put_files


@pytest.fixture
def folder(folder: Path) -> Path:
    put_files()
    return folder


def test_run_with_json_prints_one_object_and_nothing_else_on_stdout(peirce):
    code, out, err = peirce(*RUN, "--json")
    assert code == 0
    told = json.loads(out)
    assert told["status"] == "done" and told["verdicts"]["accepted"] == 1
    assert told["store"] == "peirce.duckdb" and told["seed"] == 0
    banner = err.splitlines()[:8]
    assert [line.split()[0] for line in banner] == [
        "session", "model", "data", "seed", "limits", "sandbox", "store", "calls",
    ]  # fmt: skip


def test_run_prints_its_results_on_stdout_and_its_progress_on_stderr(peirce):
    code, out, err = peirce(*RUN)
    assert code == 0
    assert "consistency ↑" in out and "next      peirce report" in out
    assert "1 accepted" in out and "failed    nothing" in out
    assert "[1/1]" in err and "consistency" not in err


def test_quiet_says_nothing_on_stderr(peirce):
    code, out, err = peirce(*RUN, "--quiet", "--json")
    assert (code, err) == (0, "") and json.loads(out)


def test_reading_verbs_print_lists_and_objects(peirce, finished):
    _, out, _ = finished(*RUN, "--quiet", "--json")
    session = json.loads(out)["session"]
    for arguments, keys in (
        (["sessions"], {"session", "status", "task"}),
        (["show"], {"problem", "steps", "verdicts"}),
        (["show", session, "one"], {"step", "verdict", "hypothesis"}),
        (["bank", session], {"problem", "hypothesis", "reward"}),
        (["tasks", "list"], {"task", "family"}),
    ):
        code, out, err = peirce(*arguments, "--json")
        rows = json.loads(out)
        assert (code, err) == (0, "") and keys <= set(rows[0]), arguments
    code, out, _ = peirce("eval", "gear", session[:4], "--json", "--by-problem")
    (scored,) = json.loads(out)["sessions"]
    assert code == 0 and scored["by_problem"][0]["problem"] == "one"
    code, out, _ = peirce("doctor", "--json")
    assert code == 0 and json.loads(out)["store"]["sessions"] == 1
    code, out, _ = peirce("export", "--out", "out", "--format", "jsonl", "--json")
    assert code == 0 and json.loads(out)["problems"] == 1
    code, out, _ = peirce("resume", "--json", "--quiet")
    assert code == 0 and json.loads(out)["session"] == session


def test_every_verb_also_prints_for_people(peirce, finished):
    finished(*RUN, "--quiet")
    for arguments, said in (
        (["sessions"], "scripted:script.json"),
        (["show"], "no more candidates"),
        (["show", "last", "one"], "return x[1:]"),
        (["bank"], "all but the first"),
        (["eval", "t3"], "top1"),
        (["replay"], "no difference"),
        (["doctor"], "process_group"),
        (["tasks", "list"], "list_functions"),
        (["tasks", "show", "examples", "one", "--data", "pairs.jsonl"], "[5, 6] -> [6]"),
        (
            ["tasks", "generate", "list_functions", "--problems", "2", "--out", "new.jsonl"],
            "new.jsonl",
        ),
    ):
        code, out, err = peirce(*arguments)
        assert (code, err) == (0, ""), arguments
        assert said in out, arguments


def test_check_prints_jsonl_and_ends_with_1_where_a_line_is_an_error(peirce):
    lines = [{"problem": "one", "hypothesis": SOURCE}, {"problem": "none", "hypothesis": SOURCE}]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    common = ["check", "examples", "--answers", "mine.jsonl", "--data", "pairs.jsonl"]
    code, out, _ = peirce(*common, "--json")
    assert code == 1
    assert [json.loads(line)["verdict"] for line in out.splitlines()] == ["consistent", "error"]
    Path("mine.jsonl").write_text(json.dumps(lines[0]))
    code, out, _ = peirce(*common)
    assert code == 0 and "consistent" in out


def test_replay_ends_with_1_where_a_session_differs(peirce, finished):
    import duckdb

    finished(*RUN, "--quiet")
    assert peirce("replay")[0] == 0
    with duckdb.connect("peirce.duckdb") as changed:
        changed.execute("UPDATE verdict SET verdict = 'redundant' WHERE verdict = 'accepted'")
    code, out, _ = peirce("replay", "--json")
    (difference, *_) = json.loads(out)["differences"]
    assert code == 1 and difference["problem"] == "one" and "verdict" in difference["field"]
    code, out, _ = peirce("replay", "last", "last", "--json")
    told = json.loads(out)["sessions"]
    assert code == 1 and [bool(one["differences"]) for one in told] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "Missing argument 'task'; see peirce run --help, and `peirce tasks list` for"),
        (
            ["run", "pairs.jsonl"],
            "is a data file, but a task is required: use peirce run labels --data pairs.jsonl",
        ),
        (["run", "."], ". is a folder, but a task is required: use peirce run labels --data ."),
        (["run", ""], "no task ''; valid choices are abd, "),
        (
            ["tasks", "show", "examples", "--label", "x", "--data", "pairs.jsonl"],
            "no labelled text",
        ),
        (["run", "list_functoins"], "list_functions"),
        (["run", "examples", "--seeed", "1"], "--seeed"),
        (["run", "examples", "--judge-model", "x"], "unknown model 'x'"),
        (["run", "examples", "--seed", "x"], "--seed"),
        (["run", "examples", "--data", "absent.jsonl"], "absent.jsonl"),
        (["rnu"], "run"),
        (["import", "answers.jsonl", "--task", "examples"], "--data"),
        (["export", "--format", "xml"], "parquet"),
        ([*RUN, "--workers", "100000000"], "workers is 100000000: it must be at most 256"),
        (
            [*RUN, "--concurrency", "100000000"],
            "concurrency is 100000000: it must be at most 1,000",
        ),
        (["tasks", "generate", "list_functions", "--problems", "1", "--out", "."], "a folder"),
        (["tasks", "space", "list_functions", "--out", "."], "a folder"),
    ],
)
def test_usage_errors_are_one_sentence_and_exit_2(peirce, arguments, said):
    code, out, err = peirce(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("peirce: ") and err.count("\n") == 1 and said in err


def test_without_a_verb_the_help_is_shown_and_nothing_else(peirce):
    for arguments in ((), ("tasks",)):
        code, out, err = peirce(*arguments)
        assert (code, err) == (2, "") and "Usage: peirce" in out


def test_the_strict_contract_is_an_option_of_every_verb_that_reads_answers(peirce):
    source = f"import math\n{SOURCE}"
    Path("script.json").write_text(json.dumps({"*": [repr(("d", source))]}))
    Path("answers.jsonl").write_text(
        json.dumps({"problem": "one", "step": 1, "answer": f"```python\n{source}\n```"})
    )
    Path("mine.jsonl").write_text(json.dumps({"problem": "one", "hypothesis": source}))
    data = ["--data", "pairs.jsonl", "--space", "space.jsonl", "--workers", "1"]
    for arguments in (
        [*RUN, "--quiet"],
        ["import", "answers.jsonl", "--task", "examples", *data, "--quiet"],
        ["check", "examples", "--answers", "mine.jsonl", *data],
    ):
        _, out, _ = peirce(*arguments)
        assert "import" in out and "malformed  " not in out.replace("malformed ↓", ""), arguments
        _, out, _ = peirce(*arguments, "--strict-contract")
        assert "breach_import" in out, arguments
    code, out, _ = peirce("eval")
    assert code == 0 and "  malformed 1 breach_import" in out
    code, out, _ = peirce("show")
    assert code == 0 and "breaches" not in out
    _, out, _ = peirce("resume", "--json", "--quiet")
    assert json.loads(out)["verdicts"]["malformed"] == 1
    peirce(*RUN, "--quiet")
    assert "  breaches  1 import" in peirce("eval")[1] and "1 import" in peirce("show")[1]


def test_a_store_whose_path_is_not_utf8_is_one_sentence(peirce):
    code, out, err = peirce(*RUN, "--store", os.fsdecode(b"\xff.duckdb"))
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert "not UTF-8" in err and err.isascii()


def _commands(command, words=("peirce",)):
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*words, name))


def test_the_help_of_every_verb_has_an_example_to_copy(peirce, monkeypatch):
    from typer.main import get_command

    monkeypatch.setenv("COLUMNS", "200")
    found = [words for words, _ in _commands(get_command(cli.app))]
    assert len(found) > 15
    for words in found:
        code, out, _ = peirce(*words[1:], "--help")
        usage, example = f"Usage: {' '.join(words)} ", f"{' '.join(words)} "
        assert code == 0 and example in " ".join(out.replace(usage, "").split()) + " ", words


def test_examples_of_the_help_stand_on_lines_of_their_own_and_are_commands(peirce, monkeypatch):
    import shlex

    from typer.main import get_command

    monkeypatch.setenv("COLUMNS", "100")
    verbs = dict(_commands(get_command(cli.app)))
    for words, command in verbs.items():
        heading, *lines = command.epilog.split("\n")
        _, out, _ = peirce(*words[1:], "--help")
        shown = [line.strip() for line in out.splitlines()]
        assert heading == "Examples:" and lines, words
        for line in map(str.strip, lines):
            assert line in shown, (words, line)
            parts = shlex.split(line, comments=True)
            if parts[0] == "peirce":
                named = tuple(parts[:3]) if tuple(parts[:3]) in verbs else tuple(parts[:2])
                told = verbs.get(named, verbs["peirce", "run"])  # a task shows what to run
                known = {name for one in told.params for name in one.opts}
                assert {part for part in parts if part.startswith("--")} <= known, line


def test_verbs_stand_in_groups_with_a_line_or_two_each(peirce, monkeypatch):
    from peirce.cli import app
    from peirce.cli.groups import COMMANDS
    from typer.main import get_command

    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = peirce("--help")
    lines = []
    for group, names in COMMANDS.items():
        told = out.split(f"─ {group} ─")[1].split("╰")[0].splitlines()[1:]
        assert [line.split()[1] for line in told if line[2:3] != " "] == list(names)
        lines += told
    assert sorted(get_command(app).commands) == sorted(
        n for names in COMMANDS.values() for n in names
    )
    assert len([line for line in lines if line[2:3] == " "]) <= 6, lines


def test_the_lines_of_the_table_are_the_first_lines_of_the_commands():
    from peirce.cli import app
    from peirce.cli.groups import COMMANDS
    from typer.main import get_command

    commands = get_command(app).commands
    for names in COMMANDS.values():
        for name, (_, line) in names.items():
            assert " ".join(commands[name].help.split("\n\n")[0].split()) == line


def test_the_first_word_of_eval_is_a_session_or_an_evaluation(peirce, finished):
    finished(*RUN, "--quiet")
    code, out, err = peirce("eval", "hypo")
    assert (code, out) == (1, "") and "neither an evaluation nor a session 'hypo'" in err
    code, out, err = peirce("eval", "abd")
    assert (code, out) == (2, "") and " cannot score the family 'programs'; use gear, t3" in err


def test_the_banner_names_the_files(peirce):
    _, _, err = peirce(*RUN)
    assert "scripted:script.json" in err and "pairs.jsonl (sha256 " in err


def test_a_session_without_any_answer_is_one_sentence_and_exit_1(peirce, monkeypatch):
    import peirce as package
    from peirce.agents.scripted import ScriptedProposer
    from peirce.records import Unavailable

    run = package.run
    gone = ScriptedProposer([Unavailable("the endpoint\x1b[2J is gone")])
    monkeypatch.setattr(
        package, "run", lambda *args, **options: run(*args, **options | {"model": gone})
    )
    code, out, err = peirce(*RUN, "--json")
    assert code == 1 and json.loads(out)["status"] == "failed"
    sentence = err.splitlines()[-1]
    assert sentence == "peirce: the problem failed: the endpoint\\x1b[2J is gone"


def test_a_missing_store_is_one_sentence_and_exit_1(peirce):
    code, out, err = peirce("sessions")
    assert (code, out) == (1, "") and err.count("\n") == 1 and "peirce.duckdb" in err


def test_a_bad_file_is_named_with_line_and_field(peirce):
    Path("bad.jsonl").write_text('{"problem": "p", "input": 1, "output": 2}\n{"problem": "p"}\n')
    code, _, err = peirce("run", "examples", "--data", "bad.jsonl")
    assert code == 1 and "bad.jsonl" in err and "line 2" in err


def test_an_error_cannot_steer_the_terminal(peirce):
    code, _, err = peirce("show", "\x1b[31mred\x07")
    assert code == 1 and "\x1b" not in err and "\x07" not in err


def test_a_flag_comes_before_the_environment_and_that_before_the_file(peirce, monkeypatch):
    Path("peirce.toml").write_text('seed = 1\nmax-answers = 1\nmodel = "scripted:script.json"\n')
    given = [argument for argument in RUN if argument not in ("--model", "scripted:script.json")]

    def seed(*more: str) -> int:
        code, out, err = peirce(*given, "--json", *more)
        assert code == 0, err
        assert json.loads(out)["verdicts"]["malformed"] == 0  # max-answers comes from the file
        return json.loads(out)["seed"]

    assert seed() == 1
    monkeypatch.setenv("PEIRCE_SEED", "2")
    assert seed() == 2
    assert seed("--seed", "3") == 3


@pytest.mark.parametrize(
    ("text", "said"), [("sead = 1", "did you mean seed"), ("seed = ", "peirce.toml")]
)
def test_a_configuration_that_cannot_be_used_is_an_error(peirce, text, said):
    Path("peirce.toml").write_text(text)
    code, _, err = peirce("tasks", "list")
    assert code == 2 and said in err and err.count("\n") == 1


def test_the_store_comes_from_the_environment(peirce, monkeypatch):
    monkeypatch.setenv("PEIRCE_STORE", "other.duckdb")
    code, out, _ = peirce(*RUN, "--json", "--quiet")
    assert code == 0 and json.loads(out)["store"] == "other.duckdb"
    assert Path("other.duckdb").exists() and not Path("peirce.duckdb").exists()
    assert peirce("sessions")[0] == 0


def test_a_bug_keeps_its_traceback(folder, monkeypatch):
    import peirce as package

    def broken(**_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(package, "sessions", broken)
    with pytest.raises(ZeroDivisionError):
        cli.main(["sessions"])


def test_options_of_labelled_text_are_refused_for_other_tasks(peirce):
    for option in ("--literature", "--bank", "--repeats", "--inference"):
        code, _, err = peirce("run", "list_functions", option, "1")
        assert code == 2 and "only tasks with labelled text take it, such as labels; " in err, (
            option
        )
    code, _, err = peirce("run", "list_functions", "--rounds", "1")
    assert (
        code == 2
        and "method abduce does not take it; t3 and methods that pass through the rows of labelled text do"
        in err
    )


def test_no_setting_asks_for_the_version(peirce, monkeypatch):
    monkeypatch.setenv("PEIRCE_VERSION", "1")
    assert "examples" in peirce("tasks", "list")[1]


def test_a_spent_budget_ends_with_3_and_one_sentence_and_resume_goes_on(peirce, monkeypatch):
    from peirce.agents.scripted import ScriptedProposer
    from peirce.records import Reply, Usage

    asked = ScriptedProposer.propose

    async def counted(self, *asking):
        reply = await asked(self, *asking)
        return Reply(reply.text, reply.tool_calls, reply.finish, Usage(60, 40, 0, 0))

    monkeypatch.setattr(ScriptedProposer, "propose", counted)
    code, out, err = peirce(*RUN, "--quiet", "--json", "--budget-tokens", "150")
    assert code == 3 and json.loads(out)["status"] == "budget"
    assert "peirce: The budget of 150 tokens is spent (200 so far)" in err
    assert peirce("resume", "--quiet")[0] == 3
    code, out, _ = peirce("resume", "--quiet", "--json", "--budget-tokens", "900",
                          "--price-in", "1", "--price-out", "2")  # fmt: skip
    assert code == 0 and json.loads(out)["usage"]["cost_usd"] > 0
    assert peirce(*RUN, "--budget-usd", "1")[0] == 2
