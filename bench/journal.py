"""What keeping a step costs: `python bench/journal.py [--steps 200] [--json FILE]`.

A step here is what a list-function problem writes: six calls (two of a model with 3 kB of messages,
four of tools, one of which holds 14,101 int64 codes) and its record (one answer, one hypothesis,
predictions, eight bank events). Half of the code vectors are all distinct, as lists' hashes are;
half have few distinct values. A step ends when it and its calls are durable. Printed: milliseconds
a step, for one problem alone and for eight side by side, against appending the same bytes to a file
with an fsync each, and without; and the CPU time of the process, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
from peirce.records import (
    Agreement,
    BankEvent,
    CallKey,
    Hypothesis,
    InputSet,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Outcome,
    Predictions,
    Problem,
    StepRecord,
    Usage,
    Verdict,
    canonical_json,
)
from peirce.store import Store
from table import Row, add_json_option, write_rows

INPUTS = 14_101
CALLS = 6


def vectors(problem: int, step: int) -> Predictions:
    rng = np.random.default_rng([problem, step])
    if step % 2:
        codes = rng.integers(-(2**63), 2**63 - 1, INPUTS)
    else:
        codes = rng.integers(-(2**63), 2**63 - 1, 100)[rng.integers(0, 100, INPUTS)]
    return Predictions(codes, np.zeros(INPUTS, np.uint8))


def contents(problem: int, step: int) -> tuple[list[tuple[str, object, Outcome]], StepRecord]:
    """The calls (kind, request, outcome) and the record of one step."""
    rng = random.Random(1_000 * problem + step)
    prompt = "".join(rng.choice("abcdefghij ") for _ in range(3_000))
    source = "def fn(x):\n" + "".join(rng.choice("    return x[0]\n") for _ in range(600))
    space = vectors(problem, step)
    calls: list[tuple[str, object, Outcome]] = []
    for number in range(CALLS):
        if number in (0, 2):
            request: object = {"messages": [{"role": "user", "content": prompt}], "seed": number}
            outcome = Outcome({"text": source}, usage=Usage(900, 150), seconds=1.0)
        else:
            request = {"source": source, "inputs": "0" * 64, "number": number}
            held = {"codes": space.codes, "reasons": space.reasons} if number == 5 else {}
            outcome = Outcome({"verdict": "ok", "reason_names": []}, held, seconds=0.02)
        calls.append(("model" if number in (0, 2) else "tool", request, outcome))
    agreement = Agreement((True,) * 8, ({"value": [1, 2, 3]},) * 8)
    hypothesis = Hypothesis(source, "the first element", {"entry": "fn"})
    judged = JudgedHypothesis(Verdict.ACCEPTED, "", hypothesis, 0.1, agreement, agreement, space)
    events = tuple(
        BankEvent(hypothesis.digest, source, "the first element", place, True, place + 1)
        for place in range(8)
    )
    answered = JudgedAnswer(f"step/{step}/propose/0", source, (judged,))
    return calls, StepRecord(str(problem), step, (answered,), {}, events)


async def keep(store: Store, session: str, problem: int, steps: int, made: list[list]) -> None:
    journal, ledger = store.journal(session), store.ledger(session)

    def making(outcome: Outcome) -> Callable[[], Awaitable[Outcome]]:
        async def make() -> Outcome:
            return outcome

        return make

    for step, (calls, record) in zip(range(steps), made[problem], strict=True):
        for number, (kind, request, outcome) in enumerate(calls):
            key = CallKey(session, str(problem), f"step/{step}/{number}/0")
            await journal.record_once(key, kind, request, making(outcome))  # type: ignore[arg-type]
        await ledger.record_step(record)


def measured(folder: Path, made: list[list], steps: int) -> tuple[float, float]:
    """Wall and CPU seconds for all steps of all problems, side by side."""
    problems = [
        (Problem(str(i), "t", "programs", (Observation([1], 1),)), InputSet("s", ([1],)))
        for i in range(len(made))
    ]
    with Store.open(folder / f"{len(made)}.duckdb", write=True) as store:
        session = store.create_session({"seed": 0}, problems)

        async def run() -> None:
            await asyncio.gather(*(keep(store, session, i, steps, made) for i in range(len(made))))

        started, spent = time.perf_counter(), time.process_time()
        asyncio.run(run())
        store.query("SELECT count(*) FROM step")  # before a query, what was put off is done
        return time.perf_counter() - started, time.process_time() - spent


def naked(folder: Path, made: list[list], sync: bool) -> float:
    """Seconds for appending the same content to a file, a write for each call and record."""
    started = time.perf_counter()
    with open(folder / "naked", "ab", buffering=0) as file:
        for problem in made:
            for calls, record in problem:
                for _, request, outcome in calls:
                    text = canonical_json([request, outcome.response]).encode()
                    file.write(text + b"".join(v.tobytes() for v in outcome.vectors.values()))
                    if sync:
                        os.fsync(file.fileno())
                (answer,) = record.answers
                file.write(answer.text.encode())
                if sync:
                    os.fsync(file.fileno())
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="steps in all, for each figure")
    parser.add_argument("--dir", default=None, help="folder to write in (a temporary one)")
    add_json_option(parser)
    steps = (arguments := parser.parse_args()).steps
    rows = []
    print(f"{'':34s} ms a step   x naked+fsync   x naked")
    with tempfile.TemporaryDirectory(dir=arguments.dir) as name:
        for side in (1, 8):
            folder = Path(name)
            made = [[contents(i, step) for step in range(steps // side)] for i in range(side)]
            count = side * (steps // side)
            bare, synced = (naked(folder, made, sync) / count for sync in (False, True))
            kept, spent = (part / count for part in measured(folder, made, steps // side))
            label = f"store, {side} problem{'s side by side' if side > 1 else ' alone'}"
            print(f"{label:34s} {kept * 1e3:9.2f} {kept / synced:15.1f} {kept / bare:9.1f}")
            print(f"{'of it, CPU of the process':34s} {spent * 1e3:9.2f}")
            rows.append(Row(f"keeping a step, {label}", kept * 1e3, "ms", reference=synced * 1e3,
                            compared_with="appends, fsync each"))  # fmt: skip
            rows.append(Row(f"CPU of keeping a step, {label}", spent * 1e3, "ms"))
            for label, figure in (("naked appends, fsync each", synced), ("naked appends", bare)):
                print(f"{label:34s} {figure * 1e3:9.2f}")
    write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
