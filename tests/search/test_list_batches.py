"""The bank of list functions evaluates many lists at once, by fingerprints. Held here: every operation
on blocks against its Python text, and the bank against one that evaluates program after program.

Internals: operations on blocks of lists are compared with their Python text one by one.
"""

from __future__ import annotations

import heapq
import random

import pytest
from peirce.search.budget import Budget
from peirce.search.lists import bank as banks
from peirce.search.lists.bank import Bank, create_bank
from peirce.search.lists.batched_expansion import KERNELS, Plan
from peirce.search.lists.entries import Entries, Integers, Lists
from peirce.search.lists.fingerprints import Block, fingerprint, value_code
from peirce.search.lists.grammar import (
    OPERATIONS,
    REPEATING,
    Node,
    X,
    constant_node,
    is_modest,
    operation_node,
)


def some_lists(seed: int) -> Lists:
    """Of many sizes: short and long, small numbers, large and negative ones, empty lists."""
    pick = random.Random(seed)
    largest = pick.choice([3, 12, 100, 3000, 10**9])
    least = pick.choice([0, 0, -largest])
    longest = pick.choice([1, 3, 8, 15, 24, 60, 200, 450])
    lists = [
        [pick.randint(least, largest) for _ in range(pick.randint(0, longest))] for _ in range(4)
    ]
    return tuple(map(tuple, [*lists, []]))


def some_slots(inputs: Lists, seed: int) -> list:
    """Every operation on one list, with constants and with numbers that differ from list to list."""
    pick = random.Random(seed)
    slots = []
    for op, operation in OPERATIONS.items():
        numbers = operation.takes[1:]
        if operation.kind != "list" or operation.takes[0] != "L" or "L" in numbers:
            continue
        for _ in range(8 if numbers else 1):
            operands = []
            for _ in numbers:
                k = pick.randint(-3, 11)
                values = tuple(
                    pick.choice([pick.randint(-5, 12), pick.randint(-3000, 3000), (*v, 0)[0]])
                    for v in inputs
                )
                other = pick.random() < 0.3
                operands.append((values, X) if other else ((k,) * len(inputs), constant_node(k)))
            slots.append((op, tuple(operands)))
    return slots


@pytest.mark.parametrize("seed", range(16))
def test_operations_on_blocks_are_what_their_texts_say(seed: int) -> None:
    inputs = some_lists(seed)
    bank = create_bank(inputs, inputs)
    slots = some_slots(inputs, seed)
    values = [inputs, tuple(v[::-1][:7] for v in inputs)]
    for value, outcome in zip(values, bank.blocks.evaluate_plan(Plan(slots), values), strict=True):
        there, right = set(outcome.defined), dict(outcome.right)
        for k, (op, operands) in enumerate(slots):
            made = bank.evaluate(op, ([list(v) for v in value], X), *operands)
            said = op, [numbers for numbers, _ in operands], value
            assert (made is not None) == (k in there), said
            if made is not None:
                assert value_code(made) == outcome.codes[k], said
                mask = sum(
                    1 << j for j, (a, b) in enumerate(zip(made, inputs, strict=True)) if a == b
                )
                assert mask == right.get(k, 0), said


def test_most_operations_of_the_bank_run_on_blocks() -> None:
    bank = create_bank(((3, 1, 2), (5,)), ((1,), (2,)))
    lists = [list(v) for v in bank.inputs]
    asked = {made[0] for tier in banks._TIERS for made in tier(bank, lists, X)}
    assert len(asked - set(KERNELS)) < 0.1 * len(asked), asked - set(KERNELS)


def test_a_fingerprint_is_the_same_alone_and_in_a_block() -> None:
    lists = [v for seed in range(20) for v in some_lists(seed)]
    assert Block.from_lists(lists).part.codes.tolist() == [fingerprint(v) for v in lists]
    distinct = {tuple(v) for v in lists}
    assert len({fingerprint(v) for v in distinct}) == len(distinct)
    assert fingerprint([]) != fingerprint([0]) != fingerprint([0, 0])


class OneByOne:
    """The bank as it was before blocks: each program evaluated by its text, in the same order."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.entries: dict[Lists, Node] = {bank.inputs: X}
        self.hits: list[Node] = []
        self.partial = dict(bank.partial)
        self.heap = [(0.0, 0, bank.inputs, 0)]
        self.ticket = 0

    def expand(self, budget: Budget) -> None:
        while self.heap and budget.left > 0:
            _, _, values, tier = heapq.heappop(self.heap)
            program = self.entries[values]
            for op, here, *operands in banks._TIERS[tier](
                self.bank, [list(v) for v in values], program
            ):
                budget.charge(1)
                made = self.bank.evaluate(op, here, *operands)
                full = operation_node(op, program, *(n for _, n in operands))
                if made is None or (op in REPEATING and not is_modest(full)):
                    continue
                if self.add(made, full) and full.cost < banks.MAX_COST:
                    self.push(made, full.cost, 0)
            if tier + 1 < len(banks._TIERS):
                self.push(values, program.cost, tier + 1)

    def push(self, values: Lists, cost: float, tier: int) -> None:
        self.ticket += 1
        due = cost + (banks._TIER_COST[tier] if cost else 0.0)
        heapq.heappush(self.heap, (due, self.ticket, values, tier))

    def add(self, values: Lists, program: Node) -> bool:
        pairs = enumerate(zip(values, self.bank.goal, strict=True))
        mask = sum(1 << k for k, (a, b) in pairs if a == b)
        if mask == self.bank.full:
            self.hits.append(program)
        if mask and (mask not in self.partial or program.cost < self.partial[mask].cost):
            self.partial[mask] = program
        old = self.entries.get(values)
        if old is None or program.cost < old.cost:
            self.entries[values] = program
        return old is None


@pytest.mark.parametrize("seed", [1, 2])
def test_the_bank_holds_what_it_would_if_it_went_one_by_one(seed: int) -> None:
    pick = random.Random(seed)
    inputs = tuple(tuple(pick.randrange(12) for _ in range(pick.randint(0, 6))) for _ in range(5))
    goal = tuple(tuple(sorted(v)[1:]) for v in inputs)
    bank = create_bank(inputs, goal)
    plain, budget = OneByOne(create_bank(inputs, goal)), Budget(12_000)
    for _ in bank.expand(budget):
        pass
    other = Budget(12_000)
    plain.expand(other)
    assert budget.spent == other.spent
    assert list(bank.entries.items()) == list(plain.entries.items())
    assert bank.hits == plain.hits != []
    assert bank.partial == plain.partial


def test_entries_are_a_mapping_in_the_order_of_their_first_program() -> None:
    entries = Entries()
    dear, cheap = Node("sort", (X,), 9.0), Node("tail", (X,), 1.8)
    assert entries.add(((1,), (2, 3)), dear) and entries.add(((2,), ()), X)
    assert not entries.add(((1,), (2, 3)), cheap)
    assert entries.get(((1,), (2, 3))) == cheap and ((1,), (2,)) not in entries
    assert list(entries.items()) == [(((1,), (2, 3)), cheap), (((2,), ()), X)]
    assert [n for _, n in entries.cheapest(5)] == [X, cheap]


def test_integers_make_a_program_when_it_is_wanted_and_keep_the_cheapest() -> None:
    made: list[int] = []

    def make(k: int) -> Node:
        made.append(k)
        return constant_node(k)

    numbers = Integers()
    numbers.add((1, None), 4.0, (make, 4))
    numbers.add((2, 2), 1.6, (make, 2))
    numbers.add((1, None), 5.0, (make, 9))
    assert numbers.cheapest(1) == [((2, 2), constant_node(2))] and made == [2]
    assert numbers.get((1, None)) == constant_node(4) and numbers.get((3, 3)) is None
    assert len(numbers) == 2
