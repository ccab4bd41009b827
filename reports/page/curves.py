"""How a session went: verdicts by step, what the problems had found after so many answers, how their
banks grew; and where a (gamma, beta) can lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...records import Json, StepRecord, Verdict
from ...tools.gear.scores import beta_bounds

VERDICTS = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
REGIONS = 3  # numbers of hypotheses whose region is drawn
PLACES = 33  # of a region's border


class Course:
    """Gathers the steps of a session, problem by problem."""

    def __init__(self) -> None:
        self._by_step: dict[int, Counter[Verdict]] = {}
        self._found: list[list[int]] = []  # of each problem, accepted after each answer
        self._banks: list[dict[str, Json]] = []

    def add(self, steps: Sequence[StepRecord]) -> None:
        found, accepted = [], 0
        for step in steps:
            counted = self._by_step.setdefault(step.step, Counter())
            for answer in step.answers:
                verdicts = [one.verdict for one in answer.judged]
                counted.update(verdicts)
                accepted += verdicts.count(Verdict.ACCEPTED)
                found.append(accepted)
        self._found.append(found)

    def banks(self, growth: Iterable[Mapping[str, Any]]) -> None:
        """growth: of `Store.bank_growth`, all problems."""
        by_problem: dict[str, dict[int, Mapping[str, Any]]] = {}
        for row in growth:
            by_problem.setdefault(str(row["problem"]), {})[int(row["step"])] = row
        last = max((step for rows in by_problem.values() for step in rows), default=0)
        held: dict[str, Mapping[str, Any]] = {}
        for step in range(1, last + 1):
            held.update({name: rows[step] for name, rows in by_problem.items() if step in rows})
            sizes = [row["size"] for row in held.values()]
            known = [row["accuracy"] for row in held.values() if row["accuracy"] is not None]
            self._banks.append({
                "step": step,
                "size": round(sum(sizes) / max(1, len(by_problem)), 4),
                "accuracy": round(sum(known) / len(known), 4) if known else None,
            })  # fmt: skip

    def as_json(self) -> dict[str, Json]:
        """verdicts: of each step, how often each was given. found: after so many answers, the mean number
        of accepted hypotheses and the share of problems with one; a problem that has ended stays at its
        last value. bank: mean size and mean best accuracy after each step, banks begun or not."""
        longest = max(map(len, self._found), default=0)
        found = []
        for answers in range(1, longest + 1):
            counts = [one[min(answers, len(one)) - 1] if one else 0 for one in self._found]
            found.append({
                "answers": answers,
                "accepted": round(sum(counts) / len(counts), 4),
                "solved": round(sum(count > 0 for count in counts) / len(counts), 4),
                "asked": sum(len(one) >= answers for one in self._found),
            })  # fmt: skip
        return {
            "verdicts": [
                {"step": step, **{verdict.value: counted[verdict] for verdict in VERDICTS}}
                for step, counted in sorted(self._by_step.items())
            ],
            "found": found,
            "bank": self._banks,
        }


def regions(ks: Iterable[int]) -> list[dict[str, Json]]:
    """Of the most frequent numbers of hypotheses: where beta can lie for each gamma (GEAR, appendix D,
    with the tighter upper bound of `beta_bounds`). gamma, low, high: (`PLACES`,)."""
    drawn = []
    for k, _ in Counter(ks).most_common(REGIONS):
        gammas = np.linspace(1, k, PLACES).tolist()
        bounds = [beta_bounds(gamma, k, integral=True) for gamma in gammas]
        drawn.append({
            "k": k,
            "gamma": [round(gamma, 5) for gamma in gammas],
            "low": [round(low, 5) for low, _ in bounds],
            "high": [round(high, 5) for _, high in bounds],
        })  # fmt: skip
    return sorted(drawn, key=lambda one: one["k"])
