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
from ..budget import Budget
from .fields import Found, rules_over_fields
from .words import mined

EXPLAINED = 0.9  # share of the shown rows that the rules have to be right on


def rules_over_texts(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> Found:
    """rows, labels: n labelled rows of a problem with `public`, of one text or a pair of them."""
    decided = Found((), {"tried": 0})
    if public.get("shape") != "pair":
        decided = rules_over_fields(rows, labels, public, expansions)
        if explained(decided.rules, rows, labels, public) >= EXPLAINED:
            return decided
    found = mined(rows, labels, public, Budget(expansions))
    counts: dict[str, Json] = {
        "tried": decided.meta["tried"] + found.tried,
        "judged_apart": found.judged,
        "sure": found.sure,
    }
    return Found(found.rules, counts) if found.rules else decided


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
