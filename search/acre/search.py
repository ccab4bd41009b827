"""Search for rules about scenes, cheapest first, that agree with the shown scenes.

Every literal (a test of a scene, or the negation of a test) is evaluated on the shown scenes and on
all scenes of the sample space S. The results are stored as bits, one bit per scene. If several
literals have equal bits on all of these scenes, only the cheapest literal is kept. For each cost,
the literals are combined to rules, and only rules that agree with the shown scenes are evaluated on
S.

A rule is redundant unless it makes a new prediction on more than a fifth of S. The candidates are
the rules that are not redundant and cost little more than the cheapest such rule. The search
returns the candidate that is farthest from the earlier answers and still leaves room for later
answers. Repeated calls reach every rule of the grammar, as far as the budget allows.

The likeliest theory in ACRE is that some objects are blickets, and that a scene is on if and only
if it contains a blicket. Every object in a scene that is off is therefore a dud. In a scene that is
on, at least one of the objects that are not duds is a blicket. `few` is a small set of blickets
that explains all shown scenes, chosen greedily. `many` is the set of all objects that may be
blickets.

A single object that was never shown is more often a dud, but among two or more such objects there
is usually a blicket. The first answer is therefore "on if and only if the scene contains one of the
few, or at least two objects that are not duds". The second answer is "one of the many, or at least
four objects that are not duds", which fits a world with fewer blickets. Both rules were chosen on
generated problems (tasks/programs/acre_generator.py), not on published problems; LOG.md has the
figures.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .grammar import (
    EVERY,
    Join,
    Kind,
    Literal,
    Mask,
    Rule,
    Scene,
    Table,
    list_attribute_literals,
    list_literals,
)

MIN_NEW_SHARE = (
    0.2  # more than this share of S must have a new prediction (GEAR 4.1: coverage below 0.8)
)
MAX_NEW_SHARE = 0.5  # a rule that is new on a larger share of S leaves too little room for others
MAX_EXTRA_COST = 3  # maximum extra cost over the cheapest rule that is new enough
_AT_ONCE = 4096  # number of rules evaluated at once
_SAMPLE = 10  # number of 64-scene words on which a rule is evaluated first
_SLACK = 0.07  # tolerance for the share on those
_TRIED = 64  # number of rules per batch that are checked against those to skip
CHECKS_PER_EVALUATION = (
    4  # this many rules checked on the shown scenes alone cost as much as one evaluated on S
)
JOINS: tuple[Join, ...] = ("or", "and")

Bits = NDArray[np.uint64]
Indices = NDArray[np.intp]
Form = tuple[Join, ...]  # the joins of a rule: none, one or two


class Scenes:
    """The scenes of the sample space, in a table on which rules are evaluated.

    The scenes are reordered so that the first few hundred scenes are a fair sample of all scenes.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        stride = max(1, len(scenes) // (64 * _SAMPLE))
        self.scenes = [scene for start in range(stride) for scene in scenes[start::stride]]
        self.size = len(self.scenes)
        self.table = Table(self.scenes)
        self.entities = self.table.entities
        self.bits_words = -(-self.size // 64)

    def pack(self, masks: NDArray[np.bool_]) -> Bits:
        """Pack bool arrays into 64-bit words, one bit per scene.

        Args:
            masks: One row per rule or literal and one column per scene, of shape (m, n).

        Returns:
            A uint64 array of shape (m, words). The bits after the last scene are 0.
        """
        padded = np.zeros((len(masks), 64 * self.bits_words), bool)
        padded[:, : self.size] = masks
        return np.packbits(padded, axis=1).view(np.uint64)


class EarlierPredictions:
    """The predictions of the earlier answers on the sample space S.

    Args:
        scenes: The scenes of S.
        masks: For each earlier answer, the scenes that it predicts to be on, of shape (n,).
    """

    def __init__(self, scenes: Scenes, masks: Sequence[Mask]) -> None:
        self.scenes = scenes
        held = np.array(masks, bool).reshape(len(masks), scenes.size)
        self.on, self.off = scenes.pack(np.stack([held.any(axis=0), (~held).any(axis=0)]))
        self.each = scenes.pack(held)

    @property
    def agreed_share(self) -> float:
        """Return the share of S on which all earlier answers make the same prediction.

        Only on these scenes can another rule make a new prediction.
        """
        both = int(np.bitwise_count(self.on & self.off).sum())
        return 1.0 - both / max(1, self.scenes.size)

    def new_shares(self, bits: Bits) -> NDArray[np.float64]:
        """Return for each rule the share of S on which its prediction is new.

        A prediction is new if no earlier answer makes the same prediction for that scene.

        Args:
            bits: Predictions of m rules, packed into words of 64 scenes, of shape (m, words). Fewer
                words than S has restrict the calculation to the first scenes.

        Returns:
            Shares from 0 to 1, of shape (m,).
        """
        known_on, known_off = self.on[: bits.shape[1]], self.off[: bits.shape[1]]
        said_before = np.bitwise_count((bits & known_on) | (~bits & known_off))
        size = min(self.scenes.size, 64 * bits.shape[1])
        shares: NDArray[np.float64] = said_before.sum(axis=1, dtype=np.int64) / max(1, size)
        return 1.0 - shares

    def mean_distances(self, bits: Bits) -> NDArray[np.float64]:
        """Return for each rule its mean Jaccard distance to the earlier answers.

        Args:
            bits: Predictions of m rules on S, packed into words of 64 scenes, of shape (m, words).

        Returns:
            The mean distances, of shape (m,). They are 0 if there are no earlier answers.
        """
        apart = np.zeros(len(bits))
        for one in self.each:
            differ = np.bitwise_count(bits ^ one).sum(axis=1, dtype=np.int64) / self.scenes.size
            apart += 2 * differ / (1 + differ)
        return apart / max(1, len(self.each))


class Search:
    """The search for rules that agree with the shown scenes of one problem, cheapest rules first.

    Args:
        shown: The shown scenes.
        on: For each shown scene, whether it is on.
        scenes: The scenes of the sample space.
        sets: Sets of objects that rules may refer to.
    """

    def __init__(
        self, shown: Sequence[Scene], on: Sequence[bool], scenes: Scenes, sets: Sequence[Kind]
    ) -> None:
        self.scenes = scenes
        self.goal = _integer(np.asarray(on, bool))
        table = Table(shown)
        made = list_literals(shown, sets) + list_attribute_literals(scenes.entities)
        packed = scenes.pack(np.stack([scenes.table.evaluate(literal) for literal in made]))
        found: dict[tuple[int, bytes], int] = {}
        for i in sorted(range(len(made)), key=lambda i: made[i].cost):
            found.setdefault((_integer(table.evaluate(made[i])), packed[i].tobytes()), i)
        self.literals = [made[i] for i in found.values()]
        self.bits = packed[list(found.values())]
        self.seen = np.array([seen for seen, _ in found], object)
        if len(on) < 63:
            self.seen = self.seen.astype(np.int64)
        self.costs = np.array([literal.cost for literal in self.literals])

    def choose(
        self, earlier: EarlierPredictions, skip: set[Rule], expansions: float
    ) -> Rule | None:
        """Return the next rule to propose, or None if no rule is new enough within the budget.

        A rule is new enough if it makes new predictions on more than `MIN_NEW_SHARE` of the sample
        space. Rules that cost more than `MAX_EXTRA_COST` above the cheapest such rule are not
        considered. Of the remaining rules, the one that is farthest from the earlier answers is
        returned, with a penalty if it leaves too little room for later answers.

        Args:
            earlier: Predictions of the earlier answers.
            skip: Rules that must not be returned.
            expansions: Budget of this call, in expansions (budget.py).
        """
        left = expansions * Budget.RULES if earlier.agreed_share > MIN_NEW_SHARE else 0.0
        best: tuple[float, Rule] | None = None
        last = 3 * int(self.costs.max()) + 2
        cost = int(self.costs.min()) - 1
        while cost < last:
            cost += 1
            for form, rows, looked_at in self._agreeing(cost):
                for rule, worth in self._new(form, rows, earlier):
                    if rule not in skip and (best is None or worth > best[0]):
                        if best is None:
                            last = min(last, cost + MAX_EXTRA_COST)
                        best = worth, rule
                left -= len(rows) + looked_at / CHECKS_PER_EVALUATION
                if left <= 0:
                    break
            if left <= 0:
                break
        return best[1] if best else None

    def _agreeing(self, cost: int) -> Iterator[tuple[Form, Indices, int]]:
        """Yield rules of one cost that agree with the shown scenes.

        Each item holds the form, the indices of the literals (m, 1 to 3), and the number of rules
        examined.
        """
        at = {int(c): np.flatnonzero(self.costs == c) for c in np.unique(self.costs)}
        if cost in at:
            rows = at[cost][self.seen[at[cost]] == self.goal]
            yield (), rows[:, None], len(at[cost])
        for a, b in itertools.product(at, repeat=2):
            if a <= b and a + b + 1 == cost:
                for join in JOINS:
                    yield from self._joined((join,), at[a], at[b])
        for a, b, c in itertools.product(at, repeat=3):
            if a <= b and a + b + c + 2 == cost:
                for join, outer in itertools.product(JOINS, repeat=2):
                    if join != outer or b <= c:
                        yield from self._joined((join, outer), at[a], at[b], at[c])

    def _joined(self, form: Form, *parts: Indices) -> Iterator[tuple[Form, Indices, int]]:
        first, second, *third = parts
        for i in first:
            later = second[second > i] if self.costs[i] == self.costs[second[0]] else second
            rows = np.stack([np.full(len(later), i), later], axis=1)
            seen = _join(form[0], self.seen[i], self.seen[later])
            if not third:
                yield form, rows[seen == self.goal], len(rows)
                continue
            both = _join(form[1], seen[:, None], self.seen[third[0]][None, :]) == self.goal
            if form[0] == form[1]:
                both &= rows[:, 1:] < third[0][None, :]
            pair, last = np.nonzero(both)
            yield form, np.column_stack([rows[pair], third[0][last]]), both.size

    def _new(
        self, form: Form, rows: Indices, earlier: EarlierPredictions
    ) -> Iterator[tuple[Rule, float]]:
        """Yield rules that are new enough, each with its worth.

        The worth is the distance to the earlier answers, less a penalty for leaving no room for
        later ones.
        """
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            if earlier.scenes.bits_words > _SAMPLE:
                some = some[
                    earlier.new_shares(self._bits(form, some, _SAMPLE)) > MIN_NEW_SHARE - _SLACK
                ]
            bits = self._bits(form, some, None)
            shares = earlier.new_shares(bits)
            worth = earlier.mean_distances(bits) - 2 * np.maximum(0.0, shares - MAX_NEW_SHARE)
            fit = np.flatnonzero(shares > MIN_NEW_SHARE)
            for k in fit[np.argsort(-worth[fit], kind="stable")[:_TRIED]]:
                yield self._rule(form, some[k]), float(worth[k])

    def _bits(self, form: Form, rows: Indices, words: int | None) -> Bits:
        found = self.bits[rows[:, 0], :words]
        for place, join in enumerate(form, start=1):
            found = _join(join, found, self.bits[rows[:, place], :words])
        return found

    def _rule(self, form: Form, row: Indices) -> Rule:
        parts = [self.literals[i] for i in row]
        if not form:
            return Rule(parts[0])
        if len(form) == 1:
            return Rule(parts[0], form[0], parts[1])
        return Rule(parts[0], form[0], parts[1], form[1], parts[2])


def _join(join: Join, left: Any, right: Any) -> Any:
    return left & right if join == "and" else left | right


def _integer(mask: Mask) -> int:
    return sum(1 << k for k, holds in enumerate(mask) if holds)


class Evidence:
    """What the shown scenes imply: which objects are duds, and which objects may be blickets.

    An object is a dud if it occurs in a scene that is off. A blicket is an object that turns a
    scene on.

    Args:
        shown: The shown scenes.
        on: For each shown scene, whether it is on.
    """

    def __init__(self, shown: Sequence[Scene], on: Sequence[bool]) -> None:
        duds = {entity for scene, lit in zip(shown, on, strict=True) if not lit for entity in scene}
        lit = [frozenset(scene) - duds for scene, lit in zip(shown, on, strict=True) if lit]
        self.left = [some for some in dict.fromkeys(lit) if not any(one < some for one in lit)]
        self.explained = all(self.left)  # otherwise a scene is on although it holds only duds
        self.duds = tuple(sorted(duds))
        self.many = tuple(sorted(frozenset().union(*self.left)))
        self.few = _few(self.left)

    def suggest_kinds(self) -> list[Kind]:
        """Return sets of objects for rules to refer to: possible blickets, and all but the duds."""
        kinds = []
        if len(self.many) > 1:
            kinds.append(Kind(entities=self.many))
        if len(self.few) > 1 and self.few != self.many:
            kinds.append(Kind(entities=self.few))
        if self.duds:
            kinds.append(Kind(entities=self.duds, others=True))
        return kinds

    def suggest_rules(self) -> Iterator[Rule]:
        """Yield the two likeliest rules about blickets.

        Nothing is yielded if blickets cannot explain the shown scenes.
        """
        if not self.explained or not self.left:
            return
        unknown = Kind(entities=self.duds, others=True) if self.duds else EVERY
        for blickets, least in ((self.few, 2), (self.many, 4)):
            known = Literal("any", Kind(entities=blickets))
            yield Rule(known, "or", Literal("least", unknown, least))


def _few(left: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """Return entities that hit each set, chosen greedily by the number of sets they are in."""
    chosen: list[str] = []
    open_sets = [some for some in left if some]
    while open_sets:
        held = Counter(entity for some in open_sets for entity in some)
        chosen.append(min(held, key=lambda entity: (-held[entity], entity)))
        open_sets = [some for some in open_sets if chosen[-1] not in some]
    return tuple(sorted(chosen))
