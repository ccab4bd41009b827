"""`langgraph`, with the processes of sessions forked (tests/cli/forked_command.py): most of the time of a
short session is that of its imports.

    SESSION_COMMAND='["...", ...]' python forked_sessions.py dev ...

Internals: the module that starts these processes gets another `subprocess`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from langgraph_cli.cli import cli
from peirce.adapters.studio import session_process


def start(command: Any, **options: Any) -> subprocess.Popen[bytes]:
    assert command[-1] == session_process.__name__
    return subprocess.Popen(FORKED, **options)


if __name__ == "__main__":
    del sys.path[0]  # this folder
    FORKED = json.loads(os.environ["SESSION_COMMAND"])
    known = {name: getattr(subprocess, name) for name in ("PIPE", "TimeoutExpired")}
    session_process.subprocess = SimpleNamespace(Popen=start, **known)
    cli(prog_name="langgraph")
