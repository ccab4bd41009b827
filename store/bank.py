"""The bank of hypotheses with their rewards, which is rebuilt from a log of events.

A run and the store apply the same events to the same class. Therefore the state on which a method
bases its decisions (the best hypotheses, the removed hypotheses) always equals the state that
`peirce bank` shows. The arithmetic is that of HypoGeniC (reward and replacement), with one
addition: a visit on which a hypothesis does not apply counts as an average guess among the labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..records import BankEvent, Digest


@dataclass
class Entry:
    """A hypothesis in the bank, with the counts from which its reward is computed.

    A visit is an observation on which the hypothesis was tested.

    Attributes:
        hypothesis: The digest that identifies the hypothesis (`Hypothesis.digest`).
        text: The text of the hypothesis.
        description: A description of the hypothesis in words.
        hits: Number of visits on which the hypothesis was right.
        misses: Number of visits on which the hypothesis was wrong.
        inapplicable: Number of visits on which the hypothesis did not apply.
        t: The time of the last visit, on the clock of the bank's log.
        right: The observations on which the hypothesis was right, without those of summed visits.
        reward: The reward at the last visit.
        is_newcomer: Whether the hypothesis entered the bank after the last cut.
    """

    hypothesis: Digest
    text: str
    description: str
    hits: int = 0
    misses: int = 0
    inapplicable: int = 0
    t: int = 0
    right: set[int] = field(default_factory=set)
    reward: float = 0.0  # as of the last visit
    is_newcomer: bool = True  # a newcomer since the last cut

    @property
    def visits(self) -> int:
        """The number of observations on which the hypothesis was tested."""
        return self.hits + self.misses + self.inapplicable

    def accuracy(self, chance: float) -> float | None:
        """Return the share of visits on which the hypothesis was right; None without visits.

        If the hypothesis did not apply on a visit, the visit adds `chance` instead of 1 to the hits.
        """
        return (self.hits + chance * self.inapplicable) / self.visits if self.visits else None

    def compute_reward(self, alpha: float, chance: float) -> float:
        """Return accuracy + alpha * sqrt(ln t / visits), or 0 before the first visit.

        t is the time of the last visit, because HypoGeniC updates this bonus only at a visit.
        `alpha` is the weight of exploration, and `chance` is what a visit counts on which the
        hypothesis does not apply.
        """
        accuracy = self.accuracy(chance)
        if accuracy is None:
            return 0.0
        return accuracy + alpha * math.sqrt(math.log(max(self.t, 1)) / self.visits)


class Bank:
    """The hypotheses that a method keeps for one problem, with their rewards.

    Args:
        alpha: The weight of exploration in the reward.
        chance: What a visit counts on which a hypothesis does not apply; usually 1 / number of
            labels.
    """

    def __init__(self, alpha: float = 0.5, chance: float = 0.0) -> None:
        self.alpha, self.chance = alpha, chance
        self._held: dict[Digest, Entry] = {}

    def __len__(self) -> int:
        return len(self._held)

    def contains_text(self, text: str) -> bool:
        """Return whether the bank contains a hypothesis with this text."""
        return any(entry.text == text for entry in self._held.values())

    def apply(self, event: BankEvent) -> None:
        """Apply one event of the bank's log: "enter", "visit", "visits", "drop" or "cut"."""
        if event.kind == "cut":
            self._cut(event.observation)
            return
        if event.kind == "drop":
            self._held.pop(event.hypothesis, None)
            return
        entry = self._held.get(event.hypothesis)
        if entry is None:
            entry = Entry(event.hypothesis, event.text, event.description)
            self._held[event.hypothesis] = entry
        if event.kind == "enter":
            return
        entry.t = event.t
        count = event.observation if event.kind == "visits" else 1
        if event.right is None:
            entry.inapplicable += count
        elif event.right:
            entry.hits += count
            if event.kind == "visit":
                entry.right.add(event.observation)
        else:
            entry.misses += count
        entry.reward = entry.compute_reward(self.alpha, self.chance)

    def top(self, count: int | None = None) -> list[Entry]:
        """Return the `count` hypotheses with the highest reward; all if `count` is None.

        Hypotheses with equal rewards are in the order in which they entered the bank.
        """
        return sorted(self._held.values(), key=lambda entry: -entry.reward)[:count]

    def _cut(self, capacity: int) -> None:
        """Keep the entries with the highest rewards.

        Among equal rewards, newcomers come first, as in the reference. The resulting order is the
        insertion order that decides later ties. With capacity < 0, all entries stay in their order,
        and none counts as a newcomer any more.
        """
        if capacity < 0:
            for entry in self._held.values():
                entry.is_newcomer = False
            return
        newcomers_first = sorted(self._held.values(), key=lambda entry: not entry.is_newcomer)
        kept = sorted(newcomers_first, key=lambda entry: -entry.reward)[:capacity]
        for entry in kept:
            entry.is_newcomer = False
        self._held = {entry.hypothesis: entry for entry in kept}

    def rows(self, alpha: float | None = None) -> list[dict[str, Any]]:
        """Return one dict for each hypothesis, with the highest reward first.

        The keys are rank, hypothesis, text, description, accuracy (None before the first visit),
        visits, reward, t, covered (the number of visits on which the hypothesis applied) and right
        (the observations on which it was right, in ascending order).

        Args:
            alpha: The weight of exploration in the reward; None for the weight of the bank.
        """
        weight = self.alpha if alpha is None else alpha
        entries = [
            (entry.compute_reward(weight, self.chance), entry) for entry in self._held.values()
        ]
        entries.sort(key=lambda pair: -pair[0])  # stable: ties by insertion
        return [
            {
                "rank": rank,
                "hypothesis": entry.hypothesis,
                "text": entry.text,
                "description": entry.description,
                "accuracy": entry.accuracy(self.chance),
                "visits": entry.visits,
                "reward": reward,
                "t": entry.t,
                "covered": entry.hits + entry.misses,
                "right": sorted(entry.right),
            }
            for rank, (reward, entry) in enumerate(entries, 1)
        ]


def sum_visits(
    hypothesis: Digest, text: str, description: str, marks: Sequence[bool | None], t: int
) -> list[BankEvent]:
    """Return the visits of a hypothesis as one event for each result that occurs.

    Args:
        hypothesis: The digest of the hypothesis.
        text: The text of the hypothesis.
        description: A description of the hypothesis in words.
        marks: For each observation, whether the hypothesis was right; None if it did not apply.
        t: The time of the last visit.
    """
    counts = Counter(marks)
    return [
        BankEvent(hypothesis, text, description, counts[right], right, t, "visits")
        for right in (True, False, None)
        if counts[right]
    ]


def build_bank(events: Iterable[BankEvent], alpha: float = 0.5, chance: float = 0.0) -> Bank:
    """Return the bank that results from applying the events in order."""
    bank = Bank(alpha, chance)
    for event in events:
        bank.apply(event)
    return bank


def growth(
    events: Iterable[tuple[int, BankEvent]], alpha: float, chance: float
) -> list[dict[str, Any]]:
    """Return how a bank changed, one dict for each step that has events.

    Args:
        events: The events in order, each with the number of its step.
        alpha: The weight of exploration in the reward.
        chance: What a visit counts on which a hypothesis does not apply.

    Returns:
        Dicts with the keys step, t (the last time in the step), size (the number of hypotheses
        after the step), entered, left, reward and accuracy. "entered" lists the texts that the bank
        contains after the step but did not contain before; "left" lists the opposite. A hypothesis
        that entered and left within one step is in neither list. "reward" and "accuracy" are the
        highest values after the step, or None if there is no value.
    """
    bank = Bank(alpha, chance)
    before: dict[Digest, str] = {}
    rows: list[dict[str, Any]] = []
    for step, happened in groupby(events, key=lambda row: row[0]):
        t = 0
        for _, event in happened:
            bank.apply(event)
            t = max(t, event.t)
        held = {entry.hypothesis: entry for entry in bank.top()}
        known = [entry.accuracy(chance) for entry in held.values()]
        rows.append(
            {
                "step": step,
                "t": t,
                "size": len(held),
                "entered": [entry.text for name, entry in held.items() if name not in before],
                "left": [text for name, text in before.items() if name not in held],
                "reward": max((entry.reward for entry in held.values()), default=None),
                "accuracy": max((one for one in known if one is not None), default=None),
            }
        )
        before = {name: entry.text for name, entry in held.items()}
    return rows
