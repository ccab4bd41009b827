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

IMPORTED = (
    "peirce.cli.running", "peirce.cli.reading", "peirce.commands.session.running", "peirce.reports",
    "peirce.tasks.programs.list_functions", "peirce.tasks.text.labels", "peirce.tasks.logic.abd",
    "peirce.tools.execute", "peirce.agents.endpoint.client", "peirce.graphs.runtime.steps",
    "langgraph.graph", "openai", "httpx",
)  # fmt: skip


def start_command(words: Sequence[str], output: Path) -> Any:
    """Start `peirce WORDS` and return its process (multiprocessing.Process).

    Args:
        words: The command line, without `peirce`.
        output: The file for what the command writes.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*IMPORTED])
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
