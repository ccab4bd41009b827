"""One grid problem: states by price, each expanded by the catalogue and given to the finders.

A finder is a function `(state, goal, budget) -> Iterator[Step]`: single steps that lead from a
state's grids to the outputs, found from the pairs rather than tried one by one. What is due next
is what is cheapest: the price of the state, how far it seems from the outputs, and the price of the
work. States with equal grids are one (observational equivalence): the cheapest is expanded, the
others come back as alternates of its part in what was found, since they may differ on other inputs.
Pure function of the pairs and the budget.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from ..budget import Budget
from . import counting, operations, patterns
from .cells import cells
from .goal import Goal, Key, State, key
from .grammar import Grids, Program, Step, apply
from .objects import (
    balancing,
    chains,
    copying,
    extraction,
    fitting,
    legends,
    moving,
    objects,
    packing,
    pasting,
    pointing,
    stamping,
)
from .panels import coarse, inside, rooms, shrinking
from .panels.combining import pairs
from .strokes import strokes

Finder = Callable[[State, Goal, Budget], Iterator[Step]]
# Each with the price of asking it about a state, on top of the state's own.
FINDERS: tuple[tuple[float, Finder], ...] = (
    (2.5, cells.found),
    *objects.FINDERS,
    *extraction.FINDERS,
    *counting.FINDERS,
    *patterns.FINDERS,
    *moving.FINDERS,
    *copying.FINDERS,
    *shrinking.FINDERS,
    *chains.FINDERS,
    *strokes.FINDERS,
    *rooms.FINDERS,
    *inside.FINDERS,
    *packing.FINDERS,
    *pasting.FINDERS,
    *fitting.FINDERS,
    *pointing.FINDERS,
    *coarse.FINDERS,
    *legends.FINDERS,
    *balancing.FINDERS,
    *stamping.FINDERS,
)

CONFIDENT = 5.0  # a program this cheap ends the search for a first answer
DEAREST = 12.0  # of states that are expanded
MOST = 3000  # programs that are kept
DEEP = 2  # steps of a program from which on only a last one is tried
PAIRED = 3.0  # at this price the input has been expanded, and two results are combined
LATER = 1.0  # dearer is a step found from what a program made: there are many such grids
SAME = 6  # programs that lead to one state, of which alternates are made
ALTERNATE = 4.0  # dearer than the cheapest one, at most


class Search:
    """The search of one problem: states reached so far, and the programs that explain all pairs."""

    def __init__(self, inputs: Grids, outputs: Grids, expansions: float) -> None:
        self.goal = Goal(inputs, outputs)
        self.budget = Budget(expansions)
        self.charge = self.goal.cells / 2 / Budget.CELLS
        self.states: dict[Key, list[Program]] = {}  # by price
        self.keys: dict[Program, Key] = {}
        self.fitting: list[State] = []
        self.paired = False
        self.found: dict[Program, None] = {}
        self.cheapest = float("inf")
        self.due: list[tuple[float, int, int, State]] = []
        self.tickets = 0
        self._enter(State(inputs, Program()))

    def run(self, confident: bool = False) -> list[Program]:
        """All programs found so far, cheapest first. confident: stops where one is found that is
        cheap, or no dearer than the work that is due."""
        while self.due and self.budget.left > 0 and len(self.found) < MOST:
            if confident and self.cheapest <= max(CONFIDENT, self.due[0][0]):
                break
            if not self.paired and self.due[0][0] > PAIRED:
                self._pair()
                continue
            _, _, work, state = heapq.heappop(self.due)
            if work == 0:
                self._expand(state)
            else:
                for step in FINDERS[work - 1][1](state, self.goal, self.budget):
                    if state.program.steps:
                        step = step._replace(cost=step.cost + LATER)
                    self._keep(state.program.then(step))
        if not confident:
            self._vary()
        return sorted(self.found, key=lambda program: program.cost)

    def _enter(self, state: State) -> None:
        """A state with grids that were not there, or only dearer."""
        try:
            at = key(state.grids)
        except (TypeError, ValueError):
            return
        program = state.program
        if at == self.goal.key:
            self._keep(program)
            return
        there = self.states.setdefault(at, [])
        if program.cost >= DEAREST or program in there:
            return
        cheapest = not there or there[0].cost > program.cost
        if cheapest or len(there) < SAME:
            there.append(program)
            there.sort(key=lambda one: one.cost)
            del there[SAME:]
        if not cheapest:
            return
        self.keys[program] = at
        if self.goal.has_shapes(state.grids) and len(program.steps) < DEEP:
            self.fitting.append(state)
        far = program.cost + self.goal.distance(state.grids)
        for work, price in enumerate([1.0, *(price for price, _ in FINDERS)]):
            self.tickets += 1
            heapq.heappush(self.due, (far + price, self.tickets, work, state))

    def _expand(self, state: State) -> None:
        deep = len(state.program.steps) >= DEEP
        first, wanted = state.grids[:1], self.goal.outputs[:1]
        charge = self.charge / len(state.grids) if deep else self.charge
        for step in operations.steps(state, self.goal):
            if not self.budget.charge(charge):
                return
            if deep and apply(step, first) != wanted:
                continue
            grids = apply(step, state.grids)
            if grids is not None:
                self._enter(State(grids, state.program.then(step)))

    def _pair(self) -> None:
        self.paired = True
        fitting = sorted(self.fitting, key=lambda state: state.program.cost)
        for program in pairs(fitting, self.goal, self.budget):
            self._keep(program)

    def _keep(self, program: Program) -> None:
        self.found.setdefault(program)
        self.cheapest = min(self.cheapest, program.cost)

    def _vary(self) -> None:
        """What was found, with another way to one of the states that it passes."""
        for program in sorted(self.found, key=lambda program: program.cost):
            for done in range(len(program.steps)):
                at = self.keys.get(Program(program.steps[:done]))
                if at is None:
                    continue
                cheapest = self.states[at][0].cost
                for other in self.states[at]:
                    if len(self.found) >= MOST:
                        return
                    if other.cost <= cheapest + ALTERNATE:
                        self.found.setdefault(other.then(*program.steps[done:]))
