"""A signal that arrives before the first problem of a session begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# The signal arrives right after the store and its socket have been created.
EARLY = """
import os, signal, sys
import peirce
from peirce.store import Store

begin = Store.create_session

def signalled(store, *rest):
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    return begin(store, *rest)

Store.create_session = signalled
session = peirce.run("list_functions", problems=4, concurrency=1, store="s.duckdb")
print(session.status)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_while_the_store_is_opened_interrupts_the_session(
    tmp_path: Path, name: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY, name],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["s.duckdb"]
