"""Rules about texts, mined from labelled rows: lists of words, counts and lengths.

    found = mine_rules(rows, labels, public, Budget(150_000))
    found.rules        # at most 20 rules of tools/sentence_rules, strongest first
    found.tried        # number of terms and measures examined

A ridge regression predicts the label from the terms that a text mentions. Terms with small weights
are dropped until the remaining terms fit into the lists. The terms are then divided by weight, one
list per range of weights, so that all words of a list count alike. A list with two sides becomes a
sentence "more of A than of B". Further sentences are about style: lengths, and the frequencies of
punctuation marks and of classes of words such as pronouns.

Every row is held out once (cross-fitting), and lists are evaluated only on rows that were not used
to choose them. This evaluation determines the number of lists, the number of measures of style, and
the order of the sentences. The chosen combination is the one that predicts held-out rows best. Each
sentence is also tested by its correlation with the label on held-out rows, corrected for the number
of tested sentences by the method of Benjamini and Hochberg. If no sentence is significant, the
result has no rules. A sentence lists at most ten words.

The search does not use the meaning of words, spelling, or the order of more than two adjacent
words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ...tools.sentence_rules.conditions import Comparison, MoreThan
from ...tools.sentence_rules.degrees import amount_degrees
from ...tools.sentence_rules.prepared_rows import PreparedRows, TextIndex
from ...tools.sentence_rules.quantities import Measure, MentionedEntries
from ...tools.sentence_rules.rules import ConditionClause, PreferenceClause, Rule
from ..budget import Budget
from .words_terms import (
    RidgeFit,
    TermTable,
    build_term_table,
    centre_columns,
    count_multiplications,
    eliminate_columns,
    list_measures,
)

MAX_SENTENCES = 20  # maximum number of sentences
MAX_LISTED = 10  # maximum number of words in a sentence
FOLDS = 4  # with many rows; with few rows 8, which leaves more rows to choose from
MANY_ROWS = 400
MIN_ROWS = 40  # minimum number of rows
# Among choices with a loss within this part of the least, the one with the most sentences is taken.
SLACK = 0.01
FALSE_DISCOVERY_RATE = 0.1  # false discovery rate over sentences (Benjamini-Hochberg)
SHAPES = (
    *((size, MAX_LISTED) for size in (20, 16, 14, 12, 10, 8, 6, 4, 3, 2)),
    (2, 6),
    (1, MAX_LISTED),
    (1, 6),
    (1, 4),
    (1, 2),
)  # fmt: skip - lists, and words in each, that are tried: fewer and fewer words in all
STYLES = (20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1, 0)  # numbers of measures to try
FLOPS = 200_000  # multiplications per expansion

Numbers = NDArray[np.float64]
Tier = tuple[list[int], list[int]]  # columns for and against the label
Shape = tuple[int, int]  # number of lists, number of words in each


@dataclass(frozen=True)
class MinedRules:
    """Rules about words and style that were found in labelled texts, and statistics of the search.

    Args:
        rules: The rules, strongest first.
        tried: Number of terms and measures examined.
        judged: Number of sentences evaluated on held-out rows.
        sure: Number of returned sentences that are significant by themselves.
    """

    rules: tuple[Rule, ...]
    tried: int = 0
    judged: int = 0
    sure: int = 0


def mine_sentences(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    budget: Budget,
    seed: int = 0,
) -> list[Rule]:
    """Return the rules that `mine_rules` finds, without the statistics of the search.

    The arguments are those of `mine_rules`.
    """
    return list(mine_rules(rows, labels, public, budget, seed).rules)


def mine_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    budget: Budget,
    seed: int = 0,
) -> MinedRules:
    """Return rules that predict the label of a row from the words and the style of its texts.

    The result has no rules if there are fewer than 40 rows, fewer than two labels, or no texts.

    Args:
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`).
        budget: Budget to which the work is charged.
        seed: Random seed for the split of the rows into folds.
    """
    prepared = PreparedRows(rows, public)
    present = sorted(set(labels), key=prepared.labels.index)
    if len(rows) < MIN_ROWS or len(present) < 2 or not prepared.texts:
        return MinedRules(())
    sides = prepared.sides if prepared.shape == "pair" and len(prepared.texts) == 2 else None
    paired = sides is not None
    targets = present if len(present) > 2 else present[-1:]
    if sides is not None:
        targets = [prepared.labels[sides[0]]]
    columns: tuple[str, ...] = prepared.texts
    if paired or len(columns) == 1:
        columns = ("",)
    parts: list[MinedRules] = []
    share = max(1, MAX_SENTENCES // (len(targets) * len(columns)))
    for target in targets:
        y = np.where(np.array([label == target for label in labels]), 1.0, -1.0)
        rest = None if len(present) > 2 else next(label for label in present if label != target)
        for column in columns:
            part = _Part(
                prepared, column, paired, y, target, rest, share, seed, len(targets) * len(columns)
            )
            left = len(targets) * len(columns) - len(parts)
            parts.append(part.found(budget, budget.left / left))
    return MinedRules(
        tuple(rule for part in parts for rule in part.rules)[:MAX_SENTENCES],
        sum(part.tried for part in parts),
        sum(part.judged for part in parts),
        sum(part.sure for part in parts),
    )


@dataclass(frozen=True)
class _Part:
    """The search for sentences on one label against the others, about one text."""

    rows: PreparedRows
    column: str
    paired: bool
    y: Numbers
    label: str
    rest: str | None  # the other label if there are only two
    most: int
    seed: int
    parts: int  # number of parts, over which the significance level is divided

    def found(self, budget: Budget, expansions: float) -> MinedRules:
        """Return the rules of this part; `expansions` is its share of the budget."""
        terms = self.terms(expansions)
        x = self.presence(terms)
        style = [one for one in list_measures(self.column) if np.ptp(self.values(one)) > 0]
        s = np.zeros((len(self.y), len(style)))
        for place, one in enumerate(style):
            s[:, place] = self.values(one)
        shapes = [one for one in SHAPES if one[0] <= self.most and math.prod(one) <= x.shape[1]]
        held = self.held_out(x, shapes, budget)
        shape, chosen = self.choice(held, s)
        lists = held.get(shape, s[:, :0])
        size = shape[0]
        strength = z_scores(np.hstack([lists, s[:, chosen]]), self.y, self.paired)
        strength[:size] = np.maximum(strength[:size], 0)  # a list must be right in its direction
        others = z_scores(np.delete(s, chosen, axis=1), self.y, self.paired)
        turned_down = [
            np.maximum(z_scores(other, self.y, self.paired), 0)
            for tried_shape, other in held.items()
            if tried_shape != shape
        ]
        every = np.concatenate([strength, others, *turned_down])
        sure = significant_mask(every, self.parts)[: len(strength)]
        tried, judged = len(terms.terms) + len(style), len(every)
        if not sure.any():
            return MinedRules((), tried, judged)
        said = [self.list_rule(tier, terms) for tier in self.lists(x, shape, budget)]
        said += [self.style_rule(style[i]) for i in chosen]
        order = np.argsort(-np.abs(strength), kind="stable")
        kept = tuple(rule for i in order if (rule := said[i]) is not None)
        return MinedRules(kept, tried, judged, int(sure.sum()))

    @property
    def folds(self) -> int:
        """Return the number of folds."""
        return FOLDS if len(self.y) >= MANY_ROWS else 2 * FOLDS

    # --- counts --------------------------------------------------------------------------

    def terms(self, expansions: float) -> TermTable:
        """Return the terms that enough texts have, or the most frequent ones on a short budget."""
        n = len(self.y)
        texts = self.rows.texts if self.paired else (self.column,)
        every = TextIndex([one for text in texts for one in self.rows.text(text).texts])
        found = build_term_table(every, min_texts(n))
        count = len(found.terms)
        while (
            count > MAX_LISTED
            and (self.folds + 1) * count_multiplications(n, count) / FLOPS > expansions
        ):
            count = int(count * 0.8)
        kept = np.sort(np.argsort(-found.frequency, kind="stable")[:count])
        return TermTable(tuple(found.terms[i] for i in kept), found.frequency[kept])

    def presence(self, terms: TermTable) -> NDArray[np.float32]:
        """Return 1 where a text mentions a term, float32 (n, t); for pairs the difference."""
        if not self.paired:
            return terms.present(self.rows.text(self.column))
        first, second = (terms.present(self.rows.text(text)) for text in self.rows.texts)
        return first - second

    def values(self, measure: Measure) -> Numbers:
        """Return the values of a measure, (n,); for pairs the first less the second."""
        if not self.paired:
            return amount_degrees(measure, self.rows)
        first, second = self.rows.texts
        return amount_degrees(measure, self.rows, first) - amount_degrees(
            measure, self.rows, second
        )

    # --- lists ---------------------------------------------------------------------------

    def held_out(
        self, x: NDArray[np.float32], shapes: Sequence[Shape], budget: Budget
    ) -> dict[Shape, Numbers]:
        """Return the scores of held-out rows for each shape, (n, lists), strongest list first.

        The lists that score a row were chosen without it.
        """
        n = len(self.y)
        found = {shape: np.zeros((n, shape[0])) for shape in shapes}
        if not shapes:
            return found
        order = np.random.default_rng(self.seed).permutation(n)
        for fold in range(self.folds):
            out = np.sort(order[fold :: self.folds])
            rest = np.setdiff1d(order, out)
            budget.charge(count_multiplications(len(rest), x.shape[1]) / FLOPS)
            path = eliminate_columns(
                centre_columns(x[rest], self.paired),
                self.offset(rest),
                [math.prod(shape) for shape in shapes],
            )
            for shape, (left, w) in zip(shapes, path, strict=True):
                for place, (more, less) in enumerate(
                    divide_into_tiers(left, w, shape, self.paired)
                ):
                    for_it, against = x[out][:, more].sum(axis=1), x[out][:, less].sum(axis=1)
                    found[shape][out, place] = for_it - against
        return found

    def offset(self, some: NDArray[np.int64]) -> Numbers:
        """Return the targets of some rows, centred unless the rows are pairs."""
        y = self.y[some]
        return y if self.paired else y - y.mean()

    def lists(self, x: NDArray[np.float32], shape: Shape, budget: Budget) -> list[Tier]:
        """Return the lists that all rows give."""
        if not shape[0]:
            return []
        budget.charge(count_multiplications(*x.shape) / FLOPS)
        everything = np.arange(len(self.y))
        ((left, w),) = eliminate_columns(
            centre_columns(x, self.paired), self.offset(everything), [math.prod(shape)]
        )
        return divide_into_tiers(left, w, shape, self.paired)

    def choice(self, held: Mapping[Shape, Numbers], style: Numbers) -> tuple[Shape, list[int]]:
        """Return the shape of the lists and the measures of style with the least held-out error.

        The error is squared. Among choices within `SLACK` of the least error the largest one is taken.
        """
        tried: list[tuple[float, Shape, list[int]]] = []
        for shape, lists in [*held.items(), ((0, 0), np.zeros((len(self.y), 0)))]:
            size = shape[0]
            chosen = list(range(style.shape[1]))
            for count in STYLES:
                if count > len(chosen) or count + size == 0:
                    continue
                while True:
                    fit = RidgeFit(np.hstack([lists, style[:, chosen]]), self.y, self.paired)
                    if len(chosen) == count:
                        break
                    fewer = max(count, int(len(chosen) * 0.7))
                    order = np.argsort(-np.abs(fit.w[size:]), kind="stable")[:fewer]
                    chosen = [chosen[i] for i in sorted(order.tolist())]
                if size + count <= self.most:
                    tried.append((fit.loss, shape, chosen))
        if not tried:
            return (0, 0), []
        enough = min(loss for loss, _, _ in tried) * (1 + SLACK)
        near = [one for one in tried if one[0] <= enough]
        best = max(near, key=lambda one: (one[1][0] + len(one[2]), -one[0]))
        return best[1], best[2]

    # --- sentences -----------------------------------------------------------------------

    def list_rule(self, tier: Tier, terms: TermTable) -> Rule | None:
        """Return the rule of a list, or None for an empty list (if there were too few terms)."""
        if not any(tier):
            return None
        more, less = (tuple(terms.terms[i] for i in side) for side in tier)
        if self.paired:
            return Rule((PreferenceClause(MentionedEntries(more or less), fewer=not more),))
        if more and less:
            return self.list_against_list(
                MentionedEntries(more, self.column), MentionedEntries(less, self.column)
            )
        sign = 1 if more else -1
        return self.threshold_rule(MentionedEntries(more or less, self.column), sign)

    def list_against_list(self, more: MentionedEntries, less: MentionedEntries) -> Rule:
        """Return a rule that compares two lists.

        With two labels a tie counts for the label that the shown rows suggest.
        """
        rule = Rule((ConditionClause(MoreThan(more, less), self.label),), self.rest)
        if self.rest is None:
            return rule
        turned = Rule((ConditionClause(MoreThan(less, more), self.rest),), self.label)
        ties = more.values(self.rows) == less.values(self.rows)
        return turned if self.y[ties].sum() > 0 else rule

    def style_rule(self, measure: Measure) -> Rule:
        """Return a rule on a measure of style, in the direction that the rows suggest."""
        sign = 1 if self.values(measure) @ self.y > 0 else -1
        if not self.paired:
            sign = 1 if np.corrcoef(self.values(measure), self.y)[0, 1] > 0 else -1
            return self.threshold_rule(measure, sign)
        return Rule((PreferenceClause(measure, fewer=sign < 0),))

    def threshold_rule(self, measure: Measure, sign: int) -> Rule:
        """Return a rule with a lower (or upper) bound on a measure that is right on most rows."""
        values = measure.values(self.rows)
        up = sign > 0
        beyond = values[values > values.min()] if up else values[values < values.max()]
        quantiles = np.quantile(beyond if len(beyond) else values, np.arange(1, 20) / 20)
        options = sorted({round_for_text(float(one)) for one in quantiles})
        right = [
            np.mean(((values >= at) if up else (values <= at)) == (self.y > 0)) for at in options
        ]
        at = options[int(np.argmax(right))]
        condition = Comparison(measure, "at least" if up else "at most", at)
        return Rule((ConditionClause(condition, self.label),), self.rest)


def min_texts(rows: int) -> int:
    """Return how many of `rows` texts a term must occur in to be considered: 4 of 200, 6 of 800."""
    return max(3, round(1.1 * math.sqrt(math.sqrt(rows))))


def divide_into_tiers(
    left: NDArray[np.int64], w: Numbers, shape: Shape, one_sided: bool
) -> list[Tier]:
    """Divide columns into lists of similar weight, the list with the largest weights first.

    Args:
        left: Indices of the columns, each of which stands for a term.
        w: Weight of each column. A positive weight speaks for the label.
        shape: Number of lists, and maximum number of columns in each list.
        one_sided: Whether a list has only columns for the label or only columns against it.
            Otherwise each list has both.

    Returns:
        For each list, the columns for the label and the columns against it. With `one_sided`, lists
        at the end may be empty.
    """
    lists, listed = shape
    order = np.argsort(-np.abs(w), kind="stable")
    more = [int(left[i]) for i in order if w[i] > 0]
    less = [int(left[i]) for i in order if w[i] <= 0]
    if one_sided:
        of_more = min(lists, round(lists * len(more) / max(1, len(left))))
        parts: list[Tier] = [(more[i * listed : (i + 1) * listed], []) for i in range(of_more)]
        parts += [([], less[i * listed : (i + 1) * listed]) for i in range(lists - of_more)]
        parts = [part for part in parts if any(part)]
        return parts + [([], [])] * (lists - len(parts))
    found: list[Tier] = []
    for part in np.array_split(np.array(more, np.int64), lists):
        count = max(0, listed - len(part))
        found.append((part.tolist()[:listed], less[:count]))
        less = less[count:]
    return found


def z_scores(features: Numbers, y: Numbers, through_zero: bool) -> Numbers:
    """Return the correlation of each feature with `y` as a z-score, of shape (m,).

    The z-scores come from Fisher's transformation of the correlations.

    Args:
        features: Features of the n rows, of shape (n, m).
        y: Targets, of shape (n,).
        through_zero: If true, the means of features and targets are not subtracted.
    """
    middle = 0.0 if through_zero else features.mean(axis=0)
    x = features - middle
    v = y if through_zero else y - y.mean()
    size = np.sqrt((x**2).sum(axis=0) * (v @ v))
    r = np.clip((v @ x) / np.where(size > 0, size, 1.0), -1 + 1e-12, 1 - 1e-12)
    found: Numbers = np.arctanh(r) * math.sqrt(max(1, len(y) - 3))
    return found


def significant_mask(z: Numbers, parts: int = 1) -> NDArray[np.bool_]:
    """Return which z-scores are significant in a two-sided test, as a bool array of the same shape.

    The false discovery rate is `FALSE_DISCOVERY_RATE`, by the method of Benjamini and Hochberg
    (1995).

    Args:
        z: The z-scores.
        parts: Number of tests of this kind among which the false discovery rate is divided.
    """
    p = np.array([math.erfc(abs(one) / math.sqrt(2)) for one in z])
    order = np.argsort(p, kind="stable")
    below = p[order] <= FALSE_DISCOVERY_RATE / parts * (np.arange(len(p)) + 1) / max(1, len(p))
    found = np.zeros(len(p), np.bool_)
    if below.any():
        found[order[: int(np.flatnonzero(below)[-1]) + 1]] = True
    return found


def round_for_text(value: float) -> float:
    """Return `value` rounded to two significant digits, or to an integer from 100 on."""
    return float(f"{value:.2g}") if abs(value) < 100 else float(round(value))
