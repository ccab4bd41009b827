"""Rules about texts, mined from labelled rows: themes, and measures of style.

    found = mine_rules(rows, labels, public, Budget(150_000))
    found.rules        # at most 20 rules of tools/sentence_rules, strongest first
    found.weak         # for each rule, whether it is not significant by itself
    found.tried        # number of terms and measures examined

Whether the texts tell anything about the label at all is tested first, for all their words and
style together (evidence.py). Then a logistic regression weighs all terms (regression.py). The terms
are divided into themes, groups of terms with similar weights that occur in similar texts
(themes.py), and each theme becomes a sentence: "if the text mentions at least 2 of …". Further
sentences are about style: lengths, and the frequencies of punctuation marks and of classes of words
such as pronouns.

Every row is held out once (cross-fitting). The number of terms, of themes and of measures of style
is the one that predicts held-out rows best, where all terms of a theme count alike. With two
labels, sentences that clearly raise the loss on held-out rows are left out. A sentence that is not significant by itself on
held-out rows is marked as weak (Benjamini and Hochberg 1995, over the tested sentences).

The search does not use the meaning of words, spelling, or the order of more than two adjacent
words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ...tools.sentence_rules.conditions import Begins, Comparison, Not
from ...tools.sentence_rules.prepared_rows import PreparedRows, TextIndex
from ...tools.sentence_rules.quantities import Length, Measure, MentionedEntries
from ...tools.sentence_rules.rules import ConditionClause, PreferenceClause, Rule
from ..budget import Budget
from .embedded import VECTORS, embedded_vectors
from .evidence import LEVEL, SHUFFLES, measure_evidence
from .held_out import (
    Attempt,
    Shape,
    admit,
    match_themes,
    select_attempt,
    significant_mask,
    z_scores,
)
from .regression import (
    ITERATIONS,
    STRENGTHS,
    Features,
    Fold,
    Numbers,
    Weights,
    calibrated_losses,
    cross_fit,
    presence_spread,
    refit,
    select_style,
)
from .style import Style, list_measures, list_positions, style_degrees
from .themes import LISTED, READABLE, Theme, group_terms, merge_weights, split_sides, term_vectors
from .vocabulary import TermTable, build_term_table

MAX_SENTENCES = 20  # maximum number of sentences
FOLDS = 4
MIN_ROWS = 40  # minimum number of rows
SIZES = (8_000, 3_000, 1_000, 192, 120, 60, 30, 12, 6, 2)  # numbers of terms to try
THEME = 6  # number of terms from which on a further theme is begun, while there may be more themes
LONGEST = 2_000  # maximum number of terms in a sentence, the strongest ones
MOST_TERMS = 20_000  # maximum number of terms that are weighed, the most frequent ones
STYLES = (0.2, 0.4, 0.1, 0.0, 1.0)  # shares of measures of style among the sentences to try
COMPARED = 20_000  # maximum number of rows on which sizes are compared
FLOPS = 200_000  # multiplications per expansion


@dataclass(frozen=True)
class MinedRules:
    """Rules about words and style that were found in labelled texts, and statistics of the search.

    Args:
        rules: The rules, strongest first.
        weak: For each rule, whether it is not significant by itself.
        tried: Number of terms and measures examined.
        judged: Number of sentences evaluated on held-out rows.
        chance: p-value of the hypothesis that words and style do not depend on the labels; the
            least over labels and columns of text, multiplied by their number.
    """

    rules: tuple[Rule, ...]
    weak: tuple[bool, ...] = ()
    tried: int = 0
    judged: int = 0
    chance: float = 1.0

    @property
    def sure(self) -> int:
        """Number of rules that are significant by themselves."""
        return len(self.weak) - sum(self.weak)


def mine_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    budget: Budget,
    seed: int = 0,
) -> MinedRules:
    """Return rules that predict the label of a row from the words and the style of its texts.

    The result has no rules if there are fewer than 40 rows, fewer than two labels, or no texts, or
    if the words and the style do not depend on the labels.

    Args:
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`), possibly with vectors of terms
            (embedded.py).
        budget: Budget to which the work is charged.
        seed: Random seed for the split of the rows into folds.

    Raises:
        NeedsVectors: `public` has vectors of terms, but not of all.
    """
    prepared = PreparedRows(rows, public)
    present = sorted(set(labels), key=prepared.labels.index)
    if len(rows) < MIN_ROWS or len(present) < 2 or not prepared.texts:
        return MinedRules(())
    paired = prepared.sides is not None and len(prepared.texts) == 2
    targets = present if len(present) > 2 else present[-1:]
    if prepared.sides is not None and paired:
        targets = [prepared.labels[prepared.sides[0]]]
    columns = ("",) if paired or len(prepared.texts) == 1 else prepared.texts
    count = len(targets) * len(columns)
    given = np.array(labels)
    parts: list[MinedRules] = []
    for column in columns:
        share = budget.left / (len(columns) * len(targets))
        text = _Text(prepared, column, paired, budget, share, public.get(VECTORS))
        for target in targets:
            rest = None if len(present) > 2 else next(one for one in present if one != target)
            search = _Part(text, given == target, target, rest, count, seed)
            parts.append(search.find())
    chosen = [
        (rule, weak) for part in parts for rule, weak in zip(part.rules, part.weak, strict=True)
    ]
    return MinedRules(
        tuple(rule for rule, _ in chosen[:MAX_SENTENCES]),
        tuple(weak for _, weak in chosen[:MAX_SENTENCES]),
        sum(part.tried for part in parts),
        sum(part.judged for part in parts),
        min(1.0, count * min(part.chance for part in parts)),
    )


@dataclass(frozen=True)
class _Text:
    """One column of text of all rows, or the pair of texts, as features.

    The work of reading the texts and of weighing their terms is limited to `expansions` per label.
    """

    rows: PreparedRows
    column: str
    paired: bool
    budget: Budget
    expansions: float
    known: Mapping[str, Sequence[float]] | None = None  # vectors of terms; None for co-occurrence

    @cached_property
    def table(self) -> TermTable:
        """The terms that enough texts have, or the most frequent ones on a short budget."""
        n = len(self.rows)
        texts = self.rows.texts if self.paired else (self.column,)
        every = TextIndex([one for text in texts for one in self.rows.text(text).texts])
        table = build_term_table(every, min_texts(n))
        order = np.argsort(-table.frequency, kind="stable")
        sizes = np.cumsum(table.frequency[order])
        count = min(
            MOST_TERMS, int(np.searchsorted(sizes, self.expansions * FLOPS / fit_passes(), "right"))
        )
        return table.select(np.sort(order[:count]))

    @cached_property
    def features(self) -> Features:
        """The terms and the measures of style of each row."""
        present = self.table.present
        if self.paired:
            n = len(self.rows)
            present = (present[:n] - present[n:]).tocsr()  # all first texts, then all second ones
            present.eliminate_zeros()
        found = np.zeros((len(self.rows), len(self.style)))
        for place, one in enumerate(self.style):
            found[:, place] = self.values(one)
        return Features(present, found, self.paired)

    @cached_property
    def style(self) -> list[Style]:
        """The measures of style, and the first and last words, that differ between rows."""
        texts = self.rows.texts if self.paired else (self.column,)
        found: list[Style] = list(list_measures(self.column))
        for text in texts:
            found += list_positions(self.rows.text(text), self.column)
        return [one for one in dict.fromkeys(found) if np.ptp(self.values(one)) > 0]

    @cached_property
    def vectors(self) -> Numbers:
        """A vector for each term, of shape (t, d)."""
        if self.known is not None:
            return embedded_vectors(self.table.terms, self.known)
        return term_vectors(self.features)

    @cached_property
    def spread(self) -> Numbers:
        """The standard deviation of each term's column, of shape (t,)."""
        return presence_spread(self.features)

    def values(self, one: Style) -> Numbers:
        """Return how much of a kind of style each row has, (n,); for pairs a difference."""
        if not self.paired:
            return style_degrees(one, self.rows)
        first, second = self.rows.texts
        return style_degrees(one, self.rows, first) - style_degrees(one, self.rows, second)


@dataclass(frozen=True)
class _Part:
    """The search for sentences on one label against the others, about one column of text."""

    text: _Text
    y: NDArray[np.bool_]
    label: str
    rest: str | None  # the other label if there are only two
    parts: int  # number of parts, over which the significance level is divided
    seed: int

    @property
    def most(self) -> int:
        """Maximum number of sentences."""
        return max(1, MAX_SENTENCES // self.parts)

    def find(self) -> MinedRules:
        """Return the rules of this part."""
        features = self.text.features
        tried = features.present.shape[1] + features.style.shape[1]
        self.text.budget.charge(features.present.nnz * fit_passes() / FLOPS)
        if not 0 < self.y.sum() < len(self.y) or not tried:
            return MinedRules((), (), tried)
        evidence = measure_evidence(features, self.y, self.seed)
        chance = evidence.chance
        if chance > LEVEL / self.parts:
            return MinedRules((), (), tried, 1, chance)
        if self.text.known is not None:
            _ = self.text.vectors  # missing ones are asked for before the long part
        some = np.arange(len(self.y))
        if len(some) > COMPARED:
            some = np.sort(np.random.default_rng(self.seed).permutation(len(self.y))[:COMPARED])
        seen = features.select(some)
        y = self.y[some]
        strength, folds = cross_fit(seen, y, FOLDS, self.seed)
        best = self.choose_shape(seen, y, strength, folds, evidence.is_sparse)
        themes, weights = self.themes_of(self.y, strength, best.shape)
        style = np.flatnonzero(select_style(weights, best.shape.style).style)
        signs = np.sign(weights.style[style])
        measured = best.said[:, sum(best.shape.parts) + style]
        said = np.hstack([match_themes(themes, best, folds), measured])
        z = z_scores(said, y, self.text.paired)
        admitted = list(range(len(z)))
        if self.rest is not None:  # else the sentences on the other labels are missing
            admitted = admit(said, y, self.text.paired)
        sure = significant_mask(z)
        alone = [at for at in admitted if sure[at]]
        if alone and self.rest is not None:  # weak sentences stay where they help together
            every, fewer = (
                calibrated_losses(said[:, some].sum(axis=1), y, self.text.paired)
                for some in (admitted, alone)
            )
            gain = every - fewer
            if gain.mean() > 2 * gain.std() / math.sqrt(len(gain)):
                admitted = alone
        rules = [self.theme_rule(theme) for theme in themes]
        rules += [
            self.style_rule(self.text.style[at], sign)
            for at, sign in zip(style, signs, strict=True)
        ]
        kept = sorted(admitted, key=lambda at: (-z[at], at))
        return MinedRules(
            tuple(rules[at] for at in kept),
            tuple(not sure[at] for at in kept),
            tried,
            len(rules),
            chance,
        )

    # --- themes --------------------------------------------------------------------------

    def choose_shape(
        self,
        seen: Features,
        y: NDArray[np.bool_],
        strength: float,
        folds: Sequence[Fold],
        is_sparse: bool,
    ) -> Attempt:
        """Return the shape that predicts held-out rows best, with what its sentences say there.

        Of shapes that are about equally good, one with fewer terms is chosen. First the number of
        terms is chosen, then the number of measures of style. What a sentence says of a row is what
        it adds to the logit of the label, and was found without the row: an array of shape (n,
        themes + measures of style).
        """
        t = seen.present.shape[1]
        sizes = sorted({min(size, t) for size in SIZES}, reverse=True)
        everything = seen.fit(y, strength)
        paths = [
            list(refit(seen.select(one.rest), y[one.rest], strength, one.weights, sizes))
            for one in folds
        ]
        tried: list[Attempt] = []

        def attempt(style: int, at: int) -> None:
            size = sizes[at]
            room = self.most - style
            kept = np.flatnonzero(everything.terms)
            parts = self.split(kept, everything, min(room, max(2, -(-size // THEME))))
            said = np.zeros((len(y), sum(parts) + seen.style.shape[1]))
            placed: list[Mapping[int, Theme]] = []
            for one, path in zip(folds, paths, strict=True):
                terms, weights = path[at]
                themes = self.group(terms, weights, parts)
                merged = merge_weights(themes, select_style(weights, style), self.text.spread)
                out = seen.select(one.out)
                said[one.out, sum(parts) :] = out.standard * merged.style
                placed.append(dict(_places(themes, parts)))
                for place, theme in placed[-1].items():
                    said[one.out, place] = merged.terms[theme.terms[0]] * theme.count(out.present)
            losses = calibrated_losses(said.sum(axis=1), y, self.text.paired)
            tried.append(Attempt(Shape(size, parts, style), losses, said, tuple(placed)))

        for at in range(len(sizes)):
            attempt(round(STYLES[0] * self.most), at)
        chance = float(calibrated_losses(np.zeros(len(y)), y, self.text.paired).mean())
        size = sizes.index(select_attempt(tried, chance, is_sparse).shape.terms)
        tried = [one for one in tried if one.shape.terms == sizes[size]]
        for share in STYLES[1:]:
            attempt(round(share * self.most), size)
        return min(tried, key=lambda one: round(one.loss, 9))

    def split(self, kept: NDArray[np.int64], weights: Weights, count: int) -> tuple[int, int]:
        """Return the number of themes for and against the label.

        With more than two labels, terms against a label are left to the other labels.
        """
        return (count, 0) if self.rest is None else split_sides(kept, weights, count)

    def themes_of(
        self, y: NDArray[np.bool_], strength: float, shape: Shape
    ) -> tuple[list[Theme], Weights]:
        """Return the themes that all rows give, and the weights of their terms."""
        features = self.text.features
        weights = features.fit(y, strength)
        t = features.present.shape[1]
        sizes = sorted({min(size, t) for size in SIZES if size >= shape.terms}, reverse=True)
        *_, (kept, weights) = refit(features, y, strength, weights, [*sizes, shape.terms])
        return self.group(kept, weights, shape.parts), weights

    def group(
        self, kept: NDArray[np.int64], weights: Weights, parts: tuple[int, int]
    ) -> list[Theme]:
        """Return the terms `kept` as themes; with few terms, each theme lists at most `LISTED`."""
        most = LISTED if len(kept) <= READABLE else len(kept)
        return group_terms(kept, weights, self.text.spread, self.text.vectors, parts, most)

    # --- sentences -----------------------------------------------------------------------

    def theme_rule(self, theme: Theme) -> Rule:
        """Return the rule of a theme."""
        terms = tuple(self.text.table.terms[at] for at in theme.terms[:LONGEST])
        if self.text.paired:
            return Rule((PreferenceClause(MentionedEntries(terms), fewer=theme.sign < 0),))
        measure = MentionedEntries(terms, self.text.column)
        if theme.sign < 0 and self.rest is not None:
            return self.threshold_rule(measure, ~self.y, self.rest, self.label)
        return self.threshold_rule(measure, self.y, self.label, self.rest)

    def style_rule(self, one: Style, sign: float) -> Rule:
        """Return a rule on a kind of style that speaks for the label if `sign` is positive."""
        if isinstance(one, Begins):
            condition = one if sign > 0 or not (self.text.paired or self.rest is None) else Not(one)
            if self.text.paired:
                return Rule((PreferenceClause(condition),))
            if sign < 0 and self.rest is not None:
                return Rule((ConditionClause(condition, self.rest),), self.label)
            return Rule((ConditionClause(condition, self.label),), self.rest)
        if self.text.paired:
            return Rule((PreferenceClause(one, fewer=sign < 0),))
        if sign < 0 and self.rest is not None:
            return self.threshold_rule(one, ~self.y, self.rest, self.label)
        return self.threshold_rule(one, self.y, self.label, self.rest, sign > 0)

    def threshold_rule(
        self,
        measure: Measure,
        wanted: NDArray[np.bool_],
        label: str,
        rest: str | None,
        up: bool = True,
    ) -> Rule:
        """Return a rule with a bound on a measure that is right on most rows.

        Args:
            measure: The measure.
            wanted: Which rows have the label, of shape (n,).
            label: The label of the rows beyond the bound.
            rest: The label of the other rows; None if the rule says nothing of them.
            up: Whether the bound is a lower bound.
        """
        values = measure.values(self.text.rows)
        beyond = values[values > values.min()] if up else values[values < values.max()]
        quantiles = np.quantile(beyond if len(beyond) else values, np.arange(1, 20) / 20)
        if isinstance(measure, MentionedEntries | Length):
            quantiles = np.ceil(quantiles) if up else np.floor(quantiles)
        options = sorted({round_for_text(float(one)) for one in quantiles})
        balance = 1 / np.where(wanted, wanted.mean(), 1 - wanted.mean())  # each label counts alike
        right = [
            float(balance[((values >= at) if up else (values <= at)) == wanted].sum())
            for at in options
        ]
        at = options[int(np.argmax(np.round(right, 9)))]
        return Rule(
            (ConditionClause(Comparison(measure, "at least" if up else "at most", at), label),),
            rest,
        )


def _places(themes: Sequence[Theme], parts: tuple[int, int]) -> Iterator[tuple[int, Theme]]:
    """Yield each theme with its place: the strongest for the label have the same place in all folds."""
    places = {1: iter(range(parts[0])), -1: iter(range(parts[0], sum(parts)))}
    for theme in themes:
        yield next(places[theme.sign]), theme


def fit_passes() -> int:
    """Return about how many times the search for one label reads all terms of all texts."""
    return ITERATIONS * (FOLDS * (len(STRENGTHS) + 2) + 3) + SHUFFLES


def min_texts(rows: int) -> int:
    """Return how many of `rows` texts a term must occur in to be considered: 2, or more of many."""
    return max(2, rows // 2000)


def round_for_text(value: float) -> float:
    """Return `value` rounded to two significant digits, or to an integer from 100 on."""
    return float(f"{value:.2g}") if abs(value) < 100 else float(round(value))
