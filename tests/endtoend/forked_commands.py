"""Commands of Peirce in processes of their own, which a test may kill: forks of the process that has
imported the package for all commands of the tests (forked_command.py).

    process = start_command(["run", "list_functions", ...], tmp_path / "said.txt")
    ... process.pid, process.join(), process.exitcode
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from peirce.tests.cli.forked_command import receive_exit_code, request_command, server


class ForkedCommand:
    """A command that runs. It is killed if the process of the tests ends.

    pid: of the process that runs the command. exitcode: as of a process of multiprocessing; None as long
    as `join` has not seen its end.
    """

    def __init__(self, words: Sequence[str], output: Path) -> None:
        self.exitcode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        with open(os.devnull, "rb") as stdin, output.open("ab") as written:
            streams = [stdin.fileno(), written.fileno(), written.fileno()]
            self.pid = request_command(self._connection, server(), ["peirce", *words], streams)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the command has ended, at most so many seconds."""
        if self.exitcode is None:
            self._connection.settimeout(timeout_s)
            try:
                self.exitcode = receive_exit_code(self._connection)
            except TimeoutError:
                return
            self._connection.close()

    def is_alive(self) -> bool:
        if self.exitcode is None and select.select([self._connection], [], [], 0)[0]:
            self.join()
        return self.exitcode is None

    def kill(self) -> None:
        """Kill the command, if it has not ended."""
        if self.is_alive():
            os.kill(self.pid, signal.SIGKILL)


def start_command(words: Sequence[str], output: Path) -> ForkedCommand:
    """Start `peirce WORDS` and return its process.

    Args:
        words: The command line, without `peirce`.
        output: The file to which everything is added that the command writes.
    """
    return ForkedCommand(words, output)
