"""A synthetic store as large as the study of the GEAR paper: 9 models, 15 settings (list
functions, MINI-ARC and ARC with 1 to 4 observations, ACRE with 2 to 4), 100 problems each, about
50,000 hypotheses that carry a vector of 14,101 codes each.

The vectors are those of programs: 36 list functions run over the sample space of list functions;
four of five are mixtures of two of them by a condition on the input (`if 3 in x: a else b`), so
that values repeat within and between hypotheses as they do in real ones; some are undefined on a
part of S.
Written through the store's own ledger.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from peirce.records import (
    Agreement,
    Hypothesis,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    Verdict,
)
from peirce.sandbox.inside.canonical import code_of
from peirce.store import Store
from peirce.tasks.programs.list_functions import sample_space

SETTINGS = [
    *(("list_functions", n) for n in (1, 2, 3, 4)),
    *(("mini_arc", n) for n in (1, 2, 3, 4)),
    *(("arc", n) for n in (1, 2, 3, 4)),
    *(("acre", n) for n in (2, 3, 4)),
]
# The chance that an answer is consistent and new, by model.
MODELS = {
    "able-a": 0.45, "able-b": 0.42, "mini": 0.2, "large-a": 0.18, "large-b": 0.15,
    "small-a": 0.06, "small-b": 0.1, "small-c": 0.02, "small-d": 0.08,
}  # fmt: skip
BAD = [Verdict.INCONSISTENT] * 65 + [Verdict.REDUNDANT] * 20 + [Verdict.MALFORMED] * 15
FUNCTIONS: list[Callable[[list[int]], Any]] = [
    lambda x: x, sorted, lambda x: x[::-1], lambda x: x[1:], lambda x: x[:-1],
    lambda x: [len(x)], lambda x: [sum(x)], lambda x: [max(x)], lambda x: [min(x)],
    lambda x: [x[0]], lambda x: [x[2]], lambda x: [x[-1]] * 3, lambda x: [],
    lambda x: [v for v in x if v % 2], lambda x: [v + 1 for v in x], lambda x: [v * 2 for v in x],
    lambda x: x + x, lambda x: x[:3], lambda x: x[3:], lambda x: list(dict.fromkeys(x)),
    lambda x: [v for v in x if v > 50], lambda x: [v % 10 for v in x], lambda x: [100 // v for v in x],
    lambda x: [x[0] + x[1]], lambda x: [7], lambda x: [0, *x], lambda x: [*x, len(x)],
    lambda x: [v for i, v in enumerate(x) if i % 2], lambda x: x[::2], lambda x: [x.count(v) for v in x],
    lambda x: sorted(x, reverse=True), lambda x: [v - x[0] for v in x], lambda x: [x[x[0]]],
    lambda x: [max(x) - min(x)], lambda x: [int(v > 30) for v in x], lambda x: [sum(x) // len(x)],
]  # fmt: skip
NAMES = ("IndexError", "ZeroDivisionError", "ValueError")


def base() -> list[tuple[np.ndarray, np.ndarray]]:
    """(codes, reasons) of each function over S."""
    inputs = sample_space(0).inputs
    made = []
    for function in FUNCTIONS:
        codes = np.zeros(len(inputs), np.int64)
        reasons = np.zeros(len(inputs), np.uint8)
        for i, x in enumerate(inputs):
            try:
                codes[i] = code_of(function(x))
            except (IndexError, ZeroDivisionError, ValueError) as error:
                reasons[i] = 1 + NAMES.index(type(error).__name__)
        made.append((codes, reasons))
    return made


class Conditions:
    """`k in x`, `sum(x) > k`, `max(x) > k`, `x[0] > k`, `len(x) > k` over S."""

    def __init__(self) -> None:
        inputs = sample_space(0).inputs
        self.has = np.array([[k in x for x in inputs] for k in range(100)])
        self.sums = np.array([sum(x) for x in inputs])
        self.most = np.array([max(x, default=0) for x in inputs])
        self.first = np.array([x[0] if x else 0 for x in inputs])
        self.lengths = np.array([len(x) for x in inputs])

    def draw(self, rng: random.Random) -> tuple[str, np.ndarray]:
        kind, k = rng.randrange(5), rng.randrange(100)
        if kind == 0:
            return f"{k} in x", self.has[k]
        if kind == 1:
            return f"sum(x) > {k * 8}", self.sums > k * 8
        if kind == 2:
            return f"max(x) > {k}", self.most > k
        if kind == 3:
            return f"x[0] > {k}", self.first > k
        return f"len(x) > {k % 16}", self.lengths > k % 16


def problem(task: str, number: int, n: int) -> Problem:
    pairs = tuple(Observation([number, i], [number + i]) for i in range(16))
    return Problem(f"{task}-{number}", task, "programs", pairs[:n], pairs[n:], {}, {}, f"{number}")


class Answers:
    """Steps of problems, of which each is a pure function of its seed."""

    def __init__(self) -> None:
        self.functions, self.conditions = base(), Conditions()

    def predictions(self, rng: random.Random) -> tuple[str, Predictions]:
        a, b = rng.sample(range(len(self.functions)), 2)
        (codes, reasons), other = self.functions[a], self.functions[b]
        text = f"def f(x):\n    return function_{a}(x)"
        if rng.random() < 0.8:
            condition, where = self.conditions.draw(rng)
            codes = np.where(where, codes, other[0])
            reasons = np.where(where, reasons, other[1])
            text = f"def f(x):\n    return function_{a}(x) if {condition} else function_{b}(x)"
        return text, Predictions(codes, reasons, NAMES)

    def judged(self, verdict: Verdict, problem: Problem, rng: random.Random) -> JudgedHypothesis:
        if verdict is Verdict.MALFORMED:
            return JudgedHypothesis(verdict, "no_code", bad=True)
        text, over_space = self.predictions(rng)

        def agreement(pairs: tuple[Observation, ...], chance: float) -> Agreement:
            marks = tuple(rng.random() < chance for _ in pairs)
            return Agreement(marks, tuple({"value": p.output} for p in pairs))

        shown = agreement(problem.shown, 1.0 if verdict.consistent else 0.3)
        hidden = agreement(problem.hidden, 0.5 if verdict.consistent else 0.1)
        hypothesis = Hypothesis(text, "a mixture of two functions", {"entry": "f"})
        bad = verdict is not Verdict.ACCEPTED
        return JudgedHypothesis(verdict, "", hypothesis, 0.5, shown, hidden, over_space, bad)

    def steps(self, problem: Problem, good: float, seed: str) -> Iterator[StepRecord]:
        """Until three answers were bad, or 25."""
        rng = random.Random(seed)
        bad = 0
        for step in range(1, 26):
            verdict = Verdict.ACCEPTED if rng.random() < good else rng.choice(BAD)
            one = self.judged(verdict, problem, rng)
            yield StepRecord(problem.id, step, (JudgedAnswer(f"step/{step}", "text", (one,)),))
            bad += one.bad
            if bad == 3:
                return


def write(
    path: Path,
    problems: int = 100,
    hypotheses: int | None = None,
    kind: Callable[[], Answers] = Answers,
) -> int:
    """Writes the study to a new store, whole or, with `hypotheses`, up to the session that reaches
    so many; returns the number of answers. The file has its name once it is whole."""
    answers = kind()
    over = sample_space(0)
    count = 0
    draft = path.with_name(path.name + ".part")
    draft.unlink(missing_ok=True)
    with Store.open(draft, write=True) as store:
        for task, n in SETTINGS:
            for model, good in MODELS.items():
                some = [problem(task, i, n) for i in range(problems)]
                settings = {
                    "task": task, "family": "programs", "method": "abduce", "model": model,
                    "seed": 0, "answer_format": "tuple",
                    "operational": {"observations": n, "data": None},
                }  # fmt: skip
                session = store.create_session(settings, [(one, over) for one in some])
                count += asyncio.run(_record(store, session, some, answers, f"{model} {n}", good))
                store.update_session(session, status="done")
                if hypotheses is not None and count >= hypotheses:
                    break
            else:
                continue
            break
    draft.replace(path)
    return count


async def _record(
    store: Store, session: str, some: list[Problem], answers: Answers, seed: str, good: float
) -> int:
    ledger = store.ledger(session)
    together = asyncio.Semaphore(32)

    async def one(problem: Problem) -> int:
        async with together:
            count = 0
            for record in answers.steps(problem, good, f"{seed} {problem.id}"):
                await ledger.record_step(record)
                count += 1
            await ledger.record_end(problem.id, "done", "cap" if count == 25 else "three_bad")
            return count

    return sum(await asyncio.gather(*(one(problem) for problem in some)))
