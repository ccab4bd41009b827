"""Search for the programs of one list problem, in a fixed order of phases and under one budget.

`Search.run(confident=True)` may stop as soon as a cheap program is found, for the first answer.
`run()` continues to the end of the budget, for later answers. The result depends only on the
example pairs and the budget. The phases are: programs of one operation; maps, filters and sorts of
the input and of lists near the input; integers; concatenations; programs of more operations;
conditionals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..budget import Budget
from . import conditionals, element_lists, integers
from . import element_goals as by_element
from .backward_search import (
    find_last_steps,
    is_worth_searching,
    merge_fixed_elements,
    search_backward,
    undo_evident_steps,
    undo_last_step,
)
from .bank import Lists, create_bank
from .conditionals import LISTS_PER_BUNDLE, Bundle
from .edits import (
    find_edits,
    find_slices,
    fixed_list,
    solve_alternating,
    solve_partitioned,
    solve_peeled,
    solve_stripped,
    solve_surrounded,
)
from .elements import Elements
from .grammar import Node, X, constant_node, operation_node

CONFIDENT_COST = (
    7.5  # a program that is this cheap after level one ends the search for a first answer
)
_NEAR = ("tail", "init", "sort", "reverse", "unique", "sort_down")


class Search:
    """The state of the search for list programs that reproduce the example pairs.

    Args:
        inputs: The example inputs.
        goal: The example outputs as lists. An integer or a truth value is a list of one element.
        kind: Type of the outputs: "list", "int" or "bool".
        expansions: Budget of the search, in expansions.
        nested: Whether this search looks for one branch of a conditional.
    """

    def __init__(
        self, inputs: Lists, goal: Lists, kind: str, expansions: float, nested: bool = False
    ) -> None:
        self.nested = nested
        self.partial: dict[int, Node] = {}
        self.inputs, self.goal, self.kind = inputs, goal, kind
        self.budget = Budget(expansions)
        self.bank = create_bank(inputs, goal)
        self.found: dict[Node, None] = {}
        self.elements: dict[Lists, Elements] = {}
        self.memo: dict[Lists, list[Node]] = {}
        self.right_integers: tuple[object, list[tuple[int, Node]]] = (None, [])
        self.phases = self._phases()
        self.done = False

    def run(self, confident: bool = False) -> list[Node]:
        """Run the search and return all programs found so far, cheapest first.

        Args:
            confident: Whether to stop as soon as a program is cheap enough (`is_confident`).
        """
        while not self.done:
            if confident and self.is_confident():
                break
            self.done = next(self.phases, True)
        for program in self.bank.hits:
            self.found.setdefault(program)
        return sorted(self.found, key=lambda n: n.cost)

    def forget(self) -> None:
        """Free the memory of a search that has ended. Only its budget may be read later."""
        self.phases = iter(())
        self.bank = create_bank((), ())
        self.found, self.elements, self.memo, self.partial = {}, {}, {}, {}
        self.right_integers = None, []

    def is_confident(self) -> bool:
        """Return whether the search has found a program that is cheap enough for a first answer."""
        costs = [n.cost for n in self.found] + [n.cost for n in self.bank.hits]
        return bool(costs) and min(costs) <= CONFIDENT_COST

    def _add(self, programs: Iterator[Node] | list[Node]) -> None:
        for program in programs:
            self.found.setdefault(program)

    def _phases(self) -> Iterator[bool]:
        steps = self.bank.expand(self.budget)
        # A single pair hardly suggests a fixed answer of several elements: see `_fixed`.
        if len(set(self.goal)) == 1 and (self.bank.count > 1 or len(self.goal[0]) < 2):
            fixed = fixed_list(self.goal[0])
            self._add([fixed._replace(cost=fixed.cost + (4.0 if self.bank.count == 1 else 0.0))])
        for _ in range(3):
            next(steps, None)
        near = self.elements_of(X, self.inputs)
        integers.add_counts(self.bank, near)
        if self.kind == "bool":
            tests = conditionals.find_tests(self.bank)
            mask = sum(1 << k for k, out in enumerate(self.goal) if out[0])
            self._add(tests.get(mask, []))
            return
        self._add(integers.find_singles(self.bank, self.goal, self.budget))
        yield False
        if not self.is_confident() and max(map(len, self.goal)) < 2:
            integers.add_picks(self.bank, near)
            self._add(integers.find_singles(self.bank, self.goal, self.budget))
            yield False
        if self.kind == "int":
            return
        self._add(self._element_goals(X, self.inputs, self.goal, full=True))
        yield False
        for op in _NEAR:
            values = self.bank.evaluate(op, ([list(v) for v in self.inputs], X))
            if values is not None and values != self.inputs:
                self._add(self._element_goals(operation_node(op, X), values, self.goal, full=False))
        yield False
        lengths = tuple(len(out) for out in self.goal)
        if any(lengths):
            self._add(self._by_place(lengths))
        yield False
        self._near_lists(near)
        self._more_integers()
        self._add(integers.find_singles(self.bank, self.goal, self.budget))
        yield False
        yield from self._before_last(near)
        yield from self._parts(near)
        self._conditionals()
        yield False
        yield from self._deepen(steps, 0.15 + min(self.budget.spent / self.budget.limit, 0.3))
        if not self.is_confident():
            yield from self._bundles()
        yield from self._deepen(steps, 0.6)
        self.memo.clear()
        self._add(search_backward(self.bank, self.goal, self.budget, twice=True))
        self._add(integers.find_reductions(self.bank, self.goal))
        self._add(find_last_steps(self.bank, self.goal, self.budget, 6000))
        yield False
        yield from self._parts(near)
        self._conditionals()
        yield False
        if not self.is_confident():
            for values, program in [(v, n) for v, n in self.bank.cheapest(7) if n.op != "x"]:
                self._add(self._element_goals(program, values, self.goal, full=True))
                yield False
            yield from self._bases()
        yield from self._deepen(steps, 0.85)
        self._conditionals()
        yield from self._branches(near)
        yield from self._deepen(steps, 1.0)
        self._conditionals()
        self._fixed()

    def _fixed(self) -> None:
        """Add the output of a single pair as a fixed answer if nothing else was found."""
        if self.bank.count == 1 and not self.found and not self.bank.hits:
            self._add([fixed_list(self.goal[0])])

    def _parts(self, near: Elements) -> Iterator[bool]:
        """Add programs for goals that are cut into parts and solved part by part."""
        self._add(solve_stripped(self.goal, self.solve))
        self._add(solve_surrounded(self.bank, self.goal))
        self._add(solve_peeled(self.bank, self.goal, self.solve, self.budget, 1))
        yield False
        self._add(find_edits(self.bank, self.goal, self.budget))
        self._add(find_slices(self.bank, self.goal, self.budget))
        self._add(solve_alternating(self.goal, self.solve))
        self._add(solve_partitioned(near, self.goal, self.solve))
        yield False

    def _near_lists(self, near: Elements) -> None:
        """Add to the bank the lists that one step over the elements makes of the input."""
        near._terms = None
        for program, values in itertools.chain(
            element_lists.iter_filtered(near, 120),
            element_lists.iter_mapped(near, 200),
            element_lists.iter_sorted(near, 40),
            element_lists.iter_indices(near, 60),
            element_lists.iter_cuts(near, 40),
            element_lists.iter_replaced(near, 100, 14),
        ):
            self.budget.charge(1)
            if self.bank.add(values, program):
                self.bank.push(values, program.cost)

    def _before_last(self, near: Elements) -> Iterator[bool]:
        """Undo the last step of the outputs, and look up or search for what stood before it."""
        self._add(search_backward(self.bank, self.goal, self.budget, twice=False))
        self._add(integers.find_reductions(self.bank, self.goal))
        self._add(merge_fixed_elements(self.bank, self.goal))
        yield False
        for before, back, _ in sorted(undo_last_step(self.goal), key=lambda item: item[2]):
            if self.budget.spent > 0.3 * self.budget.limit or not is_worth_searching(
                self.inputs, before
            ):
                continue
            for program in itertools.islice(self._quick_goals(near, before), 6):
                self.found.setdefault(back(program))
        yield False

    def _quick_goals(self, near: Elements, goal: Lists) -> Iterator[Node]:
        """Yield programs over the elements of the input that use the terms already built."""
        yield from by_element.find_maps(near, goal)
        yield from by_element.find_filters(near, goal)
        yield from by_element.find_sorts(near, goal)
        yield from by_element.find_cuts(near, goal)
        yield from by_element.find_map_filters(near, goal)
        yield from element_lists.find_replacements(near, goal)

    def _bundles(self, most: int = 240) -> Iterator[bool]:
        """Add plain maps, filters and counts over lists of the bank."""
        lengths = [len(out) for out in self.goal]
        single = max(lengths) < 2 and min(lengths) > 0
        bases, others = [], []
        for values, program in self.bank.cheapest(2500):
            if program.op == "x" or not any(values):
                continue
            if [len(v) for v in values] == lengths or by_element.is_subsequence(values, self.goal):
                bases.append((values, program))
            elif single or all(len(v) >= n for v, n in zip(values, lengths, strict=True)):
                others.append((values, program))
        bases = [*bases[:most], *others[: most // 4]]
        parts = [(goal, back) for goal, back, _ in undo_evident_steps(self.goal)][:4]
        for k in range(0, len(bases), LISTS_PER_BUNDLE):
            if self.budget.spent > 0.5 * self.budget.limit or self.is_confident():
                return
            bundle = Bundle(bases[k : k + LISTS_PER_BUNDLE], self.inputs, self.budget)
            self._add(bundle.solve_lists(self.goal))
            for goal, back in parts:
                self._add([back(program) for program in bundle.solve_lists(goal)])
            if single:
                self._add(bundle.solve_integers(tuple(out[0] for out in self.goal)))
            yield False

    def _bases(self, most: int = 24, looked_at: int = 600) -> Iterator[bool]:
        """Add maps and filters over the cheapest lists that fit the goal."""
        lengths = [len(out) for out in self.goal]
        count = 0
        for values, program in self.bank.cheapest(looked_at):
            if self.is_confident() or count == most or self.budget.spent > 0.6 * self.budget.limit:
                return
            if values in self.elements or not any(values):
                continue
            as_long = [len(v) for v in values] == lengths
            if as_long or by_element.is_subsequence(values, self.goal):
                count += 1
                self._add(self._element_goals(program, values, self.goal, full=False))
                del self.elements[values]
                yield False

    def _deepen(self, steps: Iterator[None], share: float) -> Iterator[bool]:
        limit = self.budget.limit * share
        while self.budget.spent < limit and next(steps, True) is None:
            yield False

    def _more_integers(self) -> None:
        """Add integers computed from the cheapest lists of the bank."""
        for values, program in self.bank.cheapest(70):
            if program.op == "x":
                continue
            lists = [list(v) for v in values]
            for op in ("len", "head", "end", "max", "min", "sum", "distinct", "product"):
                self.bank.add_int_operation(op, (lists, program))
            self.budget.charge(8)
        for values_of, program in self.bank.cheapest_ints(12):
            for c in (1, 2):
                for op in ("add", "sub"):
                    self.bank.add_int_operation(
                        op, (values_of, program), ((c,) * self.bank.count, constant_node(c))
                    )

    def elements_of(self, base: Node, values: Lists) -> Elements:
        """Return the elements of a list program, with the terms and tests over them. The result is
        cached.

        Args:
            base: The list program.
            values: The list that the program computes for each example input.
        """
        if values not in self.elements:
            self.elements[values] = Elements(base, values, self.inputs, self.budget)
        return self.elements[values]

    def _element_goals(self, base: Node, values: Lists, goal: Lists, full: bool) -> Iterator[Node]:
        elements = self.elements_of(base, values)
        if not elements.size:
            return
        elements._terms = None  # The constants of the terms depend on the goal.
        yield from by_element.find_maps(elements, goal)
        yield from by_element.find_filters(elements, goal)
        if not full:
            return
        yield from by_element.find_sorts(elements, goal)
        yield from by_element.find_cuts(elements, goal)
        yield from by_element.find_flat_maps(elements, goal)
        yield from by_element.find_repeats(elements, goal)
        yield from element_lists.find_map_ifs(elements, goal)
        yield from by_element.find_map_filters(elements, goal)

    def _by_place(self, lengths: tuple[int, ...]) -> Iterator[Node]:
        """Yield [term for i in range(length)], `length` copies of one integer, and ranges."""
        for length in integers.solve_integer(self.bank, lengths, self.budget, most=2):
            if max(lengths) < 2:
                continue
            for op, start_at in (("upto", 0), ("oneto", 1)):
                values = tuple(tuple(range(start_at, n + start_at)) for n in lengths)
                base = operation_node(op, length)
                yield from self._element_goals(base, values, self.goal, full=False)
            if all(len(set(out)) <= 1 for out in self.goal) and all(self.goal):
                ones = tuple(out[0] for out in self.goal)
                for integer in integers.solve_integer(self.bank, ones, self.budget, most=3):
                    yield operation_node("copies", integer, length)
        if all(self.goal) and all(
            all(b - a == 1 for a, b in itertools.pairwise(out)) for out in self.goal
        ):
            low = integers.solve_integer(
                self.bank, tuple(o[0] for o in self.goal), self.budget, most=2
            )
            high = integers.solve_integer(
                self.bank, tuple(o[-1] for o in self.goal), self.budget, most=2
            )
            for a in low:
                for b in high:
                    yield operation_node("range", a, b)

    def solve(self, goal: Lists, depth: int) -> list[Node]:
        """Return programs for a part of the goal, cheapest first.

        Args:
            goal: The part of the goal: one wanted list per example input.
            depth: How many more times `goal` may be split into parts. Below 0, `goal` is not split.
        """
        if goal in self.memo:
            return self.memo[goal]
        self.memo[goal] = []
        found = []
        known = self.bank.entries.get(goal)
        if known is not None:
            found.append(known)
        found += integers.find_singles(self.bank, goal, self.budget)
        if not found and self.budget.left > 0:
            found += self._element_goals(X, self.inputs, goal, full=False)
            if depth >= 0 and not found:
                found += solve_peeled(self.bank, goal, self.solve, self.budget, depth)
        found.sort(key=lambda n: n.cost)
        self.memo[goal] = found[:8]
        return self.memo[goal]

    def _branches(self, near: Elements) -> Iterator[bool]:
        """Add conditionals whose branches are searched for on their own inputs.

        Both branches are first searched for among plain goals. Then one of them gets a search of
        its own.
        """
        if (
            self.nested
            or not 4 <= self.bank.count <= conditionals.MAX_INPUTS
            or self.is_confident()
        ):
            return
        tests = conditionals.find_tests(self.bank)
        best = conditionals.cheapest_by_superset(self.partial, self.bank.count)
        full = self.bank.full
        masks = sorted(tests, key=lambda mask: tests[mask][0].cost)[:80]
        for mask in masks:
            for part in (mask, full & ~mask):
                if part not in best and part.bit_count() > 1:
                    if self.budget.left < 0.02 * self.budget.limit:
                        return
                    program = self._plain_branch(near, part)
                    if program is not None:
                        best[part] = program
            then, other = best.get(mask), best.get(full & ~mask)
            if then is not None and other is not None and then != other:
                self._join(tests[mask], then, other)
        yield False
        open_masks = []
        for mask, some in tests.items():
            known, rest = best.get(mask), full & ~mask
            if known is not None and rest not in best and rest.bit_count() > 1:
                open_masks.append((some[0].cost + known.cost, mask, rest))
        share = 0.04 * self.budget.limit
        for _, mask, rest in sorted(open_masks)[:6]:
            if self.budget.left < share:
                return
            picked = self._picked(rest)
            inner = Search(
                tuple(self.inputs[k] for k in picked),
                tuple(self.goal[k] for k in picked),
                self.kind,
                share,
                nested=True,
            )
            programs = [p for p in inner.run() if p.op not in ("if", "list")][:3]
            self.budget.charge(inner.budget.spent)
            for program in programs:
                self._join(tests[mask], best[mask], program)
            yield False

    def _join(self, tests: list[Node], then: Node, other: Node) -> None:
        for test in tests:
            cost = 4.0 + test.cost + then.cost + other.cost
            self.found.setdefault(Node("if", (test, then, other), cost))

    def _picked(self, mask: int) -> list[int]:
        return [k for k in range(self.bank.count) if mask >> k & 1]

    def _plain_branch(self, near: Elements, mask: int) -> Node | None:
        """Return the cheapest program that is right on the inputs in the mask, or None."""
        picked = self._picked(mask)
        goal = tuple(self.goal[k] for k in picked)
        if not any(goal):
            return None
        elements = near.restrict(picked)
        return min(self._quick_goals(elements, goal), key=lambda n: n.cost, default=None)

    def _conditionals(self) -> None:
        partial = dict(self.bank.partial)
        sources = [(X, self.inputs)]
        for base, values in sources:
            elements = self.elements_of(base, values)
            for mask, program in by_element.find_partial_solutions(elements, self.goal):
                old = partial.get(mask)
                if old is None or program.cost < old.cost:
                    partial[mask] = program
        known = self.bank.cheapest_ints(2500)
        if self.right_integers[0] is not self.bank.ints_version:
            self.right_integers = self.bank.ints_version, integers.match_outputs(known, self.goal)
        for mask, program in self.right_integers[1]:
            cost = program.cost + 0.8
            if mask not in partial or partial[mask].cost > cost:
                partial[mask] = Node("single", (program,), cost)
        self.partial = partial
        for program in self.found:
            if program.op != "if":
                old = partial.get(self.bank.full)
                if old is None or program.cost < old.cost:
                    partial[self.bank.full] = program
        tests = conditionals.find_tests(self.bank)
        made = conditionals.join_branches(partial, tests, self.bank.count, self.bank.full)
        self._add(sorted(made, key=lambda n: n.cost)[:200])
