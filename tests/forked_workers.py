"""Workers of the search and of Z3 that are forked from a process that has imported what they import.

In a short session a worker spends most of its CPU time on imports: over a second for labelled text,
which needs scikit-learn. Folders of tests that are about other things (`FOLDERS`) fork their workers;
tests of the search, of agents and of tools start them as users do.

Internals: the command line of a worker is replaced where it is started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from peirce.tests.cli.forked_command import worker_command
from peirce.tools.line_process import LineProcess

if TYPE_CHECKING:
    import pytest

MODULES = ("peirce.search.worker", "peirce.tools.logic.z3_worker")
FOLDERS = (
    "tests/adapters/", "tests/cli/", "tests/commands/", "tests/docs/", "tests/endtoend/",
    "tests/graphs/", "tests/reports/", "tests/store/", "tests/tasks/", "tests/training/",
)  # fmt: skip


def fork_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each worker that a test starts be forked."""
    monkeypatch.setattr(LineProcess, "_start", _forking_start())


def fork_workers_from(server: str) -> None:
    """Let each worker that this process, a command, starts be forked by the server of the command."""
    LineProcess._start = _forking_start(server)  # type: ignore[method-assign]


def _forking_start(server: str = "") -> Any:
    start = LineProcess._start

    async def forked(self: LineProcess) -> Any:
        *_, module = self.command
        if module in MODULES:
            self.command = worker_command(module, server)
        return await start(self)

    return forked
