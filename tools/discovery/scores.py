"""Three discovery scores that compare a bank of sentences with the true sentences of a data set.

A bank is the collection of sentences that a method has generated. Every score has three numbers:
the feature discovery rate (FDR), the relationship correctness (RC), and HDR, the product FDR x RC.

`score_as_released` computes the same numbers as HypoBench's published evaluation code. A true
sentence is found if a rater says that some generated sentence is about one of its variables. RC is
the mean, over the true sentences that are found, of the best rating (0, .25, .5, .75 or 1) of a
matching generated sentence.

`score_as_defined` follows the definition in section 3 of the HypoBench paper. FDR is the share of
true variables that some generated sentence is about. RC is the mean, over these variables, of the
best rating of a sentence about the variable.

`score_exact` needs no rater. True and generated sentences are compiled into rules, and compared by
what they say of every possible input, not by their words. For each label, the bank claims a set of
inputs (claims.py), and the maximal boxes of this set are its *statements* (boxes.py). Each case of a
true rule (rule_cases.py) is compared with the statements about its label, and gets its largest
overlap with one of them (`case_overlap`). FDR is the share of true rules with an overlap above 0,
and RC is their mean overlap. A true sentence that is not an exact rule counts as not found.
Precision is the mean overlap of the statements that the bank needs with the closest case.

An empty bank scores 0 in all three scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...records import Json, UsageError
from ..sentence_rules.rules import ConditionClause, NotExact, Rule
from ..sentence_rules.sentence_compiler import compile_sentence
from .boxes import Box, BoxSpace, TooManyBoxesError
from .claims import (
    BankClaims,
    case_overlap,
    count_further,
    given_labels,
    needed_statements,
    rule_boxes,
)
from .input_space import InputSpace
from .overlap import overlap_matrix
from .rule_cases import compile_truth, split_into_cases

Matrix = NDArray[np.float64]
FULL_OVERLAP = 1.0
_DIGITS = 9  # Two ways of counting whose HDR agrees to this many decimals are equal.


@dataclass(frozen=True)
class DiscoveryScores:
    """Feature discovery rate (FDR), relationship correctness (RC) and their product (HDR).

    Attributes:
        fdr: Share of the true sentences or variables that are found.
        rc: Mean rating of the true sentences or variables that are found; 0 if none is found.
        hdr: The product of `fdr` and `rc`.
        missing: Number of replies of the rater that could not be read. Such a reply counts as no
            match or no rating.
    """

    fdr: float
    rc: float
    hdr: float
    missing: int = 0


def discovery_rates(found: int, true: int, ratings: float) -> tuple[float, float, float]:
    """Return the feature discovery rate (FDR), relationship correctness (RC) and FDR x RC.

    Args:
        found: Number of true sentences, variables or rules that were found.
        true: Number of all true sentences, variables or rules, at least 1.
        ratings: Sum of the ratings of the true sentences, variables or rules that were found.
    """
    fdr = found / true
    rc = ratings / found if found else 0.0
    return fdr, rc, fdr * rc


def score_as_released(matches: Matrix, ratings: Matrix) -> DiscoveryScores:
    """Compute the discovery score of HypoBench's published evaluation code.

    T is the number of true sentences and G the number of generated sentences. A true sentence whose
    ratings are all missing counts as found, but is left out of RC.

    Args:
        matches: Whether a rater says that two sentences share a variable, of shape (T, G); NaN
            where the rater's reply could not be read.
        ratings: Ratings of the pairs that match, of shape (T, G); NaN where missing.

    Raises:
        UsageError: There is no true sentence.
    """
    if not len(matches):
        raise UsageError("nothing to discover: there is no true sentence")
    match = np.nan_to_num(matches) > 0
    best = _best(np.where(match, ratings, np.nan))
    found = np.asarray(match.any(axis=1), np.bool_)
    return _rated(found, best, int(np.isnan(matches).sum() + np.isnan(ratings[match]).sum()))


def score_as_defined(true: Matrix, generated: Matrix, ratings: Matrix) -> DiscoveryScores:
    """Compute the discovery score that section 3 of the HypoBench paper defines.

    T is the number of true sentences, G the number of generated sentences, and Z the number of
    variables.

    Args:
        true: Whether each true sentence is about each variable, of shape (T, Z).
        generated: Whether each generated sentence is about each variable, of shape (G, Z); NaN
            where the rater's reply could not be read.
        ratings: Rating of each pair of sentences, of shape (T, G); NaN where missing or not
            requested.

    Raises:
        UsageError: There is no variable.
    """
    if not true.shape[1]:
        raise UsageError("nothing to discover: no variable of the true sentences is known")
    said = np.nan_to_num(generated) > 0
    best = []
    for z in range(true.shape[1]):
        pair = (true[:, z] > 0)[:, None] & said[:, z][None, :]
        of_truths = _best(np.where(pair, ratings, np.nan))
        known = of_truths[~np.isnan(of_truths)]
        best.append(known.mean() if known.size else np.nan)
    found = np.asarray(said.any(axis=0), np.bool_)
    return _rated(found, np.array(best), int(np.isnan(generated).sum()))


def _best(ratings: Matrix) -> Matrix:
    """Return the maximum of each row, or NaN for a row without a rating."""
    best = np.where(np.isnan(ratings), -np.inf, ratings).max(axis=1, initial=-np.inf)
    return np.where(np.isinf(best), np.nan, best)


def _rated(found: NDArray[np.bool_], best: Matrix, missing: int) -> DiscoveryScores:
    rated = best[found & ~np.isnan(best)]
    fdr = float(found.mean())
    rc = float(rated.mean()) if rated.size else 0.0
    return DiscoveryScores(fdr, rc, fdr * rc, missing)


@dataclass(frozen=True)
class MatchedPair:
    """A case of a true rule, and how well the bank states it.

    Attributes:
        true: The case as a sentence.
        overlap: The overlap with the closest statement of the bank, from 0 to 1.
    """

    true: str
    overlap: float


@dataclass(frozen=True)
class ExactScores:
    """The discovery score of a bank that is computed without a rater.

    Attributes:
        fdr: Share of the true rules that the bank states at least in part. A true sentence that is
            not an exact rule is one rule, which is not found.
        rc: Mean overlap of these rules with the bank.
        hdr: The product of `fdr` and `rc`.
        hdr_read: The same product over the true sentences that are exact rules; None if there are
            none.
        precision: Mean, over the statements that the bank needs, of the overlap with the closest
            case of a true rule; None for an empty bank.
        identical: Share of the true rules that the bank states exactly.
        pairs: One pair for each case of `rules`.
        stated: Number of true sentences.
        unread: Number of true sentences that are not exact rules, or are too complex.
        not_exact: Number of generated sentences that are not exact rules, or are too complex.
        drawn: Whether rules were compared on a random sample of the inputs instead of on all
            inputs.
        released: The result of `score_as_released` with a computed rating in place of a model's.
            Two rules share a variable if both read it. For texts without template slots, different
            words that occur in the same texts also count as one variable. The rating of a pair is
            its overlap, rounded to the nearest quarter. True sentences that are not exact rules are
            left out.
        paper: The result of `score_as_defined` with the same computed rating.
        rules: The true rules without repetition.
    """

    fdr: float
    rc: float
    hdr: float
    hdr_read: float | None
    precision: float | None
    identical: float
    pairs: tuple[MatchedPair, ...]
    stated: int
    unread: int
    not_exact: int
    drawn: bool
    released: DiscoveryScores
    paper: DiscoveryScores
    rules: tuple[Rule, ...] = field(default=(), repr=False)


def score_exact(
    truths: Sequence[str], bank: Sequence[str], space: InputSpace, public: Mapping[str, Json]
) -> ExactScores | None:
    """Score a bank of sentences against the true sentences without a rater.

    Banks that claim the same labels for the same inputs have the same `fdr`, `rc`, `hdr`,
    `precision` and `identical`, in whatever words and in whatever number of sentences.

    Args:
        truths: The true sentences.
        bank: The generated sentences.
        space: The possible inputs of the problem.
        public: The public description of the problem, with its labels and columns.

    Returns:
        The score, or None if there is no true sentence.
    """
    if not truths:
        return None
    read = [compile_truth(sentence, public) for sentence in truths]
    given = [compile_sentence(sentence, public) for sentence in bank]
    rules = list(dict.fromkeys(rule for rule in given if isinstance(rule, Rule)))
    there = [rule for rule in read if isinstance(rule, Rule)]
    boxes = BoxSpace(space, [*there, *rules], there)
    there = [one for one in there if _is_simple(one, given_labels(one, boxes), boxes)]
    unread = len(read) - len(there)
    true = _drop_repeated(there, space)
    cases = list(dict.fromkeys(part for rule in true for part in split_into_cases(rule)))
    overlaps, said, too_complex = _compare_cases(true, cases, rules, boxes)
    strange = sum(isinstance(rule, NotExact) for rule in given) + too_complex
    total, found = sum(overlaps), sum(one > 0 for one in overlaps)
    readable = len(cases) - _count_empty(true, boxes)
    count = readable + unread
    fdr, rc, hdr = discovery_rates(found, count, total)
    statements = max(len(said) + strange, min(1, len(bank)))
    gains = overlap_matrix(true, rules, space)
    released, paper = _as_rated(true, rules, gains, space) if true else (_NOTHING, _NOTHING)
    return ExactScores(
        fdr, rc, hdr, total / readable if readable else None, sum(said) / statements if statements else None,
        sum(one == FULL_OVERLAP for one in overlaps) / count,
        tuple(MatchedPair(one.to_text(), own) for one, own in zip(cases, overlaps, strict=True)),
        len(read), unread, strange, boxes.drawn, released, paper, tuple(true),
    )  # fmt: skip


_NOTHING = DiscoveryScores(0.0, 0.0, 0.0)


def _drop_repeated(rules: Sequence[Rule], space: InputSpace) -> list[Rule]:
    """Return the rules without those that repeat an earlier one, in the same or other words."""
    same = overlap_matrix(rules, rules, space) >= FULL_OVERLAP
    kept: list[int] = []
    for place in range(len(rules)):
        if not same[place, kept].any():
            kept.append(place)
    return [rules[place] for place in kept]


def _compare_cases(
    true: Sequence[Rule], cases: Sequence[Rule], rules: Sequence[Rule], space: BoxSpace
) -> tuple[list[float], list[float], int]:
    """Return the overlap of each case with the bank, the overlap of each statement that the bank needs
    with the closest case, and the number of rules of the bank that are too complex to compare.
    """
    labels = [_case_label(case, space) for case in cases]
    simple = [rule for rule in rules if _is_simple(rule, labels, space)]
    truth, bank = BankClaims(true, space), BankClaims(simple, space)
    boxes = [space.maximal(rule_boxes(*pair, space)) for pair in zip(cases, labels, strict=True)]
    overlaps = [0.0] * len(cases)
    said: list[float] = []  # of each statement
    for label in dict.fromkeys(labels):
        try:
            claimed = bank.claimed(label)
        except TooManyBoxesError:
            said += [0.0] * len(simple)
            continue
        statements, right = space.maximal(claimed), truth.claimed(label)
        sound = all(space.covered(box, right) for box in claimed)
        closest: dict[Box, None] = {}
        largest = dict.fromkeys(statements, 0.0)
        own = [at for at, one in enumerate(labels) if one == label]
        for at in own:
            others = [box for n in own if n != at for box in boxes[n]]
            total = 0.0
            for box in boxes[at]:
                given = [case_overlap(box, one, right, others, space) for one in statements]
                for one, value in zip(statements, given, strict=True):
                    largest[one] = max(largest[one], value)
                best = max(given, default=0.0)
                if best > 0:
                    closest[statements[given.index(best)]] = None
                # `maximal` returns other boxes if there are too many.
                whole = sound and not space.drawn and space.covered(box, claimed)
                total += FULL_OVERLAP if whole and space.share(box) < 1 else best
            overlaps[at] = total / len(boxes[at]) if boxes[at] else 0.0
        said += [largest[one] for one in needed_statements(statements, list(closest), space)]
    said += [0.0] * count_further(bank, list(dict.fromkeys(labels)))
    return overlaps, said, len(rules) - len(simple)


def _is_simple(rule: Rule, labels: Iterable[str], space: BoxSpace) -> bool:
    """Return whether what a rule says about each of these labels is a union of few boxes."""
    try:
        return all(rule_boxes(rule, label, space) is not None for label in dict.fromkeys(labels))
    except TooManyBoxesError:
        return False


def _count_empty(true: Sequence[Rule], space: BoxSpace) -> int:
    """Return how many cases hold for no input, although another case of the same rule does."""
    empty: dict[Rule, None] = {}
    for rule in true:
        parts = split_into_cases(rule)
        held = {one for one in parts if rule_boxes(one, _case_label(one, space), space)}
        empty.update((one, None) for one in parts if held and one not in held)
    return len(empty)


def _case_label(case: Rule, space: BoxSpace) -> str:
    """Return the label of a case. A preference between two texts counts by the first label."""
    clause = case.clauses[0]
    return clause.label if isinstance(clause, ConditionClause) else space.labels[0]


def _as_rated(
    true: Sequence[Rule], rules: Sequence[Rule], gains: Matrix, space: InputSpace
) -> tuple[DiscoveryScores, DiscoveryScores]:
    of_true = [space.variables(one) for one in true]
    of_rules = [space.variables(one) | space.similar_variables(one, true) for one in rules]
    names = sorted(frozenset().union(*of_true))
    if not rules:
        return DiscoveryScores(0.0, 0.0, 0.0), DiscoveryScores(0.0, 0.0, 0.0)
    shared = np.array([[bool(one & other) for other in of_rules] for one in of_true], np.float64)
    ratings = np.round(gains * 4) / 4
    has = [
        np.array([[name in one for name in names] for one in some], np.float64)
        for some in (of_true, of_rules)
    ]
    return score_as_released(shared, ratings), score_as_defined(
        has[0], has[1], np.where(shared > 0, ratings, np.nan)
    )


# --- Agreement of raters: Cohen's kappa (1960), weighted kappa (1968), and shares.
#
# An item is left out if either rating is missing (None).


@dataclass(frozen=True)
class Agreement:
    """Measures of how well the ratings of two raters agree.

    Every measure except `n` is None if no item has two ratings. The three kappas are also None if
    chance alone would produce full agreement.

    Attributes:
        n: Number of items that both raters rated.
        same: Share of items with equal ratings.
        near: Share of items whose ratings are equal or adjacent points of the scale.
        kappa: Cohen's kappa without weights.
        weighted: Cohen's kappa with squared distances as weights.
        weighted_linear: Cohen's kappa with distances as weights.
    """

    n: int
    same: float | None
    near: float | None
    kappa: float | None
    weighted: float | None
    weighted_linear: float | None


def agreement(
    one: Sequence[float | None], other: Sequence[float | None], scale: Sequence[float]
) -> Agreement:
    """Return how well two raters agree.

    Args:
        one: Ratings of the first rater; None where a rating is missing.
        other: Ratings of the second rater for the same items; None where a rating is missing.
        scale: All possible ratings, in ascending order.

    Raises:
        ValueError: A rating is not on the scale, or the sequences differ in length.
    """
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
    """Return 1 - observed cost / cost expected of independent raters.

    With a cost of 1 for every difference this is Cohen's kappa.
    """
    expected = float((np.outer(shares.sum(axis=1), shares.sum(axis=0)) * cost).sum())
    return None if expected == 0 else 1 - float((shares * cost).sum()) / expected
