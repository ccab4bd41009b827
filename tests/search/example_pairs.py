"""The search on pairs of any JSON values, for the tests of what it finds.

Internals: the engine is asked directly, because a session shows no prices and no candidates.
"""

from __future__ import annotations

from typing import Any

from peirce.search.examples import engine

BUDGET = 60_000
Pair = tuple[Any, Any]


def search(pairs: list[Pair], expansions: float = BUDGET) -> list[engine.Candidate]:
    problem = engine.Problem([list(pair) for pair in pairs], [], expansions)
    return problem.rank()
