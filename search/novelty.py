"""Choose the next hypothesis: novel by GEAR's protocol, then likely, then far from earlier answers.

GEAR, section 4.1, calls an answer redundant if its coverage is 0.8 or more. Coverage is the share
of the sample space (the inputs on which hypotheses are compared) on which some earlier well-formed
answer gave the same prediction.

The first answers are chosen by cost alone, because the likeliest rules have the lowest cost. Later,
if many novel candidates cost little more than the cheapest novel candidate, the ranker chooses the
candidate that adds the most new predictions and lies farthest from the earlier answers. If only a
few novel candidates are left, the ranker still chooses by cost, because a distant candidate would
make more of the remaining candidates redundant. The ranker therefore never buys diversity with a
far-fetched rule while a plausible rule is left. Partial rules gain no diversity either: an
undefined prediction does not count as new here, although GEAR's protocol never counts an undefined
prediction as covered.

The engines recognise their own earlier answers by text and evaluate these answers. Programs from
elsewhere, such as a language model's, are never executed. The predictions of such programs are
unknown and count as covering nothing, so an engine may propose an equivalent program, which is then
judged redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
Places = NDArray[np.int64]
# two arrays of shape (inputs,); equal codes mean equal predictions
Predictions = tuple[Codes, Defined]


class Answer(NamedTuple):
    """A hypothesis that a search engine proposes.

    Args:
        source: Text of the hypothesis, such as the source of a Python function.
        description: One English sentence that describes the hypothesis.
        meta: Further fields of the reply, besides its text.
    """

    source: str
    description: str
    meta: Mapping[str, Json] = {}


class NeedsVectors(Exception):
    """Raised when the search needs vectors that it does not have.

    Attributes:
        terms: The texts whose vectors are needed.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__(f"{len(terms):,} vectors are missing")
        self.terms = list(terms)


class UnsupportedProblem(Exception):
    """Raised if an engine supports the kind of input but cannot search this problem.

    The message gives the reason.
    """


class Candidate(Protocol):
    """A hypothesis that reproduces the example pairs and may be proposed."""

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
        """Return the cost of this candidate. A lower cost means a likelier hypothesis."""
        ...

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        """Return the predictions of this candidate on `inputs`.

        Returns:
            Two arrays of shape (inputs,): an integer code of each prediction, where equal codes
            mean equal predictions, and whether each prediction is defined.
        """
        ...


class NoveltyRanker:
    """A ranker that chooses which candidate to propose next, and that caches predictions.

    Candidates are evaluated on the inputs in a fixed order, the sample first, and only on as many
    of them as a decision needs. An input's place is its index in this order.

    Args:
        inputs: The sample space (the inputs on which hypotheses are compared), or a representative
            sample of the space if predictions are expensive.
        sample_size: Approximate number of inputs on which a candidate is evaluated first.
        stride: Step through the sample, whose inputs at these places come first in the order.
        block: Number of inputs after which the ranker checks whether a decision is certain. For
            candidates that predict all inputs at once, it is the number of inputs.
    """

    def __init__(
        self, inputs: Sequence[Any], sample_size: int, stride: int = 1, block: int = 256
    ) -> None:
        self.inputs, self.block = inputs, max(1, block)
        self.step = max(1, len(inputs) // sample_size)
        sample = range(0, len(inputs), self.step)
        self.sampled = len(sample)
        rest = [k for k in range(len(inputs)) if k % self.step]
        self.order = [*sample[::stride], *(k for i, k in enumerate(sample) if i % stride), *rest]
        self.together = self.block >= len(inputs)  # whether predictions are asked for all at once
        self._predicted: dict[str, _Predicted] = {}
        # for each text the answers that left too little new, and what each answer left
        self._covered_on_sample: dict[str, list[str]] = {}
        self._covered_on_all: dict[str, list[str]] = {}
        self._gains: dict[str, tuple[list[str], Defined, list[float]]] = {}

    def choose(
        self, ranked: Iterable[Candidate], known: Sequence[Candidate], skip: Collection[str]
    ) -> Candidate | None:
        """Return the next candidate to propose, or None if no candidate is novel.

        Args:
            ranked: Candidates, sorted by ascending cost.
            known: Earlier answers with known predictions.
            skip: Texts that must not be proposed.
        """
        if not known:
            return next((c for c in ranked if c.text not in skip), None)
        looked_at: list[tuple[float, Candidate]] = []
        limit = float("inf")
        for candidate in ranked:
            if candidate.cost > limit or len(looked_at) == MAX_COMPARED:
                break
            if candidate.text in skip or not self.may_be_novel(candidate, known):
                continue
            if len(known) < ANSWERS_BY_COST:
                if self.is_novel(candidate, known):
                    return candidate
                continue
            if not looked_at:
                limit = candidate.cost + MAX_EXTRA_COST
            looked_at.append((self._diversity_gain(candidate, known), candidate))
        if len(looked_at) == MAX_COMPARED:
            looked_at.sort(key=lambda pair: -pair[0])
        return next((c for _, c in looked_at if self.is_novel(c, known)), None)

    def may_be_novel(self, candidate: Candidate, known: Sequence[Candidate]) -> bool:
        """Return whether enough of a candidate's predictions on the sample are new."""
        if self._is_covered(candidate, known, self._covered_on_sample):
            return False
        least = MIN_NEW_SHARE - SAMPLE_TOLERANCE
        new = self._is_new(candidate, known, self.sampled, lambda share: share >= least)
        if not new:
            self._covered_on_sample[candidate.text] = [c.text for c in known]
        return new

    def is_novel(self, candidate: Candidate, known: Sequence[Candidate]) -> bool:
        """Return whether enough of a candidate's predictions on all inputs are new."""
        if self._is_covered(candidate, known, self._covered_on_all):
            return False
        every = len(self.inputs)
        new = self._is_new(candidate, known, every, lambda share: share > MIN_NEW_SHARE)
        if not new:
            self._covered_on_all[candidate.text] = [c.text for c in known]
        return new

    def _is_covered(
        self, candidate: Candidate, known: Sequence[Candidate], covered: dict[str, list[str]]
    ) -> bool:
        """Return whether the first of the known answers already left too little that is new.

        What is new becomes less with each answer.
        """
        before = covered.get(candidate.text)
        return before is not None and _begins_with(known, before)

    def _diversity_gain(self, candidate: Candidate, known: Sequence[Candidate]) -> float:
        """Return `diversity_gain` on the sample. Only answers that are new since the last call for the
        candidate are compared with it.
        """
        here = self.predict_first(candidate, self.sampled)
        texts, fresh, distances = self._gains.get(candidate.text, ([], here[1], []))
        if not _begins_with(known, texts):
            texts, fresh, distances = [], here[1], []
        for one in known[len(texts) :]:
            other = self.predict_first(one, self.sampled)
            fresh = fresh & ~agreement_mask(here, other)
            distances = [*distances, distance(here, other)]
        self._gains[candidate.text] = [c.text for c in known], fresh, distances
        return (float(fresh.mean()) if len(fresh) else 0.0) + float(np.mean(distances))

    def _is_new(
        self,
        candidate: Candidate,
        known: Sequence[Candidate],
        among: int,
        enough: Callable[[float], bool],
    ) -> bool:
        """Return `enough(new_share(...))` on the first `among` inputs of the order.

        The inputs are looked at in blocks, until the remaining ones cannot change the result.
        """
        if not among:
            return enough(0.0)
        wanted = _least_count(among, enough)
        new = seen = 0
        while new < wanted <= new + among - seen:
            places = np.arange(seen, min(seen + self.block, among))
            seen += len(places)
            new += self._count_new(candidate, known, places)
        return new >= wanted

    def _count_new(self, candidate: Candidate, known: Sequence[Candidate], places: Places) -> int:
        """Return at how many places the prediction of a candidate is new.

        Known answers are compared first where their predictions are at hand, and are evaluated only
        where no other one agrees with the candidate.
        """
        here = self.predict_at(candidate, places)
        places = places[here.defined[places]]
        for at in (self._predicted_at, self.predict_at):
            for other in known:
                there = at(other, places)
                same = there.defined[places] & (there.codes[places] == here.codes[places])
                places = places[~same]
        return len(places)

    def predict_first(self, candidate: Candidate, count: int) -> Predictions:
        """Return the predictions of a candidate on the first `count` inputs of the order.

        Args:
            candidate: The candidate.
            count: Number of inputs. The sample has the first `sampled` ones.
        """
        found = self.predict_at(candidate, np.arange(count))
        return found.codes[:count], found.defined[:count]

    def predict_at(self, candidate: Candidate, places: Places) -> _Predicted:
        """Return all predictions of a candidate so far, among them those at some places.

        Predictions are cached, so that each input is evaluated once.

        Args:
            candidate: The candidate.
            places: Ascending places in the order of the inputs.
        """
        found = self._predicted_at(candidate, places)
        missing = places[~found.known[places]]
        if len(missing):
            if self.together:
                missing = np.flatnonzero(~found.known)
            found.codes[missing], found.defined[missing] = self._predict(candidate, missing)
            found.known[missing] = True
        return found

    def _predicted_at(self, candidate: Candidate, places: Places) -> _Predicted:
        """Return the predictions of a candidate so far, with room for those at some places."""
        found = self._predicted.get(candidate.text)
        last = int(places[-1]) if len(places) else -1
        if found is None or last >= len(found.codes):
            room = self.sampled if last < self.sampled else len(self.order)
            found = self._predicted[candidate.text] = _Predicted(room, found)
        return found

    def _predict(self, candidate: Candidate, places: Places) -> Predictions:
        """Evaluate a candidate at some places."""
        return candidate.predict([self.inputs[self.order[k]] for k in places.tolist()])


class _Predicted:
    """The predictions of a text, as far as they were needed.

    Attributes:
        codes: Code of the prediction at each place, shape (places,).
        defined: Whether the prediction is defined, shape (places,).
        known: Whether the text was evaluated at the place, shape (places,).
    """

    def __init__(self, count: int, before: _Predicted | None) -> None:
        self.codes = np.zeros(count, dtype=np.int64)
        self.defined, self.known = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        if before is not None:
            done = len(before.codes)
            self.codes[:done], self.defined[:done] = before.codes, before.defined
            self.known[:done] = before.known


def _begins_with(known: Sequence[Candidate], texts: list[str]) -> bool:
    """Return whether the first of the known answers have these texts."""
    return len(texts) <= len(known) and all(c.text == t for c, t in zip(known, texts, strict=False))


def _least_count(among: int, enough: Callable[[float], bool]) -> int:
    """Return the least number of inputs whose share `among` as many is enough; `among` + 1 if none is."""
    low, high = 0, among + 1
    while low < high:
        middle = (low + high) // 2
        if enough(middle / among):
            high = middle
        else:
            low = middle + 1
    return low


def agreement_mask(here: Predictions, other: Predictions) -> Defined:
    """Return on which inputs two hypotheses make equal predictions.

    The result is a bool array of shape (inputs,). An undefined prediction equals no prediction, not
    even another undefined prediction.
    """
    same: Defined = here[1] & other[1] & (here[0] == other[0])
    return same


def new_share(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """Return the share of the inputs on which a hypothesis makes a new prediction.

    A prediction is new if it is defined and no earlier hypothesis makes the same prediction for the
    input. If the result exceeds `MIN_NEW_SHARE`, then the coverage of GEAR, section 4.1, is below
    0.8.

    Args:
        here: Predictions of the hypothesis.
        earlier: Predictions of each earlier hypothesis.
    """
    fresh = here[1].copy()
    for other in earlier:
        fresh &= ~agreement_mask(here, other)
    return float(fresh.mean()) if len(fresh) else 0.0


def diversity_gain(here: Predictions, earlier: Sequence[Predictions]) -> float:
    """Return how much diversity a hypothesis adds to the earlier hypotheses.

    The result is the sum of two terms. The first term is the share of the inputs with a new
    prediction; GEAR's gamma, the number of different predictions per input, rises by this share.
    The second term is the mean distance to the earlier hypotheses; GEAR, section 4.2, defines beta
    as the mean distance over all pairs of hypotheses.

    Args:
        here: Predictions of the hypothesis.
        earlier: Predictions of each earlier hypothesis; at least one.
    """
    distances = [distance(here, other) for other in earlier]
    return new_share(here, earlier) + float(np.mean(distances))


def distance(here: Predictions, other: Predictions) -> float:
    """Return the distance of two hypotheses (GEAR, section 4.2): 1 minus the share of the inputs on
    which both predictions are equal among those on which at least one is defined.
    """
    both = int(agreement_mask(here, other).sum())
    either = int(here[1].sum()) + int(other[1].sum()) - both
    return 1.0 - both / either if either else 0.0
