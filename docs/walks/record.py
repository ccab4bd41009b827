"""The transcripts of this folder, from their own commands.

    python docs/walks/record.py                 # runs every walk and writes what is printed now
    python docs/walks/record.py pairs           # one walk
    python docs/walks/record.py --check         # writes nothing; says what differs, exit 1

A walk is a page, NAME.md. Its files are those of the folder NAME beside it and the fences with a name
(```csv pairs.csv); both are put into an empty folder. There the lines `$ …` of its ```console fences
run one after the other as in a shell, and what they print on either stream is written below them, an
exit code that is not 0 as `[exit N]`. `session2` in a command is the second session. `export NAME=VALUE` holds for the commands after it; a command
that ends in `&` goes on beside them until the walk ends. All else of the page is prose and stays.

Nothing of the machine gets in: home, configuration and cache are the folder's, of the environment the
search path alone is left, and what no two runs have alike is replaced (`RULES`). Port 8000 of a page is
a free port when it runs.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
WALKS = sorted(page.stem for page in HERE.glob("*.md") if page.stem != "README")
COLUMNS = 100  # of help; tables are 120 wide where no terminal is
LIMIT_S = 300  # of one command
PORT = "8000"
NAMED = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.S | re.M)
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.S | re.M)
SESSION = re.compile(r"(?:^session +|, session )([a-z0-9]{8})\b", re.M)

# What differs from run to run, and what stands for it; "…" for the rest of a line.
RULES = (
    (r"^(?:\[\d+/\d+\]|Opening data|Scoring what) .*\n", ""),  # progress: how much depends on time
    (r"^[A-Z].*; (?:\d+ s|[\d:]+)\n", ""),  # a step that goes on, said every ten seconds
    (r"^(time +|digest +|sandbox +|sha256 +|calls +(?=.* added up over )).*", r"\1…"),
    # the seconds for each result, in a line on costs
    (r"( and |; )(?:under )?(?:\d+(?:\.\d)? s|\d+:\d\d(?::\d\d)?)(?= for | in total| \()", r"\1…"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-01-01 12:00:00"),
    (r"\d+\.\d MB", "0.1 MB"),
    (r"(reached for) \d+ s", r"\1 2 s"),
    (r"[ \t]+$", ""),
)


@dataclass
class Walk:
    """One run of a page. sessions: the ids seen so far, in order: session1 stands for the first."""

    name: str
    folder: Path
    port: str
    environment: dict[str, str]
    sessions: list[str] = field(default_factory=list)
    beside: list[subprocess.Popen[str]] = field(default_factory=list)

    def fence(self, content: str) -> str:
        """The commands of a fence with what they print now."""
        lines = [line for line in content.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self.printed(line.removeprefix('$ '))}" for line in lines)

    def printed(self, command: str) -> str:
        command = command.replace(PORT, self.port)
        for number, session in enumerate(self.sessions, 1):
            command = re.sub(rf"\bsession{number}\b", session, command)
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.environment[name] = shlex.split(value)[0]
            return ""
        if command.endswith("&"):
            return self.stable(self.started(command.removesuffix("&")))
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S,
        )  # fmt: skip
        ended = f"[exit {done.returncode}]\n" if done.returncode else ""
        return self.stable(done.stdout) + ended

    def started(self, command: str) -> str:
        """The first line of a command that goes on."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.beside.append(process)
        assert process.stdout is not None
        return process.stdout.readline()

    def stable(self, text: str) -> str:
        """What was printed, without what differs from run to run."""
        for found in SESSION.findall(text):
            if found not in self.sessions:
                self.sessions.append(found)
        for number, session in enumerate(self.sessions, 1):
            text = text.replace(session, f"session{number}")
        text = text.replace(str(self.folder), "/home/you").replace(self.port, PORT)
        for pattern, word in RULES:
            text = re.sub(pattern, word, text, flags=re.M)
        return text if text.endswith("\n") or not text else text + "\n"


def recorded(name: str) -> str:
    """The page of a walk with what its commands print now."""
    page = (HERE / f"{name}.md").read_text("utf-8")
    with walking(name) as walk:
        for file, content in NAMED.findall(page):
            (walk.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (walk.folder / file).write_text(content, "utf-8")
        return CONSOLE.sub(lambda fence: walk.fence(fence[0]), page)


@contextlib.contextmanager
def walking(name: str) -> Iterator[Walk]:
    with tempfile.TemporaryDirectory(prefix="walk-") as made:
        folder, home = Path(made, "folder"), Path(made, "home")
        if (HERE / name).is_dir():
            shutil.copytree(HERE / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        folder.mkdir(exist_ok=True)
        home.mkdir()
        walk = Walk(name, folder, free_port(), environment(home))
        try:
            yield walk
        finally:
            for process in walk.beside:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.communicate()


def environment(home: Path) -> dict[str, str]:
    """`peirce` and `python` are those that run this script."""
    programs = home / "bin"
    programs.mkdir()
    for name, words in (("peirce", "-m peirce "), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n')
        (programs / name).chmod(0o755)
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "TMPDIR") if name in os.environ}
    path = f"{programs}:{os.environ.get('PATH', os.defpath)}"
    own = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    return {
        **kept, **own, "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1",
        "COLUMNS": str(COLUMNS), "OMP_NUM_THREADS": "1",
    }  # fmt: skip


def free_port() -> str:
    """Of four digits, as the page's: tables keep their widths."""
    for port in range(8001, 10_000):
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return str(port)
    raise OSError("no port is free between 8001 and 9999")


def differences(name: str) -> list[str]:
    """Lines of a unified diff between a page and what its commands print now; [] where they agree."""
    page = (HERE / f"{name}.md").read_text("utf-8")
    return list(
        difflib.unified_diff(
            page.splitlines(), recorded(name).splitlines(), f"{name}.md", "printed now", lineterm=""
        )
    )


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("walks", nargs="*", metavar="NAME", help=f"{', '.join(WALKS)} (all)")
    options.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where one differs"
    )
    given = options.parse_args()
    if unknown := [name for name in given.walks if name not in WALKS]:
        options.error(f"no walk {unknown[0]!r}; there are {', '.join(WALKS)}")
    differ = False
    for name in given.walks or WALKS:
        if given.check:
            found = differences(name)
            print("\n".join(found) or f"{name}: as it stands")
            differ = differ or bool(found)
        else:
            (HERE / f"{name}.md").write_text(recorded(name), "utf-8")
            print(f"{name}: written")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
