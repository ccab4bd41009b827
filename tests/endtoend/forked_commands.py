"""Commands of Peirce in processes of their own, forked from one that has imported the package.

    process = start_command(["run", "list_functions", ...], tmp_path / "said.txt")
    ... process.pid, process.join(), process.exitcode

A fork saves the three seconds of a start, so that tests can afford to kill many processes. The process
from which they are forked (multiprocessing's forkserver) has one thread.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Not what tests of training and of local models import: torch takes seconds and starts threads.
PACKAGES = ("agents.endpoint", "cli", "commands.session", "config", "graphs", "records", "sandbox", "store",
            "tasks", "tools")  # fmt: skip


def imported_modules() -> list[str]:
    """Return the modules of Peirce that the tests of this process have used, and what these import late."""
    beginnings = tuple(f"peirce.{one}" for one in PACKAGES)
    used = [name for name in sorted(sys.modules) if name.startswith(beginnings)]
    return [*used, "langgraph.graph", "langchain_openai", "openai", "httpx"]


def start_command(words: Sequence[str], output: Path) -> Any:
    """Start `peirce WORDS` and return its process (multiprocessing.Process).

    Args:
        words: The command line, without `peirce`.
        output: The file for what the command writes.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(imported_modules())
    process = context.Process(target=_run, args=(list(words), str(output)))
    process.start()
    return process


def _run(words: list[str], output: str) -> None:
    opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(opened, 1)
    os.dup2(opened, 2)
    from peirce import cli

    sys.argv = ["peirce", *words]
    cli.main(words)
