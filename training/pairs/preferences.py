"""Compute the preference pairs of one problem and its shown observations O_n (GEAR, section 6.1).

A context is a set of 0, 1 or 2 consistent hypotheses that were proposed earlier. For each context,
each unordered pair of the other answers is compared in three stages.

 1. parsing: one answer is well-formed and the other is not. The well-formed answer is chosen.
 2. consistency: both answers are well-formed, and only one is consistent with O_n. The consistent
    answer is chosen.
 3. gear: both answers are consistent. The answer with the higher score over the context is chosen
    (`scores`; the comment above that function has the formula and explains why ties are exact).

Two malformed answers, two inconsistent answers, and two answers with equal scores make no pair. A
pair contains the positions of two answers, not their texts. Nothing is executed: the scores are
computed from the number of inputs on which recorded predictions agree.

The paper only says that pairs are "sampled", so two choices are our own. The numbers of contexts
and of pairs are limited (`Caps`). Pairs are limited separately for each context and stage, so that
no stage displaces another stage. If there are more pairs than the limit, pairs are drawn at random
after ties were removed. The result depends only on the pool, the caps and the seed, and the draws
for a context do not depend on the other contexts. The running time grows with the number of
contexts times the number of consistent answers, and with the number of returned pairs, but not with
the number of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import UsageError
from ..draws import combinations, draw, hash_key
from ..stages import Stage
from .overlap import PredictionOverlap, integer_sizes

# --- The score of each candidate over each context, and its exact order (GEAR, 5.3, 6.1).
#
# Score(f) = (g(f) + delta gamma(f) + delta beta(f)) / 3, where the deltas are the gains of adding f
# to the context. It follows from sizes alone. Let s_f be the size of f's predictions, x_fi the size
# that f shares with member i of the context, t_f the size that f shares with both members at once,
# d a Jaccard distance, and W the size of S:
#
#     g = s_f / W,   delta gamma = (s_f - x_f1 - x_f2 + t_f) / W,
#     delta beta = 0 | d_f1 | (d_f1 + d_f2 - 2 d_12) / 3    for contexts of 0 | 1 | 2,
#
# beta of fewer than two hypotheses being 0. Where hypotheses have a cost (logic), the score has a
# fourth term, 1 - cost / elements, and the sum is divided by 4. This term is ours, not the paper's.
#
# All terms are fractions of integers. Scores are compared as fractions, so ties are exact: floats
# order scores that are 1e-12 or more apart, and fractions order the closer ones.

Integers = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.object_]  # objects are Python integers, beyond 62 bits

_NEAR = 1e-12
_WIDEST = 2**62


class Costs(NamedTuple):
    """The costs of m hypotheses, as integers of shape (m,). A cost is at most `elements`."""

    cost: Integers
    elements: int


class Scores(NamedTuple):
    """The scores of m hypotheses over k contexts, as exact fractions and as floats, of shape (k,
    m).

    A value for a hypothesis that is itself in the context has no meaning.
    """

    numerator: Numbers  # (k, m); numerator / denominator is the score times its
    denominator: Numbers  # (k, m); number of terms, up to a constant per context
    value: NDArray[np.float64]  # (k, m), the score


def context_sizes(agreement: PredictionOverlap, contexts: Integers) -> tuple[Integers, Integers]:
    """Return how much each hypothesis agrees with the members of each context.

    Args:
        agreement: The agreement of m hypotheses.
        contexts: The indices of the c members of k contexts, of shape (k, c); c is 0, 1 or 2.

    Returns:
        The sizes that each hypothesis shares with each member, of shape (k, c, m), and the sizes
            that
        it shares with both members at once, of shape (k, m). The second array is zero if c is below
            2.
    """
    k, c = contexts.shape
    m = len(agreement.sizes)
    shared = np.zeros((k, c, m), np.int64)
    by_three = np.zeros((k, m), np.int64)
    if c == 2:
        for member in np.unique(contexts[:, 0]).tolist():
            rows = np.flatnonzero(contexts[:, 0] == member)
            by_three[rows] = agreement.triple_shared_sizes(member, contexts[rows, 1])
    for member in np.unique(contexts).tolist():
        sizes = agreement.shared_sizes(member)
        for place in range(c):
            shared[contexts[:, place] == member, place] = sizes
    return shared, by_three


def scores(agreement: PredictionOverlap, contexts: Integers, costs: Costs | None = None) -> Scores:
    """Return the score of each of m hypotheses over each of k contexts.

    Args:
        agreement: The agreement of the m hypotheses.
        contexts: The indices of the c members of each context, of shape (k, c); c is 0, 1 or 2.
        costs: The costs of the hypotheses; None for families without costs.
    """
    k, c = contexts.shape
    shared, by_three = context_sizes(agreement, contexts)
    own = agreement.sizes
    space = max(1, agreement.space)  # with an empty S all sizes and terms are 0
    new = own[None, :] - shared.sum(axis=1) + by_three
    union = own[contexts][:, :, None] + own[None, None, :] - shared
    apart = np.where(union > 0, union - shared, 0)
    union = np.maximum(union, 1)
    elements = 1 if costs is None else max(1, costs.elements)
    widest = 12 * space * int(union.max(initial=1)) ** c * elements
    exact = np.dtype(np.int64) if widest < _WIDEST else np.dtype(object)
    sized = (own[None, :] + new).astype(exact)
    distances = [(apart[:, i].astype(exact), union[:, i].astype(exact)) for i in range(c)]
    numerator, denominator = _summed((sized, np.full_like(sized, space)), distances)
    if costs is not None:
        spared = (elements - costs.cost).astype(exact)
        numerator = numerator * elements + spared[None, :] * denominator
        denominator = denominator * elements
    value = (numerator / denominator).astype(np.float64)
    if c == 2:
        within = (np.arange(k), 0, contexts[:, 1])
        value -= (2 * (apart[within] / union[within]) / 3)[:, None]
    return Scores(numerator, denominator, value / (3 if costs is None else 4))


def _summed(
    sized: tuple[Numbers, Numbers], distances: list[tuple[Numbers, Numbers]]
) -> tuple[Numbers, Numbers]:
    """Return the sum of the fraction `sized` and of the distances over their number of pairs.

    Without distances it is `sized` alone. The sum of the distances is divided by the number of
    pairs in the set: 1 for two and 3 for three hypotheses.
    """
    numerator, denominator = sized
    if not distances:
        return numerator, denominator
    (apart, union), *more = distances
    for other, size in more:
        apart, union = apart * size + other * union, union * size
    if more:
        union = union * 3
    return numerator * union + apart * denominator, denominator * union


class Ranking(NamedTuple):
    """The candidates of each of k contexts, sorted by score from lowest to highest.

    `order` has the sorted positions of the candidates. For each of them, `lower` has the number of
    candidates with a strictly lower score. Both have shape (k, r).
    """

    order: Integers  # (k, r), positions of candidates
    lower: Integers  # (k, r), for each position in that order, how many score strictly lower


def ranking(numerator: Numbers, denominator: Numbers) -> Ranking:
    """Return the exact ranking of the fractions numerator / denominator in each row.

    Args:
        numerator: Integers of shape (k, r).
        denominator: Positive integers of shape (k, r).
    """
    value = (numerator / denominator).astype(np.float64)
    order = np.argsort(value, axis=1, kind="stable")
    value = np.take_along_axis(value, order, 1)
    higher = np.ones(order.shape, np.bool_)  # strictly above the previous candidate
    near = value[:, 1:] - value[:, :-1] < _NEAR
    rows, places = np.nonzero(near)
    above = _reduced(numerator, denominator, rows, order[rows, places + 1])
    below = _reduced(numerator, denominator, rows, order[rows, places])
    equal = (above[0] == below[0]) & (above[1] == below[1])
    higher[rows[equal], places[equal] + 1] = False
    for row in np.unique(rows[~equal]).tolist():
        exact = [
            Fraction(int(n), int(d)) for n, d in zip(numerator[row], denominator[row], strict=True)
        ]
        order[row] = sorted(range(len(exact)), key=exact.__getitem__)
        ranked = [exact[i] for i in order[row]]
        higher[row, 1:] = [a < b for a, b in pairwise(ranked)]
    starts = np.where(higher, np.arange(order.shape[1]), 0)
    return Ranking(order, np.maximum.accumulate(starts, axis=1) if starts.size else starts)


def _reduced(
    numerator: Numbers, denominator: Numbers, rows: Integers, places: Integers
) -> tuple[Numbers, Numbers]:
    above, below = numerator[rows, places], denominator[rows, places]
    common = np.gcd(above, below)
    return above // common, below // common


CONTEXT_SIZES = (0, 1, 2)  # sizes of contexts
_BLOCK = 1 << 18  # scores that are computed at once


@dataclass(frozen=True)
class Pool:
    """The h answers to one question as arrays. Each answer has one hypothesis or none.

    Attributes:
        parsed: Whether the answer has a hypothesis, bool of shape (h,).
        consistent: Whether the hypothesis is consistent with O_n, bool of shape (h,).
        codes: Codes of the predictions on the n inputs of the sample space, int64 of shape (h, n).
            Only the rows of consistent answers are read.
        defined: Whether each prediction is defined, bool of shape (h, n). Only the rows of
            consistent answers are read.
        weights: The sizes of the inputs, of shape (n,); None for equal sizes.
        cost: For logic, the number of abnormal elements in all prompt worlds, integers of shape
            (h,). Only values of consistent answers are read. None for families without costs.
        elements: For logic, the number of elements in all prompt worlds.

    Raises:
        ValueError: Shapes do not fit each other, a consistent answer is not parsed, or a cost is
            not within [0, elements].
    """

    parsed: NDArray[np.bool_]
    consistent: NDArray[np.bool_]
    codes: Integers
    defined: NDArray[np.bool_]
    weights: ArrayLike | None = None
    cost: Integers | None = None
    elements: int = 0

    def __post_init__(self) -> None:
        h = len(self.parsed)
        if self.parsed.shape != (h,) or self.consistent.shape != (h,):
            raise ValueError(f"parsed {self.parsed.shape}, consistent {self.consistent.shape}")
        if self.codes.ndim != 2 or len(self.codes) != h or self.codes.shape != self.defined.shape:
            shapes = f"codes {self.codes.shape} and defined {self.defined.shape}"
            raise ValueError(f"{shapes} of {h} answers")
        if (self.consistent & ~self.parsed).any():
            raise ValueError("an answer is consistent that is not parsed")
        if self.cost is not None:
            if self.cost.shape != (h,) or not np.issubdtype(self.cost.dtype, np.integer):
                raise ValueError(
                    f"cost is not integers ({h},): {self.cost.dtype} {self.cost.shape}"
                )
            known = self.cost[self.consistent]
            if ((known < 0) | (known > self.elements)).any():
                raise ValueError(f"a cost is not within [0, {self.elements}]")


@dataclass(frozen=True)
class Caps:
    """The maximum number of contexts, and of pairs per stage in a context.

    Each tuple has one value for contexts of 0, 1 and 2 hypotheses. None means no limit. The
    released code of the paper takes 1, 20 and 190 contexts (all contexts of 20 drawn hypotheses).
    It takes all pairs without a context, and 15 pairs of all stages together in each other context.

    Raises:
        UsageError: A tuple does not have three values of at least 0, or the caps leave no pair.
    """

    contexts: tuple[int | None, int | None, int | None] = (1, 20, 190)
    pairs: tuple[int | None, int | None, int | None] = (2_000, 15, 15)

    def __post_init__(self) -> None:
        for name, caps in (("contexts", self.contexts), ("pairs", self.pairs)):
            if len(caps) != len(CONTEXT_SIZES) or any(cap is not None and cap < 0 for cap in caps):
                raise UsageError(
                    f"{name} {caps}: three numbers of at least 0 are needed, for contexts of 0, 1"
                    " and 2 hypotheses (none of them is no cap)"
                )
        if not any(k != 0 and n != 0 for k, n in zip(self.contexts, self.pairs, strict=True)):
            raise UsageError(
                f"contexts {self.contexts} with pairs {self.pairs}: they leave no pair"
            )


@dataclass(frozen=True)
class PairArrays:
    """Arrays of p preference pairs over k contexts. An answer is given by its index in the pool.

    The pairs are sorted by context, stage, chosen and rejected, and take 29 bytes per pair.
    """

    contexts: NDArray[np.int32]  # (k, 2), ascending, -1 where the context has fewer members
    context: NDArray[np.int32]  # (p,), rows of `contexts`
    stage: NDArray[np.int8]  # (p,), a `Stage`
    chosen: NDArray[np.int32]  # (p,)
    rejected: NDArray[np.int32]  # (p,)
    chosen_score: NDArray[np.float64]  # (p,), NaN except in the stage gear
    rejected_score: NDArray[np.float64]  # (p,)
    context_counts: Integers  # (3,), all contexts of each size, before the cap
    counts_before_cap: (
        Integers  # (3, 3), pairs by size of context and stage before the cap on pairs
    )
    ties: Integers  # (3,), ties in the contexts of each size, which are no pairs

    def __len__(self) -> int:
        return len(self.context)


def preference_pairs(pool: Pool, caps: Caps | None = None, seed: int = 0) -> PairArrays:
    """Return the preference pairs of a pool of answers (see the module docstring).

    Args:
        pool: The answers.
        caps: The limits for contexts and pairs; None uses the defaults.
        seed: The seed of the draws. For several pools, use a different seed for each pool
            (`draws.hash_key`).

    Raises:
        UsageError: The weights in `pool` are not valid sizes.
    """
    caps = caps or Caps()
    consistent = np.flatnonzero(pool.consistent)
    sizes = integer_sizes(pool.weights, pool.codes.shape[1])
    work = _Work(
        malformed=np.flatnonzero(~pool.parsed),
        inconsistent=np.flatnonzero(pool.parsed & ~pool.consistent),
        consistent=consistent,
        agreement=PredictionOverlap(pool.codes[consistent], pool.defined[consistent], sizes),
        costs=None if pool.cost is None else Costs(pool.cost[consistent], pool.elements),
        seed=seed,
    )
    parts = [part for size in CONTEXT_SIZES for part in _of_size(work, caps, size)]
    return _joined(parts, len(consistent))


# --- inside -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    malformed: Integers  # positions of answers
    inconsistent: Integers
    consistent: Integers
    agreement: PredictionOverlap  # of the consistent ones
    costs: Costs | None
    seed: int

    def key(self, *parts: object) -> int:
        return hash_key("preference pairs", self.seed, *parts)


@dataclass(frozen=True)
class _Part:
    """Pairs of contexts of one size; the columns of `rows` are context, stage, chosen, rejected."""

    size: int
    contexts: Integers  # (k, 2)
    rows: Integers  # (p, 4)
    scores: NDArray[np.float64]  # (p, 2)
    found: Integers  # (3,)
    ties: int


def _of_size(work: _Work, caps: Caps, size: int) -> Iterator[_Part]:
    m = len(work.consistent)
    most = caps.contexts[size]
    key = work.key("contexts", size)
    one = np.zeros(1, np.int64)
    _, places = draw(np.array([math.comb(m, size)], np.int64), most, key, one)
    step = max(1, _BLOCK // max(1, m))
    for start in range(0, len(places), step):
        part = places[start : start + step]
        yield _of_contexts(work, combinations(part, size, m), part, caps.pairs[size])


def _of_contexts(work: _Work, contexts: Integers, names: Integers, most: int | None) -> _Part:
    """Return the pairs of contexts of one size.

    Args:
        work: The pool.
        contexts: (k, c), positions among the consistent answers.
        names: (k,), positions of the contexts among all contexts of that size.
        most: The most pairs per stage and context.
    """
    k, size = contexts.shape
    rest = len(work.consistent) - size
    worse, middle = len(work.malformed), len(work.inconsistent)

    def drawn(stage: Stage, counts: Integers) -> tuple[Integers, Integers]:
        return draw(counts, most, work.key("pairs", size, int(stage)), names)

    def consistent(row: Integers, place: Integers) -> Integers:
        """The answers at these places among those that are not in the context."""
        for member in range(size):
            place = place + (place >= contexts[row, member])
        return work.consistent[place]

    row, number = drawn(Stage.PARSING, np.full(k, worse * (middle + rest), np.int64))
    good, bad = np.divmod(number, max(1, worse))
    inside = good < middle
    chosen = np.empty_like(good)
    chosen[inside] = work.inconsistent[good[inside]]
    chosen[~inside] = consistent(row[~inside], good[~inside] - middle)
    found = [_rows(row, Stage.PARSING, chosen, work.malformed[bad])]
    counts = [k * worse * (middle + rest)]

    row, number = drawn(Stage.CONSISTENCY, np.full(k, middle * rest, np.int64))
    good, bad = np.divmod(number, max(1, middle))
    found.append(_rows(row, Stage.CONSISTENCY, consistent(row, good), work.inconsistent[bad]))
    counts.append(k * middle * rest)

    every = np.arange(max(0, rest), dtype=np.int64)[None, :]
    for member in range(size):
        every = every + (every >= contexts[:, member, None])
    every = np.broadcast_to(every, (k, max(0, rest)))
    scored = scores(work.agreement, contexts, work.costs)
    at = np.arange(k)[:, None]
    ranks = ranking(scored.numerator[at, every], scored.denominator[at, every])
    # The candidate at position i of the order is chosen over each of the first lower[i] ones. Pairs
    # are numbered in the order of i, and those of i have numbers below ends[i].
    ends = np.cumsum(ranks.lower, axis=1)
    totals = ends[:, -1] if rest > 0 else np.zeros(k, np.int64)
    row, number = drawn(Stage.GEAR, totals)
    before = np.cumsum(totals) - totals
    high = np.searchsorted((ends + before[:, None]).ravel(), number + before[row], side="right")
    high -= row * max(0, rest)
    low = number - (ends[row, high] - ranks.lower[row, high])
    best, other = (every[row, ranks.order[row, place]] for place in (high, low))
    found.append(_rows(row, Stage.GEAR, work.consistent[best], work.consistent[other]))
    counts.append(int(totals.sum()))

    values = np.full((sum(map(len, found)), 2), np.nan)
    values[len(values) - len(row) :, 0] = scored.value[row, best]
    values[len(values) - len(row) :, 1] = scored.value[row, other]
    rows = np.concatenate(found)
    order = np.lexsort(rows.T[::-1])
    members = np.full((k, 2), -1, np.int64)
    members[:, :size] = work.consistent[contexts]
    return _Part(
        size, members, rows[order], values[order], np.array(counts, np.int64),
        k * (rest * (rest - 1) // 2) - counts[-1],
    )  # fmt: skip


def _rows(context: Integers, stage: Stage, chosen: Integers, rejected: Integers) -> Integers:
    return np.stack([context, np.full_like(context, int(stage)), chosen, rejected], axis=1)


def _joined(parts: list[_Part], consistent: int) -> PairArrays:
    found, ties = (
        np.zeros((len(CONTEXT_SIZES), len(Stage)), np.int64),
        np.zeros(len(CONTEXT_SIZES), np.int64),
    )
    first = 0
    context: list[Integers] = [np.zeros(0, np.int64)]
    for part in parts:
        found[part.size] += part.found
        ties[part.size] += part.ties
        context.append(part.rows[:, 0] + first)
        first += len(part.contexts)
    rows = np.concatenate([np.zeros((0, 4), np.int64), *(part.rows for part in parts)])
    values = np.concatenate([np.zeros((0, 2)), *(part.scores for part in parts)])
    contexts = np.concatenate([np.zeros((0, 2), np.int64), *(part.contexts for part in parts)])
    return PairArrays(
        contexts=contexts.astype(np.int32),
        context=np.concatenate(context).astype(np.int32),
        stage=rows[:, 1].astype(np.int8),
        chosen=rows[:, 2].astype(np.int32),
        rejected=rows[:, 3].astype(np.int32),
        chosen_score=values[:, 0].copy(),
        rejected_score=values[:, 1].copy(),
        context_counts=np.array([math.comb(consistent, size) for size in CONTEXT_SIZES], np.int64),
        counts_before_cap=found,
        ties=ties,
    )
