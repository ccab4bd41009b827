"""The validity, cost and lower bound of a rule in each world, computed exactly (ABD, section 4).

A completion c makes each unknown atom of a world true or false. In a completion, V is the set of
elements that violate a default of the theory unless they are marked by the predicate Ab, and A is
the set of elements that the rule marks. The completion is repaired if V is a subset of A.

| regime | valid | cost | lower bound |
|---|---|---|---|
| full | repaired | size of A | size of V |
| partial | repaired in some c | least size of A over the repaired c | least size of V |
| skeptical | repaired in all c | largest size of A | largest size of V |

This module is called the fast path, because it answers without Z3. It considers completions only
for elements for which V or A is undecided. Elements that share no unknown atom are independent.
Therefore validity and sizes are computed separately for each set of elements that share unknown
atoms (`completions.py`). If a question exceeds the limits of this module, it raises
`BeyondFastPath`, and Z3 answers the question instead. Examples are theories that are not of default
form, formulas with too many free variables, and elements that depend on many unknown atoms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .completions import (
    MAX_COMPONENT_ATOMS,
    MAX_UNKNOWN_BITS,
    Component,
    ComponentIndex,
    ComponentTooLarge,
    ThreeValued,
    Words,
    unpack_bits,
)
from .evaluation import Structures, TableTooLarge, TruthAlgebra, broadcast_to_elements, evaluate
from .formula import Formula
from .grounding import evaluate_bounds
from .joins import MAX_NESTED, JoinEvaluator
from .packed_tables import plan_tables
from .theories import Theory
from .truth_bounds import BoundsAlgebra, Evaluated
from .worlds import World

Regime = Literal["full", "partial", "skeptical"]
REGIMES: tuple[Regime, ...] = ("full", "partial", "skeptical")
NO_COMPLETION, EVERY_COMPLETION, SOME_COMPLETIONS = (
    0,
    1,
    2,
)  # the completions in which an element is covered
MANY = 1 << 40  # more than any cost
# Nanoseconds of a cell of a stored table, of a word of another table, and of a row of a join.
CELL_TIME, WORD_TIME, ROW_TIME = 0.1, 2.0, 30.0
FEW_TIME = 2e6  # formulas whose tables take no longer are evaluated by tables
MAX_ROWS = 1 << 22  # rows of all joins of a formula; takes about a second


class BeyondFastPath(Exception):
    """Raised when a question exceeds the limits of the fast path, so that Z3 has to answer it.

    The message is a short reason that is suited for a table of reasons.
    """


@contextmanager
def _within_reach() -> Iterator[None]:
    try:
        yield
    except TableTooLarge as error:
        raise BeyondFastPath("the rule's tables are too large") from error


class RuleJudgement(NamedTuple):
    """The validity and cost of a rule in one world.

    Attributes:
        valid: Whether the rule is valid; None if a limit was reached, which `reason` names.
        cost: The cost of the rule; None if the rule is not valid or the cost is unknown.
        bound: A lower bound of the cost that any rule can have in this world; None if it is
            unknown.
        reason: Why a value is missing; "" if none is missing.
    """

    valid: bool | None
    cost: int | None
    bound: int | None
    reason: str = ""


class Undecided(NamedTuple):
    """The certain truth values of V and A in all worlds, and the elements that are undecided.

    V is the set of elements that violate a default, and A the set of elements that the rule marks.

    Attributes:
        violated: For each element, whether it is in V, of shape (worlds, elements).
        covered: For each element, whether it is in A, of shape (worlds, elements).
        components: Undecided elements, grouped by the unknown atoms on which they depend.
    """

    violated: ThreeValued  # V: (worlds, elements) each
    covered: ThreeValued  # A
    components: list[Component]

    @property
    def certainly_broken(self) -> NDArray[np.bool_]:
        """Whether each world has an element that is certainly in V and certainly not in A.

        The value is a bool array of shape (worlds,).
        """
        found: NDArray[np.bool_] = np.logical_or.reduce(
            self.violated.true & self.covered.false, axis=1
        )
        return found

    @property
    def certain_cost(self) -> NDArray[np.int64]:
        """The number of elements that are certainly in A, of shape (worlds,)."""
        found: NDArray[np.int64] = self.covered.true.sum(axis=1)
        return found


@dataclass(frozen=True)
class PreparedWorlds:
    """Worlds of one theory under one regime, prepared for judging many rules without Z3.

    The worlds are converted to NumPy arrays only once.
    """

    theory: Theory
    worlds: tuple[World, ...]
    regime: Regime

    @cached_property
    def structures(self) -> Structures:
        """The worlds as tables of truth values."""
        return Structures(self.worlds, dict(self.theory.signature))

    @cached_property
    def violation(self) -> Formula:
        """The formula that holds for elements that violate a default unless Ab marks them.

        Raises:
            BeyondFastPath: The theory is not of default form, or a world has too many unknown
                atoms.
        """
        found = self.theory.violation
        if found is None:
            raise BeyondFastPath("the theory is not of default form")
        if (
            self.regime != "full"
            and max(self.structures.unknown_counts, default=0) > MAX_UNKNOWN_BITS
        ):
            raise BeyondFastPath(f"a world has more than {MAX_UNKNOWN_BITS} unknown atoms")
        return found

    @cached_property
    def _violated(self) -> NDArray[np.bool_]:
        """V of the full regime, (worlds, elements)."""
        return self._table(self.violation)

    @cached_property
    def _evaluated(self) -> dict[Formula, Evaluated]:
        """The values of the theory's violation and of the last rule, which are used again."""
        return {}

    @cached_property
    def _joins(self) -> JoinEvaluator:
        return JoinEvaluator(self.structures, self.regime == "full")

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """The lower bound of the cost of any rule, for each world.

        Raises:
            BeyondFastPath: The theory or the worlds exceed the limits of the fast path.
        """
        try:
            return self._bounds()
        except TableTooLarge as error:
            raise BeyondFastPath("the theory's tables are too large") from error

    def _bounds(self) -> tuple[int, ...]:
        if self.regime == "full":
            return tuple(map(int, self._violated.sum(axis=1)))
        here = self._three(self.violation)
        found = _undecided(here, here)
        sizes = found.certain_cost
        for component, rows in self.component_words(found.components, self.violation):
            counts = unpack_bits(rows).sum(axis=0)
            sizes[component.world] += counts.min() if self.regime == "partial" else counts.max()
        return tuple(map(int, sizes))

    def judge(self, rule: Formula) -> tuple[RuleJudgement, ...]:
        """Return whether a rule is valid in each world, and its cost there.

        Args:
            rule: The rule, a formula whose free variable is x.

        Returns:
            One judgement for each world, in the order of the worlds.

        Raises:
            BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
        """
        bounds = self.bounds
        valid, cost = self._full(rule) if self.regime == "full" else self._completed(rule)
        return tuple(
            RuleJudgement(bool(v), int(c) if v else None, b)
            for v, c, b in zip(valid, cost, bounds, strict=True)
        )

    def _full(self, rule: Formula) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        violated, covered = self.full_extents(rule)
        broken = np.logical_or.reduce(violated & ~covered, axis=1)
        return ~broken, covered.sum(axis=1)

    def full_extents(self, rule: Formula) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which elements violate a default, and which elements the rule marks.

        This is only available in the full regime. Both results are bool arrays of shape (worlds,
        elements).

        Raises:
            BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
        """
        with _within_reach():
            return self._violated, self._table(rule)

    def _completed(self, rule: Formula) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        found = self.find_undecided(rule)
        valid, cost = ~found.certainly_broken, found.certain_cost
        wanted = [one for one in found.components if valid[one.world]]
        if not wanted:
            return valid, cost
        wanted.sort(key=lambda one: one.words)
        index = ComponentIndex(wanted)
        of_rule, of_theory = (self._words(index, one) for one in (rule, self.violation))
        for start, end in _in_groups(wanted):
            covered, violated = of_rule[start], of_theory[start]
            if end > start + 1:
                covered, violated = (
                    np.concatenate(some[start:end]) for some in (of_rule, of_theory)
                )
            some = wanted[start:end]
            first = np.cumsum([0, *(len(one.elements) for one in some[:-1])])
            sizes = np.add.reduceat(unpack_bits(covered), first, axis=0, dtype=np.int64)
            broken = np.bitwise_or.reduceat(violated & ~covered, first, axis=0)
            repaired = ~unpack_bits(broken)
            worlds = [one.world for one in some]
            if self.regime == "partial":
                least = np.where(repaired, sizes, MANY).min(axis=1)
                np.logical_and.at(valid, worlds, least < MANY)
                np.add.at(cost, worlds, least)
            else:
                np.logical_and.at(valid, worlds, repaired.all(axis=1))
                np.add.at(cost, worlds, sizes.max(axis=1))
        return valid, cost

    def find_undecided(self, rule: Formula) -> Undecided:
        """Return the certain truth values of a rule and the theory, and the undecided elements.

        Raises:
            BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
        """
        with _within_reach():
            return _undecided(self._three(self.violation), self._three(rule))

    def extension(self, rule: Formula) -> NDArray[np.int8]:
        """Return in which completions a rule marks each element, int8 of shape (worlds, elements).

        The values are `NO_COMPLETION`, `EVERY_COMPLETION` and `SOME_COMPLETIONS`. Values at indices
        outside the domain of a world are meaningless.

        Raises:
            BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
        """
        with _within_reach():
            if self.regime == "full":
                return self._table(rule).astype(np.int8)
            here = self._three(rule)
        found = np.where(here.true, EVERY_COMPLETION, NO_COMPLETION).astype(np.int8)
        for component, rows in self.component_words(_undecided(here, here).components, rule):
            every, some = (unpack_bits(rows).all(axis=1), unpack_bits(rows).any(axis=1))
            marks = np.where(
                every, EVERY_COMPLETION, np.where(some, SOME_COMPLETIONS, NO_COMPLETION)
            )
            found[component.world, list(component.elements)] = marks
        return found

    def _table(self, formula: Formula) -> NDArray[np.bool_]:
        """Return the extent in the full regime, (worlds, elements); false outside of a domain."""
        structures = self.structures
        plan = plan_tables(formula, structures)
        if plan.words or plan.too_large:
            return self._evaluate(formula).bounds.true
        value = evaluate(formula, TruthAlgebra(structures))
        table: NDArray[np.bool_] = broadcast_to_elements(value, formula, structures.size)
        return table & structures.inside

    def _evaluate(self, formula: Formula) -> Evaluated:
        """Return the values of a formula for all elements, by joins or by tables.

        Raises:
            TableTooLarge: The tables are too large.
        """
        algebra = BoundsAlgebra(self.structures, self.regime == "full")
        return self._joined(formula) or evaluate_bounds(formula, algebra)

    def _joined(self, formula: Formula) -> Evaluated | None:
        """Return the values of a rule by joins, or None if tables are faster or the only way."""
        plan = plan_tables(formula, self.structures)
        time = CELL_TIME * plan.cells + WORD_TIME * plan.words
        if time <= FEW_TIME or formula.nesting > MAX_NESTED:
            return None
        try:
            most = MAX_ROWS if plan.too_large else min(MAX_ROWS, int(time / ROW_TIME))
            return self._joins.evaluate(formula, most)
        except TableTooLarge:
            return None  # `evaluate_bounds` decides whether the tables are too large, too

    def _values(self, formula: Formula) -> Evaluated:
        """Return the values of a rule or of the theory's violation for all elements.

        Raises:
            TableTooLarge: The tables are too large.
        """
        known = self._evaluated
        if formula not in known:
            for other in [one for one in known if one != self.violation]:
                del known[other]
            known[formula] = self._evaluate(formula)
        return known[formula]

    def _three(self, formula: Formula) -> ThreeValued:
        """Return the three-valued extent, (worlds, elements); false outside of a domain."""
        return self._values(formula).three_valued

    def component_words(
        self, components: Sequence[Component], formula: Formula
    ) -> list[tuple[Component, Words]]:
        """Return the truth values of a formula in all completions, component by component.

        Args:
            components: Sets of elements that depend on the same unknown atoms.
            formula: The formula.

        Returns:
            Pairs of a component and an array of 64-bit words, of shape (elements, words), in the
            order of `components`.

        Raises:
            BeyondFastPath: The components need too much work.
        """
        return list(zip(components, self._words(ComponentIndex(components), formula), strict=True))

    def _words(self, index: ComponentIndex, formula: Formula) -> list[Words]:
        with _within_reach():
            found = self._values(formula)
        try:
            return found.circuit.evaluate(index, found.roots, found.bounds.true)
        except ComponentTooLarge as error:
            raise BeyondFastPath(str(error)) from error


def _in_groups(components: Sequence[Component]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index + 1 of components whose completions are unpacked together."""
    together = sum(one.words == 1 for one in components)
    if together:
        yield 0, together
    for place in range(together, len(components)):
        yield place, place + 1


def _undecided(violated: ThreeValued, covered: ThreeValued) -> Undecided:
    # A violation does not matter at an element that the rule certainly covers.
    on = np.where(covered.true, np.uint64(0), violated.depends_on) | covered.depends_on
    components = []
    for world in np.flatnonzero(on.any(axis=1)):
        groups: list[tuple[int, list[int]]] = []
        for element in np.flatnonzero(on[world]):
            atoms, elements = int(on[world, element]), [int(element)]
            apart = []
            for others, members in groups:
                if others & atoms:
                    atoms, elements = atoms | others, elements + members
                else:
                    apart.append((others, members))
            groups = [*apart, (atoms, elements)]
        for atoms, elements in groups:
            numbers = tuple(bit for bit in range(atoms.bit_length()) if atoms >> bit & 1)
            if len(numbers) > MAX_COMPONENT_ATOMS:
                raise BeyondFastPath(f"a component of {len(numbers)} unknown atoms")
            components.append(Component(int(world), tuple(sorted(elements)), numbers))
    return Undecided(violated, covered, components)
