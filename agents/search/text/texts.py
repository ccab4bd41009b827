"""Sentences about texts: phrases that decide, where they do, else lists of words.

Made texts follow phrases, and then rules over phrases (fields.py) say all. On texts that people wrote they
explain little, and what words.py mines is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....records import Json
from ....tools.judge.prepared import Prepared
from ....tools.judge.rules import NOT_APPLICABLE, Rule
from .fields import Found, rules_over_fields

EXPLAINED = 0.9  # share of the shown rows that the rules have to be right on


def rules_over_texts(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> Found:
    """rows, labels: n labelled rows of a problem with `public` of the shape "text"."""
    return rules_over_fields(rows, labels, public, expansions)


def explained(
    rules: Sequence[Rule],
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
) -> float:
    """The share of the rows on which the first rule that applies is right."""
    prepared = Prepared(rows, public)
    codes = np.full(len(rows), NOT_APPLICABLE)
    for rule in rules:
        codes = np.where(codes == NOT_APPLICABLE, rule.codes(prepared), codes)
    return float(np.mean(codes == [prepared.label_index(label) for label in labels]))
