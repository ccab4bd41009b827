"""`peirce check TASK --answers FILE`: judges hypotheses that a user brings. No session, and no model
but one that is named to label texts.

FILE is JSONL: `{"problem": ID, "hypothesis": TEXT}` (the function's source) or
`{"problem": ID, "answer": TEXT}` (a model's raw answer, parsed by the protocol's contract). What
is said of a line does not depend on the other lines, so redundancy, which does, is not judged.
Of an answer with several hypotheses the first is judged.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from ...config import RunConfig
from ...records import (
    Agreement,
    DataError,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Measuring,
    Observation,
    Oracles,
    Problem,
    Proposer,
    UsageError,
)
from ..arguments import checked
from ..option_types import CheckOptions
from ..problems import choose
from ..session.driving import loop_runner
from ..session.running import run_config

LINES_AT_ONCE = 32
NO_SPACE = InputSet("none", ())
GIVEN_AHEAD = 1_000  # results that wait for the caller


@checked
def check(
    task: str,
    answers: str | Path,
    *,
    evaluator: str = "exact",
    split: str | None = None,
    judge_model: str | Proposer | None = None,
    **settings: Unpack[CheckOptions],
) -> Iterator[dict[str, Json]]:
    """Judge hypotheses that you bring: one object for each line of `answers`, in its order.

    A line that cannot be judged gets the verdict "error" and a reason; the others still run. A
    sentence about labelled text that is no exact rule is judged by `judge_model`; where none is named
    it is consistent with nothing that is shown: "inconsistent", reason "needs_model: …", null marks,
    no accuracy.

    Args:
        task: the name of a task, or the path of your own task file.
        answers: JSONL of hypotheses or raw answers.
        evaluator: of rules about worlds, exact or released.
        split: of labelled text, the rows that stand as hidden: ind, ood or val (the first that there
            is), on which "accuracy", "f1" and "covered" are the sentence's own.
        judge_model: labels texts; settings of it: roles["judge"].
        settings: of the data, the contract, the sandbox and the judging, as of `run`.

    Returns:
        {"problem", "line", "verdict" (consistent, inconsistent, malformed, error), "reason",
        "observations" and "hidden" (a mark each: true, false, null), "undefined" (inputs of S by
        reason), "breaches", "seconds"} and what the family measures.
    """
    return _check(task, answers, evaluator, split, judge_model, run_config(None, settings))


def _check(
    task: str,
    answers: str | Path,
    evaluator: str,
    split: str | None,
    judge_model: str | Proposer | None,
    config: RunConfig,
) -> Iterator[dict[str, Json]]:
    from ...tasks import family as family_named
    from ...tasks.files import locate, read_lines
    from ...tools.solve import check_solver
    from ..opening import opened

    sandbox = config.sandbox
    chosen = choose(task, config.data)
    family = family_named(chosen.task.family, strict_contract=config.method.strict_contract)
    of_text = _of_text(family, chosen.problems, config, split, judge_model)
    form = config.method.answer_format or family.answer_formats[0]
    if form not in family.answer_formats:
        raise UsageError(
            f"answer_format is {form!r}: it must be one of {', '.join(family.answer_formats)}"
        )
    check_solver(sandbox.solver)
    known = {one.id: (one, inputs) for one, inputs in chosen.pairs}
    if isinstance(family, Measuring):
        known = {name: (family.seen(one, evaluator), s) for name, (one, s) in known.items()}
        family = family.by(evaluator)
    if of_text is not None:
        known = of_text.by_name(known)
    lines = read_lines(locate(answers, ()), errors="surrogateescape")

    async def judged(give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        opening = opened(
            family, sandbox=sandbox.sandbox, workers=config.cluster.workers,
            strict_sandbox=sandbox.strict_sandbox, solver=sandbox.solver,
        )  # fmt: skip
        async with opening as tools:
            if missing := [name for name, on in tools.layers.items() if not on]:
                warnings.warn(
                    f"the sandbox {sandbox.sandbox} runs here without {', '.join(missing)} (docs/safety.md)",
                    stacklevel=2,
                )
            if of_text is None:
                await Judge(family, form, tools.oracles(), known, evaluator).lines(lines, give)
                return
            async with of_text.asked.opened() as proposer:
                await of_text.judge(form, known, config.data.seed, proposer).lines(lines, give)

    yield from as_they_come(judged)


def _of_text(
    family: Family,
    problems: Sequence[Problem],
    config: RunConfig,
    split: str | None,
    judge_model: str | Proposer | None,
) -> Any:
    """How sentences about labelled text are judged, a `text_checking.Checking`; None of another
    family, which takes none of these options."""
    if family.oracle != "judge":
        own = {"split": split, **config.text.given(), "judge_model": judge_model}
        for name, value in own.items():
            if value is not None:
                raise UsageError(
                    f"{name.replace('_', '-')} is {value!r}: it is of tasks with labelled text, as"
                    f" labels; {family.name} tasks take none"
                )
        return None
    from .text_checking import checking

    return checking(family, problems, config, split, judge_model)


def as_they_come(work: Callable[[Callable[[Any], Awaitable[None]]], Any]) -> Iterator[Any]:
    """What `work` gives, each as soon as it is given. It runs in a thread of its own, since its
    time limits must go on while the caller is busy with what it got."""
    given: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    left = threading.Event()

    async def give(one: Any) -> None:
        given.put((one,))
        while given.qsize() > GIVEN_AHEAD and not left.is_set():
            await asyncio.sleep(0.05)

    async def until_left() -> None:
        task = asyncio.ensure_future(work(give))
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            if left.is_set():
                task.cancel()
        if not (left.is_set() and task.cancelled()):
            task.result()

    def run() -> None:
        try:
            with loop_runner() as complete:
                complete(until_left())
        finally:
            given.put(())

    with ThreadPoolExecutor(1) as thread:
        try:
            done = thread.submit(run)
            while one := given.get():
                yield one[0]
            done.result()
        finally:
            left.set()


@dataclass(frozen=True)
class Judge:
    """Judges lines of text against the problems in `known`, by id, with their sample spaces."""

    family: Family
    answer_format: str
    oracles: Oracles
    known: dict[str, tuple[Problem, InputSet]]
    evaluator: str = "exact"

    async def lines(
        self,
        lines: Iterator[tuple[int, str]],
        give: Callable[[dict[str, Json]], Awaitable[None]],
    ) -> None:
        """Some lines side by side; gives what is said of each in their order."""
        going: deque[asyncio.Task[dict[str, Json]]] = deque()
        try:
            while True:
                for number, text in islice(lines, LINES_AT_ONCE - len(going)):
                    going.append(asyncio.create_task(self.line(number, text)))
                if not going:
                    return
                said = await going[0]
                going.popleft()
                await give(said)
        finally:
            for task in going:
                task.cancel()
            await asyncio.gather(*going, return_exceptions=True)

    async def line(self, number: int, text: str) -> dict[str, Json]:
        start = time.perf_counter()
        said: dict[str, Json] = {"problem": None, "line": number}
        try:
            name, key, brought = _read(number, text)
            said["problem"] = name
            if name not in self.known:
                raise DataError(f"no problem {name!r}{self._nearest(name)}")
            said |= await self._judge(*self.known[name], key, brought)
        except DataError as error:
            said |= _said("error", str(error), [], [])
        return said | {"seconds": round(time.perf_counter() - start, 4)}

    def _nearest(self, name: str) -> str:
        from ...tasks.sentences import nearest

        return nearest(name, self.known)

    async def _judge(
        self, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.view(space)
        if key == "hypothesis":
            item = self.family.read(brought, view)
        else:
            items = self.family.parse(view, brought, self.answer_format)
            item = items[0] if items else Malformed("empty", "the answer holds no hypothesis")
        if isinstance(item, Malformed):
            nothing = [None] * len(problem.shown), [None] * len(self.hidden(problem))
            reason = f"{item.reason}: {item.detail}" if item.detail else item.reason
            return _said("malformed", reason, *nothing) | self._measures(problem, key, brought)
        return await self._apply(item, problem, space, key, brought)

    def hidden(self, problem: Problem) -> Sequence[Observation]:
        """What stands as hidden."""
        return problem.hidden

    def _measures(
        self,
        problem: Problem,
        key: str,
        brought: str,
        shown: Agreement | None = None,
        hidden: Agreement | None = None,
    ) -> dict[str, Json]:
        """What a family measures beside the verdict, where it does."""
        if not isinstance(self.family, Measuring):
            return {}
        text = brought if key == "hypothesis" else self.family.said(problem.view(NO_SPACE), brought)
        return self.family.measures(problem, text, shown, hidden, self.evaluator)

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.view(space)
        shown, hidden, (predicted,) = await asyncio.gather(
            self.family.agree(hypothesis, problem.shown, view, self.oracles),
            self.family.agree(hypothesis, self.hidden(problem), view, self.oracles),
            self.family.predict([hypothesis], space, view, self.oracles),
        )
        consistent = self.family.consistent(shown)
        marks = shown.marks, hidden.marks
        reason = None if consistent else _why(shown)
        verdict = "consistent" if consistent else "inconsistent"
        return _said(verdict, reason, *map(list, marks)) | {
            "undefined": predicted.undefined(),
            "breaches": list(hypothesis.breaches),
            **self._measures(problem, key, brought, shown, hidden),
        }


def _read(number: int, text: str) -> tuple[str, str, str]:
    """(problem, "hypothesis" or "answer", text) of one line."""
    from ...tasks.json_text import SURROGATE, parse_json

    if SURROGATE.search(text):  # what stands for bytes that are not UTF-8
        raise DataError(f"line {number}: not UTF-8 text")
    row = parse_json(text, f"line {number}")
    if not isinstance(row, dict) or type(row.get("problem")) not in (str, int):  # true is no id
        raise DataError(f'line {number}, problem: not an object with the id of a "problem"')
    keys = [key for key in ("hypothesis", "answer") if isinstance(row.get(key), str)]
    if len(keys) != 1:
        raise DataError(f'line {number}: it must hold one text, "hypothesis" or "answer"')
    return str(row["problem"]), keys[0], row[keys[0]]


def _why(shown: Agreement) -> str:
    if shown.verdict != "ok":
        return shown.verdict
    wrong = sum(mark is False for mark in shown.marks)
    causes = Counter(got["undefined"] for got in shown.got if "undefined" in got)
    parts = [f"{wrong} wrong"] if wrong else []
    parts += [f"{count} undefined ({cause})" for cause, count in causes.items()]
    return f"{', '.join(parts) or 'not consistent'} of {len(shown.marks)} shown"


def _said(
    verdict: str, reason: str | None, observations: list[Json], hidden: list[Json]
) -> dict[str, Json]:
    return {
        "verdict": verdict,
        "reason": reason,
        "observations": observations,
        "hidden": hidden,
        "undefined": {},
        "breaches": [],
    }
