"""The same worth by Z3: for what the fast path does not reach, and to judge it.

In each world Ab is a predicate with an unknown atom for each element, and the axioms are grounded
once. A rule adds that Ab holds where it covers an element, in a scope of the solver that is left
again. Validity is one question; least and largest covers tighten a bound on the number of abnormal
elements until Z3 says that there is no better one. Each question has a limit in Z3's own resource
count, which no clock decides; a wall clock from outside is `line_process.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import z3
from numpy.typing import NDArray

from .circuits import FALSE, TRUE, Folding, Gates, TooLarge
from .explaining import Breach, Explained, atom_name
from .formula import Formula
from .judging import EVERY, NO_COMPLETION, SOME, Regime, Worth
from .tables import Structures, TooWide, about_elements, evaluate
from .theories import Theory
from .worlds import World

RESOURCES = 20_000_000  # of Z3, for a question; about ten seconds of one core
LIMIT = "solver_limit"  # the reason where it was reached
TOO_LARGE = "too_large"  # the reason where the grounded rule is
LIMITED = -1  # in an extension


class _Limit(Exception):
    """Z3 gave up within its resources."""


class _World:
    """A world's solvers: one with the axioms, one with their negation, one without."""

    def __init__(self, solved: Solved, place: int) -> None:
        self.solved, self.place = solved, place
        world = solved.worlds[place]
        self.count = len(world.names)
        self.unknown = len(world.unknown_atoms)
        self.abnormal = [
            solved.term(int(gate)) for gate in solved.folding.abnormal[place][: self.count]
        ]
        self.axioms = z3.And([solved.term(int(axiom[place])) for axiom in solved.axioms])
        self.solvers: dict[str, z3.Solver] = {}

    def solver(self, kind: Literal["holds", "fails", "free"]) -> z3.Solver:
        if kind not in self.solvers:
            solver = z3.Solver(ctx=self.solved.context)
            solver.set("rlimit", self.solved.resources)
            solver.set("random_seed", 0)
            if kind != "free":
                solver.add(self.axioms if kind == "holds" else z3.Not(self.axioms))
            self.solvers[kind] = solver
        return self.solvers[kind]

    def possible(self, kind: Literal["holds", "fails", "free"], covered: Sequence[int]) -> bool:
        solver = self.solver(kind)
        solver.push()
        try:
            self._cover(solver, covered)
            return _asked(solver)
        finally:
            solver.pop()

    def completion(self, covered: Sequence[int]) -> dict[str, bool] | None:
        """The unknown atoms in a completion where the axioms fail; None where there is none. Of all
        such completions the one that makes the earliest atoms false: a model as it comes would
        depend on what was asked before."""
        solver = self.solver("fails")
        solver.push()
        try:
            self._cover(solver, covered)
            if not _asked(solver):
                return None
            world, found = self.solved.worlds[self.place], {}
            for number in range(self.unknown):
                atom = z3.Bool(f"a{self.place}_{number}", ctx=self.solved.context)
                true = not _asked(solver, z3.Not(atom))
                found[atom_name(world, number)] = true
                solver.add(atom if true else z3.Not(atom))
            return found
        finally:
            solver.pop()

    def _cover(self, solver: z3.Solver, covered: Sequence[int]) -> None:
        for abnormal, gate in zip(self.abnormal, covered, strict=True):
            solver.add(abnormal == self.solved.term(gate))

    def extreme(
        self,
        kind: Literal["holds", "fails", "free"],
        least: bool,
        covered: Sequence[int] | None,
    ) -> int | None:
        """The least or largest number of abnormal elements; None where the solver's constraints
        cannot be met. covered: gates of a rule's elements; None leaves Ab free."""
        solver = self.solver(kind)
        solver.push()
        try:
            if covered is not None:
                self._cover(solver, covered)
            best = None
            weighed = [(abnormal, 1) for abnormal in self.abnormal]
            while _asked(solver):
                model = solver.model()
                best = sum(
                    z3.is_true(model.eval(abnormal, model_completion=True))
                    for abnormal in self.abnormal
                )
                if best == (0 if least else self.count):
                    break
                solver.add(z3.PbLe(weighed, best - 1) if least else z3.PbGe(weighed, best + 1))
            return best
        finally:
            solver.pop()


class Solved:
    """Worlds of one theory under one regime, grounded for many rules.

    resources: of Z3 for a question; one that is reached makes validity and cost None.
    """

    def __init__(
        self, theory: Theory, worlds: Sequence[World], regime: Regime, resources: int = RESOURCES
    ) -> None:
        self.theory, self.worlds, self.regime = theory, tuple(worlds), regime
        self.resources = resources
        self.context = z3.Context()
        self.gates = Gates()
        self.folding = Folding(self._structures(), self.gates)
        self.terms: dict[int, z3.BoolRef] = {
            FALSE: z3.BoolVal(False, ctx=self.context),
            TRUE: z3.BoolVal(True, ctx=self.context),
        }
        self.axioms = [evaluate(axiom, self.folding) for axiom in theory.axioms]
        self.by_place = [_World(self, place) for place in range(len(self.worlds))]

    def again(self) -> Solved:
        """The same worlds without what rules have left."""
        return Solved(self.theory, self.worlds, self.regime, self.resources)

    def _structures(self) -> Structures:
        worlds = self.worlds
        if self.regime == "full":
            worlds = tuple(World(w.id, w.names, w.true) for w in worlds)
        return Structures(worlds, dict(self.theory.signature))

    def term(self, number: int) -> z3.BoolRef:
        """The Z3 term of a gate; those it is made of come first."""
        waiting = [] if number in self.terms else [number]
        while waiting:
            gate = self.gates.gates[waiting[-1]]
            parts = () if gate.kind == "input" else gate.parts
            missing = [part for part in parts if part not in self.terms]
            if missing:
                waiting += missing
                continue
            self.terms[waiting.pop()] = self._term(gate.kind, gate.parts)
        return self.terms[number]

    def _term(self, kind: str, parts: tuple[int, ...]) -> z3.BoolRef:
        if kind == "input":
            return z3.Bool(f"a{parts[0]}_{parts[1]}", ctx=self.context)
        terms = [self.terms[part] for part in parts]
        if kind == "not":
            return z3.Not(terms[0])
        return z3.And(*terms) if kind == "and" else terms[0] == terms[1]

    @cached_property
    def bounds(self) -> tuple[tuple[int | None, str], ...]:
        """The lower bound of each world, or None and why: no Ab repairs it, or a limit."""
        return tuple(self._bound(world) for world in self.by_place)

    def _bound(self, world: _World) -> tuple[int | None, str]:
        try:
            if self.regime != "skeptical":
                found = world.extreme("holds", True, None)
                return found, "" if found is not None else "unrepairable"
            return self._worst_bound(world)
        except _Limit:
            return None, LIMIT

    def _worst_bound(self, world: _World) -> tuple[int | None, str]:
        """The largest, over the completions, of the least number of abnormal elements: it rises
        while some completion cannot be repaired by as few."""
        abnormal = world.abnormal
        for most in range(world.count + 1):
            repaired = z3.And(
                world.axioms, z3.PbLe([(one, 1) for one in abnormal], most) if abnormal else True
            )
            solver = z3.Solver(ctx=self.context)
            solver.set("rlimit", self.resources)
            solver.set("random_seed", 0)
            solver.add(z3.ForAll(abnormal, z3.Not(repaired)))
            if not _asked(solver):
                return most, ""
        return None, "unrepairable"

    def judge(self, rule: Formula) -> tuple[Worth, ...]:
        """The rule's worth in each world."""
        try:
            covered = self.covered(rule)
        except TooWide:
            return self._unjudged(TOO_LARGE)
        except TooLarge:
            return self._unjudged(TOO_LARGE)
        return tuple(
            self._judge(world, [int(gate) for gate in covered[world.place][: world.count]], *bound)
            for world, bound in zip(self.by_place, self.bounds, strict=True)
        )

    def _unjudged(self, reason: str) -> tuple[Worth, ...]:
        return tuple(Worth(None, None, bound, reason) for bound, _ in self.bounds)

    def covered(self, rule: Formula) -> NDArray[np.int64]:
        """(worlds, elements): gates."""
        value = evaluate(rule, self.folding)
        found: NDArray[np.int64] = about_elements(value, rule, self.folding.structures.size)
        return found

    def explained(self, rule: Formula) -> tuple[Explained, ...]:
        """For each world, as far as a solver knows: in the skeptical regime a completion of a world
        that is not repaired in it. Elements are not told apart. Limits leave a world unexplained."""
        try:
            covered = self.covered(rule)
        except (TooWide, TooLarge):
            return tuple(Explained((), ()) for _ in self.worlds)
        return tuple(
            Explained(self._breaches(world, covered[world.place][: world.count]), ())
            for world in self.by_place
        )

    def _breaches(self, world: _World, covered: Sequence[int]) -> tuple[Breach, ...]:
        try:
            if self.regime != "skeptical":
                held = world.possible("holds", covered)
                return () if held else (Breach((), {}),)
            completion = world.completion(covered)
            return () if completion is None else (Breach((), completion),)
        except _Limit:
            return ()

    def extension(self, rule: Formula) -> NDArray[np.int8]:
        """As `Prepared.extension`; `LIMITED` where a limit was reached."""
        try:
            covered = self.covered(rule)
        except (TooWide, TooLarge):
            return np.full(self.folding.structures.inside.shape, LIMITED, np.int8)
        found = np.where(covered == TRUE, EVERY, NO_COMPLETION).astype(np.int8)
        for at in zip(*np.nonzero(covered > TRUE), strict=True):
            found[at] = self._covers(int(covered[at]))
        return found

    def _covers(self, gate: int) -> int:
        solver = z3.Solver(ctx=self.context)
        solver.set("rlimit", self.resources)
        try:
            if not _asked(solver, self.term(gate)):
                return NO_COMPLETION
            return SOME if _asked(solver, z3.Not(self.term(gate))) else EVERY
        except _Limit:
            return LIMITED

    def _judge(self, world: _World, covered: list[int], bound: int | None, why: str) -> Worth:
        try:
            if self.regime == "skeptical":
                if world.possible("fails", covered):
                    return Worth(False, None, bound, why)
                return Worth(True, world.extreme("free", False, covered), bound, why)
            cost = world.extreme("holds", True, covered)
            return Worth(cost is not None, cost, bound, why)
        except _Limit:
            return Worth(None, None, bound, LIMIT)


def _asked(solver: z3.Solver, *terms: z3.BoolRef) -> bool:
    answer = solver.check(*terms)
    if answer == z3.unknown:
        raise _Limit
    return bool(answer == z3.sat)
