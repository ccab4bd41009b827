"""What a strategy reads: a bank's entries, what each is worth, and who may be asked.

A code is the index of a label, or why there is none. Nothing here asks; the strategies beside this
file do, through the two functions of a `Reading`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...agents.prompts.text import TextPrompts
from ...records import Json, Message, Observation, UsageError, View
from ...records.settings import Number, Settings, setting

DOES_NOT_APPLY, UNREADABLE, NEEDS_MODEL = -1, -2, -3
REASONS: Mapping[int, str] = {
    DOES_NOT_APPLY: "does_not_apply",
    UNREADABLE: "unreadable",
    NEEDS_MODEL: "needs_model",
}


class Judging(Protocol):
    async def __call__(self, text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        """What the sentence `text` says of each of n inputs: int64 (n,), the index of a label,
        `DOES_NOT_APPLY`, `UNREADABLE` or `NEEDS_MODEL`. Raises Unavailable."""
        ...


class Asking(Protocol):
    async def __call__(self, role: str, place: str, messages: Sequence[Message]) -> str:
        """A model's answer. place: where the call stands in this reading, such as
        `multi/5f0c9a2b41d7e836`: the digest of the row, never an order of arrival. Raises
        Unavailable."""
        ...


Pattern = tuple[str, Sequence[Observation]]  # a sentence, and shown rows that it got right


@dataclass(frozen=True)
class Entry:
    """One sentence of a bank. accuracy: share of its visits on which it was right, where a visit on
    which it does not apply counts as a guess (store/bank.py); covered: of its visits those where it
    applied, None where the bank does not tell. right: positions in the shown rows that it labelled
    rightly."""

    text: str
    accuracy: float = 0.0
    visits: int = 0
    reward: float = 0.0
    right: tuple[int, ...] = ()
    covered: int | None = None


@dataclass(frozen=True)
class Worth:
    """Of `rows` labelled rows an entry applied to `covered` (None: that is not known) and was right
    on `right`. An answer without a label applies and is not right."""

    right: int = 0
    covered: int | None = 0
    rows: int = 0

    def accuracy(self, labels: int) -> Fraction:
        """Share of the rows that it gets right, with a guess among `labels` labels where it does
        not apply, as in the bank. 0 without rows."""
        passed = 0 if self.covered is None else self.rows - self.covered
        return (
            (self.right + Fraction(passed, max(labels, 1))) / self.rows if self.rows else Fraction()
        )

    def trust(self, labels: int) -> float:
        """How likely it is right where it applies: (right + 1) / (covered + labels), Laplace's
        estimate, so that one lucky row is no certainty; 1 / labels where nothing is known. All rows
        count as covered where that is not known."""
        covered = self.rows if self.covered is None else self.covered
        return (self.right + 1) / (covered + max(labels, 2))

    def log_odds(self, labels: int) -> float:
        """The weight of its vote among `labels` labels: ln(p (labels - 1) / (1 - p)), p its trust.
        0 at chance. Below, it speaks against the label that it names, but only where it is known
        that it applied to the rows that it got wrong; else 0."""
        trust = self.trust(labels)
        weight = math.log(trust * (max(labels, 2) - 1) / (1 - trust))
        return max(weight, 0.0) if self.covered is None else weight

    @staticmethod
    def of_bank(entry: Entry, labels: int) -> Worth:
        """What the bank says of it, without the guesses that its accuracy holds. Of figures that
        contradict each other, as a file may hold them, right is at most covered, covered at most
        the visits."""
        covered = entry.visits if entry.covered is None else min(entry.covered, entry.visits)
        right = round(entry.accuracy * entry.visits - (entry.visits - covered) / max(labels, 1))
        known = None if entry.covered is None else covered
        return Worth(min(max(right, 0), covered), known, entry.visits)


class ReadingSettings(Settings):
    """How a bank is read. The released command line has 5, 5, 0.7 and 0; its classes 1, 3, 0.7 and
    5. One vote alone is no vote, and patterns without rows are what `multi` asks: so 5, 5, 0.7 and 5
    here."""

    top: int = setting(5, "entries that vote in filter-weight", ge=1)
    patterns: int = setting(5, "entries that one-step and two-step select", ge=1)
    similar: Number = setting(
        0.7,
        "cosine similarity from which two are not both selected; above 1 excludes no pair",
        ge=0,
    )
    examples: int = setting(5, "right rows shown with each", ge=0)
    seed: int = setting(0, "draws the examples")


@dataclass(frozen=True)
class Reading:
    """A bank that is read. entries: in the bank's order, which decides ties. worth: one an entry,
    of validation rows where they are known (`weighed`), else of the bank. labels: L names; codes
    are their indices. ask: None where no model is there to be asked, then the exact rules alone
    decide. validation: the rows that weighed it (`weighed`), none before. Raises UsageError where
    worth and entries are not of one length."""

    entries: tuple[Entry, ...]
    view: View
    judge: Judging
    labels: tuple[str, ...] = ()  # empty: those of the view
    prompts: TextPrompts | None = None
    ask: Asking | None = None
    worth: tuple[Worth, ...] = ()
    validation: tuple[Observation, ...] = ()
    settings: ReadingSettings = field(default_factory=ReadingSettings)

    def __post_init__(self) -> None:
        if not self.labels:
            object.__setattr__(self, "labels", tuple(self.view.public["labels"]))
        if not self.worth:
            object.__setattr__(
                self,
                "worth",
                tuple(Worth.of_bank(entry, len(self.labels)) for entry in self.entries),
            )
        if len(self.worth) != len(self.entries):
            raise UsageError(f"{len(self.entries)} entries, but {len(self.worth)} are weighed")
        if self.ask is not None and self.prompts is None:
            raise UsageError("a model is to be asked, but there are no prompts to ask it with")

    @property
    def shown(self) -> tuple[Observation, ...]:
        return self.view.shown

    @cached_property
    def ranked(self) -> tuple[int, ...]:
        """Positions of the entries, the most accurate first; ties in the bank's order."""
        right = [worth.accuracy(len(self.labels)) for worth in self.worth]
        return tuple(sorted(range(len(right)), key=lambda i: -right[i]))

    @cached_property
    def majority(self) -> int:
        """The commonest label of the shown rows; ties, and no rows: the first of `labels`."""
        counts = [0] * len(self.labels)
        for observation in self.shown:
            if observation.output in self.labels:
                counts[self.labels.index(observation.output)] += 1
        return counts.index(max(counts)) if counts else 0


@dataclass(frozen=True)
class Decision:
    """Of one row. code: the index of a label, `UNREADABLE` or `NEEDS_MODEL`. how: "hypothesis" (the
    sentence `entry`), "vote" (`entry`: the first in rank that voted so), "weights" (a regression over
    all of them), "model" (an answer to a prompt with several sentences), "best" (nothing of what was
    read applied: the best entry did), "majority" (nor did that), "no_pattern" (the model named none:
    the best of those selected), "unreadable", "needs_model"."""

    code: int
    how: str
    entry: int | None = None


@dataclass(frozen=True)
class Predicted:
    """decisions: one a row, in the order of the inputs. notes: counts of what is no row's, such as
    answers about relevance that say neither yes nor no."""

    decisions: tuple[Decision, ...]
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def codes(self) -> list[int]:
        return [decision.code for decision in self.decisions]

    @property
    def counts(self) -> dict[str, int]:
        """Rows by how they were decided, and the notes that are not 0."""
        found: dict[str, int] = {}
        for decision in self.decisions:
            found[decision.how] = found.get(decision.how, 0) + 1
        return dict(sorted(found.items())) | {k: n for k, n in self.notes.items() if n}

    def labels(self, names: Sequence[str]) -> list[str | None]:
        """The label of each row; None where it has none."""
        return [names[code] if code >= 0 else None for code in self.codes]

    @property
    def reasons(self) -> dict[str, int]:
        """Counts of rows without a label by reason."""
        codes = self.codes
        return {name: codes.count(code) for code, name in REASONS.items() if code in codes}


class Strategy(Protocol):
    async def __call__(
        self, reading: Reading, inputs: Sequence[Json], place: str = ""
    ) -> Predicted:
        """place: before the place of each question, where one session reads several banks.
        Raises Unavailable: an outage is never a prediction."""
        ...
