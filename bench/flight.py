"""The memory of many problems in flight: `python bench/flight.py [--flights 1 100 1000]
[--problems 2000]`.

A session at each concurrency, in a process of its own: real HTTP to an endpoint (another process)
that takes 3 seconds, the real sandbox (its children are not counted either), a store on disk, the
sample space of 14,101 lists, two answers a problem. Printed, in MB of resident memory: before the
session; at the most; for each problem in flight; and, for the last, when a quarter, a half, three
quarters and all of its problems had ended, which shows whether memory grows with what is done. Of
it DuckDB holds what stands beside: rows that no checkpoint has written to their place yet, and
blocks it has read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from endpoint import served
from peirce.agents import open_model
from peirce.graphs.runtime.runner import run_session
from peirce.records import Observation, OracleSettings, Problem
from peirce.store import Store
from peirce.tasks.programs.list_functions import sample_space
from peirce.tools.execute import EXECUTE
from table import Row, add_json_option, write_rows

MB = 2**20


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / MB


class Watch:
    """Listens to a session's events. levels: resident MB and DuckDB's part of it, by the number of
    ended problems."""

    def __init__(self, store: Store, problems: int) -> None:
        self._store, self._problems = store, problems
        self.ended = self.together = 0
        self.most = resident_mb()
        self.levels: dict[str, tuple[float, float]] = {}

    def __call__(self, event: Any) -> None:
        if event["type"] == "call":
            self.most = max(self.most, resident_mb())
            self.together = max(self.together, event["usage"]["tokens_out"])
        if event["type"] == "problem_ended":
            self.ended += 1
            if self.ended % max(1, self._problems // 4) == 0:
                self.levels[str(self.ended)] = (resident_mb(), self._duckdb_mb())

    def _duckdb_mb(self) -> float:
        (row,) = self._store.query("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")
        return float(row[0]) / MB


async def session(model: str, problems: int, flight: int) -> dict[str, Any]:
    proposer = await open_model(model, {})
    sandbox = await EXECUTE.open(OracleSettings(workers=2))
    settings = {"task": "list-functions", "method": "abduce", "model": "m", "seed": 0,
                "max_answers": 2, "model_settings": proposer.settings()}  # fmt: skip
    lists = sample_space(0)
    shown = [tuple(Observation([n, i], [n, i]) for i in range(8)) for n in range(problems)]
    pairs = [(Problem(str(n), "t", "programs", shown[n]), lists) for n in range(problems)]
    try:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s.duckdb", write=True) as store:  # fmt: skip
            made = store.create_session(settings, pairs)
            before, watch = resident_mb(), Watch(store, problems)
            await run_session(store, made, proposer=proposer, oracle=sandbox,
                              concurrency=flight, on_event=watch)  # fmt: skip
            return {"before": before, "most": watch.most, "levels": watch.levels, "together": watch.together}  # fmt: skip
    finally:
        await sandbox.close()
        await proposer.close()


def measured(problems: int, flight: int) -> dict[str, Any]:
    """In a process of its own: what one session left would count for the next."""
    command = [sys.executable, __file__, "--one", str(problems), str(flight)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--flights", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--problems", type=int, default=2000, help="of the last one")
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    add_json_option(parser)
    given = parser.parse_args()
    if given.one:
        with served(3.0, 3.0) as model:
            print(json.dumps(asyncio.run(session(model, *given.one))))
        return
    rows = []
    print("in flight  problems  requests at once   before     most   a problem in flight (MB)")
    for flight in given.flights:
        problems = given.problems if flight == given.flights[-1] else 2 * flight
        found = measured(problems, flight)
        added = (found["most"] - found["before"]) / flight
        print(f"{flight:9d} {problems:9d} {found['together']:17d} {found['before']:8.0f} {found['most']:8.0f}   {added:.2f}")  # fmt: skip
        most = f"most resident memory, {problems} problems, {flight} in flight"
        rows.append(Row(most, found["most"], "MB", reference=found["before"],
                        compared_with="before the session"))  # fmt: skip
    for ended, (level, duckdb) in found["levels"].items():
        print(f"{ended:>9s} ended: {level:.0f} MB resident, {duckdb:.0f} of them DuckDB's")
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
