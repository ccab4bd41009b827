"""Sessions written by the store's own classes, without a run: any text may stand anywhere in them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peirce.records import (
    Agreement,
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
    Verdict,
)
from peirce.store import Store

SPACE = InputSet("s", tuple([n] for n in range(6)))


def over_space(codes: Sequence[int]) -> Predictions:
    return Predictions(np.array(codes, np.int64), np.zeros(len(codes), np.uint8), ())


def judged(problem: Problem, text: str, description: str = "", *, verdict: Verdict = Verdict.ACCEPTED,
           reason: str = "", value: Any = None, codes: Sequence[int] = (1, 2, 3, 4, 5, 6),
           meta: Mapping[str, Any] | None = None) -> JudgedHypothesis:  # fmt: skip
    """A hypothesis that gives `value` for each hidden observation, and agrees with what was shown."""
    if verdict is Verdict.MALFORMED:
        return JudgedHypothesis(verdict, reason, bad=True)
    shown = Agreement((True,) * len(problem.shown), ({"value": None},) * len(problem.shown))
    hidden = Agreement((False,) * len(problem.hidden), ({"value": value},) * len(problem.hidden))
    told = Hypothesis(text, description, meta or {"entry": "f"})
    return JudgedHypothesis(verdict, reason, told, 0.5, shown, hidden, over_space(codes), False)


def steps(problem: Problem, *each: tuple[str, JudgedHypothesis]) -> list[StepRecord]:
    """One answer a step: what was said, and what it was judged to be."""
    return [
        StepRecord(problem.id, n, (JudgedAnswer(f"step/{n}/propose/0", said, (one,)),))
        for n, (said, one) in enumerate(each, 1)
    ]


def write(
    path: Path,
    problems: Sequence[tuple[Problem, Sequence[StepRecord]]],
    *,
    settings: Mapping[str, Any] | None = None,
    ends: Mapping[str, tuple[str, str]] | None = None,
    calls: Sequence[tuple[str, str, Any, Any]] = (),
    space: InputSet = SPACE,
    status: str = "done",
    **fields: Any,
) -> str:
    """The id of a new session. ends: status and cause by problem. calls: problem, path, request,
    response of tools. Problems stay open where the session runs."""
    first = problems[0][0]
    told = {
        "task": first.task, "family": first.family, "method": "abduce", "model": "made up", "seed": 0,
        "answer_format": "tuple", "operational": {"observations": 2, "data": None}, **(settings or {}),
    }  # fmt: skip

    async def record(store: Store, session: str) -> None:
        ledger, journal = store.ledger(session), store.journal(session)
        for problem, path, request, response in calls:

            async def made(response: Any = response) -> Outcome:
                return Outcome(response)

            await journal.record_once(CallKey(session, problem, path), "tool", request, made)
        for problem, records in problems:
            for one in records:
                await ledger.record_step(one)
            if status != "running":
                await ledger.record_end(
                    problem.id, *(ends or {}).get(problem.id, ("done", "three_bad"))
                )

    with Store.open(path, write=True) as store:
        session = store.create_session(told, [(problem, space) for problem, _ in problems])
        asyncio.run(record(store, session))
        if status != "running":
            store.update_session(session, status=status, seconds=1.0, **fields)
    return session


def small_problem(name: str, **more: Any) -> Problem:
    """Of the programs family: drop the first element."""
    pairs = tuple(Observation([n, n + 1, 7], [n + 1, 7]) for n in range(4))
    return Problem(name, "list_functions", "programs", pairs[:2], pairs[2:], **more)
