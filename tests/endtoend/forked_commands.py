"""Commands of Peirce in processes of their own, which a test may kill: forks of the process that has
imported the package for all commands of the tests (forked_command.py).

    process = start_command(["run", "list_functions", ...], tmp_path / "said.txt")
    ... process.pid, process.join(), process.exitcode
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
import forked_command


class ForkedCommand:
    """A command that runs. It is killed if the process of the tests ends.

    pid: of the process that runs the command. exitcode: as of a process of multiprocessing; None as long
    as `join` has not seen its end.
    """

    def __init__(self, words: Sequence[str], output: Path) -> None:
        self.exitcode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(forked_command._server())
        request = json.dumps(
            {"words": ["peirce", *words], "cwd": os.getcwd(), "environment": dict(os.environ)}
        ).encode()
        with open(os.devnull, "rb") as stdin, output.open("ab") as written:
            streams = [stdin.fileno(), written.fileno(), written.fileno()]
            socket.send_fds(self._connection, [len(request).to_bytes(4, "big")], streams)
        self._connection.sendall(request)
        self.pid = int.from_bytes(forked_command._received(self._connection, 4), "big")

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the command has ended, at most so many seconds."""
        if self.exitcode is None:
            self._connection.settimeout(timeout_s)
            try:
                status = forked_command._received(self._connection, 4)
            except TimeoutError:
                return
            self.exitcode = os.waitstatus_to_exitcode(int.from_bytes(status, "big"))
            self._connection.close()

    def is_alive(self) -> bool:
        return self.exitcode is None

    def kill(self) -> None:
        """Kill the command, if `join` has not seen its end."""
        if self.is_alive():
            os.kill(self.pid, signal.SIGKILL)


def forked_words(*words: str) -> list[str]:
    """Return a command that runs `peirce WORDS` in a fork, with its own streams."""
    ask = [sys.executable, "-IS", forked_command.SCRIPT, "ask", forked_command._server()]
    return [*ask, "peirce", *words]


def start_command(words: Sequence[str], output: Path) -> ForkedCommand:
    """Start `peirce WORDS` and return its process.

    Args:
        words: The command line, without `peirce`.
        output: The file to which everything is added that the command writes.
    """
    return ForkedCommand(words, output)
