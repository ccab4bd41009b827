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
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, Unpack

from ...config import RunConfig
from ...records import (
    Family,
    Json,
    Measuring,
    Problem,
    Proposer,
    UsageError,
)
from ..arguments import checked
from ..option_types import CheckOptions
from ..problems import choose
from ..session.driving import loop_runner, oracle_settings
from ..session.running import run_config
from .line_judge import Judge
from .results import CheckRow

T = TypeVar("T")
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
) -> Iterator[CheckRow]:
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
        A `CheckRow` for each line, each as soon as it is judged.
    """
    return _check(task, answers, evaluator, split, judge_model, run_config(None, settings))


def _check(
    task: str,
    answers: str | Path,
    evaluator: str,
    split: str | None,
    judge_model: str | Proposer | None,
    config: RunConfig,
) -> Iterator[CheckRow]:
    from ...tasks import family as family_named
    from ...tasks.io.files import locate, read_lines
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
        async with opened(family, oracle_settings(sandbox, config.cluster)) as tools:
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

    yield from as_they_come(judged, CheckRow.from_dict)


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


def as_they_come(
    work: Callable[[Callable[[Any], Awaitable[None]]], Any], build: Callable[[Any], T]
) -> Iterator[T]:
    """What `build` makes of each thing that `work` gives, as soon as it is given. The work runs in a
    thread of its own, since its time limits must go on while the caller is busy with what it got."""
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
                yield build(one[0])
            done.result()
        finally:
            left.set()
