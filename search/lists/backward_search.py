"""Backward search: undo the last step of a goal, and look for a program for the value before the
step.

A goal is the wanted list for each example input. `undo_last_step(goal)` yields possible values of
these lists before a last step. The step may be a permutation, a repetition, the insertion of a
fixed element, a length or sum placed at an end, running sums, or an addition to or multiplication
of each element. With each earlier value comes a function that turns a program for the earlier value
into a program for the goal. `search_backward` may undo two steps. A lookup of an earlier value in
the bank costs almost nothing. Only the likelier earlier values are searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from ..budget import Budget
from .bank import _GUARDED, Bank, Lists
from .batched_expansion import KERNELS, NARROW, WIDEST
from .edits import concatenate, shared_ends
from .features import FEATURES, TERMS
from .fingerprints import Block, fingerprint
from .grammar import (
    LARGEST_INTEGER,
    REPEATING,
    UNARY_LIST,
    Node,
    compile_operation,
    constant_node,
    operation_node,
)

Row = tuple[int, ...]
RebuildGoal = Callable[
    [Node], Node
]  # turns a program for the earlier value into a program for the goal
EarlierGoal = tuple[
    Lists, RebuildGoal, float
]  # the earlier value, the way back, the cost of the step

_PERMUTED: tuple[tuple[str, Callable[[Row], Row]], ...] = (
    ("reverse", lambda r: r[::-1]),
    ("rotate_left", lambda r: r[-1:] + r[:-1]),
    ("rotate_right", lambda r: r[1:] + r[:1]),
    ("swap_ends", lambda r: r[-1:] + r[1:-1] + r[:1] if len(r) > 1 else r),
    ("swap_pairs", lambda r: tuple(r[i ^ 1] if i ^ 1 < len(r) else r[i] for i in range(len(r)))),
    ("weave_ends", lambda r: r[::2] + r[1::2][::-1]),
)
_REPEATED: tuple[tuple[str, Callable[[Row], Row]], ...] = (
    ("twice", lambda r: r[: len(r) // 2]),
    ("mirror", lambda r: r[: len(r) // 2]),
    ("mirror_left", lambda r: r[len(r) // 2 :]),
    ("stutter", lambda r: r[::2]),
    ("then_index", lambda r: r[::2]),
    ("then_ordinal", lambda r: r[::2]),
    ("with_index", lambda r: r[1::2]),
    ("with_ordinal", lambda r: r[1::2]),
    ("running_sum", lambda r: tuple(b - a for a, b in pairwise((0, *r)))),
)
# integers that are placed at an end
_ENDS = ("len", "sum", "max", "min", "head", "end", "distinct")
_LONGEST_PLACE = 4
_MAP, _MAP_EACH = 2.0, 3.0
_ADDED = (*range(1, 11), *range(-1, -11, -1))
_FACTORS = (2, 3, 4, 5, 10)


def undo_last_step(goal: Lists) -> Iterator[EarlierGoal]:
    """Yield all earlier goals that a single step turns into `goal`.

    A goal is one wanted list per example input. Each item holds the earlier goal, a function that
    turns a program for the earlier goal into a program for `goal`, and the cost of the step.
    """
    yield from undo_evident_steps(goal)
    yield from _permutations(goal)
    yield from _maps(goal)


def undo_evident_steps(goal: Lists) -> Iterator[EarlierGoal]:
    """Yield earlier goals that a single step turns into `goal`, if `goal` shows evidence of the
    step.

    A repetition, for example, is visible in the lists. Permutations and arithmetic on each element
    are left out, since almost any list could be their result. The items have the form of
    `undo_last_step`.
    """
    yield from _repetitions(goal)
    yield from _fixed(goal)
    yield from _ends(goal)
    yield from _doubled(goal)


def search_backward(bank: Bank, goal: Lists, budget: Budget, twice: bool) -> Iterator[Node]:
    """Yield programs that reach the goal by one or two last steps from a value in the bank.

    Args:
        bank: The known values, with their programs.
        goal: The wanted list for each example input.
        budget: Budget that the work is charged to.
        twice: Whether to undo two steps as well as one step.
    """
    seen = {goal}
    first = []
    for before, back, cost in undo_last_step(goal):
        budget.charge(0.5)
        if before in seen:
            continue
        seen.add(before)
        known = bank.entries.get(before)
        if known is not None:
            yield back(known)
        first.append((cost, before, back))
    if not twice:
        return
    first.sort(key=lambda item: item[0])
    for _, middle, last in first:
        for before, back, _ in undo_last_step(middle):
            if not budget.charge(0.5):
                return
            if before not in seen:
                seen.add(before)
                known = bank.entries.get(before)
                if known is not None:
                    yield last(back(known))


def _back(op: str, *constants: int) -> RebuildGoal:
    return lambda program: operation_node(op, program, *(constant_node(c) for c in constants))


def _price(op: str, *constants: int) -> float:
    return operation_node(op, Node("x", (), 0.0), *(constant_node(c) for c in constants)).cost


def _permutations(goal: Lists) -> Iterator[EarlierGoal]:
    for op, undo in _PERMUTED:
        yield tuple(map(undo, goal)), _back(op), _price(op)
    for k in (2, 3, 4):
        if all(len(out) >= k for out in goal):
            yield tuple(o[-k:] + o[:-k] for o in goal), _back("rotate", k), _price("rotate", k)
            yield tuple(o[:k][::-1] + o[k:] for o in goal), _back("flip_head", k), 6.0
    halves = tuple(o[(len(o) + 1) // 2 :] + o[: (len(o) + 1) // 2] for o in goal)
    yield halves, _back("swap_halves"), _price("swap_halves")
    parts = []
    for out in goal:
        half = (len(out) + 1) // 2
        parts.append(tuple(out[i // 2 + (i % 2) * half] for i in range(len(out))))
    yield tuple(parts), _back("evens_first"), _price("evens_first")


def _repetitions(goal: Lists) -> Iterator[EarlierGoal]:
    for op, undo in _REPEATED:
        before = tuple(map(undo, goal))
        if all(
            tuple(compile_operation(op)(list(b))) == out
            for b, out in zip(before, goal, strict=True)
        ):
            yield before, _back(op), _price(op)
    for k in (3, 4):
        if any(goal) and all(o == tuple(v for v in o[::k] for _ in range(k)) for o in goal):
            yield tuple(o[::k] for o in goal), _back("each", k), _price("each", k)
        if any(goal) and all(o == o[: len(o) // k] * k for o in goal):
            yield tuple(o[: len(o) // k] for o in goal), _back("times", k), _price("times", k)


def _fixed(goal: Lists) -> Iterator[EarlierGoal]:
    """Undo the insertion of one fixed element, at an end of all outputs or at one place in them."""
    if len(set(goal)) < 2:
        return
    head, tail = shared_ends(goal)
    if head:
        yield (
            tuple(o[1:] for o in goal),
            _back("prepend", goal[0][0]),
            _price("prepend", goal[0][0]),
        )
    if tail:
        yield (
            tuple(o[:-1] for o in goal),
            _back("append", goal[0][-1]),
            _price("append", goal[0][-1]),
        )
    if head and tail:
        first, last = constant_node(goal[0][0]), constant_node(goal[0][-1])
        if all(len(o) > 1 for o in goal):
            yield tuple(o[1:-1] for o in goal), lambda p: operation_node("append", operation_node("prepend", p, first), last), 8.0  # fmt: skip
    for place in range(1, _LONGEST_PLACE):
        held = {out[place] for out in goal if len(out) > place}
        if len(held) == 1 and sum(len(out) > place for out in goal) > 1 and place >= head:
            value = held.pop()
            if all(len(out) > place or out[-1:] == (value,) for out in goal):
                before = tuple(
                    o[:place] + o[place + 1 :] if len(o) > place else o[:-1] for o in goal
                )
                yield before, _back("insert", place, value), _price("insert", place, value)
    for value in {o[1] for o in goal if len(o) > 1}:
        if any(goal) and all(len(o) % 2 == 0 and set(o[1::2]) <= {value} for o in goal):
            yield tuple(o[::2] for o in goal), _back("each_then", value), _price("each_then", value)
        if any(len(o) > 1 for o in goal) and all(
            (len(o) % 2 or not o) and set(o[1::2]) <= {value} for o in goal
        ):
            yield tuple(o[::2] for o in goal), _back("join", value), _price("join", value)


def _ends(goal: Lists) -> Iterator[EarlierGoal]:
    """Undo the placement of a list's length, sum, maximum and so on at its own end."""
    if not all(len(out) > 1 for out in goal):
        return
    for front in (True, False):
        before = tuple(o[1:] if front else o[:-1] for o in goal)
        ends = tuple(o[0] if front else o[-1] for o in goal)
        for op in _ENDS:
            function = compile_operation(op)
            if all(function(list(b)) == end for b, end in zip(before, ends, strict=True)):
                yield before, _put_at_end(op, front), 4.0


def _put_at_end(op: str, front: bool) -> RebuildGoal:
    def back(program: Node) -> Node:
        integer = operation_node(op, program)
        single = Node("single", (integer,), integer.cost - program.cost + 0.8)
        return concatenate(single, program) if front else concatenate(program, single)

    return back


def _doubled(goal: Lists) -> Iterator[EarlierGoal]:
    """Undo a step that makes two elements of each: itself and a sum or multiple of it."""
    if any(len(out) % 2 for out in goal) or sum(map(len, goal)) < 4:
        return
    for first in (True, False):
        before = tuple(out[::2] if first else out[1::2] for out in goal)
        other = tuple(out[1::2] if first else out[::2] for out in goal)
        for term in _terms_between(before, other):
            parts = (_V, term) if first else (term, _V)
            yield before, _mapped("map_each", _MAP_EACH, *parts), _MAP_EACH + term.cost


def _terms_between(before: Lists, other: Lists) -> list[Node]:
    flat = [(a, b) for x, y in zip(before, other, strict=True) for a, b in zip(x, y, strict=True)]
    a, b = flat[0]
    found = []
    if a != b and all(q - p == b - a for p, q in flat):
        found.append(_term("+" if b > a else "-", _V, constant_node(abs(b - a))))
    times = next((q // p for p, q in flat if p), 0)
    if times > 1 and all(q == times * p for p, q in flat):
        found.append(_term("*", constant_node(times), _V))
    return found


_V, _I, _N = (Node(name, (), FEATURES[name].cost) for name in ("v", "i", "n"))


def _term(op: str, a: Node, b: Node) -> Node:
    return Node(op, (a, b), a.cost + b.cost + TERMS[op][1])


def _mapped(op: str, price: float, *terms: Node) -> RebuildGoal:
    more = price + sum(term.cost for term in terms)
    return lambda program: Node(op, (program, *terms), program.cost + more)


def _maps(goal: Lists) -> Iterator[EarlierGoal]:
    """Undo an addition to each element, or its multiplication."""
    if not any(goal):
        return
    for k in _ADDED:
        term = _term("+" if k > 0 else "-", _V, constant_node(abs(k)))
        yield tuple(tuple(v - k for v in o) for o in goal), _map(term), _MAP + term.cost
    for factor in _FACTORS:
        for more in range(10):
            if all((v - more) % factor == 0 for o in goal for v in o):
                term = _term("*", constant_node(factor), _V)
                if more:
                    term = _term("+", term, constant_node(more))
                before = tuple(tuple((v - more) // factor for v in o) for o in goal)
                yield before, _map(term), _MAP + term.cost
    minus_one = _term("+", _V, _I)
    yield tuple(tuple(v - i for i, v in enumerate(o)) for o in goal), _map(minus_one), 4.4
    plus = _term("+", _V, _N)
    yield tuple(tuple(v - len(o) for v in o) for o in goal), _map(plus), 5.0
    if all(v % (i + 1) == 0 for o in goal for i, v in enumerate(o)):
        place = _term("*", _V, _term("+", _I, constant_node(1)))
        yield tuple(tuple(v // (i + 1) for i, v in enumerate(o)) for o in goal), _map(place), 6.6
    if all(o and o[-1] % 2 == 0 for o in goal):
        last = _term("+", _V, Node("last", (), FEATURES["last"].cost))
        yield tuple(tuple(v - o[-1] // 2 for v in o) for o in goal), _map(last), 4.8
    if all(o and o[0] % 2 == 0 for o in goal):
        first = _term("+", _V, Node("first", (), FEATURES["first"].cost))
        yield tuple(tuple(v - o[0] // 2 for v in o) for o in goal), _map(first), 4.8


def _map(term: Node) -> RebuildGoal:
    return _mapped("map", _MAP, term)


def is_worth_searching(inputs: Lists, before: Lists) -> bool:
    """Return whether an earlier goal is likely enough to be searched for.

    All integers must be small enough. In addition, every list of the earlier goal must hold only
    elements of its input, or no list may be longer than its input.

    Args:
        inputs: The example inputs.
        before: The earlier goal, one list per example input.
    """
    pairs = list(zip(inputs, before, strict=True))
    if any(abs(v) > LARGEST_INTEGER for b in before for v in b):
        return False
    return all(set(b) <= set(a) for a, b in pairs) or all(len(a) >= len(b) for a, b in pairs)


def merge_fixed_elements(bank: Bank, goal: Lists) -> Iterator[Node]:
    """Yield programs that add one or two fixed elements to the input, sort the result and reach the
    goal.

    Args:
        bank: The known lists, among them the example inputs.
        goal: The wanted list for each example input.
    """
    extra = {tuple(sorted((Counter(o) - Counter(x)).elements()))
             for x, o in zip(bank.inputs, goal, strict=True)}  # fmt: skip
    more = next(iter(extra))
    if len(extra) > 1 or not 0 < len(more) < 3:
        return
    program = Node("x", (), 0.0)
    for value in more:
        program = operation_node("append", program, constant_node(value))
    whole = [[*x, *more] for x in bank.inputs]
    for op in ("sort", "sort_down"):
        if all(
            compile_operation(op)(values) == list(out)
            for values, out in zip(whole, goal, strict=True)
        ):
            yield operation_node(op, program)


def find_last_steps(bank: Bank, goal: Lists, budget: Budget, most: int = 2500) -> Iterator[Node]:
    """Yield programs that reach the goal by one more operation on a known list.

    Args:
        bank: The known lists, with their programs.
        goal: The wanted list for each example input. Operations are tested on the longest list
            first.
        budget: Budget that the work is charged to.
        most: Maximum number of known lists to try; the cheapest are tried first.
    """
    longest = max(range(len(goal)), key=lambda k: len(goal[k]))
    wanted = list(goal[longest])
    known = bank.cheapest(most)
    likely = _likely_steps([values[longest] for values, _ in known], wanted)
    steps = _steps()
    for (values, program), some in zip(known, likely, strict=True):
        if not budget.charge(1):
            return
        row = values[longest]
        for k in some:
            op, step, more, lengthens = steps[k]
            if not lengthens(len(row), len(wanted)):
                continue
            try:
                if any(step(list(v), *more) != list(o) for v, o in zip(values, goal, strict=True)):
                    continue
            except _GUARDED:
                continue
            yield operation_node(op, program, *(constant_node(k) for k in more))


def _likely_steps(lists: list[Row], wanted: list[int]) -> list[list[int]]:
    """Return for each list the indices in `_steps` of the operations that may turn it into `wanted`.

    All others do not, by the fingerprints of their results.
    """
    likely: list[list[int]] = [[] for _ in lists]
    code = np.uint64(fingerprint(wanted))
    for low, high in ((-1, NARROW), (NARROW, WIDEST), (WIDEST, 1 << 62)):
        chosen = [k for k, row in enumerate(lists) if low < len(row) <= high]
        if not chosen:
            continue
        block = Block.from_lists([lists[k] for k in chosen])
        for place, (op, _, more, _) in enumerate(_steps()):
            kernel = KERNELS.get(op) if high <= WIDEST else None
            numbers = (np.full((1, len(chosen)), k, dtype=np.int64) for k in more)
            part = kernel and kernel(block, *numbers)
            if not part:
                fits = list(range(len(chosen)))
            else:
                fine = part.codes.ravel() == code
                if part.defined is not None:
                    fine |= ~part.defined.ravel()
                fits = np.flatnonzero(fine).tolist()
            for k in fits:
                likely[chosen[k]].append(place)
    return likely


Lengthens = Callable[[int, int], bool]  # whether one length may come from another


@cache
def _steps() -> list[tuple[str, Callable[..., list[int]], tuple[int, ...], Lengthens]]:
    steps: list[tuple[str, tuple[int, ...]]] = [(o, ()) for o in UNARY_LIST if o not in REPEATING]
    for op in ("take", "drop", "take_last", "drop_last", "nth", "omit"):
        steps += [(op, (k,)) for k in (2, 3, 4)]
    return [(op, compile_operation(op), more, _lengthens(op, more)) for op, more in steps]


_SAMPLES = ((5, 2, 7, 2, 9, 4, 4, 11), (0, 3, 3, 1, 8, 6, 13), (1, 1, 2, 2, 2), (6, 0, 4))


def _lengthens(op: str, more: tuple[int, ...]) -> Lengthens:
    """Return how an operation changes the length of a list, judged by some sample lists."""
    lengths = [(len(row), len(compile_operation(op)(list(row), *more))) for row in _SAMPLES]
    for rule in _LENGTHENING:
        if all(rule(before, after) for before, after in lengths):
            return rule
    return lambda before, after: True


_LENGTHENING: tuple[Lengthens, ...] = (
    lambda before, after: after == before,
    lambda before, after: after == max(before - 1, 0),
    lambda before, after: after == 2 * before,
    lambda before, after: after == 1,
    lambda before, after: after <= before,
)
