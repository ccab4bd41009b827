"""GEAR's scores of hypotheses, computed with NumPy on prediction matrices (GEAR, sections 3 to 5).

The predictions of h hypotheses on a sample space S of n inputs are given by two arrays. `codes`,
int64 of shape (h, n), holds an integer for each prediction; two predictions for the same input are
equal if their codes are equal. `defined`, bool of shape (h, n), says where a hypothesis makes a
prediction. `codes` is never read where `defined` is False. The prediction set P_f of a hypothesis f
holds the pair (input, prediction) for each input on which f is defined. An undefined prediction
belongs to no prediction set and is never covered.

Two measures of size are optional. `weights`, of shape (n,), is the measure M1: a size for each
input. `prediction_weights` is the measure M2: a size for each pair (input, prediction). It has the
shape (n,) if the size depends only on the input, and the shape (h, n) otherwise. Element (i, j) is
then the size of the prediction of hypothesis i for input j, and must be the same for all hypotheses
that make this prediction. Without M2, a prediction has the size of its input. Without both
measures, the size of a set is the number of its elements, counted in integers.

The formulas follow the paper. Two conventions fill gaps in its text: two empty prediction sets, or
two of size 0, have distance 0, and gamma is None if there is no hypothesis. The novelty rule is in
`novelty.py` and can also be imported from this module.

`beta_bounds` returns the range of beta that a value of gamma allows (GEAR, appendix D and figure
5). The bounds hold if each of k hypotheses makes exactly one prediction per input. If some
predictions are undefined, `encode_undefined` turns "undefined" into an additional output. The
resulting scores differ from the definition, and a plot of them has to say so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import Predictions, Verdict
from .novelty import (
    Codes,
    Mask,
    Sizes,
    check_matrix,
    check_predictions,
    covered_shares,
    find_unused_code,
    find_unused_codes,
    input_sizes,
    prediction_sizes,
    space_size,
)
from .novelty import Coverage as Coverage
from .novelty import coverage as coverage
from .novelty import coverages as coverages
from .novelty import is_redundant as is_redundant
from .prediction_classes import PredictionClasses

_BLOCK = 32_768  # codes that are sorted at once


def stack_predictions(predictions: Sequence[Predictions]) -> tuple[Codes, Mask]:
    """Stack the predictions of h hypotheses on the same n inputs into two arrays of shape (h, n).

    Returns:
        The codes of the predictions, and where the predictions are defined.

    Raises:
        ValueError: The predictions differ in length, so they belong to different inputs.
    """
    lengths = {len(p.codes) for p in predictions}
    if len(lengths) > 1:
        raise ValueError(f"predictions over input sets of different sizes: {sorted(lengths)}")
    n = lengths.pop() if lengths else 0
    codes = np.empty((len(predictions), n), np.int64)
    defined = np.empty((len(predictions), n), np.bool_)
    for i, p in enumerate(predictions):
        codes[i], defined[i] = p.codes, p.defined
    return codes, defined


# --- Shares of answers (section 3.1, figure 3 b and c) -----------------------


def consistency(verdicts: Sequence[Verdict]) -> float:
    """Return the share of consistent answers (accepted or redundant); 0 without answers.

    Malformed answers count as answers that are not consistent.
    """
    return sum(v.consistent for v in verdicts) / len(verdicts) if verdicts else 0.0


def instruction_following(verdicts: Sequence[Verdict]) -> float | None:
    """Return the share of answers that are not malformed; None without answers."""
    if not verdicts:
        return None
    return sum(v is not Verdict.MALFORMED for v in verdicts) / len(verdicts)


# --- Generalizability (section 3.2) ------------------------------------------


def prediction_share(defined: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return g(f), the share of the sample space S on which a hypothesis f is defined.

    Args:
        defined: Where f is defined, of shape (n,).
        weights: Sizes of the inputs (M1), of shape (n,); None if all inputs have size 1.

    Returns:
        The share, between 0 and 1. It is 0 if S has size 0.
    """
    row = np.asarray(defined, np.bool_)
    if weights is None:
        return int(np.count_nonzero(row)) / row.size if row.size else 0.0
    sizes = input_sizes(weights, row.size)
    total = float(sizes.sum())
    return float(sizes[row].sum()) / total if total else 0.0


def generalizability(defined: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Return the mean share of the sample space on which the h hypotheses are defined.

    The result is None if there is no hypothesis, or if the sample space has size 0.

    Args:
        defined: Where each hypothesis is defined, of shape (h, n).
        weights: Sizes of the inputs (M1), of shape (n,); None if all inputs have size 1.
    """
    rows = check_matrix(np.asarray(defined, np.bool_))
    if not len(rows) or not space_size(rows.shape[1], weights):
        return None
    return math.fsum(prediction_share(row, weights) for row in rows) / len(rows)


# --- Gamma and beta (section 3.3) --------------------------------------------


def gamma(
    codes: ArrayLike,
    defined: ArrayLike,
    weights: ArrayLike | None = None,
    prediction_weights: ArrayLike | None = None,
) -> float | None:
    """Return the gamma diversity: the size of the union of all prediction sets over the size of S.

    If all inputs have the same size, this is the mean number of distinct predictions per input. The
    result is None if there is no hypothesis, or if the sample space S has size 0.

    The module docstring describes the arguments.
    """
    rows, known = check_predictions(codes, defined)
    space = space_size(rows.shape[1], weights)
    if not len(rows) or not space:
        return None
    sizes = prediction_sizes(rows, known, weights, prediction_weights)
    if sizes is None:
        return _distinct_predictions(rows, known) / space
    return _union_size(first_prediction_mask(rows, known), sizes) / space


def beta(
    codes: ArrayLike,
    defined: ArrayLike,
    weights: ArrayLike | None = None,
    prediction_weights: ArrayLike | None = None,
) -> float:
    """Return the beta diversity: the mean Jaccard distance between pairs of prediction sets.

    The result is 0 for fewer than two hypotheses. The module docstring describes the arguments.
    """
    return _mean_distance(jaccard_distances(codes, defined, weights, prediction_weights))


def jaccard_distances(
    codes: ArrayLike,
    defined: ArrayLike,
    weights: ArrayLike | None = None,
    prediction_weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the Jaccard distance between every two of h prediction sets, of shape (h, h).

    Two sets of size 0 have distance 0. The module docstring describes the arguments.
    """
    return distances_from_intersections(intersections(codes, defined, weights, prediction_weights))


def distances_from_intersections(shared: NDArray[np.int64] | Sizes) -> NDArray[np.float64]:
    """Convert the result of `intersections` to Jaccard distances, of shape (h, h)."""
    sizes = np.diagonal(shared)
    union = sizes[:, None] + sizes[None, :] - shared
    empty = union <= 0
    apart = (union - shared) / np.where(empty, 1, union)
    return np.where(empty, 0.0, np.clip(apart, 0.0, 1.0))


def intersections(
    codes: ArrayLike,
    defined: ArrayLike,
    weights: ArrayLike | None = None,
    prediction_weights: ArrayLike | None = None,
) -> NDArray[np.int64] | Sizes:
    """Return the size of the intersection of every two of h prediction sets, of shape (h, h).

    The diagonal holds the sizes of the sets. The result is int64 without weights, and float64 with
    weights. The module docstring describes the arguments.
    """
    rows, known = check_predictions(codes, defined)
    sizes = prediction_sizes(rows, known, weights, prediction_weights)
    return _overlap(rows, known, sizes, novelty=False).shared


def first_prediction_mask(codes: ArrayLike, defined: ArrayLike) -> Mask:
    """Return where a hypothesis is the first, in row order, to make its prediction.

    The result is a bool array of shape (h, n). Undefined predictions are False. The sum of column j
    is the number of distinct predictions for input j.
    """
    return _overlap(*check_predictions(codes, defined), None).new


class SetScores(NamedTuple):
    """The scores of a set of h hypotheses.

    Each field holds the result of the function with the same name.
    """

    generalizability: float | None
    gamma: float | None
    beta: float
    coverages: list[float]  # cov of each row against all rows before it


def score_set(
    codes: ArrayLike,
    defined: ArrayLike,
    weights: ArrayLike | None = None,
    prediction_weights: ArrayLike | None = None,
) -> SetScores:
    """Compute all scores of a set of hypotheses, comparing every two hypotheses only once.

    The module docstring describes the arguments.
    """
    rows, known = check_predictions(codes, defined)
    sizes = prediction_sizes(rows, known, weights, prediction_weights)
    overlap = _overlap(rows, known, sizes)
    space = space_size(rows.shape[1], weights)
    union = _union_size(overlap.new, sizes)
    return SetScores(
        generalizability(known, weights),
        union / space if len(rows) and space else None,
        _mean_distance(distances_from_intersections(overlap.shared)),
        covered_shares(known & ~overlap.new, weights),
    )


def score_classes(classes: PredictionClasses) -> SetScores:
    """Compute the scores of `score_set` without weights, from the classes of the predictions.

    The coverages are left out.

    Args:
        classes: The classes of the predictions of h hypotheses on n inputs.
    """
    h, n = len(classes.patterns), len(classes.places)
    shares = [int(own) / n for own in np.diagonal(classes.shared)] if n else []
    return SetScores(
        math.fsum(shares) / h if shares else None,
        int(classes.new.sum()) / n if h and n else None,
        _mean_distance(distances_from_intersections(classes.shared)),
        [],
    )


# --- Intersections and unions of prediction sets -----------------------------


class _Overlap(NamedTuple):
    shared: NDArray[np.int64] | Sizes  # (h, h), sizes of the intersections
    new: Mask  # (h, n), whether a hypothesis is the first to make its prediction


def _overlap(rows: Codes, known: Mask, sizes: Sizes | None, *, novelty: bool = True) -> _Overlap:
    """Compare every two rows once.

    Codes are compared directly: for the few hundred rows of a problem this is faster than interning
    them. Without `novelty`, `new` is `known`, which saves half a microsecond per pair of rows.
    """
    h, n = rows.shape
    total = np.asarray(known.all(axis=1), np.bool_)
    # Two different unused codes stand for undefined, so an undefined prediction equals no other.
    unused = (0, 0) if total.all() else find_unused_codes(rows)
    shared: NDArray[np.int64] | Sizes
    shared = np.zeros((h, h), np.int64) if sizes is None else np.zeros((h, h), np.float64)
    new = np.array(known)
    same = np.empty(n, np.bool_)
    earlier: list[Codes] = []
    for i in range(h):
        size = sizes if sizes is None or sizes.ndim == 1 else sizes[i]
        given = np.zeros(n, np.bool_)
        row: list[float] = []
        here, kept = (
            (rows[i], rows[i])
            if total[i]
            else (np.where(known[i], rows[i], code) for code in unused)
        )
        for there in earlier:
            np.equal(here, there, out=same)
            if novelty:
                np.logical_or(given, same, out=given)
            row.append(int(np.count_nonzero(same)) if size is None else float(size[same].sum()))
        own = np.count_nonzero(known[i]) if size is None else float(size[known[i]].sum())
        shared[i, : i + 1] = shared[: i + 1, i] = [*row, own]
        new[i] &= ~given
        earlier.append(kept)
    return _Overlap(shared, new)


def _mean_distance(distances: NDArray[np.float64]) -> float:
    h = len(distances)
    if h < 2:
        return 0.0
    # fsum makes the mean independent of the order of the hypotheses, to the last digit.
    return math.fsum(distances[np.triu_indices(h, 1)].tolist()) / (h * (h - 1) // 2)


def _distinct_predictions(rows: Codes, known: Mask) -> int:
    """Count the distinct predictions of all inputs together.

    Sorting needs far fewer comparisons than all pairs. It works in blocks of inputs that stay in
    the cache.
    """
    h, n = rows.shape
    if not h:
        return 0
    total = bool(known.all())
    unused = 0 if total else find_unused_code(rows)
    distinct = 0
    width = max(1, _BLOCK // h)
    for start in range(0, n, width):
        block = np.s_[:, start : start + width]
        part = rows[block].copy() if total else np.where(known[block], rows[block], unused)
        part.sort(axis=0)
        distinct += int(np.count_nonzero(part[1:] != part[:-1])) + part.shape[1]
        if not total:  # "Undefined" was counted once for each input where it occurs.
            distinct -= int(np.count_nonzero(~known[block].all(axis=0)))
    return distinct


def _union_size(new: Mask, sizes: Sizes | None) -> float:
    if sizes is None:
        return int(np.count_nonzero(new))
    return float((np.broadcast_to(sizes, new.shape))[new].sum())


def beta_bounds(gamma: float, k: int, *, integral: bool = False) -> tuple[float, float]:
    """Return the smallest and the largest beta that k hypotheses with this gamma can have.

    Args:
        gamma: Gamma diversity of the hypotheses, from 1 to k.
        k: Number of hypotheses, at least 2. Each hypothesis must be defined on every input.
        integral: Whether to use the fact, which appendix D leaves out, that a prediction is shared
            by a whole number of hypotheses. This lowers the upper bound. For k = 2, both bounds are
            then equal, as they must be.

    Raises:
        ValueError: Gamma is outside [1, k], or k is below 2.
    """
    if k < 2:
        raise ValueError(f"beta bounds need at least 2 hypotheses, not {k}")
    if not 1 <= gamma <= k:
        raise ValueError(f"gamma of {k} total hypotheses lies in [1, {k}], not at {gamma}")
    low = 2 * (gamma - 1) / (k + gamma - 2)
    if not integral:
        return low, 2 * k * (gamma - 1) / (2 * k * gamma - gamma - k)
    # The mean pairwise intersection, divided by n, is smallest when the multiplicities are the two
    # whole numbers around r = k / gamma.
    r = k / gamma
    whole = math.floor(r)
    mean_square = whole**2 + (2 * whole + 1) * (r - whole)
    shared = (mean_square / r - 1) / (k - 1)
    return low, max(low, 1 - shared / (2 - shared))


def encode_undefined(
    codes: ArrayLike, defined: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Replace undefined predictions by one additional output, so that every prediction is defined.

    All undefined predictions get the same code and therefore count as equal.
    """
    rows, known = np.asarray(codes, np.int64), np.asarray(defined, np.bool_)
    if known.all():
        return rows, known
    return np.where(known, rows, find_unused_code(rows)), np.ones_like(known)


def scatter_point(codes: ArrayLike, defined: ArrayLike) -> tuple[float, float, int] | None:
    """Return (gamma, beta, k) of k hypotheses for a scatter plot of diversity.

    Undefined predictions count as one additional output. The result is None for fewer than two
    hypotheses, or if the sample space is empty.
    """
    rows, known = encode_undefined(codes, defined)
    return _point(score_set(rows, known), len(rows))


def scatter_point_of_classes(classes: PredictionClasses) -> tuple[float, float, int] | None:
    """Return the `scatter_point` of hypotheses from the classes of their predictions."""
    return _point(score_classes(classes.with_undefined_output), len(classes.patterns))


def _point(scores: SetScores, k: int) -> tuple[float, float, int] | None:
    return None if k < 2 or scores.gamma is None else (scores.gamma, scores.beta, k)
