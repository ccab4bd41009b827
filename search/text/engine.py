"""Labelled rows in a worker: rows with labels in, an answer of up to 20 sentences out.

Each sentence is an exact rule of tools/sentence_rules in its canonical words, mined from the shown rows and the
public part of the problem alone. Records of fields: fields.py; texts: texts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...records import Json
from ...tools.sentence_rules.conditions import AllOf
from ...tools.sentence_rules.prepared import Prepared
from ...tools.sentence_rules.rules import NOT_APPLICABLE, NotExact, Rule, When
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from ..budget import Budget
from ..engines import SearchEngine
from ..following import Answer
from .fields import Found, rules_over_fields
from .mentions import in_full, mentioned, pieces_of
from .words import mined

SENTENCES = 20
FEWEST = 4  # shown rows, below which nothing is said


def serves(shown: list[list[Any]]) -> bool:
    """Whether these are records of columns, each with a label."""
    return bool(shown) and all(
        isinstance(row, dict) and "domain" not in row and isinstance(label, str)
        for row, label in shown
    )


def prepared(inputs: list[Any]) -> list[Any]:
    return inputs


class Problem:
    """What was found in these rows; a pure function of them."""

    def __init__(
        self,
        shown: list[list[Any]],
        space: list[Any],
        expansions: float,
        told: Mapping[str, Json],
    ) -> None:
        """told: View.public: labels, columns, shape."""
        self.rows = [row for row, _ in shown]
        self.labels = [label for _, label in shown]
        self.public, self.expansions = told, expansions
        self._found: Sequence[str] | None = None
        self._meta: dict[str, Json] = {}

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """The sentences that were not given before, as a numbered list; None where none is left."""
        if self._found is None:
            self._found, self._meta = self._mined()
        sentences = [said for said in self._found if said not in skip]
        if not sentences:
            return None
        numbered = (f"{at}. {said}" for at, said in enumerate(sentences[:SENTENCES], 1))
        return Answer("\n".join(numbered), "", self._meta)

    def _mined(self) -> tuple[Sequence[str], dict[str, Json]]:
        if len(self.rows) < FEWEST or len(set(self.labels)) < 2:
            return (), {}  # as where a prompt shows a few wrong rows
        fields = self.public.get("shape", "fields") == "fields"
        look = rules_over_fields if fields else rules_over_texts
        found = look(self.rows, self.labels, self.public, self.expansions)
        prepared = Prepared(self.rows, self.public)
        said = (_said(rule, prepared, self.public) for rule in found.rules)
        return list(dict.fromkeys(one for one in said if one)), found.meta


def _said(rule: Rule, rows: Prepared, public: Mapping[str, Json]) -> str:
    """The sentence on one line; "" where the exact judge would not read it as this rule, as with a column
    without a name."""
    sentence = " ".join(rule.written().split())
    again = compile_sentence(sentence, public)
    if isinstance(again, NotExact) or (again.codes(rows) != rule.codes(rows)).any():
        return ""
    return sentence


ENGINE = SearchEngine("text", serves, prepared, Problem)


# --- Sentences about texts: phrases that decide, where they do, phrases that weigh, or lists of words.
#
# Made texts follow phrases, and then rules over phrases (fields.py) say all; or many phrases weigh against
# each other, and each gets a sentence (mentions.py). On texts that people wrote phrases explain little, and
# what words.py mines is said.

ALL = 0.99  # share of the shown rows, from which on nothing else is looked for
FAR = 0.8  # of that share, below which phrases that weigh are not compared on rows left out
PARTS = 3  # of the rows, each left out once
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
        if share >= EXPLAINED and (pieces is None or (share >= ALL and _plain(decided.rules))):
            return decided
        if pieces is not None:
            weighed = mentioned(prepared, labels, pieces, Budget(expansions))
            if share >= max(EXPLAINED, weighed.right) and (
                weighed.right < FAR * share
                or _left_out(rows, labels, public, expansions, weighed.right) >= weighed.right
            ):
                return decided
            if weighed.rules:
                return Found(
                    weighed.rules, _counts(decided, weighed.tried, weighed.groups, weighed.sure)
                )
    found = mined(rows, labels, public, Budget(expansions))
    counts = _counts(decided, found.tried, found.judged, found.sure)
    return Found(found.rules, counts) if found.rules else decided


def _plain(rules: Sequence[Rule]) -> bool:
    """Whether no sentence joins conditions."""
    return not any(
        isinstance(one, When) and isinstance(one.condition, AllOf)
        for rule in rules
        for one in rule.clauses
    )


def _left_out(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
    enough: float,
) -> float:
    """The share of rows that rules found without them are right on, or less where that
    cannot be `enough` any more: joined conditions fit what they were found on too well."""
    right = 0.0
    for part in range(PARTS):
        out = range(part, len(rows), PARTS)
        rest = [at for at in range(len(rows)) if at % PARTS != part]
        found = rules_over_fields(
            [rows[at] for at in rest], [labels[at] for at in rest], public, expansions / PARTS
        )
        some = explained(found.rules, [rows[at] for at in out], [labels[at] for at in out], public)
        right += some * len(out) / len(rows)
        left = sum(len(range(one, len(rows), PARTS)) for one in range(part + 1, PARTS))
        if right + left / len(rows) < enough:
            break
    return right


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
