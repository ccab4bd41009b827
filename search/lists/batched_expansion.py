"""Batched expansion of the bank: evaluate programs on many lists at once, by fingerprint.

The result of an operation on a list does not depend on when the result is computed. The bank
therefore takes several lists from its queue together, and all operations run on these lists as one
block. Then the bank adds the results list by list, in the same order and at the same cost as if
each list had been expanded alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .block_operations import (
    UNARY_KERNELS,
    Kernel,
    drop_first_equal,
    mask_repeatable,
    new_lists,
    repeat_each,
)
from .entries import Lists, Slot
from .fingerprints import (
    LONGEST,
    ONE,
    PAIRS,
    POWERS,
    SHIFT,
    Block,
    BoolArray,
    Codes,
    IntArray,
    Part,
    all_last_axis,
    combination_weights,
    fingerprint,
    power,
    unsigned,
)
from .grammar import _GROWING as GROWING
from .grammar import _MULTIPLYING as MULTIPLYING
from .grammar import (
    LARGEST_COUNT,
    LONGEST_VALUE,
    OPERATIONS,
    REPEATING,
    Node,
    is_modest,
    list_operations,
)

# --- Operations with one or two numbers on whole blocks of lists. The numbers are arrays of shape
# (many, rows), and each row gets as many results. If a kernel returns None, the operation runs by
# its Python text.


def _single(numbers: IntArray) -> Part:
    return Part(unsigned(numbers) + SHIFT, np.ones_like(numbers))


def _one_by_one(kernel: Callable[[Block, IntArray], Part]) -> Kernel:
    """Turn a kernel for one row of numbers (rows,) into a kernel for several rows."""

    def evaluate(b: Block, numbers: IntArray) -> Part:
        parts = [kernel(b, some) for some in numbers]
        everywhere = np.ones(b.rows, dtype=bool)
        fine = [everywhere if p.defined is None else p.defined for p in parts]
        return Part(
            np.stack([p.codes for p in parts]),
            np.stack([p.lengths for p in parts]),
            np.stack(fine),
        )

    return evaluate


def _fixed(kernel: Callable[[Block, int], Part]) -> Kernel:
    """Turn a kernel for one positive number into a kernel for several, each equal on all rows."""

    def evaluate(b: Block, numbers: IntArray) -> Part | None:
        if (numbers != numbers[:, :1]).any() or (numbers < 1).any():
            return None
        return _one_by_one(lambda b, k: kernel(b, int(k[0])))(b, numbers)

    return evaluate


def _times(b: Block, count: IntArray) -> Part:
    """Sum the first `count` powers of the list's own power, by the bits of `count`."""
    fine = mask_repeatable(b) & (np.abs(count) <= LARGEST_COUNT)
    lengths = b.lengths * np.maximum(count, 0)
    count = np.where(lengths > 0, np.minimum(count, LONGEST), 0)
    own = power(b.lengths)
    total, reach = np.zeros(count.shape, np.uint64), np.ones(count.shape, np.uint64)
    for bit in reversed(range(11)):
        total, reach = total * (ONE + reach), reach * reach
        odd = (count >> bit & 1).astype(bool)
        total = np.where(odd, total + reach, total)
        reach = np.where(odd, reach * own, reach)
    return Part(b.part.codes * total, lengths, fine)


def _step(b: Block, first: int, k: int) -> Part:
    if b.width <= first:
        return b.slice(0, 0)
    return Block(b.values[:, first::k], np.maximum(b.lengths - first + k - 1, 0) // k).part


def _chunks(b: Block, k: int) -> Part:
    many = -(-b.width // k)
    padded = np.zeros((b.rows, many * k), dtype=np.int64)
    padded[:, : b.width] = b.values
    return new_lists(padded.reshape(b.rows, many, k).sum(axis=2), -(-b.lengths // k))


def _chunk_flip(b: Block, k: int) -> Part:
    start = b.places // k * k
    last = np.minimum(start + k, b.lengths[:, None]) - 1
    return b.take(np.where(b.present, last - (b.places - start), 0)).part


def _lag(b: Block, k: int) -> Part:
    if b.width <= k:
        return b.slice(0, 0)
    return new_lists(b.values[:, k:] - b.values[:, :-k], np.maximum(b.lengths - k, 0))


def _sorted_head(b: Block, k: int) -> Part:
    return b.sort_between(np.zeros_like(b.lengths), np.minimum(b.lengths, k)).part


def _sorted_tail(b: Block, k: int) -> Part:
    return b.sort_between(np.minimum(b.lengths, k), b.lengths).part


def _before(b: Block, value: IntArray) -> Part:
    at, found = b.index_of(value)
    return b.slice_between(np.zeros_like(at), np.where(found, at, b.lengths))


def _after(b: Block, value: IntArray) -> Part:
    at, found = b.index_of(value)
    return b.slice_between(np.where(found, at + 1, b.lengths), b.lengths)


def _flip_head(b: Block, k: IntArray) -> Part:
    at = b.clip_index(k)
    return b.reversed_block.slice_between(
        b.lengths - at, np.broadcast_to(b.lengths, at.shape)
    ) + b.slice(k, None)


def _flip_tail(b: Block, k: IntArray) -> Part:
    at = b.clip_index(k)
    return b.slice(0, k) + b.reversed_block.slice_between(np.zeros_like(at), b.lengths - at)


def _join(b: Block, value: IntArray) -> Part:
    inner = np.maximum(b.lengths - 1, 0)
    odd = (unsigned(value) + SHIFT) * PAIRS[inner]
    return Part(b.even_codes + POWERS[1] * odd, np.broadcast_to(b.lengths + inner, value.shape))


def _each_then(b: Block, value: IntArray) -> Part:
    odd = (unsigned(value) + SHIFT) * PAIRS[b.lengths]
    return Part(b.even_codes + POWERS[1] * odd, np.broadcast_to(2 * b.lengths, value.shape))


def _replace(b: Block, old: IntArray, new: IntArray) -> Part:
    known: dict[bytes, Codes] = {}
    codes = np.empty(old.shape, dtype=np.uint64)
    weights = POWERS[: b.width]
    for k, wanted in enumerate(old):
        key = wanted.tobytes()
        if key not in known:
            same = (b.values == wanted[:, None]) & b.present
            known[key] = same.astype(np.uint64) @ weights
        codes[k] = known[key]
    made = b.part.codes + unsigned(new - old) * codes
    return Part(made, np.broadcast_to(b.lengths, made.shape))


def _swap(b: Block, p: IntArray, q: IntArray) -> Part:
    made = b.slice(0, p) + b.slice(q, q + 1) + b.slice(p + 1, q)
    return made + b.slice(p, p + 1) + b.slice(q + 1, None)


def _each_fixed(b: Block, k: IntArray) -> Part:
    part = repeat_each(b, np.broadcast_to(k[:, None], b.values.shape))
    fine = mask_repeatable(b) & (np.abs(k) <= LARGEST_COUNT)
    return Part(part.codes, part.lengths, fine)


NUMBERED_KERNELS: dict[str, Kernel] = {
    "take": lambda b, k: b.slice(0, k),
    "drop": lambda b, k: b.slice(k, None),
    "take_last": lambda b, k: b.slice(-k, None),
    "drop_last": lambda b, k: b.slice(0, -k),
    "step": _fixed(lambda b, k: _step(b, 0, k)),
    "step_from": _fixed(lambda b, k: _step(b, k - 1, k)),
    "nth": lambda b, k: b.slice(k, k + 1),
    "omit": lambda b, k: b.slice(0, k) + b.slice(k + 1, None),
    "without": _one_by_one(lambda b, k: b.compress(b.present & (b.values != k[:, None]))),
    "remove": _one_by_one(drop_first_equal),
    "append": lambda b, k: b.part + _single(k),
    "prepend": lambda b, k: _single(k) + b.part,
    "rotate": lambda b, k: b.slice(k, None) + b.slice(0, k),
    "rotate_back": lambda b, k: b.slice(-k, None) + b.slice(0, -k),
    "times": _times,
    "each": _one_by_one(_each_fixed),
    "larger": lambda b, k: b.sorted_block.slice(-k, None),
    "before": _one_by_one(_before),
    "after": _one_by_one(_after),
    "flip_head": _flip_head,
    "flip_tail": _flip_tail,
    "sort_head": _fixed(_sorted_head),
    "sort_tail": _fixed(_sorted_tail),
    "join": _join,
    "each_then": _each_then,
    "chunks": _fixed(_chunks),
    "chunk_flip": _fixed(_chunk_flip),
    "lag": _fixed(_lag),
    "slice": lambda b, p, q: b.slice(p, q),
    "insert": lambda b, p, v: b.slice(0, p) + _single(v) + b.slice(p, None),
    "put": lambda b, p, v: b.slice(0, p) + _single(v) + b.slice(p + 1, None),
    "swap": _swap,
    "cut": lambda b, p, q: b.slice(0, p) + b.slice(q, None),
    "replace": _replace,
}


KERNELS = {**UNARY_KERNELS, **NUMBERED_KERNELS}
NARROW = 16  # lists with up to this many elements go into one block, longer ones into another
WIDEST = 400  # longer lists run by the Python texts
Evaluate = Callable[..., Lists | None]


class Plan:
    """The operations to apply to a list, with their other operands and their costs.

    Args:
        slots: The operations, each with its operands besides the list.
    """

    def __init__(self, slots: list[Slot]) -> None:
        self.slots = slots
        prices = [[OPERATIONS[op].cost, *(n.cost for _, n in operands)] for op, operands in slots]
        most = max(map(len, prices))
        self.prices = np.array([p + [0.0] * (most - len(p)) for p in prices]).T
        parts = [[o for _, n in operands for o in list_operations(n)] for _, operands in slots]
        self.repeating = [op in REPEATING for op, _ in slots]
        self.growing = [any(o in GROWING for o in some) for some in parts]
        self.multiplying = [sum(o in MULTIPLYING for o in some) for some in parts]
        self.groups: dict[str, tuple[list[int], list[IntArray]]] = {}
        for k, (op, _) in enumerate(slots):
            self.groups.setdefault(op, ([], []))[0].append(k)
        for places, numbers in self.groups.values():
            for j in range(len(slots[places[0]][1])):
                numbers.append(np.array([slots[k][1][j][0] for k in places], dtype=np.int64))

    def compute_costs(self, base: float) -> list[float]:
        """Return the cost of each operation of this plan, applied to a list of cost `base`.

        The results equal the costs of `grammar.operation_node` to the last bit.
        """
        parts = base + self.prices[1] if len(self.prices) > 1 else base
        for more in self.prices[2:]:
            parts = parts + more
        return (self.prices[0] + parts).tolist()  # type: ignore[no-any-return]

    def mask_modest(self, program: Node) -> list[bool]:
        """Return for each operation of this plan whether the list of `program` is a safe operand.

        A list is no safe operand if the result could fill the memory (`grammar.is_modest`).
        """
        inner = list_operations(program)
        growing = any(o in GROWING for o in inner)
        many = sum(o in MULTIPLYING for o in inner)
        fine = is_modest(program)
        return [
            not repeats or (fine and not growing and not grows and many + more < 2)
            for repeats, grows, more in zip(
                self.repeating, self.growing, self.multiplying, strict=True
            )
        ]


class Outcome(NamedTuple):
    """The results of applying a plan to one list.

    Attributes:
        plan: The plan.
        codes: A fingerprint (a number) of the result of each operation.
        defined: Indices of the operations with a defined result.
        right: For each operation whose result is right on some example pairs, its index and a bit
            mask of these pairs.
    """

    plan: Plan
    codes: list[int]
    defined: list[int]
    right: list[tuple[int, int]]


class BlockEvaluator:
    """An evaluator that applies plans to many lists at once and compares the results with the goal.

    Args:
        goal: The wanted list for each example input.
        evaluate: Function that evaluates one operation by its Python text, for operations without a
            block version.
    """

    def __init__(self, goal: Lists, evaluate: Evaluate) -> None:
        self.count = len(goal)
        self.goal = np.array([fingerprint(out) for out in goal], dtype=np.uint64)
        self.combination_weights = np.array(combination_weights(self.count), dtype=np.uint64)
        self.evaluate = evaluate

    def evaluate_plan(self, plan: Plan, values: Sequence[Lists]) -> list[Outcome]:
        """Apply a plan to each value, and return one outcome per value.

        Args:
            plan: The operations to apply.
            values: The values. Each value is one list per example input.
        """
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
        block = Block.from_lists([v for value in values for v in value])
        shape = len(plan.slots), len(values), self.count
        codes: Codes = np.zeros((shape[0], shape[1] * shape[2]), dtype=np.uint64)
        fine: BoolArray = np.ones(codes.shape, dtype=bool)
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
            if part.defined is not None:
                fine[at] &= part.defined
        return self._cut(plan, codes.reshape(shape), fine.reshape(shape))

    def _run(self, slot: Slot, values: list[Lists], codes: Codes, fine: BoolArray) -> None:
        """Compute an operation by its Python text."""
        op, operands = slot
        for k, value in enumerate(values):
            made = self.evaluate(op, ([list(v) for v in value], None), *operands)
            part = slice(k * self.count, (k + 1) * self.count)
            fine[part] = made is not None
            if made is not None:
                codes[part] = [fingerprint(v) for v in made]

    def _cut(self, plan: Plan, codes: NDArray[np.uint64], fine: BoolArray) -> list[Outcome]:
        there = all_last_axis(fine).T
        equal = (codes == self.goal).transpose(1, 0, 2)
        some = there & np.logical_or.reduce(equal, axis=2)
        masks = np.packbits(equal[some], axis=1, bitorder="little")
        right: list[list[tuple[int, int]]] = [[] for _ in there]
        for of, slot, mask in zip(*(axis.tolist() for axis in some.nonzero()), masks, strict=True):
            right[of].append((slot, int.from_bytes(mask.tobytes(), "little")))
        whole = (codes @ self.combination_weights).T.tolist()
        return [
            Outcome(plan, made, np.flatnonzero(t).tolist(), r)
            for made, t, r in zip(whole, there, right, strict=True)
        ]
