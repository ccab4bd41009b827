"""What the benches of the search for exception rules share: the published instances, halves and
samples of them, and processes that each take a part.

Settings of the search were fixed on the first half: instances whose SHA-256 of the id begins with an
even byte. A sample takes the regimes in turn, within each in the order of that hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from peirce.records import Problem
from peirce.search.logic.engine import Problem as Searched
from peirce.search.logic.engine import prepare_space
from peirce.tasks import load_problems
from peirce.tools.logic.fast_path import REGIMES
from table import add_json_option, write_skipped

SHARED = Path(os.environ.get("PEIRCE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
HALVES = ("first", "second", "all")
SAMPLE = 12
ALL = "all"
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
Row = dict[str, Any]


def half_of(name: str) -> str:
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def regime_of(problem: Problem) -> str:
    return str(problem.public["theory"]["regime"])


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", default=str(SHARED / "data/abd"), help="file or folder")
    parser.add_argument(
        "--sample", default=str(SAMPLE), metavar="N|all", help=f"instances (default {SAMPLE})"
    )
    parser.add_argument("--half", choices=HALVES, default=ALL)
    parser.add_argument("--workers", type=int, default=1, help="processes; no result depends on it")
    parser.add_argument("--out", type=Path, metavar="DIR", help="CSV and figures")
    add_json_option(parser)
    parser.add_argument("--part", help=argparse.SUPPRESS)  # K/N: of such a process


def has_data(options: argparse.Namespace) -> bool:
    """Whether there is something at the usual place, or a place was named; else say so."""
    usual = options.data == str(SHARED / "data/abd") and not options.part
    if usual and not Path(options.data).exists():
        write_skipped(options.json, "no data/abd here: give --data or set PEIRCE_SHARED")
        return False
    return True


def chosen(options: argparse.Namespace) -> list[Problem]:
    """In the order of the file."""
    some = [one for one, _ in load_problems("abd", options.data)]
    if options.half != ALL:
        some = [one for one in some if half_of(one.id) == options.half]
    if options.sample == ALL:
        return some
    ranked = sorted(some, key=lambda one: hashlib.sha256(one.id.encode()).hexdigest())
    places = {name: iter(range(len(some))) for name in REGIMES}
    turns = {
        one.id: (next(places[regime_of(one)]), REGIMES.index(regime_of(one))) for one in ranked
    }
    kept = set(sorted(turns, key=turns.__getitem__)[: int(options.sample)])
    return [one for one in some if one.id in kept]


def searched(problem: Problem, expansions: float) -> Searched:
    """As `--model search` has it."""
    shown = [[one.input, one.output] for one in problem.shown]
    world = problem.shown[0].input
    space = prepare_space([[world, world["domain"][0]]])  # rules of one answer look at none
    return Searched(shown, space, expansions, problem.public)


def measured(
    options: argparse.Namespace, measure: Callable[[Sequence[Problem]], Iterator[Row]]
) -> list[Row]:
    """A row an instance, in the order of the file. The script runs itself once a worker, for one
    thread each, and such a process ends here, with its rows on stdout."""
    if options.part:
        place, count = map(int, options.part.split("/"))
        for row in measure(chosen(options)[place::count]):
            print(json.dumps(row), flush=True)
        sys.exit(0)
    parts = [_started(place, options.workers) for place in range(options.workers)]
    rows: dict[str, Row] = {}
    for process in parts:
        assert process.stdout is not None
        rows |= {row["id"]: row for row in map(json.loads, process.stdout)}
    if any(process.wait() for process in parts):
        sys.exit(1)  # it has said why on stderr
    return [rows[one.id] for one in chosen(options)]


def _started(place: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, *sys.argv, "--part", f"{place}/{count}"]
    environment = {**os.environ, **_ONE_THREAD}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """(half, regime, its rows), where there are any; `all` where it is of several."""
    halves = {name: [row for row in rows if half_of(row["id"]) == name] for name in HALVES[:2]}
    kept = [(name, some) for name, some in halves.items() if some]
    for half, some in [*kept, (ALL, list(rows))] if len(kept) > 1 else kept:
        for regime in (*REGIMES, ALL):
            part = [row for row in some if regime in (row["regime"], ALL)]
            if part:
                yield half, regime, part
