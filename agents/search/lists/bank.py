"""The bank: every list reached from the input, one program a value, enumerated smallest first.

Two programs with the same values on all shown inputs are one entry (observational equivalence);
the cheaper stays. Programs whose values are the goal are all kept as candidates, for they differ
on other inputs.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from ..budget import Budget
from .grammar import (
    LARGEST_COUNT,
    LARGEST_INTEGER,
    LONGEST_VALUE,
    REPEATING,
    UNARY_LIST,
    Node,
    X,
    constant,
    modest,
    node,
    run,
)

Lists = tuple[tuple[int, ...], ...]
Ints = tuple[int | None, ...]  # None: not there on that input

_GUARDED = (IndexError, ValueError, ZeroDivisionError, TypeError, OverflowError, MemoryError)


class Bank:
    """entries: value -> (cost, node). order: values by cost of expansion."""

    def __init__(self, inputs: Lists, goal: Lists) -> None:
        self.inputs = inputs
        self.goal = goal
        self.count = len(inputs)
        self.full = (1 << self.count) - 1
        self.entries: dict[Lists, Node] = {}
        self.hits: list[Node] = []
        self.partial: dict[int, Node] = {}  # mask of the inputs it is right on -> cheapest
        self.heap: list[tuple[float, int, Lists, int]] = []
        self.ticket = 0
        self.ints: dict[Ints, Node] = {}
        self._sorted: tuple[int, list[tuple[Lists, Node]]] = (0, [])
        self._sorted_ints: tuple[int, list[tuple[Ints, Node]]] = (0, [])

    def add(self, values: Lists, program: Node) -> bool:
        """Enters a list program; True where its value is new or cheaper than before."""
        mask = 0
        for k, (a, b) in enumerate(zip(values, self.goal, strict=True)):
            if a == b:
                mask |= 1 << k
        if mask:
            if mask == self.full:
                self.hits.append(program)
            known = self.partial.get(mask)
            if known is None or program.cost < known.cost:
                self.partial[mask] = program
        old = self.entries.get(values)
        if old is not None and old.cost <= program.cost:
            return False
        self.entries[values] = program
        return old is None

    def push(self, values: Lists, cost: float, tier: int = 0) -> None:
        self.ticket += 1
        heapq.heappush(
            self.heap, (cost + (_TIER_COST[tier] if cost else 0.0), self.ticket, values, tier)
        )

    def cheapest(self, count: int) -> list[tuple[Lists, Node]]:
        if self._sorted[0] != len(self.entries):
            items = sorted(self.entries.items(), key=lambda item: item[1].cost)
            self._sorted = (len(items), items[:CHEAPEST])
        return self._sorted[1][:count]

    def cheapest_ints(self, count: int) -> list[tuple[Ints, Node]]:
        if self._sorted_ints[0] != len(self.ints):
            items = sorted(self.ints.items(), key=lambda item: item[1].cost)
            self._sorted_ints = (len(items), items[:CHEAPEST])
        return self._sorted_ints[1][:count]

    # --- integers

    def add_int(self, values: Ints, program: Node) -> None:
        old = self.ints.get(values)
        if old is None or program.cost < old.cost:
            self.ints[values] = program

    def int_of(self, op: str, *operands: tuple[Any, Node]) -> None:
        function = run(op)
        out: list[int | None] = []
        for parts in zip(*(values for values, _ in operands), strict=True):
            if any(p is None for p in parts):
                out.append(None)
                continue
            try:
                value = function(*parts)
            except _GUARDED:
                value = None
            if value is not None and abs(value) > LARGEST_INTEGER:
                return
            out.append(value)
        if any(v is not None for v in out):
            self.add_int(tuple(out), node(op, *(n for _, n in operands)))

    def expand(self, budget: Budget) -> Iterator[None]:
        """One heap entry at a time, smallest first, until the budget or the heap is empty."""
        while self.heap and budget.left > 0:
            _, _, values, tier = heapq.heappop(self.heap)
            program = self.entries[values]
            lists = [list(v) for v in values]
            for made in _TIERS[tier](self, lists, program):
                op, *operands = made
                budget.charge(1)
                value = self.evaluate(*made)
                if value is None:
                    continue
                full = node(op, *(n for _, n in operands))
                if op in REPEATING and not modest(full):
                    continue
                if self.add(value, full) and full.cost < DEAREST:
                    self.push(value, full.cost)
            if tier + 1 < len(_TIERS):
                self.push(values, program.cost, tier + 1)
            yield

    def evaluate(self, op: str, *operands: tuple[Any, Node]) -> Lists | None:
        function = run(op)
        out = []
        if op in REPEATING and any(_large(v) for values, _ in operands for v in values):
            return None
        try:
            for parts in zip(*(values for values, _ in operands), strict=True):
                value = function(*parts)
                if len(value) > LONGEST_VALUE or any(abs(v) > LARGEST_INTEGER for v in value):
                    return None
                out.append(tuple(value))
        except _GUARDED:
            return None
        return tuple(out)


def _large(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) > LARGEST_COUNT
    return any(abs(v) > LARGEST_COUNT for v in value)


DEAREST = 14.0
CHEAPEST = 2500
_TIER_COST = (0.0, 2.0, 4.0)
Made = tuple[Any, ...]

_PLAIN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def constants(bank: Bank) -> list[int]:
    """Constants worth a try: the digits, and what the outputs hold that no input explains."""
    seen = [set(out) - set(inp) for inp, out in zip(bank.inputs, bank.goal, strict=True)]
    shared = set.intersection(*(set(out) for out in bank.goal)) if bank.goal else set()
    fresh = set().union(*seen) if len(bank.goal) > 1 else set()
    often = [c for c in fresh if sum(c in s for s in seen) * 2 >= len(seen)]
    return sorted({*often, *shared} - set(_PLAIN))[:12]


def _int_operands(bank: Bank, small: bool, most: int = 14) -> list[tuple[tuple[int, ...], Node]]:
    cheap = bank.cheapest_ints(most)
    found = []
    for values, program in cheap:
        there = tuple(v for v in values if v is not None)
        if len(there) == len(values) and (not small or max(map(abs, there)) <= 100):
            found.append((there, program))
    return found


def _const(bank: Bank, value: int) -> tuple[tuple[int, ...], Node]:
    return (value,) * bank.count, constant(value)


def _tier_unary(bank: Bank, lists: list[list[int]], program: Node) -> Iterable[Made]:
    here = (lists, program)
    for op in UNARY_LIST:
        yield op, here
    for k in (2, 3, 4):
        for op in ("take", "drop", "take_last", "drop_last", "nth", "omit"):
            yield op, here, _const(bank, k)
    for k in (1, 0, -2, -1):
        yield "omit", here, _const(bank, k)
    yield "nth", here, _const(bank, 1)


def _tier_constants(bank: Bank, lists: list[list[int]], program: Node) -> Iterable[Made]:
    here = (lists, program)
    others = constants(bank)
    for k in (*_PLAIN, *others):
        c = _const(bank, k)
        for op in (
            "append",
            "prepend",
            "without",
            "remove",
            "before",
            "after",
            "join",
            "each_then",
        ):
            yield op, here, c
        if 1 < k <= 10:
            for op in ("take", "drop", "take_last", "drop_last", "nth", "omit", "rotate",
                       "rotate_back", "times", "each", "larger", "step", "step_from", "flip_head",
                       "flip_tail", "sort_head", "sort_tail", "chunks", "chunk_flip", "lag"):  # fmt: skip
                yield op, here, c
    for number in _int_operands(bank, small=True, most=30 if program.op == "x" else 14):
        for op in ("append", "prepend", "take", "drop", "take_last", "drop_last", "nth", "omit",
                   "without", "times", "each", "rotate", "remove", "before", "after"):  # fmt: skip
            yield op, here, number


def _tier_pairs(bank: Bank, lists: list[list[int]], program: Node) -> Iterable[Made]:
    here = (lists, program)
    longest = max((len(v) for v in lists), default=0)
    places = [_const(bank, k) for k in range(min(longest, 7))]
    values = [_const(bank, k) for k in (*_PLAIN, *constants(bank))]
    values += _int_operands(bank, small=False)
    for a, place in enumerate(places):
        for other in places[a + 1 :]:
            for op in ("slice", "swap", "cut"):
                yield op, here, place, other
        for value in values:
            yield "insert", here, place, value
            yield "put", here, place, value
    for place in (_const(bank, -1), _const(bank, -2)):
        for value in values:
            yield "insert", here, place, value
    for value in values[: len(_PLAIN) + 4]:
        for other in values:
            if value[1] is not other[1]:
                yield "replace", here, value, other


_TIERS = (_tier_unary, _tier_constants, _tier_pairs)


def start(inputs: Lists, goal: Lists) -> Bank:
    """A bank that holds the input and the integers of it."""
    bank = Bank(inputs, goal)
    bank.add(inputs, X)
    bank.push(inputs, 0.0)
    lists = [list(v) for v in inputs]
    for op in ("len", "head", "end", "max", "min", "sum", "distinct", "mode", "where_max",
               "where_min", "middle", "median", "descents", "range_of", "product", "mean"):  # fmt: skip
        bank.int_of(op, (lists, X))
    for k in (1, 2, 3, 4, 5, -2, -3):
        bank.int_of("at", (lists, X), _const(bank, k))
    for k in (2, 3):
        bank.int_of("nth_largest", (lists, X), _const(bank, k))
        bank.int_of("nth_least", (lists, X), _const(bank, k))
    return bank
