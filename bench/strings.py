"""The embedded search and cvc5 on examples of texts: `python bench/strings.py [FILE] [--half even|odd]
[--seconds 1 3 10] [--only search|cvc5] [--json FILE]`.

FILE has a problem per line, as the task `examples` reads it: {"id": …, "train": [{"input": …,
"output": …}, …], "test": […]}; without it, the task generates problems. A problem without hidden pairs
is left out. `--half` takes the problems at even or odd places of the file.

Each answer has the same seconds of wall-clock time, on one core: processes are killed at the limit, and
run one after another. The search examines `--rate` expansions for each second, about two thirds of what
one core does in it, and is also asked once with its standard budget and no limit. cvc5 is asked as
`--model cvc5` asks it (agents/cvc5). Up to `--answers` answers are asked for, each with the seconds
anew. An answer is right if it has the output of all hidden pairs, compared as the family does, and
raises nothing. Shares have 95% score intervals. The seconds are the median of the first answers, with
the start of a process; a problem without an answer counts as what it took to find none.

Not measured: cvc5 with the constants that the authors of the competition chose for each problem, or with
the options that competitors set.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Protocol

from peirce.records import DataError, InputSet, Observation, Problem
from peirce.reports.metrics.statistics import wilson_interval
from peirce.sandbox.inside.canonical import Unrepresentable, to_json_value
from peirce.sandbox.inside.tolerance import make_normaliser, normal_bytes
from peirce.search.budget import STANDARD
from peirce.tasks import load_task
from peirce.tasks.custom.words import EQUALITY
from peirce.tools.line_process import LineProcess, ProcessDied
from table import Row, add_json_option, format_table, write_rows, write_skipped

ERRORS = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(RecursionError, MemoryError, Unrepresentable),
)
MEMORY_MB = 2_048
GENERATED = 6


class Peer(Protocol):
    """Finds the next program for a problem, or None within its limit."""

    async def find(self, problem: Problem, space: InputSet, earlier: list[str]) -> str | None: ...

    async def close(self) -> None: ...


class Search:
    """The embedded search in a process that is killed at the limit, if there is one."""

    def __init__(self, expansions: float, seconds: float | None) -> None:
        self.expansions, self.seconds = expansions, seconds
        self.process = LineProcess("peirce.search.worker")

    async def find(self, problem: Problem, space: InputSet, earlier: list[str]) -> str | None:
        request: dict[str, Any] = {
            "shown": [[o.input, o.output] for o in problem.shown], "family": problem.family,
            "space": space.digest, "inputs": space.inputs, "skip": [],
        }  # fmt: skip
        try:
            if self.process.process is None:  # load the engine
                await self.process.ask({**request, "expansions": 1, "earlier": []})
            asked = {**request, "expansions": self.expansions, "earlier": earlier}
            return (await self.process.ask(asked, self.seconds)).get("source")
        except (TimeoutError, ProcessDied):
            await self.process.close()
            return None

    async def close(self) -> None:
        await self.process.close()


class Cvc5:
    """cvc5 as `--model cvc5` runs it."""

    def __init__(self, seconds: float) -> None:
        from peirce.agents.cvc5.proposer import Cvc5Proposer, synthesis_problem

        self.proposer = Cvc5Proposer(seconds, MEMORY_MB, 1, "")
        self.to_problem = synthesis_problem

    async def find(self, problem: Problem, space: InputSet, earlier: list[str]) -> str | None:
        asked = self.to_problem([(o.input, o.output) for o in problem.shown])
        if asked is None:
            return None
        return (await self.proposer.solve({**asked, "earlier": earlier})).get("source")

    async def close(self) -> None:
        await self.proposer.close()


@dataclass
class Outcome:
    """right: whether each answer is right on all hidden pairs; seconds: of the first answer."""

    problem: str
    right: list[bool]
    seconds: float


def is_right(text: str, problem: Problem) -> bool:
    normal = make_normaliser(problem.public.get(EQUALITY, {}))
    names: dict[str, Any] = {}
    try:
        exec(compile(text, "<answer>", "exec"), names)

        def agrees(pair: Observation) -> bool:
            came = normal_bytes(to_json_value(names["f"](pair.input)), normal)
            return bool(came == normal_bytes(to_json_value(pair.output), normal))

        return all(map(agrees, problem.hidden))
    except ERRORS:
        return False


async def measure(
    pairs: list[tuple[Problem, InputSet]], open_peer: Any, answers: int, show: bool
) -> list[Outcome]:
    outcomes = []
    for problem, space in pairs:
        peer: Peer = open_peer()
        texts: list[str] = []
        first = 0.0
        try:
            while len(texts) < answers:
                began = time.perf_counter()
                text = await peer.find(problem, space, texts)
                first = first or time.perf_counter() - began
                if text is None:
                    break
                texts.append(text)
        finally:
            await peer.close()
        outcomes.append(Outcome(problem.id, [is_right(text, problem) for text in texts], first))
        if show:
            print(f"{problem.id}: {outcomes[-1].right} {first:.2f} s", *texts, sep="\n", flush=True)
    return outcomes


def read_problems(path: str | None, half: str | None) -> list[Problem]:
    """Return the problems of a file, or generated ones, that have hidden pairs."""
    task: Any = load_task("examples")
    try:
        read = task.generate(GENERATED, 0) if path is None else task.load(path, None, 0)
    except DataError as error:
        raise SystemExit(str(error)) from None
    chosen = [one for one in (read[half == "odd" :: 2] if half else read) if one.hidden]
    if not chosen:
        raise SystemExit(f"{path}: no problem has hidden pairs")
    return chosen


def share(count: int, n: int) -> str:
    found = wilson_interval(count, n)
    return f"{count}/{n} = {found['mean']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", nargs="?", help="problems (default: generated)")
    parser.add_argument("--half", choices=("even", "odd"), help="of the places in the file")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1, 3, 10])
    parser.add_argument("--rate", type=float, default=50_000, help="expansions for a second")
    parser.add_argument("--answers", type=int, default=3, help="at most so many per problem")
    parser.add_argument("--only", choices=("search", "cvc5"))
    parser.add_argument("--show", action="store_true", help="print each answer")
    add_json_option(parser)
    given = parser.parse_args()
    chosen = read_problems(given.file, given.half)
    task: Any = load_task("examples")
    pairs = list(zip(chosen, task.spaces(chosen, 0), strict=True))
    peers: list[tuple[str, Any]] = []
    if given.only != "cvc5":
        peers = [(f"search, {STANDARD:,} expansions", partial(Search, STANDARD, None))]
    for seconds in given.seconds:
        search = partial(Search, seconds * given.rate, seconds)
        peers += [(f"search, {seconds:g} s", search)] if given.only != "cvc5" else []
        peers += (
            [(f"cvc5, {seconds:g} s", partial(Cvc5, seconds))] if given.only != "search" else []
        )
    if given.only != "search" and not has_cvc5():
        if given.only == "cvc5":
            write_skipped(given.json, "no cvc5 here: pip install 'peirce[peers]'")
            return
        print("NOT MEASURED: cvc5, which is not here: pip install 'peirce[peers]'", flush=True)
        peers = [one for one in peers if one[0].startswith("search")]
    n, rows, body = len(pairs), [], []
    for name, open_peer in peers:
        found = asyncio.run(measure(pairs, open_peer, given.answers, given.show))
        answered = sum(bool(one.right) for one in found)
        first, among = (sum(any(one.right[:k]) for one in found) for k in (1, given.answers))
        seconds = median(one.seconds for one in found)
        body.append((name, f"{answered}/{n}", share(first, n), share(among, n), f"{seconds:.2f}"))
        rows += [
            Row(f"texts from examples: first answer right, {name}", first / n, "", "higher"),
            Row(
                f"texts from examples: one of {given.answers} right, {name}",
                among / n,
                "",
                "higher",
            ),
            Row(f"texts from examples: time of the first answer, {name}", seconds, "s"),
        ]
    heads = ("", "answered", "first right", f"one of {given.answers} right", "median s")
    print(f"{n} problems\n{format_table(heads, body)}")
    write_rows(given.json, rows)


def has_cvc5() -> bool:
    from importlib.util import find_spec

    return find_spec("cvc5") is not None


if __name__ == "__main__":
    main()
