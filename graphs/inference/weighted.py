"""`weighted`: a ridge logistic regression on what all sentences say about a row.

If a sentence is an exact rule that compares amounts, its feature is a degree, such as how many more
words of a kind the first text has than the second (tools/sentence_rules/degrees.py). Any other
sentence contributes the label that it names.

The weights are fitted on validation rows, and also on shown rows if shown rows help. Sentences that
were found in the shown rows look too good on the shown rows. Therefore, the weight of the shown
rows and the penalty are chosen by cross-validation: by the log loss on validation rows to which the
weights were not fitted. A validation row is itself predicted with weights that were fitted without
it, so that strategies can be compared fairly on validation rows. Without validation rows, only the
shown rows are used. If a model judges the sentences, shown rows are used only without validation
rows, because each pair of sentence and row costs a call.

With more than two labels, each label has its own weights against all other labels. If the weights
do not decide a row (there are no labelled rows to fit, or two equal texts are compared), the votes
of `multi` decide. If no sentence says anything about a row, the best sentence decides, then the
majority label. Of the sentences that give a row its label, the one with the greatest weight for this
label is named as the sentence that decided. The regression is implemented in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Observation, canonical_json
from ...tools.sentence_rules.columns import pair_labels
from ...tools.sentence_rules.degrees import rule_degrees
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.rules import NotExact, Rule
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from .queries import fill_undecided, judge_entries, row_digest
from .reading import Decision, Reading, RowPredictions
from .selection import decide_by_vote, decide_without_label, entry_log_odds

FITTED = "weighted"  # in `Reading.fitted`
FOLDS = 5
PENALTIES = (3.0, 10.0, 30.0, 100.0)
SHOWN_WEIGHTS = (0.0, 0.3, 1.0)  # weight of a shown row relative to a validation row
MIN_LOGIT = 1e-9  # logits this close to 0 decide nothing


@dataclass(frozen=True)
class _Rows:
    """Rows as the regression sees them.

    Args:
        features: shape (n, m).
        codes: shape (entries, n), what each entry says of each row.
        digests: the digest of each row; empty if it is not needed.
        folds: shape (n,), the fold of each row; empty without digests.
        degrees: whether an entry has degrees, which also say something of rows that it does not
            apply to.
        first: shape (entries,), the index of the first feature of each entry.
    """

    features: Numbers
    codes: NDArray[np.int64]
    digests: Sequence[str]
    folds: NDArray[np.int64]
    degrees: bool
    first: NDArray[np.int64]


async def predict(reading: Reading, inputs: Sequence[Json], place: str = "") -> RowPredictions:
    """Predict the label of each row with a regression over all sentences (see `reading.Strategy`).

    Only the judge is queried.
    """
    if not reading.entries or not inputs:
        return RowPredictions(await fill_undecided(reading, [None] * len(inputs), inputs))
    rows = await _read(reading, inputs)
    logit, shares = await _weighed(reading, rows, inputs)
    votes = entry_log_odds(reading)
    decided: list[Decision | None] = []
    for row, said, share in zip(logit, rows.codes.T.tolist(), shares, strict=True):
        code = _most(row)
        if max(said) < 0 and not rows.degrees:
            decided.append(decide_without_label(said))
        elif code is None:
            decided.append(decide_by_vote(reading, said, votes, reading.ranked))
        else:
            decided.append(Decision(code, "weights", _heaviest(reading, said, share, code)))
    return RowPredictions(await fill_undecided(reading, decided, inputs))


def _most(logit: Numbers) -> int | None:
    """Return the label with the highest logit; None on a tie."""
    order = np.argsort(-logit, kind="stable")
    return int(order[0]) if logit[order[0]] - logit[order[1]] > MIN_LOGIT else None


def _heaviest(reading: Reading, said: Sequence[int], share: Numbers, label: int) -> int | None:
    """Return the entry with the greatest weight for a label, of those that give it; None if none."""
    giving = [entry for entry in reading.ranked if said[entry] == label]
    return max(giving, key=lambda entry: float(share[entry]), default=None)


async def _weighed(
    reading: Reading, rows: _Rows, inputs: Sequence[Json]
) -> tuple[Numbers, Numbers]:
    """Return logits of shape (rows, labels), and the share of each entry in the highest logit.

    The shares have the shape (rows, entries). All values are 0 where there is nothing to fit.
    """
    logit = np.zeros((len(inputs), len(reading.labels)))
    shares = np.zeros((len(inputs), len(reading.entries)))
    main = _labelled(reading, reading.validation or reading.shown)
    beside = _labelled(reading, reading.shown if reading.validation and not reading.ask else ())
    if not main:
        return logit, shares
    fit: _Fit | None = reading.fitted.get(FITTED)
    if fit is None:
        fit = _Fit(reading, await _read(reading, [one.input for one in main]), main)
        if beside:
            fit.add(await _read(reading, [one.input for one in beside], digests=False), beside)
        fit.choose()
        reading.fitted[FITTED] = fit
    known = np.array([digest in fit.seen for digest in rows.digests])
    for fold in (None, *range(FOLDS)):
        here = ~known if fold is None else known & (rows.folds == fold)
        if here.any():
            weights = fit.weights(fold)
            logit[here] = weights.logits(rows.features[here])
            shares[here] = weights.shares(rows.features[here], logit[here], rows.first)
    return logit, shares


def _labelled(reading: Reading, rows: Sequence[Observation]) -> list[Observation]:
    return [one for one in rows if one.output in reading.labels]


def _chooses_text(reading: Reading) -> bool:
    """Return whether each row has two texts, one of which the label names."""
    return reading.view.public.get("shape") == "pair" and pair_labels(reading.labels) is not None


def _row(reading: Reading, input: Json) -> str:
    """Return the digest of a row; for two texts to choose from, the same in either order."""
    if not _chooses_text(reading) or not isinstance(input, Mapping):
        return row_digest(input)
    return row_digest(sorted(map(canonical_json, input.values())))


async def _read(reading: Reading, inputs: Sequence[Json], *, digests: bool = True) -> _Rows:
    everything: Mapping[int, Sequence[int]] = {
        entry: range(len(inputs)) for entry in range(len(reading.entries))
    }
    codes = await judge_entries(reading, everything, inputs)
    prepared = _prepared(reading, inputs)
    columns: list[Numbers] = []
    first: list[int] = []
    any_degrees = False
    for entry, said in zip(reading.entries, codes, strict=True):
        rule = _rule(reading, entry.text) if prepared is not None else None
        degrees = (
            rule_degrees(rule, prepared) if rule is not None and prepared is not None else None
        )
        any_degrees |= degrees is not None
        first.append(len(columns))
        columns += [degrees] if degrees is not None else list(_named(said, len(reading.labels)))
    named = [_row(reading, one) for one in inputs] if digests else []
    folds = np.array([int(digest, 16) % FOLDS for digest in named], np.int64)
    return _Rows(
        np.stack(columns, axis=1), codes, named, folds, any_degrees, np.array(first, np.int64)
    )


def _named(codes: NDArray[np.int64], labels: int) -> Iterator[Numbers]:
    """Yield features of the label that a sentence names.

    They are one feature of -1, 0 or 1 for two labels, else one feature for each label.
    """
    if labels == 2:
        yield (codes == 1).astype(np.float64) - (codes == 0)
    else:
        yield from ((codes == label).astype(np.float64) for label in range(labels))


def _prepared(reading: Reading, inputs: Sequence[Json]) -> PreparedRows | None:
    public = reading.view.public
    if not public.get("columns") or not all(isinstance(one, Mapping) for one in inputs):
        return None
    return PreparedRows(inputs, public) if reading.prepare is None else reading.prepare(inputs)


def _rule(reading: Reading, text: str) -> Rule | None:
    rule = compile_sentence(text, reading.view.public)
    return None if isinstance(rule, NotExact) else rule


class _Fit:
    """Weights fitted on labelled rows, on all of them or without a fold."""

    def __init__(self, reading: Reading, rows: _Rows, labelled: Sequence[Observation]) -> None:
        self.labels = reading.labels
        self.through_zero = _chooses_text(reading)
        self.features, self.folds, self.seen = rows.features, rows.folds, set(rows.digests)
        self.codes = self._gold(labelled)
        self.beside = np.zeros((0, rows.features.shape[1])), np.zeros(0, np.int64)
        self.shown, self.penalty = 0.0, PENALTIES[-1]
        self._chosen: dict[int | None, _Weights] = {}

    def _gold(self, labelled: Sequence[Observation]) -> NDArray[np.int64]:
        return np.array([self.labels.index(one.output) for one in labelled], np.int64)

    def add(self, rows: _Rows, labelled: Sequence[Observation]) -> None:
        """Add shown rows to the validation rows."""
        self.beside = rows.features, self._gold(labelled)

    def choose(self) -> None:
        """Choose the weight of shown rows and the penalty.

        Ties go to the heavier penalty and to fewer shown rows.
        """
        best = math.inf
        for shown in SHOWN_WEIGHTS if len(self.beside[1]) else SHOWN_WEIGHTS[:1]:
            for penalty in reversed(PENALTIES):
                self.shown, self.penalty, before = shown, penalty, (self.shown, self.penalty)
                loss = sum(self._loss(fold) for fold in range(FOLDS))
                if loss < best - 1e-9:
                    best = loss
                else:
                    self.shown, self.penalty = before

    def _loss(self, fold: int) -> float:
        out = self.folds == fold
        if not out.any():
            return 0.0
        found = self.weigh(without=fold).logits(self.features[out])
        marks = self.codes[out]
        if len(self.labels) == 2:
            return log_loss(found[:, 1] - found[:, 0], marks == 1)
        return sum(log_loss(found[:, one], marks == one) for one in range(len(self.labels)))

    def weights(self, without: int | None) -> _Weights:
        """Return the weights without a fold, with the chosen penalty and weight of shown rows."""
        if without not in self._chosen:
            self._chosen[without] = self.weigh(without)
        return self._chosen[without]

    def weigh(self, without: int | None = None) -> _Weights:
        """Return the weights that are fitted without the fold `without`."""
        rest = self.folds != (-1 if without is None else without)
        some, codes = self.features[rest], self.codes[rest]
        counted = np.ones(len(codes))
        if self.shown:
            some, codes = np.vstack([some, self.beside[0]]), np.append(codes, self.beside[1])
            counted = np.append(counted, np.full(len(self.beside[1]), self.shown))
        if not len(codes):
            return _Weights(len(self.labels))
        scale = FeatureScale.from_features(some, self.through_zero)
        z = scale.transform(some)
        wanted = [1] if len(self.labels) == 2 else list(range(len(self.labels)))
        weights = [
            fit_weights(z, codes == one, counted, self.penalty, self.through_zero) for one in wanted
        ]
        if max(float(np.abs(w[:-1]).max()) for w in weights) > MIN_LOGIT:
            return _Weights(len(self.labels), scale, weights)
        return _Weights(len(self.labels))


@dataclass(frozen=True)
class _Weights:
    """Fitted weights: one vector for the second of two labels, else one for each label.

    Without a scale, there was nothing to fit, and all logits are 0.
    """

    labels: int
    scale: FeatureScale | None = None
    vectors: Sequence[Numbers] = ()

    def logits(self, features: Numbers) -> Numbers:
        """Return logits of shape (n, labels)."""
        found = np.zeros((len(features), self.labels))
        if self.scale is not None:
            found[:, -len(self.vectors) :] = compute_logits(
                self.scale.transform(features), self.vectors
            )
        return found

    def shares(self, features: Numbers, logit: Numbers, first: NDArray[np.int64]) -> Numbers:
        """Return what each entry adds to the highest logit of each row, of shape (n, entries).

        This is compared with an entry that says nothing, whose features are 0.
        """
        found = np.zeros((len(features), len(first)))
        if self.scale is None:
            return found
        z = self.scale.transform(features) - self.scale.transform(np.zeros_like(features[:1]))
        vectors = [w[:-1] for w in self.vectors]
        vectors = [-vectors[0], vectors[0]] if self.labels == 2 else vectors
        highest = logit.argmax(axis=1)
        for label, vector in enumerate(vectors):
            here = highest == label
            found[here] = np.add.reduceat(z[here] * vector, first, axis=1)
        return found


Numbers = NDArray[np.float64]
MAX_STEPS = 30  # maximum number of Newton steps; about six are needed
MAX_DEVIATIONS = (
    3.0  # standard deviations; a row that repeats a word ten times must not count as ten rows
)


@dataclass(frozen=True)
class FeatureScale:
    """Centres and scales that standardise the m features of a regression.

    Args:
        centre: The centre of each feature, shape (m,).
        spread: The standard deviation of each feature, shape (m,).
    """

    centre: Numbers
    spread: Numbers

    @staticmethod
    def from_features(features: Numbers, through_zero: bool) -> FeatureScale:
        """Return the centres and scales that standardise these features.

        Args:
            features: The features, shape (n, m).
            through_zero: Whether to use 0 as the centre of every feature. This is right if a
                feature of 0 favours no label, as for two equal texts.
        """
        middle = np.zeros(features.shape[1]) if through_zero else features.mean(axis=0)
        spread = np.sqrt(((features - middle) ** 2).mean(axis=0))
        return FeatureScale(middle, np.where(spread > 1e-9, spread, 1.0))

    def transform(self, features: Numbers) -> Numbers:
        """Return features of shape (n, m) after centring, scaling and clipping."""
        found: Numbers = np.clip(
            (features - self.centre) / self.spread, -MAX_DEVIATIONS, MAX_DEVIATIONS
        )
        return found


def fit_weights(
    z: Numbers,
    targets: NDArray[np.bool_],
    sample_weight: Numbers,
    penalty: float,
    through_zero: bool,
) -> Numbers:
    """Fit a ridge logistic regression and return its weights, shape (m + 1,).

    The last weight is the constant. The constant is practically not penalised, and is 0 with
    `through_zero`.

    Args:
        z: The standardised features, shape (n, m).
        targets: The true outcomes, shape (n,).
        sample_weight: The weight of each row, shape (n,).
        penalty: The ridge penalty.
        through_zero: Whether to fit no constant.
    """
    n, m = z.shape
    x = np.hstack([z, np.zeros((n, 1)) if through_zero else np.ones((n, 1))])
    ridge = np.diag(np.append(np.full(m, penalty), 1e-6 if not through_zero else 1.0))
    w = np.zeros(m + 1)
    for _ in range(MAX_STEPS):
        p = sigmoid(x @ w)
        slope = x.T @ (sample_weight * (p - targets)) + ridge @ w
        bend = (x * (sample_weight * np.maximum(p * (1 - p), 1e-6))[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, slope)
        w -= step * min(1.0, 4.0 / max(1e-9, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-8:
            break
    return w


def sigmoid(logit: Numbers) -> Numbers:
    """Return the probability for each logit."""
    found: Numbers = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    return found


def compute_logits(z: Numbers, weights: Sequence[Numbers]) -> Numbers:
    """Return the logits of n rows for each weight vector, shape (n, number of weight vectors).

    Args:
        z: The standardised features, shape (n, m).
        weights: Weight vectors of shape (m + 1,), with the constant last.
    """
    return np.stack([z @ w[:-1] + w[-1] for w in weights], axis=1)


def log_loss(logit: Numbers, marks: NDArray[np.bool_]) -> float:
    """Return the sum of the log losses of n predicted logits.

    Args:
        logit: The predicted logits, shape (n,).
        marks: The true outcomes, shape (n,).
    """
    return float(np.logaddexp(0, np.where(marks, -logit, logit)).sum())
