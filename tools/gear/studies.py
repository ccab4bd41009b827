"""The simulation studies of GEAR (sections 5.2 and 5.3) on the hypotheses of one problem.

A `Population` holds the h hypotheses of a problem that agree with its shown pairs O_n: their
predictions over the sample space S, and on which of the q hidden pairs each is right. An undefined
prediction is not right. A hypothesis passes a set of hidden pairs if it is right on all of them.

Study 1, `measure_survival`: how many hypotheses pass m hidden pairs, and the gamma of those that do.

Study 2, `compare_candidates`: whether the higher-scored of two hypotheses passes more often. Given a
context of k hypotheses, none of which passes already, the others are scored by what they would add,
Score(f) = (g(f) + delta gamma(f) + delta beta(f)) / 3, and every two of them are compared. Scores
that agree to 12 decimals tie; tied pairs are dropped and counted. Pairs are never listed: in the
order of the scores, a hypothesis is the chosen one in as many pairs as there are candidates below
it, and the rejected one in as many as there are above. The scores need the sizes of prediction sets
and of their pairwise intersections, for k = 2 also of three sets, counted as bits.

Choices that the paper leaves open: hidden pairs are drawn without replacement, different sets each
time, and all sets once if there are fewer sets than draws (as published). Contexts are drawn in the
same way, at most `contexts` per size (the published code takes those of 20 hypotheses, at most
190). A context counts as at most `pairs` comparisons. If it has more, its counts are scaled down to
that number, which is the average result of choosing that many at random (the published code draws
15, and uses all for k = 0). Every choice is a pure function of a seed.
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
from .novelty import (
    Codes,
    Mask,
    Sizes,
    check_predictions,
    find_unused_code,
    input_sizes,
    space_size,
)

Places = NDArray[np.intp]
Counts = NDArray[np.int64]

DRAWS_PER_SIZE = 5  # per number of hidden pairs (section 5.2)
MAX_CONTEXTS = 200  # per size and problem
MAX_PAIRS = 100  # per context
_DECIMALS = 12  # Scores that agree to this many decimals tie.


@dataclass(frozen=True)
class Population:
    """The h hypotheses of a problem, with u different behaviours over the n inputs of S.

    Attributes:
        codes: Predictions of each behaviour, (u, n).
        defined: Where each behaviour is defined, (u, n).
        behaviour: The behaviour (row) of each hypothesis, (h,).
        right: Whether each hypothesis is right on each hidden pair, (h, q).
        weights: Sizes (n,) of the inputs; None if all weigh the same.
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
        """Number q of hidden pairs."""
        return int(self.right.shape[1])


def build_population(
    codes: ArrayLike,
    defined: ArrayLike,
    right: ArrayLike,
    behaviour: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Population:
    """Build a `Population`; equal rows become one behaviour.

    Args:
        codes: Predictions (u, n).
        defined: Where they are defined, (u, n).
        right: Whether each of h hypotheses is right on each hidden pair, (h, q).
        behaviour: The row (h,) of each hypothesis; by default one row each.
        weights: Sizes (n,) of the inputs.

    Raises:
        ValueError: The shapes do not fit together.
        UsageError: A weight is negative, infinite or NaN.
    """
    rows, known = check_predictions(codes, defined)
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


def merge_equal(population: Population) -> Population:
    """Merge hypotheses that have equal predictions over S and are right on equal sets of hidden
    pairs.
    """
    seen: dict[tuple[int, bytes], int] = {}
    for i, (row, marks) in enumerate(
        zip(population.behaviour.tolist(), population.right, strict=True)
    ):
        seen.setdefault((row, marks.tobytes()), i)
    kept = np.fromiter(seen.values(), np.intp, len(seen))
    return Population(
        population.codes,
        population.defined,
        population.behaviour[kept],
        population.right[kept],
        population.weights,
    )


# --- Random subsets ----------------------------------------------------------


def draw_subsets(items: int, size: int, max_subsets: int, seed: str) -> Places:
    """Return c different subsets of range(items), as an array of shape (c, size) with ascending
    rows.

    If there are at most `max_subsets` subsets, all are returned, otherwise `max_subsets` random
    ones. If items < size, there are none.
    """
    total = math.comb(items, size)
    if total <= max_subsets:
        every = list(combinations(range(items), size))
        return np.array(every, np.intp).reshape(total, size)
    rng = random.Random(seed)
    ranks: set[int] = set()
    while len(ranks) < max_subsets:
        ranks.add(rng.randrange(total))
    table = [[math.comb(item, k) for item in range(items)] for k in range(size + 1)]
    return np.array([_subset(rank, table) for rank in sorted(ranks)], np.intp)


def _subset(rank: int, binomials: list[list[int]]) -> list[int]:
    """Return the subset at `rank` in the combinatorial number system.

    Args:
        rank: Position of the subset.
        binomials: Rows for each k, holding item over k.
    """
    chosen: list[int] = []
    for k in range(len(binomials) - 1, 0, -1):
        item = bisect_right(binomials[k], rank) - 1
        rank -= binomials[k][item]
        chosen.append(item)
    return chosen[::-1]


def draw_hidden_sets(pairs: int, m: int, draws: int, seed: str) -> Places:
    """Draw sets of m hidden pairs, as an int array of shape (d, m).

    d is `draws`, or smaller if there are fewer different sets.
    """
    return draw_subsets(pairs, m, draws, f"{seed} hidden {m}")


def draw_contexts(hypotheses: int, k: int, max_contexts: int, seed: str) -> Places:
    """Draw contexts (c, k), each a set of k hypotheses by row number."""
    return draw_subsets(hypotheses, k, max_contexts, f"{seed} context {k}")


def find_passing(population: Population, draws: Places) -> Mask:
    """Return which hypotheses are right on all pairs of each draw: (h, d) for draws (d, m)."""
    return np.asarray(population.right[:, draws].all(axis=2), np.bool_)


# --- study 1: survivors (section 5.2) ----------------------------------------


class Survival(NamedTuple):
    """The survivors of d draws of hidden pairs.

    Attributes:
        survivors: Number of hypotheses that pass, (d,).
        gamma: Gamma of the survivors together, (d,); NaN if none passes or S has size 0.
    """

    survivors: Counts
    gamma: NDArray[np.float64]


def measure_survival(population: Population, draws: Places) -> Survival:
    """Count the hypotheses that pass each draw (d, m) of hidden pairs, and score them by gamma."""
    passed = find_passing(population, draws)
    gammas = np.full(len(draws), np.nan)
    known: dict[bytes, float] = {}
    for d in range(len(draws)):
        rows = np.unique(population.behaviour[passed[:, d]])
        key = rows.tobytes()
        if key not in known:
            value = gear.gamma(population.codes[rows], population.defined[rows], population.weights)
            known[key] = math.nan if value is None else value
        gammas[d] = known[key]
    return Survival(np.count_nonzero(passed, axis=0).astype(np.int64), gammas)


# --- study 2: the higher-scored candidate (section 5.3) ----------------------


class Comparison(NamedTuple):
    """Counts of compared pairs of hypotheses, for contexts of one size.

    Every field has one element per draw of hidden pairs, (d,).

    Attributes:
        contexts: Contexts in which hypotheses were compared.
        passing: Contexts that were left out because a member passes already.
        pairs: Compared pairs.
        ties: Tied pairs, which are dropped.
        weight: Number of pairs after scaling down.
        chosen: Scaled number of pairs whose higher-scored hypothesis passes.
        rejected: Scaled number of pairs whose lower-scored hypothesis passes.
    """

    contexts: Counts
    passing: Counts
    pairs: Counts
    ties: Counts
    weight: NDArray[np.float64]
    chosen: NDArray[np.float64]
    rejected: NDArray[np.float64]


def compare_candidates(
    contexts: Places, scores: NDArray[np.float64], passed: Mask, pairs: int = MAX_PAIRS
) -> Comparison:
    """Count how often the higher-scored and the lower-scored hypothesis of a pair pass.

    Args:
        contexts: Contexts (c, k).
        scores: Scores (c, h) from `score_in_contexts`.
        passed: Which hypothesis passes which draw, (h, d), from `find_passing`.
        pairs: The most comparisons that a context counts as.
    """
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


def score_in_contexts(
    population: Population, contexts: Iterable[Places]
) -> list[NDArray[np.float64]]:
    """Score every hypothesis by the marginal gain of adding it to each context.

    Args:
        population: The hypotheses.
        contexts: Arrays (c, k) of contexts, k at most 2.

    Returns:
        For each array the scores (c, h), NaN for the members of a context.

    Raises:
        ValueError: A context has more than two hypotheses.
    """
    given = list(contexts)
    behaviours = [population.behaviour[places] for places in given]
    shared, three = _agreements(population, behaviours)
    space = space_size(population.codes.shape[1], population.weights)
    sizes = _own_sizes(population)
    scored = []
    for places, rows in zip(given, behaviours, strict=True):
        by_behaviour = _scores(rows, sizes, shared, three, space)
        scores = by_behaviour[:, population.behaviour]
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
    """Return the score (c, u) of each behaviour for the contexts `rows` (c, k)."""
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
            # Adding in this order makes the sum independent of which member a distance belongs to.
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
    """Return the sizes (u,) of all intersections with the prediction sets of context members.

    The first result holds, for each member, the intersections of every prediction set with its own.
    The second holds, for each context of two, the intersections with both members. Only one
    member's agreements are in memory at a time.
    """
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
        # Two different unused codes: an undefined prediction equals no other.
        here = np.where(some.defined, some.codes, find_unused_code(some.codes))
        there = np.where(some.defined, some.codes, find_unused_code(here))
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
    """Count the candidates (c, h) below and above each candidate.

    The counts are 0 for the `members` of a context, whose scores are NaN.
    """
    c, h = scores.shape
    below, above = np.zeros((c, h), np.int64), np.zeros((c, h), np.int64)
    candidates = h - members
    if candidates < 1 or not c:
        return below, above
    order = np.argsort(scores, axis=1)[:, :candidates]  # NaN sorts last.
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
