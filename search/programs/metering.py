"""Limits on the work and the values of an interpreted program.

Each operation charges a `Meter` for its work before it does it, so that no program takes long or
builds a large value. A set of anything but numbers cannot be iterated in its own order, because that
order depends on the process.
"""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Iterable, Iterator
from typing import Any

MAX_BITS = 1_024  # of an integer
MAX_LENGTH = 20_000  # of a sequence or text
MAX_CALLS = 40  # nested calls of functions
PER_ITERATOR = 8  # steps; a long chain of iterators would overflow the stack where it is freed
FREE_RANGE = 64  # a longer range is iterated with a charge for each element

FEW = 8  # arguments of a function that computes one number

SCALARS = frozenset({int, float, bool, str, type(None)})
_NUMBERS = frozenset({int, float, bool})
SEQUENCES = (list, tuple, str, collections.deque)
SETS = (set, frozenset)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
ITERATORS: tuple[Any, ...] = (
    types.GeneratorType, enumerate, zip, map, filter, reversed, itertools.accumulate,
    itertools.chain, itertools.combinations, itertools.islice, itertools.pairwise,
    itertools.permutations, itertools.takewhile, itertools.dropwhile, itertools.zip_longest,
    itertools.product, type(iter([])), type(iter(())), type(iter("")), type(iter(range(0))),
    type(reversed([])), type(iter({})), type(iter({}.items())), type(iter({}.values())),
)  # fmt: skip
_SIZED: tuple[Any, ...] = (list, tuple, str, dict, collections.deque, *_VIEWS)


class Halt(Exception):
    """Raised when a program exceeds a limit, or does something that is not interpreted."""


class Meter:
    """The work that an interpreted program may still do.

    Attributes:
        left: The number of steps that are left.
        calls: The number of nested calls of functions at the moment.
    """

    def __init__(self) -> None:
        self.left = 0
        self.calls = 0

    def spend(self, steps: int) -> None:
        """Subtract steps.

        Raises:
            Halt: Too few steps are left.
        """
        self.left -= steps
        if self.left < 0:
            raise Halt

    def measure(self, value: Any) -> None:
        """Charge for a walk through a value with all values within it.

        A value that contains itself or repeats a part very often exceeds the limit.
        """
        if type(value) in SCALARS:
            return
        stack, seen = [value], 0
        while stack:
            one = stack.pop()
            if isinstance(one, dict):
                parts: Any = [*one.keys(), *one.values()]
            elif isinstance(one, CONTAINERS):
                parts = one
            else:
                continue
            seen += len(parts)
            self.spend(1 + (len(parts) >> 3))
            if seen > MAX_LENGTH:
                raise Halt
            if not SCALARS.issuperset(map(type, parts)):
                stack += [part for part in parts if type(part) not in SCALARS]

    def check(self, value: Any) -> Any:
        """Return a new value if it is not too large."""
        kind = type(value)
        if kind is int:
            if value.bit_length() > MAX_BITS:
                raise Halt
        elif kind in (list, str, tuple):
            if len(value) > MAX_LENGTH:
                raise Halt
            self.spend(len(value) >> 3)
        return value


def count_elements(meter: Meter, values: Iterable[Any]) -> Iterator[Any]:
    """Return an iterator over values that charges for itself and for each value."""
    meter.spend(PER_ITERATOR)
    return _counted(meter, values)


def _counted(meter: Meter, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        meter.spend(1)
        yield value


def iterate(meter: Meter, value: Any, ordered: bool = True) -> Any:
    """Return an iterable over a value whose elements have been or will be charged for.

    Args:
        meter: The meter to charge.
        value: The value to iterate.
        ordered: Whether the order of the elements matters.

    Raises:
        TypeError: The value cannot be iterated.
        Halt: The order of a set matters and depends on the process.
    """
    if isinstance(value, _SIZED):
        meter.spend(1 + (len(value) >> 3))
        return value
    if isinstance(value, range):
        if len(value) <= FREE_RANGE:
            return value
        return count_elements(meter, value)
    if isinstance(value, SETS):
        meter.spend(1 + (len(value) >> 3))
        if ordered and not _NUMBERS.issuperset(map(type, value)):
            raise Halt
        return value
    if isinstance(value, ITERATORS):
        return value
    raise TypeError(f"{type(value).__name__} cannot be iterated")
