"""Runs commands in processes forked from one that has imported the package already.

A command that is started by `python -m peirce` spends most of its CPU time on imports. Here one server
process imports them once, and each command is a fork of it, with its own arguments, working directory,
environment, umask and streams; so are the workers that it starts. Not for tests about what is imported,
about signals that come before the command has begun, or about variables that are read at import.

    run_command(["tasks", "list"], cwd=folder)       # -> subprocess.CompletedProcess[str]
    run_script("page.py", cwd=folder)                # a script of Python, in the same way
    write_program(folder / "peirce")                 # an executable that does so, for a shell
    command_line(["mcp"])                            # the command line of such a process
    worker_command(module)                           # the command line of a worker, which is forked, too

The server ends with the process that started it.
"""

from __future__ import annotations

import functools
import json
import os
import select
import shlex
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

SCRIPT = os.path.abspath(__file__)
HEAVY = {"torch", "transformers", "peft", "trl", "datasets", "matplotlib", "sklearn"}
APART = (
    "tests",
    "bench",
    "build",
    "docs",
    "examples",
)  # folders of the repository without commands
THIRD = (  # what commands import late, of other packages
    "duckdb", "httpx2", "jinja2", "langchain_core.tools", "langchain_openai", "langgraph.graph",
    "numpy", "openai", "rich.console", "rich.table", "typer", "yaml", "z3",
)  # fmt: skip
OF_WORKERS = ("scipy.optimize", "sklearn.linear_model")
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


# --- what tests call --------------------------------------------------------------------------


def run_command(
    arguments: Sequence[str],
    *,
    cwd: str | Path,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run `peirce ARGUMENTS` and return its exit code, stdout and stderr."""
    return _run("peirce", arguments, cwd, env, options)


def run_script(
    script: str, *, cwd: str | Path, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a script of Python, whose path is relative to `cwd`, as `__main__`."""
    return _run("python", [script], cwd, env, options)


def command_line(arguments: Sequence[str] = (), program: str = "peirce") -> list[str]:
    """Return a command that runs `peirce ARGUMENTS`, or `python ARGUMENTS`. It passes signals on and ends
    as the fork ends; if it is killed, so is the fork, a moment later."""
    return [sys.executable, "-IS", SCRIPT, "ask", server(), program, *arguments]


def write_program(path: Path) -> None:
    """Write an executable that takes the arguments of `peirce`."""
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command_line())} "$@"\n')
    path.chmod(0o755)


def worker_command(module: str, server_path: str = "") -> tuple[str, ...]:
    """Return a command that runs a module of the package as `python -m` would. If the process of this
    command is killed, so is the fork. server_path: its socket; that of `server` if it is empty."""
    return (sys.executable, "-IS", SCRIPT, "ask", server_path or server(), "module", module)


def _run(
    program: str,
    arguments: Sequence[str],
    cwd: str | Path,
    env: Mapping[str, str] | None,
    options: Mapping[str, Any],
) -> subprocess.CompletedProcess[str]:
    import subprocess

    given = {"capture_output": True, "text": True, "timeout": 600, **options}
    return subprocess.run(command_line(arguments, program), cwd=cwd, env=env, **given)


@functools.cache
def server() -> str:
    """Start a server, once for this process, and return the path of its socket."""
    import atexit
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp(prefix="peirce-commands-")
    path = f"{folder}/socket"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PEIRCE"))}
    process = subprocess.Popen(
        [sys.executable, SCRIPT, "serve", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**clean, "OMP_NUM_THREADS": "1"}, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    def stop() -> None:
        process.stdin.close()
        process.wait()
        os.rmdir(folder)

    atexit.register(stop)
    return path


# --- the process that asks --------------------------------------------------------------------


def ask(path: str, words: list[str]) -> int:
    """Have the server run a command with the streams of this process; return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        pid = request_command(connection, path, words, [0, 1, 2])
        for one in FORWARDED:
            signal.signal(one, lambda number, _: os.kill(pid, number))
        code = receive_exit_code(connection)
    if code < 0:  # end by the same signal
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def request_command(
    connection: socket.socket, path: str, words: Sequence[str], streams: Sequence[int]
) -> int:
    """Have the server run a command with the environment, working directory and umask of this process.

    Args:
        connection: A new socket of the family AF_UNIX.
        path: The socket of the server.
        words: "peirce", "python" or "module", and the arguments.
        streams: Descriptors of the command's stdin, stdout and stderr.

    Returns:
        The id of the process that runs the command.
    """
    connection.connect(path)
    umask = os.umask(0o077)  # which can only be read by setting it
    os.umask(umask)
    request = {
        "words": words, "cwd": os.getcwd(), "environment": dict(os.environ), "umask": umask,
    }  # fmt: skip
    whole = json.dumps(request).encode()
    socket.send_fds(connection, [len(whole).to_bytes(4, "big")], streams)
    connection.sendall(whole)
    return int.from_bytes(_received(connection, 4), "big")


def receive_exit_code(connection: socket.socket) -> int:
    """Wait for the end of the command; return its exit code, or the negative number of the signal."""
    return os.waitstatus_to_exitcode(int.from_bytes(_received(connection, 4), "big"))


def _received(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise EOFError("the server of commands has ended")
        found += part
    return found


# --- the server -------------------------------------------------------------------------------


def import_all() -> None:
    """Import the package and what its commands import late, but for modules that need `HEAVY` ones."""
    import contextlib
    import importlib
    import pkgutil

    import peirce

    def names(folders: list[str], prefix: str) -> Any:
        for found in pkgutil.iter_modules(folders, prefix):
            word = found.name.removeprefix("peirce.")
            if word not in APART and not word.startswith("__"):
                yield found.name
                if found.ispkg:
                    (place,) = {f"{folder}/{found.name.rpartition('.')[2]}" for folder in folders}
                    yield from names([place], f"{found.name}.")

    class Light:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            if name.partition(".")[0] in HEAVY:
                raise ImportError(name)

    sys.meta_path.insert(0, Light())
    for name in (*THIRD, *names(list(peirce.__path__), "peirce.")):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    del sys.meta_path[0]
    if os.path.isdir("/proc/self/task"):  # a process with threads must not fork
        assert len(os.listdir("/proc/self/task")) == 1


def serve(path: str) -> dict[str, Any] | None:
    """Return in a forked child the request that it shall run, and None when the tests have ended."""
    import gc
    import importlib

    import_all()
    for name in (*OF_WORKERS, "peirce.tests.forked_workers"):
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listening, 0], [], [])
            if 0 in ready:
                os.unlink(path)
                return None
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                return {**_watched(connection), "server": path}
            connection.close()
            while _reaped():
                pass


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def _watched(connection: socket.socket) -> dict[str, Any]:
    """Fork once more: the child returns the request, its parent reports how the child ended."""
    head, streams, *_ = socket.recv_fds(connection, 4, 3)
    request: dict[str, Any] = json.loads(_received(connection, int.from_bytes(head, "big")))
    pid = os.fork()
    if pid == 0:
        connection.close()
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        return request
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    connection.sendall(pid.to_bytes(4, "big"))
    asks = True
    if hasattr(os, "pidfd_open"):  # on Linux
        ended = os.pidfd_open(pid)
        asks = ended in select.select([connection, ended], [], [])[0]
        if not asks:  # the process that asks was killed
            os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if asks:
        connection.sendall(status.to_bytes(4, "big"))
    os._exit(0)


def run_request(request: Mapping[str, Any]) -> None:
    """Be the command: what `python -m peirce` or `python SCRIPT` would be in a new process."""
    import runpy

    os.chdir(request["cwd"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if added := [one for one in paths if one and one not in sys.path]:
        from peirce.records import registry

        sys.path[1:1] = added
        registry.components.cache_clear()  # what packages in these folders provide is not in it
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
    program, *arguments = request["words"]
    from peirce.tests import forked_workers

    forked_workers.fork_workers_from(request["server"])
    if program == "peirce":
        sys.path[0], sys.argv = os.getcwd(), ["peirce", *arguments]
        runpy.run_module("peirce", run_name="__main__", alter_sys=True)
    elif program == "module":
        (module,) = sys.argv = arguments
        sys.modules.pop(module, None)  # as `python -m`, which runs it as `__main__` alone
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.path[0], sys.argv = os.path.dirname(os.path.abspath(arguments[0])), list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")


def exit_code_of(request: Mapping[str, Any]) -> int:
    """Run a request and return the exit code that a new process would end with."""
    try:
        run_request(request)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            return 1
        return ended.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    import atexit
    import threading

    mode, path, *words = sys.argv[1:]
    if mode == "ask":
        raise SystemExit(ask(path, words))
    request = serve(path)
    code = 0 if request is None else exit_code_of(request)
    # As at the end of any process, but without freeing every module: that takes time, and frozen
    # objects would be reported as leaks.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)


if __name__ == "__main__":
    main()
