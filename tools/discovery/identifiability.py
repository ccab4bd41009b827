"""Tests of whether the shown rows are enough to identify a true rule.

A rule is identified if no small change to the rule explains the shown rows as well. The changes
are: leaving out a condition, moving a threshold by one value of its column, and removing or adding
a listed value. Each changed rule is judged together with all other true rules, and must label more
shown rows wrongly than the original rule. Adding a value makes the rule longer, so a changed rule
with an added value only counts against the original if it labels strictly fewer rows wrongly.

A rule must also meet three other conditions. First, no different rule over columns, of at most the
same length, explains the rows as well in its place. Second, the rows are not explained as well
without the rule. Third, compare the share of each label among the rows to which the rule applies
with the share of this label among all shown rows: the rule must raise the share of its own label by
a larger factor than that of any other label. If some shown rows contradict the rule, the rule must
also stand out from noise (`exceeds_noise`).

If the true rules never contradict each other, each rule is judged separately: a row is correct if
all rules that apply to the row give its label. If true rules contradict each other, the first rule
that applies labels the row.

A rule that no row would refute cannot be found from the rows. A low score for such a rule says
nothing about a method.

Some shown rows can contradict a true rule, because labels were changed or because other phrases
outweigh a phrase. Such a rule only describes most of the rows to which it applies. It is identified
if it passes two one-sided tests at the 5% level: its label leads the next label where the rule
applies (sign test), and its label has a larger share there than in the other rows (comparison of
two shares). Therefore a phrase without effect is not identified, and neither is a phrase whose
label leads by two rows of 40. The tests only count rows, so a regression over all phrases may find
more rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...records import Observation, is_finite_number
from ..sentence_rules.conditions import AllOf, Comparison, Condition, IsOneOf, Not
from ..sentence_rules.prepared_rows import PreparedRows, is_missing
from ..sentence_rules.quantities import ColumnNumber
from ..sentence_rules.rules import NOT_APPLICABLE, Codes, ConditionClause, Rule
from .input_space import InputSpace
from .overlap import complete_rule, overlap
from .rule_cases import split_into_cases

# --- Search for a rival: another rule, no longer than a true one, that explains the rows as well.
#
# A rule over columns is measured by what it adds to the other true rules: the rows that become
# right minus the rows that become wrong. A rival is any other conjunction over any columns that
# adds as much. Its conditions are a value, a list of two or three values, a bound on a number, or
# a truth value. Its length may not exceed that of the rule; a condition counts one, and each
# further listed value one more. If there is a rival, the rows do not favour the rule over it. A
# rule that adds nothing could as well be left out.
#
# Not covered: two true rules replaced at once; conditions on texts; more than `MAX_STEMS` stems of one
# length, of which those that add most are followed.

MAX_STEMS = 20_000
MAX_LISTED_FROM = (
    12  # Lists of two or three values are tried for columns of up to this many values.
)
MAX_NUMBER_VALUES = 100  # A number with more values takes its bounds from the rows.
MAX_COMPARED = 60  # Per chunk of stems, at most this many candidates are compared with the rule.
CHUNK_STEMS = 1_000  # stems that are extended at a time
MAX_EQUAL_STEMS = 3  # stems that are followed for each set of covered rows
Places = tuple[int, ...]
Marks = NDArray[np.bool_]
Gains = NDArray[np.int64]


def joined_conditions(rule: Rule) -> tuple[Condition, ...]:
    """Return the conditions that a rule with a single clause joins by "and".

    The result is an empty tuple if the rule has several clauses or if its clause is not a
    `ConditionClause`.
    """
    clause = rule.clauses[0]
    if len(rule.clauses) != 1 or not isinstance(clause, ConditionClause):
        return ()
    return clause.condition.parts if isinstance(clause.condition, AllOf) else (clause.condition,)


def condition_length(condition: Condition) -> int | None:
    """Return the length of a condition that tests one column.

    A comparison with a number has length 1. A test for listed values has the number of these values
    as its length, plus 1 if the test is negated. The result is None for any other condition.
    """
    if isinstance(condition, Not) and isinstance(condition.part, IsOneOf):
        return 1 + len(condition.part.values)
    if isinstance(condition, IsOneOf):
        return len(condition.values)
    if isinstance(condition, Comparison) and isinstance(condition.quantity, ColumnNumber):
        return 1
    return None


@dataclass(frozen=True)
class ConditionPool:
    """The m conditions on columns that hold for at least one of n rows.

    Attributes:
        conditions: The m conditions.
        held: Whether each condition holds for each row, bool of shape (m, n).
        lengths: Length of each condition (`condition_length`), of shape (m,).
        column: Number of the column that each condition reads, of shape (m,).
        bound: Whether each condition is a bound on a number, of shape (m,). A rule may combine two
            bounds on one column.
    """

    conditions: tuple[Condition, ...]
    held: Marks
    lengths: NDArray[np.int64]
    column: NDArray[np.int64]
    bound: Marks

    @classmethod
    def from_rows(cls, rows: PreparedRows, space: InputSpace) -> ConditionPool:
        """Return a pool of all conditions on columns that hold for at least one row.

        Columns of text are skipped.
        """
        names = [name for name, told in rows.columns.items() if told["kind"] != "text"]
        found = [
            (one, one.holds(rows), number)
            for number, name in enumerate(names)
            for one in _on(name, rows, space)
        ]
        found = [one for one in found if one[1].any()]
        return cls(
            tuple(one for one, _, _ in found),
            np.array([held for _, held, _ in found], np.bool_).reshape(len(found), len(rows)),
            np.array([condition_length(one) for one, _, _ in found], np.int64),
            np.array([number for _, _, number in found], np.int64),
            np.array([isinstance(one, Comparison) for one, _, _ in found], np.bool_),
        )

    def build_rule(self, places: Sequence[int], label: str) -> Rule:
        """Return the rule that gives `label` to rows that meet all conditions in `places`.

        `places` holds indices into `conditions`.
        """
        some = tuple(self.conditions[at] for at in places)
        return Rule((ConditionClause(AllOf(some) if len(some) > 1 else some[0], label),))


def _on(name: str, rows: PreparedRows, space: InputSpace) -> Iterator[Condition]:
    kind = rows.columns[name]["kind"]
    domain = [value for value in space.domain(name) if value is not None]
    if kind == "number":
        values = sorted({float(one) for one in domain if is_finite_number(one)})
        if len(values) > MAX_NUMBER_VALUES:
            numbers = rows.numbers(name)
            values = np.unique(numbers[~np.isnan(numbers)]).tolist()
        for value in values[:-1]:
            yield Comparison(ColumnNumber(name), "more than", value)
            yield Comparison(ColumnNumber(name), "at most", value)
        return
    known = [value for value in domain if not is_missing(value)]
    for size in (1, 2, 3):
        if size == 1 or (size < len(known) - 1 and len(known) <= MAX_LISTED_FROM):
            yield from (IsOneOf(name, some) for some in combinations(known, size))
    if len(known) > 2:
        yield from (Not(IsOneOf(name, (value,))) for value in known)


def has_rival(
    rule: Rule, gains: Gains, pool: ConditionPool, rows: PreparedRows, space: InputSpace
) -> bool:
    """Return whether a different rule over columns explains the shown rows as well as `rule`.

    Args:
        rule: The true rule.
        gains: For each of n rows, 1 if `rule` turns a wrong label into the correct label, -1 if it
            turns the correct label into a wrong label, and 0 otherwise.
        pool: The conditions from which rivals are built.
        rows: The shown rows.
        space: The possible inputs. A rival must differ from `rule` on at least one of these inputs.

    Returns:
        Whether there is a rival. The result is False if `rule` is not a conjunction of conditions
        on columns.
    """
    some = joined_conditions(rule)
    sizes = [condition_length(one) for one in some]
    clause = rule.clauses[0]
    if not some or None in sizes or not isinstance(clause, ConditionClause):
        return False
    most = sum(size for size in sizes if size is not None)
    least = int(gains[clause.condition.holds(rows)].sum())
    if least <= 0:
        return True
    held = pool.held[:, gains != 0]
    right = gains[gains != 0] > 0
    search = _Search(pool, held, right, least, most)
    return any(
        overlap(pool.build_rule(one, clause.label), rule, space) < 1 for one in search.found()
    )


class _Search:
    """A search for conjunctions by increasing length.

    Args:
        pool: The m conditions.
        held: Whether each holds, (m, k), on the k rows with a gain.
        right: Which of these rows become right, (k,).
        least: Smallest gain that counts.
        most: Largest length.
    """

    def __init__(
        self, pool: ConditionPool, held: Marks, right: Marks, least: int, most: int
    ) -> None:
        self.pool, self.held, self.least, self.most = pool, held, least, most
        self.right = right
        self.sides = [held[:, side].astype(np.float32).T for side in (right, ~right)]
        same = pool.column[:, None] == pool.column[None, :]
        self.free = ~(same & ~(pool.bound[:, None] & pool.bound[None, :]))
        self.free &= np.arange(len(held))[:, None] < np.arange(len(held))[None, :]
        self.stems: dict[int, list[Places]] = {}
        self.seen: dict[tuple[int, bytes], int] = {}

    def found(self) -> Iterator[Places]:
        """Yield the conjunctions that gain enough, shortest first."""
        self.stems[0] = [()]
        for size in range(self.most):
            here = self.stems.pop(size, [])[:MAX_STEMS]
            for start in range(0, len(here), CHUNK_STEMS):
                yield from self._longer(here[start : start + CHUNK_STEMS], size)

    def _longer(self, stems: Sequence[Places], size: int) -> Iterator[Places]:
        """Extend stems by one condition; yield those that gain enough and keep promising ones.

        A stem is promising if it still covers enough of the rows that become right and excludes
        some more of the others.
        """
        covers = np.array([self.held[list(stem)].all(axis=0) for stem in stems], np.bool_)
        free = np.array([self.free[list(stem)].all(axis=0) for stem in stems], np.bool_)
        free &= self.pool.lengths <= self.most - size
        inside, wrong = (
            covers[:, side].astype(np.float32) @ of
            for side, of in zip((self.right, ~self.right), self.sides, strict=True)
        )
        added = inside - wrong
        enough = np.argwhere(free & (added >= self.least))
        for row, at in enough[:MAX_COMPARED].tolist():
            yield (*stems[row], at)
        fewer = wrong < covers[:, ~self.right].sum(axis=1)[:, None]
        room = self.pool.lengths < self.most - size
        open_ = np.argwhere(free & (inside >= self.least) & fewer & room & (added < self.least))
        order = np.argsort(-added[tuple(open_.T)], kind="stable")[:MAX_STEMS]
        for row, at in open_[order].tolist():
            key = (size + int(self.pool.lengths[at]), (covers[row] & self.held[at]).tobytes())
            self.seen[key] = self.seen.get(key, 0) + 1
            if self.seen[key] <= MAX_EQUAL_STEMS:
                self.stems.setdefault(key[0], []).append((*stems[row], at))


def find_identified(
    truths: Sequence[Rule], shown: Sequence[Observation], space: InputSpace
) -> list[bool]:
    """Return, for each case of the true rules, whether the shown rows identify this case.

    The cases are those that `split_into_cases` returns for `truths`, in order and without
    repetition. The module docstring defines when a case is identified.
    """
    rows = PreparedRows([one.input for one in shown], space.public)
    gold = np.array([rows.label_index(str(one.output)) for one in shown], np.int64)
    pieces = list(dict.fromkeys(part for rule in truths for part in split_into_cases(rule)))
    if not len(rows):
        return [False] * len(pieces)
    rest = _otherwise(truths, rows.labels)
    codes = [replace(one, otherwise=None).codes(rows) for one in pieces]
    by_itself = _agree(codes)
    least = _errors(codes, gold, rest, by_itself)
    pool = ConditionPool.from_rows(rows, space)
    return [
        _raised_most(codes[place], gold)
        and exceeds_noise(codes[place], gold)
        and all(
            _errors([*codes[:place], other.codes(rows), *codes[place + 1 :]], gold, rest, by_itself)
            >= least + (not longer)
            for other, longer in neighbours(replace(one, otherwise=None), space)
        )
        and not (
            by_itself
            and has_rival(
                one,
                _gains(one, [*codes[:place], *codes[place + 1 :]], gold, rest, rows),
                pool,
                rows,
                space,
            )
        )
        for place, one in enumerate(pieces)
    ]


def _agree(codes: Sequence[Codes]) -> bool:
    """Return whether no row is given two labels."""
    every = np.stack(codes)
    most = every.max(axis=0)
    return bool(((every == NOT_APPLICABLE) | (every == most)).all())


def _gains(
    rule: Rule, others: Sequence[Codes], gold: Codes, rest: int, rows: PreparedRows
) -> Codes:
    """Return, (n,), 1 where a row becomes right by the rule's label, -1 where wrong, and else 0.

    The other rules stay in place.
    """
    (label,) = {
        rows.label_index(clause.label)
        for clause in rule.clauses
        if isinstance(clause, ConditionClause)
    }
    before = _right(others, gold, rest)
    after = _right([*others, np.full(len(gold), label, np.int64)], gold, rest)
    return after.astype(np.int64) - before


def _right(codes: Sequence[Codes], gold: Codes, rest: int) -> NDArray[np.bool_]:
    """Return the rows whose claimed labels are all correct; without a claim, `rest` is claimed."""
    wrong = np.zeros(len(gold), np.bool_)
    there = np.zeros(len(gold), np.bool_)
    for one in codes:
        there |= one != NOT_APPLICABLE
        wrong |= (one != NOT_APPLICABLE) & (one != gold)
    return np.where(there, ~wrong, gold == rest)


def _raised_most(codes: Codes, gold: Codes) -> bool:
    """Return whether the label that the codes give is raised most where they give it.

    A label is raised by its share where the codes apply, relative to its share in all rows.
    """
    there = codes != NOT_APPLICABLE
    given = np.unique(codes[there])
    if given.size != 1:
        return bool(there.any())
    count = int(max(gold.max(), given[0])) + 1
    shares = np.bincount(gold, minlength=count) / len(gold)
    raised = np.bincount(gold[there], minlength=count) / there.sum() / np.maximum(shares, 1e-12)
    return bool((np.delete(raised, given[0]) < raised[given[0]]).all())


def _otherwise(truths: Sequence[Rule], labels: Sequence[str]) -> int:
    """Return the label index of rows to which no part applies; -1 if none is stated or implied."""
    told = {complete_rule(rule, labels).otherwise for rule in truths}
    only = told.pop() if len(told) == 1 else None
    return NOT_APPLICABLE if only is None else list(labels).index(only)


def _errors(codes: Sequence[Codes], gold: Codes, rest: int, by_itself: bool) -> int:
    if by_itself:
        return int((~_right(codes, gold, rest)).sum())
    said = np.full(len(gold), NOT_APPLICABLE, np.int64)
    for one in codes:
        said = np.where(said == NOT_APPLICABLE, one, said)
    return int((np.where(said == NOT_APPLICABLE, rest, said) != gold).sum())


def neighbours(rule: Rule, space: InputSpace) -> Iterator[tuple[Rule, bool]]:
    """Yield each rule that is one edit away from `rule` and labels some input differently.

    An edit leaves out a condition, moves a threshold by one value of its column, or removes or adds
    a listed value. Each rule comes with a flag that says whether the edit made the rule longer. A
    rule with several clauses, or without conditions, has no neighbours.
    """
    clause = rule.clauses[0]
    if len(rule.clauses) != 1 or not isinstance(clause, ConditionClause):
        return
    conditions = clause.condition.parts if isinstance(clause.condition, AllOf) else (
        clause.condition,
    )  # fmt: skip
    for place, condition in enumerate(conditions):
        rest = (*conditions[:place], *conditions[place + 1 :])
        changes: list[tuple[tuple[Condition, ...], bool]] = [(rest, False)] if rest else []
        changes += [
            ((*conditions[:place], one, *conditions[place + 1 :]), longer)
            for one, longer in _steps(condition, space)
        ]
        for some, longer in changes:
            other = replace(
                rule,
                clauses=(ConditionClause(AllOf(some) if len(some) > 1 else some[0], clause.label),),
            )
            if overlap(other, rule, space) < 1:
                yield other, longer


def _steps(condition: Condition, space: InputSpace) -> Iterator[tuple[Condition, bool]]:
    if isinstance(condition, Not):
        yield from ((Not(one), longer) for one, longer in _steps(condition.part, space))
    elif isinstance(condition, Comparison) and isinstance(condition.quantity, ColumnNumber):
        known = space.domain(condition.quantity.column)
        values = sorted(float(v) for v in known if is_finite_number(v))
        lower = [value for value in values if value < condition.value]
        higher = [value for value in values if value > condition.value]
        for value in (*lower[-1:], *higher[:1]):
            yield replace(condition, value=value), False
    elif isinstance(condition, IsOneOf):
        every = [value for value in space.domain(condition.column) if value is not None]
        if len(every) <= 2:
            return
        for value in condition.values:
            if len(condition.values) > 1:
                left = tuple(one for one in condition.values if one != value)
                yield IsOneOf(condition.column, left), False
        for value in every:
            if value not in condition.values and len(condition.values) + 1 < len(every):
                yield IsOneOf(condition.column, (*condition.values, value)), True


SIGNIFICANCE_LEVEL = 0.05  # significance level of each test, one-sided
NORMAL_APPROXIMATION_FROM = 1_000  # Above this many tosses the normal approximation is used.


def exceeds_noise(codes: Codes, gold: Codes) -> bool:
    """Return whether the shown rows support the label of a rule beyond chance.

    The result is True if no row contradicts the rule.

    Otherwise the rule must pass two one-sided tests at the 5% level. Where the rule applies, its
    label must be more frequent than the next most frequent label. The label must also have a larger
    share there than in the other rows.

    Args:
        codes: The label index that the rule gives to each of n rows, or -1 where the rule does not
            apply, of shape (n,).
        gold: The true label index of each row, of shape (n,).
    """
    there = codes != NOT_APPLICABLE
    given = np.unique(codes[there])
    if given.size != 1 or (gold[there] == given[0]).all():
        return True
    label = int(given[0])
    counts = np.bincount(gold[there], minlength=label + 1)
    own, other = int(counts[label]), int(np.delete(counts, label).max())
    if _tail(own, own + other) > SIGNIFICANCE_LEVEL:
        return False
    if there.all():
        return True
    shares = own / there.sum(), float((gold[~there] == label).mean())
    both = float((gold == label).mean())
    spread = math.sqrt(both * (1 - both) * (1 / there.sum() + 1 / (~there).sum()))
    return (
        math.erfc((shares[0] - shares[1]) / max(spread, 1e-12) / math.sqrt(2)) / 2
        <= SIGNIFICANCE_LEVEL
    )


def _tail(heads: int, tosses: int) -> float:
    """Return the probability of at least this many heads."""
    if tosses > NORMAL_APPROXIMATION_FROM:
        return math.erfc((2 * heads - tosses) / math.sqrt(2 * tosses)) / 2
    above = sum(math.comb(tosses, one) for one in range(heads, tosses + 1))
    return float(above / 2**tosses)
