"""Rules "If the text mentions PHRASE, the label is LABEL", for texts built from repeated phrases.

pieces.py finds the phrases. A single multinomial regression uses all of them, so that the effect of
a phrase is not attributed to another phrase that occurs with it.

A group is a set of phrases of which each text contains one. Each group is tested for an association
with the labels that the other phrases do not explain. The statistic uses the residuals of
cross-validated predictions from the other phrases, summed over the texts with each phrase of the
group. It is compared with the same statistic after the group is permuted among the rows 999 times.
The p-values are corrected for the number of groups by the method of Benjamini and Hochberg. Each
phrase of a significant group gets a sentence.

The label in the sentence is the one that most texts with this phrase would have. To find it, the
phrase replaces in every shown text the phrases with which it never occurs, and the predicted
probabilities of each label are averaged. This estimate uses all rows, whereas a count would use
only the rows that contain the phrase.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.conditions import AllOf, AnyOf, Comparison, Condition, Not, mentions
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.quantities import MentionedEntries
from ...tools.sentence_rules.rules import ConditionClause, Rule
from ...tools.sentence_rules.terms import Term, terms
from ..budget import Budget
from .pieces import Pieces, find_repeated_phrases, repeated_share
from .significance import select_significant

MOST = 20  # maximum number of sentences
MIN_REPEATED = (
    0.5  # share of words in repeated phrases from which on texts count as built from pieces
)
FEWEST = 40  # minimum number of rows
COLUMNS = 40  # maximum number of phrases in the regression
FALSE_DISCOVERY_RATE = 0.1  # false discovery rate over groups
SHUFFLES = 999
COMPARED = 2_000  # maximum number of rows on which phrases and words are compared, at cubic cost
FLOPS = 200_000  # multiplications per expansion


@dataclass(frozen=True)
class MentionRules:
    """Rules on the phrases that texts mention, and statistics of the search.

    Args:
        rules: The rules, strongest first.
        right: Share of rows whose label the regression predicts correctly in cross-validation.
        tried: Number of phrases examined.
        groups: Number of groups of phrases.
        sure: Number of groups that are significant.
    """

    rules: tuple[Rule, ...]
    right: float = 0.0
    tried: int = 0
    groups: int = 0
    sure: int = 0


def find_pieces(rows: PreparedRows) -> Pieces | None:
    """Return the phrases from which the texts in `rows` are built.

    None is returned unless the rows have a single column, this column is a text, and most words of
    the texts are in phrases that many rows repeat. At least `FEWEST` rows are required.
    """
    if len(rows) < FEWEST or len(rows.columns) != 1 or len(rows.texts) != 1:
        return None
    texts = rows.text("").texts
    return find_repeated_phrases(texts) if repeated_share(texts) >= MIN_REPEATED else None


def expand_phrases(rules: Sequence[Rule], rows: PreparedRows, pieces: Pieces) -> tuple[Rule, ...]:
    """Return the rules with single words replaced by longer phrases of `pieces`.

    A word is replaced if a phrase contains the word and occurs in the same rows. A rule that
    applies if any of several words occurs is first split into one rule per word.

    Args:
        rules: The rules.
        rows: The shown rows.
        pieces: The phrases from which the texts are built.
    """

    def widen(one: Condition) -> Condition:
        match one:
            case Not(part):
                return Not(widen(part))
            case AllOf(parts) | AnyOf(parts):
                return type(one)(tuple(map(widen, parts)))
            case Comparison(MentionedEntries((Term(text=word, kind=""),)), "at least", 1):
                own = one.holds(rows)
                for phrase, marks in zip(pieces.phrases, pieces.marks, strict=True):
                    if f" {word} " in f" {phrase} " and (marks == own).all():
                        return mentions(terms(phrase))
        return one

    found: list[Rule] = []
    for rule in rules:
        match rule:
            case Rule(
                (ConditionClause(Comparison(MentionedEntries(some), "at least", 1), label),), None
            ):
                found += [Rule((ConditionClause(widen(mentions((one,))), label),)) for one in some]
            case _:
                clauses = (
                    ConditionClause(widen(one.condition), one.label)
                    if isinstance(one, ConditionClause)
                    else one
                    for one in rule.clauses
                )
                found.append(Rule(tuple(clauses), rule.otherwise))
    return tuple(dict.fromkeys(found))[:MOST]


def find_mention_rules(
    rows: PreparedRows, labels: Sequence[str], pieces: Pieces, budget: Budget
) -> MentionRules:  # fmt: skip
    """Return rules that predict the label of a row from the phrases in its text.

    The result has no rules if single words predict the labels better than the phrases, or if the
    budget is too small.

    Args:
        rows: The shown rows.
        labels: The label of each row.
        pieces: The phrases from which the texts are built.
        budget: Budget to which the work is charged.
    """
    present = [one for one in rows.labels if one in set(labels)]
    pieces = pieces.select_phrases(COLUMNS)
    slips: Sequence[float] = SLIPS
    if _effort(len(rows), pieces, len(present), slips) > budget.left:
        slips = SLIPS[:1]
    effort = _effort(len(rows), pieces, len(present), slips)
    if not pieces.phrases or effort > budget.left:
        return MentionRules((), tried=pieces.tried)
    budget.charge(effort)
    y = np.array([present.index(one) for one in labels], np.int64)
    words = rows.text("")
    found = [words.contains(Term(one)) for one in words.vocabulary if one[0].isalnum()]
    some = np.arange(0, len(rows), -(-len(rows) // COMPARED))
    by_words = _right(np.array(found, np.float64).T[some], y[some], len(present))
    by_phrases = _right(pieces.marks.T[some].astype(np.float64), y[some], len(present))
    if by_phrases < by_words - 2 * math.sqrt(by_words * (1 - by_words) / len(some)):
        return MentionRules((), tried=pieces.tried)
    return _select_rules(pieces, y, present, slips)


def _effort(rows: int, pieces: Pieces, labels: int, slips: Sequence[float]) -> float:
    """Return the estimated cost in expansions."""
    judging, leaving_out = count_multiplications(rows, len(pieces.phrases), labels, slips)
    return (2 * judging + len(pieces.groups) * leaving_out) / FLOPS


def _select_rules(
    pieces: Pieces, codes: Integers, labels: Sequence[str], slips: Sequence[float]
) -> MentionRules:  # fmt: skip
    x = pieces.marks.T.astype(np.float64)
    found = select_setting(x, codes, len(labels), slips)
    by_chance = [_chance(x, group, codes, len(labels), found.setting) for group in pieces.groups]
    sure = select_significant(by_chance, FALSE_DISCOVERY_RATE)
    if not sure:
        return MentionRules((), found.right, pieces.tried, len(pieces.groups))
    places = [at for one in sure for at in pieces.groups[one]]
    some = x[:, places]
    fit = fit_weights(
        some, codes, len(labels), select_setting(some, codes, len(labels), slips).setting
    )
    rules: list[tuple[float, Rule]] = []
    shares = np.bincount(codes, minlength=len(labels)) / len(codes)
    for column, at in enumerate(places):
        expected = _with(some, column, fit)
        label = labels[int(expected.argmax())]
        strength = float(np.abs(expected - shares).sum())
        rules.append(
            (strength, Rule((ConditionClause(mentions(terms(pieces.phrases[at])), label),)))
        )
    rules.sort(key=lambda one: -round(one[0], 9))
    said = tuple(rule for _, rule in rules[:MOST])
    return MentionRules(said, found.right, pieces.tried, len(pieces.groups), len(sure))


def _right(x: Numbers, codes: Integers, labels: int) -> float:
    """Return the leave-one-out accuracy of a ridge regression on x (n, m)."""
    n = len(codes)
    z = x - x.mean(0)
    values, vectors = np.linalg.eigh(z @ z.T)
    values = np.maximum(values, 0.0)
    y = (codes[:, None] == np.arange(labels)).astype(np.float64)
    best = 0.0
    for penalty in (1.0, 10.0, 100.0):
        hat = (vectors * (values / (values + penalty))) @ vectors.T + 1 / n
        off = (y - hat @ y) / (1 - np.diag(hat))[:, None]
        best = max(best, float(((y - off).argmax(1) == codes).mean()))
    return best


def _with(x: Numbers, at: int, w: Numbers) -> Numbers:
    """Return the expected share of each label if every text had phrase `at`.

    The phrase replaces those that it never occurs with.
    """
    turned = x.copy()
    turned[:, (x[:, at] @ x) == 0] = 0.0
    turned[:, at] = 1.0
    found: Numbers = predict_proba(turned, w).mean(0)
    return found


def _chance(
    x: Numbers, group: Sequence[int], codes: Integers, labels: int, setting: Setting
) -> float:  # fmt: skip
    """Return the permutation p-value of a group on the residuals of the other phrases."""
    others = [at for at in range(x.shape[1]) if at not in group]
    held = cross_val_predict(x[:, others], codes, labels, setting)
    left = (codes[:, None] == np.arange(labels)) - held
    left -= left.mean(0)
    marks = x[:, list(group)]
    spread = marks.sum(0)[:, None] * (left**2).mean(0)
    rng = np.random.default_rng(0)

    def association(some: NDArray[np.float64]) -> float:
        return float(((some.T @ left) ** 2 / spread).sum())

    here = association(marks)
    above = sum(
        association(marks[rng.permutation(len(codes))]) >= here - 1e-9 for _ in range(SHUFFLES)
    )
    return (1 + above) / (1 + SHUFFLES)


# --- A multinomial logistic regression with a ridge penalty and label noise ("slips"), in numpy,
# scored on held-out rows.
#
# With slips s, a row's label follows the regression with probability 1 - s, and otherwise is one of
# the other labels with equal probability. Randomly changed labels then do not distort the weights.
# The model is fitted by expectation maximisation, in which each row counts by the probability that
# its label is no slip.

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SLIPS = (0.0, 0.1, 0.2, 0.3)
FOLDS = 10
STEPS = 25  # maximum number of Newton steps
ROUNDS = 15  # maximum number of rounds of expectation maximisation
NEAR = 1e-6
NEARLY = 1e-3

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """Settings of the regression from phrases to labels.

    Args:
        penalty: Weight of the ridge penalty.
        slips: Assumed share of rows whose label was changed at random to another label.
    """

    penalty: float
    slips: float = 0.0


@dataclass(frozen=True)
class ScoredSetting:
    """The best settings of the regression, with their cross-validated scores.

    Args:
        setting: The settings.
        loss: Mean log loss on held-out rows, in nats.
        right: Share of held-out rows whose most probable label is correct.
    """

    setting: Setting
    loss: float
    right: float


def fit_weights(x: Numbers, codes: Integers, labels: int, setting: Setting) -> Numbers:
    """Fit a multinomial logistic regression and return its weights, of shape (m + 1, labels).

    The last row of the weights holds the constants, which are hardly penalised.

    Args:
        x: Features of the n rows, of shape (n, m).
        codes: Index of the label of each row, of shape (n,).
        labels: Number of labels.
        setting: Settings of the regression.
    """
    wide = np.hstack([x, np.ones((len(x), 1))])
    ridge = np.append(np.full(x.shape[1], setting.penalty), 1e-3)
    counted = np.ones(len(codes))
    w = np.zeros((wide.shape[1], labels))
    if not setting.slips:
        return _newton(wide, codes, counted, ridge, w, NEAR)
    w = _newton(wide, codes, counted, np.maximum(ridge, 1.0), w, NEARLY)
    for _ in range(ROUNDS):
        meant = _chances(wide @ w)[np.arange(len(codes)), codes] * (1 - setting.slips)
        before, counted = counted, meant / (meant + setting.slips / (labels - 1) + 1e-12)
        w = _newton(wide, codes, counted, ridge, w, NEARLY)
        if np.abs(counted - before).max() < NEARLY:
            break
    return w


def _newton(
    wide: Numbers, codes: Integers, counted: Numbers, ridge: Numbers, start: Numbers, near: float
) -> Numbers:
    labels, w = start.shape[1], start.copy()
    size = w.size
    wanted = codes[:, None] == np.arange(labels)
    for _ in range(STEPS):
        p = _chances(wide @ w)
        slope = wide.T @ (counted[:, None] * (p - wanted)) + ridge[:, None] * w
        bend = np.zeros((labels, len(w), labels, len(w)))
        for one in range(labels):
            for other in range(one, labels):
                share = counted * p[:, one] * ((one == other) - p[:, other])
                bend[one, :, other] = bend[other, :, one] = (wide * share[:, None]).T @ wide
            bend[one, :, one] += np.diag(ridge)
        step = np.linalg.solve(bend.reshape(size, size), slope.T.ravel()).reshape(labels, -1).T
        w -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < near:
            break
    return w


def predict_proba(x: Numbers, w: Numbers) -> Numbers:
    """Return the probability of each label according to the regression, of shape (n, labels).

    Randomly changed labels (`Setting.slips`) are not taken into account.

    Args:
        x: Features of the n rows, of shape (n, m).
        w: Weights as `fit_weights` returns them, of shape (m + 1, labels).
    """
    return _chances(x @ w[:-1] + w[-1])


def _chances(scores: Numbers) -> Numbers:
    risen = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Numbers = risen / risen.sum(axis=1, keepdims=True)
    return found


def select_setting(
    x: Numbers, codes: Integers, labels: int, slips: Sequence[float] = SLIPS
) -> ScoredSetting:  # fmt: skip
    """Return the settings with the lowest log loss on held-out rows.

    For each share in `slips`, penalties are tried from the largest to smaller ones until the loss
    increases.

    Args:
        x: Features of the n rows, of shape (n, m).
        codes: Index of the label of each row, of shape (n,).
        labels: Number of labels.
        slips: Shares of randomly changed labels to try.
    """
    best: ScoredSetting | None = None
    for share in slips:
        before = np.inf
        for penalty in reversed(PENALTIES):
            setting = Setting(penalty, share)
            held = cross_val_predict(x, codes, labels, setting)
            loss = float(-np.log(np.maximum(held[np.arange(len(codes)), codes], 1e-12)).mean())
            if best is None or loss < best.loss:
                best = ScoredSetting(setting, loss, float((held.argmax(1) == codes).mean()))
            if loss >= before:
                break
            before = loss
    assert best is not None
    return best


def cross_val_predict(x: Numbers, codes: Integers, labels: int, setting: Setting) -> Numbers:
    """Return label probabilities for held-out rows by `FOLDS`-fold cross-validation.

    Args:
        x: Features of the n rows, of shape (n, m).
        codes: Index of the label of each row, of shape (n,).
        labels: Number of labels.
        setting: Settings of the regression.

    Returns:
        Probabilities of shape (n, labels). They take into account that the share `setting.slips` of
        the labels is changed at random.
    """
    order = np.random.default_rng(0).permutation(len(codes))
    held = np.zeros((len(codes), labels))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        rest = np.setdiff1d(order, out)
        held[out] = predict_proba(x[out], fit_weights(x[rest], codes[rest], labels, setting))
    each = setting.slips / (labels - 1)
    found: Numbers = held * (1 - labels * each) + each
    return found


def count_multiplications(
    rows: int, columns: int, labels: int, slips: Sequence[float]
) -> tuple[float, float]:
    """Estimate how many multiplications `select_setting` and `cross_val_predict` need.

    Args:
        rows: Number of rows.
        columns: Number of phrases.
        labels: Number of labels.
        slips: Shares of randomly changed labels that `select_setting` tries.

    Returns:
        The estimate for one call of `select_setting`, and for one call of `cross_val_predict`.
    """
    size = columns * labels
    once = FOLDS * 10 * (rows * size * size / 2 + size**3 / 3) * (3 if max(slips) else 1)
    return 4 * len(slips) * once, once
