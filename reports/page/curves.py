"""Curves of a session (verdicts by step, hypotheses accepted after n answers, sizes of banks) and the
feasible region of (gamma, beta).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...records import Json, StepRecord, Verdict
from ...tools.gear.scores import beta_bounds

VERDICTS = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
MAX_REGIONS = 3  # Maximum number of regions, one per number of hypotheses.
REGION_POINTS = 33  # Points on the border of a region.


class SessionCurves:
    """Collects the data of curves over the steps of a session, one problem at a time."""

    def __init__(self) -> None:
        self._by_step: dict[int, Counter[Verdict]] = {}
        self._found: list[list[int]] = []  # per problem: hypotheses accepted after each answer
        self._banks: list[dict[str, Json]] = []

    def add(self, steps: Sequence[StepRecord]) -> None:
        """Add the steps of one problem to the data of the curves."""
        found, accepted = [], 0
        for step in steps:
            counted = self._by_step.setdefault(step.step, Counter())
            for answer in step.answers:
                verdicts = [one.verdict for one in answer.judged]
                counted.update(verdicts)
                accepted += verdicts.count(Verdict.ACCEPTED)
                found.append(accepted)
        self._found.append(found)

    def add_bank_growth(self, growth: Iterable[Mapping[str, Any]]) -> None:
        """Add how the banks of hypotheses changed during the session.

        Args:
            growth: Rows of `Store.bank_growth` for all problems.
        """
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
        """Return the data of the curves as JSON.

        "verdicts" has the number of hypotheses by verdict for each step. "found" has, after each
        number of answers, the mean number of accepted hypotheses, and the share of problems with at
        least one accepted hypothesis. A problem that has ended keeps its last value. "bank" has the
        mean size and the mean best accuracy of the banks after each step. The mean size covers all
        problems with a bank, including problems that have not started.
        """
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
    """Return the possible range of beta for each gamma (GEAR, appendix D).

    Gamma and beta measure the diversity of a set of hypotheses. The ranges are returned for the
    most frequent numbers of hypotheses, with the tighter upper bound of `beta_bounds`. The lists
    "gamma", "low" and "high" have `REGION_POINTS` values each.

    Args:
        ks: Number of consistent hypotheses of each problem.
    """
    drawn = []
    for k, _ in Counter(ks).most_common(MAX_REGIONS):
        gammas = np.linspace(1, k, REGION_POINTS).tolist()
        bounds = [beta_bounds(gamma, k, integral=True) for gamma in gammas]
        drawn.append({
            "k": k,
            "gamma": [round(gamma, 5) for gamma in gammas],
            "low": [round(low, 5) for low, _ in bounds],
            "high": [round(high, 5) for _, high in bounds],
        })  # fmt: skip
    return sorted(drawn, key=lambda one: one["k"])
