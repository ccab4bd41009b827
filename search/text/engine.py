"""Labelled rows in a worker: rows with labels in, an answer of up to 20 sentences out.

Each sentence is an exact rule of tools/sentence_rules in its canonical words, mined from the shown rows and the
public part of the problem alone. Records of fields: fields.py; texts: texts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json
from ...tools.sentence_rules.prepared import Prepared
from ...tools.sentence_rules.rules import NotExact, Rule
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from ..engines import SearchEngine
from ..following import Answer
from .fields import rules_over_fields
from .texts import rules_over_texts

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
