"""One grid problem: states by price, each expanded by the catalogue and given to the finders.

A finder is a function `(state, goal, budget) -> Iterator[Step]`: single steps that lead from a
state's grids to the outputs, found from the pairs rather than tried one by one. What is due next
is what is cheapest: the price of the state and that of the work. States with equal grids are one
(observational equivalence); the cheapest stays. Pure function of the pairs and the budget.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from ..budget import Budget
from . import (
    copying,
    counting,
    extraction,
    grounds,
    moving,
    objects,
    operations,
    patterns,
    shrinking,
)
from .goal import Goal, Key, State, key
from .grammar import Grids, Program, Step, apply

Finder = Callable[[State, Goal, Budget], Iterator[Step]]
# Each with the price of asking it about a state, on top of the state's own.
FINDERS: tuple[tuple[float, Finder], ...] = (
    *objects.FINDERS,
    *extraction.FINDERS,
    *counting.FINDERS,
    *patterns.FINDERS,
    *moving.FINDERS,
    *copying.FINDERS,
    *shrinking.FINDERS,
    *grounds.FINDERS,
)

CONFIDENT = 5.0  # a program this cheap ends the search for a first answer
DEAREST = 12.0  # of states that are expanded
MOST = 3000  # programs that are kept


class Search:
    def __init__(self, inputs: Grids, outputs: Grids, expansions: float) -> None:
        self.goal = Goal(inputs, outputs)
        self.budget = Budget(expansions)
        self.charge = self.goal.cells / 2 / Budget.CELLS
        self.states: dict[Key, float] = {}
        self.found: dict[Program, None] = {}
        self.due: list[tuple[float, int, int, State]] = []
        self.tickets = 0
        self._enter(State(inputs, Program()))

    def run(self, confident: bool = False) -> list[Program]:
        """All programs found so far, cheapest first. confident: stops where a cheap one is found."""
        while self.due and self.budget.left > 0 and len(self.found) < MOST:
            if confident and any(p.cost <= CONFIDENT for p in self.found):
                break
            _, _, work, state = heapq.heappop(self.due)
            if work == 0:
                self._expand(state)
            else:
                for step in FINDERS[work - 1][1](state, self.goal, self.budget):
                    self.found.setdefault(state.program.then(step))
        return sorted(self.found, key=lambda program: program.cost)

    def _enter(self, state: State) -> None:
        """A state with grids that were not there, or only dearer."""
        try:
            at = key(state.grids)
        except (TypeError, ValueError):
            return
        cost = state.program.cost
        if at == self.goal.key:
            self.found.setdefault(state.program)
            return
        if self.states.get(at, DEAREST) <= cost:
            return
        self.states[at] = cost
        for work, price in enumerate([1.0, *(price for price, _ in FINDERS)]):
            self.tickets += 1
            heapq.heappush(self.due, (cost + price, self.tickets, work, state))

    def _expand(self, state: State) -> None:
        for step in operations.steps(state, self.goal):
            if not self.budget.charge(self.charge):
                return
            grids = apply(step, state.grids)
            if grids is not None:
                self._enter(State(grids, state.program.then(step)))
