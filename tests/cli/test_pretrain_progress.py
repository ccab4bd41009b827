"""`peirce pretrain` on a terminal: a line from the first step on, which counts the problems that are
solved for the corpus. These problems take minutes, so a line without a count looks like a hang."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

from tiny_model import require

require("tokenizers", "safetensors")


def test_the_line_on_a_terminal_counts_from_the_first_problem_on(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    path = os.pathsep.join(one for one in sys.path if one)
    process = subprocess.Popen(
        [sys.executable, "-m", "peirce", "pretrain", "--out", "base", "--tasks", "list_functions",
         "--tokens", "1000", "--measure", "0"],
        cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    os.close(theirs)
    counts: dict[int, float] = {}
    said = b""
    until = time.monotonic() + 240
    try:
        while len(counts) < 4 and time.monotonic() < until:
            said += os.read(ours, 4_096)
            for found in re.finditer(rb"list_functions to learn from, (\d+) of 700; ", said):
                counts.setdefault(int(found[1]), time.monotonic())
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert len(counts) == 4 and min(counts) == 0, said
    assert max(counts) < 350  # long before the corpus is complete
