"""Sentences about texts, mined from labelled rows: lists of words, counts, lengths.

    found = mined(rows, labels, public, Budget(150_000))
    found.rules        # of tools/sentence_rules, the strongest first, at most 20
    found.tried        # how many candidates there were

A ridge regression on which terms a text mentions is thinned until as many terms are left as the lists
hold; those go into tiers by weight, one list a tier, so a list's words count alike. Two-sided lists
say "more of A than of B". What is said of style (shares of marks and of closed classes of words,
lengths) stands beside.

Every row is set apart once (cross-fitting): the lists that are judged on it were picked without it.
From that come the number of lists, the number of measures of style, and the order of the sentences:
what predicts rows left out best, together. Which of them are no chance by themselves is told by their
held-out correlation with the label after Benjamini and Hochberg, over all sentences that were judged
so; where none is, nothing is said. A sentence lists at most ten words.

Not covered: meaning, order beyond two words side by side, spelling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ...tools.sentence_rules.conditions import Compare, More
from ...tools.sentence_rules.grading import degree
from ...tools.sentence_rules.prepared import Prepared, TextIndex
from ...tools.sentence_rules.quantities import Listed, Measure
from ...tools.sentence_rules.rules import Prefer, Rule, When
from ..budget import Budget
from .words_terms import Fit, Table, centred, eliminated, measures, table, work

MOST = 20  # sentences
LISTED = 10  # words of a sentence
FOLDS = 4  # of many rows; of few rows 8, which leaves more to pick from
MANY = 400
FEWEST = 40  # rows, below which nothing is mined
SLACK = 0.01  # of the least error: of banks within it the one that says most is taken
FALSE = 0.1  # share of the sentences that may stand by chance (Benjamini-Hochberg)
SHAPES = (
    *((size, LISTED) for size in (20, 16, 14, 12, 10, 8, 6, 4, 3, 2)),
    (2, 6),
    (1, LISTED),
    (1, 6),
    (1, 4),
    (1, 2),
)  # fmt: skip - lists, and words in each, that are tried: fewer and fewer words in all
STYLES = (20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1, 0)  # measures that are tried
FLOPS = 200_000  # multiplications that count as an expansion

Numbers = NDArray[np.float64]
Tier = tuple[list[int], list[int]]  # columns for and against the label
Shape = tuple[int, int]  # how many lists, of how many words


@dataclass(frozen=True)
class Mined:
    """rules: the strongest first. tried: terms and measures that were looked at; judged: sentences
    that were judged on rows set apart; sure: of those that are said, how many are no chance alone."""

    rules: tuple[Rule, ...]
    tried: int = 0
    judged: int = 0
    sure: int = 0


def sentences(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    budget: Budget,
    seed: int = 0,
) -> list[Rule]:
    """The rules of `mined`."""
    return list(mined(rows, labels, public, budget, seed).rules)


def mined(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    budget: Budget,
    seed: int = 0,
) -> Mined:
    """rows, labels: n labelled rows of a problem with `public`. seed: cuts them into folds. Nothing
    is found among fewer than 40 rows, rows of one label, or rows without texts."""
    prepared = Prepared(rows, public)
    present = sorted(set(labels), key=prepared.labels.index)
    if len(rows) < FEWEST or len(present) < 2 or not prepared.texts:
        return Mined(())
    sides = prepared.sides if prepared.shape == "pair" and len(prepared.texts) == 2 else None
    paired = sides is not None
    targets = present if len(present) > 2 else present[-1:]
    if sides is not None:
        targets = [prepared.labels[sides[0]]]
    columns: tuple[str, ...] = prepared.texts
    if paired or len(columns) == 1:
        columns = ("",)
    parts: list[Mined] = []
    share = max(1, MOST // (len(targets) * len(columns)))
    for target in targets:
        y = np.where(np.array([label == target for label in labels]), 1.0, -1.0)
        rest = None if len(present) > 2 else next(label for label in present if label != target)
        for column in columns:
            part = _Part(
                prepared, column, paired, y, target, rest, share, seed, len(targets) * len(columns)
            )
            left = len(targets) * len(columns) - len(parts)
            parts.append(part.found(budget, budget.left / left))
    return Mined(
        tuple(rule for part in parts for rule in part.rules)[:MOST],
        sum(part.tried for part in parts),
        sum(part.judged for part in parts),
        sum(part.sure for part in parts),
    )


@dataclass(frozen=True)
class _Part:
    """The sentences on one label against the rest, about one text."""

    rows: Prepared
    column: str
    paired: bool
    y: Numbers
    label: str
    rest: str | None  # the other label, where there are two
    most: int
    seed: int
    parts: int  # how many there are: any of them may say something by chance

    def found(self, budget: Budget, expansions: float) -> Mined:
        """expansions: what of the budget is for this part."""
        terms = self.terms(expansions)
        x = self.presence(terms)
        style = [one for one in measures(self.column) if np.ptp(self.values(one)) > 0]
        s = np.zeros((len(self.y), len(style)))
        for place, one in enumerate(style):
            s[:, place] = self.values(one)
        shapes = [one for one in SHAPES if one[0] <= self.most and math.prod(one) <= x.shape[1]]
        held = self.held_out(x, shapes, budget)
        shape, chosen = self.choice(held, s)
        lists = held.get(shape, s[:, :0])
        size = shape[0]
        strength = z_scores(np.hstack([lists, s[:, chosen]]), self.y, self.paired)
        strength[:size] = np.maximum(strength[:size], 0)  # a list has to be right in its direction
        others = z_scores(np.delete(s, chosen, axis=1), self.y, self.paired)
        turned_down = [
            np.maximum(z_scores(other, self.y, self.paired), 0)
            for tried_shape, other in held.items()
            if tried_shape != shape
        ]
        every = np.concatenate([strength, others, *turned_down])
        sure = no_chance(every, self.parts)[: len(strength)]
        tried, judged = len(terms.terms) + len(style), len(every)
        if not sure.any():
            return Mined((), tried, judged)
        said = [self.list_rule(tier, terms) for tier in self.lists(x, shape, budget)]
        said += [self.style_rule(style[i]) for i in chosen]
        order = np.argsort(-np.abs(strength), kind="stable")
        kept = tuple(rule for i in order if (rule := said[i]) is not None)
        return Mined(kept, tried, judged, int(sure.sum()))

    @property
    def folds(self) -> int:
        return FOLDS if len(self.y) >= MANY else 2 * FOLDS

    # --- what is counted -----------------------------------------------------------------

    def terms(self, expansions: float) -> Table:
        """Those of the texts that are many enough; the most frequent ones where the budget is short."""
        n = len(self.y)
        texts = self.rows.texts if self.paired else (self.column,)
        every = TextIndex([one for text in texts for one in self.rows.text(text).texts])
        found = table(every, least(n))
        count = len(found.terms)
        while count > LISTED and (self.folds + 1) * work(n, count) / FLOPS > expansions:
            count = int(count * 0.8)
        kept = np.sort(np.argsort(-found.frequency, kind="stable")[:count])
        return Table(tuple(found.terms[i] for i in kept), found.frequency[kept])

    def presence(self, terms: Table) -> NDArray[np.float32]:
        """float32 (n, t): 1 where a text mentions the term; of two texts the first less the second."""
        if not self.paired:
            return terms.present(self.rows.text(self.column))
        first, second = (terms.present(self.rows.text(text)) for text in self.rows.texts)
        return first - second

    def values(self, measure: Measure) -> Numbers:
        """(n,); of two texts the first less the second."""
        if not self.paired:
            return degree(measure, self.rows)
        first, second = self.rows.texts
        return degree(measure, self.rows, first) - degree(measure, self.rows, second)

    # --- lists ---------------------------------------------------------------------------

    def held_out(
        self, x: NDArray[np.float32], shapes: Sequence[Shape], budget: Budget
    ) -> dict[Shape, Numbers]:
        """For each shape, (n, lists): how far each row is to the label by lists that were
        picked without it, the strongest first."""
        n = len(self.y)
        found = {shape: np.zeros((n, shape[0])) for shape in shapes}
        if not shapes:
            return found
        order = np.random.default_rng(self.seed).permutation(n)
        for fold in range(self.folds):
            out = np.sort(order[fold :: self.folds])
            rest = np.setdiff1d(order, out)
            budget.charge(work(len(rest), x.shape[1]) / FLOPS)
            path = eliminated(
                centred(x[rest], self.paired),
                self.offset(rest),
                [math.prod(shape) for shape in shapes],
            )
            for shape, (left, w) in zip(shapes, path, strict=True):
                for place, (more, less) in enumerate(tiers(left, w, shape, self.paired)):
                    for_it, against = x[out][:, more].sum(axis=1), x[out][:, less].sum(axis=1)
                    found[shape][out, place] = for_it - against
        return found

    def offset(self, some: NDArray[np.int64]) -> Numbers:
        y = self.y[some]
        return y if self.paired else y - y.mean()

    def lists(self, x: NDArray[np.float32], shape: Shape, budget: Budget) -> list[Tier]:
        """The lists that all rows give."""
        if not shape[0]:
            return []
        budget.charge(work(*x.shape) / FLOPS)
        everything = np.arange(len(self.y))
        ((left, w),) = eliminated(
            centred(x, self.paired), self.offset(everything), [math.prod(shape)]
        )
        return tiers(left, w, shape, self.paired)

    def choice(self, held: Mapping[Shape, Numbers], style: Numbers) -> tuple[Shape, list[int]]:
        """The shape of the lists, and the measures of style beside them, with the least squared error
        of rows left out, or nearly."""
        tried: list[tuple[float, Shape, list[int]]] = []
        for shape, lists in [*held.items(), ((0, 0), np.zeros((len(self.y), 0)))]:
            size = shape[0]
            chosen = list(range(style.shape[1]))
            for count in STYLES:
                if count > len(chosen) or count + size == 0:
                    continue
                while True:
                    fit = Fit(np.hstack([lists, style[:, chosen]]), self.y, self.paired)
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

    def list_rule(self, tier: Tier, terms: Table) -> Rule | None:
        """None of an empty list: there were too few terms."""
        if not any(tier):
            return None
        more, less = (tuple(terms.terms[i] for i in side) for side in tier)
        if self.paired:
            return Rule((Prefer(Listed(more or less), fewer=not more),))
        if more and less:
            return self.list_against_list(Listed(more, self.column), Listed(less, self.column))
        sign = 1 if more else -1
        return self.threshold_rule(Listed(more or less, self.column), sign)

    def list_against_list(self, more: Listed, less: Listed) -> Rule:
        """Of two labels the one that the comparison names, else the other: what a tie counts for is
        what these rows say."""
        rule = Rule((When(More(more, less), self.label),), self.rest)
        if self.rest is None:
            return rule
        turned = Rule((When(More(less, more), self.rest),), self.label)
        ties = more.values(self.rows) == less.values(self.rows)
        return turned if self.y[ties].sum() > 0 else rule

    def style_rule(self, measure: Measure) -> Rule:
        sign = 1 if self.values(measure) @ self.y > 0 else -1
        if not self.paired:
            sign = 1 if np.corrcoef(self.values(measure), self.y)[0, 1] > 0 else -1
            return self.threshold_rule(measure, sign)
        return Rule((Prefer(measure, fewer=sign < 0),))

    def threshold_rule(self, measure: Measure, sign: int) -> Rule:
        """At least (at most) so much of it: where most of these rows are right."""
        values = measure.values(self.rows)
        up = sign > 0
        beyond = values[values > values.min()] if up else values[values < values.max()]
        quantiles = np.quantile(beyond if len(beyond) else values, np.arange(1, 20) / 20)
        options = sorted({rounded(float(one)) for one in quantiles})
        right = [
            np.mean(((values >= at) if up else (values <= at)) == (self.y > 0)) for at in options
        ]
        at = options[int(np.argmax(right))]
        condition = Compare(measure, "at least" if up else "at most", at)
        return Rule((When(condition, self.label),), self.rest)


def least(rows: int) -> int:
    """The texts of `rows` that a term has to stand in: 4 of 200, 6 of 800."""
    return max(3, round(1.1 * math.sqrt(math.sqrt(rows))))


def tiers(left: NDArray[np.int64], w: Numbers, shape: Shape, one_sided: bool) -> list[Tier]:
    """Lists of the columns `left` by weight, the heaviest first. In two-sided lists each has its share
    of what speaks for the label and what speaks against it; one-sided ones may be empty at the end."""
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
    """(m,): the correlation of each feature (n, m) with y, as a normal deviate where there is none."""
    middle = 0.0 if through_zero else features.mean(axis=0)
    x = features - middle
    v = y if through_zero else y - y.mean()
    size = np.sqrt((x**2).sum(axis=0) * (v @ v))
    r = np.clip((v @ x) / np.where(size > 0, size, 1.0), -1 + 1e-12, 1 - 1e-12)
    found: Numbers = np.arctanh(r) * math.sqrt(max(1, len(y) - 3))
    return found


def no_chance(z: Numbers, parts: int = 1) -> NDArray[np.bool_]:
    """Which of the deviates stand at a false discovery rate of `FALSE` (Benjamini and Hochberg 1995),
    two-sided; an equal part of it where as many are asked for apart."""
    p = np.array([math.erfc(abs(one) / math.sqrt(2)) for one in z])
    order = np.argsort(p, kind="stable")
    below = p[order] <= FALSE / parts * (np.arange(len(p)) + 1) / max(1, len(p))
    found = np.zeros(len(p), np.bool_)
    if below.any():
        found[order[: int(np.flatnonzero(below)[-1]) + 1]] = True
    return found


def rounded(value: float) -> float:
    """Two digits, as one says it."""
    return float(f"{value:.2g}") if abs(value) < 100 else float(round(value))
