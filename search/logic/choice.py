"""Which valid rule is said first: the trade-off between what it costs, how large it is, and how likely
it holds in further worlds.

A candidate's score is gap + node * AST size - holds * P, all a world: gap is cost above the lower
bound (ABD, section 4), P how likely the rule is valid in five further worlds (plausible.py). The lowest
is best. The settings were chosen on one half of the development instances; docs/abd-results.md says when
the other had been seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...tools.logic.formula import Formula
from ...tools.logic.judging import Beyond, Prepared
from ...tools.logic.sampling import Stream
from .growing import grown
from .lanes import broken_alike, completed
from .plausible import likely
from .rules import Evidence, candidates, narrowed

COMPLETIONS = {"full": 1, "partial": 12, "skeptical": 20}  # of each prompt world
TOLD_APART = 48  # drawn worlds that tell rules apart
WEIGHED = 400  # candidates whose P is estimated
JUDGED = 80  # at once, exactly
PLAINEST = 200  # features that rules of others are joined with (mending.py)
SHARE = 0.15  # of the expansions: features; the rest looks at pairs of them


class TradeOff(NamedTuple):
    """node: elements marked a world that a node of the formula is worth. holds: what certainty to be
    valid in further worlds is worth. exact: valid there by the regime's own semantics; else as the
    published evaluator reads holdouts, with unknown atoms false."""

    node: float
    holds: float
    exact: bool = False


TRADE_OFFS: Mapping[str, TradeOff] = {
    "balanced": TradeOff(0.05, 2.0),
    "tight": TradeOff(0.02, 0.5),
    "safe": TradeOff(0.01, 5.0, exact=True),
}
DEFAULT = "balanced"


class Scored(NamedTuple):
    """formula: valid in all prompt worlds. cost: over all of them. holds: P."""

    formula: Formula
    cost: int
    score: float
    holds: float


class Found:
    """The candidates of a problem, whatever the trade-off; a pure function of problem and expansions.
    weighed: those that are the best at some price. likely: how likely each is to hold further on.
    plainest: places of the smallest features; plainest_rows: what they cover, (features, structures,
    size)."""

    def __init__(self, prepared: Prepared, name: str, expansions: float) -> None:
        """name: what its random worlds follow from. Raises `Beyond` for a theory of another form."""
        self.prepared = prepared
        self.bound = sum(prepared.bounds)
        stream = Stream(f"{name}: search")
        self.prompt = completed(prepared, COMPLETIONS[prepared.regime], stream)
        drawn = broken_alike(prepared, TOLD_APART, stream)
        lanes = self.prompt.lanes.and_also(drawn)
        self.features = grown(lanes, sorted(_allowed(prepared)), round(expansions * SHARE))
        broken = [one.violated(prepared) for one in (self.prompt.lanes, drawn)]
        self.evidence = Evidence(self.prompt, broken[0], prepared.regime, broken[1])
        found = candidates(self.features, self.evidence, round(expansions * (1 - SHARE)))
        self.plainest = self.features.smallest(np.arange(len(self.features)), PLAINEST)
        rows = self.features.values[self.plainest].reshape(-1, lanes.worlds, lanes.size)
        self.plainest_rows = rows[:, : self.prompt.lanes.worlds].copy()
        self.features.release()
        self.weighed = list(narrowed(found, self.evidence, WEIGHED))
        self.likely = likely(prepared, self.features, self.weighed, Stream(f"{name}: holdouts"))
        self._judged: dict[int, tuple[Formula, int] | None] = {}

    def judged(self, place: int) -> tuple[Formula, int] | None:
        """A weighed candidate and its exact cost; None where it is not valid."""
        if place not in self._judged:
            rule = self.weighed[place]
            formula = rule.shape.formula(self.features)
            cost = exact_cost(self.prepared, formula, rule.cost)
            self._judged[place] = None if cost is None else (formula, cost)
        return self._judged[place]


class Ranking:
    """The valid rules of a problem, best first."""

    def __init__(self, found: Found, trade_off: TradeOff) -> None:
        self.found, self.trade_off = found, trade_off
        odds = found.likely
        self.holds = (odds.exact if trade_off.exact else odds.released).tolist()
        self.ranked: list[Scored] = []
        self._left = self._batches()

    def __iter__(self) -> Iterator[Scored]:
        place = 0
        while place < len(self.ranked) or self._more():
            yield self.ranked[place]
            place += 1

    def _more(self) -> bool:
        """Judges further candidates until some of them are valid."""
        for batch in self._left:
            self.ranked += batch
            if batch:
                return True
        return False

    def _batches(self) -> Iterator[list[Scored]]:
        """Candidates are judged in the order of the scores that they have so far."""
        rules = self.found.weighed
        scores = [self._score(r.cost, r.size, p) for r, p in zip(rules, self.holds, strict=True)]
        order = np.argsort(np.array(scores), kind="stable").tolist()
        for start in range(0, len(order), JUDGED):
            batch = [self._scored(place) for place in order[start : start + JUDGED]]
            yield sorted((one for one in batch if one is not None), key=lambda one: one.score)

    def _scored(self, place: int) -> Scored | None:
        judged = self.found.judged(place)
        if judged is None:
            return None
        formula, cost = judged
        holds = self.holds[place]
        return Scored(formula, cost, self._score(cost, formula.size, holds), holds)

    def _score(self, cost: int, size: int, holds: float) -> float:
        return self.plain(cost, size) - self.trade_off.holds * holds

    def plain(self, cost: int, size: int) -> float:
        """The score without what further worlds say."""
        gap = (cost - self.found.bound) / len(self.found.prepared.worlds)
        return gap + self.trade_off.node * size


def exact_cost(prepared: Prepared, formula: Formula, found: int) -> int | None:
    """None where the rule is not valid in all worlds. What the fast path does not reach counts as
    found in the partial regime, where a completion that is repaired proves it, else not at all."""
    try:
        worths = prepared.judge(formula)
    except Beyond:
        return found if prepared.regime == "partial" else None
    costs = [worth.cost for worth in worths]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _allowed(prepared: Prepared) -> Sequence[str]:
    signature = prepared.theory.signature
    return [name for name in prepared.theory.allowed if signature[name] in (1, 2)]
