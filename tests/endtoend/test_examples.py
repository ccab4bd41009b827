"""The examples as a new user runs them: from the command line, in a folder of one's own. What comes
after the run (resume, replay, eval, show, export) must not need the task file again.

Each command is a process forked from one that has the package imported. Each example is run once: a
test goes on in a copy of the folder that the run left."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import peirce
import pytest
from peirce.tests.cli.forked_command import run_command

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"
RUNS = {
    "dew_point.yaml": ("--model", "scripted:examples/dew_point.answers.json"),
    "dice_payoffs.py": ("--model", "search", "--problems", "4", "--workers", "1"),
}
SCRIPTS = {"close_the_loop.py": "test_loop_example.py"}  # examples that are no tasks, tested there


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path


def command(folder, *arguments, code=0):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PEIRCE"))}
    done = run_command(arguments, cwd=folder, env={**clean, "OMP_NUM_THREADS": "1"})
    assert done.returncode == code, done.stderr
    return done


def data(folder, *arguments):
    return json.loads(command(folder, *arguments, "--json").stdout)


@pytest.fixture(scope="module")
def first_runs(tmp_path_factory):
    """first_runs(name) -> what a run of the example printed, and the folder that it left."""
    known = {}

    def run(name):
        if name not in known:
            place = tmp_path_factory.mktemp("run")
            shutil.copytree(EXAMPLES, place / "examples")
            told = data(place, "run", f"examples/{name}", *RUNS[name], "--quiet")
            known[name] = told, place
        return known[name]

    return run


@pytest.fixture
def run(first_runs, tmp_path):
    """run(name) -> what the run printed; its files are copied into this test's folder."""

    def copied(name):
        told, place = first_runs(name)
        shutil.copytree(place, tmp_path, dirs_exist_ok=True)
        return told

    return copied


def test_every_example_is_run_here():
    tasks = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".yaml", ".py")}
    assert tasks == {*RUNS, *SCRIPTS}
    assert all(Path(__file__).with_name(test).is_file() for test in SCRIPTS.values())


@pytest.mark.parametrize("name", RUNS)
def test_a_session_outlives_its_task_file(folder, run, name):
    told = run(name)
    assert told["status"] == "done" and told["verdicts"]["accepted"] >= 2
    assert told["task"] == name.partition(".")[0]
    (folder / "examples" / name).unlink()
    (scored,) = data(folder, "eval")["sessions"]
    assert scored["metrics"] == told["metrics"]
    for live in ([], ["--live"]):
        replayed = data(folder, "replay", "last", *live)
        assert replayed["differences"] == [] and replayed["steps"] == told["steps"]
    assert data(folder, "resume")["digest"] == told["digest"]
    assert len(data(folder, "show")) == told["problems"]
    data(folder, "export", "last", "--out", "out", "--format", "jsonl")


@pytest.mark.parametrize("name", RUNS)
def test_a_session_that_was_stopped_goes_on_without_its_task_file(folder, run, name, monkeypatch):
    whole = run(name)
    monkeypatch.chdir(folder)
    options = dict(zip(RUNS[name][::2], RUNS[name][1::2], strict=True))

    def stop(event):
        if event["type"] == "step":
            os.kill(os.getpid(), signal.SIGINT)

    stopped = peirce.run(
        f"examples/{name}", model=options["--model"], concurrency=1, store="stopped.duckdb",
        on_event=stop, problems=int(options.get("--problems", 0)) or None,
    )  # fmt: skip
    assert stopped.status == "interrupted" and stopped.steps < whole["steps"]
    (folder / "examples" / name).unlink()
    resumed = data(folder, "resume", "--store", "stopped.duckdb", "--quiet")
    assert resumed["status"] == "done" and resumed["digest"] == whole["digest"]


def test_the_dew_point_shows_a_rule_of_thumb_that_fails_in_dry_air(folder, run):
    told = run("dew_point.yaml")
    assert told["verdicts"] == {"accepted": 2, "redundant": 1, "inconsistent": 1, "malformed": 0}
    first, second, *_ = data(folder, "show", "last", "dew_point")
    assert all(first["observations"]) and first["hidden"].count(True) == 1
    assert all(second["hidden"])
    (session,) = data(folder, "sessions")
    assert session["settings"]["equality_rule"] == {"numbers": {"decimals": 0}}
    assert session["settings"]["operational"]["task_file"]["name"] == "dew_point.yaml"


def test_search_fits_the_shown_dew_points_and_not_the_hidden_ones(folder):
    """Its programs have no logarithms, and four pairs are few."""
    told = json.loads(command(folder, "run", "examples/dew_point.yaml", "--quiet", "--json").stdout)
    assert told["status"] == "done" and told["metrics"]["top1"]["mean"] == 0.0


def test_search_finds_what_a_roll_pays(run):
    told = run("dice_payoffs.py")
    assert told["verdicts"]["inconsistent"] == 0
    assert told["metrics"]["top1"]["mean"] == 1.0


def test_an_example_is_a_task_for_the_other_verbs_too(folder):
    (problem,) = data(folder, "tasks", "show", "examples/dew_point.yaml")
    assert problem["task"] == "dew_point" and problem["space"] == 1020
    space = data(folder, "tasks", "space", "examples/dice_payoffs.py", "--out", "space.jsonl")
    assert space["inputs"] == 252
    weights = [json.loads(line)["weight"] for line in (folder / "space.jsonl").open()]
    assert sum(weights) == 6**5
    made = ("tasks", "generate", "examples/dice_payoffs.py", "--problems", "3", "--out", "d.jsonl")
    assert data(folder, *made)["problems"] == 3
    (again, *_) = data(folder, "tasks", "show", "examples/dice_payoffs.py", "--data", "d.jsonl")
    assert again["id"] == "0-0" and again["secret"] == {}
    planned = data(folder, "run", "examples/dew_point.yaml", "--dry-run", *RUNS["dew_point.yaml"])
    assert planned["task"] == "dew_point"


def test_answers_are_checked_by_the_rule_of_the_task(folder):
    source = "def f(x):\n    return x['temperature'] - (100 - x['humidity']) / 5 + {}"
    lines = [{"problem": "dew_point", "hypothesis": source.format(more)} for more in (0, 0.4, 2)]
    (folder / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = command(folder, "check", "examples/dew_point.yaml", "--answers", "mine.jsonl", "--json")
    verdicts = [json.loads(line)["verdict"] for line in done.stdout.splitlines()]
    assert verdicts == ["consistent", "consistent", "inconsistent"]


def test_a_mistake_in_a_task_file_is_one_sentence(folder):
    (folder / "mine.yaml").write_text("name: t\nabout: a\nobservatons: []\n")
    said = command(folder, "run", "mine.yaml", code=1).stderr
    assert (
        said == "peirce: mine.yaml, line 3, observatons: unknown key; did you mean observations?\n"
    )
    (folder / "mine.py").write_text("class T:\n  name = about = 't'\n  problems = lambda s: 1 / 0\nTASK = T()\n")  # fmt: skip
    said = command(folder, "run", "./mine.py", code=1).stderr
    assert said == "peirce: mine.py, line 3, TASK.problems: ZeroDivisionError: division by zero\n"
    assert "no such file" in command(folder, "run", "mne.yaml", code=2).stderr
    assert not list(folder.glob("*.duckdb"))


GUIDE = (REPOSITORY / "docs/how-to/write-a-task.md").read_text("utf-8")
WHOLE = [(kind, text) for kind, text in re.findall(r"```(yaml|python)\n(.*?)```", GUIDE, re.S)]


@pytest.mark.parametrize(("kind", "text"), WHOLE, ids=[kind for kind, _ in WHOLE])
def test_a_file_of_the_guide_is_a_task(tmp_path, kind, text):
    file = tmp_path / f"mine.{'py' if kind == 'python' else kind}"
    file.write_text(text, "utf-8")
    answers = (
        "('a', 'def f(x):\\n    return 0.4 * x')",
        "('b', 'def f(x):\\n    return 0.4 * x + 0.01')",
    )
    (tmp_path / "said.json").write_text(json.dumps({"*": list(answers)}))
    told = data(tmp_path, "run", file.name, "--model", "scripted:said.json", "--quiet")
    assert told["status"] == "done" and told["steps"] == 2 * told["problems"]
    if kind == "yaml":
        assert told["verdicts"]["accepted"] == told["verdicts"]["redundant"] == 1
