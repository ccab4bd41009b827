"""Find programs by comparing known lists with the goal and correcting the difference.

The goal is the wanted list for each example input. The corrections are: replace, insert or remove
an element, swap two elements, alternate two lists, put a filtered list before or after the other
elements, and concatenate lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..budget import Budget
from .bank import Bank, Lists
from .elements import Elements
from .grammar import (
    OPERATIONS,
    Node,
    compile_operation,
    constant_cost,
    constant_node,
    operation_node,
)
from .integers import solve_integer

Solve = Callable[[Lists, int], list[Node]]
_FEW = 3


def find_edits(bank: Bank, goal: Lists, budget: Budget, most: int = 80) -> Iterator[Node]:
    """Yield programs that reach the goal by an edit of a few elements of a known list.

    Args:
        bank: The known lists and integers, with their programs.
        goal: The wanted list for each example input.
        budget: Budget that the work is charged to.
        most: Maximum number of known lists to edit; the cheapest are edited first.
    """
    for values, program in bank.cheapest(most):
        changes = {len(out) - len(v) for out, v in zip(goal, values, strict=True)}
        if changes == {0}:
            yield from _swapped(bank, values, program, goal, budget)
            yield from _put_twice(bank, values, program, goal, budget)
            yield from _put(bank, values, program, goal, budget)
        elif changes == {1}:
            yield from _inserted(bank, values, program, goal, budget)
        elif changes == {-1}:
            yield from _omitted(bank, values, program, goal, budget)
        budget.charge(0.5)


def _put(bank: Bank, values: Lists, program: Node, goal: Lists, budget: Budget) -> Iterator[Node]:
    places: list[int | None] = []
    for have, out in zip(values, goal, strict=True):
        apart = [k for k, (a, b) in enumerate(zip(have, out, strict=True)) if a != b]
        if len(apart) > 1:
            return
        places.append(apart[0] if apart else None)
    if all(p is None for p in places):
        return
    for where in _places(bank, places, budget):
        at = _values_of(bank, where)
        if any(not 0 <= p < len(out) for p, out in zip(at, goal, strict=True)):
            continue
        element = tuple(out[p] for p, out in zip(at, goal, strict=True))
        for what in solve_integer(bank, element, budget, _FEW):
            yield operation_node("put", program, where, what)


def _swapped(
    bank: Bank, values: Lists, program: Node, goal: Lists, budget: Budget
) -> Iterator[Node]:
    """Yield swaps of two elements."""
    firsts: list[int | None] = []
    seconds: list[int | None] = []
    for have, out in zip(values, goal, strict=True):
        apart = [k for k, (a, b) in enumerate(zip(have, out, strict=True)) if a != b]
        if len(apart) not in (0, 2):
            return
        if apart and (have[apart[0]], have[apart[1]]) != (out[apart[1]], out[apart[0]]):
            return
        firsts.append(apart[0] if apart else None)
        seconds.append(apart[1] if apart else None)
    if all(p is None for p in firsts):
        return
    for first in _places(bank, firsts, budget):
        for second in _places(bank, seconds, budget):
            if any(
                place.op in OPERATIONS and OPERATIONS[place.op].takes == "II"
                for place in (first, second)
            ):
                # Two places that differ are seldom both computed, and such pairs often fit by
                # chance.
                continue
            made = operation_node("swap", program, first, second)
            places = zip(values, _values_of(bank, first), _values_of(bank, second), strict=True)
            if [_exchanged(*place) for place in places] == list(goal):
                yield made


def _exchanged(values: tuple[int, ...], a: int, b: int) -> tuple[int, ...] | None:
    if not 0 <= a < b < len(values):
        return None
    return (*values[:a], values[b], *values[a + 1 : b], values[a], *values[b + 1 :])


def _put_twice(
    bank: Bank, values: Lists, program: Node, goal: Lists, budget: Budget
) -> Iterator[Node]:
    """Yield replacements of two or three elements, at the same places in every example."""
    places: set[int] = set()
    for have, out in zip(values, goal, strict=True):
        places |= {k for k, (a, b) in enumerate(zip(have, out, strict=True)) if a != b}
        if len(places) > 3:
            return
    if len(places) < 2 or any(len(out) <= max(places) for out in goal):
        return
    made = program
    for place in sorted(places):
        what = solve_integer(bank, tuple(out[place] for out in goal), budget, 1)
        if not what:
            return
        made = operation_node("put", made, constant_node(place), what[0])
    yield made


def _inserted(
    bank: Bank, values: Lists, program: Node, goal: Lists, budget: Budget
) -> Iterator[Node]:
    options: list[set[int]] = []
    for have, out in zip(values, goal, strict=True):
        options.append(
            {k for k in range(len(out)) if out[:k] == have[:k] and out[k + 1 :] == have[k:]}
        )
        if not options[-1]:
            return
    for where in _among(bank, options):
        at = _values_of(bank, where)
        element = tuple(out[p] for p, out in zip(at, goal, strict=True))
        for what in solve_integer(bank, element, budget, _FEW):
            yield operation_node("insert", program, where, what)


def _omitted(
    bank: Bank, values: Lists, program: Node, goal: Lists, budget: Budget
) -> Iterator[Node]:
    options = []
    for have, out in zip(values, goal, strict=True):
        options.append(
            {k for k in range(len(have)) if have[:k] == out[:k] and have[k + 1 :] == out[k:]}
        )
        if not options[-1]:
            return
    exact = tuple(min(o) if len(o) == 1 else None for o in options)
    for where in _among(bank, options):
        yield operation_node("omit", program, where)
    if None not in exact:
        for where in solve_integer(bank, exact, budget, _FEW):
            yield operation_node("omit", program, where)


def find_slices(bank: Bank, goal: Lists, budget: Budget, most: int = 40) -> Iterator[Node]:
    """Yield programs that reach the goal by a slice of a known list between two computed positions.

    Args:
        bank: The known lists and integers, with their programs.
        goal: The wanted list for each example input.
        budget: Budget that the work is charged to.
        most: Maximum number of known lists to slice; the cheapest are sliced first.
    """
    if not any(goal):
        return
    for values, program in bank.cheapest(most):
        options: list[set[int]] = []
        for have, out in zip(values, goal, strict=True):
            last = len(have) - len(out)
            places = {k for k in range(last + 1) if have[k : k + len(out)] == out}
            if not places:
                break
            options.append(places)
        else:
            for start in _among(bank, options):
                at = _values_of(bank, start)
                end = tuple(a + len(out) for a, out in zip(at, goal, strict=True))
                for stop in solve_integer(bank, end, budget, _FEW):
                    yield operation_node("slice", program, start, stop)
        budget.charge(0.5)


def _among(bank: Bank, options: list[set[int]]) -> list[Node]:
    """Return integers that lie among the options of every example, cheapest first."""
    found = []
    shared = set.intersection(*options)
    if shared:
        found.append(constant_node(min(shared)))
    for values, program in bank.cheapest_ints(400):
        for v, o in zip(values, options, strict=True):
            if v not in o:
                break
        else:
            found.append(program)
            if len(found) >= _FEW:
                break
    return found


def _places(bank: Bank, places: list[int | None], budget: Budget) -> list[Node]:
    """Return integers equal to the known places; where the place is None, any integer will do."""
    if None not in places:
        return solve_integer(bank, tuple(places), budget, _FEW)
    ranges = [{p} if p is not None else set(range(100)) for p in places]
    return _among(bank, ranges)


def _values_of(bank: Bank, program: Node) -> tuple[int, ...]:
    if program.op == "const":
        return (program.args[0],) * bank.count
    for values, known in bank.cheapest_ints(2500):
        if known == program:
            return tuple(-1 if v is None else v for v in values)
    return _computed(bank, program)


def _computed(bank: Bank, program: Node) -> tuple[int, ...]:
    """Compute an operation on two known integers again."""
    if program.op not in OPERATIONS or OPERATIONS[program.op].takes != "II":
        return (-1,) * bank.count
    first, second = (_values_of(bank, part) for part in program.args)
    return tuple(compile_operation(program.op)(a, b) for a, b in zip(first, second, strict=True))


def solve_alternating(goal: Lists, deeper: Solve) -> Iterator[Node]:
    """Yield programs that alternate the elements of two lists, which are solved separately.

    Args:
        goal: The wanted list for each example input.
        deeper: Function (goal, depth) that returns programs for the even or for the odd positions.
    """
    if max(map(len, goal)) < 2 or sum(map(len, goal)) < 2 * len(goal):
        return
    evens = tuple(out[::2] for out in goal)
    odds = tuple(out[1::2] for out in goal)
    firsts = deeper(evens, 0)
    if not firsts:
        return
    for second in deeper(odds, 0)[:_FEW]:
        for first in firsts[:_FEW]:
            yield operation_node("alternate", first, second)


def solve_partitioned(elements: Elements, goal: Lists, deeper: Solve) -> Iterator[Node]:
    """Yield programs that put a filtered list before or after the other elements of the goal.

    Args:
        elements: The elements of the list to filter, with the available tests.
        goal: The wanted list for each example input.
        deeper: Function (goal, depth) that returns programs for the other elements.
    """
    masks = elements.build_masks()
    if not elements.size or not elements.budget.charge(len(masks) / Budget.VECTOR):
        return
    lengths = np.array([len(out) for out in goal])
    kept = elements.count_kept().astype(np.int64)
    fits = np.flatnonzero((kept <= lengths).all(axis=1) & (kept > 0).any(axis=1)
                          & (kept < lengths).any(axis=1))  # fmt: skip
    tried: set[tuple[Lists, bool]] = set()
    for k in fits.tolist():
        parts = []
        for j in range(len(goal)):
            part = slice(elements.starts[j], elements.starts[j + 1])
            parts.append(tuple(elements.flat[part][masks.rows[k, part]].tolist()))
            if goal[j][: len(parts[j])] != parts[j] and goal[j][len(goal[j]) - len(parts[j]) :] != parts[j]:  # fmt: skip
                break
        else:
            cost = 1.8 + elements.base.cost + masks.recipes[k].cost
            program = Node("filter", (elements.base, masks.recipes[k]), cost)
            for front in (True, False):
                pairs = list(zip(goal, parts, strict=True))
                if front and all(out[: len(p)] == p for out, p in pairs):
                    rest = tuple(out[len(p) :] for out, p in pairs)
                elif not front and all(out[len(out) - len(p) :] == p for out, p in pairs):
                    rest = tuple(out[: len(out) - len(p)] for out, p in pairs)
                else:
                    continue
                if (rest, front) in tried or len(tried) > 40:
                    continue
                tried.add((rest, front))
                for other in deeper(rest, -1)[:_FEW]:
                    yield concatenate(program, other) if front else concatenate(other, program)


# --- Concatenation goals: fixed ends are stripped, then known lists or single elements are removed.

_LONGEST = 8  # maximum number of elements of a fixed list


def fixed_list(values: tuple[int, ...]) -> Node:
    """Return a program that returns the list `values` for any input."""
    return Node("list", values, 1.6 + sum(0.5 + 0.6 * constant_cost(v) for v in values))


def shared_ends(goal: Lists) -> tuple[int, int]:
    """Return how many first elements and how many last elements all lists of `goal` have in
    common.
    """
    shortest = min(len(out) for out in goal)
    head = 0
    while head < shortest and len({out[head] for out in goal}) == 1:
        head += 1
    tail = 0
    while tail < shortest - head and len({out[len(out) - 1 - tail] for out in goal}) == 1:
        tail += 1
    return head, tail


def concatenate(*parts: Node) -> Node:
    """Return a program that concatenates the lists of the programs `parts`."""
    made = parts[0]
    for part in parts[1:]:
        made = operation_node("concat", made, part)
    return made


def solve_stripped(goal: Lists, deeper: Solve) -> Iterator[Node]:
    """Yield programs of the form [fixed] + list + [fixed], if all lists of the goal have equal
    ends.

    Args:
        goal: The wanted list for each example input.
        deeper: Function (goal, depth) that returns programs for the list between the fixed
            elements.
    """
    if len(goal) < 2:
        return
    head, tail = shared_ends(goal)
    options = {(head, tail), (head, 0), (0, tail), (min(head, 1), 0), (0, min(tail, 1))}
    for first, last in sorted(options, reverse=True):
        if first + last == 0:
            continue
        rest = tuple(out[first : len(out) - last] for out in goal)
        if not any(rest):
            continue
        parts_before = [fixed_list(goal[0][:first])] if first else []
        parts_after = [fixed_list(goal[0][len(goal[0]) - last :])] if last else []
        for program in deeper(rest, 0):
            yield concatenate(*parts_before, program, *parts_after)


def solve_surrounded(bank: Bank, goal: Lists, most: int = 12) -> Iterator[Node]:
    """Yield programs of the form [fixed] + known list + [fixed], if there is only one example pair.

    With a single pair, no second output shows which elements are fixed.

    Args:
        bank: The known lists, with their programs.
        goal: The wanted list for each example input.
        most: Maximum number of known lists to try; the cheapest are tried first.
    """
    if len(goal) != 1:
        return
    out = goal[0]
    for values, program in bank.cheapest(most):
        part = values[0]
        for k in range(len(out) - len(part) + 1):
            before, after = out[:k], out[k + len(part) :]
            if len(part) > 1 and (before or after) and out[k : k + len(part)] == part:
                ends = [fixed_list(before)] if before else [], [fixed_list(after)] if after else []
                yield concatenate(*ends[0], program, *ends[1])


def solve_peeled(
    bank: Bank, goal: Lists, deeper: Solve, budget: Budget, depth: int
) -> Iterator[Node]:
    """Yield programs that join a known list or integer with a program for the remaining elements.

    The known list or integer is the start or the end of every list of the goal. The remaining
    elements are looked up in the bank, or solved by `deeper`.

    Args:
        bank: The known lists and integers, with their programs.
        goal: The wanted list for each example input.
        deeper: Function (goal, depth) that returns programs for the remaining elements.
        budget: Budget that the work is charged to.
        depth: How many more times the remaining elements may be split.
    """
    if sum(map(len, goal)) == 0:
        return
    rests: dict[tuple[Lists, bool], Node] = {}
    first = goal[0]
    for values, program in bank.cheapest(2500):
        if not any(values):
            continue
        # Most lists differ from the first goal. The loops below are only run for the others.
        head = values[0]
        in_front = first[: len(head)] == head
        at_end = first[max(0, len(first) - len(head)) :] == head
        if in_front and all(out[: len(v)] == v for out, v in zip(goal, values, strict=True)):
            rest = tuple(out[len(v) :] for out, v in zip(goal, values, strict=True))
            rests.setdefault((rest, True), program)
        if at_end and all(len(v) <= len(out) and out[len(out) - len(v) :] == v
                        for out, v in zip(goal, values, strict=True)):  # fmt: skip
            rest = tuple(out[: len(out) - len(v)] for out, v in zip(goal, values, strict=True))
            rests.setdefault((rest, False), program)
    budget.charge(min(len(bank.entries), 2500) / 4)
    if all(goal):
        for front in (True, False):
            ends = tuple(out[0] if front else out[-1] for out in goal)
            if len(set(ends)) == 1 and len(ends) > 1:
                continue
            for program in solve_integer(bank, ends, budget, most=2):
                if program.op != "const":
                    rest = tuple(out[1:] if front else out[:-1] for out in goal)
                    key = (rest, front)
                    made = Node("single", (program,), program.cost + 0.8)
                    if key not in rests or made.cost < rests[key].cost:
                        rests[key] = made
    order = sorted(rests.items(), key=lambda item: item[1].cost + 0.4 * sum(map(len, item[0][0])))
    for (rest, front), program in order:
        known = bank.entries.get(rest)
        if not any(rest):
            continue
        if known is not None:
            yield concatenate(program, known) if front else concatenate(known, program)
        elif max(map(len, rest)) == 1 and rest not in bank.entries and depth == 0:
            for other in deeper(rest, -1)[:2]:
                yield concatenate(program, other) if front else concatenate(other, program)
        elif len(goal) > 1 and all(rest) and len(set(rest)) == 1 and len(rest[0]) <= _LONGEST:
            fixed = fixed_list(rest[0])
            yield concatenate(program, fixed) if front else concatenate(fixed, program)
    if depth == 0:
        return
    for (rest, front), program in order[:24]:
        if not any(rest) or rest in bank.entries or budget.left <= 0:
            continue
        for other in deeper(rest, depth - 1)[:3]:
            yield concatenate(program, other) if front else concatenate(other, program)
