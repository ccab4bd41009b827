"""A store or a peirce.toml that somebody sends does not choose which secret goes to its address."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import duckdb
import peirce
import pytest
from peirce.tests.cli.forked_command import run_command

SECRET = "not-for-strangers-0123456789"


SESSION = {
    "problems": 1,
    "max_answers": 1,
    "workers": 1,
    "space": Path(__file__).with_name("twelve_lists.jsonl"),
}


def command(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PEIRCE_")}
    return run_command(
        arguments, cwd=folder, env=kept | {"OTHER_SERVICE_TOKEN": SECRET} | variables
    )


@pytest.mark.parametrize(
    "content",
    [
        '[proposer]\napi_key_env = "OTHER_SERVICE_TOKEN"\n',
        '[judge]\napi-key-env = "OTHER_SERVICE_TOKEN"\n',
        'model_arg = ["api_key_env=OTHER_SERVICE_TOKEN"]\n',
    ],
)
def test_a_file_of_the_working_folder_does_not_choose_the_variable_of_a_key(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "peirce.toml").write_text(content)
    refused = command(tmp_path, "plan", "list_functions", "--problems", "1")
    assert refused.returncode == 2 and "OTHER_SERVICE_TOKEN" in refused.stderr
    assert "may not choose" in refused.stderr and "Traceback" not in refused.stderr
    for allowed in (
        {"PEIRCE_PROPOSER_API_KEY_ENV": "OTHER_SERVICE_TOKEN"},
        {"PEIRCE_CONFIG": "peirce.toml"},
    ):
        assert "may not choose" not in command(tmp_path, "doctor", **allowed).stderr


@pytest.mark.soak
def test_a_store_does_not_choose_the_variable_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    peirce.run("list_functions", store=path, **SESSION)
    with duckdb.connect(str(path)) as raw:
        ((text,),) = raw.execute("SELECT settings FROM session").fetchall()
        held = json.loads(text)
        held["operational"]["model_args"] = {"api_key_env": "OTHER_SERVICE_TOKEN"}
        raw.execute("UPDATE session SET settings = ?", [json.dumps(held)])
    refused = command(tmp_path, "resume", "--store", "s.duckdb")
    assert refused.returncode == 2 and "may not choose" in refused.stderr
    assert "PEIRCE_PROPOSER_API_KEY_ENV=OTHER_SERVICE_TOKEN" in refused.stderr
    allowed = command(
        tmp_path, "resume", "--store", "s.duckdb",
        PEIRCE_PROPOSER_API_KEY_ENV="OTHER_SERVICE_TOKEN",
    )  # fmt: skip
    assert "may not choose" not in allowed.stderr


LAB = "http://lab.invalid:8000/v1#m"


@pytest.mark.parametrize(
    "content",
    [f'model = "{LAB}"\n', f'[proposer]\nmodel = "{LAB}"\napi_key_env = "OPENAI_API_KEY"\n'],
)
def test_a_file_of_the_working_folder_does_not_choose_the_address_of_a_key(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "peirce.toml").write_text(content)
    keys = {"PEIRCE_API_KEY": SECRET, "OPENAI_API_KEY": SECRET, "PEIRCE_RETRIES": "0"}
    run = ("run", "list_functions", "--problems", "1", "--dry-run")
    refused = command(tmp_path, *run, **keys)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert "peirce.toml of the working folder chooses http://lab.invalid:8000" in refused.stderr
    for arguments, allowed in (
        (("--model", LAB), {}),
        ((), {"PEIRCE_MODEL": LAB}),
        ((), {"PEIRCE_CONFIG": "peirce.toml"}),
        ((), {"PEIRCE_API_KEY": "", "OPENAI_API_KEY": ""}),
    ):
        done = command(tmp_path, *run, *arguments, **keys | allowed)
        assert "working folder chooses" not in done.stderr, done.stderr


def test_the_address_of_a_stored_session_that_gets_the_key_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    peirce.run("list_functions", store=path, **SESSION)
    with duckdb.connect(str(path)) as raw:
        ((text,),) = raw.execute("SELECT settings FROM session").fetchall()
        held = json.loads(text)
        held["operational"]["config"].setdefault("model", {})["model"] = LAB
        raw.execute("UPDATE session SET settings = ?", [json.dumps(held)])
    resume = ("resume", "--store", "s.duckdb", "--quiet")
    shown = command(tmp_path, *resume, PEIRCE_API_KEY=SECRET).stderr
    assert "the key in PEIRCE_API_KEY goes to http://lab.invalid:8000, the address that" in shown
    assert "goes to" not in command(tmp_path, *resume).stderr
    named = command(tmp_path, *resume, PEIRCE_API_KEY=SECRET, PEIRCE_MODEL=LAB).stderr
    assert "goes to" not in named
