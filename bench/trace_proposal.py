"""Count the package files that one proposal executes, in all its processes.

    python bench/trace_proposal.py [--tree DIR] [--python FILE] [--files] [--json FILE]

It starts a session as a user does (one generated problem of list functions, one answer of the embedded
search with a small budget, an empty cache, the sandbox `process`) with the `peirce` of DIR/.venv, by
default of the working tree that holds this script, or of the Python that --python names. In every
process of the session (the command, the search worker, the sandbox's zygote, its stages and children)
bench/tracer records the package files of which

- the module level ran (imported), or
- at least one function ran outside any import (called). A function that only runs while a module is
  imported, a class body and the code that `dataclass` generates do not count.

The table gives both by room; `agents/search` and `sandbox/inside` are rooms of their own, and a line
below gives the totals without them. "Called" is the measure with an aim: below 40 files.

What it cannot see: programs that are not Python, containers (only the backend `process` is traced) and
Python started by other ways than subprocess, multiprocessing and fork; those that subprocess starts are
named below the table. Threads that C code starts are not seen either. Files that
are read but not executed, such as templates, do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from table import Row, add_json_option, format_table, write_rows

HERE = Path(__file__).resolve().parent
TRACER = HERE / "tracer"
SEARCH = ("agents/search", "search")
APART = (*SEARCH, "sandbox/inside")
LIMIT = 40
COMMAND = (
    "run", "list_functions", "--problems", "1", "--observations", "4", "--max-answers", "1",
    "--model", "search", "--budget-expansions", "20000",
)  # fmt: skip
FIND_PACKAGE = "import peirce; print(peirce.__path__[0])"


@dataclass
class Trace:
    """What the processes of one command executed: files relative to the package. imported_first: by
    the process that the user started."""

    imported: set[str] = field(default_factory=set)
    imported_first: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    processes: list[str] = field(default_factory=list)  # command lines; not what they fork
    not_traced: list[str] = field(default_factory=list)


def read_log(lines: Iterable[str]) -> Trace:
    """Return what the log of bench/tracer says."""
    found, first = Trace(), ""
    for line in lines:
        pid, kind, what = line.rstrip("\n").split("\t", 2)
        if kind == "started":
            first = first or pid
            found.processes.append(what)
        elif kind == "not traced":
            found.not_traced.append(what)
        else:
            (found.imported if kind == "imported" else found.called).add(what)
            if kind == "imported" and pid == first:
                found.imported_first.add(what)
    return found


def room_of(file: str) -> str:
    """Return the folder that a file belongs to, as the table names it."""
    own = next((room for room in APART if file.startswith(f"{room}/")), None)
    return own or (file.partition("/")[0] if "/" in file else "top level")


def is_apart(file: str) -> bool:
    return room_of(file) in APART


def trace_session(python: Path) -> tuple[Trace, list[str], Path]:
    """Run the session with this Python's `peirce`.

    Returns:
        What was executed, the command, and the folder of the package.

    Raises:
        SystemExit: The session failed, or answered nothing.
    """
    with tempfile.TemporaryDirectory(prefix="trace-") as name:
        folder = Path(name)
        found = subprocess.run(
            [python, "-P", "-c", FIND_PACKAGE], cwd=folder, capture_output=True, text=True
        )
        if found.returncode:
            raise SystemExit(f"{python} does not import peirce:\n{found.stderr}")
        package, log = Path(found.stdout.strip()), folder / "log"
        log.touch()
        script = python.parent / "peirce"
        command = [str(script), *COMMAND, "--store", "trace.duckdb"]
        environment = {
            **os.environ, "PYTHONPATH": str(TRACER), "TRACE_OF_PEIRCE": f"{log}:{package}",
            "XDG_CACHE_HOME": str(folder / "cache"), "NO_COLOR": "1",
        }  # fmt: skip
        done = subprocess.run(
            command, cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode or count_accepted(script, folder) != 1:
            raise SystemExit(f"The traced session has no accepted answer:\n{done.stdout}")
        return read_log(log.read_text().splitlines()), ["peirce", *command[1:]], package


def count_accepted(peirce: Path, folder: Path) -> int:
    """Return how many accepted answers the session in the folder's store has, not traced."""
    command = [peirce, "show", "last", "--store", "trace.duckdb", "--json"]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return sum(problem["verdicts"]["accepted"] for problem in json.loads(shown.stdout))


def count_lines(package: Path, files: Iterable[str]) -> int:
    return sum(len((package / file).read_bytes().splitlines()) for file in files)


def room_table(trace: Trace) -> str:
    """Return the counts by room, and without the rooms that the aim leaves out."""
    rooms = sorted({room_of(file) for file in trace.imported | trace.called})

    def counts(files: set[str]) -> list[int]:
        own = [sum(room_of(file) == room for file in files) for room in rooms]
        return [*own, len(files), sum(not is_apart(file) for file in files)]

    names = [*rooms, "all", "all but search and sandbox/inside"]
    body = zip(names, map(str, counts(trace.imported)), map(str, counts(trace.called)), strict=True)
    return format_table(("room", "imported", "called"), list(body))


def rows_of(trace: Trace) -> list[Row]:
    outside = [{f for f in files if not is_apart(f)} for files in (trace.imported, trace.called)]
    where = "outside search and sandbox/inside"
    return [
        Row("modules imported for one proposal", len(trace.imported), "files"),
        Row(
            "modules imported for one proposal by the first process",
            len(trace.imported_first),
            "files",
        ),
        Row("files called for one proposal", len(trace.called), "files"),
        Row(f"modules imported for one proposal {where}", len(outside[0]), "files"),
        Row(f"files called for one proposal {where}", len(outside[1]), "files", limit=LIMIT - 1),
    ]


def program_of(command_line: str) -> str:
    """Return the module or the name of the script that a command line runs."""
    module = re.search(r" -m (\S+)", command_line)
    scripts = re.findall(r"\S+\.py\b", command_line)
    name = scripts[-1] if scripts else [*command_line.split(), ""][1]
    return module[1] if module else Path(name).name


def show(trace: Trace, command: Sequence[str], package: Path, files: bool) -> None:
    print(" ".join(command))
    programs = ", ".join(dict.fromkeys(map(program_of, trace.processes)))
    print(f"processes, each with what it forks: {programs}")
    print(room_table(trace))
    lines = [count_lines(package, some) for some in (trace.imported, trace.called)]
    print(f"lines of these files: {lines[0]:,} imported, {lines[1]:,} called")
    print(f"modules imported by the first process alone: {len(trace.imported_first)}")
    for program in trace.not_traced:
        print(f"not traced: {program}")
    if files:
        for file in sorted(trace.imported | trace.called):
            print(f"  {'called  ' if file in trace.called else 'imported'}  {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, default=HERE.parent, metavar="DIR")
    parser.add_argument("--python", type=Path, metavar="FILE", help="else DIR/.venv/bin/python")
    parser.add_argument("--files", action="store_true", help="name every file")
    add_json_option(parser)
    options = parser.parse_args()
    python = options.python or options.tree / ".venv" / "bin" / "python"
    if not (python.parent / "peirce").is_file():
        sys.exit(f"There is no peirce beside {python}: install the working tree into a .venv.")
    trace, command, package = trace_session(python.absolute())
    show(trace, command, package, options.files)
    write_rows(
        options.json, rows_of(trace), command=command, imported=sorted(trace.imported),
        called=sorted(trace.called), not_traced=trace.not_traced,
    )  # fmt: skip


if __name__ == "__main__":
    main()
