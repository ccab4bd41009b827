"""What each answer to a problem added: accepted hypotheses, gamma, and the solution of the problem.

The costs of a session (costs.py) and the gain of its last answers (marginal_gain.py) are computed from
these records, which are read from the stored steps alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..records import (
    NOT_REQUESTED,
    JudgedAnswer,
    JudgedHypothesis,
    Predictions,
    StepRecord,
    Verdict,
)
from ..tools.gear.prediction_classes import recall_classes
from ..tools.gear.scores import Coverage
from .metrics.results import list_judged, pair_with_steps
from .proposers import PROPOSED_BY

if TYPE_CHECKING:
    from ..store import ProblemRow, Store

PROPOSER, REPAIRER, SEEDER = "proposer", "repairer", "seeder"
TARGET = "target"  # why a problem ends whose refined hypothesis is good enough


@dataclass(frozen=True)
class AnswerGain:
    """What one answer of a proposer added, with what a repairer made of it.

    Attributes:
        role: The proposer: "proposer", or "then" for the second one.
        accepted: The number of accepted hypotheses.
        gamma: By how much gamma of the consistent hypotheses grew; None if their predictions on the
            sample space are not known.
        added: Whether the answer added something, as `--patience` counts: an accepted hypothesis,
            or for a method that refines, a better hypothesis than all before.
    """

    role: str
    accepted: int
    gamma: float | None
    added: bool


@dataclass(frozen=True)
class ProblemGains:
    """What the answers to one problem added.

    Attributes:
        problem: The id of the problem.
        status: "open", "done" or "failed".
        cause: Why work on the problem ended.
        refining: Whether the method asks for better hypotheses instead of further ones.
        answers: The answers of proposers, in order.
        accepted: The number of accepted hypotheses by the role that gave them.
        gamma: Gamma of all consistent hypotheses, 0 without one; None if it is not known.
        solver: The role whose answer solved the problem; None if it is not solved. A problem is
            solved by its first accepted hypothesis, or for a method that refines, by a hypothesis
            that reaches the target.
    """

    problem: str
    status: str
    cause: str
    refining: bool = False
    answers: Sequence[AnswerGain] = ()
    accepted: Mapping[str, int] = field(default_factory=dict)
    gamma: float | None = 0.0
    solver: str | None = None


class GainReader:
    """Traces the gains of a session's problems. Sizes of sample spaces are read once.

    Args:
        store: The open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sizes: dict[str, tuple[int, tuple[float, ...] | None]] = {}

    def trace(self, row: ProblemRow, steps: Sequence[StepRecord]) -> ProblemGains:
        """Return what the answers to a problem added.

        Args:
            row: The problem.
            steps: Its steps, in order, with the predictions of consistent hypotheses.
        """
        if row.space not in self._sizes:
            self._sizes[row.space] = self._store.input_set_size(row.space)
        sizes = self._sizes[row.space]
        return trace_gains(row.problem.id, row.status, row.cause, steps, *sizes)

    def read(self, session: str, rows: Sequence[ProblemRow]) -> list[ProblemGains]:
        """Return what the answers to problems of a session added.

        Args:
            session: The id of the session.
            rows: Problems of the session, in the session's order.
        """
        ids = [row.problem.id for row in rows]
        records = self._store.steps(session, ids, spaces="consistent")
        return [self.trace(row, steps) for row, steps in pair_with_steps(rows, records)]


def trace_gains(
    problem: str,
    status: str,
    cause: str,
    steps: Iterable[StepRecord],
    inputs: int,
    weights: Sequence[float] | None = None,
) -> ProblemGains:
    """Return what the answers to a problem added.

    An answer of a repairer counts for the answer before it. Hypotheses that a search gave before the
    first request are no answers.

    Args:
        problem: The id of the problem.
        status: "open", "done" or "failed".
        cause: Why work on the problem ended.
        steps: The recorded steps of the problem, in order.
        inputs: The number of inputs in the sample space.
        weights: The sizes of these inputs; None if all have size 1.
    """
    steps = list(steps)
    union = _Union(inputs, weights, steps)
    answers: list[AnswerGain] = []
    accepted: Counter[str] = Counter()
    best: tuple[int, bool, float] | None = None
    refining, solver, last = False, None, None
    for step in steps:
        refining = refining or bool(step.fields.get("feedback"))
        proposer = str(step.fields.get(PROPOSED_BY) or PROPOSER)
        for answer in step.answers:
            role = last = _find_role(answer, proposer)
            number = sum(one.verdict is Verdict.ACCEPTED for one in answer.judged)
            accepted[role] += number
            gained = union.add(answer)
            found = max((one.quality for one in answer.judged if one.quality), default=None)
            better = found is not None and (best is None or found > best)
            best = found if better else best
            if number and solver is None and not refining:
                solver = role
            gain = AnswerGain(proposer, number, gained, better if refining else number > 0)
            if role == REPAIRER and answers:
                answers[-1] = _merge(answers[-1], gain)
            elif role != SEEDER:
                answers.append(gain)
    if refining:
        solver = last if cause == TARGET else None
    if not union.is_known:
        answers = [replace(one, gamma=None) for one in answers]
    return ProblemGains(
        problem, status, cause, refining, tuple(answers), dict(+accepted), union.gamma, solver
    )


def _find_role(answer: JudgedAnswer, proposer: str) -> str:
    """Return the role that gave an answer, from the path of its call."""
    parts = answer.path.split("/")
    if parts[0] == "seed" or parts[2:3] == ["seed"]:
        return SEEDER
    return REPAIRER if parts[2:3] == ["repair"] else proposer


def _merge(answer: AnswerGain, repaired: AnswerGain) -> AnswerGain:
    both = (answer.gamma, repaired.gamma)
    return AnswerGain(
        answer.role,
        answer.accepted + repaired.accepted,
        None if None in both else sum(one for one in both if one is not None),
        answer.added or repaired.added,
    )


class _Union:
    """The predictions of consistent hypotheses on a sample space, whose union gamma measures.

    Args:
        inputs: The number of inputs in the sample space.
        weights: The sizes of these inputs; None if all have size 1.
        steps: The steps whose hypotheses will be added in this order.
    """

    def __init__(
        self, inputs: int, weights: Sequence[float] | None, steps: Iterable[StepRecord]
    ) -> None:
        self._covered = Coverage(inputs, weights)
        self._sizes = np.ones(inputs) if weights is None else np.asarray(weights, np.float64)
        self._total = float(self._sizes.sum())
        self._sum = 0.0
        self._is_known = True
        self._new: dict[int, int] | None = None  # by identity: inputs with a new prediction
        known = map(_known_predictions, list_judged(steps))
        added = [one for one in known if one is not None]
        if weights is None and all(len(one.codes) == inputs for one in added):
            self._new = {}
            for space, new in zip(added, recall_classes(added).new.tolist(), strict=True):
                self._new.setdefault(id(space), new)

    def add(self, answer: JudgedAnswer) -> float | None:
        """Add the consistent hypotheses of an answer, and return by how much gamma grew.

        The result is None if a prediction is not known, or if the sample space has size 0.
        """
        grown = 0.0
        for one in answer.judged:
            if not one.verdict.consistent:
                continue
            space = _known_predictions(one)
            if not self._total or space is None:
                self._is_known = False
                continue
            grown += self._add(space)
        self._sum += grown
        return grown if self._is_known else None

    def _add(self, predicted: Predictions) -> float:
        if self._new is not None:  # a prediction that is added again adds nothing
            return self._new.pop(id(predicted), 0) / self._total
        new = predicted.defined & ~self._covered.covered_mask(predicted)
        self._covered.add(predicted)
        return float(self._sizes[new].sum()) / self._total

    @property
    def is_known(self) -> bool:
        """Whether the predictions of all consistent hypotheses so far are known."""
        return self._is_known

    @property
    def gamma(self) -> float | None:
        """Gamma of all hypotheses so far, 0 without one; None if it is not known."""
        return self._sum if self._is_known else None


def _known_predictions(one: JudgedHypothesis) -> Predictions | None:
    """Return the predictions of a consistent hypothesis on the sample space, if they are known."""
    if not one.verdict.consistent or one.space is None or one.space.verdict == NOT_REQUESTED:
        return None
    return one.space
