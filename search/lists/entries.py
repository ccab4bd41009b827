"""Storage of the bank: one program per value, found by the fingerprint of the value.

A value is one list per example input. The search builds on only one or two entries in a hundred.
The bank therefore stores only the cost and the origin of an entry, and rebuilds the program and the
value when they are needed. The Python text of the operation computes the value.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .fingerprints import value_code
from .grammar import Node, compile_operation, operation_node

Lists = tuple[tuple[int, ...], ...]
Ints = tuple[int | None, ...]  # None: undefined on that input
Slot = tuple[str, tuple[tuple[Any, Node], ...]]  # an operation, and its operands after the list


class ExpandedList(NamedTuple):
    """A list to which operations were applied.

    Args:
        program: The program of the list.
        lists: The list for each example input.
        slots: The operations that were applied, each with its other operands.
    """

    program: Node
    lists: tuple[list[int], ...]
    slots: list[Slot]


class Entries:
    """A mapping from values to programs, in order of insertion.

    A value is one list per example input. The place of an entry is its index in this order.
    """

    def __init__(self) -> None:
        self.places: dict[int, int] = {}  # fingerprint -> place
        self.costs = array("d")
        self.popped: list[ExpandedList] = []
        # for each entry its index in `popped`, or -1 if it was added with its node
        self.origins = array("q")
        self.slots = array("q")  # for each entry its index among the slots of its origin
        self._values: dict[int, Lists] = {}
        self._nodes: dict[int, Node] = {}
        self._coded: tuple[Lists, int] = (), 0  # the latest value, and its fingerprint

    def add(self, values: Lists, program: Node) -> bool:
        """Add a program, and return whether the value is new. A cheaper program for a known value
        is kept.
        """
        code = self._code(values)
        place = self.places.get(code)
        if place is None:
            place = self.places[code] = len(self.costs)
            self.costs.append(program.cost)
            self.origins.append(-1)
            self.slots.append(-1)
            self._values[place] = values
        elif self.costs[place] <= program.cost:
            return False
        else:
            self.costs[place] = program.cost
            self._values[place] = values
            self.origins[place] = -1
            self._nodes[place] = program
            return False
        self._nodes[place] = program
        return True

    def replace(self, place: int, cost: float, origin: int, slot: int) -> None:
        """Record a cheaper program for a known value.

        Args:
            place: Place of the entry.
            cost: Cost of the cheaper program.
            origin: Index in `popped` of the list that the program is built on.
            slot: Index of the program's operation among the `slots` of this list.
        """
        self.costs[place] = cost
        self.origins[place], self.slots[place] = origin, slot
        self._nodes.pop(place, None)

    def node(self, place: int) -> Node:
        """Return the program of the entry at `place`."""
        known = self._nodes.get(place)
        if known is None:
            popped, slot = self._origin(place)
            known = self._nodes[place] = build_program(popped, slot)
        return known

    def values(self, place: int) -> Lists:
        """Return the value of the entry at `place`, computing the value if needed."""
        known = self._values.get(place)
        if known is None:
            popped, slot = self._origin(place)
            op, operands = popped.slots[slot]
            columns = zip(popped.lists, *(values for values, _ in operands), strict=True)
            function = compile_operation(op)
            known = self._values[place] = tuple(tuple(function(*some)) for some in columns)
        return known

    def _origin(self, place: int) -> tuple[ExpandedList, int]:
        return self.popped[self.origins[place]], self.slots[place]

    def cheapest(self, most: int) -> list[tuple[Lists, Node]]:
        """Return at most `most` programs with their values, cheapest first.

        Programs of equal cost keep their order of insertion.
        """
        return [(self.values(k), self.node(k)) for k in cheapest_places(self.costs, most)]

    def get(self, values: Lists) -> Node | None:
        """Return the program whose value is `values`, or None if there is none."""
        place = self.places.get(self._code(values))
        return None if place is None else self.node(place)

    def place_of(self, values: Lists) -> int:
        """Return the place of a value that the bank has."""
        return self.places[self._code(values)]

    def _code(self, values: Lists) -> int:
        if values is not self._coded[0]:
            self._coded = values, value_code(values)
        return self._coded[1]

    def __contains__(self, values: Lists) -> bool:
        return self._code(values) in self.places

    def __len__(self) -> int:
        return len(self.costs)

    def items(self) -> Iterator[tuple[Lists, Node]]:
        """Return an iterator over pairs (value, program) in order of insertion."""
        return ((self.values(k), self.node(k)) for k in range(len(self)))


class Integers:
    """A mapping from integer values to programs, in order of insertion.

    A value is one integer, or None, per example input. Programs are built only when they are
    needed.
    """

    def __init__(self) -> None:
        self._places: dict[Ints, int] = {}
        self._costs = array("d")
        self._made: list[Node | tuple[Callable[[int], Node], int]] = []
        self._values: list[Ints] = []

    def add(
        self, values: Ints, cost: float, program: Node | tuple[Callable[[int], Node], int]
    ) -> None:
        """Add a program. If the value is known already, the cheaper program is kept.

        Args:
            values: For each example input, the integer, or None if the program is undefined.
            cost: Cost of the program.
            program: The program, or a pair (function, number) where function(number) builds the
                program.
        """
        place = self._places.get(values)
        if place is None:
            self._places[values] = len(self._costs)
            self._costs.append(cost)
            self._made.append(program)
            self._values.append(values)
        elif cost < self._costs[place]:
            self._costs[place] = cost
            self._made[place] = program

    def _node(self, place: int) -> Node:
        made = self._made[place]
        if not isinstance(made, Node):
            made = self._made[place] = made[0](made[1])
        return made

    def cheapest(self, most: int) -> list[tuple[Ints, Node]]:
        """Return at most `most` programs with their values, cheapest first.

        Programs of equal cost keep their order of insertion.
        """
        return [(self._values[k], self._node(k)) for k in cheapest_places(self._costs, most)]

    def get(self, values: Ints) -> Node | None:
        """Return the program whose value is `values`, or None if there is none."""
        place = self._places.get(values)
        return None if place is None else self._node(place)

    def __len__(self) -> int:
        return len(self._costs)

    def items(self) -> Iterator[tuple[Ints, Node]]:
        """Return an iterator over pairs (value, program) in order of insertion."""
        return ((values, self._node(k)) for k, values in enumerate(self._values))


def cheapest_places(prices: array[float], most: int) -> list[int]:
    """Return the indices of the `most` lowest prices, lowest first. Equal prices keep their
    order.
    """
    costs = np.array(prices)
    among = np.arange(len(costs))
    if len(costs) > most:
        among = np.flatnonzero(costs <= np.partition(costs, most)[most])
    return among[np.argsort(costs[among], kind="stable")][:most].tolist()  # type: ignore[no-any-return]


def build_program(popped: ExpandedList, slot: int) -> Node:
    """Return the program that applies the operation at index `slot` of `popped.slots` to
    the list.
    """
    op, operands = popped.slots[slot]
    return operation_node(op, popped.program, *(n for _, n in operands))
