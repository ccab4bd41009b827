"""Preference pairs from a store as large as the study of the GEAR paper: 50,000 answers of 9 models,
each with 14,101 predictions (gear_store.py), to a set of 1,000,000 pairs in that store: of the 6.9
million that the usual caps give, as many of each stage and split.

    python bench/pairs.py [--problems 100] [--store FILE] [--template full] [--json FILE]

Writing the answers is not counted, and is done once where --store names a file; the pairs are made in
a copy of it. Counted is the whole of `peirce pairs`: reading sessions, digests and predictions,
contexts, pairs, prompts, the set's digest and its rows in the store; then reading the set back, as a
training does. Each runs in a process of its own, and the peak of memory is that process's.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gear_store
from peirce.records import JudgedAnswer, Problem, StepRecord, Verdict
from table import Row, add_json_option, write_rows

LIMIT = 111_112  # of three stages in three splits: 1,000,008


class Answers(gear_store.Answers):
    """Those of gear_store.py, each with texts of its own: a set takes a text once."""

    def steps(self, problem: Problem, good: float, seed: str) -> Iterator[StepRecord]:
        rng = random.Random(seed)
        bad = 0
        for step in range(1, 26):
            verdict = Verdict.ACCEPTED if rng.random() < good else rng.choice(gear_store.BAD)
            one = self.judged(verdict, problem, rng)
            said = one.hypothesis
            text = f"a sentence and no tuple, {seed}, {step}"
            if said is not None:
                said = replace(said, description=f"{said.description}, {seed}, {step}")
                one = replace(one, hypothesis=said)
                text = repr((said.description, said.text))
            yield StepRecord(
                problem.id, step, (JudgedAnswer(f"step/{step}/propose/0", text, (one,)),)
            )
            bad += one.bad
            if bad == 3:
                return


def write(path: Path, problems: int) -> int:
    return gear_store.write(path, problems, kind=Answers)


def harvested(store: str, template: str) -> dict[str, object]:
    import peirce

    sessions = [row["session"] for row in peirce.sessions(store=store)]
    start = time.perf_counter()
    report = peirce.pairs(*sessions, store=store, template=template, limit=LIMIT)
    return {
        "seconds": time.perf_counter() - start,
        **{name: report[name] for name in ("digest", "pairs", "prompts", "answers", "problems")},
        "by_split": report["by_split"],
    }


def read(store: str) -> dict[str, object]:
    from peirce.store import Store
    from peirce.training.pair_table import read_table

    start = time.perf_counter()
    with Store.open(store, write=False) as opened:
        table = read_table(opened, "last")
    return {"seconds": time.perf_counter() - start, "pairs": len(table)}


def run_in_subprocess(*words: str) -> dict[str, Any]:
    """What this file says in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *words], check=True, capture_output=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=100, help="of each of 15 settings")
    parser.add_argument("--store")
    parser.add_argument("--template", default="full")
    parser.add_argument("--part", choices=("harvest", "read"), help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.part:
        found = (
            read(options.store)
            if options.part == "read"
            else harvested(options.store, options.template)
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps(found | {"peak_gb": peak / 1e6}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.store or f"{folder}/pairs.duckdb")
        if not path.exists():
            start = time.perf_counter()
            count = write(path, options.problems)
            print(f"{count:,} answers written in {time.perf_counter() - start:.0f} s", flush=True)
        if options.store:  # which is left as it is
            path = Path(shutil.copy(path, f"{folder}/copy.duckdb"))
        made = run_in_subprocess(
            "--part", "harvest", "--store", str(path), "--template", options.template
        )
        for split, stages in made.pop("by_split").items():
            print(
                f"{split:<11}", ", ".join(f"{count:,} {stage}" for stage, count in stages.items())
            )
        print(
            f"{made['pairs']:,} pairs, {made['prompts']:,} prompts, {made['answers']:,} answers from"
            f" {made['problems']:,} problems: {made['seconds']:.1f} s, {made['peak_gb']:.2f} GB"
        )
        again = run_in_subprocess("--part", "read", "--store", str(path))
        print(f"read back: {again['seconds']:.1f} s, {again['peak_gb']:.2f} GB")
        size = f"{made['pairs']:,} pairs of {made['answers']:,} answers"
        rows = [
            Row(f"making a set of {size}", made["seconds"], "s"),
            Row(f"making a set of {size}, most memory", made["peak_gb"], "GB"),
            Row(f"reading back a set of {size}", again["seconds"], "s"),
        ]
        write_rows(options.json, rows)


if __name__ == "__main__":
    main()
