"""After which hint of a person an answer was given.

The hints that a request showed are a call of the journal, at the path of the request followed by
"hints" (graphs/runtime/hints.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..records import HINTS


def newest_hints(recorded: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the newest hint of each request of a problem that showed hints: {path: text}.

    Args:
        recorded: (path, texts) of the calls of people, in order (`Store.human_texts`).
    """
    found = {}
    for path, texts in recorded:
        request, _, last = path.rpartition("/")
        shown = [text for text in texts if text]
        if last == HINTS and shown:
            found[request] = shown[-1]
    return found


def find_hint(hints: Mapping[str, str], path: str) -> str | None:
    """Return the newest hint before an answer; None without one.

    Args:
        hints: The hints of the problem by the path of the request, in order.
        path: The path of the answer. For a repaired answer, the requests of its step count.
    """
    if path in hints or "/repair/" not in path:
        return hints.get(path)
    step = path.partition("/repair/")[0]
    return next(
        (text for at, text in reversed(list(hints.items())) if at.startswith(f"{step}/")), None
    )
