"""The simulation studies of GEAR (sections 5.2 and 5.3) on the hypotheses of one problem.

The h hypotheses of a problem that agree with its shown pairs O_n stand in a `Population`: what
each predicts over the sample space S, and on which of the q hidden pairs each is right. An
undefined prediction is not right. A hypothesis passes a set of hidden pairs if it is right on all
of them.

Study 1, `survival`: how many hypotheses pass m hidden pairs, and gamma of those that do.

Study 2, `comparison`: whether the higher-scored of two hypotheses passes more often. For contexts
of k hypotheses, none of which passes already, the others are scored by what they would add,
Score(f) = (g(f) + delta gamma(f) + delta beta(f)) / 3, and each two of them are compared. Scores
that agree to 12 decimals tie; pairs that tie are dropped and counted. No pair is ever listed: in
order of their scores, a hypothesis is the chosen one of as many pairs as there are candidates
below it, and the rejected one of as many as there are above. Scores need the sizes of prediction
sets and of their intersections two by two, and for k = 2 three by three, counted as bits.

What the paper leaves open: hidden pairs are drawn without replacement, different sets each time,
all sets once where there are not as many as draws (as published). Contexts are drawn in the same
way, at most `contexts` of a size (the published code takes those of 20 hypotheses, at most 190).
A context counts as at most `pairs` comparisons: where it has more, its counts are scaled down to
so many, which is what a random choice of that many gives on average (the published code draws 15,
and all for k = 0). Every choice is a pure function of a seed.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import scores as gear
from .novelty import Codes, Mask, Sizes, input_sizes, prediction_matrix, space_size, unused_code

Places = NDArray[np.intp]
Counts = NDArray[np.int64]

DRAWS = 5  # of each number of hidden pairs (section 5.2)
CONTEXTS = 200  # of one size and problem
PAIRS = 100  # of one context
_DECIMALS = 12  # of scores that are told apart


@dataclass(frozen=True)
class Population:
    """h hypotheses with u different behaviours over the n inputs of S, and q hidden pairs.

    codes, defined: (u, n). behaviour: (h,), the row of each hypothesis. right: (h, q).
    weights: (n,), the sizes of the inputs; None where all weigh the same.
    """

    codes: Codes
    defined: Mask
    behaviour: Places
    right: Mask
    weights: Sizes | None = None

    def __len__(self) -> int:
        return len(self.behaviour)

    @property
    def pairs(self) -> int:
        return int(self.right.shape[1])


def population(
    codes: ArrayLike,
    defined: ArrayLike,
    right: ArrayLike,
    behaviour: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Population:
    """Of h hypotheses right on (h, q) of the hidden pairs. codes, defined: (u, n); behaviour: the
    row (h,) of each hypothesis, by default one each. Equal rows become one behaviour.

    Raises ValueError where shapes do not fit, UsageError for what is no weight.
    """
    rows, known = prediction_matrix(codes, defined)
    marks = np.asarray(right, np.bool_)
    if marks.ndim != 2:
        raise ValueError(f"a matrix (hypotheses, hidden pairs) is needed, not shape {marks.shape}")
    given = np.arange(len(rows)) if behaviour is None else np.asarray(behaviour, np.intp)
    if given.shape != (len(marks),):
        raise ValueError(f"{len(marks)} rows of marks for behaviours of shape {given.shape}")
    if not known.all():
        rows = np.where(known, rows, 0)
    found: dict[tuple[bytes, bytes], int] = {}
    place = np.empty(len(rows), np.intp)
    for i, (row, where) in enumerate(zip(rows, known, strict=True)):
        place[i] = found.setdefault((row.tobytes(), where.tobytes()), len(found))
    if len(found) < len(rows):
        first = np.unique(place, return_index=True)[1]
        rows, known = rows[first], known[first]
    sizes = None if weights is None else input_sizes(weights, rows.shape[1])
    return Population(rows, known, place[given], marks, sizes)


def distinct(some: Population) -> Population:
    """Hypotheses with equal predictions over S and right on the same hidden pairs become one."""
    seen: dict[tuple[int, bytes], int] = {}
    for i, (row, marks) in enumerate(zip(some.behaviour.tolist(), some.right, strict=True)):
        seen.setdefault((row, marks.tobytes()), i)
    kept = np.fromiter(seen.values(), np.intp, len(seen))
    return Population(
        some.codes, some.defined, some.behaviour[kept], some.right[kept], some.weights
    )


# --- what is drawn -----------------------------------------------------------


def subsets(items: int, size: int, most: int, seed: str) -> Places:
    """Different subsets (c, size) of range(items), ascending within a row: all of them where
    there are at most `most`, else so many drawn at random. None (0, size) where items < size."""
    total = math.comb(items, size)
    if total <= most:
        every = list(combinations(range(items), size))
        return np.array(every, np.intp).reshape(total, size)
    rng = random.Random(seed)
    ranks: set[int] = set()
    while len(ranks) < most:
        ranks.add(rng.randrange(total))
    table = [[math.comb(item, k) for item in range(items)] for k in range(size + 1)]
    return np.array([_subset(rank, table) for rank in sorted(ranks)], np.intp)


def _subset(rank: int, binomials: list[list[int]]) -> list[int]:
    """The subset at `rank` in the combinatorial number system. binomials: item over k, by k."""
    chosen: list[int] = []
    for k in range(len(binomials) - 1, 0, -1):
        item = bisect_right(binomials[k], rank) - 1
        rank -= binomials[k][item]
        chosen.append(item)
    return chosen[::-1]


def hidden_draws(pairs: int, m: int, draws: int, seed: str) -> Places:
    """Sets (d, m) of hidden pairs; d is `draws`, or fewer where there are not so many sets."""
    return subsets(pairs, m, draws, f"{seed} hidden {m}")


def contexts_of(hypotheses: int, k: int, most: int, seed: str) -> Places:
    """Contexts (c, k) as rows of hypotheses."""
    return subsets(hypotheses, k, most, f"{seed} context {k}")


def passes(some: Population, draws: Places) -> Mask:
    """Who (h, d) is right on all pairs of each draw (d, m)."""
    return np.asarray(some.right[:, draws].all(axis=2), np.bool_)


# --- study 1: survivors (section 5.2) ----------------------------------------


class Survival(NamedTuple):
    """Of d draws. survivors: (d,) how many hypotheses pass. gamma: (d,) of these together, NaN
    where none passes or S has size 0."""

    survivors: Counts
    gamma: NDArray[np.float64]


def survival(some: Population, draws: Places) -> Survival:
    passed = passes(some, draws)
    gammas = np.full(len(draws), np.nan)
    known: dict[bytes, float] = {}
    for d in range(len(draws)):
        rows = np.unique(some.behaviour[passed[:, d]])
        key = rows.tobytes()
        if key not in known:
            value = gear.gamma(some.codes[rows], some.defined[rows], some.weights)
            known[key] = math.nan if value is None else value
        gammas[d] = known[key]
    return Survival(np.count_nonzero(passed, axis=0).astype(np.int64), gammas)


# --- study 2: the higher-scored candidate (section 5.3) ----------------------


class Comparison(NamedTuple):
    """Of one size of context; each (d,), one for each draw of hidden pairs.

    contexts: those compared in. passing: those left out, a member passes already. pairs: compared.
    ties: dropped. weight: the pairs after scaling down; chosen, rejected: of these, those whose
    higher-scored, whose lower-scored member passes.
    """

    contexts: Counts
    passing: Counts
    pairs: Counts
    ties: Counts
    weight: NDArray[np.float64]
    chosen: NDArray[np.float64]
    rejected: NDArray[np.float64]


def comparison(
    contexts: Places, scores: NDArray[np.float64], passed: Mask, pairs: int = PAIRS
) -> Comparison:
    """contexts: (c, k). scores: (c, h) of `context_scores`. passed: (h, d) of `passes`."""
    below, above = _ranks(scores, contexts.shape[1])
    compared = below.sum(axis=1)
    candidates = scores.shape[1] - contexts.shape[1]
    ties = max(candidates, 0) * max(candidates - 1, 0) // 2 - compared
    scale = np.minimum(1.0, pairs / np.maximum(compared, 1))
    usable = ~passed[contexts].any(axis=1)  # (c, d)
    passing = passed.astype(np.float64)
    chosen, rejected = (ranks.astype(np.float64) @ passing for ranks in (below, above))
    used = usable.astype(np.float64)
    return Comparison(
        np.count_nonzero(usable, axis=0).astype(np.int64),
        np.count_nonzero(~usable, axis=0).astype(np.int64),
        compared @ usable,
        ties @ usable,
        (compared * scale) @ used,
        scale @ (chosen * used),
        scale @ (rejected * used),
    )


def context_scores(some: Population, contexts: Iterable[Places]) -> list[NDArray[np.float64]]:
    """Score(f) of every hypothesis for each of the contexts (c, k), k at most 2: (c, h) for each
    array of contexts, NaN for a context's own members."""
    given = list(contexts)
    behaviours = [some.behaviour[places] for places in given]
    shared, three = _agreements(some, behaviours)
    space = space_size(some.codes.shape[1], some.weights)
    sizes = _own_sizes(some)
    scored = []
    for places, rows in zip(given, behaviours, strict=True):
        by_behaviour = _scores(rows, sizes, shared, three, space)
        scores = by_behaviour[:, some.behaviour]
        np.put_along_axis(scores, places, np.nan, axis=1)
        scored.append(scores)
    return scored


def _scores(
    rows: Places,
    sizes: Sizes,
    shared: dict[int, Sizes],
    three: dict[tuple[int, int], Sizes],
    space: float,
) -> NDArray[np.float64]:
    """Score (c, u) of each behaviour for the contexts `rows` (c, k)."""
    scores = np.zeros((len(rows), len(sizes)))
    if not space:
        return scores
    share = sizes / space
    apart = {j: _distances(sizes[j], sizes, shared[j]) for j in np.unique(rows).tolist()}
    for i, members in enumerate(rows.tolist()):
        new = sizes - sum(shared[j] for j in members)
        gain = np.zeros(len(sizes))
        if len(members) == 1:
            gain = apart[members[0]]
        elif len(members) == 2:
            a, b = members
            new = new + three[a, b]
            between = apart[a][b]
            # In this order equal distances, whichever member they are from, give equal sums.
            to_both = apart[a] + apart[b]
            gain = (to_both + between) / 3 - between
        scores[i] = (share + new / space + gain) / 3
    return np.round(scores, _DECIMALS)


def _distances(size: float, sizes: Sizes, shared: Sizes) -> Sizes:
    union = size + sizes - shared
    apart = (union - shared) / np.where(union > 0, union, 1.0)
    return np.asarray(np.where(union > 0, np.clip(apart, 0.0, 1.0), 0.0), np.float64)


def _own_sizes(some: Population) -> Sizes:
    if some.weights is None:
        return np.asarray(np.count_nonzero(some.defined, axis=1), np.float64)
    return np.asarray(some.defined @ some.weights, np.float64)


def _agreements(
    some: Population, contexts: Iterable[Places]
) -> tuple[dict[int, Sizes], dict[tuple[int, int], Sizes]]:
    """Sizes (u,) of the intersections of every prediction set with that of each member of a
    context, and with those of both members of a context of two. One member's agreements are in
    memory at a time."""
    partners: dict[int, set[int]] = {}
    for rows in contexts:
        if rows.shape[1] > 2:
            raise ValueError(f"contexts of {rows.shape[1]} hypotheses: at most 2")
        for members in rows.tolist():
            for member in members:
                partners.setdefault(member, set())
            if len(members) == 2:
                partners[members[0]].add(members[1])
    u, n = some.codes.shape
    here = there = some.codes
    if not some.defined.all():
        # Two codes of no prediction: what is undefined equals nothing.
        here = np.where(some.defined, some.codes, unused_code(some.codes))
        there = np.where(some.defined, some.codes, unused_code(here))
    same = np.zeros((u, -(-n // 64) * 64), np.bool_)
    shared: dict[int, Sizes] = {}
    three: dict[tuple[int, int], Sizes] = {}
    for member, others in partners.items():
        np.equal(here, there[member], out=same[:, :n])
        if some.weights is None:
            bits = np.packbits(same, axis=1).view(np.uint64)
            shared[member] = _ones(bits)
            for other in others:
                three[member, other] = _ones(bits & bits[other])
        else:
            shared[member] = same[:, :n] @ some.weights
            for other in others:
                three[member, other] = (same & same[other])[:, :n] @ some.weights
    return shared, three


def _ones(bits: NDArray[np.uint64]) -> Sizes:
    return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64), np.float64)


def _ranks(scores: NDArray[np.float64], members: int) -> tuple[Counts, Counts]:
    """How many candidates (c, h) each has below and above it; 0 for the `members` of a context,
    whose scores are NaN."""
    c, h = scores.shape
    below, above = np.zeros((c, h), np.int64), np.zeros((c, h), np.int64)
    candidates = h - members
    if candidates < 1 or not c:
        return below, above
    order = np.argsort(scores, axis=1)[:, :candidates]  # NaN stands last
    ordered = np.take_along_axis(scores, order, 1)
    place = np.broadcast_to(np.arange(candidates), ordered.shape)
    differs = np.ones((c, candidates), np.bool_)
    differs[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(differs, place, 0), axis=1)
    ends = np.ones((c, candidates), np.bool_)
    ends[:, :-1] = differs[:, 1:]
    last = np.minimum.accumulate(np.where(ends, place, candidates)[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(below, order, first, axis=1)
    np.put_along_axis(above, order, candidates - 1 - last, axis=1)
    return below, above
