"""Three discovery scores of a bank against the true sentences of a data set, named apart.

`released` is what HypoBench's published evaluation computes: a true sentence is found where a rater says
that any generated one is about one of its variables; RC is the mean over those found of the best
rating (0, .25, .5, .75, 1) of a generated one that matched; HDR = FDR x RC.
`paper` is what its section 3 defines: FDR is the share of true variables that some generated sentence
is about; RC the mean over those of the best rating of a sentence about it; HDR = FDR x RC.
`exact` asks nobody: true and generated sentences are compiled, compared on all inputs (overlap.py) and
matched one to one for the greatest sum; FDR is the share of true parts that are matched, RC the mean
overlap of these, HDR their product; precision is the sum of overlaps over the different things that the
bank says, of which a sentence that is no exact rule is one. Sentences are compared whole and case by case (parts.py), and
the way with the higher HDR counts, of equal ones that with the higher precision. A bank of 20 guesses gains nothing by their
number.

An empty bank is 0 in all of them.

One-to-one matching of greatest sum (Kuhn and Munkres, by shortest augmenting paths).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...records import Json, UsageError
from ..sentence_rules.rules import NotExact, Rule
from ..sentence_rules.sentence_compiler import compile_sentence
from .overlap import overlaps
from .parts import compile_truth, parts
from .space import Space

Matrix = NDArray[np.float64]
SAME = 1.0
_DIGITS = 9  # of two ways of counting that give the same HDR


@dataclass(frozen=True)
class Discovery:
    """fdr, rc, hdr: of the score that was asked for; rc is 0 where nothing is found. missing: ratings
    that could not be read, which count as not given."""

    fdr: float
    rc: float
    hdr: float
    missing: int = 0


def product_of(found: int, true: int, ratings: float) -> tuple[float, float, float]:
    """FDR, RC and HDR of so many found of `true` > 0, the ratings of those found summing to so much."""
    fdr = found / true
    rc = ratings / found if found else 0.0
    return fdr, rc, fdr * rc


def released(matches: Matrix, ratings: Matrix) -> Discovery:
    """matches: (T, G), 1 where a rater sees a shared variable, NaN where no answer could be read.
    ratings: (T, G), of the pairs that match; NaN where missing. A true sentence whose ratings are all
    missing is found and left out of RC. Raises UsageError without a true sentence."""
    if not len(matches):
        raise UsageError("nothing to discover: there is no true sentence")
    match = np.nan_to_num(matches) > 0
    best = _best(np.where(match, ratings, np.nan))
    found = np.asarray(match.any(axis=1), np.bool_)
    return _rated(found, best, int(np.isnan(matches).sum() + np.isnan(ratings[match]).sum()))


def paper(true: Matrix, about: Matrix, ratings: Matrix) -> Discovery:
    """true: (T, Z), whether a true sentence is about a variable. about: (G, Z), 1 where a generated
    one is, NaN where no answer could be read. ratings: (T, G), NaN where missing or not asked.
    Raises UsageError without a variable."""
    if not true.shape[1]:
        raise UsageError("nothing to discover: no variable of the true sentences is known")
    said = np.nan_to_num(about) > 0
    best = []
    for z in range(true.shape[1]):
        pair = (true[:, z] > 0)[:, None] & said[:, z][None, :]
        of_truths = _best(np.where(pair, ratings, np.nan))
        known = of_truths[~np.isnan(of_truths)]
        best.append(known.mean() if known.size else np.nan)
    found = np.asarray(said.any(axis=0), np.bool_)
    return _rated(found, np.array(best), int(np.isnan(about).sum()))


def _best(ratings: Matrix) -> Matrix:
    """The greatest of each row, NaN where it has none."""
    best = np.where(np.isnan(ratings), -np.inf, ratings).max(axis=1, initial=-np.inf)
    return np.where(np.isinf(best), np.nan, best)


def _rated(found: NDArray[np.bool_], best: Matrix, missing: int) -> Discovery:
    rated = best[found & ~np.isnan(best)]
    fdr = float(found.mean())
    rc = float(rated.mean()) if rated.size else 0.0
    return Discovery(fdr, rc, fdr * rc, missing)


@dataclass(frozen=True)
class Pair:
    """A true part, the generated one that it is matched with and their overlap; None and 0 where it is
    matched with none."""

    true: str
    found: str | None
    overlap: float


@dataclass(frozen=True)
class Exact:
    """precision: None of an empty bank. identical: share of the true parts of which the match is the
    same on all inputs. by: "sentence" or "part", what was matched. unread, not_exact: true and
    generated sentences that are no exact rule; the former are left out. drawn: whether rules were
    compared on a part of their inputs alone. released, paper: with a rater that is no model: it calls a
    variable shared where both rules read it (of texts without places, also in other words that stand in the
    same texts), and rates by the overlap, to the nearest quarter."""

    fdr: float
    rc: float
    hdr: float
    precision: float | None
    identical: float
    by: str
    pairs: tuple[Pair, ...]
    truths: int
    unread: int
    not_exact: int
    drawn: bool
    released: Discovery
    paper: Discovery
    rules: tuple[Rule, ...] = field(default=(), repr=False)  # the true ones, each once
    of_parts: tuple[Pair, ...] = field(default=(), repr=False)  # a pair for each part of `rules`


def exact(
    truths: Sequence[str], bank: Sequence[str], space: Space, public: Mapping[str, Json]
) -> Exact | None:
    """None where no true sentence is an exact rule. truths, bank: sentences; what is said twice, in the same
    or other words, counts once on either side (of two labels "if A, admitted" and "if not A, rejected" are
    one finding)."""
    read = [compile_truth(sentence, public) for sentence in truths]
    there = [rule for rule in read if isinstance(rule, Rule)]
    if not there:
        return None
    true = _different(there, space)
    given = [compile_sentence(sentence, public) for sentence in bank]
    rules = list(dict.fromkeys(rule for rule in given if isinstance(rule, Rule)))
    strange = sum(isinstance(rule, NotExact) for rule in given)
    gains = overlaps(true, rules, space)
    ways = [_matched(true, rules, strange + len(_different(rules, space)), gains, "sentence")]
    true_parts, found_parts = _apart(true), _apart(rules)
    if (true_parts, found_parts) != (true, rules):
        by_part = overlaps(true_parts, found_parts, space)
        said = strange + len(_different(found_parts, space))
        ways.append(_matched(true_parts, found_parts, said, by_part, "part"))
    best = max(ways, key=lambda way: (round(way[2], _DIGITS), way[3] or 0.0))
    of_parts = best if true_parts == true else ways[-1]
    fdr, rc, hdr, precision, identical, by, pairs = best
    return Exact(
        fdr, rc, hdr, precision, identical, by, pairs, len(pairs), len(read) - len(there), strange,
        space.drawn, *_as_rated(true, rules, gains, space), tuple(true),
        of_parts[-1],
    )  # fmt: skip


def _apart(rules: Sequence[Rule]) -> list[Rule]:
    return list(dict.fromkeys(part for rule in rules for part in parts(rule)))


def _different(rules: Sequence[Rule], space: Space) -> list[Rule]:
    """Those of the rules that say what none before them says, in these or other words."""
    same = overlaps(rules, rules, space) >= SAME
    kept: list[int] = []
    for place in range(len(rules)):
        if not same[place, kept].any():
            kept.append(place)
    return [rules[place] for place in kept]


def _matched(
    true: Sequence[Rule], rules: Sequence[Rule], said: int, gains: Matrix, by: str
) -> tuple[float, float, float, float | None, float, str, tuple[Pair, ...]]:
    of_true = dict(matched(gains))
    got = {t: float(gains[t, g]) for t, g in of_true.items()}
    pairs = tuple(
        Pair(one.written(), rules[of_true[t]].written() if t in got else None, got.get(t, 0.0))
        for t, one in enumerate(true)
    )
    total = sum(got.values())
    fdr, rc, hdr = product_of(len(got), len(true), total)
    identical = sum(one == SAME for one in got.values()) / len(true)
    # At least as many as are matched: being the same is not transitive ("if A, in" of three labels is
    # "if A, in; otherwise out" and "if A, in; if not A, out", which differ from each other).
    apart = max(said, len(got))
    return fdr, rc, hdr, total / apart if apart else None, identical, by, pairs


def _as_rated(
    true: Sequence[Rule], rules: Sequence[Rule], gains: Matrix, space: Space
) -> tuple[Discovery, Discovery]:
    of_true = [space.variables(one) for one in true]
    of_rules = [space.variables(one) | space.alike(one, true) for one in rules]
    names = sorted(frozenset().union(*of_true))
    if not rules:
        return Discovery(0.0, 0.0, 0.0), Discovery(0.0, 0.0, 0.0)
    shared = np.array([[bool(one & other) for other in of_rules] for one in of_true], np.float64)
    ratings = np.round(gains * 4) / 4
    has = [
        np.array([[name in one for name in names] for one in some], np.float64)
        for some in (of_true, of_rules)
    ]
    return released(shared, ratings), paper(has[0], has[1], np.where(shared > 0, ratings, np.nan))


def matched(gain: NDArray[np.float64]) -> list[tuple[int, int]]:
    """(row, column) pairs of gain (n, m), each row and column at most once, of greatest total; pairs
    that gain nothing are left out. Of equals the first rows and columns. O(n m min(n, m))."""
    rows, columns = gain.shape
    if not gain.size:
        return []
    if rows > columns:
        return sorted((row, column) for column, row in matched(gain.T))
    cost = -np.asarray(gain, np.float64)
    of_row, of_column = np.zeros(rows + 1), np.zeros(columns + 1)
    holder = np.zeros(columns + 1, np.int64)  # row + 1 that holds a column + 1
    for row in range(1, rows + 1):
        holder[0], column = row, 0
        least, before = np.full(columns + 1, np.inf), np.zeros(columns + 1, np.int64)
        used = np.zeros(columns + 1, np.bool_)
        while holder[column]:
            used[column] = True
            at = holder[column]
            free = np.flatnonzero(~used[1:]) + 1
            reduced = cost[at - 1, free - 1] - of_row[at] - of_column[free]
            closer = reduced < least[free]
            least[free[closer]] = reduced[closer]
            before[free[closer]] = column
            nearest = int(free[np.argmin(least[free])])
            step = least[nearest]
            of_row[holder[used]] += step
            of_column[used] -= step
            least[~used] -= step
            column = nearest
        while column:
            holder[column] = holder[before[column]]
            column = int(before[column])
    pairs = [(int(holder[c]) - 1, c - 1) for c in range(1, columns + 1) if holder[c]]
    return sorted((row, column) for row, column in pairs if gain[row, column] > 0)


# --- How far raters agree: Cohen's kappa (1960), weighted (1968), shares.
#
# A rating that is missing (None) of either rater leaves its item out.


@dataclass(frozen=True)
class Agreement:
    """n: items that both rated. same: share rated alike. near: share at most one point of the scale
    apart. kappa: of equal or not; weighted: by squares of how far apart; weighted_linear: by how far.
    All three None where chance alone would agree on all."""

    n: int
    same: float | None
    near: float | None
    kappa: float | None
    weighted: float | None
    weighted_linear: float | None


def agreement(
    one: Sequence[float | None], other: Sequence[float | None], scale: Sequence[float]
) -> Agreement:
    """scale: the points in order. Raises ValueError for a rating that is none of them, and for
    sequences of different lengths."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        return Agreement(0, None, None, None, None, None)
    place = {float(point): n for n, point in enumerate(scale)}
    table = np.zeros((len(scale), len(scale)))
    for a, b in pairs:
        if float(a) not in place or float(b) not in place:
            raise ValueError(f"{a if float(a) not in place else b} is no point of {list(scale)}")
        table[place[float(a)], place[float(b)]] += 1
    apart = np.abs(np.subtract.outer(np.arange(len(scale)), np.arange(len(scale))))
    shares = table / len(pairs)
    return Agreement(
        len(pairs),
        float(shares[apart == 0].sum()),
        float(shares[apart <= 1].sum()),
        _kappa(shares, (apart > 0).astype(np.float64)),
        _kappa(shares, apart.astype(np.float64) ** 2),
        _kappa(shares, apart.astype(np.float64)),
    )


def _kappa(shares: NDArray[np.float64], cost: NDArray[np.float64]) -> float | None:
    """1 - observed cost / cost expected of raters who know nothing of each other: with a cost of 1
    for every difference Cohen's kappa."""
    expected = float((np.outer(shares.sum(axis=1), shares.sum(axis=0)) * cost).sum())
    return None if expected == 0 else 1 - float((shares * cost).sum()) / expected
