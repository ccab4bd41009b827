"""Search engine `intervals`: from the narrowest interval that explains the pairs to the widest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peirce.search.engines import SearchEngine
from peirce.search.novelty import Answer


def supports(shown: list[list[Any]]) -> bool:
    return bool(shown) and all(type(n) is int and type(said) is bool for n, said in shown)


def prepare_space(inputs: list[Any]) -> list[int]:
    return sorted(inputs)


class Problem:
    """A problem under search."""

    def __init__(
        self, shown: list[list[Any]], space: list[int], expansions: float, public: Any = None
    ) -> None:
        inside = [n for n, said in shown if said]
        outside = [n for n, said in shown if not said]
        self.low = max(
            (n for n in outside if not inside or n < min(inside)), default=min(space) - 1
        )
        self.high = min((n for n in outside if inside and n > max(inside)), default=max(space) + 1)
        self.inside, self.expansions = inside, int(expansions)

    def _ranked(self) -> Iterator[str]:
        first, last = (min(self.inside), max(self.inside)) if self.inside else (1, 0)
        while first > self.low and last < self.high:
            yield f"{first}..{last}"
            first, last = first - 1, last + 1
        yield f"{self.low + 1}..{self.high - 1}"

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        for number, text in enumerate(self._ranked()):
            if number >= self.expansions:
                return None
            if text not in skip:
                return Answer(text, "")
        return None


ENGINE = SearchEngine("intervals", supports, prepare_space, Problem)
