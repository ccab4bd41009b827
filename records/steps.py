"""The records of a finished step, as the store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from .hypotheses import Agreement, Hypothesis, Predictions, Verdict
from .values import Digest, Json

EventKind: TypeAlias = Literal["visit", "enter", "drop", "cut"]


@dataclass(frozen=True)
class BankEvent:
    """One entry in the log of a bank of hypotheses, at time t.

    Attributes:
        hypothesis: The `Hypothesis.digest`; empty for "cut".
        observation: For "visit", the index of the observation. For "cut", the number of hypotheses
            that were kept; -1 if all were kept, and hypotheses that enter later count as newer.
        right: Whether the hypothesis was right on the observation; None if it did not apply.
        kind: "visit": the hypothesis was tried on an observation. "enter": it was added without a
            visit. "drop": it was removed as a duplicate of another. "cut": the bank was reduced to
            its best hypotheses.
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
    """A hypothesis, or a malformed answer, with its verdict and all its predictions.

    Attributes:
        reason: Why the hypothesis is not accepted; "" if it is accepted.
        coverage: The share of the sample space S on which an earlier answer predicts the same (GEAR
            4.1); None if malformed.
        shown: Agreement with the shown observations.
        hidden: Agreement with the hidden observations.
        space: The predictions over the sample space S.
    """

    verdict: Verdict
    reason: str
    hypothesis: Hypothesis | None = None
    coverage: float | None = None
    shown: Agreement | None = None
    hidden: Agreement | None = None
    space: Predictions | None = None
    bad: bool = False  # Counts towards the stopping rule.


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer of a model with the verdicts on its hypotheses."""

    path: str  # The path of the call that gave the answer.
    text: str
    judged: tuple[JudgedHypothesis, ...]


@dataclass(frozen=True)
class StepRecord:
    """A finished step of a problem, as the store keeps it."""

    problem: str
    step: int
    answers: tuple[JudgedAnswer, ...]
    # Fields of the method itself, such as the chosen rule.
    fields: Mapping[str, Json] = field(default_factory=dict)
    events: tuple[BankEvent, ...] = ()


class Ledger(Protocol):
    """Receives finished steps. The store records them; a replay compares them with the store."""

    async def record_step(self, record: StepRecord) -> None:
        """Record a finished step."""
        ...

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Record that a problem ended, with its status and the cause."""
        ...
