"""Baseline models for labelled text, which use no hypotheses.

The baselines are trained on exactly the rows that the session was shown.

| name | learns from | how |
|---|---|---|
| majority | the labels | the most frequent label; ties go to the first in the problem's list |
| tfidf | the columns of text | TF-IDF of words and word pairs, logistic regression |
| tree | all columns, choices one-hot | a decision tree of depth at most 5 |
| ebm | all columns, choices one-hot | explainable boosting (InterpretML) |

The baselines tree and ebm see of a text only which of the 300 most informative words it contains:
words in at least two of the shown rows, ranked by the chi-squared statistic of word and label in
these rows. With two labels and at most 30 features, ebm also has 10 interactions of two features;
otherwise, as with most texts, each word only has its own effect. It averages 8 models (4 with more
than 10,000 rows), does not smooth, and stops after 20 rounds without progress or 500 in all. With
50,000 rows of 100 words, all baselines together take less than two minutes on one core.

If there are several columns of text, each column has its own vocabulary. If a row offers two texts
to choose from, the features of the second text are subtracted from those of the first. Swapping the
texts then swaps the label: the regression of tfidf has no intercept, and tree and ebm also learn
from the shown rows with the texts swapped, and compare their answers to both orders. If such rows
have further columns that are not text, tree and ebm learn only from the given order. Further columns
of text are not used. No parameter is tuned. ebm needs interpret-core (extra `ebm`). Without it ebm is
left out, which `describe_missing` reports.
"""

from __future__ import annotations

import importlib.util
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....records import Json, Problem

MAJORITY, TFIDF, TREE, EBM = "majority", "tfidf", "tree", "ebm"
TREE_DEPTH = 5
MOST_WORDS = 300
MOST_INTERACTING_COLUMNS = 30
INTERACTIONS = 10
MANY_ROWS = 10_000
_TOKEN = r"(?u)\b\w+\b"

Row = Mapping[str, Json]
Predict = Callable[[Sequence[Row]], list[str]]
OnBaseline = Callable[[str, int], None]


def has_interpret() -> bool:
    """Return whether interpret-core is installed."""
    return importlib.util.find_spec("interpret") is not None


def describe_missing() -> str | None:
    """Return a line that names the baseline without its package, and how to install it; or None."""
    if not has_interpret():
        return f"the baseline {EBM} is left out: it needs interpret-core, pip install 'peirce[ebm]'"
    return None


def fit_baselines(problem: Problem, on_baseline: OnBaseline | None = None) -> dict[str, Predict]:
    """Train the baselines that apply to a problem on its shown rows, and return them by name.

    tfidf needs a column of text.

    Args:
        problem: The problem.
        on_baseline: Called with the name of a baseline and the number of rows before it is trained.

    Raises:
        ValueError: The problem has no shown rows.
    """
    rows = [as_columns(one.input) for one in problem.shown]
    labels = [str(one.output) for one in problem.shown]
    if not rows:
        raise ValueError(f"{problem.id}: no row is shown")
    found = {MAJORITY: _constant(_majority(labels, problem.public["labels"]))}
    columns = {name: str(about["kind"]) for name, about in problem.public["columns"].items()}
    texts = [name for name, kind in columns.items() if kind == "text"]
    fields = {name: kind for name, kind in columns.items() if kind != "text"}
    pair = problem.public.get("shape") == "pair"
    names = texts[:2] if pair else texts
    if len(set(labels)) == 1:
        learnt = [TFIDF] * bool(texts) + [TREE] + [EBM] * has_interpret()
        return found | {name: _constant(labels[0]) for name in learnt}
    tell = on_baseline or (lambda name, count: None)
    if texts:
        tell(TFIDF, len(rows))
        found[TFIDF] = _fit_words(rows, labels, names, pair)
    tell(TREE, len(rows))
    features = _Features(rows, labels, names, fields, pair)
    matrix = features.build(rows)
    found[TREE] = _fit_classifier(_tree(), features, matrix, labels)
    if has_interpret():
        tell(EBM, len(rows))
        found[EBM] = _fit_classifier(_ebm(matrix, len(set(labels))), features, matrix, labels)
    return found


def as_columns(row: Json) -> Row:
    """Return an input as a mapping of columns; a bare text is the column "text"."""
    return row if isinstance(row, Mapping) else {"text": row}


def _majority(labels: Sequence[str], order: Sequence[str]) -> str:
    counts = Counter(labels)
    return max(order, key=lambda label: counts[label])


def _constant(label: str) -> Predict:
    return lambda rows: [label] * len(rows)


def _column_texts(rows: Sequence[Row], name: str) -> list[str]:
    return ["" if row.get(name) is None else str(row[name]) for row in rows]


def _has_words(vectoriser: Any, texts: Sequence[str]) -> bool:
    analyse = vectoriser.build_analyzer()
    return any(analyse(text) for text in texts)


# --- TF-IDF -------------------------------------------------------------------------


def _fit_words(rows: Sequence[Row], labels: Sequence[str], texts: list[str], pair: bool) -> Predict:
    """Fit the TF-IDF baseline; texts without words leave the regression with its intercept alone."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    together = [texts] if pair else [[name] for name in texts]
    vectorisers = []
    for names in together:
        one = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=_TOKEN)
        learnt = [text for name in names for text in _column_texts(rows, name)]
        if _has_words(one, learnt):
            vectorisers.append((one.fit(learnt), names))

    def features(some: Sequence[Row]) -> Any:
        found = [csr_matrix((len(some), 1))]  # a column of zeros, so that the list is never empty
        for one, names in vectorisers:
            parts = [one.transform(_column_texts(some, name)) for name in names]
            found.append(parts[0] - parts[1] if pair else parts[0])
        return hstack(found).tocsr()

    model = LogisticRegression(C=10, max_iter=2_000, fit_intercept=not pair)
    model.fit(features(rows), labels)
    return lambda some: [str(label) for label in model.predict(features(some))] if some else []


# --- tree and explainable boosting --------------------------------------------------


class _Features:
    """Features of rows: numbers (NaN if missing), one-hot choices, and the presence of words.

    Args:
        rows: The shown rows, which decide the values of choices and the words.
        labels: Their labels.
        texts: The columns of text; of a pair, the two texts.
        fields: The kinds of the other columns, by name.
        pair: Whether the rows are pairs of texts.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        labels: Sequence[str],
        texts: Sequence[str],
        fields: Mapping[str, str],
        pair: bool,
    ) -> None:
        self.fields = fields
        self.texts = texts
        self.pair = pair
        self.values = {
            name: sorted({str(row[name]) for row in rows if row.get(name) is not None})
            for name, kind in fields.items() if kind == "choice"
        }  # fmt: skip
        self.words = _choose_words(rows, labels, texts, pair)

    @property
    def symmetric(self) -> bool:
        """Whether swapping the texts of a row negates all its features."""
        return self.pair and not self.fields

    def build(self, rows: Sequence[Row]) -> Any:
        """Return the features of n rows, float32 of shape (n, columns), with at least one column."""
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer

        parts = [
            np.array([self._numbers(row) or [0.0] for row in rows], np.float32).reshape(
                len(rows), -1
            )
        ]
        for names, words in self.words:
            if not words:
                continue
            one = CountVectorizer(
                vocabulary=words, binary=True, token_pattern=_TOKEN, dtype=np.float32
            )
            found = [one.transform(_column_texts(rows, name)).toarray() for name in names]
            parts.append(found[0] - found[1] if self.pair else found[0])
        return np.hstack(parts)

    def _numbers(self, row: Row) -> list[float]:
        found = []
        for name in self.fields:
            if name in self.values:
                found += [float(str(row.get(name)) == value) for value in self.values[name]]
            else:
                found.append(_number(row.get(name)))
        return found


def _choose_words(
    rows: Sequence[Row], labels: Sequence[str], texts: Sequence[str], pair: bool
) -> list[tuple[Sequence[str], list[str]]]:
    """Return the most informative words of each column of text; of a pair, those of both together.

    Of a pair, the words of the first texts count for the label and those of the second texts for
    the other one.
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.feature_selection import chi2

    targets = list(labels)
    together: list[Sequence[str]] = [[name] for name in texts]
    if pair:
        one, other = sorted(set(labels))
        targets += [other if label == one else one for label in labels]
        together = [texts]
    counts, vocabulary = [], []
    for number, names in enumerate(together):
        vectoriser = CountVectorizer(binary=True, token_pattern=_TOKEN)
        learnt = [text for name in names for text in _column_texts(rows, name)]
        if not _has_words(vectoriser, learnt):
            continue
        counts.append(vectoriser.fit_transform(learnt))
        vocabulary += [(number, word) for word in vectoriser.get_feature_names_out()]
    chosen: list[list[str]] = [[] for _ in together]
    if counts:
        matrix = hstack(counts).tocsr()
        frequent = matrix.getnnz(axis=0) >= 2
        statistic, _ = chi2(matrix, targets)
        order = sorted(
            (place for place in range(len(vocabulary)) if frequent[place]),
            key=lambda place: (-statistic[place], vocabulary[place]),
        )
        for place in order[:MOST_WORDS]:
            number, word = vocabulary[place]
            chosen[number].append(str(word))
    return list(zip(together, chosen, strict=True))


def _number(value: Json) -> float:
    if not isinstance(value, (bool, int, float)) or abs(value) > 1e30:  # exceeds 32 bits
        return math.nan
    return float(value)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=0)


def _ebm(matrix: Any, labels: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    rows, columns = matrix.shape
    interacting = labels == 2 and 1 < columns <= MOST_INTERACTING_COLUMNS
    return ExplainableBoostingClassifier(
        feature_types=["continuous"] * columns,
        interactions=INTERACTIONS if interacting else 0,
        outer_bags=8 if rows <= MANY_ROWS else 4,
        smoothing_rounds=0,
        max_rounds=500,
        early_stopping_rounds=20,
        n_jobs=1,
        random_state=0,
    )


def _fit_classifier(model: Any, features: _Features, matrix: Any, labels: Sequence[str]) -> Predict:
    """Fit a classifier; of pairs of texts, it learns from both orders and compares both answers."""
    import numpy as np

    if not features.symmetric:
        model.fit(matrix, labels)
        return lambda rows: (
            [str(one) for one in model.predict(features.build(rows))] if rows else []
        )
    first, second = sorted(set(labels))
    swapped = [second if label == first else first for label in labels]
    model.fit(np.vstack([matrix, -matrix]), [*labels, *swapped])
    column = list(model.classes_).index(first)

    def predict(rows: Sequence[Row]) -> list[str]:
        if not rows:
            return []
        built = features.build(rows)
        given, reverse = (model.predict_proba(one)[:, column] for one in (built, -built))
        return [first if one > other else second for one, other in zip(given, reverse, strict=True)]

    return predict
