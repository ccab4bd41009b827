"""Terms and tests over all elements of a list for all example inputs, evaluated by numpy.

A term is an arithmetic expression about an element. A test (predicate) compares two terms.
`Elements(base, lists, inputs, budget)` lays the elements of `lists` (one list per example input)
end to end in one vector. `build_terms` returns a table with one row of integers per term, and
`build_masks` returns a table with one row of truth values per test. Each row has a cost and a
recipe, from which a `Node` is built only when it is needed.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Lists
from .features import FEATURES, INPUT_FEATURES, PREDICATES, TERMS, compile_feature
from .grammar import Node, constant_cost, constant_node
from .tables import Recipes, Rows, Sources, Table, compute_row_keys, list_same_rows, select_distinct

_GUARDED = (IndexError, ValueError, ZeroDivisionError, TypeError)

MAX_TERMS = 4000
MAX_MASKS = 7000
_SCALARS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1)
# Features used for computed lists, because there are many such lists.
_LEAN = frozenset(
    ("v", "i", "n", "first", "last", "greatest", "least", "before", "mirror", "count", "seen", "to_come", "max_till", "min_till",
     "digit_sum", "in_order")
)  # fmt: skip


class Elements:
    """The elements of one list for all example inputs, with terms and tests over these elements.

    Args:
        base: The program of the list.
        lists: The list that `base` computes for each example input.
        inputs: The example inputs.
        budget: Budget that the evaluations are charged to.
        lean: Whether to build only the simplest terms and tests.
    """

    def __init__(
        self, base: Node, lists: Lists, inputs: Lists, budget: Budget, lean: bool = False
    ) -> None:
        self.base = base
        self.lean = lean
        self.budget = budget
        self._lay(lists)
        self.simple = self._features(inputs)
        self._terms: Table | None = None
        self._masks: Table | None = None
        self._kept: NDArray[np.float32] | None = None

    def _lay(self, lists: Lists) -> None:
        self.lists = lists
        self.lengths = np.array([len(v) for v in lists], dtype=np.int64)
        self.flat = np.array([e for v in lists for e in v], dtype=np.int64)
        self.size = len(self.flat)
        self.segment = np.repeat(np.arange(len(lists)), self.lengths)
        self.segments = np.zeros((self.size, len(lists)), dtype=np.float32)
        self.segments[np.arange(self.size), self.segment] = 1.0
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])

    def _features(self, inputs: Lists) -> Table:
        table = dict(FEATURES)
        if self.lean:
            table = {name: feature for name, feature in table.items() if name in _LEAN}
        elif self.base.op != "x":
            table |= INPUT_FEATURES
        rows, costs, recipes = [], [], []
        lists, whole = [list(v) for v in self.lists], [list(v) for v in inputs]
        for name, feature in table.items():
            row: list[int] = []
            try:
                for x, X in zip(lists, whole, strict=True):
                    row += compile_feature(feature.code)(x, X)
            except _GUARDED:
                continue
            rows.append(row)
            costs.append(feature.cost)
            recipes.append(Node(name, (), feature.cost))
        self.budget.charge(len(rows))
        data = np.array(rows, dtype=np.int64).reshape(len(rows), self.size)
        keep = select_distinct(compute_row_keys(data), np.array(costs), 80)
        return Table(data[keep], np.array(costs)[keep], [recipes[k] for k in keep])

    def split(self, order: NDArray[np.int64]) -> Lists:
        """Return the elements in another order, cut into lists as long as the original lists.

        Args:
            order: For each new position in the vector of elements, the index of the element to put
                there.
        """
        return self.cut(self.flat[order])

    def cut(self, row: NDArray[np.int64]) -> Lists:
        """Return a vector with one number for each element, cut into lists as long as the original
        lists.
        """
        numbers, ends = row.tolist(), self.starts.tolist()
        return tuple(tuple(numbers[a:b]) for a, b in itertools.pairwise(ends))

    def features_with_constants(self, scalars: tuple[int, ...]) -> Table:
        """Return a table of the features of each element, together with the constants `scalars`."""
        rows = np.array(scalars, dtype=np.int64)[:, None].repeat(self.size, axis=1)
        rows = np.concatenate([self.simple.rows, rows])
        costs = np.concatenate([self.simple.costs, [constant_cost(c) for c in scalars]])
        recipes = [*self.simple.recipes, *(constant_node(c) for c in scalars)]
        keep = select_distinct(compute_row_keys(rows), costs, 200)
        return Table(rows[keep], costs[keep], [recipes[k] for k in keep])

    def candidate_constants(self, goal: NDArray[np.int64]) -> tuple[int, ...]:
        """Return constants to try in programs: small and round numbers, and frequent numbers.

        The most common wanted integers are frequent numbers. If `goal` has one integer per element,
        two more kinds of frequent numbers are returned: the most common differences between an
        element and its wanted integer, and the most common constants c for which abs(v - c) is the
        wanted integer of an element v.

        Args:
            goal: The wanted integers, one per element or one per list.
        """
        values, counts = np.unique(goal, return_counts=True)
        often = [int(v) for v in values[np.argsort(-counts, kind="stable")][:6] if abs(v) < 10**6]
        steps: list[int] = []
        if len(goal) == self.size and self.size:
            moves, counts = np.unique(goal - self.flat, return_counts=True)
            steps = [abs(int(m)) for m in moves[np.argsort(-counts, kind="stable")][:3]]
            ends = np.concatenate([self.flat + goal, self.flat - goal])
            pivots, counts = np.unique(ends, return_counts=True)  # candidate centres of a distance
            order = np.argsort(-counts, kind="stable")[:2]
            steps += [int(p) for p in pivots[order] if 0 < p < 1000]
        return tuple(dict.fromkeys((*_SCALARS, 20, 50, 100, *often, *steps)))

    def build_terms(self, goal: NDArray[np.int64]) -> Table:
        """Return a table of terms: features, constants, and operations on pairs of features or
        constants.

        The table is built once and cached.

        Args:
            goal: The wanted integers, which suggest constants (`candidate_constants`).
        """
        if self._terms is not None:
            return self._terms
        single = self.features_with_constants(self.candidate_constants(goal))
        blocks, costs = [single.rows], [single.costs]
        sources, count = Sources(), len(single)
        upper = np.triu(np.ones((count, count), dtype=bool), 1)
        pair_costs = single.costs[:, None] + single.costs[None, :]
        for op, (_, price, _) in TERMS.items():
            wanted = np.ones((count, count), dtype=bool)
            if op in ("+", "*", "min", "max", "abs"):
                wanted = upper
            wanted = wanted & (pair_costs + price <= 7.2)
            if self.lean:
                value = np.array([recipe.op == "v" for recipe in single.recipes])
                wanted = wanted & (value[:, None] | value[None, :])
            if op in ("//", "%"):
                wanted = wanted & (single.rows != 0).all(axis=1)[None, :]
            a, b = np.nonzero(wanted)
            if not self.budget.charge(len(a) / Budget.VECTOR):
                break
            blocks.append(_apply(op, single.rows[a], single.rows[b]))
            costs.append(pair_costs[a, b] + price)
            sources.add(op, single.recipes, single.recipes, a, b)
        affine, pairs = self._affine(), sum(map(len, blocks[1:]))
        blocks.append(affine.rows)
        costs.append(affine.costs)
        rows, prices = np.concatenate(blocks), np.concatenate(costs)
        keys = compute_row_keys(rows)
        keep = select_distinct(keys, prices, MAX_TERMS)

        def recipe(k: int) -> Node:
            if k < count:
                return single.recipes[k]
            if k >= count + pairs:
                return affine.recipes[k - count - pairs]
            op, first, second = sources[k - count]
            return Node(op, (first, second), float(prices[k]))

        made = Recipes(len(keep), lambda k: recipe(int(keep[k])))
        others = list_same_rows(keys, prices, keep, recipe)
        self._terms = Table(rows[keep], prices[keep], made, others)
        return self._terms

    def build_masks(self) -> Table:
        """Return a table of truth values: each row is the result of comparing a term with a feature
        or a constant, for all elements. The table is cached.
        """
        if self._masks is not None:
            return self._masks
        seen = np.unique(self.flat)
        values = [int(v) for v in seen[:: max(1, len(seen) // 40)] if abs(v) < 10**6]
        tens = tuple(range(10, 100, 10))
        single = self.features_with_constants(())
        blocks: list[NDArray[np.bool_]] = []
        costs: list[NDArray[np.float64]] = []
        sources = Sources()

        def compare(left: Table, right: Table, ops: tuple[str, ...], most: float) -> None:
            first, second = _narrow(left.rows, right.rows)
            for op in ops:
                price = PREDICATES[op][1]
                total = left.costs[:, None] + right.costs[None, :] + price
                a, b = np.nonzero(total <= most)
                if not self.budget.charge(len(a) / Budget.VECTOR) and blocks:
                    return
                blocks.append(_compare(op, first[a], second[b]))
                costs.append(total[a, b])
                sources.add(op, left.recipes, right.recipes, a, b)

        small = _constants_table((*_SCALARS,), self.size)
        fine = _constants_table(tuple(dict.fromkeys((*_SCALARS, *tens, 100, *values))), self.size)
        value = self._pick(single, ("v",))
        compare(value, fine, ("<", ">", "==", "!="), 99)
        if self.lean:
            compare(value, single, ("<", ">", "==", "!="), 99)
            of_each = self._pick(single, ("i", "count", "seen", "to_come", "digit_sum"))
            compare(of_each, small, ("<", ">", "=="), 5.0)
            residues = self._residues(self._pick(single, ("v", "i")))
            compare(residues, _constants_table((0, 1, 2), self.size), ("==", "!="), 99)
            return self._table_of(blocks, costs, sources)
        compare(single, small, ("<", ">", "==", "!="), 7.0)
        compare(single, single, ("<", ">", "==", "!=", "<=", ">="), 7.0)
        compare(single, _constants_table(tens, self.size), ("<", ">"), 7.6)
        residues = self._residues(single)
        compare(
            residues, _constants_table((0, 1, 2, 3, 4, 5), self.size), ("==", "!=", "<", ">"), 8.0
        )
        compare(residues, residues, ("==", "!="), 8.4)
        digits = self._residues(value)
        compare(digits, digits, ("<",), 99)
        compare(
            residues, self._pick(single, ("v", "i", "first", "n", "last")), ("==", "<", ">"), 8.0
        )
        near = self._neighbours(single)
        compare(near, single, ("==", "<", ">", "!="), 7.6)
        compare(near, small, ("==", "<", ">"), 8.4)
        return self._table_of(blocks, costs, sources)

    def count_kept(self) -> NDArray[np.float32]:
        """Return how many elements of each list pass each test, shape (tests, lists)."""
        if self._kept is None:
            self._kept = self.build_masks().rows.astype(np.float32) @ self.segments
        return self._kept

    def _table_of(
        self,
        blocks: list[NDArray[np.bool_]],
        costs: list[NDArray[np.float64]],
        sources: Sources,
    ) -> Table:
        rows, prices = np.concatenate(blocks), np.concatenate(costs)
        keys = compute_row_keys(rows)
        keep = select_distinct(keys, prices, MAX_MASKS)

        def recipe(k: int) -> Node:
            op, a, b = sources[k]
            return Node(op, (a, b), float(prices[k]))

        made = Recipes(len(keep), lambda k: recipe(int(keep[k])))
        others = list_same_rows(keys, prices, keep, recipe)
        self._masks = Table(rows[keep], prices[keep], made, others)  # type: ignore[arg-type]
        return self._masks

    def _affine(self) -> Table:
        """Return multiples of v plus a digit."""
        value = Node("v", (), FEATURES["v"].cost)
        rows, recipes = [], []
        for factor in (2, 3, 4, 5):
            multiple = _term("*", constant_node(factor), value)
            for more in range(1, 10):
                rows.append(factor * self.flat + more)
                recipes.append(_term("+", multiple, constant_node(more)))
        return _table(rows, recipes, self.size)

    def restrict(self, picked: list[int]) -> Elements:
        """Return these elements for some of the example inputs, with the tables that are already
        built.

        Args:
            picked: Indices of the example inputs to keep.
        """
        made = Elements.__new__(Elements)
        made.base, made.budget, made.lean = self.base, self.budget, self.lean
        made._lay(tuple(self.lists[k] for k in picked))
        columns = np.isin(self.segment, picked)

        def select_columns(table: Table) -> Table:
            return Table(table.rows[:, columns], table.costs, table.recipes)

        made.simple = select_columns(self.simple)
        made._kept = None
        made._terms = None if self._terms is None else select_columns(self._terms)
        made._masks = None if self._masks is None else select_columns(self._masks)
        return made

    def _pick(self, table: Table, names: tuple[str, ...]) -> Table:
        keep = [k for k, r in enumerate(table.recipes) if r.op in names]
        return Table(table.rows[keep], table.costs[keep], [table.recipes[k] for k in keep])

    def _residues(self, table: Table) -> Table:
        rows, recipes = [], []
        for k, recipe in enumerate(table.recipes):
            for op, by in (
                ("%", 2),
                ("%", 3),
                ("%", 4),
                ("%", 5),
                ("%", 10),
                ("//", 10),
                ("//", 2),
            ):
                if recipe.cost + constant_cost(by) + TERMS[op][1] <= 6.8:
                    rows.append(_apply(op, table.rows[k], np.int64(by)))
                    recipes.append(_term(op, recipe, constant_node(by)))
        return _table(rows, recipes, self.size)

    def _neighbours(self, table: Table) -> Table:
        """Return sums and differences of v with one other feature or a small constant."""
        rows, recipes = [], []
        value = self._pick(table, ("v",))
        if not len(value):
            return _table([], [], self.size)
        for k, recipe in enumerate(table.recipes):
            for op in ("+", "-", "*", "abs"):
                if recipe.op != "v":
                    rows.append(_apply(op, value.rows[0], table.rows[k]))
                    recipes.append(_term(op, value.recipes[0], recipe))
        for c in (1, 2, 3):
            for op in ("+", "-", "*"):
                rows.append(_apply(op, value.rows[0], np.int64(c)))
                recipes.append(_term(op, value.recipes[0], constant_node(c)))
        return _table(rows, recipes, self.size)


def _term(op: str, a: Node, b: Node) -> Node:
    return Node(op, (a, b), a.cost + b.cost + TERMS[op][1] - _discount(op, b))


def _discount(op: str, b: Node) -> float:
    """Return the discount for last digits, tens and parity, which people often look at."""
    return 2.0 if op in ("%", "//") and b.op == "const" and b.args[0] in (2, 10) else 0.0


def _table(rows: list[Rows], recipes: list[Node], size: int) -> Table:
    data = np.array(rows, dtype=np.int64).reshape(len(rows), size)
    return Table(data, np.array([r.cost for r in recipes]), recipes)


def _constants_table(scalars: tuple[int, ...], size: int) -> Table:
    rows = np.array(scalars, dtype=np.int64)[:, None].repeat(size, axis=1)
    return Table(
        rows, np.array([constant_cost(c) for c in scalars]), [constant_node(c) for c in scalars]
    )


def _apply(op: str, a: Rows, b: Rows | np.int64) -> Rows:
    made: Rows = _ufunc(op)(a, b)
    return np.abs(made) if op == "abs" else made


def _ufunc(op: str) -> np.ufunc:
    return {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "//": np.floor_divide,
        "%": np.mod,
        "min": np.minimum,
        "max": np.maximum,
        "abs": np.subtract,
    }[op]


def _narrow(a: Rows, b: Rows) -> tuple[Any, Any]:
    """Return two tables as integers of 16 bits if all numbers are that small. They compare faster."""
    small = all(
        not rows.size or (rows.min() >= -(1 << 15) and rows.max() < 1 << 15) for rows in (a, b)
    )
    return (a.astype(np.int16), b.astype(np.int16)) if small else (a, b)


def _compare(op: str, a: Rows, b: Rows) -> NDArray[np.bool_]:
    if op == "<":
        return np.less(a, b)
    if op == ">":
        return np.greater(a, b)
    if op == "==":
        return np.equal(a, b)
    if op == "!=":
        return np.not_equal(a, b)
    if op == "<=":
        return np.less_equal(a, b)
    return np.greater_equal(a, b)
