"""Reading in a thread of its own beside the work: what DuckDB and zlib do there leaves the work its
core."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

Item = TypeVar("Item")

_END = object()


def ahead(items: Iterator[Item], most: int) -> Generator[Item, None, None]:
    """The items, in their order, of which up to `most` are made before they are asked for. What
    making one raises is raised where it would have stood. The thread ends when this generator
    does: close it (`contextlib.closing`) where it may be left early."""
    with ThreadPoolExecutor(1, thread_name_prefix="reading ahead") as thread:
        waiting = deque(thread.submit(next, items, _END) for _ in range(most))
        try:
            while (one := waiting.popleft().result()) is not _END:
                waiting.append(thread.submit(next, items, _END))
                yield cast(Item, one)
        finally:
            for future in waiting:
                future.cancel()
