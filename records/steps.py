"""What a step leaves in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from .hypotheses import Agreement, Hypothesis, Predictions, Verdict
from .values import Digest, Json

EventKind: TypeAlias = Literal["visit", "enter", "drop", "cut"]


@dataclass(frozen=True)
class BankEvent:
    """The bank is a log of what happened to it at time t.

    kind: "visit", the hypothesis (its `Hypothesis.digest`) was right or wrong on an observation, or
    did not apply to it (None); "enter", it came in without a visit; "drop", it left, as it says the same
    as another; "cut", the bank was cut to its best, and `observation` says how many (-1: all stay,
    and what comes now is newer than they): hypothesis and texts are empty then.
    """

    hypothesis: Digest
    text: str
    description: str
    observation: int
    right: bool | None
    t: int
    kind: EventKind = "visit"


@dataclass(frozen=True)
class Judged:
    """A hypothesis (or a malformed answer) with its verdict and all its predictions.

    coverage: share of S whose prediction an earlier answer gave already (GEAR 4.1); None where
    malformed. space: codes over S; shown, hidden: agreements with the observations.
    """

    verdict: Verdict
    reason: str
    hypothesis: Hypothesis | None = None
    coverage: float | None = None
    shown: Agreement | None = None
    hidden: Agreement | None = None
    space: Predictions | None = None
    bad: bool = False  # counts towards the stopping rule


@dataclass(frozen=True)
class Answered:
    """One answer of a model and what was judged of it."""

    path: str  # of the call that gave it
    text: str
    judged: tuple[Judged, ...]


@dataclass(frozen=True)
class StepRecord:
    """A finished step of a problem, as the store keeps it."""

    problem: str
    step: int
    answers: tuple[Answered, ...]
    fields: Mapping[str, Json] = field(default_factory=dict)  # the method's own: a chosen rule
    events: tuple[BankEvent, ...] = ()


class Ledger(Protocol):
    """Where a finished step goes: the store, or replay's comparison."""

    async def step(self, record: StepRecord) -> None: ...

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None: ...
