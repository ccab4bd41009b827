"""Find programs that treat each element alike: maps, filters, sorts, repetitions and cuts.

Each function takes the elements of a base list and the goal (the wanted list for each example
input). It yields programs that reach the goal on all example inputs. `find_partial_solutions` also
yields programs that are right on only some inputs, for conditionals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Lists
from .elements import Elements
from .features import PREDICATES, TERMS
from .grammar import Node, constant_node
from .tables import Table, find_rows

MAP, FILTER, MAP_FILTER, MAP_IF, SORT, EACH, CUT = 2.0, 1.8, 3.0, 3.6, 3.4, 4.0, 4.0
MAP_EACH = 3.0
V = Node("v", (), 0.4)
_ENOUGH = 60  # maximum number of programs of one kind per base


def flatten(goal: Lists) -> NDArray[np.int64]:
    """Return the elements of all lists of `goal` as one vector."""
    return np.array([e for out in goal for e in out], dtype=np.int64)


def find_maps(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[term for v in base]` that reach the goal.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    if [len(out) for out in goal] != elements.lengths.tolist() or not elements.size:
        return
    target = flatten(goal)
    terms = elements.build_terms(target)
    for k in find_rows(terms.rows, target)[:1].tolist():
        for term in terms.same_row_recipes(k):
            yield element_node("map", MAP, elements, term)
    yield from _sums(elements, terms, target)


def _sums(elements: Elements, terms: Table, target: NDArray[np.int64]) -> Iterator[Node]:
    """Yield maps whose term is a sum or difference of two terms, looked up by a hash of the row."""
    weights = np.random.default_rng(7).integers(1, 2**61, elements.size, dtype=np.int64)
    with np.errstate(over="ignore"):
        keys = (terms.rows * weights).sum(axis=1)
        first = 400
        wanted_plus = ((target - terms.rows[:first]) * weights).sum(axis=1)
        wanted_minus = ((target + terms.rows[:first]) * weights).sum(axis=1)
    if not elements.budget.charge(2 * first / Budget.VECTOR):
        return
    places: dict[int, int] = {}
    for k, key in enumerate(keys.tolist()):
        places.setdefault(key, k)
    found: list[Node] = []
    for wanted, op in ((wanted_plus, "+"), (wanted_minus, "-")):
        for k, key in enumerate(wanted.tolist()):
            other = places.get(key)
            if other is None:
                continue
            a, b = terms.recipes[k], terms.recipes[other]
            pair = (a, b) if op == "+" else (b, a)
            if all(p.op != "const" for p in pair):
                found.append(Node(op, pair, a.cost + b.cost + TERMS[op][1]))
    found.sort(key=lambda n: n.cost)
    for term in found[:20]:
        yield element_node("map", MAP, elements, term)


def find_filters(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[v for v in base if test]` that reach the goal.

    A test is a single comparison, or two comparisons joined by `and` or `or`.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    lengths = np.array([len(out) for out in goal])
    if not elements.size or (lengths > elements.lengths).any():
        return
    target = flatten(goal)
    masks = elements.build_masks()
    if not elements.budget.charge(len(masks) / Budget.VECTOR):
        return
    right_length = np.flatnonzero((elements.count_kept() == lengths).all(axis=1))
    right = right_length[
        _keeps(elements, masks.rows[right_length].astype(bool, copy=False), target)
    ][:_ENOUGH]
    for k in right.tolist():
        for test in masks.same_row_recipes(k):
            yield element_node("filter", FILTER, elements, test)
    count = len(right)
    if count < 8 and is_subsequence(elements.lists, goal):
        yield from _filter_pairs(elements, masks, goal, target)


def _keeps(
    elements: Elements, rows: NDArray[np.bool_], target: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for each test whether the elements that pass it are `target`.

    Args:
        elements: The elements.
        rows: The tests, shape (tests, elements). As many elements pass each as `target` has.
        target: The wanted elements.
    """
    every = np.broadcast_to(elements.flat, rows.shape)
    same: NDArray[np.bool_] = (every[rows].reshape(len(rows), len(target)) == target).all(axis=1)
    return same


def _filter_pairs(
    elements: Elements, masks: Table, goal: Lists, target: NDArray[np.int64]
) -> Iterator[Node]:
    """Yield filters with two tests joined by `and` or `or`."""
    stay, go = _forced(elements.lists, goal)
    size = min(len(masks), 3000)
    rows = masks.rows[:size]
    found = []
    for op in ("and", "or"):
        if op == "and":
            able = np.flatnonzero(rows[:, stay].all(axis=1))[:500]
            left_over = rows[able][:, go].astype(np.float32)
        else:
            able = np.flatnonzero(~rows[:, go].any(axis=1))[:500]
            left_over = (~rows[able][:, stay]).astype(np.float32)
        if not elements.budget.charge(len(able) ** 2 / Budget.VECTOR):
            return
        clash = left_over @ left_over.T
        a, b = np.nonzero(np.triu(clash == 0, 1))
        order = np.argsort(masks.costs[able[a]] + masks.costs[able[b]], kind="stable")[:3000]
        firsts, seconds = able[a[order]], able[b[order]]
        for i, j in _right_pairs(
            elements, rows.astype(bool, copy=False), firsts, seconds, op, target
        ):
            first, second = masks.recipes[i], masks.recipes[j]
            price = PREDICATES[op][1] + first.cost + second.cost
            found.append(Node(op, (first, second), price))
            if len(found) % 20 == 0:
                break
    found.sort(key=lambda n: n.cost)
    for test in found[:30]:
        yield element_node("filter", FILTER, elements, test)


def _right_pairs(
    elements: Elements,
    rows: NDArray[np.bool_],
    firsts: NDArray[np.int64],
    seconds: NDArray[np.int64],
    op: str,
    target: NDArray[np.int64],
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of tests, joined by `op`, that keep the elements of `target`."""
    for start in range(0, len(firsts), 256):
        i, j = firsts[start : start + 256], seconds[start : start + 256]
        joined = rows[i] & rows[j] if op == "and" else rows[i] | rows[j]
        likely = np.flatnonzero(np.count_nonzero(joined, axis=1) == len(target))
        right = likely[_keeps(elements, joined[likely], target)]
        yield from zip(i[right].tolist(), j[right].tolist(), strict=True)


def find_map_filters(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[term for v in base if test]` that reach the goal.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    lengths = np.array([len(out) for out in goal])
    if not elements.size or (lengths > elements.lengths).any() or not lengths.any():
        return
    target = flatten(goal)
    masks = elements.build_masks()
    fits = np.flatnonzero((elements.count_kept() == lengths).all(axis=1))[:200]
    terms = elements.build_terms(target)
    rows = terms.rows[:1500]
    columns = np.ascontiguousarray(rows.T)
    found = []
    for k in fits:
        if not elements.budget.charge(len(rows) / Budget.VECTOR / 4):
            return
        kept = np.flatnonzero(masks.rows[k])
        likely = np.flatnonzero(columns[kept[0]] == target[0])
        good = likely[(columns[kept[:, None], likely] == target[:, None]).all(axis=0)][:2]
        for t in good:
            test, term = masks.recipes[k], terms.recipes[t]
            if term.op != "v":
                cost = MAP_FILTER + elements.base.cost + test.cost + term.cost
                found.append(Node("map_filter", (elements.base, test, term), cost))
    found.sort(key=lambda n: n.cost)
    yield from found[:_ENOUGH]


def find_sorts(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `sorted(base, key=lambda v: term)` that reach the goal.

    The term does not use the index of the element.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    if any(sorted(a) != sorted(b) for a, b in zip(elements.lists, goal, strict=True)):
        return
    terms = elements.build_terms(flatten(goal))
    count = 0
    for k in range(min(len(terms), 1500)):
        term = terms.recipes[k]
        if depends_on_index(term):
            continue
        if not elements.budget.charge(0.25):
            return
        row = terms.rows[k]
        order = np.lexsort((row, elements.segment))
        if np.array_equal(elements.flat[order], flatten(goal)):
            yield element_node("sort_by", SORT, elements, term)
            count += 1
            if count == 20:
                return
    if not count:
        yield from find_distance_sorts(elements.base, elements.lists, goal)


def find_distance_sorts(base: Node, lists: Lists, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `sorted(base, key=lambda v: abs(v - c))` that reach the goal.

    Neighbouring elements of the goal bound the constant c.

    Args:
        base: The program of the list to sort.
        lists: The list for each example input.
        goal: The wanted list for each example input.
    """
    low, high = -(10**9), 10**9
    for out in goal:
        for a, b in itertools.pairwise(out):
            if a < b:
                high = min(high, (a + b) // 2)
            elif a > b:
                low = max(low, (a + b + 1) // 2)
    if not -(10**9) < low <= high < 10**9:
        return
    for c in dict.fromkeys(((low + high) // 2, low, high)):
        made = [sorted(v, key=lambda e: abs(e - c)) for v in lists]
        if [tuple(v) for v in made] == list(goal):
            key = Node("abs", (V, constant_node(c)), V.cost + 2.2 + constant_node(c).cost)
            yield Node("sort_by", (base, key), SORT + base.cost + key.cost)
            return


def find_repeats(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[v for v in base for _ in range(term)]` that reach the goal.

    If there is none, programs of the form `[a for v in base for _ in range(b)]` are tried.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    if not elements.size or not any(goal):
        return
    target = flatten(goal)
    terms = elements.build_terms(target)
    rows = np.clip(terms.rows, 0, 300)
    fits = np.flatnonzero((rows.astype(np.float32) @ elements.segments
                           == np.array([len(out) for out in goal])).all(axis=1))[:400]  # fmt: skip
    elements.budget.charge(len(terms) / Budget.VECTOR)
    count = 0
    for k in fits:
        if terms.recipes[k].op == "const":
            continue
        if np.array_equal(np.repeat(elements.flat, rows[k]), target):
            yield element_node("each_by", EACH, elements, terms.recipes[k])
            count += 1
            if count == 20:
                return
    if not count:
        yield from _each_of(elements, target, terms, fits)


def find_flat_maps(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[n for v in base for n in (a, b)]` that reach the goal.

    The programs have two or three terms in place of (a, b).

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    total = int(sum(map(len, goal)))
    many = total // elements.size if elements.size else 0
    if many not in (2, 3) or [len(out) for out in goal] != (many * elements.lengths).tolist():
        return
    target = flatten(goal)
    terms = elements.build_terms(target)
    elements.budget.charge(many * len(terms) / Budget.VECTOR)
    options = []
    for k in range(many):
        hits = np.flatnonzero((terms.rows == target[k::many]).all(axis=1))
        options.append(
            [term for hit in hits[:1].tolist() for term in terms.same_row_recipes(hit)[:3]]
        )
    for chosen in itertools.product(*options):
        yield element_node("map_each", MAP_EACH, elements, *chosen)


def _each_of(
    elements: Elements, target: NDArray[np.int64], terms: Table, counts: NDArray[np.int64]
) -> Iterator[Node]:
    """Yield [term for v in base for _ in range(count)]."""
    rows = terms.rows[:1500]
    for k in counts[:12].tolist():
        times = np.clip(terms.rows[k], 0, 300)
        if not times.any() or not elements.budget.charge(len(rows) / Budget.VECTOR):
            continue
        good = np.flatnonzero((np.repeat(rows, times, axis=1) == target).all(axis=1))[:2]
        for t in good.tolist():
            if terms.recipes[t].op != "v":
                yield element_node(
                    "each_of", EACH + 1.0, elements, terms.recipes[t], terms.recipes[k]
                )


def find_cuts(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs that reach the goal by cutting the list before the first element that passes a
    test.

    A program returns the elements before the cut or the elements after the cut.

    Args:
        elements: The elements of the list, with the available tests.
        goal: The wanted list for each example input.
    """
    pairs = list(zip(elements.lists, goal, strict=True))
    lengths = np.array([len(out) for out in goal])
    head = all(a[: len(b)] == b for a, b in pairs)
    tail = all(not b or a[-len(b) :] == b for a, b in pairs)
    if not elements.size or not (head or tail):
        return
    masks = elements.build_masks()
    if not elements.budget.charge(len(masks) / Budget.VECTOR):
        return
    first = first_true_index(elements, masks.rows)
    for op, wanted in (("until", lengths), ("since", elements.lengths - lengths)):
        if (op == "until" and not head) or (op == "since" and not tail):
            continue
        for k in np.flatnonzero((first == wanted).all(axis=1))[:20]:
            yield element_node(op, CUT, elements, masks.recipes[k])


def first_true_index(elements: Elements, rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the index of the first true value among the elements of each list.

    If no value is true, the index is the length of the list. The result has the shape (rows,
    lists).

    Args:
        elements: The lists, with their elements laid end to end.
        rows: Truth values of the elements, shape (rows, elements).
    """
    out = np.empty((len(rows), len(elements.lists)), dtype=np.int64)
    for j, length in enumerate(elements.lengths.tolist()):
        part = rows[:, elements.starts[j] : elements.starts[j] + length]
        if length == 0:
            out[:, j] = 0
        else:
            out[:, j] = np.where(part.any(axis=1), part.argmax(axis=1), length)
    return out


def find_partial_solutions(elements: Elements, goal: Lists) -> Iterator[tuple[int, Node]]:
    """Yield maps and filters that reach the goal on some example inputs.

    Args:
        elements: The elements of the list, with the available terms and tests.
        goal: The wanted list for each example input.

    Yields:
        Pairs of a bit mask of the example inputs with a right result, and a program.
    """
    lengths = np.array([len(out) for out in goal])
    bits = 1 << np.arange(len(goal), dtype=np.int64)
    if not elements.size:
        return
    same = lengths == elements.lengths
    best: dict[int, Node] = {}
    if same.any():
        padded = np.zeros(elements.size, dtype=np.int64)
        for j in np.flatnonzero(same).tolist():
            padded[elements.starts[j] : elements.starts[j + 1]] = goal[j]
        terms = elements.build_terms(padded)
        misses = (terms.rows != padded).astype(np.float32) @ elements.segments
        right = ((misses == 0) & same) @ bits
        for k in _first_of_each(right):
            best.setdefault(int(right[k]), element_node("map", MAP, elements, terms.recipes[k]))
    masks = elements.build_masks()
    kept = masks.rows.astype(np.float32) @ elements.segments
    fits = kept == lengths
    for j, out in enumerate(goal):
        part = slice(elements.starts[j], elements.starts[j + 1])
        able = np.flatnonzero(fits[:, j])
        places = masks.rows[able, part].nonzero()[1].reshape(len(able), len(out))
        fits[able, j] = (elements.flat[part][places] == np.array(out, dtype=np.int64)).all(axis=1)
    right = fits @ bits
    elements.budget.charge(len(masks) / Budget.VECTOR)
    for k in _first_of_each(right):
        program = element_node("filter", FILTER, elements, masks.recipes[k])
        old = best.get(int(right[k]))
        if old is None or program.cost < old.cost:
            best[int(right[k])] = program
    yield from best.items()


def _first_of_each(right: NDArray[np.int64]) -> list[int]:
    """Return the first index of each distinct number except 0, ascending.

    Tables are sorted by cost, so the first row is the cheapest.
    """
    numbers, first = np.unique(right, return_index=True)
    return sorted(first[numbers != 0].tolist())


def element_node(op: str, price: float, elements: Elements, *parts: Node) -> Node:
    """Return the program that applies an element operation, such as "map", to the list of
    `elements`.

    Args:
        op: Name of the operation.
        price: Cost of the operation without its list and terms.
        elements: The elements of the list.
        parts: The terms and tests of the operation.
    """
    cost = price + elements.base.cost + sum(p.cost for p in parts)
    return Node(op, (elements.base, *parts), cost)


def depends_on_index(term: Node) -> bool:
    """Return whether `term` uses the index of the element."""
    from .codegen import uses_index

    return uses_index(term)


def is_subsequence(lists: Lists, goal: Lists) -> bool:
    """Return whether each list of `goal` is a subsequence of the list at the same index of
    `lists`.
    """
    for values, out in zip(lists, goal, strict=True):
        rest = iter(values)
        if not all(any(e == v for v in rest) for e in out):
            return False
    return True


def _forced(lists: Lists, goal: Lists) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which elements every filter must keep, and which it must remove."""
    stay, go = [], []
    for values, out in zip(lists, goal, strict=True):
        for v in values:
            kept = out.count(v)
            stay.append(kept > 0 and kept == values.count(v))
            go.append(kept == 0)
    return np.array(stay, dtype=bool), np.array(go, dtype=bool)
