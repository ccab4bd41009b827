"""Judging of rules by Z3, for questions beyond the fast path and for testing the fast path.

Each world is translated to Z3 once. The truth of each unknown atom, and of the predicate Ab for
each element, is an unknown of the solver, and the axioms are instantiated for all elements. To
judge a rule, a temporary solver scope adds the constraint that Ab holds exactly for the elements
that the rule marks. One query decides whether the rule is valid. Further queries find the smallest
or largest number of marked elements by tightening a bound until Z3 finds no better number. Each
query has a limit in Z3's internal resource count, which does not depend on a clock.
`line_process.py` adds a limit on wall-clock time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import z3
from numpy.typing import NDArray

from .circuits import FALSE, TRUE, CircuitAlgebra, CircuitTooLarge, Gates
from .evaluation import Structures, TableTooLarge, broadcast_to_elements, evaluate
from .explanations import Breach, Explanation, atom_name
from .fast_path import EVERY_COMPLETION, NO_COMPLETION, SOME_COMPLETIONS, Regime, RuleJudgement
from .formula import Formula
from .theories import Theory
from .worlds import World

MAX_RESOURCES = 20_000_000  # Z3 resource units for one question, about ten seconds of one core
SOLVER_LIMIT = "solver_limit"  # the reason when the resource limit was reached
TOO_LARGE = "too_large"  # the reason when the grounded rule is too large
LIMITED = -1  # marks an element of an extension for which a limit was reached


class _Limit(Exception):
    """Z3 reached its resource limit."""


class _WorldSolvers:
    """The solvers of one world: with the axioms, with their negation, and without either."""

    def __init__(self, solved: GroundedWorlds, place: int) -> None:
        self.solved, self.place = solved, place
        world = solved.worlds[place]
        self.count = len(world.names)
        self.unknown = len(world.unknown_atoms)
        self.abnormal = [
            solved.z3_term(int(gate)) for gate in solved.folding.abnormal[place][: self.count]
        ]
        self.axioms = z3.And([solved.z3_term(int(axiom[place])) for axiom in solved.axioms])
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
            return _is_satisfiable(solver)
        finally:
            solver.pop()

    def completion(self, covered: Sequence[int]) -> dict[str, bool] | None:
        """Return the unknown atoms of a completion in which the axioms fail; None if there is none.

        Among all such completions it is the one that makes the earliest atoms false. The first
        model that Z3 finds would depend on earlier questions.
        """
        solver = self.solver("fails")
        solver.push()
        try:
            self._cover(solver, covered)
            if not _is_satisfiable(solver):
                return None
            world, found = self.solved.worlds[self.place], {}
            for number in range(self.unknown):
                atom = z3.Bool(f"a{self.place}_{number}", ctx=self.solved.context)
                true = not _is_satisfiable(solver, z3.Not(atom))
                found[atom_name(world, number)] = true
                solver.add(atom if true else z3.Not(atom))
            return found
        finally:
            solver.pop()

    def _cover(self, solver: z3.Solver, covered: Sequence[int]) -> None:
        for abnormal, gate in zip(self.abnormal, covered, strict=True):
            solver.add(abnormal == self.solved.z3_term(gate))

    def extreme(
        self,
        kind: Literal["holds", "fails", "free"],
        least: bool,
        covered: Sequence[int] | None,
    ) -> int | None:
        """Return the least or largest number of abnormal elements.

        Args:
            kind: Which solver to use.
            least: Whether to minimise.
            covered: Gates of a rule's elements; None leaves Ab free.

        Returns:
            None if the constraints cannot be satisfied.
        """
        solver = self.solver(kind)
        solver.push()
        try:
            if covered is not None:
                self._cover(solver, covered)
            best = None
            weighed = [(abnormal, 1) for abnormal in self.abnormal]
            while _is_satisfiable(solver):
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


class GroundedWorlds:
    """Worlds of one theory under one regime, translated to Z3 once for judging many rules.

    Args:
        theory: The theory.
        worlds: The worlds.
        regime: How unknown atoms are treated: "full", "partial" or "skeptical".
        resources: Limit for one query, in units of Z3's internal resource count. If the limit is
            reached, the validity or cost is None.
    """

    def __init__(
        self,
        theory: Theory,
        worlds: Sequence[World],
        regime: Regime,
        resources: int = MAX_RESOURCES,
    ) -> None:
        self.theory, self.worlds, self.regime = theory, tuple(worlds), regime
        self.resources = resources
        self.context = z3.Context()
        self.gates = Gates()
        self.folding = CircuitAlgebra(self._structures(), self.gates)
        self.terms: dict[int, z3.BoolRef] = {
            FALSE: z3.BoolVal(False, ctx=self.context),
            TRUE: z3.BoolVal(True, ctx=self.context),
        }
        self.axioms = [evaluate(axiom, self.folding) for axiom in theory.axioms]
        self.world_solvers = [_WorldSolvers(self, place) for place in range(len(self.worlds))]

    def without_gates(self) -> GroundedWorlds:
        """Return a new object for the same worlds, without the gates of rules judged so far.

        This frees the memory of these gates.
        """
        return GroundedWorlds(self.theory, self.worlds, self.regime, self.resources)

    def _structures(self) -> Structures:
        worlds = self.worlds
        if self.regime == "full":
            worlds = tuple(World(w.id, w.names, w.true) for w in worlds)
        return Structures(worlds, dict(self.theory.signature))

    def z3_term(self, number: int) -> z3.BoolRef:
        """Return the Z3 term of the gate `number`, building the terms of its inputs first."""
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
        """The lower bound of the cost of any rule in each world, and a reason if it is missing.

        The bound is None if no rule can repair the world, or if a limit was reached. The reason is
        "" if the bound is known.
        """
        return tuple(self._bound(world) for world in self.world_solvers)

    def _bound(self, world: _WorldSolvers) -> tuple[int | None, str]:
        try:
            if self.regime != "skeptical":
                found = world.extreme("holds", True, None)
                return found, "" if found is not None else "unrepairable"
            return self._worst_bound(world)
        except _Limit:
            return None, SOLVER_LIMIT

    def _worst_bound(self, world: _WorldSolvers) -> tuple[int | None, str]:
        """Return the largest value, over the completions, of the least number of abnormal elements.

        The candidate rises as long as some completion cannot be repaired with that many.
        """
        abnormal = world.abnormal
        for most in range(world.count + 1):
            repaired = z3.And(
                world.axioms, z3.PbLe([(one, 1) for one in abnormal], most) if abnormal else True
            )
            solver = z3.Solver(ctx=self.context)
            solver.set("rlimit", self.resources)
            solver.set("random_seed", 0)
            solver.add(z3.ForAll(abnormal, z3.Not(repaired)))
            if not _is_satisfiable(solver):
                return most, ""
        return None, "unrepairable"

    def judge(self, rule: Formula) -> tuple[RuleJudgement, ...]:
        """Return whether a rule is valid in each world, and its cost there.

        There is one judgement for each world, in the order of the worlds.
        """
        try:
            covered = self.covered_gates(rule)
        except (TableTooLarge, CircuitTooLarge):
            return self._unjudged(TOO_LARGE)
        return tuple(
            self._judge(world, [int(gate) for gate in covered[world.place][: world.count]], *bound)
            for world, bound in zip(self.world_solvers, self.bounds, strict=True)
        )

    def _unjudged(self, reason: str) -> tuple[RuleJudgement, ...]:
        return tuple(RuleJudgement(None, None, bound, reason) for bound, _ in self.bounds)

    def covered_gates(self, rule: Formula) -> NDArray[np.int64]:
        """Return for each element the gate that says whether a rule marks the element.

        The result has the shape (worlds, elements).

        Raises:
            TableTooLarge: The rule has too many free variables or needs too large tables.
            CircuitTooLarge: The circuit of the rule has too many gates.
        """
        value = evaluate(rule, self.folding)
        found: NDArray[np.int64] = broadcast_to_elements(value, rule, self.folding.structures.size)
        return found

    def explain(self, rule: Formula) -> tuple[Explanation, ...]:
        """Return an explanation for each world, as far as Z3 can provide one.

        In the skeptical regime, an explanation is a completion (truth values of the unknown atoms)
        in which the rule does not repair the world. Elements are not named. If a limit is reached,
        the explanation is empty.
        """
        try:
            covered = self.covered_gates(rule)
        except (TableTooLarge, CircuitTooLarge):
            return tuple(Explanation((), ()) for _ in self.worlds)
        return tuple(
            Explanation(self._breaches(world, covered[world.place][: world.count]), ())
            for world in self.world_solvers
        )

    def _breaches(self, world: _WorldSolvers, covered: Sequence[int]) -> tuple[Breach, ...]:
        try:
            if self.regime != "skeptical":
                held = world.possible("holds", covered)
                return () if held else (Breach((), {}),)
            completion = world.completion(covered)
            return () if completion is None else (Breach((), completion),)
        except _Limit:
            return ()

    def extension(self, rule: Formula) -> NDArray[np.int8]:
        """Return in which completions a rule marks each element, int8 of shape (worlds, elements).

        The values are those of `PreparedWorlds.extension`, and `LIMITED` where a limit was reached.
        """
        try:
            covered = self.covered_gates(rule)
        except (TableTooLarge, CircuitTooLarge):
            return np.full(self.folding.structures.inside.shape, LIMITED, np.int8)
        found = np.where(covered == TRUE, EVERY_COMPLETION, NO_COMPLETION).astype(np.int8)
        for at in zip(*np.nonzero(covered > TRUE), strict=True):
            found[at] = self._covers(int(covered[at]))
        return found

    def _covers(self, gate: int) -> int:
        solver = z3.Solver(ctx=self.context)
        solver.set("rlimit", self.resources)
        try:
            if not _is_satisfiable(solver, self.z3_term(gate)):
                return NO_COMPLETION
            return (
                SOME_COMPLETIONS
                if _is_satisfiable(solver, z3.Not(self.z3_term(gate)))
                else EVERY_COMPLETION
            )
        except _Limit:
            return LIMITED

    def _judge(
        self, world: _WorldSolvers, covered: list[int], bound: int | None, why: str
    ) -> RuleJudgement:
        try:
            if self.regime == "skeptical":
                if world.possible("fails", covered):
                    return RuleJudgement(False, None, bound, why)
                return RuleJudgement(True, world.extreme("free", False, covered), bound, why)
            cost = world.extreme("holds", True, covered)
            return RuleJudgement(cost is not None, cost, bound, why)
        except _Limit:
            return RuleJudgement(None, None, bound, SOLVER_LIMIT)


def _is_satisfiable(solver: z3.Solver, *terms: z3.BoolRef) -> bool:
    answer = solver.check(*terms)
    if answer == z3.unknown:
        raise _Limit
    return bool(answer == z3.sat)
