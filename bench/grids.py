"""How fast hypotheses run over grids: `python bench/grids.py [DATA] [--task arc]
[--json FILE]`. DATA is a published file or folder; without it the grids are looked for in the folder that PEIRCE_SHARED names, else in
`shared` beside the repository.

Printed, each the best of a few rounds with one worker: how long the problems and their sample space
take to load, and the seconds of one hypothesis over the whole space, from `sandbox.run` to its codes,
for a trivial one, one that builds a grid cell by cell, and one that finds objects. GEAR's published
code takes 1.75 s for a trivial one over the 4,826 grids of ARC (on a machine of two noisy cores).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path

from peirce.records import Limits
from peirce.sandbox import open_sandbox
from peirce.tasks import load_problems
from peirce.tasks.programs.grid_rules import FIND_OBJECTS_CODE
from table import Row, add_json_option, write_rows, write_skipped

SHARED = Path(os.environ.get("PEIRCE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ROUNDS = 5
SOURCES = {
    "the grid itself": "def f(g):\n    return g\n",
    "rows turned round": "def f(g):\n    return [row[::-1] for row in g]\n",
    "cell by cell": (
        "def f(g):\n    h, w = len(g), len(g[0])\n    out = [[0] * w for _ in range(h)]\n"
        "    for i in range(h):\n        for j in range(w):\n            out[i][w - 1 - j] = g[i][j]\n"
        "    return out\n"
    ),
    "its objects": "def f(g):\n"
    + "".join(f"    {line}\n" for line in FIND_OBJECTS_CODE.rstrip().split("\n"))
    + "    return [len(cells) for cells in objects]\n",
}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", default=str(SHARED / "data/gear"))
    parser.add_argument("--task", default="arc")
    add_json_option(parser)
    options = parser.parse_args()
    if not Path(options.data).exists() and options.data == str(SHARED / "data/gear"):
        write_skipped(options.json, "no data/gear here: give its folder or set PEIRCE_SHARED")
        return
    began = time.perf_counter()
    problems = load_problems(options.task, options.data)
    space = problems[0][1]
    loading = time.perf_counter() - began
    print(
        f"{options.task}: {len(problems)} problems, {len(space)} grids, loaded in {loading:.2f} s"
    )
    about = f"over {len(space):,} grids of {options.task}"
    rows = [Row(f"loading {len(problems)} problems of {options.task}", loading, "s")]
    async with await open_sandbox("process", workers=1) as sandbox:
        digest = await sandbox.put(space)
        for name, source in SOURCES.items():
            taken = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                batch = await sandbox.run(source, "f", digest, "codes", Limits())
                taken.append(time.perf_counter() - began)
                assert batch.verdict == "ok" and not batch.reasons.any()
            print(f"  {name:<20} {min(taken):.3f} s (first {taken[0]:.3f})")
            rows.append(Row(f"one hypothesis {about}: {name}", min(taken), "s"))
    write_rows(options.json, rows)


if __name__ == "__main__":
    asyncio.run(main())
