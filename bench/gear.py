"""GEAR's scores as numpy against the definitions in Python sets; a whole study from its store.

    python bench/gear.py [--hypotheses 100] [--repeats 5] [--json FILE]
    python bench/gear.py --study FILE [--answers 50000] [--json FILE]

The first: synthetic predictions over 14,101 inputs that overlap as those of real hypotheses do:
each hypothesis copies an earlier one on a share of the inputs, some are undefined on a part of S,
some agree on a shared core. Prints beta, gamma and coverage with their ratios, checks that both
ways give the same numbers, and gives milliseconds for 30 hypotheses. The Python sets are built
before the clock starts; what is timed is unions, intersections and the running union alone, the
sets' best case. Times are the least of the repeats (of one for the sets).

The second: the paper's study (gear_store.py says what it is made of), written to FILE where that
is not there yet (4 minutes, 3 GB), then `peirce.evaluate` of all its sessions, from stored
prediction vectors to all tables and figures, in a process of its own: seconds, CPU seconds and the
most memory it held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import peirce.tools.gear.scores as gear
from peirce.records import Predictions
from table import Row, add_json_option, write_rows

INPUTS = 14_101


def predictions(hypotheses: int, seed: int = 0, inputs: int = INPUTS) -> list[Predictions]:
    """Hypotheses that overlap: copies of earlier ones on a share of the inputs, else new."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows: list[np.ndarray] = [rng.integers(-(2**63), 2**63 - 1, inputs)]
    for i in range(1, hypotheses):
        row = rng.integers(-(2**63), 2**63 - 1, inputs)
        parent = rows[int(rng.integers(0, i))]
        kept = rng.random(inputs) < rng.choice([0.05, 0.3, 0.6, 0.9])
        rows.append(np.where(kept, parent, row))
    made = []
    for i, row in enumerate(rows):
        reasons = np.zeros(inputs, np.uint8)
        if i % 3 == 2:
            reasons[rng.random(inputs) < 0.1] = 1
        made.append(Predictions(np.where(reasons, 0, row), reasons, ("IndexError",)))
    return made


def sets_of(some: list[Predictions]) -> list[set[tuple[int, int]]]:
    return [
        {
            (i, code)
            for i, (code, known) in enumerate(
                zip(p.codes.tolist(), p.defined.tolist(), strict=True)
            )
            if known
        }
        for p in some
    ]


def naive_beta(sets: list[set[tuple[int, int]]]) -> float:
    distances = [1 - len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    return sum(distances) / len(distances)


def naive_gamma(sets: list[set[tuple[int, int]]]) -> float:
    return len(set().union(*sets)) / INPUTS


def naive_coverages(sets: list[set[tuple[int, int]]]) -> list[float]:
    union: set[tuple[int, int]] = set()
    shares = []
    for one in sets:
        shares.append(len(one & union) / INPUTS)
        union |= one
    return shares


def all_scores(some: list[Predictions]) -> tuple[float | None, ...]:
    scores = gear.score_set(*gear.stack_predictions(some))
    return (scores.beta, scores.gamma, *scores.coverages)


def seconds(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def compare(hypotheses: int, repeats: int) -> dict[str, Any]:
    some = predictions(hypotheses)
    sets = sets_of(some)
    ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "beta": (lambda: naive_beta(sets), lambda: gear.beta(*gear.stack_predictions(some))),
        "gamma": (lambda: naive_gamma(sets), lambda: gear.gamma(*gear.stack_predictions(some))),
        "coverage": (lambda: naive_coverages(sets), lambda: gear.coverages(some)),
        "all three": (
            lambda: (naive_beta(sets), naive_gamma(sets), *naive_coverages(sets)),
            lambda: all_scores(some),
        ),
    }
    rows: dict[str, Any] = {}
    for name, (naive, own) in ways.items():
        naive_s, expected = seconds(naive, 1)
        own_s, got = seconds(own, repeats)
        if not np.allclose(expected, got, rtol=1e-12, atol=0):
            raise SystemExit(f"{name} differs: sets {expected}, numpy {got}")
        rows[name] = {"sets_ms": naive_s * 1e3, "numpy_ms": own_s * 1e3, "ratio": naive_s / own_s}
    return {"hypotheses": hypotheses, "inputs": INPUTS, "scores": rows}


SCORING = """
import json, resource, sys, time
import peirce
start = time.perf_counter()
sessions = [row["session"] for row in peirce.sessions(store=sys.argv[1])]
found = peirce.evaluate(*sessions, name="gear", store=sys.argv[1], out=sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "cpu_s": used.ru_utime + used.ru_stime,
    "memory_mb": used.ru_maxrss / 1024,
    "sessions": len(sessions),
    "settings": len(found["settings"]),
    "answers": sum(sum(one["verdicts"].values()) for one in found["settings"]),
    "files": len(found["files"]),
    "notes": found["notes"],
}))
"""


def study(store: Path, answers: int) -> dict[str, Any]:
    import gear_store

    if not store.exists():
        start = time.perf_counter()
        gear_store.write(store, hypotheses=answers)
        print(f"{store} written in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-c", SCORING, str(store), out]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "store_mb": store.stat().st_size / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hypotheses", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--study", type=Path, metavar="FILE")
    parser.add_argument("--answers", type=int, default=50_000)
    add_json_option(parser)
    given = parser.parse_args()
    if given.study is not None:
        found = study(given.study, given.answers)
        print(
            f"{found['answers']:,} answers, {found['sessions']} sessions, {found['store_mb']:,.0f} MB"
        )
        print(f"  from vectors to {found['files']} files of tables and figures")
        print(
            f"  {found['seconds']:.1f} s, {found['cpu_s']:.1f} s of CPU, {found['memory_mb']:,.0f} MB"
        )
        for note in found["notes"]:
            print(f"  {note}")
        work = f"peirce.evaluate of a store with {found['answers']:,} answers"
        rows = [
            Row(work, found["seconds"], "s"),
            Row(f"{work}, CPU", found["cpu_s"], "s"),
            Row(f"{work}, most memory", found["memory_mb"], "MB"),
        ]
        write_rows(given.json, rows)
        return
    results = [compare(h, given.repeats) for h in (given.hypotheses, 30)]
    for result in results:
        print(f"{result['hypotheses']} hypotheses × {result['inputs']:,} inputs")
        print(f"  {'':10}{'sets, ms':>12}{'numpy, ms':>12}{'ratio':>9}")
        for name, row in result["scores"].items():
            print(f"  {name:10}{row['sets_ms']:12.1f}{row['numpy_ms']:12.2f}{row['ratio']:8.0f}×")
    rows = [
        Row(
            f"{name} of {result['hypotheses']} hypotheses over {result['inputs']:,} inputs",
            row["numpy_ms"], "ms", reference=row["sets_ms"], compared_with="Python sets",
        )
        for result in results
        for name, row in result["scores"].items()
    ]  # fmt: skip
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
