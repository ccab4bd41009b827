"""What an agent's step costs beyond its model and its sandbox, and what many problems in flight
take: `python bench/agents.py [--problems 64] [--flight 1000]`.

An endpoint with made-up answers on the loopback, over real HTTP. First, problems side by side at
concurrency 32: a problem's time less the seconds of its model and tool calls, a step, as a
distribution. That is latency: it holds the turns of the 31 others on the one loop, and the server
and the sandbox share the machine's cores. Beside it stands the work: CPU time of the loop's thread
a step, HTTP client included. Then, memory: the resident size of this process while so many problems wait for a slow endpoint.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from peirce.agents import open_model
from peirce.graphs.runner import run_session
from peirce.records import InputSet, Observation, Problem
from peirce.sandbox import open_sandbox
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "agents"))
from faulty_server import FaultyServer

SPACE = InputSet("lists", tuple([n] * length for n in range(3) for length in range(4)))
SHOWN = (Observation([3], [3]), Observation([5, 1], [5, 1]))


async def session(server: FaultyServer, problems: int, concurrency: int, on_event: Any) -> int:
    """The number of steps of a session on so many problems."""
    proposer = await open_model(f"{server.url}#m", {})
    sandbox = await open_sandbox("process", workers=2)
    settings = {"task": "examples", "method": "abduce", "model": "m", "seed": 0,
                "max_answers": 3, "model_settings": proposer.settings()}  # fmt: skip
    pairs = [(Problem(str(n), "examples", "programs", SHOWN), SPACE) for n in range(problems)]
    try:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s.duckdb", write=True) as store:  # fmt: skip
            made = store.create_session(settings, pairs)
            await run_session(store, made, proposer=proposer, sandbox=sandbox,
                              concurrency=concurrency, on_event=on_event)  # fmt: skip
            return len(list(store.steps(made)))
    finally:
        await sandbox.close()
        await proposer.close()


def overheads_ms(problems: int) -> tuple[list[float], float]:
    """Milliseconds a step beyond its calls, one figure a problem; CPU milliseconds a step."""
    began: dict[str, float] = {}
    called: dict[str, float] = defaultdict(float)
    steps: dict[str, int] = defaultdict(int)
    found = []

    def on_event(event: Any) -> None:
        name = event.get("problem")
        if event["type"] == "problem_started":
            began[name] = time.perf_counter()
        elif event["type"] == "call":
            called[name] += event["seconds"]
        elif event["type"] == "step":
            steps[name] += 1
        elif event["type"] == "problem_ended":
            beyond = time.perf_counter() - began[name] - called[name]
            found.append(1e3 * beyond / max(1, steps[name]))

    with FaultyServer() as server:
        started = time.thread_time()
        count = asyncio.run(session(server, problems, 32, on_event))
        spent = time.thread_time() - started
    return found, 1e3 * spent / count


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--flight", type=int, default=1000, help="problems for the memory figure")
    given = parser.parse_args()
    overheads_ms(8)  # imports and pools
    found, work = overheads_ms(given.problems)
    parts = statistics.quantiles(found, n=20)
    print(f"beyond model and sandbox at concurrency 32, ms a step: median {parts[9]:.1f},"
          f" 5% {parts[0]:.1f}, 95% {parts[-1]:.1f}, most {max(found):.1f}; CPU time a step {work:.1f}")  # fmt: skip

    sizes: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            sizes.append(resident_mb())

    before = resident_mb()
    watching = threading.Thread(target=watch)
    watching.start()
    with FaultyServer(delay_s=3.0) as server:
        asyncio.run(session(server, given.flight, given.flight, lambda event: None))
        most = server.most_in_flight
    over.set()
    watching.join()
    print(f"{given.flight} problems side by side ({most} requests at once): {before:.0f} MB before,"
          f" {max(sizes):.0f} MB at most, the server's part included")  # fmt: skip


if __name__ == "__main__":
    main()
