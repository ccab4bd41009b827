"""The simulation studies of GEAR (sections 5.2 and 5.3) on the hypotheses of one problem.

A `Population` holds the h hypotheses of a problem that agree with its shown pairs O_n. It holds
their predictions over the sample space S, and which of the q hidden pairs each hypothesis predicts
correctly. An undefined prediction is not correct. A hypothesis passes a set of hidden pairs if it
predicts all pairs in the set correctly.

Study 1, `measure_survival`, counts how many hypotheses pass m hidden pairs, and computes the gamma
diversity of these hypotheses.

Study 2, `compare_candidates`, measures whether the higher-scored of two hypotheses passes more
often. A context is a set of k hypotheses of which none passes. Every other hypothesis f is scored
by what f would add to the context, Score(f) = (g(f) + delta gamma(f) + delta beta(f)) / 3, and
every two of these hypotheses are compared. Scores that agree to 12 decimals tie; tied pairs are
dropped and counted. Pairs are not enumerated. In the order of the scores, a hypothesis is the
higher-scored one in as many pairs as there are candidates below it, and the lower-scored one in as
many pairs as there are candidates above it. The scores need the sizes of prediction sets, of
intersections of two sets, and for k = 2 of intersections of three sets. The sizes are counted as
bits.

The paper leaves some choices open. Hidden pairs are drawn without replacement, and each draw is a
different set. If there are fewer sets than draws, every set is used once, as in the published code.
Contexts are drawn in the same way, at most `max_contexts` for each size; the published code takes
the contexts of 20 hypotheses, at most 190. A context counts as at most `pairs` comparisons. If
there are more comparisons in a context, its counts are scaled down to `pairs`, which is the average
result of choosing that many comparisons at random. The published code draws 15 comparisons, and
uses all comparisons for k = 0. Every choice is determined by a seed.
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
    """The h hypotheses of a problem, which have u different behaviours over the n inputs of S.

    Hypotheses that make the same predictions on the sample space S have the same behaviour. There
    are q hidden pairs of input and output.

    Attributes:
        codes: Codes of the predictions of each behaviour, of shape (u, n).
        defined: Where each behaviour is defined, of shape (u, n).
        behaviour: Row of `codes` that belongs to each hypothesis, of shape (h,).
        right: Whether each hypothesis predicts each hidden pair correctly, of shape (h, q).
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.
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
        """The number q of hidden pairs."""
        return int(self.right.shape[1])


def build_population(
    codes: ArrayLike,
    defined: ArrayLike,
    right: ArrayLike,
    behaviour: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Population:
    """Return a `Population`, in which equal rows of predictions become one behaviour.

    Args:
        codes: Codes of predictions, of shape (u, n).
        defined: Where the predictions are defined, of shape (u, n).
        right: Whether each of h hypotheses predicts each of q hidden pairs correctly, of shape (h,
            q).
        behaviour: Row of `codes` that belongs to each hypothesis, of shape (h,). None means that
            row i belongs to hypothesis i.
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.

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
    """Return the population without duplicate hypotheses.

    Two hypotheses are duplicates if they make equal predictions over the sample space S and predict
    the same hidden pairs correctly. The first of them is kept.
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
    """Draw different subsets of range(items), as an array of shape (c, size) with ascending rows.

    If there are at most `max_subsets` subsets, all subsets are returned. Otherwise `max_subsets`
    random subsets are returned. If `size` is larger than `items`, there are no subsets and c is 0.

    Args:
        items: Number of items to choose from.
        size: Number of items in each subset.
        max_subsets: The largest number of subsets to return.
        seed: Text that determines the random choice.
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
    """Draw d different sets of m hidden pairs, as an integer array of shape (d, m).

    Args:
        pairs: Number of hidden pairs to choose from.
        m: Number of hidden pairs in each set.
        draws: Number d of sets. If there are fewer different sets, d is smaller.
        seed: Text that determines the random choice.
    """
    return draw_subsets(pairs, m, draws, f"{seed} hidden {m}")


def draw_contexts(hypotheses: int, k: int, max_contexts: int, seed: str) -> Places:
    """Draw c different contexts of k hypotheses, as an integer array of shape (c, k).

    A context is a set of hypotheses to which other hypotheses are added for comparison.

    Args:
        hypotheses: Number of hypotheses to choose from.
        k: Number of hypotheses in each context.
        max_contexts: Number c of contexts. If there are fewer different contexts, c is smaller.
        seed: Text that determines the random choice.
    """
    return draw_subsets(hypotheses, k, max_contexts, f"{seed} context {k}")


def find_passing(population: Population, draws: Places) -> Mask:
    """Return which hypotheses predict all hidden pairs of each draw correctly.

    The result is a bool array of shape (h, d). `draws` holds d sets of m hidden pairs, of shape (d,
    m).
    """
    return np.asarray(population.right[:, draws].all(axis=2), np.bool_)


# --- study 1: survivors (section 5.2) ----------------------------------------


class Survival(NamedTuple):
    """The hypotheses that pass each of d sets of hidden pairs, as counts and diversity.

    Attributes:
        survivors: Number of hypotheses that pass each set, of shape (d,).
        gamma: Gamma diversity of the hypotheses that pass each set, of shape (d,). The value is NaN
            if no hypothesis passes, or if the sample space S has size 0.
    """

    survivors: Counts
    gamma: NDArray[np.float64]


def measure_survival(population: Population, draws: Places) -> Survival:
    """Count the hypotheses that pass each set of hidden pairs, and compute their gamma diversity.

    `draws` holds d sets of m hidden pairs, of shape (d, m).
    """
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

    A context is a set of hypotheses to which the compared hypotheses are added. Every field has one
    element for each of d draws of hidden pairs, of shape (d,).

    Attributes:
        contexts: Number of contexts in which hypotheses were compared.
        passing: Number of contexts that were left out because one of their hypotheses passes.
        pairs: Number of compared pairs.
        ties: Number of pairs with equal scores, which are dropped.
        weight: Number of compared pairs after scaling.
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
        contexts: Row numbers of the hypotheses in each context, of shape (c, k).
        scores: Scores of h hypotheses in each context, of shape (c, h), from `score_in_contexts`.
        passed: Whether each hypothesis passes each draw of hidden pairs, of shape (h, d), from
            `find_passing`.
        pairs: The largest number of comparisons for which one context counts.
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
    """Score every hypothesis by how much it adds to each context.

    A context is a set of at most two hypotheses. The score is (g + gain in gamma + gain in beta) /
    3 (GEAR, section 5.3).

    Args:
        population: The hypotheses.
        contexts: Arrays of contexts, each of shape (c, k) with k at most 2.

    Returns:
        For each array in `contexts`, the scores of shape (c, h). The scores of the members of a
        context are NaN.

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
