"""The lists that one step over the elements makes of a list, for the bank: no goal asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .bank import Lists
from .element_goals import (
    CUT,
    FILTER,
    MAP,
    MAP_FILTER,
    MAP_IF,
    SORT,
    V,
    first_true,
    over,
    speaks_of_place,
)
from .elements import Elements
from .grammar import Node


def mapped(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """The lists that the cheapest terms make of the base."""
    terms = elements.terms(elements.flat)
    count = 0
    for k in range(len(terms)):
        term = terms.recipes[k]
        if not any(isinstance(part, Node) for part in term.args):
            continue
        row = terms.rows[k]
        pieces = np.split(row, elements.starts[1:-1])
        yield over("map", MAP, elements, term), tuple(tuple(p.tolist()) for p in pieces)
        count += 1
        if count == most:
            return


def kept(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """The lists that the cheapest tests leave of the base, and those that compare with a constant."""
    masks = elements.masks()
    plain = [k for k, test in enumerate(masks.recipes) if _with_constant(test)]
    for k in dict.fromkeys([*range(min(most, len(masks))), *plain]):
        row = masks.rows[k]
        values = []
        for j in range(len(elements.lists)):
            part = slice(elements.starts[j], elements.starts[j + 1])
            values.append(tuple(elements.flat[part][row[part]].tolist()))
        yield over("filter", FILTER, elements, masks.recipes[k]), tuple(values)


def _with_constant(test: Node) -> bool:
    return test.op in ("<", ">", "==", "!=") and test.args[0] == V and test.args[1].op == "const"


def ordered(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """The lists that sorting by the cheapest keys makes of the base."""
    terms = elements.terms(elements.flat)
    seen = set()
    for k in range(min(len(terms), 1500)):
        if speaks_of_place(terms.recipes[k]):
            continue
        order = np.lexsort((terms.rows[k], elements.segment))
        key = order.tobytes()
        if key not in seen:
            seen.add(key)
            yield over("sort_by", SORT, elements, terms.recipes[k]), elements.split(order)
        if len(seen) == most:
            return


def cut_off(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """The parts of the base up to, and from, the first that passes one of the cheapest tests."""
    masks = elements.masks()
    first = first_true(elements, masks.rows[:most])
    for k, row in enumerate(first.tolist()):
        head = tuple(v[:n] for v, n in zip(elements.lists, row, strict=True))
        tail = tuple(v[n:] for v, n in zip(elements.lists, row, strict=True))
        yield over("until", CUT, elements, masks.recipes[k]), head
        yield over("since", CUT, elements, masks.recipes[k]), tail


def places(elements: Elements, most: int) -> Iterator[tuple[Node, Lists]]:
    """The places in the base of those that pass one of the cheapest tests."""
    masks, place = elements.masks(), Node("i", (), 1.0)
    for k in range(min(most, len(masks))):
        parts = np.split(masks.rows[k], elements.starts[1:-1])
        values = tuple(tuple(np.flatnonzero(part).tolist()) for part in parts)
        yield over("map_filter", MAP_FILTER, elements, masks.recipes[k], place), values


def mended(elements: Elements, tests: int, terms: int) -> Iterator[tuple[Node, Lists]]:
    """The lists where the elements that pass one of the cheapest tests become another."""
    table, masks = elements.terms(elements.flat), elements.masks()
    same = Node("v", (), 0.4)
    useful = [k for k in range(len(table)) if table.recipes[k].args][:terms]
    for m in range(min(tests, len(masks))):
        for k in useful:
            row = np.where(masks.rows[m], table.rows[k], elements.flat)
            parts = np.split(row, elements.starts[1:-1])
            program = over("map_if", MAP_IF, elements, masks.recipes[m], table.recipes[k], same)
            yield program, tuple(tuple(p.tolist()) for p in parts)
