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
    CompletionAlgebra,
    Component,
    KleeneAlgebra,
    ThreeValued,
    unpack_bits,
)
from .evaluation import Structures, TableTooLarge, TruthAlgebra, broadcast_to_elements, evaluate
from .formula import FREE, LETTERS, QUANTIFIERS, Formula, substitute
from .theories import Theory
from .worlds import World

Regime = Literal["full", "partial", "skeptical"]
REGIMES: tuple[Regime, ...] = ("full", "partial", "skeptical")
NO_COMPLETION, EVERY_COMPLETION, SOME_COMPLETIONS = (
    0,
    1,
    2,
)  # the completions in which an element is covered
MAX_COMPONENT_WORDS = (
    1 << 23
)  # words of all tables of a component; takes some hundredths of a second
MAX_TOTAL_WORDS = 1 << 27  # words of all components together; takes about a second
_WORDS_AT_ONCE = 1 << 21  # words of one table of completions, 16 MB


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
    def kleene(self) -> KleeneAlgebra:
        """The operations of three-valued logic over these worlds."""
        return KleeneAlgebra(self.structures)

    @cached_property
    def _violated(self) -> NDArray[np.bool_]:
        """V of the full regime, (worlds, elements)."""
        return self._table(self.violation) & self.structures.inside

    @cached_property
    def _violated_maybe(self) -> ThreeValued:
        return self._three(self.violation)

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
        here = self._violated_maybe
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
            return self._violated, self._table(rule) & self.structures.inside

    def _completed(self, rule: Formula) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        found = self.find_undecided(rule)
        valid, cost = ~found.certainly_broken, found.certain_cost
        wanted = [one for one in found.components if valid[one.world]]
        of_rule = self.component_words(wanted, rule)
        of_theory = self.component_words(wanted, self.violation)
        for (component, covered), (_, violated) in zip(of_rule, of_theory, strict=True):
            sizes = unpack_bits(covered).sum(axis=0)
            repaired = ~unpack_bits(np.bitwise_or.reduce(violated & ~covered, axis=0))
            if self.regime == "partial":
                if repaired.any():
                    cost[component.world] += sizes[repaired].min()
                else:
                    valid[component.world] = False
            else:
                valid[component.world] &= bool(repaired.all())
                cost[component.world] += sizes.max()
        return valid, cost

    def find_undecided(self, rule: Formula) -> Undecided:
        """Return the certain truth values of a rule and the theory, and the undecided elements.

        Raises:
            BeyondFastPath: The rule or the worlds exceed the limits of the fast path.
        """
        with _within_reach():
            return _undecided(self._violated_maybe, self._three(rule))

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
        value = evaluate(formula, TruthAlgebra(self.structures))
        table: NDArray[np.bool_] = broadcast_to_elements(value, formula, self.structures.size)
        return table

    def _three(self, formula: Formula) -> ThreeValued:
        """Return the three-valued extent, (worlds, elements); false outside of a domain."""
        value = evaluate(formula, self.kleene)
        size, inside = self.structures.size, self.structures.inside
        true, false, on = (broadcast_to_elements(part, formula, size) for part in value)
        return ThreeValued(true & inside, false | ~inside, np.where(inside, on, np.uint64(0)))

    def component_words(self, components: Sequence[Component], formula: Formula) -> list:  # type: ignore[type-arg]
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
        formula, element = _of_element(formula)
        found = {}
        cells = [self.structures.size ** len(free - {element}) for free in formula.free_at]
        inner = max(cells)
        by_words: dict[int, list[Component]] = {}
        whole = 0
        for component in components:
            by_words.setdefault(component.words, []).append(component)
            work = component.words * len(component.elements) * sum(cells)
            whole += work
            if work > MAX_COMPONENT_WORDS or whole > MAX_TOTAL_WORDS:
                raise BeyondFastPath(
                    f"{work:,} words for a component of {len(component.atoms)} atoms"
                )
        for words, alike in by_words.items():
            most = max(len(component.elements) for component in alike)
            together = max(1, _WORDS_AT_ONCE // (words * inner * most))
            for start in range(0, len(alike), together):
                part = alike[start : start + together]
                algebra = CompletionAlgebra(self.structures, part, element)
                value = evaluate(formula, algebra, MAX_TOTAL_WORDS)
                if not formula.free:
                    value = np.repeat(value[:, None], algebra.elements.shape[1], axis=1)
                value = np.broadcast_to(value, (*value.shape[:2], words))
                for component, rows in zip(part, value, strict=True):
                    found[component] = rows[: len(component.elements)]
        return [(component, found[component]) for component in components]


def _of_element(formula: Formula) -> tuple[Formula, str]:
    """Return the formula with an element variable that no quantifier binds, and that variable."""
    if all(node.name != FREE for node in formula.nodes if node.kind in QUANTIFIERS):
        return formula, FREE
    taken = {term for node in formula.nodes for term in (*node.terms, node.name)}
    spare = next(letter for letter in LETTERS if letter not in taken)
    return substitute(formula, spare), spare


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
            numbers = tuple(bit for bit in range(MAX_UNKNOWN_BITS) if atoms >> bit & 1)
            if len(numbers) > MAX_COMPONENT_ATOMS:
                raise BeyondFastPath(f"a component of {len(numbers)} unknown atoms")
            components.append(Component(int(world), tuple(sorted(elements)), numbers))
    return Undecided(violated, covered, components)
