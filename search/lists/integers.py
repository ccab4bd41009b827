"""Find programs that compute integers: one wanted integer per example input.

The programs use features of the input list, and counts and sums of the elements that pass a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import eq

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import _GUARDED, Bank, Ints
from .elements import Elements
from .grammar import (
    LARGEST_INTEGER,
    OPERATIONS,
    Node,
    compile_operation,
    constant_node,
    operation_node,
)
from .tables import Table, compute_row_keys

_COUNT, _SUM = 2.2, 2.6
_ABSENT = -(2**40)
_PICKS = ("product", "max", "min", "head", "end")


def add_counts(bank: Bank, elements: Elements) -> None:
    """Add to the bank the number of elements that pass each test, and the sum of these elements.

    Args:
        bank: The known lists and integers, which get the new integers.
        elements: The elements of one list, with the available tests.
    """
    masks = elements.build_masks()
    if not elements.size or not elements.budget.charge(2 * len(masks) / Budget.VECTOR):
        return
    rows = masks.rows.astype(np.float32)
    for op, price, weights in (
        ("countif", _COUNT, elements.segments),
        ("sumif", _SUM, elements.segments * elements.flat[:, None].astype(np.float32)),
    ):
        table = (rows @ weights).astype(np.int64)
        costs = (price + elements.base.cost) + masks.costs
        made_of = _counting(op, price, elements, masks)
        for k, values in _distinct_rows(table):
            bank.ints.add(values, float(costs[k]), (made_of, k))


def _counting(op: str, price: float, elements: Elements, masks: Table) -> Callable[[int], Node]:
    def build_node(k: int) -> Node:
        test = masks.recipes[k]
        return Node(op, (elements.base, test), price + elements.base.cost + test.cost)

    return build_node


def _distinct_rows(table: NDArray[np.int64]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each distinct row with its index, at its first occurrence."""
    _, first = np.unique(compute_row_keys(table), return_index=True)
    first.sort()
    return zip(first.tolist(), map(tuple, table[first].tolist()), strict=True)


def add_picks(bank: Bank, elements: Elements, most: int = 2500) -> None:
    """Add to the bank the product, extremes and ends of the elements that pass each test.

    Args:
        bank: The known lists and integers, which get the new integers.
        elements: The elements of one list, with the available tests.
        most: Maximum number of tests; the cheapest are used.
    """
    masks = elements.build_masks()
    rows = masks.rows[:most]
    if not elements.size or not elements.budget.charge(5 * len(rows) / Budget.VECTOR):
        return
    flat = elements.flat
    made: dict[str, list[NDArray[np.int64]]] = {op: [] for op in _PICKS}
    there = rows.astype(np.float32) @ elements.segments > 0
    for j, length in enumerate(elements.lengths.tolist()):
        part = slice(elements.starts[j], elements.starts[j] + length)
        held, values = rows[:, part].astype(bool), flat[part]
        if not length:
            for op, columns in made.items():
                columns.append(np.full(len(rows), int(op == "product"), dtype=np.int64))
            continue
        made["product"].append(_product(np.where(held, values, 1)))
        made["max"].append(np.where(held, values, _ABSENT).max(axis=1))
        made["min"].append(np.where(held, values, -_ABSENT).min(axis=1))
        made["head"].append(values[held.argmax(axis=1)])
        made["end"].append(values[length - 1 - held[:, ::-1].argmax(axis=1)])
    for op, columns in made.items():
        table = np.stack(columns, axis=1)
        if op == "product":
            fine = (np.abs(table) <= LARGEST_INTEGER).all(axis=1)
        else:
            fine = there.any(axis=1)
            table = np.where(there, table, _ABSENT)
        there_at = np.flatnonzero(fine)
        costs = OPERATIONS[op].cost + ((1.8 + elements.base.cost) + masks.costs)
        made_of = _picking(op, elements, masks)
        for k, row in _distinct_rows(table[there_at]):
            place = int(there_at[k])
            values_of = tuple(None if v == _ABSENT else v for v in row)
            bank.ints.add(values_of, float(costs[place]), (made_of, place))


def _picking(op: str, elements: Elements, masks: Table) -> Callable[[int], Node]:
    def build_node(k: int) -> Node:
        test = masks.recipes[k]
        cost = 1.8 + elements.base.cost + test.cost
        return operation_node(op, Node("filter", (elements.base, test), cost))

    return build_node


def _product(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the product of each row; one that is too large to be exact is set out of range."""
    with np.errstate(over="ignore"):
        exact = values.prod(axis=1)
        about = values.astype(np.float64).prod(axis=1)
    return np.where(np.abs(about) > LARGEST_INTEGER, 2 * LARGEST_INTEGER, exact)


def solve_integer(bank: Bank, goal: Ints, budget: Budget, most: int = 30) -> list[Node]:
    """Return programs for an integer goal, cheapest first.

    A program is a known integer, a constant, or an operation on two known integers.

    Args:
        bank: The known integers, with their programs.
        goal: The wanted integer for each example input. None means that the program must be
            undefined on the input.
        budget: Budget that the work is charged to.
        most: Maximum number of programs.
    """
    found: list[Node] = []
    direct = bank.ints.get(goal)
    if direct is not None:
        found.append(direct)
    if len(set(goal)) == 1 and goal[0] is not None:
        found.append(constant_node(goal[0]))
    small = [item for item in bank.cheapest_ints(250) if None not in item[0]]
    if None in goal or not small:
        return found
    found += _pairs(bank, small, goal, budget)
    found.sort(key=lambda n: n.cost)
    return found[:most]


class _Operands:
    """Known integers and constants that an operation may join, with all that no goal changes.

    Args:
        small: The known integers as pairs (value, program), cheapest first.
        count: Number of example inputs.
    """

    scalars = (*range(0, 11), 20, 50, 100)

    def __init__(self, small: list[tuple[Ints, Node]], count: int) -> None:
        self.small = len(small)
        self.programs = [*(n for _, n in small), *(constant_node(c) for c in self.scalars)]
        self.rows: NDArray[np.int64] = np.array(
            [*(v for v, _ in small), *((c,) * count for c in self.scalars)], dtype=np.int64
        )
        self.places = {key: k for k, key in reversed(list(enumerate(_row_bytes(self.rows))))}
        costs = np.array([p.cost for p in self.programs])
        most = min(len(self.rows), 120)
        seconds = np.concatenate([np.arange(most), np.arange(self.small, len(self.rows))])
        a, b = np.tile(np.arange(most), len(seconds)), np.repeat(seconds, most)
        wanted = costs[a] + costs[b] < 9.0
        self.a, self.b = a[wanted], b[wanted]
        self._firsts: dict[str, NDArray[np.int64]] = {}

    def first_results(self, op: str) -> NDArray[np.int64]:
        """Return the results of an operation on all pairs a, b for the first example input."""
        if op not in self._firsts:
            self._firsts[op] = _under(op, self.rows[self.a, 0], self.rows[self.b, 0])
        return self._firsts[op]


def _row_bytes(rows: NDArray[np.int64]) -> list[bytes]:
    """Return the bytes of each row."""
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    return [data[k : k + width] for k in range(0, len(data), width)]


def _pairs(
    bank: Bank, small: list[tuple[Ints, Node]], goal: Ints, budget: Budget
) -> Iterator[Node]:
    if bank.operands[0] is not bank.ints_version:
        bank.operands = bank.ints_version, _Operands(small, bank.count)
    known: _Operands = bank.operands[1]
    programs, rows, places = known.programs, known.rows, known.places
    target = np.array(goal, dtype=np.int64)
    for op in ("add", "sub", "apart"):
        needs = target - rows if op == "add" else rows - target if op == "sub" else rows + target
        for k, key in enumerate(_row_bytes(needs)):
            other = places.get(key)
            if other is not None and not (programs[k].op == programs[other].op == "const"):
                yield operation_node(op, programs[k], programs[other])
        # Expensive integers as the second operand: the whole bank, by lookup.
        for k, row in enumerate(needs[:60].tolist()):
            dear = bank.ints.get(tuple(row))
            if dear is not None:
                yield operation_node(op, programs[k], dear)
        for k, c in enumerate(known.scalars):
            if op != "apart":
                moved = target - c if op == "add" else target + c
                dear = bank.ints.get(tuple(moved.tolist()))
                if dear is not None:
                    yield operation_node(op, dear, programs[known.small + k])
    budget.charge(len(rows) * 3 / Budget.VECTOR)
    a, b = known.a, known.b
    if not budget.charge(len(a) / Budget.VECTOR):
        return
    for op in ("mul", "div", "mod", "lower", "upper"):
        likely = np.flatnonzero(known.first_results(op) == target[0])
        first, second = rows[a[likely]], rows[b[likely]]
        fits = (_under(op, first, second) == target).all(axis=1)
        if op in ("div", "mod"):
            fits &= (second != 0).all(axis=1)
        for k in likely[fits][:20]:
            yield operation_node(op, programs[a[k]], programs[b[k]])


def _under(op: str, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    if op == "mul":
        return a * b
    if op in ("div", "mod"):
        safe = np.where(b == 0, 1, b)
        return a // safe if op == "div" else a % safe
    return np.minimum(a, b) if op == "lower" else np.maximum(a, b)


def match_outputs(
    known: list[tuple[Ints, Node]], goal: tuple[tuple[int, ...], ...]
) -> list[tuple[int, Node]]:
    """Return the known integers that are right on some examples, each with a bit mask of these
    examples.

    An integer is right if the wanted list holds only this integer, or if the wanted list is empty
    and the integer is undefined.

    Args:
        known: The known integers as pairs (value, program).
        goal: The wanted list for each example input.

    Returns:
        Pairs (bit mask, program).
    """
    wanted = [out[0] if len(out) == 1 else None if not out else () for out in goal]
    found = []
    for values, program in known:
        if any(map(eq, values, wanted)):
            pairs = enumerate(zip(values, wanted, strict=True))
            found.append((sum(1 << k for k, (v, out) in pairs if v == out), program))
    return found


def find_singles(bank: Bank, goal: tuple[tuple[int, ...], ...], budget: Budget) -> Iterator[Node]:
    """Yield programs that return a list of one integer, or an empty list if the integer is
    undefined.

    Nothing is yielded if some list of the goal has more than one element.

    Args:
        bank: The known integers, with their programs.
        goal: The wanted list for each example input.
        budget: Budget that the work is charged to.
    """
    if any(len(out) > 1 for out in goal) or not any(goal):
        return
    for program in solve_integer(bank, tuple(out[0] if out else None for out in goal), budget):
        if program.op != "const":
            yield Node("single", (program,), program.cost + 0.8)
        elif all(goal):
            yield Node("list", program.args, program.cost + (5.0 if bank.count == 1 else 1.0))


_FOLDS = ("len", "head", "end", "max", "min", "sum", "distinct", "range_of", "mode", "where_max",
          "where_min", "product", "mean", "middle", "median", "descents")  # fmt: skip


def find_reductions(
    bank: Bank, goal: tuple[tuple[int, ...], ...], most: int = 2500
) -> Iterator[Node]:
    """Yield programs that reduce a known list to one integer, such as its sum, and return
    [integer].

    Args:
        bank: The known lists, with their programs.
        goal: The wanted list for each example input.
        most: Maximum number of known lists to try; the cheapest are tried first.
    """
    if any(len(out) > 1 for out in goal) or not any(goal):
        return
    wanted = [out[0] if out else None for out in goal]
    functions: list[tuple[str, Callable[..., int], tuple[int, ...]]] = [
        (op, compile_operation(op), ()) for op in _FOLDS
    ]
    functions += [("at", compile_operation("at"), (k,)) for k in (1, 2, 3, -2, -3)]
    known = bank.reductions
    for values, program in bank.cheapest(most):
        reduced = known.get(values[0])
        if reduced is None:
            reduced = known[values[0]] = tuple(
                _reduce(f, values[0], more) for _, f, more in functions
            )
        if wanted[0] not in reduced:
            continue
        for (op, function, more), first in zip(functions, reduced, strict=True):
            if first != wanted[0]:
                continue
            for row, out in zip(values, wanted, strict=True):
                try:
                    if function(row, *more) != out:
                        break
                except _GUARDED:
                    if out is not None:
                        break
            else:
                integer = operation_node(op, program, *(constant_node(k) for k in more))
                yield Node("single", (integer,), integer.cost + 0.8)


def _reduce(
    function: Callable[..., int], row: tuple[int, ...], more: tuple[int, ...]
) -> int | None:
    try:
        return function(row, *more)
    except _GUARDED:
        return None


__all__ = ["OPERATIONS", "add_counts", "find_reductions", "find_singles", "solve_integer"]
