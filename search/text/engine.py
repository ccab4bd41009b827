"""Search engine for labelled rows: proposes up to 20 sentences that explain the labels.

Each sentence states an exact rule of the package tools/sentence_rules. The rules are derived only
from the shown rows and the public description of the problem. fields.py searches rows of fields.
The second half of this module chooses the search for rows of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...records import Json
from ...tools.sentence_rules.conditions import AllOf
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.rules import NOT_APPLICABLE, ConditionClause, NotExact, Rule
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from ..budget import Budget
from ..engines import SearchEngine
from ..novelty import Answer, UnsupportedProblem
from .embedded import VECTORS
from .fields import FoundRules, find_field_rules
from .mentions import expand_phrases, find_mention_rules, find_pieces
from .words import mine_rules

MAX_SENTENCES = 20
MIN_ROWS = 4  # minimum number of shown rows
# Rules over fields and phrases are searched in at most this many rows, drawn at random: more rows
# would leave the budget for fewer candidates.
SEARCHED_ROWS = 10_000
SEARCHED_TEXTS = 5_000
READ_BACK = 1_000  # number of rows on which the exact judge must read a sentence as its rule
WEAK = "Weak evidence: "  # before a sentence that is not significant by itself


def supports(shown: list[list[Any]]) -> bool:
    """Return whether all inputs in `shown` are rows of columns and all outputs are labels."""
    return bool(shown) and all(
        isinstance(row, dict) and "domain" not in row and isinstance(label, str)
        for row, label in shown
    )


def prepare_space(inputs: list[Any]) -> list[Any]:
    """Return `inputs` unchanged. This engine needs no other form of the sample space."""
    return inputs


class Problem:
    """The search for sentences that explain the labels of the shown rows."""

    def __init__(
        self,
        shown: list[list[Any]],
        space: list[Any],
        expansions: float,
        public: Mapping[str, Json] | None,
    ) -> None:
        """Prepare the search. It runs when `propose` is first called.

        Args:
            shown: Pairs [row, label].
            space: Ignored.
            expansions: Budget of the search, in expansions (budget.py).
            public: Public description of the problem (`View.public`), with its labels, columns and
                shape.
        """
        self.rows = [row for row, _ in shown]
        self.labels = [label for _, label in shown]
        self.public, self.expansions = public or {}, expansions
        self._found: Sequence[str] | None = None
        self._meta: dict[str, Json] = {}

    def use_vectors(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Group terms by these vectors instead of by co-occurrence (embedded.py)."""
        self.public = {**self.public, VECTORS: vectors}

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the sentences that are not in `skip` as a numbered list.

        None is returned if there is no such sentence.

        Args:
            earlier: Ignored.
            skip: Sentences that must not be proposed again.

        Raises:
            UnsupportedProblem: The public description of the problem lists no labels.
            NeedsVectors: Vectors of terms are used, and some are missing.
        """
        if "labels" not in self.public:
            raise UnsupportedProblem(
                "search finds rules for texts as outputs only where they are labels: run the task"
                " labels on a table with a column of labels"
            )
        if self._found is None:
            self._found, self._meta = self._mined()
        sentences = [said for said in self._found if said not in skip]
        if not sentences:
            return None
        numbered = (f"{at}. {said}" for at, said in enumerate(sentences[:MAX_SENTENCES], 1))
        return Answer("\n".join(numbered), "", self._meta)

    def _mined(self) -> tuple[Sequence[str], dict[str, Json]]:
        if len(self.rows) < MIN_ROWS or len(set(self.labels)) < 2:
            return (), {}  # for example when a prompt shows a few wrong rows
        fields = self.public.get("shape", "fields") == "fields"
        look = find_record_rules if fields else find_text_rules
        found = look(self.rows, self.labels, self.public, self.expansions)
        prepared = PreparedRows(self.rows[:READ_BACK], self.public)
        weak = found.weak or [False] * len(found.rules)
        said = (
            (_write_rule(rule, prepared, self.public), unsure)
            for rule, unsure in zip(found.rules, weak, strict=True)
        )
        return list(dict.fromkeys(WEAK * unsure + one for one, unsure in said if one)), found.meta


def draw_rows(
    rows: Sequence[Mapping[str, Json]], labels: Sequence[str], most: int
) -> tuple[Sequence[Mapping[str, Json]], Sequence[str]]:
    """Return at most `most` of the rows with their labels, drawn at random, always the same ones."""
    if len(rows) <= most:
        return rows, labels
    some = np.sort(np.random.default_rng(0).permutation(len(rows))[:most]).tolist()
    return [rows[at] for at in some], [labels[at] for at in some]


def _write_rule(rule: Rule, rows: PreparedRows, public: Mapping[str, Json]) -> str:
    """Return a rule as one line, or "" if the exact judge would not read the line as this rule.

    This happens with a column that has no name, for example.
    """
    sentence = " ".join(rule.to_text().split())
    again = compile_sentence(sentence, public)
    if isinstance(again, NotExact) or (again.codes(rows) != rule.codes(rows)).any():
        return ""
    return sentence


ENGINE = SearchEngine("text", supports, prepare_space, Problem, "text")


# --- Sentences about records: rules over their fields, and themes of their columns of text.


def find_record_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> FoundRules:
    """Return rules that explain the labels of records, some of whose fields may be texts.

    If the rules over fields leave labels unexplained, sentences about the words and the style of
    the texts are added.

    Args:
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`).
        expansions: Budget of the search, in expansions (budget.py).
    """
    some, given = draw_rows(rows, labels, SEARCHED_ROWS)
    decided = find_field_rules(some, given, public, expansions)
    if explained_share(decided.rules, some, given, public) >= ENOUGH_EXPLAINED:
        return decided
    found = mine_rules(rows, labels, public, Budget(expansions))
    if not found.rules:
        return decided
    first = decided.rules[: MAX_SENTENCES // 2]
    return FoundRules(
        (*first, *found.rules),
        {**decided.meta, **_counts(decided, found.tried, found.judged, found.sure)},
        (*[False] * len(first), *found.weak),
    )


# --- Sentences about texts: phrases that decide the label, phrases that are weighed against each
# other, or lists of words.
#
# Generated texts follow phrases. Then either rules over phrases (fields.py) explain everything, or
# many phrases weigh against each other and each gets a sentence (mentions.py). In texts that people
# wrote, phrases explain little, and the sentences mined by words.py are used.

ENOUGH_EXPLAINED = 0.99  # from this share of the shown rows on, nothing else is tried
FAR_BELOW = 0.8  # below this part of the share, weighed phrases are not compared on held-out rows
PARTS = 3  # number of parts of the rows, each held out once
EXPLAINED = 0.9  # share of the shown rows on which the rules must be right


def find_text_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> FoundRules:
    """Return rules that explain the labels of rows with one text or a pair of texts.

    Args:
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`).
        expansions: Budget of the search, in expansions (budget.py).
    """
    decided = FoundRules((), {"tried": 0})
    if public.get("shape") != "pair":
        some, given = draw_rows(rows, labels, SEARCHED_TEXTS)
        phrased = _find_phrase_rules(some, given, public, expansions)
        if phrased.enough:
            return phrased.found
        decided = phrased.found
    found = mine_rules(rows, labels, public, Budget(expansions))
    counts = _counts(decided, found.tried, found.judged, found.sure)
    if not found.rules:
        return decided
    return FoundRules(found.rules, {**counts, "chance": round(found.chance, 4)}, found.weak)


class _Phrased(NamedTuple):
    """Rules about phrases, and whether they explain enough that nothing else is tried."""

    found: FoundRules
    enough: bool


def _find_phrase_rules(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> _Phrased:
    """Return rules over the phrases of texts; the arguments are those of `find_text_rules`."""
    decided = find_field_rules(rows, labels, public, expansions)
    share = explained_share(decided.rules, rows, labels, public)
    prepared = PreparedRows(rows, public)
    pieces = find_pieces(prepared)
    if pieces is not None:
        decided = FoundRules(expand_phrases(decided.rules, prepared, pieces), decided.meta)
    if share >= EXPLAINED and (
        pieces is None or (share >= ENOUGH_EXPLAINED and _plain(decided.rules))
    ):
        return _Phrased(decided, True)
    if pieces is not None:
        weighed = find_mention_rules(prepared, labels, pieces, Budget(expansions))
        if share >= max(EXPLAINED, weighed.right) and (
            weighed.right < FAR_BELOW * share
            or _left_out(rows, labels, public, expansions, weighed.right) >= weighed.right
        ):
            return _Phrased(decided, True)
        if weighed.rules:
            counts = _counts(decided, weighed.tried, weighed.groups, weighed.sure)
            return _Phrased(FoundRules(weighed.rules, counts), True)
    return _Phrased(decided, False)


def _plain(rules: Sequence[Rule]) -> bool:
    """Return whether no sentence joins conditions."""
    return not any(
        isinstance(one, ConditionClause) and isinstance(one.condition, AllOf)
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
        found = find_field_rules(
            [rows[at] for at in rest], [labels[at] for at in rest], public, expansions / PARTS
        )
        some = explained_share(
            found.rules, [rows[at] for at in out], [labels[at] for at in out], public
        )
        right += some * len(out) / len(rows)
        left = sum(len(range(one, len(rows), PARTS)) for one in range(part + 1, PARTS))
        if right + left / len(rows) < enough:
            break
    return right


def _counts(decided: FoundRules, tried: int, judged: int, sure: int) -> dict[str, Json]:
    return {"tried": decided.meta["tried"] + tried, "judged_apart": judged, "sure": sure}


def explained_share(
    rules: Sequence[Rule],
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
) -> float:
    """Return the share of rows whose label is predicted correctly by the first rule that applies.

    Args:
        rules: The rules, in the order in which they are tried.
        rows: The n rows.
        labels: The label of each row.
        public: Public description of the problem (`View.public`).
    """
    prepared = PreparedRows(rows, public)
    codes = np.full(len(rows), NOT_APPLICABLE)
    for rule in rules:
        codes = np.where(codes == NOT_APPLICABLE, rule.codes(prepared), codes)
    return float(np.mean(codes == [prepared.label_index(label) for label in labels]))
