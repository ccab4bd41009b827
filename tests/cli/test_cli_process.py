"""The command line as a process: what it imports, interrupts, hangups, streams that are full or closed.

Hangups reach a child although whoever runs the tests ignores them (nohup).

Internals: a finder interrupts the import of one module of the command line by its name.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from peirce import cli, sessions
from scripted_run import RUN, SOURCE, command, put_files


@pytest.fixture
def folder(folder: Path) -> Path:
    put_files()
    return folder


def test_help_imports_nothing_heavy(folder):
    script = (
        "import sys\n"
        "from peirce import cli\n"
        "try:\n    cli.main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numpy', 'duckdb', 'langgraph', 'langchain_core', 'openai', 'z3', 'docker'}\n"
        "sys.exit(str(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "replay" in done.stdout


def test_a_reader_that_leaves_early_is_no_traceback(folder):
    line = json.dumps({"problem": "one", "hypothesis": SOURCE})
    Path("many.jsonl").write_text(f"{line}\n" * 2000)
    arguments = ["check", "examples", "--answers", "many.jsonl", "--data", "pairs.jsonl", "--json"]
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        json.loads(process.stdout.readline())
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(30) == 1


def test_interrupted_twice_leaves_at_once_and_leaves_no_process_behind(folder):
    arguments = ["run", "list_functions", "--problems", "4", "--workers", "2", "--json"]
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("calls"):
                break
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        start = time.monotonic()
        said = process.stderr.read()
        assert process.wait(30) == 130
        assert time.monotonic() - start < 30
        assert "peirce resume" in said and "Traceback" not in said
    assert _left(process.pid) == []


def _left(group: int) -> list[str]:
    """Living processes of a process group, after a moment to end in."""
    for _ in range(50):
        found = []
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, pgrp = entry.read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if pgrp == str(group) and state != "Z":
                found.append(entry.parent.name)
        if not found:
            return []
        time.sleep(0.1)
    return found


EARLY = """
import runpy, sys
stop_at = sys.argv[1]
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == stop_at:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
sys.argv[1:] = ["tasks", "list"]
runpy.run_module("peirce", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["typer", "peirce.cli", "peirce.cli.boundary", "peirce.config"])
def test_ctrl_c_while_the_command_line_is_loaded_is_no_traceback(folder, module):
    ended = subprocess.run([sys.executable, "-c", EARLY, module], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_the_installed_command_starts_where_an_early_ctrl_c_is_caught():
    import tomllib

    project = tomllib.loads((Path(cli.__file__).parents[1] / "pyproject.toml").read_text())[
        "project"
    ]
    assert project["scripts"] == {"peirce": "peirce.__main__:main"}


LONG = ["run", "list_functions", "--problems", "12", "--workers", "1", "--concurrency", "2",
        "--budget-expansions", "20000"]  # fmt: skip


def _hung_up(folder: Path) -> dict[str, object]:
    """What the store says of its one session, which can be resumed."""
    (session,) = sessions(store=folder / "peirce.duckdb")
    return session


def _hear_hangups() -> None:
    """In a child before it becomes the command: under nohup it would begin with hangups ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_hangup_drains_and_saves_however_often_it_comes(folder):
    with subprocess.Popen(
        command(*LONG, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=_hear_hangups,
    ) as process:  # fmt: skip
        assert process.stderr is not None and process.stdout is not None
        for line in process.stderr:
            if line.startswith("calls"):
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        said = process.stderr.read()
        told = json.loads(process.stdout.read())
        assert process.wait(60) == 130
    assert "peirce resume" in said and "Traceback" not in said and told["status"] == "interrupted"
    assert _hung_up(folder)["status"] == "interrupted"


def test_a_terminal_that_goes_drains_and_saves(folder):
    """The session leads a terminal of its own, which is closed under it: it can say nothing."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        _hear_hangups()
        os.execv(sys.executable, command(*LONG))
    said = b""
    while b"next problem" not in said and b"calls " not in said:
        said += os.read(terminal, 4096)
    time.sleep(1)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (1, 130)  # its results had nowhere to go
    assert _hung_up(folder)["status"] == "interrupted"


def test_nohup_is_respected(folder):
    with subprocess.Popen(
        command(*RUN, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    ) as process:  # fmt: skip
        assert process.stderr is not None and process.stdout is not None
        process.stderr.readline()
        process.send_signal(signal.SIGHUP)
        assert json.loads(process.stdout.read())["status"] == "done"
        assert process.wait(60) == 0


def test_stdout_that_is_full_or_closed_is_no_bug(folder):
    for sink, code, said in (
        (">/dev/full", 1, "peirce: No space left on device\n"),
        (">&-", 0, ""),
    ):
        command = f'"{sys.executable}" -m peirce tasks list {sink}'
        ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (code, said)


CLOSED = """
import os, runpy, peirce.cli
def main():
    null = os.stat(os.devnull).st_rdev
    os._exit(0 if all(os.fstat(number).st_rdev == null for number in (0, 1, 2)) else 3)
peirce.cli.main = main
runpy.run_module("peirce", run_name="__main__")
"""


def test_a_command_has_standard_descriptors_although_its_caller_closed_them(folder):
    line = ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", sys.executable, "-c", CLOSED]
    assert subprocess.run(line, check=False).returncode == 0
