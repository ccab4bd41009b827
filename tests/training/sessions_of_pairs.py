"""Small sessions drawn from a seed, written into a store without executing anything, and their
preference pairs by loops over Python sets and fractions, straight from the definition.

Internals: the words of a prompt are those of rendering.prompt, which test_rendering.py compares with
what a session asks.
"""

from __future__ import annotations

import asyncio
import random
from fractions import Fraction
from itertools import combinations

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
from peirce.store import Store
from peirce.tasks import problem_family
from peirce.training import pair_prompts

NAMES = ("IndexError", "loop_steps")


def problem(name: str, shown: int = 2, task: str = "list_functions", offset: int = 0) -> Problem:
    pairs = tuple(Observation([offset + i, 7], [offset + i]) for i in range(4))
    return Problem(name, task, "programs", pairs[:shown], pairs[shown:], {}, {}, name)


def space(size: int, weighted: bool = False) -> InputSet:
    weights = tuple(0.5 * (1 + i % 3) for i in range(size)) if weighted else None
    return InputSet("S", tuple([i] for i in range(size)), weights)


def judged(verdict: Verdict, text: str, codes: list[int | None]) -> JudgedHypothesis:
    """codes: None where undefined."""
    if verdict is Verdict.MALFORMED:
        return JudgedHypothesis(verdict, "no_tuple: there is no tuple", bad=True)
    shown = Agreement((verdict.consistent,), ({"value": [1]},))
    predictions = Predictions(
        np.array([code or 0 for code in codes], np.int64),
        np.array([0 if code is not None else 1 for code in codes], np.uint8),
        NAMES,
    )
    said = Hypothesis(f"def f(x): return {text!r}", f"It is {text}.", {"entry": "f"})
    return JudgedHypothesis(verdict, "", said, 0.0, shown, None, predictions)


def write(
    store: Store,
    listed: list[tuple[Problem, list[JudgedAnswer]]],
    over: InputSet,
    proposed_by: tuple[str, ...] = (),
    **settings: object,
) -> str:
    """A session of these answers, a step each, in the store; its id. proposed_by: the role of each step,
    in a session with a second proposer."""
    told = {"task": "list_functions", "family": "programs", "method": "abduce", "model": "a",
            "answer_format": "tuple", "equality": 1, **settings}  # fmt: skip
    session = store.create_session(told, [(one, over) for one, _ in listed])
    ledger = store.ledger(session)

    async def steps() -> None:
        for one, given in listed:
            for number, answer in enumerate(given, start=1):
                fields = {"proposed_by": proposed_by[number - 1]} if proposed_by else {}
                await ledger.record_step(StepRecord(one.id, number, (answer,), fields))
            await ledger.record_end(one.id, "done", "cap")

    asyncio.run(steps())
    store.update_session(session, status="done")
    return session


def answered(
    verdict: Verdict, text: str, codes: list[int | None], *more: JudgedHypothesis
) -> JudgedAnswer:
    return JudgedAnswer("step/1/propose/0", f"answer {text}", (judged(verdict, text, codes), *more))


def draw_sessions(store: Store, seed: int) -> list[str]:
    """One to three sessions that share problems, some texts and one sample space."""
    rng = random.Random(seed)
    size = rng.randint(0, 7)
    over = space(size, weighted=rng.random() < 0.5)
    problems = [
        problem(f"p{i}", 1 + i % 2, offset=rng.choice([0, 0, i])) for i in range(rng.randint(1, 3))
    ]
    fates: dict[tuple[str, str], tuple[Verdict, list[int | None]]] = {}
    for one in problems:
        for text in "abcdefgh":
            verdict = rng.choice(
                [Verdict.MALFORMED, Verdict.INCONSISTENT, Verdict.ACCEPTED, Verdict.REDUNDANT,
                 Verdict.ACCEPTED]
            )  # fmt: skip
            codes = [rng.choice([0, 0, 1, 2, None]) for _ in range(size)]
            fates[one.id, text] = (verdict, codes)
    sessions = []
    for number in range(rng.randint(1, 3)):
        listed = []
        for one in rng.sample(problems, rng.randint(1, len(problems))):
            texts = rng.choices("abcdefgh", k=rng.randint(0, 7))
            some = []
            for text in texts:
                verdict, codes = fates[one.id, text]
                second = [judged(Verdict.ACCEPTED, "z", codes)] if text in "ab" else []
                if verdict is Verdict.MALFORMED:
                    second = []
                some.append(answered(verdict, text, codes, *second))
            listed.append((one, some))
        sessions.append(write(store, listed, over, model=f"model {number % 2}"))
    return sessions


# --- by the definition ----------------------------------------------------------------------


Pair = tuple[str, str, str, int]  # prompt, chosen, rejected, stage


def naive_pairs(store: Store, sessions: list[str]) -> set[Pair]:
    pools: dict[str, dict[str, JudgedHypothesis]] = {}
    problems: dict[str, tuple[Problem, InputSet]] = {}
    for session in sessions:
        for row in store.problems(session):
            problems.setdefault(row.problem.id, (row.problem, store.input_set(row.space)))
        for step in store.steps(session):
            for answer in step.answers:
                first = next((one for one in answer.judged if one.hypothesis), answer.judged[0])
                pools.setdefault(step.problem, {})[answer.text] = first
    found: set[Pair] = set()
    for name, pool in pools.items():
        one, over = problems[name]
        weights = [Fraction(w) for w in over.weights or [1] * len(over)]
        consistent = sorted(text for text, said in pool.items() if said.verdict.consistent)
        sets = {text: predicted(pool[text]) for text in consistent}
        for c in (0, 1, 2):
            for context in combinations(consistent, c):
                asked = prompt(one, over, [pool[text] for text in context])
                for two in combinations([text for text in sorted(pool) if text not in context], 2):
                    decided = decide(pool, sets, context, two, weights)
                    if decided is not None:
                        found.add((asked, *decided))
    return found


def predicted(said: JudgedHypothesis) -> set[tuple[int, int]]:
    assert said.space is not None
    return {
        (i, int(code))
        for i, (code, reason) in enumerate(zip(said.space.codes, said.space.reasons, strict=True))
        if not reason
    }


def prompt(one: Problem, over: InputSet, context: list[JudgedHypothesis]) -> str:
    said = [found.hypothesis for found in context if found.hypothesis is not None]
    (asked,) = pair_prompts.render_prompt(
        one.make_view(over), said, problem_family(one).words, "tuple"
    )
    return str(asked["content"])


def decide(
    pool: dict[str, JudgedHypothesis],
    sets: dict[str, set[tuple[int, int]]],
    context: tuple[str, ...],
    two: tuple[str, ...],
    weights: list[Fraction],
) -> tuple[str, str, int] | None:
    """Chosen, rejected and stage."""
    for stage, well in enumerate(
        (lambda s: s.hypothesis is not None, lambda s: s.verdict.consistent)
    ):
        good = [text for text in two if well(pool[text])]
        if len(good) == 1:
            return good[0], next(text for text in two if text != good[0]), stage
        if not good:
            return None
    scores = [score(sets, context, text, weights) for text in two]
    if scores[0] == scores[1]:
        return None
    best = two[scores.index(max(scores))]
    return best, next(text for text in two if text != best), 2


def score(
    sets: dict[str, set[tuple[int, int]]],
    context: tuple[str, ...],
    text: str,
    weights: list[Fraction],
) -> Fraction:
    def size(some: set[tuple[int, int]]) -> Fraction:
        return sum((weights[i] for i, _ in some), Fraction(0))

    def gamma(names: tuple[str, ...]) -> Fraction:
        return size(set().union(*(sets[name] for name in names))) / (sum(weights) or 1)

    def beta(names: tuple[str, ...]) -> Fraction:
        apart = []
        for a, b in combinations(names, 2):
            union = size(sets[a] | sets[b])
            apart.append(1 - size(sets[a] & sets[b]) / union if union else Fraction(0))
        return sum(apart, Fraction(0)) / len(apart) if apart else Fraction(0)

    new = (*context, text)
    g = size(sets[text]) / (sum(weights) or 1)
    return (g + gamma(new) - gamma(context) + beta(new) - beta(context)) / 3
