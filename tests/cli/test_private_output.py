"""What the command line leaves of a user's data can be read by that user alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from peirce.tests.cli.forked_command import run_command
from scripted_run import RUN, put_files


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_stores_pages_exports_and_generated_sets_are_private(folder: Path) -> None:
    put_files()
    given = {one.name for one in folder.iterdir()}
    for arguments in (
        [*RUN, "--quiet"],
        ["report", "--out", "page.html"],
        ["export", "--out", "parquet"],
        ["export", "--out", "jsonl", "--format", "jsonl"],
        ["export", "--out", "huggingface", "--format", "huggingface"],
        ["eval", "--out", "tables"],
        ["pairs", "--out", "pairs"],
        ["tasks", "generate", "list_functions", "--problems", "2", "--out", "new/mine.jsonl"],
    ):
        ended = run_command(arguments, cwd=folder)
        assert ended.returncode == 0, (arguments, ended.stderr)
    made = [one for one in folder.rglob("*") if one.relative_to(folder).parts[0] not in given]
    modes = {str(one.relative_to(folder)): stat.S_IMODE(one.stat().st_mode) for one in made}
    assert {"peirce.duckdb", "page.html", "jsonl", "new/mine.jsonl"} <= set(modes)
    assert {"parquet/hypotheses.parquet", "huggingface/README.md"} <= set(modes)
    wrong = {
        name: oct(mode)
        for name, mode in modes.items()
        if mode != (0o700 if (folder / name).is_dir() else 0o600)
    }
    assert wrong == {}
