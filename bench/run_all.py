"""Run every bench script with short settings and print one table: `make bench`, or

    python bench/run_all.py [--only step,gear] [--out FILE]

One script runs after the other, with the settings of scripts.py. A script that lacks data, an extra, a
GPU or a browser is skipped and named below the table with the reason; after one that fails the others
still run, and the exit code is 1. The columns: `limit` is the aim that the project has stated, where it
has stated one; `reference` is what the work is compared with in the same run; `ratio` is now divided by
the reference.

The table is also stored as JSON, by default in runs/bench/DATE-COMMIT.json, with the load averages of
the machine before each script: figures of a busy machine are not comparable with those of a quiet one
(compare.py holds two working trees side by side on the same machine).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from scripts import (
    APART,
    HERE,
    SCRIPTS,
    Result,
    choose_scripts,
    describe_tree,
    end_on_sigterm,
    run_script,
)
from table import HEADS, format_row, format_table

TREE = HERE.parent


def print_results(results: Sequence[Result]) -> None:
    body = [format_row(one.script.removesuffix(".py"), row) for one in results for row in one.rows]
    print(format_table(HEADS, body))
    for one in results:
        for line in one.left_out if one.skipped is None else []:
            print(f"{one.script}: {line}")
        if one.skipped is not None:
            print(f"SKIPPED {one.script}: {one.skipped}")
        if one.failed is not None:
            print(f"FAILED {one.script}: {one.failed}")
    missed = sum(row.keeps_limit is False for one in results for row in one.rows)
    failed = sum(one.failed is not None for one in results)
    skipped = sum(one.skipped is not None for one in results)
    print(
        f"{len(results)} scripts, {len(body)} rows, {missed} limits missed, {skipped} scripts skipped,"
        f" {failed} failed, {sum(one.seconds for one in results) / 60:.1f} minutes"
    )
    for script, command in APART.items():
        if script != "run_all.py":
            print(f"not part of this: {script} ({command})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="NAME,NAME", help="these scripts")
    parser.add_argument("--out", type=Path, metavar="FILE", help="else runs/bench/DATE-COMMIT.json")
    options = parser.parse_args()
    end_on_sigterm()
    names = choose_scripts(options.only, list(SCRIPTS))
    began, commit = datetime.now(UTC), describe_tree(TREE)
    out = options.out or TREE / "runs" / "bench" / f"{began:%Y-%m-%d-%H%M}-{commit}.json"
    results = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for name in names:
            print(f"== {name} {' '.join(SCRIPTS[name])}", end="", file=sys.stderr, flush=True)
            results.append(run_script(HERE / name, SCRIPTS[name], Path(folder)))
            end = "FAILED" if results[-1].failed else "skipped" if results[-1].skipped else "done"
            print(f": {end} after {results[-1].seconds:.0f} s", file=sys.stderr, flush=True)
    found = {
        "date": f"{began:%Y-%m-%dT%H:%M:%SZ}", "commit": commit, "python": platform.python_version(),
        "machine": platform.machine(), "cores": len(os.sched_getaffinity(0)) if
        hasattr(os, "sched_getaffinity") else os.cpu_count(), "load_at_the_end": os.getloadavg(),
        "seconds": round(time.time() - began.timestamp(), 1),
        "scripts": [one.as_json() for one in results],
    }  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n")
    print_results(results)
    print(f"stored in {out}")
    sys.exit(any(one.failed is not None for one in results))


if __name__ == "__main__":
    main()
