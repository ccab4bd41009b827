"""`peirce check TASK --answers FILE`: judges hypotheses that a user brings. No model, no session.

FILE is JSONL: `{"problem": ID, "hypothesis": TEXT}` (the function's source) or
`{"problem": ID, "answer": TEXT}` (a model's raw answer, parsed by the protocol's contract). What
is said of a line does not depend on the other lines, so redundancy, which does, is not judged.
Of an answer with several hypotheses the first is judged.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..records import (
    Agreement,
    DataError,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Limits,
    Malformed,
    Oracles,
    Problem,
    UsageError,
)
from .driving import loop_runner
from .problems import choose

LINES_AT_ONCE = 32


def check(
    task: str,
    answers: str | Path,
    *,
    data: str | Path | None = None,
    problems: int | None = None,
    problem: Sequence[str] = (),
    observations: int | str | Path | None = None,
    space: str | Path | None = None,
    seed: int = 0,
    answer_format: str | None = None,
    sandbox: str = "process",
    strict_sandbox: bool = False,
    workers: int | None = None,
) -> Iterator[dict[str, Json]]:
    """One object for each line of `answers`, in its order, with the keys of CLI.md.

    A line that cannot be judged gets the verdict "error" and a reason; the others still run.
    """
    from ..sandbox import open_sandbox
    from ..tasks import family as family_named
    from ..tasks.files import locate, read_lines
    from ..tools.execute import executor

    chosen = choose(
        task, data=data, problems=problems, problem=problem,
        observations=observations, space=space, seed=seed,
    )  # fmt: skip
    family = family_named(chosen.task.family)
    form = answer_format or family.answer_formats[0]
    if form not in family.answer_formats:
        raise UsageError(
            f"answer_format is {form!r}: it must be one of {', '.join(family.answer_formats)}"
        )
    known = {one.id: (one, inputs) for one, inputs in chosen.pairs}
    lines = read_lines(locate(answers, ()))
    with loop_runner() as complete:
        opened = complete(open_sandbox(sandbox, workers, strict_sandbox))
        try:
            judge = Judge(family, form, Oracles(execute=executor(opened, Limits())), known)
            while some := list(islice(lines, LINES_AT_ONCE)):
                yield from complete(judge.lines(some))
        finally:
            complete(opened.close())


@dataclass(frozen=True)
class Judge:
    """Judges lines of text against the problems in `known`, by id, with their sample spaces."""

    family: Family
    answer_format: str
    oracles: Oracles
    known: dict[str, tuple[Problem, InputSet]]

    async def lines(self, some: list[tuple[int, str]]) -> list[dict[str, Json]]:
        return await asyncio.gather(*(self.line(number, text) for number, text in some))

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
        from ..tasks.files import nearest

        return nearest(name, self.known)

    async def _judge(
        self, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.view(space)
        if key == "hypothesis":
            item = self.family.read(brought)
        else:
            items = self.family.parse(view, brought, self.answer_format)
            item = items[0] if items else Malformed("empty", "the answer holds no hypothesis")
        if isinstance(item, Malformed):
            nothing = [None] * len(problem.shown), [None] * len(problem.hidden)
            reason = f"{item.reason}: {item.detail}" if item.detail else item.reason
            return _said("malformed", reason, *nothing)
        return await self._apply(item, problem, space)

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet
    ) -> dict[str, Json]:
        view = problem.view(space)
        shown, hidden, (predicted,) = await asyncio.gather(
            self.family.agree(hypothesis, problem.shown, view, self.oracles),
            self.family.agree(hypothesis, problem.hidden, view, self.oracles),
            self.family.predict([hypothesis], space, view, self.oracles),
        )
        consistent = self.family.consistent(shown)
        marks = shown.marks, hidden.marks
        reason = None if consistent else _why(shown)
        verdict = "consistent" if consistent else "inconsistent"
        return _said(verdict, reason, *map(list, marks)) | {"undefined": predicted.undefined()}


def _read(number: int, text: str) -> tuple[str, str, str]:
    """(problem, "hypothesis" or "answer", text) of one line."""
    from ..tasks.files import parse_json

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
    }
