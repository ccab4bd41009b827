"""After which hint of a person a hypothesis was found (graphs/runtime/hints.py).

A hint is shown in every later request about its problem. A hypothesis is listed with the newest hint
that its request showed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..records import StepRecord
from ..store.hinted_answers import find_hint, newest_hints

if TYPE_CHECKING:
    from ..store import Store


def find_hints(store: Store, session: str, problem: str | None = None) -> dict[str, dict[str, str]]:
    """Return the newest hint of each request that showed hints: {problem: {path: text}}.

    Args:
        store: The open store.
        session: Id of the session.
        problem: Id of one problem; None for all problems.
    """
    recorded: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name, path, texts in store.human_texts(session, problem):
        recorded.setdefault(name, []).append((path, texts))
    found = {name: newest_hints(calls) for name, calls in recorded.items()}
    return {name: hints for name, hints in found.items() if hints}


def find_hints_by_hypothesis(
    hints: Mapping[str, str], steps: Iterable[StepRecord]
) -> dict[str, str]:
    """Return the newest hint before each hypothesis was first found, by the text of the hypothesis.

    Args:
        hints: The hints of the problem by the path of the request.
        steps: The steps of the problem, in order.
    """
    found: dict[str, str | None] = {}
    for step in steps if hints else ():
        for answer in step.answers:
            for one in answer.judged:
                if one.hypothesis is not None:
                    found.setdefault(one.hypothesis.text, find_hint(hints, answer.path))
    return {text: hint for text, hint in found.items() if hint is not None}
