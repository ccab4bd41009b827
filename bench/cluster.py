"""What Ray costs, and what one driver can do: `python bench/cluster.py [--parts overhead,steps,...]
[--processes N] [--rounds 6] [--json FILE]`.

Starts a Ray node on this machine and measures in one run:

overhead: the wall and CPU time of the same calls on the local pool and on a node with as many cores as the
local pool has processes (cluster_overhead.py).
steps: the CPU time of the driver for a step of a session whose search and sandbox run on the node.
sleepers: the steps a second of one driver with 10, 100 and 1,000 workers that sleep a second in each call.
model: the model calls a second of one driver with a model that answers after a second.
writer: the commits a second of the thread that writes the store, alone (cluster_driver.py has these four).

The node has 1,000 cores by name, so that 1,000 sleeping workers fit; a part claims as many of them as it
uses. By default there is a process for each core of this machine but one, which is left to the driver.
Takes some six minutes. On a machine with other work, wall times have the noise of that work; ratios of
medians are of calls that were made in turns. Needs the extra `cluster`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from table import Row, add_json_option, write_rows, write_skipped

NODES = Path(__file__).resolve().parent / "nodes"
PARTS = ("overhead", "steps", "sleepers", "model", "writer")


@contextmanager
def started_node(cores: int) -> Iterator[None]:
    """Start Ray with one node on this machine, connect to it, and end it."""
    places = (str(NODES), os.environ.get("PYTHONPATH"))
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
        "RAY_AUTH_MODE": "token",
        "RAY_USAGE_STATS_ENABLED": "0",
        "OMP_NUM_THREADS": "1",
    }
    import ray

    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        ray.init(
            "local", num_cpus=cores, resources={"sandbox": 1}, include_dashboard=False,
            log_to_driver=False, logging_level="ERROR", _temp_dir=folder,
        )  # fmt: skip
        try:
            yield
        finally:
            ray.shutdown()


async def measure(
    parts: Sequence[str],
    processes: int,
    work_ms: Sequence[float],
    rounds: int,
    problems: int,
    sleepers: Sequence[int],
    folder: Path,
) -> list[Row]:
    from cluster_driver import (
        measure_sleeping_model,
        measure_sleeping_workers,
        measure_steps,
        measure_writer,
    )
    from cluster_overhead import measure_overhead
    from peirce.tools.workers import open_workers

    rows: list[Row] = []
    local, cluster = await open_workers("local"), await open_workers("ray", processes)
    try:
        if "overhead" in parts:
            rows += await measure_overhead(local, cluster, processes, work_ms, rounds)
        if "steps" in parts:
            turns = max(1, rounds // 3)
            rows += await measure_steps(folder, local, cluster, processes, problems, turns)
    finally:
        await cluster.close()
    if "sleepers" in parts or "writer" in parts:
        cluster = await open_workers("ray", max(sleepers))
        try:
            found, recorded = await measure_sleeping_workers(folder, cluster, sleepers)
            rows += found
        finally:
            await cluster.close()
    if "model" in parts:
        rows += await measure_sleeping_model(folder, sleepers)
    if "writer" in parts:
        rows += measure_writer(folder, recorded, (1, *sleepers))
    return rows


def parse_parts(text: str) -> list[str]:
    parts = text.split(",")
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(PARTS)}")
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", type=parse_parts, default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--work-ms", type=float, nargs="+", default=[5, 50, 200])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--problems", type=int, default=8, help="of a session with the search")
    parser.add_argument("--sleepers", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--dir", help="folder for stores (a temporary one)")
    add_json_option(parser)
    given = parser.parse_args()
    if importlib.util.find_spec("ray") is None:
        write_skipped(given.json, "no Ray here: pip install 'peirce[cluster]'")
        return
    sys.path.append(str(NODES))
    load = os.getloadavg()
    with (
        started_node(max(1_000, *given.sleepers)),
        tempfile.TemporaryDirectory(dir=given.dir) as name,
    ):
        rows = asyncio.run(
            measure(given.parts, given.processes, given.work_ms, given.rounds, given.problems,
                    sorted(given.sleepers), Path(name))
        )  # fmt: skip
    loads = [f"{one:.1f}" for one in (load[0], os.getloadavg()[0])]
    print(f"\n{os.cpu_count()} cores; load of the last minute {loads[0]} before, {loads[1]} after")
    write_rows(given.json, rows, load=loads)


if __name__ == "__main__":
    main()
