"""Grids in a worker. A program is proposed where its own Python text gives all shown outputs, in the
order that following.py says; what fails or leaves no grid on a part of the space comes later."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines import SearchEngine
from ..following import Answer, Codes, Defined, Following, Predictions
from ..patches import patched
from .backgrounds import swapped, wrapped
from .canvas import corner, placed
from .grammar import FAILURES, Grid, Program, is_grid, sentence, source
from .search import CONFIDENT, Search

SPACE = 240  # inputs of the space on which novelty is judged
SMALL = 225  # cells of these at most, where there are so many: large grids take long
FEW = 60  # of them, which a candidate meets first
CANVAS = 0.3  # share of the expansions for small grids in a corner, where outputs show these
RANKED = 500  # programs, cheapest first, that are written out
PARTIAL = 6.0  # price of a program that leaves a grid nowhere in the space

Wrap = Callable[[Program], Program]


class Candidate:
    """A written program: its text, its sentence, its price; predictions when they are asked for."""

    def __init__(self, program: Program) -> None:
        self.text = source(program)
        self.sentence = sentence(program)
        self.cost = program.cost
        self.remembered: bool | None = None
        names: dict[str, Any] = {}
        exec(compile(self.text, "<candidate>", "exec"), names)
        self.function: Callable[[Grid], Any] = names["f"]

    def right(self, shown: list[list[Any]]) -> bool:
        try:
            return all(self.function(given) == out for given, out in shown)
        except FAILURES:
            return False

    def remembers(self, inputs: Sequence[Grid]) -> bool:
        """Whether a branch serves a single case of all that is shown."""
        if self.remembered is None:
            self.remembered = patched(self.text, inputs)
        return self.remembered

    def predictions(self, inputs: Sequence[Grid]) -> Predictions:
        codes: Codes = np.zeros(len(inputs), dtype=np.int64)
        defined: Defined = np.zeros(len(inputs), dtype=bool)
        for k, grid in enumerate(inputs):
            try:
                out = self.function(grid)
                codes[k] = hash(tuple(map(tuple, out)))
            except FAILURES:
                continue
            defined[k] = _rectangular(out)
        return codes, defined


def _rectangular(value: Any) -> bool:
    return type(value) is list and bool(value) and len({len(row) for row in value} - {0}) == 1


def serves(shown: list[list[Any]]) -> bool:
    """Whether inputs and outputs are grids of whole numbers from 0 to 9."""
    return bool(shown) and all(_colours(g) for pair in shown for g in pair)


def _colours(value: Any) -> bool:
    return is_grid(value) and all(
        type(row) is list and all(type(v) is int and 0 <= v <= 9 for v in row) for row in value
    )


def prepared(inputs: list[Any]) -> list[Grid]:
    """A fair part of the space, in strides."""
    grids = [grid for grid in inputs if _colours(grid)]
    small = [grid for grid in grids if len(grid) * len(grid[0]) <= SMALL]
    if len(small) >= SPACE:
        grids = small
    return grids[:: max(1, len(grids) // SPACE)]


class Problem:
    """The memo of one problem: its search, and its candidates by rank."""

    def __init__(
        self, shown: list[list[Any]], space: list[Grid], expansions: float, told: object = None
    ) -> None:
        self.shown = shown
        inputs, outputs = tuple(i for i, _ in shown), tuple(o for _, o in shown)
        other, small = swapped(inputs, outputs), corner(inputs, outputs)
        apart = CANVAS * expansions if small else 0.0
        each = (expansions - apart) / (1 + bool(other))
        self.searches: list[tuple[Search, Wrap]] = [(Search(inputs, outputs, each), lambda p: p)]
        if other:
            self.searches.append((Search(*other, each), wrapped))
        if small:
            self.searches.append((Search(inputs, small[0], apart), partial(placed, last=small[1])))
        self.following = Following(space, FEW)
        self.ranked: list[Candidate] = []
        self.more: Iterator[Candidate] | None = None
        self.first: list[Candidate] | None = None

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        if self.first is None:  # before the search goes on: what else was asked must not matter
            self.first = [c for c in (next(self._rank(confident=True), None),) if c is not None]
        if skip:
            inputs = [i for i, _ in self.shown]
            rules = (c for c in self._all() if not c.remembers(inputs))
            chosen = self.following.next(rules, self._known(earlier), skip)
        else:
            chosen = next(iter(self.first), None)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def _all(self) -> Iterator[Candidate]:
        """Candidates by price, each written out when it is reached first."""
        if self.more is None:
            self.more = self._rank(confident=False)
        yield from self.ranked
        for candidate in self.more:
            self.ranked.append(candidate)
            yield candidate

    def _known(self, earlier: list[str]) -> list[Candidate]:
        wanted = set(earlier)
        found: dict[str, Candidate] = {}
        for candidate in self._all():
            if candidate.text in wanted:
                found[candidate.text] = candidate
                if len(found) == len(wanted):
                    break
        return [found[text] for text in earlier if text in found]

    def _rank(self, confident: bool) -> Iterator[Candidate]:
        """Candidates by price. A program is written out when it may be the next: what is added to
        its price depends on what it does, and is never below 0."""
        found: list[Program] = []
        for search, wrap in self.searches:
            if not confident or not found or found[0].cost > CONFIDENT:
                found += [wrap(program) for program in search.run(confident)]
                found.sort(key=lambda program: program.cost)
        texts: set[str] = set()
        waiting: list[tuple[float, int, Candidate]] = []
        for place, program in enumerate(found[:RANKED]):
            while waiting and waiting[0][0] <= program.cost:
                yield heapq.heappop(waiting)[2]
            candidate = self._write(program)
            if candidate is not None and candidate.text not in texts:
                texts.add(candidate.text)
                heapq.heappush(waiting, (candidate.cost, place, candidate))
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _write(self, program: Program) -> Candidate | None:
        candidate = Candidate(program)
        if not candidate.right(self.shown):
            return None
        if self.following.inputs:
            _, defined = self.following.of(candidate, whole=False)
            candidate.cost += PARTIAL * (1.0 - float(defined.mean()))
        return candidate


ENGINE = SearchEngine("grids", serves, prepared, Problem)
