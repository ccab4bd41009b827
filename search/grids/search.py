"""Best-first search for grid programs that explain all shown pairs of one problem.

A search state is a program together with the grids that it makes from the shown inputs. There are
two kinds of work on a state. The catalogue (catalogue.py) extends the program by one step, which
leads to further states. A finder is a function `(state, goal, budget) -> Iterator[Step]`: it
derives from the pairs a single step that turns the grids of the state into the outputs. The search
always does the cheapest work next. The cost of a piece of work is the cost of the state, plus the
estimated distance of its grids from the outputs, plus the cost of the finder or the catalogue.

States with equal grids count as one state (observational equivalence), and only the cheapest of
these states is extended. The programs of the other states later replace the beginnings of the
programs that were found, because the results may differ on other inputs. The search depends only on
the pairs and the budget.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator

from ..budget import Budget
from . import catalogue, counting, patterns
from .cells import cell_rules
from .goal import Goal, Key, State, grids_key
from .grammar import Grids, Program, Step, apply
from .objects import (
    chains,
    copying,
    extraction,
    legends,
    moving,
    packing,
    painting,
    pasting,
    pieces,
    single_object,
    stamping,
    symmetry,
)
from .panels import block_grids, part_problems, rooms, shrinking
from .panels.combining import combine_states
from .strokes import strokes

Finder = Callable[[State, Goal, Budget], Iterator[Step]]
# Each finder comes with the cost of running it on a state, which is added to the state's own cost.
FINDERS: tuple[tuple[float, Finder], ...] = (
    (2.5, cell_rules.find_cell_rules),
    *painting.FINDERS,
    *extraction.FINDERS,
    *counting.FINDERS,
    *patterns.FINDERS,
    *moving.FINDERS,
    *copying.FINDERS,
    *shrinking.FINDERS,
    *chains.FINDERS,
    *strokes.FINDERS,
    *rooms.FINDERS,
    *part_problems.FINDERS,
    *packing.FINDERS,
    *pasting.FINDERS,
    *pieces.FINDERS,
    *single_object.FINDERS,
    *block_grids.FINDERS,
    *legends.FINDERS,
    *symmetry.FINDERS,
    *stamping.FINDERS,
)
# The catalogue (0) and the finders (from 1) with their costs, cheapest first.
WORKS = sorted((price, work) for work, price in enumerate([1.0, *(price for price, _ in FINDERS)]))

CONFIDENT_COST = 5.0  # a program of at most this cost ends the search for a first answer
MAX_COST = 12.0  # states of this cost or more are not expanded
MAX_PROGRAMS = 3000  # maximum number of programs that are kept
DEEP_STEPS = 2  # once a program has this many steps, only a last step is tried
# When the next work costs more than this, the input has been expanded and results are combined
PAIRING_COST = 3.0
# Added to the cost of a step found for a program's result, because there are many such grids
LATER_STEP_COST = 1.0
MAX_PROGRAMS_PER_STATE = (
    6  # maximum number of programs kept for one state, from which alternatives are built
)
MAX_EXTRA_COST = 4.0  # maximum extra cost of an alternative over the cheapest program for its state


class _Pending:
    """A state that has not been entered.

    Args:
        before: The state that it follows.
        step: The step that leads to it.
        program: The program of both.
        first_key: Key of its grid for the first pair.
        ticket: The first ticket of its works.
    """

    def __init__(
        self, before: State, step: Step, program: Program, first_key: tuple[int, bytes], ticket: int
    ) -> None:
        self.before, self.step, self.program = before, step, program
        self.first_key, self.ticket, self.entered = first_key, ticket, False


class Search:
    """Best-first search for programs that turn all shown inputs of one problem into their outputs.

    Args:
        inputs: The shown inputs.
        outputs: The shown outputs, in the same order.
        expansions: Budget of the search, in expansions (budget.py).
    """

    def __init__(self, inputs: Grids, outputs: Grids, expansions: float) -> None:
        self.goal = Goal(inputs, outputs)
        self.budget = Budget(expansions)
        self.charge = self.goal.cells / 2 / Budget.CELLS
        self.states: dict[Key, list[Program]] = {}  # cheapest first
        self.keys: dict[Program, Key] = {}
        self.fitting: list[State] = []
        self.paired = False
        self.found: dict[Program, None] = {}
        self.cheapest = float("inf")
        self.due: list[tuple[float, int, int, float, int, State]] = []
        self.tickets = 0
        self.pending: list[tuple[float, int, _Pending]] = []  # by the least cost of work on them
        # those that have not been entered, in order, by the key of the grid for the first pair
        self.pending_at: dict[tuple[int, bytes], deque[_Pending]] = {}
        self.pending_keys: dict[Program, tuple[int, bytes]] = {}
        self._enter(State(inputs, Program()))

    def run(self, confident: bool = False) -> list[Program]:
        """Continue the search and return all programs found so far, cheapest first.

        Args:
            confident: If true, stop as soon as a program costs at most `CONFIDENT_COST` or at most
                as much as the next piece of work, and do not add variants of the programs. If
                false, use the entire budget.
        """
        while self._has_work() and self.budget.left > 0 and len(self.found) < MAX_PROGRAMS:
            if confident and self.cheapest <= max(CONFIDENT_COST, self.due[0][0]):
                break
            if not self.paired and self.due[0][0] > PAIRING_COST:
                self._pair()
                continue
            _, _, place, far, ticket, state = heapq.heappop(self.due)
            work = WORKS[place][1]
            if place + 1 < len(WORKS):
                self._push_next(far, ticket, place + 1, state)
            if work == 0:
                self._expand(state)
            else:
                for step in FINDERS[work - 1][1](state, self.goal, self.budget):
                    if state.program.steps:
                        step = step._replace(cost=step.cost + LATER_STEP_COST)
                    self._keep(state.program.then(step))
        if not confident:
            self._vary()
            self._forget()
        return sorted(self.found, key=lambda program: program.cost)

    def _forget(self) -> None:
        """Free the memory of all that only a search that goes on needs."""
        self.due, self.fitting, self.pending = [], [], []
        self.states, self.keys = {}, {}
        self.pending_at, self.pending_keys = {}, {}

    def _has_work(self) -> bool:
        """Return whether there is work left, after entering all states that may have the next work."""
        while self.pending and (not self.due or self.pending[0][0] <= self.due[0][0]):
            _, _, one = heapq.heappop(self.pending)
            if not one.entered:
                self._enter_pending(one.first_key, one)
        return bool(self.due)

    def _enter(self, state: State) -> None:
        """Add a state if its grids are new, or if it is one of the cheapest ways to reach them."""
        at = self._key(state.grids)
        if at is None:
            return
        program = state.program
        if at == self.goal.key:
            self._keep(program)
            return
        self._enter_pending(at[0])
        self._add_state(state, at, self._new_ticket())

    def _key(self, grids: Grids) -> Key | None:
        """Return the key of some grids, or None if they have none: a cell is no colour."""
        try:
            return grids_key(grids)
        except (TypeError, ValueError):
            return None

    def _new_ticket(self) -> int:
        """Return the first of as many tickets as there are works on a state."""
        self.tickets += len(WORKS)
        return self.tickets

    def _defer(self, state: State, step: Step) -> None:
        """Enter the state that a step makes of `state`, but only when it may have the next work.

        Most states of several steps never do. Only the grid for the first pair is made, which tells
        whether the state may be the goal, and before which other states it has to be entered.
        """
        first = apply(step, state.grids[:1])
        if first is None:
            return
        program = state.program.then(step)
        if first == self.goal.outputs[:1]:
            grids = apply(step, state.grids)
            if grids is not None:
                self._enter(State(grids, program))
            return
        at = self._key(first)
        if at is None or program.cost >= MAX_COST:
            return
        key = at[0]
        one = _Pending(state, step, program, key, self._new_ticket())
        heapq.heappush(self.pending, (program.cost + WORKS[0][0], one.ticket, one))
        self.pending_at.setdefault(key, deque()).append(one)
        self.pending_keys[program] = key

    def _enter_pending(self, first_key: tuple[int, bytes], last: _Pending | None = None) -> None:
        """Enter the deferred states with this grid for the first pair, in order, up to `last`."""
        waiting = self.pending_at.get(first_key)
        while waiting:
            one = waiting.popleft()
            one.entered = True
            grids = apply(one.step, one.before.grids)
            at = None if grids is None else self._key(grids)
            if grids is not None and at is not None:
                self._add_state(State(grids, one.program), at, one.ticket)
            if one is last:
                return

    def _add_state(self, state: State, at: Key, ticket: int) -> None:
        """Add a state that is not the goal, with its works."""
        program = state.program
        there = self.states.setdefault(at, [])
        if program.cost >= MAX_COST or program in there:
            return
        cheapest = not there or there[0].cost > program.cost
        if cheapest or len(there) < MAX_PROGRAMS_PER_STATE:
            there.append(program)
            there.sort(key=lambda one: one.cost)
            del there[MAX_PROGRAMS_PER_STATE:]
        if not cheapest:
            return
        self.keys[program] = at
        if self.goal.has_shapes(state.grids) and len(program.steps) < DEEP_STEPS:
            self.fitting.append(state)
        far = program.cost + self.goal.estimate_distance(state.grids)
        self._push_next(far, ticket, 0, state)

    def _push_next(self, far: float, ticket: int, place: int, state: State) -> None:
        """Queue the work at `place` of `WORKS` on a state; the later ones follow when it is done.

        Args:
            far: Cost of the state plus the estimated distance of its grids from the outputs.
            ticket: First of the state's tickets. Of equally cheap works the one with the least
                ticket is done first.
            place: Index in `WORKS`.
            state: The state.
        """
        price, work = WORKS[place]
        heapq.heappush(self.due, (far + price, ticket + work, place, far, ticket, state))

    def _expand(self, state: State) -> None:
        deep = len(state.program.steps) >= DEEP_STEPS
        deferred = not deep and len(state.program.steps) + 1 >= DEEP_STEPS
        first, wanted = state.grids[:1], self.goal.outputs[:1]
        charge = self.charge / len(state.grids) if deep else self.charge
        for step in catalogue.steps(state, self.goal):
            if not self.budget.charge(charge):
                return
            if deferred:
                self._defer(state, step)
                continue
            if deep and apply(step, first) != wanted:
                continue
            grids = apply(step, state.grids)
            if grids is not None:
                self._enter(State(grids, state.program.then(step)))

    def _pair(self) -> None:
        self.paired = True
        fitting = sorted(self.fitting, key=lambda state: state.program.cost)
        for program in combine_states(fitting, self.goal, self.budget):
            self._keep(program)

    def _keep(self, program: Program) -> None:
        self.found.setdefault(program)
        self.cheapest = min(self.cheapest, program.cost)

    def _vary(self) -> None:
        """Add the programs found with another way to one of the states that they pass through."""
        for program in sorted(self.found, key=lambda program: program.cost):
            for done in range(len(program.steps)):
                beginning = Program(program.steps[:done])
                if beginning in self.pending_keys:
                    self._enter_pending(self.pending_keys[beginning])
                at = self.keys.get(beginning)
                if at is None:
                    continue
                self._enter_pending(at[0])
                cheapest = self.states[at][0].cost
                for other in self.states[at]:
                    if len(self.found) >= MAX_PROGRAMS:
                        return
                    if other.cost <= cheapest + MAX_EXTRA_COST:
                        self.found.setdefault(other.then(*program.steps[done:]))
