"""Conditionals on the example: if a test of the whole input holds, one program, else another."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from .bank import Bank, Ints
from .grammar import Node, constant, node

_IF = 4.0
_ORDERS = ("reverse", "sort", "sort_down", "unique")  # to be in order, to read alike both ways
Guards = dict[int, list[Node]]


def guards(bank: Bank) -> Guards:
    """mask of the inputs a test holds on -> its cheapest tests."""
    found: dict[int, list[Node]] = {}
    full = bank.full

    def add(values: list[bool], test: Node) -> None:
        mask = sum(1 << k for k, v in enumerate(values) if v)
        if mask not in (0, full):
            found.setdefault(mask, []).append(test)

    items = bank.cheapest_ints(2000)
    plain = [
        item for item in items if item[1].op not in ("countif", "sumif") and not _picked(item[1])
    ][:60]
    counted = [item for item in items if item[1].op == "countif"][:60]
    for values, program in plain + counted:
        for cut in _thresholds(values):
            if program.op == "countif" and cut > 3:
                continue
            c = constant(cut)
            less, more = c, c
            if program.op != "countif":
                usual = 1.0 if program.op == "len" else 0.0
                less = c._replace(cost=c.cost + _off(cut - 0.5, values) - usual)
                more = c._replace(cost=c.cost + _off(cut + 0.5, values) - usual)
            add([v is not None and v > cut for v in values], node("gt", program, more))
            add([v is not None and v < cut for v in values], node("lt", program, less))
            add([v is not None and v == cut for v in values], node("eq", program, c))
            add([v is not None and v != cut for v in values], node("ne", program, c))
        if program.op == "countif":
            continue
        add([v is not None and v % 2 == 1 for v in values], _dear(node("odd", program)))
        add([v is not None and v % 2 == 0 for v in values], _dear(node("even", program)))
    for k, (a, first) in enumerate(plain[:18]):
        for b, second in plain[k + 1 : 18]:
            for op in ("gt", "lt", "eq", "ne"):
                add(
                    [_compare(op, p, q) for p, q in zip(a, b, strict=True)],
                    _mixed(node(op, first, second)),
                )
    x = Node("x", (), 0.0)
    for value in _held(bank):
        c = constant(value)
        rare = 0.6 if value > 10 and sum(value in v for v in bank.inputs) > 2 else 0.0
        c = c._replace(cost=min(c.cost, 3.0) + 1.0 - rare)
        add([value in v for v in bank.inputs], node("has", x, c))
        add([value not in v for v in bank.inputs], node("lacks", x, c))
    for values, program in plain[:10]:
        if None not in values and program.op in ("head", "end", "at"):
            rest = node("tail", x) if program.op == "head" else x
            lists = [v[1:] if program.op == "head" else v for v in bank.inputs]
            if program.op == "head":
                add(
                    [p in v for p, v in zip(values, lists, strict=True)], node("has", rest, program)
                )
    for reached, program in bank.cheapest(30):
        if program.op != "x":
            same = [a == b for a, b in zip(reached, bank.inputs, strict=True)]
            extra = 0.0 if program.op in _ORDERS else 2.0
            for op, holds in (("same", same), ("differs", [not s for s in same])):
                test = node(op, x, program)
                add(holds, test._replace(cost=test.cost + extra))
    for tests in found.values():
        tests.sort(key=lambda n: n.cost)
        del tests[3:]
    return found


def _held(bank: Bank) -> list[int]:
    """The digits, and what two inputs or more hold: a large number seldom does so by chance."""
    times = Counter(value for v in bank.inputs for value in set(v))
    often = sorted(v for v, count in times.items() if count > 1 and not 0 <= v <= 10)
    return [*range(11), *often]


def _off(edge: float, values: Ints) -> float:
    """A threshold goes where the gap between the values seen has its middle, all else alike."""
    below = [v for v in values if v is not None and v < edge]
    above = [v for v in values if v is not None and v > edge]
    if not below or not above:
        return 0.3
    low, high = max(below), min(above)
    return 0.6 * abs(2 * edge - low - high) / (high - low)


def _picked(program: Node) -> bool:
    return any(isinstance(part, Node) and part.op == "filter" for part in program.args)


def _dear(test: Node) -> Node:
    """Parity of anything but the length is seldom what decides."""
    integer = test.args[0]
    plain = integer.op in ("len", "head", "end") and integer.args[0].op == "x"
    extra = 0.0 if plain else 2.0
    return test._replace(cost=test.cost + extra)


_ELEMENTS = ("head", "end", "at", "max", "min", "middle", "median", "nth_least", "nth_largest")


def _mixed(test: Node) -> Node:
    """An element is seldom compared with a length, a count or a place."""
    a, b = (part.op in _ELEMENTS for part in test.args)
    extra = 1.5 if test.op in ("eq", "ne") else 0.0  # two elements are rather compared by size
    return test._replace(cost=test.cost + (extra if a and b else 2.0))


def _thresholds(values: Ints) -> list[int]:
    """Cuts between the values seen, the roundest number of each gap, and 0 to 10."""
    seen = sorted({v for v in values if v is not None})
    cuts = {c for c in range(11) if seen and seen[0] - 1 <= c <= seen[-1] + 1}
    for low, high in itertools.pairwise(seen):
        cuts.add(min(range(low, high + 1), key=lambda c: (c % 10 != 0, c % 5 != 0, c))
                 if high - low < 1000 else low)  # fmt: skip
    cuts |= set(seen[:12])
    return sorted(cuts)


def _compare(op: str, a: int | None, b: int | None) -> bool:
    if a is None or b is None:
        return False
    return {"gt": a > b, "lt": a < b, "eq": a == b, "ne": a != b}[op]


def supersets(partial: dict[int, Node], count: int) -> dict[int, Node]:
    """mask -> the cheapest program that is right on at least these inputs."""
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


def joins(partial: dict[int, Node], tests: Guards, count: int, full: int) -> Iterator[Node]:
    """if test: a else b, for every mask that some test gives."""
    if count > 12:
        return
    best = supersets(partial, count)
    for mask, some in tests.items():
        then, other = best.get(mask), best.get(full & ~mask)
        if then is None or other is None or then == other:
            continue
        for test in some:
            cost = _IF + test.cost + then.cost + other.cost
            yield Node("if", (test, then, other), cost)
