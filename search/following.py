"""Which candidate is proposed next: novel by the protocol, likely first, then far from the earlier.

GEAR 4.1 calls an answer redundant from a coverage of 0.8 on: the share of the sample space where an
earlier well-formed answer gave the same prediction. The first answers go by price alone, since the
likeliest rules come first. After those, where many novel candidates are hardly dearer than the
cheapest of them, the one is taken that adds most predictions and lies farthest from those before it;
where few are left, it would take the room of the others, and they go by price on. So diversity is
never bought with a far-fetched rule where a plain one is left. Nor with a partial one: undefined
predictions count as nothing new here, though the protocol never calls them covered.

Earlier answers of this process are known by their text and are run here; those of others (a
model's) are never run: their predictions are unknown and count as covering nothing, so such an
answer may be proposed again and be judged redundant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import Json

BY_PRICE = 3  # answers that go by price alone
DEARER = 3.0  # than the cheapest novel candidate, at most
NEW = 0.2  # of the space has to be predicted as by no earlier answer, and more
SLACK = 0.06  # of that on a part of the space, before the whole is looked at
LOOKED_AT = 60  # novel candidates that are compared; where there are fewer, the cheapest is taken

Codes = NDArray[np.int64]
Defined = NDArray[np.bool_]
Predictions = tuple[Codes, Defined]  # (inputs,) each: equal codes, equal predictions


class Answer(NamedTuple):
    """meta: what the reply says beside its text."""

    source: str
    description: str
    meta: Mapping[str, Json] = {}


class NotSearched(Exception):
    """A problem of a kind that an engine serves, and yet not for it; the message says why."""


class Candidate(Protocol):
    """A written program that is right on the shown pairs."""

    @property
    def text(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def cost(self) -> float: ...

    def predictions(self, inputs: Sequence[Any]) -> Predictions: ...


class Following:
    """The choice among candidates on one sample space; predictions are kept.

    inputs: the space, or a fair part of it where predictions are dear. few: how many inputs a
    candidate meets first.
    """

    def __init__(self, inputs: Sequence[Any], few: int) -> None:
        self.inputs = inputs
        self.step = max(1, len(inputs) // few)
        self.whole: dict[str, Predictions] = {}
        self.sampled: dict[str, Predictions] = {}

    def next(
        self, ranked: Iterable[Candidate], known: Sequence[Candidate], skip: Collection[str]
    ) -> Candidate | None:
        """ranked: cheapest first; known: earlier answers; skip: texts that are not to be said."""
        if not known:
            return next((c for c in ranked if c.text not in skip), None)
        before = [self.of(c, whole=False) for c in known]
        looked_at: list[tuple[float, Candidate]] = []
        limit = float("inf")
        for candidate in ranked:
            if candidate.cost > limit or len(looked_at) == LOOKED_AT:
                break
            if candidate.text in skip:
                continue
            here = self.of(candidate, whole=False)
            if new(here, before) < NEW - SLACK:
                continue
            if len(known) < BY_PRICE:
                if self._novel(candidate, known):
                    return candidate
                continue
            if not looked_at:
                limit = candidate.cost + DEARER
            looked_at.append((gain(here, before), candidate))
        if len(looked_at) == LOOKED_AT:
            looked_at.sort(key=lambda pair: -pair[0])
        return next((c for _, c in looked_at if self._novel(c, known)), None)

    def _novel(self, candidate: Candidate, known: Sequence[Candidate]) -> bool:
        every = [self.of(c, whole=True) for c in known]
        return new(self.of(candidate, whole=True), every) > NEW

    def of(self, candidate: Candidate, whole: bool) -> Predictions:
        kept = self.whole if whole else self.sampled
        if candidate.text not in kept:
            if not whole and candidate.text in self.whole:
                codes, defined = self.whole[candidate.text]
                return codes[:: self.step], defined[:: self.step]
            inputs = self.inputs if whole else self.inputs[:: self.step]
            kept[candidate.text] = candidate.predictions(inputs)
        return kept[candidate.text]


def agreement(here: Predictions, other: Predictions) -> Defined:
    """(inputs,): where both give one prediction; an undefined one is none."""
    same: Defined = here[1] & other[1] & (here[0] == other[0])
    return same


def new(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """Share of the inputs with a prediction that no earlier hypothesis gives. It is above `NEW` only
    where the coverage of GEAR 4.1, which undefined predictions lower, is below 0.8."""
    fresh = here[1].copy()
    for other in earlier:
        fresh &= ~agreement(here, other)
    return float(fresh.mean()) if len(fresh) else 0.0


def gain(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """What a candidate adds: its new predictions, as a share of the inputs (so much gamma rises),
    and its mean distance to the earlier ones (GEAR 4.2: beta is the mean over all pairs)."""
    distances = []
    for other in earlier:
        both = int(agreement(here, other).sum())
        either = int(here[1].sum()) + int(other[1].sum()) - both
        distances.append(1.0 - both / either if either else 0.0)
    return new(here, earlier) + float(np.mean(distances))
