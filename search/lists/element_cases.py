"""Goals answered element by element with two cases: [a if test else b for v in base]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Lists
from .element_goals import MAP_IF, V, flat
from .elements import Elements, Table
from .features import find
from .grammar import Node

RARE = 3.0  # for a case of its own for one element: a patch rather than a rule
WHOLE = 2.0  # for a test that says nothing of the element: a conditional on the list
_ENOUGH = 60  # programs of one kind for one base


def map_ifs(elements: Elements, goal: Lists) -> Iterator[Node]:
    """[a if test else b for v in base]: tests by terms through one matrix product."""
    if [len(out) for out in goal] != elements.lengths.tolist() or not elements.size:
        return
    target = flat(goal)
    terms = elements.terms(target)
    wrong = terms.rows != target
    useful = np.flatnonzero((~wrong).any(axis=1))[:1500]
    masks = elements.masks()
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
                        cost += RARE
                    if not speaks_of_element(test):  # a conditional on the whole list
                        cost += WHOLE
                    if then.op == "v":  # what is not replaced is said last
                        cost += 0.1
                    found.append(Node("map_if", (elements.base, test, then, other), cost))
    found.sort(key=lambda n: n.cost)
    yield from found[:_ENOUGH]


def replaced(
    base: Node, values: NDArray[np.int64], target: NDArray[np.int64], terms: Table, masks: Table
) -> Iterator[Node]:
    """[a if test else v for v in base]: the changed elements tell the terms and the tests."""
    changed = values != target
    if not 0 < changed.sum() < len(target):
        return
    tests = np.flatnonzero(masks.rows[:, changed].all(axis=1))
    fits = np.flatnonzero((terms.rows[:, changed] == target[changed]).all(axis=1))
    rows, few, found = masks.rows[tests], RARE * float(changed.sum() < 2), 0
    for t in fits[:20].tolist():
        made = np.where(rows, terms.rows[t], values)
        for hit in np.flatnonzero((made == target).all(axis=1))[:3].tolist():
            test, term = masks.recipes[tests[hit]], terms.recipes[t]
            cost = MAP_IF + base.cost + test.cost + term.cost + V.cost + few
            cost += 0.0 if speaks_of_element(test) else WHOLE
            yield Node("map_if", (base, test, term, V), cost)
            found += 1
        if found >= 6:
            return


def replacements(elements: Elements, goal: Lists) -> Iterator[Node]:
    if [len(out) for out in goal] != elements.lengths.tolist() or not elements.size:
        return
    target = flat(goal)
    terms, masks = elements.terms(target), elements.masks()
    if elements.budget.charge((len(terms) + len(masks)) / Budget.VECTOR / 4):
        yield from replaced(elements.base, elements.flat, target, terms, masks)


def speaks_of_element(term: Node) -> bool:
    feature = find(term.op)
    if feature is not None:
        return not feature.whole
    return any(isinstance(part, Node) and speaks_of_element(part) for part in term.args)
