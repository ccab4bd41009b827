"""The input of a strategy: a bank's entries, their worth, and functions that query models.

A code is the index of a label, or a negative code for why there is none. Nothing here makes a
query. The strategies in the files next to this one do, through the two functions of a `Reading`.
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


class SentenceJudge(Protocol):
    """A function that applies a sentence to inputs."""

    async def __call__(self, text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        """Return the codes of the sentence `text` for n inputs, as an int64 array of shape (n,).

        A code is the index of a label, `DOES_NOT_APPLY`, `UNREADABLE` or `NEEDS_MODEL`.

        Raises:
            Unavailable: the model cannot be reached.
        """
        ...


class ModelQuery(Protocol):
    """A function that queries a model."""

    async def __call__(self, role: str, place: str, messages: Sequence[Message]) -> str:
        """Return a model's answer.

        Args:
            role: the role to query.
            place: identifies the call within this reading, such as `multi/5f0c9a2b41d7e836`. It
                holds the digest of the row, never an order of arrival.
            messages: the prompt.

        Raises:
            Unavailable: the model cannot be reached.
        """
        ...


Pattern = tuple[str, Sequence[Observation]]  # a sentence with shown rows that it got right


@dataclass(frozen=True)
class Entry:
    """A sentence of a bank, with the record of its visits. A visit is one judgement on one shown
    row.

    Args:
        text: the sentence.
        accuracy: share of its visits on which it was right; a visit on which it does not apply
            counts as a guess (store/bank.py).
        visits: number of visits.
        reward: its reward.
        right: indices of the shown rows that it labelled correctly.
        covered: number of visits on which it applied; None where the bank does not record it.
    """

    text: str
    accuracy: float = 0.0
    visits: int = 0
    reward: float = 0.0
    right: tuple[int, ...] = ()
    covered: int | None = None


@dataclass(frozen=True)
class Worth:
    """Counts of how well an entry labels rows.

    Args:
        right: number of rows that it labelled correctly.
        covered: number of rows that it applied to; None where that is unknown. An answer without a
            label applies and is not correct.
        rows: number of rows.
    """

    right: int = 0
    covered: int | None = 0
    rows: int = 0

    def accuracy(self, labels: int) -> Fraction:
        """Return the share of correct rows; a row that it does not apply to counts as a guess.

        A guess is right with probability 1 / `labels`, as in the bank. Without rows the share is 0.
        """
        passed = 0 if self.covered is None else self.rows - self.covered
        return (
            (self.right + Fraction(passed, max(labels, 1))) / self.rows if self.rows else Fraction()
        )

    def trust(self, labels: int) -> float:
        """Return the estimated probability that a sentence is right on a row to which it applies.

        This is Laplace's estimate (right + 1) / (covered + labels), so that a single lucky row does
        not count as certainty. Without any covered row, the estimate is 1 / labels. If the number
        of covered rows is unknown, all rows count as covered.
        """
        covered = self.rows if self.covered is None else self.covered
        return (self.right + 1) / (covered + max(labels, 2))

    def log_odds(self, labels: int) -> float:
        """Return the weight of the entry's vote among `labels` labels.

        It is ln(p (labels - 1) / (1 - p)), where p is the trust: 0 at chance. Below chance it is
        negative, a vote against the label, but only where the number of covered rows is known; else
        it is 0.
        """
        trust = self.trust(labels)
        weight = math.log(trust * (max(labels, 2) - 1) / (1 - trust))
        return max(weight, 0.0) if self.covered is None else weight

    @staticmethod
    def from_bank(entry: Entry, labels: int) -> Worth:
        """Return how often a sentence was right, computed from the figures in the bank.

        The accuracy in the bank counts rows to which a sentence does not apply as random guesses;
        here they do not count.

        A file may hold figures that contradict each other. So `right` is limited to `covered`, and
        `covered` to the visits.
        """
        covered = entry.visits if entry.covered is None else min(entry.covered, entry.visits)
        right = round(entry.accuracy * entry.visits - (entry.visits - covered) / max(labels, 1))
        known = None if entry.covered is None else covered
        return Worth(min(max(right, 0), covered), known, entry.visits)


class ReadingSettings(Settings):
    """Settings of the inference strategies.

    The released command line sets `top`, `patterns`, `similar` and `examples` to 5, 5, 0.7 and 0,
    and its classes have 1, 3, 0.7 and 5. Peirce's defaults are 5, 5, 0.7 and 5, because a vote of a
    single entry decides nothing, and because patterns without example rows are what `multi` shows
    already.
    """

    top: int = setting(5, "Number of entries that vote in filter-weight.", ge=1)
    patterns: int = setting(5, "Number of entries that one-step and two-step select.", ge=1)
    similar: Number = setting(
        0.7,
        "Cosine similarity at which two entries are not both selected; a value above 1 excludes"
        " no pair.",
        ge=0,
    )
    examples: int = setting(5, "Number of correctly predicted rows shown with each entry.", ge=0)
    seed: int = setting(0, "Seed for drawing the example rows.")


@dataclass(frozen=True)
class Reading:
    """A bank of sentences, with everything that an inference strategy needs to label rows.

    Args:
        entries: the sentences in the order of the bank; this order decides ties.
        view: the problem as the model sees it, with the shown rows.
        judge: applies a sentence to inputs.
        labels: names of the L labels; a label's index is its code. Empty for the labels of the
            view.
        prompts: the prompts, needed with `ask`.
        ask: queries a model; None to decide by exact rules alone.
        worth: how often each entry is right on the validation rows (`weigh_entries`); empty for the
            figures of the bank.
        validation: the rows on which `worth` was measured.
        settings: settings of the strategies.

    Raises:
        UsageError: worth and entries differ in length, or there is a model but no prompts.
    """

    entries: tuple[Entry, ...]
    view: View
    judge: SentenceJudge
    labels: tuple[str, ...] = ()  # empty for those of the view
    prompts: TextPrompts | None = None
    ask: ModelQuery | None = None
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
                tuple(Worth.from_bank(entry, len(self.labels)) for entry in self.entries),
            )
        if len(self.worth) != len(self.entries):
            raise UsageError(f"{len(self.entries)} entries, but {len(self.worth)} are weighed")
        if self.ask is not None and self.prompts is None:
            raise UsageError("a model is to be asked, but there are no prompts to ask it with")

    @property
    def shown(self) -> tuple[Observation, ...]:
        """The shown rows of the problem, with their labels."""
        return self.view.shown

    @cached_property
    def ranked(self) -> tuple[int, ...]:
        """Indices of the entries, the most accurate first; ties are in the bank's order."""
        right = [worth.accuracy(len(self.labels)) for worth in self.worth]
        return tuple(sorted(range(len(right)), key=lambda i: -right[i]))

    @cached_property
    def majority(self) -> int:
        """The most frequent label of the shown rows.

        On a tie, or without rows, it is the first such label in `labels`.
        """
        counts = [0] * len(self.labels)
        for observation in self.shown:
            if observation.output in self.labels:
                counts[self.labels.index(observation.output)] += 1
        return counts.index(max(counts)) if counts else 0


@dataclass(frozen=True)
class Decision:
    """The label that a strategy gives to one row, and how it was decided.

    Args:
        code: index of a label, `UNREADABLE` or `NEEDS_MODEL`.
        how: "hypothesis" (the sentence `entry` decided), "vote" (`entry` is the first in rank that
            voted so), "weights" (a regression over all entries), "model" (an answer to a prompt
            with several sentences), "best" (nothing else applied, so the best entry decided),
            "majority" (that did not apply either), "no_pattern" (the model named no pattern, so the
            best selected one decided), "unreadable" or "needs_model".
        entry: index of the entry that decided; None for none.
    """

    code: int
    how: str
    entry: int | None = None


@dataclass(frozen=True)
class RowPredictions:
    """The predicted labels of several rows.

    Args:
        decisions: one for each row, in the order of the inputs.
        notes: counts that do not concern a single row, such as unreadable answers about relevance.
    """

    decisions: tuple[Decision, ...]
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def codes(self) -> list[int]:
        """The code of each row: the index of its predicted label, or a negative number without a
        label.
        """
        return [decision.code for decision in self.decisions]

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows by how they were decided, and the notes that are not 0."""
        found: dict[str, int] = {}
        for decision in self.decisions:
            found[decision.how] = found.get(decision.how, 0) + 1
        return dict(sorted(found.items())) | {k: n for k, n in self.notes.items() if n}

    def labels(self, names: Sequence[str]) -> list[str | None]:
        """Return the label of each row, or None for a row without a label."""
        return [names[code] if code >= 0 else None for code in self.codes]

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rows without a label, by reason."""
        codes = self.codes
        return {name: codes.count(code) for code, name in REASONS.items() if code in codes}


class Strategy(Protocol):
    """A function that predicts labels from a bank."""

    async def __call__(
        self, reading: Reading, inputs: Sequence[Json], place: str = ""
    ) -> RowPredictions:
        """Return the predictions for the inputs.

        Args:
            reading: the bank.
            inputs: the rows.
            place: prefix of the place of each question, for sessions that read several banks.

        Raises:
            Unavailable: judge or model cannot be reached; an outage is never a prediction.
        """
        ...
