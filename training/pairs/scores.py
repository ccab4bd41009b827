"""The score of each candidate over each context, and an order of it that is exact (GEAR, 5.3, 6.1).

Score(f) = (g(f) + delta gamma(f) + delta beta(f)) / 3, where the gains are those of adding f to the
context. From sizes alone, with s_f the size of f's predictions, x_fi what f shares with member i of
the context, t_f what f shares with both members at once, d a Jaccard distance, W the size of S:

    g = s_f / W,   delta gamma = (s_f - x_f1 - x_f2 + t_f) / W,
    delta beta = 0 | d_f1 | (d_f1 + d_f2 - 2 d_12) / 3    for contexts of 0 | 1 | 2,

beta of fewer than two hypotheses being 0. Where hypotheses have a cost (logic), a fourth term
stands in the score, 1 - cost / elements, and the sum is divided by 4: ours, not the paper's.

All of it are fractions of integers. Two scores tie if and only if the fractions are equal, and one
is above another if and only if its fraction is: floats order what is 1e-12 or more apart, fractions
the rest.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .agreement import Agreement

Integers = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.object_]  # objects are Python's integers, past 62 bits

_NEAR = 1e-12
_WIDEST = 2**62


class Costs(NamedTuple):
    """What each of m hypotheses costs (m,), of `elements` in all."""

    cost: Integers
    elements: int


class Scores(NamedTuple):
    """Of m hypotheses over k contexts. What stands at a member of the context has no meaning."""

    numerator: Numbers  # (k, m); over the denominator the score times its number of terms, but
    denominator: Numbers  # (k, m)                        for what is constant within a context
    value: NDArray[np.float64]  # (k, m), the score


def context_sizes(agreement: Agreement, contexts: Integers) -> tuple[Integers, Integers]:
    """Shared sizes (k, c, m) with each member of k contexts (k, c), c at most 2, and (k, m) with
    both members at once (zeros below two)."""
    k, c = contexts.shape
    m = len(agreement.sizes)
    shared = np.zeros((k, c, m), np.int64)
    by_three = np.zeros((k, m), np.int64)
    if c == 2:
        for member in np.unique(contexts[:, 0]).tolist():
            rows = np.flatnonzero(contexts[:, 0] == member)
            by_three[rows] = agreement.shared_by_three(member, contexts[rows, 1])
    for member in np.unique(contexts).tolist():
        sizes = agreement.shared(member)
        for place in range(c):
            shared[contexts[:, place] == member, place] = sizes
    return shared, by_three


def scores(agreement: Agreement, contexts: Integers, costs: Costs | None = None) -> Scores:
    """Of all m hypotheses of `agreement`, each on its own, over each of k contexts (k, c) of c (0,
    1 or 2) of them."""
    k, c = contexts.shape
    shared, by_three = context_sizes(agreement, contexts)
    own = agreement.sizes
    space = max(1, agreement.space)  # over an S of size 0 all sizes are 0, and so all terms
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
    """The sum of the first fraction and the others, these by the number of pairs: with none, 1, 3
    of a set of 1, 2, 3 hypotheses."""
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
    """Candidates (r) of each of k contexts in order of their score, the lowest first."""

    order: Integers  # (k, r), places of candidates
    lower: Integers  # (k, r), for each place in that order, how many score strictly lower


def ranking(numerator: Numbers, denominator: Numbers) -> Ranking:
    """Of fractions (k, r) with denominators above 0."""
    value = (numerator / denominator).astype(np.float64)
    order = np.argsort(value, axis=1, kind="stable")
    value = np.take_along_axis(value, order, 1)
    higher = np.ones(order.shape, np.bool_)  # strictly above the one before
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
