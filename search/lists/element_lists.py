"""Compute new lists from the elements of a list, and find maps that distinguish two cases.

The first functions yield the lists that one step over the elements makes, for the bank of known
lists. These lists do not depend on a goal. The later functions find maps of the form `[a if test
else b for v in base]` that reach a goal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Lists
from .element_goals import (
    CUT,
    FILTER,
    MAP,
    MAP_FILTER,
    MAP_IF,
    SORT,
    V,
    depends_on_index,
    element_node,
    first_true_index,
    flatten,
)
from .elements import Elements
from .features import find_feature
from .grammar import Node
from .tables import Table


def iter_mapped(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """Yield maps of the list by the cheapest terms, as pairs (program, value).

    A value is one list per example input.

    Args:
        elements: The elements of the list, with the available terms and tests.
        most: Maximum number of maps.
    """
    terms = elements.build_terms(elements.flat)
    count = 0
    for k in range(len(terms)):
        term = terms.recipes[k]
        if not any(isinstance(part, Node) for part in term.args):
            continue
        yield element_node("map", MAP, elements, term), elements.cut(terms.rows[k])
        count += 1
        if count == most:
            return


def iter_filtered(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """Yield filters of the list, as pairs (program, value).

    The tests are the `most` cheapest tests and all comparisons of an element with a constant. A
    value is one list per example input.

    Args:
        elements: The elements of the list, with the available terms and tests.
        most: Number of the cheapest tests.
    """
    masks = elements.build_masks()
    plain = [k for k, test in enumerate(masks.recipes) if _with_constant(test)]
    for k in dict.fromkeys([*range(min(most, len(masks))), *plain]):
        row = masks.rows[k]
        values = []
        for j in range(len(elements.lists)):
            part = slice(elements.starts[j], elements.starts[j + 1])
            values.append(tuple(elements.flat[part][row[part]].tolist()))
        yield element_node("filter", FILTER, elements, masks.recipes[k]), tuple(values)


def _with_constant(test: Node) -> bool:
    return test.op in ("<", ">", "==", "!=") and test.args[0] == V and test.args[1].op == "const"


def iter_sorted(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """Yield the list sorted by the cheapest keys, as pairs (program, value).

    No two pairs have the same order of elements. A value is one list per example input.

    Args:
        elements: The elements of the list, with the available terms and tests.
        most: Maximum number of pairs.
    """
    terms = elements.build_terms(elements.flat)
    seen = set()
    for k in range(min(len(terms), 1500)):
        if depends_on_index(terms.recipes[k]):
            continue
        order = np.lexsort((terms.rows[k], elements.segment))
        key = order.tobytes()
        if key not in seen:
            seen.add(key)
            yield element_node("sort_by", SORT, elements, terms.recipes[k]), elements.split(order)
        if len(seen) == most:
            return


def iter_cuts(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """Yield the list cut before the first element that passes a test, as pairs (program, value).

    For each test, the first pair holds the elements before the cut, and the second pair holds the
    elements after the cut. A value is one list per example input.

    Args:
        elements: The elements of the list, with the available terms and tests.
        most: Maximum number of tests; the cheapest are used.
    """
    masks = elements.build_masks()
    first = first_true_index(elements, masks.rows[:most])
    for k, row in enumerate(first.tolist()):
        head = tuple(v[:n] for v, n in zip(elements.lists, row, strict=True))
        tail = tuple(v[n:] for v, n in zip(elements.lists, row, strict=True))
        yield element_node("until", CUT, elements, masks.recipes[k]), head
        yield element_node("since", CUT, elements, masks.recipes[k]), tail


def iter_indices(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """Yield the indices of the elements that pass a test, as pairs (program, value).

    A value is one list of indices per example input.

    Args:
        elements: The elements of the list, with the available terms and tests.
        most: Maximum number of tests; the cheapest are used.
    """
    masks, place = elements.build_masks(), Node("i", (), 1.0)
    for k in range(min(most, len(masks))):
        parts = np.split(masks.rows[k], elements.starts[1:-1])
        values = tuple(tuple(np.flatnonzero(part).tolist()) for part in parts)
        yield element_node("map_filter", MAP_FILTER, elements, masks.recipes[k], place), values


def iter_replaced(elements: Elements, tests: int, terms: int) -> Iterator[tuple[Node, Lists]]:
    """Yield the list with all elements that pass a test replaced by a term, as pairs (program,
    value).

    A value is one list per example input.

    Args:
        elements: The elements of the list, with the available tests and terms.
        tests: Maximum number of tests; the cheapest are used.
        terms: Maximum number of terms; the cheapest are used.
    """
    table, masks = elements.build_terms(elements.flat), elements.build_masks()
    same = Node("v", (), 0.4)
    useful = [k for k in range(len(table)) if table.recipes[k].args][:terms]
    for m in range(min(tests, len(masks))):
        for k in useful:
            row = np.where(masks.rows[m], table.rows[k], elements.flat)
            program = element_node(
                "map_if", MAP_IF, elements, masks.recipes[m], table.recipes[k], same
            )
            yield program, elements.cut(row)


# --- Goals solved element by element with two cases: [a if test else b for v in base].

RARE_CASE_COST = 3.0  # extra cost of a case that serves one element: a patch rather than a rule
LIST_TEST_COST = (
    2.0  # extra cost of a test that does not depend on the element: a conditional on the list
)
_ENOUGH = 60  # maximum number of programs of one kind per base


def find_map_ifs(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[a if test else b for v in base]` that reach the goal.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    if [len(out) for out in goal] != elements.lengths.tolist() or not elements.size:
        return
    target = flatten(goal)
    terms = elements.build_terms(target)
    wrong = terms.rows != target
    useful = np.flatnonzero((~wrong).any(axis=1))[:1500]
    masks = elements.build_masks()
    most = min(len(masks), 4000)
    if not elements.budget.charge(most * len(useful) / Budget.VECTOR / 64):
        return
    missed = wrong[useful].T.astype(np.float32)
    tests = masks.rows[:most].astype(np.float32)
    here = tests @ missed == 0
    there = (1.0 - tests) @ missed == 0
    rare = np.minimum(tests.sum(axis=1), elements.size - tests.sum(axis=1)) < 2
    some = (tests.sum(axis=1) > 0) & (tests.sum(axis=1) < elements.size)
    fits = np.flatnonzero(here.any(axis=1) & there.any(axis=1) & some)
    found = []
    for p in fits:
        for a in np.flatnonzero(here[p])[:2]:
            for b in np.flatnonzero(there[p])[:2]:
                test, then, other = (
                    masks.recipes[p],
                    terms.recipes[useful[a]],
                    terms.recipes[useful[b]],
                )
                if then != other:
                    cost = MAP_IF + elements.base.cost + test.cost + then.cost + other.cost
                    if rare[p]:
                        cost += RARE_CASE_COST
                    if not depends_on_element(test):  # a conditional on the list
                        cost += LIST_TEST_COST
                    if then.op == "v":  # prefer the unchanged element as the second case
                        cost += 0.1
                    found.append(Node("map_if", (elements.base, test, then, other), cost))
    found.sort(key=lambda n: n.cost)
    yield from found[:_ENOUGH]


def find_replacements_in_rows(
    base: Node, values: NDArray[np.int64], target: NDArray[np.int64], terms: Table, masks: Table
) -> Iterator[Node]:
    """Yield programs of the form `[a if test else v for v in base]` that reach the goal.

    The elements that changed determine the test and the term.

    Args:
        base: The program of the list.
        values: The elements of the list for all example inputs, as one vector.
        target: The wanted elements, in the same order.
        terms: The available terms `a`.
        masks: The available tests.
    """
    changed = values != target
    if not 0 < changed.sum() < len(target):
        return
    tests = np.flatnonzero(masks.rows[:, changed].all(axis=1))
    fits = np.flatnonzero((terms.rows[:, changed] == target[changed]).all(axis=1))
    rows, few, found = masks.rows[tests], RARE_CASE_COST * float(changed.sum() < 2), 0
    for t in fits[:20].tolist():
        made = np.where(rows, terms.rows[t], values)
        for hit in np.flatnonzero((made == target).all(axis=1))[:3].tolist():
            test, term = masks.recipes[tests[hit]], terms.recipes[t]
            cost = MAP_IF + base.cost + test.cost + term.cost + V.cost + few
            cost += 0.0 if depends_on_element(test) else LIST_TEST_COST
            yield Node("map_if", (base, test, term, V), cost)
            found += 1
        if found >= 6:
            return


def find_replacements(elements: Elements, goal: Lists) -> Iterator[Node]:
    """Yield programs of the form `[a if test else v for v in base]` that reach the goal.

    Nothing is yielded unless each list of the goal is as long as the base list.

    Args:
        elements: The elements of the list `base`, with the available terms and tests.
        goal: The wanted list for each example input.
    """
    if [len(out) for out in goal] != elements.lengths.tolist() or not elements.size:
        return
    target = flatten(goal)
    terms, masks = elements.build_terms(target), elements.build_masks()
    if elements.budget.charge((len(terms) + len(masks)) / Budget.VECTOR / 4):
        yield from find_replacements_in_rows(elements.base, elements.flat, target, terms, masks)


def depends_on_element(term: Node) -> bool:
    """Return whether `term` depends on the element, and not only on the list."""
    feature = find_feature(term.op)
    if feature is not None:
        return not feature.per_list
    return any(isinstance(part, Node) and depends_on_element(part) for part in term.args)
