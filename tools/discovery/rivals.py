"""Whether another rule, no longer than a true one, explains the shown rows as well in its place.

A rule over columns is measured by what it adds beside the other true rules: rows that become right less
rows that become wrong. A rival is any other conjunction over any columns that adds as much: a value, a list of
two or three, a bound of a number, a truth value, as many of them as make it no longer than the rule, where a
condition counts one and each further value that it lists one more. Where there is a rival nothing
in the rows speaks for the rule against it; and a rule that adds nothing could as well be left out.

Not covered: two true rules replaced at once; conditions on texts; more than `STEMS` beginnings of one length, of
which those that add most are followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..sentence_rules.conditions import AllOf, Compare, Condition, Is, Not
from ..sentence_rules.prepared import Prepared, missing
from ..sentence_rules.quantities import Number
from ..sentence_rules.rules import Rule, When
from .overlap import overlap
from .space import Space

STEMS = 20_000
LONG_LIST = 12  # values, up to which two or three of them are listed
WIDE = 100  # values of a number; where there are more, those of the rows are bounds
COMPARED = 60  # rules that add as much, of those made at a time; were all the rule itself, there is no rival
CHUNK = 1_000  # stems that are made longer at a time
ALIKE = 3  # stems with the same rows that are followed
Places = tuple[int, ...]
Marks = NDArray[np.bool_]
Gains = NDArray[np.int64]


def conditions_of(rule: Rule) -> tuple[Condition, ...]:
    """Of a rule of one clause the conditions that have to hold together; () of another."""
    clause = rule.clauses[0]
    if len(rule.clauses) != 1 or not isinstance(clause, When):
        return ()
    return clause.condition.parts if isinstance(clause.condition, AllOf) else (clause.condition,)


def length(condition: Condition) -> int | None:
    """None of a condition that is none on one column."""
    if isinstance(condition, Not) and isinstance(condition.part, Is):
        return 1 + len(condition.part.values)
    if isinstance(condition, Is):
        return len(condition.values)
    if isinstance(condition, Compare) and isinstance(condition.quantity, Number):
        return 1
    return None


@dataclass(frozen=True)
class Pool:
    """All conditions on the columns of a problem that hold on some of its rows. held: (m, n); column:
    (m,), its number; bound: (m,), whether it bounds a number, so another may stand beside it."""

    conditions: tuple[Condition, ...]
    held: Marks
    lengths: NDArray[np.int64]
    column: NDArray[np.int64]
    bound: Marks

    @classmethod
    def of(cls, rows: Prepared, space: Space) -> Pool:
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
            np.array([length(one) for one, _, _ in found], np.int64),
            np.array([number for _, _, number in found], np.int64),
            np.array([isinstance(one, Compare) for one, _, _ in found], np.bool_),
        )

    def rule(self, places: Sequence[int], label: str) -> Rule:
        some = tuple(self.conditions[at] for at in places)
        return Rule((When(AllOf(some) if len(some) > 1 else some[0], label),))


def _on(name: str, rows: Prepared, space: Space) -> Iterator[Condition]:
    kind = rows.columns[name]["kind"]
    domain = [value for value in space.domain(name) if value is not None]
    if kind == "number":
        values = sorted({float(one) for one in domain if isinstance(one, int | float)})
        if len(values) > WIDE:
            numbers = rows.numbers(name)
            values = np.unique(numbers[~np.isnan(numbers)]).tolist()
        for value in values[:-1]:
            yield Compare(Number(name), "more than", value)
            yield Compare(Number(name), "at most", value)
        return
    known = [value for value in domain if not missing(value)]
    for size in (1, 2, 3):
        if size == 1 or (size < len(known) - 1 and len(known) <= LONG_LIST):
            yield from (Is(name, some) for some in combinations(known, size))
    if len(known) > 2:
        yield from (Not(Is(name, (value,))) for value in known)


def has_rival(rule: Rule, gains: Gains, pool: Pool, rows: Prepared, space: Space) -> bool:
    """gains: (n,), of each row 1 where it becomes right by the rule's label, -1 where wrong, else 0. False of
    a rule that is no conjunction over columns."""
    some = conditions_of(rule)
    sizes = [length(one) for one in some]
    clause = rule.clauses[0]
    if not some or None in sizes or not isinstance(clause, When):
        return False
    most = sum(size for size in sizes if size is not None)
    least = int(gains[clause.condition.holds(rows)].sum())
    if least <= 0:
        return True
    held = pool.held[:, gains != 0]
    right = gains[gains != 0] > 0
    search = _Search(pool, held, right, least, most)
    return any(overlap(pool.rule(one, clause.label), rule, space) < 1 for one in search.found())


class _Search:
    """Conjunctions by length. held: (m, k) on the k rows that count; right: (k,), those that become right;
    least: what has to be added; most: the length."""

    def __init__(self, pool: Pool, held: Marks, right: Marks, least: int, most: int) -> None:
        self.pool, self.held, self.least, self.most = pool, held, least, most
        self.right = right
        self.sides = [held[:, side].astype(np.float32).T for side in (right, ~right)]
        same = pool.column[:, None] == pool.column[None, :]
        self.free = ~(same & ~(pool.bound[:, None] & pool.bound[None, :]))
        self.free &= np.arange(len(held))[:, None] < np.arange(len(held))[None, :]
        self.stems: dict[int, list[Places]] = {}
        self.seen: dict[tuple[int, bytes], int] = {}

    def found(self) -> Iterator[Places]:
        """Those that add at least as much, beginning with those of the fewest conditions."""
        self.stems[0] = [()]
        for size in range(self.most):
            here = self.stems.pop(size, [])[:STEMS]
            for start in range(0, len(here), CHUNK):
                yield from self._longer(here[start : start + CHUNK], size)

    def _longer(self, stems: Sequence[Places], size: int) -> Iterator[Places]:
        """With one condition more: those that add enough. What still takes enough rows in, and keeps out
        more of the others than the stem does, is kept as a stem."""
        covers = np.array([self.held[list(stem)].all(axis=0) for stem in stems], np.bool_)
        free = np.array([self.free[list(stem)].all(axis=0) for stem in stems], np.bool_)
        free &= self.pool.lengths <= self.most - size
        inside, wrong = (
            covers[:, side].astype(np.float32) @ of
            for side, of in zip((self.right, ~self.right), self.sides, strict=True)
        )
        added = inside - wrong
        enough = np.argwhere(free & (added >= self.least))
        for row, at in enough[:COMPARED].tolist():
            yield (*stems[row], at)
        fewer = wrong < covers[:, ~self.right].sum(axis=1)[:, None]
        room = self.pool.lengths < self.most - size
        open_ = np.argwhere(free & (inside >= self.least) & fewer & room & (added < self.least))
        order = np.argsort(-added[tuple(open_.T)], kind="stable")[:STEMS]
        for row, at in open_[order].tolist():
            key = (size + int(self.pool.lengths[at]), (covers[row] & self.held[at]).tobytes())
            self.seen[key] = self.seen.get(key, 0) + 1
            if self.seen[key] <= ALIKE:
                self.stems.setdefault(key[0], []).append((*stems[row], at))
