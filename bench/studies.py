"""Both simulation studies at the size of the paper's, against loops with Python sets.

    python bench/studies.py [--problems 1500] [--hypotheses 33] [--stored 60] [--json FILE]

Synthetic problems over 14,101 inputs with 12 hidden pairs each: a hypothesis copies an earlier one
on a share of the inputs, some are undefined on a part of S, a sixth repeat an earlier one. Printed:
seconds of each study from prediction vectors to rows, making the problems not counted, and the
peak of memory; the ratio to loops on one problem with a few contexts, which must give the same
numbers; and seconds from a store that holds `--stored` problems, reading included. The loops score
every candidate of a context once, from sets that are built before the clock starts: their best
case.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from peirce.records import (
    Agreement,
    Hypothesis,
    InputSet,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    Verdict,
)
from peirce.reports.papers.gear import studies as study
from peirce.reports.papers.gear.joined_problems import JoinedProblem
from peirce.store import Store
from peirce.tools.gear import studies
from table import Row, add_json_option, write_rows

INPUTS, HIDDEN = 14_101, 12


def predictions(problem: int, hypotheses: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """codes and defined (h, n), right (h, q)."""
    rng = np.random.Generator(np.random.PCG64(problem))
    codes = rng.integers(-(2**63), 2**63 - 1, (hypotheses, INPUTS))
    defined = np.ones((hypotheses, INPUTS), bool)
    right = rng.random((hypotheses, HIDDEN)) < rng.random((hypotheses, 1))
    for i in range(1, hypotheses):
        parent = int(rng.integers(0, i))
        if i % 6 == 5:
            codes[i], defined[i], right[i] = codes[parent], defined[parent], right[parent]
            continue
        kept = rng.random(INPUTS) < rng.choice([0.05, 0.3, 0.6, 0.9])
        codes[i][kept] = codes[parent][kept]
        if i % 3 == 2:
            defined[i] = rng.random(INPUTS) < 0.9
    codes[~defined] = 0
    return codes, defined, right


class Clock:
    """Seconds spent outside what makes the problems."""

    def __init__(self) -> None:
        self.making = 0.0

    def problems(self, count: int, hypotheses: int) -> Iterator[JoinedProblem]:
        for number in range(count):
            start = time.perf_counter()
            made = predictions(number, hypotheses)
            self.making += time.perf_counter() - start
            name = str(number)
            yield JoinedProblem(
                "made", 1 + number % 4, name, name, name, studies.build_population(*made), 0, 0
            )

    def time(self, work: Callable[[], Any]) -> tuple[float, Any]:
        self.making, start = 0.0, time.perf_counter()
        result = work()
        return time.perf_counter() - start - self.making, result


# --- the same by loops ---------------------------------------------------------


def naive_survival(sets: list[set[Any]], right: list[list[bool]], draws: list[list[int]]) -> Any:
    found = []
    for draw in draws:
        survivors = [s for s, row in zip(sets, right, strict=True) if all(row[p] for p in draw)]
        gamma = len(set().union(*survivors)) / INPUTS if survivors else math.nan
        found.append((len(survivors), gamma))
    return found


def naive_scores(sets: list[set[Any]], context: list[int]) -> dict[int, float]:
    def beta(some: list[set[Any]]) -> float:
        apart = [1 - len(a & b) / len(a | b) for a, b in combinations(some, 2)]
        return sum(apart) / len(apart) if apart else 0.0

    members = [sets[i] for i in context]
    union: set[Any] = set().union(*members)
    own = beta(members)
    return {
        f: round(
            (len(s) / INPUTS + len(s - union) / INPUTS + beta([*members, s]) - own) / 3, 12
        )
        for f, s in enumerate(sets)
        if f not in context
    }  # fmt: skip


def naive_comparison(
    sets: list[set[Any]], right: list[list[bool]], contexts: list[list[int]], draws: list[list[int]]
) -> list[int]:
    pairs = chosen = rejected = 0
    for context in contexts:
        scores = naive_scores(sets, context)
        for draw in draws:
            passing = [all(row[p] for p in draw) for row in right]
            if any(passing[member] for member in context):
                continue
            for a, b in combinations(scores, 2):
                if scores[a] != scores[b]:
                    high, low = (a, b) if scores[a] > scores[b] else (b, a)
                    pairs += 1
                    chosen += passing[high]
                    rejected += passing[low]
    return [pairs, chosen, rejected]


def against_loops(hypotheses: int, contexts_of_a_size: int) -> dict[str, Any]:
    codes, defined, right = predictions(0, hypotheses)
    sets = [
        {(j, c) for j, (c, known) in enumerate(zip(*both, strict=True)) if known}
        for both in zip(codes.tolist(), defined.tolist(), strict=True)
    ]
    marks = right.tolist()
    draws = {m: studies.draw_hidden_sets(HIDDEN, m, 5, "bench") for m in (1, 2, 3, 4)}
    contexts = [
        studies.draw_contexts(hypotheses, k, contexts_of_a_size, "bench") for k in (0, 1, 2)
    ]
    every = [draw for some in draws.values() for draw in some.tolist()]

    def own_survival() -> Any:
        some = studies.build_population(codes, defined, right)
        parts = [studies.measure_survival(some, drawn) for drawn in draws.values()]
        return [pair for p in parts for pair in zip(p.survivors.tolist(), p.gamma, strict=True)]

    def own_comparison() -> Any:
        some = studies.build_population(codes, defined, right)
        scored = studies.score_in_contexts(some, contexts)
        parts = [
            studies.compare_candidates(places, scores, studies.find_passing(some, drawn), 10**9)
            for drawn in draws.values()
            for places, scores in zip(contexts, scored, strict=True)
        ]
        return [
            sum(int(getattr(p, n).sum()) for p in parts) for n in ("pairs", "chosen", "rejected")
        ]

    all_contexts = [context for places in contexts for context in places.tolist()]
    rows = {}
    for name, naive, own in (
        ("defeasible", lambda: naive_survival(sets, marks, every), own_survival),
        ("general", lambda: naive_comparison(sets, marks, all_contexts, every), own_comparison),
    ):
        naive_s, expected = Clock().time(naive)
        own_s, got = min((Clock().time(own) for _ in range(3)), key=lambda pair: pair[0])
        if not np.allclose(expected, got, equal_nan=True):
            raise SystemExit(f"{name} differs: loops {expected}, numpy {got}")
        rows[name] = {"loops_s": naive_s, "numpy_s": own_s, "ratio": naive_s / own_s}
    return {"hypotheses": hypotheses, "contexts": len(all_contexts), "studies": rows}


# --- from a store ----------------------------------------------------------------


def fill(path: Path, problems: int, hypotheses: int) -> str:
    """A store with one session; its id."""
    hidden = tuple(Observation([i], [i]) for i in range(HIDDEN))
    named = [
        Problem(f"p{i}", "list_functions", "programs", (Observation([-1], [-1]),), hidden)
        for i in range(problems)
    ]
    space = InputSet("numbers", tuple(range(INPUTS)))
    settings = {"task": "list_functions", "method": "abduce", "model": "made", "family": "programs"}
    with Store.open(path, write=True) as store:
        session = store.create_session(settings, [(problem, space) for problem in named])
        ledger = store.ledger(session)

        async def write() -> None:
            for number, problem in enumerate(named):
                codes, defined, right = predictions(number, hypotheses)
                judged = tuple(
                    JudgedHypothesis(
                        Verdict.ACCEPTED, "", Hypothesis(f"{number} {i}"), 0.0, None,
                        Agreement(tuple(map(bool, right[i])), ({},) * HIDDEN),
                        Predictions(codes[i], np.uint8(~defined[i]), ("E",)),
                    )
                    for i in range(hypotheses)
                )  # fmt: skip
                await ledger.record_step(
                    StepRecord(problem.id, 1, (JudgedAnswer("step/1", "", judged),))
                )
                await ledger.record_end(problem.id, "done", "exhausted")

        asyncio.run(write())
    return session


def from_store(problems: int, hypotheses: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.duckdb"
        session = fill(path, problems, hypotheses)
        seconds = {}
        with Store.open(path, write=False) as store:
            for name in study.STUDIES:
                seconds[name], _ = Clock().time(lambda n=name: study.run_study(n, store, [session]))
        return {"problems": problems, "megabytes": path.stat().st_size / 1e6, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=1_500)
    parser.add_argument("--hypotheses", type=int, default=33, help="of each problem")
    parser.add_argument("--contexts", type=int, default=5, help="of a size, for the loops")
    parser.add_argument("--stored", type=int, default=60, help="problems in a store; 0: none")
    add_json_option(parser)
    given = parser.parse_args()
    clock = Clock()
    whole = {}
    for name, work in study.STUDIES.items():
        problems = clock.problems(given.problems, given.hypotheses)
        whole[name], _ = clock.time(lambda w=work, p=problems: w(p, study.StudySettings()))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    loops = against_loops(given.hypotheses, given.contexts)
    stored = from_store(given.stored, given.hypotheses) if given.stored else None
    count = given.problems * given.hypotheses
    print(
        f"{given.problems:,} problems, {count:,} hypotheses × {INPUTS:,} inputs, {peak_mb:.0f} MB"
    )
    for name, seconds in whole.items():
        row = loops["studies"][name]
        print(
            f"  {name:11}{seconds:7.1f} s; one problem, {loops['contexts']} contexts:"
            f" loops {row['loops_s']:.2f} s, numpy {row['numpy_s'] * 1e3:.1f} ms,"
            f" {row['ratio']:,.0f}×"
        )
    if stored:
        told = ", ".join(f"{name} {s:.1f} s" for name, s in stored["seconds"].items())
        hypotheses = stored["problems"] * given.hypotheses
        print(f"from a store of {hypotheses:,} hypotheses ({stored['megabytes']:.0f} MB): {told}")
    rows = [
        Row(f"the study {name} of one problem, {loops['contexts']} contexts",
            row["numpy_s"] * 1e3, "ms", reference=row["loops_s"] * 1e3, compared_with="Python loops")
        for name, row in loops["studies"].items()
    ]  # fmt: skip
    rows += [Row(f"the study {name} of {count:,} hypotheses", s, "s") for name, s in whole.items()]
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
