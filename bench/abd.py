"""What judging an exception rule takes: `python bench/abd.py [DATA] [--rows N] [--no-z3]
[--json FILE]`.

DATA (default: data/abd in the folder that PEIRCE_SHARED names, else in `shared` beside the repository)
is the folder of the published instances and holdouts with golden_dev.jsonl.gz, whose rows
record the published evaluator's seconds of CPU where it was run unmodified (`via` released). Each
accepted row is judged on its prompt worlds and its holdouts: parsed, judged, nothing kept from
other rows but what a problem's worlds are made ready for once. One line a regime: milliseconds of
CPU a formula by the fast path (with Z3 where that ends), by Z3 alone on folded groundings, and by
the published evaluator; the ratio of means on the rows that it ran; the slowest row. All in one run
and one process; every value is compared with the recorded exact one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path

from peirce.tasks import load_problems
from peirce.tools.logic.fast_path import REGIMES, BeyondFastPath, PreparedWorlds
from peirce.tools.logic.parser import parse_repaired
from peirce.tools.logic.theories import theory_from_json
from peirce.tools.logic.worlds import parse_world
from peirce.tools.logic.z3_solver import GroundedWorlds
from table import Row, add_json_option, write_rows, write_skipped

SHARED = Path(os.environ.get("PEIRCE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
AIMS = {"full": 2_000, "partial": 300, "skeptical": 800}
FLOORS = {"full": 100, "partial": 30, "skeptical": 30}


class Ready:
    """A problem's prompt worlds and holdouts, made ready for both paths."""

    def __init__(self, problem, z3: bool) -> None:
        told = problem.public["theory"]
        self.theory = theory_from_json(told)
        self.parts = {}
        for name, some in (("prompt", problem.shown), ("holdout", problem.hidden)):
            worlds = tuple(parse_world(one.input, self.theory.signature, name) for one in some)
            if worlds:
                fast = PreparedWorlds(self.theory, worlds, told["regime"])
                _ = fast.bounds
                self.parts[name] = (fast, GroundedWorlds(self.theory, worlds, told["regime"]))
                if z3:
                    _ = self.parts[name][1].bounds

    def judged(self, formula, z3: bool) -> tuple[dict, int]:
        """The worths of each part, and how many of them went to Z3."""
        found, solved = {}, 0
        for name, (fast, by_z3) in self.parts.items():
            if not z3:
                try:
                    found[name] = fast.judge(formula)
                    continue
                except BeyondFastPath:
                    pass
            found[name] = by_z3.judge(formula)
            solved += 1
        return found, solved


def check(row, found) -> None:
    for name, worths in found.items():
        exact = row[name]["exact"]
        assert [one.valid for one in worths] == exact["valid_world"], row["id"]
        assert [one.cost for one in worths] == exact["cost_world"], row["id"]
        assert [one.bound for one in worths] == exact["opt_world_exact"], row["id"]


def measure(rows, problems, z3: bool) -> list[tuple[dict, float, int]]:
    """(row, seconds of CPU, parts that went to Z3) for each row."""
    made: list[tuple[dict, float, int]] = []
    ready, name = None, ""
    for row in rows:
        if row["instance_id"] != name:
            name = row["instance_id"]
            ready = Ready(problems[name], z3)
        start = time.process_time()
        formula, _ = parse_repaired(row["formula"], ready.theory.predicates)
        found, solved = ready.judged(formula, z3)
        seconds = time.process_time() - start
        check(row, found)
        made.append((row, seconds, solved))
    return made


def recorded(row) -> float:
    return sum(seconds or 0.0 for seconds in row["ref_cpu_s"].values())


def report(regime: str, made, what: str) -> Row:
    here = [one for one in made if one[0]["scenario"] == f"ABD_{regime.upper()}"]
    mean = sum(seconds for _, seconds, _ in here) / len(here)
    ran = [(recorded(row), seconds) for row, seconds, _ in here if row["ref_cpu_s"]]
    ours, theirs = (sum(part) / len(ran) for part in ((s for _, s in ran), (r for r, _ in ran)))
    worst = min(r / s for r, s in ran)
    slowest = max(here, key=lambda one: one[1])
    print(
        f"{regime:9}  {what:4}  {1000 * mean:8.3f} ms a formula of {len(here)}; on the {len(ran)} that"
        f" the reference ran {1000 * ours:.3f} ms against {1000 * theirs:.0f} ms: {theirs / ours:,.0f}"
        f" times (aim {AIMS[regime]:,}, floor {FLOORS[regime]}; worst row {worst:,.1f});"
        f" slowest row {slowest[1]:.3f} s (id {slowest[0]['id']});"
        f" {sum(solved > 0 for *_, solved in here)} asked Z3"
    )
    way = "fast path" if what == "fast" else "Z3 alone"
    return Row(
        f"judging an exception rule, {regime}, {way}, CPU", 1000 * ours, "ms",
        reference=1000 * theirs, compared_with="published evaluator, as recorded in the data",
        limit=1 / AIMS[regime] if what == "fast" else None, limit_of="ratio",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=SHARED / "data/abd")
    parser.add_argument("--rows", type=int, help="the first so many rows of each regime")
    parser.add_argument("--no-z3", action="store_true", help="leave out the run by Z3 alone")
    add_json_option(parser)
    options = parser.parse_args()
    if not options.data.is_dir() and options.data == SHARED / "data/abd":
        write_skipped(options.json, "no data/abd here: give its folder or set PEIRCE_SHARED")
        return
    problems = {one.id: one for one, _ in load_problems("abd", str(options.data))}
    with gzip.open(options.data / "golden_dev.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if row["accepted"]]
    if options.rows:
        rows = [
            row
            for regime in REGIMES
            for row in [r for r in rows if r["scenario"] == f"ABD_{regime.upper()}"][: options.rows]
        ]
    print(f"{len(rows)} rules, on prompt worlds and holdouts; every value equals the recorded one")
    found = []
    for what, z3 in (("fast", False), ("z3", True)):
        if z3 and options.no_z3:
            continue
        made = measure(rows, problems, z3)
        for regime in REGIMES:
            found.append(report(regime, made, what))
    write_rows(options.json, found)


if __name__ == "__main__":
    main()
