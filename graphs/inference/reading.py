"""The input and output types of inference strategies, which predict labels from a bank.

The input is a `Reading`: the sentences of a bank, how often each is right, and functions that query
models. The output is a label code for each row: the index of a label, or a negative number that
says why there is no label. Nothing in this module queries a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...agents.prompts.text import TextPrompts
from ...records import Json, Message, Observation, UsageError, View
from ...records.settings import Number, Settings, setting
from ...tools.sentence_rules.prepared_rows import PreparedRows

DOES_NOT_APPLY, UNREADABLE, NEEDS_MODEL = -1, -2, -3
REASONS: Mapping[int, str] = {
    DOES_NOT_APPLY: "does_not_apply",
    UNREADABLE: "unreadable",
    NEEDS_MODEL: "needs_model",
}


class SentenceJudge(Protocol):
    """An async function that labels inputs according to a sentence."""

    async def __call__(self, text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        """Return the label code of each of n inputs, as an int64 array of shape (n,).

        A code is the index of a label, `DOES_NOT_APPLY`, `UNREADABLE` or `NEEDS_MODEL`.

        Args:
            text: The sentence.
            inputs: The n inputs.

        Raises:
            Unavailable: The model gave no answer.
        """
        ...


class ModelQuery(Protocol):
    """An async function that sends a prompt to a model."""

    async def __call__(self, role: str, place: str, messages: Sequence[Message]) -> str:
        """Return the model's answer to a prompt.

        Args:
            role: The role of the model.
            place: The end of the path under which the call is recorded, such as
                `multi/5f0c9a2b41d7e836`. It contains the digest of the row and does not depend on
                the order of calls.
            messages: The prompt.

        Raises:
            Unavailable: The model gave no answer.
        """
        ...


Pattern = tuple[str, Sequence[Observation]]  # a sentence with shown rows that it got right


@dataclass(frozen=True)
class Entry:
    """A sentence in a bank, with the results of its visits.

    A visit is one judgement of the sentence on one shown row.

    Args:
        text: The sentence.
        accuracy: The share of visits on which the sentence was right. A visit on which the sentence
            does not apply counts as a random guess (store/bank.py).
        visits: The number of visits.
        reward: The reward of the sentence in the bank.
        right: The indices of the shown rows that the sentence labels correctly.
        covered: The number of visits on which the sentence applied; None if the bank does not
            record this number.
    """

    text: str
    accuracy: float = 0.0
    visits: int = 0
    reward: float = 0.0
    right: tuple[int, ...] = ()
    covered: int | None = None


@dataclass(frozen=True)
class Worth:
    """Counts of how well a sentence labels rows.

    Args:
        right: The number of rows that the sentence labels correctly.
        covered: The number of rows to which the sentence applies; None if unknown. A row on which
            the judge's answer is unreadable counts as covered but not as right.
        rows: The number of rows.
    """

    right: int = 0
    covered: int | None = 0
    rows: int = 0

    def accuracy(self, labels: int) -> Fraction:
        """Return the share of correctly labelled rows.

        A row to which the sentence does not apply counts as a random guess, which is right with
        probability 1 / `labels`, as in the bank. Without rows, the share is 0.

        Args:
            labels: The number of labels.
        """
        passed = 0 if self.covered is None else self.rows - self.covered
        return (
            (self.right + Fraction(passed, max(labels, 1))) / self.rows if self.rows else Fraction()
        )

    def trust(self, labels: int) -> float:
        """Return the estimated probability that the sentence is right on a row to which it applies.

        This is Laplace's estimate (right + 1) / (covered + labels), so that a single lucky row does
        not count as certainty. Without any covered row, the estimate is 1 / labels. If the number
        of covered rows is unknown, all rows count as covered.

        Args:
            labels: The number of labels, counted as at least 2.
        """
        covered = self.rows if self.covered is None else self.covered
        return (self.right + 1) / (covered + max(labels, 2))

    def log_odds(self, labels: int) -> float:
        """Return the weight of the sentence's vote.

        The weight is ln(p (labels - 1) / (1 - p)), where p is the trust. It is 0 if the sentence is
        right as often as a random guess. A sentence that is right less often has a negative weight,
        which counts against the label. If the number of covered rows is unknown, a negative weight
        is replaced by 0.

        Args:
            labels: The number of labels, counted as at least 2.
        """
        trust = self.trust(labels)
        weight = math.log(trust * (max(labels, 2) - 1) / (1 - trust))
        return max(weight, 0.0) if self.covered is None else weight

    @staticmethod
    def from_bank(entry: Entry, labels: int) -> Worth:
        """Return how often a sentence was right, computed from the figures in the bank.

        The accuracy in the bank counts rows to which the sentence does not apply as random guesses.
        These guesses are subtracted here. Because a file may contain contradictory figures, `right`
        is limited to `covered`, and `covered` to the number of visits.

        Args:
            entry: The sentence with its figures.
            labels: The number of labels.
        """
        covered = entry.visits if entry.covered is None else min(entry.covered, entry.visits)
        right = round(entry.accuracy * entry.visits - (entry.visits - covered) / max(labels, 1))
        known = None if entry.covered is None else covered
        return Worth(min(max(right, 0), covered), known, entry.visits)


class ReadingSettings(Settings):
    """Settings of the inference strategies.

    The released command line of HypoGeniC sets `top`, `patterns`, `similar` and `examples` to 5, 5,
    0.7 and 0, and its classes have the defaults 1, 3, 0.7 and 5. Peirce's defaults are 5, 5, 0.7
    and 5. The reasons are that a vote of a single sentence decides nothing, and that sentences
    without example rows are already what `multi` shows.
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
        entries: The sentences in the order of the bank. This order decides ties.
        view: The problem as the model sees it, with the shown rows.
        judge: Function that labels inputs according to a sentence.
        labels: The names of the labels; the index of a label is its code. Empty for the labels in
            `view`.
        prompts: The prompts, needed with `ask`.
        ask: Function that queries a model; None to decide by exact rules alone.
        worth: How often each sentence is right on the validation rows (`weigh_entries`). Empty to
            use the figures in the bank.
        validation: The validation rows on which `worth` was measured.
        settings: The settings of the strategies.
        prepare: Function that prepares rows for exact rules; None to prepare them anew.
        fitted: What a strategy has fitted to the labelled rows, for further calls.

    Raises:
        UsageError: `worth` and `entries` differ in length, or there is a model but no prompts.
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
    prepare: Callable[[Sequence[Json]], PreparedRows] | None = None
    fitted: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        """The indices of the sentences, most accurate first. Ties are in the order of the bank."""
        right = [worth.accuracy(len(self.labels)) for worth in self.worth]
        return tuple(sorted(range(len(right)), key=lambda i: -right[i]))

    @cached_property
    def majority(self) -> int:
        """The index of the most frequent label of the shown rows.

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
        code: The index of a label, `UNREADABLE` or `NEEDS_MODEL`.
        how: "hypothesis" (a single sentence decided), "vote" (several sentences voted), "weights"
            (a regression over all sentences decided), "model" (a model answered a prompt with
            several sentences), "best" (nothing else decided, so the best sentence did), "majority"
            (the best sentence did not apply either), "no_pattern" (the model selected no sentence,
            so the most accurate of the shown sentences decided), "unreadable" or "needs_model".
        entry: The index of the sentence that decided. For a vote, the first voter for the label;
            for weights, the sentence with the greatest weight among those that give the label. None
            if no single sentence can be named.
    """

    code: int
    how: str
    entry: int | None = None


@dataclass(frozen=True)
class RowPredictions:
    """The predicted labels of several rows.

    Args:
        decisions: The decision on each row, in the order of the inputs.
        notes: Counts that do not belong to a single row, such as unreadable answers about
            relevance.
    """

    decisions: tuple[Decision, ...]
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def codes(self) -> list[int]:
        """The code of each row: the index of its predicted label, or a negative number if there is
        no label.
        """
        return [decision.code for decision in self.decisions]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows for each way of deciding (`Decision.how`), and the notes that are not
        0.
        """
        found: dict[str, int] = {}
        for decision in self.decisions:
            found[decision.how] = found.get(decision.how, 0) + 1
        return dict(sorted(found.items())) | {k: n for k, n in self.notes.items() if n}

    def labels(self, names: Sequence[str]) -> list[str | None]:
        """Return the label of each row, or None for a row without a label.

        Args:
            names: The names of the labels.
        """
        return [names[code] if code >= 0 else None for code in self.codes]

    @property
    def reasons(self) -> dict[str, int]:
        """The number of rows without a label, by reason."""
        codes = self.codes
        return {name: codes.count(code) for code, name in REASONS.items() if code in codes}


class Strategy(Protocol):
    """An async function that predicts the labels of rows from a bank."""

    async def __call__(
        self, reading: Reading, inputs: Sequence[Json], place: str = ""
    ) -> RowPredictions:
        """Return the predictions for the rows.

        Args:
            reading: The bank.
            inputs: The rows.
            place: A prefix for the paths of model calls; needed only if a session uses several
                banks.

        Raises:
            Unavailable: The judge or the model gave no answer. An outage never counts as a
                prediction.
        """
        ...
