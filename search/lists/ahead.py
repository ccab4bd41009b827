"""Programs of the bank, made ahead for many lists at once: fingerprints instead of values.

What an operation makes of a list does not depend on when it is asked for. So the lists that come next
off the heap are taken together, all operations run on them as one block (batches.py), and the bank then
takes list after list in its old order, at its old price, as if each had been computed for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .batches import ALONE
from .batches_numbered import NUMBERED
from .entries import Lists, Slot
from .fingerprints import Block, Codes, Truths, Whole, fingerprint, in_all, mixers
from .grammar import _GROWING as GROWING
from .grammar import _MULTIPLYING as MULTIPLYING
from .grammar import LONGEST_VALUE, OPERATIONS, REPEATING, Node, modest, operations

KERNELS = {**ALONE, **NUMBERED}
NARROW = 16  # elements: lists up to here go in one block, longer ones in another
WIDEST = 400  # lists with more run by the texts
Evaluate = Callable[..., Lists | None]


class Plan:
    """The programs that one tier makes of any list: operations with their operands, and prices."""

    def __init__(self, slots: list[Slot]) -> None:
        self.slots = slots
        prices = [[OPERATIONS[op].cost, *(n.cost for _, n in operands)] for op, operands in slots]
        most = max(map(len, prices))
        self.prices = np.array([p + [0.0] * (most - len(p)) for p in prices]).T
        parts = [[o for _, n in operands for o in operations(n)] for _, operands in slots]
        self.repeating = [op in REPEATING for op, _ in slots]
        self.growing = [any(o in GROWING for o in some) for some in parts]
        self.multiplying = [sum(o in MULTIPLYING for o in some) for some in parts]
        self.groups: dict[str, tuple[list[int], list[Whole]]] = {}
        for k, (op, _) in enumerate(slots):
            self.groups.setdefault(op, ([], []))[0].append(k)
        for places, numbers in self.groups.values():
            for j in range(len(slots[places[0]][1])):
                numbers.append(np.array([slots[k][1][j][0] for k in places], dtype=np.int64))

    def costs(self, base: float) -> list[float]:
        """As `grammar.node` adds them up, to the last bit."""
        parts = base + self.prices[1] if len(self.prices) > 1 else base
        for more in self.prices[2:]:
            parts = parts + more
        return (self.prices[0] + parts).tolist()  # type: ignore[no-any-return]

    def apt(self, program: Node) -> list[bool]:
        """Which programs over this one are modest (grammar.py)."""
        inner = operations(program)
        growing = any(o in GROWING for o in inner)
        many = sum(o in MULTIPLYING for o in inner)
        fine = modest(program)
        return [
            not repeats or (fine and not growing and not grows and many + more < 2)
            for repeats, grows, more in zip(
                self.repeating, self.growing, self.multiplying, strict=True
            )
        ]


class Outcome(NamedTuple):
    """What the programs of a plan make of one list: fingerprints of their values, which of them are
    there, and which of these are right on some shown pairs (a mask)."""

    plan: Plan
    codes: list[int]
    there: list[int]
    right: list[tuple[int, int]]


class Blocks:
    """Evaluates plans on many values; goal: the outputs."""

    def __init__(self, goal: Lists, evaluate: Evaluate) -> None:
        self.count = len(goal)
        self.goal = np.array([fingerprint(out) for out in goal], dtype=np.uint64)
        self.mixers = np.array(mixers(self.count), dtype=np.uint64)
        self.evaluate = evaluate

    def outcomes(self, plan: Plan, values: Sequence[Lists]) -> list[Outcome]:
        """One outcome a value."""
        made: list[Outcome | None] = [None] * len(values)
        longest = [max(map(len, v)) for v in values]
        for low, high in ((-1, NARROW), (NARROW, WIDEST), (WIDEST, 1 << 62)):
            chosen = [k for k, n in enumerate(longest) if low < n <= high]
            if chosen:
                some = [values[k] for k in chosen]
                for k, outcome in zip(chosen, self._block(plan, some, high > WIDEST), strict=True):
                    made[k] = outcome
        return [outcome for outcome in made if outcome is not None]

    def _block(self, plan: Plan, values: list[Lists], by_text: bool) -> list[Outcome]:
        block = Block.of([v for value in values for v in value])
        shape = len(plan.slots), len(values), self.count
        codes: Codes = np.zeros((shape[0], shape[1] * shape[2]), dtype=np.uint64)
        fine: Truths = np.ones(codes.shape, dtype=bool)
        for op, (places, numbers) in plan.groups.items():
            kernel = None if by_text else KERNELS.get(op)
            part = kernel and kernel(block, *(np.tile(n, len(values)) for n in numbers))
            if part is None:
                for k in places:
                    self._run(plan.slots[k], values, codes[k], fine[k])
                continue
            at: Any = places if numbers or len(places) > 1 else places[0]
            codes[at] = part.codes
            fine[at] = part.lengths <= LONGEST_VALUE
            if part.fine is not None:
                fine[at] &= part.fine
        return self._cut(plan, codes.reshape(shape), fine.reshape(shape))

    def _run(self, slot: Slot, values: list[Lists], codes: Codes, fine: Truths) -> None:
        """By the Python text of an operation."""
        op, operands = slot
        for k, value in enumerate(values):
            made = self.evaluate(op, ([list(v) for v in value], None), *operands)
            part = slice(k * self.count, (k + 1) * self.count)
            fine[part] = made is not None
            if made is not None:
                codes[part] = [fingerprint(v) for v in made]

    def _cut(self, plan: Plan, codes: NDArray[np.uint64], fine: Truths) -> list[Outcome]:
        there = in_all(fine).T
        equal = (codes == self.goal).transpose(1, 0, 2)
        some = there & np.logical_or.reduce(equal, axis=2)
        masks = np.packbits(equal[some], axis=1, bitorder="little")
        right: list[list[tuple[int, int]]] = [[] for _ in there]
        for of, slot, mask in zip(*(axis.tolist() for axis in some.nonzero()), masks, strict=True):
            right[of].append((slot, int.from_bytes(mask.tobytes(), "little")))
        whole = (codes @ self.mixers).T.tolist()
        return [
            Outcome(plan, made, np.flatnonzero(t).tolist(), r)
            for made, t, r in zip(whole, there, right, strict=True)
        ]
