"""Conditionals on the input: one program if a test on the input list holds, another program
if not.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Bank, Ints, Lists
from .element_goals import FILTER, MAP, MAP_FILTER, find_distance_sorts, flatten, is_subsequence
from .element_lists import find_replacements_in_rows
from .elements import Elements
from .grammar import OPERATIONS, Node, X, constant_node, operation_node
from .tables import Table

_IF = 4.0
# Tests such as "is sorted" and "is a palindrome".
_ORDERS = ("reverse", "sort", "sort_down", "unique")
_EDGES = {"gt": 0.5, "lt": -0.5}  # between the constant and the next value
TestsByMask = dict[int, list[Node]]


def find_tests(bank: Bank) -> TestsByMask:
    """Return the cheapest tests on the input list, grouped by the example inputs that pass the
    test.

    Returns:
        A mapping from a bit mask of example inputs to the tests that exactly these inputs pass,
        cheapest first.
    """
    known = bank.cheapest_ints(2000)
    if bank.tests is None or bank.tests[0] is not bank.ints_version:
        bank.tests = bank.ints_version, _of_integers(bank, known)
    found = {mask: [*tests] for mask, tests in bank.tests[1].items()}
    for reached, program in bank.cheapest(30):
        if program.op != "x":
            same = [a == b for a, b in zip(reached, bank.inputs, strict=True)]
            extra = 0.0 if program.op in _ORDERS else 2.0
            for op, holds in (("same", same), ("differs", [not s for s in same])):
                mask = _mask(holds)
                if mask not in (0, bank.full):
                    test = operation_node(op, X, program)
                    found.setdefault(mask, []).append(test._replace(cost=test.cost + extra))
    return _cheapest_three(found)


def _cheapest_three(found: TestsByMask) -> TestsByMask:
    for tests in found.values():
        tests.sort(key=lambda n: n.cost)
        del tests[3:]
    return found


def _mask(holds: Iterable[bool]) -> int:
    return sum(1 << k for k, v in enumerate(holds) if v)


class _Ranked:
    """The values of an integer in order, to look up on which inputs they pass a threshold."""

    def __init__(self, values: Ints) -> None:
        there = sorted((v, k) for k, v in enumerate(values) if v is not None)
        self.values = [v for v, _ in there]
        # Masks of the k smallest values.
        self.first = [0, *itertools.accumulate(1 << k for _, k in there)]

    def masks(self, cut: int) -> dict[str, int]:
        """Return the masks of the inputs above, below, equal to, and different from `cut`."""
        below, upto = (self.first[find(self.values, cut)] for find in (bisect_left, bisect_right))
        there = self.first[-1]
        return {"gt": there ^ upto, "lt": below, "eq": upto ^ below, "ne": there ^ upto ^ below}

    def off(self, edge: float) -> float:
        """Return an extra cost for a threshold that is far from the middle of its gap."""
        at = bisect_left(self.values, edge)
        if not 0 < at < len(self.values):
            return 0.3
        low, high = self.values[at - 1], self.values[at]
        return 0.6 * abs(2 * edge - low - high) / (high - low)


class _Tests:
    """The three cheapest tests of each mask; among tests of equal cost the earliest."""

    def __init__(self, full: int) -> None:
        self.found: TestsByMask = {}
        self._trivial = (0, full)

    def offer(self, mask: int, op: str, cost: float, *parts: Node) -> None:
        """Add a test unless it is trivial or three tests of its mask are cheaper."""
        if mask in self._trivial:
            return
        tests = self.found.setdefault(mask, [])
        if len(tests) < 3 or cost < tests[2].cost:
            tests.append(Node(op, parts, cost))
            tests.sort(key=lambda n: n.cost)
            del tests[3:]


def _of_integers(bank: Bank, items: list[tuple[Ints, Node]]) -> TestsByMask:
    """Return tests of known integers and of the elements that the input holds."""
    tests = _Tests(bank.full)
    plain = [
        item for item in items if item[1].op not in ("countif", "sumif") and not _picked(item[1])
    ][:60]
    counted = [item for item in items if item[1].op == "countif"][:60]
    for values, program in plain + counted:
        ranked, counting = _Ranked(values), program.op == "countif"
        usual = 1.0 if program.op == "len" else 0.0
        for cut in _thresholds(values):
            if counting and cut > 3:
                continue
            c = constant_node(cut)
            for op, mask in ranked.masks(cut).items():
                if mask in (0, bank.full):
                    continue
                bound = c
                if op in _EDGES and not counting:
                    bound = c._replace(cost=c.cost + ranked.off(cut + _EDGES[op]) - usual)
                cost = OPERATIONS[op].cost + (program.cost + bound.cost)
                tests.offer(mask, op, cost, program, bound)
        if counting:
            continue
        for op, rest in (("odd", 1), ("even", 0)):
            mask = _mask(v is not None and v % 2 == rest for v in values)
            tests.offer(mask, op, _dear(operation_node(op, program)).cost, program)
    for k, (a, first) in enumerate(plain[:18]):
        for b, second in plain[k + 1 : 18]:
            for op, mask in _compared(a, b):
                tests.offer(mask, op, _mixed(operation_node(op, first, second)).cost, first, second)
    for value in _held(bank):
        c = constant_node(value)
        rare = 0.6 if value > 10 and sum(value in v for v in bank.inputs) > 2 else 0.0
        c = c._replace(cost=min(c.cost, 3.0) + 1.0 - rare)
        held = _mask(value in v for v in bank.inputs)
        tests.offer(held, "has", operation_node("has", X, c).cost, X, c)
        tests.offer(bank.full ^ held, "lacks", operation_node("lacks", X, c).cost, X, c)
    for values, program in plain[:10]:
        if None not in values and program.op == "head":
            rest_of = operation_node("tail", X)
            holds = (p in v[1:] for p, v in zip(values, bank.inputs, strict=True))
            tests.offer(
                _mask(holds), "has", operation_node("has", rest_of, program).cost, rest_of, program
            )
    return tests.found


def _compared(a: Ints, b: Ints) -> Iterator[tuple[str, int]]:
    """Yield masks of the inputs on which a is greater than, less than, equal to or not b."""
    pairs = list(enumerate(zip(a, b, strict=True)))
    there = sum(1 << k for k, (p, q) in pairs if p is not None and q is not None)
    more = sum(1 << k for k, (p, q) in pairs if p is not None and q is not None and p > q)
    same = sum(1 << k for k, (p, q) in pairs if p is not None and p == q)
    yield from (("gt", more), ("lt", there ^ more ^ same), ("eq", same), ("ne", there ^ same))


def _held(bank: Bank) -> list[int]:
    """Return the digits, and the numbers that two or more inputs hold.

    A large number seldom occurs twice by chance.
    """
    times = Counter(value for v in bank.inputs for value in set(v))
    often = sorted(v for v, count in times.items() if count > 1 and not 0 <= v <= 10)
    return [*range(11), *often]


def _picked(program: Node) -> bool:
    return any(isinstance(part, Node) and part.op == "filter" for part in program.args)


def _dear(test: Node) -> Node:
    """Add the extra cost of a parity test on anything but a length or an end."""
    integer = test.args[0]
    plain = integer.op in ("len", "head", "end") and integer.args[0].op == "x"
    extra = 0.0 if plain else 2.0
    return test._replace(cost=test.cost + extra)


_ELEMENTS = ("head", "end", "at", "max", "min", "middle", "median", "nth_least", "nth_largest")


def _mixed(test: Node) -> Node:
    """Add the extra cost of comparing an element with a length, a count or a place."""
    a, b = (part.op in _ELEMENTS for part in test.args)
    extra = 1.5 if test.op in ("eq", "ne") else 0.0  # two elements are more often compared by size
    return test._replace(cost=test.cost + (extra if a and b else 2.0))


def _thresholds(values: Ints) -> list[int]:
    """Return cuts between the values seen, at the roundest number of each gap, and 0 to 10."""
    seen = sorted({v for v in values if v is not None})
    cuts = {c for c in range(11) if seen and seen[0] - 1 <= c <= seen[-1] + 1}
    for low, high in itertools.pairwise(seen):
        cuts.add(min(range(low, high + 1), key=lambda c: (c % 10 != 0, c % 5 != 0, c))
                 if high - low < 1000 else low)  # fmt: skip
    cuts |= set(seen[:12])
    return sorted(cuts)


MAX_INPUTS = 12  # maximum number of inputs: there is one program for each subset


def cheapest_by_superset(partial: dict[int, Node], count: int) -> dict[int, Node]:
    """Return, for each mask, the cheapest program that is right on at least the inputs of the mask.

    Args:
        partial: The known programs, by the bit mask of the example inputs on which each is right.
        count: Number of example inputs.
    """
    best: list[Node | None] = [None] * (1 << count)
    for mask, program in partial.items():
        old = best[mask]
        if old is None or program.cost < old.cost:
            best[mask] = program
    for bit in range(count):
        for mask in range(1 << count):
            if not mask >> bit & 1:
                other, mine = best[mask | 1 << bit], best[mask]
                if other is not None and (mine is None or other.cost < mine.cost):
                    best[mask] = other
    return {mask: program for mask, program in enumerate(best) if program is not None}


def join_branches(
    partial: dict[int, Node], tests: TestsByMask, count: int, full: int
) -> Iterator[Node]:
    """Yield programs of the form `if test: a else b` that are right on all example inputs.

    Nothing is yielded for more than `MAX_INPUTS` example inputs.

    Args:
        partial: The known programs, by the bit mask of the example inputs on which each is right.
        tests: The known tests, by the bit mask of the example inputs that pass the test.
        count: Number of example inputs.
        full: Bit mask of all example inputs.
    """
    if count > MAX_INPUTS:
        return
    best = cheapest_by_superset(partial, count)
    for mask, some in tests.items():
        then, other = best.get(mask), best.get(full & ~mask)
        if then is None or other is None or then == other:
            continue
        for test in some:
            cost = _IF + test.cost + then.cost + other.cost
            yield Node("if", (test, then, other), cost)


# --- Maps, filters and counts of many computed lists at once.
#
# Between two steps of a chain stands a list that no goal determines. Such lists are taken from the
# bank in bundles: the elements of `LISTS_PER_BUNDLE` lists are laid end to end in one vector, and only the
# plainest terms and predicates are built for them (`Elements` with `lean`). A list then costs about
# 1.5 ms instead of 40.

LISTS_PER_BUNDLE = 12
EXPANSIONS_PER_LIST = 60.0  # expansions per list
_COUNT, _SUM = 2.2, 2.6
_FEW = 3  # maximum number of programs of one kind per list
Bases = Sequence[tuple[Lists, Node]]


class Bundle:
    """Several known lists whose elements are evaluated together, as one vector.

    Args:
        bases: Pairs (value, program). A value is one list per example input.
        inputs: The example inputs.
        budget: Budget that the work is charged to.
    """

    def __init__(self, bases: Bases, inputs: Lists, budget: Budget) -> None:
        self.bases, self.count = bases, len(inputs)
        lists = tuple(row for values, _ in bases for row in values)
        self.elements = Elements(X, lists, inputs * len(bases), budget, lean=True)
        self.charge(budget)

    def charge(self, budget: Budget) -> None:
        """Charge the evaluation of all lists of this bundle to `budget`."""
        budget.charge(EXPANSIONS_PER_LIST * len(self.bases))

    def solve_lists(self, goal: Lists) -> Iterator[Node]:
        """Yield maps, filters and filtered maps of one list of this bundle that reach the goal.

        Args:
            goal: The wanted list for each example input.
        """
        lengths, target = np.array([len(out) for out in goal]), flatten(goal)
        self.elements.build_terms(target)
        for k, (values, base) in enumerate(self.bases):
            if [len(v) for v in values] == lengths.tolist():
                yield from self._maps(k, base, target)
                yield from self._replaced(k, base, target)
                if all(sorted(v) == sorted(o) for v, o in zip(values, goal, strict=True)):
                    yield from find_distance_sorts(base, values, goal)
            elif is_subsequence(values, goal):
                yield from self._filters(k, base, lengths, target)
            if all(len(v) >= n for v, n in zip(values, lengths, strict=True)):
                yield from self._map_filters(k, base, lengths, target)

    def solve_integers(self, goal: tuple[int, ...]) -> Iterator[Node]:
        """Yield programs that reduce one list of this bundle to the wanted integers.

        A program counts or adds the elements that pass a test, or returns the first, last, largest
        or smallest element that passes a test.

        Args:
            goal: The wanted integer for each example input.
        """
        masks = self.elements.build_masks()
        rows = masks.rows.astype(np.float32)
        wanted = np.array(goal, dtype=np.float32)
        for k, (_, base) in enumerate(self.bases):
            part, rooms = self._part(k)
            segments = self.elements.segments[part, rooms]
            values = self.elements.flat[part].astype(np.float32)[:, None]
            for op, price, weights in (
                ("countif", _COUNT, segments),
                ("sumif", _SUM, segments * values),
            ):
                hits = np.flatnonzero((rows[:, part] @ weights == wanted).all(axis=1))
                for hit in hits[:_FEW].tolist():
                    test = masks.recipes[hit]
                    folded = Node(op, (base, test), price + base.cost + test.cost)
                    yield Node("single", (folded,), folded.cost + 0.8)
            yield from self._picked(k, base, goal)

    def _picked(self, k: int, base: Node, goal: tuple[int, ...]) -> Iterator[Node]:
        """Yield the first, last, largest or smallest of the elements that pass a test."""
        masks, (_, rooms) = self.elements.build_masks(), self._part(k)
        right = {op: np.ones(len(masks), dtype=bool) for op in ("head", "end", "max", "min")}
        for j, wanted in zip(range(rooms.start, rooms.stop), goal, strict=True):
            room = slice(self.elements.starts[j], self.elements.starts[j + 1])
            values = self.elements.flat[room]
            if wanted not in values:
                return
            held = masks.rows[:, room]
            right["head"] &= held.any(axis=1) & (values[held.argmax(axis=1)] == wanted)
            right["end"] &= held.any(axis=1)
            right["end"] &= values[len(values) - 1 - held[:, ::-1].argmax(axis=1)] == wanted
            there = held[:, values == wanted].any(axis=1)
            right["max"] &= there & ~held[:, values > wanted].any(axis=1)
            right["min"] &= there & ~held[:, values < wanted].any(axis=1)
        for op, fits in right.items():
            for hit in np.flatnonzero(fits)[:_FEW].tolist():
                test = masks.recipes[hit]
                integer = operation_node(
                    op, Node("filter", (base, test), FILTER + base.cost + test.cost)
                )
                yield Node("single", (integer,), integer.cost + 0.8)

    def _part(self, k: int) -> tuple[slice, slice]:
        """Return where the elements of list k lie, and its rows among all."""
        rooms = slice(k * self.count, (k + 1) * self.count)
        return slice(self.elements.starts[rooms.start], self.elements.starts[rooms.stop]), rooms

    def _maps(self, k: int, base: Node, target: NDArray[Any]) -> Iterator[Node]:
        terms, (part, _) = self.elements.build_terms(target), self._part(k)
        if not len(target):
            return
        near = np.flatnonzero(terms.rows[:, part.start] == target[0])
        hits = near[(terms.rows[near, part] == target).all(axis=1)]
        for hit in hits[:_FEW].tolist():
            if terms.recipes[hit].op != "v":
                cost = MAP + base.cost + terms.recipes[hit].cost
                yield Node("map", (base, terms.recipes[hit]), cost)

    def _replaced(self, k: int, base: Node, target: NDArray[Any]) -> Iterator[Node]:
        terms, masks, (part, _) = (
            self.elements.build_terms(target),
            self.elements.build_masks(),
            self._part(k),
        )
        here = (Table(t.rows[:, part], t.costs, t.recipes) for t in (terms, masks))
        yield from find_replacements_in_rows(base, self.elements.flat[part], target, *here)

    def _fits(self, k: int, lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the tests that keep as many elements as the goal has, and their rows on list k."""
        masks, (part, rooms) = self.elements.build_masks(), self._part(k)
        here = masks.rows[:, part]
        kept = here.astype(np.float32) @ self.elements.segments[part, rooms]
        hits = np.flatnonzero((kept == lengths).all(axis=1))
        return hits, here[hits]

    def _filters(
        self, k: int, base: Node, lengths: NDArray[Any], target: NDArray[Any]
    ) -> Iterator[Node]:
        masks, values = self.elements.build_masks(), self.elements.flat[self._part(k)[0]]
        found = 0
        for hit, row in zip(*self._fits(k, lengths), strict=True):
            if found < _FEW and np.array_equal(values[row], target):
                found += 1
                test = masks.recipes[int(hit)]
                yield Node("filter", (base, test), FILTER + base.cost + test.cost)

    def _map_filters(
        self, k: int, base: Node, lengths: NDArray[Any], target: NDArray[Any]
    ) -> Iterator[Node]:
        masks, terms = self.elements.build_masks(), self.elements.build_terms(target)
        part, _ = self._part(k)
        if not len(target):
            return
        hits, rows = self._fits(k, lengths)
        for hit, row in list(zip(hits, rows, strict=True))[:20]:
            if row.all():
                continue
            good = np.flatnonzero((terms.rows[:300, part][:, row] == target).all(axis=1))[:1]
            for t in good.tolist():
                test, term = masks.recipes[int(hit)], terms.recipes[t]
                if term.op != "v":
                    cost = MAP_FILTER + base.cost + test.cost + term.cost
                    yield Node("map_filter", (base, test, term), cost)


__all__ = ["LISTS_PER_BUNDLE", "Bundle"]
