"""Which rules repair the prompt worlds, and at what cost: single rules, and many pairs of rules at once.

The completions of a world make its unknown atoms true or false (lanes.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.fast_path import Regime
from ...tools.logic.packed_tables import Packed, any_packed, pack_elements
from ...tools.logic.sampling import Integers
from .lanes import Completions, all_of, count_packed

Counts: TypeAlias = NDArray[np.int16]
Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]

# What certainty of being valid in all drawn worlds is worth, in marked elements per world.
WORTHS = (0.0, 1.0, 3.0)
# Prices of a node of the formula, in marked elements per world. Each has its own best rules.
PRICES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13, 0.17, 0.25)
_MANY = 1_000  # more than any cost in a world


class Evidence:
    """The requirements of the prompt worlds on a rule, computed over completions of these worlds.

    A completion of a world makes each unknown atom true or false.

    Attributes:
        judged: Number of rules that were judged so far.
    """

    def __init__(
        self, prompt: Completions, broken: Bools, regime: Regime, broken_drawn: Bools
    ) -> None:
        """Collect the completions and their violations.

        Args:
            prompt: Completions of the prompt worlds.
            broken: Elements that violate the theory in each completion, bool (completions, size).
            regime: The regime of the problem, which says how unknown atoms count.
            broken_drawn: Elements that violate the theory in each drawn world, bool (worlds, size).
        """
        self.prompt, self.broken, self.regime = prompt, broken, regime
        self.broken_drawn = broken_drawn
        self.worlds = int(prompt.world_of_lane[-1]) + 1
        self.starts = np.searchsorted(prompt.world_of_lane, np.arange(self.worlds))
        self.judged = 0

    def judge(self, valid: Bools, covered: NDArray[Any]) -> tuple[Bools, Integers]:
        """Return whether each rule is valid in all prompt worlds, and what each rule costs.

        A rule repairs a completion if the rule marks all elements that violate the theory in the
        completion. The regime says whether a rule must repair one or all completions of a world.
        The regime also says whether the cost in a world is the smallest or the largest number of
        marked elements (docs/explanation/exception-rules.md).

        Args:
            valid: Whether each rule repairs each completion; the last axis runs over completions.
            covered: Number of elements that each rule marks in each completion, in the same shape.

        Returns:
            Validity (bool) and cost (int64) of each rule, in the shape of `valid` without the last
            axis.
        """
        self.judged += valid[..., 0].size
        if self.regime == "full":
            return all_of(valid), covered.sum(axis=-1, dtype=np.int64)
        if self.regime == "skeptical":
            most = np.maximum.reduceat(covered, self.starts, axis=-1)
            return all_of(valid), most.sum(axis=-1, dtype=np.int64)
        least = np.minimum.reduceat(np.where(valid, covered, _MANY), self.starts, axis=-1)
        return all_of(least < _MANY), least.sum(axis=-1, dtype=np.int64)

    def judge_pairs(
        self, kind: OneOf["and", "or"], ones: Packed, others: Packed
    ) -> tuple[Bools, Integers]:
        """Judge the conjunction or disjunction of each of some rules with each of others.

        Args:
            kind: How two rules are combined.
            ones: The elements that each rule marks, packed, of shape (rules, completions, words).
            others: The same for the other rules.

        Returns:
            Validity (bool) and cost (int64) of each pair, of shape (rules, other rules). The cost
            of a pair that is not valid has no meaning.
        """
        self.judged += len(ones) * len(others)
        pairs = _Pairs(kind, ones, others, pack_elements(self.broken))
        costs = np.zeros((len(ones), len(others)), np.int32)
        ends = [*self.starts[1:].tolist(), len(self.broken)]
        right = np.ones(costs.shape, bool)
        for start, end in zip(self.starts.tolist(), ends, strict=True):
            if self.regime == "partial":
                least = pairs.least(range(start, end))
                right &= least < _MANY
                costs += least
            else:
                costs += pairs.most(range(start, end))
        if self.regime != "partial":
            right = pairs.repair_all()
        return right, costs.astype(np.int64)

    def rank_by_price(
        self, costs: Numbers, sizes: Integers, held: NDArray[np.float64], most: int
    ) -> Iterator[Integers]:
        """Yield the indices of the best rules for each pair of a price in `PRICES` and a value in
        `WORTHS`.

        `PRICES` are prices of one syntax node, and `WORTHS` are values of validity in the random
        worlds.

        Args:
            costs: Cost of each rule, summed over the prompt worlds.
            sizes: Number of syntax nodes of each rule.
            held: Share of the random worlds in which each rule is valid.
            most: Maximum number of indices in each yielded array.

        Yields:
            Indices of the best rules, best first.
        """
        each = min(len(sizes), most)
        for price in PRICES:
            for worth in WORTHS:
                scores = costs / self.worlds + price * sizes - worth * held
                # Among equal scores the first are taken: which of them a partition puts in front
                # depends on the machine.
                worst = np.partition(scores, each - 1)[each - 1]
                top = np.flatnonzero(scores <= worst)
                yield top[np.argsort(scores[top], kind="stable")[:each]]

    def take_in_turn(
        self, costs: Numbers, sizes: Integers, held: NDArray[np.float64], count: int
    ) -> Integers:
        """Return the indices of at most `count` rules that are best for some price or value of
        validity.

        The best rules of all lists of `rank_by_price` come first, then all second-best rules, and
        so on.

        Args:
            costs: Cost of each rule, summed over the prompt worlds.
            sizes: Number of syntax nodes of each rule.
            held: Share of the random worlds in which each rule is valid.
            count: Maximum number of indices.
        """
        if not len(sizes):
            return np.zeros(0, np.int64)
        each = 8 * max(1, count // (len(PRICES) * len(WORTHS)))
        order = np.stack(list(self.rank_by_price(costs, sizes, held, each))).T.reshape(-1)
        _, first = np.unique(order, return_index=True)
        found: Integers = order[np.sort(first)][:count]
        return found


class _Pairs:
    """What pairs of rules cover, in one completion after the other.

    The results share memory, so the next call of the same method overwrites the last result.
    """

    def __init__(
        self, kind: OneOf["and", "or"], ones: Packed, others: Packed, broken: Packed
    ) -> None:
        self.either = kind == "or"
        self.tables = [np.ascontiguousarray(table.swapaxes(0, 1)) for table in (ones, others)]
        self.left = [broken[:, None] & ~table for table in self.tables]
        self.counts = [count_packed(table) for table in self.tables]
        self.fails = [any_packed(left) for left in self.left]
        shape = len(ones), len(others)
        self._bits = np.empty(shape, ones.dtype)
        self._word_counts = np.empty(shape, np.uint8)
        self._found = np.empty(shape, np.int16)

    def _common(self, tables: Sequence[Packed], place: int, word: int) -> Packed:
        one, other = (table[place, :, word] for table in tables)
        common: Packed = np.bitwise_and(one[:, None], other[None], out=self._bits)
        return common

    def covered(self, place: int) -> Counts:
        """Return how many elements each pair marks in a completion, (rules, other rules)."""
        found = self._found
        for word in range(self.tables[0].shape[-1]):
            bits = self._common(self.tables, place, word)
            counts = np.bitwise_count(bits, out=self._word_counts)
            if word:
                found += counts
            else:
                found[:] = counts
        if self.either:
            first, second = (counts[place] for counts in self.counts)
            np.subtract(first[:, None], found, out=found)
            found += second
        return found

    def fail(self, place: int) -> Bools:
        """Return which pairs do not repair a completion, (rules, other rules)."""
        first, second = (fails[place] for fails in self.fails)
        if not self.either:
            found: Bools = first[:, None] | second[None]
            return found
        found = np.zeros(self._bits.shape, bool)
        for word in range(self.tables[0].shape[-1]):
            found |= self._common(self.left, place, word) != 0
        return found

    def least(self, places: Iterable[int]) -> Counts:
        """Return the least number of elements that each pair marks in a completion it repairs.

        The number is `_MANY` where a pair repairs none of the completions.
        """
        least = np.full(self._found.shape, _MANY, np.int16)
        for place in places:
            found = self.covered(place)
            np.putmask(found, self.fail(place), _MANY)
            np.minimum(least, found, out=least)
        return least

    def most(self, places: Iterable[int]) -> Counts:
        """Return the largest number of elements that each pair marks in one of the completions."""
        most = np.zeros(self._found.shape, np.int16)
        for place in places:
            np.maximum(most, self.covered(place), out=most)
        return most

    def repair_all(self) -> Bools:
        """Return which pairs repair all completions, (rules, other rules)."""
        if not self.either:
            one, other = (all_of(~fails, axis=0) for fails in self.fails)
            both: Bools = one[:, None] & other[None]
            return both
        found = np.ones(self._bits.shape, bool)
        for place in range(len(self.tables[0])):
            found &= ~self.fail(place)
        return found
