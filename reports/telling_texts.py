"""Choose the texts that speak most clearly for and against a sentence, and mark what it is about.

A text speaks for a sentence if the sentence applies to it and gives its label, and against the sentence
if the sentence applies and gives another label. All sentences of the bank weigh the texts: each adds
the logarithm by which its label is more frequent where it says so. Of the texts on one side, those
come first for which the bank speaks most clearly for the label that the sentence gives, and to which
the sentence itself applies most clearly, for example because they mention more of its words. Thus the
texts for are typical, and the texts against are those that the bank cannot explain. Short texts come
before long ones, because they are read at a glance. A text that was chosen for a better sentence is
only chosen again if there are few others. If a sentence gives one label and another label otherwise,
texts are chosen to which it gives the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..records import Json
from ..tools.sentence_rules import PreparedRows, Rule, find_term_spans
from ..tools.sentence_rules.missing_values import rule_columns

TEXTS_PER_SIDE = 3
READABLE_WORDS = 60  # of a text that is short enough to come before longer ones
CANDIDATES = 30  # rows of one side from which texts are chosen
MAX_DEVIATIONS = 3.0  # of a standard score
MAX_CHARS = 500  # of a column in an excerpt
MAX_COLUMNS = 30
BEFORE_MARK = 150  # characters before the first mark of a text that is cut

Codes = NDArray[np.int64]
Evidence = NDArray[np.float64]


@dataclass(frozen=True)
class TellingText:
    """A row that speaks for or against a sentence.

    Attributes:
        place: The index of the row.
        label: The label of the row.
        prediction: The label that the sentence gives.
        pieces: By column, the value in pieces of which every second is marked: plain, marked,
            plain, …. A long text is cut.
    """

    place: int
    label: str
    prediction: str
    pieces: Mapping[str, Sequence[str]]


def weigh_labels(codes: Sequence[Codes], gold: Codes, labels: int) -> Evidence:
    """Return how clearly the sentences of a bank speak for each label, of shape (n, labels).

    Args:
        codes: For each sentence, the label that it gives to each of n rows, -1 for none.
        gold: The labels of the rows, of shape (n,).
        labels: The number of labels.
    """
    weights = np.zeros((len(gold), labels))
    for each in codes:
        for label in np.unique(each[each >= 0]).tolist():
            says, has = each == label, gold == label
            inside = (np.sum(says & has) + 1) / (np.sum(says & ~has) + 1)
            everywhere = (np.sum(has) + 1) / (np.sum(~has) + 1)
            weights[says, label] += np.log(inside / everywhere)
    return weights


def measure_clarity(codes: Codes, evidence: Evidence, degrees: Evidence | None) -> Evidence:
    """Return how clearly each row is one of those to which a sentence gives its label, of shape (n,).

    This is the sum of two standard scores: how much more clearly the bank speaks for the label that
    the sentence gives than for another, and the degree to which the sentence applies.

    Args:
        codes: The label that the sentence gives to each of n rows, -1 for none.
        evidence: The result of `weigh_labels`.
        degrees: Degrees of which larger values favour the label, of shape (n,); None without degrees.
    """
    clarity = np.zeros(len(codes))
    rows = np.flatnonzero(codes >= 0)
    if evidence.shape[1] > 1 and len(rows):
        others = evidence[rows].copy()
        others[np.arange(len(rows)), codes[rows]] = -np.inf
        clarity[rows] = _standardise(evidence[rows, codes[rows]] - others.max(axis=1))
    if degrees is not None and len(rows):
        clarity[rows] += _standardise(degrees[rows])
    return np.asarray(clarity.round(3), np.float64)


def _standardise(values: Evidence) -> Evidence:
    spread = values.std()
    scores = (values - values.mean()) / (spread if spread > 0 else 1.0)
    clipped: Evidence = np.clip(scores, -MAX_DEVIATIONS, MAX_DEVIATIONS)
    return clipped


def choose_rows(
    codes: Codes,
    gold: Codes,
    clarity: Evidence,
    words: NDArray[np.int64],
    keys: Sequence[str],
    used: set[str],
) -> tuple[list[int], list[int]]:
    """Return the rows that speak most clearly for and against a sentence, at most three of each.

    Args:
        codes: The label that the sentence gives to each of n rows, -1 for none.
        gold: The labels of the rows, of shape (n,).
        clarity: The result of `measure_clarity`.
        words: The number of words of each row, of shape (n,).
        keys: What makes rows different; of rows with equal keys, one is chosen.
        used: Keys of rows that were chosen for other sentences; those of the chosen rows are added.
    """
    rows = np.flatnonzero(codes >= 0)
    order = rows[np.lexsort((rows, words[rows], -clarity[rows], words[rows] > READABLE_WORDS))]
    is_right = codes[order] == gold[order]
    found = [_choose_different(order[side], keys, used) for side in (is_right, ~is_right)]
    used.update(keys[place] for side in found for place in side)
    return found[0], found[1]


def _choose_different(rows: NDArray[np.intp], keys: Sequence[str], used: set[str]) -> list[int]:
    """Return the first rows with different keys, those before the others that are not used yet."""
    first: dict[str, int] = {}
    for row in rows[:CANDIDATES].tolist():
        first.setdefault(keys[row], row)
    fresh = [row for key, row in first.items() if key not in used]
    again = [row for key, row in first.items() if key in used]
    return [*fresh, *again][:TEXTS_PER_SIDE]


def describe_row(place: int, codes: Codes, gold: Codes, rule: Rule | None, rows: PreparedRows) -> TellingText:  # fmt: skip
    """Return a row with the places marked that a sentence is about.

    Args:
        place: The index of the row.
        codes: The label that the sentence gives to each row.
        gold: The labels of the rows.
        rule: The rule of the sentence; None if it is not an exact rule, so that nothing is marked.
        rows: The rows.
    """
    row = rows.rows[place]
    used = set() if rule is None else rule_columns(rule, rows.texts)
    names = sorted(rows.columns, key=lambda name: (name not in rows.texts, name not in used))
    pieces = {}
    for name in names[:MAX_COLUMNS]:
        text = _as_text(row.get(name))
        if name in rows.texts:
            spans = [] if rule is None else find_term_spans(rule, name, text, rows.texts)
            pieces[name] = cut_pieces(text, spans)
        else:
            pieces[name] = ["", text[:MAX_CHARS], ""] if name in used else [text[:MAX_CHARS]]
    label, prediction = (rows.labels[int(one[place])] for one in (gold, codes))
    return TellingText(place, label, prediction, pieces)


def _as_text(value: Json) -> str:
    return "" if value is None else str(value)


def cut_pieces(text: str, spans: Sequence[tuple[int, int]], most: int = MAX_CHARS) -> list[str]:
    """Return a text in pieces of which every second is marked, cut around the first mark.

    Args:
        text: The text.
        spans: The places to mark, in order and apart from each other.
        most: The number of characters to keep; "…" stands for what is left out.
    """
    begin = 0
    if len(text) > most and spans:
        begin = max(0, min(spans[0][0] - BEFORE_MARK, len(text) - most))
    end = min(len(text), begin + most)
    pieces, at = [], begin
    for start, stop in spans:
        if start < end:
            pieces += [text[at:start], text[start : min(stop, end)]]
            at = min(stop, end)
    pieces.append(text[at:end])
    pieces[0] = "…" * (begin > 0) + pieces[0]
    pieces[-1] += "…" * (end < len(text))
    return pieces
