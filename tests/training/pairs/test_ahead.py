"""Reading ahead: the same items in the same order, errors where they stood, and no thread left.

Internals: the thread that reads ahead is started on items that the test controls.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest
from peirce.training.pairs.build_pairs import read_ahead


def reading() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("reading ahead")]


def test_items_come_in_their_order() -> None:
    assert list(read_ahead(iter(range(50)), 2)) == list(range(50)) and not reading()
    assert list(read_ahead(iter([None, None]), 1)) == [None, None]
    assert list(read_ahead(iter(()), 1)) == []


def test_no_more_are_made_than_may_wait() -> None:
    made = []

    def items() -> Iterator[int]:
        for number in range(20):
            made.append(number)
            yield number

    with contextlib.closing(read_ahead(items(), 2)) as read:
        for number in read:
            assert len(made) <= number + 1 + 2
    assert len(made) == 20 and not reading()


def test_an_error_is_raised_where_it_stood() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    read = read_ahead(items(), 4)
    assert next(read) == 1
    with pytest.raises(ValueError, match="broken"):
        next(read)
    assert not reading()


def test_one_that_is_left_early_ends_its_thread() -> None:
    with contextlib.closing(read_ahead(iter(range(1_000)), 1)) as read:
        assert next(read) == 0 and len(reading()) == 1
    assert not reading()
