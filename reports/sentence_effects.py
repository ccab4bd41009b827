"""How strongly each sentence of a bank is associated with the label that it gives.

For each sentence: the odds ratio of its label with an interval, the share of rows to which it applies,
how often the effect is found again in resampled rows, whether it holds within groups of rows
(tools/odds_ratios.py), and the texts that speak most clearly for and against it.

If a sentence gives one label, rows to which it applies are compared with all other rows. If it gives
both of two labels, as every sentence about pairs does, the rows to which it gives the first label are
compared with those to which it gives the second; rows to which it gives no label are left out. If it
gives several of more than two labels, each of these labels is compared with all other rows.

The rows are those that the search did not see: the test rows, or else the validation rows. Without
both, they are the shown rows, on which sentences look better than they are. A sentence that is no
exact rule is measured on rows for which the session stored what a model said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..records import (
    Agreement,
    Json,
    JudgedHypothesis,
    LabelsRows,
    Observation,
    Problem,
    UsageError,
    canonical_json,
)
from ..tasks import load_family
from ..tasks.io.messages import suggest_nearest
from ..tools.odds_ratios import (
    GroupComparison,
    OddsRatio,
    Stability,
    compare_groups,
    count_tables,
    odds_ratio,
    resample_stability,
)
from ..tools.sentence_rules import (
    NotExact,
    PreferenceClause,
    PreparedRows,
    Rule,
    compile_sentence,
    rule_degrees,
)
from ..tools.sentence_rules.missing_values import rule_columns, rule_uses_length
from .row_groups import LENGTH, RowGroups, group_rows
from .telling_texts import (
    Codes,
    TellingText,
    choose_rows,
    describe_row,
    measure_clarity,
    weigh_labels,
)

HELD_OUT = (("ind", "test"), ("val", "validation"))  # splits, with the names of their rows
SHOWN = "shown"
SENTENCES_PER_PROBLEM = 20


@dataclass(frozen=True)
class EffectRows:
    """Labelled rows on which sentences are measured.

    Attributes:
        inputs: The rows, each a mapping from columns to values.
        labels: The label of each row.
        name: What rows these are: "test", "validation", "shown" or the name of a file.
        others: Values of columns that are not inputs, by name.
    """

    inputs: Sequence[Mapping[str, Json]]
    labels: Sequence[str]
    name: str
    others: Mapping[str, Sequence[Json]] = field(default_factory=dict)


@dataclass(frozen=True)
class EffectOptions:
    """On which rows sentences are measured, and within which groups.

    Attributes:
        within: The columns within whose groups effects are compared; "length" for the number of
            words. If it is empty, the page chooses columns.
        read_rows: Returns the rows for a problem and its sentences; None for rows of the session.
        data: The file that `read_rows` reads, for messages.
    """

    within: Sequence[str] = ()
    read_rows: Callable[[Problem, Sequence[str]], EffectRows] | None = None
    data: str = ""

    def measure(
        self,
        problem: Problem,
        sentences: Sequence[str],
        judged: Iterable[JudgedHypothesis],
        within: Sequence[str] = (),
    ) -> list[list[SentenceEffect]]:
        """Return the effects of each sentence of a problem (`EffectMeasure.measure`).

        Args:
            problem: The problem.
            sentences: The sentences.
            judged: All judged hypotheses of the problem.
            within: The columns, if the options name none.

        Raises:
            UsageError: There is no column that the options name.
            DataError: The file cannot be used.
        """
        rows = self.read_rows(problem, sentences) if self.read_rows else held_out_rows(problem)
        measure = EffectMeasure(problem, rows, judged, self.within or within)
        if not measure.absent:
            return measure.measure(sentences)
        name = measure.absent[0]
        if self.data:
            raise UsageError(f"--within {name}: {self.data} has no such column")
        there = [LENGTH, *problem.public["columns"]]
        raise UsageError(
            f"--within {name}: the session has no column of this name"
            f"{suggest_nearest(name, there)}; add --data FILE with a file that has it"
        )


@dataclass(frozen=True)
class WithinGroups:
    """The effect of a sentence within the groups of a column.

    Attributes:
        column: The column, or "length".
        names: The names of the groups.
        comparison: The comparison, in which groups are indices into `names`.
    """

    column: str
    names: Sequence[str]
    comparison: GroupComparison


@dataclass(frozen=True)
class SentenceEffect:
    """The effect of one sentence on one label.

    Attributes:
        label: The label.
        other: The label of the rows that are compared; None for all other rows.
        rows: What rows these are (`EffectRows.name`).
        n: The number of rows.
        covered: The number of rows to which the sentence gives a label.
        right: The number of these rows that have the label that the sentence gives.
        table: The counts [[a, b], [c, d]] of the odds ratio.
        ratio: The odds ratio; None if it is not defined.
        stability: How often the effect is found again in resampled rows; None without a ratio.
        within: The effect within groups.
        supporting: The texts that speak for the sentence.
        contradicting: The texts that speak against it.
    """

    label: str
    other: str | None
    rows: str
    n: int
    covered: int
    right: int
    table: Sequence[Sequence[int]]
    ratio: OddsRatio | None
    stability: Stability | None
    within: Sequence[WithinGroups]
    supporting: Sequence[TellingText]
    contradicting: Sequence[TellingText]

    @property
    def verdict(self) -> Literal["supported", "opposite", "unclear", "undefined"]:
        """Return whether the interval is above 1, below 1, or includes 1."""
        if self.ratio is None:
            return "undefined"
        if not self.ratio.side:
            return "unclear"
        return "supported" if self.ratio.side > 0 else "opposite"


def held_out_rows(problem: Problem) -> EffectRows:
    """Return the rows of a problem that the search did not see; the shown rows if there are none."""
    family = load_family(problem.family)
    if isinstance(family, LabelsRows):
        for split, name in HELD_OUT:
            if rows := family.get_split(problem, split):
                return _as_rows(rows, name)
    return _as_rows(problem.shown, SHOWN)


def has_columns(problem: Problem) -> bool:
    """Return whether the rows of a problem have labels and named columns that a sentence can read."""
    public = problem.public
    rows = (*problem.shown[:1], *problem.hidden[:1])
    return (
        bool(public.get("labels"))
        and bool(public.get("columns"))
        and all(isinstance(one.input, Mapping) for one in rows)
    )


def _as_rows(observations: Sequence[Observation], name: str) -> EffectRows:
    return EffectRows(
        [one.input for one in observations], [str(one.output) for one in observations], name
    )


def bank_sentences(
    bank: Iterable[Mapping[str, Json]], judged: Iterable[JudgedHypothesis]
) -> list[str]:
    """Return the sentences of a problem whose effects are shown: the bank, or else all hypotheses.

    Args:
        bank: The bank of the problem (`Store.bank`).
        judged: The judged hypotheses of the problem, which are used if there is no bank.
    """
    found = [str(row["text"]) for row in bank]
    found = found or [one.hypothesis.text for one in judged if one.hypothesis is not None]
    return list(dict.fromkeys(found))[:SENTENCES_PER_PROBLEM]


class EffectMeasure:
    """Measures sentences of one problem on labelled rows.

    Args:
        problem: The problem.
        rows: The rows.
        judged: What the session stored about its hypotheses. It is used for sentences that are no
            exact rules.
        within: The columns whose groups are compared; "length" for the number of words.

    Attributes:
        absent: The names in `within` that are no column.
    """

    def __init__(
        self,
        problem: Problem,
        rows: EffectRows,
        judged: Iterable[JudgedHypothesis] = (),
        within: Sequence[str] = (),
    ) -> None:
        self._public = problem.public
        self._within = tuple(within)
        self._held_out = _Rows(rows, problem.public)
        self._shown = _Rows(_as_rows(problem.shown, SHOWN), problem.public)
        self._stored = {
            one.hypothesis.text: one.shown
            for one in judged
            if one.hypothesis is not None and one.shown is not None
        }
        self._used: dict[str, set[str]] = {}  # keys of chosen texts, by the name of the rows
        self._groups, self.absent = group_rows(within, self._held_out.prepared, rows.others)

    def measure(
        self, sentences: Sequence[str], *, texts: bool = True
    ) -> list[list[SentenceEffect]]:
        """Return the effects of each sentence: one for each label that is compared.

        A sentence has no effects if it gives no label to any row, or if only a model could apply it
        and the session stored no answers.

        Args:
            sentences: The sentences.
            texts: Whether to choose the texts for and against each sentence.
        """
        read = [self._read(sentence) for sentence in sentences]
        evidence = {
            rows.name: weigh_labels(
                [each.codes for each in read if each and each.rows is rows], rows.gold, rows.labels
            )
            for rows in (self._held_out, self._shown)
            if texts and any(each and each.rows is rows for each in read)
        }
        self._used = {name: set() for name in evidence}
        return [self._effects(each, evidence) if each else [] for each in read]

    # --- inside

    def _read(self, sentence: str) -> _Reading | None:
        rule = compile_sentence(sentence, self._public)
        if not isinstance(rule, NotExact):
            rows = self._held_out
            return _Reading(
                rule, rows, rule.codes(rows.prepared), _rule_labels(rule, rows.prepared)
            )
        stored = self._stored.get(sentence)
        if stored is None or len(stored.marks) != len(self._shown.gold):
            return None
        codes = _stored_codes(stored, self._shown.prepared.labels)
        named = [self._shown.prepared.labels[code] for code in np.unique(codes[codes >= 0])]
        return _Reading(None, self._shown, codes, named) if named else None

    def _effects(self, read: _Reading, evidence: Mapping[str, NDArray[np.float64]]) -> list[SentenceEffect]:  # fmt: skip
        rows, labels = read.rows, read.rows.prepared.labels
        both = len(labels) == 2 and len(read.named) == 2
        found = []
        for label in read.named[:1] if both else read.named:
            code = labels.index(label)
            covered = read.codes >= 0 if both else read.codes == code
            is_compared = covered if both else np.ones(len(covered), np.bool_)
            says, has = (read.codes == code)[is_compared], (rows.gold == code)[is_compared]
            table = count_tables(says, has)[0]
            chosen = np.where(covered, read.codes, -1)
            sides = self._texts(read, code, chosen, evidence) if evidence else ((), ())
            found.append(
                SentenceEffect(
                    label, read.named[1] if both else None, rows.name, len(covered),
                    int(covered.sum()), int((chosen == rows.gold).sum()),
                    table.astype(int).tolist(), odds_ratio(table), resample_stability(table),
                    self._compare(read, is_compared, says, has), *sides,
                )
            )  # fmt: skip
        return found

    def _compare(
        self,
        read: _Reading,
        is_compared: NDArray[np.bool_],
        says: NDArray[np.bool_],
        has: NDArray[np.bool_],
    ) -> list[WithinGroups]:
        divided = self._groups
        if read.rows is not self._held_out:  # the groups of a file do not divide the shown rows
            divided = group_rows(self._within, read.rows.prepared, {})[0]
        return [
            _compare_within(one, is_compared, says, has, own=_is_about(read, one.column))
            for one in divided
        ]

    def _texts(
        self, read: _Reading, code: int, chosen: Codes, evidence: Mapping[str, NDArray[np.float64]]
    ) -> tuple[list[TellingText], list[TellingText]]:
        rows, rule = read.rows, read.rule
        degrees = None if rule is None else rule_degrees(rule, rows.prepared)
        if rule is None or not any(isinstance(one, PreferenceClause) for one in rule.clauses):
            chosen = np.where(chosen == code, chosen, -1)
        elif degrees is not None and rows.prepared.sides is not None:
            degrees = np.where(chosen == rows.prepared.sides[0], degrees, -degrees)
        clarity = measure_clarity(chosen, evidence[rows.name], degrees)
        both = choose_rows(
            chosen, rows.gold, clarity, rows.words, rows.keys, self._used[rows.name]
        )  # fmt: skip
        supporting, contradicting = (
            [describe_row(place, chosen, rows.gold, read.rule, rows.prepared) for place in side]
            for side in both
        )
        return supporting, contradicting


class _Rows:
    """Rows that are prepared for exact rules, with their labels as codes."""

    def __init__(self, rows: EffectRows, public: Mapping[str, Json]) -> None:
        self.name = rows.name
        self.prepared = PreparedRows(rows.inputs, public)
        number = {label: code for code, label in enumerate(self.prepared.labels)}
        self.gold: Codes = np.array([number[label] for label in rows.labels], np.int64)
        self.labels = len(number)

    @property
    def words(self) -> NDArray[np.int64]:
        """The number of words in the texts of each row."""
        counts = [self.prepared.text(name).words for name in self.prepared.texts]
        return np.sum(counts, axis=0) if counts else np.zeros(len(self.gold), np.int64)

    @property
    def keys(self) -> _RowKeys:
        """A text for each row that equal rows share."""
        return _RowKeys(self.prepared.rows)


class _RowKeys(Sequence[str]):
    """The rows as JSON, made when they are asked for, because only a few are."""

    def __init__(self, rows: Sequence[Mapping[str, Json]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        return canonical_json(self._rows[place]).casefold()


@dataclass(frozen=True)
class _Reading:
    """A sentence on rows: the label that it gives to each, and all labels that it may give."""

    rule: Rule | None
    rows: _Rows
    codes: Codes
    named: Sequence[str]


def _rule_labels(rule: Rule, rows: PreparedRows) -> list[str]:
    found: list[str] = []
    for clause in rule.clauses:
        if isinstance(clause, PreferenceClause):
            found += [rows.labels[side] for side in rows.sides or ()]
        else:
            found.append(clause.label)
    found += [] if rule.otherwise is None else [rule.otherwise]
    return list(dict.fromkeys(found))


def _stored_codes(stored: Agreement, labels: Sequence[str]) -> Codes:
    number = {label: code for code, label in enumerate(labels)}
    return np.array([number.get(str(one.get("value")), -1) for one in stored.got], np.int64)


def _is_about(read: _Reading, column: str) -> bool:
    if read.rule is None:
        return False
    if column == LENGTH and column not in read.rows.prepared.columns:
        return rule_uses_length(read.rule)
    return column in rule_columns(read.rule, read.rows.prepared.texts)


def _compare_within(
    groups: RowGroups,
    is_compared: NDArray[np.bool_],
    says: NDArray[np.bool_],
    has: NDArray[np.bool_],
    *,
    own: bool,
) -> WithinGroups:
    found = compare_groups(count_tables(says, has, groups.codes[is_compared]))
    # That a sentence about a column cannot be told from the column is no flaw of the sentence.
    if own and (not found.separable or found.verdict in ("confounded", "too_few")):
        found = replace(found, verdict="own_column")
    return WithinGroups(groups.column, groups.names, found)
