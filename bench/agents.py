"""What an agent's step costs beyond its model and its sandbox: `python bench/agents.py
[--problems 64] [--steps 3] [--concurrency 32]`.

Real HTTP to an endpoint in a process of its own, the real sandbox, a store on disk, the sample
space of 14,101 lists. A step of `abduce` here is 1.6 model calls, 0.6 calls of the tool, three
runs of the hypothesis and its record. Two views of one thing, each as a distribution over steps:

work: CPU time of the loop's thread, with an endpoint that answers at once, which is what limits
the throughput of one process. The same answers from a proposer in this process are our own part;
as many bare ChatOpenAI calls with the same messages are the part of langchain-openai, openai and
httpx. What the loop spends between callbacks (its select, reading sockets) belongs to no step and
is added to each alike. The store's writer is another thread: its CPU time a step stands beside it.

latency: wall clock that a step takes longer than its model and its sandbox, with an endpoint that
takes 1 to 3 seconds, as a model does. Calls that run side by side count once. Waiting for a free
worker is the sandbox's; waiting for the loop and for commits is ours.

`bench/flight.py` has the memory of many problems in flight.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from endpoint import drawn, said, served
from peirce.agents import open_model
from peirce.graphs.runtime.runner import run_session
from peirce.records import Observation, OracleSettings, Problem, Reply, ToolCall, ToolSpec, View
from peirce.store import Store
from peirce.tasks.programs.list_functions import sample_space
from peirce.tools.execute import EXECUTE
from table import Row, add_json_option, write_rows

SHOWN = tuple(Observation([n] * (n % 3), [n] * (n % 3)) for n in range(8))
Calls = list[dict[str, Any]]


class Here:
    """The endpoint's answers from a proposer in this process."""

    def settings(self) -> Any:
        return {"scheme": "here", "model": "m"}

    async def propose(
        self, view: View, messages: Sequence[Any], tools: Sequence[ToolSpec], seed: int,
        schema: Any = None,
    ) -> Reply:  # fmt: skip
        await asyncio.sleep(0)
        answer = said(messages, tools, drawn(messages, seed) // 1_000)
        calls = tuple(
            ToolCall(
                call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])
            )
            for call in answer.get("tool_calls", ())
        )
        return Reply(answer["content"] or "", calls, "tool_calls" if calls else "stop")

    async def close(self) -> None:
        return None


# --- whose the loop's time is -------------------------------------------------

PROBLEM: ContextVar[str] = ContextVar("PROBLEM")


class Charging(asyncio.SelectorEventLoop):
    """A loop that notes the CPU seconds of each callback for the problem in whose context it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.spent_s: dict[str, float] = defaultdict(float)

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
        return super().call_soon(self._charged, callback, args, context=context)

    def _charged(self, callback: Callable[..., object], args: Iterable[Any]) -> None:
        start = time.thread_time()
        try:
            callback(*args)
        finally:
            self.spent_s[PROBLEM.get("")] += time.thread_time() - start


class Steps:
    """Listens to a session's events. cpu_ms: of each step, what was charged to it; beyond_ms:
    wall clock less its calls, and less the endpoint's own time and the sandbox alone."""

    def __init__(self) -> None:
        self.calls = 0
        self.cpu_ms: dict[tuple[str, int], float] = {}
        self.beyond_calls_ms: dict[tuple[str, int], float] = {}
        self.beyond_model_ms: dict[tuple[str, int], float] = {}
        self._began: dict[str, tuple[float, float]] = {}  # wall clock and charged CPU
        self._running: dict[tuple[str, str], float] = {}
        self._spans: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
        self._told_s: dict[str, float] = defaultdict(float)
        self._step: dict[str, int] = defaultdict(int)
        self._thread_s: list[float] = []

    def __call__(self, event: Any) -> None:
        name = event.get("problem", "")
        if event["type"] == "problem_started":
            PROBLEM.set(name)
            self._thread_s.append(time.thread_time())
            self._begin(name)
        elif event["type"] == "call_started":
            self._running[name, event["path"]] = time.perf_counter()
        elif event["type"] == "call":
            start = self._running.pop((name, event["path"]))
            self._spans[name].append((event["kind"], start, start + event["seconds"]))
            self.calls += event["kind"] == "model"
            self._told_s[name] += event["usage"]["tokens_in"] / 1e3
        elif event["type"] == "step":
            self._step[name] += 1
            self._end(name)
            self._begin(name)
        elif event["type"] == "problem_ended":  # what came after the last step is that step's
            self._end(name)
            self._thread_s.append(time.thread_time())

    def work_ms(self) -> list[float]:
        """CPU of each step, with an equal share of what the loop spent on nobody's behalf."""
        whole = 1e3 * (self._thread_s[-1] - self._thread_s[0])
        rest = (whole - sum(self.cpu_ms.values())) / len(self.cpu_ms)
        return [ms + rest for ms in self.cpu_ms.values()]

    def _begin(self, name: str) -> None:
        self._began[name] = (time.perf_counter(), self._charged(name))
        self._spans[name].clear()
        self._told_s[name] = 0.0

    def _charged(self, name: str) -> float:
        loop = asyncio.get_running_loop()
        return loop.spent_s[name] if isinstance(loop, Charging) else 0.0

    def _end(self, name: str) -> None:
        wall, cpu = self._began[name]
        whole = time.perf_counter() - wall
        spans = self._spans[name]
        tools = covered_s(span for span in spans if span[0] == "tool")
        for found, ms in (
            (self.cpu_ms, self._charged(name) - cpu),
            (self.beyond_calls_ms, whole - covered_s(spans)),
            (self.beyond_model_ms, whole - tools - self._told_s[name]),
        ):
            step = (name, self._step[name])
            found[step] = found.get(step, 0.0) + 1e3 * ms


def covered_s(spans: Iterable[tuple[str, float, float]]) -> float:
    """Seconds in which at least one of the spans ran."""
    total, until = 0.0, float("-inf")
    for _, start, end in sorted(spans, key=lambda span: span[1]):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


# --- what is measured ---------------------------------------------------------


async def session(
    proposer: Any, problems: int, steps: int, concurrency: int
) -> tuple[Steps, Calls, float]:
    """One session: its steps, its calls, and the CPU milliseconds a step of the store's writer."""
    heard = Steps()
    sandbox = await EXECUTE.open(OracleSettings(workers=2))
    settings = {"task": "list-functions", "method": "abduce", "model": "m", "seed": 0,
                "max_answers": steps, "model_settings": proposer.settings()}  # fmt: skip
    lists = sample_space(0)
    pairs = [(Problem(str(n), "list-functions", "programs", SHOWN), lists) for n in range(problems)]
    try:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s.duckdb", write=True) as store:  # fmt: skip
            made = store.create_session(settings, pairs)
            before = writer_s()
            await run_session(store, made, proposer=proposer, oracle=sandbox,
                              concurrency=concurrency, on_event=heard)  # fmt: skip
            written = 1e3 * (writer_s() - before) / len(heard.cpu_ms)
            return heard, store.calls(made), written
    finally:
        await sandbox.close()
        await proposer.close()


def writer_s() -> float:
    """CPU seconds so far of the thread that writes the store."""
    (writer,) = (thread for thread in threading.enumerate() if thread.name == "store-writer")
    assert writer.ident is not None
    return time.clock_gettime(time.pthread_getcpuclockid(writer.ident))


async def bare(model: str, calls: Calls, concurrency: int) -> float:
    """CPU milliseconds of the loop's thread for the model calls of a session by ChatOpenAI alone."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    url, _, name = model.partition("#")
    chat = ChatOpenAI(model=name, base_url=url, api_key=SecretStr("none"), max_retries=0)
    turn = asyncio.Semaphore(concurrency)

    async def one(request: Any) -> None:
        tools = [{"type": "function", "function": tool} for tool in request["tools"]]
        extra = {"tools": tools} if tools else {}
        async with turn:
            await chat.ainvoke(request["messages"], seed=request["seed"], **extra)

    start = time.thread_time()
    await asyncio.gather(*(one(call["request"]) for call in calls if call["kind"] == "model"))
    return 1e3 * (time.thread_time() - start)


async def through(model: str, *size: int) -> tuple[Steps, Calls, float]:
    return await session(await open_model(model, {}), *size)


def line(label: str, found: Sequence[float]) -> None:
    parts = statistics.quantiles(found, n=20)
    figures = (parts[0], statistics.median(found), parts[-1], max(found))
    print(f"{label:56s}" + "".join(f"{figure:9.1f}" for figure in figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--steps", type=int, default=3, help="of each problem")
    parser.add_argument("--concurrency", type=int, default=32)
    add_json_option(parser)
    given = parser.parse_args()
    size = (given.problems, given.steps, given.concurrency)
    print(f"{given.concurrency} problems side by side, ms a step{'':25s}   5%   median      95%     most")  # fmt: skip

    with served() as model, asyncio.Runner(loop_factory=Charging) as runner:
        runner.run(through(model, 4, 2, 4))  # imports
        runner.run(bare(model, [], 1))
        whole, calls, written = runner.run(through(model, *size))
        ours, _, alone = runner.run(session(Here(), *size))
        client = runner.run(bare(model, calls, given.concurrency)) / len(whole.cpu_ms)
    line("work of the loop's thread, HTTP client included", whole.work_ms())
    line("  with the proposer in this process", ours.work_ms())
    print(
        f"  {whole.calls / len(whole.cpu_ms):.2f} bare ChatOpenAI calls{'':27s} mean {client:.1f}"
    )
    print(f"work of the store's writer{'':31s}mean {written:.1f}, {alone:.1f}")

    with served(1.0, 3.0) as model:
        waited, _, _ = asyncio.run(through(model, *size))
    line("latency beyond model and sandbox", list(waited.beyond_model_ms.values()))
    line("  beyond model, sandbox and HTTP client", list(waited.beyond_calls_ms.values()))
    median, bare_calls = statistics.median, "its bare ChatOpenAI calls"
    rows = [
        Row("CPU of the loop's thread for a step, HTTP client included", median(whole.work_ms()),
            "ms", reference=client, compared_with=bare_calls),
        Row("CPU of the loop's thread for a step, proposer in this process",
            median(ours.work_ms()), "ms"),
        Row("CPU of the store's writer for a step", written, "ms"),
        Row("latency of a step beyond model and sandbox", median(waited.beyond_model_ms.values()),
            "ms"),
    ]  # fmt: skip
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
