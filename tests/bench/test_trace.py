"""bench/trace_proposal.py and its tracer: what counts as imported and as called, in which processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FILES = {
    "main.py": (
        "import subprocess, sys, threading\nimport only_imported, starts_work, threaded\n"
        "thread = threading.Thread(target=threaded.work)\nthread.start()\nthread.join()\n"
        "def main():\n"
        "    subprocess.run([sys.executable, '-s', '-S', '-P', 'bare.py'], env={})\n"
        "    subprocess.run(['true'])\n"
        "main()\n"
    ),
    "only_imported.py": "class Named:\n    word = 'x'\n\ndef unused():\n    pass\n",
    "starts_work.py": "def table():\n    return {}\n\nTABLE = table()\n",
    "threaded.py": "def work():\n    pass\n",
    # It closes what it inherited, forks, and leaves without any handler.
    "bare.py": (
        "import os, sys\nsys.path.insert(0, os.getcwd())\nimport forked\n"
        "os.closerange(3, 4096)\npid = os.fork()\n"
        "if pid == 0:\n    forked.work()\n    os._exit(0)\nos.waitpid(pid, 0)\nos._exit(0)\n"
    ),
    "forked.py": "def work():\n    pass\n",
}  # fmt: skip


def trace(tmp_path: Path, bench: Path):
    from trace_proposal import read_log

    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    log = tmp_path / "log"
    environment = {
        **os.environ, "PYTHONPATH": str(bench / "tracer"), "TRACE_OF_PEIRCE": f"{log}:{tmp_path}",
    }  # fmt: skip
    subprocess.run([sys.executable, "main.py"], cwd=tmp_path, env=environment, check=True)
    return read_log(log.read_text().splitlines())


def test_a_file_is_called_when_a_function_runs_outside_imports(tmp_path: Path, bench: Path) -> None:
    found = trace(tmp_path, bench)
    assert "main.py" in found.called and "threaded.py" in found.called
    assert found.imported >= {"only_imported.py", "starts_work.py"}
    assert not found.called & {"only_imported.py", "starts_work.py"}


def test_processes_without_site_and_their_forks_are_seen(tmp_path: Path, bench: Path) -> None:
    found = trace(tmp_path, bench)
    assert "bare.py" in found.imported and "forked.py" in found.called
    assert "bare.py" not in found.imported_first and "only_imported.py" in found.imported_first
    assert found.not_traced == ["true"]


def test_rooms_that_the_aim_leaves_out_are_counted_apart() -> None:
    from trace_proposal import Trace, room_of, rows_of

    files = {"agents/search/lists/bank.py", "search/lists/bank.py", "sandbox/inside/walk.py",
             "sandbox/supervisor/pool.py", "__main__.py", "agents/prompts/protocol.py"}  # fmt: skip
    rooms = ["agents/search", "search", "sandbox/inside", "sandbox", "top level", "agents"]
    assert sorted(map(room_of, files)) == sorted(rooms)
    now = {row.work: row.now for row in rows_of(Trace(files, files, files))}
    assert now["files called for one proposal outside search and sandbox/inside"] == 3
