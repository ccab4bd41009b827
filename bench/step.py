"""What the journal adds to a step of `abduce`: `python bench/step.py [--steps 24]
[--rounds 5] [--json FILE]`.

The same graph, scripted answers, sandbox and sample space of 14,101 lists, once with the journal
and ledger of a store on disk and once with both in memory, in turns; the difference is the store's
part: two model calls, a tool call, three runs of the hypothesis and the step's record. Printed:
milliseconds a step, for one problem alone and for eight side by side, and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from peirce.agents.scripted import ScriptedProposer, format_tuple_answer
from peirce.config import MethodSettings
from peirce.graphs.methods.abduce import METHOD
from peirce.graphs.runtime.case import Case, SessionSettings
from peirce.graphs.runtime.steps import START_STATE
from peirce.records import InputSet, Limits, Observation, Problem, Reply, StepRecord, ToolCall
from peirce.sandbox import open_sandbox
from peirce.store import Store
from peirce.tasks import load_family
from peirce.tasks.programs.list_functions import sample_space
from peirce.tools.execute import build_executor
from table import Row, add_json_option, write_rows

SHOWN = tuple(Observation([n, n + 1], [n, n + 1]) for n in range(4))


class InMemory:
    """A journal and a ledger that keep nothing."""

    async def record_once(self, key: Any, kind: str, request: Any, make: Any) -> Any:
        return await make()

    def find_entry(self, key: Any) -> None:
        return None

    async def record_step(self, record: StepRecord) -> None:
        return None

    async def record_end(self, problem: str, status: str, cause: str) -> None:
        return None


def replies(steps: int) -> list[Any]:
    """Rules that agree on what is shown and nowhere else; each is tried with the tool first."""
    made = []
    for n in range(steps):
        source = f"def f(x):\n    return x if len(x) == 2 else [v + {n} for v in x]"
        call = Reply(tool_calls=(ToolCall("a", "execute", {"code": source}),), finish="tool_calls")
        made.append([call, format_tuple_answer(source)])
    return made


async def seconds_a_step(
    store: Store | None, problems: list[Problem], inputs: InputSet, execute: Any, steps: int
) -> float:
    proposer = ScriptedProposer(replies(steps))
    session = ""
    if store is not None:
        settings = {"method": "abduce", "model_settings": proposer.settings()}
        session = store.create_session(settings, [(problem, inputs) for problem in problems])
    journal = InMemory() if store is None else store.journal(session)
    ledger = InMemory() if store is None else store.ledger(session)
    cases = [
        Case(
            session, problem, inputs, load_family("programs"), SessionSettings(method=MethodSettings(max_answers=steps)),
            proposer.settings(), journal, ledger, proposer=proposer, oracle=execute,
        )
        for problem in problems
    ]  # fmt: skip
    config = {"recursion_limit": 1_000_000}
    started = time.perf_counter()
    await asyncio.gather(
        *(METHOD.graph.ainvoke(START_STATE, config=config, context=case) for case in cases)
    )
    return (time.perf_counter() - started) / (steps * len(problems))


async def measure(steps: int, rounds: int) -> list[Row]:
    rows = []
    inputs = sample_space(0)
    sandbox = await open_sandbox("process", workers=2)
    execute = build_executor(sandbox, Limits())
    print(f"{'':34s} {'store':>9s} {'memory':>9s} {'added':>9s}   ms a step, medians of {rounds}")
    try:
        for side in (1, 8):
            problems = [Problem(str(i), "t", "programs", SHOWN) for i in range(side)]
            count = max(2, steps // side)
            kept, bare = [], []
            with tempfile.TemporaryDirectory() as folder:
                for turn in range(rounds + 1):
                    with Store.open(Path(folder) / f"{turn}.duckdb", write=True) as store:
                        kept.append(await seconds_a_step(store, problems, inputs, execute, count))
                    bare.append(await seconds_a_step(None, problems, inputs, execute, count))
            a, b = (statistics.median(some[1:]) * 1e3 for some in (kept, bare))
            label = f"{side} problem{'s side by side' if side > 1 else ' alone'}"
            print(f"{label:34s} {a:9.2f} {b:9.2f} {a - b:9.2f}   {a / b:.2f} times")
            work = f"a step of abduce with its journal, {label}"
            rows.append(Row(work, a, "ms", reference=b, compared_with="journal in memory"))
    finally:
        await sandbox.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=24, help="steps in all, for each figure")
    parser.add_argument("--rounds", type=int, default=5, help="medians are of so many")
    add_json_option(parser)
    options = parser.parse_args()
    write_rows(options.json, asyncio.run(measure(options.steps, options.rounds)))


if __name__ == "__main__":
    main()
