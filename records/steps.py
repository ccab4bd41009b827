"""The records of a finished step of a method, as the store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from .hypotheses import Agreement, Hypothesis, Predictions, Verdict
from .values import Digest, Json

EventKind: TypeAlias = Literal["visit", "visits", "enter", "drop", "cut"]


@dataclass(frozen=True)
class BankEvent:
    """One change of a bank of hypotheses, or one use of a hypothesis in the bank, at time `t`.

    Attributes:
        hypothesis: The digest of the hypothesis (`Hypothesis.digest`); "" for "cut".
        observation: For "visit", the index of the observation. For "visits", the number of
            observations. For "cut", the number of hypotheses that were kept. For "cut", -1 means that
            all hypotheses were kept, and that hypotheses added later count as newer.
        right: Whether the hypothesis was right on the observation; None if the hypothesis did not
            apply.
        kind: "visit": the hypothesis was tried on an observation. "visits": it was tried on several
            observations with the same result, which are not named. "enter": the hypothesis was added
            without being tried. "drop": the hypothesis was removed as a duplicate. "cut": the bank
            was reduced to its best hypotheses.
    """

    hypothesis: Digest
    text: str
    description: str
    observation: int
    right: bool | None
    t: int
    kind: EventKind = "visit"


@dataclass(frozen=True)
class JudgedHypothesis:
    """A hypothesis, or a malformed answer, with its verdict and its predictions.

    Attributes:
        reason: Why the hypothesis was not accepted; "" if it was accepted.
        coverage: The share of the sample space S (the inputs on which hypotheses are compared) on
            which an earlier answer predicts the same (GEAR, section 4.1); None if the answer is
            malformed.
        shown: The agreement with the observations that the model saw.
        hidden: The agreement with the observations that the model did not see.
        space: The predictions for the inputs in the sample space S.
    """

    verdict: Verdict
    reason: str
    hypothesis: Hypothesis | None = None
    coverage: float | None = None
    shown: Agreement | None = None
    hidden: Agreement | None = None
    space: Predictions | None = None
    bad: bool = False  # Counts towards the stopping rule.

    @property
    def quality(self) -> tuple[int, bool, float] | None:
        """How good the hypothesis is on the shown observations, to compare it with earlier ones.

        The number of right observations, whether it is consistent, and minus the gap of its cost:
        larger is better. None if it was not applied.
        """
        if self.shown is None:
            return None
        return self.shown.right, self.verdict.consistent, -(self.shown.gap or 0.0)


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer of a model with the verdicts on the hypotheses in the answer."""

    path: str  # The path of the call that gave the answer.
    text: str
    judged: tuple[JudgedHypothesis, ...]


@dataclass(frozen=True)
class StepRecord:
    """The record of one finished step of a problem, as the store keeps it."""

    problem: str
    step: int
    answers: tuple[JudgedAnswer, ...]
    # Fields of the method itself, such as the chosen rule.
    fields: Mapping[str, Json] = field(default_factory=dict)
    events: tuple[BankEvent, ...] = ()


class Ledger(Protocol):
    """A receiver of finished steps.

    The store records the steps it receives. A replay compares the steps with the stored steps.
    """

    async def record_step(self, record: StepRecord) -> None:
        """Record a finished step."""
        ...

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Record that a problem ended.

        Args:
            problem: The id of the problem.
            status: "done" or "failed".
            cause: Why the problem ended.
        """
        ...
