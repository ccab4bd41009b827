"""Concatenation goals: fixed ends stripped, then known lists or single elements peeled off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..budget import Budget
from .bank import Bank, Lists
from .grammar import Node, constant_cost, node
from .integers import solve

_LONGEST = 8  # elements of a fixed list
Solve = Callable[[Lists, int], list[Node]]


def literal(values: tuple[int, ...]) -> Node:
    return Node("list", values, 1.6 + sum(0.5 + 0.6 * constant_cost(v) for v in values))


def shared_ends(goal: Lists) -> tuple[int, int]:
    """How many first and last elements all outputs have in common."""
    shortest = min(len(out) for out in goal)
    head = 0
    while head < shortest and len({out[head] for out in goal}) == 1:
        head += 1
    tail = 0
    while tail < shortest - head and len({out[len(out) - 1 - tail] for out in goal}) == 1:
        tail += 1
    return head, tail


def joined(*parts: Node) -> Node:
    made = parts[0]
    for part in parts[1:]:
        made = node("concat", made, part)
    return made


def stripped(goal: Lists, deeper: Solve) -> Iterator[Node]:
    """[fixed] + rest + [fixed]"""
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
        parts_before = [literal(goal[0][:first])] if first else []
        parts_after = [literal(goal[0][len(goal[0]) - last :])] if last else []
        for program in deeper(rest, 0):
            yield joined(*parts_before, program, *parts_after)


def around(bank: Bank, goal: Lists, most: int = 12) -> Iterator[Node]:
    """[fixed] + known list + [fixed] from one pair alone, where no second tells what is fixed."""
    if len(goal) != 1:
        return
    out = goal[0]
    for values, program in bank.cheapest(most):
        part = values[0]
        for k in range(len(out) - len(part) + 1):
            before, after = out[:k], out[k + len(part) :]
            if len(part) > 1 and (before or after) and out[k : k + len(part)] == part:
                ends = [literal(before)] if before else [], [literal(after)] if after else []
                yield joined(*ends[0], program, *ends[1])


def peeled(bank: Bank, goal: Lists, deeper: Solve, budget: Budget, depth: int) -> Iterator[Node]:
    """A known list or an integer off either end; the rest is known, or solved in turn."""
    if sum(map(len, goal)) == 0:
        return
    rests: dict[tuple[Lists, bool], Node] = {}
    for values, program in bank.cheapest(2500):
        if not any(values):
            continue
        if all(out[: len(v)] == v for out, v in zip(goal, values, strict=True)):
            rest = tuple(out[len(v) :] for out, v in zip(goal, values, strict=True))
            rests.setdefault((rest, True), program)
        if all(len(v) <= len(out) and out[len(out) - len(v) :] == v
               for out, v in zip(goal, values, strict=True)):  # fmt: skip
            rest = tuple(out[: len(out) - len(v)] for out, v in zip(goal, values, strict=True))
            rests.setdefault((rest, False), program)
    budget.charge(min(len(bank.entries), 2500) / 4)
    if all(goal):
        for front in (True, False):
            ends = tuple(out[0] if front else out[-1] for out in goal)
            if len(set(ends)) == 1 and len(ends) > 1:
                continue
            for program in solve(bank, ends, budget, most=2):
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
            yield joined(program, known) if front else joined(known, program)
        elif max(map(len, rest)) == 1 and rest not in bank.entries and depth == 0:
            for other in deeper(rest, -1)[:2]:
                yield joined(program, other) if front else joined(other, program)
        elif len(goal) > 1 and all(rest) and len(set(rest)) == 1 and len(rest[0]) <= _LONGEST:
            fixed = literal(rest[0])
            yield joined(program, fixed) if front else joined(fixed, program)
    if depth == 0:
        return
    for (rest, front), program in order[:24]:
        if not any(rest) or rest in bank.entries or budget.left <= 0:
            continue
        for other in deeper(rest, depth - 1)[:3]:
            yield joined(program, other) if front else joined(other, program)
