"""Sentences about texts: phrases that decide, where they do, phrases that weigh, or lists of words.

Made texts follow phrases, and then rules over phrases (fields.py) say all; or many phrases weigh against
each other, and each gets a sentence (mentions.py). On texts that people wrote phrases explain little, and
what words.py mines is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....records import Json
from ....tools.judge.prepared import Prepared
from ....tools.judge.rules import NOT_APPLICABLE, Rule
from ..budget import Budget
from .fields import Found, rules_over_fields
from .mentions import in_full, mentioned, pieces_of
from .words import mined

ALL = 0.99  # share of the shown rows, from which on nothing else is looked for
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
        share = explained(decided.rules, rows, labels, public)
        prepared = Prepared(rows, public)
        pieces = pieces_of(prepared)
        if pieces is not None:
            decided = Found(in_full(decided.rules, prepared, pieces), decided.meta)
        if share >= ALL or (pieces is None and share >= EXPLAINED):
            return decided
        if pieces is not None:
            weighed = mentioned(prepared, labels, pieces, Budget(expansions))
            if share >= max(EXPLAINED, weighed.right):
                return decided
            if weighed.rules:
                return Found(
                    weighed.rules, _counts(decided, weighed.tried, weighed.groups, weighed.sure)
                )
    found = mined(rows, labels, public, Budget(expansions))
    counts = _counts(decided, found.tried, found.judged, found.sure)
    return Found(found.rules, counts) if found.rules else decided


def _counts(decided: Found, tried: int, judged: int, sure: int) -> dict[str, Json]:
    return {"tried": decided.meta["tried"] + tried, "judged_apart": judged, "sure": sure}


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
