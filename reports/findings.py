"""The findings of a session: the hypotheses of each problem, best first.

A running session ranks its bank by a reward that favours hypotheses which were tried rarely
(HypoGeniC). Once the session has ended, nothing is left to explore. Findings are ranked by what a
reader wants to know:

1. whether the hypothesis is consistent with the shown observations;
2. how short it makes the data: the bits of the observations that it leaves unexplained, plus the bits
   of the hypothesis itself (minimum description length, tools/description_length.py);
3. how likely its predictions on the sample space S are, given all the hypotheses found (`consensus`).

Held-out observations are shown beside a finding, but never used to rank it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..records import (
    HasDescriptionLength,
    Hypothesis,
    InputSet,
    JudgedHypothesis,
    Predictions,
    Problem,
)
from ..tasks import load_family
from ..tools.description_length import error_bits, text_bits
from .metrics.results import list_judged, pair_with_steps

if TYPE_CHECKING:
    from ..store import ProblemRow, Store

SMALLEST_SHARE = 1e-6  # of the weight of the hypotheses; keeps logarithms finite


@dataclass(frozen=True)
class RankedHypothesis:
    """A hypothesis of a problem with what it is ranked by.

    Attributes:
        judged: The hypothesis with its agreements and predictions.
        bits: Its description length, in bits.
        observation_bits: The bits that the shown observations still need when it is known.
        consensus: The likelihood of its predictions on S, in bits for each input (at most 0); 0
            where there are no predictions.
    """

    judged: JudgedHypothesis
    bits: float
    observation_bits: float
    consensus: float

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis."""
        assert self.judged.hypothesis is not None
        return self.judged.hypothesis

    @property
    def total_bits(self) -> float:
        """The length of the shown data with this hypothesis, in bits."""
        return self.bits + self.observation_bits


def rank_problems(
    store: Store, session: str, rows: Sequence[ProblemRow], *, distinct: bool = True
) -> Iterator[tuple[ProblemRow, list[RankedHypothesis]]]:
    """Yield the problems of `rows`, in the session's order, each with its ranked hypotheses.

    `distinct` is explained in `rank_hypotheses`.
    """
    records = store.steps(session, [row.problem.id for row in rows], spaces="consistent")
    for row, steps in pair_with_steps(rows, records):
        yield row, rank_hypotheses(row.problem, list_judged(steps), distinct=distinct)


def rank_bank(store: Store, session: str, bank: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a session's bank (`Store.bank`) in the order of findings, with new ranks.

    Hypotheses that the session never judged on all shown observations come last, in their order.
    """
    ids = {row["problem"] for row in bank}
    rows = [row for row in store.problems(session) if row.problem.id in ids]
    records = store.steps(session, [row.problem.id for row in rows], spaces="consistent")
    ranked = []
    for row, steps in pair_with_steps(rows, records):
        best = rank_hypotheses(row.problem, list_judged(steps), distinct=False)
        places = {one.hypothesis.text: place for place, one in enumerate(best)}
        own = [entry for entry in bank if entry["problem"] == row.problem.id]
        own.sort(key=lambda entry: places.get(entry["text"], len(places)))
        ranked += [{**entry, "rank": rank} for rank, entry in enumerate(own, 1)]
    return ranked


def rank_hypotheses(
    problem: Problem, judged: Iterable[JudgedHypothesis], *, distinct: bool = True
) -> list[RankedHypothesis]:
    """Return the hypotheses of a problem, best first.

    Malformed answers are left out. Of hypotheses with the same text, the first is kept.

    Args:
        problem: The problem.
        judged: Its hypotheses.
        distinct: Whether to keep only the best of consistent hypotheses whose predictions are equal
            on all of S.
    """
    first: dict[str, JudgedHypothesis] = {}
    for one in judged:
        if one.hypothesis is not None and one.shown is not None:
            first.setdefault(one.hypothesis.text, one)
    lengths = [_lengths(problem, one) for one in first.values()]
    agreed = consensus(list(first.values()), [sum(both) for both in lengths])
    ranked = [
        RankedHypothesis(one, *both, likelihood)
        for one, both, likelihood in zip(first.values(), lengths, agreed, strict=True)
    ]
    ranked.sort(key=lambda one: (not one.judged.verdict.consistent, one.total_bits, -one.consensus))
    return _without_equivalents(ranked) if distinct else ranked


def _lengths(problem: Problem, one: JudgedHypothesis) -> tuple[float, float]:
    """Return the bits of a hypothesis, and those of the observations that it does not explain."""
    assert one.hypothesis is not None and one.shown is not None
    family = load_family(problem.family)
    if isinstance(family, HasDescriptionLength):
        return (
            family.description_bits(one.hypothesis.text, problem),
            family.observation_bits(one.shown, problem),
        )
    return text_bits(one.hypothesis.text), error_bits(one.shown.marks, len(problem.shown))


def consensus(judged: Sequence[JudgedHypothesis], bits: Sequence[float]) -> list[float]:
    """Return the likelihood of each hypothesis's predictions on S, in bits for each input.

    An input's prediction is as likely as the share of the hypotheses that predict the same, each
    weighted by 2 ** -bits. Inconsistent hypotheses do not vote, and have 0.

    Args:
        judged: The hypotheses.
        bits: The length of the data with each of them.
    """
    found = [0.0] * len(judged)
    voters = [i for i, one in enumerate(judged) if one.verdict.consistent and one.space is not None]
    if not voters:
        return found
    codes, defined = _stack([judged[i].space for i in voters])
    least = min(bits[i] for i in voters)
    weights: NDArray[np.float64] = np.exp2([least - bits[i] for i in voters])
    for row, place in enumerate(voters):
        same = (codes == codes[row]) & defined & defined[row]
        shares = np.maximum(weights @ same / weights.sum(), SMALLEST_SHARE)
        found[place] = float(np.log2(shares).mean()) if shares.size else 0.0
    return found


def _stack(spaces: Sequence[Predictions | None]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    kept = [one for one in spaces if one is not None]
    return np.stack([one.codes for one in kept]), np.stack([one.defined for one in kept])


def _without_equivalents(ranked: Sequence[RankedHypothesis]) -> list[RankedHypothesis]:
    kept, seen = [], set()
    for one in ranked:
        space = one.judged.space
        if one.judged.verdict.consistent and space is not None and len(space.codes):
            same = (space.codes.tobytes(), space.reasons.tobytes())
            if same in seen:
                continue
            seen.add(same)
        kept.append(one)
    return kept


def find_disagreement(
    first: RankedHypothesis, second: RankedHypothesis, space: InputSet
) -> int | None:
    """Return the index of the shortest input of S on which two hypotheses disagree, or None.

    Inputs on which both predict something come before those on which only one does.
    """
    one, other = first.judged.space, second.judged.space
    if one is None or other is None or not len(space):
        return None
    both = one.defined & other.defined & (one.codes != other.codes)
    places = np.flatnonzero(both if both.any() else one.defined != other.defined)
    return min(
        map(int, places),
        key=lambda place: len(json.dumps(space.inputs[place], default=str)),
        default=None,
    )
