"""The transcripts of docs/walks are what their commands print now, and nothing of the machine is in
them.

Here `peirce` is a program that forks each command from a process that has the package imported; what
a command prints is the same as by docs/walks/record.py."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from peirce.tests.cli.forked_command import write_program

REPOSITORY = Path(__file__).resolve().parents[2]
WALKS = REPOSITORY / "docs" / "walks"


def _record() -> ModuleType:
    found = importlib.util.spec_from_file_location("walks_record", WALKS / "record.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # its dataclass looks itself up there
    found.loader.exec_module(module)
    return module


record = _record()


def test_there_are_five_walks_and_the_index_has_them() -> None:
    index = (WALKS / "README.md").read_text("utf-8")
    assert len(record.WALKS) == 5
    assert set(re.findall(r"\]\(([\w-]+)\.md\)", index)) == set(record.WALKS)


@pytest.fixture
def forked_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    made = record.environment

    def environment(home: Path) -> dict[str, str]:
        found: dict[str, str] = made(home)
        write_program(home / "bin" / "peirce")
        return found

    monkeypatch.setattr(record, "environment", environment)


@pytest.mark.usefixtures("forked_commands")
@pytest.mark.parametrize("name", record.WALKS)
def test_a_walk_prints_what_its_page_says(name: str) -> None:
    found = record.differences(name)
    assert not found, "\n".join(
        [*found, "", f"If this is meant: python docs/walks/record.py {name}"]
    )


@pytest.mark.parametrize("name", record.WALKS)
def test_a_walk_goes_from_the_data_to_a_page_and_meets_mistakes(name: str) -> None:
    page = (WALKS / f"{name}.md").read_text("utf-8")
    commands = re.findall(r"^\$ peirce (\w+)", page, re.M)
    assert {"run", "discover"} & set(commands) and "report" in commands
    assert "page      report.html" in page
    if name != "worlds":  # a walk without a mistake
        assert len(re.findall(r"^\[exit \d+\]$", page, re.M)) >= 3
    assert "Traceback" not in page and str(Path.home()) not in page and os.sep + "tmp" not in page


def test_a_page_that_is_not_what_is_printed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (
        "# Said\n\n```text words.txt\na\nb\n```\n\nRead:\n\n```console\n$ cat words.txt\na\n$ false\n"
        "$ export WORD=c\n$ echo $WORD $HOME\n```\n"
    )
    (tmp_path / "said.md").write_text(page)
    monkeypatch.setattr(record, "HERE", tmp_path)
    changed = [line for line in record.differences("said") if line[0] in "+-"][2:]
    assert changed[:2] == ["+b", "+[exit 1]"] and changed[2].startswith("+c ")
    (tmp_path / "said.md").write_text(page := record.recorded("said"))
    assert "a\nb\n$ false\n[exit 1]\n$ export WORD=c\n$ echo $WORD $HOME\nc " in page


def test_what_differs_from_run_to_run_is_replaced(tmp_path: Path) -> None:
    walk = record.Walk("x", tmp_path, "8123", {})
    first = walk.stable("session  abcd1234: x\n[0/1] 1 accepted; 2.0 s\ntime      3.1 s\n")
    assert first == "session  session1: x\ntime      …\n"
    assert walk.stable("next  peirce show abcd1234  \n") == "next  peirce show session1\n"
    assert walk.stable("store  s.duckdb, session efgh5678") == "store  s.duckdb, session session2\n"
    assert walk.stable(f"{tmp_path}/a at http://127.0.0.1:8123/v1").startswith(
        "/home/you/a at http://127.0.0.1:8000/v1"
    )
