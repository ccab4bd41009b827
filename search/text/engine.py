"""Search engine for labelled rows: proposes up to 20 sentences that explain the labels.

Each sentence is an exact rule of tools/sentence_rules in its canonical wording, mined from the
shown rows and the public part of the problem alone. fields.py handles records of fields; the second
part of this module handles texts.
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
FEWEST = 4  # minimum number of shown rows


def serves(shown: list[list[Any]]) -> bool:
    """Return whether the inputs are records of columns, each with a label."""
    return bool(shown) and all(
        isinstance(row, dict) and "domain" not in row and isinstance(label, str)
        for row, label in shown
    )


def prepared(inputs: list[Any]) -> list[Any]:
    """Return the sample space unchanged: this engine needs no other form."""
    return inputs


class Problem:
    """The sentences found in the shown rows; a pure function of its arguments."""

    def __init__(
        self,
        shown: list[list[Any]],
        space: list[Any],
        expansions: float,
        told: Mapping[str, Json],
    ) -> None:
        """Set up the problem; `told` is `View.public`, with labels, columns and shape."""
        self.rows = [row for row, _ in shown]
        self.labels = [label for _, label in shown]
        self.public, self.expansions = told, expansions
        self._found: Sequence[str] | None = None
        self._meta: dict[str, Json] = {}

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the sentences that are not in `skip` as a numbered list, or None without any."""
        if self._found is None:
            self._found, self._meta = self._mined()
        sentences = [said for said in self._found if said not in skip]
        if not sentences:
            return None
        numbered = (f"{at}. {said}" for at, said in enumerate(sentences[:SENTENCES], 1))
        return Answer("\n".join(numbered), "", self._meta)

    def _mined(self) -> tuple[Sequence[str], dict[str, Json]]:
        if len(self.rows) < FEWEST or len(set(self.labels)) < 2:
            return (), {}  # for example when a prompt shows a few wrong rows
        fields = self.public.get("shape", "fields") == "fields"
        look = rules_over_fields if fields else rules_over_texts
        found = look(self.rows, self.labels, self.public, self.expansions)
        prepared = Prepared(self.rows, self.public)
        said = (_said(rule, prepared, self.public) for rule in found.rules)
        return list(dict.fromkeys(one for one in said if one)), found.meta


def _said(rule: Rule, rows: Prepared, public: Mapping[str, Json]) -> str:
    """Return a rule as one line, or "" if the exact judge would not read the line as this rule.

    This happens with a column that has no name, for example.
    """
    sentence = " ".join(rule.written().split())
    again = compile_sentence(sentence, public)
    if isinstance(again, NotExact) or (again.codes(rows) != rule.codes(rows)).any():
        return ""
    return sentence


ENGINE = SearchEngine("text", serves, prepared, Problem)


# --- Sentences about texts: phrases that decide the label, phrases that are weighed against each
# other, or lists of words.
#
# Generated texts follow phrases. Then either rules over phrases (fields.py) explain everything, or
# many phrases weigh against each other and each gets a sentence (mentions.py). In texts that people
# wrote, phrases explain little, and the sentences mined by words.py are used.

ALL = 0.99  # from this share of the shown rows on, nothing else is tried
FAR = 0.8  # below this part of the share, weighed phrases are not compared on held-out rows
PARTS = 3  # number of parts of the rows, each held out once
EXPLAINED = 0.9  # share of the shown rows on which the rules must be right


def rules_over_texts(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> Found:
    """Return the rules that explain labelled rows with one text or a pair of texts.

    Args:
        rows: n rows of a problem.
        labels: Their labels.
        public: Public part of the problem.
        expansions: Budget of the search.
    """
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
    """Return whether no sentence joins conditions."""
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
    """Return the share of held-out rows on which rules found without them are right.

    The result is lower if it can no longer reach `enough`. Joined conditions fit the rows they were
    found on too well, so the share is measured on held-out rows.
    """
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
    """Return the share of rows on which the first rule that applies is right."""
    prepared = Prepared(rows, public)
    codes = np.full(len(rows), NOT_APPLICABLE)
    for rule in rules:
        codes = np.where(codes == NOT_APPLICABLE, rule.codes(prepared), codes)
    return float(np.mean(codes == [prepared.label_index(label) for label in labels]))
