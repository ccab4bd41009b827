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
from typing import Literal, NamedTuple

import numpy as np
import z3
from numpy.typing import NDArray

from .evaluation import Structures, TableTooLarge, broadcast_to_elements, evaluate
from .explanations import Breach, Explanation, atom_name
from .fast_path import EVERY_COMPLETION, NO_COMPLETION, SOME_COMPLETIONS, Regime, RuleJudgement
from .formula import ABNORMAL, Formula, is_variable
from .theories import Theory
from .worlds import World

# --- Formulas over worlds as circuits, after everything known has been folded.
#
# This is the solver's algebra. A value is a table of gate numbers: 0 is false, 1 is true, and the
# others are stored in `Gates`. Unknown atoms are inputs, identified by world and number. So are the
# atoms of Ab, for which the axioms are grounded.

FALSE, TRUE = 0, 1
MAX_GATES = 2_000_000
Circuit = NDArray[np.int64]


class Gate(NamedTuple):
    """One gate of a Boolean circuit, which represents a truth value in a world.

    Attributes:
        kind: "input", "not", "and" or "iff"; "false" and "true" for the two constants.
        parts: Numbers of the gates that are the inputs of this gate. For the kind "input", the
            number of the world and the number of an atom in this world. The unknown atoms are
            numbered first; the Ab atoms of the elements follow.
    """

    kind: str
    parts: tuple[int, ...]


class CircuitTooLarge(Exception):
    """Raised when the circuit of a rule has more than `MAX_GATES` gates."""


class Gates:
    """The gates of a Boolean circuit, in which equal gates are stored once.

    A gate is simplified if an operand is constant, if it negates a negation, if both operands are
    equal, or, for "and", if one operand negates the other.
    """

    def __init__(self) -> None:
        self.gates = [Gate("false", ()), Gate("true", ())]
        self.numbers: dict[Gate, int] = {}

    def add(self, kind: str, *parts: int) -> int:
        """Add a gate unless an equal gate exists, and return its number.

        Raises:
            CircuitTooLarge: The circuit has `MAX_GATES` gates already.
        """
        gate = Gate(kind, parts)
        number = self.numbers.get(gate)
        if number is None:
            if len(self.gates) >= MAX_GATES:
                raise CircuitTooLarge
            number = self.numbers[gate] = len(self.gates)
            self.gates.append(gate)
        return number

    def negation(self, one: int) -> int:
        """Return the number of the gate that negates gate `one`."""
        if one <= TRUE:
            return 1 - one
        gate = self.gates[one]
        return gate.parts[0] if gate.kind == "not" else self.add("not", one)

    def conjunction(self, one: int, other: int) -> int:
        """Return the number of the gate for "`one` and `other`"."""
        if one == FALSE or other == FALSE or one == self.negation(other):
            return FALSE
        if one in (TRUE, other):
            return other
        if other == TRUE:
            return one
        return self.add("and", min(one, other), max(one, other))

    def equivalence(self, one: int, other: int) -> int:
        """Return the number of the gate that is true if `one` and `other` are equal."""
        if one <= TRUE or other <= TRUE:
            known, rest = min(one, other), max(one, other)
            if rest <= TRUE:
                return TRUE if known == rest else FALSE
            return rest if known == TRUE else self.negation(rest)
        return TRUE if one == other else self.add("iff", min(one, other), max(one, other))


class CircuitAlgebra:
    """Operations that evaluate formulas to gates of a Boolean circuit.

    Values are arrays of gate numbers, of shape (worlds, one axis for each free variable).
    """

    def __init__(self, structures: Structures, gates: Gates) -> None:
        self.structures = structures
        self.gates = gates
        self.tables = {name: self._table(name) for name in structures.signature}
        count, size = structures.inside.shape
        self.abnormal = np.zeros((count, size), np.int64)
        for world, unknown in enumerate(structures.unknown_counts):
            for element in np.flatnonzero(structures.inside[world]):
                self.abnormal[world, element] = gates.add("input", world, unknown + int(element))

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def _table(self, name: str) -> Circuit:
        bits = self.structures.unknown[name]
        table = self.structures.true[name].astype(np.int64)
        for at in zip(*np.nonzero((bits >= 0) & (table == FALSE)), strict=True):
            table[at] = self.gates.add("input", int(at[0]), int(bits[at]))
        return table

    def atom(self, name: str, terms: Sequence[str]) -> Circuit:
        """Return the gates of an atom for all elements.

        Unknown atoms and Ab atoms are inputs of the circuit.
        """
        if name == ABNORMAL:
            found: Circuit = self.abnormal if is_variable(terms[0]) else self.abnormal[:, :0]
            return found
        found = self.structures.atom_table("gates", self.tables, name, terms, FALSE)
        return found

    def equal(self, terms: Sequence[str]) -> Circuit:
        """Return the gates of an equality of two terms, which are constants."""
        return self.structures.equality(terms).astype(np.int64)

    def negation(self, value: Circuit) -> Circuit:
        """Return the gates that negate the gates in `value`."""
        found = np.where(value <= TRUE, 1 - value, value)
        for at in zip(*np.nonzero(value > TRUE), strict=True):
            found[at] = self.gates.negation(int(value[at]))
        return found

    def conjunction(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates for "`one` and `other`"."""
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        found[(one == FALSE) | (other == FALSE)] = FALSE
        for at in zip(*np.nonzero((one > TRUE) & (other > TRUE)), strict=True):
            found[at] = self.gates.conjunction(int(one[at]), int(other[at]))
        return found

    def disjunction(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates for "`one` or `other`"."""
        return self.negation(self.conjunction(self.negation(one), self.negation(other)))

    def equivalence(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates that are true if `one` and `other` are equal."""
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        for at in zip(*np.nonzero(one != TRUE), strict=True):
            found[at] = self.gates.equivalence(int(one[at]), int(other[at]))
        return found

    def for_all(self, value: Circuit, at: int) -> Circuit:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        axis = 1 + at
        shape = [1] * value.ndim
        shape[0], shape[axis] = self.structures.inside.shape
        within = np.where(self.structures.inside.reshape(shape), value, TRUE)
        found: Circuit = np.take(within, 0, axis=axis)
        for place in range(1, within.shape[axis]):
            found = self.conjunction(found, np.take(within, place, axis=axis))
        return found

    def exists(self, value: Circuit, at: int) -> Circuit:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        return self.negation(self.for_all(self.negation(value), at))

    def insert_axes(self, value: Circuit, index: tuple[slice | None, ...]) -> Circuit:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        found: Circuit = value[(slice(None), *index)]
        return found


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
        except TableTooLarge:
            return self._unjudged(TOO_LARGE)
        except CircuitTooLarge:
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
