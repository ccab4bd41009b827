"""Choose the next candidate: novel by GEAR's protocol, then likely, then far from earlier answers.

GEAR 4.1 calls an answer redundant if its coverage is 0.8 or more. Coverage is the share of the
sample space on which some earlier well-formed answer gave the same prediction. The first answers
are chosen by cost alone, because the likeliest rules come first. After that, if many novel
candidates cost little more than the cheapest one, the one that adds the most new predictions and
lies farthest from the earlier answers is chosen. If only a few candidates are left, such a choice
would use up the room of the others, so they are still chosen by cost. Diversity is therefore never
bought with a far-fetched rule while a plain one is left, nor with a partial one: undefined
predictions do not count as new here, although the protocol never counts them as covered.

Earlier answers from this process are recognised by their text and evaluated here. Answers from
elsewhere, such as a model's, are never executed. Their predictions are unknown and count as
covering nothing, so such an answer may be proposed again and be judged redundant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import Json

ANSWERS_BY_COST = 3  # number of answers chosen by cost alone
MAX_EXTRA_COST = 3.0  # maximum extra cost over the cheapest novel candidate
MIN_NEW_SHARE = (
    0.2  # more than this share of the space must have a prediction that no earlier answer gives
)
SAMPLE_TOLERANCE = (
    0.06  # tolerance for that share on a sample of the space, before all inputs are checked
)
MAX_COMPARED = 60  # number of novel candidates compared; with fewer, the cheapest is chosen

Codes = NDArray[np.int64]
Defined = NDArray[np.bool_]
# two arrays of shape (inputs,); equal codes mean equal predictions
Predictions = tuple[Codes, Defined]


class Answer(NamedTuple):
    """An answer of a search engine. `meta` holds the fields of the reply other than its text."""

    source: str
    description: str
    meta: Mapping[str, Json] = {}


class UnsupportedProblem(Exception):
    """Raised for a problem of a supported kind that the engine cannot search.

    The message gives the reason.
    """


class Candidate(Protocol):
    """A candidate hypothesis with its text, that is consistent with the shown pairs."""

    @property
    def text(self) -> str:
        """Return the text of the hypothesis."""
        ...

    @property
    def sentence(self) -> str:
        """Return one sentence that describes the hypothesis."""
        ...

    @property
    def cost(self) -> float:
        """Return the cost of the candidate; lower is likelier."""
        ...

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        """Return codes of the predictions on `inputs`, and on which inputs they are defined."""
        ...


class NoveltyRanker:
    """Ranker that chooses among candidates on one sample space and caches their predictions.

    Args:
        inputs: The sample space, or a fair sample of it if predictions are expensive.
        sample_size: Number of inputs on which a candidate is evaluated first.
    """

    def __init__(self, inputs: Sequence[Any], sample_size: int) -> None:
        self.inputs = inputs
        self.step = max(1, len(inputs) // sample_size)
        self.predictions_on_all: dict[str, Predictions] = {}
        self.predictions_on_sample: dict[str, Predictions] = {}

    def choose(
        self, ranked: Iterable[Candidate], known: Sequence[Candidate], skip: Collection[str]
    ) -> Candidate | None:
        """Return the next candidate to propose, or None if no candidate is novel.

        Args:
            ranked: Candidates, cheapest first.
            known: Earlier answers.
            skip: Texts that must not be proposed.
        """
        if not known:
            return next((c for c in ranked if c.text not in skip), None)
        before = [self.get_predictions(c, on_all_inputs=False) for c in known]
        looked_at: list[tuple[float, Candidate]] = []
        limit = float("inf")
        for candidate in ranked:
            if candidate.cost > limit or len(looked_at) == MAX_COMPARED:
                break
            if candidate.text in skip:
                continue
            here = self.get_predictions(candidate, on_all_inputs=False)
            if new_share(here, before) < MIN_NEW_SHARE - SAMPLE_TOLERANCE:
                continue
            if len(known) < ANSWERS_BY_COST:
                if self._is_novel(candidate, known):
                    return candidate
                continue
            if not looked_at:
                limit = candidate.cost + MAX_EXTRA_COST
            looked_at.append((diversity_gain(here, before), candidate))
        if len(looked_at) == MAX_COMPARED:
            looked_at.sort(key=lambda pair: -pair[0])
        return next((c for _, c in looked_at if self._is_novel(c, known)), None)

    def _is_novel(self, candidate: Candidate, known: Sequence[Candidate]) -> bool:
        every = [self.get_predictions(c, on_all_inputs=True) for c in known]
        return new_share(self.get_predictions(candidate, on_all_inputs=True), every) > MIN_NEW_SHARE

    def get_predictions(self, candidate: Candidate, on_all_inputs: bool) -> Predictions:
        """Return the cached predictions of a candidate, on all inputs or on a sample of the
        inputs.
        """
        kept = self.predictions_on_all if on_all_inputs else self.predictions_on_sample
        if candidate.text not in kept:
            if not on_all_inputs and candidate.text in self.predictions_on_all:
                codes, defined = self.predictions_on_all[candidate.text]
                return codes[:: self.step], defined[:: self.step]
            inputs = self.inputs if on_all_inputs else self.inputs[:: self.step]
            kept[candidate.text] = candidate.predict(inputs)
        return kept[candidate.text]


def agreement_mask(here: Predictions, other: Predictions) -> Defined:
    """Return on which inputs two hypotheses make equal predictions, shape (inputs,).

    An undefined prediction equals no other prediction.
    """
    same: Defined = here[1] & other[1] & (here[0] == other[0])
    return same


def new_share(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """Return the share of the inputs with a prediction that no earlier hypothesis gives.

    It exceeds `MIN_NEW_SHARE` only where the coverage of GEAR 4.1, which undefined predictions lower, is
    below 0.8.
    """
    fresh = here[1].copy()
    for other in earlier:
        fresh &= ~agreement_mask(here, other)
    return float(fresh.mean()) if len(fresh) else 0.0


def diversity_gain(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """Return how much diversity a candidate adds to the earlier answers.

    The value is the sum of two terms: the share of the inputs with a new prediction (the amount by
    which gamma rises) and the mean distance to the earlier answers (GEAR 4.2 defines beta as the
    mean over all pairs).
    """
    distances = []
    for other in earlier:
        both = int(agreement_mask(here, other).sum())
        either = int(here[1].sum()) + int(other[1].sum()) - both
        distances.append(1.0 - both / either if either else 0.0)
    return new_share(here, earlier) + float(np.mean(distances))
