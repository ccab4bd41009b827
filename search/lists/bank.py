"""Bank of all lists computed from the input so far, with the cheapest program for each value.

A value is one list per example input. Two programs with the same value are one entry of the bank
(observational equivalence), and the cheaper program is kept. Programs whose value equals the goal
are all kept as candidates, because two of these programs may differ on other inputs.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from ..budget import Budget
from .batched_expansion import BlockEvaluator, Outcome, Plan
from .entries import Entries, ExpandedList, Integers, build_program
from .entries import Ints as Ints
from .entries import Lists as Lists
from .grammar import (
    LARGEST_COUNT,
    LARGEST_INTEGER,
    LONGEST_VALUE,
    REPEATING,
    UNARY_LIST,
    Node,
    X,
    compile_operation,
    constant_node,
    operation_node,
)

Due = tuple[float, int, int, int]  # cost, ticket, place of the entry, tier

_GUARDED = (IndexError, ValueError, ZeroDivisionError, TypeError, OverflowError, MemoryError)


class Bank:
    """The known programs of one problem, stored by value, with a queue of lists to build on.

    A value is one list, or one integer, per example input.

    Args:
        inputs: The example inputs.
        goal: The wanted list for each example input.

    Attributes:
        entries: List programs by value.
        heap: Priority queue of the lists to build on, by cost.
        hits: Programs whose value equals the goal.
        partial: For each set of example pairs (a bit mask), the cheapest program that is right on
            exactly these pairs.
        ints: Integer programs by value.
    """

    def __init__(self, inputs: Lists, goal: Lists) -> None:
        self.inputs = inputs
        self.goal = goal
        self.count = len(inputs)
        self.full = (1 << self.count) - 1
        self.entries = Entries()
        self.hits: list[Node] = []
        self.partial: dict[int, Node] = {}  # mask of the inputs it is right on -> cheapest program
        self.heap: list[Due] = []
        self.ahead: list[tuple[Due, Outcome]] = []  # evaluated in advance, cheapest first
        self.ticket = 0
        self.ints = Integers()
        self.blocks = BlockEvaluator(goal, self.evaluate)
        self.plans: dict[tuple[int, int, bool], tuple[list[tuple[Ints, Node]], Plan]] = {}
        self.tests: tuple[object, dict[int, list[Node]]] | None = None  # cache of conditionals.py
        self.reductions: dict[tuple[int, ...], tuple[int | None, ...]] = {}  # cache of integers.py
        self.operands: tuple[object, Any] = None, None  # cache of integers.py
        self._sorted: tuple[int, list[tuple[Lists, Node]]] = (0, [])
        self._sorted_ints: tuple[int, list[tuple[Ints, Node]]] = (0, [])

    def add(self, values: Lists, program: Node) -> bool:
        """Add a list program, and return whether the value is new.

        Args:
            values: The value of the program: one list per example input.
            program: The program.
        """
        self._compare(values, program)
        return self.entries.add(values, program)

    def _compare(self, values: Lists, program: Node) -> None:
        """Keep a program that is right on some or all of the shown pairs."""
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

    def push(self, values: Lists, cost: float, tier: int = 0) -> None:
        """Queue a value of the bank, so that `expand` builds programs on it.

        Args:
            values: The value: one list per example input.
            cost: Priority in the queue; the lowest cost is expanded first.
            tier: Index of the group of operations to apply. Later groups have a surcharge.
        """
        self._push(self.entries.place_of(values), cost, tier)

    def _push(self, place: int, cost: float, tier: int) -> None:
        self.ticket += 1
        due = cost + (_TIER_COST[tier] if cost else 0.0), self.ticket, place, tier
        heapq.heappush(self.heap, due)

    def cheapest(self, count: int) -> list[tuple[Lists, Node]]:
        """Return at most `count` list programs with their values, cheapest first."""
        if self._sorted[0] != len(self.entries):
            self._sorted = (len(self.entries), self.entries.cheapest(MAX_CHEAPEST))
        return self._sorted[1][:count]

    @property
    def ints_version(self) -> object:
        """Return an object whose identity changes only when the result of `cheapest_ints`
        changes.
        """
        return self._sorted_ints[1]

    def cheapest_ints(self, count: int) -> list[tuple[Ints, Node]]:
        """Return at most `count` integer programs with their values, cheapest first."""
        if self._sorted_ints[0] != len(self.ints):
            self._sorted_ints = (len(self.ints), self.ints.cheapest(MAX_CHEAPEST))
        return self._sorted_ints[1][:count]

    # --- integers

    def add_int(self, values: Ints, program: Node) -> None:
        """Add an integer program.

        Args:
            values: For each example input, the integer, or None if the program is undefined.
            program: The program.
        """
        self.ints.add(values, program.cost, program)

    def add_int_operation(self, op: str, *operands: tuple[Any, Node]) -> None:
        """Add the integer program that applies an operation to operands.

        No program is added if the operation fails on all example inputs, or if a result is too
        large.

        Args:
            op: Name of the operation in `OPERATIONS`.
            operands: For each operand, its value on each example input, and its program.
        """
        function = compile_operation(op)
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
            self.add_int(tuple(out), operation_node(op, *(n for _, n in operands)))

    def expand(self, budget: Budget) -> Iterator[None]:
        """Build programs on one queued list after another, cheapest first, and yield after each
        list.

        The iteration ends when the budget is spent or no list is left.
        """
        while (self.heap or self.ahead) and budget.left > 0:
            (_, _, place, tier), outcome = self._next(budget)
            program = self.entries.node(place)
            budget.charge(len(outcome.codes))
            self._enter(place, program, outcome)
            if tier + 1 < len(_TIERS):
                self._push(place, program.cost, tier + 1)
            yield

    def _next(self, budget: Budget) -> tuple[Due, Outcome]:
        """Return the next list due, with its outcome.

        Lists that are due later are evaluated together with it.
        """
        if not self.ahead or (self.heap and self.heap[0] < self.ahead[0][0]):
            most = min(LISTS_PER_BATCH, int(budget.left) // 200 + 1) if self.heap[0][0] else 1
            taken = [heapq.heappop(self.heap) for _ in range(min(most, len(self.heap)))]
            self.ahead = sorted([*self.ahead, *zip(taken, self._outcomes(taken), strict=True)],
                                key=lambda item: item[0])  # fmt: skip
        due, outcome = self.ahead.pop(0)
        if due[3] and outcome.plan is not self._plan(due):  # integers were added since
            (outcome,) = self._outcomes([due])
        return due, outcome

    def _outcomes(self, taken: list[Due]) -> list[Outcome]:
        groups: dict[int, tuple[Plan, list[int]]] = {}
        for k, due in enumerate(taken):
            plan = self._plan(due)
            groups.setdefault(id(plan), (plan, []))[1].append(k)
        made: dict[int, Outcome] = {}
        for plan, some in groups.values():
            values = [self.entries.values(taken[k][2]) for k in some]
            made.update(zip(some, self.blocks.evaluate_plan(plan, values), strict=True))
        return [made[k] for k in range(len(taken))]

    def _plan(self, due: Due) -> Plan:
        """Return the programs of a tier over a list.

        They depend on the known integers, on the number of places in the list, and on whether it is
        the input.
        """
        program, tier = self.entries.node(due[2]), due[3]
        lists = [list(v) for v in self.entries.values(due[2])]
        longest = min(max(map(len, lists), default=0), MOST_PLACES) if tier == 2 else 0
        integers = self.cheapest_ints(MOST_OPERANDS) if tier else []
        key = tier, longest, program.op == "x"
        known = self.plans.get(key)
        if known is None or known[0] != integers:
            slots = [(op, tuple(rest)) for op, _, *rest in _TIERS[tier](self, lists, program)]
            known = self.plans[key] = integers, Plan(slots)
        return known[1]

    def _enter(self, place: int, program: Node, outcome: Outcome) -> None:
        plan, entries = outcome.plan, self.entries
        popped = ExpandedList(program, tuple(list(v) for v in entries.values(place)), plan.slots)
        costs = plan.compute_costs(program.cost)
        there, right = outcome.defined, outcome.right
        if any(plan.repeating):
            apt = plan.mask_modest(program)
            there, right = [k for k in there if apt[k]], [item for item in right if apt[item[0]]]
        for k, mask in right:
            best = self.partial.get(mask)
            if mask == self.full or best is None or costs[k] < best.cost:
                self._look(popped, k)
        entries.popped.append(popped)
        origin = len(entries.popped) - 1
        codes, places, prices = outcome.codes, entries.places, entries.costs
        origins, slots = entries.origins, entries.slots
        heap, ticket = self.heap, self.ticket
        for k in there:
            code, cost = codes[k], costs[k]
            known = places.get(code)
            if known is None:
                places[code] = known = len(prices)
                prices.append(cost)
                origins.append(origin)
                slots.append(k)
                if cost < MAX_COST:
                    ticket += 1
                    heapq.heappush(heap, (cost, ticket, known, 0))
            elif cost < prices[known]:
                entries.replace(known, cost, origin, k)
        self.ticket = ticket

    def _look(self, popped: ExpandedList, slot: int) -> None:
        """Evaluate a program that is right on some shown pairs by its text, and keep it."""
        op, operands = popped.slots[slot]
        values = self.evaluate(op, (popped.lists, popped.program), *operands)
        if values is not None:
            self._compare(values, build_program(popped, slot))

    def evaluate(self, op: str, *operands: tuple[Any, Node]) -> Lists | None:
        """Return the value of a list operation: one list per example input.

        The result is None if the operation fails on an input or if a list or an integer is too
        large.

        Args:
            op: Name of the operation in `OPERATIONS`.
            operands: For each operand, its value on each example input, and its program.
        """
        function = compile_operation(op)
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


MAX_COST = 14.0
MAX_CHEAPEST = 2500
LISTS_PER_BATCH = 128  # number of lists evaluated together
MOST_OPERANDS = 30  # number of computed integers, cheapest first, that a tier uses as operands
MOST_PLACES = 7  # number of places that operations on two places try
_TIER_COST = (0.0, 2.0, 4.0)
Made = tuple[Any, ...]

_PLAIN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def find_constants(bank: Bank) -> list[int]:
    """Return up to 12 constants worth trying besides 0 to 10.

    A constant is worth trying if all lists of the goal contain the constant. A constant is also
    worth trying if at least half of the lists contain the constant although the corresponding
    inputs do not.

    Args:
        bank: The bank with the example inputs and the goal, which is one wanted list per input.
    """
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
    return (value,) * bank.count, constant_node(value)


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
    others = find_constants(bank)
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
    places = [_const(bank, k) for k in range(min(longest, MOST_PLACES))]
    values = [_const(bank, k) for k in (*_PLAIN, *find_constants(bank))]
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


def create_bank(inputs: Lists, goal: Lists) -> Bank:
    """Return a bank that holds the input list and integers computed from the input list.

    Args:
        inputs: The example inputs.
        goal: The wanted list for each example input.
    """
    bank = Bank(inputs, goal)
    bank.add(inputs, X)
    bank.push(inputs, 0.0)
    lists = [list(v) for v in inputs]
    for op in ("len", "head", "end", "max", "min", "sum", "distinct", "mode", "where_max",
               "where_min", "middle", "median", "descents", "range_of", "product", "mean"):  # fmt: skip
        bank.add_int_operation(op, (lists, X))
    for k in (1, 2, 3, 4, 5, -2, -3):
        bank.add_int_operation("at", (lists, X), _const(bank, k))
    for k in (2, 3):
        bank.add_int_operation("nth_largest", (lists, X), _const(bank, k))
        bank.add_int_operation("nth_least", (lists, X), _const(bank, k))
    return bank
