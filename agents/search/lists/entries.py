"""What the bank holds: a program a value, by the value's fingerprint; lists and nodes when wanted.

Of a hundred entries one or two are ever built on, so an entry is a number, a price and where it came
from. Its value is made again, by the Python text of its operation, when it is asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .fingerprints import value_code
from .grammar import Node, node, run

Lists = tuple[tuple[int, ...], ...]
Slot = tuple[str, tuple[tuple[Any, Node], ...]]  # an operation and its operands after the list


class Popped(NamedTuple):
    """A list that was built on: the node that it had then, its value, and what was made of it."""

    program: Node
    lists: tuple[list[int], ...]
    slots: list[Slot]


class Entries:
    """A mapping from values to nodes, in the order in which the values were entered."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}  # fingerprint -> place
        self.costs = array("d")
        self.made: list[tuple[Popped, int] | None] = []  # None: entered with its node
        self._values: dict[int, Lists] = {}
        self._nodes: dict[int, Node] = {}

    def enter(self, values: Lists, program: Node) -> bool:
        """Enters a program with its value; True where that is new. The cheaper program stays."""
        code = value_code(values)
        place = self.places.get(code)
        if place is None:
            place = self.places[code] = len(self.costs)
            self.costs.append(program.cost)
            self.made.append(None)
            self._values[place] = values
        elif self.costs[place] <= program.cost:
            return False
        else:
            self.costs[place] = program.cost
            self._values[place] = values
            self.made[place] = None
            self._nodes[place] = program
            return False
        self._nodes[place] = program
        return True

    def replace(self, place: int, cost: float, popped: Popped, slot: int) -> None:
        """A cheaper program of a known value."""
        self.costs[place] = cost
        self.made[place] = (popped, slot)
        self._nodes.pop(place, None)

    def node(self, place: int) -> Node:
        known = self._nodes.get(place)
        if known is None:
            popped, slot = self._origin(place)
            known = self._nodes[place] = program_of(popped, slot)
        return known

    def values(self, place: int) -> Lists:
        known = self._values.get(place)
        if known is None:
            popped, slot = self._origin(place)
            op, operands = popped.slots[slot]
            columns = zip(popped.lists, *(values for values, _ in operands), strict=True)
            function = run(op)
            known = self._values[place] = tuple(tuple(function(*some)) for some in columns)
        return known

    def _origin(self, place: int) -> tuple[Popped, int]:
        origin = self.made[place]
        assert origin is not None
        return origin

    def cheapest(self, most: int) -> list[tuple[Lists, Node]]:
        """The cheapest programs with their values; of one price the earliest first."""
        costs = np.array(self.costs)
        among = np.arange(len(costs))
        if len(costs) > most:
            among = np.flatnonzero(costs <= np.partition(costs, most)[most])
        order = among[np.argsort(costs[among], kind="stable")][:most]
        return [(self.values(k), self.node(k)) for k in order.tolist()]

    def get(self, values: Lists) -> Node | None:
        place = self.places.get(value_code(values))
        return None if place is None else self.node(place)

    def __contains__(self, values: Lists) -> bool:
        return value_code(values) in self.places

    def __len__(self) -> int:
        return len(self.costs)

    def items(self) -> Iterator[tuple[Lists, Node]]:
        return ((self.values(k), self.node(k)) for k in range(len(self)))


def program_of(popped: Popped, slot: int) -> Node:
    op, operands = popped.slots[slot]
    return node(op, popped.program, *(n for _, n in operands))
