"""`peirce mcp` before it serves: options, the missing extra, and what other commands import of it.

Internals: only a part of the server's start is run, with a folder of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from peirce.tests.cli.forked_command import run_command, run_script

SERVERS = ("mcp", "mcp_types", "starlette", "uvicorn", "sse_starlette")


def run(*arguments: str, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--root", "none"], "--root none: there is no such folder"),
        (["--root", __file__], "this is not a folder"),
        (["--port", "80"], "--port has no effect without --http"),
        (["--token-file", "x"], "--token-file has no effect without --http"),
        (["--http", "--token-file", "none"], "none: the token cannot be read"),
        (["--time-limit", "0"], "Invalid value for '--time-limit'"),
        (["--sandbox", "none"], "sandbox"),
    ],
)
def test_options_that_cannot_be_used_give_one_sentence(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    ended = run_command(["mcp", *arguments], cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert ended.returncode == 2 and said in ended.stderr, ended.stderr
    assert len(ended.stderr.splitlines()) == 1 and ended.stdout == ""


def test_without_the_extra_one_sentence_says_how_to_install_it() -> None:
    code = "import sys; sys.modules['mcp'] = None; from peirce.cli import main; main(['mcp'])"
    ended = run(code=code)
    assert ended.returncode == 2
    assert (
        ended.stderr
        == "peirce: the MCP server needs the package mcp: run pip install 'peirce[mcp]'\n"
    )


@pytest.mark.parametrize(
    "code",
    [
        "import peirce; peirce.run; peirce.execute",
        "from peirce.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from peirce.cli import main\ntry: main(['mcp', '--help'])\nexcept SystemExit: pass",
        "import peirce.adapters.mcp_server",
    ],
)
def test_nothing_of_the_server_is_imported_before_it_is_started(code: str) -> None:
    ended = run(
        code=f"{code}\nimport sys; print('IMPORTED', *(set({SERVERS!r}) & sys.modules.keys()))"
    )
    assert ended.stdout.splitlines()[-1] == "IMPORTED", ended.stdout + ended.stderr


def test_a_module_below_the_root_is_not_imported(tmp_path: Path) -> None:
    """The server's lazy imports come after it has made the root its working folder."""
    (tmp_path / "z3.py").write_text("open('imported', 'w').close()\n")
    code = (
        "import sys, peirce\n"
        "from peirce.adapters.mcp_server import serving, settings\n"
        "root = settings.ServerSettings.check_root(sys.argv[1])\n"
        "sys.path.insert(0, ''); sys.path.insert(0, str(root))\n"
        "serving.prepare_process(settings.ServerSettings(root, root / 's.duckdb'))\n"
        "import z3; print(z3.__file__)"
    )
    ended = run(str(tmp_path), code=code)
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "imported").exists()


def test_a_file_in_the_folder_of_the_project_decides_nothing(tmp_path: Path) -> None:
    """The project may be somebody else's, and the server is started in its folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "peirce.toml").write_text(
        'allow_task_files = true\nmodel = "http://127.0.0.1:9/v1#x"\nroot = "/"\nsandbox = "docker"\n'
    )
    (tmp_path / "start.py").write_text(
        "import peirce.adapters.mcp_server.serving as s; s.serve_stdio = print\n"
        "from peirce.cli import main; main(['mcp'])\n"
    )
    usual = {name: one for name, one in os.environ.items() if not name.startswith("PEIRCE_")}

    def settings(**variables: str) -> str:
        ended = run_script("../start.py", cwd=folder, env={**usual, **variables})
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert f"root={folder.resolve()!r}" in settings()
    assert "models=(), task_files=False, sandbox='process'" in settings()
    named = settings(PEIRCE_CONFIG=str(folder / "peirce.toml"))
    assert "task_files=True, sandbox='docker'" in named
    (folder / "peirce.toml").write_text("no toml")
    assert "task_files=False" in settings(PEIRCE_SEED="3")
