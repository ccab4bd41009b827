"""Tests here call the command line in this process, in a user's folder. They share the labelled sessions
of tests/commands and the server of tests/agents."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peirce import cli

for room in ("commands", "agents", "cli"):
    sys.path.insert(0, str(Path(__file__).parents[1] / room))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without settings from the environment. A module that puts files
    there has a fixture `folder` of its own over this one."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PEIRCE_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def peirce(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """peirce(*arguments) -> (exit code, stdout, stderr), in `folder`."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return call


FINISHED: dict[tuple[Any, ...], tuple[tuple[int, str, str], bytes]] = {}


@pytest.fixture
def finished(
    folder: Path, peirce: Callable[..., tuple[int, str, str]]
) -> Callable[..., tuple[int, str, str]]:
    """finished(*arguments) -> what `peirce` said where this command was first run on the files that lie
    in `folder`; its store is copied there. For tests about what comes after a session."""

    def call(*arguments: str) -> tuple[int, str, str]:
        files = [(one.name, one.read_bytes()) for one in sorted(folder.rglob("*")) if one.is_file()]
        settings = [one for one in sorted(os.environ.items()) if one[0].startswith("PEIRCE")]
        known = (arguments, *settings, *files)
        if known not in FINISHED:
            told = peirce(*arguments)
            FINISHED[known] = told, (folder / "peirce.duckdb").read_bytes()
        told, store = FINISHED[known]
        (folder / "peirce.duckdb").write_bytes(store)
        return told

    return call
