"""The bank: hypotheses with what they were right on, as a fold over its log of events.

A run and the store apply the same events to the same class, so what a method decided by (its top, who
left) and what `peirce bank` shows cannot differ. The arithmetic is HypoGeniC's (notes on the reference:
reward, replacement), with one addition: a visit on which a hypothesis does not apply counts as a guess
among the labels would on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..records import BankEvent, Digest


@dataclass
class Entry:
    """A hypothesis of the bank. hits, misses, passed: visits that were right, wrong, and on which it
    did not apply. t: of its last visit."""

    hypothesis: Digest
    text: str
    description: str
    hits: int = 0
    misses: int = 0
    passed: int = 0
    t: int = 0
    right: set[int] = field(default_factory=set)
    reward: float = 0.0  # as of the last visit
    fresh: bool = True  # a newcomer: came in since the last cut

    @property
    def visits(self) -> int:
        return self.hits + self.misses + self.passed

    def accuracy(self, chance: float) -> float | None:
        """Share of the visits that were right; None before the first."""
        return (self.hits + chance * self.passed) / self.visits if self.visits else None

    def rewarded(self, alpha: float, chance: float) -> float:
        """accuracy + alpha * sqrt(ln t / visits), t being the time of the last visit, for the bonus is
        renewed at a visit alone (HypoGeniC's rule); 0 before the first visit."""
        accuracy = self.accuracy(chance)
        if accuracy is None:
            return 0.0
        return accuracy + alpha * math.sqrt(math.log(max(self.t, 1)) / self.visits)


class Bank:
    """alpha: weight of exploration in the reward. chance: what a visit counts on which a hypothesis
    does not apply, 1 / number of labels."""

    def __init__(self, alpha: float = 0.5, chance: float = 0.0) -> None:
        self.alpha, self.chance = alpha, chance
        self._held: dict[Digest, Entry] = {}

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, text: str) -> bool:
        """Whether a hypothesis of this text is in it: the text is what tells them apart."""
        return any(entry.text == text for entry in self._held.values())

    def apply(self, event: BankEvent) -> None:
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
        if event.right is None:
            entry.passed += 1
        elif event.right:
            entry.hits += 1
            entry.right.add(event.observation)
        else:
            entry.misses += 1
        entry.reward = entry.rewarded(self.alpha, self.chance)

    def top(self, count: int | None = None) -> list[Entry]:
        """The best by reward, ties by insertion; count None: all."""
        return sorted(self._held.values(), key=lambda entry: -entry.reward)[:count]

    def _cut(self, capacity: int) -> None:
        """Keeps the best by reward. Of equals newcomers come first, as in the reference, and the
        order that results is the insertion that later ties go by. capacity < 0: keeps all in their
        order, and nobody is a newcomer any more."""
        if capacity < 0:
            for entry in self._held.values():
                entry.fresh = False
            return
        newcomers_first = sorted(self._held.values(), key=lambda entry: not entry.fresh)
        kept = sorted(newcomers_first, key=lambda entry: -entry.reward)[:capacity]
        for entry in kept:
            entry.fresh = False
        self._held = {entry.hypothesis: entry for entry in kept}

    def rows(self, alpha: float | None = None) -> list[dict[str, Any]]:
        """One a hypothesis, best reward first: rank, hypothesis, text, description, accuracy (None
        before the first visit), visits, reward, t, covered (visits on which it applied), right (the
        observations it was right on, ascending). alpha: to rank by, where it is not the bank's."""
        weight = self.alpha if alpha is None else alpha
        entries = [(entry.rewarded(weight, self.chance), entry) for entry in self._held.values()]
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


def folded(events: Iterable[BankEvent], alpha: float = 0.5, chance: float = 0.0) -> Bank:
    """The bank after these events, in their order."""
    bank = Bank(alpha, chance)
    for event in events:
        bank.apply(event)
    return bank


def growth(
    events: Iterable[tuple[int, BankEvent]], alpha: float, chance: float
) -> list[dict[str, Any]]:
    """How a bank grew: of each step with events {step, t, size, entered, left, reward, accuracy}.

    events: in order, each with its step. size: of the bank after the step; entered, left: the texts that
    it holds then and did not before, and the other way round, so one that came and went within a step is
    in neither; reward, accuracy: the highest after it (None before a visit); t: its last time.
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
