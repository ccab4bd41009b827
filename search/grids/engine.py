"""Search engine for tasks that turn a grid of colours into another grid.

A program is proposed only if its generated Python source, when executed, gives all shown outputs.
NoveltyRanker (novelty.py) decides the order of the proposals. Programs that fail or return no grid
on some inputs of the sample space are made more expensive, so that they are proposed later.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines import Progress, SearchEngine
from ..garbage_collection import without_collector
from ..memorisation import memorises_case
from ..novelty import Answer, Codes, Defined, NoveltyRanker, Predictions
from ..programs.repair import repair_program
from .backgrounds import add_swaps, swap_background
from .corners import find_corner, place_in_corner
from .grammar import FAILURES, Grid, Program, describe_program, generate_source, is_grid
from .search import CONFIDENT_COST, Search

SPACE_SIZE = 240  # number of inputs on which novelty is judged
# Maximum number of cells of these inputs, if enough are that small: large grids are slow
MAX_SMALL_CELLS = 225
SAMPLE_SIZE = 60  # number of inputs on which a candidate is run first
# Share of the expansions that goes to the search for small grids in a corner (corners.py)
CORNER_SHARE = 0.3
MAX_RANKED = 500  # maximum number of programs that are written out, cheapest first
PARTIAL_COST = 6.0  # added to the cost of a program that returns a grid nowhere in the space

ProgramWrapper = Callable[[Program], Program]


class Candidate:
    """A program that may be proposed: its Python source, its description in words and its cost."""

    def __init__(self, program: Program) -> None:
        self.text = generate_source(program)
        self.sentence = describe_program(program)
        self.cost = program.cost
        self.remembered: bool | None = None
        names: dict[str, Any] = {}
        exec(compile(self.text, "<candidate>", "exec"), names)
        self.function: Callable[[Grid], Any] = names["f"]

    def is_consistent(self, shown: list[list[Any]]) -> bool:
        """Return whether the source of this program, when executed, gives all shown outputs.

        Args:
            shown: Pairs [input, output].
        """
        try:
            return all(self.function(given) == out for given, out in shown)
        except FAILURES:
            return False

    def memorises(self, inputs: Sequence[Grid]) -> bool:
        """Return whether some branch of this program is taken for only one case in all of `inputs`.

        Such a branch suggests that the program memorises (memorisation.py).
        """
        if self.remembered is None:
            self.remembered = memorises_case(self.text, inputs)
        return self.remembered

    def predict(self, inputs: Sequence[Grid]) -> Predictions:
        """Run this program on all `inputs`.

        Returns:
            Two arrays of shape (inputs,). The first holds a hash of each output, or 0 if the
            program failed. The second says whether the program returned a rectangular grid that is
            not empty.
        """
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


def supports(shown: list[list[Any]]) -> bool:
    """Return whether all inputs and outputs in `shown` are grids of integers from 0 to 9."""
    return bool(shown) and all(_colours(g) for pair in shown for g in pair)


def _colours(value: Any) -> bool:
    return is_grid(value) and all(
        type(row) is list and all(type(v) is int and 0 <= v <= 9 for v in row) for row in value
    )


def prepare_space(inputs: list[Any]) -> list[Grid]:
    """Return an evenly spaced sample of the grids in `inputs`.

    If at least `SPACE_SIZE` grids have at most `MAX_SMALL_CELLS` cells, larger grids are left out.
    """
    grids = [grid for grid in inputs if _colours(grid)]
    small = [grid for grid in grids if len(grid) * len(grid[0]) <= MAX_SMALL_CELLS]
    if len(small) >= SPACE_SIZE:
        grids = small
    return grids[:: max(1, len(grids) // SPACE_SIZE)]


class Problem:
    """The search for programs that solve one grid problem.

    Args:
        shown: Pairs [input, output].
        space: The sample space, on which the novelty of a program is measured.
        expansions: Budget of the search, in expansions (budget.py).
        public: Ignored.
    """

    def __init__(
        self, shown: list[list[Any]], space: list[Grid], expansions: float, public: object = None
    ) -> None:
        self.shown, self.expansions = shown, expansions
        inputs, outputs = tuple(i for i, _ in shown), tuple(o for _, o in shown)
        other, small = swap_background(inputs, outputs), find_corner(inputs, outputs)
        apart = CORNER_SHARE * expansions if small else 0.0
        each = (expansions - apart) / (1 + bool(other))
        self.searches: list[tuple[Search, ProgramWrapper]] = [
            (Search(inputs, outputs, each), lambda p: p)
        ]
        if other:
            self.searches.append((Search(*other, each), add_swaps))
        if small:
            self.searches.append(
                (Search(inputs, small[0], apart), partial(place_in_corner, last=small[1]))
            )
        self.following = NoveltyRanker(space, SAMPLE_SIZE)
        self.ranked: list[Candidate] = []
        self.more: Iterator[Candidate] | None = None
        self.first: list[Candidate] | None = None

    @without_collector()
    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next program, or None if the budget ends before a program is found.

        Args:
            earlier: Texts of all earlier answers, in their order.
            skip: Texts that must not be proposed again. If it is empty, the first answer is
                returned.
        """
        # Compute this before the search goes on: the first answer must not depend on other
        # requests.
        if self.first is None:
            self.first = [c for c in (next(self._rank(confident=True), None),) if c is not None]
        if skip:
            inputs = [i for i, _ in self.shown]
            rules = (c for c in self._all() if not c.memorises(inputs))
            chosen = self.following.choose(rules, self._known(earlier), skip)
        else:
            chosen = next(iter(self.first), None)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a program that is right on all pairs, made from one that is not (programs/repair.py).

        Args:
            text: The source of the program.
            earlier: Texts of all earlier answers.
        """
        return repair_program(
            text, self, self.shown, self.following.inputs, self.expansions, earlier
        )

    def progress(self) -> Progress:
        """Return how far the search got."""
        return Progress(round(sum(search.budget.spent for search, _ in self.searches)))

    def _all(self) -> Iterator[Candidate]:
        """Yield the candidates by cost, writing each one out when it is first reached."""
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
        """Yield the candidates in the order of their cost.

        A program is written out only once it may be next, because its surcharge depends on what it
        does. The surcharge is never below 0, so no program that comes later can be cheaper than its
        own cost.
        """
        found: list[Program] = []
        for search, wrap in self.searches:
            if not confident or not found or found[0].cost > CONFIDENT_COST:
                found += [wrap(program) for program in search.run(confident)]
                found.sort(key=lambda program: program.cost)
        texts: set[str] = set()
        waiting: list[tuple[float, int, Candidate]] = []
        for place, program in enumerate(found[:MAX_RANKED]):
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
        if not candidate.is_consistent(self.shown):
            return None
        if self.following.inputs:
            _, defined = self.following.predict_first(candidate, self.following.sampled)
            candidate.cost += PARTIAL_COST * (1.0 - float(defined.mean()))
        return candidate


ENGINE = SearchEngine("grids", supports, prepare_space, Problem, "programs")
