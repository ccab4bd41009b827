"""Repair a function that is wrong on some shown pairs, with small changes and with the search.

Each step has a part of the budget, and the first function that is right on all pairs is the result:

1. One change of the function's syntax tree (edits.py).
2. The search's own answer to the problem, if it is short. It is no repair, and is reported as the
   search's.
3. Up to `MAX_CHANGES` changes, in a beam of the variants nearest to the outputs, one for each
   behaviour.
4. A composition: the search engine looks for a function from the function's outputs to the right
   outputs.
5. The search's own answer, however long it is.
6. Two cases: the function stays where it is right, and the search engine looks for a function for the
   other pairs, and for a condition that separates them.

The number of changes is limited by what the pairs can tell: many changes could make a function right
on a few truth values by chance. A repair that tabulates pairs is refused: no branch that is new may
serve a single pair, except for an empty input, and a function that is a table already is not repaired.

The function is interpreted (interpreter.py), never executed. The work is counted in expansions.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from ...records import FOUND_ANEW, REPAIR_KIND
from ...tools.description_length import program_bits
from ...tools.python_parser import parse_python
from ..budget import Budget
from ..engines import SearchedProblem, find_engine
from ..memorisation import memorises_case
from ..novelty import Answer, UnsupportedProblem
from .edits import Edit, collect_literals, find_edits
from .expressions import NotInterpreted
from .interpreter import Program, check_size, find_entry
from .runs import (
    FAILED,
    STEPS,
    Run,
    count_single_cases,
    matches,
    run_compiled,
    run_program,
    to_plain,
)

ENTRY_NAMES = frozenset({"f", "fn", "solve", "transform"})  # as tasks/programs/source.py chooses
STEPS_PER_EXPANSION = 25
VARIANT_EXPANSIONS = 6.0  # of a variant, besides its steps
COST_OF_SCORE = 0.1  # pairs that one unit of cost outweighs in the choice of a beam
BEAM = 16
MAX_CHANGES = 3
BITS_PER_CHANGE = (0.0, 10.0, 18.0)  # that the outputs must hold for one change, for two, for three
BITS_PER_NUMBER = 3.5  # of an output, where nearly all outputs differ
BITS_PER_VALUE = 6.0  # of a list or a text
MAX_SINGLES = 1  # branches for single pairs of a function that is worth repairing
MIN_CASES = 2  # pairs on each side of a condition
SHARE_OF_CHANGES = 0.4  # of the budget
SHARE_OF_SEARCH = 0.2  # of the budget, for each search of the engine
SHORT_BITS = 150.0  # of an answer of the search's own that is likelier than two changes
SPACE_INPUTS = 60
UNDEFINED_COST = 3.0  # of a variant that fails on the whole sample space
MAX_COMPARED = 24
MAX_SOURCE = 20_000  # characters


class Variant(NamedTuple):
    """A program after some changes.

    Args:
        tree: Its syntax tree.
        cost: The sum of the costs of the changes.
        run: What it does on the shown pairs.
    """

    tree: ast.Module
    cost: float
    run: Run


class _Changed(NamedTuple):
    """A variant whose tree has not been built: the parent with one more change."""

    parent: Variant
    edit: Edit
    run: Run

    @property
    def cost(self) -> float:
        return self.parent.cost + self.edit.cost

    def build(self) -> Variant:
        before = self.edit.swap(self.edit.new)
        tree = copy.deepcopy(self.parent.tree)
        self.edit.swap(before)
        return Variant(tree, self.cost, self.run)


class ProgramRepair:
    """The repair of one function for one problem.

    Args:
        text: The source of the function.
        shown: The pairs [input, output].
        space: Inputs of the sample space.
        expansions: The budget.

    Raises:
        NotInterpreted: The source is outside the subset of Python that is interpreted.
        SyntaxError, ValueError, MemoryError, RecursionError: The source cannot be parsed.
    """

    def __init__(
        self, text: str, shown: Sequence[Sequence[Any]], space: Sequence[Any], expansions: float
    ) -> None:
        if len(text) > MAX_SOURCE:
            raise NotInterpreted("the program is too long")
        self.shown, self.expansions = shown, expansions
        self.budget = Budget(SHARE_OF_CHANGES * expansions)
        self.tree = parse_python(text, "exec")
        check_size(self.tree)
        self.entry = find_entry(self.tree, ENTRY_NAMES)
        self.some = [[one, None] for one in space[:: max(1, len(space) // SPACE_INPUTS)]]
        self.literals = collect_literals(shown)
        run = run_program(self.tree, self.entry, shown)
        self.first = Variant(self.tree, 0.0, run)
        self.singles = self._count_singles(self.tree)
        # An endless loop costs much: the limit follows what the function needed where it ended.
        self.steps = min(STEPS, 400 + 8 * run.longest)
        self.known = {run.key}

    def find(self, skip: Sequence[str], search: Callable[[], Answer | None]) -> Answer | None:
        """Return the simplest repair, or None if there is none within the budget.

        Args:
            skip: Texts of earlier answers.
            search: Returns the first answer of the search to the problem itself.
        """
        if all(self.first.run.right):
            return None
        if self._is_table():
            found_anew = search()
            return None if found_anew is None else _found_anew(found_anew, skip)
        allowed = self._allowed_changes()
        found, beam = self._change([self.first], last=allowed == 1) if allowed else ([], [])
        if answer := self._choose(found, skip):
            return answer
        anew = search()
        own = None if anew is None else _found_anew(anew, skip)  # otherwise another one is wanted
        if own is not None and program_bits(own.source) <= SHORT_BITS:
            return own
        for number in range(1, allowed):
            found, beam = self._change(beam, last=number == allowed - 1)
            if answer := self._choose(found, skip):
                return answer
        return self._compose(skip) or own or self._split(skip)

    def _allowed_changes(self) -> int:
        """Return how many changes the outputs of the pairs can justify."""
        outputs = [output for _, output in self.shown]
        different = len({repr(output) for output in outputs})
        each = math.log2(max(1, different))
        if different > len(outputs) / 2:  # there are more values than the pairs show
            each = BITS_PER_NUMBER if isinstance(outputs[0], (int, float)) else BITS_PER_VALUE
        bits = len(outputs) * each
        return sum(bits >= needed for needed in BITS_PER_CHANGE[:MAX_CHANGES])

    # --- Changes of the tree.

    def _change(self, beam: Sequence[Variant], last: bool) -> tuple[list[Variant], list[Variant]]:
        """Return the variants one change further that are right on all pairs, and the next beam.

        Args:
            beam: The variants to change.
            last: Whether no beam is needed after this one.
        """
        right: list[_Changed] = []
        others: list[_Changed] = []
        for parent in beam:
            for variant in self._vary(parent, last):
                (right if all(variant.run.right) else others).append(variant)
        right.sort(key=lambda one: one.cost)
        others.sort(key=lambda one: one.cost * COST_OF_SCORE - one.run.score)
        return [one.build() for one in right[:MAX_COMPARED]], [one.build() for one in others[:BEAM]]

    def _vary(self, parent: Variant, last: bool) -> Iterator[_Changed]:
        guards = any(output is FAILED for output in parent.run.outputs)
        program, above = Program(parent.tree, self.entry), _find_ancestors(parent.tree)
        # pairs on which the parent is wrong come first: most changes are wrong on one of them too
        pairs = sorted(range(len(self.shown)), key=lambda place: parent.run.right[place])
        shown = [self.shown[place] for place in pairs] if last else self.shown
        for edit in find_edits(parent.tree, self.entry, self.literals, guards):
            if not self.budget.left:
                return
            before = edit.swap(edit.new)
            try:
                program.recompile(above[id(edit.owner)])
                run = run_compiled(program, shown, self.steps, only_right=last)
            except NotInterpreted:
                continue
            finally:
                edit.swap(before)
            self.budget.charge(VARIANT_EXPANSIONS + run.steps / STEPS_PER_EXPANSION)
            if all(run.right):
                yield _Changed(parent, edit, run)
            elif not last and (key := run.key) not in self.known:
                self.known.add(key)
                yield _Changed(parent, edit, run)

    def _choose(self, found: Sequence[Variant], skip: Sequence[str]) -> Answer | None:
        """Return the likeliest of variants that are right on all pairs.

        Variants that do the same on the sample space count together, each with a weight that halves
        with each unit of cost.
        """
        groups: dict[str, list[tuple[float, str, Variant]]] = {}
        for variant in islice(sorted(found, key=lambda one: one.cost), MAX_COMPARED):
            text = _unparse(variant.tree)
            if text is None or text in skip or self._memorises(variant.tree):
                continue
            cost, behaviour = variant.cost, text
            if self.some:
                run = run_program(variant.tree, self.entry, self.some, self.steps)
                failed = sum(output is FAILED for output in run.outputs)
                cost, behaviour = cost + UNDEFINED_COST * failed / len(self.some), run.key
            groups.setdefault(behaviour, []).append((cost, text, variant))
        if not groups:
            return None
        best = max(groups.values(), key=lambda one: sum(2.0**-cost for cost, _, _ in one))
        _, text, variant = min(best, key=lambda one: (one[0], one[1]))
        said = describe_difference(ast.unparse(self.tree), text)
        return Answer(text, f"The function before, with {said}.", {REPAIR_KIND: "changes"})

    def _memorises(self, tree: ast.Module) -> bool:
        """Return whether a variant has more branches that a single pair reaches than the function."""
        return self._count_singles(tree) > self.singles

    def _is_table(self) -> bool:
        """Return whether the function holds a shown input, or has several branches for single pairs."""
        if self.singles > MAX_SINGLES:
            return True
        inputs = [given for given, _ in self.shown]
        return any(to_plain(one) in inputs for one in _find_literals(self.tree))

    def _count_singles(self, tree: ast.Module) -> int:
        return count_single_cases(tree, self.entry, [given for given, _ in self.shown if given])

    # --- Compositions and cases, by the search engine.

    def _compose(self, skip: Sequence[str]) -> Answer | None:
        """Return the function followed by another one, from its outputs to the right ones."""
        run = self.first.run
        if FAILED in run.outputs or all(
            matches(output, given)
            for output, (given, _) in zip(run.outputs, self.shown, strict=True)
        ):
            return None
        pairs = [
            [output, wanted] for output, (_, wanted) in zip(run.outputs, self.shown, strict=True)
        ]
        after = self._search(pairs)
        if after is None:
            return None
        text = self._join(("finish", after.source), body="return {finish}({entry}({given}))")
        said = f"The function before; then, where x is its result: {after.description}"
        return (
            Answer(text, said, {REPAIR_KIND: "composition"}) if text and text not in skip else None
        )

    def _split(self, skip: Sequence[str]) -> Answer | None:
        """Return the function for the pairs on which it is right, and another one for the others."""
        right = self.first.run.right
        rest = [list(pair) for pair, held in zip(self.shown, right, strict=True) if not held]
        if min(len(rest), len(self.shown) - len(rest)) < MIN_CASES:
            return None
        pairs = [[given, held] for (given, _), held in zip(self.shown, right, strict=True)]
        test = self._search(pairs)
        other = self._search(rest) if test is not None else None
        if test is None or other is None:
            return None
        body = "return {entry}({given}) if {applies}({given}) else {otherwise}({given})"
        text = self._join(("applies", test.source), ("otherwise", other.source), body=body)
        said = (
            f"Where this is true, the function before: {test.description}"
            f" Otherwise: {other.description}"
        )
        return Answer(text, said, {REPAIR_KIND: "cases"}) if text and text not in skip else None

    def _search(self, pairs: list[list[Any]]) -> Answer | None:
        """Return a short function of the search engine that is right on pairs and tabulates none."""
        outputs: dict[str, str] = {}
        for given, wanted in pairs:
            if outputs.setdefault(repr(given), repr(wanted)) != repr(wanted):
                return None  # one input with two outputs
        engine = find_engine(pairs, "programs")
        if engine is None or len(pairs) < MIN_CASES:
            return None
        problem = engine.create_problem(
            pairs, engine.prepare_space([]), SHARE_OF_SEARCH * self.expansions, None
        )
        try:
            found = problem.propose([], frozenset())
        except UnsupportedProblem:
            return None
        if found is None or program_bits(found.source) > SHORT_BITS:
            return None
        return None if memorises_case(found.source, [given for given, _ in pairs]) else found

    def _join(self, *functions: tuple[str, str], body: str) -> str | None:
        """Return the source of one function that holds the function before and others.

        Args:
            functions: A name and the source of each other function. The source is the engine's.
            body: The statement that calls them, with the names in braces.
        """
        taken = {one.id for one in ast.walk(self.tree) if isinstance(one, ast.Name)}
        taken |= {one.name for one in ast.walk(self.tree) if isinstance(one, ast.FunctionDef)}
        names = {"entry": self.entry, "given": _unused("x", taken)}
        statements = list(copy.deepcopy(self.tree).body)
        for name, source in functions:
            names[name] = _unused(name, taken)
            part = ast.parse(source)
            for one in part.body:
                if isinstance(one, ast.FunctionDef) and one.name == "f":
                    one.name = names[name]
            statements += part.body
        whole = ast.parse(f"def f({names['given']}):\n    {body.format(**names)}")
        function = whole.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = [*statements, *function.body]
        return _unparse(whole)


def _find_ancestors(tree: ast.AST) -> dict[int, frozenset[int]]:
    """Return the ids of each node and of the nodes that contain it, by the id of the node."""
    found: dict[int, frozenset[int]] = {}
    stack: list[tuple[ast.AST, frozenset[int]]] = [(tree, frozenset())]
    while stack:
        node, above = stack.pop()
        found[id(node)] = frozenset((*above, *found.get(id(node), ()), id(node)))
        stack += [(child, found[id(node)]) for child in ast.iter_child_nodes(node)]
    return found


def _find_literals(tree: ast.AST) -> Iterator[Any]:
    """Yield the values of the sequences and texts that a program holds as literals."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            with suppress(ValueError, TypeError, MemoryError, RecursionError):
                yield ast.literal_eval(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            yield node.value


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _unparse(tree: ast.Module) -> str | None:
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, RecursionError):
        return None


def describe_difference(before: str, after: str) -> str:
    """Return how a text differs from another one, as a clause that names the changed lines."""
    old, new = (text.splitlines() for text in (before, after))
    said = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, come = ("; ".join(line.strip() for line in part) for part in (old[a:b], new[c:d]))
        if not gone:
            said.append(f"`{come}` added")
        elif not come:
            said.append(f"`{gone}` left out")
        else:
            said.append(f"`{come}` in place of `{gone}`")
    return " and ".join(said)


def _found_anew(answer: Answer, skip: Sequence[str]) -> Answer | None:
    if answer.source.strip() in skip:
        return None
    return answer._replace(meta={**answer.meta, REPAIR_KIND: FOUND_ANEW})


def repair_program(
    text: str,
    problem: SearchedProblem,
    shown: Sequence[Sequence[Any]],
    space: Sequence[Any],
    expansions: float,
    earlier: Sequence[str] = (),
) -> Answer | None:
    """Return a function that is right on all shown pairs, made from a function that is not.

    Args:
        text: The source of the function.
        problem: The search for functions, whose own first answer is given where a function cannot be
            read, or where no simpler repair is found.
        shown: The pairs [input, output].
        space: Inputs of the sample space.
        expansions: The budget of the search, in expansions.
        earlier: Texts of earlier answers, which are not given again.

    Returns:
        The function, or None if none is found. Its meta says how it was found (`REPAIR_KIND`):
        "changes", "composition", "cases", or "search" for the search's own answer.
    """

    def search() -> Answer | None:
        return problem.propose([], frozenset())

    try:
        repair = ProgramRepair(text, shown, space, expansions)
    except (NotInterpreted, SyntaxError, ValueError, MemoryError, RecursionError):
        found = search()
        return None if found is None else _found_anew(found, earlier)
    return repair.find(earlier, search)
