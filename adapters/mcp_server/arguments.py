"""Limits of what a client may send as the arguments of one call."""

from __future__ import annotations

from typing import Any

from ...records.errors import UsageError

MAX_CHARACTERS = 4_000_000  # of all texts in the arguments, and of numbers as text
MAX_VALUES = 1_000_000  # lists, objects and values in the arguments
MAX_DEPTH = 100  # nested lists and objects


def check_size(arguments: Any) -> None:
    """Raise UsageError if arguments are too large or too deeply nested.

    The check needs no recursion and ends at the first limit, so it is fast for any arguments.
    """
    characters = values = 0
    waiting: list[tuple[Any, int]] = [(arguments, 0)]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if depth > MAX_DEPTH:
            raise UsageError(f"the arguments are nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, dict):
            waiting += ((one, depth + 1) for one in value.values())
            characters += sum(map(len, value))
        elif isinstance(value, list):
            waiting += ((one, depth + 1) for one in value)
        elif isinstance(value, str):
            characters += len(value)
        elif isinstance(value, int):
            characters += value.bit_length() // 3
        if values + len(waiting) > MAX_VALUES or characters > MAX_CHARACTERS:
            raise UsageError(
                f"the arguments are too large (at most {MAX_CHARACTERS:,} characters and"
                f" {MAX_VALUES:,} values): write the data to a file below the root of the server"
            )
