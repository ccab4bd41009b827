"""The name of a task in the place of a verb shows lines to copy; so does `run TASK --help`. Each
command is a process forked from one that has the package imported."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from peirce import tasks_help, tasks_list
from peirce.records import UsageError
from peirce.tests.cli.forked_command import run_command

NAMES = [row["task"] for row in tasks_list()]


def peirce(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(arguments, cwd=Path.cwd())


@pytest.mark.parametrize("name", NAMES)
def test_every_task_names_its_data_and_lines_whose_options_there_are(name: str) -> None:
    from peirce.cli import app
    from typer.main import get_command

    told = tasks_help(name)
    assert told["takes"] and len(told["commands"]) >= 2 and told["methods"]
    verbs = get_command(app)
    for line in told["commands"]:
        _, verb, *rest = line.split()
        command = verbs.commands[verb]
        if verb == "tasks":
            command = command.commands[rest[0]]
        valid = {option for one in command.params for option in one.opts}
        assert {word for word in rest if word.startswith("--")} <= valid, line


@pytest.mark.parametrize("words", [["labels", "--help"], ["labels"], ["run", "labels", "--help"]])
def test_lines_to_copy_stand_alone(words: list[str]) -> None:
    done = peirce(*words)
    assert done.returncode == 0, done.stderr
    assert "    peirce run labels --data reviews.csv --label verdict" in done.stdout.splitlines()


def test_a_generator_has_lines_of_its_own() -> None:
    told = tasks_help("labels:shoe")
    assert told["commands"][0] == "peirce run labels:shoe" and not told["takes"]


def test_what_is_neither_verb_nor_task_is_refused() -> None:
    done = peirce("lables")
    assert done.returncode == 2 and "No such command 'lables'" in done.stderr
    assert "Did you mean the task 'labels' or 'laws'? See peirce --help" in done.stderr
    with pytest.raises(UsageError, match="did you mean labels"):
        tasks_help("lables")


def test_a_file_that_is_no_task_says_why(tmp_path) -> None:
    broken = tmp_path / "mine.yaml"
    broken.write_text("name: [")
    done = peirce(str(broken))
    assert done.returncode != 0 and "mine.yaml" in done.stderr
    assert "No such command" not in done.stderr and "Traceback" not in done.stderr
    data = tmp_path / "pairs.csv"
    data.write_text("input,output\n1,2\n")
    assert (
        "is a data file, but a task is required: use peirce run labels --data "
        in peirce(str(data)).stderr
    )
